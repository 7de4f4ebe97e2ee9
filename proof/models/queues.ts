/**
 * Queues as numbers: what is under way on a link is kept once, and what it is with one more behind
 * or one less in front is looked up.
 */

import * as pairs from '../../packages/sim/src/checker/pairs.ts'

/** All contents that some queue has had. */
export interface Queues {
  /** By the number of a queue, oldest first; numbers as the model has them. */
  readonly items: (readonly number[])[]
  /** By the number of a queue: that without its first, or -1 if nobody has asked. */
  readonly rests: number[]
  readonly longer: pairs.Pairs
}

/** The number of the queue with nothing in it. */
export const EMPTY = 0

/** The empty queue alone. */
export function create(): Queues {
  return { items: [[]], rests: [-1], longer: pairs.create() }
}

/** The queue with one more behind. */
export function push(queues: Queues, queue: number, item: number): number {
  const known = pairs.find(queues.longer, queue, item)
  if (known >= 0) return known
  const { items, rests } = queues
  rests.push(-1)
  return pairs.keep(queues.longer, queue, item, items.push([...items[queue]!, item]) - 1)
}

/** What is in front of a queue that is not empty. */
export function first(queues: Queues, queue: number): number {
  return queues.items[queue]![0]!
}

/** What is behind in a queue, or -1. */
export function last(queues: Queues, queue: number): number {
  return queues.items[queue]!.at(-1) ?? -1
}

/** A queue that is not empty, with one less in front. */
export function rest(queues: Queues, queue: number): number {
  const known = queues.rests[queue]!
  if (known >= 0) return known
  const behind = queues.items[queue]!.slice(1)
  const found = behind.reduce((shorter, item) => push(queues, shorter, item), EMPTY)
  queues.rests[queue] = found
  return found
}
