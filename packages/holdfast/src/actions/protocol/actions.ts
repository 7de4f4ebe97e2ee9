/**
 * Actions: functions of the game that the primary runs exactly once, over a key-value table that
 * all members can read.
 *
 * An action's changes, number and answer are one entry of the log, so neither a takeover nor a
 * duplicate message repeats or loses it (T80). Use actions for decisions, such as hits and scores
 * (T49). A change is published only when the backup has it.
 */

import { badValue, HoldfastError, misfit, type Millis, type PeerId } from '../../machine.ts'
import type { Draft, Effected, Part, PartOut, PartView } from '../../kind/protocol/part.ts'
import { shown } from '../../wire/fields/fields.ts'
import { isJson, toJson } from '../../wire/text/json.ts'
import { decode, encode, flag, list, maybe, message, record, text } from '../../wire/layout.ts'
import * as own from './reserved-rows.ts'
import { isGameKey, type Rows, startingWith } from './reserved-rows.ts'
import * as timers from './timers.ts'
import type { TimersDue } from './timers.ts'

export const ACTIONS_CHANNEL = 5
/** Longest key of the table, in bytes. */
export const KEY_MAX = 128
/** Longest value, as JSON, in bytes. */
export const VALUE_MAX = 4096
export const KEYS_MAX = 10_000
export const ACTION_CHANGES_MAX = 256
/** Most bytes of keys and values that one action changes, and that one message carries. */
export const NEWS_MAX: number = 32 * 1024
/** Most bytes of keys and pieces that one action changes, as encoded in the log. */
export const ACTION_BYTES_MAX: number = 40 * 1024
/** Longest arguments or answer of an action, as JSON, in bytes. */
export const ARGUMENTS_MAX: number = 8 * 1024

/** A value in the table. */
export type Value = string | number | boolean | null

/** The table as an action sees and changes it. */
export interface Table {
  /** The value of a key; undefined if the key does not exist. */
  get(key: string): Value | undefined
  /** @throws HoldfastError `bad-value` with the key or value, `full` beyond 10,000 keys */
  set(key: string, value: Value): void
  /** Deletes a key, if it exists. @throws HoldfastError `bad-value` for an invalid key */
  delete(key: string): void
  /** Keys that begin with the prefix, sorted. */
  keys(prefix?: string): string[]
  /** Session time of this action in ms, constant while it runs; NaN while it is unknown. */
  readonly now: Millis
  /**
   * Runs an action once, after `ms` of session time, on the member that is primary then. It runs as
   * nobody (`by.player` is 0), and every member can read its arguments.
   *
   * @param action  an action that was passed to join, or its name
   * @returns its number, for `cancel`
   * @throws HoldfastError `bad-value`, `full`, `not-ready`
   */
  later(ms: Millis, action: { readonly name: string } | string, args?: unknown): number
  /** The players here, as the primary knows them, in no order. */
  readonly here: readonly number[]
  /**
   * Keeps a player while they are away. Absent players are forgotten after a minute unless kept; a
   * kept player is the same player whenever they return with their token. So keep players who have
   * something on the table, and release them when they no longer do.
   *
   * @param keeps  false releases the player
   * @throws HoldfastError `bad-value`, `full` beyond PLAYERS_HELD_MAX
   */
  keep(player: number, keeps?: boolean): void
  /** The players whom the table keeps, lowest first. */
  kept(): number[]
  /** Cancels a timer. @returns false if it has run, was cancelled or never existed */
  cancel(timer: number): boolean
}

/** The member and player who act; both are 0 for an action run by a timer. */
export interface Actor {
  /** The number of the incarnation. */
  inc: PeerId
  /** The number of the player. */
  player: number
}

/** An action as the primary runs it. It throws to refuse; the caller gets the error's message. */
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

export type ActionEvent = { kind: 'table'; keys: string[] } | TimersDue

export function create() {
  return {
    me: 0 as PeerId,
    primary: 0 as PeerId,
    /** The players here. */
    here: [] as number[],
    committed: new Map<string, string>(),
    published: new Map<string, string>(),
    timers: timers.create(),
  }
}

