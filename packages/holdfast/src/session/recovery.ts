/**
 * Recovery: primary and backup failed together, and the other members continue.
 *
 *     idle         lost for long, the session allows it     recovering: CAS(e, me)
 *     recovering   R = (e+1, me, nobody)                     gathering
 *     gathering    all have answered, or 2 s are over        alone(e+1), RECOVERED to all
 *
 * The register decides who recovers, not before the old primary's lease is over. The new primary
 * then asks all survivors how much was published to them (Mazewar's State Inquiry, put to a new
 * use). Updates arrive in the order of the log, so the copy of the most advanced survivor (the
 * witness) contains all others and becomes the session's state. A stored session continues from the
 * hub's disk if that has at least as much. Committed changes that neither a survivor nor the disk
 * has are lost. A member that does not answer is removed, and may rejoin as the same player.
 */

import * as commit from '../replication/log.ts'
import { assert, INC_MAX, mayPlay, MEMBERS_MAX, type Millis, type PeerId } from '../machine.ts'
import type { Register } from '../hub-protocol/messages.ts'
import { decode, encode } from '../wire/layout.ts'
import { type Moderation, expulsionOf } from '../replication/moderation.ts'
import type { Durable } from '../replication/durable.ts'
import {
  type ModerationView,
  SNAPSHOT_PIECE_MAX,
  SNAPSHOT_PIECES_MAX,
  testimonyLayout,
  type PeerMessageOf,
} from './messages.ts'
import {
  EXPELLED_MAX,
  type Member,
  type Player,
  PLAYERS_KEPT_MAX,
  COUNTER_MAX,
} from '../replication/layouts.ts'
import { attempt, become, hold, sendMembers, broadcastView } from './output.ts'
import * as persistence from './persistence.ts'
import * as lineage from './lineage.ts'
import * as chunks from '../wire/chunks.ts'
import { dismiss } from './replicate.ts'
import type { StoredState } from './segments.ts'
import {
  blank,
  type Client,
  type Effect,
  is,
  mayServe,
  type ServerAs,
  type Session,
  type SessionOut,
  type Turn,
  mayBePrimary,
} from './state.ts'

/** After this long without a primary, a member asks to recover, even if the hub may hear it. */
export const SEEK_MS: Millis = 8_000
/** A refused member asks again after this. */
export const SEEK_AGAIN_MS: Millis = 1_000
/** Largest version of the moderation state; no session comes near. */
export const CV_MAX: number = 2 ** 32 - 1
/** Survivors must report what they know within this. */
export const GATHER_MS: Millis = 2_000

/** As a client of a session without a primary: asks the register to become primary. */
export function seek(turn: Turn): void {
  const { session, now } = turn
  const { client } = session
  if (!session.recovers || !client.lost || !is(session, 'free') || session.leaving) return
  const since = isLeft(session) ? client.lostAt : client.lostAt + SEEK_MS
  if (now < Math.max(since, client.seekAt, client.promisedUntil)) return
  const { register } = client
  // A member that the register names leads without a recovery.
  if (!session.hub.up || [register.primary, register.backup].includes(session.me)) return
  client.seekAt = now + SEEK_AGAIN_MS
  const { epoch, primary, backup } = register
  const asked = attempt(now, epoch, { why: 'recover', primary: session.me, backup: 0 })
  const own = { attempt: asked, since: now, heads: [primary, backup] }
  become(turn, 'lost', { ...blank(), epoch, ...own })
  session.rules.seek(turn)
}

/**
 * Whether the hub has a stream of neither primary nor backup. @param unlinked  whether a member
 * that we never linked to counts as gone
 */
export function isLeft({ client: { register }, detectors }: Session, unlinked = false): boolean {
  const isGone = (inc: PeerId): boolean => detectors.get(inc)?.gone ?? unlinked
  return isGone(register.primary) && (register.backup === 0 || isGone(register.backup))
}

