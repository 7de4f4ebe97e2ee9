/** A player's dot: it moves and takes stars. The page and the bot share this file. */

import type { Session } from 'holdfast'
import { collect, Dot, HEIGHT, Star, WIDTH } from './game.ts'

const SPEED = 300
/** How near a dot comes to stars and to the edge. */
const REACH = 22

/** Where a dot wants to go from a position: a direction, at most 1 long. */
export type Steer = (from: readonly [number, number]) => readonly number[]

/** Gives the player a dot. @returns moves it for some seconds, and takes the stars it reaches */
export function openDot(session: Session, name: string, steer: Steer): (seconds: number) => void {
  const own = () =>
    session.all(Dot).find((dot) => dot.mine) ??
    session.create(Dot, {
      player: session.me.player,
      name,
      pos: [Math.random() * WIDTH, Math.random() * HEIGHT],
    })
  let me = own()
  // After more than a minute away this is another player, without a dot.
  session.on('healed', ({ same }) => {
    if (!same) me = own()
  })
  const asking = new Set<string>()

  return (seconds) => {
    if (session.status !== 'live' || !me.mine) return
    const [x, y] = me.state.pos
    const vel = steer([x, y]).map((part) => part * SPEED) as [number, number]
    const pos: [number, number] = [
      Math.min(WIDTH - REACH, Math.max(REACH, x + vel[0] * seconds)),
      Math.min(HEIGHT - REACH, Math.max(REACH, y + vel[1] * seconds)),
    ]
    me.set({ pos, vel })
    for (const star of session.all(Star)) {
      const [sx, sy] = star.state.pos
      if (asking.has(star.id) || Math.hypot(sx - pos[0], sy - pos[1]) > REACH) continue
      asking.add(star.id)
      const done = (): void => void asking.delete(star.id)
      session.act(collect, { star: star.id }).then(done, done)
    }
  }
}
