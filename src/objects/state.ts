/** What one member knows of a session's objects, as plain data. */

import type { Millis, PartOut, PeerId } from '../machine.ts'
import type { Quantised } from '../wire/schema.ts'
import type { Answer, Answering, Ask, Asked, Grant, Request, RequestRules } from './demands.ts'
import type { Said, Types } from './types.ts'
import { FIRST, type Version } from './version.ts'

export * from './demands.ts'
export * from './types.ts'

/** Most objects of one session that live. */
export const OBJECTS_MAX = 10_000
/** Largest state of one object, in bytes: it fits one frame with what an update says besides. */
export const STATE_MAX = 1_024
/** Objects are numbered by their creator from 1 to this. */
export const COUNT_MAX: number = 2 ** 32 - 1
/** An object changes so often at most; what another says goes half as far, so ours can go on. */
export const OSEQ_MAX: number = 2 ** 32 - 1
/** See OSEQ_MAX. */
export const OSEQ_SAID_MAX: number = 2 ** 31
/** Most objects that are remembered, those that are gone included. */
export const REPLICAS_MAX: number = 2 * OBJECTS_MAX
/** Members are numbered below this. */
export const CREATOR_MAX: number = 2 ** 20

/** One object as this member knows it; also one that is gone, for a while. */
export interface Replica {
  /** Creator and count in one number. */
  readonly key: number
  readonly creator: PeerId
  readonly count: number
  /** Its place in what is kept for each peer. */
  slot: number
  /** Rises with each version here: by which one tells what a slot held when a packet left. */
  serial: number
  type: number
  version: Version
  /** Who may change it; of one that is gone, who says so. */
  owner: PeerId
  /** The player whose it was, if it waits for them with the primary; else 0. */
  former: number
  dead: boolean
  /** Which of the primaries that we followed told us of it last, by its number. */
  heardUnder: number
  /** It lives, and its owner does not let us see it. */
  hidden: boolean
  /** Rises with each change by the owner, over all versions. */
  oseq: number
  fields: Quantised
  /** For each field the oseq with which it changed last. */
  changedAt: number[]
  /** When this state was made, in session time; NaN if that is not known. */
  madeAt: Millis
  /** How old it was at the stages behind it; null if it is not measured. */
  ages: readonly Millis[] | null
  /** When the last state that is measured was made. Only of our own. */
  measuredAt: Millis
  /** When it went, or when it was adopted; by our clock. */
  since: Millis
  /** As its adopter: the version and oseq that it was adopted with. */
  adopted: { readonly version: Version; readonly oseq: number } | null
  /** Its cell in the grid of its type; -1 for none. */
  cell: number
  /** Ours, given away and not yet gone: it may not be changed. */
  giving: boolean
  /** Ours: when its state was said last, by our clock. */
  saidAt: Millis
  /** An update as it was written last, for peers that lack the same. */
  written: { readonly oseq: number; readonly mask: number; readonly bytes: Uint8Array } | null
}

/** How far a peer is with an object. */
export const BARRIER = { none: 0, owed: 1, sent: 2, open: 3, hiding: 4, hidden: 5 } as const

/** What one peer has of the objects, slot by slot. */
export interface Subscriber {
  /** There is a link, as far as we know. */
  linked: boolean
  /** In a mesh: the epoch in which it asked to be told all of ours again. */
  resyncedIn: number
  /** It said that it follows us, so what we tell it as its primary counts. */
  follows: boolean
  barrier: Uint8Array
  /** The newest oseq that the peer has. */
  acked: Uint32Array
  /** The newest oseq that is on its way in an update. */
  sent: Uint32Array
  /** Whether the peer may see it, for types with a rule. */
  seen: Uint8Array
  /** Slots of which it told us an older version: if it may not see the newer, it hears that. */
  outdated: Set<number>
  /** Slots to be told reliably, in order. */
  owed: number[]
  /** What a message told, until it is delivered: slot, serial and oseq of each. */
  awaited: { message: number; entries: number[] }[]
  /** Slots with something new. */
  todo: number[]
  queued: Uint8Array
  /** Since when each has waited. */
  since: Float64Array
  /** What a packet carried, until its verdict: slot, serial and oseq of each. */
  carried: Map<number, number[]>
  /** How many the last packet carried, if not all that waited went; else 0. */
  behind: number
  /** When that packet was built. */
  filledAt: Millis
  /** When those that wait were put in order. */
  rankedAt: Millis
  /** It is to be asked for what it has of members who went, once all is told. */
  resyncDue: boolean
  /** Cells that its eyes see, by type with a grid; none for who has no eyes and sees all. */
  cells: Map<number, Set<number>>
  /** Cells that its eyes are in, by type with a grid. */
  eyes: Map<number, number[]>
}

