/**
 * The entry point for a hub in one's own server.
 *
 * @module
 */

export type { HubFigures, ListedSession } from './runtime/hub/hub-figures.ts'
export type { CloseOptions, HubEvents, ImportOptions, RoomEvent } from './faces/hub-rooms.ts'
export type { KeptRoom, RoomPlayer, RoomView } from './faces/hub-rooms.ts'
export type { JoinRequest, JoinVerdict, OnJoin } from './faces/hub-on-join.ts'
export { type Drained, hub, type HubHandle, type HubOptions } from './faces/hub-opening.ts'
export {
  mintTicket,
  newTicketKey,
  type TicketKey,
  type TicketKeys,
  type TicketOptions,
} from './faces/hub-tickets.ts'
export type { HubHealth } from './runtime/hub/hub-server.ts'
export { HoldfastError, type ErrorCode } from './machine.ts'