/** The table at one member: committed at primary and backup, published at every member. */
export type Actions = ReturnType<typeof create>

/** Encodes the operation that runs an action. @throws HoldfastError code `bad-value` */
export function encodeCall(name: string, args: unknown): Uint8Array {
  const text = toJson(args, `the argument of "${name}"`)
  const bytes = bytesOf(text)
  if (bytes <= ARGUMENTS_MAX) return encode(call, { name, args: text })
  throw misfit(`the arguments of "${name}" have at most ${ARGUMENTS_MAX} bytes as JSON: ${bytes}`)
}

export function encodeFire(timer: number): Uint8Array {
  return encode(call, { name: timers.FIRE, args: String(timer) })
}

const encoder = new TextEncoder()

function bytesOf(text: string): number {
  return encoder.encode(text).length
}

/** Reads the answer to an action; null if malformed (the primary lacks this part). */
export function decodeAnswer(
  bytes: Uint8Array,
): { ok: true; value: unknown } | { ok: false; why: string } | null {
  const decoded = decode(answer, bytes)
  if (!decoded) return null
  if (!decoded.ok) return { ok: false, why: decoded.text }
  return isJson(decoded.text) ? { ok: true, value: JSON.parse(decoded.text) } : null
}

/** A value of the published table. */
export function read(actions: Actions, key: string): Value | undefined {
  const kept = isGameKey(key) ? actions.published.get(key) : undefined
  return kept === undefined ? undefined : (JSON.parse(kept) as Value)
}

/** Keys of the published table, sorted. */
export function keys(actions: Actions, prefix = ''): string[] {
  return [...actions.published.keys()]
    .filter((key) => isGameKey(key) && key.startsWith(prefix))
    .sort()
}

export type Companion = (by: Actor) => Draft

/** @param companions  open drafts of parts that an action changes besides the table */
export function actionsPart(
  runs: ReadonlyMap<string, Run>,
  companions: readonly Companion[] = [],
): Part<Actions> {
  return {
    channel: ACTIONS_CHANNEL,
    receive,
    view,
    perform: (state, now, body, inc, player) =>
      perform({ state, runs, companions, now: now + state.timers.offset }, body, { inc, player }),
    apply,
    keeps: ({ committed, published }, player) =>
      own.keeps(committed, player) || own.keeps(published, player),
    ...timers.timerHooks(({ me, primary }: Actions) => me !== 0 && me === primary),
    snapshot: (state) => encode(news, { kind: 'table', rows: rowsOf(state.committed) }),
    reset,
    published: (state) => encode(news, { kind: 'table', rows: rowsOf(state.published) }),
    restore,
    welcome,
  }
}

interface ActionContext {
  readonly state: Actions
  readonly runs: ReadonlyMap<string, Run>
  readonly companions: readonly Companion[]
  /** Session time; NaN while it is unknown. */
  readonly now: Millis
}

function perform(ctx: ActionContext, body: Uint8Array, by: Actor): Effected {
  const decoded = decode(call, body)
  if (!decoded) return refused('malformed action')
  if (decoded.name === timers.FIRE) return fire(ctx, Number(decoded.args), by)
  const run = ctx.runs.get(decoded.name)
  if (!run) return refused(`no action is called ${decoded.name}`)
  return decide(ctx, decoded.name, (table) => run(table, JSON.parse(decoded.args), by), by)
}

// Removes the timer's row together with the effects, even if the action throws, so that the next
// primary does not run it again.
function fire(ctx: ActionContext, id: number, by: Actor): Effected {
  const { state, runs } = ctx
  if (by.inc !== state.primary) return refused('timers are run by who serves alone')
  const timer = timers.find(state.committed, id)
  // An earlier primary ran the timer, or it was cancelled meanwhile. After a recovery that lost
  // entries the ID may be that of another one, which is not due yet.
  if (!timer || !timers.isDue(timer, ctx.now))
    return { outcome: encode(answer, { ok: true, text: 'null' }), changes: [], news: null }
  const spent = [{ key: timers.keyOf(id), value: null }]
  const nobody: Actor = { inc: 0, player: 0 }
  const run = runs.get(timer.name)
  return decide(
    ctx,
    timer.name,
    (table) => {
      if (!run) throw new Error(`no action is called ${timer.name}`)
      return run(table, timer.args, nobody)
    },
    nobody,
    spent,
  )
}

