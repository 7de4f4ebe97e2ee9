/**
 * What one member knows of a session's objects, as plain data, and what it knows of their types.
 * The type of a state is what the function that creates it returns.
 */

import { type Millis, type PeerId, termOf } from '../../machine.ts'
import type { PartOut } from '../../kind/protocol/part.ts'
import type { Migration } from '../../wire/fields/converting.ts'
import type { Fields, Quantised, Schema } from '../../wire/fields/schema.ts'
import { FIRST, type Version } from './stamp.ts'

/** Most living objects of one session. */
export const OBJECTS_MAX = 10_000
/** Objects that one player may make, unless the founder of the session set another number. */
const QUOTA = OBJECTS_MAX / 4
/** Largest state of one object, in bytes: an update of it fits one frame. */
export const STATE_MAX = 1_024
/** Objects are numbered by their creator from 1 to this. */
export const COUNT_MAX: number = 2 ** 32 - 1
/** Highest oseq off the wire: half of what four bytes hold, so ours can go on from there. */
export const OSEQ_WIRE_MAX: number = 2 ** 31
/** Most objects that are remembered, tombstones included. */
export const REPLICAS_MAX: number = 2 * OBJECTS_MAX
/** Least time between two send ticks. */
export const GATHER_MS: Millis = 4

/** Who may take an object from its owner: anybody, whoever the owner agrees to, or nobody. */
export type TakePolicy = 'free' | 'ask' | 'fixed'

/** What the objects need to know of one type of the game. */
export interface TypeRules {
  readonly schema: Schema<Fields>
  /** States of the type carry when they were made. */
  readonly timed: boolean
  readonly take: TakePolicy
  /** How an ask ends that the owner does not answer. */
  readonly unanswered: 'refuse' | 'take'
  /** How an object ends whose owner does not come back. */
  readonly onOwnerLeave: 'destroy' | 'keep'
  /** The primary may move objects of the type to the member with fewest (B27). */
  readonly balance: boolean
  /** Of two that wait, one of twice the weight goes when it has waited half as long. */
  readonly weight: number
  /** Who sees objects of the type; null for everybody. */
  readonly visibility: VisibilityRule | null
  /** The room keeps them beyond its members; not given or null: it does not. */
  readonly kept?: { readonly name: string; readonly migration: Migration | null } | null
  /** The column of the vec2 from which an object's owner looks around; -1 for none. */
  readonly eyes: number
}

/** Who sees an object of a type. */
export type VisibilityRule =
  /** Members with eyes within the radius of the object's place, a vec2 in that column, see it. */
  | { readonly kind: 'near'; readonly column: number; readonly radius: number }
  /** Members whom the game's function lets see the object. */
  | { readonly kind: 'rule'; readonly sees: (fields: Quantised) => Sees }

/** Whether a viewer sees one state of an object. */
export type Sees = (viewer: PeerId, player: number) => boolean

/** The types of a game, in their order there. */
export type Types = readonly TypeRules[]

function createReplica(creator: PeerId, count: number, index: number, type: number) {
  return {
    /** Creator and count in one number. */
    key: keyOf(creator, count),
    creator,
    count,
    /** Index of the object in the arrays of each subscriber. */
    index,
    /** Rises with each version here, so that one can tell what an index held when a packet left. */
    serial: 0,
    type,
    version: FIRST,
    /** Who may change the object; for a tombstone, who sends it to all. */
    owner: 0,
    /** The player who owned the object, if it waits for them with the primary; else 0. */
    former: 0,
    /** Destroyed, and a tombstone for a while; or without a state so far. */
    dead: true,
    /** The number (`follows`) of the primary that sent us the object last. */
    receivedUnder: 0,
    /** The object lives, and we may not see it. */
    hidden: false,
    /** Rises with each change by the owner, over all versions. */
    oseq: 0,
    fields: [] as Quantised,
    /** For each field the oseq with which it changed last. */
    changedAt: [] as number[],
    /** When this state was made, in session time; NaN if that is not known. */
    madeAt: NaN,
    /** How old the state was at the stages that it has passed; null if it is not measured. */
    ages: null as readonly Millis[] | null,
    /** When the last state that is measured was made. Only for our own objects. */
    measuredAt: NaN,
    /** When the object's version began, or it was destroyed; by our clock. */
    since: 0,
    /** As its adopter: the version and oseq in which we adopted it. */
    adopted: null as { version: Version; oseq: number } | null,
    /** Cell of the object in the grid of its type; -1 for none. */
    cell: -1,
    /** The object is ours, and being given away: it may not be changed. */
    giving: false,
    /** For our objects: when the state was sent last, by our clock. */
    sentAt: -Infinity,
    /** The update that was written last, for peers that lack the same. */
    written: null as { oseq: number; mask: number; bytes: Uint8Array } | null,
  }
}

