/**
 * The beginning of a slot: missiles fly on, and the events of the slot before the last are worked
 * in (M31), each rat's in their order, and where two claim one cell the higher id has it (M32).
 */

import { CELLS, widest } from '../rules/maze.ts'
import { HITS_SLOTS, LAWS } from '../rules/world.ts'
import { end, fly, freeFrom, resolve, update, scoreOf } from './rat-state.ts'
import { EVENT_BITS, isNewer } from './numbers.ts'
import type { Missile } from './packets.ts'
import { say, sayHow } from './send.ts'
import {
  type Millis,
  type Out,
  type Peer,
  type Pending,
  random,
  SLOT_DELAY,
  SLOT_MS,
} from './state.ts'

/** A process that stood still for longer does not fly all missiles after. */
const CATCH_UP_MAX = 50

/** Begins all slots up to now. */
export function slots(peer: Peer, now: Millis, out: Out): void {
  const newest = Math.floor(now / SLOT_MS)
  peer.slot = Math.max(peer.slot, newest - CATCH_UP_MAX)
  while (peer.slot < newest) {
    peer.slot += 1
    peer.acts = 0
    begin(peer, now, out)
  }
}

function begin(peer: Peer, now: Millis, out: Out): void {
  const { slot } = peer
  peer.hits = peer.hits.filter((hit) => slot - hit.slot < HITS_SLOTS)
  const shot = struckBy(peer)
  const due = peer.pending.filter((one) => one.slot <= slot - SLOT_DELAY)
  if (due.length > 0) {
    peer.pending = peer.pending.filter((one) => one.slot > slot - SLOT_DELAY)
    for (const one of due.toSorted(inOrder)) work(peer, one, out)
  }
  peer.cells = resolve(peer.rats)
  if (shot && !peer.struck) beStruck(peer, now, shot, out)
  goBack(peer)
  if (peer.announce && peer.self && !peer.struck) sayHow(peer, now, out)
}

function inOrder(one: Pending, other: Pending): number {
  if (one.source !== other.source) return one.source - other.source
  return isNewer(one.event, other.event, EVENT_BITS) ? 1 : -1
}

type Shot = { owner: number; missile: Missile }

// All missiles fly on; the one that hit us, where it did. Only who is hit decides that (M48).
function struckBy(peer: Peer): Shot | null {
  const here = peer.struck ? undefined : peer.cells.get(peer.id)
  let shot: Shot | null = null
  for (const [owner, account] of peer.rats) {
    const before = account.missiles
    fly(account, peer.slot)
    if (owner === peer.id || shot || peer.puppet) continue
    // It was where we walked to, or has come to where we are.
    const hit = [...before, ...account.missiles].find(({ cell }) => cell === here)
    if (hit) shot = { owner, missile: hit }
  }
  return shot
}

/** Works an event in; what is older than the newest of its rat is thrown away (M30). */
function work(peer: Peer, one: Pending, out: Out): void {
  const { source, event, action } = one
  const other = peer.others.get(source)
  if (source !== peer.id) {
    if (!other) return
    if (other.last !== null && !isNewer(event, other.last, EVENT_BITS)) {
      peer.counters.late += 1
      return
    }
    other.last = event
  }
  const known = peer.rats.get(source)
  const account = update(known, one, peer.slot - one.slot, peer.slot)
  if (!account) return
  peer.rats.set(source, account)
  if (!known && other) out.tell({ kind: 'came', id: source })
  if (action.kind === 'hit') hit(peer, source, action.owner, action.missile.id, out)
  if (source === peer.id && action.kind === 'born') peer.struck = false
}

function hit(peer: Peer, whom: number, by: number, missile: number, out: Out): void {
  const owner = peer.rats.get(by)
  if (!owner || by === whom || !end(owner, missile, peer.slot)) return
  peer.hits.push({ slot: peer.slot, by, whom })
  out.tell({ kind: 'hit', by, whom })
  if (by !== peer.id || !peer.self) return
  // The others hear of it from us: our score is ours to tell.
  peer.self.score = owner.score = scoreOf(Math.max(owner.score, peer.self.score) + LAWS.hit)
  peer.announce = true
}

// We say that we were hit, and are born anew elsewhere.
function beStruck(peer: Peer, now: Millis, { owner, missile }: Shot, out: Out): void {
  peer.struck = true
  say(peer, now, { kind: 'hit', owner, missile }, out)
  beBorn(peer, now, out)
}

/** Our rat is born, somewhere free. */
export function beBorn(peer: Peer, now: Millis, out: Out): void {
  const cell = freeFrom(new Set(peer.cells.values()), random(peer) % CELLS)
  const facing = widest(cell)
  peer.self ??= {
    score: 0,
    cell,
    before: cell,
    facing,
    cloaked: false,
    missiles: [],
    over: [],
    nextMissile: 0,
  }
  say(peer, now, { kind: 'born', cell, facing }, out)
}

// A cell that two claim is the higher id's: the lower goes back, and says so (M32, M36).
function goBack(peer: Peer): void {
  const cell = peer.cells.get(peer.id)
  const waits = peer.pending.some(({ source }) => source === peer.id)
  if (!peer.self || cell === undefined || waits || peer.self.cell === cell) return
  peer.self.cell = cell
  peer.announce = true
}
