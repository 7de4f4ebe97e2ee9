/** What every kind of stream keeps to. Each passes in how to listen and how to connect. */

import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  STREAM_BACKLOG_MAX,
  STREAM_MESSAGE_MAX,
  type Connect,
  type Stream,
  type StreamEvents,
} from '../../packages/holdfast/src/ports.ts'
import { dice, turn, until } from './until.ts'

/** A place that accepts streams, and how to get there. */
export interface StreamPlace {
  url: string
  /** A URL of the same kind where nobody listens. */
  emptyUrl: string
  /** A URL that makes no sense. */
  badUrl: string
  connect: Connect
  listen: (accept: (stream: Stream) => StreamEvents) => void
  close: () => Promise<void>
}

/** One end with what it was told. */
interface End {
  stream: Stream
  told: string[]
  messages: Uint8Array[]
}

/** Runs the suite against one kind of stream. */
export function streamConformance(name: string, open: () => Promise<StreamPlace>): void {
  describe(`${name} as Stream`, () => {
    let place: StreamPlace
    const accepted: End[] = []
    beforeEach(async () => {
      accepted.length = 0
      place = await open()
      place.listen((stream) => {
        const end: End = { stream, told: [], messages: [] }
        accepted.push(end)
        return eventsOf(end)
      })
    })
    afterEach(() => place.close())

    const dial = (url: string): End => {
      const end: Omit<End, 'stream'> = { told: [], messages: [] }
      return Object.assign(end, { stream: place.connect(url, eventsOf(end)) })
    }
    const pair = async (): Promise<[near: End, far: End]> => {
      const near = dial(place.url)
      await until(() => near.told.length > 0 && accepted.length > 0)
      return [near, accepted[0]!]
    }

    test('opened is told once at both ends, and not within the call', async () => {
      const near = dial(place.url)
      expect(near.told).toEqual([])
      await until(() => near.told.length > 0 && accepted.length > 0)
      expect(near.told).toEqual(['opened'])
      expect(accepted[0]!.told).toEqual(['opened'])
    })

    test('messages of every size arrive whole and in order, both ways', async () => {
      const [near, far] = await pair()
      const random = dice(3)
      const sizes = [0, 1, 125, 126, 127, 65_535, 65_536, STREAM_MESSAGE_MAX, 5]
      const sent = sizes.map((size) => random.bytes(size))
      for (const [from, to] of [
        [near, far],
        [far, near],
      ] as const) {
        for (const bytes of sent) expect(from.stream.send(bytes)).toBe(true)
        await until(() => to.messages.length === sent.length)
        to.messages.forEach((each, i) => {
          // Compared as Buffers: an element by element comparison would take seconds.
          expect(Buffer.compare(each, sent[i]!)).toBe(0)
          expect(each.constructor).toBe(Uint8Array)
        })
      }
    })

    test('the sender may use its bytes again at once, the receiver may keep its', async () => {
      const [near, far] = await pair()
      const buffer = new Uint8Array(50_000)
      for (const [from, to] of [
        [near, far],
        [far, near],
      ] as const) {
        for (let i = 0; i < 40; i++) from.stream.send(buffer.fill(i))
        await until(() => to.messages.length === 40)
        to.messages.forEach((each, i) => {
          expect(each.every((byte) => byte === i)).toBe(true)
        })
      }
    })

    test('a message above the limit throws, names limit and size, and harms nothing', async () => {
      const [near, far] = await pair()
      for (const [from, to] of [
        [near, far],
        [far, near],
      ] as const) {
        expect(() => from.stream.send(new Uint8Array(STREAM_MESSAGE_MAX + 1))).toThrow(
          /262144 bytes: 262145/,
        )
        expect(from.stream.send(Uint8Array.of(1))).toBe(true)
        await until(() => to.messages.length === 1)
      }
    })

    test('a full backlog refuses, and all that was taken arrives', async () => {
      const [near, far] = await pair()
      for (const [from, to] of [
        [near, far],
        [far, near],
      ] as const) {
        let taken = 0
        const bytes = new Uint8Array(200_000)
        while (from.stream.send(bytes.fill(taken & 0xff))) {
          taken += 1
          expect(from.stream.backlog()).toBeLessThanOrEqual(STREAM_BACKLOG_MAX + 1024)
        }
        expect(taken).toBeGreaterThanOrEqual(20)
        expect(from.stream.backlog()).toBeGreaterThan(STREAM_BACKLOG_MAX - 210_000)
        await until(() => to.messages.length === taken)
        expect(to.messages.map((each) => each[7])).toEqual(to.messages.map((_, i) => i & 0xff))
        await until(() => from.stream.backlog() === 0)
        expect(from.stream.send(Uint8Array.of(1))).toBe(true)
      }
    })

    test("a close is told once to the other end, never to one's own", async () => {
      for (const closes of ['near', 'far'] as const) {
        accepted.length = 0
        const [near, far] = await pair()
        const [own, other] = closes === 'near' ? [near, far] : [far, near]
        own.stream.close()
        own.stream.close()
        expect(own.stream.send(Uint8Array.of(1))).toBe(false)
        expect(own.stream.backlog()).toBe(0)
        await until(() => other.told.length === 2)
        expect(other.told[1]).toMatch(/^closed: .+/)
        expect(other.stream.send(Uint8Array.of(1))).toBe(false)
        other.stream.close()
        for (let i = 0; i < 5; i++) await turn()
        expect(own.told).toEqual(['opened'])
        expect(other.told).toHaveLength(2)
      }
    })

    test('what was sent before a close arrives before it', async () => {
      const [near, far] = await pair()
      for (let i = 0; i < 10; i++) near.stream.send(Uint8Array.of(i))
      near.stream.close()
      await until(() => far.told.length === 2)
      expect(far.messages.map((each) => each[0])).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    })

    test('a place where nobody listens is told as closed, later, with the URL', async () => {
      for (const url of [place.emptyUrl, place.badUrl]) {
        const near = dial(url)
        expect(near.told).toEqual([])
        expect(near.stream.send(Uint8Array.of(1))).toBe(false)
        await until(() => near.told.length > 0)
        expect(near.told).toHaveLength(1)
        expect(near.told[0]).toMatch(/^closed: /)
        expect(near.told[0]).toContain(url)
      }
    })

    test('a stream closed before it opens tells nothing', async () => {
      const near = dial(place.url)
      near.stream.close()
      const after = dial(place.url)
      await until(() => after.told.length > 0)
      expect(near.told).toEqual([])
    })

    test('a hundred streams at once keep their messages apart', async () => {
      const ends = Array.from({ length: 100 }, () => dial(place.url))
      await until(() => ends.every((end) => end.told.length > 0) && accepted.length === 100)
      ends.forEach((end, i) => end.stream.send(Uint8Array.of(i)))
      await until(() => accepted.every((end) => end.messages.length > 0))
      for (const end of accepted) end.stream.send(end.messages[0]!)
      await until(() => ends.every((end) => end.messages.length > 0))
      expect(ends.map((end) => end.messages[0]![0])).toEqual(ends.map((_, i) => i))
    })
  })
}

function eventsOf(end: Omit<End, 'stream'>): StreamEvents {
  return {
    opened: () => end.told.push('opened'),
    message: (bytes) => end.messages.push(bytes),
    closed: (why) => end.told.push(`closed: ${why}`),
  }
}
