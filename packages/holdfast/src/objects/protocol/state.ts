/**
 * One member's state of a session's objects, as plain data, and the rules of their types. The type
 * of each state is the return type of the function that creates it.
 */

import { type Millis, type PeerId, termOf } from '../../machine.ts'
import type { PartOut } from '../../kind/protocol/part.ts'
import type { Migration } from '../../wire/fields/converting.ts'
import type { Fields, Quantised, Schema } from '../../wire/fields/schema.ts'

export const OBJECTS_MAX = 10_000
/** Objects that one player may make, unless the session's founder set another quota. */
const QUOTA = OBJECTS_MAX / 4
/** Largest state of one object, in bytes: its update fits one frame. */
export const STATE_MAX = 1_024
/** Each creator numbers its objects from 1 to this. */
export const COUNT_MAX: number = 2 ** 32 - 1
/** Highest oseq accepted from the wire: half of what four bytes hold, so ours can continue it. */
export const OSEQ_WIRE_MAX: number = 2 ** 31
/** Most objects in memory, tombstones included. */
export const REPLICAS_MAX: number = 2 * OBJECTS_MAX
/** Least time between two send ticks. */
export const GATHER_MS: Millis = 4

// The version of an object's ownership (B43, B51) decides which of two entries is newer.
//
// A version starts at (0, 0) and rises with each change of owner. It combines the epoch of the
// granting primary and a count. So two primaries never make the same version, and a grant by a
// successor fences off every grant by a deposed primary.

/** Plain data, never changed in place. */
export interface Version {
  readonly epoch: number
  readonly count: number
}

/** The version of an object that still has its first owner. */
export const FIRST: Version = Object.freeze({ epoch: 0, count: 0 })

export function compare(a: Version, b: Version): number {
  return a.epoch - b.epoch || a.count - b.count
}

/** The version of a grant in `epoch`: newer than `known`, unless that is of a later epoch. */
export function after(known: Version, epoch: number): Version {
  return { epoch, count: known.epoch < epoch ? 1 : known.count + 1 }
}

/** Who may take an object from its owner: anybody, anybody with the owner's consent, or nobody. */
export type TakePolicy = 'free' | 'ask' | 'fixed'

export interface TypeRules {
  readonly schema: Schema<Fields>
  /** States of the type carry a stamp. */
  readonly timed: boolean
  readonly take: TakePolicy
  /** The outcome of an ask that the owner does not answer. */
  readonly unanswered: 'refuse' | 'take'
  /** The fate of an object whose owner does not return. */
  readonly onOwnerLeave: 'destroy' | 'keep'
  /** The primary may move objects of the type to the member with fewest (B27). */
  readonly balance: boolean
  /** Priority: an object of twice the weight waits half as long to be sent. */
  readonly weight: number
  /** Who sees objects of the type; null: everybody. */
  readonly visibility: VisibilityRule | null
  /** How the room persists objects of the type; null or missing: it does not. */
  readonly kept?: { readonly name: string; readonly migration: Migration | null } | null
  /** The column of the vec2 that serves as eyes of the object's owner; -1 for none. */
  readonly eyes: number
}

export type VisibilityRule =
  /** Members with eyes within the radius of the object's place, a vec2 in that column, see it. */
  | { readonly kind: 'near'; readonly column: number; readonly radius: number }
  | { readonly kind: 'rule'; readonly sees: (fields: Quantised) => Sees }

export type Sees = (viewer: PeerId, player: number) => boolean

export type Types = readonly TypeRules[]

function createReplica(creator: PeerId, count: number, index: number, type: number) {
  return {
    key: keyOf(creator, count),
    creator,
    count,
    /** Index of the object in the arrays of each subscriber. */
    index,
    /** Rises with each version here: tells whether an index changed since a packet was sent. */
    serial: 0,
    type,
    version: FIRST,
    /** The member that may change the object; for a tombstone, the member that sends it to all. */
    owner: 0,
    /** The player for whom the primary holds the object; else 0. */
    former: 0,
    /** The object is destroyed and kept as a tombstone for a while, or has no state yet. */
    dead: true,
    /** Our `followCount` when the object's state came last. */
    receivedUnder: 0,
    /** The object lives, but we may not see it. */
    hidden: false,
    /** Rises with each change by the owner, over all versions. */
    oseq: 0,
    /** As owner: the round in which its oseq last caught up. */
    round: 0,
    fields: [] as Quantised,
    /** The oseq of the last change of each field. */
    changedAt: [] as number[],
    /** When this state was made, in session time; NaN if unknown. */
    madeAt: NaN,
    /** The state's age at each stage that it has passed; null if it is not measured. */
    ages: null as readonly Millis[] | null,
    /** When our last measured state was made. Only for our own objects. */
    measuredAt: NaN,
    /** When this version began, or the object was destroyed; by our clock. */
    since: 0,
    /** As adopter: the version and oseq that we adopted. */
    adopted: null as { version: Version; oseq: number } | null,
    /** Cell of the object in the grid of its type; -1 for none. */
    cell: -1,
    /** We are giving the object away, so it may not be changed. */
    giving: false,
    /** When the state of our object was sent last, by our clock. */
    sentAt: -Infinity,
    /** The last encoded update, for peers that lack the same fields. */
    written: null as { oseq: number; mask: number; bytes: Uint8Array } | null,
  }
}

