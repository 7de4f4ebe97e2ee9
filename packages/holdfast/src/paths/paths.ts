/**
 * Paths: by which of several addresses packets go to one peer.
 *
 * Each end chooses for itself, by the same order of kinds, and only among paths that are proven in
 * both directions: a probe that we sent there was answered from there, sealed. So a path that works
 * one way is chosen by neither end, and an address that somebody else named carries nothing.
 *
 * Packets that arrive by another path never move the choice, so two living paths cannot make it
 * flap. They are a hint: the peer has left our path, so the path is probed at once.
 *
 * A path is left when it was silent for `limit` and another one has answered since: the old one is
 * used until then, and packets of both count. A silent peer answers by no path, so its death moves
 * nothing. A path that was left is chosen again once it has answered for a while, which doubles
 * with each failure of its kind.
 *
 * The choice is made in `wake` alone: after a stall of our own, packets that waited in the sockets
 * are read first. See docs/protocols/paths.md.
 */

import type { Millis } from '../machine.ts'
import { isChannel, isKnocking, isRelayed } from '../wire/relay.ts'
import { isStream } from '../wire/stream-address.ts'

/** Better kinds first. An address of none of the others, as in the simulator, is UDP. */
const PATH_KINDS = ['udp', 'rtc', 'ws', 'relay'] as const

export type PathKind = (typeof PATH_KINDS)[number]

function pathKindOf(address: string): PathKind {
  if (isRelayed(address)) return 'relay'
  if (isChannel(address)) return 'rtc'
  return isStream(address) ? 'ws' : 'udp'
}

/** Whether packets of the first kind should rather go by the second. */
function isWorse(one: PathKind, other: PathKind): boolean {
  return PATH_KINDS.indexOf(one) > PATH_KINDS.indexOf(other)
}

/** Most addresses of one peer; one more replaces one that nobody offered and that is not good. */
export const CANDIDATES_MAX = 8
/** A path that is silent for so long is left, if the failure detector has no shorter bound (L8). */
export const PATH_DEAD_MS: Millis = 1_000
/** How often a path is probed that packets do not go by. */
export const PROBE_MS: Millis = 2_000
/** The same for a path that answers and is no better than ours. */
export const SPARE_PROBE_MS: Millis = 10_000
/** The same, while it is being proven. */
export const PROVE_MS: Millis = 250
/** After so many probes without an answer, and a second, a path is bad. */
export const PROBES_MAX = 4
/** A path that failed must answer for so long before it is chosen again; then twice as long. */
export const HOLD_MS: Millis = 1_000
export const HOLD_MAX_MS: Millis = 60_000
/** The peer left our path: besides a round trip, our path has so long to answer. */
export const HINT_MS: Millis = 50
/** Heartbeats go by the relay too for so long after the hub was asked about the peer. */
export const RELAY_KEPT_MS: Millis = 5_000
/** How often they do. */
export const RELAY_BEAT_MS: Millis = 200

// A silent path, and all others, are probed from half of the limit on, this often until the limit.
const URGENT_PROBES = 3
// Quick probes without an answer, before they become slow: the peer itself is silent.
const URGENT_MAX = 8

/** Ids of paths lie below this. */
const PATH_IDS = 65_536
/** The link keeps the figures of a path in the place that its id has modulo this. */
export const PATHS_KEPT = 16

/** One address of the peer. */
export interface Candidate {
  /** A number below PATH_IDS, which the link notes with each packet. */
  readonly id: number
  readonly address: string
  readonly kind: PathKind
  /** Named by the peer's row or a carrier, not only shown by a handshake or an answer. */
  offered: boolean
  /** `new`: never probed; `probing`: not answered yet; `good`: answered; `bad`: failed. */
  state: 'new' | 'probing' | 'good' | 'bad'
  /** Round trip of its probes, smoothed; NaN before the first. */
  rtt: Millis
  /** When a packet of the peer last came by it. */
  lastReceived: Millis
  lastAnswered: Millis
  goodSince: Millis
  probedAt: Millis
  /** Probes in a row without an answer, and when the first of them left. */
  unanswered: number
  askedSince: Millis
}

