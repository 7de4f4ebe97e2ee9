// Goal: hubs that were fenced destroy nothing that others have claimed, whatever of theirs comes to
// the store late; and no outage or crash leaves a room that nobody can claim.
// Method: hubs by hand on one disk; each test is the shortest course of a defect that was found.
import { expect, test } from 'vitest'
import type { ToHub } from '../../packages/holdfast/src/hub-protocol/messages.ts'
import type { StoreChange } from '../../packages/holdfast/src/ports.ts'
import { BEAT_MS, STILL_MS } from '../../packages/hub/src/machine/heartbeat.ts'
import * as hub from '../../packages/hub/src/machine/hub.ts'
import { readPlace } from '../../packages/hub/src/machine/places.ts'
import { GONE_MS } from '../../packages/hub/src/machine/register.ts'
import { Desk, listed, proof } from './desk.ts'
import { Kept } from './kept-room.ts'
import { PlainDisk } from './plain-disk.ts'
import { Scene } from './server-scene.ts'
import {
  GONE,
  halfMoved,
  heartbeatsOn,
  hubs,
  lastOf,
  MAIN,
  pass,
  reads,
  tenderOf,
} from './shared-hubs.ts'

const rolesOf = (session: string, why: string, more: object): ToHub => {
  const own = { session, inc: 1, proof: proof(1), expect: 1, primary: 1, backup: 0 }
  return { kind: 'change', request: 9, ...own, why, ...more } as ToHub
}

/** A change of a record that is on its way. */
function sends(desk: Desk, key: string): StoreChange {
  desk.owed.delete(key)
  return hub.beginWrite(desk.hub, key)!
}

test('a hub that lost a room writes nothing of it, also not what was requested before', () => {
  const [one, two] = hubs()
  const { id, streams } = one!.session(2)
  reads(two!)
  two!.attach(two!.open(), id, 2)
  pass(2 * STILL_MS, two!)
  one!.now = two!.now
  one!.atOnce = false
  one!.say(streams[0]!, rolesOf(id, 'add', { backup: 2 }))
  const change = sends(one!, MAIN)
  const members = [listed(1), listed(2)]
  one!.say(streams[0]!, { kind: 'members', session: id, members, players: 2 })
  expect(one!.disk.change(change)).toBe('conflict')
  hub.settleWrite(one!, MAIN, one!.disk.records.get(MAIN)!)
  one!.write()
  expect([tenderOf(two!), two!.hub.registers.rows.size]).toEqual([1_001, 1])
  // Its members are told to come again, not that they were removed.
  expect(streams.map((stream) => one!.closed.get(stream))).toEqual([
    'another hub has this room by now: join again',
    'another hub has this room by now: join again',
  ])
})

test('a room that was opened and left again at another hub is removed in its own time', () => {
  const [one, two] = hubs()
  const room = new Kept(one)
  room.keep('whole ', 1)
  one!.say(room.founder, rolesOf(room.id, 'end', {}))
  reads(two!)
  pass(300_000, one!, two!)
  const { stream, heard } = room.opens(2)
  const inc = room.added(heard)!.entry.register.primary
  one!.attach(stream, room.id, inc, 2)
  one!.say(stream, rolesOf(room.id, 'end', { inc, proof: proof(2), expect: 2, primary: inc }))
  pass(400_000, one!, two!)
  expect([tenderOf(one!), one!.disk.blobs.size]).toEqual([1, 1])
  pass(300_000, one!, two!)
  expect([tenderOf(one!), one!.disk.blobs.size]).toEqual([undefined, 0])
})

