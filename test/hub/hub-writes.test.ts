// Goal: the loop of a hub ends, and answers imports by their own writes, whatever its store says.
// Method: a loop by hand, and a store that answers when and what the test says.
import { expect, test } from 'vitest'
import type { Saved } from '../../packages/holdfast/src/hub-protocol/saved-room.ts'
import { UNREADABLE } from '../../packages/holdfast/src/hub-protocol/messages.ts'
import { HoldfastError } from '../../packages/holdfast/src/machine.ts'
import * as hub from '../../packages/hub/src/machine/hub.ts'
import { readPlace } from '../../packages/hub/src/machine/places.ts'
import { GONE_MS } from '../../packages/hub/src/machine/register.ts'
import { dropRoom, storedRooms } from '../../packages/hub/src/rooms.ts'
import { Desk, listed, proof } from './desk.ts'
import { Scene } from './server-scene.ts'

const PLACE = { game: 'g', room: 'main' }
const FULL = new HoldfastError('store', 'the disk is full')

const saved: Saved = {
  ...{ ...PLACE, session: 'abc-1', playersMax: 4, topology: 'star', terms: 'keep=30' },
  ...{ recovers: true, hosts: false, epoch: 9, next: 7, time: 5_000, index: 3 },
  ...{ entrants: [], segments: [Uint8Array.of(1)] },
}

test('a hub whose store never says what became of a change closes, and asks nothing after (SE-5)', async () => {
  const scene = new Scene()
  await scene.pass(100)
  scene.answer = () => 'unknown'
  scene.found()
  await scene.pass(1_000)
  const { asked } = scene
  await scene.pass(1_000)
  expect(scene.asked).toBeGreaterThan(asked)
  const closing = scene.server.close()
  await scene.pass(500)
  await closing
  const before = scene.asked
  await scene.pass(10_000)
  expect(scene.asked).toBe(before)
})

test('a hub that closes while its store is checked asks nothing after (SE-5)', async () => {
  const scene = new Scene()
  scene.isChecked = false
  await scene.pass(3_000)
  expect(scene.unchecked).toHaveLength(1)
  await scene.server.close()
  for (const done of scene.unchecked.splice(0)) done()
  await scene.pass(10_000)
  expect([scene.unchecked.length, scene.server.health().ok]).toEqual([0, true])
})

test('a hub that closes writes what was requested before, and takes no more requests (SE-5)', async () => {
  const scene = new Scene()
  await scene.pass(100)
  const [ada, grace] = [scene.found(), scene.found(2, 'other')]
  const closing = scene.server.close()
  ada.say({ kind: 'ping', count: 1 })
  ada.say({ kind: 'list', request: 2, game: 'g', after: '' })
  const late = scene.found(3, 'third')
  await scene.pass(1_000)
  await closing
  expect([...scene.disk.records.keys()]).toEqual(['the hub', '1 g main', '1 g other'])
  const heard = [ada, grace].map((one) => one.heard.map(({ kind }) => kind))
  expect(heard).toEqual([0, 1].map(() => ['welcome', 'signs', 'added']))
  expect([late.isClosed, ada.isClosed]).toEqual([true, false])
})

test('an import is answered by its own write, and not as stored if that lost (SE-4)', async () => {
  const scene = new Scene()
  await scene.pass(100)
  // Another hub takes the place meanwhile.
  scene.answer = (change) => {
    scene.disk.change({ ...change, value: Uint8Array.of(9), blobs: [] })
    return 'conflict'
  }
  const importing = scene.server.restoreRoom(saved, PLACE)
  await scene.pass(1_000)
  expect(await importing).toBeInstanceOf(HoldfastError)
  expect(scene.server.hub.archive.rooms.size).toBe(0)
})

