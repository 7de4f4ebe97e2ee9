/**
 * The shipped slots in a small world: three members in a mesh, a handful of acts, clocks that are
 * apart by up to a slot. First anything happens in any order: members act, clocks go on, frames
 * are told, are lost, come and are taken for lost. Then a few fair rounds, in which everybody tells
 * everybody: after them all have the same world, and each act of whoever lives is in it or was
 * told to be void. Between rounds the root may be gone, and in one of them another stands still.
 */

import type { PeerId } from '../../packages/holdfast/src/machine.ts'
import type { Model } from '../../packages/sim/src/checker/checker.ts'
import { isSettled } from '../../packages/holdfast/src/slots/protocol/tally.ts'
import { type Face, type SlotsScope } from './slots-node.ts'
import * as scenes from './slots-scene.ts'
import {
  faceIn,
  isGone,
  listOf,
  MEMBERS,
  type SlotsAction,
  type SlotsTables,
  type SlotsWorld,
} from './slots-scene.ts'

// As long as everything takes: all that is owed; and if a world is taken, the next settled slots,
// an inquiry and its answer; and until all agree on what is void, two rounds of theirs.
const roundsOf = ({ bounded, troubled }: SlotsScope): number => {
  if (bounded) return 3
  return troubled ? 16 : 9
}

// Rounds after which the root may be gone.
const TROUBLES_MAX = 6

/** The model for one scope. */
export function slotsModel(name: string, scope: SlotsScope): Model<SlotsWorld> {
  const tables = scenes.createTables(scope)
  const steps = stepsOf(tables)
  const { place } = tables
  const some = (holds: (face: Face) => boolean) => (world: SlotsWorld) =>
    membersOf(tables, world).some(holds)
  return {
    name,
    init: () => scenes.begin(tables),
    actions: (world) => actions(tables, steps, world),
    always: { 'slot.excl': (world) => exclusive(tables, world) },
    sometimes: {
      'an act came late': some(({ again }) => again),
      'all rounds were made': (world) => world[place.rounds] === roundsOf(scope),
      ...(scope.bounded ? {} : { 'a world was taken': some(({ adopted }) => adopted) }),
    },
    settled: {
      'slot.converge': (world) => converged(tables, world),
      ...(scope.troubled ? { 'slot.told': (world) => toldOnce(tables, world) } : {}),
    },
    flat: place.node,
    show: (world) => show(tables, world),
  }
}

function membersOf(tables: SlotsTables, world: SlotsWorld): Face[] {
  return [1, 2, 3].map((me) => faceIn(tables, world, me))
}

/** All steps, each made once. */
interface Steps {
  round: SlotsAction
  standing: SlotsAction
  leave: SlotsAction
  /** By act. */
  wants: SlotsAction[]
  /** By member; to whom, by member too. */
  ticks: SlotsAction[]
  tells: { told: SlotsAction; doubted: SlotsAction }[][]
}

function stepsOf(tables: SlotsTables): Steps {
  const members = [0, 1, 2, 3]
  const wants = tables.scope.acts.map(({ by, to }, act) => {
    return { label: `${by} wants cell ${to}`, next: scenes.performing(tables, act) }
  })
  const ticks = members.map((me) => {
    return { label: `a slot goes by at ${me}`, next: scenes.ticking(tables, me) }
  })
  return {
    round: {
      label: 'all tell all, and a slot goes by',
      next: (world) => scenes.round(tables, world, 0),
    },
    standing: {
      label: 'all but 2 tell all, and a slot goes by',
      environment: true,
      next: (world) => scenes.round(tables, world, 2),
    },
    leave: {
      label: '1 is gone',
      environment: true,
      next: (world) => scenes.leave(tables, world),
    },
    ...{ wants, ticks },
    tells: members.map((from) => members.map((to) => tellSteps(tables, from, to))),
  }
}

function tellSteps(tables: SlotsTables, from: PeerId, to: PeerId): Steps['tells'][number][number] {
  const label = `${from} tells ${to}`
  return {
    told: { label, next: scenes.telling(tables, from, to, true) },
    doubted: {
      label: `${label}, and takes it for lost`,
      environment: true,
      next: scenes.telling(tables, from, to, false),
    },
  }
}

