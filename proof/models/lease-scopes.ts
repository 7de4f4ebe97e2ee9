/** Scopes of the lease's model: those that hold, and those with a mutant. */

import type { Millis } from '../../packages/holdfast/src/machine.ts'
import type { SessionBug } from '../mutants.ts'

/** How much may happen. */
export interface LeaseScope {
  name: string
  /** Besides the primary. */
  members: number
  /** Steps of time, and how long each is; 5 s if not given. */
  ticks: number
  tickMs?: Millis
  /** Rounds in which the hub asks whether the primary lives. */
  asks: number
  /** Rounds in which the primary asks for promises. */
  rounds: number
  /** Requests of each member to recover the session. */
  seeks: number
  /** The first member is the backup, and may take over at any time. */
  heir?: true
  /** Times that the primary removes the last of the members, which lives. */
  removals?: number
  ruleBug?: SessionBug
  /** The hub asks, and so tells what it heard, while a change waits for its disk. */
  asksWhilePending?: true
  /** A bug around the machines. */
  bug?: 'recovers-early' | 'change-is-no-word' | 'leads-from-now' | 'removed-forgotten'
}

// Finer than any difference of spans that matters.
const FINE = { members: 1, ticks: 17, tickMs: 1_000 } as const

/** Scopes that hold, and how many states they have. */
export const GOOD: readonly {
  scope: LeaseScope
  says: string
  states: number
  deep: boolean
}[] = [
  {
    scope: { name: 'lease-promises', members: 2, ticks: 5, asks: 0, rounds: 1, seeks: 1 },
    says: 'a primary without its hub, members that promise and members that recover',
    states: 10_000,
    deep: false,
  },
  {
    scope: { name: 'lease-words', members: 1, ticks: 5, asks: 2, rounds: 0, seeks: 2 },
    says: 'words between a primary and its hub that come late, and a member that recovers',
    states: 15_000,
    deep: false,
  },
  {
    scope: { name: 'lease-fine-words', ...FINE, asks: 1, rounds: 0, seeks: 1 },
    says: 'a word that comes late, by steps of a second',
    states: 5_800,
    deep: false,
  },
  {
    scope: { name: 'lease-fine-promises', ...FINE, asks: 0, rounds: 1, seeks: 1 },
    says: 'promises that come late, by steps of a second',
    states: 4_600,
    deep: false,
  },
  {
    scope: { name: 'lease-heir', members: 2, ticks: 6, asks: 1, rounds: 0, seeks: 2, heir: true },
    says: 'a backup that takes over, and a member that recovers after that',
    states: 16_000,
    deep: false,
  },
  {
    scope: { name: 'lease-crew', members: 2, ticks: 4, asks: 0, rounds: 1, seeks: 1, removals: 1 },
    says: 'a member that is removed, and recovers before the hub hears of that',
    states: 25_000,
    deep: false,
  },
  {
    scope: { name: 'lease-both', members: 1, ticks: 5, asks: 2, rounds: 1, seeks: 1 },
    says: 'words to the hub and promises, late or never',
    states: 161_000,
    deep: true,
  },
]

const [PROMISES, WORDS] = [GOOD[0]!.scope, GOOD[1]!.scope]
const [FINE_WORDS, HEIR, CREW] = ['lease-fine-words', 'lease-heir', 'lease-crew'].map((name) => {
  return GOOD.find(({ scope }) => scope.name === name)!.scope
})

/** Mutants, and after how many steps the claim breaks. */
export const MUTANTS: readonly { scope: LeaseScope; says: string; steps: number }[] = [
  {
    scope: { ...PROMISES, name: 'no-lease', ruleBug: 'no-lease' },
    says: 'a primary tells whatever it likes',
    steps: 7,
  },
  {
    scope: { ...PROMISES, name: 'promise-for-ever', ruleBug: 'promise-for-ever' },
    says: 'to the primary a promise never ends',
    steps: 12,
  },
  {
    scope: { ...PROMISES, name: 'promise-while-asking', ruleBug: 'promise-while-asking' },
    says: 'a member promises although the register has its request',
    steps: 12,
  },
  {
    scope: { ...WORDS, name: 'asks-while-pending', asksWhilePending: true },
    says: 'the hub tells what it heard although the disk is about to have the next primary',
    steps: 12,
  },
  {
    scope: { ...FINE_WORDS!, name: 'recovers-early', bug: 'recovers-early' },
    says: 'the hub lets a member recover before the lease is over',
    steps: 9,
  },
  {
    scope: { ...HEIR!, name: 'change-is-no-word', bug: 'change-is-no-word' },
    says: 'a takeover is no word of who took over, and a member recovers too soon',
    steps: 14,
  },
  {
    scope: { ...HEIR!, name: 'leads-from-now', bug: 'leads-from-now' },
    says: 'who took over counts its lease from the answer of the hub',
    steps: 14,
  },
  {
    scope: { ...CREW!, name: 'removed-forgotten', bug: 'removed-forgotten' },
    says: 'who was removed does not count, though the hub has not heard of it',
    steps: 11,
  },
]
