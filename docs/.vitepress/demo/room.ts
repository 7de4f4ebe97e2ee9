/**
 * The room of the first page: two windows of one game, whose server can be killed.
 *
 * Sessions and hub are the shipped ones, on the machines of `holdfast/sim`, whose time follows the
 * clock here. So the page needs no server, and its network can be made worse.
 */

import { action, object, type Session, vec2, type Vec2 } from 'holdfast'
import { type SessionWorld, world } from 'holdfast/sim'

/** The field's size. */
export const WIDTH = 160
export const HEIGHT = 100
/** Balls that the server steps. */
const BALLS = 5
const BALL_SPEED = 38
/** Steps a second. */
const HZ = 60
/** Pins that stay on the field. */
const PINS_MAX = 40

const place = vec2(0, WIDTH, 0.1)

/** A player's dot, which its player moves. */
export const Dot = object('dot', { pos: place })
/** A ball, which the server moves. */
export const Ball = object(
  'ball',
  { pos: place, vel: vec2(-60, 60, 0.1) },
  { onOwnerLeave: 'keep', motion: { follow: { pos: 'vel' } } },
)
/** Drops a pin: confirmed once, and never lost. */
export const pin = action('pin', { at: place }, (table, { at }, by) => {
  const count = pinsOf(table) + 1
  table.set('pins', count)
  table.set(`pin ${count % PINS_MAX}`, `${by.player} ${at[0]} ${at[1]}`)
})

/** All pins that were ever confirmed. */
export function pinsOf({ get }: Pick<Session['table'], 'get'>): number {
  return Number(get('pins') ?? 0)
}

/** Pins that are on the field. */
export function pinsOn({ table }: Session): { player: number; at: Vec2 }[] {
  return table.keys('pin ').map((key) => {
    const [player = 0, x = 0, y = 0] = String(table.get(key)).split(' ').map(Number)
    return { player, at: [x, y] }
  })
}

/** One window. */
export interface Frame {
  readonly name: string
  /** Null before it has joined, and while it is killed. */
  session: Session | null
  /** Lets the player come back as the same. */
  token: string | null
}

/** The newest event, for the line below the windows. */
export type News =
  | { kind: 'joining' }
  | { kind: 'plays' }
  | { kind: 'killed'; victim: string }
  | { kind: 'taken'; victim: string; heir: string; ms: number; pins: number; had: number }
  | { kind: 'returned'; name: string }

/** Two windows and what happened to them. */
export class Room {
  readonly frames: readonly [Frame, Frame] = [framed('Ada'), framed('Grace')]
  news: News = { kind: 'joining' }
  /** Pins that a window had an answer for. */
  confirmed = 0
  readonly #world: SessionWorld
  // One thing after the other: joining drives the world's time by itself.
  #next: (() => Promise<void>)[] = []

  constructor(seed: number, conditions: string) {
    this.#world = world({ seed, conditions, linesMax: 0 })
    for (const frame of this.frames) this.#next.push(() => this.#join(frame))
    this.#next.push(() => {
      this.news = { kind: 'plays' }
      return Promise.resolve()
    })
  }

  /** Lets the time of one frame pass. */
  async pass(ms: number): Promise<void> {
    const next = this.#next.shift()
    if (next) await next()
    else await this.#world.run(ms)
  }

  /** The window that serves; null while none is known to. */
  get server(): Frame | null {
    const live = this.frames.find(({ session }) => session)
    const { primary } = live?.session ?? {}
    return this.frames.find(({ session }) => session?.me.inc === primary?.inc) ?? null
  }

  /** The window that was killed; null if both live. */
  get dead(): Frame | null {
    return this.frames.find(({ session, token }) => !session && token !== null) ?? null
  }

  /** Kills the process of the window that serves, without a goodbye. */
  kill(): void {
    const victim = this.server
    const heir = this.frames.find((frame) => frame !== victim)
    if (!victim?.session || !heir?.session) return
    victim.token = victim.session.token
    this.#world.kill(victim.session)
    victim.session = null
    this.news = { kind: 'killed', victim: victim.name }
    const killedAt = this.#world.now()
    const had = this.confirmed
    const stop = heir.session.on('primary', (member) => {
      if (member.inc !== heir.session?.me.inc) return
      stop()
      const ms = this.#world.now() - killedAt
      const pins = pinsOf(heir.session.table)
      this.news = { kind: 'taken', victim: victim.name, heir: heir.name, ms, pins, had }
    })
  }

  /** Opens the window that was killed again. */
  reopen(): void {
    const frame = this.dead
    if (!frame || this.#next.length > 0) return
    this.#next.push(async () => {
      await this.#join(frame)
      this.news = { kind: 'returned', name: frame.name }
    })
  }

  /** Sets the network between the windows and the hub. */
  setConditions(conditions: string): void {
    this.#world.conditions('*', '*', conditions)
  }

  /** Drops a pin where that window's dot is. */
  async drop({ session }: Frame, at: Vec2): Promise<void> {
    const outcome = await session?.act(pin, { at })
    if (outcome?.ok) this.confirmed++
  }

  async #join(frame: Frame): Promise<void> {
    const { name, token } = frame
    const types = [Dot, Ball, pin]
    const options = { game: 'demo', name, types, ...(token !== null && { token }) }
    const session = await this.#world.join(options, { kind: 'browser' })
    frame.session = session
    const isThere = session.all(Dot).some((dot) => dot.mine)
    if (!isThere) session.create(Dot, { pos: [WIDTH / 2, HEIGHT / 2] })
    session.simulate(HZ, ({ ms }) => step(session, ms / 1_000))
  }
}

function framed(name: string): Frame {
  return { name, session: null, token: null }
}

/** Moves the balls by so many seconds; runs in the window that serves. */
function step(session: Session, seconds: number): void {
  const balls = session.all(Ball)
  for (let n = balls.length; n < BALLS; n++) {
    const turn = n * 2.4 + 0.5
    const vel: Vec2 = [BALL_SPEED * Math.cos(turn), BALL_SPEED * Math.sin(turn)]
    session.create(Ball, { pos: [20 + n * 28, 20 + ((n * 37) % 60)], vel })
  }
  for (const ball of balls) {
    if (!ball.mine) continue
    const { pos, vel } = ball.state
    const [x, dx] = bounced(pos[0] + vel[0] * seconds, vel[0], WIDTH)
    const [y, dy] = bounced(pos[1] + vel[1] * seconds, vel[1], HEIGHT)
    ball.set({ pos: [x, y], vel: [dx, dy] })
  }
}

function bounced(at: number, speed: number, size: number): [at: number, speed: number] {
  if (at < 3) return [6 - at, Math.abs(speed)]
  if (at > size - 3) return [2 * (size - 3) - at, -Math.abs(speed)]
  return [at, speed]
}