export interface Paths {
  /** Best kinds first. */
  candidates: Candidate[]
  /** By which packets go; null before the link is up. */
  chosen: Candidate | null
  chosenAt: Millis
  /** How long the chosen path may be silent. */
  limit: Millis
  /** Within which an answer comes by it almost always, as the link measures it. */
  roundTrip: Millis
  /** Since when packets of the peer come by another path; NaN while they come by ours. */
  movedAt: Millis
  /** The worst kind by which the peer was heard of late, for the failure detector. */
  heardBy: PathKind
  /** How often paths of each kind failed of late. */
  failures: Record<PathKind, number>
  /** Heartbeats go by that path too, until that instant, this often; null while by no other. */
  also: Candidate | null
  alsoUntil: Millis
  alsoEvery: Millis
  beatAt: Millis
  nextId: number
  /** When `wake` is due, or earlier. */
  dueAt: Millis
}

export interface PathsSink {
  /** Challenges an address. */
  probe(address: string): void
  /** Packets go by that path from now on. @returns false if the seal does not know it as proven */
  use(path: Candidate): boolean
  /** Sends a heartbeat by that path, besides the one that packets go by. */
  beat(path: Candidate): void
}

/** How long a path without a failure detector may be silent if packets come by it this often. */
export function deadAfter(keepaliveMs: Millis): Millis {
  return Math.max(PATH_DEAD_MS, 2.5 * keepaliveMs)
}

export function create(): Paths {
  return {
    candidates: [],
    chosen: null,
    chosenAt: -Infinity,
    limit: PATH_DEAD_MS,
    roundTrip: 0,
    movedAt: NaN,
    heardBy: 'relay',
    failures: { udp: 0, rtc: 0, ws: 0, relay: 0 },
    also: null,
    alsoUntil: -Infinity,
    alsoEvery: RELAY_BEAT_MS,
    beatAt: Infinity,
    nextId: 0,
    dueAt: Infinity,
  }
}

export function find({ candidates, chosen }: Paths, address: string): Candidate | null {
  if (chosen?.address === address) return chosen
  return candidates.find((one) => one.address === address) ?? null
}

/** Whether packets go through the hub. */
export function isByRelay({ chosen }: Paths): boolean {
  return chosen?.kind === 'relay'
}

/**
 * Sets how long the chosen path may be silent.
 *
 * @param roundTrip  within which an answer comes by it almost always
 */
export function setLimit(paths: Paths, now: Millis, limit: Millis, roundTrip: Millis): void {
  if (limit < paths.limit) paths.dueAt = now
  paths.limit = limit
  paths.roundTrip = roundTrip
}

/** The peer may be reached by that address: probes it, once the link is up. */
export function offer(paths: Paths, now: Millis, address: string): void {
  const known = find(paths, address)
  if (known) known.offered = true
  else if (!add(paths, address, true)) return
  paths.dueAt = Math.min(paths.dueAt, now)
}

function add(paths: Paths, address: string, offered: boolean): Candidate | null {
  if (paths.candidates.length >= CANDIDATES_MAX && !makeRoom(paths)) return null
  const kind = pathKindOf(address)
  const one: Candidate = {
    id: freeId(paths),
    address,
    kind,
    offered,
    state: 'new',
    rtt: NaN,
    lastReceived: -Infinity,
    lastAnswered: -Infinity,
    goodSince: Infinity,
    probedAt: -Infinity,
    unanswered: 0,
    askedSince: -Infinity,
  }
  const place = paths.candidates.findIndex((other) => isWorse(other.kind, kind))
  paths.candidates.splice(place < 0 ? paths.candidates.length : place, 0, one)
  return one
}

