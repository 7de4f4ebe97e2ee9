/**
 * What is told, and when: effects that reveal a durable change wait in the log until the
 * backup has it, then leave in the order they were written.
 *
 * How far the log is safe depends on the role alone: to its end while the primary is alone,
 * as far as the backup has acked it in every role that has, adds or drops a backup. Where the
 * session may be recovered without us, nothing leaves once our lease is over (lease.ts).
 */

import * as commit from '../replication/log.ts'
import { assert, type Millis, type PeerId } from '../machine.ts'
import { encode } from '../wire/layout.ts'
import * as leases from './lease.ts'
import { joinedLayout, type PeerMessage, type View } from './messages.ts'
import {
  type Beginning,
  type Effect,
  type Server,
  serves,
  type Session,
  type SessionOut,
} from './state.ts'
import { type Cause, type RoleAfter, roleAfter } from './table.ts'

/** With so many effects that wait for the backup, nothing is answered that would add to them. */
export const HELD_MAX = 32_768

/** An effect that leaves when all that was recorded before it is safe. */
export function hold(session: Session, now: Millis, effect: Effect, out: SessionOut): void {
  commit.hold(session.server.log, effect)
  releaseHeld(session, now, out)
}

/** Lets go what is safe by now. */
export function releaseHeld(session: Session, now: Millis, out: SessionOut): void {
  const { log } = session.server
  if (log.held.length === 0 || !mayTell(session, now)) return
  commit.release(log, safeLength(session), (effect) => leave(session, now, effect, out))
}

/** Whether nobody can have recovered the session without us. */
export function mayTell(session: Session, now: Millis): boolean {
  if (!('lead' in session.server)) return true
  const { lead, published } = session.server
  const { lease } = lead
  if (!lease.counts || now < lease.until) return true
  // Who they are is looked up only when it matters.
  const others = [...published.keys()].filter((inc) => inc !== session.me)
  return session.rules.mayTell(lease, now, others)
}

/** Lets go all of it: the next primary has the whole log. */
export function releaseAll(session: Session, now: Millis, out: SessionOut): void {
  const { log } = session.server
  commit.release(log, commit.lengthOf(log), (effect) => leave(session, now, effect, out))
}

function safeLength({ rules, server }: Session): number {
  return rules.safeLength(server.role, server.log)
}

/**
 * Takes the role that the table has for this cause, tells, and lets go what is safe in it.
 *
 * @param own  what the role begins with; what all have in common stays if it is not named
 */
export function become<On extends Cause>(
  session: Session,
  now: Millis,
  on: On,
  own: Beginning<RoleAfter<On>>,
  out: SessionOut,
): void {
  const { role: before, epoch, durable, log, publishedMv, published } = session.server
  const role = roleAfter(before, on)
  assert(role, `no role follows on ${before} when it ${on}`)
  session.server = { role, epoch, durable, log, publishedMv, published, ...own } as Server
  out.emit({ kind: 'role', role })
  if (serves(session)) releaseHeld(session, now, out)
}

function leave(session: Session, now: Millis, effect: Effect, out: SessionOut): void {
  switch (effect.kind) {
    case 'send':
      return out.send(effect.to, effect.message)
    case 'reply':
      return welcome(session, effect, out)
    case 'came':
    case 'went':
      return tellMembers(session, now, effect, out)
    case 'broadcast':
      return broadcast(session, effect.news, out)
    default:
      effect satisfies never
  }
}

// The same message to all who may see all of it, so that it is encoded once.
function broadcast(session: Session, news: PeerMessage & { kind: 'news' }, out: SessionOut): void {
  for (const { inc, player } of session.server.published.values()) {
    const bytes = out.parts.show(news.part, news.bytes, player)
    out.send(inc, bytes === news.bytes ? news : { ...news, bytes })
  }
}

// JOINED carries the view as it is when it leaves: since the asking more may have been told.
function welcome(session: Session, effect: Effect & { kind: 'reply' }, out: SessionOut): void {
  const { inc, player } = effect.member
  const blob = encode(joinedLayout, {
    kind: 'joined',
    inc,
    player,
    lastSeq: effect.lastSeq,
    view: viewOf(session),
  })
  out.hub({ kind: 'reply', session: session.id, to: effect.to, blob })
}

function tellMembers(
  session: Session,
  now: Millis,
  effect: Effect & { kind: 'came' | 'went' },
  out: SessionOut,
): void {
  const { server } = session
  const before = [...server.published.keys()]
  server.publishedMv++
  if (effect.kind === 'came') server.published.set(effect.member.inc, effect.member)
  else forget(server, now, effect.inc)
  const message: PeerMessage = {
    kind: 'change',
    epoch: server.epoch,
    mv: server.publishedMv,
    add: effect.kind === 'came' ? effect.member : null,
    remove: effect.kind === 'went' ? effect.inc : 0,
    why: effect.kind === 'went' ? effect.why : 'left',
  }
  for (const inc of before) out.send(inc, message)
  tellHub(session, out)
  if (effect.kind === 'came' && effect.member.inc === session.me) tellOne(session, session.me, out)
}

function forget(server: Server, now: Millis, inc: PeerId): void {
  server.published.delete(inc)
  if (!('lead' in server)) return
  leases.removed(server.lead.lease, now, inc)
  server.lead.refreshed.delete(inc)
}

/** The list of members to the hub, by which it knows who may attach and who may be backup. */
export function tellHub(session: Session, out: SessionOut): void {
  const members = [...session.server.published.values()].map((member) => ({
    inc: member.inc,
    player: member.player,
    hash: member.registerHash,
  }))
  out.hub({ kind: 'members', session: session.id, members })
}

/** What the members have been told, by the primary. */
export function viewOf(session: Session): View {
  const { server } = session
  const backup = server.role === 'backedup' || server.role === 'dropping' ? server.backup : 0
  const members = [...server.published.values()]
  return { epoch: server.epoch, mv: server.publishedMv, primary: session.me, backup, members }
}

/** The full view to one member. */
export function tellOne(session: Session, to: PeerId, out: SessionOut): void {
  out.send(to, { kind: 'view', view: viewOf(session) })
}

/** The full view to all: after a change of roles, and as TAKE_OVER (T41). */
export function tellView(session: Session, out: SessionOut): void {
  // The same message to all, so that it is encoded once.
  const message = { kind: 'view', view: viewOf(session) } as const
  for (const inc of session.server.published.keys()) out.send(inc, message)
}
