/** A hub whose rooms are closed, and whoever signs tickets for them. */

import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sign } from '../../packages/hub/src/drivers/jose.ts'
import { mintTicket, newTicketKey, type TicketOptions } from '../../packages/hub/src/tickets.ts'
import { fromHex } from '../../packages/holdfast/src/wire/bytes.ts'
import { Hub } from './harness.ts'

/** See the head of this file. */
export interface Closed {
  hub: Hub
  ticket: (more: Partial<TicketOptions>) => Promise<string>
  /** The fragment of a link that invites; and of one whose time was over a minute ago. */
  link: (more: Partial<TicketOptions>) => Promise<string>
  late: () => Promise<string>
}

/** Starts one. */
export async function closed(game: string): Promise<Closed> {
  const { secret, key } = await newTicketKey()
  const file = join(mkdtempSync(join(tmpdir(), 'holdfast-e2e-tickets-')), 'tickets.json')
  writeFileSync(file, JSON.stringify({ keys: [{ key }] }))
  const hub = await Hub.start(false, ['--tickets', file])
  const ticket = (more: Partial<TicketOptions>): Promise<string> =>
    mintTicket(secret, { game, ...more })
  return {
    hub,
    ticket,
    link: async (more) => `#ticket=${await ticket(more)}`,
    late: async () => {
      const claims = { game, rights: ['play'], uses: 1 }
      const more = { audience: 'holdfast', seconds: -60, claims }
      return `#ticket=${await sign(fromHex(secret, 64)!, more)}`
    },
  }
}
