/**
 * A world that nobody decides on: what one member knows of it.
 *
 * Session time is cut into slots. Who acts stamps the act with the slot under way and tells all
 * others; a slot is folded once it is over, by a pure rule that every member has. What comes late
 * is put where it belongs and folded again, up to the horizon; the world behind it is settled.
 */

import type { Millis, PartOut, PeerId } from '../machine.ts'

/** Slots that stay open to what comes late, 2 s at 200 ms. */
export const HORIZON_SLOTS = 10
/** Clocks ahead of ours by so many slots are believed. */
export const AHEAD_SLOTS = 5
/** Settled slots that are kept to compare. */
export const HISTORY_SLOTS = 60
/** Own acts are remembered for so many slots at least, until all agree whether they count. */
export const UNSURE_SLOTS = 300
/** Members that went whose players are known. */
export const GONE_MAX = 256
/** Members whose acts are counted, and gaps in the acts of one. */
export const TALLIES_MAX = 256
/** See TALLIES_MAX. */
export const GAPS_MAX = 64
/** Slots that are folded at once after a standstill; after a longer one the world is asked for. */
export const LEAP_SLOTS = 60
/** Acts of one member in one slot. */
export const ACTS_PER_SLOT = 8
/** Own acts that are remembered: all of UNSURE_SLOTS, also where nobody agrees for long. */
export const UNSURE_MAX: number = UNSURE_SLOTS * ACTS_PER_SLOT
/** Bytes of an act. */
export const ACT_BYTES_MAX = 64
/** Bytes of a world as JSON: it goes in one message. */
export const WORLD_BYTES_MAX: number = 48 * 1024
/** Shortest and longest slot. */
export const SLOT_MS = { min: 20, max: 5_000 } as const

/** One act, or the word that a player went. Never changed but for `held` and `direct`. */
export interface SlotEvent {
  /** Whose it is: inc and id name it, for ever. */
  inc: PeerId
  player: number
  id: number
  slot: number
  /** The act, encoded; empty if `gone` says all. */
  body: Uint8Array
  act: unknown
  /** The player that went, or 0. */
  gone: number
  /** Of inc, id, slot and body: what digests are made of. */
  mark: number
  /** It came from whose it is, not by way of another. */
  direct: boolean
  /** Who is known to have it, besides whose it is. */
  held: PeerId[]
}

/** Which acts of one member are settled: all up to one but those in gaps. */
export interface Tally {
  upTo: number
  /** Those up to it that are not in the world, as runs of ids; oldest first. */
  gaps: { from: number; to: number }[]
}

/** What was done in a slot, in the order in which all fold it. */
export interface Deeds {
  acts: { by: number; act: unknown }[]
  left: number[]
  /** What they are of, in that order too. */
  events: SlotEvent[]
}

/** What is known of one slot. */
export interface Slot {
  events: Map<number, SlotEvent>
  /** How many there are of each member. */
  counts: Map<PeerId, number>
  /** The sum of the marks. */
  digest: number
  /** What the rule gets of it; null when an event came since. */
  deeds: Deeds | null
}

/** How a member stands to the world. */
export type Standing = 'unknown' | 'closed' | 'joining' | 'live'

/** What is known of a settled slot. */
export interface Settled {
  /** The fingerprint of the world. */
  hash: number
  /** The sum of the marks of all events in it, and of who began it. */
  acts: number
}

/** What a peer says of a settled slot. */
export interface SettledWord extends Settled {
  slot: number
  /** Up to there all who play have the same acts; -1 if it does not know. */
  agreed: number
  /** It asked for the world of another: its own may not last. */
  seeks: boolean
}

/** Another member. */
export interface SlotPeer {
  standing: Standing
  /** What it says of its standing, also with another game. */
  claims: Standing
  /** The fingerprint of its game; 0 while it is not known. */
  print: number
  /** What that is of. */
  says: string
  /** The root that it follows; 0 for none. */
  follows: PeerId
  /** It is that root, or hears it. */
  near: boolean
  /** It heard too few for too long: see `Slots.apart`. */
  apart: boolean
  /** When a frame of it came last; -Infinity for none. */
  heardAt: Millis
  /** The slot of our last frame to it. */
  saidIn: number
  /** What it does not have, as far as we know, and when it was sent last. */
  owed: Map<SlotEvent, Millis>
  /** When what is owed is sent. */
  dueAt: Millis
  /** What packets hold that are on their way. */
  flights: Map<number, SlotEvent[]>
  /** A settled world of its that we cannot compare yet. */
  kept: SettledWord | null
  /** The last settled slot of which it said the acts that we have; -1 if it said others since. */
  same: number
  /** The acts with which its world was another than ours; null while worlds are the same. */
  diverged: number | null
  /** What we told it of our own standing. */
  announced: Standing
  /** When it was sent the world last. */
  answeredAt: Millis
}

/** What the game named: kept beside the state, for it has functions. */
export interface Game {
  /** Milliseconds of a slot. */
  ms: Millis
  /** What members must agree on, in 32 bits. */
  print: number
  /** The same in words: `MS ORDER FIELDS`. */
  says: string
  start: unknown
  order: 'highest' | 'fair'
  rule(world: unknown, acts: readonly { by: number; act: unknown }[], turn: Turn): unknown
  /** An act of its bytes, or undefined if they are none. */
  decode(bytes: Uint8Array): unknown
}

