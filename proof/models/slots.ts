/**
 * The shipped slots in a small world: three members in a mesh, a handful of acts, clocks that are
 * apart by up to a slot. First anything happens in any order: members act, clocks go on, frames
 * are told, are lost, come and are taken for lost. Then a few fair rounds, in which everybody tells
 * everybody: after them all have the same world, and each act of whoever lives is in it or was
 * told to be void. Between rounds the root may be gone, and in one of them another stands still.
 */

import type { PeerId } from '../../packages/holdfast/src/machine.ts'
import { isSettled } from '../../packages/holdfast/src/slots/protocol/agreement.ts'
import type { CellModel } from '../../packages/sim/src/checker/checker.ts'
import type { Rows, Row } from './rows.ts'
import {
  act,
  ARRAYS,
  ASIDE,
  begin,
  createTables,
  deliver,
  type Face,
  faceIn,
  isGone,
  leave,
  MEMBERS,
  perform,
  round,
  type SlotsAction,
  type SlotsScope,
  type SlotsTables,
  type SlotsWorld,
  telling,
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
export function slotsModel(name: string, scope: SlotsScope): CellModel<SlotsWorld> {
  const tables = createTables(scope)
  const some = (holds: (face: Face) => boolean) => (world: SlotsWorld) =>
    membersOf(tables, world).some(holds)
  return {
    ...{ name, cells: tables.all, arrays: ARRAYS, aside: ASIDE },
    init: () => begin(tables),
    actions: (world) => actions(tables, world),
    always: { 'slot.excl': (world) => exclusive(tables, world) },
    sometimes: {
      'an act came late': some(({ again }) => again),
      'all rounds were made': ({ rounds }) => rounds === roundsOf(scope),
      ...(scope.bounded ? {} : { 'a world was taken': some(({ adopted }) => adopted) }),
    },
    settled: {
      'slot.converge': (world) => converged(tables, world),
      ...(scope.troubled ? { 'slot.told': (world) => toldOnce(tables, world) } : {}),
    },
    show: (world) => show(tables, world),
  }
}

function membersOf(tables: SlotsTables, world: SlotsWorld): Face[] {
  return [1, 2, 3].map((me) => faceIn(tables, world, me))
}

function actions(tables: SlotsTables, world: SlotsWorld): SlotsAction[] {
  const { scope } = tables
  const { rounds } = world
  const steps: SlotsAction[] = []
  const faces = membersOf(tables, world)
  if (faces.every(({ slot }) => slot >= scope.slots)) {
    if (rounds < roundsOf(scope)) {
      const next = (to: SlotsWorld): void => round(tables, to, 0)
      steps.push({ label: 'all tell all, and a slot goes by', next })
      // Early enough that all is well in the end.
      if (scope.troubled && rounds <= TROUBLES_MAX) steps.push(...troubles(tables, world))
    }
    if (rounds > 0) return steps
  }
  for (const [number, { slot, by, to }] of scope.acts.entries()) {
    if (faces[by - 1]!.slot !== slot || isMade(world, number)) continue
    const next = (at: SlotsWorld): void => perform(tables, at, number)
    steps.push({ label: `${by} wants cell ${to}`, next })
  }
  for (let me = 1; me <= MEMBERS; me++) {
    if (mayTick(tables, world, faces, me)) {
      const next = (to: SlotsWorld): void => void act(tables, to, me, { kind: 'tick' })
      steps.push({ label: `a slot goes by at ${me}`, next })
    }
    // Frames without an event leave in the rounds.
    for (const to of faces[me - 1]!.owes) steps.push(...tellSteps(tables, world, me, to))
  }
  arrivals(tables, world, steps)
  return steps
}

function troubles(tables: SlotsTables, { gone, stood }: SlotsWorld): SlotsAction[] {
  const standing: SlotsAction = {
    label: 'all but 2 tell all, and a slot goes by',
    environment: true,
    next: (world) => round(tables, world, 2),
  }
  const leaves: SlotsAction = {
    label: '1 is gone',
    environment: true,
    next: (world) => leave(tables, world),
  }
  return [...(stood ? [] : [standing]), ...(gone ? [] : [leaves])]
}

function tellSteps(
  tables: SlotsTables,
  { doubts }: SlotsWorld,
  from: PeerId,
  to: PeerId,
): SlotsAction[] {
  const label = `${from} tells ${to}`
  const told: SlotsAction = { label, next: (world) => telling(tables, world, from, to, true) }
  const doubted: SlotsAction = {
    label: `${label}, and takes it for lost`,
    environment: true,
    next: (world) => telling(tables, world, from, to, false),
  }
  return doubts > 0 ? [told, doubted] : [told]
}

// The first word from one to another comes.
function arrivals(tables: SlotsTables, { words }: SlotsWorld, steps: SlotsAction[]): void {
  const ends = words.map(({ from, to }) => `${from} ${to}`)
  for (const [index, { from, to }] of words.entries()) {
    if (ends.indexOf(ends[index]!) !== index) continue
    const next = (world: SlotsWorld): void => deliver(tables, world, index)
    steps.push({ label: `${from}'s word comes to ${to}`, next })
  }
}

function isMade({ made }: SlotsWorld, act: number): boolean {
  return ((made >> act) & 1) === 1
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
  for (const [number, { slot, by }] of acts.entries()) {
    const made = isMade(world, number)
    if (!made && by === me && slot === at) return false
    // The slot that would be settled holds nothing that this member has not heard of.
    if (made && bounded && slot <= at - horizon && ((knows >> number) & 1) === 0) return false
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
  if (world.rounds < roundsOf(tables.scope)) return true
  for (const { by, id, to } of world.names) {
    if (isGone(world, by)) continue
    const isIn = isSettled(world.nodes[by - 1]!.slots, by, id)
    const isVoid = world.told.some((one) => one.by === by && one.to === to)
    if (isIn && isVoid) return `${by} was told that its act is void, and it counts`
    if (!isIn && !isVoid) return `the act of ${by} does not count, and nobody said so`
  }
  return true
}

function converged(tables: SlotsTables, world: SlotsWorld): true | string {
  if (world.rounds < roundsOf(tables.scope)) return true
  const living = membersOf(tables, world).filter((_, i) => !isGone(world, i + 1))
  const views = living.map(({ view }) => view)
  return views.every((view) => view === views[0]) || `views differ: ${views.join(' ')}`
}

function show(tables: SlotsTables, world: SlotsWorld): string {
  const of = ({ slot, view }: Face, i: number): string => `${i + 1}: slot ${slot} ${view}`
  return membersOf(tables, world).map(of).join(', ')
}

// Two want one cell in one slot, and the third follows into what one of them left.
const SCENE: SlotsScope = {
  acts: [
    { slot: 0, by: 1, to: 1 },
    { slot: 0, by: 2, to: 1 },
    { slot: 1, by: 3, to: 2 },
  ],
  slots: 4,
  skew: 0,
  doubts: 0,
  horizon: 3,
  bounded: true,
  troubled: false,
  bug: null,
}

// Two want one cell: enough for bugs.
const TWO: SlotsScope = { ...SCENE, acts: SCENE.acts.slice(0, 2), slots: 2 }

// Two acts that may come when their slot is settled elsewhere.
const LATE: SlotsScope = { ...SCENE, acts: SCENE.acts.slice(0, 2), bounded: false }

// One act that may come when its slot is settled elsewhere; then roots change.
const TROUBLED: SlotsScope = {
  ...LATE,
  acts: [{ slot: 0, by: 3, to: 1 }],
  slots: 4,
  troubled: true,
}

/** Where all must hold. */
export const SCOPES: Rows<SlotsScope> = {
  SL1: { scope: SCENE, says: 'acts come within the horizon', states: 11_900 },
  SL2: {
    size: 'large',
    scope: { ...SCENE, skew: 1 },
    says: 'the same, with clocks a slot apart',
    states: 23_000,
  },
  SL3: {
    scope: LATE,
    says: 'acts come as late as they like: a world is taken',
    states: 60_000,
    size: 'deep',
  },
  SL4: {
    scope: { ...LATE, skew: 1 },
    says: 'as late as they like, clocks a slot apart',
    states: 225_000,
    size: 'deep',
  },
  SL5: {
    scope: TROUBLED,
    says: 'one act as late as it likes, one stands still, the root is gone (SL-1)',
    states: 4_900,
  },
  SL6: {
    scope: { ...LATE, acts: SCENE.acts.slice(0, 1), skew: 1, doubts: 1 },
    says: 'one act as late as it likes, clocks a slot apart, a frame taken for lost',
    states: 8_000,
  },
  // With SL4's horizon this ends in no time that one has; with this one, digests are of no slots.
  SL7: {
    scope: { ...LATE, skew: 1, doubts: 1, slots: 3, horizon: 2 },
    says: 'two as late as they like, clocks apart, a frame taken for lost, a shorter horizon',
    states: 405_000,
    size: 'deep',
  },
}

/** Bugs, and the claim that breaks. */
export const MUTANTS: Rows<SlotsScope> = {
  'SL-X1': mutant(TWO, 'drops-late', 11, 'what comes late is thrown away, as in the source (M30)'),
  'SL-X2': mutant(
    TWO,
    'slot-of-arrival',
    11,
    'the slot is that of arrival, as in the source (M55)',
  ),
  'SL-X3': mutant(TWO, 'order-of-arrival', 11, 'who comes first has it'),
  'SL-X4': mutant(
    { ...LATE, acts: SCENE.acts.slice(0, 1) },
    'never-asks',
    22,
    'nobody asks for a world when an act came behind the horizon',
  ),
  'SL-X5': mutant(
    TROUBLED,
    'void-unagreed',
    30,
    'what the root has left out is told to be void (SL-1)',
    'slot.told',
  ),
}

function mutant(
  scope: SlotsScope,
  bug: NonNullable<SlotsScope['bug']>,
  steps: number,
  says: string,
  claim: string = 'slot.converge',
): Row<SlotsScope> {
  return { scope: { ...scope, bug }, says, violates: [[claim, steps]] }
}