/** Decisions on which one owner and one newest state rest (RULES of rules.ts, or twisted ones). */
export interface ObjectsRules extends RequestRules {
  /** Which of two versions is the newer one (B39): above 0 what is said. */
  order(said: Said, known: Replica): number
  /** Whether that peer may say that of an object (B48). */
  maySay(turn: Turn, from: PeerId, said: Said, known: Replica | undefined): boolean
  /** Whether a primary before us may have granted that version. */
  isOfBefore(objects: Objects, now: Millis, version: Version): boolean
  /** Whether what is said may make an object that we do not have (B41). */
  creates(said: Said): boolean
  /** Whether of what is gone that becomes: it is kept, adopted, reported, told to newcomers. */
  tombstone(use: 'keep' | 'adopt' | 'report' | 'tell'): boolean
  /** Whether an update is not newer than what we have (B16). */
  isOld(oseq: number, known: number): boolean
  /** Whether an update is of the version that we have (B45). */
  fits(said: Version, known: Version): boolean
  /** Whether we hear that peer at all. */
  hears(objects: Objects, from: PeerId): boolean
  /** Whether we report an object whose owner went (B53). */
  reports(replica: Replica): boolean
  /** Whether we speak for that object towards that peer (B31). */
  speaksFor(objects: Objects, replica: Replica, peer: PeerId): boolean
  /** As primary: that member owns it in that version. */
  grant(turn: Turn, replica: Replica, version: Version, to: PeerId, giver: Grant['giver']): void
  /** The epoch of what is granted now. */
  epochOf(objects: Objects): number
  /** Our primary is another: what is to be said to it. */
  follow(turn: Turn): void
  /** A peer follows us: what it is to be told. */
  oweAll(turn: Turn, peer: PeerId, subscriber: Subscriber): void
  /** Up to which oseq a peer lacks nothing of what was changed. */
  base(subscriber: Subscriber, slot: number): number
  /** Whether the same frame may go to several peers. */
  shares(): boolean
}

/** All objects of a session at one member. */
export interface Objects {
  me: PeerId
  primary: PeerId
  epoch: number
  /** The epoch in which we told our primary what is ours. */
  reportedIn: number
  /** How often we began to follow a primary, which then told us all that we may see. */
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
  /** Of those, how many each member made. */
  made: Map<PeerId, number>
  /** Most that one player makes, as the session's terms say. */
  quota: number
  /** Members that are hosts: they may make as many as there is room for. */
  hosts: Set<PeerId>
  nextSerial: number
  nextCount: number
  /** In a mesh: who spoke of epochs after ours while we led. By then somebody else leads. */
  early: Set<PeerId>
  /** Who is here, and the player of each. */
  here: Map<PeerId, number>
  /** The players of those who went, for as long as something of theirs may turn up. */
  went: Map<PeerId, number>
  subscribers: Map<PeerId, Subscriber>
  /** Those who are owed something reliable. */
  owing: Set<PeerId>
  /** Slots that changed since the last flush. */
  fresh: Set<number>
  /** Those with something to write. */
  dirty: Set<PeerId>
  /** Some of that changed since the last round. */
  news: boolean
  /** Before this no update leaves, so that changes gather. */
  leaveAt: Millis
  /** For so long they gather at least. */
  gatherMs: Millis
  /** Keys of ours that changed as the others reckon, and of which nothing was said. */
  unsaid: Set<number>
  /** When the first of them is due. */
  unsaidAt: Millis
  /** Messages that leave with the next flush. */
  outbox: { to: PeerId; bytes: Uint8Array }[]
  /** As primary: those not confirmed yet, by key, oldest first. */
  grants: Map<number, Grant[]>
  /** As primary: owners that were asked on behalf of another, by key. */
  asked: Map<number, Ask>
  /** As primary: requests in their order, until they can be decided. */
  pending: Asked[]
  /** When the first of those that wait is to be looked at again. */
  pendingAt: Millis
  /** As primary: the term in which all members that were here have told what is theirs. */
  heardIn: number
  /** As owner: who asked for ours, by key. */
  asks: Map<number, Answering>
  /** Ours, by number. */
  requests: Map<number, Request>
  nextRequest: number
  /** As primary: who is to be balanced next, and when. */
  balanceAt: Millis
  /** When what we lack of ours counts as lost: some time after our primary told all. */
  countedAt: Millis
  /** When tombstones and grants are looked through next. */
  lookAt: Millis
  /** With grids: slots by cell, by type. */
  cells: Map<number, Map<number, Set<number>>>
  /** With grids: who sees a cell, by type. */
  watchers: Map<number, Map<number, Set<PeerId>>>
  /** Keys of those that changed hands: who had them is to be looked at again. */
  handed: Set<number>
  /** Slots of the objects that are somebody's eyes. */
  eyes: Map<PeerId, Set<number>>
  counters: ObjectCounters
  rules: ObjectsRules
}

