// Goal: the list of rooms is one page at a time, and costs the hub one look a second.
// Method: the hub's machine with rooms by hand.
import { describe, expect, test } from 'vitest'
import { all, costOf, page } from '../../packages/hub/src/machine/listing.ts'
import { add, confirmWrite, recordOf } from '../../packages/hub/src/machine/register.ts'
import { calmly } from '../calmly.ts'
import { Desk, listed } from './desk.ts'

const LIST_MAX = 200
const LISTING_MS = 1_000

const QUIET = { send: () => {}, record: () => {} }

/** Rooms that are on disk; each has as many players as its place in the list says. */
function rooms(desk: Desk, players: readonly number[], game = 'g'): void {
  const { registers } = desk.hub
  const { hash, link, key } = listed(1)
  for (const [at, count] of players.entries()) {
    const id = `${game}-${at}`
    const wish = { game, room: `${at}`, playersMax: 9, topology: 'star', terms: '' } as const
    add(registers, 0, { ...wish, recovers: false, hash, link, key }, id, QUIET)
    recordOf(registers, id)
    confirmWrite(registers, 0, id)
    registers.rows.get(id)!.entry.players = count
  }
}

function shown(desk: Desk, game = '', after = ''): { rooms: string[]; next: string } {
  const { items, next } = calmly(() => page(desk.hub, desk.now, game, after))
  return { rooms: items.map(({ entry }) => entry.session), next }
}

describe('a page', () => {
  test('costs a part, and one more for 4 rooms of a stream, or 400 of one answer (PR-2)', () => {
    const desk = new Desk()
    rooms(desk, Array(100).fill(1))
    const full = page(desk.hub, desk.now, '', '')
    expect([costOf(full, 'stream'), costOf(full, 'answer')]).toEqual([26, 1.25])
    const none = page(desk.hub, desk.now, 'another game', '')
    expect([costOf(none, 'stream'), costOf(none, 'answer')]).toEqual([1, 1])
  })
  test('has the fullest rooms first, of those as full the oldest, and the unreachable last (SE-8)', () => {
    const desk = new Desk()
    rooms(desk, [1, 3, 2, 3, 8])
    desk.hub.registers.rows.get('g-4')!.entry.standing = 'unreachable'
    expect(shown(desk)).toEqual({ rooms: ['g-1', 'g-3', 'g-2', 'g-0', 'g-4'], next: '' })
  })
  test('has no room that is by invitation, or whose founder wants none to see it (SE-18)', () => {
    const desk = new Desk()
    rooms(desk, [1, 1, 1, 1])
    for (const [at, terms] of [
      'entry=invite',
      'a=1;listed=no',
      'entry=open;listed=yes',
    ].entries()) {
      desk.hub.registers.rows.get(`g-${at}`)!.entry.terms = terms
    }
    expect(shown(desk).rooms).toEqual(['g-2', 'g-3'])
    expect(all(desk.hub.registers, 'g')).toHaveLength(2)
  })
  test('has 200 rooms, and says how to go on if there is one more (SE-10)', () => {
    const desk = new Desk()
    rooms(
      desk,
      Array.from({ length: LIST_MAX }, () => 1),
    )
    expect(shown(desk)).toMatchObject({ next: '' })
    rooms(desk, [2], 'h')
    desk.now += LISTING_MS
    const first = shown(desk)
    expect([first.rooms.length, first.rooms[0]]).toEqual([LIST_MAX, 'h-0'])
    expect(shown(desk, '', first.next)).toEqual({ rooms: [`g-${LIST_MAX - 1}`], next: '' })
    expect(shown(desk, 'h')).toEqual({ rooms: ['h-0'], next: '' })
  })
  test('goes on behind a room that is gone or has other players by now (SE-10)', () => {
    const desk = new Desk()
    rooms(
      desk,
      Array.from({ length: LIST_MAX + 3 }, (_none, at) => (at < LIST_MAX ? 2 : 1)),
    )
    const { next } = shown(desk)
    desk.hub.registers.rows.delete(`g-${LIST_MAX - 1}`)
    desk.hub.registers.rows.get(`g-${LIST_MAX + 1}`)!.entry.players = 5
    desk.now += LISTING_MS
    expect(shown(desk, '', next).rooms).toEqual([`g-${LIST_MAX}`, `g-${LIST_MAX + 2}`])
  })
  test('after what is no cursor is the first one (SE-10)', () => {
    const desk = new Desk()
    rooms(desk, [1, 1])
    for (const after of ['', 'x', '1', '1.', '.5', '1.1.1', ' 1.1', '9'.repeat(24)]) {
      expect(shown(desk, '', after).rooms).toEqual(['g-0', 'g-1'])
    }
    expect(shown(desk, '', '1.1').rooms).toEqual(['g-1'])
    expect(shown(desk, '', '-1.9').rooms).toEqual([])
  })
  test('has no room that is not listed, nor one that the disk has not taken (SE-18)', () => {
    const desk = new Desk()
    rooms(desk, [1, 1, 1])
    const { rows } = desk.hub.registers
    rows.get('g-0')!.entry.terms = 'listed=no'
    rows.get('g-1')!.pending = {
      register: null,
      isNew: true,
      before: null,
      isWriting: false,
    }
    expect(shown(desk).rooms).toEqual(['g-2'])
    // Whoever knows its name finds it all the same.
    expect(desk.say(desk.open(), { kind: 'get', request: 1, session: 'g-0' })).toMatchObject([
      { kind: 'register', ok: true },
    ])
  })
})

