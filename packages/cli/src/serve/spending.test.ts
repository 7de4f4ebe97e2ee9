// Goal: one address cannot use up the connections of a server, nor what its pages cost.
// Method: servers on loopback with small limits, asked from several addresses of it.
import { once } from 'node:events'
import http from 'node:http'
import net, { type Socket } from 'node:net'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { until } from '../../../../test/conformance/until.ts'
import { type Budgets, create } from '../../../hub/src/machine/budgets.ts'
import { type HubLimits, readLimits } from '../../../hub/src/server/given-limits.ts'
import { NOBODY, type Trust } from '../../../holdfast/src/wire/text/ip.ts'
import { type HttpServer, openServer } from './http.ts'
import { createMetrics } from './metrics.ts'
import { metricsOf, siteOf } from './site.ts'

const opened: HttpServer[] = []
const sockets: Socket[] = []
// Limits refill by the second: with this clock they stay spent, however slow the machine is.
beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(async () => {
  vi.useRealTimers()
  for (const socket of sockets.splice(0)) socket.destroy()
  for (const server of opened.splice(0)) await server.close()
})

async function open(
  limits: HubLimits,
  trust: Trust = NOBODY,
): Promise<{ budgets: Budgets; port: number }> {
  const budgets = create(readLimits('limits', limits))
  const spending = { budgets, trust }
  const site = siteOf({
    ...{
      shelves: [],
      health: () => ({ ok: true }),
      about: {},
      metrics: metricsOf(createMetrics(), null),
    },
    ...{ sessions: () => ({ items: [], next: '' }), spending },
  })
  const place = { host: '127.0.0.1', port: 0, option: '--port', origins: [], spending } as const
  const server = await openServer(place, site)
  opened.push(server)
  return { budgets, port: server.port }
}

/** Connects from there. @returns whether the server keeps the connection */
async function dial(port: number, localAddress: string): Promise<boolean> {
  const socket = net.connect({ port, host: '127.0.0.1', localAddress })
  sockets.push(socket)
  socket.on('error', () => {})
  await once(socket, 'connect')
  // Whoever is kept gets an answer; whoever is not, none.
  socket.write('GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n')
  return Promise.race([
    once(socket, 'data').then(() => true),
    once(socket, 'close').then(() => false),
  ])
}

/** Asks on a connection of its own. */
async function ask(
  port: number,
  path: string,
  localAddress: string,
  forwarded: string[] = [],
): Promise<{ status: number; text: string; again: string | undefined }> {
  const headers = { host: 'localhost', 'x-forwarded-for': forwarded.join(', ') }
  const options = { host: '127.0.0.1', port, path, localAddress, headers, agent: false }
  const request = http.get(options)
  const [answer] = (await once(request, 'response')) as [http.IncomingMessage]
  let text = ''
  for await (const chunk of answer) text += String(chunk)
  return { status: answer.statusCode!, text, again: answer.headers['retry-after'] }
}

test('an address has so many connections at once, and others have theirs (SE-9)', async () => {
  const { budgets, port } = await open({ address: { sockets: 2 } })
  expect(await dial(port, '127.0.3.1')).toBe(true)
  expect(await dial(port, '127.0.3.1')).toBe(true)
  expect(await dial(port, '127.0.3.1')).toBe(false)
  expect(await dial(port, '127.0.3.2')).toBe(true)
  expect(budgets.refused['address.sockets']).toBe(1)
  sockets[0]!.destroy()
  await until(() => budgets.accounts.get('127.0.3.1')!.sockets === 1)
  expect(await dial(port, '127.0.3.1')).toBe(true)
})

test('and so many in a while, kept or not (SE-9)', async () => {
  const { budgets, port } = await open({ address: { dials: { max: 3, perSecond: 1 } } })
  for (let i = 0; i < 3; i++) {
    expect(await dial(port, '127.0.3.1')).toBe(true)
    sockets.pop()!.destroy()
  }
  expect(await dial(port, '127.0.3.1')).toBe(false)
  expect(await dial(port, '127.0.3.2')).toBe(true)
  expect(budgets.refused['address.dials']).toBe(1)
})

test('a trusted proxy has as many as it wants (SE-9)', async () => {
  const { port } = await open({ address: { sockets: 1 } }, 1)
  for (let i = 0; i < 4; i++) expect(await dial(port, '127.0.3.1')).toBe(true)
})

test('all together have so many, and those beyond are counted (SE-9)', async () => {
  const { budgets, port } = await open({ hub: { sockets: 2 } })
  expect(await dial(port, '127.0.3.1')).toBe(true)
  expect(await dial(port, '127.0.3.2')).toBe(true)
  expect(await dial(port, '127.0.3.3')).toBe(false)
  expect(budgets.refused['hub.sockets']).toBe(1)
})

test('requests beyond the limit of an address are 429, with the reason and when to ask again (SE-10)', async () => {
  const { budgets, port } = await open({ address: { requests: { max: 2, perSecond: 1 } } })
  for (let i = 0; i < 2; i++) expect((await ask(port, '/health', '127.0.3.1')).status).toBe(200)
  expect(await ask(port, '/health', '127.0.3.1')).toEqual({
    ...{ status: 429, again: '1' },
    text: 'limit address.requests: at most 2 requests for pages at once, 1 a second\n',
  })
  expect((await ask(port, '/health', '127.0.3.2')).status).toBe(200)
  expect(budgets.refused['address.requests']).toBe(1)
})

test('lists have a limit of their own, of whom a trusted proxy asks for (SE-10)', async () => {
  const limits = { address: { lists: { max: 2, perSecond: 1 } } }
  const { port } = await open(limits, 1)
  const list = async (from: string): Promise<number> => {
    return (await ask(port, '/api/sessions', '127.0.3.1', ['6.6.6.6', from])).status
  }
  expect([await list('192.0.2.1'), await list('192.0.2.1')]).toEqual([200, 200])
  expect(await list('192.0.2.1')).toBe(429)
  expect(await list('192.0.2.2')).toBe(200)
  expect((await ask(port, '/health', '127.0.3.1', ['192.0.2.1'])).status).toBe(200)
})