/** What is counted. */
export interface ObjectCounters {
  /** Frames and messages that nobody of ours could have sent. */
  malformed: number
  /** What was older than what we have. */
  stale: number
  /** What its sender may not say. */
  ignored: number
  /** States from a clock that runs ahead. */
  ahead: number
  /** As primary: objects for which there was no room. */
  full: number
}

/** What the objects tell the application. */
export type ObjectEvent =
  | { kind: 'object-came'; key: number }
  /** `mask` of the fields that changed; `ages` at the four stages to us, if it was measured. */
  | { kind: 'object-changed'; key: number; mask: number; ages: readonly Millis[] | null }
  | { kind: 'object-went'; key: number }
  /** There was no room for one that we made: it ends. */
  | { kind: 'object-refused'; key: number; why: 'full' | 'quota' }
  /** Somebody else owns it now; `lost` what we had changed and nobody else has seen, or null. */
  | { kind: 'object-owner'; key: number; before: PeerId; lost: Quantised | null }
  | { kind: 'object-asked'; key: number; by: PeerId; request: number }
  /** `by`: who has it, was first or said no; 0 where nobody did. */
  | { kind: 'object-answer'; request: number; answer: Answer; by: PeerId }
  /** Our primary has told us all that it knows, and given back what is ours. */
  | { kind: 'objects-known' }
  /** Some time later: whoever knew more has said so by now. */
  | { kind: 'objects-settled' }

/** What one verb works on. */
export interface Turn {
  readonly objects: Objects
  readonly types: Types
  readonly now: Millis
  readonly out: PartOut<ObjectEvent>
}

/** Between two rounds of updates at least. */
export const GATHER_MS: Millis = 4

/** No objects yet. @param gatherMs  between two rounds of updates */
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
    hosts: new Set(),
    nextSerial: 1,
    nextCount: 1,
    early: new Set(),
    here: new Map(),
    went: new Map(),
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
    counters: createCounters(),
    rules,
  }
}

// Nobody looks around.
function noSight(): Pick<Objects, 'cells' | 'watchers' | 'eyes' | 'handed'> {
  return { cells: new Map(), watchers: new Map(), eyes: new Map(), handed: new Set() }
}

// Nothing is asked for.
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

/** An object that is new here, in a slot of its own. */
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

/** One more lives, or one less. */
export function tally(objects: Objects, { creator }: Replica, by: 1 | -1): void {
  const made = (objects.made.get(creator) ?? 0) + by
  objects.living += by
  if (made > 0) objects.made.set(creator, made)
  else objects.made.delete(creator)
}

/** Nothing of it is kept. */
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

/** Whether what we say goes by way of another: in a star, of a member that does not lead. */
export function relays(objects: Objects): boolean {
  return !objects.mesh && !leads(objects)
}

/** Whether it lives and may be shown. */
export function isSeen(replica: Replica): boolean {
  return !replica.dead && !replica.hidden
}

/** Whether it is ours to change. */
export function isMine(objects: Objects, replica: Replica): boolean {
  return !replica.dead && replica.owner === objects.me && !replica.giving
}
