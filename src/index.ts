/** @module What browsers and Node share of the public API. */

export type { Actor, Table, Value } from './actions/actions.ts'
export type { Collection, Listing } from './api/collection.ts'
export type { ObjectHandle } from './api/handles.ts'
export type { CallOptions, CallTarget, NoteTarget } from './api/calls.ts'
export type { JoinOptions } from './api/join.ts'
export type { Follow, MotionOptions } from './api/motion.ts'
export type {
  ActionOutcome,
  Asking,
  Healing,
  Recovery,
  Safety,
  SessionEvents,
  SessionFigures,
  Status,
} from './api/events.ts'
export * from './api/pieces.ts'
export { near, type Near, type Onlooker } from './api/rules.ts'
export { Session } from './api/session.ts'
export type { ActOf, SlotsEvents, SlotsHandle, SlotsOptions, SlotsTurn } from './api/slots.ts'
export { action, object, piece, procedure } from './api/types.ts'
export type { ActionType, GameType, MemberInfo, ObjectOptions } from './api/types.ts'
export type { ObjectType, Procedure, ProcedureType } from './api/types.ts'
export { HoldfastError, type ErrorCode } from './machine.ts'
export type { AgeFigures, AgeSample, Stage } from './motion/ages.ts'
export { angle, bool, bytes, i16, i8, quaternion, ranged } from './wire/schema.ts'
export { text, u16, u32, u8, vec2, vec3 } from './wire/schema.ts'
export type { Field, FieldKind, Fields, Quaternion, StateOf, Vec2, Vec3 } from './wire/schema.ts'
