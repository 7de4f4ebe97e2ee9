/**
 * A mailbox in IndexedDB, for pages. Handlers read synchronously, so all of it is loaded at opening
 * and held in memory too; it is meant for thousands of letters, not for a million.
 *
 * `durability: 'strict'` asks the browser to flush a change to disk before it reports completion.
 */

import { HoldfastError } from '../../../holdfast/src/machine.ts'
import type { DeadLetter, MailChange, MailHead, MailStore } from '../../../holdfast/src/ports.ts'
import { digestOf, NO_DIGEST, NO_LIFE } from '../../../holdfast/src/wire/history.ts'
import { applyTo, closed, emptyContent, MailMemory, newHead } from './mail-memory.ts'
import type { StoredLetter, MailContent } from './mail-memory.ts'

/** The layout version that this code writes. */
const LAYOUT_VERSION = 3
const STORES = ['heads', 'letters', 'dead', 'values'] as const
type Name = (typeof STORES)[number]
const CLEARED =
  'the browser closed its storage, as when the data of this site are cleared; reload the page'
/** After a full disk or damage, a browser may silently recreate the database. */
const WIPED =
  'the browser deleted the data of this mailbox, as after a full disk; letters that were not ' +
  'acknowledged are lost'

/** Opens the database of that name, or creates it. @throws HoldfastError `store` */
export async function openMailIndexedDb(name: string): Promise<MailStore> {
  checkPlace(name)
  // Persistence is best effort: without it the browser may evict this data.
  void navigator.storage?.persist?.().catch(() => false)
  await lock(name)
  let database: IDBDatabase | null = null
  let isNew = false
  try {
    const request = indexedDB.open(`holdfast mailbox ${name}`, LAYOUT_VERSION)
    request.onupgradeneeded = ({ oldVersion }) => {
      const { result } = request
      isNew = oldVersion === 0
      // Versions 1 and 2 are read as they are and completed.
      for (const store of STORES) {
        if (!result.objectStoreNames.contains(store)) result.createObjectStore(store)
      }
    }
    database = await settled(name, request)
    const content = await contentOf(name, database)
    return new MailIndexedDb(name, database, content, isNew && wasStored(name) ? WIPED : null)
  } catch (error) {
    database?.close()
    unlock(name)
    throw error
  }
}

/** Checks for IndexedDB and locks; plain http from another machine has neither. */
function checkPlace(name: string): void {
  const lacks = typeof indexedDB === 'undefined' ? 'IndexedDB' : 'locks of the browser'
  if (typeof indexedDB !== 'undefined' && navigator.locks) return
  const cure = 'open the page over https or from localhost, or keep the mailbox in memory'
  throw new HoldfastError(
    'store',
    `the mailbox ${name} needs ${lacks}, which this page lacks; ${cure}`,
  )
}

class MailIndexedDb extends MailMemory {
  override readonly interrupted: string | null
  override readonly repaired: string | null
  readonly #database: IDBDatabase
  #isWitnessed = false
  #isOpen = true
  /** Why the database can no longer be written. */
  #lost: string | null = null

