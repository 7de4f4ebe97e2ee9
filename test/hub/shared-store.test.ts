// Goal: hubs on one store, each in its loop: who stands still starts over, who closes leaves its
// rooms to the others, and who is cut off says so.
// Method: loops by hand, and a disk that both hubs have.
import { describe, expect, test } from 'vitest'
import type { Saved } from '../../packages/holdfast/src/hub-protocol/saved-room.ts'
import { HoldfastError } from '../../packages/holdfast/src/machine.ts'
import { BEAT_MS, bootOf, STILL_MS } from '../../packages/hub/src/machine/heartbeat.ts'
import { readPlace } from '../../packages/hub/src/machine/places.ts'
import { LATE_MS } from '../../packages/hub/src/server/closed-records.ts'
import { SEED_RECORD, writeSeed } from '../../packages/hub/src/server/hub-key.ts'
import type { Store, StoreOutcome } from '../../packages/holdfast/src/ports.ts'
import { toyCurves } from '../../packages/sim/src/toy-ciphers.ts'
import { DISK_MS } from '../../packages/hub/src/server/hub-server.ts'
import { Caller } from './caller.ts'
import { listed, proof } from './desk.ts'
import { PlainDisk } from './plain-disk.ts'
import { Scene } from './server-scene.ts'

const MAIN = '1 g main'

const saved: Saved = {
  ...{ game: 'g', room: 'other', session: 'abc-1', playersMax: 4, topology: 'star' },
  ...{ terms: 'keep=30', recovers: true, hosts: false, epoch: 9, next: 7, time: 5_000 },
  ...{ index: 3, entrants: [], segments: [Uint8Array.of(1)] },
}

/** A hub with a room, and one that started after it. */
async function pair(): Promise<{ one: Scene; two: Scene; disk: PlainDisk }> {
  const disk = new PlainDisk()
  const one = new Scene(disk, { boot: 7, isShared: true })
  one.found()
  await one.pass(BEAT_MS)
  return { one, two: new Scene(disk, { boot: 70, isShared: true }), disk }
}

const heartbeatsOn = ({ records }: PlainDisk): string[] => {
  return [...records.keys()].filter((key) => key.startsWith('hub '))
}

test('a hub that closes leaves its rooms to the others at once', async () => {
  const { one, two, disk } = await pair()
  await two.pass(BEAT_MS)
  expect(heartbeatsOn(disk)).toHaveLength(2)
  // The hubs have no links: the request waits.
  const next = two.found()
  await two.pass(50)
  await one.server.close()
  expect([heartbeatsOn(disk).length, disk.records.has(MAIN)]).toEqual([1, true])
  await two.pass(3 * BEAT_MS)
  expect(next.heard.at(-1)).toMatchObject({ kind: 'added', created: false })
  expect(readPlace(disk.records.get(MAIN)!.value)!.boot).toBe(two.server.hub.boot)
})

test('a hub that is closed before its first heartbeat is closed', async () => {
  const { server } = new Scene(new PlainDisk(), { isShared: true })
  await server.close()
  expect(server.hub.heartbeat).toMatchObject({ isLeaving: true, rev: 0 })
})

test('a hub that stood still closes its streams and ends its imports, and goes on then', async () => {
  const { one, two, disk } = await pair()
  const caller = one.found()
  one.answer = (change) => (change.key === '1 g other' ? null : disk.change(change))
  const imported = one.server.restoreRoom(saved, { game: 'g', room: 'other' })
  await one.pass(50)
  await two.pass(STILL_MS + 3 * BEAT_MS)
  expect(heartbeatsOn(disk)).toHaveLength(1)
  const before = one.server.hub.boot
  await one.pass(4 * BEAT_MS)
  expect([caller.isClosed, one.server.hub.boot === before]).toEqual([true, false])
  expect(await imported).toMatchObject({ code: 'store' })
  expect(heartbeatsOn(disk)).toHaveLength(2)
  const back = one.found()
  await one.pass(4 * BEAT_MS)
  expect(back.heard.at(-1)).toMatchObject({ kind: 'added', created: false })
  expect(one.server.hub.counters).toMatchObject({ fenced: 1, thrown: 0 })
})

