/** The options and the events of a mailbox. */

import { badValue, HoldfastError } from '../../../holdfast/src/machine.ts'
import { type Limits, LIMITS, type Listed, type OnPoison, type Policy } from '../machine/mailbox.ts'
import { isMailId, MAIL_ID_MAX } from '../machine/messages.ts'
import type { BlockedQueue } from './draft.ts'
import type { LetterDefinition } from './letter-types.ts'
import type { LetterInfo } from './letters.ts'
import type { Transaction } from './transaction.ts'
import type { MailValue } from './values.ts'
import { shown } from '../../../holdfast/src/wire/fields/fields.ts'
import { KEY_BYTES } from '../../../holdfast/src/ports.ts'
import type { Reported } from '../../../holdfast/src/api/reports.ts'
import { fromHex } from '../../../holdfast/src/wire/bytes.ts'

/** Most peers with whom letters were exchanged, by default. */
export const PEERS_MAX = 10_000
/** Most dead letters that are kept, by default: at most 64 MB of them. */
export const DEAD_MAX = 1_000

/** The options of `openMailbox` on every platform. */
export interface MailboxOptions {
  /** The name of this mailbox, for all others; it stays with the store. */
  id: string
  /** Peers to stay connected with: where they listen, such as `wss://bob.example.com/mail`. */
  peers?: Readonly<Record<string, string>>
  /**
   * The only mailboxes that may come, and that are dialled: the id of each, with its key (`key` of
   * that mailbox), or with null for the key that its first letter or ack comes with. Default: all,
   * each with the key that its first letter or ack comes with.
   */
  accept?: Readonly<Record<string, string | null>>
  /**
   * Types of letters that are taken here, made by `letter`. One that says it has another, or whose
   * fields do not fit, is set aside (`dead`) and counted (`counters.unfit`). Default: none.
   */
  types?: readonly LetterDefinition[]
  /** What is sent on a connection without being asked for. Default `hello`. */
  policy?: Policy
  /**
   * This is one of several replicas that take the same batches in the same order: its letters are a
   * function of them alone. Copies of its store cannot be distinguished then.
   */
  replica?: boolean
  /** Letters that may wait for one peer. Default 1,000,000. */
  lettersMax?: number
  /** Bytes of these letters. Default 1 GiB. */
  bytesMax?: number
  /** Most peers with which letters are exchanged; others are refused. Default 10,000. */
  peersMax?: number
  /** Most dead letters that are kept; above that the oldest goes (`dropped`). Default 1,000. */
  deadMax?: number
  /** How long dead letters are kept, in milliseconds; then `dropped`. Default: no limit. */
  deadMs?: number
  /**
   * On Node: a handler that blocks the loop for so many milliseconds is named on standard error, by
   * a thread of its own, even if the handler never ends. Default: no watchdog.
   */
  watchdogMs?: number
  /** How often a handler may throw at one letter before that is poison. Default 5. */
  triesMax?: number
  /**
   * What becomes of a letter that is poison. `stop`: letters of its sender wait behind it, it is
   * tried again after 0.8 s, 1.6 s … 2 min, and `stopped` tells each time. `setAside`: it becomes
   * a dead letter, and those behind it go on. Default `stop`.
   */
  onPoison?: OnPoison
}

/** Handles a letter. It may not be async: its effects are one transaction. */
export type LetterHandler<Body = MailValue> = (
  tx: Transaction,
  /** The id of its sender. */
  from: string,
  body: Body,
  letter: LetterInfo,
) => void

/** A letter whose effect is elsewhere. */
export interface EffectLetter<Body = MailValue> extends LetterInfo {
  /**
   * Names this letter for ever, in 49 characters of ASCII at most: the same for each attempt, in
   * each process, and no other letter's. The other side should remember it, and do nothing if it
   * comes again.
   */
  readonly id: string
  /** The id of its sender. */
  readonly from: string
  /** What was posted, as its type has it. */
  readonly body: Body
  /** Aborts when the time is over, its owner set the letter aside, or the mailbox closes. */
  readonly signal: AbortSignal
}

/** Has the effect of a letter somewhere else; the letter is acknowledged once that has settled. */
export type EffectHandler<Body = MailValue> = (letter: EffectLetter<Body>) => unknown

/** What `handleAsync` takes besides. */
export interface EffectOptions {
  /** After so many milliseconds without an end an attempt has failed. Default 60,000. */
  readonly timeoutMs?: number
}

