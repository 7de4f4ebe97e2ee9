// Goal: whoever hoards streams makes room for others, and no member of a session ever does.
// Method: the hub's machine with streams by hand, from addresses that the test chooses.
import { expect, test } from 'vitest'
import { HUB_VERSION } from '../../packages/holdfast/src/hub-protocol/messages.ts'
import { Desk, listed } from './desk.ts'

const UNUSED_MS = 1_000

const ONE = '192.0.2.1'

/** All streams of the list that were not closed. */
function left(desk: Desk, streams: readonly number[]): number[] {
  return streams.filter((stream) => !desk.closed.has(stream))
}

test('an address has 256 streams; one more is refused while all of them do something (SE-9)', () => {
  const desk = new Desk()
  const streams = Array.from({ length: 256 }, () => desk.open(ONE))
  expect(left(desk, streams)).toHaveLength(256)
  desk.now += 8_000
  for (const stream of streams) desk.say(stream, { kind: 'get', request: 1, session: 'x' })
  const late = desk.open(ONE)
  const why = 'limit address.streams: at most 256 streams at once'
  expect(desk.closings.get(late)).toEqual({ kind: 'full', why })
  expect(left(desk, streams)).toHaveLength(256)
  expect(desk.hub.budgets.accounts.get(ONE)!.streams.size).toBe(256)
  expect(desk.closed.has(desk.open('192.0.2.2'))).toBe(false)
})

test('the stream goes that did nothing for longest: pings and hellos are nothing (SE-9)', () => {
  const desk = new Desk({ address: { streams: 3 } })
  const [asks, pings, mute] = [desk.open(ONE), desk.open(ONE), desk.dial(ONE)]
  desk.now += UNUSED_MS
  desk.say(pings, { kind: 'ping', count: 1 })
  desk.say(asks, { kind: 'get', request: 1, session: 'x' })
  desk.now += 1
  const first = desk.open(ONE)
  expect([...desk.closed.keys()]).toEqual([pings])
  expect(desk.closings.get(pings)).toEqual({
    kind: 'full',
    why: 'limit address.idle: this stream was idle and others are waiting',
  })
  desk.open(ONE)
  expect([...desk.closed.keys()]).toEqual([pings, mute])
  // Those that are there asked for something, or came, a moment ago.
  const late = desk.open(ONE)
  expect([...desk.closed.keys()]).toEqual([pings, mute, late])
  expect(desk.closed.has(first)).toBe(false)
  expect(desk.hub.budgets.refused).toMatchObject({ 'address.idle': 2, 'address.streams': 1 })
})

test('a stream that speaks for a member stays, however silent it is (SE-9)', () => {
  const desk = new Desk({ address: { streams: 3 } })
  const { streams } = desk.session(3, 'main', ONE)
  desk.now += 60_000
  expect(desk.closed.has(desk.open(ONE))).toBe(true)
  expect(left(desk, streams)).toEqual(streams)
  // Once it speaks for nobody it may go.
  desk.say(streams[2]!, { kind: 'list', request: 1, game: '', after: '' })
  const { id } = { id: [...desk.hub.attached.keys()][0]! }
  desk.attach(streams[2]!, id, 2)
  desk.now += UNUSED_MS
  desk.open(ONE)
  expect([...desk.closed.keys()]).toContain(streams[1])
})

test('where the hub is full one of the address goes that has most of those that do nothing (SE-9)', () => {
  const desk = new Desk({ hub: { streams: 6 } })
  const players = desk.session(1, 'main', '192.0.2.9')
  const modest = desk.open('192.0.2.2')
  const hoard = Array.from({ length: 4 }, () => desk.open(ONE))
  desk.now += UNUSED_MS
  const fresh = [3, 4, 5].map((at) => desk.open(`192.0.2.${at}`))
  expect(left(desk, hoard)).toEqual(hoard.slice(3))
  expect(left(desk, [players.streams[0]!, modest, ...fresh])).toHaveLength(5)
  expect(desk.closed.get(hoard[0]!)).toMatch(/^limit hub\.idle: /)
  expect(desk.hub.connections.size).toBe(6)
})

