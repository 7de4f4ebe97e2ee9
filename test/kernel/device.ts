/**
 * The device between the chain and the kernel: makes of a batch deliveries to `vattp`, letters
 * first, then the ack (S16). It may filter what it had before: not at all (the first fix, S24), by
 * marks that are durable, in one blob (the second, S25) or by key (S26), or by marks in memory,
 * which was the bug (S15).
 */

import type { Batch } from './chain.ts'

export type Dedup = 'none' | 'durable' | 'durable-keys' | 'ram'

/** What the device queues for the kernel. */
export type Inbound =
  | { vat: 'vattp'; method: 'deliverInboundMessages'; peer: string; messages: [number, string][] }
  | { vat: 'vattp'; method: 'deliverInboundAck'; peer: string; ack: number }

/** The highest numbers of a peer that were handed on. */
interface Marks {
  letters: number
  ack: number
}

/** Values that survive a restart, written with the transaction. */
export interface Durable {
  get(key: string): unknown
  set(key: string, value: unknown): void
}

export interface Device {
  dedup: Dedup
  /** The marks by peer: all there is of them for `ram`, a copy for `durable`. */
  memory: Record<string, Marks>
}

/** A device as a process has it at its start. */
export function start(dedup: Dedup, durable: Durable): Device {
  const kept = dedup === 'durable' ? (durable.get('device') as Device['memory'] | null) : null
  return { dedup, memory: kept ?? {} }
}

/** @returns what to enqueue; nothing if the kernel need not run for it (S29) */
export function deliverInbound(
  device: Device,
  durable: Durable,
  peer: string,
  { letters, ack }: Batch,
): Inbound[] {
  const sorted = letters.toSorted((a, b) => a.n - b.n)
  const marks = marksOf(device, durable, peer)
  const passed = marks ? sorted.filter(({ n }) => n > marks.letters) : sorted
  const text = new TextDecoder()
  const messages = passed.map(({ n, body }): [number, string] => [n, text.decode(body)])
  const deliveries: Inbound[] = []
  // The first fix hands on even what is empty: then nothing but the input decides.
  if (messages.length > 0 || !marks) {
    deliveries.push({ vat: 'vattp', method: 'deliverInboundMessages', peer, messages })
  }
  if (!marks || ack > marks.ack) {
    deliveries.push({ vat: 'vattp', method: 'deliverInboundAck', peer, ack })
  }
  if (marks && deliveries.length > 0) {
    keep(device, durable, peer, {
      letters: passed.at(-1)?.n ?? marks.letters,
      ack: Math.max(ack, marks.ack),
    })
  }
  return deliveries
}

function marksOf({ dedup, memory }: Device, durable: Durable, peer: string): Marks | null {
  if (dedup === 'none') return null
  if (dedup !== 'durable-keys') return memory[peer] ?? { letters: 0, ack: 0 }
  const read = (what: string): number => (durable.get(`device/${peer}/${what}`) as number) ?? 0
  return { letters: read('letters'), ack: read('ack') }
}

function keep({ dedup, memory }: Device, durable: Durable, peer: string, marks: Marks): void {
  if (dedup === 'durable-keys') {
    durable.set(`device/${peer}/letters`, marks.letters)
    durable.set(`device/${peer}/ack`, marks.ack)
    return
  }
  memory[peer] = marks
  if (dedup === 'durable') durable.set('device', memory)
}
