/** The options and the events of a mailbox. */

import { badValue } from '../../../holdfast/src/machine.ts'
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

/** Default of `peersMax`. */
export const PEERS_MAX = 10_000
/** Default of `deadMax`: at most 64 MB of dead letters. */
export const DEAD_MAX = 1_000

/** The options of `openMailbox` on every platform. */
export interface MailboxOptions {
  /** The name of this mailbox for all others; it stays with the store. */
  id: string
  /** Peers to stay connected to, with their URLs, such as `wss://bob.example.com/mail`. */
  peers?: Readonly<Record<string, string>>
  /**
   * The only mailboxes that may connect or be dialled: each id with its key (that mailbox's `key`),
   * or with null to bind the key of its first letter or ack. Default: all, each bound that way.
   */
  accept?: Readonly<Record<string, string | null>>
  /**
   * Types of letters accepted here, made by `letter`. A letter of another type, or whose fields do
   * not fit, becomes a dead letter (`dead`) and is counted (`counters.unfit`). Default: none.
   */
  types?: readonly LetterDefinition[]
  /** What a connection sends unprompted. Default `hello`. */
  policy?: Policy
  /**
   * Marks one of several replicas that take the same batches in the same order, so that its letters
   * are a function of them alone. Copies of its store are then indistinguishable.
   */
  replica?: boolean
  /** Most letters waiting for one peer. Default 1,000,000. */
  lettersMax?: number
  /** Most bytes of these letters. Default 1 GiB. */
  bytesMax?: number
  /** Most peers that letters are exchanged with; others are refused. Default 10,000. */
  peersMax?: number
  /** Most dead letters stored; beyond that the oldest are deleted (`dropped`). Default 1,000. */
  deadMax?: number
  /** How long dead letters are stored, in milliseconds; then `dropped`. Default: no limit. */
  deadMs?: number
  /**
   * On Node: a separate thread reports, on standard error, a handler that blocks the loop for so
   * many milliseconds, even one that never ends. Default: no watchdog.
   */
  watchdogMs?: number
  /** How often a handler may fail a letter before the letter is poison. Default 5. */
  triesMax?: number
  /**
   * What happens to a poison letter. `stop`: its sender's later letters wait, it is retried after
   * 0.8 s, 1.6 s … 2 min, and each failure emits `stopped`. `setAside`: it becomes a dead letter,
   * and later letters go on. Default `stop`.
   */
  onPoison?: OnPoison
}

/** Handles a letter, synchronously: its effects are one transaction. */
export type LetterHandler<Body = MailValue> = (
  tx: Transaction,
  /** The id of its sender. */
  from: string,
  body: Body,
  letter: LetterInfo,
) => void

/** A letter with an external effect. */
export interface EffectLetter<Body = MailValue> extends LetterInfo {
  /**
   * Identifies this letter for ever, in at most 49 ASCII characters: the same for each attempt in
   * each process, and unique. The other side should remember it and ignore repeats.
   */
  readonly id: string
  /** The id of its sender. */
  readonly from: string
  /** The body, fitted to its type. */
  readonly body: Body
  /** Aborts on timeout, when the owner sets the letter aside, or when the mailbox closes. */
  readonly signal: AbortSignal
}

/** Runs a letter's external effect; the letter is acknowledged once that has settled. */
export type EffectHandler<Body = MailValue> = (letter: EffectLetter<Body>) => unknown

/** The options of `handleAsync`. */
export interface EffectOptions {
  /** Milliseconds until an unfinished attempt counts as failed. Default 60,000. */
  readonly timeoutMs?: number
}

