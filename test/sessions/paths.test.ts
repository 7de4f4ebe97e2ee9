// Goal: an application sees by which path its packets go, and why through the hub.
// Method: whole sessions in virtual time, whose direct paths are cut.
import { expect, test } from 'vitest'
import type { InternalSession } from '../../packages/holdfast/src/join/session-impl.ts'
import { world } from '../../packages/sim/src/session-world.ts'

const seen = (session: InternalSession): string[] =>
  session.paths().map(({ member, kind, why }) => `${member.name} ${kind} ${why ?? 'directly'}`)

test('PA4: paths() says by which path each link goes, why by the relay, and what that costs', async () => {
  const w = world({ seed: 4, conditions: 'rtt=8' })
  const join = (name: string): Promise<InternalSession> => w.join({ game: 'g', types: [], name })
  const [ada, bea] = [await join('Ada'), await join('Bea')]
  await w.run(5_000)
  expect([seen(ada), seen(bea)]).toEqual([['Bea udp directly'], ['Ada udp directly']])
  const [before] = ada.paths()
  expect(before!.rttMs).toBeCloseTo(8, 0)
  expect([before!.loss, before!.bytes.in > 1_000, before!.bytes.out > 1_000]).toEqual([
    0,
    true,
    true,
  ])

  const mend = [w.deafen(w.nodeOf(ada), w.nodeOf(bea)), w.deafen(w.nodeOf(bea), w.nodeOf(ada))]
  await w.run(600)
  expect([seen(ada), seen(bea)]).toEqual([['Bea relay no-answer'], ['Ada relay no-answer']])
  for (const undo of mend) undo()
  await w.runUntil(() => seen(ada)[0] === 'Bea relay proving', 3_000)
  expect(seen(ada)).toEqual(['Bea relay proving'])
  await w.run(2_500)
  expect(seen(ada)).toEqual(['Bea udp directly'])
  // What the path lost before it was left stays its own.
  expect(ada.paths()[0]!.loss).toBeGreaterThan(0)
  expect(ada.paths()[0]!.loss).toBeLessThan(0.1)
  void ada.leave()
  await w.run(4_000)
  expect(ada.paths()).toEqual([])
})
