/**
 * What one member holds: its session, its links, its parts; and the wiring between them,
 * which is made once, beside the state, and never for each packet.
 */

import type { Doubt } from './doubt.ts'
import type { Arrivals, Link } from '../link/link.ts'
import type { SessionClock } from '../link/clock.ts'
import { createClock } from '../link/clock.ts'
import type { ErrorCode, Millis, Part, PeerId } from '../machine.ts'
import type { Met } from '../ports.ts'
import type { Topology } from '../directory/messages.ts'
import type { MemberKind } from '../replication/layouts.ts'
import { RULES } from '../session/rules.ts'
import * as session from '../session/state.ts'
import type { Session, SessionEvent, SessionOut } from '../session/state.ts'
import { digest } from '../wire/digest.ts'

/** Channel of the session's own messages; parts have 4 to 255. */
export const SESSION_CHANNEL = 0

/** What a process wants when it joins. */
export interface Wish {
  game: string
  room: string
  playersMax: number
  name: string
  kind: MemberKind
  addresses: string[]
  /** The hub's address, for sentences. */
  hub: string
  /** The game's types, as text. */
  types: string
  /** Its members may recover it when primary and backup are gone at once. */
  recovers: boolean
  /** Only Node processes serve or stand by. */
  hosts: boolean
  /** What it settles for all, if this process opens the session: `name=value`, joined by `;`. */
  terms: string
  /** Who shall have links, if this process opens the session. */
  topology: Topology
  /** Who it was before, if it comes back by a token. */
  resume: Resume | null
}

/** By which a player comes back as the same: the proof stays, the incarnation changes. */
export interface Resume {
  session: string
  player: number
  proof: Uint8Array
  /** The incarnation it was; 0 for a new process. */
  inc: PeerId
  /** Its operations up to this one have outcomes that it knows. */
  settled: number
}

/** How far a process has got into its session. */
export type Phase = 'finding' | 'asking' | 'in' | 'out'

/** One peer and the way to it. */
export interface Peer {
  inc: PeerId
  /** Null while the handshake is under way. */
  link: Link | null
  connection: number
  /** We asked for the link. */
  initiator: boolean
  nonce: number
  helloAt: Millis
  tries: number
  /** Addresses, best first; the last is the relay's. */
  paths: string[]
  /** Where packets go: an address that something valid last came from. */
  path: string
  /** When something valid last came from there. What comes another way says nothing of this one. */
  pathAt: Millis
  /** When the path to be tried next is tried. */
  probeAt: Millis
  /** The system said that nobody is there, and it was asked. */
  doubt: Doubt | null
  /** Since when nobody here wants this link; Infinity while somebody does. */
  idleSince: Millis
}

/** Bytes that nobody can guess, drawn from a seed that came from outside. */
export interface Entropy {
  seed: Uint8Array
  count: number
}

/** One part with its state. */
export interface Slot {
  part: Part<unknown>
  state: unknown
}

/** All that a member knows. */
export interface Member {
  wish: Wish
  phase: Phase
  session: Session
  peers: Map<PeerId, Peer>
  connections: Map<number, PeerId>
  slots: Slot[]
  /** To ourselves: a primary is its own client. */
  loopback: { channel: number; bytes: Uint8Array }[]
  /** Peers to whom something was written since the last flush. */
  touched: Set<PeerId>
  /** No link has anything to do before. */
  dueAt: Millis
  /** Who we want links with may have changed. */
  untended: boolean
  clock: SessionClock
  entropy: Entropy
  hub: 'closed' | 'open' | 'attached'
  /** The entry of the session that we ask to join. */
  found: string
  askAt: Millis
  giveUpAt: Millis
  /** What is at the hub's address instead of one, and since when it is that. */
  met: (Met & { since: Millis }) | null
  /** The hub has greeted us, since the process began. */
  greeted: boolean
  /** Why the hub did not open or find our session, when it was last asked. */
  unfound: string
  /** To come back as the same player. */
  resume: Resume | null
  /** The session that the parts' states are of. */
  home: string
  /** The last of our operations that the session told us to be recorded, before we came back. */
  recorded: number
  roundAt: Millis
  counters: MemberCounters
}

