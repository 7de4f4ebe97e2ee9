/** A bot that plays Dots: it strolls, and drops a pin now and then. */

import { join } from 'holdfast'
import { type Bot, botOf, type BotOptions } from '../bot.ts'
import { drop, Dot, stroll, TYPES } from './rules.ts'

/** How often a bot moves, in milliseconds. */
const MOVE_MS = 33
/** How long it strolls between two pins, in milliseconds. */
const PIN_MS = 7_000

/** See Bots. */
export function nameOf(index: number): string {
  return `Bot ${index}`
}

/** Joins, and plays. */
export async function play({ index, beat, ...where }: BotOptions): Promise<Bot> {
  const session = await join({ game: 'dots', name: nameOf(index), types: TYPES, ...where })
  const seed = session.me.player
  const dot = session.create(Dot, { pos: stroll(seed, session.now()) })
  return botOf(session, [
    beat(() => dot.set({ pos: stroll(seed, session.now()) }), MOVE_MS),
    beat(
      () => {
        // A bot that waits for its pins does not pile up more of them.
        if (session.status === 'live') session.act(drop, { at: dot.state.pos }).catch(() => {})
      },
      PIN_MS + 500 * (seed % 7),
    ),
  ])
}
