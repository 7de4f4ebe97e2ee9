/**
 * What a copy of a rat has to do to be like its model, slot by slot: a bridge has the same rat in
 * two mazes. The model goes its way, and the copy follows as a rat does, with steps and turns; one
 * that is led astray, by a rat in the way or a hit that only one maze saw, is put where it belongs.
 */

import type { Act } from './acts.ts'
import { back, beyond } from './maze.ts'
import { MISSILE_IDS, type Rat } from './world.ts'

/** What is remembered of a pair. Plain data. */
export interface Mirror {
  /** Id of the model's next missile, as far as the copy has shot. */
  next: number
  /** For how many slots the copy could not follow. */
  apart: number
}

/** Slots for which a copy may be elsewhere: a verdict takes its time from maze to maze. */
const APART_SLOTS = 7

/** A pair that is alike. */
export function createMirror(model: Rat): Mirror {
  return { next: model.nextMissile, apart: 0 }
}

/** What the copy does in this slot, in that order. */
export function follow(mirror: Mirror, model: Rat, copy: Rat): Act[] {
  const acts: Act[] = []
  const walked = walk(mirror, model, copy)
  if (walked) acts.push(walked)
  const turned = walked?.kind === 'turn' || walked?.kind === 'born'
  if (!turned && model.facing !== copy.facing) acts.push({ kind: 'turn', facing: model.facing })
  if (model.cloaked !== copy.cloaked) acts.push({ kind: 'cloak', on: model.cloaked })
  if (mirror.next !== model.nextMissile) acts.push({ kind: 'fire' })
  return acts
}

/** The copy has shot. */
export function shot(mirror: Mirror): void {
  mirror.next = (mirror.next + 1) % MISSILE_IDS
}

function walk(mirror: Mirror, model: Rat, copy: Rat): Act | null {
  if (model.at === copy.at) {
    mirror.apart = 0
    return null
  }
  mirror.apart += 1
  if (mirror.apart > APART_SLOTS) {
    mirror.apart = 0
    return { kind: 'born', at: model.at, facing: model.facing }
  }
  if (beyond(copy.at, copy.facing) === model.at) return { kind: 'step', speed: 1 }
  if (beyond(copy.at, back(copy.facing)) === model.at) return { kind: 'step', speed: 2 }
  const aside = beyond(copy.at, model.facing) === model.at
  return aside ? { kind: 'turn', facing: model.facing } : null
}
