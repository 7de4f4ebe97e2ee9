/**
 * Three members of slots and what is on its way among them, as a row of numbers, each of something
 * that is kept once; what a member makes of an input is looked up.
 */

import type { PeerId } from '../../packages/holdfast/src/machine.ts'
import type { Action } from '../../packages/sim/src/checker/checker.ts'
import { clone } from '../../packages/sim/src/checker/clone.ts'
import * as interned from './interned.ts'
import * as memo from './memo.ts'
import { type Places, placesOf } from './places.ts'
import {
  essenceOf,
  type Face,
  faceOf,
  hear,
  member,
  MS,
  type Node,
  type Said,
  type SlotsScope,
  tell,
  tick,
  want,
} from './slots-node.ts'

/**
 * All of it, by the places of its tables:
 *
 *   essence   what tells the states of each member apart
 *   made      a bit for each act that was made
 *   words     what is on its way reliably
 *   doubts    frames that may yet come and be taken for lost
 *   rounds    those that were made
 *   troubles  bits: member 1 has said its last; member 2 did not hear in a round
 *   void      what members were told to be void, where that tells states apart
 *   node      each member, whole
 *   told      what members were told to be void
 *   names     who made which act, under which number
 */
export type SlotsWorld = Int32Array

/** One step in it. */
export type SlotsAction = Action<SlotsWorld>

/** What a member takes. */
type NodeInput =
  | { kind: 'tick' | 'leave' }
  | { kind: 'want'; to: number }
  | { kind: 'tell'; to: PeerId; acked: boolean }
  | { kind: 'frame' | 'word'; from: PeerId; bytes: Uint8Array }

/** An act: who made it, under which number, and which cell it wants. */
export interface Name {
  by: PeerId
  id: number
  to: number
}

interface Outcome {
  node: number
  words: number[]
  told: number[]
  /** As an input of whom it is for; -1 for none. */
  frame: number
}

/** The tables of one model. */
export interface SlotsTables {
  scope: SlotsScope
  place: Places<TellingName | 'node' | 'told' | 'names'>
  nodes: interned.Interned<Node>
  faces: Face[]
  /** By node. */
  essences: number[]
  essence: interned.Interned<unknown>
  inputs: interned.Interned<NodeInput>
  /** By node and input. */
  outcomes: memo.Memo<Outcome>
  words: interned.Interned<Said['words'][number]>
  voids: interned.Interned<Said['void'][number]>
  named: interned.Interned<Name>
  /** Lists of words, voids and names by number. */
  lists: interned.Interned<readonly number[]>
  /** By list, and what is put behind; by list, and the place of what goes. */
  longer: memo.Memo<number>
  shorter: memo.Memo<number>
}

type TellingName = 'essence' | 'made' | 'words' | 'doubts' | 'rounds' | 'troubles' | 'void'

/** There are so many. */
export const MEMBERS = 3
/** Bits of the troubles. */
const GONE = 1
const STOOD = 2
/** The number of the empty list. */
const NOTHING = 0

/** Tables with nothing in them. */
export function createTables(scope: SlotsScope): SlotsTables {
  const single = { made: 1, words: 1, doubts: 1, rounds: 1, troubles: 1, void: 1 }
  const tables: SlotsTables = {
    scope,
    place: placesOf({ essence: MEMBERS, ...single, node: MEMBERS, told: 1, names: 1 }),
    nodes: interned.create(),
    faces: [],
    essences: [],
    essence: interned.create(),
    inputs: interned.create(),
    outcomes: memo.create(),
    words: interned.create(),
    voids: interned.create(),
    named: interned.create(),
    lists: interned.create(),
    longer: memo.create(),
    shorter: memo.create(),
  }
  interned.numberOf(tables.lists, [])
  return tables
}

/** All know each other, and nobody has done anything. */
export function begin(tables: SlotsTables): SlotsWorld {
  const { scope, place } = tables
  const world = new Int32Array(place.size)
  for (const me of [1, 2, 3]) set(tables, world, me, keep(tables, member(me, scope)))
  world[place.doubts] = scope.doubts
  return world
}

function keep(tables: SlotsTables, node: Node): number {
  const { scope, nodes, faces, essences, essence } = tables
  const face = faceOf(node, scope)
  const number = interned.numberOf(nodes, node)
  faces[number] ??= face
  essences[number] ??= interned.numberOf(essence, essenceOf(node, scope))
  return number
}

function set({ place, essences }: SlotsTables, world: SlotsWorld, me: PeerId, node: number): void {
  world[place.node + me - 1] = node
  world[place.essence + me - 1] = essences[node]!
}

/** A member as it is; not to be changed. */
export function faceIn({ faces, place }: SlotsTables, world: SlotsWorld, me: PeerId): Face {
  return faces[world[place.node + me - 1]!]!
}

/** What a list holds. */
export function listOf({ lists }: SlotsTables, number: number): readonly number[] {
  return lists.values[number]!
}

function append({ lists, longer }: SlotsTables, list: number, item: number): number {
  const known = memo.find(longer, list, item)
  if (known !== null) return known
  const made = interned.numberOf(lists, [...lists.values[list]!, item])
  return memo.keep(longer, list, item, made)
}

