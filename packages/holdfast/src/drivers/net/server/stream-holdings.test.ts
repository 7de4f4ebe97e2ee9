// Goal: no stream makes the server keep or do much for what is no message, however it is sent.
// Method: raw TCP against a real door on loopback, with small bounds; then a good client talks.

import net, { type Socket } from 'node:net'
import { afterEach, describe, expect, test, vi } from 'vitest'
import {
  closeServed,
  control,
  frame,
  serve,
  type Served,
  talk,
  upgrade,
} from '../../../../../../test/conformance/stranger.ts'
import { dice, until } from '../../../../../../test/conformance/until.ts'
import { FrameMeter } from './frame-meter.ts'

const clients: Socket[] = []
afterEach(async () => {
  vi.useRealTimers()
  for (const client of clients.splice(0)) client.destroy()
  await closeServed()
})

/** A client that has opened a stream by hand and reads nothing of it. */
async function open({ port, door }: Served): Promise<Socket> {
  const { accepted } = door.counters
  const client = net.connect(port, '127.0.0.1')
  clients.push(client)
  client.on('error', () => {})
  client.pause()
  client.write(upgrade())
  await until(() => door.counters.accepted > accepted)
  return client
}

/** The time of the server is the test's from now on; its sockets are real. */
function stopTime(): void {
  const toFake = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance']
  vi.useFakeTimers({ toFake: toFake as never })
}

describe('what is no message', () => {
  test.each([
    ['texts', Array<Buffer>(100).fill(frame(0x81, Buffer.from('hi')))],
    ['long texts', Array<Buffer>(3).fill(frame(0x81, new Uint8Array(20_000)))],
    ['pings', Array<Buffer>(100).fill(control(0x89, Uint8Array.of(1)))],
    ['pongs that nobody asked for', Array<Buffer>(100).fill(control(0x8a, Uint8Array.of(1)))],
  ])('%s: a few are borne, too many end the stream and are counted (SE-14)', async (_, frames) => {
    const place = await serve()
    const client = await open(place)
    client.write(frames[0]!)
    await talk(place.url)
    await until(() => place.door.open() === 1)
    client.write(Buffer.concat(frames))
    await until(() => place.told.length === 4)
    expect(place.told).toContain('1 closed too many text frames and pings')
    expect(place.door.counters).toMatchObject({ flooding: 1, violations: 0 })
    await talk(place.url)
  })

  test('answers to pings cost nothing, however many they are (SE-14)', async () => {
    const place = await serve({ pingMs: 2 })
    const client = await open(place)
    let pings = 0
    client.resume()
    client.on('data', (bytes: Buffer) => {
      for (const [at, byte] of bytes.entries()) {
        if (byte !== 0x89 || bytes[at + 1] !== 0) continue
        pings += 1
        client.write(control(0x8a, new Uint8Array(0)))
      }
    })
    await until(() => pings > 100)
    expect(place.told).toEqual(['1 opened'])
  })
})

