// Goal: pages come packed, in parts, or not at all where they are known, as they were asked for.
// Method: a real server on loopback; HTTP by hand, so that no client unpacks.

import http, { type IncomingMessage } from 'node:http'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import zlib from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type HttpServer, openServer } from './http.ts'
import { createMetrics } from './metrics.ts'
import { readPages } from './pages.ts'
import { checkPolicy, metricsOf, siteOf, withLobby } from './site.ts'

const SCRIPT = 'export const words = "again and again and again";\n'.repeat(100)
const NOISE = Buffer.from(Array.from({ length: 5_000 }, (_, i) => (i * i * 2_654_435_761) >>> 24))

const folder = mkdtempSync(join(tmpdir(), 'holdfast-give-'))
let server: HttpServer

function written(name: string, files: Record<string, string | Buffer>): string {
  for (const [file, content] of Object.entries(files)) {
    mkdirSync(join(folder, name, file, '..'), { recursive: true })
    writeFileSync(join(folder, name, file), content)
  }
  return join(folder, name)
}

const ours = {
  'index.html': '<title>games</title>',
  'rooms/index.html': '<title>rooms</title>',
  'dots/index.html': '<title>dots</title>',
  'assets/rooms-AbC123_-.js': 'rooms()',
}

async function open(own: Record<string, string | Buffer>, policy = 'open'): Promise<HttpServer> {
  const name = `own-${Object.keys(own).length}-${policy.length}`
  const shelves = withLobby(
    readPages(written(name, own), 'build them'),
    checkPolicy(policy),
    readPages(written('ours', ours), 'build them'),
  )
  const site = siteOf({
    shelves,
    health: () => ({ ok: true }),
    metrics: metricsOf(createMetrics(), null),
    sessions: () => ({ items: [], next: '' }),
    about: {},
  })
  return openServer({ host: '127.0.0.1', port: 0, option: '--port', origins: [] }, site)
}

beforeAll(async () => {
  server = await open({
    'index.html': '<title>mine</title>',
    'main.js': SCRIPT,
    'noise.js': NOISE,
    'photo.png': NOISE,
    'tune.mp3': NOISE,
    'small.js': 'x',
    'assets/rooms-Mine5678.js': 'mine()',
  })
})
afterAll(async () => {
  await server.close()
  rmSync(folder, { recursive: true })
})

interface Got {
  status: number
  headers: IncomingMessage['headers']
  body: Buffer
}

function get(path: string, headers: Record<string, string> = {}, at = server): Promise<Got> {
  return new Promise((resolve, reject) => {
    const asked = http.get({ host: '127.0.0.1', port: at.port, path, headers }, (answer) => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => chunks.push(chunk))
      answer.on('end', () => {
        const { statusCode: status = 0, headers: got } = answer
        resolve({ status, headers: got, body: Buffer.concat(chunks) })
      })
    })
    asked.on('error', reject)
  })
}

describe('packed', () => {
  test.each([
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip, deflate', 'gzip'],
    ['BR;q=0.1, gzip;q=0', 'br'],
    ['br;q=0, gzip;q=0.5', 'gzip'],
    ['*', 'br'],
    ['br;q=0, *;q=0.3', 'gzip'],
    ['identity', undefined],
    ['br;q=0', undefined],
    ['', undefined],
    ['br;q=never', undefined],
  ])('who takes %j gets %s (AP-24)', async (accepts, coding) => {
    const { headers, body } = await get('/main.js', { 'accept-encoding': accepts })
    expect(headers['content-encoding']).toBe(coding)
    expect(headers.vary).toBe('Accept-Encoding')
    expect(Number(headers['content-length'])).toBe(body.length)
    const plain =
      coding === 'br'
        ? zlib.brotliDecompressSync(body)
        : coding === 'gzip'
          ? zlib.gunzipSync(body)
          : body
    expect(plain.toString()).toBe(SCRIPT)
    if (coding) expect(body.length).toBeLessThan(SCRIPT.length / 10)
  })

  test('each form has its own validator, and is not sent again to who has it (AP-24)', async () => {
    const forms = await Promise.all(
      ['br', 'gzip', 'identity'].map((accepts) => get('/main.js', { 'accept-encoding': accepts })),
    )
    const tags = forms.map(({ headers }) => headers.etag!)
    expect(new Set(tags).size).toBe(3)
    const known = await get('/main.js', { 'accept-encoding': 'br', 'if-none-match': tags[0]! })
    expect([known.status, known.body.length, known.headers.etag]).toEqual([304, 0, tags[0]])
    const other = await get('/main.js', { 'accept-encoding': 'gzip', 'if-none-match': tags[0]! })
    expect(other.status).toBe(200)
  })

  test('what is small, packed already, or no smaller for it goes as it is', async () => {
    for (const path of ['/small.js', '/photo.png', '/noise.js', '/tune.mp3']) {
      const { headers } = await get(path, { 'accept-encoding': 'br, gzip' })
      expect([path, headers['content-encoding']]).toEqual([path, undefined])
    }
  })
})

