/** What one member knows of a session's objects, as plain data. */

import type { Millis, PeerId } from '../../machine.ts'
import type { PartOut } from '../../kind/protocol/part.ts'
import type { Quantised } from '../../wire/schema.ts'
import type { Answer, Answering, Ask, Asked, Grant, Request, RequestRules } from './demands.ts'
import type { Said, Types } from './types.ts'
import { FIRST, type Version } from './stamp.ts'

// What a member knows of the objects that a kept room has beyond its members, as plain data.

/** What of an object was written last. */
export interface Written {
  readonly epoch: number
  readonly count: number
  readonly oseq: number
  readonly player: number
}

/** Objects in a room that is kept. */
export interface Kept {
  /** One of them changed since `changesOf`. */
  stirred: boolean
  /** What was written of each, by key. */
  written: Map<number, Written>
  /** What was found as the room was opened, until we lead it. */
  found: Said[]
}

/** Nothing was written, and nothing found. */
export function createKept(): Kept {
  return { stirred: false, written: new Map(), found: [] }
}

export * from './demands.ts'
export * from './types.ts'

/** Most living objects of one session. */
export const OBJECTS_MAX = 10_000
/**
 * Largest state of one object, in bytes: it fits one frame with all else that an update carries.
 */
export const STATE_MAX = 1_024
/** Objects are numbered by their creator from 1 to this. */
export const COUNT_MAX: number = 2 ** 32 - 1
/** Most changes of one object; an oseq off the wire may be half as high, so ours can go on. */
export const OSEQ_MAX: number = 2 ** 32 - 1
/** See OSEQ_MAX. */
export const OSEQ_SAID_MAX: number = 2 ** 31
/** Most objects that are remembered, tombstones included. */
export const REPLICAS_MAX: number = 2 * OBJECTS_MAX

/** One object as this member knows it; a destroyed one stays for a while, as a tombstone. */
export interface Replica {
  /** Creator and count in one number. */
  readonly key: number
  readonly creator: PeerId
  readonly count: number
  /** Index of the object in the arrays of each subscriber. */
  slot: number
  /** Rises with each version here, so that one can tell what a slot held when a packet left. */
  serial: number
  type: number
  version: Version
  /** Who may change the object; for a tombstone, who sends it to all. */
  owner: PeerId
  /** The player who owned the object, if it waits for them with the primary; else 0. */
  former: number
  dead: boolean
  /** The number (`follows`) of the primary that sent us the object last. */
  heardUnder: number
  /** The object lives, and we may not see it. */
  hidden: boolean
  /** Rises with each change by the owner, over all versions. */
  oseq: number
  fields: Quantised
  /** For each field the oseq with which it changed last. */
  changedAt: number[]
  /** When this state was made, in session time; NaN if that is not known. */
  madeAt: Millis
  /** How old the state was at the stages that it has passed; null if it is not measured. */
  ages: readonly Millis[] | null
  /** When the last state that is measured was made. Only for our own objects. */
  measuredAt: Millis
  /** When the object's version began, or it was destroyed; by our clock. */
  since: Millis
  /** As its adopter: the version and oseq in which we adopted it. */
  adopted: { readonly version: Version; readonly oseq: number } | null
  /** Cell of the object in the grid of its type; -1 for none. */
  cell: number
  /** The object is ours, and being given away: it may not be changed. */
  giving: boolean
  /** For our objects: when the state was sent last, by our clock. */
  saidAt: Millis
  /** The update that was written last, for peers that lack the same. */
  written: { readonly oseq: number; readonly mask: number; readonly bytes: Uint8Array } | null
}

/** How far a peer is with an object: the states of its delivery barrier. */
export const BARRIER = { none: 0, owed: 1, sent: 2, open: 3, hiding: 4, hidden: 5 } as const

/** What one peer has of the objects, slot by slot. */
export interface Subscriber {
  /** There is a link, as far as we know. */
  linked: boolean
  /** In a mesh: the epoch in which the peer asked to be sent all of ours again. */
  resyncedIn: number
  /** The peer sent FOLLOW, so it accepts what we send it as its primary. */
  follows: boolean
  barrier: Uint8Array
  /** The newest oseq that the peer has. */
  acked: Uint32Array
  /** The newest oseq that is on its way in an update. */
  sent: Uint32Array
  /** Whether the peer may see it, for types with a rule. */
  seen: Uint8Array
  /** Slots of which the peer sent us an older version: it is sent the newer one, or a HIDE. */
  outdated: Set<number>
  /** Slots that must be sent reliably, in order. */
  owed: number[]
  /** Messages until they are delivered, with slot, serial and oseq of each entry. */
  awaited: { message: number; entries: number[] }[]
  /** Slots with something new. */
  todo: number[]
  queued: Uint8Array
  /** Since when each slot has waited. */
  since: Float64Array
  /** Packets until their verdict, with slot, serial and oseq of each update. */
  carried: Map<number, number[]>
  /** How many updates the last packet carried, if some were left waiting; else 0. */
  behind: number
  /** When that packet was built. */
  filledAt: Millis
  /** When the waiting updates were last put in order. */
  rankedAt: Millis
  /** A RESYNC is due to the peer, once all that is owed to it was sent. */
  resyncDue: boolean
  /**
   * Cells that its eyes see, by type with a grid; no entry for a peer without eyes, which sees all.
   */
  cells: Map<number, Set<number>>
  /** Cells that its eyes are in, by type with a grid. */
  eyes: Map<number, number[]>
}

