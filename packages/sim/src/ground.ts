/**
 * The state that a whole simulation shares: its time, its random draws, its counters and its
 * transcript. The modules of the simulation (machines, paths, datagrams, streams) share it and know
 * nothing else of each other.
 */

import * as prng from '../../holdfast/src/faults/prng.ts'
import type { Prng } from '../../holdfast/src/faults/prng.ts'
import { FAULT_KINDS, type FaultKind } from './faults.ts'
import type { Millis } from '../../holdfast/src/machine.ts'
import * as timeline from './timeline.ts'
import type { Timeline } from './timeline.ts'

/** Counts of a simulation so far. */
export interface Counters {
  /** Events that ran: alarms, arrivals, and those of the simulation itself. */
  events: number
  /** Datagrams that were given to `send` and fit. */
  sent: number
  /** Copies of datagrams that reached a receiver. */
  received: number
  /** Datagrams that vanished by chance. */
  lost: number
  /** Second copies by chance. */
  duplicated: number
  /** Datagrams stopped by a partition, by deafness or at a dead machine. */
  blocked: number
  /** Datagrams at whose target nobody listened; the sender may be notified. */
  refused: number
  /** Datagrams above DATAGRAM_MAX: dropped. */
  oversize: number
  /** Datagrams dropped because DATAGRAMS_HELD_MAX waited at a stalled node. */
  overflowed: number
  /** Messages that a stream delivered. */
  messages: number
  /** Streams that ended otherwise than by `close`. */
  broken: number
  /** A fingerprint of all bytes that were sent, in their order. */
  print: number
  /** Faults carried out, by kind. */
  faults: Record<FaultKind, number>
}

interface Note {
  at: Millis
  who: string
  what: string | (() => string)
}

/** The shared state of one simulation. */
export interface Ground {
  readonly timeline: Timeline
  readonly seed: number | string
  /** Draws of the network alone: nodes have generators of their own. */
  readonly chance: Prng
  readonly counters: Counters
  readonly notes: Note[]
  readonly notesMax: number
  notesDropped: number
  /** Describes the content of bytes, for the transcript. */
  readonly describe: ((bytes: Uint8Array) => string) | null
}

/** A state in which nothing has happened. @param notesMax  lines of the transcript that are kept */
export function create(
  seed: number | string,
  notesMax: number,
  describe: ((bytes: Uint8Array) => string) | null,
): Ground {
  const faults = Object.fromEntries(FAULT_KINDS.map((kind) => [kind, 0]))
  return {
    timeline: timeline.create(),
    seed,
    chance: prng.fork(prng.create(seed), 'network'),
    counters: {
      events: 0,
      sent: 0,
      received: 0,
      lost: 0,
      duplicated: 0,
      blocked: 0,
      refused: 0,
      oversize: 0,
      overflowed: 0,
      messages: 0,
      broken: 0,
      print: 0,
      faults: faults as Record<FaultKind, number>,
    },
    notes: [],
    notesMax,
    notesDropped: 0,
    describe,
  }
}

/** Bytes leave: they go into the fingerprint of all, which is FNV-1a of 32 bits. */
export function sent({ counters }: Ground, bytes: Uint8Array): void {
  let { print } = counters
  for (let at = 0; at < bytes.length; at++) print = Math.imul(print ^ bytes[at]!, 0x01000193)
  counters.print = (print + bytes.length) | 0
}

/** Adds a line to the transcript; a function is called for its text only if lines are kept. */
export function note(ground: Ground, who: string, what: string | (() => string)): void {
  const { notes, notesMax } = ground
  if (notesMax === 0) return
  notes.push({ at: ground.timeline.now, who, what })
  if (notes.length < notesMax * 2) return
  // Lines are removed many at a time, or each new line would move all the others.
  notes.splice(0, notesMax)
  ground.notesDropped += notesMax
}

/** The last lines of the transcript: time in milliseconds, who, what. */
export function transcript(ground: Ground): string[] {
  const kept = ground.notes.slice(-ground.notesMax)
  const dropped = ground.notesDropped + ground.notes.length - kept.length
  const lines = kept.map(({ at, who, what }) => {
    const words = typeof what === 'string' ? what : what()
    return `${at.toFixed(3).padStart(12)}  ${who.padEnd(8)}  ${words}`
  })
  return dropped > 0 ? [`(${dropped} lines before)`, ...lines] : lines
}

/** Describes bytes for the transcript; empty where no lines are kept. */
export function content(ground: Ground, bytes: Uint8Array): string {
  if (ground.notesMax === 0) return ''
  return ground.describe ? `${bytes.length} B ${ground.describe(bytes)}` : `${bytes.length} B`
}