/** The register names us: asks the survivors for what they know. */
export function gather(
  turn: Turn,
  { attempt: asked, since, heads: named }: ServerAs<'recovering'>,
  register: Register,
): void {
  const { session, now, out } = turn
  const { view } = session.client
  const heads = [view.primary, view.backup, ...named]
  const isGone = ({ inc }: Member): boolean => inc !== session.me && heads.includes(inc)
  const here = view.members.filter((member) => !isGone(member))
  const durable = durableOf(session, here)

  const moderation = { ...durable.moderation }
  const own = {
    lead: persistence.beginLead(session, since, asked.sentAt, here),
    until: now + GATHER_MS,
    answers: new Map([[session.me, { ...ownAnswer(session), moderation }]]),
    ...{ stored: null, awaits: persistence.isKept(session) },
    witness: 0,
    copy: null,
    gone: view.members.filter(isGone),
  }
  const { epoch } = register
  become(turn, 'recovers', {
    epoch,
    durable,
    published: new Map(durable.members),
    publishedMv: durable.mv,
    moderation,
    ...own,
  })
  sendMembers(session, out)
  broadcastView(session, out)
  for (const { inc } of here) if (inc !== session.me) ask(session, inc, out)
  decide(turn)
}

// The dead may have given numbers to members unknown to us; those numbers are not reused.
function durableOf(session: Session, here: readonly Member[]): Durable {
  const { members, mv } = session.client.view
  const last = Math.max(0, ...members.map(({ inc }) => inc), ...session.client.former.keys())
  const rows = [...formerOf(session), ...members].map(({ player, key }): [number, Player] => {
    return [player, { player, key, lastSeq: 0, outcomes: [] }]
  })
  return {
    mv: mv + members.length - here.length,
    nextInc: Math.min(INC_MAX, last + MEMBERS_MAX),
    pointer: session.me,
    members: new Map(here.map((member) => [member.inc, member])),
    players: new Map(rows.slice(-PLAYERS_KEPT_MAX)),
    moderation: moderationOf(session.client.view),
  }
}

function ownAnswer({ client }: Session): { index: number; settled: number } {
  return { index: client.published.index, settled: settledOf(client) }
}

function moderationOf({ cv, banned, votes }: ModerationView): Moderation {
  return { cv, expelled: banned, votes }
}

/**
 * The newest moderation state of any survivor that may serve. Whether that survivor was expelled
 * itself is decided by the reports of the others, because it could deny its own expulsion.
 */
export function recalls(
  { hosts, server }: Session,
  answers: ServerAs<'gathering'>['answers'],
): Moderation {
  const { members, moderation } = server.durable
  const reports = [...members.values()].flatMap((member) => {
    const answer = answers.get(member.inc)
    return answer && mayServe(member, hosts) ? [{ ...member, ...answer.moderation }] : []
  })
  const [first, second] = reports.toSorted((one, other) => other.cv - one.cv)
  if (!first) return moderation
  const { cv, expelled, votes, inc, key } = first
  const row = second && expulsionOf(second, inc, key)
  const isSaid = !row || expulsionOf(first, inc, key)
  return { cv, expelled: isSaid ? expelled : [...expelled, row].slice(-EXPELLED_MAX), votes }
}

/** The last of our operations whose outcome we know, all before it included. */
export function settledOf(client: Client): number {
  return (client.pending[0]?.seq ?? client.nextSeq) - 1
}

/** Asks a member what it knows; one whose link is new is asked again. */
export function ask(session: Session, inc: PeerId, out: SessionOut): void {
  const { server } = session
  if (server.role !== 'gathering') return
  const { epoch } = server
  const whole = server.witness === inc
  if (whole || !server.answers.has(inc)) out.send(inc, { kind: 'inquire', epoch, whole })
}

