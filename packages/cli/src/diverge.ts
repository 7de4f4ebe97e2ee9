/** `holdfast diverge`: finds where the event logs of two replicas diverge. */

import type { CAC } from 'cac'
import { HoldfastError } from '../../holdfast/src/machine.ts'
import { plainLines } from '../../holdfast/src/wire/plain.ts'
import { compare, type Comparison, EventLog, type FieldDifference, type Line } from './event-log.ts'

const CONTEXT_DEFAULT = 3
const CONTEXT_MAX = 1_000
/** Most fields and characters that are shown. */
const FIELDS_MAX = 20
const LINE_CHARS_MAX = 400
const VALUE_CHARS_MAX = 120

/** Adds the command. */
export function addDiverge(cli: CAC): void {
  cli
    .command('diverge <left> <right>', 'Say where two event logs (JSON lines) first differ')
    .option('--context <lines>', 'Lines to show before and after', { default: CONTEXT_DEFAULT })
    .option('--ignore <fields>', 'Fields that may differ, with commas: time,monotime')
    .example('holdfast diverge a.log b.log --ignore time')
    .action(async (left: string, right: string, given: Given) => {
      const [told, equal] = await diverge(`${left}`, `${right}`, given)
      console.log(plainLines(told))
      if (!equal) process.exitCode = 1
    })
}

interface Given {
  context?: number | string
  ignore?: number | string
}

/** Compares two logs in files. @returns the result as text, and whether they are equal */
export async function diverge(
  leftPath: string,
  rightPath: string,
  given: Given = {},
): Promise<[told: string, equal: boolean]> {
  const context = linesOf(given.context ?? CONTEXT_DEFAULT)
  const ignore = given.ignore === undefined ? [] : `${given.ignore}`.split(',')
  const [left, right] = [EventLog.open(leftPath), EventLog.open(rightPath)]
  try {
    const comparison = await compare(left, right, { context, ignore, progress: tellProgress })
    return judge(comparison, leftPath, rightPath)
  } finally {
    await Promise.all([left.close(), right.close()])
  }
}

function linesOf(given: number | string): number {
  const lines = Number(given)
  if (Number.isInteger(lines) && lines >= 0 && lines <= CONTEXT_MAX) return lines
  throw new HoldfastError(
    'bad-value',
    `--context is a whole number from 0 to ${CONTEXT_MAX}: ${given}`,
  )
}

function tellProgress(same: number): void {
  if (process.stderr.isTTY) console.error(`${same} events are equal so far`)
}

function judge(comparison: Comparison, left: string, right: string): [string, boolean] {
  const { same } = comparison
  if (same === 0) {
    const none = comparison.left === null ? left : comparison.right === null ? right : null
    if (none !== null) throw new HoldfastError('bad-value', `${none} is empty: it has no events`)
  }
  if (!comparison.left && !comparison.right) {
    return [`${left} and ${right} are equal: ${count(same)}`, true]
  }
  return [render(comparison, left, right), false]
}

function count(events: number): string {
  return events === 1 ? '1 event' : `${events} events`
}

/** The difference as text for people. */
export function render(comparison: Comparison, left: string, right: string): string {
  const { before, fields, same } = comparison
  const all = [
    ...before.map((line) => row(' ', line)),
    ...[comparison.left, ...comparison.afterLeft].flatMap((line) => (line ? row('<', line) : [])),
    ...[comparison.right, ...comparison.afterRight].flatMap((line) => (line ? row('>', line) : [])),
  ]
  return [
    headline(comparison, left, right),
    `${count(same)} before it ${same === 1 ? 'is' : 'are'} equal; < ${left}, > ${right}`,
    ...all,
    ...(fields.length > 0 ? ['fields that differ:', ...table(fields)] : []),
  ].join('\n')
}

function headline({ left: ours, right: theirs, same }: Comparison, a: string, b: string): string {
  if (ours && theirs) {
    return `${a} and ${b} differ: line ${ours.number} of ${a}, line ${theirs.number} of ${b}`
  }
  const [longer, shorter, line] = ours ? [a, b, ours] : [b, a, theirs!]
  return `${shorter} ends after ${count(same)}, ${longer} goes on at its line ${line.number}`
}

function row(mark: string, { number, text }: Line): string {
  return `${mark} ${String(number).padStart(6)}  ${clip(text.trim(), LINE_CHARS_MAX)}`
}

function table(fields: readonly FieldDifference[]): string[] {
  const shown = fields.slice(0, FIELDS_MAX)
  const width = Math.max(...shown.map(({ path }) => path.length))
  const value = (json: string | undefined): string => clip(json ?? '(none)', VALUE_CHARS_MAX)
  const lines = shown.map(
    ({ path, left, right }) => `  ${path.padEnd(width)}  ${value(left)} | ${value(right)}`,
  )
  const more = fields.length - shown.length
  return more > 0 ? [...lines, `  and ${more} more`] : lines
}

function clip(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most)}…` : text
}
