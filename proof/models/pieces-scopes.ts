/** The scopes of the pieces' model: those in which it holds, and those with a mutant. */

import type { Scope } from './pieces-state.ts'

/** A scope, what it is about, and how many states it has at least. */
export interface Scoped {
  scope: Scope
  says: string
  states: number
  deep?: boolean
}

/** In all of these every claim holds. */
export const GOOD: readonly Scoped[] = [
  {
    scope: { name: 'P1', does: { move: 2 }, others: { move: 2 } },
    says: 'two updates here, two there',
    states: 300,
  },
  {
    scope: { name: 'P2', does: { move: 3 }, others: { move: 3 } },
    says: 'three here, three there',
    states: 4_000,
  },
  {
    scope: { name: 'P3', does: { move: 2 }, others: { move: 1 }, failovers: 1 },
    says: 'two here, one there, a failover',
    states: 3_000,
  },
  {
    scope: { name: 'P4', does: { move: 2 }, others: { move: 2 }, failovers: 2 },
    says: 'two here, two there, two failovers',
    states: 75_000,
    deep: true,
  },
  {
    scope: { name: 'P5', does: { refused: 1, clamped: 1, move: 1 }, others: { move: 1 } },
    says: 'one that is refused, one that is clamped, one there',
    states: 1_500,
  },
  {
    scope: {
      name: 'P6',
      does: { move: 1, loose: 1 },
      others: { move: 2 },
      released: true,
    },
    says: 'a loose grab that is honoured',
    states: 480,
  },
  {
    scope: {
      name: 'P7',
      does: { move: 1, loose: 1 },
      others: { move: 1 },
      released: true,
      failovers: 1,
    },
    says: 'a loose grab that is honoured, a failover',
    states: 4_600,
  },
  {
    scope: { name: 'P8', does: { move: 1, loose: 2 }, others: { move: 2 } },
    says: 'loose grabs that are discarded',
    states: 1_500,
  },
  {
    scope: { name: 'P9', does: { move: 2 }, others: { move: 1 }, failovers: 1, lags: true },
    says: 'two here, one there, a failover to a backup that lags',
    states: 7_600,
  },
  {
    scope: { name: 'P10', does: { move: 2 }, others: { move: 1 }, failovers: 2, lags: true },
    says: 'two here, one there, two failovers to backups that lag',
    states: 56_000,
    deep: true,
  },
  {
    scope: { name: 'P11', does: { move: 2 }, others: { move: 1 }, absences: 1, lags: true },
    says: 'two here, one there, a link that breaks',
    states: 5_000,
  },
  {
    scope: { name: 'P12', does: { move: 1, raise: 1 }, others: { raise: 1 }, cards: 2 },
    says: 'two cards raised at once',
    states: 400,
  },
  {
    scope: { name: 'P13', does: { grab: 1, release: 1 }, others: { grab: 1, open: 1 } },
    says: 'a face that comes and goes',
    states: 700,
  },
  {
    scope: { name: 'P14', does: { move: 2 }, others: { move: 1 }, recoveries: 1, lags: true },
    says: 'two here, one there, a recovery from what was told',
    states: 5_700,
  },
  {
    scope: {
      name: 'P15',
      does: { move: 1 },
      others: { move: 1 },
      absences: 1,
      recoveries: 1,
      lags: true,
    },
    says: 'a link that breaks, and a recovery',
    states: 5_000,
  },
  {
    scope: { name: 'P16', does: { move: 1 }, hands: 2, failovers: 1 },
    says: 'two hands, a failover',
    states: 12_000,
    deep: true,
  },
  {
    scope: { name: 'P17', does: { move: 1 }, hands: 2, recoveries: 1, lags: true },
    says: 'two hands, a recovery from what one of them was told',
    states: 18_000,
    deep: true,
  },
  {
    scope: {
      name: 'P18',
      does: { loose: 1, move: 1 },
      others: { wrest: 1 },
      absences: 1,
      failovers: 1,
      released: true,
    },
    says: 'a loose grab, a link that breaks, a failover',
    states: 22_000,
    deep: true,
  },
  {
    scope: { name: 'P19', does: { move: 1, refused: 1 }, others: { move: 1, refused: 2 } },
    says: 'some that are refused, here and there',
    states: 4_400,
  },
  {
    scope: { name: 'P20', does: { refused: 1, move: 1 }, others: { refused: 1 }, failovers: 1 },
    says: 'some that are refused, a failover',
    states: 6_300,
  },
  {
    scope: {
      name: 'P21',
      does: { refused: 1, move: 1 },
      others: { refused: 1 },
      absences: 1,
      recoveries: 1,
      lags: true,
    },
    says: 'some that are refused, a link that breaks, a recovery',
    states: 130_000,
    deep: true,
  },
  {
    scope: { name: 'P22', does: { grab: 1, release: 1 }, others: { wrest: 1, release: 1 } },
    says: 'a hold that is wrested, and let go of',
    states: 1_000,
  },
  {
    scope: { name: 'P23', does: { grab: 2, release: 1 }, takes: [9, 1] },
    says: 'actions that take what is held, of others and of its holder',
    states: 2_600,
  },
  {
    scope: {
      name: 'P24',
      does: { grab: 1, release: 1 },
      others: { grab: 1 },
      frees: 1,
      absences: 1,
    },
    says: 'a holder who is away, and is let go for',
    states: 7_800,
  },
  {
    scope: { name: 'P25', does: { grab: 1, wrest: 1 }, hands: 2, takes: [9] },
    says: 'two hands that wrest from each other, and an action',
    states: 46_000,
    deep: true,
  },
  {
    scope: {
      name: 'P26',
      does: { grab: 1, release: 1 },
      others: { wrest: 1 },
      recoveries: 1,
      lags: true,
    },
    says: 'a hold that is wrested, and a recovery from what was told',
    states: 7_800,
  },
  {
    scope: { name: 'P27', does: { grab: 1 }, others: { wrest: 1 }, takes: [1], failovers: 1 },
    says: 'a hold that is wrested, an action of its holder, a failover',
    states: 2_800,
  },
  {
    scope: { name: 'P28', does: { loose: 1 }, hands: 2, others: { move: 1 }, released: true },
    says: 'loose grabs of who let go last, and of another',
    states: 580,
  },
]

