/** The rows of the register: one for each session that is, by session and by place. */

import type { Millis, PeerId } from '../../../holdfast/src/machine.ts'
import * as rounds from '../../../holdfast/src/rounds.ts'
import type { Entry, Leader, Register, ToHub } from '../../../holdfast/src/hub-protocol/messages.ts'
import type { Invitation, Kept } from './records.ts'
import type { Entrant } from '../../../holdfast/src/hub-protocol/tickets.ts'

/** A takeover about which the primary is being asked. */
export interface Challenge {
  nonce: number
  askedAt: Millis
  /** Without an answer until then the compare-and-set is made. */
  until: Millis
  /** The stream that asked for it, and its newest request. */
  connection: number
  demand: ToHub & { kind: 'change' }
}

/** A primary's answer that it lives. */
export interface Veto {
  epoch: number
  at: Millis
  /** Since when the backup was sent no datagram of the primary; Infinity once it was. */
  unproved: Millis
}

/** How often each primary is asked ARE_YOU_ALIVE. */
export const ASK_MS: Millis = 2_000

/** A change that waits for the disk. */
export interface Pending {
  /** The register after the change; null removes the session. */
  register: Register | null
  /** The change creates the session, or opens it again: until then it has nobody. */
  isNew: boolean
  /** As it was before that; null if there was none. */
  before: Row | null
  /** The change is on its way to the disk. */
  isWriting: boolean
}

/** The goodbye of a member. */
export interface Goodbye {
  /** The epoch in which it led until then; 0 if it did not. */
  readonly epoch: number
  /** The length of its log, if it led. */
  readonly index: number
}

/** One session: its record on disk, and how its primary has answered lately. */
export interface Row extends Kept {
  /** Members whose streams are attached. */
  present: Set<PeerId>
  /** The nonce of the last YES_I_AM. */
  heard: number
  /** When the primary last sent YES_I_AM, or when this process first knew the session. */
  lastYes: Millis
  /** The nonce of the question that is open. */
  nonce: number
  /** Questions since the last answer. */
  missed: number
  /** When the question under way was asked. */
  askedAt: Millis
  /** Round trip to the primary, smoothed; null until it is known. */
  rttMs: Millis | null
  /** When the primary's stream to the hub was lost; Infinity while it is attached. */
  goneAt: Millis
  /** Who opened the room again, and has written nothing since; 0 for nobody. */
  opening: PeerId
  /** A sheet of it was refused, or may have been: we were started anew since. */
  refused: boolean
  /** The primary whose newest sheet says that it is strict (keeping.ts); 0 for none. */
  strict: PeerId
  /** Members that said goodbye (goodbyes.ts). */
  goodbyes: Map<PeerId, Goodbye>
  /** The change that the disk has yet to take. */
  pending: Pending | null
  /** Whether lists have it. */
  listed: boolean
  /** Entrants and invitations that the disk has yet to take; how many are on their way to it. */
  unkept: (Entrant | Invitation)[]
  writing: number
  /** What the hub signed last of who leads; null before. */
  granted: { epoch: number; leader: Leader } | null
}

/** All sessions of one directory. */
export interface Directory {
  rows: Map<string, Row>
  /** By session: what challenge.ts asks, and what was answered. */
  challenges: Map<string, Challenge>
  /** By session: the newest of its epoch. */
  vetoes: Map<string, Veto>
  /** The ids of the sessions of each game, and of each room of a game. */
  places: Map<string, Set<string>>
  /** By session: whose primary is asked next. */
  asking: rounds.Rounds<string>
  nonce: number
}

/** An empty directory. */
export function create(now: Millis): Directory {
  const asked = { challenges: new Map(), vetoes: new Map() }
  const asking = rounds.create<string>(now + ASK_MS)
  return { rows: new Map(), ...asked, places: new Map(), asking, nonce: 0 }
}

/** Takes a row, in place of one of the same session. */
export function insert(directory: Directory, row: Row): void {
  const { entry } = row
  const before = directory.rows.get(entry.session)
  if (before) erase(directory, before)
  directory.rows.set(entry.session, row)
  for (const place of placesOf(entry)) {
    const ids = directory.places.get(place) ?? new Set()
    directory.places.set(place, ids.add(entry.session))
  }
}

/** Forgets a row. */
export function erase(directory: Directory, { entry }: Row): void {
  directory.rows.delete(entry.session)
  for (const place of placesOf(entry)) {
    const ids = directory.places.get(place)
    ids?.delete(entry.session)
    if (ids?.size === 0) directory.places.delete(place)
  }
}

/** A room of a game. */
export type Place = Pick<Entry, 'game' | 'room'>

function placesOf({ game, room }: Place): [string, string] {
  return [`game ${game}`, `room ${placeOf({ game, room })}`]
}

/**
 * A room of a game as one text. The length distinguishes a game whose name ends like a room from
 * that room.
 */
export function placeOf({ game, room }: Place): string {
  return `${game.length} ${game} ${room}`
}

/** The sessions of a room, dead ones too. */
export function inRoom(directory: Directory, place: Place): Row[] {
  const ids = directory.places.get(placesOf(place)[1]) ?? []
  return [...ids].map((id) => directory.rows.get(id)!)
}

/**
 * A row as it is before anything happened to it. Its fields are named here, each of them: V8 gives
 * an object that was spread and then got more fields a hidden class of its own, of half a kilobyte.
 */
export function rowOf(kept: Kept, now: Millis): Row {
  const { entry, members, recovers, hosts, entrants, invitations } = kept
  return {
    entry,
    members,
    recovers,
    hosts,
    entrants,
    invitations,
    present: new Set(),
    heard: 0,
    lastYes: now,
    nonce: 0,
    missed: 0,
    askedAt: now,
    rttMs: null,
    goneAt: Infinity,
    pending: null,
    listed: true,
    unkept: [],
    writing: 0,
    granted: null,
    opening: 0,
    goodbyes: new Map(),
    refused: true,
    strict: 0,
  }
}
