/** A room as its server or backup holds it, for a file. */

import type { Saved } from '../directory/saved-room.ts'
import * as keeping from '../session/keeping.ts'
import type { Unfit } from './builds.ts'
import type { Runtime } from './state.ts'

/** The room; or why it cannot be had here. @param time  session time */
export function save(run: Runtime, time: number): Saved | Unfit {
  const { session, wish } = run.member
  if (!session.keeps) {
    return { code: 'forbidden', why: 'this room is sealed: whoever saves it needs its key' }
  }
  const sheet = keeping.save(session, run.out)
  if (!sheet) {
    const why = 'the server and its backup alone hold the whole room: save it there'
    return { code: 'forbidden', why }
  }
  const { id, terms, topology, playersMax, recovers } = session
  const { game, room, hosts } = wish
  return {
    ...{ game, room, session: id, terms, topology, playersMax, recovers, hosts },
    epoch: session.server.epoch,
    next: session.server.durable.nextInc,
    time: Math.max(0, Math.round(time)),
    index: sheet.index ?? 0,
    entrants: [],
    sheets: [sheet.bytes],
  }
}
