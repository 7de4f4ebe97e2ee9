/** The scopes of the table's model: those in which it holds, and those with a mutant. */

import type { Scope } from './tables.ts'

/** A scope, what it is about, and how many states it has at least. */
export interface Scoped {
  scope: Scope
  says: string
  states: number
  deep?: boolean
}

/** In all of these every claim holds. */
export const GOOD: Readonly<Record<string, Scoped>> = {
  A1: { scope: { does: { later: 1 }, failovers: 1 }, says: 'a timer, a failover', states: 240 },
  A2: {
    scope: { does: { later: 1, cancel: 1 }, failovers: 1 },
    says: 'a timer that is taken back, a failover',
    states: 1700,
  },
  A3: { scope: { does: { later: 2 }, failovers: 1 }, says: 'two timers, a failover', states: 4600 },
  A4: { scope: { does: { later: 1 }, failovers: 2 }, says: 'a timer, two failovers', states: 500 },
  A5: {
    scope: { does: { later: 1 }, recoveries: 1 },
    says: 'a timer, server and backup die at once',
    states: 240,
  },
  A6: {
    scope: { does: { gamble: 2, roll: 1 }, failovers: 1 },
    says: 'draws of which two are told by actions that throw, a failover',
    states: 5500,
  },
  A7: {
    scope: { does: { gamble: 2, roll: 1 }, recoveries: 1 },
    says: 'the same, server and backup die at once',
    states: 5500,
  },
  A8: {
    scope: { does: { later: 2, cancel: 1 }, failovers: 1, recoveries: 1 },
    says: 'two timers, one taken back, all deaths',
    states: 132_000,
    deep: true,
  },
}

/** In each of these that claim breaks, in so many steps. */
export const MUTANTS: Readonly<
  Record<string, { scope: Scope; says: string; violates: string; steps: number }>
> = {
  'A-X1': {
    scope: { does: { later: 1 }, failovers: 1, bug: 'row-stays-at-backup' },
    says: 'a timer that was run is kept by the backup, which runs it too',
    violates: 'timer.once',
    steps: 11,
  },
  'A-X2': {
    scope: { does: { later: 1 }, failovers: 1, bug: 'successor-asks-not' },
    says: 'who took over asks for no timer',
    violates: 'timer.runs',
    steps: 8,
  },
  'A-X3': {
    scope: { does: { later: 1 }, forged: 1, bug: 'anybody-fires' },
    says: 'a timer is run for whoever asks',
    violates: 'timer.due',
    steps: 4,
  },
  'A-X4': {
    scope: { does: { gamble: 2 }, bug: 'draw-not-spent' },
    says: 'a draw is not spent where its action throws',
    violates: 'draw.once',
    steps: 6,
  },
}