/** One object as this member knows it. */
export type Replica = ReturnType<typeof createReplica>

/** All of an object but what each member keeps for itself. */
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

/** `take`: to own the object; `give`: to give it away; `yes`: to give it to who asked. */
export type RequestKind = 'take' | 'give' | 'yes'

/** A request of ours to the primary. */
export interface Request {
  key: number
  what: RequestKind
  to: PeerId
  /** The version that the request would replace. */
  from: Version
  /** For a `yes`: the number of the asking member's request. */
  answers: number
  /** When we asked, by our clock. */
  at: Millis
}

/** A request as the primary keeps it, until it is decided. */
export interface PendingRequest {
  from: PeerId
  number: number
  key: number
  /** The object's version as the asking member knew it. */
  version: Version
  what: RequestKind
  to: PeerId
  /** For a `yes`: the number of the asking member's request. */
  answers: number
  /** The object's state, which a giver sends along; null for a `take`. */
  entry: ObjectEntry | null
  /** When the request came. */
  at: Millis
  /** It was to be decided, and its player had asked for too much. */
  waits?: boolean
}

/** As primary: an owner that was asked on behalf of the member `by`. */
export interface Ask {
  by: PeerId
  request: number
  owner: PeerId
  at: Millis
}

/** As owner: a member asks for an object of ours. */
export interface IncomingAsk {
  by: PeerId
  request: number
  /** Our application's answer; null while there is none. */
  answer: 'yes' | 'no' | null
  /** Whether the answer was sent to the primary. */
  sent: boolean
}

/** A grant that the grantee has not confirmed by sending the object's entry. */
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

/** Why a request is refused. */
export type Refusal = (typeof REFUSALS)[number]

/** The outcome of a request. */
export type Answer = 'granted' | Refusal

/** How far a peer is with an object: the states of its delivery barrier. */
export const BARRIER = { none: 0, owed: 1, sent: 2, open: 3, hiding: 4, hidden: 5 } as const

/** A peer that is known to have nothing. */
export function createSubscriber(peer: PeerId) {
  const size = 8
  return {
    peer,
    /** There is a link, as far as we know. */
    linked: false,
    /** In a mesh: the epoch in which the peer asked to be sent all of ours again. */
    resyncedIn: 0,
    /** The peer sent FOLLOW, so it accepts what we send it as its primary. */
    follows: false,
    barrier: new Uint8Array(size),
    /** The newest oseq that the peer has. */
    acked: new Uint32Array(size),
    /** The newest oseq that is on its way in an update. */
    sent: new Uint32Array(size),
    /** Whether the peer may see it, for types with a rule. */
    seen: new Uint8Array(size),
    /** Indexes of which the peer sent us an older version: it is sent the newer one, or a HIDE. */
    outdated: new Set<number>(),
    /** Indexes that must be sent reliably, in order. */
    owed: [] as number[],
    /** Messages until they are delivered, with index, serial and oseq of each entry. */
    awaited: [] as { message: number; entries: number[] }[],
    /** Indexes with something new. */
    todo: [] as number[],
    queued: new Uint8Array(size),
    /** Since when each index has waited. */
    since: new Float64Array(size),
    /** Packets until their verdict, with index, serial and oseq of each update. */
    carried: new Map<number, number[]>(),
    /** How many updates the last packet carried, if some were left waiting; else 0. */
    behind: 0,
    /** When that packet was built. */
    filledAt: -Infinity,
    /** When the waiting updates were last put in order. */
    rankedAt: -Infinity,
    /** A RESYNC is due to the peer, once all that is owed to it was sent. */
    resyncDue: false,
    /** Cells that its eyes see, by type with a grid; without eyes none, and it sees all. */
    cells: new Map<number, Set<number>>(),
    /** Cells that its eyes are in, by type with a grid. */
    eyes: new Map<number, number[]>(),
  }
}

/** What one peer has of the objects, index by index. */
export type Subscriber = ReturnType<typeof createSubscriber>