/** One object as this member knows it. */
export type Replica = ReturnType<typeof createReplica>

/** The part of a replica that all members share. */
export type SharedState = Pick<
  Replica,
  | 'creator'
  | 'count'
  | 'version'
  | 'owner'
  | 'type'
  | 'dead'
  | 'oseq'
  | 'former'
  | 'fields'
  | 'madeAt'
>

/** An entry: an object as a member sent it. */
export type ObjectEntry = SharedState & Pick<Replica, 'key'>

/** `take`: own the object; `give`: give it away; `yes`: give it to the member that asked. */
export type RequestKind = 'take' | 'give' | 'yes'

export interface Request {
  key: number
  what: RequestKind
  to: PeerId
  /** The version that the request would replace. */
  version: Version
  /** For a `yes`: the number of the asking member's request. */
  answers: number
  /** When we asked, or the request came. */
  at: Millis
}

/** A request that the primary has not decided yet. */
export interface PendingRequest extends Request {
  from: PeerId
  number: number
  /** The object's state, which a giver sends along; null for a `take`. */
  entry: ObjectEntry | null
  /** The request was due, but its player had exceeded the rate limit. */
  waits?: boolean
}

/** As primary: an open ask to an owner, on behalf of the member `by`. */
export interface Ask {
  by: PeerId
  request: number
  owner: PeerId
  at: Millis
}

/** As owner: a member asks for one of our objects. */
export interface IncomingAsk {
  by: PeerId
  request: number
  /** Our application's answer; null while there is none. */
  answer: 'yes' | 'no' | null
  sent: boolean
}

/** A grant until the grantee confirms it by sending the object's entry. */
export interface Grant {
  version: Version
  to: PeerId
  at: Millis
  /** The giver and its request; null for a `take`, or once the giver has been answered. */
  giver: { inc: PeerId; request: number } | null
}

/** Why a request is refused, in the order of the wire (docs/protocols/objects.md, Requests). */
export const REFUSALS = [
  ...(['gone', 'late', 'held', 'busy', 'fixed', 'denied', 'no-answer', 'away'] as const),
  'overloaded',
] as const

export type Refusal = (typeof REFUSALS)[number]

export type Answer = 'granted' | Refusal

/** The states of a peer's delivery barrier for an object. */
export const BARRIER = { none: 0, owed: 1, sent: 2, open: 3, hiding: 4, hidden: 5 } as const

/**
 * Updates in a packet: index, serial and oseq of each, from one place of a list to another. Peers
 * that are sent the same share the list.
 */
export interface Carried {
  readonly said: number[]
  readonly from: number
  readonly to: number
}

export function createSubscriber(peer: PeerId) {
  const size = 8
  return {
    peer,
    /** Whether there is a link, as far as we know. */
    linked: false,
    /** In a mesh: the epoch in which the peer last asked us to resend all our objects. */
    resyncedIn: 0,
    /** The peer sent FOLLOW, so it accepts what we send it as its primary. */
    follows: false,
    barrier: new Uint8Array(size),
    /** The newest oseq that the peer has acked. */
    acked: new Uint32Array(size),
    /** The newest oseq in flight in an update. */
    sent: new Uint32Array(size),
    /** Whether the peer may see the object, for types with a rule. */
    seen: new Uint8Array(size),
    /** Indexes for which the peer sent an older version, and is owed the newer one or a HIDE. */
    outdated: new Set<number>(),
    /** Indexes that must be sent reliably, in order. */
    owed: [] as number[],
    /** Messages not yet delivered, with index, serial and oseq of each entry. */
    awaited: [] as { message: number; entries: number[] }[],
    /** Indexes with updates to send. */
    todo: [] as number[],
    queued: new Uint8Array(size),
    /** When each index began to wait. */
    since: new Float64Array(size),
    /** Packets in flight, with their updates. */
    carried: new Map<number, Carried[]>(),
    /** Number of updates in the last packet, if others did not fit; else 0. */
    behind: 0,
    filledAt: -Infinity,
    rankedAt: -Infinity,
    /** A RESYNC is due, after everything owed to the peer. */
    resyncDue: false,
    /** Cells that its eyes see, by type with a grid; none without eyes: the peer then sees all. */
    cells: new Map<number, Set<number>>(),
    /** Cells that its eyes are in, by type with a grid. */
    eyes: new Map<number, number[]>(),
  }
}

