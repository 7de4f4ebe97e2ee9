/**
 * The types that all modules share. This file imports only the list of codes.
 *
 * A protocol module, named by a noun, is one type of plain data and a few functions with the
 * parameters `(state, now, …, out)`, or one `Turn` that holds these three. Time is an argument and
 * effects go to a sink (only a seal gets its sink at creation), so the same code runs on real
 * sockets, in the seeded simulator and under the model checker. State is plain data (numbers,
 * strings, arrays, objects, Map, Set, typed arrays): it can be cloned, saved, sent and compared. A
 * module also has rules, see `rulesOf`.
 */

import type { ErrorCode } from './codes.ts'

export type { ErrorCode } from './codes.ts'

/** An instant or a span in milliseconds on the monotonic clock of one process. */
export type Millis = number

/** A member of a session: its incarnation number, given at JOIN, never reused. 0 is the hub. */
export type PeerId = number

/** Most members of one session. */
export const MEMBERS_MAX = 256
/** Member numbers are below this; object names contain them. */
export const INC_MAX: number = 2 ** 20
/** Longest name of a game, a room or a player, in bytes of UTF-8. */
export const NAME_MAX = 64

/** A player's rights in a session, as bits of one number. */
export const RIGHTS = {
  /** Take part, and serve unless only hosts may. */
  play: 1,
  /** See what players without secrets see; change nothing. */
  watch: 2,
  /** Serve where only hosts may. */
  host: 4,
} as const

/** Whether these rights allow being primary or backup. @param hosts  in a room of hosts */
export function mayLead(rights: number, hosts: boolean): boolean {
  return (rights & (hosts ? RIGHTS.host : RIGHTS.play)) !== 0
}

/** Whether these rights allow taking part, not only watching. */
export function mayPlay(rights: number): boolean {
  return (rights & RIGHTS.play) !== 0
}

/** Whether these rights come from a host's ticket. */
export function isHost(rights: number): boolean {
  return (rights & RIGHTS.host) !== 0
}

/** The sink of one call. Effects leave after the call returns, records first. */
export interface Out<Message, Delta, Event, To = PeerId> {
  /**
   * Sends to one peer, reliably and in order. The message is valid only during the call: a receiver
   * copies it to keep it.
   */
  send(to: To, message: Message): void
  /** Records a delta. It must be durable (at backup or store) before later effects leave. */
  record(delta: Delta): void
  /**
   * Notifies the layer above: a direct call between modules, queued on its way to the application.
   */
  emit(event: Event): void
}

/** The number under that name in a session's terms; undefined if absent. */
export function termOf(terms: string, name: string): number | undefined {
  const found = terms.split(';').find((one) => one.startsWith(`${name}=`))
  const said = /^[0-9]{1,6}$/.exec(found?.slice(name.length + 1) ?? '')
  return said ? Number(said[0]) : undefined
}

/** Whether a session's terms have that word under that name. */
export function termsSay(terms: string, name: string, word: string): boolean {
  return terms.split(';').includes(`${name}=${word}`)
}

/** Detects our own bugs, never a peer's faults. Stays on in production. */
export function assert(condition: unknown, claim: string): asserts condition {
  if (!condition) throw new Error(`holdfast bug: ${claim}`)
}

/** The one error type a user meets. */
export class HoldfastError extends Error {
  readonly code: ErrorCode
  /** From `join`: milliseconds until a closed room opens; absent if unknown. */
  declare readonly retryAfterMs?: Millis

  constructor(code: ErrorCode, message: string, retryAfterMs: Millis | null = null) {
    super(message)
    this.name = 'HoldfastError'
    this.code = code
    if (retryAfterMs !== null) this.retryAfterMs = retryAfterMs
  }
}

/** The error `bad-value` for a user's input, with a sentence that says what is wrong and why. */
export function badValue(message: string): HoldfastError {
  return new HoldfastError('bad-value', message)
}

const misfits = new WeakSet<HoldfastError>()

/**
 * The error for a value of the right kind that does not fit its field, as people type into forms:
 * too long, none of the words, not finite. A request with outcomes reports it as `unfit`.
 */
export function misfit(message: string): HoldfastError {
  const error = badValue(message)
  misfits.add(error)
  return error
}

/** Whether `misfit` made this error. */
export function isMisfit(error: unknown): error is HoldfastError {
  return error instanceof HoldfastError && misfits.has(error)
}

/** The error for wrong input, prefixed with its place; a misfit stays a misfit. */
export function within(where: string, error: unknown): HoldfastError {
  const why = `${where}: ${error instanceof Error ? error.message : String(error)}`
  return isMisfit(error) ? misfit(why) : badValue(why)
}

const RULES: object = Object.freeze(Object.create(null) as object)

/**
 * A module's rules: the decisions on which its guarantees rest, as a record of functions. Tests
 * inject bugs here to see a claim break. A state holds its rules by reference: copies share them,
 * and comparisons of states ignore them.
 */
export function rulesOf<Decisions extends object>(decisions: Decisions): Readonly<Decisions> {
  return Object.freeze(Object.assign(Object.create(RULES) as object, decisions)) as Decisions
}

/** Whether `rulesOf` made this value. */
export function isRules(value: object): boolean {
  return Object.getPrototypeOf(value) === RULES
}
