// Goal: the server gives out its folder and nothing else, says what it refuses, and ends well.
// Method: a real server on loopback; raw TCP where a client would tidy up the request.

import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type HttpServer, openServer, type Place } from './http.ts'
import { countsText } from '../../../holdfast/src/api/prometheus.ts'
import { createMetrics } from './metrics.ts'
import { readPages } from './pages.ts'
import { metricsOf, siteOf, type SiteOptions } from './site.ts'
import type { Page } from '../../../hub/src/machine/state.ts'

const outside = mkdtempSync(join(tmpdir(), 'holdfast-http-'))
const folder = join(outside, 'pages')
const opened: HttpServer[] = []

beforeAll(() => {
  const files: Record<string, string> = {
    'secret.txt': 'secret',
    'pages/index.html': '<title>lobby</title>',
    'pages/dots/index.html': '<title>dots</title>',
    'pages/assets/main-AbC123_-.js': 'main()',
    'pages/assets/logo.svg': '<svg/>',
    'pages/a b ü.css': 'a {}',
    'pages/odd.xyz': 'odd',
  }
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(join(outside, name, '..'), { recursive: true })
    writeFileSync(join(outside, name), content)
  }
  symlinkSync(join(outside, 'secret.txt'), join(folder, 'link.txt'))
  symlinkSync(outside, join(folder, 'up'))
})
afterEach(async () => {
  for (const server of opened.splice(0)) await server.close()
})
afterAll(() => rmSync(outside, { recursive: true }))

/** Of the game `a&b` there are two pages, of all others one. */
function pageOf(game: string, after: string): Page {
  const register = { epoch: 3, primary: 1, backup: 0 }
  const entry = {
    ...{ session: '1', game: game || 'duel', room: `behind ${after}`, register },
    ...({ players: 2, playersMax: 4, standing: 'open', topology: 'star', terms: '' } as const),
  }
  const next = game === 'a&b' && after === '' ? '2.7' : ''
  return { items: [{ entry, rank: 2, serial: 7 }], next }
}

async function open(options: Partial<Place & SiteOptions> = {}): Promise<HttpServer> {
  const site = {
    shelves: [{ find: readPages(folder, 'build them').find, policy: 'strict' }],
    health: () => ({ ok: true, sessions: 3 }),
    metrics: metricsOf(createMetrics(), null),
    sessions: (game: string, after: string) => pageOf(game, after),
    about: { demo: false },
  }
  const place = { host: '127.0.0.1', port: 0, option: '--port', origins: [] } as const
  const server = await openServer({ ...place, ...options }, siteOf({ ...site, ...options }))
  opened.push(server)
  return server
}

/** Sends a request as it stands. @returns the whole answer */
function raw(port: number, request: string | Buffer): Promise<string> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1', () => socket.write(request))
    let answer = ''
    socket.on('data', (bytes) => (answer += bytes.toString()))
    socket.on('error', () => {})
    socket.on('close', () => resolve(answer))
  })
}

function get(port: number, path: string): Promise<string> {
  return raw(port, `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`)
}

