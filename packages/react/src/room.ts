/**
 * Rooms that components share: one join for each set of options, however many components use it and
 * however often React mounts them.
 */

import { useSyncExternalStore } from 'react'
import { join } from '../../holdfast/src/browser.ts'
import { HoldfastError, type JoinOptions, type JoinProgress } from '../../holdfast/src/index.ts'
import type { Session, Status } from '../../holdfast/src/index.ts'

/** Options of `useRoom`: those of `join`. */
export interface RoomOptions extends Omit<JoinOptions, 'signal' | 'onProgress'> {
  /**
   * Whether a reload of the page, or a return to it, continues as the same player: the token is in
   * `sessionStorage`, which belongs to one tab. Default false: each load is a new player.
   */
  remember?: boolean
}

/** A room as a component sees it. */
export interface Room {
  /** `joining`; the status of the session; or `failed`, if `join` did. */
  readonly status: 'joining' | Status | 'failed'
  /** Null while joining, and if that failed. */
  readonly session: Session | null
  /** Why `join` failed, or why the session was lost; else null. */
  readonly error: HoldfastError | null
  /** What `join` waits for; null when it has ended. */
  readonly progress: JoinProgress | null
  /** Joins again after a failure or a loss, as the same player where that is possible. */
  readonly retry: () => void
}

/**
 * Joins a room while the component is mounted. Components with equal options share one session,
 * which is left when the last of them is unmounted; remounts by StrictMode and hot updates keep it.
 * On a server it is `joining`.
 */
export function useRoom(options: RoomOptions): Room {
  const room = roomOf(options)
  return useSyncExternalStore(room.subscribe, room.snapshot, room.snapshot)
}

const rooms = new Map<string, SharedRoom>()

function roomOf(options: RoomOptions): SharedRoom {
  const key = JSON.stringify({ ...options, types: null })
  const known = rooms.get(key)
  const room = known ?? new SharedRoom(key)
  // What a hot update defines anew counts from the next join on.
  room.options = options
  rooms.set(key, room)
  // A server renders without ever subscribing.
  if (!known && typeof window === 'undefined') rooms.delete(key)
  return room
}

class SharedRoom {
  options!: RoomOptions
  readonly #key: string
  readonly #listeners = new Set<() => void>()
  #joining: AbortController | null = null
  #state: Room
  #token: string | undefined

  constructor(key: string) {
    this.#key = key
    this.#state = { ...JOINING, retry: () => this.#retry() }
  }

  readonly snapshot = (): Room => this.#state

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    rooms.set(this.#key, this)
    if (!this.#joining) this.#join()
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

  #join(): void {
    const joining = new AbortController()
    const { signal } = joining
    this.#joining = joining
    this.#set(JOINING)
    const { remember = false, ...options } = this.options
    const saved = remember ? new Saved(this.#key) : null
    const token = options.token ?? this.#token ?? saved?.read()
    const onProgress = (progress: JoinProgress): void => {
      if (!signal.aborted) this.#set({ progress })
    }
    join({ ...options, token, signal, onProgress }).then(
      (session) => {
        if (signal.aborted) return void session.leave()
        const save = (): void => {
          this.#token = session.token
          saved?.write(session.token)
        }
        session.on('members', save)
        session.on('status', () => this.#follow(session, signal))
        save()
        this.#set({ status: session.status, session, progress: null })
        signal.addEventListener('abort', () => void session.leave())
      },
      (error: unknown) => {
        if (signal.aborted) return
        this.#set({ status: 'failed', error: error as HoldfastError, progress: null })
      },
    )
    // A browser kept the page in its cache when it was left, and the session has said goodbye.
    const shown = ({ persisted }: PageTransitionEvent): void => {
      if (persisted) this.#retry()
    }
    addEventListener('pageshow', shown, { signal })
  }

  #follow(session: Session, signal: AbortSignal): void {
    if (signal.aborted) return
    const { status, code, reason } = session
    const error = code === null ? null : new HoldfastError(code, reason)
    this.#set({ status, error })
  }

  #retry(): void {
    this.#joining?.abort(new Error('joined again'))
    this.#join()
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

/** The token of a tab, which a page may be forbidden to store. */
class Saved {
  readonly #item: string

  constructor(key: string) {
    this.#item = `holdfast ${key}`
  }

  read(): string | undefined {
    try {
      return sessionStorage.getItem(this.#item) ?? undefined
    } catch {
      return undefined
    }
  }

  write(token: string): void {
    try {
      sessionStorage.setItem(this.#item, token)
    } catch {
      // The next load is another player.
    }
  }
}

const JOINING = { status: 'joining', session: null, error: null, progress: null } as const
