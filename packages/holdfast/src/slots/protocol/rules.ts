/** The decisions of slots as real worlds use them; tests replace them by injected bugs. */

import { rulesOf } from '../../machine.ts'
import { haveAllSaid } from './agreement.ts'
import { sorted } from './fold.ts'
import { createState, type Slots, type SlotsRules } from './state.ts'

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
  return createState(rules)
}
