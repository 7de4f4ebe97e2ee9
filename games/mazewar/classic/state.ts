/**
 * What one player of the classic game knows: plain data. `peer.ts` has the verbs, and the rooms
 * beside it do their work.
 */

import type { Hit } from '../rules/world.ts'
import type { RatState, Said } from './rat-state.ts'
import type { Packet } from './packets.ts'

/** Milliseconds on the clock of this process. */
export type Millis = number

/** Slots of local time (M31). */
export const SLOT_MS: Millis = 200
/** Slots from an event to its being worked in: one lies between (M31). */
export const SLOT_DELAY = 2
/** From one heartbeat to the next (M50). */
export const HEARTBEAT_MS: Millis = 500
/** So many heartbeats without an ack, and one is gone (M25). */
export const UNANSWERED_MAX = 5
/** Inquiries of who joins, and the time between them (M53). */
export const INQUIRIES = 3
/** See INQUIRIES. */
export const INQUIRY_MS: Millis = 200
/** From the first inquiry to the birth (M24, M50). */
export const BIRTH_MS: Millis = 1_000
/** One stranger is asked again after this at the earliest. */
export const ASK_AGAIN_MS: Millis = 1_000
/** An answer to an inquiry is believed for so long. */
export const ANSWER_MS: Millis = 10_000
/** An id is changed again after this at the earliest (M58). */
export const RENAME_MS: Millis = 10_000

/** Most others that are known at once. */
export const OTHERS_MAX = 32
/** Most events of one that wait for their slot. */
export const PENDING_MAX = 32
/** Most packets that wait for acks of one; more are not sent again, and it will be found gone. */
export const WAITING_MAX = 64
/** Most acts in a slot. */
export const ACTS_MAX = 8
/** How far back an ack of a heartbeat may reach. */
export const HEARTBEATS_BACK = 16
/** Packets of one in a second, and at once. */
export const PACKETS_PER_S = 200
/** Packets in a second of those who are not known, and at once. */
export const STRANGERS_PER_S = 40

/** Permission to take so many packets: it fills with time. */
export interface Bucket {
  tokens: number
  at: Millis
}

/** Another player. */
export interface Other {
  readonly id: number
  /** Where its packets come from, and our answers go. */
  readonly address: string
  /** The newest event of it that was worked in; null before the first (M52). */
  last: number | null
  /** It has asked as a newcomer does: its birth begins a new count. */
  renewed: boolean
  /** Heartbeats of ours in a row without an ack. */
  unanswered: number
  /** It acked something since the last heartbeat. */
  answered: boolean
  /** When we asked it last. */
  askedAt: Millis
  /** We asked, and have no answer yet. */
  asking: boolean
  /** An event of it came since we asked. */
  told: boolean
  /** When its inquiry was answered last. */
  respondedAt: Millis
  bucket: Bucket
  /** Its name; empty until a packet of it had one. */
  name: string
}

/** An event that waits for its slot. */
export interface Pending extends Said {
  source: number
  event: number
  /** The slot of local time in which it came (M55). */
  slot: number
}

/** What wants an ack. */
export type Wanting = 'heartbeat' | 'event' | 'response'

/** A packet that is sent to one again until its ack comes (M26). */
export interface Waiting {
  kind: Wanting
  /** Of the heartbeat or the event; 0 of a response. */
  number: number
  bytes: Uint8Array
  /** When it goes out again. */
  at: Millis
  /** From the last time to the next. */
  timer: Millis
  resends: number
}

/** Why a packet was refused. */
export type Reason =
  /** No packet of ours. */
  | 'malformed'
  /** For somebody else. */
  | 'astray'
  /** From an address that is not its source's. */
  | 'moved'
  /** Says what cannot be in this maze. */
  | 'impossible'
  /** Answers what nobody asked. */
  | 'unasked'
  /** More than one may send. */
  | 'flooding'
  /** There are too many of us. */
  | 'full'
  /** Has our own id. */
  | 'clash'

