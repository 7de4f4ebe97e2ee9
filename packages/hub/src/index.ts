/**
 * The entry point for a hub in your own server.
 *
 * @module
 */

export type { HubFigures, ListedSession } from './server/hub-figures.ts'
export type { CloseOptions, HubEvents, ImportOptions, RoomEvent } from './rooms.ts'
export type { KeptRoom, RoomPlayer, RoomView } from './rooms.ts'
export type { JoinRequest, JoinVerdict, OnJoin } from './on-join.ts'
export { nats, type NatsOptions, type SharedStore } from './nats.ts'
export { type Drained, hub, type HubHandle, type HubOptions } from './open-hub.ts'
export {
  type LoginProvider,
  mintTicket,
  newTicketKey,
  type TicketKey,
  type TicketKeys,
  type TicketOptions,
} from './tickets.ts'
export type { TurnOptions } from './server/given-servers.ts'
export type { HubHealth } from './server/hub-options.ts'
export { HoldfastError, type ErrorCode } from '../../holdfast/src/machine.ts'
