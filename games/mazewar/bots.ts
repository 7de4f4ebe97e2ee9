/** A bot that plays Mazewar: it roams, turns to whom it sees, shoots. */

import { join } from 'holdfast'
import { type Bot, botOf, type BotOptions } from '../bot.ts'
import { SLOT_MS } from './maze-client.ts'
import { GAME, PLAYERS_MAX, TYPES } from './game.ts'
import { botNameOf } from './names.ts'
import { createMind, skillOf, think } from './rules/brain.ts'
import { Seat } from './seat.ts'

/** See Bots. */
export function nameOf(index: number): string {
  return `Bot ${botNameOf(index)}`
}

/** Joins, and plays. */
export async function play({ index, beat, ...where }: BotOptions): Promise<Bot> {
  const session = await join({
    ...where,
    game: GAME,
    name: nameOf(index),
    types: TYPES,
    topology: 'mesh',
    playersMax: PLAYERS_MAX,
  })
  const seat = new Seat(session)
  const mind = createMind(session.me.player * 7919, skillOf(index))
  let slot = -1
  const step = (): void => {
    seat.look()
    if (!seat.live || seat.slot === slot) return
    slot = seat.slot
    const act = think(mind, seat.state, seat.me)
    if (act) seat.act(act)
  }
  return botOf(session, [beat(step, SLOT_MS / 4)])
}
