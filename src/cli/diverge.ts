/** `holdfast diverge`: the first line in which two event logs differ. */

import { readFileSync } from 'node:fs'
import type { CAC } from 'cac'
import { HoldfastError } from '../machine.ts'

/** Lines before and after that are shown unless told otherwise. */
const CONTEXT_DEFAULT = 3

/** Adds the command. */
export function addDiverge(cli: CAC): void {
  cli
    .command('diverge <a> <b>', 'Print the first line in which two event logs differ')
    .option('--context <lines>', 'Lines to show around it', { default: CONTEXT_DEFAULT })
    .example('holdfast diverge left.log right.log')
    .action((a: string | number, b: string | number, { context }: { context: string | number }) => {
      const lines = Number(context)
      if (!Number.isInteger(lines) || lines < 0) {
        throw new HoldfastError('bad-value', `--context is a whole number from 0: ${context}`)
      }
      if (!diverge(String(a), String(b), lines)) process.exitCode = 1
    })
}

/** Where two logs part. */
export interface Difference {
  /** From 1. */
  line: number
  /** Null where a log has ended. */
  left: string | null
  right: string | null
}

/** The first line in which they differ; null if they are equal. */
export function firstDifference(a: readonly string[], b: readonly string[]): Difference | null {
  const end = Math.max(a.length, b.length)
  for (let at = 0; at < end; at++) {
    if (a[at] === b[at]) continue
    return { line: at + 1, left: a[at] ?? null, right: b[at] ?? null }
  }
  return null
}

/** @returns whether they are equal */
function diverge(a: string, b: string, context: number): boolean {
  const [left, right] = [linesOf(a), linesOf(b)]
  const found = firstDifference(left, right)
  if (!found) {
    console.log(`${a} and ${b} are equal: ${left.length} lines`)
    return true
  }
  const at = found.line - 1
  console.log(`${a} and ${b} differ from line ${found.line} on`)
  const number = (index: number): string => String(index + 1).padStart(String(at + context).length)
  for (let index = Math.max(0, at - context); index < at; index++) {
    console.log(`  ${number(index)}  ${left[index]}`)
  }
  for (const [sign, lines] of [['-', left] as const, ['+', right] as const]) {
    if (at >= lines.length) console.log(`${sign} ${number(at)}  (it ends here)`)
    for (let index = at; index < Math.min(lines.length, at + 1 + context); index++) {
      console.log(`${sign} ${number(index)}  ${lines[index]}`)
    }
  }
  return false
}

function linesOf(path: string): string[] {
  try {
    const lines = readFileSync(path, 'utf8').split('\n')
    if (lines.at(-1) === '') lines.pop()
    return lines
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    const why = code === 'ENOENT' ? 'there is no such file' : String(error)
    throw new HoldfastError('not-found', `${path} cannot be read: ${why}`)
  }
}
