// Goal: an application decides who comes in, and one that throws, is silent or answers nonsense
// lets nobody in and harms nobody else (SE-4).
// Method: a hub in a server of Node on loopback, with members that join it.
// Slow: a hub waits five seconds for an application that never answers.
import { once } from 'node:events'
import http, { type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { hub, type HubHandle, type JoinRequest, type OnJoin } from '../../packages/hub/src/index.ts'
import { join, type Session } from '../../packages/holdfast/src/node.ts'

let handle: HubHandle | null = null
let server: Server | null = null
const sessions: Session[] = []
const reported: string[] = []
afterEach(async () => {
  for (const session of sessions.splice(0)) session.end('done')
  await handle?.close()
  server?.closeAllConnections()
  server?.close()
  reported.length = 0
})

async function door(onJoin: OnJoin): Promise<string> {
  server = http.createServer((_, answer) => answer.end('page'))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const report = (error: unknown, where: string): void => {
    reported.push(`${where}: ${(error as Error).message}`)
  }
  handle = hub({ server, store: null, onJoin, report })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** What came of joining: `in`, or code and sentence. */
async function met(where: string, name: string, room = 'main'): Promise<string> {
  try {
    sessions.push(await join({ game: 'duel', room, name, server: where, udp: null }))
    return 'in'
  } catch (error) {
    const { code, message } = error as { code: string; message: string }
    return `${code}: ${message}`
  }
}

test('the application is told who comes, and its sentence is what they are shown (SE-4)', async () => {
  const asked: JoinRequest[] = []
  const where = await door(async (request) => {
    asked.push(request)
    return request.founding ? undefined : `no\nmore than one in ${request.room}`
  })
  expect(await met(where, 'Ada')).toBe('in')
  expect(await met(where, 'Grace')).toBe('forbidden: no\\u000amore than one in main')
  expect(asked).toMatchObject([
    { game: 'duel', room: 'main', rights: ['play'], ticket: '', founding: true },
    { game: 'duel', room: 'main', founding: false, address: '127.0.0.1' },
  ])
  expect(asked[0]!.key).toMatch(/^[0-9a-f]{64}$/)
})

test('who throws, or answers nonsense, lets nobody in, and others come in beside (SE-4)', async () => {
  const where = await door(({ room }) => {
    if (room === 'throws') throw new Error('a fault of the shop')
    if (room === 'rejects') return Promise.reject(new Error('the database is away'))
    if (room === 'nonsense') return 7 as never
    return room === 'false' ? false : true
  })
  const sentence = 'forbidden: the application could not be asked: try again later'
  for (const room of ['throws', 'rejects', 'nonsense']) {
    expect(await met(where, 'Ada', room)).toBe(sentence)
    expect(await met(where, 'Grace', `beside ${room}`)).toBe('in')
  }
  expect(await met(where, 'Ada', 'false')).toBe('forbidden: you may not join this room')
  expect(reported).toEqual([
    'onJoin: a fault of the shop',
    'onJoin: the database is away',
    'onJoin: onJoin returns a string, true, false or nothing: 7',
  ])
})

test('one that never answers keeps its own waiting for 5 s, and nobody else (SE-4)', async () => {
  const where = await door(({ room }) => (room === 'slow' ? new Promise(() => {}) : true))
  const slow = met(where, 'Ada', 'slow')
  expect(await met(where, 'Grace')).toBe('in')
  expect(await slow).toMatch(/^forbidden: the application could not be asked/)
  expect(reported).toEqual(['onJoin: onJoin did not answer within 5 s'])
})

test('a refusal of any length fits, and what is no function is refused at once (SE-4)', async () => {
  const where = await door(() => 'é'.repeat(400))
  expect(await met(where, 'Ada')).toMatch(/^forbidden: é{80,100}$/)
  expect(() => hub({ server: server!, store: null, onJoin: 'yes' as never })).toThrow(/onJoin/)
})
