/** What processes with mailboxes that are killed are told, and what they tell. */

import type { Books } from './money.ts'

/** Who takes part. b listens, a and c dial it; a dials c over the session. */
export const IDS = ['a', 'b', 'c'] as const
/** A mailbox of the three. */
export type Id = (typeof IDS)[number]

/** What a life is told. */
export type ToLife =
  | { begin: Id; store: string; port: number; hub: string }
  | { keep: string }
  /** Joins the session. */
  | { join: true }
  /** Pays each of the others so many times. */
  | { pay: number }
  /** Tells its books, once it owes nothing. */
  | { ask: true }

/** What a life tells, a field each. */
export interface FromLife {
  loaded: true
  /** Payments to others that it opened with, by their ids. */
  open: Record<string, number>
  repaired: string | null
  joined: true
  /** Whether the session has a backup now. */
  safe: boolean
  /** A payment to that one is durable, of that number. */
  paid: [to: string, n: number]
  /** The store refused a payment, and why. */
  refused: string
  /** A letter of that one was handled. */
  took: string
  /** Another took something; said after `ask`. */
  acked: true
  books: Books
}
