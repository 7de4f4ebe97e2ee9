// Goal: streams to members that listen are opened rarely, few at a time, and hold nothing old.
// Method: streams of the test's own, opened and closed by hand, by a clock that it sets.
import { beforeEach, expect, test } from 'vitest'
import type { StreamEvents } from '../../ports.ts'
import { DATAGRAM_MAX } from '../../ports.ts'
import { RELAY_BACKLOG_MAX } from './relay.ts'
import { DIAL_MS, DialledStreams, HELD_MAX, LINES_MAX, STREAMS_MAX, USED_MS } from './streams.ts'

interface Dialled {
  url: string
  events: StreamEvents
  sent: number[]
  waiting: number
  isClosed: boolean
}

let now = 0
let dialled: Dialled[] = []
let got: string[] = []
let carrier: DialledStreams

beforeEach(() => {
  now = 0
  dialled = []
  got = []
  carrier = new DialledStreams(
    (url, events) => {
      const one: Dialled = { url, events, sent: [], waiting: 0, isClosed: false }
      dialled.push(one)
      return {
        send: (bytes) => one.sent.push(bytes[0]!) > 0,
        backlog: () => one.waiting,
        close: () => (one.isClosed = true),
      }
    },
    ({ isSecure }) => isSecure,
    { datagram: (from, bytes) => got.push(`${from} ${bytes.length}`), refused: () => {} },
    () => now,
  )
})

const at = (n: number): string => `wss://host-${n}.example/`
const open = (n: number): void => carrier.send(at(n), Uint8Array.of(n))

test('an address is dialled when something is to go there, if that is allowed', () => {
  const allowed = [at(1), 'wss://[::1]:4000/a/b', 'wss://a.example:1/']
  expect(allowed.filter((one) => !carrier.reaches(one))).toEqual([])
  const others = [
    ...['ws://a.example/', 'wss://a.example', 'wss://u:p@a.example/', 'wss://a.example/?x'],
    ...['wss://a.example/#x', 'wss://A.example/', 'wss://a.example:0/', 'wss://a.example:99999/'],
    ...['https://a.example/', 'wss:///', 'wss://a b/', 'wss://[zz]/', 'wss://-/', 'stream:1'],
  ]
  expect(others.filter((one) => carrier.reaches(one))).toEqual([])
  for (const one of others) carrier.send(one, Uint8Array.of(1))
  expect([dialled.length, carrier.counters.unreachable]).toEqual([0, others.length])
  open(1)
  expect(dialled.map(({ url }) => url)).toEqual([at(1)])
})

test('what waits for a stream is few and new, and the sender may use its bytes again', () => {
  const buffer = Uint8Array.of(0)
  for (let n = 0; n < HELD_MAX + 3; n++) {
    buffer[0] = n
    carrier.send(at(1), buffer)
  }
  const [one] = dialled
  one!.events.opened()
  expect(one!.sent).toEqual(Array.from({ length: HELD_MAX }, (_none, n) => n + 3))
  expect(carrier.counters).toMatchObject({ dialled: 1, sent: HELD_MAX, congested: 3 })
})

test('a stream that is behind gets nothing more until it is read (fresh beats late)', () => {
  open(1)
  const [one] = dialled
  one!.events.opened()
  one!.waiting = RELAY_BACKLOG_MAX + 1
  open(1)
  one!.waiting = RELAY_BACKLOG_MAX
  open(1)
  expect([one!.sent.length, carrier.counters.congested]).toEqual([2, 1])
})

test('a host that does not answer is dialled ever more rarely, until it does', () => {
  const waits: number[] = []
  const dial = (): void => {
    const [count, from] = [dialled.length, now]
    for (; dialled.length === count; now += 50) open(1)
    waits.push(now - 50 - from)
    dialled.at(-1)!.events.opened()
    dialled.at(-1)!.events.closed('the other side closed it')
  }
  for (let n = 0; n < 12; n++) dial()
  const [first, longest] = DIAL_MS
  expect(waits.slice(0, 4)).toEqual([0, first - 50, 2 * first - 50, 4 * first - 50])
  expect(waits.at(-1)).toBe(longest - 50)
  // Opening counts for nothing: a datagram does.
  now += longest
  open(1)
  dialled.at(-1)!.events.message(Uint8Array.of(1))
  dialled.at(-1)!.events.closed('the connection broke')
  now += longest
  dial()
  dial()
  expect(waits.at(-1)).toBe(first - 50)
})

test('of many addresses few have a stream, and one that is unused makes room', () => {
  for (let n = 0; n <= STREAMS_MAX; n++) open(n)
  expect([dialled.length, carrier.counters.unreachable]).toEqual([STREAMS_MAX, 1])
  for (const one of dialled) one.events.opened()
  now += USED_MS
  for (let n = 1; n < STREAMS_MAX; n++) open(n)
  open(STREAMS_MAX)
  expect(dialled[0]!.isClosed).toBe(true)
  expect(dialled.filter(({ isClosed }) => isClosed)).toHaveLength(1)
  expect(dialled.at(-1)!.url).toBe(at(STREAMS_MAX))
})

test('addresses without number are not all remembered', () => {
  for (let n = 0; n < 3 * LINES_MAX; n++) {
    open(n)
    dialled.at(-1)!.events.closed('nobody listens there')
  }
  expect(dialled).toHaveLength(3 * LINES_MAX)
  // The last are not dialled again yet, the first are forgotten.
  open(3 * LINES_MAX - 1)
  open(0)
  expect(dialled.length).toBe(3 * LINES_MAX + 1)
})

test('what is no datagram ends the stream, and a stream that was given up is not listened to', () => {
  open(1)
  const [one] = dialled
  one!.events.opened()
  one!.events.message(new Uint8Array(0))
  one!.events.message(new Uint8Array(DATAGRAM_MAX))
  one!.events.message(new Uint8Array(DATAGRAM_MAX + 1))
  one!.events.message(Uint8Array.of(1))
  expect([got, one!.isClosed]).toEqual([[`${at(1)} ${DATAGRAM_MAX}`], true])
  expect(carrier.counters).toMatchObject({ received: 3, oversize: 1 })
  carrier.send(at(2), new Uint8Array(DATAGRAM_MAX + 1))
  now += DIAL_MS[1]
  open(1)
  carrier.close()
  expect(dialled.every(({ isClosed }) => isClosed)).toBe(true)
  open(1)
  expect(dialled).toHaveLength(2)
})
