/**
 * What is in the maze at the end of a slot: plain data, the same for everybody who knows the same
 * acts. A rat belongs to the player of the session who moves it; a bridge moves many.
 */

import type { Facing } from './maze.ts'

/** A shot on its way. It ends at a wall, or in a rat. */
export interface Missile {
  /** 0 to 3, in turn, so that none is used again at once. */
  readonly id: number
  /** The cell that it is in, y * 32 + x. */
  readonly at: number
  readonly facing: Facing
}

/** One who runs in the maze. */
export interface Rat {
  /** 32 bits. A player's own rat has the player's number. */
  readonly id: number
  /** Number of the player of the session who moves it. */
  readonly owner: number
  readonly at: number
  readonly facing: Facing
  /** Nobody else sees it. */
  readonly cloaked: boolean
  readonly score: number
  /** Oldest first, at most MISSILES_MAX. */
  readonly missiles: readonly Missile[]
  /** The id of the next. */
  readonly nextMissile: number
  /** The slot in which it came, or was born anew. */
  readonly born: number
}

/** Who was hit by whom, and when. */
export interface Hit {
  readonly slot: number
  /** Ids of rats. */
  readonly by: number
  readonly whom: number
}

/** The points of a rat whose player went, and may be back in a moment. */
export interface Past {
  readonly id: number
  readonly owner: number
  readonly score: number
  /** The slot in which they went. */
  readonly slot: number
}

/** All of it, at the end of a slot. */
export interface World {
  readonly slot: number
  /** By id, smallest first. */
  readonly rats: readonly Rat[]
  /** Of the last HITS_SLOTS slots, oldest first. */
  readonly hits: readonly Hit[]
  /** Who went lately, oldest first; where nobody did, it may be missing. */
  readonly past?: readonly Past[]
}

/** What points are given for, and how far a missile flies in a slot. */
export interface Laws {
  /** For each shot. */
  readonly shot: number
  readonly hit: number
  readonly beHit: number
  /** Cells that a missile flies in a slot. */
  readonly missileCells: number
}

/** The classic scores. */
export const LAWS: Laws = { shot: -1, hit: 11, beHit: -5, missileCells: 1 }

/** Most missiles of a rat in flight. */
export const MISSILES_MAX = 3
/** Ids of missiles. */
export const MISSILE_IDS = 4
/** Most rats of one player; more than one has only who is a bridge. */
export const RATS_OF_ONE_MAX = 32
/** Most rats in the maze: a world fits into one message, and a third of the cells is enough. */
export const RATS_MAX = 160
/** Most hits that are told. */
export const HITS_MAX = 32
/** For how many slots a hit is told. */
export const HITS_SLOTS = 10
/** For how many slots the points are kept of who went: a minute. */
export const PAST_SLOTS = 300
/** Of how many they are kept at most. */
export const PAST_MAX = 32
/** For how many slots after it was born anew a rat may say that it is elsewhere. */
export const FRESH_SLOTS = 10

/** An empty maze. */
export const EMPTY: World = { slot: 0, rats: [], hits: [] }

/** The rat with that id. */
export function ratOf(world: World, id: number): Rat | undefined {
  return world.rats.find((rat) => rat.id === id)
}

/** Who stands there, cloaked or not. */
export function ratAt(world: World, at: number): Rat | undefined {
  return world.rats.find((rat) => rat.at === at)
}

/** Most points first; among equals the smaller id. */
export function byScore(world: World): readonly Rat[] {
  return world.rats.toSorted((one, other) => other.score - one.score || one.id - other.id)
}
