// Goal: a page with a wrong address is told what is there, as far as a browser lets it see.
// Method: Chromium and servers on loopback that are no hub, each in its own way.
// Slow: it bundles a page and starts a browser.
import { readFileSync } from 'node:fs'
import http, { type Server } from 'node:http'
import https from 'node:https'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bundlePage } from '../conformance/bundle.ts'
import { acceptStreams } from '../../packages/holdfast/src/drivers/net/server/websocket-server.ts'
import { Window } from './harness.ts'

const NOBODY = { opened() {}, message() {}, closed() {} }
const servers: Server[] = []
let own = 0
let window: Window

async function listening(server: Server): Promise<number> {
  servers.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

function close(server: Server): void {
  server.close()
  server.closeAllConnections()
}

beforeAll(async () => {
  const pages: Record<string, string> = { '/page.js': await bundlePage('test/e2e/arrival-page.ts') }
  pages['/'] = '<!doctype html><body><script src="/page.js"></script></body>'
  const server = http.createServer((request, response) => {
    const text = pages[request.url ?? '']
    const isScript = request.url === '/page.js'
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html')
    response.writeHead(text === undefined ? 404 : 200).end(text)
  })
  own = await listening(server)
  const url = `http://127.0.0.1:${own}/`
  // One server's certificate is nobody's: what is told of it is in the test by Node's sockets.
  window = await Window.open('arrival', url, ['--ignore-certificate-errors'])
})

afterAll(async () => {
  await window.kill()
  for (const server of servers) close(server)
})

const run = (call: string): Promise<unknown> => window.page.evaluate(call)

test('a page that finds no hub is told why, as far as a browser says it (AP-4)', async () => {
  const answer = (_: unknown, response: http.ServerResponse): void => void response.end('page')
  const pem = readFileSync(fileURLToPath(new URL('../data/localhost.pem', import.meta.url)))
  const plain = await listening(http.createServer(answer))
  const safe = await listening(https.createServer({ key: pem, cert: pem }, answer))
  const foreign = http.createServer(answer)
  acceptStreams(foreign, { path: '/hub', accept: () => NOBODY })
  const denied = await listening(foreign)
  const closed = await listening(http.createServer())
  close(servers.pop()!)
  const none = 'unreachable: no hub at'
  const but = 'a web server is there, but no hub at this path'
  const page = `http://127.0.0.1:${own}`
  const noTls = 'the server there speaks no TLS: name it by http: or ws:'
  const found = await Promise.all([
    run('refusal()'),
    run(`refusal('https://127.0.0.1:${plain}/rt/')`),
    run(`refusal('http://127.0.0.1:${denied}')`),
  ])
  expect(found).toEqual([
    `${none} ws://127.0.0.1:${own}/hub: ${but} (it answers 404)`,
    `${none} wss://127.0.0.1:${plain}/rt/hub: ${noTls}`,
    expect.stringContaining(
      `forbidden: the hub at ws://127.0.0.1:${denied}/hub refuses us: wrong origin: ${page} `,
    ),
  ])
  const looks = [`ws://127.0.0.1:${safe}`, `ws://127.0.0.1:${plain}`, `ws://127.0.0.1:${closed}`]
  expect(await Promise.all(looks.map((url) => run(`look('${url}/hub')`)))).toEqual([
    { kind: 'wrong', what: 'the server there wants TLS: name it by https: or wss:' },
    { kind: 'passing', what: but },
    { kind: 'passing', what: expect.stringMatching(/^nobody listens there, or this page may not/) },
  ])
  close(servers.shift()!)
  expect(await run(`look('ws://127.0.0.1:${own}/hub')`)).toEqual({
    kind: 'passing',
    what: 'nobody listens there',
  })
})