/** What a rule may know besides world and acts. */
export interface Turn {
  readonly slot: number
  /** Players that went in this slot. */
  readonly left: readonly number[]
  /** From 0 to below 1; the same draws for every member. */
  random(): number
}

/** What slots tell the application. */
export type SlotsEvent =
  | { kind: 'slots' }
  /** Acts of ours that are in no world any more. */
  | { kind: 'slots-void'; acts: unknown[] }
  /** A player has the same acts after a settled slot, and another world. */
  | { kind: 'slots-diverged'; slot: number; player: number }
  /** A member has other options than ours, and goes before us: our world is closed. */
  | { kind: 'slots-refused'; why: string }
  /** The rule threw: that slot changes nothing. */
  | { kind: 'slots-failed'; slot: number; error: unknown }

/** The sink of slots. */
export type SlotsOut = PartOut<SlotsEvent>

/** Decisions on which equal worlds rest (RULES of rules.ts, or twisted ones). */
export interface SlotsRules {
  /** An event with the slot that it counts in. */
  counted<Said extends { readonly slot: number }>(slots: Slots, said: Said): Said
  /** Whether an event of that slot comes too late to count. */
  isLate(slots: Slots, slot: number): boolean
  /** Acts of a slot in the order in which they are folded (M32). */
  sorted(slots: Slots, game: Game, slot: number, events: SlotEvent[]): SlotEvent[]
  /** Whether somebody may be asked for the world now. */
  mayAsk(slots: Slots, now: Millis): boolean
  /** Whether all who play have said what they have, since the round began. */
  haveAllSaid(slots: Slots): boolean
}

/** A world that nothing changes any more, and its JSON: what hashes are of, and what is told. */
export interface Sealed {
  readonly world: unknown
  readonly text: string
}

/** The world of one member. */
export interface Slots {
  standing: 'closed' | 'joining' | 'live'
  /** Milliseconds of a slot, and what members must agree on; 0 while closed. */
  ms: Millis
  print: number
  says: string
  me: PeerId
  player: number
  mesh: boolean
  primary: PeerId
  /** Session time minus the own clock. */
  offset: Millis
  /** Slots that stay open to what comes late: HORIZON_SLOTS. */
  horizon: number
  /** Players by member, also of the GONE_MAX members that went last or so. */
  players: Map<PeerId, number>
  here: Set<PeerId>
  peers: Map<PeerId, SlotPeer>
  /** The slot under way; NaN while session time is not known. */
  slot: number
  /** The last settled slot. */
  base: number
  /** From the base to the last whole slot: worlds[i] is the world after slot base + i. */
  worlds: Sealed[]
  /** How many of them hold; the others are folded again when somebody looks. */
  sound: number
  /** The world with what is known of the slot under way; null when that must be folded. */
  ahead: Sealed | null
  /** What a rule threw that was not told yet. */
  failures: { slot: number; error: unknown }[]
  bySlot: Map<number, Slot>
  /** What chance is drawn from: of the session, so that all have the same. */
  seed: number
  nextId: number
  /** Of the slots that were settled last. */
  settled: Map<number, Settled>
  /** Up to this slot all who play have the same acts, for good. */
  agreed: number
  /** The last slot in which something is known to be done. */
  acted: number
  /** All must say the same acts of a slot behind `mark`; they did so of one behind `before`. */
  round: { mark: number; before: number }
  /** Which acts of whom are in the settled world. */
  tallies: Map<PeerId, Tally>
  /** Own acts of which it is not agreed yet whether they count. */
  unsure: SlotEvent[]
  /** Players that acted and were not said to be gone. */
  present: Set<number>
  /** We heard too few of the others for too long: our world is not to be followed. */
  apart: boolean
  /** When something is owed to anybody, and in which slot all were last looked over. */
  dueAt: Millis
  lookedIn: number
  /** Who was asked for the world, and when it may be asked again. */
  asked: PeerId
  askAt: Millis
  /** Who is not known by then counts as closed; NaN before the first look. */
  beginAt: Millis
  /** The application has not been told yet. */
  changed: boolean
  rules: SlotsRules
  counters: {
    malformed: number
    /** Acts that came after their slot had been settled. */
    late: number
    /** Slots folded again for what came late. */
    again: number
    /** Worlds taken from another. */
    adopted: number
    /** Events that a rule of the slots forbids. */
    refused: number
    /** Slots whose rule threw. */
    failed: number
  }
}

/** A member of which nothing is known. */
export function createPeer(): SlotPeer {
  return {
    standing: 'unknown',
    claims: 'unknown',
    print: 0,
    says: '',
    follows: 0,
    near: false,
    apart: false,
    heardAt: -Infinity,
    saidIn: -1,
    owed: new Map(),
    dueAt: Infinity,
    flights: new Map(),
    kept: null,
    same: -1,
    diverged: null,
    announced: 'unknown',
    answeredAt: -Infinity,
  }
}

/** The name of an event as one number. */
export function keyOf(inc: PeerId, id: number): number {
  return inc * 2 ** 28 + id
}