/** Decisions on which one owner and one newest state rest: RULES of objects.ts, or a test's own. */
export interface ObjectsRules {
  /** Which of two versions is the newer one (B39): above 0 if the entry's is. */
  order(entry: ObjectEntry, known: Replica): number
  /** Whether that peer may send that entry (B48). */
  isAuthorized(
    context: Context,
    from: PeerId,
    entry: ObjectEntry,
    known: Replica | undefined,
  ): boolean
  /** Whether an earlier primary may have granted that version. */
  isFromEarlierTerm(objects: Objects, now: Millis, version: Version): boolean
  /** Whether the entry may create an object that we do not have (B41). */
  creates(entry: ObjectEntry): boolean
  /** Whether tombstones are kept, adopted, reported, or sent to newcomers. */
  tombstone(use: 'keep' | 'adopt' | 'report' | 'send'): boolean
  /** Whether an update is not newer than what we have (B16). */
  isOld(oseq: number, known: number): boolean
  /** Whether an update is of the version that we have (B45). */
  fits(version: Version, known: Version): boolean
  /** Whether we accept messages of that peer at all. */
  accepts(objects: Objects, from: PeerId): boolean
  /** Whether we report an object whose owner left (B53). */
  reports(replica: Replica): boolean
  /** Whether we send that object's state to that peer (B31). */
  sendsTo(objects: Objects, replica: Replica, peer: PeerId): boolean
  /** As primary: makes that member the owner in that version. */
  grant(
    context: Context,
    replica: Replica,
    version: Version,
    to: PeerId,
    giver: Grant['giver'],
  ): void
  /** The epoch of a grant that is made now. */
  epochOf(objects: Objects): number
  /** Our primary is another: sends it what it must know. */
  follow(context: Context): void
  /** A peer follows us: makes all that it must be sent owed to it. */
  oweAll(context: Context, subscriber: Subscriber): void
  /** The oseq up to which a peer has all changes. */
  base(subscriber: Subscriber, index: number): number
  /** Whether the same frame may go to several peers. */
  shares(): boolean
  /** Whether an ask is sent again to a member that follows us again. */
  asksAgain(ask: Ask, follower: PeerId): boolean
  /** Whether an owner declines though the object is not its own at that moment. */
  declines(mine: boolean): boolean
  /** Whether the asking member is refused when the owner gave the object to that member. */
  endsByGive(ask: Ask, to: PeerId): boolean
  /** Whether a new primary decides nothing before all members have sent it what they own. */
  waitsForAll(): boolean
}

/** Creates the state without objects. @param gatherMs  between two send ticks */
export function createState(gatherMs: Millis, rules: ObjectsRules) {
  return {
    me: 0,
    primary: 0,
    epoch: 0,
    /** The epoch in which we sent our primary what is ours. */
    reportedIn: 0,
    /** How often we began to follow a primary, which then sent us all that we may see. */
    followCount: 0,
    /** As primary: the epoch in which we became it, and when. */
    term: { from: 0, at: 0 },
    mesh: false,
    /** Session time minus our clock; NaN while it is not known. */
    offset: NaN,
    replicas: new Map<number, Replica>(),
    /** The key at each index; -1 for a free one. */
    keyAt: [] as number[],
    freeIndexes: [] as number[],
    /** The serial of the object at each index; 0 for none. */
    serials: [] as number[],
    living: 0,
    /** How many of the living objects each member made. */
    made: new Map<PeerId, number>(),
    /** Most objects that one player makes, by the session's terms. */
    quota: Infinity,
    /** Members that were admitted as hosts: they may make as many as there is room for. */
    hosts: new Set<PeerId>(),
    /** Members that only watch: they own nothing. */
    watching: new Set<PeerId>(),
    nextSerial: 1,
    nextCount: 1,
    /** In a mesh: who sent later epochs than ours while we led. By then somebody else leads. */
    early: new Set<PeerId>(),
    /** Who is here, and the player of each. */
    here: new Map<PeerId, number>(),
    /** The players of members who left, for as long as an object of theirs may still appear. */
    departed: new Map<PeerId, number>(),
    /** Players whose processes said that they end, and since when. */
    ended: new Map() as ReadonlyMap<number, Millis>,
    subscribers: new Map<PeerId, Subscriber>(),
    /** Peers to whom something reliable is owed. */
    owing: new Set<PeerId>(),
    /** Indexes that changed since the last flush. */
    fresh: new Set<number>(),
    /** Peers to whom updates are waiting to be written. */
    dirty: new Set<PeerId>(),
    /** Something that changed since the last send tick waits for a peer. */
    changesWaiting: false,
    /** No update leaves before this, so that changes gather. */
    nextSendAt: 0,
    /** Changes gather for at least so long. */
    gatherMs,
    /** Keys of our objects that changed as the others extrapolate, and whose change is unsent. */
    unsent: new Set<number>(),
    /** When the first of the unsent changes is due. */
    unsentAt: Infinity,
    /** Messages that leave with the next flush. */
    outbox: [] as { to: PeerId; bytes: Uint8Array }[],
    /** As primary: grants that are not confirmed yet, by key, oldest first. */
    grants: new Map<number, Grant[]>(),
    /** As primary: owners that were asked on behalf of another, by key. */
    openAsks: new Map<number, Ask>(),
    /** As primary: requests in their order, until they can be decided. */
    pending: [] as PendingRequest[],
    /** When the first of the waiting requests is to be looked at again. */
    pendingAt: Infinity,
    /** As primary: the term in which all members that were here have sent what is theirs. */
    allReportedIn: 0,
    /** As owner: who asked for our objects, by key. */
    incomingAsks: new Map<number, IncomingAsk>(),
    /** Our requests, by number. */
    requests: new Map<number, Request>(),
    nextRequest: 1,
    /** As primary: when objects are balanced next. */
    balanceAt: Infinity,
    /** When an object of ours that we lack counts as lost: some time after our primary sent all. */
    settleAt: Infinity,
    /** When tombstones, grants and requests are looked through next. */
    sweepAt: Infinity,
    /** With grids: indexes by cell, by type. */
    cells: new Map<number, Map<number, Set<number>>>(),
    /** With grids: who sees a cell, by type. */
    viewers: new Map<number, Map<number, Set<PeerId>>>(),
    /** Indexes of the objects that are a member's eyes. */
    eyes: new Map<PeerId, Set<number>>(),
    /** Keys of objects that got another owner: who had them may not be to see them any more. */
    transferred: new Set<number>(),
    /** Objects of types that the room keeps beyond its members. */
    kept: {
      /** One of them changed since `changesOf`. */
      hasChanges: false,
      /** What was written of each, by key: its version, oseq and player. */
      written: new Map<number, string>(),
      /** What was found as the room was opened, until we lead it. */
      found: [] as ObjectEntry[],
    },
    counters: {
      /** Frames and messages that no correct member could have sent. */
      malformed: 0,
      /** Entries and updates that were older than what we have. */
      stale: 0,
      /** Messages that their sender was not allowed to send. */
      ignored: 0,
      /** States from a clock that runs ahead. */
      ahead: 0,
      /** As primary: objects for which there was no room. */
      full: 0,
    },
    rules,
  }
}