/** @param spent  rows that are written even if the action is refused */
function decide(
  { state, companions, runs, now }: ActionContext,
  name: string,
  run: (table: Table) => unknown,
  by: Actor,
  spent: readonly Row[] = [],
): Effected {
  const changes = new Map(spent.map(({ key, value }) => [key, value]))
  const drafts = companions.map((open) => open(by))
  // A refused caller may learn the draws, so they count as made.
  const unfit = (why: string): Effected => {
    const also = drafts.flatMap((opened) => opened.spent() ?? [])
    const refusal = { ...refused(why), ...written(spent) }
    return also.length > 0 ? { ...refusal, also } : refusal
  }
  try {
    const apis = drafts.map(({ api }) => api)
    const drafted = draft(state, changes, now, (action) => runs.has(action))
    const value = run(Object.assign(drafted, ...apis) as Table)
    const rowsMade = [...changes].map(([key, kept]) => ({ key, value: kept }))
    checkRows(rowsMade)
    const made = written(rowsMade)
    const also = drafts.map((opened) => opened.done())
    const why = sizeFault([...made.changes, ...also.flatMap((other) => other.changes)])
    if (why !== '') return unfit(`${failureOf(name)}${why}`)
    return { outcome: encode(answer, { ok: true, text: answerOf(value) }), ...made, also }
  } catch (error) {
    // An action that throws changes nothing, and its caller gets the reason.
    if (error instanceof HoldfastError) return unfit(`${failureOf(name)}${error.message}`)
    return unfit(error instanceof Error ? error.message : String(error))
  }
}

/**
 * How the reason of an action begins that did not refuse but went wrong. An answer has no other
 * sign of it on the wire.
 */
export function failureOf(name: string): string {
  return `the action "${name}" failed: `
}

function written(rows: readonly Row[]): Pick<Effected, 'changes' | 'news'> {
  const published = rows.length === 0 ? null : encode(news, { kind: 'changes', rows: [...rows] })
  return { changes: rows.map((row) => encode(change, row)), news: published }
}

function checkRows(made: readonly Row[]): void {
  const most = ACTION_CHANGES_MAX
  if (made.length > most) throw badValue(`an action changes ${most} keys at most: ${made.length}`)
  const size = made.reduce((sum, row) => sum + sizeOf(row), 0)
  if (size > NEWS_MAX) throw badValue(`an action changes ${NEWS_MAX} bytes at most: ${size}`)
}

function answerOf(value: unknown): string {
  const text = toJson(value, 'what it gave')
  const bytes = bytesOf(text)
  if (bytes <= ARGUMENTS_MAX) return text
  throw badValue(`what it gives has at most ${ARGUMENTS_MAX} bytes as JSON: ${bytes}`)
}

// An action's keys and pieces are one entry of the log, which limits them together.
function sizeFault(changes: readonly Uint8Array[]): string {
  const most = ACTION_CHANGES_MAX
  if (changes.length > most) return `an action changes ${most} keys and pieces: ${changes.length}`
  const size = changes.reduce((sum, { length }) => sum + length, 0)
  return size > ACTION_BYTES_MAX ? `an action changes ${ACTION_BYTES_MAX} bytes: ${size}` : ''
}

function refused(why: string): Effected {
  const outcome = encode(answer, { ok: false, text: why.slice(0, 200) })
  return { outcome, refused: true, changes: [], news: null }
}

