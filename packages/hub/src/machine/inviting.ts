/**
 * Rooms by invitation (SE-18): whoever plays in one makes invitations, and nobody else comes in.
 *
 * Who invites draws a secret and tells the hub its digest alone; the secret travels in the fragment
 * of a link, which browsers tell no server. Whoever shows it comes in by it as by a ticket: once,
 * or for as many players as it says. The terms of a session say that it is such a room, so the hub
 * reads this much of them. An invitation is good for as long as its session is.
 */

import { mayPlay, RIGHTS, termsSay } from '../../../holdfast/src/machine.ts'
import { digest, sameBytes } from '../../../holdfast/src/wire/digest.ts'
import { fromHex, toHex } from '../../../holdfast/src/wire/bytes.ts'
import type { ToHub } from '../../../holdfast/src/hub-protocol/messages.ts'
import { type Invitation, INVITATIONS_MAX } from './records.ts'
import {
  INVITATION,
  INVITED_MAX,
  SECRET_BYTES,
} from '../../../holdfast/src/hub-protocol/tickets.ts'
import type { Row } from './register.ts'
import { rightsOf } from './rights.ts'
import type { Hub } from './state.ts'
import { isClosed } from './state.ts'

type Invite = ToHub & { kind: 'invite' }

/** Whether nobody comes into a session without an invitation. @param terms  of the session */
export function isByInvitation(terms: string): boolean {
  return termsSay(terms, 'entry', 'invite')
}

/** Which of its players one invitation let in, as their entrants name it. */
export function idOf({ digest: of }: Pick<Invitation, 'digest'>): string {
  return `${INVITATION}${toHex(of)}`
}

/** The invitation that a process shows; null if it is none of that session. */
export function shown(
  { invitations }: Pick<Row, 'invitations'>,
  ticket: string,
): Invitation | null {
  if (!ticket.startsWith(INVITATION)) return null
  const secret = fromHex(ticket.slice(INVITATION.length), SECRET_BYTES)
  if (!secret) return null
  const of = digest(secret)
  return invitations.find((one) => sameBytes(one.digest, of)) ?? null
}

/** Whether as many came in by it as may. */
export function isSpent({ entrants }: Pick<Row, 'entrants'>, one: Invitation): boolean {
  const id = idOf(one)
  return entrants.filter((entrant) => entrant.id === id).length >= one.uses
}

/**
 * A member asks that its invitation counts.
 *
 * @param row  of the session that its stream speaks in
 * @returns what became of it; `waits` until the disk has it
 */
export function invite(
  { tickets }: Pick<Hub, 'tickets'>,
  row: Row | null,
  inc: number,
  wish: Invite,
): 'done' | 'waits' | { why: string } {
  const known = row?.invitations.find((one) => sameBytes(one.digest, wish.digest))
  if (row && known) return row.unkept.includes(known) ? 'waits' : 'done'
  if (!row) return { why: 'you are in no room' }
  const why = isClosed(tickets, row.entry.game)
    ? `rooms of ${row.entry.game} take tickets alone`
    : refusalOf(row, inc, wish)
  if (why !== '') return { why }
  const { digest: of, uses, rights } = wish
  const made = { digest: of, uses, rights }
  row.invitations = [...row.invitations.filter((one) => !isSpent(row, one)), made]
  row.unkept.push(made)
  return 'waits'
}

function refusalOf(row: Row, inc: number, { uses, rights }: Invite): string {
  const self = row.members.find((member) => member.inc === inc)
  if (!self) return 'you are in no room'
  if (!isByInvitation(row.entry.terms)) return 'whoever has the name of this room comes in'
  if (!mayPlay(rightsOf(row, self.key))) return 'who watches invites nobody'
  if (uses < 1 || uses > INVITED_MAX) return `an invitation is for 1 to ${INVITED_MAX}: ${uses}`
  if (rights !== RIGHTS.play && rights !== RIGHTS.watch) return 'one is invited to play or to watch'
  const open = row.invitations.filter((one) => !isSpent(row, one)).length
  return open < INVITATIONS_MAX ? '' : `${INVITATIONS_MAX} invitations of this room are open`
}
