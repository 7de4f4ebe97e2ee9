// Goal: whoever plays knows within a second that the hub is gone, and when it is back.
// Method: whole sessions in virtual time with the shipped hub, which is killed, or stands still
// with its streams open; by the stream alone, and with paths of their own.
import { describe, expect, test } from 'vitest'
import { action } from '../../packages/holdfast/src/actions/actions.ts'
import type { InternalSession as Session } from '../../packages/holdfast/src/join/session-impl.ts'
import { needsHub } from '../../packages/holdfast/src/member/member.ts'
import { noteFailure } from '../../packages/hub/src/machine/hub.ts'
import { type SessionWorld, world } from '../../packages/sim/src/session-world.ts'

interface Room {
  w: SessionWorld
  all: Session[]
  told: string[]
}

async function room(
  kind: 'browser' | 'node',
  rtt: number,
  count: number,
  seconds = 3,
): Promise<Room> {
  const w = world({ seed: 12, conditions: `rtt=${rtt}` })
  const all: Session[] = []
  const told: string[] = []
  for (const name of ['Ada', 'Grace', 'Linus'].slice(0, count)) {
    const session = await w.join({ game: 'garden', name }, { name, kind })
    session.on('hub', (hub) => void told.push(`${name} ${hub}`))
    all.push(session)
  }
  await w.run(seconds * 1_000)
  expect(all.map(({ hub }) => hub)).toEqual(all.map(() => 'up'))
  return { w, all, told }
}

const CASES = (['browser', 'node'] as const).flatMap((kind) =>
  [10, 150].flatMap((rtt) => [1, 2].map((count) => ({ kind, rtt, count }))),
)

describe.each(CASES)('$count $kind over $rtt ms', ({ kind, rtt, count }) => {
  test('are told at once that the hub was killed, and when it is back (N-14)', async () => {
    const { w, all, told } = await room(kind, rtt, count)
    const names = all.map(({ me }) => me.name)
    w.killHub()
    await w.run(rtt + 10)
    expect(told.toSorted()).toEqual(names.map((name) => `${name} down`))
    expect(all.map(({ hub }) => hub)).toEqual(all.map(() => 'down'))
    w.restartHub()
    await w.runUntil(() => all.every(({ hub }) => hub === 'up'), 20_000)
    expect(all.map(({ hub }) => hub)).toEqual(all.map(() => 'up'))
  })

  test('are told within a second that the hub stands still, and when it goes on (N-14)', async () => {
    const { w, all, told } = await room(kind, rtt, count)
    const names = all.map(({ me }) => me.name)
    w.stall('hub', 4_000)
    await w.run(1_000)
    expect(told.toSorted()).toEqual(names.map((name) => `${name} down`))
    await w.run(4_000)
    expect(all.map(({ hub }) => hub)).toEqual(all.map(() => 'up'))
  })
})

test('a member that neither serves nor is relayed is told within two seconds', async () => {
  const { w, all, told } = await room('node', 10, 3, 8)
  expect(all.map(({ member }) => needsHub({ member: member! }))).toEqual([true, true, false])
  w.stall('hub', 4_000)
  await w.run(2_000)
  expect(told.toSorted()).toEqual(['Ada down', 'Grace down', 'Linus down'])
})

test('in a mesh each member needs the hub, for others may be relayed', async () => {
  const w = world({ seed: 12, conditions: 'rtt=10' })
  const all: Session[] = []
  for (const name of ['Ada', 'Grace', 'Linus']) {
    const options = { game: 'garden', name, topology: 'mesh' } as const
    all.push(await w.join(options, { name, kind: 'node' }))
  }
  await w.run(8_000)
  expect(all.map(({ member }) => needsHub({ member: member! }))).toEqual([true, true, true])
})

test('three members in pages, all relayed, are each told within a second', async () => {
  const { w, all, told } = await room('browser', 10, 3, 8)
  expect(all.map(({ member }) => needsHub({ member: member! }))).toEqual([true, true, true])
  w.stall('hub', 4_000)
  await w.run(1_000)
  expect(told.toSorted()).toEqual(['Ada down', 'Grace down', 'Linus down'])
})

test.each(['browser', 'node'] as const)(
  'without the hub two of kind %s say `waiting` exactly while their changes wait',
  async (kind) => {
    const add = action('add', (table) => table.set('sum', Number(table.get('sum') ?? 0) + 1))
    const w = world({ seed: 12, conditions: 'rtt=20' })
    const [ada, bea] = [
      await w.join({ game: 'garden', name: 'Ada', types: [add] }, { name: 'Ada', kind }),
      await w.join({ game: 'garden', name: 'Bea', types: [add] }, { name: 'Bea', kind }),
    ]
    const safety = (): string[] => [ada.safety, bea.safety]
    // By then members with addresses have paths of their own.
    await w.run(5_000)
    expect(safety()).toEqual(['backed-up', 'backed-up'])
    w.killHub()
    let done = 0
    for (const session of [ada, bea]) void session.act(add).then(() => done++)
    await w.run(500)
    const waits = kind === 'browser'
    for (const ms of [0, 2_900, 3_000, 8_000]) {
      await w.run(ms)
      expect(safety()).toEqual(Array(2).fill(waits ? 'waiting' : 'backed-up'))
    }
    expect(done).toBe(waits ? 0 : 2)
    w.restartHub()
    await w.runUntil(() => done === 2 && safety().every((one) => one === 'backed-up'), 20_000)
    expect([done, ...safety()]).toEqual([2, 'backed-up', 'backed-up'])
  },
)

test('members hear when the hub waits for its store, and when it no longer does', async () => {
  const { w, all, told } = await room('browser', 20, 2)
  noteFailure(w.hub()!.turn, true)
  await w.run(50)
  expect(all.map(({ hub }) => hub)).toEqual(['waiting', 'waiting'])
  noteFailure(w.hub()!.turn, false)
  await w.run(50)
  expect(told.toSorted()).toEqual(['Ada up', 'Ada waiting', 'Grace up', 'Grace waiting'])
  // While the hub is down members know nothing of its store. The next one has a store that answers.
  noteFailure(w.hub()!.turn, true)
  await w.run(50)
  w.killHub()
  await w.run(50)
  expect(all.map(({ hub }) => hub)).toEqual(['down', 'down'])
  w.restartHub()
  await w.runUntil(() => all.every(({ hub }) => hub === 'up'), 20_000)
  expect(told.slice(4).filter((one) => one.startsWith('Ada'))).toEqual([
    ...['Ada waiting', 'Ada down', 'Ada up'],
  ])
})

test('a hub that answers slowly is not taken for gone, nor one after a standstill (N-14)', async () => {
  for (const rtt of [20, 300, 600]) {
    const { w, told } = await room('browser', rtt, 2)
    w.stall('Ada', 1_500)
    await w.run(20_000)
    expect([rtt, told]).toEqual([rtt, []])
  }
})
