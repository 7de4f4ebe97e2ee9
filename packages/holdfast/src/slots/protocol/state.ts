/**
 * One member's state of a world of slots, in which no member decides for others.
 *
 * Session time is cut into slots. A member stamps each act (a player's input) with the current slot
 * and sends it to all others. Every member folds a slot when it ends, by the same pure rule. A late
 * act goes into its slot, which is folded again, up to the horizon; the world behind the horizon is
 * settled.
 */

import type { Millis, PeerId } from '../../machine.ts'
import type { PartOut } from '../../kind/protocol/part.ts'

/** Slots that stay open to late acts: 2 s at 200 ms. */
export const HORIZON_SLOTS = 10
/** Most slots by which an accepted act may be ahead of our clock. */
export const AHEAD_SLOTS = 5
/** Settled slots that are kept for comparison. */
export const HISTORY_SLOTS = 60
/** Slots for which own acts are remembered at least, until all agree whether they count. */
export const UNSURE_SLOTS = 300
/** Departed members whose players are remembered. */
export const GONE_MAX = 256
/** Most members whose acts are tallied. */
export const TALLIES_MAX = 256
/** Most gaps in the acts of one member. */
export const GAPS_MAX = 64
/** Most slots folded at once after a standstill; a longer one is skipped. */
export const LEAP_SLOTS = 60
/** Most acts of one member in one slot. */
export const ACTS_PER_SLOT = 8
/** Most own acts that are remembered: all of UNSURE_SLOTS, even if agreement takes long. */
export const UNSURE_MAX: number = UNSURE_SLOTS * ACTS_PER_SLOT
/** Most bytes of an act. */
export const ACT_BYTES_MAX = 64
/** Most bytes of a world as JSON: it fits one message. */
export const WORLD_BYTES_MAX: number = 48 * 1024
/** Shortest and longest slot. */
export const SLOT_MS = { min: 20, max: 5_000 } as const

/** One act, or the departure of a player. Only `held` and `direct` ever change. */
export interface SlotEvent {
  /** The member that made it; `inc` and `id` identify the event. */
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
  /** The event came from its author, not through another member. */
  direct: boolean
  /** The members known to have it, besides its author. */
  held: PeerId[]
}

/** The settled acts of one member: all up to `upTo` except those in gaps. */
export interface Tally {
  upTo: number
  /** Ids up to `upTo` that are not in the world, as runs; oldest first. */
  gaps: { from: number; to: number }[]
}

/** The acts and departures of a slot, in fold order. */
export interface FoldInput {
  acts: { by: number; act: unknown }[]
  left: number[]
  /** Their events, in the same order. */
  events: SlotEvent[]
}

export interface Slot {
  events: Map<number, SlotEvent>
  /** Number of acts of each member. */
  counts: Map<PeerId, number>
  /** The sum of the events' marks. */
  digest: number
  /** The input of the rule; null after another event came. */
  foldInput: FoldInput | null
}

/** A member's relation to the world. */
export type Standing = 'unknown' | 'closed' | 'joining' | 'live'

/** The summary of a settled slot. */
export interface Settled {
  /** The fingerprint of the world. */
  hash: number
  /** The sum of the marks of all events in the world, and of its beginning. */
  acts: number
}

/** A peer's report on a settled slot. */
export interface SettledReport extends Settled {
  slot: number
  /** The slot up to which all players have the same acts; -1 if the peer does not know. */
  agreed: number
  /** The peer has requested another world: its own may not last. */
  seeks: boolean
}

export function createPeer() {
  return {
    standing: 'unknown' as Standing,
    /** The standing that the peer announced, even if it plays another game. */
    claims: 'unknown' as Standing,
    /** The fingerprint of its options; 0 while unknown. */
    print: 0,
    /** The same options as text. */
    says: '',
    /** The reference member that the peer follows; 0 for none. */
    follows: 0,
    /** The peer is that reference member, or receives from it. */
    near: false,
    /** The peer reports itself as apart: see `Slots.apart`. */
    apart: false,
    /** When the peer's last frame came; -Infinity for none. */
    receivedAt: -Infinity,
    /** The slot of our last frame to it. */
    sentIn: -1,
    /** Events that the peer has not acked, each with the time when it is due to be sent. */
    unacked: new Map<SlotEvent, Millis>(),
    /** When the first unacked event is due. */
    dueAt: Infinity,
    /** Events in flight, by packet. */
    flights: new Map<number, SlotEvent[]>(),
    /** The peer's report on a slot that is not settled here yet. */
    earlyReport: null as SettledReport | null,
    /** The last settled slot for which it reported our acts; -1 after it reported others. */
    same: -1,
    /** The sum of acts at which its world differed from ours; null while they are the same. */
    diverged: null as number | null,
    /** The standing of ours that we announced to the peer. */
    announced: 'unknown' as Standing,
    /** When we last sent the peer our world. */
    answeredAt: -Infinity,
  }
}

