/**
 * Mailboxes: durable letters that survive crashes, each of which takes effect exactly once (seed
 * 003, Waterken).
 *
 * The path of a letter: `post` gives it the next number of its pair and records it; once it is
 * durable, `pump` sends it, with others, in a batch. The other side takes from a batch the letters
 * that follow on those it has (`hear`), stops at a gap, and drops letters that it has had. `next`
 * gives the handler its turn; the handler's effects, the letters that it posted and the letter's
 * number (`done`) become durable in one transaction, so either all of it happened or none. The
 * number goes back as an ack in the next batch, or alone. The ack takes the letter out of the
 * outbox. Until then it is sent again on each new connection, and repetitions do no harm, for the
 * number is durable.
 *
 *     crash before the transaction     nothing was sent: the letter is handled again
 *     after it, before sending         the outbox still has it
 *     at the receiver before           no ack was sent: the sender repeats
 *     after it, before the ack         the repeated letter has a number that is known
 *
 * No state that is lost with the process decides whether a letter takes effect: a filter in memory
 * was the bug of the original, which distinguished replicas by when they had been restarted (S15,
 * S22).
 */

export { adopt, type Adopted, forget, lettersAbove, type Range } from './adopt.ts'
export { done, failed, receive as hear, next, postpone, setAside, waitAfter } from './inbox.ts'
export { add, fault, hasRoom, post, sizeOf } from './outbox.ts'
export { batchFor, connected, deadline, disconnected, pump } from './pump.ts'
export { create, emptyInbox, LIMITS, peerOf, rewind, settle, waits } from './state.ts'
export * as pins from './pins.ts'
export type { Counters, Limits, Listed, Mailbox, MailEvent, MailOut } from './state.ts'
export type { OnPoison, Policy } from './state.ts'
export type { MailMessage } from './messages.ts'
