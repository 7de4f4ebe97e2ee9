/** The page: joins the room of its address, moves the player's ball, and draws. */

import type { HoldfastError, ObjectHandle, Session } from 'holdfast'
import { Ball, begin, collect, EDGE, game, Gem } from './game.ts'
import { openInput } from './input.ts'
import { openInvite } from './invite.ts'
import { colorOf, enter, name, say } from './room.ts'
import { RADIUS, Scene } from './scene.ts'
import { showScores } from './scores.ts'

/** In meters and seconds. */
const SPEED = 7
const JUMP = 8
const GRAVITY = 20
const REACH = 1

type BallHandle = ObjectHandle<typeof Ball.schema.fields>

function play(session: Session, scene: Scene): void {
  const anywhere = (): number => (Math.random() - 0.5) * EDGE
  const own = (): BallHandle =>
    session.all(Ball).find((ball) => ball.mine) ??
    session.create(Ball, {
      player: session.me.player,
      name,
      pos: [anywhere(), 0, anywhere()],
    })
  let me = own()
  // After more than a minute away this is another player, without a ball.
  session.on('healed', ({ same }) => {
    if (!same) me = own()
  })
  const input = openInput(scene, document.querySelector<HTMLElement>('#jump')!)
  const asking = new Set<string>()
  let before = performance.now()

  const step = (now: number): void => {
    const seconds = Math.min(0.1, (now - before) / 1_000)
    before = now
    if (session.status === 'live' && me.mine) {
      const [x, y, z] = me.state.pos
      const [dx, dz] = input.direction(x, z)
      const jumps = input.jumps() && y === 0
      const rise = jumps ? JUMP : y > 0 ? me.state.vel[1] - GRAVITY * seconds : 0
      const pos = moved(me.state.pos, [dx * SPEED, rise, dz * SPEED], seconds)
      me.set({ pos, vel: [dx * SPEED, pos[1] > 0 ? rise : 0, dz * SPEED] })
      take(session, pos, asking)
    }
    draw(session, scene, now, me)
  }
  const frame = (now: number): void => {
    step(now)
    requestAnimationFrame(frame)
  }
  requestAnimationFrame(frame)
}

function moved(
  [x, y, z]: readonly [number, number, number],
  [vx, vy, vz]: readonly [number, number, number],
  seconds: number,
): [number, number, number] {
  const inside = (place: number): number => Math.min(EDGE - RADIUS, Math.max(RADIUS - EDGE, place))
  return [inside(x + vx * seconds), Math.max(0, y + vy * seconds), inside(z + vz * seconds)]
}

/** Asks for the gems that are near. @param asking  ids of gems that were asked for */
function take(session: Session, [x, y, z]: readonly number[], asking: Set<string>): void {
  for (const { id, state } of session.all(Gem)) {
    if (asking.has(id) || Math.hypot(state.at[0] - x!, y!, state.at[1] - z!) > REACH) continue
    asking.add(id)
    const done = (): void => void asking.delete(id)
    session.act(collect, { gem: id }).then(done, done)
  }
}

function draw(session: Session, scene: Scene, now: number, me: BallHandle): void {
  const balls = session.all(Ball).map((ball) => {
    const { pos, player, name: who } = ball.view()
    return { id: ball.id, name: who, color: colorOf(player), pos, away: ball.away }
  })
  const gems = new Map(session.all(Gem).map(({ id, state }) => [id, state.at]))
  scene.draw(now, me.state.pos, balls, gems)
}

openInvite()
try {
  const scene = new Scene(document.querySelector('canvas')!)
  const session = await enter(game)
  showScores(session)
  session.act(begin).catch(() => {})
  play(session, scene)
} catch (error) {
  say((error as HoldfastError).message, 'bad')
}
