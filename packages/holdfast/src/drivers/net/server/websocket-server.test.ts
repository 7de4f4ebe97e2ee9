// Goal: whatever strangers send, the door counts it, closes it, and goes on serving good clients.
// Method: raw TCP against a real server on loopback; after each attack a good client talks.
// Slow: thousands of connections are opened, and wait until their time is over.

import { execFileSync, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import {
  closeServed,
  control,
  frame,
  raw,
  serve,
  talk,
  upgrade,
} from '../../../../../../test/conformance/stranger.ts'
import { turn, until } from '../../../../../../test/conformance/until.ts'
import { connectWebSocketNode } from '../websocket-node.ts'
import net, { type Socket } from 'node:net'

const HALF_OPEN = fileURLToPath(
  new URL('../../../../../../test/conformance/half-open.js', import.meta.url),
)

afterEach(closeServed)
afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

/** The time of the server is the test's from now on; its sockets are real. */
function stopTime(): void {
  const toFake = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance']
  vi.useFakeTimers({ toFake: toFake as never })
}

/** Seeded bytes. */
function randomBytes(seed: number, count: number): Uint8Array {
  let state = (seed * 2_654_435_761) >>> 0 || 1
  return Uint8Array.from({ length: count }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state >>> 24
  })
}

describe('requests for an upgrade', () => {
  test('wrong ones get an HTTP error and are counted', async () => {
    const { door, port, url } = await serve()
    const wrong: [string, RegExp][] = [
      [upgrade({}, 'GET /elsewhere HTTP/1.1'), /^HTTP\/1.1 404 /],
      [upgrade({}, 'GET /hub/../hub HTTP/1.1'), /^HTTP\/1.1 404 /],
      [upgrade({}, 'GET /hub%2f HTTP/1.1'), /^HTTP\/1.1 404 /],
      [upgrade({}, 'POST /hub HTTP/1.1'), /^HTTP\/1.1 400 /],
      [upgrade({ 'Sec-WebSocket-Key': null }), /^HTTP\/1.1 400 /],
      [upgrade({ 'Sec-WebSocket-Key': 'short' }), /^HTTP\/1.1 400 /],
      [upgrade({ 'Sec-WebSocket-Version': '99' }), /^HTTP\/1.1 400 /],
      [upgrade({ Upgrade: 'h2c' }), /^HTTP\/1.1 400 /],
    ]
    for (const [request, answer] of wrong) expect(await raw(port, request)).toMatch(answer)
    expect(door.counters.badUpgrades).toBe(wrong.length)
    expect(door.counters.accepted).toBe(0)
    await talk(url)
  })

  test('random bytes in place of a request are closed', async () => {
    stopTime()
    const { door, port, url } = await serve({ handshakeMs: 300 })
    const answers = Array.from({ length: 200 }, (_, seed) => raw(port, randomBytes(seed, seed * 7)))
    // The last client has talked, so the server has all the others.
    await talk(url)
    vi.advanceTimersByTime(300)
    for (const answer of await Promise.all(answers)) expect(answer).not.toMatch(/ 101 | 200 /)
    expect(door.waiting()).toBe(0)
    await talk(url)
  })

  test('a request head without end is refused', async () => {
    const { port, url } = await serve()
    const head = `GET /hub HTTP/1.1\r\nHost: a\r\nX-Long: ${'x'.repeat(100_000)}`
    expect(await raw(port, head)).toMatch(/^HTTP\/1.1 431 /)
    await talk(url)
  })

  test('a query after the path is let through, the page of the server stays', async () => {
    const { port, url } = await serve()
    await talk(`${url}?v=1`)
    const page = await fetch(`http://127.0.0.1:${port}/`)
    expect(await page.text()).toBe('page')
  })
})

