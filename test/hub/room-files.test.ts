// Goal: what a hub keeps of a room goes into a file whole, as the disk has it, and comes back as
// the session that it was; what does not fit changes nothing.
// Method: a hub by hand, with a disk by hand.
import { expect, test } from 'vitest'
import * as archive from '../../packages/hub/src/machine/archive.ts'
import {
  readSaved,
  type Saved,
  writeSaved,
} from '../../packages/holdfast/src/hub-protocol/saved-room.ts'
import { readPlace } from '../../packages/hub/src/machine/places.ts'
import { placeOf } from '../../packages/hub/src/machine/register.ts'
import * as roomFiles from '../../packages/hub/src/machine/room-files.ts'
import { MEMBERS_MAX } from '../../packages/holdfast/src/machine.ts'
import { Desk, keyOf, listed, OPEN } from './desk.ts'

const text = (word: string): Uint8Array => new TextEncoder().encode(word)
const AS = { game: 'g', room: 'main' }

const saved: Saved = {
  ...{ ...AS, session: 'abc-1', playersMax: 4, topology: 'star', terms: 'keep=30' },
  ...{ recovers: true, hosts: false, epoch: 9, next: 7, time: 5_000, index: 3 },
  ...{ entrants: [], segments: [text('whole '), text('one '), text('two ')] },
}

function restore(desk: Desk, one: Saved = saved, as = AS): roomFiles.ImportRefusal | null {
  const unfit = roomFiles.importRoom(desk, one, as)
  desk.write()
  return unfit
}

test('a room comes back from its file as the session that it was, and goes into the same file', () => {
  const desk = new Desk()
  expect(restore(desk)).toBe(null)
  const { session, stored } = readPlace(desk.disk.records.get(placeOf(AS))!.value)!
  const segments = desk.disk.read(archive.segmentNames(saved.session, 3))!
  expect(roomFiles.savedOf(session, stored!, segments)).toEqual(saved)
  expect(readSaved(writeSaved(saved))).toEqual(saved)
  // Whoever opens it is primary of that session, in an epoch behind all of before.
  const stream = desk.open()
  const { hash, link } = listed(2)
  const wish = { ...AS, playersMax: 4, recovers: true, topology: 'star', terms: '' } as const
  const heard = desk.say(stream, {
    ...{ kind: 'add', request: 1, ...wish, hash, link, ...OPEN, key: keyOf(2) },
  } as never)
  const inc = saved.next + MEMBERS_MAX
  expect(heard[0]).toMatchObject({
    ...{ kind: 'added', created: true, opened: { inc, segments: 3 } },
    entry: { session: 'abc-1', register: { epoch: 10, primary: inc } },
  })
})

test('is dropped when the time that its terms name is over', () => {
  const desk = new Desk()
  restore(desk)
  const { until } = desk.hub.archive.rooms.get(saved.session)!.unloaded!
  expect(until - desk.now - desk.hub.archive.wallOffset).toBe(30 * 60_000)
  const other = new Desk()
  restore(other, { ...saved, terms: '' })
  const { value } = other.disk.records.get(placeOf(AS))!
  expect(readPlace(value)!.session.entry.terms).toBe('keep=10')
})

test('what is here already, is too large, or finds no room changes nothing', () => {
  const desk = new Desk({ hub: { kept: 1 }, room: { kept: 16 } })
  expect(restore(desk, { ...saved, segments: [text('seventeen letters')] })).toBe('too large')
  expect(restore(desk)).toBe(null)
  expect(restore(desk)).toBe('is there')
  expect(restore(desk, { ...saved, session: 'abc-2' })).toBe('is there')
  expect(restore(desk, saved, { ...AS, room: 'other' })).toBe('is there')
  const elsewhere = { ...AS, room: 'other' }
  expect(restore(desk, { ...saved, session: 'abc-2' }, elsewhere)).toBe('full')
  expect([...desk.hub.archive.rooms.keys()]).toEqual(['abc-1'])
})
