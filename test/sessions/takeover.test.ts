// Goal: a primary that lives keeps its place, and one that does not serve is replaced in time.
// Method: the shipped hub and sessions in virtual time; one does not hear, stands still, or dies.
import { describe, expect, test } from 'vitest'
import { action } from '../../packages/holdfast/src/index.ts'
import type { InternalSession } from '../../packages/holdfast/src/join/session-impl.ts'
import { type SessionWorld, world } from '../../packages/sim/src/session-world.ts'
import { settled } from './cluster.ts'

const add = action('add', (table, { by }: { by: number }) => {
  const sum = Number(table.get('sum') ?? 0) + by
  table.set('sum', sum)
  return sum
})

interface Three {
  w: SessionWorld
  all: InternalSession[]
  server: InternalSession
  backup: InternalSession
  other: InternalSession
}

async function three(): Promise<Three> {
  const w = world({ seed: 9, conditions: 'rtt=4' })
  const all: InternalSession[] = []
  for (const name of ['Ada', 'Grace', 'Linus']) {
    all.push(await w.join({ game: 'sums', types: [add], name }))
  }
  const inRole = (role: string): InternalSession =>
    all.find((one) => one.debug.figures().role === role)!
  // The detector has learned the rhythm by then.
  await w.runUntil(() => inRole('backup') !== undefined, 5_000)
  await w.run(4_000)
  const [server, backup, other] = [inRole('backedup'), inRole('backup'), inRole('idle')]
  return { w, all, server, backup, other }
}

const leads = (one: InternalSession): boolean => one.primary?.inc === one.me.inc

describe('a takeover', () => {
  test.each([
    // The relay carries on before the primary is suspected.
    ['near', 'rtt=4', false],
    // The backup suspects its primary first, and is vetoed.
    ['far', 'rtt=200', true],
  ])(
    'T36, PA4: of a backup that does not hear its primary is none, with a relay that is %s (SE-3)',
    async (_where, wire, isVetoed) => {
      const { w, all, server, backup, other } = await three()
      for (const one of all) {
        w.conditions(w.nodeOf(one), 'hub', wire)
        w.conditions('hub', w.nodeOf(one), wire)
      }
      await w.run(10_500)
      const { epoch } = server.debug.figures()
      w.deafen(w.nodeOf(server), w.nodeOf(backup))
      for (let n = 1; n <= 30; n++) {
        expect(await settled(w, other.act(add, { by: 1 }))).toEqual({ ok: true, value: n })
        await w.run(1_000)
      }
      expect(w.hub()!.hub.counters.vetoes > 0).toBe(isVetoed)
      expect(all.map(({ primary }) => primary!.inc)).toEqual(all.map(() => server.me.inc))
      expect([server.debug.figures().epoch, server.safety]).toEqual([epoch, 'backed-up'])
      expect(backup.debug.figures().role).toBe('backup')
    },
  )

  test('T39: from a primary that stands still is granted after the bound (SE-3)', async () => {
    const { w, server, backup, other } = await three()
    const { epoch } = server.debug.figures()
    w.stall(w.nodeOf(server), 20_000)
    // Fifty to notice, at most, and the bound of a primary that is near.
    await w.run(40)
    expect(backup.debug.figures().epoch).toBe(epoch)
    await w.runUntil(() => leads(backup), 500)
    expect(leads(backup)).toBe(true)
    expect((await settled(w, other.act(add, { by: 1 }))).ok).toBe(true)
    await w.run(25_000)
    expect([server.status, server.primary!.inc]).toEqual(['live', backup.me.inc])
  })

  test('T39: from a primary that is killed waits for nobody (SE-3)', async () => {
    const { w, server, backup } = await three()
    w.kill(server)
    await w.runUntil(() => leads(backup), 80)
    expect(leads(backup)).toBe(true)
    expect(w.hub()!.hub.counters.vetoes).toBe(0)
  })
})
