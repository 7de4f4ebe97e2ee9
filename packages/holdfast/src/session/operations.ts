/**
 * Operations: requests of a member to the primary, each performed exactly once.
 *
 * An operation is numbered (player, seq), rising by one. The primary performs only the next one.
 * Number, outcome and changes are one entry of the log, so after a takeover clients resend
 * operations without an outcome, and get the stored outcome or have them performed (T80).
 */

import * as commit from '../replication/log.ts'
import { HoldfastError, mayPlay, type Millis, type PeerId, termOf } from '../machine.ts'
import * as durable from '../replication/durable.ts'
import { moderate } from './moderation.ts'
import { MODERATION_PART, type PeerMessageOf } from './messages.ts'
import { BODY_MAX, CHANGES_MAX, type Member, OUTCOMES_MAX } from '../replication/layouts.ts'
import { HELD_MAX, hold } from './output.ts'
import {
  type Performed,
  type Asked,
  type ServerAs,
  serves,
  takes,
  type Session,
  type SessionOut,
  type Lead,
  type Turn,
} from './state.ts'
import { record } from './replicate.ts'
import type { RoleThat } from './role-table.ts'
import * as buckets from '../bucket.ts'
import type { Rate } from '../bucket.ts'
import type { Charge } from '../kind/protocol/part.ts'

// Quotas: a token bucket for each player keeps one player from crowding out the others.
//
// An operation takes one token, and three more if it is refused, so invalid requests slow only
// their sender. Without tokens it waits here, after the waiting operations of its member. Requests
// that parts decide outside of operations (for objects, calls and relayed messages) take tokens
// from the same bucket.
//
// A player has one bucket over all its members. The primary's own requests, such as timers, are not
// charged: a primary could harm its clients anyway.
//
// Neither tokens nor waiting operations are durable. A new primary begins with full buckets, and
// clients resend what waited here.

/** Operations of one player a second, unless the founder set another number. */
export const OPERATIONS_PER_SECOND = 500
/** Largest number that a founder may set. */
export const OPERATIONS_PER_SECOND_MAX = 10_000
/** Prices in tokens. */
export const COSTS: Readonly<Record<Charge, number>> = { operation: 1, again: 1, refusal: 3 }
/** How often waiting operations are tried. */
export const LOOK_MS: Millis = 10
/** Most bytes of one member's waiting operations; its client resends the rest later. */
export const WAITING_BYTES_MAX: number = 256 * 1024

/** The rate of operations of one player, by the settings of a session. */
export function rateOf(terms: string): Rate {
  const perSecond = termOf(terms, 'operations') ?? OPERATIONS_PER_SECOND
  return { max: 2 * perSecond, perSecond }
}

/** As primary: charges a member's player. @returns false, uncharged, if it lacks tokens */
export function charge(session: Session, now: Millis, from: PeerId, what: Charge): boolean {
  if (!serves(session) || from === session.me) return true
  const member = session.server.durable.members.get(from)
  const cost = session.rules.cost(what)
  if (!member || cost === 0) return true
  const { allowances } = session.server.lead
  const account = session.rules.account(member)
  const rate = rateOf(session.terms)
  const bucket = allowances.get(account) ?? buckets.create(now, rate)
  allowances.set(account, bucket)
  if (what === 'refusal') buckets.owe(bucket, rate, now, cost)
  else if (!buckets.take(bucket, rate, now, cost)) {
    if (what === 'operation') session.pushedBack++
    return false
  }
  return true
}

/** Queues an operation that waits for tokens; drops it if the queue is full. */
export function wait(lead: Lead, now: Millis, from: PeerId, asked: Asked): void {
  const queue = lead.waiting.get(from) ?? []
  const bytes = queue.reduce((sum, { body }) => sum + body.length, asked.body.length)
  if (queue.length >= OUTCOMES_MAX || bytes > WAITING_BYTES_MAX) return
  queue.push({ ...asked, body: asked.body.slice() })
  lead.waiting.set(from, queue)
  lead.waitingAt = Math.min(lead.waitingAt, now + LOOK_MS)
}

