/**
 * The scene of the source (seed 003): a small deterministic kernel behind a device that takes the
 * batches of a mailbox from an ordered log, as a replica of a chain has it.
 *
 * The kernel has a run queue, first in, first out, which it drains by blocks of at most 1,000
 * cranks (S30). Each crank has a number over all and one for the vat it is delivered to, and leaves
 * one line in the event log. All of the kernel is durable, and so is the log; of the device that
 * depends on how it is built.
 */

import { createHmac } from 'node:crypto'
import * as mailbox from '../../src/mailbox/mailbox.ts'
import type { Mailbox, MailOut } from '../../src/mailbox/mailbox.ts'
import { type MailMessage, mailLayout } from '../../src/mailbox/messages.ts'
import type { Letter, MailHead } from '../../src/ports.ts'
import { decode, encode } from '../../src/wire/layout.ts'

/**
 * How the device filters what it had before: not at all (the first fix), by a state that is loaded
 * at start and written back after each batch as one blob or key by key (the second, and its
 * variant), or by what it remembers (the bug).
 */
export type Dedup = 'none' | 'durable' | 'durable-keys' | 'ram'

/** Cranks of one block at most. */
export const BLOCK_CRANKS_MAX = 1_000

/** A batch in the ordered log, signed by whose it is. */
export interface Transaction {
  from: string
  batch: string
  signature: string
}

/** One line of the event log. */
export interface Event {
  crank: number
  vat: 'vattp' | 'comms'
  delivery: number
  type: 'deliverInboundMessages' | 'deliverInboundAck' | 'receive'
  peer: string
  detail: unknown
}

type Delivery = Pick<Event, 'vat' | 'type' | 'peer'> & { message?: MailMessage; body?: string }

interface Marks {
  letters: Record<string, number>
  acks: Record<string, number>
}

/** What a replica has on its disk. */
interface Durable {
  cranks: number
  deliveries: Record<Event['vat'], number>
  queue: Delivery[]
  heads: Record<string, MailHead>
  letters: Letter[]
  log: string[]
  /** The device's, by key; one key holds all of it, or each mark has its own. */
  device: Record<string, string>
}

/** A replica. */
export interface Kernel {
  readonly dedup: Dedup
  disk: Durable
  /** What a restart forgets. */
  memory: { marks: Marks; vattp: Mailbox }
}

const KEY = 'key of '

/** A batch for the log. */
export function sign(from: string, message: MailMessage): Transaction {
  const batch = Buffer.from(encode(mailLayout, message)).toString('hex')
  return { from, batch, signature: signatureOf(from, batch) }
}

function signatureOf(from: string, batch: string): string {
  return createHmac('sha256', `${KEY}${from}`).update(batch).digest('hex')
}

/** A replica that has seen nothing, with so many letters on their way to a client. */
export function createKernel(dedup: Dedup, posted: Record<string, number> = {}): Kernel {
  const heads: Record<string, MailHead> = {}
  const letters: Letter[] = []
  for (const [peer, count] of Object.entries(posted)) {
    heads[peer] = { peer, posted: count, acked: 0, bytes: 12 * count, heard: 0 }
    for (let n = 1; n <= count; n++) letters.push({ n, body: Uint8Array.of(n) })
  }
  const disk: Durable = {
    cranks: 0,
    deliveries: { vattp: 0, comms: 0 },
    queue: [],
    heads,
    letters,
    log: [],
    device: {},
  }
  return restart({ dedup, disk, memory: null! })
}

/** The process ends, and another begins with what is on the disk. */
export function restart(kernel: Kernel): Kernel {
  const disk = structuredClone(kernel.disk)
  const vattp = mailbox.create(Object.values(disk.heads))
  return { dedup: kernel.dedup, disk, memory: { marks: loaded(kernel.dedup, disk), vattp } }
}

function loaded(dedup: Dedup, { device }: Durable): Marks {
  const marks: Marks = { letters: {}, acks: {} }
  if (dedup === 'durable' && device['state'] !== undefined)
    return JSON.parse(device['state']) as Marks
  if (dedup !== 'durable-keys') return marks
  for (const [key, value] of Object.entries(device)) {
    const [kind, peer] = key.split(' ') as [keyof Marks, string]
    marks[kind][peer] = Number(value)
  }
  return marks
}

