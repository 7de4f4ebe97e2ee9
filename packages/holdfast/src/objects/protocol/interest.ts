/**
 * Interest management (T76): a member gets only objects that it may see. When an object leaves its
 * interest, it gets one HIDE, and nothing after that.
 *
 * Objects of types with a place are sorted into a grid whose cells are an eighth of a radius wide.
 * A member sees the cells around its eyes, which are its own objects of types declared as eyes; a
 * member without eyes sees all. Each cell lists its viewers, so an object that changes cells costs
 * work only for members that see exactly one of the two. Hysteresis of one cell avoids flicker.
 */

import type { PeerId } from '../../machine.ts'
import { numberAt, type Scale } from '../../wire/fields/scale.ts'
import { owe, ensureCapacity } from './fan-out.ts'
import { KIND, nameOf, plain } from './messages.ts'
import {
  at,
  BARRIER,
  leads,
  type Objects,
  type Replica,
  type Sees,
  type Subscriber,
  type VisibilityRule,
  type Context,
  type Types,
} from './state.ts'

// Width of a radius, in cells.
const CELLS_PER_RADIUS = 8
// A cell that a member sees stays seen up to one cell further away.
const REACH = CELLS_PER_RADIUS + 1
// Cells in one row of the grid. Up to ROW, cell numbers are small integers, which are fast.
const ROW = 2 ** 15
const LONG_ROW = 2 ** 26

interface Grid {
  readonly width: number
  readonly row: number
}

type Near = Extract<VisibilityRule, { kind: 'near' }>

/** Updates who sees an object that came, moved, went, or had the owner `before`. */
export function updateInterest(
  ctx: Context,
  replica: Replica,
  before: PeerId = replica.owner,
): void {
  const { objects, types } = ctx
  const { visibility: rule, eyes } = types[replica.type]!
  if ((!rule && eyes < 0) || (!objects.mesh && !leads(objects))) return
  const { cell: left } = replica
  const stays = rule?.kind === 'near' && !updateCell(ctx, replica, rule) && before === replica.owner
  if (rule && !stays && decidesInterest(objects, replica)) {
    const isKnown = left >= 0 && replica.cell >= 0
    const crosses = rule.kind === 'near' && isKnown && before === replica.owner
    if (crosses) crossCells(ctx, replica, left)
    else judgeAll(ctx, replica, rule, before)
  }
  if (rule && before !== replica.owner) objects.transferred.add(replica.key)
  if (eyes < 0) return
  if (before !== replica.owner) updateEyes(ctx, replica, before, false)
  updateEyes(ctx, replica, replica.owner, !replica.dead)
}

// Whether we decide who sees the object: in a mesh its owner decides, in a star the primary.
function decidesInterest({ mesh, me }: Objects, replica: Replica): boolean {
  return !mesh || replica.owner === me
}

function updateEyes(ctx: Context, { index }: Replica, peer: PeerId, sees: boolean): void {
  const { eyes } = ctx.objects
  if (sees) put(eyes, peer, index)
  else drop(eyes, peer, index)
  updateView(ctx, peer)
}

// Puts the object into its cell. @returns whether the cell changed
function updateCell({ objects, types }: Context, replica: Replica, rule: Near): boolean {
  const isThere = !replica.dead && !replica.hidden
  const cell = isThere ? cellOf(rule, types, replica, rule.column) : -1
  if (cell === replica.cell) return false
  const grid: Sets = objects.cells.get(replica.type) ?? new Map()
  objects.cells.set(replica.type, grid)
  drop(grid, replica.cell, replica.index)
  replica.cell = cell
  if (cell >= 0) put(grid, cell, replica.index)
  return true
}

type Sets = Map<number, Set<number>>

function put(sets: Sets, at: number, one: number): void {
  const known = sets.get(at)
  if (known) known.add(one)
  else sets.set(at, new Set([one]))
}

function drop(sets: Sets, at: number, one: number): void {
  const known = sets.get(at)
  known?.delete(one)
  if (known?.size === 0) sets.delete(at)
}

// The cell in the rule's grid that holds an object's vec2 in that column.
function cellOf(rule: Near, types: Types, { type, fields }: Replica, column: number): number {
  const { field, at: first } = types[type]!.schema.columns[column]!
  const grid = gridOf(rule, types)
  const across = lineOf(grid, field.axes!, fields[first] as number)
  return across * grid.row + lineOf(grid, field.axes!, fields[first + 1] as number)
}

// Eyes may be outside the range of places; there they see nothing.
function lineOf({ width, row }: Grid, scale: Scale, place: number): number {
  const line = Math.floor(numberAt(scale, place) / width) + row / 2
  return Math.min(row - REACH - 1, Math.max(REACH, line))
}

const grids = new WeakMap<Near, Grid>()

