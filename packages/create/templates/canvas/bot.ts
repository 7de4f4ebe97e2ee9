/**
 * A bot that plays beside the windows: `npm run bot`, or `npm run bot -- LINK` for the room of a
 * link. It may serve, by the rules that it was started with.
 */

import { type HoldfastError, join, type Session } from 'holdfast'
import { openDot } from './src/dot.ts'
import { begin, game, Star } from './src/game.ts'
import { shortened } from './src/keys.ts'

const link = new URL(process.argv[2] ?? 'http://localhost:5173/')
const room = link.searchParams.get('room') ?? 'main'
const name = link.searchParams.get('name') ?? 'Bot'

function play(session: Session): void {
  const move = openDot(session, name, ([x, y]) => {
    const ways = session.all(Star).map(({ state: { pos } }) => [pos[0] - x, pos[1] - y] as const)
    const [nearest] = ways.sort((one, other) => Math.hypot(...one) - Math.hypot(...other))
    // Half as fast as people.
    return nearest ? shortened(...nearest).map((part) => part / 2) : [0, 0]
  })
  const beat = setInterval(() => move(0.05), 50)
  // The session reconnects by itself; `lost` is its end.
  session.on('status', (status) => {
    if (status !== 'lost') return
    clearInterval(beat)
    console.log(`${name}: ${session.reason}`)
  })
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void session.leave())
}

try {
  const session = await join({ ...game, server: new URL('./', link).href, room, name })
  console.log(`${name} plays in the room ${room} of ${link.host}. Ctrl-C ends it.`)
  session.act(begin).catch(() => {})
  play(session)
} catch (error) {
  console.error((error as HoldfastError).message)
  process.exitCode = 1
}