/** What happened here, in packets. */
export interface Counters {
  sent: Record<Packet['kind'], number>
  received: Record<Packet['kind'], number>
  /** Bytes without headers of lower layers. */
  bytesSent: number
  resent: number
  refused: Record<Reason, number>
  /** Events that came after a newer one, thrown away (M30). */
  late: number
  /** Events that came twice. */
  doubled: number
  /** Connections that broke (M28). */
  broken: number
}

/** One player's part. */
export interface Peer {
  id: number
  /** Heartbeats are sent again (M26), and the id is an address: it is never changed (M58). */
  readonly strict: boolean
  /** Our name; empty if the player gave none. */
  readonly name: string
  /** Somebody is here who has not heard our name. */
  nameDue: boolean
  /** Another maze decides where its rat is, and who hits it: see `put` and `strike`. */
  readonly puppet: boolean
  /** State of its chance: 32 bits, not 0. */
  chance: number
  phase: 'asking' | 'playing'
  /** Inquiries still to be sent. */
  inquiries: number
  inquiryAt: Millis
  /** When all were asked last. */
  askedAt: Millis
  birthAt: Millis
  heartbeat: number
  heartbeatAt: Millis
  /** The number of our last event. */
  event: number
  /** The last slot that was begun. */
  slot: number
  /** Our rat with all that we did; null before its birth. */
  self: RatState | null
  /** It was hit, and is not born anew yet. */
  struck: boolean
  /** What we are must be told, though we do nothing. */
  announce: boolean
  /** The slot of the last step and shot, and how much was done in the newest slot. */
  stepped: number
  shot: number
  acts: number
  /** All rats as of the last slot, our own among them. */
  rats: Map<number, RatState>
  /** Where they are: one rat a cell. */
  cells: Map<number, number>
  hits: Hit[]
  others: Map<number, Other>
  pending: Pending[]
  /** By who owes the ack, oldest first. */
  waiting: Map<number, Waiting[]>
  /** Nothing goes out again before this. */
  resendAt: Millis
  /** When others were lost lately. */
  lost: Millis[]
  renamedAt: Millis
  strangers: Bucket
  counters: Counters
}

/** What a player's part tells. */
export type News =
  | { kind: 'playing'; id: number }
  | { kind: 'came' | 'gone'; id: number }
  /** Somebody was hit. */
  | { kind: 'hit'; by: number; whom: number }
  /** We lost everybody, and join anew (M37). */
  | { kind: 'out' }
  /** Another has our id, and we chose a new one; with `strict` we keep it (M58). */
  | { kind: 'clash'; id: number }

/** Where effects go. */
export interface Out {
  /** To all. The bytes may be kept. */
  multicast(bytes: Uint8Array): void
  /** To one, at the address that a packet came from. */
  unicast(to: string, bytes: Uint8Array): void
  tell(news: News): void
}

/** Nothing happened yet. */
export function createCounters(): Counters {
  const kinds = {
    heartbeat: 0,
    'heartbeat-ack': 0,
    event: 0,
    'event-ack': 0,
    inquiry: 0,
    response: 0,
    'response-ack': 0,
    name: 0,
  }
  const refused = {
    malformed: 0,
    astray: 0,
    moved: 0,
    impossible: 0,
    unasked: 0,
    flooding: 0,
    full: 0,
    clash: 0,
  }
  const counts = { bytesSent: 0, resent: 0, late: 0, doubled: 0, broken: 0 }
  return { sent: { ...kinds }, received: { ...kinds }, refused, ...counts }
}

/** Takes one packet from a bucket. @returns whether there was one */
export function draw(bucket: Bucket, now: Millis, perSecond: number): boolean {
  bucket.tokens = Math.min(perSecond, bucket.tokens + ((now - bucket.at) * perSecond) / 1_000)
  bucket.at = now
  if (bucket.tokens < 1) return false
  bucket.tokens -= 1
  return true
}

/** 32 bits of the peer's own chance. */
export function random(peer: Peer): number {
  let word = peer.chance
  word ^= word << 13
  word ^= word >>> 17
  word ^= word << 5
  peer.chance = word >>> 0
  return peer.chance
}

/** Counts what is not taken. */
export function refuse(peer: Peer, reason: Reason): void {
  peer.counters.refused[reason] += 1
}
