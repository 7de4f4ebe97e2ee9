/**
 * Three members of slots and what is on its way among them. The world is that of the source's scene
 * (M32): players on cells, one a cell; a player that wants a cell that is taken stays.
 */

import type { Millis, PeerId } from '../../packages/holdfast/src/machine.ts'
import { seal, settle, shown } from '../../packages/holdfast/src/slots/protocol/fold.ts'
import {
  create,
  createPeer,
  type Game,
  makeEvent,
  type Slots,
  type SlotsOut,
  slotsPart,
} from '../../packages/holdfast/src/slots/protocol/slots.ts'
import * as cells from '../../packages/sim/src/checker/cells.ts'
import type { Action } from '../../packages/sim/src/checker/checker.ts'
import { clone } from '../../packages/sim/src/checker/clone.ts'
import { type SlotsBug, slotsRules } from '../mutants.ts'

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
  bug: SlotsBug | null
}

/** One member. */
export interface Node {
  now: Millis
  slots: Slots
}

/** What a member says, and what it tells its application to be void. */
export interface Said {
  words: { from: PeerId; to: PeerId; bytes: Uint8Array }[]
  void: { by: PeerId; to: unknown }[]
}

/** What steps and claims ask of a member. */
export interface Face {
  node: Node
  /** The slot under way, from 0. */
  slot: number
  /** To whom it owes events, in its order. */
  owes: readonly PeerId[]
  /** A bit for each act of the scope that it has made or knows of. */
  knows: number
  /** The world that it shows, and the cells that are taken in it. */
  view: string
  cells: readonly number[]
  again: boolean
  adopted: boolean
}

// A slot, in milliseconds.
const MS = 200
const FIRST = 40

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

// A member that has the world as it begins.
function member(me: PeerId, { horizon, bug }: SlotsScope): Node {
  const slots = {
    ...create(slotsRules(bug)),
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
      receivedAt: FIRST * MS,
      sentIn: FIRST,
    })
  }
  return { now: FIRST * MS, slots }
}

// Wants a cell.
function want({ slots, now }: Node, to: number): void {
  makeEvent(slots, now, game, new Uint8Array([to]), 0)
}

// A slot goes by.
function tick(node: Node, said: Said): void {
  node.now += MS
  part.wake!(node.slots, node.now, outOf(node, said))
}

// Tells a peer all that there is to say; of a frame it hears at once that it came, or that it is
// lost.
// @returns the frame, or null if there is nothing
function tell({ slots, now }: Node, to: PeerId, acked: boolean): Uint8Array | null {
  const writer = { bytes: new Uint8Array(256), length: 0 }
  // Each frame says all that there is to say, and what is owed leaves now, whenever that is.
  slots.peers.get(to)!.sentIn = -1
  if (!part.write!(slots, now, to, PACKET, writer, 256)) return null
  if (acked) part.acked!(slots, to, PACKET)
  else part.lost!(slots, to, PACKET)
  return writer.bytes.slice(0, writer.length)
}

// What becomes of one packet is known before there is another.
const PACKET = 1

// Hears a frame, or a word that comes reliably.
function hear(
  node: Node,
  what: 'frame' | 'word',
  from: PeerId,
  bytes: Uint8Array,
  said: Said,
): void {
  const { slots, now } = node
  const out = outOf(node, said)
  if (what === 'frame') part.read!(slots, now, from, bytes, out)
  else part.receive!(slots, now, from, bytes, out)
}

function outOf({ slots: { me } }: Node, said: Said): SlotsOut {
  return {
    send: (to, bytes) => said.words.push({ from: me, to, bytes: bytes.slice() }),
    emit: (event) => {
      if (event.kind !== 'slots-discarded') return
      for (const to of event.acts) said.void.push({ by: me, to })
    },
  }
}

// Reads a member; its world is folded by that, which whoever looks does.
function faceOf(node: Node, { acts }: SlotsScope): Face {
  const { slots } = node
  const world = shown(slots, game) as Cells
  let knows = 0
  for (const [act, { slot, by }] of acts.entries()) {
    if (by === slots.me || hasAct(slots, FIRST + slot, by)) knows |= 1 << act
  }
  return {
    node,
    slot: slots.slot - FIRST,
    owes: [...slots.peers].filter(([, { unacked }]) => unacked.size > 0).map(([peer]) => peer),
    knows,
    view: JSON.stringify(world),
    cells: Object.values(world),
    again: slots.counters.again > 0,
    adopted: slots.counters.adopted > 0,
  }
}

