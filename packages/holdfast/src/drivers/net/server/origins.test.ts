// Goal: a page of somebody else gets into no server of ours, by no name, and a program does.
// Method: the gate as it is, then a door on loopback that is spoken to as browsers do.

import { afterEach, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { closeServed, raw, serve, upgrade } from '../../../../../../test/conformance/stranger.ts'
import { createGate } from './origins.ts'
import { listenStreams } from './websocket-listen.ts'

afterEach(closeServed)

const HERE = '127.0.0.1'
const AWAY = '192.0.2.7'
const PLAY = 'https://play.example.com'

/** What is refused: nothing, its origin or its host. */
function judged(
  origins: string[],
  address: string,
  host: string | undefined,
  origin?: string,
): string {
  const refusal = createGate(origins).refusal({ host, origin }, address)
  if (refusal === null) return 'in'
  expect(refusal.why.length).toBeLessThanOrEqual(123)
  return /^wrong (origin|host): \S+ is none of the \1s allowed here \(--origin\)$/.exec(
    refusal.why,
  )![1]!
}

describe('the gate', () => {
  test.each([
    // Without an origin it is a program, under any name of this machine.
    ['in', [], HERE, '127.0.0.1:8700', undefined],
    ['in', [], HERE, 'localhost', undefined],
    ['in', [], HERE, 'LOCALHOST.:8700', undefined],
    ['in', [], HERE, 'hub.localhost:8700', undefined],
    ['in', [], '::1', '[::1]:8700', undefined],
    ['in', [], '::ffff:127.0.0.1', '127.9.9.9', undefined],
    ['in', [], HERE, undefined, undefined],
    // Its own pages.
    ['in', [], HERE, 'localhost:8700', 'http://localhost:8700'],
    ['in', [], AWAY, 'play.example.com', PLAY],
    ['in', [], AWAY, 'play.example.com:443', PLAY],
    ['in', [], AWAY, 'Play.Example.COM', PLAY],
    ['in', [], AWAY, '192.0.2.7:8700', 'http://192.0.2.7:8700'],
    // Pages of others, also of other ports, of none, and with half a name.
    ['origin', [], HERE, 'localhost:8700', 'http://localhost:5173'],
    ['origin', [], HERE, '127.0.0.1:8700', 'http://localhost:8700'],
    ['origin', [], HERE, 'localhost:8700', 'https://evil.example'],
    ['origin', [], HERE, 'localhost:8700', 'null'],
    ['origin', [], HERE, 'localhost:8700', ''],
    ['origin', [], HERE, 'localhost:8700', 'http://localhost:8700, http://evil.example'],
    ['origin', [], HERE, undefined, 'http://localhost:8700'],
    ['origin', [], AWAY, 'play.example.com', 'https://play.example.com.evil.example'],
    ['origin', [], AWAY, 'play.example.com', 'chrome-extension://play.example.com'],
    ['origin', [], AWAY, 'play.example.com:8443', PLAY],
    // A name that an attacker gave to 127.0.0.1 for a moment.
    ['host', [], HERE, 'rebind.evil.example:8700', undefined],
    ['host', [], HERE, 'rebind.evil.example:8700', 'http://rebind.evil.example:8700'],
    ['host', [], HERE, 'localhost.evil.example', undefined],
    ['host', [], HERE, '127.0.0.1.evil.example', undefined],
    ['host', [], HERE, '127.0.0.1@evil.example', undefined],
    ['host', [], HERE, 'x', undefined],
    ['host', [], HERE, '', undefined],
    ['host', [], HERE, '192.0.2.7:8700', undefined],
    // What is named: a proxy that passes its name on, or does not; pages of other servers.
    ['in', [PLAY], HERE, 'play.example.com', PLAY],
    ['in', [PLAY], HERE, '127.0.0.1:8700', PLAY],
    ['in', ['https://PLAY.example.com:443/'], HERE, 'play.example.com', PLAY],
    ['origin', [PLAY], HERE, '127.0.0.1:8700', 'http://play.example.com'],
    ['host', [PLAY], HERE, 'www.play.example.com', PLAY],
    ['in', ['http://localhost:5173', PLAY], HERE, 'localhost:8700', 'http://localhost:5173'],
    ['in', ['null'], HERE, 'localhost:8700', 'null'],
    ['host', ['null'], HERE, 'null', 'null'],
    ['in', ['*'], HERE, 'anything.example', 'https://any.example'],
  ] as const)(
    '%s: allowed %j at %s, Host %s, Origin %s (SE-6)',
    (verdict, allowed, address, host, origin) => {
      expect(judged([...allowed], address, host, origin)).toBe(verdict)
    },
  )

  test('what is no origin is refused when it is given, with what one is', () => {
    for (const wrong of ['play.example.com', 'https://a/b', 'https://a?b', '', 'a b', '//a']) {
      expect(() => createGate([wrong])).toThrow(/a scheme, a host and no path, as https:/)
    }
  })

  test('of what a stranger says only what a name may have is repeated, and not much', () => {
    const said = `http://\u001B]0;owned\u0007\n${'x'.repeat(300)}`
    const refusal = createGate([]).refusal({ host: 'localhost', origin: said }, HERE)
    const shown = `http://?]0;owned??${'x'.repeat(38)}`
    const why = `wrong origin: ${shown} is none of the origins allowed here (--origin)`
    expect(refusal!.why).toBe(why)
  })
})

/** The code and the words with which a stream to the door ends, or `open`. */
function knock(url: string, headers: Record<string, string>): Promise<string> {
  return new Promise((resolve) => {
    const socket = new WebSocket(url, { headers })
    socket.on('message', () => {
      resolve('open')
      socket.close()
    })
    // A refused page hears no echo, for its stream is closed before that.
    socket.on('open', () => socket.send(new Uint8Array(1)))
    socket.on('close', (code, reason) => resolve(`${code} ${reason.toString()}`))
    socket.on('error', () => {})
  })
}

describe('the door for streams', () => {
  test('a page of another origin is let in only to hear why it goes, and counted (SE-6)', async () => {
    const { url, port, door, told } = await serve()
    const evil = { origin: 'https://evil.example' }
    expect(await knock(url, evil)).toBe(
      '1008 wrong origin: https://evil.example is none of the origins allowed here (--origin)',
    )
    expect(await knock(url, { host: 'rebind.evil.example' })).toBe(
      '1008 wrong host: rebind.evil.example is none of the hosts allowed here (--origin)',
    )
    expect(told).toEqual([])
    expect(await knock(url, {})).toBe('open')
    expect(await knock(url, { origin: `http://127.0.0.1:${port}` })).toBe('open')
    expect(door.counters).toMatchObject({ wrongOrigin: 1, wrongHost: 1, accepted: 2 })
    // What is no handshake gets no answer of a gate.
    const broken = upgrade({ Origin: 'https://evil.example', 'Sec-WebSocket-Key': 'short' })
    expect(await raw(port, broken)).toMatch(/^HTTP\/1.1 400 /)
  })

  test('a page whose origin was named comes in (SE-6)', async () => {
    const { url } = await serve({ origins: ['http://localhost:5173', PLAY] })
    expect(await knock(url, { origin: 'http://localhost:5173' })).toBe('open')
    expect(await knock(url, { origin: PLAY, host: 'play.example.com' })).toBe('open')
    expect(await knock(url, { origin: 'http://localhost:5174' })).toMatch(/^1008 wrong origin: /)
  })

  test('wrong origins end the opening of a port of its own, and leave no port open', async () => {
    const at = { port: 0, host: HERE, path: '/mail', origins: ['nonsense'], tls: null }
    await expect(listenStreams(at, () => null!)).rejects.toMatchObject({ code: 'bad-value' })
  })
})