describe('pages', () => {
  test.each([
    ['/', 'text/html; charset=utf-8', '<title>lobby</title>'],
    ['/index.html', 'text/html; charset=utf-8', '<title>lobby</title>'],
    ['/dots/', 'text/html; charset=utf-8', '<title>dots</title>'],
    ['/dots/?room=1', 'text/html; charset=utf-8', '<title>dots</title>'],
    ['/assets/main-AbC123_-.js', 'text/javascript; charset=utf-8', 'main()'],
    ['/assets/logo.svg', 'image/svg+xml; charset=utf-8', '<svg/>'],
    ['/a%20b%20%C3%BC.css', 'text/css; charset=utf-8', 'a {}'],
    ['/odd.xyz', 'application/octet-stream', 'odd'],
  ])('%s is %s', async (path, type, body) => {
    const { url } = await open()
    const response = await fetch(new URL(path, url))
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe(type)
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    expect(await response.text()).toBe(body)
  })

  test('a folder without its slash leads to the one with', async () => {
    const { url } = await open()
    const response = await fetch(`${url}dots`, { redirect: 'manual' })
    expect([response.status, response.headers.get('location')]).toEqual([308, './dots/'])
  })

  test('only names with a hash are kept for good', async () => {
    const { url } = await open()
    const cache = async (path: string): Promise<string | null> =>
      (await fetch(`${url}${path}`)).headers.get('cache-control')
    expect(await cache('assets/main-AbC123_-.js')).toBe('public, max-age=31536000, immutable')
    expect(await cache('assets/logo.svg')).toBe('no-cache')
    expect(await cache('')).toBe('no-cache')
    expect(await cache('none')).toBe('no-store')
  })

  test('a page that is still the same is not sent again', async () => {
    const { url } = await open()
    const etag = (await fetch(url)).headers.get('etag')!
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const response = await fetch(url, { headers: { 'If-None-Match': known } })
      expect([response.status, await response.text()]).toEqual([304, ''])
    }
    const other = await fetch(url, { headers: { 'If-None-Match': '"other"' } })
    expect(other.status).toBe(200)
    expect((await fetch(`${url}dots/`)).headers.get('etag')).not.toBe(etag)
  })

  test('HEAD has the headers of GET and no body', async () => {
    const { port } = await open()
    const answer = await raw(
      port,
      'HEAD / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n',
    )
    expect(answer).toMatch(/^HTTP\/1.1 200 OK\r\n/)
    expect(answer).toMatch(/Content-Length: 20\r\n/i)
    expect(answer.endsWith('\r\n\r\n')).toBe(true)
  })

  test('the policy permits our worker and WebSockets of this host, and little else', async () => {
    const { port } = await open()
    const policy = /Content-Security-Policy: (.*)\r\n/i
    const plain = policy.exec(await get(port, '/'))![1]!
    expect(plain).toContain("default-src 'none'")
    expect(plain).toContain("script-src 'self';")
    expect(plain).toContain("worker-src 'self' blob:")
    expect(plain).toContain("connect-src 'self' ws://localhost wss://localhost;")
    expect(plain).not.toContain('unsafe')
    const evil = 'GET / HTTP/1.1\r\nHost: a; script-src *\r\nConnection: close\r\n\r\n'
    const any = await open({ origins: ['*'] })
    expect(policy.exec(await raw(any.port, evil))![1]).toBe(
      plain.replace(' ws://localhost wss://localhost', ''),
    )
  })
})

describe('what is not given out', () => {
  test.each([
    '/secret.txt',
    '/../secret.txt',
    '/dots/../../secret.txt',
    '/..%2fsecret.txt',
    '/%2e%2e/secret.txt',
    '/%2e%2e%2fsecret.txt',
    '/..%252fsecret.txt',
    '/..\\secret.txt',
    '/..%5csecret.txt',
    '//etc/passwd',
    '/%00',
    '/index.html%00.txt',
    '/link.txt',
    '/up/secret.txt',
    '/up/',
    '/%',
    '/%ff',
    '/__proto__',
    '/constructor',
    '/dots/index.html/',
    'http://localhost/secret.txt',
    '*',
    '/'.repeat(5000),
  ])('%s is not found', async (path) => {
    const { port } = await open()
    const answer = await get(port, path)
    expect(answer).toMatch(/^HTTP\/1.1 404 Not Found\r\n/)
    expect(answer).not.toMatch(/secret\b.*$/)
  })

  test.each(['POST', 'PUT', 'DELETE', 'OPTIONS', 'TRACE', 'PATCH'])('%s is 405', async (method) => {
    const { port } = await open()
    const answer = await raw(
      port,
      `${method} / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc`,
    )
    expect(answer).toMatch(/^HTTP\/1.1 405 Method Not Allowed\r\n/)
    expect(answer).toMatch(/Allow: GET, HEAD\r\n/i)
    expect(answer).toContain('<h1>405 Method Not Allowed</h1>')
  })

  test('bytes that are no request are answered or closed, and the server goes on', async () => {
    const { port, url } = await open()
    let state = 1
    const bytes = (count: number): Buffer =>
      Buffer.from(
        Array.from({ length: count }, () => {
          state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
          return state >>> 24
        }),
      )
    const end = Buffer.from('\r\n\r\n')
    const answers = Array.from({ length: 200 }, (_, i) =>
      raw(port, Buffer.concat([bytes(1 + i * 5), end])),
    )
    for (const answer of await Promise.all(answers)) expect(answer).not.toMatch(/ 200 /)
    expect((await fetch(url)).status).toBe(200)
  })
})

