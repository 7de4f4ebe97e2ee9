/** A bot at the card table. */

import { join } from 'holdfast'
import { type Bot, botOf, type BotOptions } from '../bot.ts'
import { BOT, Opponent } from './opponent.ts'
import { skillOf } from './rules/draughts-brain.ts'
import { PLAYERS_MAX, TYPES } from './rules/things.ts'

const NAMES = `Ace,Domino,Joker,Knave,Pip,Rook,Talon,Trump`.split(',')
/** How often it looks at the table, in milliseconds. */
const LOOK_MS = 66
/** How long it takes at most to get up, in milliseconds. */
const RISE_MS = 700

/** See Bots. */
export function nameOf(index: number): string {
  const again = Math.floor((index - 1) / NAMES.length)
  const name = BOT + NAMES[(index - 1) % NAMES.length]!
  return again === 0 ? name : `${name} ${again + 1}`
}

/** Joins, and plays. */
export async function play({ index, beat, ...where }: BotOptions): Promise<Bot> {
  const session = await join({
    ...where,
    game: 'tabletop',
    name: nameOf(index),
    types: TYPES,
    playersMax: PLAYERS_MAX,
  })
  const opponent = new Opponent(session, session.me.player * 7919, skillOf(index))
  const bot = botOf(session, [beat(() => opponent.step(performance.now()), LOOK_MS)])
  const leave = async (): Promise<void> => {
    const late = new Promise<void>((resolve) => void setTimeout(resolve, RISE_MS))
    await Promise.race([opponent.rise(), late])
    await bot.leave()
  }
  return { ...bot, leave, idle: () => opponent.idle }
}
