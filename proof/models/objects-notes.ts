/**
 * What the objects' model notes of all that happened, as numbers: the newest that each member had,
 * what the owner's fields were, who was told what is granted, and what was broken by that.
 */

import type { PeerId } from '../../packages/holdfast/src/machine.ts'
import * as interned from './interned.ts'
import type { Face } from './objects-faces.ts'
import * as pairs from '../../packages/sim/src/checker/pairs.ts'

/** The newest that a member had, the sum of what was written, and what broke as it came so far. */
export interface High {
  readonly epoch: number
  readonly count: number
  readonly sum: number
  readonly broken: number
}

/** By the version about which they had asked, sorted: who was told that it is granted. */
export type Granted = readonly (readonly [version: string, members: readonly PeerId[]])[]

/** All that was noted. */
export interface Notes {
  readonly broken: interned.Interned<string>
  readonly highs: interned.Interned<High>
  /** By high and peer. */
  readonly highAfter: pairs.Pairs
  /** What the owner's fields were at each oseq, by number; -1 where it had none. */
  readonly histories: interned.Interned<readonly number[]>
  /** By history and peer. */
  readonly historyAfter: pairs.Pairs
  readonly granted: interned.Interned<Granted>
  /** By what was granted, and what is to whom. */
  readonly grantedAfter: pairs.Pairs
  readonly versions: interned.Interned<string>
}

/** The number of each thing where nothing has happened. */
export const NOTHING = 0
/** More than there are members. */
const INCS_MAX = 16

/** Nothing has happened. */
export function create(): Notes {
  const notes: Notes = {
    broken: interned.create(),
    highs: interned.create(),
    highAfter: pairs.create(),
    histories: interned.create(),
    historyAfter: pairs.create(),
    granted: interned.create(),
    grantedAfter: pairs.create(),
    versions: interned.create(),
  }
  interned.numberOf(notes.broken, '')
  interned.numberOf(notes.highs, { epoch: -1, count: -1, sum: 0, broken: NOTHING })
  interned.numberOf(notes.histories, [])
  interned.numberOf(notes.granted, [])
  return notes
}

/** A member has the object as it is now. @returns its newest */
export function had(notes: Notes, before: number, peer: number, face: Face): number {
  const known = pairs.find(notes.highAfter, before, peer)
  if (known >= 0) return known
  const { version, fields, dead, hidden } = face.own!
  const { epoch, count } = version
  const sum = fields.reduce<number>((total, field) => total + Number(field), 0)
  const { epoch: e, count: c, sum: s } = notes.highs.values[before]!
  // What is hidden is of any state before.
  const back = epoch - e || count - c || (dead || hidden ? 0 : sum - s)
  const why = back < 0 ? `${face.me} went back to ${epoch}.${count} ${face.fields}` : ''
  const isLater = epoch > e || count > c
  const broken = interned.numberOf(notes.broken, why)
  const now = { epoch, count, sum: hidden ? (isLater ? 0 : s) : sum, broken }
  return pairs.keep(notes.highAfter, before, peer, interned.numberOf(notes.highs, now))
}

/**
 * Its owner has it as it is now.
 *
 * @param fields  what it is, by number
 * @returns what it was at each oseq
 */
export function owned(
  notes: Notes,
  before: number,
  peer: number,
  oseq: number,
  fields: number,
): number {
  const known = pairs.find(notes.historyAfter, before, peer)
  if (known >= 0) return known
  const history = notes.histories.values[before]!
  const length = Math.max(history.length, oseq + 1)
  const now = Array.from({ length }, (_, at) => history[at] ?? -1)
  if (now[oseq] === -1) now[oseq] = fields
  return pairs.keep(notes.historyAfter, before, peer, interned.numberOf(notes.histories, now))
}

/** A member is told that what it asked for is granted. @param version by number */
export function grant(notes: Notes, before: number, version: number, inc: PeerId): number {
  const key = version * INCS_MAX + inc
  const known = pairs.find(notes.grantedAfter, before, key)
  if (known >= 0) return known
  const granted = new Map(notes.granted.values[before])
  const asked = notes.versions.values[version]!
  granted.set(asked, [...(granted.get(asked) ?? []), inc])
  const now = [...granted].sort(([one], [other]) => (one < other ? -1 : 1))
  return pairs.keep(notes.grantedAfter, before, key, interned.numberOf(notes.granted, now))
}
