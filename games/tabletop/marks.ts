/** How things stand, for tests: attributes of the page's body. */

import type { Play } from './play.ts'
import { chessOf, positionOf, turnOf } from './rules/duel.ts'
import { keptName } from './rules/kept.ts'
import { numberOf } from './rules/records.ts'
import { endOf, gameOf, seatsOf } from './rules/seats.ts'

/** What a window at the table says of itself. */
export function marksOf(play: Play): Record<string, string | number> {
  const { session, killed } = play
  const { epoch, role, returns } = session.debug.figures()
  const held = play.things.filter(({ handle }) => handle.holder !== null)
  return {
    status: killed ? 'killed' : session.status,
    bots: play.company?.count ?? 0,
    safety: session.safety,
    epoch,
    role,
    returns,
    me: session.me.player,
    primary: session.primary?.player ?? '',
    backup: session.backup?.player ?? '',
    members: session.members.map(({ player }) => player).join(','),
    game: gameOf(session.table) ?? '',
    pieces: play.things.length,
    hand: play.tray.cards.length,
    held: held.map(({ id, handle }) => `${id}:${handle.holder?.player}`).join(','),
    dragging: [...play.drags.held.keys()].join(','),
    pending: play.things.filter(({ handle }) => handle.pending).length,
    lost: play.drags.lost,
    toasts: play.toasts.count,
    toast: play.toasts.last,
    seats: seatsOf(session.table).join(','),
    kept: session.members.flatMap(({ player }) => keptName(session.table, player) ?? []).join(','),
    cells: (gameOf(session.table) === 'chess' ? chessOf(session.table) : positionOf(session.table))
      .cells,
    turn: turnOf(session.table),
    end: endOf(session.table)?.text ?? '',
    records: numberOf(session.table.get('records')),
    log: play.log.lines[0]?.text ?? '',
  }
}