  constructor(name: string, database: IDBDatabase, content: MailContent, repaired: string | null) {
    super(content, name)
    this.repaired = repaired
    this.#database = database
    database.onclose = () => (this.#lost = CLEARED)
    // Another page upgrades or deletes the database: its later content is not ours.
    database.onversionchange = () => {
      this.#lost = CLEARED
      database.close()
    }
    this.interrupted = notes()?.getItem(noteOf(name)) ?? null
  }

  override commit(changes: readonly MailChange[], done: (error: Error | null) => void): void {
    if (!this.#isOpen) return done(closed(this.name))
    if (changes.length === 0) return done(null)
    if (this.#lost !== null) return done(problem(this.name, this.#lost))
    const failed = (error: unknown): void => done(explain(this.name, error))
    try {
      const transaction = this.#database.transaction(STORES, 'readwrite', { durability: 'strict' })
      transaction.onabort = () => failed(transaction.error)
      transaction.oncomplete = () => {
        for (const change of changes) applyTo(this.content, change)
        this.#witness()
        done(null)
      }
      this.#write(transaction, changes)
    } catch (error) {
      failed(error)
    }
  }

  override close(): void {
    this.#isOpen = false
    super.close()
    notes()?.removeItem(noteOf(this.name))
    this.#database.close()
    unlock(this.name)
  }

  override note(what: string): void {
    try {
      notes()?.setItem(noteOf(this.name), what)
    } catch {
      // Storage is full: a crash of this page in a handler will not be counted.
    }
  }

  #witness(): void {
    if (this.#isWitnessed) return
    this.#isWitnessed = true
    notes()?.setItem(existedKeyOf(this.name), 'yes')
  }

  #write(transaction: IDBTransaction, changes: readonly MailChange[]): void {
    const to = (name: Name): IDBObjectStore => transaction.objectStore(name)
    const heads = emptyContent()
    for (const head of this.heads()) heads.heads.set(head.peer, head)
    const moved = new Set<string>()
    for (const change of changes) {
      if (change.kind === 'set') {
        if (change.value === null) to('values').delete(change.key)
        else to('values').put(change.value, change.key)
      } else if (change.kind === 'dead') {
        const { peer, n, body, why } = change
        to('dead').put({ peer, n, body, why }, [peer, n])
      } else if (change.kind === 'buried') to('dead').delete([change.peer, change.n])
      else {
        const { peer } = change
        applyTo(heads, change)
        moved.add(peer)
        if (change.kind === 'begun') to('letters').delete(upTo(peer, Infinity))
        if (change.kind === 'posted') {
          const { n, body, life, digest } = change
          to('letters').put({ body, life, digest }, [peer, n])
        }
        if (change.kind === 'acked') to('letters').delete(upTo(peer, change.n))
      }
    }
    for (const peer of moved) {
      const head = heads.heads.get(peer)
      if (head) to('heads').put(head, peer)
      else to('heads').delete(peer)
    }
  }
}

function upTo(peer: string, n: number): IDBKeyRange {
  return IDBKeyRange.bound([peer, 0], [peer, n])
}

// localStorage writes are immediate and outlive the page. Workers and some windows have none.
function notes(): Storage | null {
  try {
    return globalThis.localStorage ?? null
  } catch {
    return null
  }
}

/** Whether localStorage records that a mailbox of that name existed. */
function wasStored(name: string): boolean {
  return (notes()?.getItem(existedKeyOf(name)) ?? null) !== null
}

function existedKeyOf(name: string): string {
  return `holdfast mailbox ${name} was kept`
}

function noteOf(name: string): string {
  return `holdfast mailbox ${name} is handling`
}

async function contentOf(name: string, database: IDBDatabase): Promise<MailContent> {
  const content = emptyContent()
  const transaction = database.transaction(STORES, 'readonly')
  const all = async <Value>(store: Name): Promise<[IDBValidKey, Value][]> => {
    const from = transaction.objectStore(store)
    const keys = settled(name, from.getAllKeys())
    const values = settled(name, from.getAll() as IDBRequest<Value[]>)
    const found = await values
    return (await keys).map((key, at) => [key, found[at]!])
  }
  const [heads, letters, dead, values] = await Promise.all([
    all<MailHead>('heads'),
    all<Uint8Array | Omit<StoredLetter, 'n'>>('letters'),
    all<DeadLetter>('dead'),
    all<Uint8Array>('values'),
  ])
  for (const [, head] of heads) content.heads.set(head.peer, { ...newHead(head.peer), ...head })
  for (const [key, stored] of letters) {
    const [peer, n] = key as [string, number]
    const list: StoredLetter[] = content.letters.get(peer) ?? []
    content.letters.set(peer, list)
    list.push(stored instanceof Uint8Array ? older(stored, n, list.at(-1)) : { n, ...stored })
  }
  complete(content)
  content.dead = dead.map(([, letter]) => letter)
  for (const [key, value] of values) content.values.set(key as string, value)
  return content
}

// Version 1 had no histories.
function older(body: Uint8Array, n: number, before: StoredLetter | undefined): StoredLetter {
  const digest = digestOf(before?.digest ?? NO_DIGEST, NO_LIFE, body)
  return { n, body, life: NO_LIFE, digest }
}

function complete({ heads, letters }: MailContent): void {
  for (const [peer, list] of letters) {
    const [head, last] = [heads.get(peer), list.at(-1)]
    if (head && last && head.ourLives.length === 0) head.postedDigest = last.digest
  }
}

function settled<Result>(name: string, request: IDBRequest<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(explain(name, request.error))
  })
}

function explain(name: string, error: unknown): HoldfastError {
  const { name: kind = '', message = '' } = (error ?? {}) as { name?: string; message?: string }
  const why: Record<string, string> = {
    VersionError: 'it was written by a newer version; use that one',
    QuotaExceededError: 'the browser gives this page no more storage; this change was not stored',
  }
  const text = why[kind] ?? (message === '' ? 'the browser gave no reason' : message)
  return problem(name, text)
}

function problem(name: string, why: string): HoldfastError {
  return new HoldfastError('store', `the mailbox ${name} of this page cannot be used: ${why}`)
}

const held = new Map<string, () => void>()
/** Locks that are being released. */
const ending = new Map<string, Promise<void>>()

async function lock(name: string): Promise<void> {
  await ending.get(name)
  let [end, freed] = [(): void => {}, (): void => {}]
  const until = new Promise<void>((resolve) => (end = resolve))
  const free = new Promise<void>((resolve) => (freed = resolve))
  const release = (): void => {
    end()
    ending.set(name, free)
  }
  const got = await new Promise<boolean>((resolve) => {
    const options = { ifAvailable: true }
    const ask = (given: Lock | null): Promise<void> | undefined => {
      resolve(given !== null)
      if (given) held.set(name, release)
      return given ? until : undefined
    }
    void navigator.locks.request(`holdfast mailbox ${name}`, options, ask).then(() => freed())
  })
  if (got) return
  throw new HoldfastError(
    'store',
    `the mailbox ${name} is open in another tab; close that one, or use another name`,
  )
}

function unlock(name: string): void {
  held.get(name)?.()
}
