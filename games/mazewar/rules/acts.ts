/**
 * What a rat may do, and how that goes over the wire of a session: six bytes, of which four say
 * which rat. Of the other two
 *
 *     what     kind:3 side:2 at:9 pad:2
 *
 * `side` is the facing of a birth and a turn, the speed of a step, and 1 for a cloak that goes on;
 * `at` is the place of a birth. What is not needed is zero.
 */

import { u16, u32 } from 'holdfast'
import type { Facing } from './maze.ts'

/** What a rat does. A speed of 1 is forward, of 2 backward. */
export type Act =
  | { readonly kind: 'born'; readonly at: number; readonly facing: Facing }
  | { readonly kind: 'turn'; readonly facing: Facing }
  | { readonly kind: 'step'; readonly speed: 1 | 2 }
  | { readonly kind: 'cloak'; readonly on: boolean }
  | { readonly kind: 'fire' }
  | { readonly kind: 'leave' }

/** An act, and whose. */
export type RatAct = Act & { readonly rat: number }

/** The fields of an act in a session. */
export const fields = { rat: u32, what: u16 }

/** An act as the wire has it. */
export interface ActRecord {
  readonly rat: number
  readonly what: number
}

const KINDS = ['born', 'turn', 'step', 'cloak', 'fire', 'leave'] as const

/** For the wire. */
export function encode(act: RatAct): ActRecord {
  const at = act.kind === 'born' ? act.at : 0
  return { rat: act.rat, what: KINDS.indexOf(act.kind) | (sideOf(act) << 3) | (at << 5) }
}

/** From the wire: null for what is no act. */
export function decode({ rat, what }: ActRecord): RatAct | null {
  if (!Number.isInteger(rat) || !Number.isInteger(what) || what < 0 || what >= 1 << 14) return null
  const kind = KINDS[what & 7]
  const side = (what >> 3) & 3
  const at = what >> 5
  const act = kind === undefined ? null : read(kind, side as Facing, at)
  // What says more than it may is not one of ours.
  if (act === null || encode({ rat, ...act }).what !== what) return null
  return { rat, ...act }
}

function sideOf(act: Act): number {
  switch (act.kind) {
    case 'born':
    case 'turn':
      return act.facing
    case 'step':
      return act.speed
    case 'cloak':
      return act.on ? 1 : 0
    case 'fire':
    case 'leave':
      return 0
    default:
      return act satisfies never
  }
}

function read(kind: (typeof KINDS)[number], side: Facing, at: number): Act | null {
  switch (kind) {
    case 'born':
      return { kind, at, facing: side }
    case 'turn':
      return { kind, facing: side }
    case 'step':
      return side === 1 || side === 2 ? { kind, speed: side } : null
    case 'cloak':
      return { kind, on: side === 1 }
    case 'fire':
    case 'leave':
      return { kind }
    default:
      return kind satisfies never
  }
}
