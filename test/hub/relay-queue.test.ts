// Goal: a member that floods another through the hub loses its own datagrams, and not those of
// others.
// Method: the queue alone; then the shipped hub, whose target reads so many bytes a
// second, in virtual time.
import { describe, expect, test } from 'vitest'
import * as budgets from '../../packages/hub/src/machine/budgets.ts'
import * as relayQueue from '../../packages/hub/src/machine/relay-queue.ts'
import { RELAY_BACKLOG_MAX } from '../../packages/hub/src/machine/relay-queue.ts'
import {
  HUB_VERSION,
  type ToHub,
  toHub,
} from '../../packages/holdfast/src/hub-protocol/messages.ts'
import { createMemoryStore } from '../../packages/holdfast/src/drivers/store/memory.ts'
import { DATAGRAM_MAX } from '../../packages/holdfast/src/ports.ts'
import type { Loop, Stream, StreamEvents } from '../../packages/holdfast/src/ports.ts'
import { type HubLimits, readLimits } from '../../packages/hub/src/server/given-limits.ts'
import { toyCurves } from '../../packages/sim/src/toy-ciphers.ts'
import { HubServer } from '../../packages/hub/src/server/hub-server.ts'
import { encode } from '../../packages/holdfast/src/wire/layout.ts'
import {
  frameKnock,
  frameMessage,
  frameRelay,
  readFrame,
} from '../../packages/holdfast/src/wire/relay.ts'
import { linkOf, listed, OPEN, proof } from './desk.ts'

const SHARE_MIN = 2_560

const SIZE = 1_000

/** Puts datagrams of a source into a stream that nobody reads, until one is refused. */
function fill(own: relayQueue.RelayQueue, waiting: { bytes: number }, source: string): number {
  let count = 0
  while (relayQueue.admit(own, waiting.bytes, source, SIZE)) {
    waiting.bytes += SIZE
    count++
  }
  return count
}

describe('a share', () => {
  test('of a source that is alone is half of what may wait (SE-16)', () => {
    const count = fill(relayQueue.create(), { bytes: 0 }, 'a')
    expect(count).toBe(Math.ceil(RELAY_BACKLOG_MAX / SIZE / 2))
  })
  test('of each of three that flood leaves one for a fourth (SE-16)', () => {
    const own = relayQueue.create()
    const waiting = { bytes: 0 }
    // In turns, as they would come.
    for (let turn = 0; turn < 100; turn++) {
      for (const source of ['a', 'b', 'c']) {
        if (relayQueue.admit(own, waiting.bytes, source, SIZE)) waiting.bytes += SIZE
      }
    }
    expect([...own.held.values()].map((bytes) => bytes / SIZE)).toEqual([17, 16, 16])
    expect(fill(own, waiting, 'd')).toBe(8)
  })
  test('is two datagrams at least, until twice of all waits (SE-16)', () => {
    expect(Math.floor(SHARE_MIN / (DATAGRAM_MAX + 8))).toBe(2)
    const own = relayQueue.create()
    expect(relayQueue.admit(own, RELAY_BACKLOG_MAX, 'a', SHARE_MIN)).toBe(true)
    expect(relayQueue.admit(own, RELAY_BACKLOG_MAX, 'b', SHARE_MIN + 1)).toBe(false)
    expect(relayQueue.admit(own, RELAY_BACKLOG_MAX + SHARE_MIN, 'a', 1)).toBe(false)
    expect(relayQueue.admit(own, 2 * RELAY_BACKLOG_MAX, 'b', SHARE_MIN)).toBe(true)
    expect(relayQueue.admit(own, 2 * RELAY_BACKLOG_MAX + 1, 'c', 1)).toBe(false)
  })
  test('is free again as what waited is read, oldest first (SE-16)', () => {
    const own = relayQueue.create()
    const waiting = { bytes: 0 }
    fill(own, waiting, 'a')
    expect(relayQueue.admit(own, waiting.bytes, 'b', SIZE)).toBe(true)
    waiting.bytes += SIZE
    expect(relayQueue.admit(own, waiting.bytes, 'a', SIZE)).toBe(false)
    // All of a but for two datagrams is read, and nothing of b.
    expect(relayQueue.admit(own, 3 * SIZE, 'c', SIZE)).toBe(true)
    expect([...own.held]).toEqual([
      ['a', 2 * SIZE],
      ['b', SIZE],
      ['c', SIZE],
    ])
    relayQueue.admit(own, 0, 'a', SIZE)
    expect([...own.held]).toEqual([['a', SIZE]])
  })
  test('is kept track of without end in little memory (SE-16)', () => {
    const own = relayQueue.create()
    for (let i = 0; i < 10_000; i++) relayQueue.admit(own, 5 * SIZE, `${i % 7}`, SIZE)
    expect(own.sent.length).toBeLessThan(200)
    expect(own.held.size).toBeLessThanOrEqual(7)
  })
  test('is kept for what waits alone, and of what was read for 64 or as many again (PR-2)', () => {
    const own = relayQueue.create()
    for (let i = 0; i < 1_000; i++) {
      const waiting = (i % 100) * 10
      relayQueue.admit(own, waiting, `${i % 7}`, 10)
      expect(own.total).toBeLessThanOrEqual(waiting + 10)
      const left = own.sent.slice(own.head)
      const sums: Record<string, number> = {}
      for (const { source, bytes } of left) sums[source] = (sums[source] ?? 0) + bytes
      expect(Object.fromEntries(own.held)).toEqual(sums)
      expect(own.head).toBeLessThanOrEqual(Math.max(64, left.length + 1))
    }
  })
})

