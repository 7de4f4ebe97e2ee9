/** The shape of the code in numbers: how much there is of what, and how long functions are. */

import { functionsOf } from '../tidy/shape.ts'
import { isTest, type Source } from '../tidy/source.ts'

/** What is counted apart, in the order in which a path is asked. */
const KINDS: readonly (readonly [name: string, is: (path: string) => boolean])[] = [
  ['tests', (path) => isTest(path) || path.startsWith('test/')],
  ['proofs', (path) => /^(proof|packages\/sim)\//.test(path)],
  ['library', (path) => path.startsWith('packages/')],
  ['games', (path) => path.startsWith('games/')],
  ['tools and benches', (path) => /^(tools|bench)\//.test(path)],
]

/** One kind of code. */
export interface Shape {
  readonly kind: string
  readonly files: number
  /** Lines that have more than blanks and comments. */
  readonly lines: number
  /** Lines of a function: the one in the middle, and the longest. */
  readonly median: number
  readonly longest: number
}

/** Measures files, one row for each kind of which there are some. */
export function measure(sources: readonly Source[]): Shape[] {
  const kindOf = (path: string): string | undefined => KINDS.find(([, is]) => is(path))?.[0]
  return KINDS.flatMap(([kind]) => {
    const own = sources.filter(({ path }) => kindOf(path) === kind)
    if (own.length === 0) return []
    const lengths = own.flatMap((source) => functionsOf(source).map(({ lines }) => lines))
    const sorted = lengths.toSorted((a, b) => a - b)
    const lines = own.reduce((sum, source) => sum + linesOfCode(source), 0)
    const median = sorted[Math.floor(sorted.length / 2)] ?? 0
    return { kind, files: own.length, lines, median, longest: sorted.at(-1) ?? 0 }
  })
}

function linesOfCode({ text, comments }: Source): number {
  let code = text
  for (const { start, end } of comments) {
    const blank = text.slice(start, end).replaceAll(/[^\n]/g, ' ')
    code = code.slice(0, start) + blank + code.slice(end)
  }
  return code.split('\n').filter((line) => line.trim() !== '').length
}
