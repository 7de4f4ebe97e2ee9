/**
 * Compares transcripts with ones that were once reviewed and found right.
 *
 * This file only compares; tests read and write the files.
 */

/** Lines shown before and after the first that differs. */
const CONTEXT = 3

/** Lines as the text of a file: one each, no blanks at their ends, a newline at the end. */
export function toText(lines: readonly string[]): string {
  return lines.map((line) => `${line.trimEnd()}\n`).join('')
}

/**
 * Where two texts first differ, for a person to read.
 *
 * @returns null if they are the same
 */
export function difference(expected: string, actual: string): string | null {
  if (expected === actual) return null
  const before = expected.split('\n')
  const after = actual.split('\n')
  let first = 0
  while (before[first] === after[first] && first < before.length) first++
  const lines = [`transcripts differ from line ${first + 1} on`]
  for (let i = Math.max(0, first - CONTEXT); i < first; i++) lines.push(`    ${before[i]}`)
  for (const line of before.slice(first, first + CONTEXT)) lines.push(`  - ${line}`)
  for (const line of after.slice(first, first + CONTEXT)) lines.push(`  + ${line}`)
  return lines.join('\n')
}
