// Goal: a stream has the address that it came from, whatever it says of itself; and whoever is
// turned away hears why.
// Method: real sockets on loopback, from addresses of it, with headers by hand.
import { once } from 'node:events'
import { afterEach, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { closeServed, serve, talk } from '../../../../../../test/conformance/stranger.ts'
import { until } from '../../../../../../test/conformance/until.ts'
import type { Stream } from '../../../ports.ts'
import { readRange } from '../../../wire/text/ip.ts'
import type { StreamServerOptions } from './websocket-server.ts'

afterEach(closeServed)

const QUIET = { opened: () => {}, message: () => {}, closed: () => {} }

/** Connects from there. @returns the address as the server took it */
async function seen(
  options: Partial<StreamServerOptions>,
  forwarded: string | null,
  localAddress = '127.0.7.9',
): Promise<string> {
  const remotes: string[] = []
  const { url } = await serve({
    ...options,
    accept: (_stream, { remote }) => {
      remotes.push(remote)
      return QUIET
    },
  })
  const headers = forwarded === null ? {} : { 'X-Forwarded-For': forwarded }
  const socket = new WebSocket(url, { localAddress, headers })
  await once(socket, 'open')
  socket.terminate()
  return remotes.join()
}

describe('the address of a stream', () => {
  test('is that of its socket (SE-9)', async () => {
    expect(await seen({}, null)).toBe('127.0.7.9')
  })
  test('is not what a peer says that nobody trusts, which is noticed (SE-9)', async () => {
    let noticed = 0
    const untrusted = (): void => void noticed++
    expect(await seen({ untrusted }, '192.0.2.1')).toBe('127.0.7.9')
    expect(await seen({ untrusted }, null)).toBe('127.0.7.9')
    const trust = [readRange('10.0.0.0/8')!]
    expect(await seen({ untrusted, trust }, '192.0.2.1')).toBe('127.0.7.9')
    expect(noticed).toBe(2)
  })
  test('is what a trusted proxy says, from the right (SE-9)', async () => {
    const said = '6.6.6.6, 192.0.2.1'
    expect(await seen({ trust: 1 }, said)).toBe('192.0.2.1')
    expect(await seen({ trust: [readRange('127.0.0.0/8')!] }, said)).toBe('192.0.2.1')
    expect(await seen({ trust: 2 }, said)).toBe('6.6.6.6')
  })
})

describe('a stream that is closed', () => {
  test.each([
    ['refused', 1008],
    ['full', 1013],
  ] as const)('as %s hears %i, and the reason (SE-9)', async (kind, code) => {
    const { url, streams } = await serve()
    const socket = new WebSocket(url)
    await once(socket, 'open')
    await until(() => streams.length === 1)
    streams[0]!.close({ kind, why: `limit a.b: ${'ä'.repeat(200)}` })
    const [got, reason] = (await once(socket, 'close')) as [number, Buffer]
    expect([got, reason.length]).toEqual([code, 123])
    expect(reason.toString()).toMatch(/^limit a\.b: \?+$/)
  })
  test('and goes on sending is ended before it agrees to the close (SE-14)', async () => {
    const { url, streams } = await serve()
    const socket = new WebSocket(url)
    await once(socket, 'open')
    await until(() => streams.length === 1)
    const gone = once(socket, 'close')
    const [stream] = streams as [Stream]
    // What is sent in one go is read in one go, behind the close.
    for (let i = 0; i < 200; i++) socket.send(new Uint8Array(9))
    stream.close({ kind: 'refused', why: 'enough' })
    await gone
    await talk(url)
  })
})
