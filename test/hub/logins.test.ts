// Goal: logins do not fill a room for ever: an account has eight players there at most, and a full
// room takes the place of the oldest login; a used ticket stays used.
// Method: the hub's list of entrants alone.
import { expect, test } from 'vitest'
import { decide, enroll, LOGINS_MAX } from '../../packages/hub/src/machine/admission.ts'
import { ENTRANTS_MAX } from '../../packages/holdfast/src/hub-protocol/tickets.ts'

type Row = Parameters<typeof enroll>[0]
const keyOf = (n: number): Uint8Array => Uint8Array.of(n >> 8, n & 255, ...new Uint8Array(30))
const loginOf = (account: string, n: number): string => `login.${account}.${n}`

function room(): Row {
  return { entrants: [], unsaved: [] } as unknown as Row
}

/** Asks as a player with a valid ticket, and enters if admitted. */
function enter(row: Row, id: string, n: number): string | undefined {
  const claims = { game: 'g', room: null, key: null, rights: 1, id, uses: 1 }
  const wish = { game: 'g', room: 'r', key: keyOf(n), ticket: 't' }
  const verdict = decide({ tickets: null } as never, row as never, wish as never, claims)
  if ('refused' in verdict) return verdict.refused
  enroll(row, keyOf(n), verdict)
  return undefined
}

test('the ninth player of an account takes the place of its first', () => {
  const row = room()
  enter(row, 'ticket', 0)
  enter(row, loginOf('bob', 0), 1)
  for (let n = 0; n <= LOGINS_MAX; n++)
    expect(enter(row, loginOf('ada', n), 10 + n)).toBe(undefined)
  const ids = row.entrants.map(({ id }) => id)
  expect(ids.slice(0, 3)).toEqual(['ticket', loginOf('bob', 0), loginOf('ada', 1)])
  expect(ids.length).toBe(2 + LOGINS_MAX)
  expect(row.unsaved.length).toBe(row.entrants.length)
})

test('a full room admits by login in the place of the oldest login, and refuses tickets', () => {
  const row = room()
  for (let n = 0; n < ENTRANTS_MAX - 1; n++) enter(row, `ticket ${n}`, n)
  expect(enter(row, loginOf('ada', 1), 2_000)).toBe(undefined)
  expect(enter(row, loginOf('bob', 1), 2_001)).toBe(undefined)
  expect(row.entrants.length).toBe(ENTRANTS_MAX)
  expect(row.entrants.at(-1)!.id).toBe(loginOf('bob', 1))
  expect(enter(row, 'ticket 5000', 2_002)).toBe(`${ENTRANTS_MAX} tickets were used here`)
  expect(enter(row, 'ticket 3', 2_003)).toBe('the ticket was used')
})
