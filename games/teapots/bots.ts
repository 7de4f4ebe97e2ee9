/** A bot that plays Dueling Teapots: it sits down, aims, dodges. */

import { join } from 'holdfast'
import { type Bot, botOf, type BotOptions } from '../bot.ts'
import { SessionCourt } from './court.ts'
import { createMind, think } from './rules/brain.ts'
import { GLAZES } from './rules/glazes.ts'
import { STEP_MS } from './rules/pot.ts'
import { decisions, PLAYERS_MAX, Pot, typesOf } from './rules/things.ts'
import { Seat } from './seat.ts'
import { Sugar } from './sugar.ts'
import { lull } from './whose.ts'

const NAMES = `Earl Grey,Lady Assam,Oolong,Matcha,Rooibos,Lapsang,Chai,Keemun,Darjeeling,Sencha
  Ceylon,Pekoe`.split(/,|\n\s+/)
/** The worst bot and the best; the others are in between. */
const SKILL_MIN = 0.2
const SKILL_MAX = 0.75

/** See Bots. */
export function nameOf(index: number): string {
  const again = Math.floor((index - 1) / NAMES.length)
  const name = `Bot ${NAMES[(index - 1) % NAMES.length]!}`
  return again === 0 ? name : `${name} ${again + 1}`
}

/** Joins, and plays. */
export async function play({ index, beat, ...where }: BotOptions): Promise<Bot> {
  const court = new SessionCourt()
  const decided = decisions(court)
  const session = await join({
    ...where,
    game: 'teapots',
    name: nameOf(index),
    types: typesOf(decided),
    playersMax: PLAYERS_MAX,
  })
  court.session = session
  const seat = new Seat(session, decided, new Sugar(session), (index * 5) % GLAZES.length)
  const mind = createMind(session.me.player * 7919, skillOf(index))
  session.all(Pot).subscribe(() => lull(session))
  const step = (): void => {
    if (session.status === 'live') seat.intent = think(mind, seat.sight())
    seat.advance(performance.now())
  }
  return botOf(session, [beat(step, STEP_MS)])
}

function skillOf(index: number): number {
  return SKILL_MIN + ((index * 0.618) % 1) * (SKILL_MAX - SKILL_MIN)
}