function gridOf(rule: Near, types: Types): Grid {
  const known = grids.get(rule)
  if (known) return known
  const { schema } = types.find(({ visibility }) => visibility === rule)!
  const { field } = schema.columns[rule.column]!
  const furthest = Math.max(-field.axes!.min, field.axes!.max)
  const width = Math.max(rule.radius / CELLS_PER_RADIUS, furthest / 2 ** 24)
  const isShort = furthest / width < ROW / 2 - 2 * REACH - 2
  const grid = { width, row: isShort ? ROW : LONG_ROW }
  grids.set(rule, grid)
  return grid
}

// The object changed cells: only members that see exactly one of the two are affected.
function crossCells(ctx: Context, replica: Replica, left: number): void {
  const { objects } = ctx
  const viewers = objects.viewers.get(replica.type)
  const [before, after] = [viewers?.get(left), viewers?.get(replica.cell)]
  for (const peer of before ?? []) {
    const subscriber = after?.has(peer) ? undefined : objects.subscribers.get(peer)
    if (subscriber) setSeen(ctx, subscriber, replica, peer === replica.owner)
  }
  for (const peer of after ?? []) {
    const subscriber = before?.has(peer) ? undefined : objects.subscribers.get(peer)
    if (subscriber) setSeen(ctx, subscriber, replica, true)
  }
}

function judgeAll(ctx: Context, replica: Replica, rule: VisibilityRule, before?: PeerId): void {
  const sees = seesOf(rule, replica)
  for (const subscriber of ctx.objects.subscribers.values())
    judge(ctx, subscriber, replica, sees, before)
}

// The viewers of a state by the game's rule; null for a rule by place.
function seesOf(rule: VisibilityRule, { fields }: Replica): Sees | null {
  return rule.kind === 'rule' ? rule.sees(fields) : null
}

// Updates whether a peer sees the object. @param sees  as returned by `seesOf`
function judge(
  ctx: Context,
  subscriber: Subscriber,
  replica: Replica,
  sees: Sees | null,
  before: PeerId = replica.owner,
): void {
  // A former owner must first learn of the new owner; the object is hidden from it later.
  const isSeen = before === subscriber.peer || maySee(ctx, subscriber, replica, sees)
  setSeen(ctx, subscriber, replica, isSeen)
}

function maySee(
  { objects }: Context,
  { peer, cells }: Subscriber,
  replica: Replica,
  sees: Sees | null,
): boolean {
  if (replica.owner === peer) return true
  // We do not know the state of an object that is hidden from us, so we show it to nobody.
  if (replica.hidden) return false
  if (sees) return sees(peer, objects.here.get(peer) ?? 0)
  return cells.get(replica.type)?.has(replica.cell) ?? true
}

/**
 * We no longer own the object. In a mesh our version may have reached others after the new owner's
 * HIDE, so we send a HIDE too: to peers that may not see the object, or to all if `unseen`.
 */
export function forwardHide(ctx: Context, replica: Replica, unseen = false): void {
  const { objects, types } = ctx
  const { visibility: rule } = types[replica.type]!
  if (!objects.mesh || !rule) return
  const sees = unseen ? null : seesOf(rule, replica)
  for (const [peer, subscriber] of objects.subscribers) {
    const gate = subscriber.barrier[replica.index] ?? BARRIER.none
    if (gate === BARRIER.none || gate === BARRIER.hidden || !subscriber.linked) continue
    if (peer === objects.primary || (!unseen && maySee(ctx, subscriber, replica, sees))) continue
    objects.outbox.push({ to: peer, bytes: plain(KIND.hide, ...nameOf(replica)) })
  }
}

function setSeen(ctx: Context, subscriber: Subscriber, replica: Replica, sees: boolean): void {
  const { index } = replica
  const known = index < subscriber.seen.length && subscriber.seen[index] === 1
  if (known === sees) return
  ensureCapacity(subscriber, index)
  subscriber.seen[index] = sees ? 1 : 0
  if (!replica.dead) owe(ctx, subscriber, replica)
}

/** Updates the cells that a member sees after its eyes moved, came or went. */
function updateView(ctx: Context, peer: PeerId): void {
  const { objects, types } = ctx
  const subscriber = objects.subscribers.get(peer)
  if (!subscriber) return
  const eyes = eyesOf(ctx, peer)
  for (const [type, { visibility: rule }] of types.entries()) {
    if (rule?.kind !== 'near') continue
    const cells = eyes.map((eye) => cellOf(rule, types, eye, types[eye.type]!.eyes))
    const before = subscriber.eyes.get(type)
    if (before?.length === cells.length && cells.every((cell, i) => cell === before[i])) continue
    subscriber.eyes.set(type, cells)
    const next =
      cells.length === 0 ? null : around(cells, gridOf(rule, types).row, subscriber.cells.get(type))
    setView(ctx, subscriber, type, next)
  }
}

