/** Tests that say in front of their title which requirements they prove: `B3, B12: …`. */

import { isTest, walk } from '../tidy/source.ts'
import type { Node, Source } from '../tidy/source.ts'

/** One test that claims numbers. */
export interface Claim {
  readonly numbers: readonly string[]
  readonly path: string
  /** Without the numbers. */
  readonly title: string
}

const PREFIX = /^([BOTSM]\d+(?:(?:, |-|–)[BOTSM]\d+)*): (.+)$/s

/** The claims of a title; null if it makes none. A range such as `T56-T61` means all of it. */
export function readTitle(title: string): { numbers: string[]; title: string } | null {
  const [, list, rest] = PREFIX.exec(title) ?? []
  if (list === undefined || rest === undefined) return null
  const numbers = list.split(', ').flatMap((item) => {
    const [from = '', to] = item.split(/[-–]/)
    if (to === undefined) return [from]
    const [first, last] = [Number(from.slice(1)), Number(to.slice(1))]
    return Array.from({ length: last - first + 1 }, (_, index) => `${from[0]}${first + index}`)
  })
  return { numbers, title: rest }
}

/** All claims of the test files among the sources. */
export function claims(sources: readonly Source[]): Claim[] {
  const found: Claim[] = []
  for (const source of sources) {
    if (!isTest(source.path)) continue
    walk(source.program, (node) => {
      const read = readTitle(titleOf(node) ?? '')
      if (read) found.push({ ...read, path: source.path })
    })
  }
  return found
}

/** The title of a call such as `test('…', …)` or `test.each(table)('…', …)`. */
function titleOf(node: Node): string | null {
  if (node.type !== 'CallExpression') return null
  let callee: Node = node.callee
  while (callee.type === 'CallExpression') callee = callee.callee
  if (callee.type === 'MemberExpression') callee = callee.object
  if (callee.type !== 'Identifier' || !['test', 'it'].includes(callee.name)) return null
  const [title] = node.arguments
  if (title?.type === 'Literal' && typeof title.value === 'string') return title.value
  if (title?.type === 'TemplateLiteral') {
    return title.quasis.map(({ value }) => value.cooked ?? '').join('…')
  }
  return null
}
