/** Scopes of the takeover's model: those that hold, and those with a mutant. */

/** How much may happen. */
export interface TakeoverScope {
  name: string
  /** Steps of 250 ms, the longest bound. */
  ticks: number
  /** Times that the backup suspects its primary, and that it asks again. */
  suspicions: number
  repeats: number
  /** Datagrams of the primary that pass the relay; with none its veto lapses. */
  relays: number
  /** The primary may stand still, lose its stream, or drop its backup. */
  freezes?: number
  closes?: number
  drops?: number
  /** A bug around the machines. */
  bug?: 'no-veto' | 'veto-for-ever' | 'grant-before-cas' | 'lease-from-grant'
}

/** The claim that a mutant breaks. */
export interface TakeoverMutant {
  scope: TakeoverScope
  says: string
  violates: string
  steps: number
}

/** Scopes that hold, and how many states they have. */
export const GOOD: readonly { scope: TakeoverScope; says: string; states: number }[] = [
  {
    scope: { name: 'takeover', ticks: 5, suspicions: 2, repeats: 1, relays: 1, freezes: 1 },
    says: 'a backup that suspects its primary, which answers, or stands still',
    states: 33_000,
  },
  {
    scope: { name: 'takeover-mute', ticks: 6, suspicions: 2, repeats: 1, relays: 0 },
    says: 'a primary that answers the hub, and whose datagrams do not come to its backup',
    states: 9_300,
  },
  {
    scope: {
      name: 'takeover-race',
      ticks: 2,
      suspicions: 1,
      repeats: 1,
      relays: 1,
      closes: 1,
      drops: 1,
    },
    says: 'a primary that drops its backup meanwhile, or whose stream closes; a late disk',
    states: 18_900,
  },
]

const [PLAIN, MUTE, RACE] = GOOD.map(({ scope }) => scope) as [
  TakeoverScope,
  TakeoverScope,
  TakeoverScope,
]

/** Mutants, and after how many steps which claim breaks. */
export const MUTANTS: readonly TakeoverMutant[] = [
  {
    scope: { ...PLAIN, name: 'no-veto', bug: 'no-veto' },
    says: 'the compare-and-set is made without asking the primary',
    violates: 'takeover.asked',
    steps: 2,
  },
  {
    scope: { ...MUTE, name: 'veto-for-ever', bug: 'veto-for-ever' },
    says: 'a veto counts although no datagram of the primary comes to its backup',
    violates: 'takeover.ends',
    steps: 12,
  },
  {
    scope: { ...RACE, name: 'grant-before-cas', bug: 'grant-before-cas' },
    says: 'who waits for the primary is told yes before the register holds it',
    violates: 'takeover.register',
    steps: 4,
  },
  {
    scope: { ...PLAIN, name: 'lease-from-grant', bug: 'lease-from-grant' },
    says: 'who took over counts its lease from the answer',
    violates: 'takeover.lease',
    steps: 5,
  },
]
