/**
 * Held output: effects that reveal a durable change wait in the log until the backup has it, and
 * then leave in order.
 *
 * The role decides up to where the log is safe: to its end while the primary is alone, up to the
 * backup's last ack while it has, adds or drops a backup. If the session may be recovered without
 * us, nothing leaves after our lease (lease.ts).
 */

import * as commit from '../replication/log.ts'
import { assert, mayPlay, type Millis, type PeerId } from '../machine.ts'
import * as leases from './lease.ts'
import type { PeerMessage, Settings, View, PeerMessageOf } from './messages.ts'
import {
  type Beginning,
  type Effect,
  type Server,
  serves,
  type Session,
  type SessionOut,
  type Attempt,
  is,
  nextRequest,
  type Turn,
} from './state.ts'
import { type Cause, type RoleAfter, roleAfter } from './role-table.ts'
import type { ChangeReason } from '../hub-protocol/messages.ts'
import { proofOf } from '../wire/digest.ts'

/** With this many held effects, requests that would add to them are not accepted. */
export const HELD_MAX = 32_768

/** Holds an effect until all entries recorded before it are safe. */
export function hold(turn: Turn, effect: Effect): void {
  const { session } = turn
  commit.hold(session.server.log, effect)
  releaseHeld(turn)
}

export function releaseHeld(turn: Turn): void {
  const { session, now } = turn
  const { rules, server } = session
  const { log } = server
  if (log.held.length === 0 || !mayPublish(session, now)) return
  release(turn, Math.min(rules.safeLength(server.role, log), rules.keptLength(session)))
}

function release(turn: Turn, upTo: number): void {
  const { session } = turn
  session.steps++
  commit.release(session.server.log, upTo, (effect) => leave(turn, effect))
  session.steps--
}

/** Whether we may publish: nobody can have recovered the session without us. */
export function mayPublish(session: Session, now: Millis): boolean {
  if (!('lead' in session.server)) return true
  const { lead, published } = session.server
  const { lease } = lead
  if (!lease.counts || now < lease.until) return true
  // The other members are looked up only when they matter.
  const others = [...published.keys()].filter((inc) => inc !== session.me)
  return session.rules.mayPublish(lease, now, others)
}

/** Releases all held effects: the next primary has the whole log. */
export function releaseAll(turn: Turn): void {
  const { session } = turn
  release(turn, commit.lengthOf(session.server.log))
}

/** Takes the next role by the table. @param own  its own state, and common fields that change */
export function become<On extends Cause>(turn: Turn, on: On, own: Beginning<RoleAfter<On>>): void {
  const { session, out } = turn
  const { role: before, epoch, durable, log } = session.server
  const { publishedMv, published, moderation } = session.server
  const role = roleAfter(before, on)
  assert(role, `no role follows on ${before} when it ${on}`)
  const common = { role, epoch, durable, log, publishedMv, published, moderation }
  session.steps++
  session.server = { ...common, ...own } as Server
  out.emit({ kind: 'role', role })
  session.steps--
  if (serves(session)) releaseHeld(turn)
}

function leave(turn: Turn, effect: Effect): void {
  const { session, out } = turn
  switch (effect.kind) {
    case 'send':
      return out.send(effect.to, effect.message)
    case 'reply':
      return welcome(session, effect, out)
    case 'came':
    case 'went':
      return broadcastChange(turn, effect)
    case 'moderation':
      session.server.moderation = effect.moderation
      return broadcastView(session, out)
    case 'broadcast':
      return broadcast(session, effect.news, out)
    default:
      effect satisfies never
  }
}

// Members that may see all of an update share one message, which is encoded once.
function broadcast(session: Session, news: PeerMessageOf<'news'>, out: SessionOut): void {
  for (const { inc, player } of session.server.published.values()) {
    const bytes = out.parts.show(news.part, news.bytes, player)
    out.send(inc, bytes === news.bytes ? news : { ...news, bytes })
  }
}

// JOINED carries the view as it is when the message leaves: it may have changed since the request.
function welcome(session: Session, effect: Effect & { kind: 'reply' }, out: SessionOut): void {
  const { to, lastSeq, member } = effect
  const { inc, player } = member
  out.answer(to, { kind: 'joined', inc, player, lastSeq, view: viewOf(session) })
}

