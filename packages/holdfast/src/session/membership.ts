/**
 * Membership. Only the primary changes the view, and only durable changes are published: otherwise
 * a takeover could bring back a member whose removal was published (S-1).
 */

import {
  INC_MAX,
  mayPlay,
  MEMBERS_MAX,
  type Millis,
  type PeerId,
  RIGHTS,
  termOf,
} from '../machine.ts'
import { TYPES_MAX } from '../wire/fields/difference.ts'
import { sameBytes } from '../wire/digest.ts'
import { expulsionOf } from '../replication/moderation.ts'
import type { Durable } from '../replication/durable.ts'
import { negotiate, formatVersions, isNewer, OUTDATED_ROOM, RELOAD } from '../wire/versions.ts'
import { type Join, type Joined, SESSION_VERSIONS } from './messages.ts'
import {
  type Expulsion,
  type LeaveReason,
  type Member,
  type Player,
  PLAYERS_KEPT_MAX,
} from '../replication/layouts.ts'
import { HELD_MAX, hold } from './output.ts'
import { dismiss, follower, record } from './replicate.ts'
import { dropBackup } from './roles.ts'
import { serves, takes, type Session, type SessionOut, type Turn, type Absence } from './state.ts'

/** Most watchers, unless the session's settings say otherwise. */
export const WATCHERS_MAX = 16

/** The founder becomes the first member (T13). */
export function enter(turn: Turn, member: Member, settled: number): void {
  record(turn, { kind: 'add', member, settled })
  hold(turn, { kind: 'came', member })
}

/**
 * JOIN: a process with a valid signature asks to become a member (T14, T15).
 *
 * @returns whether it gets an answer, now or once that is safe; otherwise it may ask again, or wait
 *   while `isReturning`
 */
export function join(turn: Turn, asker: number, request: Join): boolean {
  const { session, out } = turn
  if (session.server.log.held.length >= HELD_MAX) return false
  const denied = refusal(session, request)
  if (denied) {
    out.answer(asker, denied)
    return true
  }
  const { durable } = session.server
  // A process that is already a member did not get our answer.
  const known = knownAs(session, request)
  const member = known ?? newMember(session, request)
  const lastSeq = durable.players.get(member.player)?.lastSeq ?? 0
  if (!known) {
    const before = [...durable.members.values()].filter((old) => old.player === member.player)
    for (const { inc } of before) remove(turn, inc, 'returned')
    // A primary does not remove itself: it hands its role over, and the new primary removes it.
    const isOurs = before.some(({ inc }) => inc === session.me)
    if (isOurs && serves(session)) session.server.lead.yields = true
    if (!session.rules.mayReturn(session, member.player)) return false
    const settled = member.player === request.resume?.player ? request.resume.settled : 0
    enter(turn, member, settled)
  }
  hold(turn, { kind: 'reply', to: asker, member, lastSeq })
  return true
}

/**
 * Whether a player may join while older members of theirs remain. A registered backup remains until
 * the register has dropped it, and the player waits for that. The primary itself leaves by a
 * hand-over, for which it may need the newcomer; so both may be members, if the room has space.
 */
export function mayReturn(session: Session, player: number): boolean {
  const { members } = session.server.durable
  const olds = [...members.values()].filter((member) => member.player === player)
  return olds.every(({ inc }) => inc === session.me && members.size < MEMBERS_MAX)
}

/** Whether the player's old member is being removed, so that their JOIN waits. */
export function isReturning(session: Session, request: Join): boolean {
  if (!takes(session)) return false
  const row = resumed(session, request)
  return row !== null && !knownAs(session, request) && !mayReturn(session, row.player)
}