/** What one peer has and may see of the objects, by index. */
export type Subscriber = ReturnType<typeof createSubscriber>

/** The decisions that keep one owner and one newest state: RULES of objects.ts, or a test's. */
export interface ObjectsRules {
  /** Compares versions (B39): above 0 if the entry's is newer. */
  order(entry: ObjectEntry, known: Replica): number
  /** Whether a peer may send an entry (B48). */
  isAuthorized(ctx: Context, from: PeerId, entry: ObjectEntry, known?: Replica): boolean
  /** Whether an earlier primary may have granted that version. */
  isFromEarlierTerm(objects: Objects, now: Millis, version: Version): boolean
  /** Whether the entry may create an object that we do not have (B41). */
  creates(entry: ObjectEntry): boolean
  /** Whether tombstones are kept, adopted, reported, or sent to newcomers. */
  tombstone(use: 'keep' | 'adopt' | 'report' | 'send'): boolean
  /** Whether an update is not newer than our state (B16). */
  isOld(oseq: number, known: number): boolean
  /** Whether an update is of our version (B45). */
  fits(version: Version, known: Version): boolean
  /** Whether we accept any messages of a peer. */
  accepts(objects: Objects, from: PeerId): boolean
  /** Whether we report an object whose owner left (B53). */
  reports(replica: Replica): boolean
  /** Whether we send an object's state to a peer (B31). */
  sendsTo(objects: Objects, replica: Replica, peer: PeerId): boolean
  /** As primary: makes a member the owner in that version. */
  grant(ctx: Context, replica: Replica, version: Version, to: PeerId, giver: Grant['giver']): void
  epochOf(objects: Objects): number
  /** Sends a new primary everything that it must know. */
  follow(ctx: Context): void
  /** A peer follows us: owes it everything that it must get. */
  oweAll(ctx: Context, subscriber: Subscriber): void
  /** The baseline of a peer: the oseq up to which it has all changes. */
  base(subscriber: Subscriber, index: number): number
  /** Whether several peers may share a frame. */
  shares(): boolean
  /** Whether an ask is resent to a member that follows us again. */
  asksAgain(ask: Ask, follower: PeerId): boolean
  /** Whether an owner may decline while the object is not its own. */
  declines(mine: boolean): boolean
  /** Whether an ask is refused when the owner gives the object to another member. */
  endsByGive(ask: Ask, to: PeerId): boolean
  /** Whether a new primary decides nothing before all members have sent it their objects. */
  waitsForAll(): boolean
}

