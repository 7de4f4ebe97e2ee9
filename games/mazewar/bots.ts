/**
 * A bot that plays Mazewar: it roams, turns to whom it sees, shoots, and dies like a killed
 * process when somebody wishes so.
 */

import { join } from 'holdfast'
import { type Bot, type BotOptions, lost } from '../bot.ts'
import { obey } from '../kill.ts'
import { SLOT_MS } from './burrow.ts'
import { GAME, PLAYERS_MAX, TYPES } from './game.ts'
import { botNameOf } from './names.ts'
import { createMind, skillOf, think } from './rules/brain.ts'
import { Seat } from './seat.ts'

/** Joins, and plays. */
export async function play({ index, room, server, condition }: BotOptions): Promise<Bot> {
  const session = await join({
    game: GAME,
    room,
    server,
    condition,
    name: botNameOf(index),
    types: TYPES,
    topology: 'mesh',
    playersMax: PLAYERS_MAX,
  })
  const seat = new Seat(session)
  const mind = createMind(session.me.player * 7919, skillOf(index))
  obey(session, () => process.kill(process.pid, 'SIGKILL'))
  let slot = -1
  const steps = setInterval(() => {
    seat.look()
    if (!seat.live || seat.slot === slot) return
    slot = seat.slot
    const act = think(mind, seat.state, seat.me)
    if (act) seat.act(act)
  }, SLOT_MS / 4)
  return { session, over: lost(session, () => clearInterval(steps)) }
}
