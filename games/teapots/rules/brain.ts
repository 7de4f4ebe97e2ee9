/**
 * How a bot plays: it picks somebody, keeps a lively distance, aims ahead of who moves, throws
 * round corners when it must, and steps out of the way of what it sees coming. It is no machine:
 * it notices late, aims a little beside, and holds its fire for no reason.
 *
 * Plain data and a pure function, so that a bot plays the same again from the same seed.
 */

import type { Vec2 } from 'holdfast'
import { POT_RADIUS, touches } from './arena.ts'
import { around, between, type Chance, next } from '../../chance.ts'
import { FLIGHT_MS, HIT_RADIUS, lead, placeAt, sees, trace } from './flight.ts'
import { add, along, angleOf, distance, dot, length, scale, subtract, unit } from './plane.ts'
import { turnTo } from './plane.ts'
import type { Body, Intent } from './pot.ts'

/** Somebody else's pot that stands. */
export interface Rival {
  player: number
  pos: Vec2
  vel: Vec2
  /** Whether it cannot be hit just now. */
  safe: boolean
}

/** A cube of somebody else in flight. */
export interface Danger {
  /** Tells one throw from another. */
  id: string
  pos: Vec2
  vel: Vec2
}

/** What a bot sees. */
export interface Sight {
  now: number
  me: Body
  /** Cubes in its bowl. */
  cubes: number
  rivals: readonly Rival[]
  dangers: readonly Danger[]
}

/** What a bot has in mind. */
export interface Mind {
  chance: Chance
  /** From 0, hopeless, to 1, nobody's friend. */
  skill: number
  target: number
  targetUntil: number
  /** Which way round its target it goes. */
  side: number
  sideUntil: number
  /** How far from its target it likes to be. */
  room: number
  /** How far beside it aims, in radians. */
  slip: number
  slipUntil: number
  fireAt: number
  /** A way round corners that it found, or null. */
  bank: number | null
  bankAt: number
  /** When it notices each cube; Infinity for those it overlooks. */
  notices: Map<string, number>
}

/** How often a bot looks for a way round corners, in milliseconds. */
const BANK_MS = 450
/** Directions that it tries then. */
const BANK_TRIES = 20
/** Cubes that it keeps in mind. */
const NOTICES_MAX = 32
/** How near a cube may come before a bot minds, in units. */
const CLOSE = HIT_RADIUS + 0.7

/** A new mind. @param skill  from 0 to 1 */
export function createMind(seed: number, skill: number): Mind {
  const chance = { state: seed }
  return {
    chance,
    skill,
    target: 0,
    targetUntil: 0,
    side: next(chance) < 0.5 ? -1 : 1,
    sideUntil: 0,
    room: 8,
    slip: 0,
    slipUntil: 0,
    fireAt: 0,
    bank: null,
    bankAt: 0,
    notices: new Map(),
  }
}

/** What a bot wants now. */
export function think(mind: Mind, sight: Sight): Intent {
  const rival = choose(mind, sight)
  const dodge = sidestep(mind, sight)
  if (!rival) return { move: dodge ?? stroll(mind, sight), aim: null, fire: false }
  wander(mind, sight.now)
  const move = dodge ?? approach(mind, sight, rival)
  const wanted = aimAt(mind, sight, rival)
  if (wanted === null) return { move, aim: angleOf(subtract(rival.pos, sight.me.pos)), fire: false }
  return { move, aim: wanted, fire: pulls(mind, sight, wanted, rival) }
}

function choose(mind: Mind, { now, me, rivals }: Sight): Rival | null {
  const kept = rivals.find(({ player, safe }) => player === mind.target && !safe)
  if (kept && now < mind.targetUntil) return kept
  let best: Rival | null = null
  let bestCost = Infinity
  for (const rival of rivals) {
    const hidden = sees(me.pos, rival.pos) ? 0 : 6
    const cost = distance(me.pos, rival.pos) + hidden + (rival.safe ? 12 : 0)
    const whim = cost + between(mind.chance, 0, 6)
    if (whim < bestCost) [best, bestCost] = [rival, whim]
  }
  mind.target = best?.player ?? 0
  mind.targetUntil = now + between(mind.chance, 1_500, 4_000)
  return best
}

function wander(mind: Mind, now: number): void {
  if (now >= mind.sideUntil) {
    mind.side = next(mind.chance) < 0.6 ? -mind.side : mind.side
    mind.sideUntil = now + between(mind.chance, 500, 1_900)
    mind.room = between(mind.chance, 5.5, 10.5)
  }
  if (now >= mind.slipUntil) {
    mind.slip = around(mind.chance) * (1.05 - mind.skill)
    mind.slipUntil = now + between(mind.chance, 250, 700)
  }
}