type Serving = ServerAs<RoleThat<'serves'>>

/** While the backup lacks more bytes than this, operations stay with their clients (C-5). */
export const BACKLOG_MAX: number = 4 * 1024 * 1024
/** Most bytes that one operation changes. */
export const CHANGES_BYTES_MAX: number = 40 * 1024
// The outcome if no part accepts the operation; differs from all others.
const NOBODY = Uint8Array.of(0)
/** An operation without outcome is sent again after this. */
export const AGAIN_MS: Millis = 1_000

/** As a client: requests an operation. @returns its number @throws HoldfastError `overloaded` */
export function submit(turn: Turn, part: number, body: Uint8Array): number {
  const { session, now, out } = turn
  const { client } = session
  if (client.pending.length >= OUTCOMES_MAX) {
    throw new HoldfastError(
      'overloaded',
      `${OUTCOMES_MAX} operations wait for the primary already: await some of them first`,
    )
  }
  if (body.length > BODY_MAX) {
    throw new HoldfastError('bad-value', `an operation takes ${BODY_MAX} bytes: ${body.length}`)
  }
  const seq = client.nextSeq++
  client.pending.push({ seq, part, body, since: now })
  if (client.againAt === Infinity) client.againAt = now + AGAIN_MS
  if (client.view.primary !== 0) {
    out.send(client.view.primary, { kind: 'operation', seq, part, body })
  }
  return seq
}

/** As a client: sends all operations without outcome again, oldest first. */
export function submitAgain(turn: Turn): void {
  const { session, now, out } = turn
  const { client } = session
  client.againAt = client.pending.length === 0 ? Infinity : now + AGAIN_MS
  if (client.view.primary === 0) return
  for (const { seq, part, body } of client.pending) {
    out.send(client.view.primary, { kind: 'operation', seq, part, body })
  }
}

/** As a client: takes an outcome of the primary; a repeated one is ignored. */
export function settle(turn: Turn, message: PeerMessageOf<'done'>): void {
  const { session, out } = turn
  const { client } = session
  // The outcome would precede the operation's effects; when resent it follows them.
  if (client.published.waiting) return
  const at = client.pending.findIndex((pending) => pending.seq === message.seq)
  if (at < 0) return
  client.pending.splice(at, 1)
  if (client.pending.length === 0) client.againAt = Infinity
  out.emit({ kind: 'done', seq: message.seq, outcome: message.outcome })
}

// An entry of the log must fit one message of a link; a larger one counts as not performed.
function bounded(performed: Performed | null): Performed | null {
  const changes = performed?.changes ?? []
  const size = changes.reduce((sum, change) => sum + change.bytes.length, 0)
  const fits = size <= CHANGES_BYTES_MAX && changes.length <= CHANGES_MAX
  return fits && (performed?.outcome.length ?? 0) <= BODY_MAX ? performed : null
}

/**
 * As a client: continues the numbers of our player. If the session has forgotten our former player,
 * its pending operations cannot be resent, and are reported as unknown.
 */
export function renumber(session: Session, same: boolean, lastSeq: number, out: SessionOut): void {
  const { client } = session
  if (same) client.nextSeq = Math.max(client.nextSeq, lastSeq + 1)
  else {
    const seqs = client.pending.splice(0).map((pending) => pending.seq)
    client.nextSeq = lastSeq + 1
    client.againAt = Infinity
    if (seqs.length > 0) out.emit({ kind: 'unknown', seqs })
  }
}

function performedBy(turn: Turn, { part, body }: Asked, by: Member): Performed | null {
  const { out } = turn
  // A watcher's own session requests nothing; a modified one may try.
  if (!mayPlay(by.rights)) return null
  if (part !== MODERATION_PART) return bounded(out.parts.perform(part, body, by))
  return moderate(turn, body, by)
}

