import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ENTRIES_MAX, type Entry, readEntries } from './entries.ts'

const entry: Entry = {
  session: '1',
  game: 'dots',
  room: 'main',
  players: 2,
  playersMax: 16,
  standing: 'open',
  epoch: 3,
}

test('the fullest room stands first, then by name', () => {
  const rooms = [entry, { ...entry, room: 'b', players: 5 }, { ...entry, room: 'a' }]
  expect(readEntries(rooms)?.map(({ room }) => room)).toEqual(['b', 'a', 'main'])
})

test('what is no entry is left out, and what is no list is no list', () => {
  const wrong = [null, 3, {}, { ...entry, players: '2' }, { ...entry, standing: 'odd' }, [entry]]
  expect(readEntries([...wrong, entry])).toEqual([entry])
  expect(readEntries({ sessions: [entry] })).toBe(null)
  fc.assert(
    fc.property(fc.jsonValue(), (sent) => {
      readEntries(sent)
    }),
    { seed: 3 },
  )
})

test('a list beyond all measure is cut', () => {
  const sent = Array.from({ length: 3 * ENTRIES_MAX }, () => entry)
  expect(readEntries(sent)).toHaveLength(ENTRIES_MAX)
})