/** What a member counts. */
export interface MemberCounters {
  /** Datagrams and messages that nobody of ours could have sent. */
  malformed: number
  /** Datagrams for links that we do not have. */
  stray: number
  /** Datagrams that the hub relayed from another member than the one that they speak for. */
  forged: number
  denied: number
  /** How often the system said that nobody listens at the address of a peer who then answered. */
  doubted: number
  /** Copies of the whole state that a part did not take. */
  unrestored: number
  /** How often it came back with a new incarnation. */
  returns: number
}

/** What a member tells the runtime above. */
export type MemberEvent =
  | SessionEvent
  /** `lost`: so many of our operations were recorded, and the session knows nothing of them. */
  | { kind: 'joined'; inc: PeerId; player: number; lost: number }
  | { kind: 'failed'; code: ErrorCode; why: string }
  | { kind: 'hub'; up: boolean }
  | { kind: 'part'; channel: number; event: unknown }

/** The outside of a member. */
export interface MemberPorts {
  /** Sends a datagram; valid only during the call. */
  datagram(to: string, bytes: Uint8Array): void
  /** Whether some carrier of ours can send to that address. */
  reaches(address: string): boolean
  /** Sends a message to the hub; lost when there is no stream. */
  hub(message: Uint8Array): void
  /** Queued by the receiver: it may call back into the member only after the verb returned. */
  emit(event: MemberEvent): void
}

/** A member with its wiring. */
export interface Runtime {
  member: Member
  ports: MemberPorts
  /** The instant of the verb under way. */
  now: Millis
  /** What the datagram at hand brought. */
  arrivals: Arrivals
  /** Reliable and ordered, to a peer or to ourselves. @returns its number on the link, or 0 */
  deliver(to: PeerId, bytes: Uint8Array): number
  out: SessionOut
}

/** Longest time to get into a session. */
export const JOIN_MS: Millis = 15_000

/** A process that is not in a session yet. @param seed 16 random bytes or more */
export function create(now: Millis, wish: Wish, seed: Uint8Array, slots: Slot[]): Member {
  const entropy = { seed, count: 0 }
  return {
    wish,
    phase: 'finding',
    session: freshSession(now, wish, entropy),
    peers: new Map(),
    connections: new Map(),
    slots,
    loopback: [],
    touched: new Set(),
    dueAt: now,
    untended: true,
    clock: createClock(now),
    entropy,
    hub: 'closed',
    found: '',
    askAt: Infinity,
    giveUpAt: now + JOIN_MS,
    met: null,
    greeted: false,
    unfound: '',
    resume: wish.resume,
    home: '',
    recorded: 0,
    roundAt: now,
    counters: {
      malformed: 0,
      stray: 0,
      forged: 0,
      denied: 0,
      doubted: 0,
      unrestored: 0,
      returns: 0,
    },
  }
}

/** A session for a new incarnation: with a secret of its own. */
export function freshSession(now: Millis, wish: Wish, entropy: Entropy): Session {
  const { playersMax, types, recovers, hosts, kind } = wish
  const secret = draw(entropy)
  const mayRecover = recovers && session.mayServe(kind, hosts)
  return session.create(now, {
    secret,
    playersMax,
    types,
    recovers: mayRecover,
    hosts,
    rules: RULES,
  })
}

/** 16 bytes that were not drawn before. */
export function draw(entropy: Entropy): Uint8Array {
  const counted = new Uint8Array(entropy.seed.length + 4)
  counted.set(entropy.seed)
  new DataView(counted.buffer).setUint32(entropy.seed.length, entropy.count++)
  return digest(counted)
}

/** A number from 1 to 2^32 - 1 that was not drawn before, as far as chance allows. */
export function drawNumber(entropy: Entropy): number {
  const bytes = draw(entropy)
  const number = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0)
  return number === 0 ? 1 : number
}

/** The slot of a channel. */
export function slotOf(member: Member, channel: number): Slot | null {
  return member.slots.find((slot) => slot.part.channel === channel) ?? null
}

/** Whether the hub says that a datagram came from somebody else than that member. */
export function isForged(from: string, inc: PeerId): boolean {
  return isRelay(from) && from !== `relay:${inc}`
}

/** Whether datagrams to that address go through the hub. */
export function isRelay(address: string): boolean {
  return address.startsWith('relay:')
}