function hasAct(slots: Slots, slot: number, by: PeerId): boolean {
  if (slot <= slots.base) return true
  for (const event of slots.bySlot.get(slot)?.events.values() ?? [])
    if (event.inc === by) return true
  return false
}

// What tells members apart. Left out: counters, which tell of the past, and worlds but the settled
// one, which follow from it and the events. Times count from now.
function essenceOf({ slots, now }: Node, { bounded, troubled, bug }: SlotsScope): unknown {
  const events: number[][] = []
  for (const [slot, { events: known }] of slots.bySlot) {
    for (const [key, { held }] of known)
      events.push([slot, key, ...[...held].sort((a, b) => a - b)])
  }
  if (bug !== 'order-of-arrival') events.sort((a, b) => a[0]! - b[0]! || a[1]! - b[1]!)
  const owed = [...slots.peers.values()].map((peer) =>
    [...peer.unacked.keys()].map(({ inc, id }) => inc * 100 + id),
  )
  const { slot, base, worlds } = slots
  const known = [slot, base, worlds[0]!.text, events, owed]
  // Where nothing comes too late nobody asks, and it does not matter whom one hears.
  if (bug !== null) known.push(worlds.map(({ text }) => text).join())
  if (bounded) return known
  return [...known, rootEssence(slots, now), ...(troubled ? agreementEssence(slots) : [])]
}

