/** @module The door for authors of parts: what a game shares besides what Holdfast has. */

export { definePart, type PartMaker } from './faces/part.ts'
export { refuse } from './faces/part-author.ts'
export type { Asker, OperationOutcome, PartHost, PartPlan } from './faces/part-types.ts'
export type { PartEvents, PartType, Performance, Teller } from './faces/part-types.ts'
export type { Stop } from './faces/disposing.ts'
export type { Emitter, Listen } from './faces/emitter.ts'
export { HoldfastError, type ErrorCode } from './machine.ts'
export { decodeValue as decode, encodeValue as encode } from './wire/schema.ts'
