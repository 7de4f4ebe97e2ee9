/**
 * The shipped slots in a small world: three members in a mesh, a handful of acts, clocks that are
 * apart by up to a slot. First anything happens in any order: members act, clocks go on, frames
 * are told, are lost, come and are taken for lost. Then a few fair rounds, in which everybody tells
 * everybody: after them all have the same world, and each act of whoever lives is in it or was
 * told to be void. Between rounds the root may be gone, and in one of them another stands still.
 *
 * The world is that of the source's scene (M32): players on cells, one a cell; who wants a cell
 * that is taken stays where he is.
 */

import type { Millis, PeerId } from '../../machine.ts'
import type { Action, Model } from '../../sim/checker.ts'
import { seal, settle, shown } from '../../slots/fold.ts'
import { counts } from '../../slots/tally.ts'
import {
  create,
  createPeer,
  type Game,
  say,
  type Slots,
  type SlotsOut,
  slotsPart,
} from '../../slots/slots.ts'
import { type SlotsBug, slotsRules } from '../twists.ts'

/** What is explored. */
export interface SlotsScope {
  /** Who wants which cell, and in which slot by its own clock. */
  acts: readonly { slot: number; by: PeerId; to: number }[]
  /** Slots in which anything may happen. */
  slots: number
  /** Clocks are apart by at most so many slots. */
  skew: number
  /** Frames that come and are taken for lost. One that is lost is as one that was not told yet. */
  doubts: number
  /** Slots that stay open. */
  horizon: number
  /** What somebody did comes to all before it is settled anywhere. */
  bounded: boolean
  /** Member 2 may stand still in one round, and member 1 may be gone after any. */
  troubled: boolean
  variant: SlotsBug | null
}

interface Node {
  now: Millis
  slots: Slots
}

/** All members, and what is on its way reliably. */
export interface SlotsWorld {
  nodes: Node[]
  /** Acts that were made. */
  made: number[]
  wires: { from: PeerId; to: PeerId; bytes: Uint8Array }[]
  seq: number
  doubts: number
  rounds: number
  /** Who has said its last, or does not hear in this round. */
  gone: boolean
  stood: boolean
  /** Who made which act, under which number, and what members were told to be void. */
  names: { by: PeerId; id: number; to: number }[]
  void: { by: PeerId; to: unknown }[]
}

const MS = 200
const FIRST = 40
// As long as everything takes: all that is owed; and if a world is taken, the next settled slots,
// an inquiry and its answer; and until all agree on what is void, two rounds of theirs.
const roundsOf = ({ bounded, troubled }: SlotsScope): number => {
  if (bounded) return 3
  return troubled ? 16 : 9
}

// Rounds after which the root may be gone.
const TROUBLES_MAX = 6

type Cells = Record<number, number>

const game: Game = {
  ms: MS,
  print: 1,
  says: '200 highest cell',
  start: { 1: 0, 2: 2, 3: 3 } satisfies Cells,
  order: 'highest',
  rule: (world, acts) => {
    const cells = { ...(world as Cells) }
    for (const { by, act } of acts) {
      const to = act as number
      if (!Object.values(cells).includes(to)) cells[by] = to
    }
    return cells
  },
  decode: (bytes) => (bytes.length === 1 ? bytes[0] : undefined),
}
const part = slotsPart({ game })

/** The model for one scope. */
export function slotsModel(name: string, scope: SlotsScope): Model<SlotsWorld> {
  return {
    name,
    init: () => start(scope),
    actions: (world) => actions(world, scope),
    always: { 'slot.excl': exclusive },
    sometimes: {
      'an act came late': ({ nodes }) => nodes.some(({ slots }) => slots.counters.again > 0),
      'all rounds were made': ({ rounds }) => rounds === roundsOf(scope),
      ...(scope.bounded
        ? {}
        : {
            'a world was taken': ({ nodes }) =>
              nodes.some(({ slots }) => slots.counters.adopted > 0),
          }),
    },
    settled: {
      'slot.converge': (world) => converged(world, scope),
      ...(scope.troubled ? { 'slot.told': (world) => toldOnce(world, scope) } : {}),
    },
    canonical: (world) => essence(world, scope),
    show,
  }
}