describe('half messages', () => {
  const half = frame(0x82, new Uint8Array(10), 1_000)
  test.each([
    ['a frame that goes no further', [half]],
    ['a head that goes no further', [half.subarray(0, 5)]],
    ['a message whose last part never comes', [frame(0x02, new Uint8Array(10))]],
    ['one that comes byte by byte, pongs between', [frame(0x02, new Uint8Array(10)), null]],
  ])('%s: ends after its time, and is counted (SE-17)', async (_, parts) => {
    const place = await serve({ halfMs: 100, sweepMs: 10 })
    const client = await open(place)
    for (const part of parts) if (part) client.write(part)
    if (parts.includes(null)) {
      const dribble = setInterval(() => client.write(frame(0x00, Uint8Array.of(1))), 20)
      client.on('close', () => clearInterval(dribble))
    }
    await until(() => place.told.length === 2)
    expect(place.told[1]).toBe('1 closed a message was not whole in time')
    expect(place.door.counters).toMatchObject({ halves: 1, violations: 0 })
    await talk(place.url)
  })

  test('a stream that is always in the midst of the next one stays (SE-17)', async () => {
    stopTime()
    const place = await serve({ halfMs: 60, sweepMs: 5 })
    const client = await open(place)
    let echoed = 0
    client.resume()
    client.on('data', (bytes: Buffer) => (echoed += bytes.length))
    await until(() => echoed > 0)
    const whole = frame(0x82, new Uint8Array(100))
    client.write(whole.subarray(0, 50))
    for (let i = 0; i < 10; i++) {
      vi.advanceTimersByTime(20)
      const before = echoed
      client.write(Buffer.concat([whole.subarray(50), whole.subarray(0, 50)]))
      await until(() => echoed > before)
    }
    expect(place.told).toEqual(['1 opened'])
    vi.advanceTimersByTime(60)
    await until(() => place.told.length === 2)
    expect(place.door.counters.halves).toBe(1)
  })

  test('of all together the oldest go when they are too much (SE-17)', async () => {
    const place = await serve({ halfBytesMax: 1_000_000 })
    for (let i = 0; i < 6; i++) {
      const client = await open(place)
      client.write(frame(0x82, new Uint8Array(230_000), 240_000))
      await until(() => client.writableLength === 0)
    }
    await until(() => place.told.length === 8)
    expect(place.told.filter((line) => line.includes('closed')).toSorted()).toEqual([
      '1 closed too many messages were half sent',
      '2 closed too many messages were half sent',
    ])
    expect(place.door.counters.halves).toBe(2)
    await talk(place.url)
  })

  test('the meter knows a whole message from a half one in any cut', () => {
    for (let seed = 1; seed <= 200; seed++) {
      const random = dice(seed)
      const meter = new FrameMeter()
      let unfinished = false
      for (let n = 0; n < 20; n++) {
        const size = [0, 1, 125, 126, 3_000, 70_000][random.below(6)]!
        const kind = random.below(3)
        const bytes =
          kind === 0
            ? control(0x8a, new Uint8Array(Math.min(size, 125)))
            : frame((kind === 1 ? 0x80 : 0) | (unfinished ? 0 : 2), new Uint8Array(size))
        if (kind > 0) unfinished = kind === 2
        const cut = 1 + random.below(bytes.length - 1)
        meter.take(bytes.subarray(0, cut))
        expect(meter.held).toBeGreaterThan(0)
        meter.take(bytes.subarray(cut))
        expect(meter.held > 0).toBe(unfinished)
      }
    }
  })
})

/** Fills a stream, as answers do that nobody reads. @returns the bytes that wait in it */
function fill({ streams }: Served, index: number): number {
  const bytes = new Uint8Array(200_000)
  while (streams[index]!.send(bytes));
  return streams[index]!.backlog()
}

describe('what is not read', () => {
  test('ends the stream after its time, also where pongs come in, and is counted (SE-10)', async () => {
    const place = await serve({ unreadMs: 100, sweepMs: 10, pingMs: 20 })
    const client = await open(place)
    const pongs = setInterval(() => client.write(control(0x8a, new Uint8Array(0))), 20)
    fill(place, 0)
    await until(() => place.told.length === 2)
    clearInterval(pongs)
    expect(place.told[1]).toBe('1 closed what was sent was not read in time')
    expect(place.door.counters).toMatchObject({ unread: 1, dead: 0 })
    await talk(place.url)
  })

  test('is not what is read, however much it is (SE-10)', async () => {
    stopTime()
    const place = await serve({ unreadMs: 60, sweepMs: 5 })
    const client = await open(place)
    client.resume()
    for (let i = 0; i < 5; i++) {
      expect(fill(place, 0)).toBeGreaterThan(0)
      vi.advanceTimersByTime(20)
      await until(() => place.streams[0]!.backlog() === 0)
    }
    expect(place.told).toEqual(['1 opened'])
  })

  test('of all together the fullest go when it is too much, before any time is over (SE-10)', async () => {
    const place = await serve({ unreadBytesMax: 10_000_000, sweepMs: 60_000 })
    for (let i = 0; i < 4; i++) {
      await open(place)
      fill(place, i)
    }
    await until(() => place.door.counters.unread > 0)
    const left = place.streams.reduce((sum, stream) => sum + stream.backlog(), 0)
    expect(left).toBeLessThanOrEqual(10_000_000)
    await talk(place.url)
  })
})
