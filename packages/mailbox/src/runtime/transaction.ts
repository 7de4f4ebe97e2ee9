/** The transaction of a handler: its durable state, and the letters it posts. */

import { badValue, HoldfastError } from '../../../holdfast/src/machine.ts'
import { sizeOf } from '../machine/mailbox.ts'
import type { MailStore, SqlValue } from '../../../holdfast/src/ports.ts'
import type { Fields, StateOf } from '../../../holdfast/src/wire/fields/schema.ts'
import type { LetterType } from './letter-types.ts'
import { type Dated, givenLetter, type LetterOptions } from './letters.ts'
import { type Carried, keysWith, type MailValue, toBytes, toValue, type Values } from './values.ts'
import { checkOptions } from '../../../holdfast/src/api/options.ts'

/** Longest key of a value, in characters. */
const KEY_MAX = 512

/**
 * A transaction. Reads see its own writes. Nothing takes effect before the handler returns; then
 * all of it becomes durable together with the number of the letter.
 */
export interface Transaction {
  /** A value; undefined if there is none. */
  get(key: string): MailValue
  /** Sets a value; undefined or null removes it. */
  set<Value>(key: string, value: (Value & Carried<Value>) | null | undefined): void
  /** Keys that begin with the prefix, sorted. */
  keys(prefix?: string): string[]
  /**
   * Posts a letter, typed or not; it is sent once the transaction is durable, or later.
   *
   * @throws HoldfastError `outbox-full`, `bad-value`
   */
  post<F extends Fields>(
    to: string,
    type: LetterType<F>,
    body: StateOf<F>,
    options?: LetterOptions,
  ): void
  post<Body>(to: string, body: Body & Carried<Body>, options?: LetterOptions): void
  /**
   * Runs one statement, on stores with SQL. @returns its rows
   * @throws HoldfastError `store` with the database's error, or if the store has no SQL
   */
  sql(statement: string, ...values: SqlValue[]): Record<string, SqlValue>[]
}

/** What a transaction needs of its mailbox. */
export interface TransactionHost {
  readonly store: MailStore
  readonly values: Values
  /** Checks that so many letters and bytes still fit. @throws HoldfastError `outbox-full` */
  checkRoom(to: string, letters: number, bytes: number): void
  /** Puts a body into its envelope. @throws HoldfastError `bad-value` */
  seal(body: Uint8Array, options: LetterOptions): Dated
  /** Checks that so many more letters can be delayed. @throws HoldfastError `outbox-full` */
  checkLater(letters: number): void
}

export interface Posted extends Dated {
  to: string
}

export class LetterTransaction implements Transaction {
  readonly posts: Posted[] = []
  readonly #host: TransactionHost
  readonly #written = new Map<string, Uint8Array | null>()
  /** Outbox room used by these posts; null before the first: most handlers post nothing. */
  #taken: Map<string, { letters: number; bytes: number }> | null = null
  /** The number of delayed letters in this transaction. */
  #delayed = 0
  #usesSql = false
  #open = true

  constructor(host: TransactionHost) {
    this.#host = host
  }

  get(key: string): MailValue {
    this.#check()
    const written = this.#written.get(key)
    const bytes = this.#written.has(key) ? written : this.#host.values.get(checkKey(key))
    return bytes ? toValue(bytes) : undefined
  }

  set(key: string, value: MailValue): void {
    this.#check()
    const isGone = value === undefined || value === null
    this.#written.set(checkKey(key), isGone ? null : toBytes(value))
  }

  keys(prefix = ''): string[] {
    this.#check()
    return keysWith(this.#host.values.keys(prefix), this.#written, prefix)
  }

  post(to: string, ...given: readonly unknown[]): void {
    this.#check()
    const { body, options } = givenLetter(given)
    checkOptions('post', options, ['delay', 'ttl'])
    const letter = this.#host.seal(body, options)
    if (letter.due === null) this.#take(to, sizeOf(letter.body))
    else this.#host.checkLater(++this.#delayed)
    this.posts.push({ to, ...letter })
  }

  #take(to: string, size: number): void {
    this.#taken ??= new Map()
    const taken = this.#taken.get(to) ?? { letters: 0, bytes: 0 }
    const [letters, bytes] = [taken.letters + 1, taken.bytes + size]
    this.#host.checkRoom(to, letters, bytes)
    this.#taken.set(to, { letters, bytes })
  }

  sql(statement: string, ...values: SqlValue[]): Record<string, SqlValue>[] {
    this.#check()
    const { sql, name } = this.#host.store
    if (!sql) throw new HoldfastError('store', `the mailbox in ${name} knows no SQL`)
    if (!this.#usesSql) sql.savepoint()
    this.#usesSql = true
    return sql.run(statement, values)
  }

  /** Adds its writes to the turn. */
  commit(): void {
    this.#open = false
    if (this.#usesSql) this.#host.store.sql!.release()
    for (const [key, value] of this.#written) this.#host.values.set(key, value)
  }

  rollBack(): void {
    this.#open = false
    if (this.#usesSql) this.#host.store.sql!.rollBack()
  }

  #check(): void {
    if (this.#open) return
    throw new HoldfastError('failed', 'this transaction is over: use it before the handler returns')
  }
}

function checkKey(key: string): string {
  const isText = typeof key === 'string' && key !== '' && key.length <= KEY_MAX
  if (isText && !key.includes('\0')) return key
  throw badValue(`a key has 1 to ${KEY_MAX} characters: ${JSON.stringify(key)?.slice(0, 80)}`)
}
