/** Scopes of the model of who is out after a recovery: recall.ts. */

import type { SessionBug } from '../mutants.ts'

/** How much may happen. */
export interface RecallScope {
  name: string
  /** 1 for a ban, 2 for a pardon after it. */
  words: number
  /** Lies of the one who is out, of who is out. */
  lies: number
  /** How often the two others, and that one, ask for the session. */
  seeks: readonly [number, number, number]
  /** Times that whoever gathers waits no longer. */
  ticks: number
  /** The others are hosts, who alone serve. */
  hosts: boolean
  ruleBug?: SessionBug
  /** A bug around the machines. */
  bug?: 'forgets-by-a-view' | 'right-ignored' | 'list-ignored'
}

const PLAIN = { words: 1, lies: 0, seeks: [1, 0, 0], ticks: 1, hosts: false } as const
const LYING = { ...PLAIN, lies: 1 } as const
const SEEKING = { ...PLAIN, seeks: [1, 0, 1], ticks: 0 } as const
const HOSTS = { ...PLAIN, lies: 1, hosts: true } as const

/** Scopes that hold, and how many states they have. */
export const GOOD: readonly { scope: RecallScope; says: string; states: number; deep: boolean }[] =
  [
    {
      scope: { name: 'recall', ...PLAIN, words: 2 },
      says: 'a player is banned, and pardoned, as the primary dies, and one of two recovers',
      states: 4_300,
      deep: false,
    },
    {
      scope: { name: 'recall-liar', ...LYING },
      says: 'whoever is out says that it is not',
      states: 7_100,
      deep: false,
    },
    {
      scope: { name: 'recall-hub', ...SEEKING },
      says: 'whoever is out asks the hub for the session, by its own proof and as another',
      states: 2_600,
      deep: false,
    },
    {
      scope: { name: 'recall-hosts', ...HOSTS },
      says: 'a player in a room of hosts says who is out and who is not',
      states: 5_600,
      deep: false,
    },
    {
      scope: { name: 'recall-deep', ...LYING, words: 2, seeks: [1, 1, 0] },
      says: 'recall and recall-liar at once, and both ask for the session',
      states: 208_000,
      deep: true,
    },
  ]

/** The claim that a mutant breaks, after so many steps. */
export const MUTANTS: readonly {
  scope: RecallScope
  says: string
  violates: string
  steps: number
}[] = [
  {
    scope: { name: 'recalls-its-own', ...PLAIN, ruleBug: 'recalls-its-own' },
    says: 'whoever recovers goes on with what it heard itself',
    violates: 'recall.kept',
    steps: 11,
  },
  {
    scope: { name: 'recalls-the-newest', ...LYING, ruleBug: 'recalls-the-newest' },
    says: 'whoever is out is believed that it is not',
    violates: 'recall.kept',
    steps: 9,
  },
  {
    scope: { name: 'recalls-of-anybody', ...HOSTS, ruleBug: 'recalls-of-anybody' },
    says: 'who may not serve is believed as well',
    violates: 'recall.true',
    steps: 7,
  },
  {
    scope: { name: 'forgets-by-a-view', ...PLAIN, bug: 'forgets-by-a-view' },
    says: 'who is asked has taken over what the one who asks had not heard',
    violates: 'recall.kept',
    steps: 11,
  },
  {
    scope: { name: 'right-ignored', ...SEEKING, hosts: true, bug: 'right-ignored' },
    says: 'the register does not look at rights as a session is recovered',
    violates: 'recover.right',
    steps: 3,
  },
  {
    scope: { name: 'list-ignored', ...SEEKING, bug: 'list-ignored' },
    says: 'the register goes by its first list of members',
    violates: 'recover.right',
    steps: 5,
  },
]