describe('who asks', () => {
  const ask = (port: number, headers: string, path = '/'): Promise<string> =>
    raw(port, `GET ${path} HTTP/1.1\r\n${headers}\r\nConnection: close\r\n\r\n`)

  test('under a name that is not of this machine gets nothing, and is counted (SE-6)', async () => {
    const { port, counters } = await open()
    for (const path of ['/', '/health', '/metrics', '/api/sessions']) {
      const answer = await ask(port, 'Host: rebind.evil.example', path)
      expect(answer).toMatch(/^HTTP\/1.1 421 Misdirected Request\r\n/)
      expect(answer.split('\r\n\r\n')[1]).toBe(
        'wrong host: rebind.evil.example is none of the hosts allowed here (--origin)\n',
      )
    }
    expect(counters).toEqual({ wrongOrigin: 0, wrongHost: 4 })
    expect(await ask(port, `Host: LocalHost:${port}`)).toMatch(/^HTTP\/1.1 200 /)
  })

  test('as a page of somewhere else gets nothing, unless that was allowed (SE-6)', async () => {
    const evil = 'Host: localhost\r\nOrigin: https://evil.example'
    const { port, counters } = await open()
    expect(await ask(port, evil, '/api/sessions')).toMatch(/^HTTP\/1.1 403 Forbidden\r\n/)
    expect(counters).toEqual({ wrongOrigin: 1, wrongHost: 0 })
    const own = await ask(port, 'Host: localhost\r\nOrigin: http://localhost')
    expect(own).toMatch(/^HTTP\/1.1 200 /)
    expect(own).not.toMatch(/Access-Control/i)
    const open2 = await open({ origins: ['https://evil.example'] })
    const allowed = await ask(open2.port, evil, '/api/sessions')
    expect(allowed).toMatch(/^HTTP\/1.1 200 /)
    expect(allowed).toMatch(/Access-Control-Allow-Origin: https:\/\/evil.example\r\n/i)
  })
})

describe('/health and /metrics', () => {
  test('health is JSON, and 503 when it is not well', async () => {
    let ok = true
    const { url } = await open({ health: () => ({ ok, sessions: 3 }) })
    const well = await fetch(`${url}health`)
    expect([well.status, await well.json()]).toEqual([200, { ok: true, sessions: 3 }])
    ok = false
    const ill = await fetch(`${url}health`)
    expect([ill.status, ill.headers.get('cache-control')]).toEqual([503, 'no-store'])
  })

  test('what pages may know of their hub is JSON (SE-21)', async () => {
    const { url } = await open({ about: { version: 1, demo: true } })
    const about = { version: 1, demo: true }
    expect(await (await fetch(`${url}api/hub`)).json()).toEqual({ ...about, reach: [] })
    const places = ['http://192.168.1.5:8700']
    const wide = await open({ about, reach: () => places })
    const told = await (await fetch(`${wide.url}api/hub`)).json()
    expect(told).toEqual({ ...about, reach: places })
  })

  test('metrics say nothing of the version of Node, and are not to be had where they are off (SE-21)', async () => {
    const { url } = await open()
    const text = await (await fetch(`${url}metrics`)).text()
    expect(text).toContain('nodejs_heap_size_used_bytes')
    expect(text).not.toContain(process.versions.node)
    const off = await open({ metrics: null })
    expect((await fetch(`${off.url}metrics`)).status).toBe(404)
  })

  test('metrics are for this machine, but not through a proxy, and for who has the token (SE-21)', async () => {
    const token = 'a-token-of-sixteen'
    const ask = async (local: boolean, headers: Record<string, string>): Promise<string> => {
      const readers = { token, local }
      const { url } = await open({ metrics: metricsOf(createMetrics(), readers) })
      const answer = await fetch(`${url}metrics`, { headers })
      const text = await answer.text()
      return `${answer.status} ${answer.headers.get('www-authenticate')} ${text.slice(0, 13)}`
    }
    const [given, denied] = ['200 null # HELP proces', '401 Bearer metrics are f']
    const brought = { 'X-Forwarded-For': '127.0.0.1' }
    const shown = { Authorization: `Bearer ${token}` }
    expect(await ask(true, {})).toBe(given)
    expect(await ask(true, brought)).toBe(denied)
    expect(await ask(true, { Forwarded: 'for=127.0.0.1' })).toBe(denied)
    expect(await ask(false, {})).toBe(denied)
    expect(await ask(false, shown)).toBe(given)
    expect(await ask(true, { ...brought, ...shown })).toBe(given)
    for (const wrong of [`Bearer ${token}x`, `Bearer ${token.slice(1)}`, `Basic ${token}`, '']) {
      expect(await ask(false, { Authorization: wrong })).toBe(denied)
    }
  })

  test('the sessions that the lobby lists are JSON, fresh each time', async () => {
    const { url } = await open()
    const response = await fetch(`${url}api/sessions`)
    expect(await response.json()).toMatchObject([{ game: 'duel', players: 2, epoch: 3 }])
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(response.headers.get('link')).toBe(null)
  })

  test('the list of a game in pages: each says where the next one is (SE-8, SE-10)', async () => {
    const { url } = await open()
    const response = await fetch(`${url}api/sessions?game=a%26b`)
    const [, next] = /^<(.+)>; rel="next"$/.exec(response.headers.get('link')!)!
    expect(next).toBe('?game=a%26b&after=2.7')
    const last = await fetch(new URL(next!, response.url))
    expect(await last.json()).toMatchObject([{ game: 'a&b', room: 'behind 2.7' }])
    expect(last.headers.get('link')).toBe(null)
  })

  test('a health check that throws is a 500 with nothing of the error', async () => {
    const { url } = await open({
      health: () => {
        throw new Error('private')
      },
    })
    const response = await fetch(`${url}health`)
    expect(response.status).toBe(500)
    expect(await response.text()).not.toContain('private')
  })

  test('metrics show the counters of rooms as they are now, each registry its own', async () => {
    const metrics = createMetrics()
    const counters = { accepted: 1, badUpgrades: 0, note: 'no number' }
    metrics.add(() => countsText('holdfast_streams_total', 'What happened to streams.', counters))
    const { url } = await open({ metrics: metricsOf(metrics, null) })
    const read = async (): Promise<string> => (await fetch(`${url}metrics`)).text()
    expect(await read()).toContain('holdfast_streams_total{what="accepted"} 1\n')
    counters.accepted = 7
    counters.badUpgrades = 2
    const text = await read()
    expect(text).toContain('holdfast_streams_total{what="accepted"} 7\n')
    expect(text).toContain('holdfast_streams_total{what="bad_upgrades"} 2\n')
    expect(text).toContain('process_cpu_seconds_total')
    expect(text).not.toContain('note')
    expect(await createMetrics().text()).not.toContain('holdfast_streams_total')
    expect((await fetch(`${url}metrics`)).headers.get('content-type')).toContain('version=0.0.4')
  })
})