/** The events of a mailbox. */
export interface MailboxEvents {
  /** A connection to a peer is open. */
  connected: { peer: string }
  /** The connection is gone, or could not be made; it is tried again. */
  disconnected: { peer: string | null; why: string }
  /** A peer has processed our letters up to number `n`; `waiting` still wait. */
  acked: { peer: string; n: number; waiting: number }
  /** A handler threw; the letter is handled again. */
  threw: { peer: string; n: number; why: string }
  /**
   * A handler threw too often, or is async: letters of that peer wait behind this one. It is tried
   * again after `ms`; null for when it has another handler. Without a listener it is reported as
   * the platform does.
   */
  stopped: BlockedQueue
  /** A letter became a dead letter: see `dead`, `release`. */
  dead: { peer: string; n: number; why: string }
  /** A dead letter was dropped, for there were too many, or its time was over. */
  dropped: { peer: string; n: number }
  /**
   * A letter was posted to a mailbox that was never seen here, and is not in `peers` or `accept`:
   * its id may be wrong. Once for each; without a listener the platform warns.
   */
  unseen: { peer: string }
  /** A letter of a peer had expired: it was not handled. */
  expired: { peer: string; n: number }
  /** A handler blocked the loop so long, in ms; nothing else was done meanwhile. */
  slow: { peer: string; n: number; ms: number }
  /** A peer replaced its key: it signed the new one with the old one. */
  key: { peer: string; key: string }
  /** The histories of two mailboxes do not fit together; letters between them are stopped. */
  fault: { peer: string; why: string }
  /** The store refused; what was not durable is tried again or was rejected. */
  trouble: Error
  /** A listener threw, which cost that one call; without an `error` listener it is reported. */
  error: Reported
}

/** The events of a mailbox, by name. */
export const MAILBOX_EVENTS: readonly (keyof MailboxEvents)[] = [
  ...([
    'connected',
    'disconnected',
    'acked',
    'threw',
    'stopped',
    'dead',
    'unseen',
    'dropped',
    'expired',
    'slow',
  ] as const),
  ...(['key', 'fault', 'trouble', 'error'] as const),
]

/** The figures of one queue. */
export interface QueueFigures {
  /** The id of the other mailbox. */
  peer: string
  /** Whether a connection to it stands. */
  connected: boolean
  /** Letters that wait for an ack, and their bytes. */
  waiting: number
  /** The bytes of the letters that wait. */
  bytes: number
  /** Numbers of the last letter posted, the last acked, and the last of theirs that took effect. */
  posted: number
  /** The number of the last that took effect there. */
  acked: number
  /** The number of the last letter of theirs that took effect here. */
  heard: number
  /** Why letters rest, as a sentence; null if they do not. */
  fault: string | null
  /** Why letters of theirs wait for their handler, as a sentence; null if they do not. */
  stopped: string | null
}

/** The limits that options ask for. @throws HoldfastError `bad-value` */
export function limitsOf(options: MailboxOptions): Limits {
  const limits = { ...LIMITS }
  for (const name of ['lettersMax', 'bytesMax', 'triesMax'] as const) {
    const value = options[name]
    if (value === undefined) continue
    limits[name] = wholeNumber(name, value)
  }
  const { onPoison = limits.onPoison } = options
  if (onPoison !== 'stop' && onPoison !== 'setAside') {
    throw badValue(`onPoison is "stop" or "setAside": ${shown(onPoison)}`)
  }
  return { ...limits, onPoison, policy: options.policy ?? limits.policy }
}

/** Returns the value if it is a whole number. @throws HoldfastError `bad-value` */
export function wholeNumber(name: string, value: number): number {
  if (Number.isSafeInteger(value) && value >= 1) return value
  throw new HoldfastError('bad-value', `${name} is a whole number above 0: ${value}`)
}

/** Refuses the password of all that there was until 0.2. @throws HoldfastError `bad-value` */
export function checkNoPassword(options: object): void {
  if (!('key' in options) || options.key === undefined) return
  throw badValue(
    'openMailbox takes no option "key": each mailbox has a key of its own, box.key; give those ' +
      'of the mailboxes that may come as accept: { alice: "…" }',
  )
}

/** The mailboxes that may come, and their keys; null for all. @throws HoldfastError `bad-value` */
export function listedOf({ accept }: MailboxOptions): Listed | null {
  if (accept === undefined) return null
  if (typeof accept !== 'object' || accept === null || Array.isArray(accept)) {
    throw badValue(
      'accept has the id of each mailbox that may come, with its key, or null for the one that ' +
        `its first letter comes with, as { alice: null }: ${shown(accept)}`,
    )
  }
  return new Map(Object.entries(accept).map(([id, key]) => [checkId(id), listedKey(id, key)]))
}

function listedKey(id: string, text: unknown): Uint8Array | null {
  return text === null ? null : checkKey(`the key of ${id} in accept`, text)
}

/** A key from its text. @throws HoldfastError `bad-value` */
export function checkKey(what: string, text: unknown): Uint8Array {
  const key = fromHex(text, KEY_BYTES)
  if (key) return key
  throw badValue(`${what} is 64 hexadecimal digits, as box.key has them: ${shown(text)}`)
}

/** Returns the id if it is valid. @throws HoldfastError `bad-value` */
export function checkId(id: string): string {
  if (isMailId(id)) return id
  throw new HoldfastError(
    'bad-value',
    `the id of a mailbox has 1 to ${MAIL_ID_MAX} bytes of text: ${JSON.stringify(id)}`,
  )
}
