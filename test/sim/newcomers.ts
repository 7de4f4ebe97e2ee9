/** Newcomers to a room whose members take and move objects all the while. */

import { below, create } from '../../packages/holdfast/src/faults/prng.ts'
import { object, u16 } from '../../packages/holdfast/src/index.ts'
import type { InternalSession as Session } from '../../packages/holdfast/src/join/session-impl.ts'
import { type SessionWorld, world } from '../../packages/sim/src/session-world.ts'

const Ball = object('ball', { at: u16 }, { onOwnerLeave: 'keep', take: 'free' })
/** How many come, one after the other. */
export const JOINS = 4
const LOOK_MS = 10
const LOOKS = 300

function play(all: readonly Session[], chance: ReturnType<typeof create>): void {
  for (const one of all) {
    const balls = one.all(Ball)
    const ball = balls[below(chance, Math.max(1, balls.length))]
    if (ball?.mine) ball.set({ at: below(chance, 1_000) })
    else if (below(chance, 3) === 0) void ball?.take()
  }
}

// Looks at what a newcomer is shown. Returns ids that vanished.
async function watched(
  w: SessionWorld,
  all: readonly Session[],
  late: Session,
  seed: number,
): Promise<string[]> {
  const chance = create(seed)
  const vanished: string[] = []
  const seen = new Set<string>()
  for (let look = 0; look < LOOKS; look++) {
    if (look % 5 === 0) play(all, chance)
    await w.run(LOOK_MS)
    const now = new Set(late.all(Ball).map(({ id }) => id))
    vanished.push(...[...seen].filter((id) => !now.has(id)))
    for (const id of now) seen.add(id)
  }
  return vanished
}

/** In star or mesh, over a network that loses. @returns what vanished from the sight of each */
export async function vanishedFrom(seed: number): Promise<string[][]> {
  const topology = seed % 2 === 0 ? 'mesh' : 'star'
  const [rtt, loss, jitter] = [20 + (seed % 5) * 30, 5 + (seed % 4) * 5, (seed % 3) * 20]
  const w = world({ seed, conditions: `rtt=${rtt},loss=${loss}%,jitter=${jitter}` })
  const game = { game: 'late', types: [Ball], keepRoom: false, topology } as const
  const all: Session[] = []
  for (const name of ['Ada', 'Grace', 'Linus']) all.push(await w.join({ ...game, name }))
  for (const one of all) for (let n = 0; n < 4; n++) one.create(Ball, { at: n })
  await w.run(2_000)
  const vanished: string[][] = []
  for (let n = 0; n < JOINS; n++) {
    const late = await w.join({ ...game, name: `late ${n}` })
    vanished.push(await watched(w, all, late, seed + n))
    void late.leave()
    await w.run(500)
  }
  return vanished
}
