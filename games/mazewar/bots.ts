/**
 * A bot that plays Mazewar: it roams, turns to whom it sees, shoots, and dies like a killed
 * process when somebody wishes so.
 */

import { join, type Session } from 'holdfast'
import { obey } from '../kill.ts'
import { SLOT_MS } from './burrow.ts'
import { GAME, PLAYERS_MAX, TYPES } from './game.ts'
import { botNameOf } from './names.ts'
import { createMind, skillOf, think } from './rules/brain.ts'
import { Seat } from './seat.ts'

/** Which bot, and where it plays. */
export interface BotOptions {
  /** From 1. */
  index: number
  room: string
  server?: string
  condition?: string
}

/** Plays until the session is lost. @returns why it was; leave the session to end it */
export async function play(
  options: BotOptions,
): Promise<{ session: Session; over: Promise<string> }> {
  const { index, room, server, condition } = options
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
  const over = new Promise<string>((resolve) => {
    session.on('status', (status) => {
      if (status !== 'lost') return
      clearInterval(steps)
      resolve(session.reason)
    })
  })
  return { session, over }
}
