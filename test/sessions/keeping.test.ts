// Goal: whom the table keeps is the same player however long they are away, whoever serves by then.
// Method: whole sessions in virtual time; a process is killed, and another has its token.
// Slow: sessions of four go on for minutes of virtual time.
import { describe, expect, test } from 'vitest'
import { action, type Session } from '../../packages/holdfast/src/index.ts'
import { type SessionWorld, world } from '../../packages/sim/src/session-world.ts'
import { answered, settled } from './cluster.ts'

const keep = action('keep', (table, { player, on }: { player: number; on?: boolean }) => {
  table.keep(player, on)
  return table.kept()
})
const here = action('here', (table) => table.here.toSorted((one, other) => one - other))
const many = action('many', (table, [from, to]: number[]) => {
  for (let player = from!; player <= to!; player++) table.keep(player)
})
const types = [keep, here, many]
const NAMES = ['Ada', 'Grace', 'Linus', 'Mary']
const MINUTE = 60_000

interface Scene {
  w: SessionWorld
  all: Session[]
}

async function scene(): Promise<Scene> {
  const w = world({ seed: 21, conditions: 'rtt=40' })
  const all: Session[] = []
  const inn = { game: 'inn', types, keepRoom: false } as const
  for (const name of NAMES) all.push(await w.join({ ...inn, name }))
  await w.runUntil(() => all.every((session) => session.safety === 'backed-up'), 10_000)
  return { w, all }
}

/** Mary's process dies; another with her token comes after so long. @returns both numbers */
async function comesBack({ w, all }: Scene, ms: number, meanwhile = async () => {}) {
  const mary = all.pop()!
  const { token, me } = mary
  w.kill(mary)
  await meanwhile()
  await w.run(ms)
  const back = await w.join({ game: 'inn', types, name: 'Mary', token })
  all.push(back)
  return [me.player, back.me.player]
}

describe('a player whom the table keeps', () => {
  test('S-5: is who they were after three minutes, and another without it (PI-7)', async () => {
    for (const isKept of [true, false]) {
      const s = await scene()
      const { player } = s.all[3]!.me
      if (isKept) expect(await answered(s.w, s.all[0]!.act(keep, { player }))).toEqual([player])
      const [before, after] = await comesBack(s, 3 * MINUTE)
      expect(after === before).toBe(isKept)
    }
  })

  test('is kept over the death of the server, and of server and backup at once (PI-7)', async () => {
    for (const count of [1, 2]) {
      const s = await scene()
      const { player } = s.all[3]!.me
      await answered(s.w, s.all[0]!.act(keep, { player }))
      await s.w.run(1_000)
      const [before, after] = await comesBack(s, 2 * MINUTE, async () => {
        await s.w.run(90_000)
        // At each change of who is here members forget those who went long ago.
        const guest = await s.w.join({ game: 'inn', types, name: 'Guest' })
        await s.w.run(1_000)
        await settled(s.w, guest.leave())
        await s.w.run(1_000)
        for (const head of s.all.splice(0, count)) s.w.kill(head, { silent: true })
      })
      expect(after).toBe(before)
      expect(await answered(s.w, s.all[0]!.act(keep, { player }))).toEqual([player])
    }
  })

  test('is let go of, and forgotten a minute later (PI-7)', async () => {
    const s = await scene()
    const { player } = s.all[3]!.me
    await answered(s.w, s.all[0]!.act(keep, { player }))
    const [before, after] = await comesBack(s, 2 * MINUTE, async () => {
      await s.w.run(2 * MINUTE)
      expect(await answered(s.w, s.all[0]!.act(keep, { player, on: false }))).toEqual([])
    })
    expect(after).not.toBe(before)
  })

  test('is one of 256 at most, and a player', async () => {
    const { w, all } = await scene()
    const [ada] = all as [Session]
    await answered(w, ada.act(many, [1, 200]))
    await answered(w, ada.act(many, [200, 256]))
    await answered(w, ada.act(many, [1, 10]))
    const full = 'the action "many" failed: a table keeps 256 players at most: 256'
    expect(await settled(w, ada.act(many, [257, 257]))).toEqual({
      ok: false,
      code: 'failed',
      reason: full,
    })
    for (const player of [0, -1, 1.5, '3' as never]) {
      const outcome = await settled(w, ada.act(keep, { player }))
      expect(outcome).toMatchObject({ reason: expect.stringContaining('a table keeps players') })
    }
    expect(ada.table.keys()).toEqual([])
  })
})

test('an action knows who is here', async () => {
  const s = await scene()
  const [ada, , , mary] = s.all as [Session, Session, Session, Session]
  const players = s.all.map(({ me }) => me.player)
  expect(await answered(s.w, ada.act(here))).toEqual(players)
  s.w.kill(mary)
  await s.w.run(30_000)
  expect(await answered(s.w, ada.act(here))).toEqual(players.slice(0, 3))
})
