/**
 * The timeline: future events in order of virtual time, in a binary heap.
 *
 * Simultaneous entries run in the order in which they were added, so a run depends only on its seed
 * and its calls.
 */

import type { Millis } from '../../holdfast/src/machine.ts'

/** One future event. `at` and `order` belong to the timeline while the entry is in it. */
export interface Entry {
  at: Millis
  order: number
  /** The machine whose loop runs the entry; null for the simulation itself. */
  readonly owner: Owner | null
  /** The owner's life in which the entry runs; ANY_LIFE where the operating system acts. */
  readonly life: number
  readonly kind: 'alarm' | 'datagram' | 'other'
  readonly run: (entry: Entry) => void
  /** Whether it was due while its owner's loop stalled. */
  late: boolean
}

/** The part of a machine that the timeline reads. */
export interface Owner {
  /** Rises with each crash. */
  life: number
}

/** The life of an entry that runs in every life. */
export const ANY_LIFE = -1

export interface Timeline {
  now: Millis
  readonly heap: Entry[]
  lastOrder: number
}

export function create(): Timeline {
  return { now: 0, heap: [], lastOrder: 0 }
}

/** Adds a new entry. @param at  an earlier time means now */
export function add(
  timeline: Timeline,
  at: Millis,
  run: (entry: Entry) => void,
  owner: Owner | null = null,
  life: number = owner ? owner.life : ANY_LIFE,
  kind: Entry['kind'] = 'other',
): Entry {
  const instant = Math.max(at, timeline.now)
  const order = ++timeline.lastOrder
  const entry: Entry = { at: instant, order, owner, life, kind, run, late: false }
  insert(timeline, entry)
  return entry
}

/** Puts back an entry that was taken out, for a later instant. */
export function insert(timeline: Timeline, entry: Entry): void {
  const { heap } = timeline
  let place = heap.length
  while (place > 0) {
    const above = (place - 1) >> 1
    if (!before(entry, heap[above]!)) break
    heap[place] = heap[above]!
    place = above
  }
  heap[place] = entry
}

/** Takes out the first entry, if it is due by `until`, and moves the clock to it. */
export function take(timeline: Timeline, until: Millis): Entry | null {
  const { heap } = timeline
  const first = heap[0]
  if (!first || first.at > until) return null
  const last = heap.pop()!
  if (heap.length > 0) sink(heap, last)
  timeline.now = first.at
  return first
}

function sink(heap: Entry[], entry: Entry): void {
  const { length } = heap
  let place = 0
  for (;;) {
    let below = place * 2 + 1
    if (below >= length) break
    if (below + 1 < length && before(heap[below + 1]!, heap[below]!)) below++
    if (!before(heap[below]!, entry)) break
    heap[place] = heap[below]!
    place = below
  }
  heap[place] = entry
}

function before(one: Entry, two: Entry): boolean {
  return one.at < two.at || (one.at === two.at && one.order < two.order)
}
