import { test } from 'vitest'
import { object, u16 } from '../../src/index.ts'
import type { Running as Session } from '../../src/faces/live.ts'
import { world } from '../../src/proof/world.ts'

const Ball = object('ball', { at: u16 }, { onOwnerLeave: 'keep', take: 'free' } as any)
const FROM = Number(process.env['FROM'] ?? 1), COUNT = Number(process.env['COUNT'] ?? 100)

test('late joiners', async () => {
  let joins = 0
  for (let seed = FROM; seed < FROM + COUNT; seed++) {
    const mesh = seed % 2 === 0
    const w = world({ seed, conditions: `rtt=${20 + (seed % 5) * 30},loss=${5 + (seed % 4) * 5}%,jitter=${(seed % 3) * 20}` })
    const all: Session[] = []
    const game = { game: 'late', room: 'r', types: [Ball], keepRoom: false, ...(mesh ? { topology: 'mesh' } : {}) } as any
    try {
      for (const name of ['Ada', 'Grace', 'Linus']) all.push(await w.join({ ...game, name }))
    } catch (e) { console.log('seed', seed, 'join failed', String(e)); continue }
    for (const one of all) for (let n = 0; n < 4; n++) one.create(Ball, { at: n })
    await w.run(2_000)
    let rnd = seed * 7919
    const next = (n: number) => (rnd = (rnd * 1103515245 + 12345) & 0x7fffffff) % n
    let stop = false
    const play = () => {
      for (const one of all) {
        const balls = one.all(Ball)
        if (balls.length === 0) continue
        const ball = balls[next(balls.length)]! as any
        if (next(3) === 0) void ball.take().catch(() => {})
        else if (ball.mine ?? ball.isMine) ball.set({ at: next(1000) })
      }
    }
    for (let j = 0; j < 4; j++) {
      let late: Session | null = null
      let failed = false
      const joining = w.join({ ...game, name: `late${j}` }).then((s) => (late = s), () => (failed = true))
      void joining
      const seen = new Map<string, number>()
      const t0 = w.now()
      let tick = 0
      // w.join drives the world; interleave by timers is not possible: drive ourselves
      while (w.now() - t0 < 6_000 && !failed) {
        if (tick++ % 5 === 0) play()
        await w.run(10)
        if (!late) continue
        const now = new Set((late as Session).all(Ball).map((b: any) => b.id))
        for (const id of now) if (!seen.has(id)) seen.set(id, w.now() - t0)
        for (const id of seen.keys()) if (!now.has(id)) {
          const lives = all.filter((one) => one.all(Ball).some((b: any) => b.id === id)).length
          console.log('VANISHED seed', seed, 'join', j, 'id', id, 'at', Math.round(w.now() - t0), 'seen', Math.round(seen.get(id)!), 'lives at', lives, mesh ? 'mesh' : 'star')
          seen.delete(id)
        }
        if (w.now() - t0 > 3_000 && late) break
      }
      joins++
      if (late) { void (late as Session).leave(); await w.run(500) }
    }
  }
  console.log('joins', joins)
}, 600_000)
