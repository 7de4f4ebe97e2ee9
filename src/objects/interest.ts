/**
 * Who sees what (T76): a member is told only of objects that it may see, and of one that leaves
 * its sight it hears that once (HIDE), nothing after.
 *
 * Types with a place are sorted into the cells of a grid, a quarter of a radius wide; a member sees
 * the cells round its eyes, which are its own objects of types that say so. So a thousand objects
 * and a hundred members cost only what moves from cell to cell. Who has no eyes sees all. A cell
 * that is left behind is given up one cell later than it was gained, so that nothing flickers.
 */

import type { PeerId } from '../machine.ts'
import type { Vec2 } from '../wire/schema.ts'
import { finish } from '../wire/bytes.ts'
import { owe, reach } from './duty.ts'
import { begin, KIND, writeName } from './messages.ts'
import {
  at,
  GATE,
  leads,
  type Replica,
  type Sight,
  type SightRule,
  type Turn,
  type Types,
} from './state.ts'

// Cells in a radius.
const CELLS_PER_RADIUS = 4
// Cells of one row, more than any range of places has.
const ROW = 2 ** 22

type Near = Extract<SightRule, { kind: 'near' }>

/** An object came, moved, went or has another owner than before: others may see it, or more. */
export function moved(turn: Turn, replica: Replica, before: PeerId = replica.owner): void {
  const { objects, types } = turn
  const { sight: rule, eyes } = types[replica.type]!
  if ((!rule && eyes < 0) || (!objects.mesh && !leads(objects))) return
  const stays = rule?.kind === 'near' && !sort(turn, replica, rule) && before === replica.owner
  if (rule && !stays && (!objects.mesh || replica.owner === objects.me)) {
    for (const [peer, sight] of objects.sights) judge(turn, peer, sight, replica, before)
  }
  if (rule && before !== replica.owner) objects.handed.add(replica.key)
  if (eyes < 0) return
  if (before !== replica.owner) lend(turn, replica, before, false)
  lend(turn, replica, replica.owner, !replica.dead)
}

// It is, or is not any more, among the eyes of a member.
function lend(turn: Turn, { slot }: Replica, peer: PeerId, sees: boolean): void {
  const { eyes } = turn.objects
  const known = eyes.get(peer) ?? new Set()
  eyes.set(peer, known)
  if (sees) known.add(slot)
  else known.delete(slot)
  if (known.size === 0) eyes.delete(peer)
  lookAround(turn, peer)
}

// Puts it into its cell. @returns whether that is another one
function sort({ objects, types }: Turn, replica: Replica, rule: Near): boolean {
  const cell = replica.dead ? -1 : cellOf(rule, placeOf(types, replica, rule.column))
  if (cell === replica.cell) return false
  let grid = objects.cells.get(replica.type)
  if (!grid) objects.cells.set(replica.type, (grid = new Map<number, Set<number>>()))
  const left = grid.get(replica.cell)
  left?.delete(replica.slot)
  if (left?.size === 0) grid.delete(replica.cell)
  replica.cell = cell
  if (cell < 0) return true
  const entered = grid.get(cell)
  if (entered) entered.add(replica.slot)
  else grid.set(cell, new Set([replica.slot]))
  return true
}

function placeOf(types: Types, replica: Replica, column: number): Vec2 {
  const { field, at } = types[replica.type]!.schema.columns[column]!
  return field.valueAt(replica.fields, at) as Vec2
}

function cellOf({ radius }: Near, [x, y]: Vec2): number {
  const width = radius / CELLS_PER_RADIUS
  return (Math.floor(x / width) + ROW / 2) * ROW + Math.floor(y / width) + ROW / 2
}

// Whether a peer sees it by now.
function judge(
  turn: Turn,
  peer: PeerId,
  sight: Sight,
  replica: Replica,
  before: PeerId = replica.owner,
): void {
  // Who owned it hears that it does not, before it is hidden.
  const sees = maySee(turn, peer, sight, replica) || before === peer
  setSeen(turn, peer, sight, replica, sees)
}

function maySee({ objects, types }: Turn, peer: PeerId, sight: Sight, replica: Replica): boolean {
  const rule = types[replica.type]!.sight!
  const cells = sight.cells.get(replica.type)
  if (replica.owner === peer) return true
  if (rule.kind === 'near') return !cells || cells.has(replica.cell)
  return rule.sees(replica.fields, peer, objects.here.get(peer) ?? 0)
}

/**
 * It is not ours any more. In a mesh we told others that it was, perhaps after its new owner let
 * them hear that they may not see it: so they hear that of us too.
 *
 * @param unseen  nor may we see it, so that we cannot say who may
 */
