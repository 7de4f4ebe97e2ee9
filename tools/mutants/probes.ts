/**
 * Which tests reach a line. Each statement of the modules gets a probe, a byte that is set when it
 * runs; a test's probes are read when it ends.
 */

import { walk } from '../tidy/source.ts'
import type { Node, Source } from '../tidy/source.ts'
import { PROBES, PROBES_MAX } from './marks.ts'
import { declarations } from './sites.ts'
import type { Range } from './sites.ts'

/** A statement that has one, and how the probe is set into the text. */
export interface Probe extends Range {
  readonly how: 'before' | 'block' | 'value'
}

/** The probes of a file, in the order of its text, the outer first. */
export function probes(source: Source): Probe[] {
  const found: Probe[] = []
  const add = ({ start, end }: Range, how: Probe['how']): void =>
    void found.push({ start, end, how })
  walk(source.program, (node) => {
    if (node.type === 'BlockStatement') listed(node.body, add)
    if (node.type === 'SwitchCase') listed(node.consequent, add)
    for (const branch of branches(node)) {
      if (branch.type !== 'BlockStatement') add(branch, 'block')
    }
    if (node.type === 'ArrowFunctionExpression' && node.body.type !== 'BlockStatement') {
      add(node.body, 'value')
    }
  })
  return found.toSorted((a, b) => a.start - b.start || b.end - a.end)
}

function listed(body: readonly Node[], add: (at: Range, how: Probe['how']) => void): void {
  for (const statement of body) {
    if (statement.type !== 'FunctionDeclaration') add(statement, 'before')
  }
}

function branches(node: Node): Node[] {
  switch (node.type) {
    case 'IfStatement':
      return node.alternate ? [node.consequent, node.alternate] : [node.consequent]
    case 'ForStatement':
    case 'ForOfStatement':
    case 'ForInStatement':
    case 'WhileStatement':
    case 'DoWhileStatement':
      return [node.body]
    default:
      return []
  }
}

/** The text with its probes; none of its lines moves. @param base number of the first */
export function probed(source: Source, base: number): string {
  const put: { at: number; text: string; order: number }[] = []
  for (const [index, { start, end, how }] of probes(source).entries()) {
    const set = `${PROBES}[${base + index}] = 1`
    if (how === 'before') put.push({ at: start, text: `${set};`, order: 1 })
    const [open, close] = how === 'block' ? [`{${set};`, '}'] : [`(${set}, `, ')']
    if (how === 'before') continue
    put.push({ at: start, text: open, order: 1 }, { at: end, text: close, order: 0 })
  }
  // What ends at a place is closed before what begins there is opened.
  const ordered = put.toSorted((a, b) => a.at - b.at || a.order - b.order)
  let [text, from] = ['', 0]
  for (const piece of ordered) {
    text += source.text.slice(from, piece.at) + piece.text
    from = piece.at
  }
  const marks = `const ${PROBES} = globalThis.${PROBES} ??= new Uint8Array(${PROBES_MAX});`
  return `${marks} ${text}${source.text.slice(from)}`
}

/** Numbers of the first probe of each file, all files one after the other. */
export function bases(sources: readonly Source[]): Map<string, number> {
  const found = new Map<string, number>()
  let next = 0
  for (const source of sources) {
    found.set(source.path, next)
    next += probes(source).length
  }
  return found
}

/**
 * The probes that tell whether a place ran: of the innermost statement round it; for a default
 * among the parameters of a function, of what the function does first; for what else the top of a
 * file declares, of all statements that name it.
 */
export function watching(sources: readonly Source[], file: string, at: Range): Set<number> {
  const firsts = bases(sources)
  const found = new Set<number>()
  const seen = new Set<string>()
  const visit = (source: Source, range: Range): void => {
    const own = probes(source)
    const index = own.findLastIndex(({ start, end }) => start <= range.start && range.end <= end)
    const first = index >= 0 ? index : entered(source, own, range)
    if (first >= 0) return void found.add(firsts.get(source.path)! + first)
    const top = declarations(source).find(
      ({ start, end }) => start <= range.start && range.end <= end,
    )
    if (!top || top.name === '' || seen.has(top.name)) return
    seen.add(top.name)
    for (const [other, place] of naming(sources, top.name)) visit(other, place)
  }
  visit(
    sources.find(({ path }) => path === file)!,
    at,
  )
  return found
}

/** What the top of a file declares where nothing runs but as it is loaded; elsewhere empty. */
export function constantAt(source: Source, at: Range): string {
  const around = ({ start, end }: Range): boolean => start <= at.start && at.end <= end
  const own = probes(source)
  if (own.some(around) || entered(source, own, at) >= 0) return ''
  return declarations(source).find(around)?.name ?? ''
}

/** The first probe of the function among whose parameters a place stands; -1 if it is in none. */
function entered(source: Source, own: readonly Probe[], { start, end }: Range): number {
  let first = -1
  walk(source.program, (node) => {
    if (node.type !== 'FunctionDeclaration' && node.type !== 'ArrowFunctionExpression') return
    const { body } = node
    if (!body || start < node.start || end > body.start) return
    first = own.findIndex((probe) => body.start <= probe.start && probe.end <= body.end)
  })
  return first
}

function naming(sources: readonly Source[], name: string): [Source, Range][] {
  const found: [Source, Range][] = []
  for (const source of sources) {
    if (!source.text.includes(name)) continue
    walk(source.program, (node, above) => {
      if (node.type !== 'Identifier' || node.name !== name) return
      const parent = above.at(-1)
      if (parent?.type === 'VariableDeclarator' && parent.id === node) return
      if (above.some(({ type }) => type === 'ImportDeclaration')) return
      found.push([source, node])
    })
  }
  return found
}
