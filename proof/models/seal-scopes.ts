/** The scopes in which sealing is explored, and those in which a mutant is found. */

import type { SealScope } from './seal.ts'

/** One scope. */
export interface GoodSeal {
  scope: SealScope
  says: string
  /** States that it has at least. */
  states: number
  deep?: boolean
}

const NOTHING: Omit<SealScope, 'name'> = {
  ...{ asks: [1, 0], texts: 0, losses: 0, doubles: 0, replays: 0, elsewheres: 0, wakes: 0 },
}

/** Scopes in which all holds. */
export const GOOD: readonly GoodSeal[] = [
  {
    scope: { ...NOTHING, name: 'Z1', texts: 1, losses: 1, wakes: 1 },
    says: 'one asks, and a datagram is lost',
    states: 900,
  },
  {
    scope: { ...NOTHING, name: 'Z2', asks: [1, 1], doubles: 1, newer: true },
    says: 'both ask at once, of different views, and a datagram comes twice',
    states: 450,
  },
  {
    scope: { ...NOTHING, name: 'Z3', asks: [2, 0], replays: 2 },
    says: 'one asks twice, and old datagrams come again',
    states: 700,
  },
  {
    scope: { ...NOTHING, name: 'Z4', texts: 1, elsewheres: 2, replays: 1 },
    says: 'datagrams come from elsewhere',
    states: 9_000,
  },
  {
    scope: { ...NOTHING, name: 'Z5', texts: 1, rekeyMs: 3_000, wakes: 2 },
    says: 'keys are replaced while packets are on their way',
    states: 2_500,
  },
  {
    scope: { ...NOTHING, name: 'Z6', asks: [1, 1], losses: 1, wakes: 2 },
    says: 'both ask at once, and a datagram is lost',
    states: 100,
    deep: true,
  },
]

/** Scopes with a bug, the property that it breaks, and the steps to there. */
export const MUTANTS: readonly { scope: SealScope; violates: string; steps: number }[] = [
  {
    scope: { ...NOTHING, name: 'Z-X1', texts: 1, doubles: 1, bug: 'no-replay-window' },
    violates: 'seal.once',
    steps: 6,
  },
  {
    scope: { ...NOTHING, name: 'Z-X2', bug: 'stands-by-handshake' },
    violates: 'seal.stands',
    steps: 2,
  },
  {
    scope: { ...NOTHING, name: 'Z-X3', replays: 1, bug: 'counter-ignored' },
    violates: 'seal.old',
    steps: 5,
  },
  {
    scope: { ...NOTHING, name: 'Z-X4', elsewheres: 1, bug: 'moved-without-challenge' },
    violates: 'seal.address',
    steps: 4,
  },
  {
    scope: { ...NOTHING, name: 'Z-X5', asks: [1, 1], bug: 'both-stand' },
    violates: 'seal.agree',
    steps: 10,
  },
  {
    scope: { ...NOTHING, name: 'Z-X6', newer: true, bug: 'epoch-in-prologue' },
    violates: 'seal.agree',
    steps: 2,
  },
]
