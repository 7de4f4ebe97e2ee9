/**
 * The types that all modules share. This file imports only the list of codes.
 *
 * A protocol module is named by a noun: one type of plain data and a handful of functions whose
 * parameters are `(state, now, …, out)`, or one `Turn` that has these three. Time comes in as an
 * argument, effects go out through a sink (a seal alone has its sink from the start), so the same
 * code runs on real sockets, in the seeded simulator and under the model checker. State is plain
 * data (numbers, strings, arrays, objects, Map, Set, typed arrays): it can be cloned, saved, sent
 * and compared. Beside it a module has its rules, see `rulesOf`.
 */

import type { ErrorCode } from './codes.ts'

export type { ErrorCode } from './codes.ts'

/** An instant or a span in milliseconds on the monotonic clock of one process. */
export type Millis = number

/**
 * A member of a session: the number of its incarnation, given at JOIN and never used again.
 * 0 stands for the hub.
 */
export type PeerId = number

/** Most members of one session. */
export const MEMBERS_MAX = 256
/** Members are numbered below this: objects are named by these numbers. */
export const INC_MAX: number = 2 ** 20
/** Longest name of a game, a room or a player, in bytes of UTF-8. */
export const NAME_MAX = 64

/** What a player may do in a session, as bits of one number. */
export const RIGHTS = {
  /** Take part; and serve, where not hosts alone may. */
  play: 1,
  /** See what players without secrets see, and change nothing. */
  watch: 2,
  /** Serve where hosts alone may. */
  host: 4,
} as const

/** Whether who has these rights may be primary or backup. @param hosts  of a room of hosts */
export function mayLead(rights: number, hosts: boolean): boolean {
  return (rights & (hosts ? RIGHTS.host : RIGHTS.play)) !== 0
}

/** Whether who has these rights takes part; else it only watches. */
export function mayPlay(rights: number): boolean {
  return (rights & RIGHTS.play) !== 0
}

/** Whether who has these rights was admitted as a host, by a ticket. */
export function isHost(rights: number): boolean {
  return (rights & RIGHTS.host) !== 0
}

/** The sink of one call. Effects leave after the call has returned: records first. */
export interface Out<Message, Delta, Event, To = PeerId> {
  /**
   * Sends reliably and in order to one peer. Valid only during the call: a receiver that keeps it
   * copies it.
   */
  send(to: To, message: Message): void
  /** Must be durable (at the backup, or in the store) before later effects of this call leave. */
  record(delta: Delta): void
  /**
   * Notifies the layer above: a direct call between modules, queued on its way to the application.
   */
  emit(event: Event): void
}

/** The number that the terms of a session have under that name; undefined if they have none. */
export function termOf(terms: string, name: string): number | undefined {
  const found = terms.split(';').find((one) => one.startsWith(`${name}=`))
  const said = /^[0-9]{1,6}$/.exec(found?.slice(name.length + 1) ?? '')
  return said ? Number(said[0]) : undefined
}

/** Whether the terms of a session have that word under that name. */
export function termsSay(terms: string, name: string, word: string): boolean {
  return terms.split(';').includes(`${name}=${word}`)
}

/** Detects a bug of ours, never a fault of a peer. Stays on in production. */
export function assert(condition: unknown, claim: string): asserts condition {
  if (!condition) throw new Error(`holdfast bug: ${claim}`)
}

/** The one error type a user meets. */
export class HoldfastError extends Error {
  readonly code: ErrorCode
  /** Of `join`: after how long a room that is shut opens, in ms; not there if nobody said. */
  declare readonly retryAfterMs?: Millis

  constructor(code: ErrorCode, message: string, retryAfterMs: Millis | null = null) {
    super(message)
    this.name = 'HoldfastError'
    this.code = code
    if (retryAfterMs !== null) this.retryAfterMs = retryAfterMs
  }
}

/**
 * The error for wrong input of a user: that code, with a sentence that names what is wrong and why.
 */
export function badValue(message: string): HoldfastError {
  return new HoldfastError('bad-value', message)
}

const misfits = new WeakSet<HoldfastError>()

/**
 * The error for a value of the right kind that its field does not take, as people type them into
 * forms: too long, none of the words, no finite number. Where a request has an outcome, that is one
 * (`unfit`).
 */
export function misfit(message: string): HoldfastError {
  const error = badValue(message)
  misfits.add(error)
  return error
}

/** Whether an error is that of a value that does not fit. */
export function isMisfit(error: unknown): error is HoldfastError {
  return error instanceof HoldfastError && misfits.has(error)
}

/** The error for wrong input with the place of it in front; what is a misfit stays one. */
export function within(where: string, error: unknown): HoldfastError {
  const why = `${where}: ${error instanceof Error ? error.message : String(error)}`
  return isMisfit(error) ? misfit(why) : badValue(why)
}

const RULES: object = Object.freeze(Object.create(null) as object)

/**
 * The rules of a module: the decisions on which its guarantees rest, as a record of functions.
 * Tests pass injected bugs, to see that a claim breaks. A state holds its rules by reference:
 * copies share them, and two states never differ by them.
 */
export function rulesOf<Decisions extends object>(decisions: Decisions): Readonly<Decisions> {
  return Object.freeze(Object.assign(Object.create(RULES) as object, decisions)) as Decisions
}

/** Whether a value was made by `rulesOf`. */
export function isRules(value: object): boolean {
  return Object.getPrototypeOf(value) === RULES
}
