/** The operations and types of slots that other modules use, and the rules of real sessions. */

import { rulesOf } from '../../machine.ts'
import { haveAllReported } from './agreement.ts'
import { sorted } from './fold.ts'
import { createState, type Slots, type SlotsRules } from './state.ts'

export { diverging } from './agreement.ts'
export { ahead, seal, shown } from './fold.ts'
export { SLOTS_CHANNEL } from './messages.ts'
export { open } from './open.ts'
export { type GameBox, slotsPart, tick } from './part.ts'
export * from './state.ts'
export { hasRoom, makeEvent } from './receive.ts'

export const RULES: SlotsRules = rulesOf<SlotsRules>({
  counted: (_slots, said) => said,
  isLate: ({ standing, base }, slot) => standing === 'live' && slot <= base,
  sorted,
  mayAsk: ({ askAt }, now) => now >= askAt,
  haveAllReported,
})

export function create(rules: SlotsRules = RULES): Slots {
  return createState(rules)
}