/** Takes a block: its transactions to the device, then the kernel runs if it has to. */
export function block(kernel: Kernel, transactions: readonly Transaction[]): void {
  let didSomething = false
  for (const one of transactions) if (deliverInbound(kernel, one)) didSomething = true
  if (didSomething) run(kernel)
}

/** The device. @returns whether the kernel has to run (S29) */
export function deliverInbound(kernel: Kernel, { from, batch, signature }: Transaction): boolean {
  const message = decode(mailLayout, Uint8Array.from(Buffer.from(batch, 'hex')))
  if (message?.kind !== 'batch' || signature !== signatureOf(from, batch)) return false
  const { marks } = kernel.memory
  const filters = kernel.dedup !== 'none'
  const sorted = message.letters.toSorted((a, b) => a.n - b.n)
  const letters = filters ? sorted.filter(({ n }) => n > (marks.letters[from] ?? 0)) : sorted
  const isNews = !filters || message.ack > (marks.acks[from] ?? 0)
  const { queue } = kernel.disk
  if (letters.length > 0) {
    marks.letters[from] = letters.at(-1)!.n
    const content: MailMessage = { kind: 'batch', letters, ack: 0 }
    queue.push({ vat: 'vattp', type: 'deliverInboundMessages', peer: from, message: content })
  }
  if (isNews) {
    marks.acks[from] = message.ack
    const content: MailMessage = { kind: 'batch', letters: [], ack: message.ack }
    queue.push({ vat: 'vattp', type: 'deliverInboundAck', peer: from, message: content })
  }
  keep(kernel)
  return !filters || letters.length > 0 || isNews
}

function keep({ dedup, disk, memory: { marks } }: Kernel): void {
  if (dedup === 'durable') disk.device['state'] = JSON.stringify(marks)
  if (dedup !== 'durable-keys') return
  for (const kind of ['letters', 'acks'] as const) {
    for (const [peer, n] of Object.entries(marks[kind])) disk.device[`${kind} ${peer}`] = `${n}`
  }
}

/** Drains the run queue, up to the end of the block. */
export function run(kernel: Kernel): void {
  const { disk } = kernel
  for (let cranks = 0; cranks < BLOCK_CRANKS_MAX && disk.queue.length > 0; cranks++) {
    const delivery = disk.queue.shift()!
    const { vat, type, peer } = delivery
    const crank = disk.cranks++
    const number = disk.deliveries[vat]++
    const detail = vat === 'vattp' ? vattp(kernel, delivery) : delivery.body
    const event: Event = { crank, vat, delivery: number, type, peer, detail }
    disk.log.push(JSON.stringify(event))
  }
}

/** The vat behind the device: it filters durably, whatever the device does (S17). */
function vattp({ disk, memory }: Kernel, { peer, message }: Delivery): unknown {
  const out: MailOut = {
    send: () => {},
    emit: () => {},
    record: (change) => {
      if (change.kind !== 'heard' && change.kind !== 'acked') return
      const head = (disk.heads[peer] ??= { peer, posted: 0, acked: 0, bytes: 0, heard: 0 })
      head[change.kind] = change.n
      if (change.kind === 'acked') disk.letters = disk.letters.filter(({ n }) => n > change.n)
    },
  }
  const shelf = { letters: () => [], weigh: () => 0 }
  mailbox.hear(memory.vattp, 0, peer, message!, shelf, out)
  for (let letter = mailbox.next(memory.vattp, 0, peer); letter;) {
    const body = Buffer.from(letter.body).toString()
    disk.queue.push({ vat: 'comms', type: 'receive', peer, body })
    mailbox.done(memory.vattp, 0, peer, out)
    letter = mailbox.next(memory.vattp, 0, peer)
  }
  return message!.kind === 'batch' ? [message!.letters.map(({ n }) => n), message!.ack] : null
}

/** What a client may ask a replica: the number that it has of its letters. A read (S21). */
export function query({ memory }: Kernel, peer: string): number {
  return mailbox.query(memory.vattp, peer)
}