test('where all do something the new one is refused, as full (SE-9)', () => {
  const desk = new Desk({ hub: { streams: 2 } })
  desk.session(2)
  const late = desk.open()
  expect(desk.closings.get(late)).toMatchObject({ kind: 'full' })
  expect(desk.closed.get(late)).toBe('limit hub.streams: at most 2 streams at once')
})

test('an address opens 256 at once and 32 a second, kept or not (SE-9)', () => {
  const desk = new Desk()
  for (let i = 0; i < 256; i++) desk.close(desk.open(ONE))
  expect(desk.closed.size).toBe(0)
  expect(desk.closings.get(desk.open(ONE))).toMatchObject({ kind: 'full' })
  desk.now += 1_000
  for (let i = 0; i < 32; i++) desk.close(desk.open(ONE))
  expect(desk.closed.size).toBe(1)
  expect(desk.closed.has(desk.open(ONE))).toBe(true)
  expect(desk.hub.budgets.refused['address.opens']).toBe(2)
  expect(desk.hub.connections.size).toBe(0)
})

test('of those that do nothing the one that did so for longest goes, in whatever order they came (SE-9, PR-2)', () => {
  const desk = new Desk({ address: { streams: 3 } })
  const [late, old, same] = [desk.open(ONE), desk.open(ONE), desk.open(ONE)]
  // A second without a word is long.
  expect(UNUSED_MS).toBe(1_000)
  desk.now = 10
  for (const one of [old, same]) desk.say(one, { kind: 'get', request: 1, session: 'x' })
  desk.now = 20
  desk.say(late, { kind: 'get', request: 1, session: 'x' })
  desk.now = 20 + UNUSED_MS - 1
  // A hello is nothing, however often it is said; a knock is something.
  desk.say(old, { kind: 'hello', version: HUB_VERSION })
  desk.open(ONE)
  expect([...desk.closed.keys()]).toEqual([old])
  desk.knock(same, Uint8Array.of(1))
  desk.now++
  desk.open(ONE)
  expect([...desk.closed.keys()]).toEqual([old, late])
})

test('of addresses that have as many idle streams the one that was here first gives one (PR-2)', () => {
  const desk = new Desk({ hub: { streams: 4 } })
  const streams = [ONE, '192.0.2.2', ONE, '192.0.2.2'].map((at) => desk.open(at))
  desk.now = UNUSED_MS
  desk.open('192.0.2.3')
  expect([...desk.closed.keys()]).toEqual([streams[0]])
})

test('strangers that fall silent are closed each at its own time (SE-9, PR-2)', () => {
  const { silence } = new Desk().hub.budgets.limits.stream
  const desk = new Desk()
  const streams = [0, 1, 2].map((at) => {
    desk.now = at * 1_000
    return desk.open()
  })
  for (const [at, stream] of streams.entries()) {
    desk.go(silence + at * 1_000 - 1 - desk.now)
    expect(desk.closed.has(stream)).toBe(false)
    desk.go(1)
    expect(desk.closed.has(stream)).toBe(true)
  }
})

test('whoever speaks for a member no more has time from then on, and no stranger has more for it (SE-9, PR-2)', () => {
  const { silence } = new Desk().hub.budgets.limits.stream
  const desk = new Desk()
  const { id, streams } = desk.session(2)
  desk.go(silence)
  const stranger = desk.open()
  desk.go(silence / 2)
  desk.say(streams[0]!, { kind: 'members', session: id, members: [listed(1)], players: 1 })
  desk.go(silence / 2 - 1)
  expect(desk.closed.size).toBe(0)
  desk.go(1)
  expect([...desk.closed.keys()]).toEqual([stranger])
  desk.go(silence / 2 - 1)
  expect(desk.closed.has(streams[1]!)).toBe(false)
  desk.go(1)
  expect(desk.closed.has(streams[1]!)).toBe(true)
})
