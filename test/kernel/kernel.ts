/**
 * The scene of seed 003: a replica of a small deterministic kernel. Deliveries wait in one queue,
 * first in, first out; each is a crank with a number, and each vat counts its own. `vattp` holds
 * the shipped mailbox; `comms` above it gets letters in order, without doubles and without numbers
 * (S18), and answers each with a letter.
 *
 * An input is one transaction of the store, and so is a crank: what it did, what it queued, the
 * numbers of the mailbox and the lines of the event log become durable together, or not at all. All
 * else is in memory and goes with the process.
 */

import { createMailMemory } from '../../packages/mailbox/src/drivers/mail-memory.ts'
import * as mailbox from '../../packages/mailbox/src/machine/mailbox.ts'
import type { Mailbox, MailOut } from '../../packages/mailbox/src/machine/mailbox.ts'
import { mailLayout, plainBatch } from '../../packages/mailbox/src/machine/messages.ts'
import type { Letter, MailChange, MailStore } from '../../packages/holdfast/src/ports.ts'
import { decode } from '../../packages/holdfast/src/wire/layout.ts'
import { type Batch, type Block, isSigned, type Signed } from './chain.ts'
import * as device from './device.ts'
import type { Dedup, Device, Durable, Inbound } from './device.ts'

/** Most cranks of one block (S30). */
export const BLOCK_CRANKS_MAX = 1_000

type Vat = 'vattp' | 'comms'

/** What waits in the queue. */
export type Delivery =
  | Inbound
  | { vat: 'vattp'; method: 'transmit'; peer: string; body: string }
  | { vat: 'comms'; method: 'receive'; peer: string; body: string }

/** What of a kernel is durable beside the numbers of its mailbox and the log. */
export interface State {
  /** How many blocks came. */
  height: number
  /** Cranks that the block may still run. */
  left: number
  crank: number
  deliveries: Record<Vat, number>
  /** The last transaction of each sender. */
  sequences: Record<string, number>
  received: number
  lines: number
  /** The keys of the first and of the next delivery in the queue. */
  head: number
  tail: number
}

/** One process of a replica. */
export interface Kernel {
  store: MailStore
  device: Device
  box: Mailbox
  state: State
  /** What the next transaction writes. */
  changes: MailChange[]
}

const NEW: State = {
  height: 0,
  left: 0,
  crank: 0,
  deliveries: { vattp: 0, comms: 0 },
  sequences: {},
  received: 0,
  lines: 0,
  head: 0,
  tail: 0,
}

/** Starts a process on what is durable. */
export function boot(dedup: Dedup, store: MailStore = createMailMemory()): Kernel {
  const durable = durableOf(store, [])
  return {
    store,
    device: device.start(dedup, durable),
    box: mailbox.create(store.heads()),
    state: (durable.get('kernel') as State | null) ?? structuredClone(NEW),
    changes: [],
  }
}

/** Does the next piece of work, not yet durable. @returns false if there is none */
export function work(kernel: Kernel, blocks: readonly Block[]): boolean {
  const { state } = kernel
  const { height } = state
  if (state.left > 0 && state.head < state.tail) crank(kernel)
  else if (height < blocks.length) open(kernel, blocks[height]!)
  else return false
  durableOf(kernel.store, kernel.changes).set('kernel', state)
  return true
}

/** Makes the work durable. */
export function commit(kernel: Kernel): void {
  kernel.store.commit(kernel.changes.splice(0), (error) => {
    if (error) throw error
  })
}

/**
 * What the other side may ask at any time: the number of its last letter here, and the letters to
 * it above `after`. Both are read from what is durable, and make no event (S21).
 */
export function ask({ box, store }: Kernel, peer: string, after: number): [number, Batch] {
  return [box.peers.get(peer)?.heard ?? 0, mailbox.batchFor(box, peer, after, store) as Batch]
}

/** Planted: what a hello says is made an event at once, instead of coming by the log. */
export function takeHello(kernel: Kernel, peer: string, heard: number): void {
  enqueue(kernel, { vat: 'vattp', method: 'deliverInboundAck', peer, ack: heard })
  durableOf(kernel.store, kernel.changes).set('kernel', kernel.state)
  commit(kernel)
}

