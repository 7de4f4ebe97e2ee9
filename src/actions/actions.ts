/**
 * Actions: functions of the game that run on the primary, once, over a table all can read.
 *
 * What an action changes in the table is one entry of the log together with its number and
 * its answer, so neither a takeover nor a message sent twice makes it happen again or not at
 * all (T80). Decisions belong here: who was hit, what the score is (T49). Members see only
 * what is safe: the news of a change leaves when the backup has it.
 */

import { badValue, HoldfastError } from '../machine.ts'
import type { Draft, Effected, Millis, Part, PartOut, PartView, PeerId } from '../machine.ts'
import { shown } from '../wire/fields.ts'
import { isJson, toJson } from '../wire/json.ts'
import { decode, encode, flag, list, maybe, message, record, text } from '../wire/layout.ts'

/** The channel of actions. */
export const ACTIONS_CHANNEL = 5
/** Longest key of the table, in bytes. */
export const KEY_MAX = 128
/** Longest value, as JSON, in bytes. */
export const VALUE_MAX = 4096
/** Most keys of the table. */
export const KEYS_MAX = 10_000
/** Most changes that one action makes. */
export const ACTION_CHANGES_MAX = 256
/** Largest sum of keys and values that one action changes, and one message tells, in bytes. */
export const NEWS_MAX: number = 32 * 1024
/** Most bytes of keys and pieces that one action changes, as the log has them. */
export const ACTION_BYTES_MAX: number = 40 * 1024
/** Longest arguments or answer of an action, as JSON, in bytes. */
export const ARGUMENTS_MAX: number = 8 * 1024

/** What a table holds. */
export type Value = string | number | boolean | null

/** What an action sees: the table as it is, and as it makes it. */
export interface Table {
  get(key: string): Value | undefined
  set(key: string, value: Value): void
  delete(key: string): void
  /** Keys with such a beginning, sorted. */
  keys(prefix?: string): string[]
}

/** Who acts. */
export interface Actor {
  inc: PeerId
  player: number
}

/** An action as the primary runs it. It throws to say no: the member is told the sentence. */
export type Run = (table: Table, args: unknown, by: Actor) => unknown

/** One key with its value as JSON; null removes it. */
interface Row {
  key: string
  value: string | null
}

const change = record({ key: text(KEY_MAX), value: maybe(text(VALUE_MAX)) })
const call = record({ name: text(64), args: text(ARGUMENTS_MAX) })
const answer = record({ ok: flag, text: text(ARGUMENTS_MAX) })
const rows = list(change, KEYS_MAX)
const news = message({
  table: [1, record({ rows })],
  changes: [2, record({ rows })],
})

/** The table at one member: as the primary or backup keeps it, and as the member was told. */
export interface Actions {
  primary: PeerId
  kept: Map<string, string>
  told: Map<string, string>
}

/** What actions tell the application. */
export type ActionEvent = { kind: 'table'; keys: string[] }

/** An empty table. */
export function create(): Actions {
  return { primary: 0, kept: new Map(), told: new Map() }
}

/** The body of an operation that runs an action. @throws HoldfastError code `bad-value` */
export function encodeCall(name: string, args: unknown): Uint8Array {
  const text = toJson(args, `the argument of "${name}"`)
  const bytes = bytesOf(text)
  if (bytes <= ARGUMENTS_MAX) return encode(call, { name, args: text })
  throw badValue(`the arguments of "${name}" have at most ${ARGUMENTS_MAX} bytes as JSON: ${bytes}`)
}

const encoder = new TextEncoder()

function bytesOf(text: string): number {
  return encoder.encode(text).length
}

/** What came of it; null if the bytes are no answer (a primary without that part). */
export function decodeAnswer(
  bytes: Uint8Array,
): { ok: true; value: unknown } | { ok: false; why: string } | null {
  const said = decode(answer, bytes)
  if (!said) return null
  if (!said.ok) return { ok: false, why: said.text }
  return isJson(said.text) ? { ok: true, value: JSON.parse(said.text) } : null
}

/** A value of the table as this member was told it. */
export function read(actions: Actions, key: string): Value | undefined {
  const kept = actions.told.get(key)
  return kept === undefined ? undefined : (JSON.parse(kept) as Value)
}

