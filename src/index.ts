/** @module The public API that browsers and Node share. */

export type { Actor, Table, Value } from './actions/actions.ts'
export type { Collection, Listing, ListingEvents } from './faces/collection.ts'
export type { Stop } from './faces/disposing.ts'
export type { Emitter } from './faces/emitter.ts'
export type { ObjectEvents, ObjectHandle } from './faces/handles.ts'
export type { OutcomeCode } from './codes.ts'
export type { ActionOutcome, CallOutcome, GiveOutcome, Outcome } from './faces/outcomes.ts'
export type { PieceOutcome, Recorded, Refused, TakeOutcome } from './faces/outcomes.ts'
export type { CallOptions, CallTarget, NoteTarget } from './faces/calls.ts'
export type {
  JoinOptions,
  JoinProgress,
  KeepOptions,
  KeepRoom,
  KeepTime,
  LaidAside,
} from './faces/join.ts'
export type { Follow, MotionOptions } from './faces/motion.ts'
export type { Asking, Healing, Listen, Recovery, Reported, RolledBack } from './faces/events.ts'
export type { HubReach, Safety, SessionEvents, SessionFigures, Status } from './faces/events.ts'
export * from './faces/naming.ts'
export type * from './faces/pieces.ts'
export { near, type Near, type Onlooker } from './faces/rules.ts'
export type * from './faces/people.ts'
export type { MemberInfo } from './faces/member-info.ts'
export type { Session, SimulateOptions, SimulationStep } from './faces/session.ts'
export type { SlotsEvents, SlotsHandle } from './faces/slots.ts'
export type { TableEvents, TableView } from './faces/table-view.ts'
export { letters, offerMail, overSession } from './faces/session-mail.ts'
export { HoldfastError, type ErrorCode } from './machine.ts'
export type { AgeFigures, AgeSample, Stage } from './motion/ages.ts'
export { angle, bool, bytes, f32, i16, i32, i8, list, map, oneOf } from './wire/schema.ts'
export { optional, quaternion, ranged, struct, text, u16, u32, u8 } from './wire/schema.ts'
export { vec2, vec3 } from './wire/schema.ts'
export type { Field, FieldKind, Fields, Quaternion, StateOf, Vec2, Vec3 } from './wire/schema.ts'
