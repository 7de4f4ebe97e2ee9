/**
 * The door for a hub in one's own server.
 *
 * @module
 */

export type { HubFigures, ListedSession } from './api/hub-figures.ts'
export { hub, type HubHandle, type HubOptions } from './api/hub-opening.ts'
export type { HubHealth } from './api/hub-server.ts'
export { HoldfastError, type ErrorCode } from './machine.ts'