/** As a member: reports how much was published to us, or sends all of it. */
export function answer(turn: Turn, from: PeerId, message: PeerMessageOf<'inquire'>): void {
  const { session, out } = turn
  if (!mayBePrimary(session, from)) return
  const { epoch } = message
  const { cv, banned, votes } = session.client.view
  if (!message.whole) {
    const judged = { cv, banned, votes }
    return out.send(from, { kind: 'witness', epoch, ...ownAnswer(session), ...judged })
  }
  const bytes = testimonyOf(session, out)
  for (const piece of chunks.cut(bytes, SNAPSHOT_PIECE_MAX)) {
    out.send(from, { kind: 'testimony', epoch, ...piece })
  }
}

function testimonyOf(session: Session, out: SessionOut): Uint8Array {
  const { published } = session.client
  const seqs = [...published.seqs].map(([player, seq]) => ({ player, seq }))
  const former = formerOf(session)
  return encode(testimonyLayout, {
    index: published.index,
    seqs,
    parts: out.parts.published(),
    former,
  })
}

type Former = Pick<Player, 'player' | 'key'>

function formerOf({ client }: Session): Former[] {
  return [...client.former].map(([player, { key }]) => ({ player, key }))
}

// A member that has just come in never saw earlier ones leave, and may be the one that recovers.
function recall({ server, client }: Session, now: Millis, former: readonly Former[]): void {
  const { players } = server.durable
  for (const { player, key } of former) {
    if (players.has(player) || players.size >= PLAYERS_KEPT_MAX) continue
    players.set(player, { player, key, lastSeq: 0, outcomes: [] })
    client.former.set(player, { key, since: now, ended: false })
  }
}

/** A survivor reports how much was published to it. */
export function onWitness(turn: Turn, from: PeerId, message: PeerMessageOf<'witness'>): void {
  const { session } = turn
  const { server } = session
  if (server.role !== 'gathering' || !server.published.has(from)) return
  if (message.epoch !== server.epoch) return
  // A watcher is no witness: everybody would have to trust its copy.
  const isWitness = mayPlay(server.published.get(from)!.rights)
  const isCounted = Math.max(message.index, message.settled) <= COUNTER_MAX
  const { index, settled } = isWitness && isCounted ? message : { index: 0, settled: 0 }
  const moderation = moderationOf(message.cv <= CV_MAX ? message : session.client.view)
  server.answers.set(from, { index, settled, moderation })
  decide(turn)
}

/** The hub sent the stored state of the session; null for none that we can read. */
export function onStored(turn: Turn, found: StoredState | null): void {
  const { session } = turn
  const { server } = session
  if (server.role !== 'gathering') return
  Object.assign(server, { stored: found, awaits: false })
  decide(turn)
}

/** Stops waiting for members that did not answer in time. */
export function wake(turn: Turn): void {
  const { session, now } = turn
  const { server } = session
  if (server.role !== 'gathering' || now < server.until) return
  giveUpWitness(turn, server)
}

// The witness does not answer, or its copy is invalid: chooses another member.
function giveUpWitness(turn: Turn, server: ServerAs<'gathering'>): void {
  if (server.witness !== 0) {
    server.answers.delete(server.witness)
    server.witness = 0
  }
  choose(turn, server)
}

function decide(turn: Turn): void {
  const { session } = turn
  const { server } = session
  if (server.role !== 'gathering' || server.witness !== 0 || server.awaits) return
  if (server.answers.size >= server.published.size) choose(turn, server)
}

// The witness is the member with the longest published log; we come first among equals.
function choose(turn: Turn, gathering: ServerAs<'gathering'>): void {
  const { session, now, out } = turn
  const own = gathering.answers.get(session.me)
  assert(own, 'who gathers has answered itself')
  let [witness, most] = [session.me, own.index]
  for (const [inc, { index }] of gathering.answers) {
    if (index > most) [witness, most] = [inc, index]
  }
  const { stored: found } = gathering
  if (found && found.length >= most) return goOnFrom(turn, gathering, found)
  if (witness === session.me) {
    return conclude(turn, gathering, testimonyOf(session, out))
  }
  gathering.witness = witness
  gathering.copy = null
  gathering.until = now + GATHER_MS
  ask(session, witness, out)
}