/** As the primary: performs the next operation of a player, or queues it if tokens are lacking. */
export function operate(turn: Turn, from: PeerId, message: PeerMessageOf<'operation'>): void {
  const { session, now } = turn
  if (!mayPerform(session)) return
  const { durable: own, lead } = session.server
  const member = own.members.get(from)
  const row = member && own.players.get(member.player)
  if (!member || !row) return
  const { seq } = message
  if (seq <= row.lastSeq) return answerAgain(turn, member, seq)
  const queue = lead.waiting.get(from)
  if (seq !== (queue?.at(-1)?.seq ?? row.lastSeq) + 1) return
  if (!queue && charge(session, now, from, 'operation')) perform(turn, member, message)
  else wait(lead, now, from, message)
}

// Whether operations are accepted; otherwise clients resend them later.
function mayPerform(session: Session): session is Session & { server: Serving } {
  const { log } = session.server
  return takes(session) && log.held.length < HELD_MAX && log.bytes <= BACKLOG_MAX
}

function answerAgain(turn: Turn, { inc, player }: Member, seq: number): void {
  const { session, now } = turn
  if (!charge(session, now, inc, 'operation')) return
  // A recovered session lost its outcomes: an empty one means that the operation was performed.
  const outcome = durable.outcomeOf(session.server.durable, player, seq) ?? new Uint8Array(0)
  hold(turn, { kind: 'send', to: inc, message: { kind: 'done', seq, outcome } })
}

function perform(turn: Turn, member: Member, asked: Asked): void {
  const { session, now } = turn
  const { inc, player } = member
  const { seq } = asked
  const performed = performedBy(turn, asked, member)
  const outcome = performed?.outcome ?? NOBODY
  const changes = performed?.changes ?? []
  if (performed?.refused ?? performed === null) charge(session, now, inc, 'refusal')
  record(turn, { kind: 'operation', player, seq, outcome, changes })
  // Updates go first: a client that gets the outcome has seen the effects.
  const index = commit.lengthOf(session.server.log)
  for (const { part: of, bytes } of performed?.news ?? []) {
    const news = { kind: 'news', index, player, seq, part: of, bytes } as const
    hold(turn, { kind: 'broadcast', news })
  }
  hold(turn, { kind: 'send', to: inc, message: { kind: 'done', seq, outcome } })
}

/** As the primary: performs operations that waited for tokens, one of each member in turn. */
export function performWaiting(turn: Turn): void {
  const { session, now } = turn
  if (!serves(session)) return
  const { lead } = session.server
  if (now < lead.waitingAt) return
  let again = true
  while (again) {
    again = false
    for (const inc of lead.waiting.keys()) again = performNext(turn, inc) || again
  }
  lead.waitingAt = lead.waiting.size > 0 ? now + LOOK_MS : Infinity
}

// Returns whether there was one that could be performed.
function performNext(turn: Turn, inc: PeerId): boolean {
  const { session, now } = turn
  if (!mayPerform(session)) return false
  const { lead, durable: own } = session.server
  const queue = lead.waiting.get(inc)!
  const member = own.members.get(inc)
  if (member && !charge(session, now, inc, 'again')) return false
  const asked = queue.shift()
  if (queue.length === 0 || !member) lead.waiting.delete(inc)
  // A player that left or rejoined resends its operations.
  if (member && asked) perform(turn, member, asked)
  return true
}

/** As the primary: sends one member a snapshot of a part, after all entries recorded so far. */
export function sendPartSnapshot(turn: Turn, part: number, to: PeerId, bytes: Uint8Array): void {
  const { session, out } = turn
  if (!serves(session)) return
  const player = session.server.durable.members.get(to)?.player ?? 0
  const shown = out.parts.show(part, bytes, player)
  const message = { kind: 'news', index: 0, player: 0, seq: 0, part, bytes: shown } as const
  hold(turn, { kind: 'send', to, message })
}

/** As the primary: completes a member's snapshot, naming its index. */
export function completeSnapshot(turn: Turn, to: PeerId): void {
  const { session } = turn
  const { server } = session
  if (!serves(session)) return
  const seqs = [...server.durable.players.values()].map(({ player, lastSeq: seq }) => {
    return { player, seq }
  })
  const message = { kind: 'standing', index: commit.lengthOf(server.log), seqs } as const
  hold(turn, { kind: 'send', to, message })
}
