/**
 * A link of the objects' model as one number: whether it is open, the queue of what is under way
 * on it, and how many messages have come that told something, of which their sender does not know.
 */

const ACK_BITS = 6
/** More than are ever unknown at once. */
const ACKS = 1 << ACK_BITS
/** One that is open, with nothing under way. */
export const OPEN = ACKS
/** One that is not open, and nothing is unknown. */
export const CLOSED = 0

/** Whether it is open. */
export function isOpen(link: number): boolean {
  return link >= OPEN
}

/** Whether something is under way. */
export function isBusy(link: number): boolean {
  return link >= OPEN + ACKS
}

/** How many messages have come, and their sender does not know. */
export function acksOf(link: number): number {
  return link & (ACKS - 1)
}

/** With that many. */
export function withAcks(link: number, count: number): number {
  if (count >= ACKS) throw new RangeError(`${count} acks are under way on one link`)
  return (link & -ACKS) | count
}

/** What is under way of one that is open (queues.ts). */
export function queueOf(link: number): number {
  return (link >> ACK_BITS) - 1
}

/** One that is open, with another queue under way. */
export function withQueue(link: number, queue: number): number {
  return ((queue + 1) << ACK_BITS) | acksOf(link)
}

/** What is under way is lost, and nothing more goes; what has come has come. */
export function cut(link: number): number {
  return acksOf(link)
}