function start(scope: SlotsScope): SlotsWorld {
  const nodes = [1, 2, 3].map((me) => ({ now: FIRST * MS, slots: member(me, scope) }))
  const begun = { made: [], wires: [], seq: 1, doubts: scope.doubts, rounds: 0 }
  return { nodes, ...begun, gone: false, stood: false, names: [], void: [] }
}

function member(me: PeerId, { horizon, variant }: SlotsScope): Slots {
  const slots = {
    ...create(slotsRules(variant)),
    me,
    player: me,
    mesh: true,
    primary: 1,
    offset: 0,
  }
  slots.ms = MS
  slots.print = 1
  slots.horizon = horizon
  slots.standing = 'live'
  slots.slot = FIRST
  settle(slots, FIRST - 1, seal(game.start), 0)
  for (const inc of [1, 2, 3]) {
    slots.here.add(inc)
    slots.players.set(inc, inc)
    if (inc === me) continue
    slots.peers.set(inc, {
      ...createPeer(),
      standing: 'live',
      announced: 'live',
      heardAt: FIRST * MS,
      saidIn: FIRST,
    })
  }
  return slots
}

function* actions(world: SlotsWorld, scope: SlotsScope): Iterable<Action<SlotsWorld>> {
  if (world.nodes.every(({ slots }) => slots.slot - FIRST >= scope.slots)) {
    if (world.rounds < roundsOf(scope))
      yield { label: 'all tell all, and a slot goes by', next: (copy) => round(copy, 0) }
    if (world.rounds < roundsOf(scope) && scope.troubled) yield* troubles(world)
    if (world.rounds > 0) return
  }
  for (const [act, { slot, by, to }] of scope.acts.entries()) {
    const { slots } = world.nodes[by - 1]!
    if (slots.slot - FIRST !== slot || world.made.includes(act)) continue
    yield { label: `${by} wants cell ${to}`, next: (copy) => perform(copy, act, by, to) }
  }
  for (const { slots } of world.nodes) {
    if (mayTick(world, scope, slots)) {
      yield { label: `a slot goes by at ${slots.me}`, next: (copy) => tick(copy, slots.me) }
    }
    for (const [to, peer] of slots.peers) {
      // Frames without an event leave in the rounds.
      if (peer.owed.size === 0) continue
      yield* telling(world, slots.me, to)
    }
  }
  for (const [index, { from, to }] of world.wires.entries()) {
    const isFirst = world.wires.findIndex((one) => one.from === from && one.to === to) === index
    if (isFirst) yield { label: `${from}'s word comes to ${to}`, next: (copy) => word(copy, index) }
  }
}

function* troubles(world: SlotsWorld): Iterable<Action<SlotsWorld>> {
  // Early enough that all is well in the end.
  if (world.rounds > TROUBLES_MAX) return
  if (!world.stood) {
    const label = 'all but 2 tell all, and a slot goes by'
    yield { label, environment: true, next: (copy) => round(copy, 2) }
  }
  if (!world.gone) yield { label: '1 is gone', environment: true, next: leave }
}

function leave(world: SlotsWorld): void {
  world.gone = true
  for (const { slots } of world.nodes) {
    slots.here.delete(1)
    slots.peers.delete(1)
  }
}

function* telling(world: SlotsWorld, from: PeerId, to: PeerId): Iterable<Action<SlotsWorld>> {
  const what = `${from} tells ${to}`
  yield { label: what, next: (copy) => tell(copy, from, to, true) }
  if (world.doubts === 0) return
  const next = (copy: SlotsWorld): void => {
    copy.doubts--
    tell(copy, from, to, false)
  }
  yield { label: `${what}, and takes it for lost`, environment: true, next }
}

