import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ENTRIES_MAX, type Entry, merged, nextOf, readEntries } from './entries.ts'

const entry: Entry = {
  session: '1',
  game: 'dots',
  room: 'main',
  players: 2,
  playersMax: 16,
  standing: 'open',
  epoch: 3,
}

test('the fullest room stands first, then by name; one that moved to the next page stands once', () => {
  const rooms = [entry, { ...entry, session: '2', room: 'b', players: 5 }]
  const next = [
    { ...entry, session: '3', room: 'a' },
    { ...entry, players: 1 },
  ]
  expect(merged([rooms, next]).map(({ room, players }) => `${room} ${players}`)).toEqual([
    ...['b 5', 'a 2', 'main 1'],
  ])
})

test('the next page is where the hub says, and nowhere else (SE-8)', () => {
  const url = new URL('https://play.example.com/rt/api/sessions')
  expect(nextOf('<?game=a%26b&after=2.7>; rel="next"', url)?.href).toBe(
    'https://play.example.com/rt/api/sessions?game=a%26b&after=2.7',
  )
  const none = [null, '', '<?a>', '<//evil.example/?a>; rel="next"', '<https://e>; rel="next"']
  for (const link of none) expect(nextOf(link, url)).toBe(null)
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