test('a hub that is fenced as it closes goes on closing', async () => {
  const { one, two, disk } = await pair()
  await two.pass(BEAT_MS)
  const { boot } = one.server.hub
  const caller = one.found(2, 'other')
  // What it reads comes late.
  one.isHeld = true
  await one.pass(BEAT_MS)
  const closing = one.server.close()
  const [key] = heartbeatsOn(disk).filter((each) => bootOf(each) === boot)
  disk.records.delete(key!)
  await one.pass(2 * BEAT_MS)
  one.isHeld = false
  for (const answer of one.held.splice(0)) answer()
  await one.pass(4 * BEAT_MS)
  await closing
  expect([one.server.hub.boot, caller.isClosed]).toEqual([boot, false])
})

test('a hub whose store does not answer says so within two seconds', async () => {
  const { one, disk } = await pair()
  expect(one.server.health()).toMatchObject({ ok: true, trouble: null })
  const heard = ({ heard: all }: Caller): unknown[] => all.filter(({ kind }) => kind === 'store')
  const before = new Caller(one.server)
  one.answer = () => null
  await one.pass(STILL_MS)
  expect(one.server.health()).toMatchObject({
    ok: false,
    trouble: expect.stringMatching(/store does not answer/),
  })
  expect(heard(before)).toEqual([{ kind: 'store', answers: false }])
  const after = new Caller(one.server)
  expect(after.heard.map(({ kind }) => kind)).toEqual(['welcome', 'signs', 'store'])
  one.answer = (change) => disk.change(change)
  for (const answer of one.late.splice(0)) answer()
  await one.pass(BEAT_MS + 50)
  expect(heard(before)).toEqual([
    { kind: 'store', answers: false },
    { kind: 'store', answers: true },
  ])
  expect([heard(after).at(-1), one.server.health().ok]).toEqual([heard(before).at(-1), true])
})

test('a hub whose store leaves the record of one room unwritten for two seconds says so', async () => {
  const { one, disk } = await pair()
  const caller = new Caller(one.server)
  const told = (): unknown[] => {
    return caller.heard.flatMap((each) => (each.kind === 'store' ? [each.answers] : []))
  }
  one.answer = (change) => (change.key === '1 g other' ? 'unknown' : disk.change(change))
  one.found(2, 'other')
  await one.pass(STILL_MS - BEAT_MS)
  expect([told(), one.server.health().ok]).toEqual([[], true])
  await one.pass(2 * BEAT_MS)
  expect([told(), one.server.health().ok]).toEqual([[false], false])
  await one.pass(STILL_MS)
  expect(told()).toEqual([false])
  one.answer = (change) => disk.change(change)
  await one.pass(2 * BEAT_MS)
  expect([told(), one.server.health().ok]).toEqual([[false, true], true])
})

test('a hub whose store refuses only some writes says so once, and once that all succeed', async () => {
  const { one, disk } = await pair()
  const caller = new Caller(one.server)
  const told = (): unknown[] => {
    return caller.heard.flatMap((each) => (each.kind === 'store' ? [each.answers] : []))
  }
  const full = new HoldfastError('store', 'the disk is full')
  one.answer = (change) => (change.key === '1 g other' ? full : disk.change(change))
  for (let n = 0; n < 12; n++) {
    one.found(2, 'other')
    await one.pass(BEAT_MS / 2)
  }
  expect(told()).toEqual([false])
  await one.pass(STILL_MS)
  expect(told()).toEqual([false, true])
})

test('a hub whose store fails again and again says so once, however long it waits between', async () => {
  const scene = new Scene()
  const caller = scene.found()
  await scene.pass(50)
  const told = (): unknown[] => {
    return caller.heard.flatMap((each) => (each.kind === 'store' ? [each.answers] : []))
  }
  const [session] = scene.server.hub.registers.rows.keys()
  caller.say({ kind: 'attach', request: 2, session: session!, inc: 1, proof: proof(1) })
  scene.answer = () => new HoldfastError('store', 'the disk is full')
  const members = [listed(1), listed(2)]
  caller.say({ kind: 'members', session: session!, members, players: 2 })
  await scene.pass(5 * DISK_MS)
  expect(told()).toEqual([false])
})

