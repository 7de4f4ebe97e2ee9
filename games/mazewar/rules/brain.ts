/**
 * How a bot plays: it goes where the map shows somebody, turns to whom it sees, shoots along
 * corridors, and steps out of the way of what comes, if it notices. It knows what a player knows:
 * the corridors and the map, and nobody who is cloaked.
 *
 * Plain data and a function of it, so that a bot plays the same again from the same seed.
 */

import { type Chance, next } from '../../chance.ts'
import type { Act } from './acts.ts'
import { back, beyond, type Facing, FACINGS, isOpen, leftOf, rightOf } from './maze.ts'
import { MISSILES_MAX, type Rat, ratAt, ratOf, type World } from './world.ts'

/** What a bot has in mind. */
export interface Mind {
  readonly chance: Chance
  /** From 0, asleep, to 1, nobody's friend. */
  readonly skill: number
  /** The slot in which it shot last. */
  shotIn: number
}

/** The worst bot and the best; the others are in between. */
const SKILLS: readonly [number, number] = [0.15, 0.7]

/** How good a bot is. @param index  from 1 */
export function skillOf(index: number): number {
  return SKILLS[0] + ((index * 0.618) % 1) * (SKILLS[1] - SKILLS[0])
}

/** A mind of its own. */
export function createMind(seed: number, skill: number): Mind {
  return { chance: { state: seed }, skill, shotIn: -100 }
}

/** Slots between two shots at least, for the worst. */
const PAUSE_SLOTS = 6

/** What it does in this slot; null for nothing. */
export function think(mind: Mind, world: World, me: number): Act | null {
  const rat = ratOf(world, me)
  if (!rat) return null
  const awake = next(mind.chance) < 0.35 + 0.6 * mind.skill
  if (!awake) return null
  const seeks = likely(mind, 0.4 + 0.4 * mind.skill)
  return (
    dodge(mind, world, rat) ??
    hunt(mind, world, rat) ??
    (seeks ? seek(world, rat) : null) ??
    roam(mind, world, rat)
  )
}

function likely(mind: Mind, share: number): boolean {
  return next(mind.chance) < share
}

// What flies at us from the front or the back: out of its way, if there is one.
function dodge(mind: Mind, world: World, rat: Rat): Act | null {
  if (!likely(mind, mind.skill)) return null
  const comes = FACINGS.some((facing) => isComing(world, rat, facing))
  if (!comes) return null
  const side = isComing(world, rat, rat.facing) || isComing(world, rat, back(rat.facing))
  if (!side) return stepIf(world, rat, 1) ?? stepIf(world, rat, 2)
  const aside = [leftOf(rat.facing), rightOf(rat.facing)].find((way) => isOpen(rat.at, way))
  return aside === undefined ? null : { kind: 'turn', facing: aside }
}

// Whether a missile is in the corridor that way, and on its way to us.
function isComing(world: World, rat: Rat, facing: Facing): boolean {
  const danger = new Set<number>()
  for (const { id, missiles } of world.rats) {
    if (id === rat.id) continue
    for (const each of missiles) if (each.facing === back(facing)) danger.add(each.at)
  }
  for (let at = beyond(rat.at, facing); at !== null; at = beyond(at, facing)) {
    if (danger.has(at)) return true
  }
  return false
}

function hunt(mind: Mind, world: World, rat: Rat): Act | null {
  if (seen(world, rat, rat.facing) !== null) return shoot(mind, world, rat)
  const ways = [leftOf(rat.facing), rightOf(rat.facing), back(rat.facing)]
  for (const way of ways) {
    const away = seen(world, rat, way)
    // Nobody has eyes behind: that one is only heard, when it is near.
    const noticed = way === back(rat.facing) ? (away ?? 99) < 3 : true
    if (away !== null && noticed && likely(mind, 0.3 + 0.6 * mind.skill)) {
      return { kind: 'turn', facing: way }
    }
  }
  return null
}

function shoot(mind: Mind, world: World, rat: Rat): Act | null {
  const pause = PAUSE_SLOTS * (1.2 - mind.skill)
  if (rat.missiles.length >= MISSILES_MAX || world.slot - mind.shotIn < pause) return null
  mind.shotIn = world.slot
  return { kind: 'fire' }
}

// How many cells away somebody is seen that way; null for nobody.
function seen(world: World, rat: Rat, facing: Facing): number | null {
  let away = 1
  for (let at = beyond(rat.at, facing); at !== null; at = beyond(at, facing)) {
    const there = ratAt(world, at)
    if (there) return there.cloaked ? null : away
    away++
  }
  return null
}

// The next step of the shortest way to the nearest on the map; null if nobody is, or one is there.
function seek(world: World, rat: Rat): Act | null {
  const taken = new Set<number>()
  for (const { id, at, cloaked } of world.rats) if (id !== rat.id && !cloaked) taken.add(at)
  const way = firstStep(rat.at, taken)
  if (way === null) return null
  if (way === rat.facing) return stepIf(world, rat, 1)
  return { kind: 'turn', facing: way }
}

function firstStep(from: number, targets: ReadonlySet<number>): Facing | null {
  const first = new Map<number, Facing | null>([[from, null]])
  for (const [at, way] of first) {
    if (targets.has(at)) return way
    for (const facing of FACINGS) {
      const next = beyond(at, facing)
      if (next !== null && !first.has(next)) first.set(next, way ?? facing)
    }
  }
  return null
}

function roam(mind: Mind, world: World, rat: Rat): Act | null {
  const aside = [leftOf(rat.facing), rightOf(rat.facing)].filter((way) => isOpen(rat.at, way))
  const ahead = stepIf(world, rat, 1)
  const turns = ahead === null || (aside.length > 0 && likely(mind, 0.3))
  if (!turns) return ahead
  const way = aside[Math.floor(next(mind.chance) * aside.length)]
  return { kind: 'turn', facing: way ?? back(rat.facing) }
}

function stepIf(world: World, rat: Rat, speed: 1 | 2): Act | null {
  const to = beyond(rat.at, speed === 1 ? rat.facing : back(rat.facing))
  return to === null || ratAt(world, to) ? null : { kind: 'step', speed }
}
