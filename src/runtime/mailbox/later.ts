/**
 * What a mailbox does at a moment of the wall clock: letters that wait for theirs, and letters set
 * aside that are kept no longer. Both lie in the store, as values of ours, in the order in which
 * they are due; who posts a letter takes it out of there in the same turn.
 *
 *     later, when it is due, a number, post TO        the letter in its envelope
 *     later, when it is due, a number, bury N PEER    nothing
 */

import type { MailChange, MailStore } from '../../ports.ts'
import type { Values } from './transaction.ts'
import { toBytes, toValue } from './values.ts'

/** So many wait for their time. */
export const LATER_MAX = 100_000

/** What is due at a time. */
export type Task =
  | { kind: 'post'; peer: string; body: Uint8Array }
  | { kind: 'bury'; peer: string; n: number }

// Keys of our own, for those of users have no NUL.
const PREFIX = '\0later '
const COUNT = '\0laters'
const NOTHING = new Uint8Array(0)
/** Digits of a moment, in milliseconds since 1970, and of a number: keys are in order of both. */
const DIGITS = 14

/** See the head of this file. */
export class Later {
  readonly #values: Values
  readonly #store: MailStore
  /** When the first is due; null while that is not known. */
  #first: number | null = null

  constructor(values: Values, store: MailStore) {
    this.#values = values
    this.#store = store
  }

  /** When the first of what is durable is due, in milliseconds since 1970; Infinity for nothing. */
  get due(): number {
    this.#first ??= dueOf(this.#store.keys(PREFIX, 1)[0])
    return this.#first
  }

  /** How many there are, with those of this turn. */
  get count(): number {
    return this.#counts().count
  }

  /** @returns false if LATER_MAX wait for their time already */
  add(due: number, task: Task, changes: MailChange[]): boolean {
    const { last, count } = this.#counts()
    if (count >= LATER_MAX) return false
    const what = task.kind === 'post' ? `post ${task.peer}` : `bury ${task.n} ${task.peer}`
    const name = `${PREFIX}${padded(due)} ${padded(last + 1)} ${what}`
    this.#write(name, task.kind === 'post' ? task.body : NOTHING, changes)
    this.#write(COUNT, toBytes({ last: last + 1, count: count + 1 }), changes)
    this.#first = null
    return true
  }

  /** What is due by now, so many at most, and taken out. */
  take(now: number, most: number, changes: MailChange[]): Task[] {
    if (this.due > now) return []
    const names = this.#store.keys(PREFIX, most).filter((name) => dueOf(name) <= now)
    return this.#takeOut(names, changes)
  }

  /** Has the letters to one peer go to another, or nowhere. @returns how many */
  move(peer: string, to: string | null, changes: MailChange[]): number {
    const names = this.#store.keys(PREFIX).filter((name) => whatOf(name) === `post ${peer}`)
    const tasks = this.#takeOut(names, changes)
    for (const [at, task] of to === null ? [] : tasks.entries()) {
      this.add(dueOf(names[at]), { ...task, peer: to! }, changes)
    }
    return tasks.length
  }

  #takeOut(names: readonly string[], changes: MailChange[]): Task[] {
    this.#first = null
    const tasks = names.map((name) => taskOf(name, this.#values.get(name) ?? NOTHING))
    for (const name of names) this.#write(name, null, changes)
    const { last, count } = this.#counts()
    if (names.length > 0) {
      this.#write(COUNT, toBytes({ last, count: count - names.length }), changes)
    }
    return tasks
  }

  #counts(): { last: number; count: number } {
    const bytes = this.#values.get(COUNT)
    return bytes ? (toValue(bytes) as { last: number; count: number }) : { last: 0, count: 0 }
  }

  #write(key: string, value: Uint8Array | null, changes: MailChange[]): void {
    this.#values.set(key, value)
    changes.push({ kind: 'set', key, value })
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
