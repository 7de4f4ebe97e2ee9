/**
 * A shipped mailbox with its disk. It takes something in, which is not durable yet; commits; sends.
 * Between any two of these it may crash, and then has what its disk has. A function of the side and
 * its input, so that what comes back often is computed once (interned.ts).
 */

import { newHead } from '../../packages/mailbox/src/drivers/mail-memory.ts'
import * as mailbox from '../../packages/mailbox/src/machine/mailbox.ts'
import type { Mailbox, MailOut, Policy } from '../../packages/mailbox/src/machine/mailbox.ts'
import type { MailMessage } from '../../packages/mailbox/src/machine/messages.ts'
import {
  LETTER_OVERHEAD,
  type Letter,
  type MailChange,
  type MailHead,
  type MailShelf,
} from '../../packages/holdfast/src/ports.ts'
import { clone } from '../../packages/sim/src/checker/clone.ts'
import { NO_DIGEST, NO_LIFE } from '../../packages/holdfast/src/wire/history.ts'

/** Bugs that may be injected. */
export type MailBug =
  | 'dedup in memory alone'
  | 'an ack before it is durable'
  | 'effect and number apart'
  | 'cleared when sent'
  | 'sent before it is durable'
  | 'a letter whose handler throws is set aside'

/** How much happens. */
export interface MailScope {
  /** Letters from a to b. */
  letters: number
  /** The handler of b answers each letter with one. */
  replies?: boolean
  /** So often the handler throws at each letter before it works; each letter is poison then. */
  throws?: number
  crashes: number
  losses: number
  /** With connections under this policy, which break so often; else single batches. */
  connections?: { policy: Policy; breaks: number }
  bug?: MailBug
}

/** What is durable. */
export interface Disk {
  heads: Record<string, MailHead>
  letters: (Letter & { digest: Uint8Array })[]
  /** What the handler did, one text for each letter. */
  effects: string[]
  /** Bodies of all letters that were ever committed. */
  posted: string[]
}

/** One mailbox with its disk. */
export interface Side {
  name: string
  other: string
  box: Mailbox
  disk: Disk
  /** Recorded, not durable. */
  pending: MailChange[]
  /** Lives so often. */
  life: number
}

/** What a side does, and what happens to it. */
export type SideInput =
  | { kind: 'post' | 'commit' | 'send' | 'crash' | 'connected' | 'disconnected' | 'late' }
  /** Over a connection: what is due by then. */
  | { kind: 'pump'; now: number }
  | { kind: 'hear'; message: MailMessage }

/** What came of that. */
export interface SideStep {
  side: Side
  sent: MailMessage[]
  /** A batch brought nothing new. */
  idle: boolean
}

const LIMITS = { ...mailbox.LIMITS, lettersMax: 3 }

/** A side that has posted and heard nothing. */
export function fresh(scope: MailScope, name: string, other: string): Side {
  return {
    name,
    other,
    box: boxOf(scope, []),
    disk: { heads: {}, letters: [], effects: [], posted: [] },
    pending: [],
    life: 0,
  }
}

function boxOf({ connections, throws, bug }: MailScope, heads: MailHead[]): Mailbox {
  const { policy } = connections ?? LIMITS
  const isSkipped = bug === 'a letter whose handler throws is set aside'
  const onPoison = isSkipped ? 'setAside' : 'stop'
  return mailbox.create(heads, { ...LIMITS, policy, triesMax: throws ?? 1, onPoison })
}

/** One side takes an input. */
export function step(scope: MailScope, before: Side, input: SideInput): SideStep {
  const side = clone(before)
  const sent: MailMessage[] = []
  const out = sink(scope, side, sent)
  const done = { side, sent, idle: false }
  switch (input.kind) {
    case 'post':
      post(side, out)
      break
    case 'commit':
      commit(scope, side)
      break
    case 'send':
      out.send(side.other, batchOf(scope, side)!)
      break
    case 'pump':
      mailbox.pump(side.box, input.now, shelfOf(scope, side), out)
      break
    case 'hear':
      hear(scope, side, input.message, out)
      done.idle = input.message.kind === 'batch' && side.pending.length === 0
      break
    case 'late':
      handle(scope, side, Infinity, out)
      break
    case 'crash':
      crash(scope, side)
      break
    case 'connected':
      mailbox.connected(side.box, 0, side.other)
      break
    case 'disconnected':
      mailbox.disconnected(side.box, side.other)
  }
  return done
}

// Keeps records, and what is sent.
function sink(scope: MailScope, side: Side, sent: MailMessage[]): MailOut {
  return {
    record: (change) => side.pending.push(change),
    send: (_to, message) => {
      sent.push(message)
      if (scope.bug === 'cleared when sent') side.disk.letters = []
    },
    emit: () => {},
  }
}

/** What tells mail to that side apart. */
export function keyOf(to: number, message: MailMessage): string {
  if (message.kind === 'hello') return `${to} hello ${message.heard} ${message.posted}`
  if (message.kind === 'fault') return `${to} fault`
  const letters = message.letters.map(({ n, body }) => `${n} ${textOf(body)}`)
  return `${to} ${letters.join()} ${message.ack}`
}