/** All objects of a session at one member. */
export type Objects = ReturnType<typeof createState>

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
export interface Context {
  readonly objects: Objects
  readonly types: Types
  readonly now: Millis
  readonly out: PartOut<ObjectEvent>
}

/** Creator and count in one number. */
export function keyOf(creator: PeerId, count: number): number {
  return creator * 2 ** 32 + count
}

/** `creator.count`, unique in a session for ever. */
export function idOf(key: number): string {
  return `${Math.floor(key / 2 ** 32)}.${key % 2 ** 32}`
}

/** Adds an object that is new here, in an index of its own; it is dead until it has a state. */
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

/** Counts one living object more, or one less. */
export function countLiving(objects: Objects, { creator }: Replica, by: 1 | -1): void {
  const made = (objects.made.get(creator) ?? 0) + by
  objects.living += by
  if (made > 0) objects.made.set(creator, made)
  else objects.made.delete(creator)
}

/** Removes all that is kept of an object. */
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

/** The object at an index, or null. */
export function at(objects: Objects, index: number): Replica | null {
  const key = objects.keyAt[index] ?? -1
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

// How many objects a session and one player may have. A member that creates an object checks first;
// but two members may create the last one at once, so the primary checks too, and sends a creator
// for whose object there is no room a FULL: then the object has ended. An object lives with all, or
// with nobody (B23).

/** Why there is no room: the session is full, or the player has made as many as it may. */
export const LACKS = ['full', 'quota'] as const
/** One of LACKS. */
export type Lack = (typeof LACKS)[number]

/** How many objects one player may make, as in the `terms` of a session. */
export function quotaOf(terms: string): number {
  return termOf(terms, 'objects') ?? QUOTA
}

/** Living objects that a player made, in all incarnations that we know of. */
export function madeBy({ made, here, departed }: Objects, player: number): number {
  let sum = 0
  for (const [inc, count] of made) {
    if ((here.get(inc) ?? departed.get(inc)) === player) sum += count
  }
  return sum
}

/**
 * Why that member may make no more; null if it may. Hosts, which the hub admitted as such by a
 * ticket, and a player who is alone, have no quota.
 */
export function lackOf(objects: Objects, creator: PeerId): Lack | null {
  const { living, here, departed, hosts, quota } = objects
  if (living >= OBJECTS_MAX) return 'full'
  const player = here.get(creator) ?? departed.get(creator)
  if (player === undefined || hosts.has(creator)) return null
  const isAlone = new Set(here.values()).size <= 1
  return !isAlone && madeBy(objects, player) >= quota ? 'quota' : null
}