// No two paths in use have one place.
function freeId(paths: Paths): number {
  const used = [...paths.candidates, paths.also, paths.chosen].map((one) => one && one.id)
  for (;;) {
    const id = paths.nextId
    paths.nextId = (id + 1) % PATH_IDS
    if (!used.some((other) => other !== null && other % PATHS_KEPT === id % PATHS_KEPT)) return id
  }
}

function makeRoom({ candidates, chosen }: Paths): boolean {
  const place = candidates.findIndex(
    (one) => !one.offered && one !== chosen && one.state !== 'good',
  )
  if (place >= 0) candidates.splice(place, 1)
  return place >= 0
}

/** An address is none of the peer any more. Packets go by the best that is left. */
export function withdraw(paths: Paths, now: Millis, address: string, out: PathsSink): void {
  const gone = find(paths, address)
  if (!gone) return
  paths.candidates = paths.candidates.filter((one) => one !== gone)
  if (gone !== paths.chosen) return
  if (!isKnocking(address)) fail(paths, now, gone, paths.chosenAt)
  const others = [...paths.candidates.filter(isGood), ...paths.candidates.filter(isSure)]
  const next = others.find((one) => take(paths, now, one, out))
  if (!next) paths.chosen = gone
  else if (next.kind === 'relay') notice(paths, now, next)
  paths.dueAt = now
}

const isGood = ({ state }: Candidate): boolean => state === 'good'
// The hub vouches for who is behind the relay.
const isSure = ({ address }: Candidate): boolean => isRelayed(address)
// The peer is attached to the hub as a member: no packet reaches it as a process that knocks.
const isOfMember = ({ address, kind, lastReceived }: Candidate): boolean =>
  kind === 'relay' && !isKnocking(address) && lastReceived > -Infinity

/** The link is up, by a handshake with that address. */
export function begin(paths: Paths, now: Millis, address: string): void {
  const one = find(paths, address) ?? add(paths, address, false)
  if (!one) return
  prove(one, now)
  paths.chosen = one
  paths.chosenAt = now
  paths.movedAt = NaN
  paths.heardBy = one.kind
  // Better paths are tried at once, others are spares.
  for (const other of paths.candidates) {
    if (!isWorse(one.kind, other.kind)) other.probedAt = now
  }
  paths.dueAt = now
}

function prove(one: Candidate, now: Millis): void {
  one.unanswered = 0
  one.lastAnswered = now
  if (one.state === 'good') return
  one.state = 'good'
  one.goodSince = now
}

/** A packet of the peer came from there. */
export function heard(paths: Paths, now: Millis, address: string): void {
  const one = find(paths, address)
  if (!one) return
  if (one === paths.chosen) {
    // Only an answer takes a hint back: heartbeats by a path that the peer has left prove nothing.
    if (!(paths.movedAt > one.lastAnswered)) paths.movedAt = NaN
  } else if (Number.isNaN(paths.movedAt) && paths.chosen) {
    paths.movedAt = now
    paths.dueAt = now
  }
  notice(paths, now, one)
}

// For the failure detector the worst kind of late counts: the peer sends more seldom there.
function notice(paths: Paths, now: Millis, one: Candidate): void {
  one.lastReceived = now
  if (one.kind === paths.heardBy) return
  const isWorst = !paths.candidates.some((other) => {
    return isWorse(other.kind, one.kind) && now - other.lastReceived < PATH_DEAD_MS
  })
  if (isWorst) paths.heardBy = one.kind
}

/** A probe was answered from there: the path works in both directions. */
export function answered(paths: Paths, now: Millis, address: string): void {
  if (isKnocking(address)) return
  const one = find(paths, address) ?? add(paths, address, false)
  if (!one) return
  // After a repetition nobody knows which probe was answered.
  if (one.unanswered === 1) {
    const rtt = now - one.probedAt
    one.rtt = Number.isNaN(one.rtt) ? rtt : one.rtt + (rtt - one.rtt) / 8
  }
  prove(one, now)
  paths.dueAt = now
}

