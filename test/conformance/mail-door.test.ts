// Goal: the door of a mailbox speaks TLS where it is given a certificate, shares a server, warns
// where letters can be read, and says what it was given wrong.
// Method: real servers over loopback, with a certificate for localhost; callers that check it.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import http from 'node:http'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { curvesOnNode } from '../../packages/holdfast/src/drivers/crypto/libsodium.ts'
import { createNodeLoop } from '../../packages/holdfast/src/drivers/net/loop-node.ts'
import { metByError } from '../../packages/holdfast/src/drivers/net/met.ts'
import { connectWith } from '../../packages/holdfast/src/drivers/net/websocket.ts'
import { acceptStreams } from '../../packages/holdfast/src/drivers/net/server/websocket-server.ts'
import { createMailMemory } from '../../packages/mailbox/src/drivers/mail-memory.ts'
import { hub } from '../../packages/hub/src/index.ts'
import { type DoorOptions, type Mailbox, openIn } from '../../packages/mailbox/src/index.ts'
import { drained, openMailboxes } from './open-mailboxes.ts'

const { add, open } = openMailboxes('door')
const pem = readFileSync(fileURLToPath(new URL('../data/localhost.pem', import.meta.url)))
const tls = { cert: pem, key: pem.toString() }
const closing: (() => unknown)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

function kept(server: http.Server): http.Server {
  closing.push(() => {
    server.close()
    server.closeAllConnections()
  })
  return server
}