/** The events of a mailbox. */
export interface MailboxEvents {
  /** A connection to a peer is open. */
  connected: { peer: string }
  /** The connection closed or failed; a dialled peer is redialled. */
  disconnected: { peer: string | null; why: string }
  /** A peer processed our letters up to number `n`; `waiting` are unacked. */
  acked: { peer: string; n: number; waiting: number }
  /** A handler threw; the letter is retried. */
  threw: { peer: string; n: number; why: string }
  /**
   * A handler threw too often, or is async: that peer's later letters wait behind this one. It is
   * retried after `ms`; null until it has another handler. The platform reports it by default.
   */
  stopped: BlockedQueue
  /** A letter became a dead letter: see `dead`, `release`. */
  dead: { peer: string; n: number; why: string }
  /** A dead letter was deleted: too many, or too old. */
  dropped: { peer: string; n: number }
  /**
   * A letter was posted to a mailbox never seen here and not in `peers` or `accept`: its id may be
   * wrong. Once per peer; without a listener the platform warns.
   */
  unseen: { peer: string }
  /** A letter of a peer had expired and was not handled. */
  expired: { peer: string; n: number }
  /** A handler blocked the loop for so long, in ms. */
  slow: { peer: string; n: number; ms: number }
  /** A peer replaced its key; the old key signed the new one. */
  key: { peer: string; key: string }
  /** The histories of the two mailboxes diverged; letters between them stop. */
  fault: { peer: string; why: string }
  /** The store failed; what was not durable is retried or was rejected. */
  trouble: Error
  /** A listener threw, which affects only that call; without an `error` listener it is reported. */
  error: Reported
}

export const MAILBOX_EVENTS: readonly (keyof MailboxEvents)[] = [
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
  'key',
  'fault',
  'trouble',
  'error',
]

/** The figures of one queue. */
export interface QueueFigures {
  /** The id of the other mailbox. */
  peer: string
  /** Whether a connection to it is open. */
  connected: boolean
  /** Letters that wait for an ack. */
  waiting: number
  /** Bytes of these letters. */
  bytes: number
  /** The number of the last letter posted to it. */
  posted: number
  /** The number of the last one it acked. */
  acked: number
  /** The number of its last letter that took effect here. */
  heard: number
  /** Why letters are stopped, as a sentence; null if they are not. */
  fault: string | null
  /** Why its letters wait for their handler, as a sentence; null if they do not. */
  stopped: string | null
}

export function limitsOf(options: MailboxOptions): Limits {
  const limits = { ...LIMITS }
  for (const name of ['lettersMax', 'bytesMax', 'triesMax'] as const) {
    const value = options[name]
    if (value !== undefined) limits[name] = wholeNumber(name, value)
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
  throw badValue(`${name} is a whole number above 0: ${value}`)
}

/** Rejects `key`, the shared password of versions before 0.2. @throws HoldfastError `bad-value` */
export function checkNoPassword(options: object): void {
  if (!('key' in options) || options.key === undefined) return
  throw badValue(
    'openMailbox takes no option "key": each mailbox has a key of its own, box.key; give those ' +
      'of the mailboxes that may come as accept: { alice: "…" }',
  )
}

/** Parses `accept`; null admits all. @throws HoldfastError `bad-value` */
export function listedOf({ accept }: MailboxOptions): Listed | null {
  if (accept === undefined) return null
  if (typeof accept !== 'object' || accept === null || Array.isArray(accept)) {
    throw badValue(
      'accept has the id of each mailbox that may come, with its key, or null for the one that ' +
        `its first letter comes with, as { alice: null }: ${shown(accept)}`,
    )
  }
  return new Map(
    Object.entries(accept).map(([id, key]) => {
      return [checkId(id), key === null ? null : checkKey(`the key of ${id} in accept`, key)]
    }),
  )
}

/** Parses a key. @throws HoldfastError `bad-value` */
export function checkKey(what: string, text: unknown): Uint8Array {
  const key = fromHex(text, KEY_BYTES)
  if (key) return key
  throw badValue(`${what} is 64 hexadecimal digits, as box.key has them: ${shown(text)}`)
}

/** Returns the id if it is valid. @throws HoldfastError `bad-value` */
export function checkId(id: string): string {
  if (isMailId(id)) return id
  throw badValue(`the id of a mailbox has 1 to ${MAIL_ID_MAX} bytes of text: ${JSON.stringify(id)}`)
}