// The letter tells which life of its writer it is from.
function post(side: Side, out: MailOut): void {
  const n = side.disk.posted.length + 1
  mailbox.post(side.box, side.other, bytesOf(`${side.name}${n}.${side.life}`), { ...out })
}

// What was recorded becomes durable, all at once unless a bug says otherwise.
function commit({ bug }: MailScope, side: Side): void {
  const apart = bug === 'effect and number apart' && side.pending.length > 1
  const now = apart ? side.pending.splice(0, 1) : side.pending.splice(0)
  for (const change of now) apply(side, change, bug)
}

function apply({ disk }: Side, change: MailChange, bug: MailBug | undefined): void {
  if (change.kind === 'set') return void disk.effects.push(textOf(change.value!))
  if (!('n' in change)) return
  const { peer, n } = change
  disk.heads[peer] ??= newHead(peer)
  const head = disk.heads[peer]
  if (change.kind === 'posted') {
    head.posted = n
    head.bytes += change.body.length + LETTER_OVERHEAD
    head.postedDigest = change.digest
    disk.letters.push({ n, body: change.body, digest: change.digest })
    disk.posted.push(textOf(change.body))
  } else if (change.kind === 'tried') {
    head.tries++
  } else if (change.kind === 'acked') {
    head.acked = n
    head.bytes -= change.bytes
    head.ackedDigest = change.digest
    disk.letters = disk.letters.filter((letter) => letter.n > n)
  } else if (change.kind === 'heard' && bug !== 'dedup in memory alone') {
    head.heard = n
    head.tries = 0
    head.heardDigest = change.digest
  }
}

/** The letters of a side that its network sees. */
function shelfOf({ bug }: MailScope, { disk, pending }: Side): MailShelf {
  const early = pending.filter((change) => change.kind === 'posted')
  const all = bug === 'sent before it is durable' ? [...disk.letters, ...early] : disk.letters
  const above = (after: number): Letter[] =>
    all.filter(({ n }) => n > after).map(({ n, body }) => ({ n, body }))
  const mark = (n: number): Uint8Array | null => all.find((one) => one.n === n)?.digest ?? null
  const acked = Object.values(disk.heads)[0]?.ackedDigest ?? NO_DIGEST
  return {
    letters: (_peer, after) => {
      const letters = above(after)
      const before = letters.length > 0 ? (mark(letters[0]!.n - 1) ?? acked) : NO_DIGEST
      return { life: NO_LIFE, before, letters }
    },
    mark: (_peer, n) => mark(n),
    weigh: (_peer, after, upTo) =>
      above(after)
        .filter(({ n }) => n <= upTo)
        .reduce((sum, { body }) => sum + body.length + LETTER_OVERHEAD, 0),
  }
}

/** Whether a side may send: when all is durable, unless a bug says otherwise. */
export function maySend({ bug }: MailScope, { pending }: Side): boolean {
  if (bug === 'an ack before it is durable' || bug === 'sent before it is durable') return true
  return pending.length === 0
}

/** One batch, as a carrier without connections sends it; null if there is nothing to say. */
export function batchOf(scope: MailScope, side: Side): MailMessage | null {
  const message = mailbox.batchFor(side.box, side.other, 0, shelfOf(scope, side))
  const isEmpty = message.kind === 'batch' && message.letters.length === 0 && message.ack === 0
  return isEmpty ? null : message
}

// A side takes something from the network, and its handler does what it does.
function hear(scope: MailScope, side: Side, message: MailMessage, out: MailOut): void {
  mailbox.hear(side.box, 0, side.other, message, shelfOf(scope, side), out)
  handle(scope, side, 0, out)
}

/** Whether a letter waits to be handled again. */
export function isLate({ throws }: MailScope, { box, other, pending }: Side): boolean {
  const peer = box.peers.get(other)
  return throws !== undefined && pending.length === 0 && peer !== undefined && mailbox.waits(peer)
}

function handle(scope: MailScope, side: Side, now: number, out: MailOut): void {
  for (let letter = mailbox.next(side.box, now, side.other); letter;) {
    if (mailbox.peerOf(side.box, side.other).tries < (scope.throws ?? 0)) {
      mailbox.failed(side.box, 0, side.other, 'it threw', out)
      letter = mailbox.next(side.box, 0, side.other)
      continue
    }
    out.record({ kind: 'set', key: 'effect', value: letter.body })
    if (scope.replies && side.name === 'b') {
      mailbox.post(side.box, side.other, bytesOf(`re ${textOf(letter.body)}`), out)
    }
    mailbox.done(side.box, 0, side.other, out)
    letter = mailbox.next(side.box, 0, side.other)
  }
}

// A process dies, and another begins with what the disk has.
function crash(scope: MailScope, side: Side): void {
  side.life++
  side.pending = []
  side.box = boxOf(scope, Object.values(side.disk.heads))
}

function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(text, (letter) => letter.charCodeAt(0))
}

function textOf(body: Uint8Array): string {
  return String.fromCharCode(...body)
}
