/** Tickets, as the hub's machine knows them: what one says once it was read. */

/** Whether nobody enters rooms of that game without a ticket. @param tickets  null for none */
export function isClosed(tickets: Ticketing | null, game: string): boolean {
  return tickets !== null && (tickets.closed?.has(game) ?? true)
}

/** Tickets, as a hub takes them. */
export interface Ticketing {
  /** The games whose rooms nobody enters without one; null for all. */
  closed: ReadonlySet<string> | null
}