describe('frames', () => {
  test('random bytes after a good handshake are counted as violations and closed', async () => {
    const { door, port, url } = await serve({ pingMs: 200 })
    const answers = Array.from({ length: 300 }, (_, seed) =>
      raw(port, upgrade(), randomBytes(seed + 1, 1 + ((seed * 31) % 3000))),
    )
    await talk(url)
    await Promise.all(answers)
    await until(() => door.open() === 0)
    expect(door.counters.violations).toBeGreaterThan(200)
    await talk(url)
  })

  test.each([
    ['a message of 2^40 bytes', [frame(0x82, new Uint8Array(0), 2 ** 40)]],
    ['a message one byte over the limit', [frame(0x82, new Uint8Array(262_145))]],
    [
      'a message over the limit in pieces',
      [frame(0x02, new Uint8Array(200_000)), frame(0x80, new Uint8Array(70_000))],
    ],
    [
      'a message of too many pieces',
      [frame(0x02, Uint8Array.of(1)), ...Array<Buffer>(1100).fill(frame(0x00, Uint8Array.of(1)))],
    ],
    ['a frame without a mask', [Uint8Array.of(0x82, 0x01, 0x07)]],
    ['a compressed frame', [frame(0xc2, Uint8Array.of(7))]],
    ['an unknown kind of frame', [frame(0x83, Uint8Array.of(7))]],
    ['a ping that is too long', [frame(0x89, new Uint8Array(126))]],
  ] as [string, Uint8Array[]][])('%s ends the stream', async (_what, frames) => {
    const { door, port, url, told } = await serve()
    await raw(port, upgrade(), ...frames)
    await until(() => told.length === 2)
    expect(door.counters).toMatchObject({ accepted: 1, violations: 1 })
    expect(told[1]).toMatch(/^1 closed /)
    expect(door.open()).toBe(0)
    await talk(url)
  })

  test('text frames are counted and ignored', async () => {
    const { door, port, told } = await serve()
    const close = control(0x88, Uint8Array.of(0x03, 0xe8))
    const answer = await raw(port, upgrade(), frame(0x81, Buffer.from('hello')), close)
    expect(answer).not.toContain('hello')
    expect(door.counters.texts).toBe(1)
    await until(() => told.length === 2)
    expect(told).toEqual(['1 opened', '1 closed the other side closed it (1000)'])
  })

  test('one who pings and never reads does not fill our memory', async () => {
    const { door, server, port, url } = await serve()
    const sockets: Socket[] = []
    server.on('connection', (socket: Socket) => sockets.push(socket))
    const client = net.connect(port, '127.0.0.1')
    client.on('error', () => {})
    client.pause()
    client.write(upgrade())
    await until(() => door.open() === 1)
    const pings = Buffer.concat(Array<Buffer>(1000).fill(control(0x89, new Uint8Array(125))))
    let most = 0
    for (let i = 0; i < 20; i++) {
      client.write(pings)
      await new Promise((resolve) => setImmediate(resolve))
      most = Math.max(most, sockets[0]!.writableLength)
    }
    await until(() => door.open() === 0)
    expect(most).toBeLessThan(128 * 1024)
    expect(door.counters.flooding).toBe(1)
    await talk(url)
    client.destroy()
  })
})

