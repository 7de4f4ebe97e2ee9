/**
 * Mailboxes: durable letters that survive crashes and take effect exactly once (seed 003,
 * Waterken).
 *
 * The path of a letter: `post` gives it the next number of its pair and records it. Once it is
 * durable, `pump` sends it in a batch. The other side (`receive`) accepts letters in order, stops
 * at a gap, and drops duplicates. `next` passes a letter to the handler. The handler's effects, the
 * letters that it posts and the letter's number (`done`) become durable in one transaction. The
 * number returns as an ack, in the next batch or alone, and removes the letter from the outbox.
 * Until then each new connection resends it, and the durable number makes that idempotent.
 *
 *     crash before the transaction     nothing was sent: the letter is handled again
 *     after it, before sending         the outbox still has it
 *     at the receiver before           no ack was sent: the sender resends
 *     after it, before the ack         the resent letter has a known number: a duplicate
 *
 * No volatile state decides whether a letter takes effect. The original filtered duplicates in
 * memory, which told replicas apart by when they had been restarted: a bug (S15, S22).
 */

export { adopt, type Adopted, forget, lettersAbove, type Range } from './adopt.ts'
export { done, failed, next, postpone, receive, setAside, waitAfter } from './inbox.ts'
export { add, fault, hasRoom, post, sizeOf } from './outbox.ts'
export { batchFor, connected, deadline, disconnected, pump } from './pump.ts'
export { create, emptyInbox, LIMITS, peerOf, rewind, settle, waits } from './state.ts'
export * as pins from './pins.ts'
export type { Counters, Limits, Listed, Mailbox, MailEvent, MailOut } from './state.ts'
export type { OnPoison, Policy } from './state.ts'
export type { MailMessage } from './messages.ts'
