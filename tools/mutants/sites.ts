/**
 * One-place changes of a file, by rule.
 *
 * A site is a file, the declaration of its top level, and a text in there, so that it outlives
 * moves: lines come and go above it, and it is still found. What a rule puts in its place stands
 * beside. Each rule is a mistake that people make: a bound that is one off, a condition that was
 * forgotten, half of one, the wrong end of a range, a line that was left out, a wrong constant.
 */

import { walk } from '../tidy/source.ts'
import type { Node, Source } from '../tidy/source.ts'

/** What kind of mistake a change is. */
export type Rule = 'comparison' | 'boundary' | 'condition' | 'half' | 'range' | 'statement' | 'size'

/** Where a text stands, however its file moves about. */
export interface Place {
  /** From the root of the repository. */
  readonly file: string
  /** The declaration at the top of the file that has it. */
  readonly within: string
  readonly text: string
  /** Which one, from 0, where the declaration has the text more than once. */
  readonly nth: number
}

/** One text put in the place of another. */
export interface Change extends Place {
  readonly put: string
}

/** A change that a rule makes. */
export interface Site extends Change {
  readonly rule: Rule
}

/** A stretch of a file's text: from, and the first offset behind it. */
export interface Range {
  readonly start: number
  readonly end: number
}

type Proposal = readonly [rule: Rule, at: Range, put: string]

const NEGATED: Readonly<Record<string, string>> = {
  '===': '!==',
  '!==': '===',
  '<': '>=',
  '<=': '>',
  '>': '<=',
  '>=': '<',
}
const SHIFTED: Readonly<Record<string, string>> = { '<': '<=', '<=': '<', '>': '>=', '>=': '>' }

/** All changes of a file that the rules make, in the order of its text. */
export function sites(source: Source): Site[] {
  const found: Site[] = []
  const tops = declarations(source)
  walk(source.program, (node, above) => {
    if (isOfTypes(node, above)) return
    for (const [rule, at, put] of proposals(source, node, above)) {
      const top = tops.find(({ start, end }) => start <= at.start && at.end <= end)
      if (!top) continue
      const text = source.text.slice(at.start, at.end)
      const nth = source.text.slice(top.start, at.start).split(text).length - 1
      found.push({ file: source.path, within: top.name, text, nth, put, rule })
    }
  })
  return found
}

/** Where a place is by now; null if its text is gone. */
export function find(source: Source, { within, text, nth }: Place): Range | null {
  for (const { name, start, end } of declarations(source)) {
    if (name !== within) continue
    let at = start - 1
    for (let step = 0; step <= nth; step++) {
      at = source.text.indexOf(text, at + 1)
      if (at < 0 || at + text.length > end) break
    }
    if (at >= 0 && at + text.length <= end) return { start: at, end: at + text.length }
  }
  return null
}

/** The text of a file with a change in it. @throws Error where its place is gone */
export function changed(source: Source, change: Change): string {
  const range = find(source, change)
  if (!range) throw new Error(`${shown(change)}: this text is not there`)
  return source.text.slice(0, range.start) + change.put + source.text.slice(range.end)
}

/** A change in one line, which names it. */
export function shown({ file, within, text, nth, put }: Change): string {
  const which = nth > 0 ? ` (${nth + 1}.)` : ''
  const after = put === '' || put === ';' ? 'removed' : flat(put)
  return `${file} ${within}: ${flat(text)}${which} → ${after}`
}

function flat(text: string): string {
  return text.replaceAll(/\s+/g, ' ')
}

/** What the top of a file declares, with its stretch of the text. */
export function declarations(source: Source): (Range & { readonly name: string })[] {
  if (source.program.type !== 'Program') return []
  return source.program.body.flatMap((statement) => {
    const inner =
      statement.type === 'ExportNamedDeclaration' ? (statement.declaration ?? null) : statement
    if (inner?.type === 'VariableDeclaration') {
      return inner.declarations.map(({ id, start, end }) => {
        return { name: id.type === 'Identifier' ? id.name : '', start, end }
      })
    }
    if (inner?.type === 'FunctionDeclaration' || inner?.type === 'ClassDeclaration') {
      return [{ name: inner.id?.name ?? '', start: inner.start, end: inner.end }]
    }
    return []
  })
}

function isOfTypes(node: Node, above: readonly Node[]): boolean {
  return [node, ...above].some(({ type }) => type.startsWith('TSType') || type === 'TSTupleType')
}

function proposals(source: Source, node: Node, above: readonly Node[]): Proposal[] {
  switch (node.type) {
    case 'BinaryExpression':
      return compared(source, node.operator, node)
    case 'IfStatement':
    case 'ConditionalExpression':
      return ['true', 'false'].map((put) => ['condition', node.test, put])
    case 'LogicalExpression': {
      if (node.operator === '??') return []
      return [node.left, node.right].map((half) => ['half', node, textOf(source, half)])
    }
    case 'CallExpression':
      return ranged(source, node)
    case 'ExpressionStatement':
      // Such a statement is for the compiler alone: it says that no case is left.
      if (node.expression.type === 'TSSatisfiesExpression') return []
      return [['statement', node, ';']]
    case 'VariableDeclarator':
      return above.length <= 3 ? sized(source, node) : []
    default:
      return []
  }
}

function textOf(source: Source, { start, end }: Range): string {
  return source.text.slice(start, end)
}

type Binary = Extract<Node, { type: 'BinaryExpression' }>

function compared(source: Source, operator: string, node: Node): Proposal[] {
  const { left, right } = node as Binary
  const put = (other: string): string => `${textOf(source, left)} ${other} ${textOf(source, right)}`
  const found: Proposal[] = []
  const [negated, shifted] = [NEGATED[operator], SHIFTED[operator]]
  if (negated) found.push(['comparison', node, put(negated)])
  if (shifted) found.push(['boundary', node, put(shifted)])
  return found
}

type Call = Extract<Node, { type: 'CallExpression' }>

/** The other end of a range, and a range that is open at one end. */
function ranged(source: Source, node: Call): Proposal[] {
  const { callee } = node
  const [, name] = /^Math\.(min|max)$/.exec(textOf(source, callee)) ?? []
  if (!name) return []
  const other = name === 'min' ? 'max' : 'min'
  const all = source.text.slice(callee.end, node.end)
  const found: Proposal[] = [['range', node, `Math.${other}${all}`]]
  if (node.arguments.length !== 2) return found
  for (const one of node.arguments) {
    // A list of values is no value.
    if (one.type !== 'SpreadElement') found.push(['range', node, textOf(source, one)])
  }
  return found
}

type Declarator = Extract<Node, { type: 'VariableDeclarator' }>

/** A constant of the top of a file: twice as much, and half of it; 0 is both, and left alone. */
function sized(source: Source, { id, init }: Declarator): Proposal[] {
  if (id.type !== 'Identifier' || !/^[A-Z][A-Z\d_]*$/.test(id.name) || !init) return []
  if (!/^[\d_.\s*()+A-Z/-]+$/.test(textOf(source, init)) || !/\w/.test(textOf(source, init))) {
    return []
  }
  const text = textOf(source, init)
  if (init.type === 'Literal' && init.value === 0) return []
  return [
    ['size', init, `(${text}) * 2`],
    ['size', init, `(${text}) / 2`],
  ]
}