// Keeps its distance and circles; what stands in the way pushes it aside.
function approach(mind: Mind, { me }: Sight, rival: Rival): Vec2 {
  const to = subtract(rival.pos, me.pos)
  const way = unit(to)
  const far = length(to) - mind.room
  const inwards = scale(way, Math.max(-1, Math.min(1, far / 3)))
  const round: Vec2 = [-way[1] * mind.side, way[0] * mind.side]
  return bounded(add(add(inwards, scale(round, 1.1)), clearance(me)))
}

function stroll(mind: Mind, { now, me }: Sight): Vec2 {
  wander(mind, now)
  const out = unit(me.pos)
  const round: Vec2 = [-out[1] * mind.side, out[0] * mind.side]
  const inwards = scale(out, (9 - length(me.pos)) / 6)
  return scale(bounded(add(add(round, inwards), clearance(me))), 0.6)
}

function clearance(me: Body): Vec2 {
  let push: Vec2 = [0, 0]
  const ahead = along(me.pos, me.vel, 0.25)
  for (const { depth, normal } of touches(ahead, POT_RADIUS + 1.3)) {
    push = along(push, normal, depth * 0.9)
  }
  return push
}

function bounded(way: Vec2): Vec2 {
  return length(way) > 1 ? unit(way) : way
}

// A cube that comes close is seen in time, or late, or never.
function sidestep(mind: Mind, { now, me, dangers }: Sight): Vec2 | null {
  for (const { id, pos, vel } of dangers) {
    const off = subtract(me.pos, pos)
    const speed = length(vel)
    const ahead = dot(off, vel) / (speed * speed || 1)
    if (ahead <= 0 || ahead > 0.75) continue
    const beside = subtract(off, scale(vel, ahead))
    if (length(beside) > CLOSE) continue
    if (now < noticed(mind, id, now)) continue
    const side = length(beside) > 0.05 ? unit(beside) : unit([-vel[1], vel[0]])
    return bounded(add(side, scale(clearance(me), 0.5)))
  }
  return null
}

function noticed(mind: Mind, id: string, now: number): number {
  const known = mind.notices.get(id)
  if (known !== undefined) return known
  if (mind.notices.size >= NOTICES_MAX) mind.notices.delete(mind.notices.keys().next().value!)
  const blind = next(mind.chance) > 0.25 + 0.6 * mind.skill
  const at = blind ? Infinity : now + between(mind.chance, 90, 420 - 240 * mind.skill)
  mind.notices.set(id, at)
  return at
}

function aimAt(mind: Mind, { now, me }: Sight, rival: Rival): number | null {
  const led = lead(me.pos, rival.pos, scale(rival.vel, 0.55 + 0.45 * mind.skill))
  if (led && sees(me.pos, led.at)) {
    mind.bank = null
    // Who moves across is harder to hit.
    const across = Math.abs(dot(rival.vel, unit([-(led.at[1] - me.pos[1]), led.at[0] - me.pos[0]])))
    return led.aim + mind.slip * (0.2 + 0.05 * across)
  }
  if (now >= mind.bankAt) {
    mind.bankAt = now + BANK_MS
    mind.bank = roundCorners(mind, me.pos, rival)
  }
  return mind.bank
}

function roundCorners(mind: Mind, from: Vec2, rival: Rival): number | null {
  const first = next(mind.chance)
  for (let i = 0; i < BANK_TRIES; i++) {
    const aim = ((i + first) / BANK_TRIES) * 2 * Math.PI
    const flight = trace({ pos: from, aim })
    for (let ms = 120; ms < FLIGHT_MS * 0.7; ms += 40) {
      const { pos, bounces } = placeAt(flight, ms)
      const there = along(rival.pos, rival.vel, ms / 1000)
      if (bounces > 0 && distance(pos, there) < HIT_RADIUS * 0.8) return aim
    }
  }
  return null
}

function pulls(mind: Mind, { now, me, cubes }: Sight, wanted: number, rival: Rival): boolean {
  if (cubes === 0 || now < mind.fireAt || rival.safe) return false
  if (Math.abs(turnTo(me.aim, wanted)) > 0.07) return false
  // Keeps a cube back now and then, as people do.
  const wait = cubes > 1 ? between(mind.chance, 500, 1_900) : between(mind.chance, 1_000, 2_800)
  mind.fireAt = now + wait * (1.45 - mind.skill)
  return true
}

/** Where a pot should point to hit who is nearest to where it points; helps thumbs and keys. */
export function assisted(me: Body, rivals: readonly Rival[], within: number): number {
  let best = me.aim
  let bestTurn = within
  for (const { pos, vel, safe } of rivals) {
    const led = safe ? null : lead(me.pos, pos, vel)
    if (!led || !sees(me.pos, led.at)) continue
    const turn = Math.abs(turnTo(me.aim, led.aim))
    if (turn < bestTurn) [best, bestTurn] = [led.aim, turn]
  }
  return best
}
