/**
 * Functions that only forward their arguments. One or two in a row keep two modules apart; more of
 * them hide what a call does.
 */

import { readFileSync } from 'node:fs'
import { parse, walk } from '../tidy/source.ts'
import type { Node } from '../tidy/source.ts'
import type { Frame, Observed } from './stacks.ts'

/** So many in a row at most. */
export const FORWARDS_MAX = 2

interface Span {
  readonly start: number
  readonly end: number
  readonly isForward: boolean
}

const known = new Map<string, { text: string; spans: Span[] }>()

/** Chains on the stacks that are longer than they may be, as sentences. */
export function longChains(path: string, stacks: readonly Observed[]): string[] {
  return stacks.flatMap(({ at, frames }) => {
    const chains: Frame[][] = []
    let chain: Frame[] = []
    for (const frame of frames) {
      if (!isForward(frame)) chain = []
      else if (chain.push(frame) === FORWARDS_MAX + 1) chains.push(chain)
    }
    return chains.map((one) => {
      const places = one.map(({ file, line }) => `${file.replace(/.*\/packages\//, '')}:${line}`)
      return `${path}, ${at}: ${one.length} functions in a row only forward: ${places.join(', ')}`
    })
  })
}

/** Whether the function that a frame is in does nothing but call another. */
export function isForward({ file, line, column }: Frame): boolean {
  if (file === '') return false
  const { text, spans } = spansOf(file)
  const lines = text.split('\n')
  const place = lines.slice(0, line - 1).join('\n').length + column
  const around = spans.filter(({ start, end }) => start < place && place <= end)
  const [inner] = around.toSorted((one, other) => other.start - one.start)
  return inner?.isForward ?? false
}

function spansOf(file: string): { text: string; spans: Span[] } {
  let found = known.get(file)
  if (!found) {
    const text = readFileSync(file, 'utf8')
    found = { text, spans: [] }
    const { spans } = found
    walk(parse(file, text).program, (node) => {
      if (!isFunction(node)) return
      spans.push({ start: node.start, end: node.end, isForward: forwards(node) })
    })
    known.set(file, found)
  }
  return found
}

type Callable = Node & { body: Node | null }

function isFunction(node: Node): node is Callable {
  return node.type === 'FunctionExpression' || /^(Arrow)?Function(Decl|Expr)/.test(node.type)
}

function forwards({ body }: Callable): boolean {
  let node: Node | null = body
  for (;;) {
    if (node === null) return false
    if (node.type === 'BlockStatement') {
      if (node.body.length !== 1) return false
      node = node.body[0] as Node
    } else if (node.type === 'ReturnStatement' || node.type === 'UnaryExpression') {
      node = node.argument
    } else if (node.type === 'ExpressionStatement' || node.type === 'ChainExpression') {
      node = node.expression
    } else break
  }
  return node.type === 'CallExpression' && node.arguments.every(isPlain)
}

// Made elsewhere: a name, or what a thing has.
function isPlain(node: Node): boolean {
  if (node.type === 'MemberExpression') return !node.computed && isPlain(node.object)
  return ['Identifier', 'ThisExpression', 'Literal', 'SpreadElement'].includes(node.type)
}
