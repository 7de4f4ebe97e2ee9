/**
 * The rooms that hosts of this process keep themselves (member/own-store.ts), in one store: a
 * record for each sheet, and one for each session. Where there are too many sessions, that is
 * dropped which was kept longest ago and in which no host of this process is.
 */

import { HoldfastError } from '../machine.ts'
import type { OwnStore, RoomStore, RoomStoreHost, Store } from '../ports.ts'
import { decode, encode, record, varint } from '../wire/layout.ts'

/** Most sessions whose rooms are kept. */
export const SESSIONS_MAX = 1_000

const SHEETS = 'sheet '
const KEPT = 'kept '
const keptLayout = record({ order: varint })

type Changes = Parameters<Store['write']>[0]
type Done = Parameters<Store['write']>[1]

/** See the head of this file. */
export class OwnRooms implements RoomStore {
  readonly #store: Store
  readonly #sheets = new Map<string, Set<string>>()
  /** Sessions, those first that were kept longest ago. */
  readonly #kept = new Set<string>()
  /** Of these somebody of this process is in. */
  readonly #running = new Set<string>()
  readonly #queue: { changes: Changes; done: Done }[] = []
  #writing = false
  #order = 0

  /** @throws HoldfastError `store` */
  constructor(store: Store) {
    this.#store = store
    const kept: [session: string, order: number][] = []
    for (const [key, value] of store.entries()) {
      const [kind, session = '', name = ''] = key.split(' ')
      if (`${kind} ` === SHEETS) this.#namesOf(session).add(name)
      const read = `${kind} ` === KEPT ? decode(keptLayout, value) : null
      if (read) kept.push([session, read.order])
    }
    for (const [session, order] of kept.toSorted((one, other) => one[1] - other[1])) {
      this.#kept.add(session)
      this.#order = order
    }
  }

  open(host: RoomStoreHost): OwnStore {
    return new OwnSheets(this, host)
  }

  /** A sheet; null where there is none, or it cannot be read. */
  read(session: string, name: string): Uint8Array | null {
    try {
      return this.#store.read(keyOf(session, name))
    } catch {
      return null
    }
  }

  /** Writes a sheet. */
  put(session: string, name: string, sheet: Uint8Array, done: Done): void {
    this.#namesOf(session).add(name)
    this.#write([...this.#begin(session), [keyOf(session, name), sheet]], (error) => {
      // Nothing of that write is there: the next one says again that the session is kept.
      if (error) this.release(session)
      done(error)
    })
  }

  /** Removes all of a session but these. */
  keepOnly(session: string, names: readonly string[]): void {
    const known = this.#namesOf(session)
    const gone = [...known].filter((name) => !names.includes(name))
    for (const name of gone) known.delete(name)
    if (gone.length > 0) this.#write(gone.map((name) => [keyOf(session, name), null] as const))
  }

  /** Calls `run` when all is written, or now. */
  whenIdle(run: () => void): void {
    if (this.#writing) this.#write([], run)
    else run()
  }

  /** Nobody of this process is in the session any more. */
  release(session: string): void {
    this.#running.delete(session)
  }

  // What a host that comes into a session changes besides: it is the newest, and another goes.
  #begin(session: string): Changes {
    if (this.#running.has(session)) return []
    this.#running.add(session)
    this.#kept.delete(session)
    this.#kept.add(session)
    const order = encode(keptLayout, { order: ++this.#order })
    return [[`${KEPT}${session}`, order] as const, ...this.#dropOldest()]
  }

  #dropOldest(): Changes {
    if (this.#kept.size <= SESSIONS_MAX) return []
    const oldest = [...this.#kept].find((session) => !this.#running.has(session))
    if (oldest === undefined) return []
    const names = [...this.#namesOf(oldest)]
    this.#kept.delete(oldest)
    this.#sheets.delete(oldest)
    const keys = [`${KEPT}${oldest}`, ...names.map((name) => keyOf(oldest, name))]
    return keys.map((key) => [key, null] as const)
  }

  #namesOf(session: string): Set<string> {
    const known = this.#sheets.get(session) ?? new Set()
    this.#sheets.set(session, known)
    return known
  }

  #write(changes: Changes, done: Done = () => {}): void {
    this.#queue.push({ changes, done })
    this.#next()
  }

  // A store takes one write at a time.
  #next(): void {
    const [first] = this.#queue
    if (this.#writing || !first) return
    this.#writing = true
    const done = (error: HoldfastError | null): void => {
      this.#writing = false
      this.#queue.shift()
      first.done(error)
      this.#next()
    }
    try {
      this.#store.write(first.changes, done)
    } catch (error) {
      done(error instanceof HoldfastError ? error : new HoldfastError('store', String(error)))
    }
  }
}

function keyOf(session: string, name: string): string {
  return `${SHEETS}${session} ${name}`
}

/** One member's side: what it tells the hub of a sheet waits until the sheet is durable. */
class OwnSheets implements OwnStore {
  readonly #rooms: OwnRooms
  readonly #host: RoomStoreHost
  readonly #waiting: Waiting[] = []
  #session = ''

  constructor(rooms: OwnRooms, host: RoomStoreHost) {
    this.#rooms = rooms
    this.#host = host
  }

  read(session: string, name: string): Uint8Array | null {
    return this.#rooms.read(session, name)
  }

  keepOnly(session: string, names: readonly string[]): void {
    this.#rooms.keepOnly(session, names)
  }

  put(session: string, name: string, sheet: Uint8Array): void {
    if (session !== this.#session) this.close()
    this.#session = session
    const waiting: Waiting = { done: false, why: null, messages: [] }
    this.#waiting.push(waiting)
    this.#rooms.put(session, name, sheet, (error) => {
      waiting.done = true
      waiting.why = error?.message ?? null
      this.#flush()
    })
  }

  isIdle(): boolean {
    return this.#waiting.length === 0
  }

  close(): void {
    this.#rooms.release(this.#session)
  }

  behind(message: Uint8Array, what: 'sheet' | 'other'): void {
    const last = this.#waiting.at(-1)
    if (last) last.messages.push({ message, what })
    else this.#host.send(message)
  }

  // In order; of a sheet that was not taken the hub hears nothing.
  #flush(): void {
    while (this.#waiting[0]?.done) {
      const { why, messages } = this.#waiting.shift()!
      for (const { message, what } of messages) {
        if (why === null || what === 'other') this.#host.send(message)
      }
      if (why !== null) this.#host.untaken(why)
    }
  }
}

interface Waiting {
  done: boolean
  why: string | null
  messages: { message: Uint8Array; what: 'sheet' | 'other' }[]
}