// Whoever acts in a slot has done so before it is over, and clocks are not far apart.
function mayTick(world: SlotsWorld, scope: SlotsScope, slots: Slots): boolean {
  const at = slots.slot - FIRST
  if (at >= scope.slots) return false
  if (world.nodes.some((other) => other.slots.slot - FIRST < at - scope.skew)) return false
  const open = scope.acts.some(
    ({ slot, by }, act) => by === slots.me && slot === at && !world.made.includes(act),
  )
  if (open) return false
  if (!scope.bounded) return true
  // The slot that would be settled holds nothing that this member has not heard of.
  return world.made.every((act) => {
    const { slot, by } = scope.acts[act]!
    const settles = FIRST + slot <= slots.slot - scope.horizon
    return !settles || by === slots.me || knows(slots, FIRST + slot, by)
  })
}

function knows(slots: Slots, slot: number, by: PeerId): boolean {
  if (slot <= slots.base) return true
  for (const event of slots.bySlot.get(slot)?.events.values() ?? [])
    if (event.inc === by) return true
  return false
}

function perform(world: SlotsWorld, act: number, by: PeerId, to: number): void {
  world.made.push(act)
  world.made.sort((a, b) => a - b)
  const { slots, now } = world.nodes[by - 1]!
  world.names.push({ by, id: slots.nextId, to })
  say(slots, now, game, new Uint8Array([to]), 0)
}

function tick(world: SlotsWorld, me: PeerId): void {
  const node = world.nodes[me - 1]!
  node.now += MS
  part.wake!(node.slots, node.now, outOf(world, me))
}

function tell(world: SlotsWorld, from: PeerId, to: PeerId, acked: boolean): void {
  const { slots, now } = world.nodes[from - 1]!
  const writer = { bytes: new Uint8Array(256), length: 0 }
  const seq = world.seq++
  const peer = slots.peers.get(to)!
  // Each frame says all that there is to say, and what is owed leaves now, whenever that is.
  peer.saidIn = -1
  if (!part.write!(slots, now, to, seq, writer, 256)) return
  const at = world.nodes[to - 1]!
  part.read!(at.slots, at.now, from, writer.bytes.slice(0, writer.length), outOf(world, to))
  if (acked) part.acked!(slots, to, seq)
  else part.lost!(slots, to, seq)
}

function word(world: SlotsWorld, index: number): void {
  const [{ from, to, bytes }] = world.wires.splice(index, 1) as [SlotsWorld['wires'][0]]
  const { slots, now } = world.nodes[to - 1]!
  part.receive!(slots, now, from, bytes, outOf(world, to))
}

// Who stands still neither hears nor says anything meanwhile; 0 for nobody.
function round(world: SlotsWorld, standing: PeerId): void {
  world.rounds++
  if (standing !== 0) world.stood = true
  const awake = world.nodes.map(({ slots }) => slots).filter(({ me }) => me !== standing)
  for (const slots of awake) {
    if (isGone(world, slots.me)) continue
    for (const to of slots.peers.keys()) {
      if (to !== standing) tell(world, slots.me, to, true)
    }
  }
  while (world.wires.length > 0) word(world, 0)
  for (const { slots } of world.nodes) {
    const node = world.nodes[slots.me - 1]!
    if (slots.me === standing) node.now += MS
    else if (!isGone(world, slots.me)) tick(world, slots.me)
  }
}

const isGone = ({ gone }: SlotsWorld, inc: PeerId): boolean => gone && inc === 1

function outOf(world: SlotsWorld, from: PeerId): SlotsOut {
  return {
    send: (to, bytes) => world.wires.push({ from, to, bytes: bytes.slice() }),
    emit: (event) => {
      if (event.kind !== 'slots-void') return
      for (const to of event.acts) world.void.push({ by: from, to })
    },
  }
}

