/**
 * The network between machines: conditions by direction, and cuts.
 *
 * The last conditions set for a pair apply, combined with network-wide overlays by the worse of
 * each value. Each cut is undone separately, so faults may overlap.
 */

import * as conditions from '../../holdfast/src/faults/conditions.ts'
import type { Conditions, Path } from '../../holdfast/src/faults/conditions.ts'
import type { Millis } from '../../holdfast/src/machine.ts'
import type { Ground } from './ground.ts'

export interface Paths {
  readonly rules: Rule[]
  readonly overlays: Conditions[]
  readonly cuts: Set<Cut>
  /** By sender and receiver: the effective conditions, and the memory of losses. */
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

/** A cut that stops all traffic: between sides, or in one direction. */
export type Cut =
  | { kind: 'partition'; sides: ReadonlyMap<string, number> }
  | { kind: 'deafness'; from: string; to: string }

/** Matches every machine in a rule. */
export const ANYONE = '*'
/** A lost segment of a stream is resent after this, or after a round trip if that is longer. */
const RESEND_MS: Millis = 200
/** Most consecutive random losses of a segment. */
const RESENDS_MAX = 6

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

/** Adds conditions on all paths. @returns removes them again */
export function addOverlay(paths: Paths, wire: Conditions): () => void {
  paths.overlays.push(wire)
  forget(paths)
  return () => {
    const place = paths.overlays.indexOf(wire)
    if (place >= 0) paths.overlays.splice(place, 1)
    forget(paths)
  }
}

/** Whether traffic from one to the other is cut now. A machine always reaches itself. */
export function isCut(paths: Paths, from: string, to: string): boolean {
  if (from === to || paths.cuts.size === 0) return false
  for (const cut of paths.cuts) {
    if (cut.kind === 'deafness') {
      if (cut.from === from && cut.to === to) return true
    } else if ((cut.sides.get(from) ?? -1) !== (cut.sides.get(to) ?? -1)) return true
  }
  return false
}

/** The delays of the copies of a datagram sent now; empty if it is lost at random. */
export function fateOf(ground: Ground, paths: Paths, from: string, to: string): Millis[] {
  if (from === to) return [0]
  const pair = pairOf(paths, from, to)
  pair.conditions ??= effective(paths, from, to)
  return conditions.fate(pair.conditions, ground.chance, pair.path).copies
}

/** The delay of a segment of a stream, which is resent until it arrives. */
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
