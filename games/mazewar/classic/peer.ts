/**
 * A player of the classic game: equal among equals, with no server, over datagrams to all and to
 * one. A machine: time and packets come in, packets and news go out, and `deadline` is when it
 * wants to be woken. What it knows is in `state.ts`.
 *
 * The way of an event: `act` tells it to all with the state before it (`send.ts`), each acks it
 * (`receive.ts`), and it is sent again to whoever did not (`retries.ts`); two slots later everybody
 * works it in, its own rat as well (`slots.ts`, `rat-state.ts`).
 */

import type { Act } from '../rules/acts.ts'
import { back, beyond } from '../rules/maze.ts'
import { MISSILES_MAX, type Rat, type World } from '../rules/world.ts'
import { receivePacket } from './receive.ts'
import type { RatState } from './rat-state.ts'
import { askAll, beat, begin, repeat } from './others.ts'
import { absoluteOf, say } from './send.ts'
import { beBorn, slots } from './slots.ts'
import {
  ACTS_MAX,
  createCounters,
  HEARTBEAT_MS,
  type Millis,
  type Out,
  type Peer,
  SLOT_MS,
  STRANGERS_PER_S,
} from './state.ts'

export type { Millis, News, Out, Peer } from './state.ts'

/** How a player begins. */
export interface PeerOptions {
  /** 32 random bits; in strict mode the IPv4 address. */
  id: number
  /** 32 random bits, for where rats are born. */
  seed: number
  /** Heartbeats are sent again too, and the id stays, whoever has it besides. Default false. */
  strict?: boolean
  /** Our name, sent to the others; with `strict` it is not sent. */
  name?: string
  /** Its rat is a copy: another maze decides where it is, and who hits it. Default false. */
  puppet?: boolean
  /** The numbers of the last event and heartbeat before the first; by default 0. */
  event?: number
  heartbeat?: number
}

/** What a player may do. */
export type Wish = Exclude<Act, { kind: 'born' | 'leave' }>

/** A player who joins now. `wake` it at once. */
export function create(now: Millis, options: PeerOptions): Peer {
  const { id, seed, strict = false, puppet = false, name = '' } = options
  const { event = 0, heartbeat = 0 } = options
  const peer: Peer = {
    id,
    strict,
    puppet,
    name,
    nameDue: true,
    chance: seed >>> 0 || 1,
    phase: 'asking',
    inquiries: 0,
    inquiryAt: now,
    askedAt: -Infinity,
    birthAt: now,
    heartbeat,
    heartbeatAt: now,
    event,
    slot: Math.floor(now / SLOT_MS),
    self: null,
    struck: false,
    announce: false,
    stepped: -1,
    shot: -1,
    acts: 0,
    rats: new Map(),
    cells: new Map(),
    hits: [],
    others: new Map(),
    pending: [],
    waiting: new Map(),
    resendAt: Infinity,
    lost: [],
    renamedAt: -Infinity,
    strangers: { tokens: STRANGERS_PER_S, at: now },
    counters: createCounters(),
  }
  begin(peer, now)
  return peer
}

/** Takes a datagram; whatever it is, this does not throw. @param from an address to answer to */
export function receive(peer: Peer, now: Millis, from: string, bytes: Uint8Array, out: Out): void {
  slots(peer, now, out)
  receivePacket(peer, now, from, bytes, out)
}

/** Does what time has come for. */
export function wake(peer: Peer, now: Millis, out: Out): void {
  slots(peer, now, out)
  repeat(peer, now, out)
  while (peer.inquiries > 0 && peer.inquiryAt <= now) askAll(peer, now, out)
  if (peer.phase === 'asking' && peer.birthAt <= now) {
    peer.phase = 'playing'
    peer.heartbeatAt = now + HEARTBEAT_MS
    beBorn(peer, now, out)
    out.tell({ kind: 'playing', id: peer.id })
  }
  if (peer.heartbeatAt <= now) beat(peer, now, out)
}

/** When to be woken next. */
export function deadline(peer: Peer): Millis {
  let at = Math.min((peer.slot + 1) * SLOT_MS, peer.heartbeatAt, peer.resendAt)
  if (peer.phase === 'asking') at = Math.min(at, peer.birthAt)
  if (peer.inquiries > 0) at = Math.min(at, peer.inquiryAt)
  return at
}

