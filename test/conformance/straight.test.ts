// Goal: members speak straight to a host that listens: no play goes through the hub, it goes on
// without the hub, and strangers at its door cost little.
// Method: a real hub that notes what it relays, a host and players on Node without UDP, and
// strangers over real sockets.
// Slow: a path is silent for a second before another is tried.
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { openHub } from '../../packages/hub/src/open-hub.ts'
import {
  AcceptedStreams,
  DOOR_LIMITS,
  openDoor,
} from '../../packages/holdfast/src/drivers/net/server/stream-door.ts'
import * as peers from '../../packages/holdfast/src/member/peers.ts'
import { RELAY_BACKLOG_MAX } from '../../packages/holdfast/src/drivers/net/relay.ts'
import type { InternalSession } from '../../packages/holdfast/src/join/session-impl.ts'
import { action, join, type NodeJoinOptions } from '../../packages/holdfast/src/node.ts'
import { DATAGRAM_MAX, type DatagramEvents } from '../../packages/holdfast/src/ports.ts'
import { until } from './until.ts'

const add = action('add', (table) => {
  const sum = ((table.get('sum') as number | undefined) ?? 0) + 1
  table.set('sum', sum)
  return sum
})
const ROOM = { game: 'straight', room: 'r', types: [add], udp: null, keepRoom: false } as const

const members: InternalSession[] = []
const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const one of members.splice(0)) await one.leave()
  for (const close of closing.splice(0)) await close()
})

interface Place {
  url: string
  server: Server
  /**
   * Of each relayed packet: the hub's stream that it goes to, the member that it comes from.
   * Challenges, which keep the relay as a spare, are none.
   */
  relayed: { to: number; from: number }[]
  end: () => Promise<void>
}

async function start(): Promise<Place> {
  const server = createServer()
  const relayed: Place['relayed'] = []
  const rooms = openHub(
    { server, store: null },
    {
      wrapRelay: (deliver) => (to, from, datagram) => {
        if ((datagram[0]! & 0xf0) === 0x10) relayed.push({ to, from })
        deliver(to, from, datagram)
      },
    },
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const end = async (): Promise<void> => {
    await rooms.close()
    server.close()
    server.closeAllConnections()
  }
  closing.push(end)
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, server, relayed, end }
}

async function joining(more: Partial<NodeJoinOptions> & { server: string }) {
  const session = (await join({ ...ROOM, ...more })) as InternalSession
  members.push(session)
  return session
}

const pathOf = (session: InternalSession): string => session.debug.figures().path
const addressesOf = ({ member }: InternalSession): string[] => {
  const { me, client } = member!.session
  return client.view.members.find(({ inc }) => inc === me)!.addresses
}
const pathsOf = ({ member }: InternalSession): string[] =>
  [...member!.peers.values()].map((peer) => peers.pathOf(peer).split(':')[0]!)

test('no play goes through the hub, and it goes on without the hub', async () => {
  const place = await start()
  const host = await joining({ server: place.url, name: 'host', listen: { port: 0 } })
  const players = [
    await joining({ server: place.url, name: 'Ada' }),
    await joining({ server: place.url, name: 'Grace' }),
  ]
  for (const player of players) await until(() => pathOf(player) === 'direct')
  await until(() => String(pathsOf(host)) === 'stream,stream' && host.safety === 'backed-up')
  place.relayed.length = 0
  for (let n = 0; n < 50; n++) for (const player of players) await player.act(add)
  // Ada stands by, so Grace has a link with her, over which nothing is played in a star.
  const ofHost = place.relayed.filter(({ to, from }) => to === 1 || from === 1)
  expect(ofHost).toEqual([])
  await place.end()
  for (let n = 0; n < 50; n++) for (const player of players) await player.act(add)
  expect([host.table.get('sum'), ...players.map(({ status }) => status)]).toEqual([
    200,
    'live',
    'live',
  ])
})