/** Keys of the told table, sorted. */
export function keys(actions: Actions, prefix = ''): string[] {
  return [...actions.told.keys()].filter((key) => key.startsWith(prefix)).sort()
}

/** Opens another part's state for one action of that player. */
export type Companion = (by: Actor) => Draft

/**
 * The actions of a game as a part of a member.
 *
 * @param runs  by name
 * @param companions  parts that an action changes along with the table
 */
export function actionsPart(
  runs: ReadonlyMap<string, Run>,
  companions: readonly Companion[] = [],
): Part<Actions> {
  return {
    channel: ACTIONS_CHANNEL,
    receive,
    view,
    perform: (state, _now, body, inc, player) =>
      perform(state, runs, companions, body, { inc, player }),
    apply,
    snapshot: (state) => encode(news, { kind: 'table', rows: rowsOf(state.kept) }),
    reset,
    told: (state) => encode(news, { kind: 'table', rows: rowsOf(state.told) }),
    restore,
    welcome,
  }
}

function perform(
  state: Actions,
  runs: ReadonlyMap<string, Run>,
  companions: readonly Companion[],
  body: Uint8Array,
  by: Actor,
): Effected {
  const said = decode(call, body)
  const run = said && runs.get(said.name)
  if (!said || !run) return refused(said ? `no action is called ${said.name}` : 'malformed action')
  const changes = new Map<string, string | null>()
  const drafts = companions.map((open) => open(by))
  // Who is refused may be told what was drawn, so no lot is drawn twice.
  const unfit = (why: string): Effected => {
    const also = drafts.flatMap((opened) => opened.spent() ?? [])
    return also.length > 0 ? { ...refused(why), also } : refused(why)
  }
  try {
    const faces = drafts.map(({ face }) => face)
    const table = Object.assign(draft(state.kept, changes), ...faces) as Table
    const value = run(table, JSON.parse(said.args), by)
    const rowsMade = [...changes].map(([key, kept]) => ({ key, value: kept }))
    checkRows(rowsMade)
    const made = rowsMade.map((row) => encode(change, row))
    const also = drafts.map((opened) => opened.done())
    const why = tooMuch([...made, ...also.flatMap((other) => other.changes)])
    if (why !== '') return unfit(why)
    return {
      outcome: encode(answer, { ok: true, text: answerOf(said.name, value) }),
      changes: made,
      news: rowsMade.length === 0 ? null : encode(news, { kind: 'changes', rows: rowsMade }),
      also,
    }
  } catch (error) {
    // A game's function that throws harms nobody: nothing of it is kept, and its caller is told.
    return unfit(error instanceof Error ? error.message : String(error))
  }
}

function checkRows(made: readonly Row[]): void {
  const most = ACTION_CHANGES_MAX
  if (made.length > most) throw badValue(`an action changes ${most} keys at most: ${made.length}`)
  const size = made.reduce((sum, row) => sum + sizeOf(row), 0)
  if (size > NEWS_MAX) throw badValue(`an action changes ${NEWS_MAX} bytes at most: ${size}`)
}

function answerOf(name: string, value: unknown): string {
  const text = toJson(value, `what the action "${name}" gave`)
  const bytes = bytesOf(text)
  if (bytes <= ARGUMENTS_MAX) return text
  throw badValue(`what "${name}" gives has at most ${ARGUMENTS_MAX} bytes as JSON: ${bytes}`)
}

// Keys and pieces together are one entry of the log.
function tooMuch(changes: readonly Uint8Array[]): string {
  const most = ACTION_CHANGES_MAX
  if (changes.length > most) return `an action changes ${most} keys and pieces: ${changes.length}`
  const size = changes.reduce((sum, { length }) => sum + length, 0)
  return size > ACTION_BYTES_MAX ? `an action changes ${ACTION_BYTES_MAX} bytes: ${size}` : ''
}

function refused(why: string): Effected {
  const outcome = encode(answer, { ok: false, text: why.slice(0, 200) })
  return { outcome, changes: [], news: null }
}