/** Creates the state without objects. @param gatherMs  least time between two send ticks */
export function createState(gatherMs: Millis, rules: ObjectsRules) {
  return {
    me: 0,
    primary: 0,
    epoch: 0,
    /** The epoch in which we last sent our primary our objects. */
    reportedIn: 0,
    /** How often we began to follow a primary; each then sends us all that we may see. */
    followCount: 0,
    /** As primary: the first epoch of our term, and when the term began. */
    term: { from: 0, at: 0 },
    mesh: false,
    /** Session time minus our clock; NaN while unknown. */
    offset: NaN,
    replicas: new Map<number, Replica>(),
    /** The key at each index; -1 for a free one. */
    keyAt: [] as number[],
    freeIndexes: [] as number[],
    /** The serial of the object at each index; 0 for none. */
    serials: [] as number[],
    living: 0,
    /** Number of living objects that each member made. */
    made: new Map<PeerId, number>(),
    /** Most objects that one player may make, by the session's terms. */
    quota: Infinity,
    /** Members admitted as hosts: they have no quota. */
    hosts: new Set<PeerId>(),
    /** Members that only watch: they own nothing. */
    watching: new Set<PeerId>(),
    nextSerial: 1,
    nextCount: 1,
    /** The oseq of our objects that change in this send tick, and the newest that one got. */
    round: 1,
    newestOseq: 0,
    /** In a mesh: peers that sent a later epoch while we led, so another member leads by then. */
    early: new Set<PeerId>(),
    /** The members here, and the player of each. */
    here: new Map<PeerId, number>(),
    /** The players of departed members, while their objects may still appear. */
    departed: new Map<PeerId, number>(),
    /** Players whose processes announced their end, and when. */
    ended: new Map() as ReadonlyMap<number, Millis>,
    subscribers: new Map<PeerId, Subscriber>(),
    /** As primary: members that we let in since the last flush. */
    newcomers: [] as PeerId[],
    /** Peers with reliable messages owed. */
    owing: new Set<PeerId>(),
    /** Indexes that changed since the last flush. */
    fresh: new Set<number>(),
    /** Peers with updates to write. */
    dirty: new Set<PeerId>(),
    /** A change since the last send tick waits for a peer. */
    changesWaiting: false,
    /** We changed objects since the last send tick, and in the tick before it. */
    hasOwn: false,
    isPaced: false,
    /** No update is sent before this, so that changes gather. */
    nextSendAt: 0,
    /** Least time between two send ticks. */
    gatherMs,
    /** Keys of our objects with an unsent change, which the others extrapolate. */
    unsent: new Set<number>(),
    /** When the first of the unsent changes is due. */
    unsentAt: Infinity,
    outbox: [] as { to: PeerId; bytes: Uint8Array }[],
    /** As primary: unconfirmed grants, by key, oldest first. */
    grants: new Map<number, Grant[]>(),
    /** As primary: open asks to owners, by key. */
    openAsks: new Map<number, Ask>(),
    /** As primary: undecided requests, in order. */
    pending: [] as PendingRequest[],
    /** When the first undecided request is due. */
    pendingAt: Infinity,
    /** As primary: the term in which every member has sent its objects. */
    allReportedIn: 0,
    /** As owner: asks for our objects, by key. */
    incomingAsks: new Map<number, IncomingAsk>(),
    requests: new Map<number, Request>(),
    nextRequest: 1,
    /** As primary: when objects are next balanced. */
    balanceAt: Infinity,
    /** When unclaimed objects are adopted or reported: some time after our primary sent all. */
    settleAt: Infinity,
    /** When tombstones, grants and requests are next swept. */
    sweepAt: Infinity,
    /** With grids: indexes by cell, by type. */
    cells: new Map<number, Map<number, Set<number>>>(),
    /** With grids: the peers that see a cell, by type. */
    viewers: new Map<number, Map<number, Set<PeerId>>>(),
    /** Indexes of the objects that are a member's eyes. */
    eyes: new Map<PeerId, Set<number>>(),
    /** Keys of objects with a new owner: the former one may not be allowed to see them. */
    transferred: new Set<number>(),
    /** The objects that the room persists. */
    kept: {
      /** Whether one changed since the last `changesOf`. */
      hasChanges: false,
      /** The version, oseq and player last written of each, by key. */
      written: new Map<number, string>(),
      /** The entries found when the room was opened, until we lead it. */
      found: [] as ObjectEntry[],
    },
    counters: {
      /** Frames and messages that no correct member could have sent. */
      malformed: 0,
      /** Entries and updates older than our state. */
      stale: 0,
      /** Messages that their sender was not authorized to send. */
      ignored: 0,
      /** States stamped by a clock that runs ahead. */
      ahead: 0,
      /** As primary: objects rejected for lack of room. */
      full: 0,
    },
    rules,
  }
}

export type Objects = ReturnType<typeof createState>

export type ObjectEvent =
  | { kind: 'object-came'; key: number }
  /** `mask`: the changed fields; `ages`: at the four stages up to us, if measured. */
  | { kind: 'object-changed'; key: number; mask: number; ages: readonly Millis[] | null }
  | { kind: 'object-went'; key: number }
  /** There was no room for an object that we made: it is destroyed. */
  | { kind: 'object-refused'; key: number; why: 'full' | 'quota' }
  /**
   * Another member owns the object now, or holds it for another player. `lost`: our changes that
   * nobody else has seen, or null.
   */
  | { kind: 'object-owner'; key: number; before: PeerId; lost: Quantised | null }
  | { kind: 'object-asked'; key: number; by: PeerId; request: number }
  /** `by`: the member that has the object, was first, or declined; 0 for none. */
  | { kind: 'object-answer'; request: number; answer: Answer; by: PeerId }
  /** Our primary has sent us everything it knows, and given back our objects. */
  | { kind: 'objects-known' }
  /** For displays: the number of objects that our primary is about to send. */
  | { kind: 'objects-total'; total: number }
  /** Some time later: by now every member has reported what the primary lacked. */
  | { kind: 'objects-settled' }