test('a room whose session ended as its hub was fenced is kept for its time', () => {
  const [one, two] = hubs()
  const room = new Kept(one)
  room.keep('whole ', 1)
  reads(two!)
  pass(STILL_MS + 2 * BEAT_MS, two!)
  one!.now = two!.now
  one!.atOnce = false
  one!.say(room.founder, rolesOf(room.id, 'end', {}))
  const change = sends(one!, MAIN)
  hub.confirmWrite(one!, MAIN, (one!.disk.change(change) as { rev: number }).rev)
  // Its retention is not written: the hub finds out first.
  one!.owed.clear()
  hub.wake(one!)
  one!.owed.delete(MAIN)
  one!.atOnce = true
  one!.write()
  expect([one!.hub.counters.fenced, one!.hub.archive.rooms.size]).toEqual([1, 1])
  pass(60_000, one!, two!)
  const { stored } = readPlace(one!.disk.records.get(MAIN)!.value)!
  expect([stored!.until > 0, one!.disk.blobs.size]).toEqual([true, 1])
})

test('the first half of a move that comes late, from a fenced hub, counts for nothing', () => {
  const [one, two, three] = hubs(3)
  const { id, streams } = one!.session(2)
  for (const desk of [two!, three!]) reads(desk)
  for (const stream of streams) one!.close(stream)
  one!.recovers = false
  one!.go(GONE_MS + 100)
  one!.atOnce = false
  one!.add(one!.open(), 'main', 3)
  const late = sends(one!, `${MAIN}~${id}`)
  const stream = two!.open()
  two!.attach(stream, id, 1)
  pass(2 * STILL_MS, two!, three!)
  one!.disk.change(late)
  two!.say(stream, { kind: 'members', session: id, members: [listed(1), listed(2)], players: 2 })
  two!.say(stream, rolesOf(id, 'add', { backup: 2 }))
  hub.receiveNews(two!, late.key, two!.disk.records.get(late.key)!)
  expect([two!.hub.sessionsElsewhere.has(id), two!.hub.moves.size]).toEqual([false, 0])
  three!.restart()
  pass(2 * STILL_MS, three!)
  const back = three!.open()
  three!.attach(back, id, 1)
  pass(2 * BEAT_MS, three!)
  expect(lastOf(three!, back)).toMatchObject({ kind: 'attached', register: { epoch: 2 } })
  expect([...three!.disk.records.keys()].filter((key) => key.startsWith(MAIN))).toEqual([MAIN])
})

test('two hubs that claim a half-moved session at once do not block each other', () => {
  const { one, two, id, aside } = halfMoved()
  const three = new Desk({}, { disk: two.disk, boot: 2_001, isShared: true })
  three.now = two.now
  three.go(0)
  reads(three)
  const streams = [two, three].map((desk) => {
    const stream = desk.open()
    desk.attach(stream, id, 1)
    return stream
  })
  // Each is about to write when the other is.
  for (const desk of [two, three]) {
    const late = desk.store
    desk.store = (change) => {
      if (change.key === aside && tenderOf(one) === 1) return GONE
      return late(change)
    }
  }
  pass(5 * STILL_MS, two, three)
  const answers = [two, three].map((desk, at) => lastOf(desk, streams[at]!)?.kind)
  expect(new Set(answers)).toEqual(new Set(['attached', 'signs']))
  expect(two.hub.registers.rows.size + three.hub.registers.rows.size).toBe(1)
})

test('a write of an earlier claim is not taken for one of the next', () => {
  const { two, id, aside } = halfMoved()
  const stream = two.open()
  two.attach(stream, id, 1)
  let errors = 0
  // The former place is written; the other one fails twice.
  two.store = (change) => {
    return change.key === aside && errors++ < 2 ? GONE : two.disk.change(change)
  }
  pass(STILL_MS + 6 * BEAT_MS, two)
  expect(lastOf(two, stream)).toMatchObject({ kind: 'attached' })
  expect([tenderOf(two, aside), tenderOf(two)]).toEqual([1_001, undefined])
})

test('a hub that does not know whether it is known takes another name', () => {
  const disk = new PlainDisk()
  const desk = new Desk({}, { disk, isShared: true })
  let isFirst = true
  desk.store = (change) => {
    if (!isFirst) return disk.change(change)
    isFirst = false
    return 'unknown'
  }
  desk.go(2 * BEAT_MS)
  expect([desk.hub.boot, heartbeatsOn(desk)]).toEqual([101, ['hub 2t']])
})

