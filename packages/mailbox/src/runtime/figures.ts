/** Figures of a mailbox: as Prometheus text, and as JSON for inspecting an open one. */

import type { Counters } from '../machine/mailbox.ts'
import type { QueueFigures } from './options.ts'
import { countsText, metricText } from '../../../holdfast/src/api/prometheus.ts'

/** Most peers shown, those with the most waiting letters. */
const PEERS_SHOWN = 100

export interface MailFigures {
  readonly id: string
  /** The public half of its key. */
  readonly key: string
  readonly queues: readonly QueueFigures[]
  readonly counters: Readonly<Counters>
  readonly dead: number
  /** Scheduled tasks: delayed letters, and dead letters that will expire. */
  readonly later: number
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
  ['stopped', 'gauge', 'Whether letters of a peer wait for a handler that fails', 'stopped'],
]

/** The figures in the Prometheus text format. */
export function metricsOf({ id, queues, counters, dead, later }: MailFigures): string {
  const box = { box: id }
  const one = (name: string, help: string, value: number): string =>
    metricText(`holdfast_mailbox_${name}`, 'gauge', help, [{ labels: box, value }])
  const refused = 'What was refused since the mailbox was opened'
  return [
    ...metricsOfPeers(id, mostWaiting(queues)),
    one('peers', 'Peers that letters were exchanged with', queues.length),
    one('dead', 'Letters that were set aside', dead),
    one('later', 'Letters that wait for their time', later),
    countsText('holdfast_mailbox_refused_total', refused, counters, box),
  ].join('')
}

function metricsOfPeers(id: string, queues: readonly QueueFigures[]): string[] {
  return OF_PEERS.map(([name, kind, help, of]) => {
    const samples = queues.map((queue) => {
      return { labels: { box: id, peer: queue.peer }, value: numberOf(queue[of]) }
    })
    return metricText(`holdfast_mailbox_${name}`, kind, help, samples)
  })
}

/** The figures as JSON, for a program that inspects an open mailbox. */
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
