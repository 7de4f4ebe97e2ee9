/**
 * What the game says to others: pots and cubes are objects of their owners; sitting down and
 * hitting are actions, decided on the server.
 */

import {
  action,
  type ActionType,
  angle,
  f32,
  type Field,
  type Definition,
  object,
  type ObjectType,
  ranged,
  u16,
  u32,
  u8,
  type Vec2,
  vec2,
} from 'holdfast'
import { Kill } from '../../kill.ts'
import { AIM_BITS, PLACE_STEP } from './flight.ts'
import { type Claim, type Counted, type Court, hit, pour } from './match.ts'
import type { Standing } from './standing.ts'

/** Most players of a game; who comes later is told that it is full. */
export const PLAYERS_MAX = 12

/**
 * A pot: where it is, how it moves, where its spout points, which glaze it has, and whom it waits
 * for when its player is away.
 */
export const Pot: ObjectType<{
  pos: Field<Vec2>
  vel: Field<Vec2>
  aim: Field<number>
  spin: Field<number>
  glaze: Field<number>
  player: Field<number>
}> = object(
  'pot',
  {
    pos: vec2(-20, 20, PLACE_STEP),
    vel: vec2(-16, 16, 1 / 16),
    aim: angle(10),
    spin: ranged(-12, 12, 1 / 8),
    glaze: u8,
    player: u16,
  },
  { motion: { follow: { pos: 'vel', aim: 'spin' }, warp: 0.85, snap: 5 } },
)

/**
 * One of the cubes of a pot. It lies in the bowl until it is thrown, and is thrown anew when its
 * flight is over: `at` is when, 0 for never, and `ends` is how long it flew or may fly.
 */
export const Cube: ObjectType<{
  at: Field<number>
  pos: Field<Vec2>
  aim: Field<number>
  ends: Field<number>
}> = object('cube', { at: u32, pos: vec2(-20, 20, PLACE_STEP), aim: angle(AIM_BITS), ends: u16 })

/**
 * A lump of sugar that pots push about. It belongs to whoever bumped it last; when they go, it
 * stays. `home` tells one from another: where it lies at first.
 */
export const Lump: ObjectType<{
  pos: Field<Vec2>
  vel: Field<Vec2>
  turn: Field<number>
  spin: Field<number>
  home: Field<number>
}> = object(
  'lump',
  {
    pos: vec2(-20, 20, PLACE_STEP),
    vel: vec2(-16, 16, 1 / 16),
    turn: angle(10),
    spin: ranged(-12, 12, 1 / 8),
    home: u8,
  },
  {
    take: 'free',
    onOwnerLeave: 'keep',
    motion: { follow: { pos: 'vel', turn: 'spin' }, warp: 0.8, snap: 4, within: 0.03 },
  },
)

// As a cube has them; and how long it flew to the fraction of a millisecond, as its thrower saw it.
const CLAIM = {
  ...{ at: u32, pos: vec2(-20, 20, PLACE_STEP), aim: angle(AIM_BITS) },
  ...{ victim: u32, after: f32 },
}

/** What is decided on the server. */
export interface Decisions {
  /** Sits down, or is filled again. */
  pour: ActionType<unknown, Standing>
  /** Counts a hit. */
  hit: ActionType<Claim, Counted>
}

/** The decisions, as this member makes them when it serves. */
export function decisions(court: Court): Decisions {
  return {
    pour: action('pour', (table, _nothing, by) => pour(table, court, by)),
    hit: action('hit', CLAIM, (table, args, by) => hit(table, args, court, by)),
  }
}

/** All types of the game, for `join`. */
export function typesOf({ pour: filling, hit: hitting }: Decisions): Definition[] {
  return [Pot, Cube, Lump, Kill, filling, hitting] as Definition[]
}
