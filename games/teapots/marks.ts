/**
 * How a match stands, in words for tests: the page writes them to `document.body.dataset`.
 *
 * `status` (that of the session, or killed), `safety`, `epoch`, `role`, `me`, `primary`, `backup`
 * and `members` (players), `pots` (players whose pots are here), `places` (of those), `flying`
 * (cubes), `tea` (ours), `points` (of each), `hits` (of all), `counted` (hits of this page),
 * `claims` (of it, not answered yet), `returns`.
 */

import type { Play } from './play.ts'
import { hitsTotal } from './rules/standing.ts'
import { Pot } from './rules/things.ts'

/** How this match stands. */
export function marksOf(play: Play): Record<string, string | number> {
  const { session, seat, killed, standings } = play
  const { epoch, role, returns } = session.figures()
  const pots = session
    .all(Pot)
    .map((pot) => [pot.owner?.player ?? 0, pot.state.pos] as const)
    .sort(([a], [b]) => a - b)
  const points = standings.map((row) => `${row.player}:${row.points}`)
  return {
    status: killed ? 'killed' : session.status,
    safety: session.safety,
    epoch,
    role,
    me: session.me.player,
    primary: session.primary?.player ?? '',
    backup: session.backup?.player ?? '',
    members: session.members.map(({ player }) => player).join(','),
    pots: pots.map(([player]) => player).join(','),
    places: pots.map(([, pos]) => pos.map(Math.round).join('/')).join(' '),
    flying: play.flights.at(session.now()).length,
    tea: seat?.standing?.tea ?? '',
    points: points.sort().join(','),
    hits: hitsTotal(session),
    counted: seat?.counted ?? 0,
    claims: seat?.claims ?? 0,
    returns,
  }
}