function eyesOf({ objects }: Context, peer: PeerId): Replica[] {
  const indexes = [...(objects.eyes.get(peer) ?? [])]
  return indexes.map((index) => at(objects, index)).filter((replica) => replica !== null)
}

// Makes `next` the cells that a peer sees; null: all.
function setView(
  ctx: Context,
  subscriber: Subscriber,
  type: number,
  next: Set<number> | null,
): void {
  const { objects } = ctx
  const before = subscriber.cells.get(type)
  updateViewers(objects, subscriber.peer, type, before, next)
  if (next) subscriber.cells.set(type, next)
  else subscriber.cells.delete(type)
  const grid = objects.cells.get(type)
  if (!grid) return
  // Only objects in gained or lost cells can come into view or leave it.
  const touched =
    before && next
      ? [...before, ...next].filter((cell) => before.has(cell) !== next.has(cell))
      : [...grid.keys()]
  for (const cell of touched) {
    for (const index of grid.get(cell) ?? []) {
      const replica = at(objects, index)
      if (replica && decidesInterest(objects, replica)) judge(ctx, subscriber, replica, null)
    }
  }
}

function updateViewers(
  { viewers }: Objects,
  peer: PeerId,
  type: number,
  before: ReadonlySet<number> | undefined,
  next: ReadonlySet<number> | null,
): void {
  const cells: Sets = viewers.get(type) ?? new Map()
  viewers.set(type, cells)
  for (const cell of before ?? []) if (!next?.has(cell)) drop(cells, cell, peer)
  for (const cell of next ?? []) if (!before?.has(cell)) put(cells, cell, peer)
}

export function removeViewer(objects: Objects, peer: PeerId): void {
  const subscriber = objects.subscribers.get(peer)
  for (const [type, cells] of subscriber?.cells ?? [])
    updateViewers(objects, peer, type, cells, null)
}

// The cells within a radius of the eyes, and cells of `before` up to one cell further away.
function around(
  eyes: readonly number[],
  row: number,
  before: ReadonlySet<number> | undefined,
): Set<number> {
  const cells = new Set<number>()
  for (const eye of eyes) {
    for (const [across, down] of WITHIN) cells.add(eye + across * row + down)
    if (!before) continue
    for (const [across, down] of BEYOND) {
      const cell = eye + across * row + down
      if (before.has(cell)) cells.add(cell)
    }
  }
  return cells
}

// Steps from the cell of an eye to all cells within REACH, with their distances.
const STEPS = Array.from({ length: (2 * REACH + 1) ** 2 }, (_, n) => {
  const across = (n % (2 * REACH + 1)) - REACH
  const down = Math.floor(n / (2 * REACH + 1)) - REACH
  return [across, down, Math.hypot(edge(across), edge(down))] as const
})
const WITHIN = STEPS.filter(([, , away]) => away <= CELLS_PER_RADIUS)
const BEYOND = STEPS.filter(([, , away]) => away > CELLS_PER_RADIUS && away <= REACH)

// Distance from the middle of the eye's cell to the near edge of a cell, in cells.
function edge(cells: number): number {
  return Math.max(0, Math.abs(cells) - 0.5)
}

export function beginToSee(ctx: Context, subscriber: Subscriber): void {
  const { objects, types } = ctx
  removeViewer(objects, subscriber.peer)
  subscriber.eyes.clear()
  subscriber.cells.clear()
  updateView(ctx, subscriber.peer)
  for (const replica of objects.replicas.values()) {
    const { visibility: rule } = types[replica.type]!
    if (rule) judge(ctx, subscriber, replica, seesOf(rule, replica))
  }
}

/** Builds cells and eyes when we become the primary of a star; other members keep none. */
export function beginToShow(ctx: Context): void {
  const { objects, types } = ctx
  objects.eyes.clear()
  for (const replica of objects.replicas.values()) {
    const { visibility: rule, eyes } = types[replica.type]!
    if (rule?.kind === 'near') updateCell(ctx, replica, rule)
    if (eyes < 0 || replica.dead || replica.hidden) continue
    put(objects.eyes, replica.owner, replica.index)
  }
  for (const subscriber of objects.subscribers.values()) beginToSee(ctx, subscriber)
}

/**
 * Evaluates the game's rules again, because they may depend on state that we do not observe. Also
 * hides objects outside their interest from former owners, which know of the new owner by now.
 */
export function recheckRules(ctx: Context): void {
  const { objects, types } = ctx
  if (!objects.mesh && !leads(objects)) return
  const transferred = new Set(objects.transferred)
  objects.transferred.clear()
  for (const replica of objects.replicas.values()) {
    const rule = types[replica.type]!.visibility
    if (!rule || replica.dead || (rule.kind === 'near' && !transferred.has(replica.key))) continue
    if (decidesInterest(objects, replica)) judgeAll(ctx, replica, rule)
  }
}