function actions(tables: SlotsTables, all: Steps, world: SlotsWorld): SlotsAction[] {
  const { scope, place } = tables
  const steps: SlotsAction[] = []
  const rounds = world[place.rounds]!
  const faces = membersOf(tables, world)
  if (faces.every(({ slot }) => slot >= scope.slots)) {
    if (rounds < roundsOf(scope)) {
      steps.push(all.round)
      if (scope.troubled) troubles(tables, all, world, steps)
    }
    if (rounds > 0) return steps
  }
  for (const [act, { slot, by }] of scope.acts.entries()) {
    if (faces[by - 1]!.slot === slot && !isMade(tables, world, act)) steps.push(all.wants[act]!)
  }
  for (let me = 1; me <= MEMBERS; me++) {
    if (mayTick(tables, world, faces, me)) steps.push(all.ticks[me]!)
    // Frames without an event leave in the rounds.
    for (const to of faces[me - 1]!.owes) {
      const { told, doubted } = all.tells[me]![to]!
      steps.push(told)
      if (world[place.doubts]! > 0) steps.push(doubted)
    }
  }
  arrivals(tables, world, steps)
  return steps
}

function troubles(tables: SlotsTables, all: Steps, world: SlotsWorld, steps: SlotsAction[]): void {
  // Early enough that all is well in the end.
  if (world[tables.place.rounds]! > TROUBLES_MAX) return
  if (!scenes.hasStood(tables, world)) steps.push(all.standing)
  if (!isGone(tables, world, 1)) steps.push(all.leave)
}

// The first word from one to another comes.
function arrivals(tables: SlotsTables, world: SlotsWorld, steps: SlotsAction[]): void {
  const { values } = tables.words
  const list = listOf(tables, world[tables.place.words]!)
  const ends = list.map((number) => `${values[number]!.from} ${values[number]!.to}`)
  for (const [index, number] of list.entries()) {
    if (ends.indexOf(ends[index]!) !== index) continue
    const { from, to } = values[number]!
    steps.push({
      label: `${from}'s word comes to ${to}`,
      next: (copy) => scenes.deliver(tables, copy, index),
    })
  }
}

function isMade({ place }: SlotsTables, world: SlotsWorld, act: number): boolean {
  return ((world[place.made]! >> act) & 1) === 1
}

// Whoever acts in a slot has done so before it is over, and clocks are not far apart.
function mayTick(
  tables: SlotsTables,
  world: SlotsWorld,
  faces: readonly Face[],
  me: PeerId,
): boolean {
  const { acts, slots, skew, bounded, horizon } = tables.scope
  const { slot: at, knows } = faces[me - 1]!
  if (at >= slots) return false
  if (faces.some(({ slot }) => slot < at - skew)) return false
  for (const [act, { slot, by }] of acts.entries()) {
    const made = isMade(tables, world, act)
    if (!made && by === me && slot === at) return false
    // The slot that would be settled holds nothing that this member has not heard of.
    if (made && bounded && slot <= at - horizon && ((knows >> act) & 1) === 0) return false
  }
  return true
}

function exclusive(tables: SlotsTables, world: SlotsWorld): true | string {
  for (const { cells } of membersOf(tables, world)) {
    if (new Set(cells).size < cells.length) return `two players stand in one cell: ${cells.join()}`
  }
  return true
}

function toldOnce(tables: SlotsTables, world: SlotsWorld): true | string {
  const { place, scope, named, voids } = tables
  if (world[place.rounds]! < roundsOf(scope)) return true
  const told = listOf(tables, world[place.told]!).map((number) => voids.values[number]!)
  for (const number of listOf(tables, world[place.names]!)) {
    const { by, id, to } = named.values[number]!
    if (isGone(tables, world, by)) continue
    const isIn = isSettled(faceIn(tables, world, by).node.slots, by, id)
    const isVoid = told.some((one) => one.by === by && one.to === to)
    if (isIn && isVoid) return `${by} was told that its act is void, and it counts`
    if (!isIn && !isVoid) return `the act of ${by} does not count, and nobody said so`
  }
  return true
}

function converged(tables: SlotsTables, world: SlotsWorld): true | string {
  if (world[tables.place.rounds]! < roundsOf(tables.scope)) return true
  const living = membersOf(tables, world).filter((_, i) => !isGone(tables, world, i + 1))
  const views = living.map(({ view }) => view)
  return views.every((view) => view === views[0]) || `views differ: ${views.join(' ')}`
}

function show(tables: SlotsTables, world: SlotsWorld): string {
  const of = ({ slot, view }: Face, i: number): string => `${i + 1}: slot ${slot} ${view}`
  return membersOf(tables, world).map(of).join(', ')
}
