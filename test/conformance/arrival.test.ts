// Goal: a wrong address is told with what is there: on Node every kind of it, by real sockets.
// Method: servers on loopback that are no hub, each in its own way; all are joined at once.
import http, { type Server } from 'node:http'
import https from 'node:https'
import net from 'node:net'
import type { AddressInfo } from 'node:net'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { WebSocketServer } from 'ws'
import { nodeEnvironment } from '../../packages/holdfast/src/drivers/node.ts'
import { lookFromNode } from '../../packages/holdfast/src/drivers/net/look-node.ts'
import { connectWebSocketNode } from '../../packages/holdfast/src/drivers/net/websocket-node.ts'
import { acceptStreams } from '../../packages/holdfast/src/drivers/net/server/websocket-server.ts'
import { joinIn } from '../../packages/holdfast/src/join/join.ts'
import type { HoldfastError } from '../../packages/holdfast/src/index.ts'
import type { Met } from '../../packages/holdfast/src/ports.ts'

const pem = readFileSync(fileURLToPath(new URL('../data/localhost.pem', import.meta.url)))
const servers: (Server | net.Server)[] = []

afterAll(() => {
  for (const server of servers) {
    server.close()
    if ('closeAllConnections' in server) server.closeAllConnections()
  }
})

async function listening(server: Server | net.Server): Promise<number> {
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

const page = (_: unknown, response: http.ServerResponse): void => void response.end('<h1>Page</h1>')

async function refusal(server: string): Promise<string> {
  const place = nodeEnvironment(null)
  const joining = joinIn(place, { game: 'garden', server })
  return joining.then(
    () => 'joined',
    ({ code, message }: HoldfastError) => `${code}: ${message}`,
  )
}

/** What a stream tells that does not open. */
function met(url: string): Promise<Met | undefined> {
  return new Promise((resolve) => {
    connectWebSocketNode(url, {
      opened: () => {},
      message: () => {},
      closed: (_, found) => resolve(found),
    })
  })
}

/** A door that takes a stream and closes it with that code. */
async function turningAway(code: number, reason: string): Promise<number> {
  const server = http.createServer(page)
  const sockets = new WebSocketServer({ server })
  sockets.on('connection', (socket) => socket.close(code, reason))
  return listening(server)
}

test('a join says what is at the address instead of a hub, within a second or so (AP-4)', async () => {
  const plain = await listening(http.createServer(page))
  const safe = await listening(https.createServer({ key: pem, cert: pem }, page))
  const door = http.createServer(page)
  acceptStreams(door, { path: '/hub', accept: () => ({ opened() {}, message() {}, closed() {} }) })
  const other = await listening(door)
  const foreign = await turningAway(1008, 'it takes pages from http://127.0.0.1:8700 alone')
  const found = await Promise.all(
    [
      `http://127.0.0.1:${plain}`,
      `http://127.0.0.1:${other}/rt/`,
      `https://127.0.0.1:${plain}`,
      `http://127.0.0.1:${safe}`,
      `https://127.0.0.1:${safe}`,
      'http://nohub.invalid',
      `http://127.0.0.1:${foreign}`,
    ].map(refusal),
  )
  const none = 'unreachable: no hub at'
  const untrusted = 'its certificate is not trusted here (self-signed certificate)'
  const but = 'a web server is there, but no hub at this path (it answers'
  expect(found).toEqual([
    `${none} ws://127.0.0.1:${plain}/hub: ${but} 200); Vite needs the plugin of holdfast/vite`,
    `${none} ws://127.0.0.1:${other}/rt/hub: ${but} 404)`,
    `${none} wss://127.0.0.1:${plain}/hub: the server there speaks no TLS: name it by http: or ws:`,
    `${none} ws://127.0.0.1:${safe}/hub: the server there wants TLS: name it by https: or wss:`,
    `${none} wss://127.0.0.1:${safe}/hub: ${untrusted}`,
    // A machine without any network cannot look names up.
    expect.stringMatching(/ws:\/\/nohub.invalid\/hub: (no machine has that|its name could not)/),
    `forbidden: the hub at ws://127.0.0.1:${foreign}/hub refuses us: it takes pages from ` +
      'http://127.0.0.1:8700 alone',
  ])
})

test('what may pass is told apart from what will not (AP-4)', async () => {
  const gone = await listening(net.createServer())
  servers.pop()!.close()
  expect(await met(`ws://127.0.0.1:${gone}/hub`)).toEqual({
    kind: 'passing',
    what: 'nobody listens there',
  })
  const full = await turningAway(1013, 'at most 10000 connections')
  expect(await met(`ws://127.0.0.1:${full}/`)).toEqual({
    kind: 'passing',
    what: 'it is full (at most 10000 connections)',
  })
  const away = http.createServer((_, response) => response.writeHead(502).end())
  expect(await met(`ws://127.0.0.1:${await listening(away)}/`)).toMatchObject({ kind: 'passing' })
  // As a server does whose upgrades are for somebody else: a stream to it neither opens nor fails.
  const deaf = await listening(http.createServer(page).on('upgrade', () => {}))
  expect(await lookFromNode(`ws://127.0.0.1:${deaf}/hub`)).toMatchObject({ kind: 'wrong' })
  const closing = net.createServer((socket) => socket.end())
  const url = `ws://127.0.0.1:${await listening(closing)}/`
  expect(await met(url)).toBeUndefined()
  expect(await lookFromNode(url)).toEqual({
    kind: 'passing',
    what: 'it did not answer (socket hang up)',
  })
})
