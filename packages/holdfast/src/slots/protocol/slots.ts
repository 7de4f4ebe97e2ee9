/** @module The operations and types of slots that other modules use. */

export { diverging } from './agreement.ts'
export { ahead, seal, shown } from './fold.ts'
export { SLOTS_CHANNEL } from './messages.ts'
export { open } from './opening.ts'
export { type GameBox, slotsPart, tick } from './part.ts'
export { create, RULES } from './rules.ts'
export * from './state.ts'
export { hasRoom, say } from './take.ts'
