/** What a directory keeps of a takeover that was asked for, until it is decided. */

import type { Millis } from '../../../holdfast/src/machine.ts'
import type { ToHub } from '../../../holdfast/src/hub-protocol/messages.ts'

/** A takeover about which the primary is being asked. */
export interface Challenge {
  nonce: number
  askedAt: Millis
  /** Without an answer until then the compare-and-set is made. */
  until: Millis
  /** The stream that asked for it, and its newest request. */
  connection: number
  demand: ToHub & { kind: 'change' }
}

/** A primary's answer that it lives. */
export interface Veto {
  epoch: number
  at: Millis
  /** Since when the backup was sent no datagram of the primary; Infinity once it was. */
  unproved: Millis
}
