/**
 * Grants: the hub signs who is primary of a session since which epoch, and by which link key it is
 * known. So a member believes a new primary also where the hub's own word has not come yet, or
 * cannot come.
 */

import { grantOf, type Leader } from './messages.ts'
import type { Row } from './register.ts'
import type { Hub, HubOut } from './state.ts'

/** Who leads a session by the register, signed once an epoch; null if nobody listed its key. */
export function leaderOf(hub: Hub, row: Row, out: HubOut): Leader | null {
  const { session, register } = row.entry
  const { epoch, primary } = register
  const known = hub.grants.get(session)
  if (known?.epoch === epoch) return known.leader
  const link = linkOf(row)
  if (!link) return null
  const leader = { link, grant: out.sign(grantOf({ session, epoch, primary, link })) }
  hub.grants.set(session, { epoch, leader })
  return leader
}

function linkOf({ entry, members }: Row): Uint8Array | null {
  return members.find(({ inc }) => inc === entry.register.primary)?.link ?? null
}
