/** Figures of a mailbox: as text for Prometheus, and for whoever inspects one that is open. */

import type { Counters } from '../mailbox/mailbox.ts'
import type { QueueFigures } from './mail-options.ts'

/** Peers that are shown one by one, those with most letters waiting; of all others the sum. */
const PEERS_SHOWN = 100

/** What is known of a mailbox at one moment. */
export interface MailFigures {
  readonly id: string
  readonly queues: readonly QueueFigures[]
  readonly counters: Readonly<Counters>
  /** Letters that were set aside. */
  readonly dead: number
}

type Metric = [name: string, kind: 'gauge' | 'counter', help: string, of: keyof QueueFigures]

const OF_PEERS: readonly Metric[] = [
  ['waiting', 'gauge', 'Letters to a peer that wait for an ack', 'waiting'],
  ['waiting_bytes', 'gauge', 'Bytes of these', 'bytes'],
  ['posted_total', 'counter', 'Number of the last letter to a peer', 'posted'],
  ['acked_total', 'counter', 'Number of the last of them that took effect there', 'acked'],
  ['heard_total', 'counter', 'Number of the last letter of a peer that took effect', 'heard'],
  ['connected', 'gauge', 'Whether a connection to a peer stands', 'connected'],
  ['fault', 'gauge', 'Whether histories do not fit, so that letters rest', 'fault'],
]

/** The figures in the text format of Prometheus. */
export function metricsOf({ id, queues, counters, dead }: MailFigures): string {
  const shown = mostWaiting(queues)
  const lines: string[] = []
  const begin = (name: string, kind: string, help: string): void => {
    lines.push(
      `# HELP holdfast_mailbox_${name} ${help}.`,
      `# TYPE holdfast_mailbox_${name} ${kind}`,
    )
  }
  for (const [name, kind, help, of] of OF_PEERS) {
    begin(name, kind, help)
    for (const queue of shown) {
      const labels = `box=${quoted(id)},peer=${quoted(queue.peer)}`
      lines.push(`holdfast_mailbox_${name}{${labels}} ${numberOf(queue[of])}`)
    }
  }
  begin('peers', 'gauge', 'Peers that letters were exchanged with')
  lines.push(`holdfast_mailbox_peers{box=${quoted(id)}} ${queues.length}`)
  begin('dead', 'gauge', 'Letters that were set aside')
  lines.push(`holdfast_mailbox_dead{box=${quoted(id)}} ${dead}`)
  begin('refused_total', 'counter', 'What was refused since the mailbox was opened')
  for (const [why, count] of Object.entries(counters)) {
    lines.push(`holdfast_mailbox_refused_total{box=${quoted(id)},why=${quoted(why)}} ${count}`)
  }
  return `${lines.join('\n')}\n`
}

/** The figures as they are shown to who inspects an open mailbox. */
export function published(figures: MailFigures): string {
  const queues = mostWaiting(figures.queues)
  return JSON.stringify({ ...figures, queues, peers: figures.queues.length })
}

function mostWaiting(queues: readonly QueueFigures[]): readonly QueueFigures[] {
  if (queues.length <= PEERS_SHOWN) return queues
  return queues.toSorted((a, b) => b.waiting - a.waiting).slice(0, PEERS_SHOWN)
}

function numberOf(value: QueueFigures[keyof QueueFigures]): number {
  return typeof value === 'number' ? value : Number(value !== null && value !== false)
}

function quoted(text: string): string {
  const escaped = text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
  return `"${escaped}"`
}
