/** Tickets, as the hub's machine knows them: what one says once it was read. */

/** What a ticket says whose signature and time are right. */
export interface Claims {
  /** Where it lets in; `room` null for all rooms of the game. */
  game: string
  room: string | null
  /** The only player that it is for; null for whoever has it. */
  key: Uint8Array | null
  /** See RIGHTS. */
  rights: number
  /** Of this ticket alone. */
  id: string
  /** How many players come in by it. */
  uses: number
}

/** Whether nobody enters rooms of that game without a ticket. @param tickets  null for none */
export function isClosed(tickets: Ticketing | null, game: string): boolean {
  return tickets !== null && (tickets.closed?.has(game) ?? true)
}

/** Tickets, as a hub takes them. */
export interface Ticketing {
  /** The games whose rooms nobody enters without one; null for all. */
  closed: ReadonlySet<string> | null
}
