/** Hooks that read a session. Each renders again only when what it reads has changed. */

import { useCallback, useRef, useSyncExternalStore } from 'react'
import type {
  ActionOutcome,
  ActionType,
  Collection,
  Fields,
  HubReach,
  Listing,
  MemberInfo,
  ObjectHandle,
  ObjectType,
  PieceHandle,
  PieceType,
  Safety,
  StateOf,
  Status,
  Value,
} from '../../holdfast/src/index.ts'
import { useProvided, useSession } from './provider.ts'

type Subscribe = (listener: () => void) => () => void

/** Subscribes to a value that each read makes anew: an equal one is no change. */
function useStore<Result>(subscribe: Subscribe, read: () => Result): Result {
  const last = useRef<{ value: Result } | null>(null)
  const snapshot = (): Result => {
    const value = read()
    if (!last.current || !isEqual(last.current.value, value)) last.current = { value }
    return last.current.value
  }
  return useSyncExternalStore(subscribe, snapshot, snapshot)
}

// The same value, or lists or plain objects of the same values.
function isEqual(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true
  if (!isPlain(one) || !isPlain(other) || Array.isArray(one) !== Array.isArray(other)) return false
  const names = Object.keys(one)
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && Object.is(one[name], other[name]))
  )
}

function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  return Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype
}

/**
 * All objects or pieces of a type; renders again when any of them changes, is added or removed.
 *
 * @param select  what of them is read: with it, renders again only when the result changes: another
 *   value, or a list of other items
 */
export function useAll<F extends Fields>(type: PieceType<F>): Listing<PieceHandle<F>>
export function useAll<F extends Fields>(type: ObjectType<F>): Collection<F>
export function useAll<F extends Fields, Result>(
  type: PieceType<F>,
  select: (all: Listing<PieceHandle<F>>) => Result,
): Result
export function useAll<F extends Fields, Result>(
  type: ObjectType<F>,
  select: (all: Collection<F>) => Result,
): Result
export function useAll(type: unknown, select?: (all: never) => unknown): unknown {
  const { subscribe, snapshot } = useSession().all(type as PieceType)
  const last = useRef<{ list: unknown; select: unknown; value: unknown } | null>(null)
  const read = (): unknown => {
    const list = snapshot()
    const known = last.current
    // One list gives one result, however often React reads it.
    if (known?.list === list && known.select === select) return known.value
    const made = select ? select(list as never) : list
    const value = select && known && isEqual(known.value, made) ? known.value : made
    last.current = { list, select, value }
    return value
  }
  return useSyncExternalStore(subscribe, read, read)
}

/** The state of one object; renders again when this one changes, by its state or owner. */
export function useObject<F extends Fields>(handle: ObjectHandle<F>): Readonly<StateOf<F>> {
  return useHandle(handle, ({ state, owner, mine, away, alive }) => {
    return { state, owner, mine, away, alive }
  })
}

/** The state of one piece; renders again when this one changes, by its state or holder. */
export function usePiece<F extends Fields>(handle: PieceHandle<F>): Readonly<StateOf<F>> {
  return useHandle(handle, ({ state, holder, lastBy, pending, z, alive }) => {
    return { state, holder, lastBy, pending, z, alive }
  })
}

// The list of its type hears of every change, of this member's own pending ones, too.
function useHandle<Handle extends { readonly type: unknown }, State>(
  handle: Handle,
  read: (handle: Handle) => { state: State },
): State {
  const { subscribe } = useSession().all(handle.type as PieceType)
  return useStore(subscribe, () => read(handle)).state
}

/** The members, oldest first. */
export function useMembers(): readonly MemberInfo[] {
  const session = useSession()
  const subscribe = useCallback(
    (listener: () => void) => session.on('members', listener),
    [session],
  )
  return useStore(subscribe, () => session.members)
}

/** How the session is: see the properties of a session with these names. */
export interface SessionStatus {
  /** Whether this member is connected to its session. */
  readonly status: Status
  /** Why the session was lost, as a sentence; else empty. */
  readonly reason: string
  /** How safe acknowledged changes are now. */
  readonly safety: Safety
  /** Whether the hub answers. */
  readonly hub: HubReach
  /** The member that serves. */
  readonly primary: MemberInfo | null
  /** The member that would take over. */
  readonly backup: MemberInfo | null
  /** Joins again after the session was lost, below a `RoomProvider`. */
  readonly retry: () => void
}

const OF_STATUS = ['status', 'safety', 'hub', 'primary', 'backup'] as const

/** Whether this member is connected, how safe changes are, whether the hub answers, who serves. */
export function useStatus(): SessionStatus {
  const { session, retry } = useProvided()
  const subscribe = useCallback(
    (listener: () => void) => {
      const stops = OF_STATUS.map((name) => session.on(name, listener))
      return () => {
        for (const stop of stops) stop()
      }
    },
    [session],
  )
  return useStore(subscribe, () => {
    const { status, reason, safety, hub, primary, backup } = session
    return { status, reason, safety, hub, primary, backup, retry }
  })
}

/** The value of a key of the table; undefined if there is none. */
export function useTable(key: string): Value | undefined {
  const { table } = useSession()
  const subscribe = useCallback(
    (listener: () => void) => {
      return table.on('changed', (keys) => {
        if (keys.includes(key)) listener()
      })
    },
    [table, key],
  )
  return useStore(subscribe, () => table.get(key))
}

/** A function that runs an action, the same at each render. */
export function useAct<Args, Answer>(
  type: ActionType<Args, Answer>,
): (
  ...args: undefined extends Args ? [args?: Args] : [args: Args]
) => Promise<ActionOutcome<Answer>> {
  const session = useSession()
  return useCallback((...[args]) => session.act(type, args as Args), [session, type])
}
