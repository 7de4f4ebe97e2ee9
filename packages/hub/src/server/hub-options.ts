/** The options of a hub, and its health. */

import type { Millis } from '../../../holdfast/src/machine.ts'
import type { HubLinks, SigningCurves } from '../../../holdfast/src/ports.ts'
import type { Claims } from '../../../holdfast/src/hub-protocol/tickets.ts'
import type { Budgets } from '../machine/budgets.ts'
import type { Applicant, RoomChange, Ticketing } from '../machine/state.ts'
import type { Servers } from './given-servers.ts'

/** Wraps the relay of datagrams to their targets; a test may lose or delay them. */
export type RelayWrapper = (deliver: Relay) => Relay
type Relay = (connection: number, from: number, datagram: Uint8Array) => void

/** The health of a hub. */
export interface HubHealth {
  /** False while writes fail: sessions continue, but no new one is registered. */
  ok: boolean
  /** The last write error, as a sentence; null if the last write succeeded. */
  trouble: string | null
  /** Registered sessions. */
  sessions: number
  /** Open streams. */
  connections: number
}

/** Asks the application about an applicant. @returns the reason to refuse; null admits */
export type Consult = (applicant: Applicant) => Promise<string | null>

/** Reports an unexpected error. */
export type Report = (error: unknown, where: string) => void

/** Reads the tickets that a hub takes. */
export interface TicketReader extends Ticketing {
  /**
   * The claims of a ticket. Rejects with the reason if it is invalid or expired.
   * @param game  what the player wants to join
   */
  read(ticket: string, game: string): Promise<Claims>
}

export interface HubServerOptions {
  curves: SigningCurves
  /** Milliseconds since 1970, for the retention of rooms over restarts. */
  wall: () => Millis
  wrapRelay?: RelayWrapper | undefined
  report?: Report
  /** The only games that are allowed; null for any. */
  games?: ReadonlySet<string> | null
  /** Default: limits.ts. */
  budgets?: Budgets
  /** Default: tickets are neither needed nor accepted. */
  tickets?: TicketReader | null
  /** Called with each change of a room; must not throw. */
  onRoomChange?: (event: RoomChange) => void
  /** The streams to the other hubs of a shared store. */
  links?: HubLinks
  /** The STUN and TURN servers. Default: none. */
  servers?: Servers | null
  /** Asks the application about joins. Default: it is not asked. */
  consult?: Consult | null
}
