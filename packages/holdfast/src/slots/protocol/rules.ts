/** The decisions of slots as real worlds use them; tests replace them by injected bugs. */

import { rulesOf } from '../../machine.ts'
import { haveAllSaid } from './agreement.ts'
import { sorted } from './fold.ts'
import { HORIZON_SLOTS, type Slots, type SlotsRules } from './state.ts'

/** The rules of every real world. */
export const RULES: SlotsRules = rulesOf<SlotsRules>({
  counted: (_slots, said) => said,
  isLate: ({ standing, base }, slot) => standing === 'live' && slot <= base,
  sorted,
  mayAsk: ({ askAt }, now) => now >= askAt,
  haveAllSaid,
})

/** Creates the state without a world. */
export function create(rules: SlotsRules = RULES): Slots {
  return {
    standing: 'closed',
    ms: 0,
    ...{ print: 0, says: '' },
    me: 0,
    player: 0,
    mesh: false,
    primary: 0,
    offset: NaN,
    horizon: HORIZON_SLOTS,
    players: new Map(),
    ...{ here: new Set(), watchers: new Set() },
    peers: new Map(),
    slot: NaN,
    base: 0,
    worlds: [],
    sound: 0,
    ahead: null,
    failures: [],
    bySlot: new Map(),
    seed: 0,
    nextId: 1,
    settled: new Map(),
    ...{ agreed: -1, acted: -1 },
    round: { mark: -1, before: -1 },
    tallies: new Map(),
    unsure: [],
    present: new Set(),
    apart: false,
    dueAt: Infinity,
    lookedIn: -1,
    asked: 0,
    askAt: -Infinity,
    beginAt: NaN,
    changed: false,
    rules,
    counters: { malformed: 0, late: 0, again: 0, adopted: 0, refused: 0, failed: 0 },
  }
}
