/** The decisions on which the claims of sealing rest; models inject bugs here. */

import { rulesOf } from '../machine.ts'
import { isRelayed } from '../wire/relay.ts'
import { prologueOf } from './messages.ts'

export interface SealRules {
  /** The prologue, which both ends must share; our view is of version `mv`. */
  prologue(session: string, mv: number): Uint8Array
  /** Whether a packet that opens is surely no replay. */
  isNew(window: Window, counter: number, size: number): boolean
  /** Whether a responder's link is up by the handshake, or by a sealed packet. */
  stands(by: 'handshake' | 'packet'): boolean
  /** Whether a message 1 with that counter may be answered. */
  isNewer(counter: number, newest: number): boolean
  /** Whether a peer's address changes, by a sealed packet or by the answer to a challenge. */
  moves(by: 'packet' | 'answer'): boolean
  /** Whether an address needs no validation. */
  isSure(address: string): boolean
  /** Whether our handshake wins over one that crosses it. */
  oursStands(ours: string, theirs: string): boolean
}

export const RULES: SealRules = rulesOf<SealRules>({
  // Members of different views must be able to speak.
  prologue: (session) => prologueOf(session),
  isNew: isNew,
  stands: (by) => by === 'packet',
  isNewer: (counter, newest) => counter > newest,
  moves: (by) => by === 'answer',
  isSure: isRelayed,
  oursStands: (ours, theirs) => ours < theirs,
})

// The replay window: a ring of bits behind the newest number.

/** The packets received under one key. */
export interface Window {
  /** -1 before the first. */
  newest: number
  /** Bit n % size, for each number above newest - size. */
  readonly seen: Uint32Array
}

/** An empty window. @param size  how many numbers are remembered */
export function createWindow(size: number): Window {
  return { newest: -1, seen: new Uint32Array(Math.ceil(size / 32)) }
}

/** Whether a number is surely new: one that is too far behind may not be. */
export function isNew({ newest, seen }: Window, counter: number, size: number): boolean {
  if (counter > newest) return true
  if (counter <= newest - size) return false
  const bit = counter % size
  return (seen[bit >>> 5]! & (1 << (bit & 31))) === 0
}

/** Marks the number of an authentic packet. */
export function mark(window: Window, counter: number, size: number): void {
  const { newest, seen } = window
  if (counter - newest >= size) seen.fill(0)
  else for (let n = newest + 1; n < counter; n++) clear(seen, n % size)
  const bit = counter % size
  seen[bit >>> 5]! |= 1 << (bit & 31)
  if (counter > newest) window.newest = counter
}

function clear(seen: Uint32Array, bit: number): void {
  seen[bit >>> 5]! &= ~(1 << (bit & 31))
}
