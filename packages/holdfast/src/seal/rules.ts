/** The decisions on which the claims of sealing rest; models inject bugs here. */

import { rulesOf } from '../machine.ts'
import { isRelayed } from '../wire/relay.ts'
import { prologueOf } from './messages.ts'
import * as windows from './window.ts'

/** The decisions. */
export interface SealRules {
  /** The prologue, which both ends must share; our view is of version `mv`. */
  prologue(session: string, mv: number): Uint8Array
  /** Whether a packet that opens is surely no replay. */
  isNew(window: windows.Window, counter: number, size: number): boolean
  /** Whether a responder's link is up by the handshake, or by a sealed packet. */
  stands(by: 'handshake' | 'packet'): boolean
  /** Whether a message 1 with that counter may be answered. */
  isNewer(counter: number, heard: number): boolean
  /** Whether a peer's address changes, by a sealed packet or by the answer to a challenge. */
  moves(by: 'packet' | 'answer'): boolean
  /** Whether an address needs no validation. */
  isSure(address: string): boolean
  /** Whether our handshake wins over one that crosses it. */
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