function refusal(session: Session, request: Join): Joined | null {
  const no = (code: (Joined & { kind: 'denied' })['code'], why: string): Joined => ({
    kind: 'denied',
    code,
    why,
  })
  if (!takes(session) || session.leaving) return no('notPrimary', 'not the primary')
  if (negotiate(SESSION_VERSIONS, request.version) === null) return otherVersion(request.version)
  if (request.schema !== session.schema) return unfit(session)
  if (knownAs(session, request)) return null
  const { moderation } = session.server.durable
  const row = expulsionOf(moderation, request.resume?.inc ?? 0, request.key)
  if (row) return no(row.ban ? 'banned' : 'kicked', sentenceOf(row))
  if (hasNewerIncarnation(session, request))
    return no('elsewhere', 'this player plays elsewhere now')
  const full = fullFor(session, request)
  if (full !== '') return no('full', full)
  const { players, nextInc } = session.server.durable
  if (nextInc >= INC_MAX) return no('full', `${INC_MAX} members came and went: found another room`)
  if (players.size >= PLAYERS_KEPT_MAX && resumed(session, request) === null) {
    return no('full', `${PLAYERS_KEPT_MAX} players came and went within a minute: ask again later`)
  }
  return null
}

function sentenceOf({ ban, why }: Expulsion): string {
  return `this player was ${ban ? 'banned' : 'put out'}${why === '' ? '' : `: ${why}`}`
}

/** The answer to a JOIN of another version, of which only the version can be read. */
export function otherVersion(version: number): Joined {
  const [theirs, ours] = [version, SESSION_VERSIONS].map(formatVersions)
  const cure = isNewer(SESSION_VERSIONS, version) ? OUTDATED_ROOM : RELOAD
  return {
    kind: 'denied',
    code: 'version',
    why: `the room speaks ${ours}, this build ${theirs}: ${cure}`,
  }
}

function unfit({ types }: Session): Joined {
  if (new TextEncoder().encode(types).length <= TYPES_MAX) return { kind: 'unfit', types }
  const why = 'the types of this build and of the session differ, and are too long to compare'
  return { kind: 'denied', code: 'schema', why }
}

function knownAs(session: Session, request: Join): Member | undefined {
  const { members } = session.server.durable
  return [...members.values()].find((here) => sameBytes(here.link, request.link))
}

// Why there is no place for a newcomer, or ''. A member keeps its place when it rejoins, but a
// watcher has no player's place.
function fullFor(session: Session, request: Join): string {
  const { members } = session.server.durable
  const plays = mayPlay(rightsOf(request))
  const others = [...members.values()].filter(({ key }) => !sameBytes(key, request.key))
  const taken = others.filter(({ rights }) => mayPlay(rights) === plays).length
  if (!plays) {
    const most = watchersMaxOf(session)
    return taken < most ? '' : `${most === 0 ? 'nobody watches here' : `${most} watch already`}`
  }
  const { playersMax } = session
  const watched = [...members.values()].some(({ key, rights }) => {
    return sameBytes(key, request.key) && !mayPlay(rights)
  })
  const isBack = resumed(session, request) !== null && !watched
  // A returning player is let in even if its place was taken meanwhile, while members fit.
  const hasRow = others.length < MEMBERS_MAX
  if (taken < playersMax || (isBack && hasRow)) return ''
  return `the session is full: ${playersMax} players`
}

/** Most watchers of a session, by its settings; players and watchers together must fit. */
export function watchersMaxOf({
  terms,
  playersMax,
}: Pick<Session, 'terms' | 'playersMax'>): number {
  return Math.min(termOf(terms, 'watchers') ?? WATCHERS_MAX, MEMBERS_MAX - playersMax)
}

// The rights of a member: at most those that it asks for.
function rightsOf({ watches, rights }: Pick<Join, 'watches' | 'rights'>): number {
  return watches ? RIGHTS.watch : rights
}

function resumed({ rules, server }: Session, request: Join): Player | null {
  return rules.comesBackAs(server.durable, request)
}

/**
 * The player whose key signed this JOIN, whatever number it names: one key is one player, with one
 * place and one vote. Null for a new or forgotten player (S-5).
 */
export function comesBackAs({ players }: Durable, { key }: Pick<Join, 'key'>): Player | null {
  return [...players.values()].find((row) => sameBytes(row.key, key)) ?? null
}

