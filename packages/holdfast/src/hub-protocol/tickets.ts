/** Tickets and invitations: what lets a player in, and who came in by one. */

import { KEY_BYTES } from '../ports.ts'
import { fixed, record, text, u8, type ValueOf } from '../wire/layout.ts'

/** Longest id of a ticket, in bytes. */
export const TICKET_ID_MAX = 64
/** Most players of a session that came in by tickets. */
export const ENTRANTS_MAX = 1_024
/** How an invitation begins where tickets are shown. */
export const INVITATION = 'invite.'
/** Bytes of its secret. */
export const SECRET_BYTES = 32
/** Most players that come in by one. */
export const INVITED_MAX = 256

/** What a ticket says whose signature and time are right. */
export interface Claims {
  /** Where it lets in; `room` null for all rooms of the game. */
  game: string
  room: string | null
  /** The only player that it is for; null for whoever has it. */
  key: Uint8Array | null
  /** See RIGHTS. */
  rights: number
  /** Of this ticket alone. */
  id: string
  /** How many players come in by it. */
  uses: number
}

/** Layout of an Entrant. */
export const entrant = record({
  /** Of the ticket. */
  id: text(TICKET_ID_MAX),
  key: fixed(KEY_BYTES),
  rights: u8,
})
/** A player that came in by a ticket, and comes back by its key. */
export type Entrant = ValueOf<typeof entrant>
