/**
 * A world of slots, in which no member decides for others: what one member knows of it.
 *
 * Session time is cut into slots. A member that acts stamps the act (the input of a player) with
 * the slot under way and sends it to all others; a slot is folded once it is over, by a pure rule
 * that every member has. An act that comes late is put into its slot and the slot is folded again,
 * up to the horizon; the world behind the horizon is settled.
 */

import type { Millis, PeerId } from '../../machine.ts'
import type { PartOut } from '../../kind/protocol/part.ts'

/** Slots that stay open to late acts: 2 s at 200 ms. */
export const HORIZON_SLOTS = 10
/** Acts from clocks ahead of ours by up to so many slots are accepted. */
export const AHEAD_SLOTS = 5
/** Settled slots that are kept to be compared. */
export const HISTORY_SLOTS = 60
/** Own acts are remembered for so many slots at least, until all agree whether they count. */
export const UNSURE_SLOTS = 300
/** Members that left whose players are remembered. */
export const GONE_MAX = 256
/** Most members whose acts are tallied. */
export const TALLIES_MAX = 256
/** Most gaps in the acts of one member. */
export const GAPS_MAX = 64
/** Slots that are folded at once after a standstill; after a longer one they are skipped. */
export const LEAP_SLOTS = 60
/** Most acts of one member in one slot. */
export const ACTS_PER_SLOT = 8
/** Own acts that are remembered: all of UNSURE_SLOTS, also where nobody agrees for long. */
export const UNSURE_MAX: number = UNSURE_SLOTS * ACTS_PER_SLOT
/** Most bytes of an act. */
export const ACT_BYTES_MAX = 64
/** Most bytes of a world as JSON: it fits one message. */
export const WORLD_BYTES_MAX: number = 48 * 1024
/** Shortest and longest slot. */
export const SLOT_MS = { min: 20, max: 5_000 } as const

/** One act, or the event that a player left. Never changed but for `held` and `direct`. */
export interface SlotEvent {
  /** The member that made it; inc and id name the event for ever. */
  inc: PeerId
  player: number
  id: number
  slot: number
  /** The act, encoded; empty if `gone` is set. */
  body: Uint8Array
  act: unknown
  /** The player that left, or 0. */
  gone: number
  /** Hash of inc, id, slot, gone and body; digests are sums of marks. */
  mark: number
  /** The event came from the member that made it, not by way of another. */
  direct: boolean
  /** The members known to have it, besides the one that made it. */
  held: PeerId[]
}

/** Which acts of one member are settled: all up to `upTo` but those in gaps. */
export interface Tally {
  upTo: number
  /** Ids up to `upTo` that are not in the world, as runs; oldest first. */
  gaps: { from: number; to: number }[]
}

/** The acts and departures of a slot, in the order in which all fold them. */
export interface FoldInput {
  acts: { by: number; act: unknown }[]
  left: number[]
  /** Their events, in the same order. */
  events: SlotEvent[]
}

/** What is known of one slot. */
export interface Slot {
  events: Map<number, SlotEvent>
  /** How many acts of each member are in the slot. */
  counts: Map<PeerId, number>
  /** The sum of the events' marks. */
  digest: number
  /** What the rule is given; null when an event came since. */
  foldInput: FoldInput | null
}

/** How a member stands to the world. */
export type Standing = 'unknown' | 'closed' | 'joining' | 'live'

/** What is known of a settled slot. */
export interface Settled {
  /** The fingerprint of the world. */
  hash: number
  /** The sum of the marks of all events in it, and of the member that began it. */
  acts: number
}

/** A peer's report on a settled slot. */
export interface SettledReport extends Settled {
  slot: number
  /** The slot up to which all who play have the same acts; -1 if the peer does not know. */
  agreed: number
  /** The peer asked another for its world: its own may not last. */
  seeks: boolean
}

/** A peer of which nothing is known. */
export function createPeer() {
  return {
    standing: 'unknown' as Standing,
    /** The standing that the peer announced, also if it plays another game. */
    claims: 'unknown' as Standing,
    /** The fingerprint of its game; 0 while it is not known. */
    print: 0,
    /** The options of which `print` is the fingerprint, as text. */
    says: '',
    /** The reference member that the peer follows; 0 for none. */
    follows: 0,
    /** The peer is that reference member, or receives from it. */
    near: false,
    /** The peer received from too few others for too long: see `Slots.apart`. */
    apart: false,
    /** When the peer's last frame came; -Infinity for none. */
    receivedAt: -Infinity,
    /** The slot of our last frame to it. */
    saidIn: -1,
    /** Events that the peer lacks, as far as we know, each with when it is due to be sent. */
    unacked: new Map<SlotEvent, Millis>(),
    /** When the first unacked event is due. */
    dueAt: Infinity,
    /** Events in packets that are on their way, by packet. */
    flights: new Map<number, SlotEvent[]>(),
    /** The peer's report on a slot that is not settled here yet. */
    earlyReport: null as SettledReport | null,
    /** The last settled slot for which it reported our acts; -1 if it reported others since. */
    same: -1,
    /** The sum of acts at which its world differed from ours; null while worlds are the same. */
    diverged: null as number | null,
    /** The own standing that we announced to the peer. */
    announced: 'unknown' as Standing,
    /** When the peer was sent our world last. */
    answeredAt: -Infinity,
  }
}

/** Another member. */
export type SlotPeer = ReturnType<typeof createPeer>

