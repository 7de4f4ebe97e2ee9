/**
 * Transcripts in test/transcripts/*.txt: what a run said when somebody last read it. With
 * UPDATE=1 in the environment they are rewritten; commit a change only if you understand it.
 *
 * A test of a room plays scenes on a stage of that room, whose verbs are plain; the stage tells a
 * script who says what to whom, a message a line.
 */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { expect } from 'vitest'
import { readStandard, type Standard } from './standard/document.ts'

const FOLDER = new URL('./transcripts/', import.meta.url)
const DOCUMENT = new URL('../docs/STANDARD.md', import.meta.url)

/**
 * Compares lines with the file of that name.
 *
 * @throws AssertionError that shows where they differ first
 */
export function compareTranscript(
  name: string,
  lines: readonly string[],
  update = process.env['UPDATE'] === '1',
): void {
  const file = new URL(`${name}.txt`, FOLDER)
  const actual = toText(lines)
  if (update) {
    mkdirSync(FOLDER, { recursive: true })
    writeFileSync(file, actual)
    return
  }
  const found = difference(read(file), actual)
  if (found) expect.fail(`${name}.txt: ${found}\nRewrite it with UPDATE=1 if that is right.`)
}

function read(file: URL): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

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

/** How the lines of a room read. */
export interface Style {
  /** Digits of a second. */
  decimals: number
  /** Fields that are not told, for a reader cannot judge them. */
  untold: readonly string[]
  /** How bytes read. */
  bytes: (bytes: Uint8Array) => string
}

const PLAIN: Style = { decimals: 3, untold: [], bytes: ({ length }) => `${length} B` }

/** What a run says: headings, and a line for each message and each thing that happened. */
export class Script {
  readonly lines: string[] = []
  readonly #style: Style

  constructor(style: Partial<Style> = {}) {
    this.#style = { ...PLAIN, ...style }
  }

  /** A heading. */
  scene(title: string): void {
    this.lines.push('', title)
  }

  /** @param now  in milliseconds */
  tell(now: number, who: string, what: string): void {
    const { decimals } = this.#style
    const at = (now / 1_000).toFixed(decimals).padStart(decimals + 5)
    this.lines.push(`${at}  ${who.padEnd(5)} ${what}`)
  }

  /** A message in a line, with the names of its fields: of members their numbers. */
  brief(value: unknown): string {
    if (value instanceof Uint8Array) return this.#style.bytes(value)
    if (Array.isArray(value)) return `[${value.map((item) => this.#nested(item)).join(' ')}]`
    if (typeof value !== 'object' || value === null)
      return value === null ? '-' : `${value as string}`
    if ('inc' in value && 'player' in value) return `${value.inc as number}`
    const fields = Object.entries(value).filter(([key]) => !this.#isUntold(key))
    const kind = 'kind' in value ? [`${value.kind as string}`] : []
    return [...kind, ...fields.map(([key, item]) => `${key}=${this.#nested(item)}`)].join(' ')
  }

  #isUntold(key: string): boolean {
    return key === 'kind' || this.#style.untold.includes(key)
  }

  #nested(item: unknown): string {
    const text = this.brief(item)
    const isRecord = typeof item === 'object' && !Array.isArray(item)
    return isRecord && text.includes('=') ? `(${text})` : text
  }
}

/** The document by which a stage reads bytes, so that what it tells is not the code's own word. */
export function standardOf(more: Partial<Standard> = {}): Standard {
  return { ...readStandard(readFileSync(DOCUMENT, 'utf8')), ...more }
}