describe('opening and closing', () => {
  test('a taken port is told with what to do', async () => {
    const { port } = await open()
    await expect(open({ port })).rejects.toMatchObject({
      code: 'port-taken',
      message:
        `port ${port} on 127.0.0.1 is taken by another program; ` +
        'stop it, or choose another port with --port (0 takes any free one)',
    })
  })

  test('a host that is not ours, a port out of range, a missing folder say so', async () => {
    await expect(open({ host: '192.0.2.1' })).rejects.toMatchObject({ code: 'unreachable' })
    await expect(open({ port: 70_000 })).rejects.toMatchObject({ code: 'bad-value' })
    expect(() => readPages(join(folder, 'none'), 'build them')).toThrow(/no folder .*none: build/)
    expect(() => readPages(join(folder, 'odd.xyz'), 'x')).toThrow(/there is no folder of pages/)
  })

  test('an IPv6 host stands in brackets in the URL', async () => {
    const { url, port } = await open({ host: '::1' })
    expect(url).toBe(`http://[::1]:${port}/`)
    expect((await fetch(url)).status).toBe(200)
  })

  test('closing ends idle connections at once, and frees the port', async () => {
    const { port, close } = await open()
    const idle = net.connect(port, '127.0.0.1')
    const ended = new Promise((resolve) => idle.on('close', resolve))
    await new Promise((resolve) => idle.on('connect', resolve))
    await get(port, '/')
    await close()
    await ended
    opened.length = 0
    await open({ port })
  })

  test('closing lets an answer under way finish', async () => {
    const slow = createMetrics()
    let begun = (): void => {}
    let finish = (): void => {}
    const asked = new Promise<void>((resolve) => (begun = resolve))
    const held = new Promise<void>((resolve) => (finish = resolve))
    const { url, close } = await open({
      metrics: metricsOf(
        {
          ...slow,
          text: async () => {
            begun()
            await held
            return 'late'
          },
        },
        null,
      ),
    })
    const response = fetch(`${url}metrics`)
    await asked
    const closed = close()
    finish()
    expect(await (await response).text()).toBe('late')
    await closed
  })
})
