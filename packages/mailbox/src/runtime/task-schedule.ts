/**
 * Scheduled tasks of a mailbox, by wall clock: posting delayed letters, and expiring dead letters.
 * Both are reserved values in the store, ordered by due time; a task is removed in the turn that
 * runs it.
 *
 *     later, when it is due, a number, post TO        the letter in its envelope
 *     later, when it is due, a number, bury N PEER    nothing
 */

import type { MailStore } from '../../../holdfast/src/ports.ts'
import { toBytes, toValue, type Values } from './values.ts'
import { HoldfastError } from '../../../holdfast/src/machine.ts'
import { hasRoom, type Mailbox, peerOf } from '../machine/mailbox.ts'

/** Most scheduled tasks. */
export const LATER_MAX = 100_000

export type Task =
  | { kind: 'post'; peer: string; body: Uint8Array }
  | { kind: 'bury'; peer: string; n: number }

// Reserved keys: user keys have no NUL.
const PREFIX = '\0later '
const COUNT = '\0laters'
const NOTHING = new Uint8Array(0)
/** Digits of a time, in ms since 1970, and of a number: keys sort by both. */
const DIGITS = 14

export class TaskSchedule {
  readonly #values: Values
  readonly #store: MailStore
  /** When the first task is due; null if not computed. */
  #first: number | null = null

  constructor(values: Values, store: MailStore) {
    this.#values = values
    this.#store = store
  }

  /** When the first durable task is due, in milliseconds since 1970; Infinity for none. */
  get due(): number {
    this.#first ??= dueOf(this.#store.keys(PREFIX, 1)[0])
    return this.#first
  }

  get count(): number {
    return this.#counts().count
  }

  /** @returns false if LATER_MAX tasks wait already */
  add(due: number, task: Task): boolean {
    const { last, count } = this.#counts()
    if (count >= LATER_MAX) return false
    const what = task.kind === 'post' ? `post ${task.peer}` : `bury ${task.n} ${task.peer}`
    const name = `${PREFIX}${padded(due)} ${padded(last + 1)} ${what}`
    this.#values.set(name, task.kind === 'post' ? task.body : NOTHING)
    this.#values.set(COUNT, toBytes({ last: last + 1, count: count + 1 }))
    this.#first = null
    return true
  }

  /** Removes and returns the tasks due by now, at most `most`. */
  take(now: number, most: number): Task[] {
    if (this.due > now) return []
    const names = this.#store.keys(PREFIX, most).filter((name) => dueOf(name) <= now)
    return this.#takeOut(names)
  }

  /** Redirects the delayed letters of one peer to another, or drops them. @returns how many */
  move(peer: string, to: string | null): number {
    const names = this.#store.keys(PREFIX).filter((name) => whatOf(name) === `post ${peer}`)
    const tasks = this.#takeOut(names)
    for (const [at, task] of to === null ? [] : tasks.entries()) {
      this.add(dueOf(names[at]), { ...task, peer: to! })
    }
    return tasks.length
  }

  #takeOut(names: readonly string[]): Task[] {
    this.#first = null
    const tasks = names.map((name) => taskOf(name, this.#values.get(name) ?? NOTHING))
    for (const name of names) this.#values.set(name, null)
    const { last, count } = this.#counts()
    if (names.length > 0) this.#values.set(COUNT, toBytes({ last, count: count - names.length }))
    return tasks
  }

  #counts(): { last: number; count: number } {
    const bytes = this.#values.get(COUNT)
    return bytes ? (toValue(bytes) as { last: number; count: number }) : { last: 0, count: 0 }
  }
}

function padded(value: number): string {
  return String(Math.ceil(value)).padStart(DIGITS, '0')
}

function dueOf(name: string | undefined): number {
  return name === undefined ? Infinity : Number(name.slice(PREFIX.length, PREFIX.length + DIGITS))
}

function whatOf(name: string): string {
  return name.slice(PREFIX.length + 2 * (DIGITS + 1))
}

function taskOf(name: string, body: Uint8Array): Task {
  const what = whatOf(name)
  const [, n, peer] = /^bury (\d+) (.+)$/su.exec(what) ?? []
  if (peer !== undefined) return { kind: 'bury', peer, n: Number(n) }
  return { kind: 'post', peer: what.slice('post '.length), body }
}

/** A handler's SQL ended the transaction of the turn. */
export class TransactionEnded extends Error {
  readonly why: Error
  /** The letter being handled; null for a transaction of a caller. */
  readonly letter: { peer: string; n: number } | null
  reject: (error: Error) => void = () => {}

  constructor(why: Error, letter: TransactionEnded['letter']) {
    super(why.message)
    this.why = why
    this.letter = letter
  }
}

/**
 * Handlers may fill the limits twice over. Otherwise two mailboxes with full outboxes, whose
 * handlers answer, would deadlock.
 */
export const RESERVE = 2

/**
 * @param times  RESERVE for letters of handlers, since handling frees room
 * @throws HoldfastError `outbox-full` if so many letters and bytes do not fit
 */
export function checkRoom(
  box: Mailbox,
  to: string,
  letters: number,
  bytes: number,
  times = 1,
): void {
  if (hasRoom(box, to, letters, bytes, times)) return
  const { lettersMax, bytesMax } = box.limits
  const { posted, acked, bytes: full } = peerOf(box, to)
  throw new HoldfastError(
    'outbox-full',
    `the outbox to ${to} is full: ${posted - acked} letters of ${lettersMax}, ` +
      `${full} bytes of ${bytesMax}; wait until ${to} has acknowledged some`,
  )
}

/** Checks that so many more letters can be delayed. @throws HoldfastError `outbox-full` */
export function checkDelayed({ count }: TaskSchedule, letters: number): void {
  if (count + letters <= LATER_MAX) return
  throw new HoldfastError('outbox-full', `${LATER_MAX} letters are delayed already`)
}
