/**
 * `holdfast diverge`: finds where the event logs of two replicas diverge.
 *
 * Both logs (JSON lines) are streamed, one line of each at a time, so a log may exceed memory. Only
 * a line feed ends a line: the other Unicode line separators may occur inside JSON text.
 */

import { createReadStream } from 'node:fs'
import type { CAC } from 'cac'
import { badValue, HoldfastError } from '../../holdfast/src/machine.ts'
import { plainLines } from '../../holdfast/src/wire/text/plain.ts'

/** Longest line of a log, in bytes. */
const LINE_BYTES_MAX = 64 * 1024 * 1024
const CONTEXT_DEFAULT = 3
const CONTEXT_MAX = 1_000
/** Most fields and characters shown. */
const FIELDS_MAX = 20
const LINE_CHARS_MAX = 400
const VALUE_CHARS_MAX = 120

export function addDiverge(cli: CAC): void {
  cli
    .command('diverge <left> <right>', 'Find where two event logs (JSON lines) first differ')
    .option('--context <lines>', 'Lines to show before and after', { default: CONTEXT_DEFAULT })
    .option('--ignore <fields>', 'Fields to ignore, comma-separated: time,monotime')
    .example('holdfast diverge a.log b.log --ignore time')
    .action(async (left: string, right: string, given: Given) => {
      const [result, equal] = await diverge(`${left}`, `${right}`, given)
      console.log(plainLines(result))
      if (!equal) process.exitCode = 1
    })
}

interface Given {
  context?: number | string
  ignore?: number | string
}

/** Compares two log files. @returns the result as text, and whether they are equal */
export async function diverge(
  leftPath: string,
  rightPath: string,
  given: Given = {},
): Promise<[result: string, equal: boolean]> {
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
  throw badValue(`--context is a whole number from 0 to ${CONTEXT_MAX}: ${given}`)
}

function tellProgress(same: number): void {
  if (process.stderr.isTTY) console.error(`${same} events are equal so far`)
}

function judge(comparison: Comparison, left: string, right: string): [string, boolean] {
  const { same } = comparison
  if (same === 0) {
    const none = comparison.left === null ? left : comparison.right === null ? right : null
    if (none !== null) throw badValue(`${none} is empty: it has no events`)
  }
  if (!comparison.left && !comparison.right) {
    return [`${left} and ${right} are equal: ${count(same)}`, true]
  }
  return [render(comparison, left, right), false]
}

function count(events: number): string {
  return events === 1 ? '1 event' : `${events} events`
}

