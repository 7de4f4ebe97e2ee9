/**
 * The network between machines: the conditions from one to another, and the cuts.
 *
 * The conditions last set for a pair apply; added network-wide conditions come on top, the worse of
 * each value. Cuts are listed one by one and each can be mended by itself, so faults may overlap.
 */

import * as conditions from '../../holdfast/src/faults/conditions.ts'
import type { Conditions, Path } from '../../holdfast/src/faults/conditions.ts'
import type { Millis } from '../../holdfast/src/machine.ts'
import type { Ground } from './ground.ts'

/** All paths of one simulation. */
export interface Paths {
  readonly rules: Rule[]
  readonly overlays: Conditions[]
  readonly cuts: Set<Cut>
  /** From one to the other: the present conditions, and the memory of losses. */
  readonly pairs: Map<string, Map<string, Pair>>
}

interface Rule {
  from: string
  to: string
  conditions: Conditions
}

interface Pair {
  conditions: Conditions | null
  path: Path
}

/** A cut that lets nothing pass: between sides, or one way. */
export type Cut =
  | { kind: 'partition'; sides: ReadonlyMap<string, number> }
  | { kind: 'deafness'; from: string; to: string }

/** In a rule this means every machine. */
export const ANYONE = '*'
/** A lost segment of a stream is sent again after so long, or a round trip if that is more. */
const RESEND_MS: Millis = 200
/** Most times in a row that a segment is lost by chance. */
const RESENDS_MAX = 6

/** Paths that all have these conditions. */
export function create(base: Conditions): Paths {
  const rules = [{ from: ANYONE, to: ANYONE, conditions: base }]
  return { rules, overlays: [], cuts: new Set(), pairs: new Map() }
}

/** Sets the conditions from one machine to the other; the newest rule for a pair applies. */
export function setConditions(paths: Paths, from: string, to: string, wire: Conditions): void {
  const rule = paths.rules.find((each) => each.from === from && each.to === to)
  if (rule) paths.rules.splice(paths.rules.indexOf(rule), 1)
  paths.rules.push({ from, to, conditions: wire })
  forget(paths)
}

/** Adds conditions over all paths. @returns removes them again */
export function addOverlay(paths: Paths, wire: Conditions): () => void {
  paths.overlays.push(wire)
  forget(paths)
  return () => {
    const place = paths.overlays.indexOf(wire)
    if (place >= 0) paths.overlays.splice(place, 1)
    forget(paths)
  }
}

/** Whether nothing passes from one to the other at present. A machine always reaches itself. */
export function isCut(paths: Paths, from: string, to: string): boolean {
  if (from === to || paths.cuts.size === 0) return false
  for (const cut of paths.cuts) {
    if (cut.kind === 'deafness') {
      if (cut.from === from && cut.to === to) return true
    } else if ((cut.sides.get(from) ?? -1) !== (cut.sides.get(to) ?? -1)) return true
  }
  return false
}

/** The delays of the copies of a datagram that is sent now; empty if it is lost by chance. */
export function fateOf(ground: Ground, paths: Paths, from: string, to: string): Millis[] {
  if (from === to) return [0]
  const pair = pairOf(paths, from, to)
  pair.conditions ??= effective(paths, from, to)
  return conditions.fate(pair.conditions, ground.chance, pair.path).copies
}

/** The delay of a segment of a stream, which is sent again until it arrives. */
export function delayOf(ground: Ground, paths: Paths, from: string, to: string): Millis {
  let waited = 0
  for (let tries = 0; tries < RESENDS_MAX; tries++) {
    const [delay] = fateOf(ground, paths, from, to)
    if (delay !== undefined) return waited + delay
    waited += Math.max(RESEND_MS, pairOf(paths, from, to).conditions!.rttMs)
  }
  return waited
}

function pairOf(paths: Paths, from: string, to: string): Pair {
  let own = paths.pairs.get(from)
  if (!own) paths.pairs.set(from, (own = new Map<string, Pair>()))
  let pair = own.get(to)
  if (!pair) own.set(to, (pair = { conditions: null, path: conditions.createPath() }))
  return pair
}

function effective(paths: Paths, from: string, to: string): Conditions {
  const matches = (side: string, name: string): boolean => side === ANYONE || side === name
  const rule = paths.rules.findLast((each) => matches(each.from, from) && matches(each.to, to))
  const wire = { ...rule!.conditions }
  for (const weather of paths.overlays) {
    for (const field of Object.keys(wire) as (keyof Conditions)[]) {
      wire[field] = Math.max(wire[field], weather[field])
    }
  }
  return wire
}

function forget(paths: Paths): void {
  for (const own of paths.pairs.values()) {
    for (const pair of own.values()) pair.conditions = null
  }
}
