// Goal: a member that does not serve takes part in all else, and nothing ever hangs on it.
// Method: whole sessions in virtual time, with guests that come before, between and after others.
import { describe, expect, test } from 'vitest'
import { action, type JoinOptions, type Session } from '../../packages/holdfast/src/index.ts'
import { type SessionWorld, world } from '../../packages/sim/src/session-world.ts'

const add = action('add', (table, { by }: { by: number }) => {
  const sum = ((table.get('sum') as number | undefined) ?? 0) + by
  table.set('sum', sum)
  return sum
})
const duel = { game: 'duel', types: [add] }
const guest = { serves: false } as const

async function cluster(
  seed: number,
  wishes: readonly Partial<JoinOptions>[],
): Promise<{ w: SessionWorld; all: Session[] }> {
  const w = world({ seed, conditions: 'rtt=20' })
  const all: Session[] = []
  for (const wish of wishes) all.push(await w.join({ ...duel, ...wish }, { kind: 'browser' }))
  return { w, all }
}

function named(session: Session, name: string): Session['members'][number] | undefined {
  return session.members.find((member) => member.name === name)
}

async function sum(w: SessionWorld, session: Session, by: number): Promise<unknown> {
  let outcome: unknown
  void session.act(add, { by }).then((told) => (outcome = told))
  await w.runUntil(() => outcome !== undefined, 20_000)
  return outcome
}

describe('a guest, who does not serve', () => {
  test('T37: is never the backup: the next who serves is, also where many guests came first (AP-24)', async () => {
    const { w, all } = await cluster(5, [{ name: 'Ada' }, guest, guest, guest])
    const [ada, first] = all as [Session, Session]
    await w.run(10_000)
    expect([ada.backup, ada.safety, first.safety]).toEqual([null, 'kept', 'alone'])
    expect(first.members.map(({ kind }) => kind)).toEqual(['browser', 'guest', 'guest', 'guest'])
    // In all else it is a member like others.
    expect(await sum(w, first, 3)).toEqual({ ok: true, value: 3 })

    const grace = await w.join({ ...duel, name: 'Grace' }, { kind: 'browser' })
    const isSafe = (): boolean => ada.safety === 'backed-up' && first.backup?.name === 'Grace'
    await w.runUntil(isSafe, 10_000)
    w.kill(ada)
    await w.runUntil(() => first.primary?.name === 'Grace' && first.status === 'live', 10_000)
    await w.run(10_000)
    expect([grace.backup, first.safety, first.table.get('sum')]).toEqual([null, 'alone', 3])
    expect(await sum(w, first, 4)).toEqual({ ok: true, value: 7 })
  })

  test('T13, T30: opens no session, and recovers none: with the last who serves it is over', async () => {
    const w = world({ seed: 6, conditions: 'rtt=20' })
    let entered = false
    const waiting = w.join({ ...duel, ...guest, name: 'Guest' }).then((session) => {
      entered = true
      return session
    })
    await w.run(3_000)
    expect(entered).toBe(false)
    const ada = await w.join({ ...duel, name: 'Ada' })
    await w.runUntil(() => entered, 15_000)
    const early = await waiting
    expect([early.me.player, named(early, 'Guest')?.kind]).toEqual([2, 'guest'])
    w.kill(ada)
    await w.runUntil(() => early.status === 'lost', 120_000)
    expect(early.code).toBe('unreachable')
  })

  test('is the same player with its token, and no guest where the token is used without', async () => {
    const { w, all } = await cluster(7, [{ name: 'Ada' }, { ...guest, name: 'Guest' }])
    const { token } = all[1]!
    w.kill(all[1]!)
    const again = await w.join({ ...duel, name: 'Guest', token })
    expect([again.me.player, again.me.kind]).toEqual([2, 'node'])
    await w.runUntil(() => all[0]!.safety === 'backed-up', 20_000)
    expect(all[0]!.backup?.name).toBe('Guest')
  })

  test('T13: the last who serves ends the session as they leave, whatever guests there are (AP-24)', async () => {
    const { w, all } = await cluster(8, [{ name: 'Ada' }, guest])
    const [ada, left] = all as [Session, Session]
    void ada.leave()
    await w.runUntil(() => ada.status === 'lost', 10_000)
    expect(w.hub()!.hub.registers.rows.size).toBe(0)
    await w.runUntil(() => left.status === 'lost', 120_000)
    expect(['unreachable', 'timeout']).toContain(left.code)
  })

  test('does not end a session that somebody else may go on with', async () => {
    const { w, all } = await cluster(9, [{ name: 'Ada' }, guest, { name: 'Grace' }])
    const [ada, left, grace] = all as [Session, Session, Session]
    await w.runUntil(() => ada.safety === 'backed-up', 10_000)
    void ada.leave()
    await w.runUntil(() => left.primary?.name === 'Grace', 10_000)
    await w.run(5_000)
    expect([grace.status, left.status, grace.safety]).toEqual(['live', 'live', 'kept'])
  })

  test('says so by true or false: anything else is refused', async () => {
    const w = world({ seed: 9 })
    const wrong = { ...duel, serves: 'no' as never }
    await expect(w.join(wrong)).rejects.toMatchObject({ code: 'bad-value' })
  })
})
