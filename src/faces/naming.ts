/** @module What a game names once, and gives to `join`. */

export { newRoomKey } from '../drivers/crypto/room-keys.ts'
export { action } from './actions.ts'
export type { ActionType } from './action-types.ts'
export type { Definition } from './kind.ts'
export { object } from './objects.ts'
export type { ObjectOptions, ObjectType } from './object-types.ts'
export { piece, reject, secret, was } from './pieces.ts'
export { procedure } from './procedures.ts'
export type { Procedure, ProcedureType } from './procedure-types.ts'
export { slots } from './slots.ts'
export type { ActOf, SlotsOptions, SlotsTurn, SlotsType } from './slots.ts'