function exclusive({ nodes }: SlotsWorld): true | string {
  for (const { slots } of nodes) {
    const cells = Object.values(shown(slots, game) as Cells)
    if (new Set(cells).size < cells.length) return `two players stand in one cell: ${cells.join()}`
  }
  return true
}

function toldOnce(world: SlotsWorld, scope: SlotsScope): true | string {
  if (world.rounds < roundsOf(scope)) return true
  for (const { by, id, to } of world.names) {
    if (isGone(world, by)) continue
    const isIn = counts(world.nodes[by - 1]!.slots, by, id)
    const isVoid = world.void.some((told) => told.by === by && told.to === to)
    if (isIn && isVoid) return `${by} was told that its act is void, and it counts`
    if (!isIn && !isVoid) return `the act of ${by} does not count, and nobody said so`
  }
  return true
}

function converged(world: SlotsWorld, scope: SlotsScope): true | string {
  if (world.rounds < roundsOf(scope)) return true
  const living = world.nodes.filter(({ slots }) => !isGone(world, slots.me))
  const views = living.map(({ slots }) => JSON.stringify(shown(slots, game)))
  return views.every((view) => view === views[0]) || `views differ: ${views.join(' ')}`
}

// Left out: counters and packet numbers, which tell of the past, and worlds but the settled one,
// which follow from it and the events. Times count from now.
function essence(world: SlotsWorld, scope: SlotsScope): unknown {
  const { nodes, made, wires, doubts, rounds } = world
  const ends = nodes.map((node) => essenceOf(node, scope))
  const under = wires.map(({ from, to, bytes }) => [from, to, bytes])
  const troubles = scope.troubled ? [world.gone, world.stood, world.void] : []
  return [ends, made, under, doubts, rounds, ...troubles]
}

function essenceOf({ slots, now }: Node, { bounded, troubled, variant }: SlotsScope): unknown {
  const events: number[][] = []
  for (const [slot, { events: known }] of slots.bySlot) {
    for (const [key, { held }] of known)
      events.push([slot, key, ...[...held].sort((a, b) => a - b)])
  }
  if (variant !== 'order-of-arrival') events.sort((a, b) => a[0]! - b[0]! || a[1]! - b[1]!)
  const owed = [...slots.peers.values()].map((peer) =>
    [...peer.owed.keys()].map(({ inc, id }) => inc * 100 + id),
  )
  const { slot, base, worlds } = slots
  const known = [slot, base, worlds[0]!.text, events, owed]
  // Where nothing comes too late nobody asks, and it does not matter whom one hears.
  if (variant !== null) known.push(worlds.map(({ text }) => text).join())
  if (bounded) return known
  return [...known, rootEssence(slots, now), ...(troubled ? agreementEssence(slots) : [])]
}

function rootEssence(slots: Slots, now: Millis): unknown {
  const peers = [...slots.peers.values()].map(({ follows, near, apart, heardAt }) => [
    follows,
    near,
    apart,
    now - heardAt <= (slots.horizon / 2) * MS ? now - heardAt : -1,
  ])
  const unsure = slots.unsure.map(({ id }) => id)
  return [slots.apart, slots.asked, Math.max(0, slots.askAt - now), unsure, peers]
}

function agreementEssence({
  agreed,
  round: begun,
  peers,
  settled,
  base,
  bySlot,
}: Slots): unknown[] {
  const said = [...peers].map(([inc, { same, kept, standing }]) => [inc, same, kept, standing])
  return [agreed, begun, said, settled.get(base)!.acts, bySlot.size]
}

function show({ nodes }: SlotsWorld): string {
  const of = ({ slots }: Node): string =>
    `${slots.me}: slot ${slots.slot - FIRST} ${JSON.stringify(shown(slots, game))}`
  return nodes.map(of).join(', ')
}
