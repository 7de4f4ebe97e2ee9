/**
 * What happened, as far as the client is concerned: it sends letters to the chain, acks answers,
 * and is restarted now and then. What of it went into the log depends on its policy alone. And how
 * a replica takes that log, with a restart wherever one likes.
 */

import { createMailMemory } from '../../packages/mailbox/src/drivers/mail-memory.ts'
import * as mailbox from '../../packages/mailbox/src/machine/mailbox.ts'
import type { Mailbox, MailOut } from '../../packages/mailbox/src/machine/mailbox.ts'
import type { MailChange, MailStore } from '../../packages/holdfast/src/ports.ts'
import { type Batch, type Block, sign } from './chain.ts'
import type { Dedup } from './device.ts'
import { ask, boot, commit, type Kernel, work } from './kernel.ts'

export type ClientPolicy = 'preemptive' | 'hello'

interface Client {
  policy: ClientPolicy
  store: MailStore
  box: Mailbox
  changes: MailChange[]
  /** What it wants to send. */
  batches: Batch[]
  now: number
}

/** The client, the log so far, what is on its way there, and a replica that has taken it. */
interface Stage {
  client: Client
  blocks: Block[]
  pending: Batch[]
  sequence: number
  chain: Kernel
}

/** The log of one afternoon. */
export function play(policy: ClientPolicy): Block[] {
  const store = createMailMemory()
  const client: Client = {
    policy,
    store,
    box: boxOf(store, policy),
    changes: [],
    batches: [],
    now: 0,
  }
  const stage: Stage = { client, blocks: [], pending: [], sequence: 0, chain: boot('none') }
  start(stage)
  exchange(stage, 'hat', 'scarf')
  // The ack of the fifth answer, and then the client starts anew: the seed's T=10 and T=20.
  exchange(stage, 'glove', 'shoe', 'sock')
  start(stage)
  land(stage)
  // It starts anew before its letter is in a block: twice, whatever the policy.
  post(stage, 'coat')
  start(stage)
  land(stage)
  exchange(stage, 'cane')
  start(stage)
  land(stage)
  return stage.blocks
}

function boxOf(store: MailStore, policy: ClientPolicy): Mailbox {
  return mailbox.create(store.heads(), { ...mailbox.LIMITS, policy })
}

/** Letters go, their answers come, the ack of those goes. */
function exchange(stage: Stage, ...bodies: string[]): void {
  post(stage, ...bodies)
  land(stage)
  const [, batch] = ask(stage.chain, 'client', stage.client.box.peers.get('chain')?.heard ?? 0)
  take(stage.client, batch)
  send(stage)
  land(stage)
}

function start(stage: Stage): void {
  const { client } = stage
  client.box = boxOf(client.store, client.policy)
  if (client.policy === 'preemptive') mailbox.connected(client.box, client.now, 'chain')
  send(stage)
}

function post(stage: Stage, ...bodies: string[]): void {
  const { client } = stage
  const out = outOf(client)
  for (const body of bodies) mailbox.post(client.box, 'chain', new TextEncoder().encode(body), out)
  send(stage)
}

function take(client: Client, batch: Batch): void {
  const out = outOf(client)
  mailbox.receive(client.box, client.now, 'chain', batch, client.store, out)
  while (mailbox.next(client.box, client.now, 'chain')) {
    mailbox.done(client.box, client.now, 'chain', out)
  }
}

function send(stage: Stage): void {
  const { client, chain, pending } = stage
  client.store.commit(client.changes.splice(0), () => {})
  client.now += 100
  if (client.policy === 'hello') pending.push(...news(client, chain))
  else mailbox.pump(client.box, client.now, client.store, outOf(client))
  pending.push(...client.batches.splice(0))
}

/** Asked first, a chain says what it has, and which of its letters it thinks unacked. */
function news({ box, store }: Client, chain: Kernel): Batch[] {
  const [heard, { letters }] = ask(chain, 'client', 0)
  const batch = mailbox.batchFor(box, 'chain', heard, store) as Batch
  const isNews = batch.letters.length > 0 || letters.some(({ n }) => n <= batch.ack)
  return isNews ? [batch] : []
}

/** What is on its way comes into blocks, one by one, and the chain takes them. */
function land(stage: Stage): void {
  for (const batch of stage.pending.splice(0)) {
    stage.blocks.push(sign('client', ++stage.sequence, batch))
  }
  stage.blocks.push(null)
  while (work(stage.chain, stage.blocks)) commit(stage.chain)
}

function outOf({ changes, batches }: Client): MailOut {
  return {
    record: (change) => changes.push(change),
    send: (_to, message) => {
      if (message.kind === 'batch') batches.push(message)
    },
    emit: () => {},
  }
}

/** A replica that has taken the whole log, and at how many points it could have been restarted. */
export interface Taken {
  kernel: Kernel
  points: number
}

/**
 * Takes the log. Every transaction has two points: between the work and its commit, where the work
 * is lost and done again, and after the commit.
 *
 * @param restartAt  points at which the process dies and another starts on its store, from 1
 * @param visit      sees the replica between any two transactions
 */
export function replica(
  dedup: Dedup,
  blocks: readonly Block[],
  restartAt: readonly number[] = [],
  visit: (kernel: Kernel, transactions: number) => void = () => {},
): Taken {
  let kernel = boot(dedup)
  let points = 0
  const maybeRestart = (): boolean => {
    const dies = restartAt.includes(++points)
    if (dies) kernel = boot(dedup, kernel.store)
    return dies
  }
  visit(kernel, 0)
  while (work(kernel, blocks)) {
    if (maybeRestart()) work(kernel, blocks)
    commit(kernel)
    maybeRestart()
    visit(kernel, points / 2)
  }
  return { kernel, points }
}
