/** Tickets of the simulator, which nobody signs: whoever runs in it may write one. */

import type { Claims } from '../../holdfast/src/hub-protocol/tickets.ts'
import type { TicketReader } from '../../hub/src/server/hub-server.ts'
import { fromHex, toHex } from '../../holdfast/src/wire/hex.ts'

/** Writes one. */
export function toyTicket(claims: Omit<Claims, 'key'>): string {
  const said = new TextEncoder().encode(JSON.stringify(claims))
  return `toy.${toHex(said)}.toy`
}

/** Takes them. @param closed  games whose rooms nobody enters without one */
export function toyTickets(closed: readonly string[] = []): TicketReader {
  return {
    closed: new Set(closed),
    read: (ticket) => {
      const [kind, said = ''] = ticket.split('.')
      if (kind !== 'toy') return Promise.reject(new Error('the ticket is no toy'))
      const bytes = fromHex(said, said.length / 2)!
      const claims = JSON.parse(new TextDecoder().decode(bytes)) as Claims
      return Promise.resolve({ ...claims, key: null })
    },
  }
}