/** Decisions on which one owner and one newest state rest: RULES of rules.ts, or a test's own. */
export interface ObjectsRules extends RequestRules {
  /** Which of two versions is the newer one (B39): above 0 if the entry's is. */
  order(said: Said, known: Replica): number
  /** Whether that peer may send that entry (B48). */
  maySay(turn: Turn, from: PeerId, said: Said, known: Replica | undefined): boolean
  /** Whether an earlier primary may have granted that version. */
  isOfBefore(objects: Objects, now: Millis, version: Version): boolean
  /** Whether the entry may create an object that we do not have (B41). */
  creates(said: Said): boolean
  /** Whether tombstones are kept, adopted, reported, or sent to newcomers. */
  tombstone(use: 'keep' | 'adopt' | 'report' | 'tell'): boolean
  /** Whether an update is not newer than what we have (B16). */
  isOld(oseq: number, known: number): boolean
  /** Whether an update is of the version that we have (B45). */
  fits(said: Version, known: Version): boolean
  /** Whether we accept messages of that peer at all. */
  hears(objects: Objects, from: PeerId): boolean
  /** Whether we report an object whose owner left (B53). */
  reports(replica: Replica): boolean
  /** Whether we send that object's state to that peer (B31). */
  speaksFor(objects: Objects, replica: Replica, peer: PeerId): boolean
  /** As primary: makes that member the owner in that version. */
  grant(turn: Turn, replica: Replica, version: Version, to: PeerId, giver: Grant['giver']): void
  /** The epoch of a grant that is made now. */
  epochOf(objects: Objects): number
  /** Our primary is another: sends it what it must know. */
  follow(turn: Turn): void
  /** A peer follows us: makes all that it must be sent owed to it. */
  oweAll(turn: Turn, peer: PeerId, subscriber: Subscriber): void
  /** The oseq up to which a peer has all changes. */
  base(subscriber: Subscriber, slot: number): number
  /** Whether the same frame may go to several peers. */
  shares(): boolean
}

