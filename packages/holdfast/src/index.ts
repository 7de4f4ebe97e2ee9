/** @module The public API that browsers and Node share. */

export type { Actor, Table, Value } from './actions/protocol/actions.ts'
export type { Listing, ListingEvents } from './kind/listing.ts'
export type { Stop } from './api/emitter.ts'
export type { Emitter } from './api/emitter.ts'
export type { Collection, ObjectEvents, ObjectHandle } from './objects/handles.ts'
export type { OutcomeCode } from './codes.ts'
export type { ActionOutcome, CallOutcome, GiveOutcome, Outcome } from './kind/outcomes.ts'
export type { PieceOutcome, Recorded, Refused, TakeOutcome } from './kind/outcomes.ts'
export type { CallOptions, CallTarget, NoteTarget } from './calls/calls.ts'
export type { JoinOptions, KeepOptions, KeepRoom, KeepTime, LaidAside } from './join/join.ts'
export type { Follow, MotionOptions } from './objects/motion.ts'
export type { Asking, Healing, JoinProgress, Listen, Recovery } from './join/events.ts'
export type { Reported, RolledBack } from './join/events.ts'
export type { HubReach, Safety, SessionEvents, SessionFigures, Status } from './join/events.ts'
export { newRoomKey } from './drivers/crypto/key-forms.ts'
export { action, type ActionType } from './actions/actions.ts'
export type { Definition } from './kind/kind.ts'
export { object } from './objects/objects.ts'
export type { ObjectOptions, ObjectType } from './objects/types.ts'
export { was } from './api/migrations.ts'
export type { MigrationOptions } from './api/migrations.ts'
export { withRoom } from './objects/types.ts'
export type { WithRoom } from './objects/types.ts'
export { piece, reject, secret } from './pieces/pieces.ts'
export { procedure } from './calls/calls.ts'
export type { Procedure, ProcedureType } from './calls/calls.ts'
export { slots } from './slots/slots.ts'
export type { ActOf, SlotsOptions, SlotsTurn, SlotsType } from './slots/slots.ts'
export type * from './pieces/pieces.ts'
export { near, type Near, type Onlooker } from './objects/types.ts'
export type { Ballot, Banned, ConductOutcome, PlayerTarget } from './join/moderation.ts'
export type { InviteOptions, InviteOutcome } from './join/invites.ts'
export type { MemberInfo } from './kind/kind.ts'
export type { Session, SessionDebug, SimulateOptions, SimulationStep } from './join/session.ts'
export type { SlotsEvents, SlotsHandle } from './slots/slots.ts'
export type { TableEvents, TableView } from './kind/kind.ts'
export { letters, offerMail, overSession } from './join/session-mail.ts'
export { HoldfastError, type ErrorCode } from './machine.ts'
export type { AgeFigures, AgeSample, Stage } from './motion/ages.ts'
export { angle, bool, bytes, f32, i16, i32, i8, list, map, oneOf } from './wire/fields/schema.ts'
export { optional, quaternion, ranged, struct, text, u16, u32, u8 } from './wire/fields/schema.ts'
export { vec2, vec3 } from './wire/fields/schema.ts'
export type {
  Field,
  FieldKind,
  Fields,
  Quaternion,
  StateOf,
  Vec2,
  Vec3,
} from './wire/fields/schema.ts'