export interface Context {
  readonly objects: Objects
  readonly types: Types
  readonly now: Millis
  readonly out: PartOut<ObjectEvent>
}

export function keyOf(creator: PeerId, count: number): number {
  return creator * 2 ** 32 + count
}

/** The id `creator.count`, never reused in a session. */
export function idOf(key: number): string {
  return `${Math.floor(key / 2 ** 32)}.${key % 2 ** 32}`
}

/** Adds an object at a free index; it is dead until it has a state. */
export function place(objects: Objects, creator: PeerId, count: number, type: number): Replica {
  const key = keyOf(creator, count)
  const index = objects.freeIndexes.pop() ?? objects.keyAt.length
  objects.keyAt[index] = key
  objects.serials[index] = objects.nextSerial
  const replica = createReplica(creator, count, index, type)
  replica.serial = objects.nextSerial++
  objects.replicas.set(key, replica)
  return replica
}

export function countLiving(objects: Objects, { creator }: Replica, by: 1 | -1): void {
  const made = (objects.made.get(creator) ?? 0) + by
  objects.living += by
  if (made > 0) objects.made.set(creator, made)
  else objects.made.delete(creator)
}

export function forget(objects: Objects, replica: Replica): void {
  objects.replicas.delete(replica.key)
  objects.keyAt[replica.index] = -1
  objects.serials[replica.index] = 0
  objects.freeIndexes.push(replica.index)
  for (const subscriber of objects.subscribers.values()) {
    if (replica.index < subscriber.barrier.length) clearIndex(subscriber, replica.index)
    subscriber.outdated.delete(replica.index)
  }
}

function clearIndex(subscriber: Subscriber, index: number): void {
  subscriber.barrier[index] = BARRIER.none
  subscriber.acked[index] = 0
  subscriber.sent[index] = 0
  subscriber.seen[index] = 0
  subscriber.queued[index] = 0
}

export function at(objects: Objects, index: number): Replica | null {
  const key = objects.keyAt[index] ?? -1
  return key < 0 ? null : (objects.replicas.get(key) ?? null)
}

export function leads(objects: Objects): boolean {
  return objects.me !== 0 && objects.me === objects.primary
}

/** Whether the primary relays our updates: in a star, for every member but the primary. */
export function relays(objects: Objects): boolean {
  return !objects.mesh && !leads(objects)
}

export function isSeen(replica: Replica): boolean {
  return !replica.dead && !replica.hidden
}

/** The owner of an object that was hidden from us in a version whose owner we do not know. */
export const NOBODY: PeerId = 0

/** Whether the object lives, but we know neither the owner nor the state of its version (T76). */
export function isUnclaimed({ owner, hidden, dead }: Replica): boolean {
  return owner === NOBODY && hidden && !dead
}

export function isMine(objects: Objects, replica: Replica): boolean {
  return !replica.dead && replica.owner === objects.me && !replica.giving
}

// Limits on the objects of a session and of one player. A creator checks them first. But two
// members may create the last object at once, so the primary checks too, and destroys an excess
// object by sending its creator a FULL. An object exists at every member, or at none (B23).

/** Why there is no room: the session is full, or the player has used up its quota. */
export const LACKS = ['full', 'quota'] as const
export type Lack = (typeof LACKS)[number]

export function quotaOf(terms: string): number {
  return termOf(terms, 'objects') ?? QUOTA
}

/** Number of living objects that a player made, over all known incarnations. */
export function madeBy({ made, here, departed }: Objects, player: number): number {
  let sum = 0
  for (const [inc, count] of made) {
    if ((here.get(inc) ?? departed.get(inc)) === player) sum += count
  }
  return sum
}

/**
 * Why a member may make no more objects; null if it may. Hosts, which the hub admits by ticket, and
 * a player who is alone have no quota.
 */
export function lackOf(objects: Objects, creator: PeerId): Lack | null {
  const { living, here, departed, hosts, quota } = objects
  if (living >= OBJECTS_MAX) return 'full'
  const player = here.get(creator) ?? departed.get(creator)
  if (player === undefined || hosts.has(creator)) return null
  const isAlone = new Set(here.values()).size <= 1
  return !isAlone && madeBy(objects, player) >= quota ? 'quota' : null
}
