/**
 * Rooms that components share: one join for each room and name, however many components use it and
 * however often React mounts them.
 */

import { useEffect, useRef, useSyncExternalStore } from 'react'
import { join } from '../../holdfast/src/browser.ts'
import { HoldfastError, type JoinOptions, type JoinProgress } from '../../holdfast/src/index.ts'
import type { Session, Status } from '../../holdfast/src/index.ts'
import { development, joinKey } from '../../holdfast/src/join/development.ts'

/** Options of `useRoom`: those of `join`. */
export interface RoomOptions extends Omit<JoinOptions, 'signal' | 'onProgress'> {
  /**
   * Whether a reload of the page, or a return to it, continues as the same player. `true`: the
   * token is in `sessionStorage`, which belongs to one tab and ends with it. `'browser'`: it is in
   * `localStorage`, and outlives all tabs; a second tab takes over as the same player, and the
   * first is `lost` (`elsewhere`). Default false: each load is a new player. Another value is
   * `bad-value`.
   */
  remember?: boolean | 'browser'
}

/** A room as a component sees it. */
export interface Room {
  /** `joining`; the status of the session; or `failed`, if `join` did. */
  readonly status: 'joining' | Status | 'failed'
  /** Null while joining, and if that failed. */
  readonly session: Session | null
  /** Why `join` failed, or why the session was lost; else null. */
  readonly error: HoldfastError | null
  /** What `join` waits for; null before that is known, and when it has ended. */
  readonly progress: JoinProgress | null
  /** Joins again after a failure or a loss, as the same player where that is possible. */
  readonly retry: () => void
}

/**
 * Joins a room while the component is mounted. Components that name the same `server`, `game`,
 * `room` and `name`, and the same `watch` and `serves`, share one session. The join takes its other
 * options from the component that was rendered last with `types`. The session is left when the last
 * of them is unmounted; remounts by StrictMode and hot updates keep it. On a server the status is
 * `joining`.
 */
export function useRoom(options: RoomOptions): Room {
  const room = roomOf(options)
  const { types = [] } = options
  const before = useRef(types)
  // A hot update renders with other definitions, and the session has those of before.
  const isReloading = development.current?.compare(before.current, types) ?? false
  // Before the subscription, which joins.
  useEffect(() => {
    if (!isReloading) before.current = types
    room.offer(options)
  })
  const now = useSyncExternalStore(room.subscribe, room.snapshot, () => ON_SERVER)
  return isReloading ? { ...now, ...JOINING } : now
}

const JOINING = { status: 'joining', session: null, error: null, progress: null } as const
const ON_SERVER: Room = { ...JOINING, retry: () => {} }

const rooms = new Map<string, SharedRoom>()

function roomOf(options: RoomOptions): SharedRoom {
  const key = joinKey(options)
  const known = rooms.get(key)
  if (known) return known
  const made = new SharedRoom(key, itemOf(options))
  // A server renders without ever subscribing.
  if (typeof window !== 'undefined') rooms.set(key, made)
  return made
}

// A tab or a browser remembers its player whatever its name is.
function itemOf({ server = '', game, room = 'main' }: RoomOptions): string {
  return `holdfast ${JSON.stringify([server, game, room])}`
}

class SharedRoom {
  readonly #key: string
  readonly #saved: Saved
  readonly #listeners = new Set<() => void>()
  #options: RoomOptions | null = null
  #joining: AbortController | null = null
  #state: Room
  // The newest token of this page.
  #token: string | undefined

  constructor(key: string, item: string) {
    this.#key = key
    this.#saved = new Saved(item)
    this.#state = { ...JOINING, retry: () => this.#retry() }
  }

  /** Takes options for the next join. */
  offer(options: RoomOptions): void {
    if (!this.#options || options.types) this.#options = options
  }

  readonly snapshot = (): Room => this.#state

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    rooms.set(this.#key, this)
    // All components of one commit offer their options first.
    queueMicrotask(() => {
      if (this.#listeners.size > 0 && !this.#joining) void this.#join()
    })
    return () => {
      this.#listeners.delete(listener)
      // React may mount the next user at once.
      setTimeout(() => this.#leaveIfUnused())
    }
  }

  #set(changes: Partial<Room>): void {
    this.#state = { ...this.#state, ...changes }
    for (const listener of [...this.#listeners]) listener()
  }

  async #join(): Promise<void> {
    const joining = new AbortController()
    const { signal } = joining
    this.#joining = joining
    this.#set(JOINING)
    // A browser kept the page in its cache when it was left, and the session has said goodbye.
    const shown = ({ persisted }: PageTransitionEvent): void => {
      if (persisted) this.#retry()
    }
    addEventListener('pageshow', shown, { signal })
    try {
      const session = await this.#joined(signal)
      if (signal.aborted) return void session.leave()
      this.#follow(session, signal)
    } catch (error) {
      if (signal.aborted) return
      this.#set({ status: 'failed', error: error as HoldfastError, progress: null })
    }
  }

  async #joined(signal: AbortSignal): Promise<Session> {
    const { remember = false, token: given, ...options } = this.#options!
    const onProgress = (progress: JoinProgress): void => {
      if (!signal.aborted) this.#set({ progress })
    }
    const saved = this.#saved.read(checked(remember))
    // Another tab may have a newer one than this page.
    const token = (remember === 'browser' && saved) || (this.#token ?? saved ?? given)
    try {
      return await join({ ...options, token, signal, onProgress })
    } catch (error) {
      const isOfToken = token === saved && saved !== undefined
      if (!isOfToken || (error as HoldfastError).code !== 'bad-value') throw error
      // What is stored is no token.
      return join({ ...options, token: given, signal, onProgress })
    }
  }

  #follow(session: Session, signal: AbortSignal): void {
    const { remember = false } = this.#options!
    const save = (): void => {
      this.#token = session.token
      this.#saved.write(remember, session.token)
    }
    session.on('members', save, { signal })
    const show = (): void => {
      const { status, code, reason } = session
      const error = code === null ? null : new HoldfastError(code, reason)
      this.#set({ status, error, session, progress: null })
    }
    session.on('status', show, { signal })
    signal.addEventListener('abort', () => void session.leave())
    save()
    show()
  }

  #retry(): void {
    if (this.#listeners.size === 0) return
    this.#joining?.abort(new Error('joined again'))
    void this.#join()
  }

  #leaveIfUnused(): void {
    if (this.#listeners.size > 0 || !this.#joining) return
    if (rooms.get(this.#key) === this) rooms.delete(this.#key)
    this.#joining.abort(new Error('no component uses the room'))
    this.#joining = null
    this.#token = undefined
    this.#set(JOINING)
  }
}

type Remember = NonNullable<RoomOptions['remember']>

function checked(remember: Remember): Remember {
  if (typeof remember === 'boolean' || remember === 'browser') return remember
  const given = JSON.stringify(remember)
  throw new HoldfastError('bad-value', `remember is true, false or 'browser': ${given}`)
}

/** The token of a tab or a browser, which a page may be forbidden to store. */
class Saved {
  readonly #item: string

  constructor(item: string) {
    this.#item = item
  }

  read(remember: Remember): string | undefined {
    try {
      return storageOf(remember)?.getItem(this.#item) ?? undefined
    } catch {
      return undefined
    }
  }

  write(remember: Remember, token: string): void {
    try {
      storageOf(remember)?.setItem(this.#item, token)
    } catch {
      // The next load is another player.
    }
  }
}

function storageOf(remember: Remember): Storage | null {
  if (remember === 'browser') return localStorage
  return remember ? sessionStorage : null
}