/** All objects of a session at one member. */
export interface Objects {
  me: PeerId
  primary: PeerId
  epoch: number
  /** The epoch in which we sent our primary what is ours. */
  reportedIn: number
  /** How often we began to follow a primary, which then sent us all that we may see. */
  follows: number
  /** As primary: the epoch in which we became it, and when. */
  term: { from: number; at: Millis }
  mesh: boolean
  /** Session time minus our clock; NaN while it is not known. */
  offset: Millis
  replicas: Map<number, Replica>
  /** The key at each slot; -1 for a free one. */
  slots: number[]
  free: number[]
  /** The serial of the object at each slot; 0 for none. */
  serials: number[]
  living: number
  /** How many of the living objects each member made. */
  made: Map<PeerId, number>
  /** Most objects that one player makes, by the session's terms. */
  quota: number
  /** Members that were admitted as hosts: they may make as many as there is room for. */
  hosts: Set<PeerId>
  /** Members that only watch: they own nothing. */
  watching: Set<PeerId>
  nextSerial: number
  nextCount: number
  /** In a mesh: who sent later epochs than ours while we led. By then somebody else leads. */
  early: Set<PeerId>
  /** Who is here, and the player of each. */
  here: Map<PeerId, number>
  /** The players of members who left, for as long as an object of theirs may turn up. */
  went: Map<PeerId, number>
  /** Players whose processes said that they end, and since when. */
  ended: ReadonlyMap<number, Millis>
  subscribers: Map<PeerId, Subscriber>
  /** Peers to whom something reliable is owed. */
  owing: Set<PeerId>
  /** Slots that changed since the last flush. */
  fresh: Set<number>
  /** Peers to whom updates are waiting to be written. */
  dirty: Set<PeerId>
  /** Something that changed since the last send tick waits for a peer. */
  news: boolean
  /** No update leaves before this, so that changes gather. */
  leaveAt: Millis
  /** Changes gather for at least so long. */
  gatherMs: Millis
  /** Keys of our objects that changed as the others extrapolate, and whose change is unsent. */
  unsaid: Set<number>
  /** When the first of the unsent changes is due. */
  unsaidAt: Millis
  /** Messages that leave with the next flush. */
  outbox: { to: PeerId; bytes: Uint8Array }[]
  /** As primary: grants that are not confirmed yet, by key, oldest first. */
  grants: Map<number, Grant[]>
  /** As primary: owners that were asked on behalf of another, by key. */
  asked: Map<number, Ask>
  /** As primary: requests in their order, until they can be decided. */
  pending: Asked[]
  /** When the first of the waiting requests is to be looked at again. */
  pendingAt: Millis
  /** As primary: the term in which all members that were here have sent what is theirs. */
  heardIn: number
  /** As owner: who asked for our objects, by key. */
  asks: Map<number, Answering>
  /** Our requests, by number. */
  requests: Map<number, Request>
  nextRequest: number
  /** As primary: when objects are balanced next. */
  balanceAt: Millis
  /** When an object of ours that we lack counts as lost: some time after our primary sent all. */
  countedAt: Millis
  /** When tombstones, grants and requests are looked through next. */
  lookAt: Millis
  /** With grids: slots by cell, by type. */
  cells: Map<number, Map<number, Set<number>>>
  /** With grids: who sees a cell, by type. */
  watchers: Map<number, Map<number, Set<PeerId>>>
  /** Keys of objects that got another owner: the former owner's interest is to be checked again. */
  handed: Set<number>
  /** Slots of the objects that are a member's eyes. */
  eyes: Map<PeerId, Set<number>>
  /** Of types that the room keeps beyond its members. */
  kept: Kept
  counters: ObjectCounters
  rules: ObjectsRules
}

/** Counters of objects. */
export interface ObjectCounters {
  /** Frames and messages that no correct member could have sent. */
  malformed: number
  /** Entries and updates that were older than what we have. */
  stale: number
  /** Messages that their sender was not allowed to send. */
  ignored: number
  /** States from a clock that runs ahead. */
  ahead: number
  /** As primary: objects for which there was no room. */
  full: number
}

/** Events for the application. */
export type ObjectEvent =
  | { kind: 'object-came'; key: number }
  /** `mask` of the fields that changed; `ages` at the four stages to us, if they were measured. */
  | { kind: 'object-changed'; key: number; mask: number; ages: readonly Millis[] | null }
  | { kind: 'object-went'; key: number }
  /** There was no room for an object that we made: it ends. */
  | { kind: 'object-refused'; key: number; why: 'full' | 'quota' }
  /**
   * Another member owns the object now, or keeps it for another player; `lost`: our changes that
   * nobody else has seen, or null.
   */
  | { kind: 'object-owner'; key: number; before: PeerId; lost: Quantised | null }
  | { kind: 'object-asked'; key: number; by: PeerId; request: number }
  /** `by`: who has the object, was first or declined; 0 for nobody. */
  | { kind: 'object-answer'; request: number; answer: Answer; by: PeerId }
  /** Our primary has sent us all that it knows, and given back what is ours. */
  | { kind: 'objects-known' }
  /** For displays: our primary is about to send us so many. */
  | { kind: 'objects-total'; total: number }
  /** Some time later: every member that knew more has reported it by now. */
  | { kind: 'objects-settled' }

/** Everything that one call works on. */
export interface Turn {
  readonly objects: Objects
  readonly types: Types
  readonly now: Millis
  readonly out: PartOut<ObjectEvent>
}

/** Least time between two send ticks. */
export const GATHER_MS: Millis = 4

/** Creates the state without objects. @param gatherMs  between two send ticks */
export function createState(gatherMs: Millis, rules: ObjectsRules): Objects {
  return {
    me: 0,
    primary: 0,
    epoch: 0,
    reportedIn: 0,
    follows: 0,
    term: { from: 0, at: 0 },
    mesh: false,
    offset: NaN,
    replicas: new Map(),
    slots: [],
    free: [],
    serials: [],
    living: 0,
    made: new Map(),
    quota: Infinity,
    ...{ hosts: new Set(), watching: new Set() },
    nextSerial: 1,
    nextCount: 1,
    early: new Set(),
    here: new Map(),
    ...{ went: new Map(), ended: new Map() },
    subscribers: new Map(),
    owing: new Set(),
    fresh: new Set(),
    dirty: new Set(),
    news: false,
    leaveAt: 0,
    gatherMs,
    unsaid: new Set(),
    unsaidAt: Infinity,
    outbox: [],
    ...noDemands(),
    ...{ balanceAt: Infinity, countedAt: Infinity, lookAt: Infinity },
    ...noSight(),
    ...{ kept: createKept(), counters: createCounters() },
    rules,
  }
}