test('a door that closes is left for the relay, and found again when it is back', async () => {
  const place = await start()
  const other = createServer()
  const sockets = new Set<Socket>()
  other.on('connection', (socket) => sockets.add(socket))
  other.listen(0, '127.0.0.1')
  await once(other, 'listening')
  closing.push(() => other.close())
  const { port } = other.address() as AddressInfo
  const listen = { server: other, path: '/rt/host' }
  const host = await joining({ server: place.url, name: 'host', listen })
  expect(addressesOf(host)).toEqual([`ws://127.0.0.1:${port}/rt/host`])
  const ada = await joining({ server: place.url, name: 'Ada' })
  await until(() => pathOf(ada) === 'direct')
  other.close()
  for (const socket of sockets) socket.destroy()
  await until(() => pathOf(ada) === 'relay')
  await ada.act(add)
  other.listen(port, '127.0.0.1')
  await until(() => pathOf(ada) === 'direct')
  expect(await ada.act(add)).toMatchObject({ value: 2 })
})

// In a star nobody asks a member that neither serves nor stands by; in a mesh everybody does.
test.each([
  ['who is asked for a link', 'star', true],
  ['a guest, wherever it runs', 'mesh', false],
] as const)('nobody dials %s', async (_whom, topology, serves) => {
  const place = await start()
  let dialled = 0
  const stranger = createServer()
  stranger.on('upgrade', (_request, socket) => {
    dialled += 1
    socket.destroy()
  })
  stranger.listen(0, '127.0.0.1')
  await once(stranger, 'listening')
  closing.push(() => stranger.close())
  const { port } = stranger.address() as AddressInfo
  const given = { server: place.url, topology }
  const host = await joining({ ...given, name: 'host' })
  const ada = await joining({ ...given, name: 'Ada' })
  await until(() => host.safety === 'backed-up')
  const grace = await joining({ ...given, name: 'Grace' })
  const listen = { port: 0, url: `ws://127.0.0.1:${port}/host` }
  const liar = await joining({ ...given, name: 'liar', serves, listen })
  expect(addressesOf(liar)).toEqual([listen.url])
  await until(() => pathsOf(liar).length === (topology === 'mesh' ? 3 : 2))
  for (const one of [liar, grace, ada, host]) for (let n = 0; n < 20; n++) await one.act(add)
  expect(dialled).toBe(0)
})

test.each([
  [{}, 'listen.port is a port, 0 for any, or listen.server a server'],
  [{ port: 0, ports: 1 }, 'listen takes no option "ports": did you mean "port"?'],
  [{ port: 0, url: 'http://a/' }, 'listen.url is ws://host:port/path or wss://host/path'],
  [{ port: 0, url: 'wss://u:p@a/' }, 'listen.url is ws://host:port/path or wss://host/path'],
  [{ port: 0, url: `wss://a/${'b'.repeat(45)}` }, 'listen.url has at most 52 bytes'],
  [{ port: 0, path: `/${'b'.repeat(45)}` }, 'the address of listen has at most 52 bytes'],
  [{ port: 0, trustProxy: -1 }, 'listen.trustProxy is the number of proxies in front'],
  [{ server: createServer() }, 'listen.server does not listen yet: start it first'],
])('%o is refused with the cure', async (listen, why) => {
  const joined = join({ ...ROOM, server: 'http://127.0.0.1:9', listen })
  await expect(joined).rejects.toMatchObject({
    code: 'bad-value',
    message: expect.stringContaining(why) as string,
  })
})

test('a path of a server has one door', async () => {
  const place = await start()
  const listen = { server: place.server, path: '/hub' }
  const joined = join({ ...ROOM, server: place.url, listen })
  await expect(joined).rejects.toMatchObject({ code: 'port-taken' })
})

