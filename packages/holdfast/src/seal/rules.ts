/** The decisions on which the claims of sealing rest; proofs pass twisted ones. */

import { rulesOf } from '../machine.ts'
import { isRelayed } from '../wire/relay.ts'
import { prologueOf } from './messages.ts'
import * as windows from './window.ts'

/** The decisions. */
export interface SealRules {
  /** What both ends must agree on, or no handshake of theirs opens; our view is of version `mv`. */
  prologue(session: string, mv: number): Uint8Array
  /** Whether a packet that opens surely did not come before. */
  isNew(window: windows.Window, counter: number, size: number): boolean
  /** Whether a link of the one that was asked stands: by its handshake, or by a sealed packet. */
  stands(by: 'handshake' | 'packet'): boolean
  /** Whether a message 1 of that counter may be answered. */
  isNewer(counter: number, heard: number): boolean
  /** Whether a peer's address changes, by a sealed packet or by the answer to a challenge. */
  moves(by: 'packet' | 'answer'): boolean
  /** Whether an address needs not show itself. */
  isSure(address: string): boolean
  /** Of two handshakes that cross, whether ours stands. */
  oursStands(ours: string, theirs: string): boolean
}

/** The rules of every real session. */
export const RULES: SealRules = rulesOf<SealRules>({
  // Members of different views must be able to speak.
  prologue: (session) => prologueOf(session),
  isNew: windows.isNew,
  stands: (by) => by === 'packet',
  isNewer: (counter, heard) => counter > heard,
  moves: (by) => by === 'answer',
  isSure: isRelayed,
  oursStands: (ours, theirs) => ours < theirs,
})