export function hideFurther(turn: Turn, replica: Replica, unseen = false): void {
  const { objects, types } = turn
  if (!objects.mesh || !types[replica.type]!.sight) return
  for (const [peer, sight] of objects.sights) {
    const gate = sight.gate[replica.slot] ?? GATE.none
    if (gate === GATE.none || gate === GATE.hidden || !sight.linked) continue
    if (peer === objects.primary || (!unseen && maySee(turn, peer, sight, replica))) continue
    const writer = begin(KIND.hide)
    writeName(writer, replica, replica.version)
    objects.outbox.push({ to: peer, bytes: finish(writer) })
  }
}

function setSeen(turn: Turn, peer: PeerId, sight: Sight, replica: Replica, sees: boolean): void {
  const { slot } = replica
  const known = slot < sight.seen.length && sight.seen[slot] === 1
  if (known === sees) return
  reach(sight, slot)
  sight.seen[slot] = sees ? 1 : 0
  if (!replica.dead) owe(turn, peer, sight, replica)
}

/** Somebody's eyes moved, or came, or went. */
function lookAround(turn: Turn, peer: PeerId): void {
  const { objects, types } = turn
  const sight = objects.sights.get(peer)
  if (!sight) return
  const eyes = eyesOf(turn, peer)
  for (const [type, { sight: rule }] of types.entries()) {
    if (rule?.kind !== 'near') continue
    const cells = eyes.map((eye) => cellOf(rule, placeOf(types, eye, types[eye.type]!.eyes)))
    const before = sight.eyes.get(type)
    if (before?.length === cells.length && cells.every((cell, i) => cell === before[i])) continue
    sight.eyes.set(type, cells)
    look(turn, peer, sight, type, cells)
  }
}

function eyesOf({ objects }: Turn, peer: PeerId): Replica[] {
  const slots = [...(objects.eyes.get(peer) ?? [])]
  return slots.map((slot) => at(objects, slot)).filter((replica) => replica !== null)
}

function look(turn: Turn, peer: PeerId, sight: Sight, type: number, eyes: number[]): void {
  const { objects } = turn
  const before = sight.cells.get(type)
  const next = eyes.length === 0 ? null : around(eyes, before)
  if (next) sight.cells.set(type, next)
  else sight.cells.delete(type)
  const grid = objects.cells.get(type)
  if (!grid) return
  // Only what is in a cell that was gained or lost can be seen anew or no more.
  const touched =
    before && next
      ? [...before, ...next].filter((cell) => before.has(cell) !== next.has(cell))
      : grid.keys()
  for (const cell of [...touched]) {
    for (const slot of grid.get(cell) ?? []) {
      const replica = at(objects, slot)
      if (replica && (!objects.mesh || replica.owner === objects.me)) {
        judge(turn, peer, sight, replica)
      }
    }
  }
}

// The cells within a radius of the eyes, and those of before that are one cell further.
function around(eyes: readonly number[], before: ReadonlySet<number> | undefined): Set<number> {
  const cells = new Set<number>()
  const reach = CELLS_PER_RADIUS + 1
  for (const eye of eyes) {
    for (let across = -reach; across <= reach; across++) {
      for (let down = -reach; down <= reach; down++) {
        const cell = eye + across * ROW + down
        const away = Math.hypot(edge(across), edge(down))
        if (away <= CELLS_PER_RADIUS) cells.add(cell)
        else if (away <= reach && before?.has(cell)) cells.add(cell)
      }
    }
  }
  return cells
}

// To the near edge of a cell, from the middle of the eye's own.
function edge(cells: number): number {
  return Math.max(0, Math.abs(cells) - 0.5)
}

/** A peer came: what it sees of all that is there. */
export function beginToSee(turn: Turn, peer: PeerId, sight: Sight): void {
  const { objects, types } = turn
  sight.eyes.clear()
  sight.cells.clear()
  lookAround(turn, peer)
  for (const replica of objects.replicas.values()) {
    if (types[replica.type]!.sight) judge(turn, peer, sight, replica)
  }
}

/**
 * Rules of the game may depend on what we do not see change: asked again now and then. And who gave
 * something out of their sight have heard so by now.
 */
export function lookAgain(turn: Turn): void {
  const { objects, types } = turn
  if (!objects.mesh && !leads(objects)) return
  const handed = new Set(objects.handed)
  objects.handed.clear()
  for (const replica of objects.replicas.values()) {
    const rule = types[replica.type]!.sight
    if (!rule || replica.dead || (rule.kind === 'near' && !handed.has(replica.key))) continue
    if (objects.mesh && replica.owner !== objects.me) continue
    for (const [peer, sight] of objects.sights) judge(turn, peer, sight, replica)
  }
}
