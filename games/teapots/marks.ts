/**
 * How a match stands, in words for tests: the page writes them to `document.body.dataset`.
 *
 * `status` (that of the session, or killed), `safety`, `epoch`, `role`, `me`, `primary`, `backup`
 * and `members` (players), `bots` (of this page), `pots` (players whose pots are here), `asleep`
 * (players whom a pot waits for), `places` (of the pots that are here), `lumps` (home, owner,
 * version and place of each), `flying` (cubes), `tea` (ours), `points` (of each), `hits` (of all),
 * `counted` (hits of this page), `claims` (of it, not answered yet), `returns`.
 */

import type { Play } from './play.ts'
import { hitsTotal } from './rules/standing.ts'
import { Lump, Pot } from './rules/things.ts'
import { playerOf } from './whose.ts'

/** How this match stands. */
export function marksOf(play: Play): Record<string, string | number> {
  const { session, seat, killed, standings } = play
  const { epoch, role, returns } = session.debug.figures()
  const pots = session
    .all(Pot)
    .filter(({ away }) => !away)
    .map((pot) => [playerOf(pot), pot.state.pos] as const)
    .sort(([a], [b]) => a - b)
  const asleep = session.all(Pot).filter(({ away }) => away)
  const lumps = session.all(Lump).map(({ state, owner, away, version }) => {
    const { home, pos } = state
    const whose = away ? 'away' : (owner?.player ?? '')
    return `${home}:${whose}:${version.epoch}.${version.count}:${pos.join('/')}`
  })
  const points = standings.map((row) => `${row.player}:${row.points}`)
  return {
    status: killed ? 'killed' : session.status,
    bots: play.company?.count ?? 0,
    safety: session.safety,
    epoch,
    role,
    me: session.me.player,
    primary: session.primary?.player ?? '',
    backup: session.backup?.player ?? '',
    members: session.members.map(({ player }) => player).join(','),
    pots: pots.map(([player]) => player).join(','),
    asleep: asleep.map((pot) => playerOf(pot)).join(','),
    places: pots.map(([, pos]) => pos.map(Math.round).join('/')).join(' '),
    lumps: lumps.sort().join(' '),
    flying: play.flights.at(session.now()).length,
    tea: seat?.standing?.tea ?? '',
    points: points.sort().join(','),
    hits: hitsTotal(session.table),
    counted: seat?.counted ?? 0,
    claims: seat?.claims ?? 0,
    returns,
  }
}