test('a hub says that its store fails as soon as that is checked, or cannot be read', async () => {
  for (const isRead of [false, true]) {
    const scene = new Scene()
    const caller = new Caller(scene.server)
    await scene.pass(50)
    scene.trouble = new HoldfastError('store', 'the disk is gone')
    if (isRead) {
      scene.answer = () => 'unknown'
      scene.found()
    }
    await scene.pass(isRead ? 50 : DISK_MS)
    expect(caller.heard.at(-1)).toEqual({ kind: 'store', answers: false })
  }
})

test('a hub alone with its store writes no heartbeats', async () => {
  const one = new Scene()
  one.found()
  await one.pass(5 * STILL_MS)
  expect([...one.disk.records.keys()]).toEqual(['the hub', MAIN])
})

test('of two hubs that start at once the key of the faster one counts', async () => {
  const disk = new PlainDisk()
  const value = new Uint8Array(32).fill(1)
  const scene = new Scene(disk, { isShared: true })
  const caller = scene.found()
  // As if this hub had not found the other one's seed when it started.
  disk.records.set(SEED_RECORD, { value, rev: 1_000 })
  const answers: StoreOutcome[] = ['unknown', 'conflict']
  const found = [null, { value, rev: 1_000 }]
  const replaced: Uint8Array[] = []
  const store = {
    cas: (_change: unknown, done: (outcome: StoreOutcome) => void) => done(answers.shift()!),
    get: (_key: string, done: (one: unknown) => void) => done(found.shift()),
  }
  writeSeed(store as unknown as Store, new Uint8Array(32), (seed) => replaced.push(seed))
  expect(replaced).toEqual([value])
  scene.server.setSeed(value)
  expect([scene.server.hub.key, caller.isClosed]).toEqual([toyCurves.signer(value), true])
  expect(new Caller(scene.server).heard.at(-1)).toMatchObject({ key: toyCurves.signer(value) })
})

describe('a room that an operator closed', () => {
  const PLACE = { game: 'g', room: 'main' }
  const last = ({ heard }: Caller): unknown => heard.at(-1)
  const refused = { kind: 'refused', why: expect.stringContaining('not admitted: over') as string }

  test('ends at the hub that has it, and is refused by all, also after a restart', async () => {
    const { one, two, disk } = await pair()
    await two.pass(BEAT_MS)
    expect(two.server.closeRoom(PLACE, 'over', 60_000)).toBe(1)
    await two.pass(100)
    await one.pass(100)
    expect(one.server.hub.registers.rows.size).toBe(0)
    const third = new Scene(disk, { boot: 700, isShared: true })
    await third.pass(BEAT_MS)
    for (const hub of [one, two, third]) {
      const caller = hub.found()
      await hub.pass(100)
      expect(last(caller)).toMatchObject(refused)
    }
  })

  test('opens again, and later news do not end its next session', async () => {
    const { one, two, disk } = await pair()
    await two.pass(BEAT_MS)
    two.server.closeRoom(PLACE, 'over', 1_000)
    await two.pass(100)
    await one.pass(1_500)
    const next = one.found()
    await one.pass(100)
    expect(last(next)).toMatchObject({ kind: 'added', created: true })
    for (const heard of disk.watchers)
      heard('closed 1 g main', disk.records.get('closed 1 g main')!)
    await one.pass(100)
    expect(one.server.hub.registers.rows.size).toBe(1)
    // A hub that starts later removes the record.
    expect(disk.records.has('closed 1 g main')).toBe(true)
    const third = new Scene(disk, { boot: 700, isShared: true, wall: 2_000 + LATE_MS })
    await third.pass(100)
    expect(disk.records.has('closed 1 g main')).toBe(false)
  })

  test('stays closed as the last of two hubs said', async () => {
    const { one, two, disk } = await pair()
    await two.pass(BEAT_MS)
    one.server.closeRoom(PLACE, 'over', 1_000)
    // The first hub is faster by a moment.
    let isLate = true
    two.answer = (change) => {
      if (!isLate || !change.key.startsWith('closed')) return disk.change(change)
      isLate = false
      return 'conflict'
    }
    two.server.closeRoom(PLACE, 'over for long', 60_000)
    await one.pass(2_000)
    await two.pass(100)
    const caller = one.found()
    await one.pass(100)
    expect(last(caller)).toMatchObject({ why: expect.stringContaining('over for long') as string })
    expect([...disk.records.keys()].filter((key) => key.startsWith('closed'))).toHaveLength(1)
  })
})