// One member takes an input. @returns the frame that it leads to, as an input, or -1
function act(tables: SlotsTables, world: SlotsWorld, me: PeerId, input: number): number {
  const before = world[tables.place.node + me - 1]!
  const outcome = memo.find(tables.outcomes, before, input) ?? learn(tables, before, input)
  set(tables, world, me, outcome.node)
  say(tables, world, outcome)
  return outcome.frame
}

function say(tables: SlotsTables, world: SlotsWorld, said: Pick<Outcome, 'words' | 'told'>): void {
  const { place, scope } = tables
  for (const one of said.words) world[place.words] = append(tables, world[place.words]!, one)
  for (const one of said.told) world[place.told] = append(tables, world[place.told]!, one)
  if (scope.troubled) world[place.void] = world[place.told]!
}

function learn(tables: SlotsTables, before: number, input: number): Outcome {
  const node = clone(interned.valueOf(tables.nodes, before))
  const said: Said = { words: [], void: [] }
  const frame = take(node, interned.valueOf(tables.inputs, input), said)
  const from = node.slots.me
  return memo.keep(tables.outcomes, before, input, {
    node: keep(tables, node),
    ...numbersOf(tables, said),
    frame: frame ? inputOf(tables, { kind: 'frame', from, bytes: frame }) : -1,
  })
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

function numbersOf({ words, voids }: SlotsTables, said: Said): Pick<Outcome, 'words' | 'told'> {
  return {
    words: said.words.map((word) => interned.numberOf(words, word)),
    told: said.void.map((one) => interned.numberOf(voids, one)),
  }
}

function inputOf(tables: SlotsTables, input: NodeInput): number {
  return interned.numberOf(tables.inputs, input)
}

/** An act is made. */
export function performing(tables: SlotsTables, number: number): SlotsAction['next'] {
  const { place, scope } = tables
  const { by, to } = scope.acts[number]!
  const input = inputOf(tables, { kind: 'want', to })
  return (world) => {
    const { nextId: id } = faceIn(tables, world, by).node.slots
    const name = interned.numberOf(tables.named, { by, id, to })
    world[place.made]! |= 1 << number
    world[place.names] = append(tables, world[place.names]!, name)
    act(tables, world, by, input)
  }
}

/** A slot goes by at a member. */
export function ticking(tables: SlotsTables, me: PeerId): SlotsAction['next'] {
  const input = inputOf(tables, { kind: 'tick' })
  return (world) => void act(tables, world, me, input)
}

/** A member tells another. */
export function telling(
  tables: SlotsTables,
  from: PeerId,
  to: PeerId,
  acked: boolean,
): SlotsAction['next'] {
  const input = inputOf(tables, { kind: 'tell', to, acked })
  return (world) => {
    if (!acked) world[tables.place.doubts]!--
    const frame = act(tables, world, from, input)
    if (frame >= 0) act(tables, world, to, frame)
  }
}

/** The word at that place of the list comes. */
export function deliver(tables: SlotsTables, world: SlotsWorld, index: number): void {
  const { place, words, lists, shorter } = tables
  const before = world[place.words]!
  const { from, to, bytes } = words.values[lists.values[before]![index]!]!
  const without = (): number => interned.numberOf(lists, lists.values[before]!.toSpliced(index, 1))
  world[place.words] =
    memo.find(shorter, before, index) ?? memo.keep(shorter, before, index, without())
  act(tables, world, to, inputOf(tables, { kind: 'word', from, bytes }))
}

/** Member 1 is gone. */
export function leave(tables: SlotsTables, world: SlotsWorld): void {
  const input = inputOf(tables, { kind: 'leave' })
  world[tables.place.troubles]! |= GONE
  for (const me of [1, 2, 3]) act(tables, world, me, input)
}

/** Whether that one has said its last. */
export function isGone({ place }: SlotsTables, world: SlotsWorld, me: PeerId): boolean {
  return me === 1 && (world[place.troubles]! & GONE) !== 0
}

/** Whether some member stood still in some round. */
export function hasStood({ place }: SlotsTables, world: SlotsWorld): boolean {
  return (world[place.troubles]! & STOOD) !== 0
}

/**
 * All tell all, and a slot goes by. It is one step of all members, whose states then hardly ever
 * come again, so it is not remembered.
 *
 * @param standing  neither hears nor says anything meanwhile; 0 for nobody
 */
export function round(tables: SlotsTables, world: SlotsWorld, standing: PeerId): void {
  const { place, nodes } = tables
  world[place.rounds]!++
  if (standing !== 0) world[place.troubles]! |= STOOD
  const all = [1, 2, 3].map((me) => clone(nodes.values[world[place.node + me - 1]!]!))
  const under = listOf(tables, world[place.words]!).map((word) => tables.words.values[word]!)
  const said: Said = { words: under, void: [] }
  world[place.words] = NOTHING
  const living = all.filter(({ slots }) => !isGone(tables, world, slots.me))
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
  for (const node of all) set(tables, world, node.slots.me, keep(tables, node))
  say(tables, world, numbersOf(tables, said))
}
