/** @module The entry point for authors of parts: shared state beside Holdfast's own. */

export { definePart, type PartMaker } from './custom/define-part.ts'
export { refuse } from './custom/author.ts'
export type { Asker, OperationOutcome, PartHost, PartPlan } from './custom/types.ts'
export type { PartEvents, PartType, Performance, Teller } from './custom/types.ts'
export type { Stop } from './api/emitter.ts'
export type { Emitter, Listen } from './api/emitter.ts'
export { HoldfastError, type ErrorCode } from './machine.ts'
export { decodeValue as decode, encodeValue as encode } from './wire/fields/schema.ts'
