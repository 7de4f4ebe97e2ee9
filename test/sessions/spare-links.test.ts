// Goal: the backup of a star and its members exchange few packets, and nobody notices: nobody seems
// away, no path is in doubt, and the next backup is the same as ever.
// Method: whole sessions in virtual time with the shipped hub.
import { expect, test } from 'vitest'
import { object } from '../../packages/holdfast/src/index.ts'
import { u8 } from '../../packages/holdfast/src/wire/fields/schema.ts'
import type { InternalSession as Session } from '../../packages/holdfast/src/join/session-impl.ts'
import { world } from '../../packages/sim/src/session-world.ts'

const Pot = object('pot', { x: u8 })

test('a backup that the hub does not reach is not away for those who reach it', async () => {
  const w = world({ seed: 3, conditions: 'rtt=20' })
  const all: Session[] = []
  for (const name of ['server', 'backup', 'Ada', 'Grace']) {
    const options = { game: 'garden', name, types: [Pot] }
    all.push(await w.join(options, { name, kind: 'node' }))
    await w.run(2_500)
  }
  const [, backup, ada, grace] = all
  backup!.create(Pot, { x: 1 })
  await w.run(2_000)
  expect(ada!.backup?.name).toBe('backup')
  for (const [to, from] of [
    ['backup', 'hub'],
    ['hub', 'backup'],
  ] as const) {
    w.deafen(to, from)
  }
  const seen = new Set<boolean>()
  for (let i = 0; i < 300; i++) {
    await w.run(100)
    for (const one of [ada, grace]) seen.add(one!.all(Pot)[0]!.away)
  }
  expect([...seen]).toEqual([false])
})

test('a link that is hardly used is not in doubt between two of its packets', async () => {
  const w = world({ seed: 4, conditions: 'rtt=20' })
  const all: Session[] = []
  for (const name of ['server', 'backup', 'Ada']) {
    all.push(await w.join({ game: 'garden', name }, { name, kind: 'node' }))
    await w.run(2_500)
  }
  const [server, backup, ada] = all
  await w.run(5_000)
  const silences = [server, backup].map((other) => {
    const { link, paths } = ada!.member!.peers.get(other!.me.inc)!
    return [link!.keepaliveMs, paths.limit]
  })
  // A path is probed from half of the limit on.
  expect(silences).toEqual([
    [400, 1_000],
    [2_000, 5_000],
  ])
})

test('after a takeover, or when the server leaves, a Node process becomes backup before pages (T37)', async () => {
  const next: string[] = []
  for (let k = 0; k < 12; k++) {
    const w = world({ seed: 5 + k, conditions: 'rtt=60' })
    const all: Session[] = []
    for (const name of ['server', 'backup', 'node', 'page-1', 'page-2']) {
      const kind = name.startsWith('page') ? 'browser' : 'node'
      all.push(await w.join({ game: 'garden', name }, { name, kind }))
      await w.run(2_500)
    }
    const [server, backup] = all
    await w.run(12_000 + k * 330)
    if (k < 6) w.kill(server!)
    else void server!.leave()
    const isBacked = (): boolean => backup!.primary?.name === 'backup' && backup!.backup !== null
    expect(await w.runUntil(isBacked, 2_000)).toBe(true)
    next.push(backup!.backup!.kind)
  }
  expect(next).toEqual(Array(12).fill('node'))
})