/** The game's definition of its world: kept beside the state, for it has functions. */
export interface Game {
  /** Milliseconds of a slot. */
  ms: Millis
  /** Fingerprint of the options that members must agree on, in 32 bits. */
  print: number
  /** The same options as text: `MS ORDER FIELDS`. */
  says: string
  start: unknown
  order: 'highest' | 'fair'
  rule(world: unknown, acts: readonly { by: number; act: unknown }[], turn: Turn): unknown
  /** Decodes an act, or returns undefined if the bytes are none. */
  decode(bytes: Uint8Array): unknown
}

/** What a rule is given besides world and acts. */
export interface Turn {
  readonly slot: number
  /** Players that left in this slot. */
  readonly left: readonly number[]
  /** A number from 0 to below 1; the same random draws at every member. */
  random(): number
}

/** Events for the application. */
export type SlotsEvent =
  | { kind: 'slots' }
  /** Acts of ours that are in nobody's world any more. */
  | { kind: 'slots-discarded'; acts: unknown[] }
  /** A player's world differs from ours after a settled slot, although the acts are the same. */
  | { kind: 'slots-diverged'; slot: number; player: number }
  /** A member has other options than ours, and goes before us: our world is closed. */
  | { kind: 'slots-refused'; why: string }
  /** The rule threw: that slot changes nothing. */
  | { kind: 'slots-failed'; slot: number; error: unknown }

/** The sink of slots. */
export type SlotsOut = PartOut<SlotsEvent>

/** One call into the part. */
export interface Call<Known = Game> {
  readonly slots: Slots
  readonly game: Known
  readonly now: Millis
  readonly out: SlotsOut
}

/** Decisions on which equal worlds rest: RULES of slots.ts, or a test's own. */
export interface SlotsRules {
  /** An event with the slot that it counts in. */
  counted<Said extends { readonly slot: number }>(slots: Slots, said: Said): Said
  /** Whether an event of that slot comes too late to count. */
  isLate(slots: Slots, slot: number): boolean
  /** Acts of a slot in the order in which they are folded (M32). */
  sorted(slots: Slots, game: Game, slot: number, events: SlotEvent[]): SlotEvent[]
  /** Whether a member may be asked for its world now. */
  mayAsk(slots: Slots, now: Millis): boolean
  /** Whether all who play have reported their acts since the round began. */
  haveAllReported(slots: Slots): boolean
}

/** A frozen world and its JSON, which is hashed and sent. */
export interface Sealed {
  readonly world: unknown
  readonly text: string
}

/** Creates the state without a world. */
export function createState(rules: SlotsRules) {
  return {
    standing: 'closed' as 'closed' | 'joining' | 'live',
    /** Milliseconds of a slot; 0 while closed. */
    ms: 0,
    print: 0,
    says: '',
    me: 0,
    player: 0,
    mesh: false,
    primary: 0,
    /** Session time minus the own clock. */
    offset: NaN,
    /** Slots that stay open to late acts. */
    horizon: HORIZON_SLOTS,
    /** Players by member, including about GONE_MAX members that left last. */
    players: new Map<PeerId, number>(),
    here: new Set<PeerId>(),
    /** Members that only watch: they are not among those who are here. */
    watchers: new Set<PeerId>(),
    peers: new Map<PeerId, SlotPeer>(),
    /** The slot under way; NaN while session time is not known. */
    slot: NaN,
    /** The last settled slot. */
    base: 0,
    /** From the base to the last whole slot: worlds[i] is the world after slot base + i. */
    worlds: [] as Sealed[],
    /** How many of the worlds are valid; the others are folded again when somebody looks. */
    validWorlds: 0,
    /** The world with the known events of the slot under way; null when it must be folded. */
    ahead: null as Sealed | null,
    /** Errors that a rule threw, and that were not reported yet. */
    failures: [] as { slot: number; error: unknown }[],
    bySlot: new Map<number, Slot>(),
    /** The seed of random draws: derived from the session, so that all have the same. */
    seed: 0,
    nextId: 1,
    /** The slots that were settled last. */
    settled: new Map<number, Settled>(),
    /** Up to this slot all who play have the same acts, for good. */
    agreed: -1,
    /** The last slot that is known to hold an event. */
    acted: -1,
    /** All must report our acts of a slot after `mark`; they did so of one after `before`. */
    round: { mark: -1, before: -1 },
    /** Which acts of which member are in the settled world. */
    tallies: new Map<PeerId, Tally>(),
    /** Own acts for which it is not agreed yet whether they count. */
    unsure: [] as SlotEvent[],
    /** Players that acted and were not reported gone. */
    present: new Set<number>(),
    /** We received from too few others for too long: nobody must follow our world. */
    apart: false,
    /** When the first unacked event is due, and the slot of the last check of all peers. */
    dueAt: Infinity,
    scannedIn: -1,
    /** Who was asked for its world, and when a member may be asked again. */
    asked: 0,
    askAt: -Infinity,
    /** A member whose standing is unknown by then counts as closed; NaN before the first look. */
    beginAt: NaN,
    /** The application has not been notified of the change yet. */
    changed: false,
    rules,
    counters: {
      malformed: 0,
      /** Acts that came after their slot had been settled. */
      late: 0,
      /** Slots that were folded again because of late acts. */
      again: 0,
      /** Worlds taken from another member. */
      adopted: 0,
      /** Events that a rule of the slots forbids. */
      refused: 0,
      /** Slots whose rule threw. */
      failed: 0,
    },
  }
}

/** The world of one member. */
export type Slots = ReturnType<typeof createState>

/** The name of an event as one number. */
export function keyOf(inc: PeerId, id: number): number {
  return inc * 2 ** 28 + id
}