function broadcastChange(turn: Turn, effect: Effect & { kind: 'came' | 'went' }): void {
  const { session, now, out } = turn
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
  sendMembers(session, out)
  if (effect.kind === 'came' && effect.member.inc === session.me) sendView(session, session.me, out)
}

function forget(server: Server, now: Millis, inc: PeerId): void {
  server.published.delete(inc)
  if (!('lead' in server)) return
  leases.removed(server.lead.lease, now, inc)
  server.lead.refreshed.delete(inc)
}

/** Sends the member list to the hub, which lets these attach and become backup. */
export function sendMembers(session: Session, out: SessionOut): void {
  const members = [...session.server.published.values()].map((member) => ({
    inc: member.inc,
    player: member.player,
    hash: member.registerHash,
    link: member.link,
    key: member.key,
  }))
  const players = playersOf(session)
  out.hub({ kind: 'members', session: session.id, members, players })
}

export function playersOf({ server }: Session): number {
  const playing = [...server.published.values()].filter(({ rights }) => mayPlay(rights))
  return new Set(playing.map(({ player }) => player)).size
}

/** The hub's signature to the leader of that epoch; null if we lack it. */
export function certificateFor(
  { leaderCertificate: grant }: Session,
  epoch: number,
): Uint8Array | null {
  return grant?.epoch === epoch ? grant.bytes : null
}

export function settingsOf({ terms, topology, playersMax }: Session): Settings {
  return { terms, topology, playersMax }
}

/** The view as it is published to the members. */
export function viewOf(session: Session): View {
  const { server } = session
  const backup = server.role === 'backedup' || server.role === 'dropping' ? server.backup : 0
  const members = [...server.published.values()]
  const { epoch, publishedMv: mv, moderation } = server
  const banned = moderation.expelled.filter(({ ban }) => ban)
  const grant = certificateFor(session, epoch)
  const { cv, votes } = moderation
  const proof = session.keeps ? session.proof : null
  const judged = { cv, banned, votes }
  const settings = settingsOf(session)
  const own = { settings, proof, lineage: [...session.lineage] }
  return { epoch, mv, primary: session.me, backup, members, grant, ...judged, ...own }
}

export function sendView(session: Session, to: PeerId, out: SessionOut): void {
  out.send(to, { kind: 'view', view: viewOf(session) })
}

/** Sends the full view to all: after a change of roles, and as TAKE_OVER (T41). */
export function broadcastView(session: Session, out: SessionOut): void {
  // All share one message, which is encoded once.
  const message = { kind: 'view', view: viewOf(session) } as const
  for (const inc of session.server.published.keys()) out.send(inc, message)
}

// An attempt is a change of the register that is requested until it is answered. The register
// itself is the answer: requests may be answered twice, late or never. Members never guess the
// outcome while the hub is out of reach: they wait.

/** An unanswered change of the register is requested again after this. */
export const ATTEMPT_MS: Millis = 250

/** A new attempt to change the register from its state in epoch `expect`. */
export function attempt(
  now: Millis,
  expect: number,
  change: { why: ChangeReason; primary: PeerId; backup: PeerId },
): Attempt {
  return { ...change, expect, sent: false, sentAt: Infinity, request: 0, againAt: now }
}

/** Sends the attempt, first or again, if that is due and the hub is within reach. */
export function retry(turn: Turn): void {
  const { session, now } = turn
  if (!is(session, 'asks')) return
  const change = session.server.attempt
  if (now < change.againAt) return
  change.againAt = now + ATTEMPT_MS
  if (!session.hub.up) return
  change.sent = true
  change.sentAt = Math.min(change.sentAt, now)
  change.request = nextRequest(session)
  ask(turn, change)
}

export function ask(
  turn: Turn,
  change: Pick<Attempt, 'request' | 'expect' | 'primary' | 'backup' | 'why'>,
): void {
  const { session, out } = turn
  const { request, expect, primary, backup, why } = change
  const by = { session: session.id, inc: session.me, proof: proofOf(session.secret, 'register') }
  out.hub({ kind: 'change', request, ...by, expect, primary, backup, why })
}