export type SlotPeer = ReturnType<typeof createPeer>

/** The game's definition of its world; not part of the state, because it has functions. */
export interface Game {
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

/** The input of a rule besides world and acts. */
export interface Turn {
  readonly slot: number
  /** Players that left in this slot. */
  readonly left: readonly number[]
  /** A number in [0, 1); the same random draws at every member. */
  random(): number
}

export type SlotsEvent =
  | { kind: 'slots' }
  /** Acts of ours that are in no member's world. */
  | { kind: 'slots-discarded'; acts: unknown[] }
  /** A player's world differs from ours after a settled slot, although the acts are the same. */
  | { kind: 'slots-diverged'; slot: number; player: number }
  /** A member with precedence has other options, so our world is closed. */
  | { kind: 'slots-refused'; why: string }
  /** The rule threw: that slot changes nothing. */
  | { kind: 'slots-failed'; slot: number; error: unknown }

export type SlotsOut = PartOut<SlotsEvent>

export interface Context<Known = Game> {
  readonly slots: Slots
  readonly game: Known
  readonly now: Millis
  readonly out: SlotsOut
}

/** The decisions that keep worlds equal: RULES of slots.ts, or a test's. */
export interface SlotsRules {
  /** An event with the slot in which it counts. */
  counted<Event extends { readonly slot: number }>(slots: Slots, event: Event): Event
  /** Whether an event of that slot comes too late to count. */
  isLate(slots: Slots, slot: number): boolean
  /** The events of a slot in fold order (M32). */
  sorted(slots: Slots, game: Game, slot: number, events: SlotEvent[]): SlotEvent[]
  /** Whether we may request a world now. */
  mayAsk(slots: Slots, now: Millis): boolean
  /** Whether all players have reported the same acts since the round began. */
  haveAllReported(slots: Slots): boolean
}

/** A frozen world and its JSON, which is hashed and sent. */
export interface Sealed {
  readonly world: unknown
  readonly text: string
}

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
    /** Session time minus our clock. */
    offset: NaN,
    /** Slots that stay open to late acts. */
    horizon: HORIZON_SLOTS,
    /** Players by member, including about GONE_MAX departed members. */
    players: new Map<PeerId, number>(),
    here: new Set<PeerId>(),
    /** Members that only watch; `here` does not include them. */
    watchers: new Set<PeerId>(),
    peers: new Map<PeerId, SlotPeer>(),
    /** The current slot; NaN while session time is unknown. */
    slot: NaN,
    /** The last settled slot. */
    base: 0,
    /** From the base to the last complete slot: worlds[i] is the world after slot base + i. */
    worlds: [] as Sealed[],
    /** Number of valid worlds; the others are folded again on the next read. */
    validWorlds: 0,
    /** The world with the known events of the current slot; null when it must be folded. */
    ahead: null as Sealed | null,
    /** Errors thrown by the rule and not reported yet. */
    failures: [] as { slot: number; error: unknown }[],
    bySlot: new Map<number, Slot>(),
    /** The seed of random draws, derived from the session, so it is the same at all members. */
    seed: 0,
    nextId: 1,
    /** The last HISTORY_SLOTS settled slots. */
    settled: new Map<number, Settled>(),
    /** Up to this slot all players have the same acts; final. */
    agreed: -1,
    /** The last slot known to hold an event. */
    acted: -1,
    /** All must report our acts of a slot after `mark`; in the last round, after `before`. */
    round: { mark: -1, before: -1 },
    /** The acts in the settled world, by member. */
    tallies: new Map<PeerId, Tally>(),
    /** Own acts without an agreement yet on whether they count. */
    unsure: [] as SlotEvent[],
    /** Players that acted and were not reported gone. */
    present: new Set<number>(),
    /** We received from too few others for too long, so nobody may follow our world. */
    apart: false,
    /** When the first unacked event is due, and the slot of the last check of all peers. */
    dueAt: Infinity,
    scannedIn: -1,
    /** The member whose world we requested, and when we may request one again. */
    asked: 0,
    askAt: -Infinity,
    /** A member whose standing is unknown by then counts as closed; NaN before the first check. */
    beginAt: NaN,
    /** There is a change of which the application was not notified yet. */
    changed: false,
    rules,
    counters: {
      malformed: 0,
      late: 0,
      /** Slots folded again because of late acts. */
      again: 0,
      adopted: 0,
      /** Events and messages that were not accepted. */
      refused: 0,
      failed: 0,
    },
  }
}

export type Slots = ReturnType<typeof createState>

export function keyOf(inc: PeerId, id: number): number {
  return inc * 2 ** 28 + id
}