export function onTestimony(turn: Turn, from: PeerId, message: PeerMessageOf<'testimony'>): void {
  const { session } = turn
  const { server } = session
  if (server.role !== 'gathering' || from !== server.witness) return
  if (message.epoch !== server.epoch || message.of > SNAPSHOT_PIECES_MAX) return
  server.copy = chunks.take(server.copy, message)
  const bytes = server.copy && chunks.whole(server.copy)
  if (bytes) conclude(turn, server, bytes)
}

// Continues from the disk, which has at least as much as any survivor, and all outcomes.
function goOnFrom(
  turn: Turn,
  gathering: ServerAs<'gathering'>,
  { state, parts, changes, length, segments }: StoredState,
): void {
  const { session, out } = turn
  const { durable } = gathering
  gathering.stored = null
  if (!out.parts.reopen(parts, changes)) return choose(turn, gathering)
  durable.nextInc = Math.max(durable.nextInc, state.nextInc)
  for (const [player, row] of state.players) {
    if (durable.players.has(player) || durable.players.size < PLAYERS_KEPT_MAX) {
      durable.players.set(player, row)
    }
  }
  if (state.moderation.cv > durable.moderation.cv) durable.moderation = state.moderation
  resume(turn, gathering, { index: length, witness: session.me, segments })
}

function conclude(turn: Turn, gathering: ServerAs<'gathering'>, bytes: Uint8Array): void {
  const { session, now, out } = turn
  const { durable } = gathering
  const copy = decode(testimonyLayout, bytes)
  const isCounted = copy !== null && copy.index <= COUNTER_MAX
  const isRestored = isCounted && out.parts.restore(copy.parts)
  // If a part rejects our own copy, it keeps its present state: nobody is left to ask.
  const isOwn = gathering.witness === 0
  if (!isCounted || !(isRestored || isOwn)) {
    return giveUpWitness({ ...turn, now: gathering.until }, gathering)
  }
  const witness = gathering.witness || session.me
  recall(session, now, copy.former)
  for (const { player, seq } of copy.seqs) countUpTo(durable, player, seq)
  resume(turn, gathering, { index: copy.index, witness, segments: 0 })
}

// Continues the session from a log of `index` entries, with the members that answered.
function resume(
  turn: Turn,
  gathering: ServerAs<'gathering'>,
  { index, witness, segments }: { index: number; witness: PeerId; segments: number },
): void {
  const { session, now, out } = turn
  const { durable, lead } = gathering
  for (const [inc, { settled }] of gathering.answers) {
    const member = durable.members.get(inc)
    if (member) countUpTo(durable, member.player, settled)
  }
  const log = commit.create<Effect>(index + 1)
  const recalled = session.rules.recalls(session, gathering.answers)
  if (recalled.cv >= durable.moderation.cv) durable.moderation = recalled
  const moderation = { ...durable.moderation }
  const own = { lead, candidate: 0, candidateSince: now, moderation }
  become(turn, 'concludes', { log, ...own })
  const { server } = session
  lineage.begin(session, server.epoch, index, { segments, imported: false })
  const silent = [...server.published.keys()].filter((inc) => !gathering.answers.has(inc))
  for (const inc of silent) dismiss(turn, inc, 'failed')
  broadcastView(session, out)
  out.emit({ kind: 'welcome', to: [...server.published.keys()] })
  const { epoch } = server
  const gone = gathering.gone.map(({ player, name }) => ({ player, name }))
  const message = { kind: 'recovered', epoch, witness, gone, silent: silent.length } as const
  for (const inc of server.published.keys()) hold(turn, { kind: 'send', to: inc, message })
}

function countUpTo({ players }: Durable, player: number, seq: number): void {
  const row = players.get(player)
  if (row && seq <= COUNTER_MAX) row.lastSeq = Math.max(row.lastSeq, seq)
}
