/**
 * Two shipped mailboxes over a bad network, each with a disk. A side takes something in, which is
 * not durable yet; commits; sends. Between any two of these it may crash, and then has what its
 * disk has.
 */

import { newHead } from '../../drivers/store/mail-memory.ts'
import * as mailbox from '../../mailbox/mailbox.ts'
import type { Mailbox, MailOut, Policy } from '../../mailbox/mailbox.ts'
import type { MailMessage } from '../../mailbox/messages.ts'
import {
  LETTER_OVERHEAD,
  type Letter,
  type MailChange,
  type MailHead,
  type MailShelf,
} from '../../ports.ts'
import { NO_DIGEST, NO_LIFE } from '../../wire/history.ts'

/** What may be planted. */
export type MailBug =
  | 'dedup in memory alone'
  | 'an ack before it is durable'
  | 'effect and number apart'
  | 'cleared when sent'
  | 'sent before it is durable'

/** How much happens. */
export interface MailScope {
  name: string
  /** Letters from a to b. */
  letters: number
  /** The handler of b answers each letter with one. */
  replies?: boolean
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

/** What is on its way; with connections in order. */
export interface Mail {
  to: number
  message: MailMessage
}

/** All of it. */
export interface MailScene {
  sides: Side[]
  net: Mail[]
  connected: boolean
  left: { crashes: number; losses: number; breaks: number }
  /** Batches that brought nothing new. */
  idle: number
}

const LIMITS = { ...mailbox.LIMITS, lettersMax: 3 }

/** The first state. */
export function begin({ crashes, losses, connections }: MailScope): MailScene {
  const side = (name: string, other: string): Side => ({
    name,
    other,
    box: boxOf([], connections?.policy),
    disk: { heads: {}, letters: [], effects: [], posted: [] },
    pending: [],
    life: 0,
  })
  return {
    sides: [side('a', 'b'), side('b', 'a')],
    net: [],
    connected: false,
    left: { crashes, losses, breaks: connections?.breaks ?? 0 },
    idle: 0,
  }
}

function boxOf(heads: MailHead[], policy: Policy = 'hello'): Mailbox {
  return mailbox.create(heads, { ...LIMITS, policy })
}

/** A sink that keeps records, and puts what is sent on the network. */
function sink(scope: MailScope, scene: MailScene, side: Side): MailOut {
  return {
    record: (change) => side.pending.push(change),
    send: (_to, message) => {
      put(scope, scene, { to: scene.sides.indexOf(side) === 0 ? 1 : 0, message })
      if (scope.bug === 'cleared when sent') side.disk.letters = []
    },
    emit: () => {},
  }
}

// Without connections what is on its way may come any number of times, so once is enough.
function put({ connections }: MailScope, { net }: MailScene, mail: Mail): void {
  if (connections) return void net.push(mail)
  const key = keyOf(mail)
  if (net.some((one) => keyOf(one) === key)) return
  net.push(mail)
  net.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
}

/** What tells mail apart. */
export function keyOf({ to, message }: Mail): string {
  if (message.kind === 'hello') return `${to} hello ${message.heard} ${message.posted}`
  if (message.kind === 'fault') return `${to} fault`
  const letters = message.letters.map(({ n, body }) => `${n} ${textOf(body)}`)
  return `${to} ${letters.join()} ${message.ack}`
}

/** Somebody posts a letter that tells which life of its writer it is from. */
export function post(scope: MailScope, scene: MailScene, at: number): void {
  const side = scene.sides[at]!
  const n = side.disk.posted.length + 1
  mailbox.post(side.box, side.other, bytesOf(`${side.name}${n}.${side.life}`), {
    ...sink(scope, scene, side),
  })
}

/** What was recorded becomes durable, all at once unless a bug says otherwise. */
export function commit({ bug }: MailScope, { sides }: MailScene, at: number): void {
  const side = sides[at]!
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
  } else if (change.kind === 'acked') {
    head.acked = n
    head.bytes -= change.bytes
    head.ackedDigest = change.digest
    disk.letters = disk.letters.filter((letter) => letter.n > n)
  } else if (change.kind === 'heard' && bug !== 'dedup in memory alone') {
    head.heard = n
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
export function batchOf(scope: MailScope, scene: MailScene, at: number): Mail | null {
  const side = scene.sides[at]!
  const message = mailbox.batchFor(side.box, side.other, 0, shelfOf(scope, side))
  if (message.kind === 'batch' && message.letters.length === 0 && message.ack === 0) return null
  const mail = { to: 1 - at, message }
  const key = keyOf(mail)
  return scene.net.some((one) => keyOf(one) === key) ? null : mail
}

/** Puts that batch on its way. */
export function sendBatch(scope: MailScope, scene: MailScene, at: number): void {
  const side = scene.sides[at]!
  sink(scope, scene, side).send(side.other, batchOf(scope, scene, at)!.message)
}

/** Over a connection: what is due by then. */
export function pump(scope: MailScope, scene: MailScene, at: number, now: number): void {
  const side = scene.sides[at]!
  mailbox.pump(side.box, now, shelfOf(scope, side), sink(scope, scene, side))
}

/** A side takes something from the network, and its handler does what it does. */
export function arrive(scope: MailScope, scene: MailScene, index: number): void {
  const { to, message } = scene.net[index]!
  if (scope.connections) scene.net.splice(index, 1)
  const side = scene.sides[to]!
  const out = sink(scope, scene, side)
  mailbox.hear(side.box, 0, side.other, message, shelfOf(scope, side), out)
  for (let letter = mailbox.next(side.box, 0, side.other); letter;) {
    out.record({ kind: 'set', key: 'effect', value: letter.body })
    if (scope.replies && to === 1) {
      mailbox.post(side.box, side.other, bytesOf(`re ${textOf(letter.body)}`), out)
    }
    mailbox.done(side.box, 0, side.other, out)
    letter = mailbox.next(side.box, 0, side.other)
  }
  if (message.kind === 'batch' && side.pending.length === 0) scene.idle++
}

/** A process dies, and another begins with what the disk has. */
export function crash({ connections }: MailScope, scene: MailScene, at: number): void {
  const side = scene.sides[at]!
  scene.left.crashes--
  side.life++
  side.pending = []
  side.box = boxOf(Object.values(side.disk.heads), connections?.policy)
  if (scene.connected) disconnect(scene)
}

/** A connection stands. */
export function connect(scene: MailScene): void {
  scene.connected = true
  for (const { box, other } of scene.sides) mailbox.connected(box, 0, other)
}

/** It breaks, and what was on its way is gone. */
export function disconnect(scene: MailScene): void {
  scene.connected = false
  scene.net = []
  for (const { box, other } of scene.sides) mailbox.disconnected(box, other)
}

/** A text as the body of a letter. */
export function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(text, (letter) => letter.charCodeAt(0))
}

function textOf(body: Uint8Array): string {
  return String.fromCharCode(...body)
}
