// Goal: what a page posts as it ends comes to the hub alone, judged and bounded as a stream is; all
// other requests of the server go to whom they went before.
// Method: HTTP against a real server on loopback, whose own handler answers each request.
import http from 'node:http'
import { afterEach, expect, test } from 'vitest'
import { closeServed, raw, serve, type Served, talk } from './stranger.ts'
import { hub } from '../../packages/hub/src/index.ts'
import { BEACON_MAX } from '../../packages/holdfast/src/wire/beacon.ts'
import type { StreamServerOptions } from '../../packages/holdfast/src/drivers/net/server/websocket-server.ts'

afterEach(closeServed)

interface Taking extends Served {
  /** What was taken: the first byte, how many, and from where. */
  taken: (string | number | undefined)[][]
  /** Posts, and gives the status. */
  post: (body: Uint8Array, headers?: Record<string, string>, path?: string) => Promise<number>
}

/** A server that takes all bodies but those that begin with 0. */
async function taking(options: Partial<StreamServerOptions> = {}): Promise<Taking> {
  const taken: Taking['taken'] = []
  const served = await serve({
    beacon: (body, { remote }) => {
      taken.push([body[0], body.length, remote])
      return body[0] !== 0
    },
    ...options,
  })
  const post: Taking['post'] = (body, headers = {}, path = '/hub') => {
    return posted(served.port, body, headers, path)
  }
  return { ...served, taken, post }
}

function posted(
  port: number,
  body: Uint8Array,
  headers: Record<string, string>,
  path: string,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const asked = http.request({ port, host: '127.0.0.1', method: 'POST', path, headers })
    asked.on('response', (answer) => {
      answer.resume()
      resolve(answer.statusCode!)
    })
    asked.on('error', reject)
    asked.end(body)
  })
}

test('a body comes whole, with its address, and is answered 204; garbage 400 (N-1)', async () => {
  const { taken, post, port, url } = await taking()
  expect(await post(new Uint8Array(BEACON_MAX).fill(7))).toBe(204)
  expect(await post(Uint8Array.of(1, 2), {}, '/hub?v=1')).toBe(204)
  expect(await post(Uint8Array.of(0, 2))).toBe(400)
  const here = expect.stringContaining('127.0.0.1') as string
  // Who sends garbage has a connection to open for the next, as with a stream.
  const garbage = 'POST /hub HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\n\0'
  expect(await raw(port, garbage, garbage)).toMatch(/^HTTP\/1.1 400 (?!.*HTTP\/1.1)/s)
  taken.splice(3)
  expect(taken).toEqual([
    [7, BEACON_MAX, here],
    [1, 2, here],
    [0, 2, here],
  ])
  await talk(url)
})

test('one byte more than that is 413, and not taken; nor is half a body (N-1)', async () => {
  const { taken, post, port, url } = await taking()
  expect(await post(new Uint8Array(BEACON_MAX + 1))).toBe(413)
  const endless = 'POST /hub HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n'
  const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`
  expect(await raw(port, endless, chunk, chunk)).toMatch(/^HTTP\/1.1 413 /)
  await new Promise<void>((resolve) => {
    const asked = http.request({ port, method: 'POST', path: '/hub', headers: { length: '9' } })
    asked.on('error', () => {})
    asked.on('close', () => resolve())
    asked.write('x', () => asked.destroy())
  })
  await talk(url)
  expect(taken).toEqual([])
})

test('the origin, the host and the word of a proxy are judged as for streams (N-1)', async () => {
  const origins = ['https://play.example']
  const { door, taken, post } = await taking({ origins, trust: 1 })
  expect(await post(Uint8Array.of(1), { origin: 'https://evil.example' })).toBe(403)
  expect(await post(Uint8Array.of(1), { host: 'evil.example' })).toBe(421)
  expect(door.counters).toMatchObject({ wrongOrigin: 1, wrongHost: 1 })
  expect(taken).toEqual([])
  const headers = { origin: 'https://play.example', 'x-forwarded-for': '192.0.2.9' }
  expect(await post(Uint8Array.of(1), headers)).toBe(204)
  expect(taken).toEqual([[1, 1, '192.0.2.9']])
})

test('other requests, and all behind the end of the door, go where they went (N-1)', async () => {
  const { door, taken, post, port, server } = await taking()
  // A framework that comes later hears of none either.
  const heard: string[] = []
  server.on('request', ({ method, url }) => heard.push(`${method} ${url}`))
  expect(await post(Uint8Array.of(1))).toBe(204)
  expect(await post(Uint8Array.of(1), {}, '/other')).toBe(200)
  const page = await fetch(`http://127.0.0.1:${port}/hub`)
  expect(await page.text()).toBe('page')
  door.close()
  expect(await post(Uint8Array.of(1))).toBe(200)
  expect(heard).toEqual(['POST /other', 'GET /hub', 'POST /hub'])
  expect(taken).toHaveLength(1)
})

test("a hub in somebody's own server takes them; two in one do not mix them up (N-1)", async () => {
  const server = http.createServer((_request, response) => response.writeHead(404).end())
  await using _one = hub({ server, store: null })
  await using _two = hub({ server, store: null, path: '/two' })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  const post = (path: string): Promise<number> => posted(port, Uint8Array.of(1), {}, path)
  expect([await post('/hub'), await post('/two'), await post('/three')]).toEqual([400, 400, 404])
  server.closeAllConnections()
  await new Promise<void>((resolve) => server.close(() => resolve()))
})