describe('limits', () => {
  test('one stream too many is closed with 1013 and the limit, and is counted', async () => {
    const { door, url, streams } = await serve({ connectionsMax: 2 })
    const open = (): Promise<string> =>
      new Promise((resolve) => {
        const stream = connectWebSocketNode(url, {
          opened: () => stream.send(Uint8Array.of(1)),
          message: () => resolve('echo'),
          closed: resolve,
        })
      })
    expect([await open(), await open()]).toEqual(['echo', 'echo'])
    expect(await open()).toContain('(1013: at most 2 connections)')
    expect(door.counters).toMatchObject({ accepted: 2, full: 1 })
    streams[0]!.close()
    expect(door.open()).toBe(1)
    expect(await open()).toBe('echo')
  })

  test('the oldest of too many half-open connections goes first', async () => {
    const { door, port, url } = await serve({ waitingMax: 3, handshakeMs: 60_000 })
    const closed: number[] = []
    for (let i = 0; i < 5; i++) {
      const socket = net.connect(port, '127.0.0.1')
      socket.on('error', () => {})
      socket.on('close', () => closed.push(i))
      await until(() => door.waiting() + closed.length === i + 1)
    }
    await until(() => closed.length === 2)
    expect(closed).toEqual([0, 1])
    expect(door.waiting()).toBe(3)
    await talk(url)
    expect(door.counters.crowdedOut).toBe(3)
  })

  test('a half-open connection is closed after its time, a finished one is not', async () => {
    stopTime()
    const { door, port, url } = await serve({ handshakeMs: 100 })
    const kept = connectWebSocketNode(url, { opened() {}, message() {}, closed() {} })
    await until(() => door.open() === 1)
    const late = [raw(port), raw(port, 'GET /'), raw(port, upgrade().slice(0, -2))]
    await until(() => door.waiting() === 3)
    vi.advanceTimersByTime(99)
    expect(door.waiting()).toBe(3)
    vi.advanceTimersByTime(1)
    await Promise.all(late)
    expect(door.counters.handshakeTimeouts).toBe(3)
    expect(door.waiting()).toBe(0)
    expect(door.open()).toBe(1)
    kept.close()
  })

  test('a stream whose other end answers no ping is told as closed', async () => {
    const { door, port, told } = await serve({ pingMs: 30 })
    const dead = net.connect(port, '127.0.0.1', () => dead.write(upgrade()))
    dead.on('error', () => {})
    await until(() => told.length === 2)
    expect(told[1]).toContain('pings stayed without an answer')
    expect(door.counters.dead).toBe(1)
    dead.destroy()
  })

  test('a stream that answers pings stays', async () => {
    stopTime()
    const { door, server, url, told } = await serve({ pingMs: 10 })
    const sockets: Socket[] = []
    server.on('connection', (socket: Socket) => sockets.push(socket))
    const stream = connectWebSocketNode(url, { opened() {}, message() {}, closed() {} })
    await until(() => door.open() === 1)
    for (let pings = 0; pings < 20; pings++) {
      const before = sockets[0]!.bytesRead
      vi.advanceTimersByTime(10)
      // The client sends nothing but the pong.
      await until(() => sockets[0]!.bytesRead > before)
    }
    expect(told).toEqual(['1 opened'])
    stream.close()
  })

  test('of 250 streams no more than a hundred are pinged in one turn, and all are (SE-10)', async () => {
    const pinged = new Set<WebSocket>()
    let [ofTurn, most] = [0, 0]
    const ping = Reflect.get(WebSocket.prototype, 'ping') as () => void
    vi.spyOn(WebSocket.prototype, 'ping').mockImplementation(function noted(this: WebSocket) {
      if (ofTurn++ === 0) setImmediate(() => (ofTurn = 0))
      most = Math.max(most, ofTurn)
      pinged.add(this)
      ping.call(this)
    })
    stopTime()
    const { door, url } = await serve({ pingMs: 100 })
    const quiet = { opened() {}, message() {}, closed() {} }
    const all = Array.from({ length: 250 }, () => connectWebSocketNode(url, quiet))
    await until(() => door.open() === 250)
    while (pinged.size < 250) {
      vi.advanceTimersToNextTimer()
      await turn()
    }
    expect(most).toBeLessThanOrEqual(100)
    expect(most).toBeGreaterThan(10)
    for (const one of all) one.close()
  })

  test('closing the door tells clients that the server goes away', async () => {
    const { door, url, told } = await serve()
    const why = await new Promise<string>((resolve) => {
      connectWebSocketNode(url, { opened: () => door.close(), message() {}, closed: resolve })
    })
    expect(why).toContain('1001: the server is closing')
    expect(told).toEqual(['1 opened'])
  })

  test('thousands of half-open connections leave room for a good client', async () => {
    const limit = Number(execFileSync('sh', ['-c', 'ulimit -n']).toString()) || 4500
    const count = Math.min(4000, limit - 500)
    const { door, port, url } = await serve({ waitingMax: 2000, handshakeMs: 2000 })
    const before = process.memoryUsage().rss
    const child = spawn(process.execPath, [HALF_OPEN, String(port), String(count)])
    const said: string[] = []
    createInterface({ input: child.stdout }).on('line', (line) => said.push(line))
    while (!said.includes(`open ${count}`)) {
      await talk(url)
      expect(door.waiting()).toBeLessThanOrEqual(2000)
    }
    await talk(url)
    const grown = process.memoryUsage().rss - before
    await until(() => said.includes(`closed ${count}`))
    expect(door.waiting()).toBe(0)
    const { crowdedOut, handshakeTimeouts } = door.counters
    expect(crowdedOut + handshakeTimeouts).toBeGreaterThanOrEqual(count - 10)
    expect(grown).toBeLessThan(300 * 1024 * 1024)
    await talk(url)
  })
})
