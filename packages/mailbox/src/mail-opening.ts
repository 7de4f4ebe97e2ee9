/** Opens a mailbox: its store, its connections, its listener. */

import { createMailMemory } from './drivers/mail-memory.ts'
import { badValue } from '../../holdfast/src/machine.ts'
import { shown } from '../../holdfast/src/wire/fields/fields.ts'
import { LIFE_BYTES, NO_LIFE } from '../../holdfast/src/wire/history.ts'
import type { Curves, Door, Later, Listening, MailChange } from '../../holdfast/src/ports.ts'
import type { MailStore, Stream, StreamEvents, Watchdog } from '../../holdfast/src/ports.ts'
import {
  checkId,
  checkNoPassword,
  type MailboxOptions as Common,
  wholeNumber,
} from './runtime/options.ts'
import { committed, openKeys } from './runtime/own-keys.ts'
import { doorOf, type DoorOptions } from '../../holdfast/src/api/door.ts'
import { type MailRuntime, RunningMailbox } from './mailbox.ts'
import type { Mailbox } from './mailbox-types.ts'

export { was } from '../../holdfast/src/api/migrations.ts'
export {
  angle,
  bool,
  f32,
  i16,
  i32,
  i8,
  list,
  map,
  oneOf,
  optional,
} from '../../holdfast/src/wire/fields/schema.ts'
export {
  quaternion,
  ranged,
  struct,
  text,
  u16,
  u32,
  u8,
  vec2,
  vec3,
} from '../../holdfast/src/wire/fields/schema.ts'
export type { Field, FieldKind, Fields, StateOf } from '../../holdfast/src/wire/fields/schema.ts'
export { letter, type LetterTypeOptions } from './runtime/letter-types.ts'
export type { LetterDefinition, LetterType } from './runtime/letter-types.ts'
export type { DoorOptions } from '../../holdfast/src/api/door.ts'
export type { Mailbox, MailWay, SetAside } from './mailbox-types.ts'
export type { MailPeer, WaitingLetter } from './runtime/peers.ts'
export type { BlockedQueue as Stopped } from './runtime/draft.ts'
export type { Adopted, OnPoison, Range } from './machine/mailbox.ts'
export type { EffectHandler, EffectLetter, EffectOptions } from './runtime/options.ts'
export type { LetterHandler, MailboxEvents, QueueFigures } from './runtime/options.ts'
export type { Dialer as Way } from './runtime/connections.ts'
export type { Transaction } from './runtime/transaction.ts'
export type { LetterInfo, PostOptions } from './runtime/letters.ts'
export type { Carried, MailValue } from './runtime/values.ts'

/** A reserved key: user keys have no NUL. */
const LIFE = '\0life'

/** The options of `openMailbox`. */
export interface MailboxOptions extends Common {
  /** The file of the mailbox (in a page: its database name); null keeps it in memory. */
  store: string | null
  /** Where the mailbox listens. Default: it does not listen. */
  listen?: DoorOptions
}

/** What a platform gives a mailbox to run on. */
export interface MailboxPlace extends MailRuntime {
  /** Signs, and checks signatures. */
  curves: () => Later<Curves>
  /** Starts a watchdog. Absent on platforms without threads. */
  watch?: (ms: number) => Watchdog
  /** Opens the named store. Rejects with a HoldfastError `store`. */
  open(name: string): Promise<MailStore>
  /** Starts to listen; null on platforms that cannot. */
  listen: ((door: Door, accept: (stream: Stream) => StreamEvents) => Promise<Listening>) | null
}

/** Opens a mailbox on a platform. @throws HoldfastError */
export async function openIn(platform: MailboxPlace, options: MailboxOptions): Promise<Mailbox> {
  const { loop } = platform
  const { store: name, listen } = options
  checkStore(name)
  checkId(options.id)
  checkNoPassword(options)
  const door = listen ? doorOf(listen, '/mail') : null
  if (door && !platform.listen) throw badValue('a page cannot listen: let it connect')
  const store = name === null ? createMailMemory() : await platform.open(name)
  let box: RunningMailbox
  try {
    const curves = await platform.curves()
    const random = (count: number): Uint8Array => loop.random(count)
    const { identity, changes } = await openKeys(options.id, store, curves, random)
    const life = options.replica ? NO_LIFE : loop.random(LIFE_BYTES)
    await begin(store, life, changes)
    const watchdog = watchdogOf(platform, options)
    box = new RunningMailbox({ ...platform, store, life, identity, watchdog }, options)
    if (watchdog) box.onClose(() => watchdog.stop())
  } catch (error) {
    store.close()
    throw error
  }
  box.durable = name !== null
  if (!door) return box
  try {
    box.listen(await platform.listen!(door, box.accept))
    return box
  } catch (error) {
    await box.close()
    throw error
  }
}

/**
 * Makes a new life of the store durable, and its first key, before any handshake. Lives distinguish
 * the letters of a store that went back in time, or that runs twice.
 */
function begin(store: MailStore, life: Uint8Array, changes: MailChange[]): Promise<void> {
  if (life !== NO_LIFE) changes.push({ kind: 'set', key: LIFE, value: life })
  return committed(store, changes)
}

function watchdogOf(platform: MailboxPlace, { watchdogMs }: MailboxOptions): Watchdog | undefined {
  if (watchdogMs === undefined) return undefined
  wholeNumber('watchdogMs', watchdogMs)
  if (platform.watch) return platform.watch(watchdogMs)
  throw badValue('watchdogMs: a page has no thread to watch its handlers')
}

function checkStore(name: unknown): void {
  if (name === null || (typeof name === 'string' && name !== '')) return
  const takes = 'store is the file of the mailbox (in a page, a name), or null for memory'
  throw badValue(`${takes}: ${shown(name)}`)
}
