/** The scopes of the pieces' model: those in which it holds, and those with a mutant. */

import type { Scope } from './pieces-state.ts'
import type { Rows } from './rows.ts'

/** In all of these every claim holds. */
export const SCOPES = {
  P1: {
    proves: 'O4, O5, O14, O15, O16, O17, O18, O19, O20, O26',
    says: 'two updates here, two there',
    scope: { does: { move: 2 }, others: { move: 2 } },
    states: 300,
  },
  P2: {
    proves: 'O2, O3, O8, O9, O10, O25',
    says: 'three here, three there',
    scope: { does: { move: 3 }, others: { move: 3 } },
    states: 4_000,
  },
  P3: {
    proves: 'O58, O59',
    says: 'two here, one there, a failover',
    scope: { does: { move: 2 }, others: { move: 1 }, failovers: 1 },
    states: 3_000,
  },
  P4: {
    says: 'two here, two there, two failovers',
    scope: { does: { move: 2 }, others: { move: 2 }, failovers: 2 },
    states: 75_000,
    size: 'deep',
  },
  P5: {
    proves: 'O39, O40, O45, O46',
    says: 'one that is refused, one that is clamped, one there',
    scope: { does: { refused: 1, clamped: 1, move: 1 }, others: { move: 1 } },
    states: 1_500,
  },
  P6: {
    proves: 'O47, O50, O51, O52',
    says: 'a loose grab that is honoured',
    scope: { does: { move: 1, loose: 1 }, others: { move: 2 }, released: true },
    states: 480,
  },
  P7: {
    proves: 'O47, O58',
    says: 'a loose grab that is honoured, a failover',
    scope: { does: { move: 1, loose: 1 }, others: { move: 1 }, released: true, failovers: 1 },
    states: 4_600,
  },
  P8: {
    proves: 'O24, O56',
    says: 'loose grabs that are discarded',
    scope: { does: { move: 1, loose: 2 }, others: { move: 2 } },
    states: 1_500,
  },
  P9: {
    proves: 'O57, O58',
    says: 'two here, one there, a failover to a backup that lags',
    scope: { does: { move: 2 }, others: { move: 1 }, failovers: 1, lags: true },
    states: 7_600,
  },
  P10: {
    says: 'two here, one there, two failovers to backups that lag',
    scope: { does: { move: 2 }, others: { move: 1 }, failovers: 2, lags: true },
    states: 56_000,
    size: 'deep',
  },
  P11: {
    proves: 'O1, O57',
    says: 'two here, one there, a link that breaks',
    scope: { does: { move: 2 }, others: { move: 1 }, absences: 1, lags: true },
    states: 5_000,
  },
  P12: {
    proves: 'O34, O35, O36, O37',
    says: 'two cards raised at once',
    scope: { does: { move: 1, raise: 1 }, others: { raise: 1 }, cards: 2 },
    states: 400,
  },
  P13: {
    proves: 'O53',
    says: 'a face that comes and goes',
    scope: { does: { grab: 1, release: 1 }, others: { grab: 1, open: 1 } },
    states: 700,
  },
  P14: {
    proves: 'O58',
    says: 'two here, one there, a recovery from what was told',
    scope: { does: { move: 2 }, others: { move: 1 }, recoveries: 1, lags: true },
    states: 5_700,
  },
  P15: {
    proves: 'O57, O58',
    says: 'a link that breaks, and a recovery',
    scope: { does: { move: 1 }, others: { move: 1 }, absences: 1, recoveries: 1, lags: true },
    states: 5_000,
  },
  P16: {
    says: 'two hands, a failover',
    scope: { does: { move: 1 }, hands: 2, failovers: 1 },
    states: 12_000,
    size: 'deep',
  },
  P17: {
    says: 'two hands, a recovery from what one of them was told',
    scope: { does: { move: 1 }, hands: 2, recoveries: 1, lags: true },
    states: 18_000,
    size: 'deep',
  },
  P18: {
    says: 'a loose grab, a link that breaks, a failover',
    scope: {
      does: { loose: 1, move: 1 },
      others: { wrest: 1 },
      absences: 1,
      failovers: 1,
      released: true,
    },
    states: 22_000,
    size: 'deep',
  },
  P19: {
    proves: 'O40, O45',
    says: 'some that are refused, here and there',
    scope: { does: { move: 1, refused: 1 }, others: { move: 1, refused: 2 } },
    states: 4_400,
  },
  P20: {
    proves: 'O40, O45, O58',
    says: 'some that are refused, a failover',
    scope: { does: { refused: 1, move: 1 }, others: { refused: 1 }, failovers: 1 },
    states: 6_300,
  },
  P21: {
    says: 'some that are refused, a link that breaks, a recovery',
    scope: {
      does: { refused: 1, move: 1 },
      others: { refused: 1 },
      absences: 1,
      recoveries: 1,
      lags: true,
    },
    states: 130_000,
    size: 'deep',
  },
  P22: {
    proves: 'O33',
    says: 'a hold that is wrested, and let go of',
    scope: { does: { grab: 1, release: 1 }, others: { wrest: 1, release: 1 } },
    states: 1_000,
  },
  P23: {
    proves: 'O33',
    says: 'actions that take what is held, of others and of its holder',
    scope: { does: { grab: 2, release: 1 }, takes: [9, 1] },
    states: 2_600,
  },
  P24: {
    proves: 'O33',
    says: 'a holder who is away, and is let go for',
    scope: { does: { grab: 1, release: 1 }, others: { grab: 1 }, frees: 1, absences: 1 },
    states: 7_800,
  },
  P25: {
    says: 'two hands that wrest from each other, and an action',
    scope: { does: { grab: 1, wrest: 1 }, hands: 2, takes: [9] },
    states: 46_000,
    size: 'deep',
  },
  P26: {
    proves: 'O33, O58',
    says: 'a hold that is wrested, and a recovery from what was told',
    scope: { does: { grab: 1, release: 1 }, others: { wrest: 1 }, recoveries: 1, lags: true },
    states: 7_800,
  },
  P27: {
    proves: 'O33, O58',
    says: 'a hold that is wrested, an action of its holder, a failover',
    scope: { does: { grab: 1 }, others: { wrest: 1 }, takes: [1], failovers: 1 },
    states: 2_800,
  },
  P28: {
    proves: 'O48',
    says: 'loose grabs of who let go last, and of another',
    scope: { does: { loose: 1 }, hands: 2, others: { move: 1 }, released: true },
    states: 580,
  },
} satisfies Rows<Scope>

