/**
 * What is played: who does what and when, and when the messages to X should arrive. The orders are
 * those of the source that first told of this race; `shortest` is what the model checker finds.
 */

import type { Deed, Telling } from 'holdfast/sim'

/** Times in milliseconds, by the name of a message to X. */
export type Wishes = Readonly<Record<string, number>>

/** One story, and how it begins. */
export interface Scenario {
  id: string
  title: string
  says: string
  /** The host first, X last. */
  members: readonly string[]
  /** Who owns it, one after the other. */
  owners: readonly string[]
  deeds: readonly Deed[]
  wishes: Wishes
  endMs: number
}

const FOUR = ['HOST', 'A', 'B', 'X']
const TO_B: readonly Deed[] = [
  { at: 40, who: 'A', does: 'create' },
  { at: 140, who: 'HOST', does: 'grant', to: 'B' },
]
const GONE: Deed = { at: 300, who: 'B', does: 'destroy' }
const SHORT = { members: FOUR, owners: ['A', 'B'], endMs: 520 }

/** All stories, the plainest first. */
export const SCENARIOS: readonly Scenario[] = [
  {
    ...SHORT,
    id: 'calm',
    title: 'As expected',
    says: 'A creates an object, it goes to B, B destroys it, and X hears of it in that order.',
    deeds: [...TO_B, GONE],
    wishes: { C: 90, M_ab: 230, D: 360 },
  },
  {
    ...SHORT,
    id: 'shortest',
    title: 'The shortest paradox',
    says: 'The way from A to X is slow: that is all it takes. The model checker finds this one.',
    deeds: TO_B,
    wishes: { M_ab: 230, C: 360 },
  },
  {
    ...SHORT,
    id: 'mcd',
    title: 'M C D',
    says: 'C overtaken by M alone.',
    deeds: [...TO_B, GONE],
    wishes: { M_ab: 230, C: 290, D: 390 },
  },
  {
    ...SHORT,
    id: 'mdc',
    title: 'M D C',
    says: 'C comes when all is over.',
    deeds: [...TO_B, GONE],
    wishes: { M_ab: 230, D: 350, C: 450 },
  },
  {
    id: 'chain',
    title: 'Two migrations',
    says: 'From A to B, from B to C; X hears of all of it back to front, as far as links allow.',
    members: ['HOST', 'A', 'B', 'C', 'X'],
    owners: ['A', 'B', 'C'],
    deeds: [
      { at: 40, who: 'A', does: 'create' },
      { at: 120, who: 'HOST', does: 'grant', to: 'B' },
      { at: 220, who: 'HOST', does: 'grant', to: 'C' },
      { at: 320, who: 'C', does: 'destroy' },
    ],
    wishes: { M_bc: 310, D: 380, M_ab: 440, C: 510 },
    endMs: 560,
  },
]

/** The story with that name; the first for a name that is none. */
export function scenarioOf(id: string): Scenario {
  return SCENARIOS.find((each) => each.id === id) ?? SCENARIOS[0]!
}

/** The name of a message, such as `M_ab`: as the source writes it. */
export function nameOf({ owners }: Scenario, { word, count }: Telling): string {
  if (word === 'CREATE') return 'C'
  if (word === 'DESTROY') return 'D'
  if (word === 'GRANT') return 'GRANT'
  return `M_${owners[count - 1] ?? ''}${owners[count] ?? ''}`.replace(/[A-Z]+$/, (who) =>
    who.toLowerCase(),
  )
}