function draft(
  { committed, here }: Actions,
  changes: Map<string, string | null>,
  now: Millis,
  knows: (action: string) => boolean,
): Table {
  const rows: Rows = {
    names: () => [...new Set([...committed.keys(), ...changes.keys()])],
    current: (key) => (changes.has(key) ? changes.get(key) : committed.get(key)),
    write: (key, value) => {
      const isNew = value !== null && rows.current(key) === undefined
      if (isNew && committed.size + changes.size >= KEYS_MAX) {
        throw new HoldfastError('full', `the table holds ${KEYS_MAX} keys at most`)
      }
      changes.set(key, value)
    },
  }
  const ctx = { rows, now, knows, bytesMax: VALUE_MAX }
  return {
    ...gameRows(rows),
    now,
    later: (ms, action, args) => {
      const { name } = typeof action === 'string' ? { name: action } : (action ?? {})
      return timers.set(ctx, ms, name, args)
    },
    cancel: (timer) => timers.cancel(ctx, timer),
    here: [...here],
    keep: (player, keeps = true) => own.keep(rows, player, keeps),
    kept: () => own.all(rows),
  }
}

function gameRows(rows: Rows): Pick<Table, 'get' | 'set' | 'delete' | 'keys'> {
  const { current, write } = rows
  return {
    get: (key) => {
      const value = current(key)
      return value === undefined || value === null ? undefined : (JSON.parse(value) as Value)
    },
    set: (key, value) => {
      checkRow(key, value)
      write(key, JSON.stringify(value))
    },
    delete: (key) => {
      checkKey(key)
      write(key, null)
    },
    keys: (prefix = '') =>
      startingWith(rows, prefix)
        .filter((key) => isGameKey(key))
        .sort(),
  }
}

function checkKey(key: unknown): asserts key is string {
  if (typeof key !== 'string') throw badValue(`a key of the table is text: ${typeof key}`)
  if (!isGameKey(key)) throw badValue(`a key of the table does not begin with NUL: ${shown(key)}`)
  const bytes = bytesOf(key)
  if (bytes > KEY_MAX) throw badValue(`a key of the table has at most ${KEY_MAX} bytes: ${bytes}`)
}

function checkRow(key: unknown, value: unknown): void {
  checkKey(key)
  const isScalar = value === null || ['string', 'boolean'].includes(typeof value)
  if (!isScalar && !Number.isFinite(value)) {
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
  if (!row) return
  put(state.committed, row)
  timers.onRow(state.timers, row.key, row.value)
}

function put(table: Map<string, string>, row: Row): void {
  if (row.value === null) table.delete(row.key)
  else table.set(row.key, row.value)
}

function rowsOf(table: Map<string, string>): Row[] {
  return [...table].map(([key, value]) => ({ key, value }))
}

function sizeOf(row: Row): number {
  // UTF-8 has at most three bytes per UTF-16 unit.
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
  for (const row of rowsOf(state.committed)) {
    if (size + sizeOf(row) > NEWS_MAX) close()
    rowsNow.push(row)
    size += sizeOf(row)
  }
  close()
  return messages
}

function restore(state: Actions, bytes: Uint8Array): boolean {
  const decoded = decode(news, bytes)
  if (decoded?.kind !== 'table') return false
  state.committed = new Map()
  for (const row of decoded.rows) put(state.committed, row)
  timers.reset(state.timers, state.committed)
  return true
}

function reset(state: Actions, out: PartOut<ActionEvent>): void {
  const gone = [...state.published.keys()].filter((key) => isGameKey(key))
  state.committed = new Map()
  state.published = new Map()
  timers.reset(state.timers, state.committed)
  if (gone.length > 0) out.emit({ kind: 'table', keys: gone })
}

function view(state: Actions, _now: Millis, seen: PartView): void {
  state.me = seen.me
  state.primary = seen.primary
  state.here = [...new Set(seen.members.map(({ player }) => player))]
}

function receive(
  state: Actions,
  _now: Millis,
  from: PeerId,
  bytes: Uint8Array,
  out: PartOut<ActionEvent>,
): void {
  const decoded = decode(news, bytes)
  if (!decoded || from !== state.primary) return
  if (!decoded.rows.every((row) => row.value === null || isJson(row.value))) return
  const changed = new Set(decoded.rows.map((row) => row.key))
  if (decoded.kind === 'table') {
    for (const key of state.published.keys()) changed.add(key)
    state.published = new Map()
  }
  for (const row of decoded.rows) put(state.published, row)
  const theirs = [...changed].filter((key) => isGameKey(key))
  if (theirs.length > 0 || changed.size === 0) out.emit({ kind: 'table', keys: theirs })
}