test('after an outage of the store no hub takes the others for dead', () => {
  const made = hubs(2)
  const [one, two] = made
  for (const desk of made) reads(desk)
  two!.go(400)
  one!.go(100)
  pass(STILL_MS, ...made)
  for (const desk of made) desk.store = () => GONE
  pass(5_000, ...made)
  for (const desk of made) desk.store = (change) => desk.disk.change(change)
  // Its own heartbeat is acknowledged first, and then its reads are answered.
  one!.isRead = false
  one!.go(600)
  one!.isRead = true
  one!.write()
  pass(STILL_MS, ...made)
  expect(made.map(({ hub: { counters } }) => counters.fenced)).toEqual([0, 0])
})

test('a hub that beats again as it is about to be fenced is not', () => {
  const [one, two] = hubs()
  reads(two!)
  pass(2 * BEAT_MS, one!, two!)
  two!.store = (change) => (change.key === 'hub 1' ? GONE : two!.disk.change(change))
  pass(STILL_MS + 2 * BEAT_MS, two!)
  one!.now = two!.now
  one!.wake()
  two!.atOnce = false
  two!.go(BEAT_MS)
  two!.read()
  two!.store = (change) => two!.disk.change(change)
  two!.owed.add('hub 1')
  two!.write()
  expect(heartbeatsOn(one!)).toContain('hub 1')
})

test('what the store says of changes from before a hub was fenced counts for nothing', () => {
  const [one, two] = hubs()
  const { streams } = one!.session(2)
  reads(two!)
  one!.atOnce = false
  const session = one!.hub.registers.rows.keys().next().value!
  one!.say(streams[0]!, rolesOf(session, 'add', { backup: 2 }))
  const late = sends(one!, MAIN)
  pass(2 * STILL_MS, two!)
  one!.now = two!.now
  hub.wake(one!)
  one!.write()
  expect(one!.hub.counters.fenced).toBe(1)
  hub.confirmWrite(one!, MAIN, (one!.disk.change(late) as { rev: number }).rev)
  one!.owed.add(MAIN)
  one!.write()
  expect([one!.hub.places.size, tenderOf(one!)]).toEqual([0, 1])
})

test('requests of streams that are gone are forgotten', () => {
  const [one, two] = hubs()
  one!.session(1)
  reads(two!)
  for (let left = 20; left > 0; left--) {
    const stream = two!.open()
    two!.add(stream, 'main', 2)
    two!.close(stream)
  }
  expect(two!.hub.waiting.size).toBe(0)
})

test('a hub that closes writes what was requested behind a write, and leaves then', async () => {
  const disk = new PlainDisk()
  const one = new Scene(disk, { isShared: true })
  const caller = one.found()
  await one.pass(BEAT_MS)
  const added = caller.heard.find((said) => said.kind === 'added')!
  const { session } = added.entry
  caller.say({ kind: 'attach', request: 2, session, inc: 1, proof: proof(1) })
  await one.pass(100)
  let isFirst = true
  one.answer = (change) => {
    const made = disk.change(change)
    if (change.key !== MAIN || !isFirst) return made
    isFirst = false
    one.isHeld = true
    return 'unknown'
  }
  caller.say({ kind: 'members', session, members: [listed(1)], players: 1 })
  await one.pass(50)
  caller.say({ kind: 'members', session, members: [listed(1), listed(2)], players: 2 })
  const closed = one.server.close()
  await one.pass(150)
  one.isHeld = false
  for (const run of one.held.splice(0)) run()
  await one.pass(BEAT_MS)
  await closed
  expect(readPlace(disk.records.get(MAIN)!.value)!.session.members).toHaveLength(2)
  expect([...disk.records.keys()]).toEqual(['the hub', MAIN])
})