test('an import that the disk refuses is not stored, and is another time (SE-4)', async () => {
  const scene = new Scene()
  await scene.pass(100)
  scene.answer = () => FULL
  const importing = scene.server.restoreRoom(saved, PLACE)
  await scene.pass(1_000)
  expect(await importing).toMatchObject({ code: 'store', message: FULL.message })
  scene.answer = (change) => scene.disk.change(change)
  const again = scene.server.restoreRoom(saved, PLACE)
  await scene.pass(1_000)
  expect([await again, scene.disk.blobs.size]).toEqual([null, 1])
})

test('a place whose write throws costs no other place (SE-1)', async () => {
  const scene = new Scene()
  await scene.pass(100)
  const { rows } = scene.server.hub.registers
  const caller = scene.found()
  const [cursed] = rows.values()
  Object.defineProperty(cursed!, 'members', {
    get: () => {
      throw new Error('a bug')
    },
  })
  const importing = scene.server.restoreRoom(
    { ...saved, room: 'other' },
    { ...PLACE, room: 'other' },
  )
  await scene.pass(1_000)
  expect([await importing, caller.heard.some(({ kind }) => kind === 'added')]).toEqual([
    null,
    false,
  ])
  expect(scene.server.hub.counters.thrown).toBeGreaterThan(0)
})

test('what ends after a hub was closed is asked of no store (SE-5)', async () => {
  const scene = new Scene()
  await scene.pass(100)
  const founder = scene.found()
  await scene.pass(500)
  await scene.server.close()
  const { asked } = scene
  founder.ends()
  await scene.pass(10_000)
  expect(scene.asked).toBe(asked)
})

test('a list of members that the disk refused is written once it takes it (SE-5)', async () => {
  const scene = new Scene()
  await scene.pass(100)
  const founder = scene.found()
  await scene.pass(500)
  const [session] = scene.server.hub.registers.rows.keys()
  founder.say({ kind: 'attach', request: 2, session: session!, inc: 1, proof: proof(1) })
  scene.answer = () => FULL
  const members = [listed(1), listed(2)]
  founder.say({ kind: 'members', session: session!, members, players: 2 })
  await scene.pass(500)
  scene.answer = (change) => scene.disk.change(change)
  await scene.pass(5_000)
  const { value } = scene.disk.records.get('1 g main')!
  expect(readPlace(value)!.session.members).toHaveLength(2)
})

test('a move that a kill interrupted is completed by the next start, unasked', async () => {
  const desk = new Desk()
  const { id, streams } = desk.session(1)
  desk.close(streams[0]!)
  desk.go(GONE_MS + 1)
  desk.atOnce = false
  desk.add(desk.open(), 'main', 2)
  desk.disk.change(hub.beginWrite(desk.hub, `1 g main~${id}`)!)
  expect([...desk.disk.records.keys()]).toEqual(['1 g main', `1 g main~${id}`])
  const scene = new Scene(desk.disk)
  await scene.pass(500)
  expect([...desk.disk.records.keys()].toSorted()).toEqual([`1 g main~${id}`, 'the hub'])
})

const segmentsOf = (room: Saved | null): number[][] | undefined => {
  return room?.segments.map((bytes) => [...bytes])
}

/** Writes the imported room again, with one segment. */
function written({ disk }: Scene, segment: number): void {
  const key = '1 g main'
  const { rev, value } = disk.records.get(key)!
  disk.change({ key, rev, value, blobs: [['abc-1 0', Uint8Array.of(segment)]] })
}

test('a room is exported as the store has it, and is null if it stores none (SE-4)', async () => {
  const scene = new Scene()
  expect(await scene.server.exportRoom(PLACE)).toBe(null)
  void scene.found()
  await scene.pass(500)
  expect(await scene.server.exportRoom(PLACE)).toBe(null)
  const other = { ...PLACE, room: 'other' }
  const importing = scene.server.restoreRoom(saved, other)
  await scene.pass(500)
  expect(await importing).toBe(null)
  expect(await scene.server.exportRoom(other)).toEqual({ ...saved, ...other })
  const { session } = saved
  expect(storedRooms(scene.server)).toEqual([
    { ...other, session, bytes: 1, at: 500, until: 500 + 30 * 60_000 },
  ])
})