function rootEssence(slots: Slots, now: Millis): unknown {
  const peers = [...slots.peers.values()].map(({ follows, near, apart, receivedAt }) => [
    follows,
    near,
    apart,
    now - receivedAt <= (slots.horizon / 2) * MS ? now - receivedAt : -1,
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
  const said = [...peers].map(([inc, { same, earlyReport, standing }]) => [
    inc,
    same,
    earlyReport,
    standing,
  ])
  return [agreed, begun, said, settled.get(base)!.acts, bySlot.size]
}

/** Everything at one instant, as cells. Lists of two are by member. */
export interface SlotsWorld {
  /** What tells the states of each member apart. */
  essences: unknown[]
  /** A bit for each act that was made. */
  made: number
  /** What is on its way reliably. */
  words: readonly Word[]
  /** Frames that may yet come and be taken for lost. */
  doubts: number
  /** Rounds that were made. */
  rounds: number
  /** Member 1 has said its last; member 2 did not hear in a round. */
  gone: boolean
  stood: boolean
  /** What members were told to be void, where that tells states apart. */
  voids: readonly Void[]
  nodes: Node[]
  told: readonly Void[]
  /** Who made which act, under which number. */
  names: readonly Name[]
}

/** Fields that are arrays of cells, and those that tell no states apart. */
export const ARRAYS: readonly (keyof SlotsWorld)[] = ['essences', 'nodes']
export const ASIDE: readonly (keyof SlotsWorld)[] = ['nodes', 'told', 'names']

/** One step in it. */
export type SlotsAction = Action<SlotsWorld>

type Word = Said['words'][number]
type Void = Said['void'][number]

/** What a member takes. */
type NodeInput =
  | { kind: 'tick' | 'leave' }
  | { kind: 'want'; to: number }
  | { kind: 'tell'; to: PeerId; acked: boolean }
  | { kind: 'frame' | 'word'; from: PeerId; bytes: Uint8Array }

/** An act: who made it, under which number, and which cell it wants. */
interface Name {
  by: PeerId
  id: number
  to: number
}

interface Outcome {
  node: Node
  said: Said
  /** As an input of the member that it is for. */
  frame: NodeInput | null
}

/** One model: its scope, and functions that run once for each list of arguments. */
export interface SlotsTables {
  scope: SlotsScope
  all: cells.Cells
  face(node: Node): Face
  essence(node: Node): unknown
  act(node: Node, input: NodeInput): Outcome
}

/** There are so many. */
export const MEMBERS = 3

/** Tables with nothing in them. */
export function createTables(scope: SlotsScope): SlotsTables {
  const all = cells.create()
  return {
    ...{ scope, all },
    // Reading a member folds its world, which an application does.
    face: cells.remember(all, (node: Node) => faceOf(node, scope)),
    essence: cells.remember(all, (node: Node) => cells.same(all, essenceOf(node, scope) as object)),
    act: cells.remember(all, (before: Node, input: NodeInput) => {
      const node = clone(before)
      const said: Said = { words: [], void: [] }
      const bytes = take(node, input, said)
      const from = node.slots.me
      faceOf(node, scope)
      return {
        node: cells.same(all, node),
        said,
        frame: bytes && ({ kind: 'frame', from, bytes } as const),
      }
    }),
  }
}

/** All know each other, and nobody has done anything. */
export function begin(tables: SlotsTables): SlotsWorld {
  const { scope } = tables
  const nodes = [1, 2, 3].map((me) => member(me, scope))
  for (const node of nodes) faceOf(node, scope)
  return {
    essences: nodes.map((node) => tables.essence(node)),
    ...{ made: 0, words: [], doubts: scope.doubts, rounds: 0, gone: false, stood: false },
    ...{ voids: [], nodes, told: [], names: [] },
  }
}

function set(tables: SlotsTables, world: SlotsWorld, me: PeerId, node: Node): void {
  world.nodes[me - 1] = node
  world.essences[me - 1] = tables.essence(node)
}

/** A member as it is. */
export function faceIn(tables: SlotsTables, { nodes }: SlotsWorld, me: PeerId): Face {
  return tables.face(nodes[me - 1]!)
}

/** One member takes an input. @returns the frame that it leads to, as an input */
export function act(
  tables: SlotsTables,
  world: SlotsWorld,
  me: PeerId,
  input: NodeInput,
): NodeInput | null {
  const { node, said, frame } = tables.act(world.nodes[me - 1]!, input)
  set(tables, world, me, node)
  say(tables, world, said)
  return frame
}

function say({ scope }: SlotsTables, world: SlotsWorld, said: Said): void {
  world.words = [...world.words, ...said.words]
  world.told = [...world.told, ...said.void]
  if (scope.troubled) world.voids = world.told
}

function take(node: Node, input: NodeInput, said: Said): Uint8Array | null {
  switch (input.kind) {
    case 'tick':
      tick(node, said)
      return null
    case 'leave':
      node.slots.here.delete(1)
      node.slots.peers.delete(1)
      return null
    case 'want':
      want(node, input.to)
      return null
    case 'tell':
      return tell(node, input.to, input.acked)
    case 'frame':
    case 'word':
      hear(node, input.kind, input.from, input.bytes, said)
      return null
  }
}

/** An act is made. */
export function perform(tables: SlotsTables, world: SlotsWorld, number: number): void {
  const { by, to } = tables.scope.acts[number]!
  const { nextId: id } = world.nodes[by - 1]!.slots
  world.made |= 1 << number
  world.names = [...world.names, { by, id, to }]
  act(tables, world, by, { kind: 'want', to })
}

/** A member tells another. */
export function telling(
  tables: SlotsTables,
  world: SlotsWorld,
  from: PeerId,
  to: PeerId,
  acked: boolean,
): void {
  if (!acked) world.doubts--
  const frame = act(tables, world, from, { kind: 'tell', to, acked })
  if (frame) act(tables, world, to, frame)
}

/** The word at that place of the list comes. */
export function deliver(tables: SlotsTables, world: SlotsWorld, index: number): void {
  const { from, to, bytes } = world.words[index]!
  world.words = world.words.toSpliced(index, 1)
  act(tables, world, to, { kind: 'word', from, bytes })
}

/** Member 1 is gone. */
export function leave(tables: SlotsTables, world: SlotsWorld): void {
  world.gone = true
  for (const me of [1, 2, 3]) act(tables, world, me, { kind: 'leave' })
}

/** Whether that one has said its last. */
export function isGone({ gone }: SlotsWorld, me: PeerId): boolean {
  return me === 1 && gone
}

/**
 * All tell all, and a slot goes by. It is one step of all members, whose states then hardly ever
 * come again, so it is not remembered.
 *
 * @param standing  neither hears nor says anything meanwhile; 0 for nobody
 */
export function round(tables: SlotsTables, world: SlotsWorld, standing: PeerId): void {
  world.rounds++
  world.stood ||= standing !== 0
  const all = clone(world.nodes)
  const said: Said = { words: [...world.words], void: [] }
  world.words = []
  const living = all.filter(({ slots }) => !isGone(world, slots.me))
  for (const node of living.filter(({ slots }) => slots.me !== standing)) {
    const { me: from, peers } = node.slots
    for (const to of peers.keys()) {
      const frame = to === standing ? null : tell(node, to, true)
      if (frame) hear(all[to - 1]!, 'frame', from, frame, said)
    }
  }
  for (let word = said.words.shift(); word; word = said.words.shift()) {
    hear(all[word.to - 1]!, 'word', word.from, word.bytes, said)
  }
  for (const node of all) {
    if (node.slots.me === standing) node.now += MS
    else if (living.includes(node)) tick(node, said)
  }
  for (const node of all) {
    faceOf(node, tables.scope)
    set(tables, world, node.slots.me, node)
  }
  say(tables, world, said)
}
