/**
 * Timers: actions that run at a session time (`table.later`). A timer is a reserved row of the
 * table, so primary and backup both have it, and it survives a takeover.
 *
 *     NUL later ID     [due, action, arguments]
 *     NUL laters       the newest ID that was used
 *
 * The primary submits an operation to itself for each due timer. The operation removes the row and
 * runs the action in one entry of the log; it does nothing if the row is gone or not due yet.
 */

import { badValue, HoldfastError, type Millis } from '../../machine.ts'
import type { Part } from '../../kind/protocol/part.ts'
import { shown } from '../../wire/fields/fields.ts'
import { isJson, toJson } from '../../wire/text/json.ts'
import { RESERVED, type Rows, startingWith } from './reserved-rows.ts'

export const TIMERS_MAX = 1_000
/** Longest time until a timer is due: thirty days. */
export const LATER_MS_MAX: Millis = 30 * 24 * 60 * 60 * 1000
/** Most timers that are submitted at once. */
const BATCH = 16
/** A submitted timer that still exists is submitted again after this. */
const AGAIN_MS: Millis = 250
// Because of rounding a timer may not be due yet at exactly the computed instant.
const ROUNDING_MS: Millis = 0.001
/** The name of the operation by which the primary runs a timer; its argument is the ID. */
export const FIRE = `${RESERVED}fire`

const PREFIX = `${RESERVED}later `
const LAST = `${RESERVED}laters`

export interface Timer {
  readonly due: Millis
  readonly name: string
  readonly args: unknown
}

/** Event for the primary: these timers are due, and must be submitted. */
export interface TimersDue {
  kind: 'timers'
  ids: number[]
}

export function create() {
  return {
    /** Session time minus our clock; NaN while session time is unknown. */
    offset: NaN,
    /** When each timer is due, by its ID. */
    due: new Map<number, Millis>(),
    /** The earliest of these times; Infinity for none. */
    first: Infinity,
    /** When the primary may submit timers again, by its clock. */
    askAt: -Infinity,
  }
}

export type Timers = ReturnType<typeof create>

export function onRow(timers: Timers, key: string, value: string | null): void {
  if (!key.startsWith(PREFIX)) return
  note(timers, key, value)
  reschedule(timers)
}

export function reset(timers: Timers, committed: ReadonlyMap<string, string>): void {
  timers.due.clear()
  for (const [key, value] of committed) if (key.startsWith(PREFIX)) note(timers, key, value)
  reschedule(timers)
}

function note({ due }: Timers, key: string, value: string | null): void {
  const id = Number(key.slice(PREFIX.length))
  const timer = value === null ? null : parse(value)
  if (timer) due.set(id, timer.due)
  else due.delete(id)
}

// Allows the next submission: the submitted timer has run, or another one may be due.
function reschedule(timers: Timers): void {
  timers.first = Math.min(Infinity, ...timers.due.values())
  timers.askAt = -Infinity
}

/** Whether a timer may run at that session time. */
export function isDue({ due }: Timer, now: Millis): boolean {
  return now + ROUNDING_MS >= due
}

/** As primary: the IDs of timers to submit now, in order of their times. */
export function takeDue(timers: Timers, now: Millis): number[] {
  if (!(timers.first <= now + timers.offset) || now < timers.askAt) return []
  timers.askAt = now + AGAIN_MS
  const due = [...timers.due].filter(([, at]) => at <= now + timers.offset)
  due.sort(([id, at], [other, otherAt]) => at - otherAt || id - other)
  return due.slice(0, BATCH).map(([id]) => id)
}

/** When `takeDue` will return a timer, by our clock. */
export function deadline({ first, offset, askAt }: Timers): Millis {
  const due = first - offset + ROUNDING_MS
  return Number.isNaN(due) ? Infinity : Math.max(due, askAt)
}

/** One timer of a table; null if it has run, or was cancelled. */
export function find(committed: ReadonlyMap<string, string>, id: number): Timer | null {
  const value = committed.get(`${PREFIX}${id}`)
  return value === undefined ? null : parse(value)
}

export function keyOf(id: number): string {
  return `${PREFIX}${id}`
}

export interface TimerContext {
  readonly rows: Rows
  /** Session time of the action that sets timers; NaN while it is unknown. */
  readonly now: Millis
  /** Longest row, in bytes. */
  readonly bytesMax: number
  knows(action: string): boolean
}

/** Sets a timer. @returns its ID @throws HoldfastError `bad-value`, `full`, `not-ready` */
export function set(ctx: TimerContext, ms: unknown, name: unknown, args: unknown): number {
  if (typeof ms !== 'number' || !(ms >= 0 && ms <= LATER_MS_MAX)) {
    throw badValue(`a timer takes 0 to ${LATER_MS_MAX} ms: ${shown(ms)}`)
  }
  if (typeof name !== 'string' || !ctx.knows(name)) {
    throw badValue(`a timer runs an action that was given to join: ${shown(name)}`)
  }
  const { rows, now } = ctx
  if (Number.isNaN(now)) {
    throw new HoldfastError('not-ready', 'session time is not known yet')
  }
  const count = startingWith(rows, PREFIX).length
  if (count >= TIMERS_MAX) {
    throw new HoldfastError('full', `${TIMERS_MAX} timers wait at most: ${count}`)
  }
  const id = Number(rows.current(LAST) ?? 0) + 1
  const text = toJson(args ?? null, `the argument of a timer for "${name}"`)
  const row = `[${Math.ceil(now + ms)},${JSON.stringify(name)},${text}]`
  const bytes = new TextEncoder().encode(row).length
  if (bytes > ctx.bytesMax) {
    throw badValue(`a timer for "${name}" has at most ${ctx.bytesMax} bytes: ${bytes}`)
  }
  rows.write(LAST, String(id))
  rows.write(keyOf(id), row)
  return id
}

/** Removes a timer. @returns false if it has run, was cancelled or never existed */
export function cancel({ rows }: TimerContext, id: unknown): boolean {
  if (typeof id !== 'number' || typeof rows.current(keyOf(id)) !== 'string') return false
  rows.write(keyOf(id), null)
  return true
}

// The table may come from another build, so it is parsed like network input.
function parse(value: string): Timer | null {
  const row: unknown = isJson(value) ? JSON.parse(value) : null
  if (!Array.isArray(row)) return null
  const [due, name, args] = row as unknown[]
  return typeof due === 'number' && typeof name === 'string' ? { due, name, args } : null
}

/** The hooks of a part that run timers. @param serves  whether we are the primary */
export function timerHooks<State extends { timers: Timers }>(
  serves: (state: State) => boolean,
): Required<Pick<Part<State>, 'clock' | 'wake' | 'deadline'>> {
  return {
    clock: ({ timers }, offset) => void (timers.offset = offset),
    wake: (state, now, out) => {
      const ids = serves(state) ? takeDue(state.timers, now) : []
      if (ids.length > 0) out.emit({ kind: 'timers', ids } satisfies TimersDue)
    },
    deadline: (state) => (serves(state) ? deadline(state.timers) : Infinity),
  }
}
