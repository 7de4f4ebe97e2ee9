/** What is explored of the slots: the scopes of the plan, and the bugs that must be found. */

import type { SlotsScope } from './slots-node.ts'
import type { Row, Rows } from './rows.ts'

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
