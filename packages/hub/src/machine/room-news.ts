/** What happens to a room, as its register shows it: for who owns the hub. */

import type { PeerId } from '../../../holdfast/src/machine.ts'
import type { Listed } from '../../../holdfast/src/hub-protocol/messages.ts'
import type { Row } from './register.ts'
import type { HubOut, RoomNews } from './state.ts'

type Told = Pick<HubOut, 'happened'>

function tell(row: Row, kind: RoomNews['kind'], { player, key }: Listed, out: Told): void {
  const { session, game, room } = row.entry
  out.happened({ kind, session, game, room, player, key })
}

/** The session began or ended. */
export function happened(row: Row, kind: 'founded' | 'ended', out: Told): void {
  const primary = row.members.find(({ inc }) => inc === row.entry.register.primary)
  const any = primary ?? row.members[0]
  if (any) tell(row, kind, any, out)
}

/** Another member may serve by now. @param before  who was primary */
export function tellMoved(row: Row, before: PeerId, out: Told): void {
  const { primary } = row.entry.register
  const now = row.members.find(({ inc }) => inc === primary)
  if (primary !== before && now) tell(row, 'moved', now, out)
}

/** Players came or went. @param before  the members that were listed */
export function tellPlayers(row: Row, before: readonly Listed[], out: Told): void {
  const players = (members: readonly Listed[]): Map<number, Listed> =>
    new Map(members.map((member) => [member.player, member]))
  const [then, now] = [players(before), players(row.members)]
  for (const [player, member] of now) if (!then.has(player)) tell(row, 'joined', member, out)
  for (const [player, member] of then) if (!now.has(player)) tell(row, 'left', member, out)
}
