/**
 * What the founder of a session set for all, and whom a member believes of it: its primary, and not
 * the hub. Where the room has a key, the primary must show that it has it (room-key.ts).
 */

import type { FromHub } from '../hub-protocol/messages.ts'
import type { View } from '../session/messages.ts'
import { nameOf } from '../seal/seal.ts'
import { settingsOf } from '../session/output.ts'
import { sameBytes } from '../wire/digest.ts'
import { fits, isSealed, proofOf } from './room-key.ts'
import type { Runtime } from './state.ts'

/** The hub says in what session we are. */
export function told(
  { member: { session, wish } }: Runtime,
  { created, opened, entry }: Pick<FromHub & { kind: 'added' }, 'created' | 'opened' | 'entry'>,
): void {
  // Who founds a room with a key knows what it set.
  const isOwn = wish.roomKey !== null && created && !opened
  const { terms, topology, playersMax } = isOwn ? wish : entry
  Object.assign(session, { terms, topology, playersMax })
}

/** We found or open the session. */
export function found(run: Runtime): void {
  const { session, wish } = run.member
  session.keeps = mayKeep(run)
  if (wish.roomKey) session.proof = proofBy(run, wish.roomKey, run.member.linkKey.point!)
}

/** Somebody else leads, as the first that we hear of or the next. */
export function follow(run: Runtime, view: View, before: View | null): void {
  const { session, wish, linkKey } = run.member
  if (view.primary === session.me || view.primary === before?.primary) return
  // Also of one that does not show the key: the hub's word would go on to whoever follows us.
  if (before === null) Object.assign(session, view.settings)
  const { roomKey } = wish
  session.keeps &&= mayKeep(run) && (!roomKey || isShown(run, roomKey, view))
  if (roomKey && session.keeps) session.proof = proofBy(run, roomKey, linkKey.point!)
}

// Who has a key keeps nothing that is not sealed with it.
function mayKeep(run: Runtime): boolean {
  const { ports, member } = run
  const { terms } = member.session
  const { roomKey } = member.wish
  return fits(ports.ciphers, roomKey, terms) && (!roomKey || isSealed(terms))
}

function proofBy({ member, ports }: Runtime, key: Uint8Array, link: Uint8Array): Uint8Array {
  const { session } = member
  return proofOf(ports.ciphers, key, { session: session.id, link, settings: settingsOf(session) })
}

// By the key of the link that it speaks on: what the view says of it may be another's.
function isShown({ member, ports }: Runtime, key: Uint8Array, view: View): boolean {
  const { entrance, peers, session } = member
  const peer = entrance ?? peers.get(view.primary)
  const link = view.members.find(({ inc }) => inc === view.primary)?.link
  if (!view.proof || !link || peer?.key !== nameOf(link)) return false
  const of = { session: session.id, link, settings: view.settings }
  return sameBytes(view.proof, proofOf(ports.ciphers, key, of))
}
