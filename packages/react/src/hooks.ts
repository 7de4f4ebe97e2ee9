/** Hooks that read a session. Each renders again only when what it reads has changed. */

import { useCallback, useMemo, useRef, useSyncExternalStore } from 'react'
import {
  type ActionOutcome,
  type ActionType,
  type Collection,
  type Fields,
  handleStore,
  type HubReach,
  type Listing,
  type MemberInfo,
  membersStore,
  type ObjectHandle,
  type ObjectType,
  type PieceHandle,
  type PieceType,
  type Safety,
  type StateOf,
  type Status,
  statusStore,
  type Store,
  tableStore,
  type Value,
} from '../../holdfast/src/index.ts'
import { isEqual } from '../../holdfast/src/join/stores.ts'
import { useProvided, useSession } from './provider.ts'

function useStore<Item>({ subscribe, snapshot }: Store<Item>): Item {
  return useSyncExternalStore(subscribe, snapshot, snapshot)
}

/** All objects or pieces of a type; renders again when any of them changes, is added or removed. */
export function useAll<F extends Fields>(type: PieceType<F>): Listing<PieceHandle<F>>
export function useAll<F extends Fields>(type: ObjectType<F>): Collection<F>
/**
 * What `select` makes of all objects or pieces of a type; renders again only when the result
 * changes: another value, or a list of other items.
 */
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
  const session = useSession()
  return useStore(useMemo(() => handleStore(session, handle), [session, handle])).state
}

/** The state of one piece; renders again when this one changes, by its state or holder. */
export function usePiece<F extends Fields>(handle: PieceHandle<F>): Readonly<StateOf<F>> {
  const session = useSession()
  return useStore(useMemo(() => handleStore(session, handle), [session, handle])).state
}

/** The members, oldest first. */
export function useMembers(): readonly MemberInfo[] {
  const session = useSession()
  return useStore(useMemo(() => membersStore(session), [session]))
}

/** How the session is: see the properties of a session with these names. */
export interface SessionStatus {
  /** Whether this member is connected to its session. */
  readonly status: Status
  /** Why the session was lost, as a sentence; else empty. */
  readonly reason: string
  /** How safe acknowledged changes are now. */
  readonly safety: Safety
  /** Whether the hub answers, or waits for its store. */
  readonly hub: HubReach
  /** The member that serves. */
  readonly primary: MemberInfo | null
  /** The member that would take over. */
  readonly backup: MemberInfo | null
  /** Joins again after the session was lost, below a `RoomProvider`. */
  readonly retry: () => void
}

/** Whether this member is connected, how safe changes are, whether the hub answers, who serves. */
export function useStatus(): SessionStatus {
  const { session, retry } = useProvided()
  const view = useStore(useMemo(() => statusStore(session), [session]))
  return useMemo(() => ({ ...view, retry }), [view, retry])
}

/** The value of a key of the table; undefined if there is none. */
export function useTable(key: string): Value | undefined {
  const session = useSession()
  return useStore(useMemo(() => tableStore(session, key), [session, key]))
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
