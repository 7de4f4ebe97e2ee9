/** Those about whom the application is asked before they come in; see consulting.ts. */

import type { ToHub } from '../../../holdfast/src/hub-protocol/messages.ts'
import type { Claims } from '../../../holdfast/src/hub-protocol/tickets.ts'

/** Who wants in, as the application is told. */
export interface Applicant {
  readonly game: string
  readonly room: string
  /** The public key of the player, in hexadecimal digits. It is proved to the primary, not here. */
  readonly key: string
  /** See RIGHTS. */
  readonly rights: number
  /** Of the ticket or the invitation by which they come; empty for none. */
  readonly ticket: string
  /** The address of the stream, as limits count it: an IPv4 address, or 64 bits of IPv6. */
  readonly address: string
  /** Whether they would open the room. */
  readonly founding: boolean
}

/** A question that is open. */
export interface Consulting {
  message: ToHub & { kind: 'add' }
  readonly claims: Claims | string | null
}