/** Our loop stalled for `stalledMs`, and could hear nothing meanwhile. */
export function forgive({ chosen }: Paths, now: Millis, stalledMs: Millis): void {
  if (!chosen) return
  chosen.lastReceived = Math.min(now, chosen.lastReceived + stalledMs)
  chosen.lastAnswered = Math.min(now, chosen.lastAnswered + stalledMs)
}

/** The hub was asked about the peer: heartbeats go by the relay too for a while. */
export function beatByRelay(paths: Paths, now: Millis): void {
  const relay = paths.candidates.find(isSure)
  if (!relay) return
  beatBy(paths, now, relay, RELAY_KEPT_MS, RELAY_BEAT_MS)
  notice(paths, now, relay)
}

function beatBy(paths: Paths, now: Millis, path: Candidate, forMs: Millis, every: Millis): void {
  paths.also = path
  paths.alsoUntil = now + forMs
  paths.alsoEvery = every
  paths.beatAt = now
  paths.dueAt = now
}

/** Chooses, and sends the probes that are due. */
export function wake(paths: Paths, now: Millis, out: PathsSink): void {
  choose(paths, now, out)
  beat(paths, now, out)
  paths.dueAt = paths.beatAt
  if (!paths.chosen) return
  for (const one of paths.candidates) {
    if (probeAt(paths, one) <= now) probe(one, now, out)
    paths.dueAt = Math.min(paths.dueAt, probeAt(paths, one))
    const isHeld = isGood(one) && isWorse(paths.chosen.kind, one.kind)
    if (isHeld) paths.dueAt = Math.min(paths.dueAt, one.goodSince + holdOf(paths, one))
  }
  // Once the limit has passed, only an answer by another path brings the next choice.
  const leaves = leavesAt(paths)
  if (leaves > now && !isOnly(paths)) paths.dueAt = Math.min(paths.dueAt, leaves)
}

function isOnly({ candidates, chosen }: Paths): boolean {
  return candidates.length === 1 && candidates[0] === chosen
}

function beat(paths: Paths, now: Millis, out: PathsSink): void {
  const { also, alsoUntil, alsoEvery, candidates, chosen } = paths
  if (now < paths.beatAt || !also) return
  if (now >= alsoUntil || !candidates.includes(also)) {
    paths.also = null
    paths.beatAt = Infinity
    return
  }
  paths.beatAt = now + alsoEvery
  if (also !== chosen) out.beat(also)
}

function choose(paths: Paths, now: Millis, out: PathsSink): void {
  const { chosen, chosenAt, candidates } = paths
  if (!chosen || isOnly(paths)) return
  if (isKnocking(chosen.address) && candidates.some(isOfMember)) {
    return withdraw(paths, now, chosen.address, out)
  }
  const better = candidates.find((one) => {
    const isBetter = isWorse(chosen.kind, one.kind)
    return isBetter && isGood(one) && now >= one.goodSince + holdOf(paths, one)
  })
  if (better && take(paths, now, better, out)) return
  if (now < leavesAt(paths)) return
  const next = successor(paths)
  if (!next || !take(paths, now, next, out)) return
  fail(paths, now, chosen, chosenAt)
  // The answer shows that the peer lives, and by which path it is heard from now on.
  notice(paths, now, next)
  // Packets by a slower path arrive later. If the old path works from here to there, the peer need
  // not miss us meanwhile.
  if (paths.also && paths.also !== next) return
  beatBy(paths, now, chosen, paths.limit + 2 * (next.rtt || PATH_DEAD_MS), paths.limit / 2)
}

// Another path that answered after the chosen one. Packets by that one count too, unless the peer
// has left it: then they are the heartbeats by which it bridges the change.
function successor(paths: Paths): Candidate | null {
  const { chosen, candidates } = paths
  const since = isHinted(paths) ? chosen!.lastAnswered : proofOf(chosen!)
  return candidates.find((one) => isGood(one) && one.lastAnswered > since) ?? null
}