describe('strangers at the door', () => {
  const got: string[] = []
  const events: DatagramEvents = {
    datagram: (from, bytes) => got.push(`${from} ${bytes.length}`),
    refused: () => {},
  }
  afterEach(() => got.splice(0))

  async function opened(limits: Partial<typeof DOOR_LIMITS> = {}): Promise<AcceptedStreams> {
    const door = { port: 0, host: '127.0.0.1', tls: null, path: '/host', origins: [] }
    const open = openDoor({ door, url: null, trust: 0 }, { idleMs: 60_000, ...limits })
    const carrier = (await open(events)) as AcceptedStreams
    closing.push(() => carrier.close())
    return carrier
  }

  async function knock(carrier: AcceptedStreams, headers = {}): Promise<WebSocket> {
    const socket = new WebSocket(carrier.addresses[0]!, { headers })
    closing.push(() => socket.terminate())
    await once(socket, 'open')
    return socket
  }

  const end = async (socket: WebSocket): Promise<string> => {
    const [code, why] = (await once(socket, 'close')) as [number, Buffer]
    return `${code} ${why.toString()}`
  }

  test('are closed for a message that is no datagram, and for texts', async () => {
    const carrier = await opened()
    const [large, chatty] = [await knock(carrier), await knock(carrier)]
    large.send(new Uint8Array(DATAGRAM_MAX))
    large.send(new Uint8Array(0))
    large.send(new Uint8Array(DATAGRAM_MAX + 1))
    expect(await end(large)).toMatch(/^1009/)
    for (let n = 0; n < 100; n++) chatty.send('who are you?')
    expect(await end(chatty)).toMatch(/^100[68]/)
    expect(got).toEqual([`stream:1 ${DATAGRAM_MAX}`])
    await until(() => !carrier.reaches('stream:1') && !carrier.reaches('stream:2'))
    carrier.send('stream:1', Uint8Array.of(1))
    expect(carrier.counters).toMatchObject({ received: 2, sent: 0, unreachable: 1 })
  })

  test('are few from one address, and in all', async () => {
    const carrier = await opened({ streamsPerPlaceMax: 2 })
    const first = await knock(carrier)
    await knock(carrier)
    expect(await end(await knock(carrier))).toBe('1013 too many streams come from this address')
    first.close()
    await until(() => !carrier.reaches('stream:1'))
    const next = await knock(carrier)
    next.send(Uint8Array.of(1))
    await until(() => got.length === 1)
    expect(carrier.counters.crowded).toBe(1)
    const small = await opened({ streamsMax: 1 })
    await knock(small)
    expect(await end(await knock(small))).toMatch(/^1013/)
  })

  test('to whom nothing is said are closed, whatever they send', async () => {
    const carrier = await opened({ idleMs: 60 })
    const [silent, spoken] = [await knock(carrier), await knock(carrier)]
    const say = setInterval(() => carrier.send('stream:2', Uint8Array.of(1)), 5)
    const talk = setInterval(() => silent.send(Uint8Array.of(1)), 5)
    await end(silent)
    clearInterval(talk)
    expect([carrier.counters.idle, spoken.readyState]).toEqual([1, WebSocket.OPEN])
    clearInterval(say)
    await end(spoken)
    expect(carrier.counters.idle).toBe(2)
  })

  test('in pages of other origins are refused', async () => {
    const carrier = await opened()
    const page = await knock(carrier, { Origin: 'https://evil.example' })
    expect(await end(page)).toMatch(/^1008 wrong origin/)
    expect(carrier.reaches('stream:1')).toBe(false)
  })

  test('who do not read get what is fresh: the rest is dropped', () => {
    let waiting = 0
    const sent: number[] = []
    const carrier = new AcceptedStreams(events, DOOR_LIMITS)
    const stream = {
      send: (bytes: Uint8Array) => sent.push(bytes[0]!) > 0,
      backlog: () => waiting,
      close: () => {},
    }
    carrier.accept(stream, { remote: '10.0.0.1' })
    for (const each of [0, RELAY_BACKLOG_MAX, RELAY_BACKLOG_MAX + 1]) {
      waiting = each
      carrier.send('stream:1', Uint8Array.of(sent.length))
    }
    expect([sent, carrier.counters.congested]).toEqual([[0, 1], 1])
    carrier.close()
  })
})
