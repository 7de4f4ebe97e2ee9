// Goal: a table at its documented limits goes on when its servers die, over a network that loses.
// Method: whole sessions in virtual time: 1,000 pieces, and members that change them all the while.
import { expect, test } from 'vitest'
import { action, piece, text, u32 } from '../../packages/holdfast/src/index.ts'
import type { InternalSession as Session } from '../../packages/holdfast/src/join/session-impl.ts'
import { type SessionWorld, world } from '../../packages/sim/src/session-world.ts'

const PIECES = 1_000
const WORDS_BYTES = 900
const LAID_AT_ONCE = 10
const BACKED_UP_MS = 10_000
const CHANGE_EVERY_MS = 250

const Segment = piece('segment', { n: u32, words: text(WORDS_BYTES, WORDS_BYTES) })
const lay = action('lay', (table, { from, count }: { from: number; count: number }) => {
  for (let n = from; n < from + count; n++) {
    table.create(Segment, { n, words: 'x'.repeat(WORDS_BYTES) })
  }
})
const game = { game: 'segments', types: [Segment, lay], keepRoom: false } as const

async function done<Value>(w: SessionWorld, promise: Promise<Value>): Promise<Value> {
  let settled = false
  void promise.finally(() => (settled = true)).catch(() => {})
  await w.runUntil(() => settled, 60_000)
  return promise
}

async function fill(w: SessionWorld, session: Session): Promise<void> {
  for (let from = 0; from < PIECES; from += LAID_AT_ONCE) {
    const laid = await done(w, session.act(lay, { from, count: LAID_AT_ONCE }))
    expect(laid).toMatchObject({ ok: true })
  }
}

const isBackedUp = (one: Session): boolean => one.safety === 'backed-up'

test.each([
  ['rtt=40,loss=3%', 1],
  ['rtt=200,loss=5%', 2],
] as const)(
  'T29, O57: a full table is backed up within 10 s of each death, with %s (N-7)',
  async (conditions, seed) => {
    const w = world({ seed, conditions })
    const all: Session[] = []
    const join = async (name: string): Promise<void> =>
      void all.push(await w.join({ ...game, name }))
    for (const name of ['Ada', 'Grace', 'Linus', 'Edsger']) await join(name)
    await w.runUntil(() => all.every(isBackedUp), 30_000)
    await fill(w, all[0]!)
    await w.runUntil(() => all.every((one) => one.all(Segment).length === PIECES), 60_000)

    const flips: string[] = []
    for (const one of all) one.on('status', (status) => flips.push(`${one.me.name} is ${status}`))
    const outcomes: Promise<{ ok: boolean }>[] = []
    let changes = 0
    for (let deaths = 0; deaths < 2; deaths++) {
      const server = all.find((one) => one.me.inc === one.primary?.inc)!
      all.splice(all.indexOf(server), 1)
      w.kill(server)
      const change = async (): Promise<void> => {
        const one = all[changes++ % all.length]!
        const segment = one.all(Segment)[changes % PIECES]!
        outcomes.push(segment.update({ n: changes }))
        await w.run(CHANGE_EVERY_MS)
      }
      const isServed = (one: Session): boolean =>
        one.primary?.inc !== server.me.inc && isBackedUp(one)
      for (const end = w.now() + BACKED_UP_MS; w.now() < end && !all.every(isServed);) {
        await change()
      }
      expect(all.map(isServed)).toEqual(all.map(() => true))
      // Whoever comes meanwhile gets all of it, too.
      if (deaths > 0) continue
      await join('Barbara')
      await w.runUntil(() => all.every((one) => one.all(Segment).length === PIECES), 30_000)
    }
    expect((await done(w, Promise.all(outcomes))).length).toBe(changes)
    await w.runUntil(() => all.every((one) => one.all(Segment).length === PIECES), 30_000)
    expect(flips).toEqual([])
  },
  120_000,
)