function draft(kept: Map<string, string>, changes: Map<string, string | null>): Table {
  const current = (key: string): string | null | undefined =>
    changes.has(key) ? changes.get(key) : kept.get(key)
  return {
    get: (key) => {
      const value = current(key)
      return value === undefined || value === null ? undefined : (JSON.parse(value) as Value)
    },
    set: (key, value) => {
      checkRow(key, value)
      if (current(key) === undefined && kept.size + changes.size >= KEYS_MAX) {
        throw new HoldfastError('full', `the table holds ${KEYS_MAX} keys at most`)
      }
      changes.set(key, JSON.stringify(value))
    },
    delete: (key) => {
      checkKey(key)
      changes.set(key, null)
    },
    keys: (prefix = '') =>
      [...new Set([...kept.keys(), ...changes.keys()])]
        .filter((key) => key.startsWith(prefix) && typeof current(key) === 'string')
        .sort(),
  }
}

function checkKey(key: unknown): asserts key is string {
  if (typeof key !== 'string') throw badValue(`a key of the table is text: ${typeof key}`)
  const bytes = bytesOf(key)
  if (bytes > KEY_MAX) throw badValue(`a key of the table has at most ${KEY_MAX} bytes: ${bytes}`)
}

function checkRow(key: unknown, value: unknown): void {
  checkKey(key)
  const isScalar = value === null || ['string', 'boolean'].includes(typeof value)
  if (!isScalar && !(typeof value === 'number' && Number.isFinite(value))) {
    const found = typeof value === 'object' ? 'an object' : shown(value)
    const takes = 'text, finite numbers, true, false and null'
    throw badValue(`the table takes ${takes}, at "${key}" it was given ${found}`)
  }
  const bytes = bytesOf(JSON.stringify(value))
  if (bytes > VALUE_MAX) {
    throw badValue(`a value of the table has at most ${VALUE_MAX} bytes: "${key}" has ${bytes}`)
  }
}

function apply(state: Actions, bytes: Uint8Array): void {
  const row = decode(change, bytes)
  if (row) put(state.kept, row)
}

function put(table: Map<string, string>, row: Row): void {
  if (row.value === null) table.delete(row.key)
  else table.set(row.key, row.value)
}

function rowsOf(table: Map<string, string>): Row[] {
  return [...table].map(([key, value]) => ({ key, value }))
}

function sizeOf(row: Row): number {
  // At most three bytes of UTF-8 for each unit of a string.
  return 3 * (row.key.length + (row.value?.length ?? 0)) + 8
}

function welcome(state: Actions): Uint8Array[] {
  const messages: Uint8Array[] = []
  let rowsNow: Row[] = []
  let size = 0
  const close = (): void => {
    const kind = messages.length === 0 ? 'table' : 'changes'
    messages.push(encode(news, { kind, rows: rowsNow }))
    rowsNow = []
    size = 0
  }
  for (const row of rowsOf(state.kept)) {
    if (size + sizeOf(row) > NEWS_MAX) close()
    rowsNow.push(row)
    size += sizeOf(row)
  }
  close()
  return messages
}

function restore(state: Actions, bytes: Uint8Array): boolean {
  const said = decode(news, bytes)
  if (said?.kind !== 'table') return false
  state.kept = new Map()
  for (const row of said.rows) put(state.kept, row)
  return true
}

function reset(state: Actions, out: PartOut<ActionEvent>): void {
  const gone = [...state.told.keys()]
  state.kept = new Map()
  state.told = new Map()
  if (gone.length > 0) out.emit({ kind: 'table', keys: gone })
}

function view(state: Actions, _now: Millis, seen: PartView): void {
  state.primary = seen.primary
}

function receive(
  state: Actions,
  _now: Millis,
  from: PeerId,
  bytes: Uint8Array,
  out: PartOut<ActionEvent>,
): void {
  const said = decode(news, bytes)
  if (!said || from !== state.primary) return
  if (!said.rows.every((row) => row.value === null || isJson(row.value))) return
  const changed = new Set(said.rows.map((row) => row.key))
  if (said.kind === 'table') {
    for (const key of state.told.keys()) changed.add(key)
    state.told = new Map()
  }
  for (const row of said.rows) put(state.told, row)
  out.emit({ kind: 'table', keys: [...changed] })
}