// Nobody has eyes yet.
function noSight(): Pick<Objects, 'cells' | 'watchers' | 'eyes' | 'handed'> {
  return { cells: new Map(), watchers: new Map(), eyes: new Map(), handed: new Set() }
}

// No requests, asks or grants yet.
function noDemands(): Pick<Objects, Demands> {
  return {
    grants: new Map(),
    asked: new Map(),
    pending: [],
    pendingAt: Infinity,
    heardIn: 0,
    asks: new Map(),
    requests: new Map(),
    nextRequest: 1,
  }
}

type Demands =
  | 'grants'
  | 'asked'
  | 'pending'
  | 'pendingAt'
  | 'heardIn'
  | 'asks'
  | 'requests'
  | 'nextRequest'

function createCounters(): ObjectCounters {
  return { malformed: 0, stale: 0, ignored: 0, ahead: 0, full: 0 }
}

/** Creator and count in one number. */
export function keyOf(creator: PeerId, count: number): number {
  return creator * 2 ** 32 + count
}

/** `creator.count`, unique in a session for ever. */
export function idOf(key: number): string {
  return `${Math.floor(key / 2 ** 32)}.${key % 2 ** 32}`
}

/** Adds an object that is new here, in a slot of its own; it is dead until it has a state. */
export function place(objects: Objects, creator: PeerId, count: number, type: number): Replica {
  const key = keyOf(creator, count)
  const slot = objects.free.pop() ?? objects.slots.length
  objects.slots[slot] = key
  objects.serials[slot] = objects.nextSerial
  const replica: Replica = {
    key,
    creator,
    count,
    slot,
    serial: objects.nextSerial++,
    type,
    version: FIRST,
    owner: 0,
    former: 0,
    dead: true,
    heardUnder: 0,
    hidden: false,
    oseq: 0,
    fields: [],
    changedAt: [],
    madeAt: NaN,
    ages: null,
    measuredAt: NaN,
    since: 0,
    adopted: null,
    cell: -1,
    giving: false,
    saidAt: -Infinity,
    written: null,
  }
  objects.replicas.set(key, replica)
  return replica
}

/** Counts one living object more, or one less. */
export function tally(objects: Objects, { creator }: Replica, by: 1 | -1): void {
  const made = (objects.made.get(creator) ?? 0) + by
  objects.living += by
  if (made > 0) objects.made.set(creator, made)
  else objects.made.delete(creator)
}

/** Removes all that is kept of an object. */
export function forget(objects: Objects, replica: Replica): void {
  objects.replicas.delete(replica.key)
  objects.slots[replica.slot] = -1
  objects.serials[replica.slot] = 0
  objects.free.push(replica.slot)
  for (const subscriber of objects.subscribers.values()) {
    if (replica.slot < subscriber.barrier.length) clearSlot(subscriber, replica.slot)
    subscriber.outdated.delete(replica.slot)
  }
}

function clearSlot(subscriber: Subscriber, slot: number): void {
  subscriber.barrier[slot] = BARRIER.none
  subscriber.acked[slot] = 0
  subscriber.sent[slot] = 0
  subscriber.seen[slot] = 0
  subscriber.queued[slot] = 0
}

/** The object at a slot, or null. */
export function at(objects: Objects, slot: number): Replica | null {
  const key = objects.slots[slot] ?? -1
  return key < 0 ? null : (objects.replicas.get(key) ?? null)
}

/** Whether we are the primary. */
export function leads(objects: Objects): boolean {
  return objects.me !== 0 && objects.me === objects.primary
}

/** Whether what we send goes by way of another: in a star, for every member but the primary. */
export function relays(objects: Objects): boolean {
  return !objects.mesh && !leads(objects)
}

/** Whether the object lives and may be shown. */
export function isSeen(replica: Replica): boolean {
  return !replica.dead && !replica.hidden
}

/** The owner of an object that was hidden from us in a version whose owner we were not told. */
export const NOBODY: PeerId = 0

/** Whether the object lives in a version of which we know neither the owner nor the state (T76). */
export function isUnclaimed({ owner, hidden, dead }: Replica): boolean {
  return owner === NOBODY && hidden && !dead
}

/** Whether we may change the object. */
export function isMine(objects: Objects, replica: Replica): boolean {
  return !replica.dead && replica.owner === objects.me && !replica.giving
}