/** Does something, if it can be. @returns whether it was told to all */
export function act(peer: Peer, now: Millis, wish: Wish, out: Out): boolean {
  slots(peer, now, out)
  if (!peer.self || peer.struck || peer.acts >= ACTS_MAX) return false
  const done = perform(peer, now, wish, out)
  if (done) peer.acts += 1
  return done
}

function perform(peer: Peer, now: Millis, wish: Wish, out: Out): boolean {
  const { facing, cloaked } = peer.self!
  switch (wish.kind) {
    case 'turn':
      if (wish.facing === facing) return false
      say(peer, now, { kind: 'movement', facing: wish.facing, step: 'none' }, out)
      return true
    case 'cloak':
      if (wish.on === cloaked) return false
      say(peer, now, { kind: 'cloak', on: wish.on }, out)
      return true
    case 'step':
      return walk(peer, now, wish.speed, out)
    case 'fire':
      return fire(peer, now, out)
    default:
      return wish satisfies never
  }
}

// One step a slot, into a cell where nobody is as far as we know.
function walk(peer: Peer, now: Millis, speed: 1 | 2, out: Out): boolean {
  const { cell, facing } = peer.self!
  const next = beyond(cell, speed === 1 ? facing : back(facing))
  if (next === null || peer.stepped === peer.slot) return false
  for (const [id, at] of peer.cells) if (id !== peer.id && at === next) return false
  peer.stepped = peer.slot
  const step = speed === 1 ? 'forward' : 'backward'
  say(peer, now, { kind: 'movement', facing, step }, out)
  return true
}

// One shot a slot, three in flight.
function fire(peer: Peer, now: Millis, out: Out): boolean {
  const absolute = absoluteOf(peer)
  if (!absolute || peer.shot === peer.slot) return false
  const { cell, facing, missiles } = absolute
  const id = peer.self!.nextMissile
  const taken = missiles.length >= MISSILES_MAX || missiles.some((missile) => missile.id === id)
  if (taken) return false
  peer.shot = peer.slot
  say(peer, now, { kind: 'projection', missile: { id, cell, heading: facing } }, out)
  return true
}

/** As a puppet: its rat is there, and has so many points. @returns whether it was told to all */
export function put(
  peer: Peer,
  now: Millis,
  { cell, facing, score }: Pick<RatState, 'cell' | 'facing' | 'score'>,
  out: Out,
): boolean {
  slots(peer, now, out)
  if (!peer.self || peer.struck || peer.acts >= ACTS_MAX) return false
  peer.self.score = score
  peer.acts += 1
  say(peer, now, { kind: 'born', cell, facing }, out)
  return true
}

/** As a puppet: it was hit by a missile of that one. @returns whether it was told to all */
export function strike(peer: Peer, now: Millis, owner: number, out: Out): boolean {
  slots(peer, now, out)
  if (!peer.self || peer.struck || peer.acts >= ACTS_MAX) return false
  const missile = peer.rats.get(owner)?.missiles[0]
  if (!missile) return false
  peer.acts += 1
  say(peer, now, { kind: 'hit', owner, missile }, out)
  return true
}

/** What this player sees, as of the last slot. Every rat is its own owner. */
export function world(peer: Peer): World {
  const rats = [...peer.rats.keys()].toSorted((one, other) => one - other)
  return { slot: peer.slot, rats: rats.map((id) => ratOf(peer, id)), hits: [...peer.hits] }
}

function ratOf(peer: Peer, id: number): Rat {
  const account = peer.rats.get(id)!
  const { facing, cloaked, score, nextMissile } = account
  const at = peer.cells.get(id) ?? account.cell
  const missiles = account.missiles.map((one) => {
    return { id: one.id, at: one.cell, facing: one.heading }
  })
  return { id, owner: id, at, facing, cloaked, score, missiles, nextMissile, born: 0 }
}

/** The same with what we did that is not worked in yet, as our own eyes have it. */
export function ahead(peer: Peer): World {
  const seen = world(peer)
  const absolute = absoluteOf(peer)
  if (!absolute || !peer.self) return seen
  const { cell: at, facing, cloaked, score } = absolute
  const missiles = absolute.missiles.map((one) => {
    return { id: one.id, at: one.cell, facing: one.heading }
  })
  const { nextMissile } = peer.self
  const own: Rat = {
    id: peer.id,
    owner: peer.id,
    at,
    facing,
    cloaked,
    score,
    missiles,
    nextMissile,
    born: 0,
  }
  const others = seen.rats.filter(({ id }) => id !== peer.id)
  return { ...seen, rats: [...others, own].toSorted((one, other) => one.id - other.id) }
}
