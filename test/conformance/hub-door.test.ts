// Goal: a hub in somebody's own server: beside what is there, and gone without a loss.
// Method: Node's servers on loopback, with members that join and strangers that speak by hand.
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import http, { type Server } from 'node:http'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join as joinPath } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { hub, type HubHandle, type HubOptions } from '../../packages/hub/src/index.ts'
import { action, join, type Session } from '../../packages/holdfast/src/node.ts'
import {
  type FromHub,
  fromHub,
  HUB_VERSION,
  type ToHub,
  toHub,
} from '../../packages/holdfast/src/hub-protocol/messages.ts'
import { decode, encode } from '../../packages/holdfast/src/wire/layout.ts'
import { frameMessage, readFrame } from '../../packages/holdfast/src/wire/relay.ts'
import { until } from './until.ts'

const pem = readFileSync(fileURLToPath(new URL('../data/localhost.pem', import.meta.url)))
const folder = mkdtempSync(joinPath(tmpdir(), 'holdfast-door-'))
const count = action('count', (table, by: number) => {
  const next = Number(table.get('count') ?? 0) + by
  table.set('count', next)
  return next
})

const servers: Server[] = []
const hubs: HubHandle[] = []
const sessions: Session[] = []
afterEach(async () => {
  for (const session of sessions.splice(0)) session.end('done')
  for (const one of hubs.splice(0)) await one.close()
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function serve(
  server: Server = http.createServer((_, answer) => answer.end('page')),
): Promise<{
  server: Server
  port: number
}> {
  servers.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { server, port: (server.address() as AddressInfo).port }
}

function open(options: HubOptions): HubHandle {
  const handle = hub(options)
  hubs.push(handle)
  return handle
}

async function enter(server: string, game = 'duel', room = 'main'): Promise<Session> {
  const session = await join({ game, room, types: [count], server, udp: null })
  sessions.push(session)
  return session
}

/** A stream that is spoken to by hand. */
class Stranger {
  readonly heard: FromHub[] = []
  readonly socket: WebSocket

  constructor(url: string) {
    this.socket = new WebSocket(url, { rejectUnauthorized: false })
    this.socket.on('error', () => {})
    this.socket.on('message', (data: Buffer) => {
      const frame = readFrame(new Uint8Array(data))
      const message = frame?.kind === 'message' ? decode(fromHub, frame.bytes) : null
      if (message) this.heard.push(message)
    })
  }

  async greet(): Promise<this> {
    await once(this.socket, 'open')
    this.say({ kind: 'hello', version: HUB_VERSION })
    await until(() => this.heard.length > 1)
    return this
  }

  say(message: ToHub): void {
    this.socket.send(frameMessage(encode(toHub, message)))
  }
}

const wish = (request: number, game: string, room: string): ToHub => ({
  ...{
    kind: 'add',
    request,
    game,
    room,
    playersMax: 4,
    recovers: true,
    topology: 'star',
    terms: '',
  },
  hash: new Uint8Array(16),
  ...{ link: new Uint8Array(32), key: new Uint8Array(32) },
  ...{ hosts: false, ticket: '', fresh: false },
})

describe('a hub in one’s own server', () => {
  test('takes members at its path; requests and other sockets stay whose they are (AP-15)', async () => {
    const { server, port } = await serve()
    const own = new WebSocketServer({ noServer: true })
    server.on('upgrade', (request, socket, head) => {
      if (request.url === '/chat') own.handleUpgrade(request, socket, head, (ws) => ws.send('hi'))
    })
    const rooms = open({ server, path: '/rt/hub', store: null })
    const at = `http://127.0.0.1:${port}`
    const ada = await enter(`${at}/rt/hub`)
    const grace = await enter(`${at}/rt/hub`)
    await until(() => ada.safety === 'backed-up')
    expect(await grace.act(count, 2)).toEqual({ ok: true, value: 2 })
    expect(await (await fetch(`${at}/rt/hub`)).text()).toBe('page')
    const chat = new WebSocket(`ws://127.0.0.1:${port}/chat`)
    expect(String((await once(chat, 'message'))[0])).toBe('hi')
    chat.terminate()
    expect(rooms.sessions()).toMatchObject([{ game: 'duel', room: 'main', players: 2 }])
    expect(rooms.sessions('chess')).toEqual([])
    expect(rooms.figures()).toMatchObject({ sessions: 1, streams: 2, members: 2, diskOk: true })
    expect(rooms.health()).toMatchObject({ ok: true, trouble: null, sessions: 1, connections: 2 })
    expect(rooms.metrics()).toContain('holdfast_members 2\n')
    expect(rooms.metrics()).toContain('holdfast_streams_total{what="bad_upgrades"} 0\n')
  })

  test('beside another hub: each has its path, and what is nobody’s gets 404 (AP-15)', async () => {
    const { server, port } = await serve()
    const [one, two] = ['/one', '/two'].map((path) => open({ server, path, store: null }))
    const knock = async (path: string): Promise<number> => {
      const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`)
      socket.on('error', () => {})
      const [answer] = (await Promise.race([
        once(socket, 'upgrade'),
        once(socket, 'unexpected-response').then(([, response]) => [response as unknown]),
      ])) as [http.IncomingMessage]
      socket.terminate()
      return answer.statusCode!
    }
    expect(await knock('/one')).toBe(101)
    expect(await knock('/two')).toBe(101)
    expect(await knock('/three')).toBe(404)
    await one!.close()
    expect(await knock('/two')).toBe(101)
    expect(await knock('/one')).toBe(404)
    expect(two!.figures().door).toMatchObject({ accepted: 2, badUpgrades: 1 })
  })

  test('behind TLS of its own', async () => {
    const { server, port } = await serve(
      https.createServer({ key: pem, cert: pem }) as unknown as Server,
    )
    const rooms = open({ server, store: null })
    const stranger = await new Stranger(`wss://127.0.0.1:${port}/hub`).greet()
    stranger.say({ kind: 'ping', count: 7 })
    await until(() => stranger.heard.some(({ kind }) => kind === 'pong'))
    expect(rooms.figures().streams).toBe(1)
  })

  test('has the games that it was given, and says so of others (AP-15)', async () => {
    const { server, port } = await serve()
    open({ server, games: ['duel', 'chess'], store: null })
    const stranger = await new Stranger(`ws://127.0.0.1:${port}/hub`).greet()
    stranger.say(wish(1, 'poker', 'main'))
    stranger.say({ ...wish(2, 'poker', 'main'), playersMax: 0 } as ToHub)
    stranger.say(wish(3, 'chess', 'main'))
    await until(() => stranger.heard.length === 5)
    const why = 'no game "poker" on this hub: it has duel, chess'
    expect(stranger.heard.slice(2)).toMatchObject([
      { kind: 'refused', request: 1, why },
      { kind: 'refused', request: 2, why },
      { kind: 'added', request: 3, created: true },
    ])
    await expect(enter(`http://127.0.0.1:${port}`, 'poker')).rejects.toMatchObject({
      code: 'no-such-game',
      message: `${why} (ws://127.0.0.1:${port}/hub)`,
    })
  })

  test('lets pages of its own origin in, and those that it was given (SE-6)', async () => {
    const { server, port } = await serve()
    const rooms = open({ server, store: null, origins: ['https://play.example.com'] })
    const knock = (origin: string): Promise<unknown[]> => {
      const socket = new WebSocket(`ws://127.0.0.1:${port}/hub`, { origin })
      socket.on('open', () => socket.close(4000))
      return once(socket, 'close')
    }
    expect((await knock('https://play.example.com'))[0]).toBe(4000)
    expect((await knock(`http://127.0.0.1:${port}`))[0]).toBe(4000)
    expect((await knock('https://evil.example'))[0]).toBe(1008)
    expect(rooms.figures().door.wrongOrigin).toBe(1)
  })
})

describe('closing', () => {
  test('tells its members, loses nothing that was answered, and the next one goes on (AP-15)', async () => {
    const { server, port } = await serve()
    const store = joinPath(folder, 'first.db')
    const first = open({ server, store })
    const ada = await enter(`http://127.0.0.1:${port}`)
    const stranger = await new Stranger(`ws://127.0.0.1:${port}/hub`).greet()
    for (let i = 0; i < 50; i++) stranger.say(wish(i, 'duel', `room ${i}`))
    const gone = once(stranger.socket, 'close')
    await until(() => stranger.heard.length > 2)
    const closed = first.close()
    expect(first.close()).toBe(closed)
    expect(first.health()).toMatchObject({ ok: false, trouble: 'this hub is closed' })
    await closed
    expect(['upgrade', 'close'].map((event) => server.listenerCount(event))).toEqual([0, 0])
    expect((await gone)[0]).toBe(1001)
    const answered = stranger.heard.filter(({ kind }) => kind === 'added').length
    expect(answered).toBeGreaterThan(0)
    const second = open({ server, store })
    expect(second.sessions().length).toBeGreaterThan(answered)
    await until(() => second.figures().members === 1)
    expect(await ada.act(count, 5)).toEqual({ ok: true, value: 5 })
  })

  test('comes with that of its server, and is not waited for by it', async () => {
    const { server } = await serve()
    const store = joinPath(folder, 'second.db')
    const rooms = open({ server, store })
    servers.length = 0
    await new Promise((resolve) => server.close(resolve))
    await until(() => !rooms.health().ok)
    const next = await serve()
    await rooms.close()
    open({ server: next.server, store })
  })
})

test('what it is given is checked: each mistake has its sentence (AP-15)', async () => {
  const { server } = await serve()
  const wrong = (options: object): (() => unknown) => {
    return () => hub({ server, store: null, ...options } as HubOptions)
  }
  expect(wrong({ server: null })).toThrow(/server is one of Node's http or https/)
  expect(wrong({ server: () => {} })).toThrow(/such as http\.createServer\(app\)/)
  expect(wrong({ path: 'hub' })).toThrow(/path is that of a URL, such as \/hub or \/rt\/hub: "hub"/)
  expect(wrong({ path: '/rt/' })).toThrow(/path is that of a URL/)
  expect(wrong({ path: '/hub?a=1' })).toThrow(/path is that of a URL/)
  expect(wrong({ store: undefined })).toThrow(/store is the name of a file, null for memory/)
  expect(wrong({ games: [] })).toThrow(/games is empty/)
  expect(wrong({ games: 'duel' })).toThrow(/games is a list of texts: "duel"/)
  expect(wrong({ games: ['x'.repeat(65)] })).toThrow(/a game has 1 to 64 bytes: 65/)
  expect(wrong({ origins: ['play.example.com'] })).toThrow(/an origin is a scheme, a host/)
  expect(wrong({ game: ['duel'] })).toThrow(/hub takes no option "game": did you mean "games"/)
  expect(wrong({ store: joinPath(folder, 'none', 'rooms.db') })).toThrow(/none/)
  expect(['upgrade', 'close'].map((event) => server.listenerCount(event))).toEqual([0, 0])
})