test('all rooms are looked at once a second, however many ask (SE-10)', () => {
  const desk = new Desk()
  rooms(desk, [1, 1])
  const { rows } = desk.hub.registers
  let looks = 0
  const iterate = rows[Symbol.iterator].bind(rows)
  rows[Symbol.iterator] = () => {
    looks++
    return iterate()
  }
  const stream = desk.open()
  for (let ms = 0; ms < LISTING_MS; ms += 10) {
    desk.now = ms
    desk.say(stream, { kind: 'list', request: ms, game: ms % 20 ? 'g' : '', after: '' })
  }
  expect(looks).toBe(1)
  rooms(desk, [1], 'h')
  expect(shown(desk).rooms).toHaveLength(2)
  desk.now = LISTING_MS
  expect(shown(desk).rooms).toHaveLength(3)
  expect(looks).toBe(2)
})

test('of ever new cursors so many pages are kept, and not one more (SE-10)', () => {
  const desk = new Desk()
  rooms(desk, [1])
  for (let at = 0; at < 300; at++) shown(desk, `game ${at}`)
  expect(desk.hub.listing.pages.size).toBe(256)
})

test('a page that was asked for within the second is the same one, and is cut once (PR-2)', () => {
  const desk = new Desk()
  rooms(desk, [1, 2])
  const cut = page(desk.hub, 0, 'g', '')
  expect(page(desk.hub, 1, 'g', '')).toBe(cut)
  // A name that ends like a cursor is no other page of another game.
  expect(page(desk.hub, 1, 'g ', '')).not.toBe(cut)
  expect(page(desk.hub, LISTING_MS, 'g', '')).not.toBe(cut)
})

test('behind the fullest room comes the next, and before all of them comes the first (PR-2)', () => {
  const desk = new Desk()
  rooms(desk, [3, 1, 2])
  expect(shown(desk, 'g', '9.1').rooms).toEqual(['g-0', 'g-2', 'g-1'])
  expect(shown(desk, 'g', '3.1').rooms).toEqual(['g-2', 'g-1'])
})

test('all that is listed now, of one game or of every one, is told without a second’s delay (PR-2)', () => {
  const desk = new Desk()
  rooms(desk, [1, 2])
  rooms(desk, [3], 'h')
  const { registers } = desk.hub
  registers.rows.get('g-1')!.entry.terms = 'listed=no'
  const ids = (game: string): string[] => all(registers, game).map(({ session }) => session)
  expect([ids(''), ids('g'), ids('h'), ids('i')]).toEqual([['g-0', 'h-0'], ['g-0'], ['h-0'], []])
})
