/**
 * A bot that plays Dots: it strolls, drops a pin now and then, serves when it is its turn, and
 * dies like a killed process when somebody wishes so.
 */

import { join } from 'holdfast'
import { type Bot, type BotOptions, lost } from '../bot.ts'
import { obey } from '../kill.ts'
import { drop, Dot, stroll, TYPES } from './rules.ts'

/** How often a bot moves, in milliseconds. */
const MOVE_MS = 33
/** How long it strolls between two pins, in milliseconds. */
const PIN_MS = 7_000

/** Joins, and plays. */
export async function play({ index, room, server, condition }: BotOptions): Promise<Bot> {
  const session = await join({
    game: 'dots',
    room,
    server,
    condition,
    name: `Bot ${index}`,
    types: TYPES,
  })
  const seed = session.me.player
  const dot = session.create(Dot, { pos: stroll(seed, session.now()) })
  obey(session, () => process.kill(process.pid, 'SIGKILL'))
  const steps = setInterval(() => dot.set({ pos: stroll(seed, session.now()) }), MOVE_MS)
  const pins = setInterval(
    () => {
      // A bot that waits for its pins does not pile up more of them.
      if (session.status === 'live') session.act(drop, { at: dot.state.pos }).catch(() => {})
    },
    PIN_MS + 500 * (seed % 7),
  )
  const over = lost(session, () => {
    clearInterval(steps)
    clearInterval(pins)
  })
  return { session, over }
}
