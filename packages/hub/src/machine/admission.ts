/**
 * Who comes into a session, and what they may do there. In rooms of an open game whoever asks may
 * play; what else somebody may, and whether they come into a closed room, a ticket says. The hub
 * signs what it has decided to the key of the player and to that of its links, and members believe
 * nothing else.
 */

import { RIGHTS } from '../../../holdfast/src/machine.ts'
import { sameBytes } from '../../../holdfast/src/wire/digest.ts'
import {
  type Admission,
  admissionOf,
  NOT_ADMITTED,
  type ToHub,
} from '../../../holdfast/src/hub-protocol/messages.ts'
import { type Kept } from './records.ts'
import { type Claims, ENTRANTS_MAX } from '../../../holdfast/src/hub-protocol/tickets.ts'
import type { Row } from './register.ts'
import { entrantOf, rightsOf } from './rights.ts'
import type { Hub, HubOut } from './state.ts'
import { idOf, isByInvitation, isSpent, shown } from './inviting.ts'
import { isClosed } from './state.ts'

type Add = ToHub & { kind: 'add' }
/** What a process may do, or why it may not come in. */
export type Verdict = Entrance | { refused: string }
/** With which rights, and by which ticket; '' for none. */
export interface Entrance {
  readonly rights: number
  readonly id: string
}

// As what the founder of a room by invitation is kept.
const FOUNDER = 'founder'

/** Decides. @param claims  of the ticket that was shown; or why it is none; null without one */
export function decide(
  hub: Hub,
  row: Kept | null,
  wish: Add,
  claims: Claims | string | null,
): Verdict {
  // Who came in once comes back by its key, whatever has become of its ticket.
  const known = row && entrantOf(row.entrants, wish.key)
  if (known) return known
  if (typeof claims === 'string') return { refused: claims }
  if (claims) return byTicket(row, wish, claims)
  if (isClosed(hub.tickets, wish.game)) return { refused: `rooms of ${wish.game} take a ticket` }
  return byInvitation(row, wish)
}

function byTicket(row: Kept | null, wish: Add, claims: Claims): Verdict {
  const { game, room, key, rights, id, uses } = claims
  if (game !== wish.game || (room !== null && room !== wish.room)) {
    return { refused: `the ticket is for ${game}${room === null ? '' : `/${room}`}` }
  }
  if (key && !sameBytes(key, wish.key)) return { refused: 'the ticket is for another player' }
  const entrants = row?.entrants ?? []
  if (!key && entrants.filter((other) => other.id === id).length >= uses) {
    return { refused: uses === 1 ? 'the ticket was used' : `the ticket was used ${uses} times` }
  }
  if (entrants.length >= ENTRANTS_MAX) return { refused: `${ENTRANTS_MAX} tickets were used here` }
  return { rights, id }
}

// Who opens a room comes in by none, and is kept as if it had, to come back by its key.
function byInvitation(row: Kept | null, { terms, ticket }: Add): Verdict {
  if (!row && ticket !== '') return { refused: 'the room that this invitation is for is over' }
  if (!row) return { rights: RIGHTS.play, id: isByInvitation(terms) ? FOUNDER : '' }
  if (!isByInvitation(row.entry.terms)) return { rights: RIGHTS.play, id: '' }
  const found = shown(row, ticket)
  if (!found)
    return { refused: ticket === '' ? 'this room is by invitation' : 'no such invitation' }
  if (isSpent(row, found)) return { refused: 'the invitation was used' }
  return { rights: found.rights, id: idOf(found) }
}

/** A player comes in with these rights. Who has them by a ticket keeps them, on disk too. */
export function enroll(row: Row, key: Uint8Array, { rights, id }: Entrance): void {
  if (id === '' || entrantOf(row.entrants, key)) return
  const entrant = { id, key, rights }
  row.entrants.push(entrant)
  row.unkept.push(entrant)
}

/** Whether the disk has yet to take that a player came in by a ticket: until then it waits. */
export function mustWait({ entrants, unkept }: Row, key: Uint8Array): boolean {
  const entrant = entrantOf(entrants, key)
  return entrant !== undefined && unkept.includes(entrant)
}

/** What the hub says to a process of what it may do. */
export function admissionFor(
  row: Row,
  { key, link }: Pick<Add, 'key' | 'link'>,
  out: HubOut,
): Admission {
  const given = rightsOf(row, key)
  const { session } = row.entry
  return { rights: given, signature: out.sign(admissionOf({ session, link, key, rights: given })) }
}

/** How a refusal is said. */
export function reasonOf(why: string): string {
  return `${NOT_ADMITTED}${why}`
}