/** Virtual time in steps; no alarm of the hub matters here. */
class Clock implements Loop {
  at = 0
  now = (): number => this.at
  random = (count: number): Uint8Array => new Uint8Array(count).fill(7)
  soon = (run: () => void): void => queueMicrotask(run)
  alarm = (): { set: () => void; cancel: () => void } => ({ set: () => {}, cancel: () => {} })
}

/** A member's stream, of which so many bytes are read each ms. */
class Line implements Stream {
  readonly #rate: number
  readonly #events: StreamEvents
  /** What arrived: from whom, when it was sent, and when it came. */
  readonly came: { from: string; sentAt: number; at: number }[] = []
  readonly #waiting: Uint8Array[] = []
  #bytes = 0
  #read = 0

  constructor(server: HubServer, rate: number, remote: string) {
    this.#rate = rate
    this.#events = server.accept(this, { remote })
    this.#events.opened()
    this.say({ kind: 'hello', version: HUB_VERSION })
  }

  say(message: ToHub): void {
    this.frame(frameMessage(encode(toHub, message)))
  }

  frame(bytes: Uint8Array): void {
    this.#events.message(bytes)
  }

  send(bytes: Uint8Array): boolean {
    this.#waiting.push(bytes)
    this.#bytes += bytes.length
    return true
  }

  backlog(): number {
    return this.#bytes
  }

  close(): void {}

  /** A millisecond passes. */
  read(now: number): void {
    this.#read += this.#rate
    while (this.#waiting.length > 0 && this.#waiting[0]!.length <= this.#read) {
      const bytes = this.#waiting.shift()!
      this.#bytes -= bytes.length
      this.#read -= bytes.length
      const frame = readFrame(bytes)
      if (!frame || frame.kind === 'message') continue
      const sentAt = new DataView(frame.bytes.slice().buffer).getUint32(0)
      this.came.push({ from: `${frame.kind} ${frame.peer}`, sentAt, at: now })
    }
    if (this.#waiting.length === 0) this.#read = 0
  }
}

/** A datagram that says when it was sent. */
function dated(now: number, size: number): Uint8Array {
  const bytes = new Uint8Array(size)
  new DataView(bytes.buffer).setUint32(0, now)
  return bytes
}

/** The target reads 500 kB a second; two speak to it for 5 s, 50 times a second. */
const RATE = 500
const EVERY_MS = 20
const SECONDS = 5

interface Room {
  clock: Clock
  target: Line
  flooder: Line
  third: Line
  caller: Line
}

function room(limits: HubLimits = {}): Room {
  const clock = new Clock()
  const spent = budgets.create(readLimits('limits', limits))
  const server = new HubServer(clock, createMemoryStore(), {
    wall: () => 0,
    curves: toyCurves,
    budgets: spent,
  })
  const lines = [1, 2, 3, 4].map((at) => new Line(server, at === 1 ? RATE : 1e6, `192.0.2.${at}`))
  const [target, flooder, third, caller] = lines as [Line, Line, Line, Line]
  const { hash, link } = listed(1)
  const wish = {
    game: 'g',
    room: 'r',
    playersMax: 4,
    recovers: false,
    terms: '',
    ...{ hash, link, ...OPEN },
  }
  target.say({ kind: 'add', request: 1, topology: 'star', ...wish })
  const { registers } = server.hub
  const [id] = [...registers.rows.keys()]
  const row = registers.rows.get(id!)!
  row.pending = null
  row.members = [1, 2, 3].map((inc) => listed(inc))
  for (const [at, line] of [target, flooder, third].entries()) {
    line.say({ kind: 'attach', request: 2, session: id!, inc: at + 1, proof: proof(at + 1) })
  }
  caller.say({ kind: 'add', request: 1, topology: 'star', ...wish, hash: linkOf(9).slice(16) })
  return { clock, target, flooder, third, caller }
}

/** The share that was lost, and the longest delay, of what came by that source. */
function fate({ target }: Room, from: string, sent: number): { lost: number; delay: number } {
  const own = target.came.filter((one) => one.from === from)
  return { lost: 1 - own.length / sent, delay: Math.max(...own.map((one) => one.at - one.sentAt)) }
}

function play(own: Room, flood: (now: number) => void): { sent: number } {
  let sent = 0
  for (let now = 0; now < SECONDS * 1_000; now++) {
    own.clock.at = now
    flood(now)
    if (now % EVERY_MS === 0) {
      own.third.frame(frameRelay(1, dated(now, 200)))
      sent++
    }
    own.target.read(now)
  }
  for (let now = SECONDS * 1_000; own.target.backlog() > 0; now++) own.target.read(now)
  return { sent }
}

describe('a member that floods another through the hub', () => {
  test('with 16 times what that reads: a third loses nothing, and waits less than 0.2 s (SE-16)', () => {
    const own = room()
    const { sent } = play(own, (now) => {
      for (let i = 0; i < 8; i++) own.flooder.frame(frameRelay(1, dated(now, SIZE)))
    })
    expect(fate(own, 'relay 3', sent).lost).toBe(0)
    expect(fate(own, 'relay 3', sent).delay).toBeLessThan(200)
    // What is left of the line is the flooder's.
    const flooded = own.target.came.filter(({ from }) => from === 'relay 2').length
    expect(flooded).toBeGreaterThan(0.9 * SECONDS * (RATE - 10))
  })
  test('so is whoever knocks, where nothing else bounds that (SE-13, SE-16)', () => {
    const joins = { max: 1e9, perSecond: 1e9 }
    const own = room({ stream: { joins }, address: { joins }, room: { joins } })
    const { sent } = play(own, (now) => {
      for (let i = 0; i < 8; i++) own.caller.frame(frameKnock(0, dated(now, SIZE)))
    })
    const { lost, delay } = fate(own, 'relay 3', sent)
    expect([lost, delay < 200]).toEqual([0, true])
  })
})
