/**
 * Stores of what a page shows of a session: a snapshot that stays the same until it changes, and a
 * subscription. Svelte, Vue, React and others make of a store what is reactive in them.
 */

import type { Value } from '../actions/protocol/actions.ts'
import type { Stop } from '../api/emitter.ts'
import type { MemberInfo } from '../kind/kind.ts'
import type { Listing } from '../kind/listing.ts'
import type { Collection, ObjectHandle } from '../objects/handles.ts'
import type { ObjectType } from '../objects/types.ts'
import type { PieceHandle, PieceType } from '../pieces/pieces.ts'
import type { Fields } from '../wire/fields/schema.ts'
import type { Session } from './session.ts'

/** A value that changes, for `useSyncExternalStore` and its like. Its functions need no `this`. */
export interface Store<Item> {
  /** Returns the present value: the same one until it changes. */
  readonly snapshot: () => Item
  /** Calls the listener after each change of the value. @returns stops it */
  readonly subscribe: (listener: () => void) => () => void
}

/** What a page shows of an object; another view after each change of one of these properties. */
export type ObjectView<F extends Fields> = Readonly<
  Pick<ObjectHandle<F>, 'state' | 'owner' | 'mine' | 'away' | 'alive'>
>

/** What a page shows of a piece; another view after each change of one of these properties. */
export type PieceView<F extends Fields> = Readonly<
  Pick<PieceHandle<F>, 'state' | 'holder' | 'lastBy' | 'pending' | 'z' | 'alive'>
>

/** What a page shows of the session itself; another view after each change of one of these. */
export type StatusView = Readonly<
  Pick<Session, 'status' | 'reason' | 'safety' | 'hub' | 'primary' | 'backup'>
>

/**
 * All objects or pieces of a type. The value changes when any of them changes, is added or removed.
 */
export function allStore<F extends Fields>(
  session: Session,
  type: PieceType<F>,
): Store<Listing<PieceHandle<F>>>
export function allStore<F extends Fields>(
  session: Session,
  type: ObjectType<F>,
): Store<Collection<F>>
/**
 * What `select` makes of them. The value changes only to another value, or to a list or plain
 * object of other items.
 */
export function allStore<F extends Fields, Result>(
  session: Session,
  type: PieceType<F>,
  select: (all: Listing<PieceHandle<F>>) => Result,
): Store<Result>
export function allStore<F extends Fields, Result>(
  session: Session,
  type: ObjectType<F>,
  select: (all: Collection<F>) => Result,
): Store<Result>
export function allStore(
  session: Session,
  type: unknown,
  select?: (all: never) => unknown,
): Store<unknown> {
  const { subscribe, snapshot } = session.all(type as PieceType)
  if (!select) return { subscribe, snapshot }
  let last: { list: unknown; value: unknown } | null = null
  return storeOf(subscribe, () => {
    const list = snapshot()
    if (last?.list !== list) last = { list, value: select(list as never) }
    return last.value
  })
}

/** One object or piece: its state, and who has it. */
export function handleStore<F extends Fields>(
  session: Session,
  handle: PieceHandle<F>,
): Store<PieceView<F>>
export function handleStore<F extends Fields>(
  session: Session,
  handle: ObjectHandle<F>,
): Store<ObjectView<F>>
export function handleStore(
  session: Session,
  handle: PieceHandle | ObjectHandle,
): Store<PieceView<Fields> | ObjectView<Fields>> {
  // The list of its type reports each change, also own ones that are pending.
  const { subscribe } = session.all(handle.type as PieceType)
  return storeOf(subscribe, () => ('update' in handle ? pieceView(handle) : objectView(handle)))
}

function pieceView(handle: PieceHandle): PieceView<Fields> {
  const { state, holder, lastBy, pending, z, alive } = handle
  return { state, holder, lastBy, pending, z, alive }
}

function objectView({ state, owner, mine, away, alive }: ObjectHandle): ObjectView<Fields> {
  return { state, owner, mine, away, alive }
}

/** The members, oldest first. */
export function membersStore(session: Session): Store<readonly MemberInfo[]> {
  return storeOf(
    (listener) => session.on('members', listener),
    () => session.members,
  )
}

const OF_STATUS = ['status', 'safety', 'hub', 'primary', 'backup'] as const

/** Whether this member is connected, how safe changes are, whether the hub answers, who serves. */
export function statusStore(session: Session): Store<StatusView> {
  const subscribe = (listener: () => void): (() => void) => {
    const stops = OF_STATUS.map((name) => session.on(name, listener))
    return () => {
      for (const stop of stops) stop()
    }
  }
  return storeOf(subscribe, () => {
    const { status, reason, safety, hub, primary, backup } = session
    return { status, reason, safety, hub, primary, backup }
  })
}

/** The value of a key of the table; undefined if there is none. */
export function tableStore(session: Session, key: string): Store<Value | undefined> {
  const { table } = session
  const subscribe = (listener: () => void): Stop => {
    return table.on('changed', (keys) => {
      if (keys.includes(key)) listener()
    })
  }
  return storeOf(subscribe, () => table.get(key))
}

/** A store of what is read: an equal value is no change. */
function storeOf<Item>(
  subscribe: (listener: () => void) => () => void,
  read: () => Item,
): Store<Item> {
  let last: { value: Item } | null = null
  const snapshot = (): Item => {
    const value = read()
    if (!last || !isEqual(last.value, value)) last = { value }
    return last.value
  }
  return {
    snapshot,
    subscribe: (listener) => {
      let known = snapshot()
      return subscribe(() => {
        const now = snapshot()
        if (Object.is(known, now)) return
        known = now
        listener()
      })
    },
  }
}

/** Whether values are the same, or lists or plain objects of the same values. */
export function isEqual(one: unknown, other: unknown): boolean {
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