describe('parts', () => {
  test.each([
    ['bytes=0-1', 206, 0, 2],
    ['bytes=100-', 206, 100, 5_000],
    ['bytes=-10', 206, 4_990, 5_000],
    ['bytes=4999-9999', 206, 4_999, 5_000],
    ['bytes=5000-', 416, 0, 0],
    ['bytes=-0', 416, 0, 0],
    ['bytes=3-2', 200, 0, 5_000],
    ['bytes=-', 200, 0, 5_000],
    ['bytes=0-1,4-5', 200, 0, 5_000],
    ['lines=0-1', 200, 0, 5_000],
  ])('%s is answered with %d', async (range, status, from, to) => {
    const got = await get('/tune.mp3', { range })
    expect(got.status).toBe(status)
    if (status === 416) return expect(got.headers['content-range']).toBe('bytes */5000')
    expect(got.body.equals(NOISE.subarray(from, to))).toBe(true)
    if (status === 206) expect(got.headers['content-range']).toBe(`bytes ${from}-${to - 1}/5000`)
  })

  test('of another version than the one that was begun is the whole', async () => {
    const { headers } = await get('/tune.mp3')
    const same = await get('/tune.mp3', { range: 'bytes=0-1', 'if-range': headers.etag! })
    expect(same.status).toBe(206)
    const other = await get('/tune.mp3', { range: 'bytes=0-1', 'if-range': '"other"' })
    expect(other.status).toBe(200)
  })
})

describe('pages of one’s own', () => {
  test('stand at the root, the rooms beside them, and our games nowhere (AP-15)', async () => {
    const texts = async (path: string): Promise<string> => (await get(path)).body.toString()
    expect(await texts('/')).toContain('mine')
    expect(await texts('/lobby/')).toContain('rooms')
    expect((await get('/lobby?a=1')).headers.location).toBe('./lobby/?a=1')
    expect(await texts('/assets/rooms-AbC123_-.js')).toBe('rooms()')
    expect(await texts('/assets/rooms-Mine5678.js')).toBe('mine()')
    for (const path of ['/dots/', '/rooms/', '/index.htm']) {
      expect([path, (await get(path)).status]).toEqual([path, 404])
    }
  })

  test('without a start page lead to the rooms (AP-15)', async () => {
    const bare = await open({ 'chess/index.html': '<title>chess</title>' })
    const { status, headers } = await get('/', {}, bare)
    expect([status, headers.location]).toEqual([307, './lobby/'])
    expect((await get('/chess?room=1', {}, bare)).headers.location).toBe('./chess/?room=1')
    await bare.close()
  })

  test('may do what their policy says, the rooms what ours says, and data nothing (AP-15, N-26)', async () => {
    const policy = async (path: string, at = server): Promise<string | undefined> => {
      return String((await get(path, {}, at)).headers['content-security-policy'])
    }
    expect(await policy('/')).toBe("object-src 'none'; base-uri 'self'; frame-ancestors 'self'")
    expect(await policy('/lobby/')).toContain("default-src 'none'")
    const own = "default-src 'self' https://cdn.example.com"
    for (const [given, found] of [
      ['none', 'undefined'],
      ['strict', "default-src 'none'"],
      [own, own],
    ] as const) {
      const other = await open({ 'index.html': 'x' }, given)
      expect(await policy('/', other)).toContain(found)
      expect((await get('/', {}, other)).headers['x-content-type-options']).toBe('nosniff')
      await other.close()
    }
    // Data has the strict one, whatever pages may do.
    for (const path of ['/health', '/api/hub', '/api/sessions', '/metrics']) {
      expect(await policy(path)).toContain("default-src 'none'")
    }
    expect(() => checkPolicy('lax')).toThrow(/--policy is strict, open, none, or a policy such as/)
    expect(() => checkPolicy("default-src 'self'\r\nX: y")).toThrow(/--policy is/)
  })

  test('that are missing or empty are told, with what to do (AP-15)', () => {
    mkdirSync(join(folder, 'bare'))
    const cure = 'build your pages'
    expect(() => readPages(join(folder, 'bare'), cure)).toThrow(/bare is empty: build your pages/)
    expect(() => readPages(join(folder, 'gone'), cure)).toThrow(/no folder of pages .*gone: build/)
  })

  test('name the folders that have a start page (AP-15)', () => {
    const pages = { 'index.html': '', 'chess/index.html': '', 'a/b/index.html': '', 'c/x.html': '' }
    expect(readPages(written('starts', pages), '').starts.toSorted()).toEqual(['', 'chess'])
  })
})
