/** Names, notes to oneself, skipped tests, and words that no reader of the repository knows. */

import { complain, isTest, walk } from './source.ts'
import type { Complaint, Node, Source } from './source.ts'

const EMPTY_PATH = /(^|\/)(utils?|helpers?|managers?|misc|common)(\/|\.|$)/i
const EMPTY_NAME = /(Util|Helper|Manager)s?$|^(utils?|helpers?|manager)$/

/** Names that say nothing. */
export function names(source: Source): Complaint[] {
  const complaints: Complaint[] = []
  if (EMPTY_PATH.test(source.path)) {
    complaints.push({ path: source.path, line: 0, what: 'has a name that says nothing' })
  }
  walk(source.program, (node) => {
    const id = named(node)
    if (id && EMPTY_NAME.test(id.name)) {
      complaints.push(complain(source, id.start, `${id.name} is a name that says nothing`))
    }
  })
  return complaints
}

function named(node: Node): { name: string; start: number } | null {
  switch (node.type) {
    case 'VariableDeclarator':
      return node.id.type === 'Identifier' ? node.id : null
    case 'FunctionDeclaration':
    case 'ClassDeclaration':
    case 'TSInterfaceDeclaration':
    case 'TSTypeAliasDeclaration':
      return node.id
    default:
      return null
  }
}

/** The names that a statement declares. */
export function declares(statement: Node): string[] {
  switch (statement.type) {
    case 'VariableDeclaration':
      return statement.declarations.map(({ id }) => (id.type === 'Identifier' ? id.name : '?'))
    case 'FunctionDeclaration':
    case 'TSDeclareFunction':
    case 'ClassDeclaration':
      return [statement.id?.name ?? '?']
    case 'TSInterfaceDeclaration':
    case 'TSTypeAliasDeclaration':
      return [statement.id.name]
    default:
      return []
  }
}

/** Whether a doc comment stands right before that place. */
export function hasDocstring(source: Source, start: number): boolean {
  return source.comments.some(
    ({ type, value, end }) =>
      type === 'Block' &&
      value.startsWith('*') &&
      end <= start &&
      source.text.slice(end, start).trim() === '',
  )
}

/** Notes to oneself, left in a comment. */
export function notes(source: Source): Complaint[] {
  const complaints: Complaint[] = []
  for (const { value, start } of source.comments) {
    const [note] = /\b(TODO|FIXME|XXX|HACK)\b/.exec(value) ?? []
    if (note) complaints.push(complain(source, start, `leaves a ${note}`))
  }
  return complaints
}

const TESTS = new Set(['test', 'it', 'describe', 'suite'])
const UNSAID = new Set(['only', 'skip', 'skipIf', 'runIf', 'todo'])

/** Tests that hide others, or are skipped without a word: skip by `context.skip('why')`. */
export function skips(source: Source): Complaint[] {
  if (!isTest(source.path)) return []
  const complaints: Complaint[] = []
  walk(source.program, (node, above) => {
    if (node.type === 'MemberExpression') {
      if (node.property.type !== 'Identifier' || node.computed) return
      const word = node.property.name
      const call = above.at(-1)
      const bare = call?.type === 'CallExpression' && call.arguments.length === 0
      if (UNSAID.has(word) && (isTestName(node.object) || (word === 'skip' && bare))) {
        complaints.push(complain(source, node.start, `says .${word} and no reason`))
      }
    }
    if (node.type === 'Property' && node.key.type === 'Identifier') {
      const call = above.at(-2)
      const word = node.key.name
      if (call?.type === 'CallExpression' && isTestName(call.callee) && UNSAID.has(word)) {
        complaints.push(complain(source, node.start, `says ${word} and no reason`))
      }
    }
  })
  return complaints
}

function isTestName(node: Node): boolean {
  if (node.type === 'MemberExpression') return isTestName(node.object)
  return node.type === 'Identifier' && TESTS.has(node.name)
}

const WORKPLACE = /(^|[\s'"`(=:])\/work\/|\bseeds\/\d{3}|\b(protocols|design|style)\.md\b/

/** Places and papers that no reader of the repository has. */
export function workplace(path: string, text: string): Complaint[] {
  const complaints: Complaint[] = []
  for (const [index, line] of text.split('\n').entries()) {
    const [what] = WORKPLACE.exec(line) ?? []
    if (what) complaints.push({ path, line: index + 1, what: `names ${what.trim()}` })
  }
  return complaints
}

/** Addresses that a package would be loaded from, which differ from machine to machine. */
export function addresses(path: string, lockfile: string): Complaint[] {
  const complaints: Complaint[] = []
  for (const [index, line] of lockfile.split('\n').entries()) {
    if (/"resolved":\s*"[^"]*:\/\//.test(line)) {
      complaints.push({ path, line: index + 1, what: `carries an address: ${line.trim()}` })
    }
  }
  return complaints
}
