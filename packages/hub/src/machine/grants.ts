/**
 * Grants: the hub signs who is primary of a session since which epoch, and by which link key it is
 * known. So a member believes a new primary also where the hub's own word has not come yet, or
 * cannot come.
 */

import { grantOf, type Leader } from '../../../holdfast/src/hub-protocol/messages.ts'
import type { Row } from './register.ts'
import type { HubOut } from './state.ts'

/** Who leads a session by the register, signed once an epoch; null if nobody listed its key. */
export function leaderOf(row: Row, out: HubOut): Leader | null {
  const { session, register } = row.entry
  const { epoch, primary } = register
  if (row.granted?.epoch === epoch) return row.granted.leader
  const link = linkOf(row)
  if (!link) return null
  const leader = { link, grant: out.sign(grantOf({ session, epoch, primary, link })) }
  row.granted = { epoch, leader }
  return leader
}

function linkOf({ entry, members }: Row): Uint8Array | null {
  return members.find(({ inc }) => inc === entry.register.primary)?.link ?? null
}
