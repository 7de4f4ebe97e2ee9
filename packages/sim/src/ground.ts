/**
 * The state shared by a simulation: time, random draws, counters and transcript. Its modules
 * (machines, paths, datagrams, streams) share this and know nothing else of each other.
 */

import * as prng from '../../holdfast/src/faults/prng.ts'
import { FAULT_KINDS, type FaultKind } from './faults.ts'
import type { Millis } from '../../holdfast/src/machine.ts'
import * as timeline from './timeline.ts'

export interface Note {
  at: Millis
  who: string
  what: string | (() => string)
}

function noCounts() {
  const faults = Object.fromEntries(FAULT_KINDS.map((kind) => [kind, 0]))
  return {
    /** Events that ran: alarms, arrivals, and the simulation's own. */
    events: 0,
    sent: 0,
    /** Copies of datagrams that reached a receiver. */
    received: 0,
    lost: 0,
    duplicated: 0,
    /** Datagrams stopped by a partition, by deafness or at a dead machine. */
    blocked: 0,
    /** Datagrams to an address where nobody listened; the sender may be notified. */
    refused: 0,
    /** Datagrams above DATAGRAM_MAX: dropped. */
    oversize: 0,
    /** Datagrams dropped because a stalled node already held DATAGRAMS_HELD_MAX. */
    overflowed: 0,
    messages: 0,
    broken: 0,
    /** A fingerprint of all bytes sent, in order. */
    print: 0,
    /** Faults carried out, by kind. */
    faults: faults as Record<FaultKind, number>,
  }
}

export type Counters = ReturnType<typeof noCounts>

/** The state of a new simulation. @param notesMax  lines of the transcript to keep */
export function create(
  seed: number | string,
  notesMax: number,
  describe: ((bytes: Uint8Array) => string) | null,
) {
  return {
    timeline: timeline.create(),
    seed,
    /** Random draws of the network only: nodes have their own generators. */
    chance: prng.fork(prng.create(seed), 'network'),
    counters: noCounts(),
    notes: [] as Note[],
    notesMax,
    notesDropped: 0,
    describe,
  }
}

export type Ground = ReturnType<typeof create>

/** Adds sent bytes to the fingerprint, a 32-bit FNV-1a. */
export function sent({ counters }: Ground, bytes: Uint8Array): void {
  let { print } = counters
  for (let at = 0; at < bytes.length; at++) print = Math.imul(print ^ bytes[at]!, 0x01000193)
  counters.print = (print + bytes.length) | 0
}

/** Adds a line to the transcript; a function is called for its text only if it is shown. */
export function note(ground: Ground, who: string, what: string | (() => string)): void {
  const { notes, notesMax } = ground
  if (notesMax === 0) return
  notes.push({ at: ground.timeline.now, who, what })
  if (notes.length < notesMax * 2) return
  // Lines are removed in batches, or each new line would move all others.
  notes.splice(0, notesMax)
  ground.notesDropped += notesMax
}

/** The last lines of the transcript: time in milliseconds, who, what. */
export function transcript(ground: Ground): string[] {
  const shown = ground.notes.slice(-ground.notesMax)
  const dropped = ground.notesDropped + ground.notes.length - shown.length
  const lines = shown.map(({ at, who, what }) => {
    const words = typeof what === 'string' ? what : what()
    return `${at.toFixed(3).padStart(12)}  ${who.padEnd(8)}  ${words}`
  })
  return dropped > 0 ? [`(${dropped} lines before)`, ...lines] : lines
}

/** Describes bytes for the transcript; empty where no lines are shown. */
export function content(ground: Ground, bytes: Uint8Array): string {
  if (ground.notesMax === 0) return ''
  return ground.describe ? `${bytes.length} B ${ground.describe(bytes)}` : `${bytes.length} B`
}
