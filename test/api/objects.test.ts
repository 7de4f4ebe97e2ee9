// Goal: what a user is promised of objects: owners that change, handles that stay, collections that
// may be compared, errors that say what is wrong; in a star and in a mesh alike.
// Method: whole sessions in virtual time.
import { describe, expect, test } from 'vitest'
import { action, type JoinOptions, object, type Session, text, u8, vec2 } from '../../src/index.ts'
import { type SessionWorld, world } from '../../src/proof/world.ts'

const Rock = object(
  'rock',
  { weight: u8, at: vec2(0, 100, 1) },
  { take: 'free', onOwnerLeave: 'keep' },
)
const Hat = object('hat', { owner: text(16) }, { take: 'ask' })
const Pot = object('pot', { tea: u8 })
const game = { game: 'garden', types: [Rock, Hat, Pot] }
const NAMES = ['Ada', 'Grace', 'Linus', 'Edsger']

interface Crew {
  w: SessionWorld
  all: Session[]
}

async function crew(more: Partial<JoinOptions> = {}, count = 3, seed = 1): Promise<Crew> {
  const w = world({ seed, conditions: 'rtt=20,loss=2%' })
  const all: Session[] = []
  for (const name of NAMES.slice(0, count)) all.push(await w.join({ ...game, name, ...more }))
  await w.runUntil(() => all.every((session) => session.safety === 'backed-up'), 10_000)
  return { w, all }
}

describe.each(['star', 'mesh'] as const)('in a %s', (topology) => {
  test('B6, B8: the same game runs in both, with the services that it wants', async () => {
    const { all, w } = await crew({ topology, types: [Rock] })
    all[1]!.create(Rock, { weight: 7 })
    await w.run(1_000)
    expect(all.map((session) => session.all(Rock)[0]!.state.weight)).toEqual([7, 7, 7])
    const poke = action('poke', () => 1)
    const other = await crew({ topology, types: [poke] })
    const outcome = other.all[2]!.act(poke, {})
    await other.w.run(1_000)
    expect(await outcome).toEqual({ ok: true, value: 1 })
  })
})
