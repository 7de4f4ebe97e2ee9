/**
 * Two replicas of a small kernel get the same batches in the same order; one of them is restarted
 * whenever one likes. What they write into their event logs must be the same (S22, S27).
 *
 * In front of the kernel stands a device. It hands on what comes as two kinds of deliveries,
 * letters and acks (S16), and may filter what it had before: not at all (the first fix, S24), by
 * what is durable (the second, S25), or by what it remembers (the bug, S15). Behind it the shipped
 * mailbox decides what takes effect, and its numbers are durable.
 */

import { newHead } from '../../packages/mailbox/src/drivers/mail-memory.ts'
import * as mailbox from '../../packages/mailbox/src/machine/mailbox.ts'
import type { Mailbox, MailOut } from '../../packages/mailbox/src/machine/mailbox.ts'
import { type Batch, plainBatch } from '../../packages/mailbox/src/machine/messages.ts'
import type { MailHead } from '../../packages/holdfast/src/ports.ts'
import type { Action, Model } from '../../packages/sim/src/checker/checker.ts'
import type { Rows } from './rows.ts'

/** By what the device filters. */
export type Dedup = 'none' | 'durable' | 'ram'

/** One way to build it. */
export interface RestartScope {
  dedup: Dedup
  restarts: number
  /** The sender asks either replica what it has, so often (S21). */
  asks?: number
  /** Planted: such a question makes an event. */
  told?: boolean
}

interface Marks {
  letters: number
  ack: number
}

interface Replica {
  /** What survives a restart. */
  marks: Marks
  head: MailHead
  log: string[]
  /** What does not. */
  memory: Marks
  box: Mailbox
}

/** Both replicas, and how many of the inputs they had. */
export interface Replicas {
  both: Replica[]
  inputs: number
  restarts: number
  asks: number
}

/** The client's last ack comes again, for the client was restarted; so does a letter. */
const INPUTS: readonly Batch[] = [
  batch([1], 0),
  batch([1, 2], 0),
  batch([], 5),
  batch([], 5),
  batch([2], 5),
]
/** Letters that the kernel had sent before. */
const POSTED = 5

const NO_SPAN = { life: new Uint8Array(8), before: new Uint8Array(16), letters: [] }
const SHELF = { letters: () => NO_SPAN, weigh: () => 0, mark: () => new Uint8Array(16) }

function batch(numbers: number[], ack: number): Batch {
  return plainBatch(
    numbers.map((n) => ({ n, body: Uint8Array.of(n) })),
    ack,
  )
}

/** The model. */
export function restartModel(name: string, scope: RestartScope): Model<Replicas> {
  return {
    name,
    init: () => ({
      both: [replica(), replica()],
      inputs: 0,
      restarts: scope.restarts,
      asks: scope.asks ?? 0,
    }),
    actions: (state) => actions(scope, state),
    always: { 'mail.det': differ },
    settled: { 'mail.once': ({ both }) => both.map(once).find((why) => why !== true) ?? true },
    sometimes: { 'all inputs came': ({ inputs }) => inputs === INPUTS.length },
    canonical: ({ both, inputs, restarts, asks }) => [
      both.map(({ marks, head, log, memory }) => [marks, head, log, memory]),
      [inputs, restarts, asks],
    ],
    show: ({ both }) => both.map(({ log }) => log.join(' ')).join(' | '),
  }
}

function replica(): Replica {
  const head = { ...newHead('client'), posted: POSTED }
  const empty = (): Marks => ({ letters: 0, ack: 0 })
  return { marks: empty(), memory: empty(), head, log: [], box: mailbox.create([head]) }
}

function* actions(scope: RestartScope, state: Replicas): Iterable<Action<Replicas>> {
  const input = INPUTS[state.inputs]
  if (input) {
    yield {
      label: `both take batch ${state.inputs + 1}`,
      next: (copy) => {
        copy.inputs++
        for (const one of copy.both) deliver(scope.dedup, one, input)
      },
    }
  }
  if (state.restarts > 0) {
    yield { label: 'the second is restarted', environment: true, next: restart }
  }
  if (state.asks === 0) return
  yield {
    label: 'the client asks the second what it has',
    environment: true,
    next: (copy) => {
      copy.asks--
      ask(scope, copy.both[1]!)
    },
  }
}

function restart(state: Replicas): void {
  const second = state.both[1]!
  state.restarts--
  second.memory = { letters: 0, ack: 0 }
  second.box = mailbox.create([second.head])
}

// The question is a read, and what the client has of ours comes as an ack in the log alone.
function ask({ told }: RestartScope, one: Replica): void {
  const heard = one.box.peers.get('client')?.heard ?? 0
  if (told) one.log.push(`asked ${heard}`)
}

function deliver(dedup: Dedup, one: Replica, { letters, ack }: Batch): void {
  const marks = dedup === 'durable' ? one.marks : dedup === 'ram' ? one.memory : null
  const passed = marks ? letters.filter(({ n }) => n > marks.letters) : letters
  if (passed.length > 0) {
    one.log.push(`letters ${passed.map(({ n }) => n).join()}`)
    if (marks) marks.letters = passed.at(-1)!.n
    kernel(one, plainBatch(passed, 0))
  }
  if (marks && ack <= marks.ack) return
  one.log.push(`ack ${ack}`)
  if (marks) marks.ack = ack
  kernel(one, plainBatch([], ack))
}

function kernel(one: Replica, message: Batch): void {
  const out: MailOut = {
    send: () => {},
    emit: () => {},
    record: (change) => {
      if (change.kind === 'heard') one.head.heard = change.n
      if (change.kind === 'acked') one.head.acked = change.n
    },
  }
  mailbox.receive(one.box, 0, 'client', message, SHELF, out)
  while (mailbox.next(one.box, 0, 'client')) {
    mailbox.done(one.box, 0, 'client', out)
    one.log.push(`effect of ${one.head.heard}`)
  }
}

function differ({ both: [first, second] }: Replicas): true | string {
  const at = first!.log.findIndex((line, index) => line !== second!.log[index])
  const place = at < 0 ? first!.log.length : at
  if (at < 0 && second!.log.length === place) return true
  return `line ${place + 1}: ${first!.log[place] ?? 'nothing'} | ${second!.log[place] ?? 'nothing'}`
}

function once({ log }: Replica): true | string {
  const effects = log.filter((line) => line.startsWith('effect')).join()
  return effects === 'effect of 1,effect of 2' || `effects: ${effects}`
}

/** Both fixes, and with the sender asking first. */
export const SCOPES = {
  D1: { says: 'the device filters nothing', scope: { dedup: 'none', restarts: 2 }, states: 18 },
  D2: {
    says: 'the device filters by what is durable',
    scope: { dedup: 'durable', restarts: 2 },
    states: 18,
  },
  D3: {
    says: 'the sender asks first what the other has',
    scope: { dedup: 'none', restarts: 2, asks: 3 },
    states: 72,
  },
} satisfies Rows<RestartScope>

/** The source's bug, and ours. */
export const MUTANTS = {
  'D-X1': {
    says: 'the device filters by what it remembers',
    scope: { dedup: 'ram', restarts: 1 },
    violates: [['mail.det', 3]],
  },
  'D-X2': {
    says: 'a question makes an event',
    scope: { dedup: 'none', restarts: 0, asks: 1, told: true },
    violates: [['mail.det', 1]],
  },
} satisfies Rows<RestartScope>