test('a room that is written while it is exported has the segments of one write (SE-4)', async () => {
  const scene = new Scene()
  void scene.server.restoreRoom(saved, PLACE)
  await scene.pass(500)
  let readings = 0
  scene.segments = (names) => {
    readings++
    if (readings < 3) written(scene, readings + 1)
    return scene.disk.find(names)
  }
  expect(segmentsOf(await scene.server.exportRoom(PLACE))).toEqual([[3]])
  expect(readings).toBe(3)
  scene.segments = (names) => {
    written(scene, 9)
    return scene.disk.find(names)
  }
  await expect(scene.server.exportRoom(PLACE)).rejects.toThrow(
    'g/main is written more often than it can be read: try again',
  )
})

test('the export of a room says that a segment is missing, or why the store reads nothing (SE-4)', async () => {
  const scene = new Scene()
  void scene.server.restoreRoom(saved, PLACE)
  await scene.pass(500)
  scene.disk.blobs.clear()
  await expect(scene.server.exportRoom(PLACE)).rejects.toMatchObject({
    ...{ code: 'store', message: 'a segment of g/main is missing' },
  })
  scene.segments = () => FULL
  await expect(scene.server.exportRoom(PLACE)).rejects.toBe(FULL)
})

test('a hub that is closed while it reads the segments of a room does nothing after (SE-5)', async () => {
  const scene = new Scene()
  void scene.server.restoreRoom(saved, PLACE)
  await scene.pass(500)
  scene.isHeld = true
  const opener = scene.found()
  await scene.pass(500)
  scene.held.shift()!()
  await scene.pass(500)
  expect(scene.held).toHaveLength(1)
  await scene.server.close()
  const { asked } = scene
  const { length } = opener.heard
  scene.held[0]!()
  expect([opener.heard.length, scene.asked, scene.server.hub.pendingReads.size]).toEqual([
    ...[length, asked, 1],
  ])
})

test('a room that is dropped before a hub closes, or at a disk that first reads nothing, is gone (SE-4)', async () => {
  const scene = new Scene()
  void scene.server.restoreRoom(saved, PLACE)
  await scene.pass(500)
  scene.isHeld = true
  expect(dropRoom(scene.server, 'g', 'main')).toBe(true)
  expect([dropRoom(scene.server, 'g', 'main'), storedRooms(scene.server)]).toEqual([false, []])
  hub.receiveRecord(scene.server.turn, '1 g main', 'the disk is gone')
  scene.held.length = 0
  scene.server.hub.archivedAt = 0
  hub.wake(scene.server.turn)
  scene.isHeld = false
  for (const answer of scene.held.splice(0)) setImmediate(answer)
  await scene.server.close()
  expect([...scene.disk.records.keys(), ...scene.disk.blobs.keys()]).toEqual(['the hub'])
})

test('a file of a room without segments opens nothing', async () => {
  const scene = new Scene()
  void scene.server.restoreRoom({ ...saved, segments: [] }, PLACE)
  await scene.pass(500)
  const opener = scene.found()
  await scene.pass(500)
  expect(opener.heard.at(-1)).toMatchObject({ kind: 'refused', why: UNREADABLE })
})

test('the opener of a room with unreadable segments gets the reason, and the room stays (SE-4)', async () => {
  const scene = new Scene()
  void scene.server.restoreRoom(saved, PLACE)
  await scene.pass(500)
  scene.segments = () => FULL
  const opener = scene.found()
  await scene.pass(500)
  expect(opener.heard.at(-1)).toMatchObject({ kind: 'refused', why: UNREADABLE })
  scene.segments = (names) => scene.disk.find(names)
  const next = scene.found()
  await scene.pass(500)
  expect(next.heard.filter(({ kind }) => kind === 'segment')).toHaveLength(1)
})