/** Each of these is caught, as a violation of the claim, after so many steps. */
export const MUTANTS = {
  'P-X1': {
    proves: 'O12, O13',
    says: 'a tag that is newer than what was processed',
    scope: { does: { move: 1 }, others: { move: 1 }, bug: 'tag-newer' },
    violates: [['linear', 3]],
  },
  'P-X2': {
    proves: 'O23',
    says: '> for >=',
    scope: { does: { move: 1 }, bug: 'strict' },
    violates: [['discard', 2]],
  },
  'P-X3': {
    proves: 'O22, O27',
    says: 'own updates count as those of others',
    scope: { does: { move: 2 }, others: { move: 1 }, bug: 'no-gen-before' },
    violates: [['discard', 4]],
  },
  'P-X4': {
    proves: 'O59',
    says: 'what was performed is not known to the backup',
    scope: { does: { move: 2 }, failovers: 1, around: 'numbers-not-replicated' },
    violates: [['once', 5]],
  },
  'P-X5': {
    proves: 'O57',
    says: 'who was away goes on with what is void',
    scope: {
      does: { move: 2 },
      others: { move: 1 },
      absences: 1,
      bug: 'naive-resume',
    },
    violates: [['linear', 10]],
  },
  'P-X6': {
    proves: 'O36',
    says: 'a new level keeps its old generation',
    scope: { does: { raise: 1 }, cards: 2, bug: 'zg-stays' },
    violates: [['z.newest', 2]],
  },
  'P-X7': {
    proves: 'O56',
    says: 'a loose grab that is refused is not answered, as in the source',
    scope: { does: { loose: 1 }, others: { move: 1 }, bug: 'silent-loose' },
    violates: [['note', 5]],
  },
  'P-X8': {
    proves: 'O58',
    says: 'told before the backup has it',
    scope: {
      does: { move: 1 },
      failovers: 1,
      lags: true,
      around: 'release-early',
    },
    violates: [['told', 5]],
  },
  'P-X9': {
    proves: 'O53',
    says: 'the same bytes for all',
    scope: { does: {}, others: { grab: 1 }, bug: 'secret-to-all' },
    violates: [['secret', 0]],
  },
  'P-X10': {
    proves: 'O45',
    says: 'who is refused makes stale what others do, as in the source',
    scope: {
      does: { move: 1 },
      others: { refused: 1 },
      bug: 'refusal-to-all',
    },
    violates: [['discard', 3]],
  },
  'P-X11': {
    proves: 'O40',
    says: 'who is refused goes on from what never came to be',
    scope: { does: { refused: 1, move: 1 }, bug: 'refusal-to-nobody' },
    violates: [['linear', 4]],
  },
  'P-X12': {
    proves: 'O33',
    says: 'who holds what an action lets go of is not told',
    scope: { does: { grab: 1 }, takes: [9], bug: 'loss-untold' },
    violates: [['lost', 6]],
  },
  'P-X13': {
    proves: 'O33',
    says: 'the loss of a hold is told to who did not hold',
    scope: { does: {}, others: { grab: 1, release: 1 }, bug: 'loss-to-others' },
    violates: [['lost', 4]],
  },
  'P-X14': {
    proves: 'O48',
    says: 'a loose grab is honoured from anybody',
    scope: {
      does: { loose: 1 },
      hands: 2,
      others: { move: 1 },
      released: true,
      bug: 'loose-of-all',
    },
    violates: [['loose', 3]],
  },
} satisfies Rows<Scope>