/** Events as they stand in the log, a line of JSON each. */
export function logOf({ store }: Kernel): string[] {
  const text = new TextDecoder()
  return store.keys('log/').map((key) => text.decode(store.get(key)!))
}

function durableOf(store: MailStore, changes: MailChange[]): Durable {
  return {
    get: (key) => {
      const bytes = store.get(key)
      return bytes && (JSON.parse(new TextDecoder().decode(bytes)) as unknown)
    },
    set: (key, value) => {
      const bytes = new TextEncoder().encode(JSON.stringify(value))
      changes.push({ kind: 'set', key, value: bytes })
    },
  }
}

/** A block comes; the kernel runs if the device says so, or if something waits (S29). */
function open(kernel: Kernel, block: Block): void {
  const { state } = kernel
  state.height++
  const deliveries = block ? inbound(kernel, block) : []
  for (const delivery of deliveries) enqueue(kernel, delivery)
  const runs = state.head < state.tail
  state.left = runs ? BLOCK_CRANKS_MAX : 0
  if (runs) write(kernel, { block: state.height, queued: state.tail - state.head })
}

function inbound(kernel: Kernel, signed: Signed): Inbound[] {
  const { from, sequence, bytes } = signed
  const { sequences } = kernel.state
  if (!isSigned(signed) || sequence !== (sequences[from] ?? 0) + 1) return []
  sequences[from] = sequence
  const message = decode(mailLayout, bytes)
  if (message?.kind !== 'batch') return []
  const durable = durableOf(kernel.store, kernel.changes)
  return device.deliverInbound(kernel.device, durable, from, message)
}

function enqueue({ store, state, changes }: Kernel, delivery: Delivery): void {
  durableOf(store, changes).set(`queue/${state.tail++}`, delivery)
}

function write({ store, state, changes }: Kernel, event: object): void {
  durableOf(store, changes).set(`log/${String(state.lines++).padStart(8, '0')}`, event)
}

function crank(kernel: Kernel): void {
  const { state, store, changes } = kernel
  const key = `queue/${state.head++}`
  const delivery = durableOf(store, changes).get(key) as Delivery
  changes.push({ kind: 'set', key, value: null })
  state.left--
  const delivered = { crank: ++state.crank, number: ++state.deliveries[delivery.vat], ...delivery }
  write(kernel, { ...delivered, effects: deliver(kernel, delivery) })
}

/** @returns what it did durably, as it stands in the log */
function deliver(kernel: Kernel, delivery: Delivery): string[] {
  const { box, store, state } = kernel
  const { peer } = delivery
  const effects: string[] = []
  const out = outOf(kernel, effects)
  if (delivery.method === 'transmit') {
    mailbox.post(box, peer, new TextEncoder().encode(delivery.body), out)
  } else if (delivery.method === 'receive') {
    const body = `answer ${++state.received} to ${delivery.body}`
    enqueue(kernel, { vat: 'vattp', method: 'transmit', peer, body })
  } else if (delivery.method === 'deliverInboundAck') {
    mailbox.receive(box, 0, peer, plainBatch([], delivery.ack), store, out)
  } else {
    mailbox.receive(box, 0, peer, plainBatch(lettersOf(delivery), 0), store, out)
    handle(kernel, peer, out)
  }
  return effects
}

function lettersOf({ messages }: Delivery & { method: 'deliverInboundMessages' }): Letter[] {
  return messages.map(([n, body]) => ({ n, body: new TextEncoder().encode(body) }))
}

/** Letters go up in the transaction that has their numbers. */
function handle(kernel: Kernel, peer: string, out: MailOut): void {
  for (;;) {
    const letter = mailbox.next(kernel.box, 0, peer)
    if (!letter) return
    const body = new TextDecoder().decode(letter.body)
    enqueue(kernel, { vat: 'comms', method: 'receive', peer, body })
    mailbox.done(kernel.box, 0, peer, out)
  }
}

function outOf({ changes }: Kernel, effects: string[]): MailOut {
  return {
    send: () => {},
    emit: () => {},
    record: (change) => {
      changes.push(change)
      if ('n' in change) effects.push(`${change.kind} ${change.n}`)
    },
  }
}