function take(paths: Paths, now: Millis, one: Candidate, out: PathsSink): boolean {
  if (!out.use(one)) {
    Object.assign(one, { state: 'new', unanswered: 0, probedAt: -Infinity })
    return false
  }
  // A process that is reached otherwise need not knock any more.
  paths.candidates = paths.candidates.filter(({ address }) => !isKnocking(address))
  paths.chosen = one
  paths.chosenAt = now
  paths.movedAt = NaN
  return true
}

function fail({ failures }: Paths, now: Millis, one: Candidate, chosenAt: Millis): void {
  one.state = 'bad'
  one.unanswered = PROBES_MAX
  one.probedAt = now
  const before = now - chosenAt > HOLD_MAX_MS ? 0 : failures[one.kind]
  failures[one.kind] = before + 1
}

function holdOf({ failures }: Paths, { kind }: Candidate): Millis {
  const count = failures[kind]
  return count === 0 ? 0 : Math.min(HOLD_MAX_MS, HOLD_MS * 2 ** (count - 1))
}

const proofOf = ({ lastReceived, lastAnswered }: Candidate): Millis =>
  Math.max(lastReceived, lastAnswered)

// The peer left our path, which has not answered since.
function isHinted({ chosen, movedAt }: Paths): boolean {
  return movedAt > chosen!.lastAnswered
}

// Our path is probed before, and a probe that it answers has the time to be answered.
function leavesAt(paths: Paths): Millis {
  const { chosen, movedAt, limit } = paths
  const answer = Math.max(paths.roundTrip, 2 * (chosen!.rtt || 0))
  const at = proofOf(chosen!) + limit / 2 + Math.max(limit / 2, answer)
  return isHinted(paths) ? Math.min(at, movedAt + HINT_MS + answer) : at
}

function doubtedFrom(paths: Paths): Millis {
  const at = proofOf(paths.chosen!) + paths.limit / 2
  return isHinted(paths) ? Math.min(at, paths.movedAt) : at
}

// A path in doubt is probed at once. The others wait a little, for heartbeats that jitter are no
// reason to ask the hub's relay each time; a hint is.
function urgentAt(paths: Paths, one: Candidate): Millis {
  const { chosen, limit } = paths
  if (one !== chosen && one.lastAnswered > proofOf(chosen!)) return Infinity
  const wait = one === chosen || isHinted(paths) ? 0 : limit / 4
  const pause = (isHinted(paths) ? Math.min(limit / 2, HINT_MS) : limit / 2) / URGENT_PROBES
  // The peer itself is silent, and an address that never answered may be anybody's.
  const slow = one.lastAnswered === -Infinity ? PROBE_MS : PROVE_MS
  const next = one.probedAt + (one.unanswered < URGENT_MAX ? pause : slow)
  return Math.max(doubtedFrom(paths) + wait, next)
}

/** When a path is probed next. */
function probeAt(paths: Paths, one: Candidate): Millis {
  const { chosen } = paths
  if (isOnly(paths)) return Infinity
  const urgent = urgentAt(paths, one)
  if (one === chosen) return urgent
  // One relay says of the other what there is to know.
  if (one.kind === 'relay' && chosen!.kind === 'relay') return urgent
  const isHeld = isGood(one) && isWorse(chosen!.kind, one.kind)
  const isOpen = one.unanswered > 0 && one.unanswered < PROBES_MAX
  const calm = isGood(one) && one.unanswered === 0 ? SPARE_PROBE_MS : PROBE_MS
  return Math.min(urgent, one.probedAt + (isHeld || isOpen ? PROVE_MS : calm))
}

function probe(one: Candidate, now: Millis, out: PathsSink): void {
  if (one.unanswered === 0) one.askedSince = now
  one.unanswered++
  one.probedAt = now
  const isSilent = one.unanswered > PROBES_MAX && now - one.askedSince >= PATH_DEAD_MS
  if (one.state === 'new') one.state = 'probing'
  else if (isSilent) one.state = 'bad'
  out.probe(one.address)
}