async function listening(server: http.Server): Promise<number> {
  kept(server).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

/** One that trusts the certificate, as a process with NODE_EXTRA_CA_CERTS does. */
async function trusting(id: string, peers: Record<string, string>): Promise<Mailbox> {
  const connect = connectWith((url) => new WebSocket(url, { ca: pem }), metByError)
  const place = {
    loop: createNodeLoop(),
    connect,
    curves: curvesOnNode,
    report: () => {},
    open: () => Promise.resolve(createMailMemory()),
    listen: null,
  }
  return add(await openIn(place, { id, store: null, peers }))
}

const page = (): http.RequestListener => (_request, response) => void response.end('page')

describe('a door with TLS', () => {
  test('takes letters over wss from who trusts its certificate, and from nobody else (MB-21)', async () => {
    const bob = await open({ id: 'bob', listen: { port: 0, tls } })
    const took: unknown[] = []
    bob.on('letter', (_tx, _from, body) => took.push(body))
    expect(bob.url).toMatch(/^wss:\/\/127\.0\.0\.1:\d+\/mail$/)
    const alice = await trusting('alice', { bob: bob.url! })
    await alice.to('bob').post('sealed')
    await drained(alice, 'bob')
    expect(took).toEqual(['sealed'])
    const wary = await open({ id: 'wary', peers: { bob: bob.url! } })
    const why = await new Promise<string>((done) => {
      wary.on('disconnected', (event) => done(event.why))
    })
    expect(why).toMatch(/certificate/)
    const plain = await open({ id: 'plain', peers: { bob: bob.url!.replace('wss', 'ws') } })
    await new Promise<void>((done) => plain.on('disconnected', () => done()))
    expect([took, bob.counters.greetings]).toEqual([['sealed'], 0])
  })

  test('counts a stream as arrived when its request is there, as without TLS', async () => {
    const server = https.createServer({ key: pem, cert: pem }, page())
    const opened: string[] = []
    const streams = acceptStreams(server, {
      path: '/mail',
      accept: () => ({ opened: () => opened.push('open'), message: () => {}, closed: () => {} }),
    })
    closing.push(() => streams.close())
    const port = await listening(server)
    const socket = new WebSocket(`wss://127.0.0.1:${port}/mail`, { ca: pem })
    await once(socket, 'open')
    expect([opened, streams.waiting()]).toEqual([['open'], 0])
    socket.close()
  })
})

describe('a door at a server that others use', () => {
  test.each(['http', 'https'] as const)('of %s leaves them what is theirs', async (kind) => {
    const server =
      kind === 'http'
        ? http.createServer(page())
        : https.createServer({ key: pem, cert: pem }, page())
    const rooms = hub({ server, path: '/hub', store: null })
    closing.push(() => rooms.close())
    const bob = await open({ id: 'bob', listen: { server, path: '/rt/mail' } })
    bob.on('letter', (tx, from, body) => tx.post(from, body))
    expect(bob.url).toBe(null)
    const port = await listening(server)
    const scheme = kind === 'http' ? 'ws' : 'wss'
    expect(bob.url).toBe(`${scheme}://127.0.0.1:${port}/rt/mail`)
    const alice = await trusting('alice', { bob: bob.url! })
    const answered = new Promise<unknown>((done) =>
      alice.on('letter', (_tx, _from, body) => done(body)),
    )
    await alice.to('bob').post('hello')
    expect(await answered).toBe('hello')
    const ends: string[] = []
    for (const path of ['/hub', '/rt/mail', '/elsewhere']) {
      const socket = new WebSocket(`${scheme}://127.0.0.1:${port}${path}`, { ca: pem })
      const end = await once(socket, 'open').then(
        () => 'open',
        (error: Error) => error.message,
      )
      ends.push(end)
      socket.terminate()
    }
    expect(ends).toEqual(['open', 'open', 'Unexpected server response: 404'])
    await bob.close()
    expect([server.listening, bob.url]).toEqual([true, null])
  })
})

/** What the process warned of while something was opened. */
async function warnings(listen: DoorOptions, then = (): unknown => null): Promise<string[]> {
  const heard: string[] = []
  const listener = (warning: Error): void => void heard.push(warning.message)
  process.on('warning', listener)
  await open({ id: 'bob', listen })
  await then()
  // Warnings are told in the next tick.
  await new Promise(setImmediate)
  process.off('warning', listener)
  return heard.filter((warning) => warning.includes('without TLS'))
}

describe('a door beyond loopback', () => {
  const sentence = (host: string): string =>
    `a mailbox listens on ${host} without TLS, so who is on the way can read its letters and ` +
    'change them: give listen: { tls: { cert, key } }, or listen on 127.0.0.1 behind a proxy'

  // Nothing here listens beyond loopback: the server only says so.
  function claiming<Kind extends http.Server>(server: Kind): Kind {
    const own = server.address.bind(server)
    server.address = () => ({ ...(own() as AddressInfo), address: '10.0.0.5' })
    return server
  }

  test('warns in a sentence, unless it has TLS', async () => {
    for (const listen of [{ tls }, { host: 'localhost' }, { host: '127.0.0.1' }]) {
      expect(await warnings({ port: 0, ...listen })).toEqual([])
    }
    const server = claiming(http.createServer(page()))
    const late = await warnings({ server }, () => listening(server))
    expect(late).toEqual([sentence('10.0.0.5')])
    const secure = claiming(https.createServer({ key: pem, cert: pem }, page()))
    expect(await warnings({ server: secure }, () => listening(secure))).toEqual([])
  })
})

test('a door says what it was given wrong', async () => {
  const bad = (listen: object): Promise<unknown> =>
    open({ id: 'bob', listen: listen as DoorOptions }).then(
      () => 'no error',
      (error: { code: string; message: string }) => `${error.code}: ${error.message}`,
    )
  const server = http.createServer()
  expect(await bad({})).toContain('listen.port is a port, 0 for any, or listen.server a server')
  expect(await bad({ port: 'mail' })).toContain('bad-value: listen.port is a port')
  expect(await bad({ port: 0, prot: 1 })).toContain('listen takes no option "prot"')
  expect(await bad({ server, port: 1 })).toContain('listen.port is for a door of its own')
  expect(await bad({ server, tls })).toContain('listen.tls is for a door of its own')
  expect(await bad({ server: 7 })).toContain("listen.server is one of Node's http or https")
  expect(await bad({ port: 0, path: 'mail' })).toContain('path is that of a URL')
  expect(await bad({ port: 0, origins: 'all' })).toContain('origins is a list of texts')
  expect(await bad({ port: 0, tls: { cert: pem } })).toContain('listen.tls has a certificate and')
  expect(await bad({ port: 0, tls: { cert: 'no', key: 'no' } })).toContain(
    'bad-value: listen.tls takes a certificate and its key, as PEM',
  )
})
