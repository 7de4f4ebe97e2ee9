/** Scopes of the model of rights: those that hold, and those with a mutant. */

/** How much may happen. */
export interface RightsScope {
  name: string
  /** Requests to come in. */
  admissions: number
  /** Requests for a change of roles. */
  changes: number
  /** Starts of the hub, and times in which no primary says yes to it. */
  restarts: number
  silences: number
  /** A bug around the rules. */
  bug?: 'join-alone' | 'used-twice' | 'unproved' | 'told-before-the-disk'
}

/** Scopes that hold, and how many states they have. */
export const GOOD: readonly { scope: RightsScope; says: string; states: number }[] = [
  {
    scope: { name: 'rights', admissions: 3, changes: 3, restarts: 0, silences: 1 },
    says: 'two hosts, one who is invited, and a liar with many keys, who all ask for everything',
    states: 90_000,
  },
  {
    scope: { name: 'rights-restart', admissions: 3, changes: 2, restarts: 1, silences: 1 },
    says: 'the same, and a hub that starts anew',
    states: 82_000,
  },
]

/** The claim that a mutant breaks. */
export interface RightsMutant {
  scope: RightsScope
  says: string
  violates: string
  steps: number
}

const [PLAIN, RESTART] = GOOD.map(({ scope }) => scope) as [RightsScope, RightsScope]

/** Mutants, and after how many steps which claim breaks. */
export const MUTANTS: readonly RightsMutant[] = [
  {
    scope: { ...PLAIN, name: 'rights-at-join-alone', bug: 'join-alone' },
    says: 'rights count as one comes in, and not where roles change',
    violates: 'rights.serves',
    steps: 7,
  },
  {
    scope: { ...PLAIN, name: 'invitation-used-twice', bug: 'used-twice' },
    says: 'an invitation lets in whoever has it',
    violates: 'rights.once',
    steps: 7,
  },
  {
    scope: { ...PLAIN, name: 'key-unproved', bug: 'unproved' },
    says: 'whoever leads takes the hub’s word for whose key it is',
    violates: 'rights.member',
    steps: 4,
  },
  {
    scope: { ...RESTART, name: 'told-before-the-disk', bug: 'told-before-the-disk' },
    says: 'who comes in by an invitation is told so before the disk has it',
    violates: 'rights.once',
    steps: 7,
  },
]
