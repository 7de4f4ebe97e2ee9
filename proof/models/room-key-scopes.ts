/** Scopes of the model of room keys: one that holds, and those with a mutant. */

/** How much may happen. */
export interface RoomKeyScope {
  name: string
  /** How often somebody founds, opens or joins the room. */
  comes: number
  /** Operations, and primaries that go. */
  ops: number
  goes: number
  /** A bug around the rules. */
  bug?: 'terms-believed' | 'any-primary'
}

const SCOPE: RoomKeyScope = { name: 'room-key', comes: 5, ops: 2, goes: 3 }

/** Scopes that hold, and how many states they have. */
export const GOOD: readonly { scope: RoomKeyScope; says: string; states: number }[] = [
  {
    scope: SCOPE,
    says: 'two with the key, one without, and a hub that lies about terms, sheets and who serves',
    states: 1_000,
  },
]

/** The claim that a mutant breaks. */
export interface RoomKeyMutant {
  scope: RoomKeyScope
  says: string
  violates: string
  steps: number
}

/** Mutants, and after how many steps which claim breaks. */
export const MUTANTS: readonly RoomKeyMutant[] = [
  {
    scope: { ...SCOPE, name: 'unsealed-terms', bug: 'terms-believed' },
    says: 'who has the key takes the hub’s word that the room has none',
    violates: 'key.true',
    steps: 1,
  },
  {
    scope: { ...SCOPE, name: 'any-primary', bug: 'any-primary' },
    says: 'who has the key keeps what somebody without it made of the room',
    violates: 'key.true',
    steps: 6,
  },
]