function render(comparison: Comparison, left: string, right: string): string {
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

interface Line {
  /** The line number, from 1; empty lines count but are no events. */
  number: number
  text: string
}

/** The path of a field, and its JSON on either side; undefined where it is missing. */
interface FieldDifference {
  path: string
  left: string | undefined
  right: string | undefined
}

export interface Comparison {
  /** The number of leading events that both logs share. */
  same: number
  /** The last shared events, oldest first, as in the left log. */
  before: Line[]
  /** The first lines that differ; null where a log has ended, both null if the logs are equal. */
  left: Line | null
  right: Line | null
  fields: FieldDifference[]
  afterLeft: Line[]
  afterRight: Line[]
}

interface Comparing {
  /** Lines to keep before and after the difference. */
  context: number
  /** Event fields to ignore, such as a time. */
  ignore: readonly string[]
  /** Called periodically with the number of equal events so far. */
  progress?: ((same: number) => void) | undefined
}

const PROGRESS_EVERY = 1_000_000

/** Finds the first difference of two logs. @throws HoldfastError `bad-value` for an invalid line */
export async function compare(
  left: EventLog,
  right: EventLog,
  { context, ignore, progress }: Comparing,
): Promise<Comparison> {
  const before: Line[] = []
  for (let same = 0; ; same++) {
    if (same > 0 && same % PROGRESS_EVERY === 0) progress?.(same)
    const pair = [await left.next(), await right.next()] as const
    const fields = partsOf(left, right, pair, ignore)
    if (fields === null) {
      before.push(pair[0]!)
      if (before.length > context) before.shift()
      continue
    }
    return {
      same,
      before,
      left: pair[0],
      right: pair[1],
      fields,
      afterLeft: await left.some(context),
      afterRight: await right.some(context),
    }
  }
}

/** The differences of a pair of lines; null if there are none and both logs go on. */
function partsOf(
  leftLog: EventLog,
  rightLog: EventLog,
  [left, right]: readonly [Line | null, Line | null],
  ignore: readonly string[],
): FieldDifference[] | null {
  const ours = left && parse(leftLog.name, left)
  // Identical lines are equal, so most lines are parsed once or never.
  if (left && left.text === right?.text) return null
  const theirs = right && parse(rightLog.name, right)
  if (!ours || !theirs) return []
  for (const name of ignore) {
    delete ours[name]
    delete theirs[name]
  }
  const fields = differences(ours, theirs)
  return fields.length > 0 ? fields : null
}

type Plain = Record<string, unknown>

function parse(name: string, { number, text }: Line): Plain {
  let event: unknown
  try {
    event = JSON.parse(exact(text))
  } catch (error) {
    const why = (error as Error).message
    throw badValue(`line ${number} of ${name} is not JSON: ${why}`)
  }
  if (typeof event === 'object' && event !== null && !Array.isArray(event)) return event as Plain
  throw badValue(`line ${number} of ${name} is JSON but no object`)
}

const LONG_NUMBER = /\d{16}/
const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/g

/** The text with numbers beyond double precision as strings, so different ones stay different. */
function exact(text: string): string {
  if (!LONG_NUMBER.test(text)) return text
  return text.replace(STRING_OR_NUMBER, (token) =>
    token.startsWith('"') || !LONG_NUMBER.test(token) ? token : `"${token}"`,
  )
}

/** The fields in which two plain values differ; key order is ignored. */
export function differences(left: unknown, right: unknown, path = ''): FieldDifference[] {
  if (Object.is(left, right)) return []
  if (!isNested(left) || !isNested(right) || Array.isArray(left) !== Array.isArray(right)) {
    return [{ path, left: JSON.stringify(left), right: JSON.stringify(right) }]
  }
  const keys = new Set([...Object.keys(left), ...Object.keys(right)])
  return [...keys].flatMap((key) =>
    differences(left[key], right[key], Array.isArray(left) ? `${path}[${key}]` : join(path, key)),
  )
}

function isNested(value: unknown): value is Plain {
  return typeof value === 'object' && value !== null
}

function join(path: string, key: string): string {
  const name = /^[\w$-]+$/.test(key) ? key : JSON.stringify(key)
  return path === '' ? name : `${path}.${name}`
}

export class EventLog {
  readonly name: string
  readonly #lines: AsyncIterator<Line> | Iterator<Line>

  constructor(name: string, lines: AsyncIterator<Line> | Iterator<Line>) {
    this.name = name
    this.#lines = lines
  }

  /** Opens a log file. Reading throws HoldfastError `not-found` or `bad-value`. */
  static open(path: string): EventLog {
    return new EventLog(path, eventsOf(path))
  }

  /** The next event; null at the end. */
  async next(): Promise<Line | null> {
    const result: IteratorResult<Line, unknown> = await this.#lines.next()
    return result.done ? null : result.value
  }

  /** Up to `count` of the next lines, unparsed; fewer at an unreadable one. */
  async some(count: number): Promise<Line[]> {
    const lines: Line[] = []
    while (lines.length < count) {
      const line = await this.next().catch(() => null)
      if (!line) break
      lines.push(line)
    }
    return lines
  }

  async close(): Promise<void> {
    await this.#lines.return?.()
  }
}

async function* eventsOf(path: string): AsyncGenerator<Line> {
  let number = 0
  try {
    for await (const bytes of cutAtFeeds(path)) {
      number++
      const text = decode(path, number, bytes)
      if (text.trim() !== '') yield { number, text }
    }
  } catch (error) {
    throw error instanceof HoldfastError ? error : unreadable(path, error as NodeJS.ErrnoException)
  }
}

const UTF8 = new TextDecoder('utf-8', { fatal: true })

function decode(path: string, number: number, bytes: Buffer): string {
  try {
    return UTF8.decode(bytes)
  } catch {
    throw badValue(`line ${number} of ${path} is not UTF-8`)
  }
}

function unreadable(path: string, error: NodeJS.ErrnoException): HoldfastError {
  if (error.code === 'ENOENT') return new HoldfastError('not-found', `there is no file ${path}`)
  if (error.code === 'EISDIR') return badValue(`${path} is a folder`)
  return badValue(`${path} cannot be read: ${error.message}`)
}

/** Splits a file at its line feeds. */
async function* cutAtFeeds(path: string): AsyncGenerator<Buffer> {
  let begun: Buffer[] = []
  let size = 0
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    let from = 0
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      const rest = chunk.subarray(from, end)
      yield begun.length === 0 ? rest : Buffer.concat([...begun, rest])
      from = end + 1
      begun = []
      size = 0
    }
    begun.push(chunk.subarray(from))
    size += chunk.length - from
    if (size <= LINE_BYTES_MAX) continue
    throw badValue(`${path} has a line of more than ${LINE_BYTES_MAX} bytes`)
  }
  if (size > 0) yield Buffer.concat(begun)
}