/** Each of these is caught, as a violation of the claim, after so many steps. */
export const MUTANTS: readonly (Omit<Scoped, 'states'> & { violates: string; steps: number })[] = [
  {
    scope: {
      name: 'P-X1',
      claims: ['linear'],
      does: { move: 1 },
      others: { move: 1 },
      bug: 'tag-newer',
    },
    says: 'a tag that is newer than what was processed',
    violates: 'linear',
    steps: 3,
  },
  {
    scope: {
      name: 'P-X2',
      claims: ['discard'],
      does: { move: 1 },
      bug: 'strict',
    },
    says: '> for >=',
    violates: 'discard',
    steps: 2,
  },
  {
    scope: {
      name: 'P-X3',
      claims: ['discard'],
      does: { move: 2 },
      others: { move: 1 },
      bug: 'no-gen-before',
    },
    says: 'own updates count as those of others',
    violates: 'discard',
    steps: 4,
  },
  {
    scope: {
      name: 'P-X4',
      claims: ['once'],
      does: { move: 2 },
      failovers: 1,
      around: 'numbers-not-replicated',
    },
    says: 'what was performed is not known to the backup',
    violates: 'once',
    steps: 5,
  },
  {
    scope: {
      name: 'P-X5',
      claims: ['linear'],
      does: { move: 2 },
      others: { move: 1 },
      absences: 1,
      bug: 'naive-resume',
    },
    says: 'who was away goes on with what is void',
    violates: 'linear',
    steps: 10,
  },
  {
    scope: {
      name: 'P-X6',
      claims: ['z.newest'],
      does: { raise: 1 },
      cards: 2,
      bug: 'zg-stays',
    },
    says: 'a new level keeps its old generation',
    violates: 'z.newest',
    steps: 2,
  },
  {
    scope: {
      name: 'P-X7',
      claims: ['note'],
      does: { loose: 1 },
      others: { move: 1 },
      bug: 'silent-loose',
    },
    says: 'a loose grab that is refused is not answered, as in the source',
    violates: 'note',
    steps: 5,
  },
  {
    scope: {
      name: 'P-X8',
      claims: ['told'],
      does: { move: 1 },
      failovers: 1,
      lags: true,
      around: 'release-early',
    },
    says: 'told before the backup has it',
    violates: 'told',
    steps: 5,
  },
  {
    scope: {
      name: 'P-X9',
      claims: ['secret'],
      does: {},
      others: { grab: 1 },
      bug: 'secret-to-all',
    },
    says: 'the same bytes for all',
    violates: 'secret',
    steps: 0,
  },
  {
    scope: {
      name: 'P-X10',
      claims: ['discard'],
      does: { move: 1 },
      others: { refused: 1 },
      bug: 'refusal-to-all',
    },
    says: 'who is refused makes stale what others do, as in the source',
    violates: 'discard',
    steps: 3,
  },
  {
    scope: {
      name: 'P-X11',
      claims: ['linear'],
      does: { refused: 1, move: 1 },
      bug: 'refusal-to-nobody',
    },
    says: 'who is refused goes on from what never came to be',
    violates: 'linear',
    steps: 4,
  },
  {
    scope: {
      name: 'P-X12',
      claims: ['lost'],
      does: { grab: 1 },
      takes: [9],
      bug: 'loss-untold',
    },
    says: 'who holds what an action lets go of is not told',
    violates: 'lost',
    steps: 6,
  },
  {
    scope: {
      name: 'P-X13',
      claims: ['lost'],
      does: {},
      others: { grab: 1, release: 1 },
      bug: 'loss-to-others',
    },
    says: 'the loss of a hold is told to who did not hold',
    violates: 'lost',
    steps: 4,
  },
  {
    scope: {
      name: 'P-X14',
      claims: ['loose'],
      does: { loose: 1 },
      hands: 2,
      others: { move: 1 },
      released: true,
      bug: 'loose-of-all',
    },
    says: 'a loose grab is honoured from anybody',
    violates: 'loose',
    steps: 3,
  },
]