// The newest incarnation of a player wins; an older one that returns is refused (S-5).
function hasNewerIncarnation(session: Session, request: Join): boolean {
  const row = resumed(session, request)
  if (!row || !request.resume || request.resume.inc === 0) return false
  const { inc } = request.resume
  const { members } = session.server.durable
  return [...members.values()].some((here) => here.player === row.player && here.inc > inc)
}

function newMember(session: Session, request: Join): Member {
  const inc = session.server.durable.nextInc
  const row = resumed(session, request)
  return {
    inc,
    player: row?.player ?? inc,
    name: request.name,
    kind: request.kind,
    addresses: request.addresses,
    link: request.link,
    registerHash: request.registerHash,
    key: request.key,
    rights: rightsOf(request),
  }
}

/** Removes a member; a registered backup only after the register has dropped it (S-3b, T31). */
export function remove(turn: Turn, inc: PeerId, why: LeaveReason): void {
  const { session } = turn
  if (!takes(session) || inc === session.me) return
  const { server } = session
  if (!server.durable.members.has(inc)) return
  const follows = inc === follower(server)
  if (!session.rules.mayRemove(server.role, follows)) return dropBackup(turn, why)
  if (server.role === 'alone' && follows) server.candidate = 0
  dismiss(turn, inc, why)
}

/** Whether, by our view, a process with that link key is member `inc` and may link to us. */
export function admits(
  session: Session,
  inc: PeerId,
  link: Uint8Array,
  mv: number,
): 'yes' | 'wait' | 'no' {
  const { view } = session.client
  const known = serves(session)
    ? session.server.published.get(inc)
    : view.members.find((member) => member.inc === inc)
  if (known) return sameBytes(link, known.link) ? 'yes' : 'no'
  // The member may be in a view that we lack. It gets no answer, asks again, and keeps its data.
  return mv > (serves(session) ? session.server.publishedMv : view.mv) ? 'wait' : 'no'
}

// Away members: their stream to the hub is closed, and nothing came on a direct path since. This
// only changes what pages show: removals and takeovers depend on silence (S-3).

/** A shorter absence is not reported: streams reconnect after 50 ms. */
export const AWAY_MS: Millis = 500

/** The hub has a stream of that member, or lost it. */
export function onPresent(turn: Turn, inc: PeerId, here: boolean): void {
  const { session, now, out } = turn
  const { absent, view } = session.client
  if (here) return forget(session, [inc], out)
  const isMember = view.members.some((member) => member.inc === inc)
  if (inc === session.me || !isMember || absent.has(inc)) return
  absent.set(inc, { since: now, reported: false })
}

/** Our own stream is gone: reports about others may be outdated. */
export function onDetached(session: Session, out: SessionOut): void {
  forget(session, [...session.client.absent.keys()], out)
}

/** These members count as present. */
export function forget(session: Session, those: Iterable<PeerId>, out: SessionOut): void {
  const { absent } = session.client
  let news = false
  for (const inc of those) {
    news ||= absent.get(inc)?.reported ?? false
    absent.delete(inc)
  }
  if (news) emitAway(session, out)
}

export function wake(turn: Turn): void {
  const { session, now, out } = turn
  let news = false
  for (const [inc, absence] of session.client.absent) {
    if (absence.reported || now < dueAt(absence)) continue
    const seen = session.detectors.get(inc)
    // A direct path needs no hub.
    if (seen && !seen.relayed && seen.lastReceived > absence.since) absence.since = now
    else news = absence.reported = true
  }
  if (news) emitAway(session, out)
}

export function deadline({ client: { absent } }: Session): Millis {
  let due = Infinity
  for (const absence of absent.values()) if (!absence.reported) due = Math.min(due, dueAt(absence))
  return due
}

// `wake` and `deadline` must round alike.
function dueAt({ since }: Absence): Millis {
  return since + AWAY_MS
}

function emitAway({ client: { absent } }: Session, out: SessionOut): void {
  const away = [...absent].filter(([, absence]) => absence.reported)
  out.emit({ kind: 'away', members: new Set(away.map(([inc]) => inc)) })
}
