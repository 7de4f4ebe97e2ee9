// Goal: who owns a hub sees its rooms, hears what happens to them, and closes one so that all in it
// read why and nobody opens it anew meanwhile (SE-4).
// Method: a hub in a server of Node on loopback, with members that join, leave and are shut out.
import { once } from 'node:events'
import http, { type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { hub, type HubHandle, type RoomEvent } from '../../packages/hub/src/index.ts'
import { join, type Session } from '../../packages/holdfast/src/node.ts'
import { until } from './until.ts'

let handle: HubHandle
let server: Server
let where = ''
const sessions: Session[] = []
const reported: string[] = []

async function open(): Promise<HubHandle> {
  server = http.createServer((_, answer) => answer.end('page'))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const report = (error: unknown, at: string): void => {
    reported.push(`${at}: ${(error as Error).message}`)
  }
  handle = hub({ server, store: null, report })
  where = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return handle
}
afterEach(async () => {
  for (const session of sessions.splice(0)) session.end('done')
  await handle.close()
  server.closeAllConnections()
  server.close()
  reported.length = 0
})

async function enter(name: string, room = 'main'): Promise<Session> {
  const session = await join({ game: 'duel', room, name, server: where, udp: null })
  sessions.push(session)
  return session
}

test('its owner sees a room, listed or not, and hears who comes, goes and serves (SE-4)', async () => {
  const { length: none } = reported
  await open()
  const heard: string[] = []
  for (const name of ['founded', 'joined', 'left', 'moved', 'ended'] as const) {
    handle.on(name, ({ room, player }: RoomEvent) => void heard.push(`${name} ${room} ${player}`))
  }
  handle.on('joined', () => {
    throw new Error('a fault of the shop')
  })
  expect(handle.room('duel', 'main')).toBe(null)
  const ada = await enter('Ada')
  const grace = await enter('Grace')
  await until(() => ada.safety === 'backed-up' && grace.safety === 'backed-up')
  await until(() => handle.room('duel', 'main')?.players.length === 2)
  const room = handle.room('duel', 'main')!
  expect(room).toMatchObject({ standing: 'open', primary: { player: 1 } })
  expect(room.players.map(({ player }) => player)).toEqual([1, 2])
  await ada.leave()
  await until(() => heard.includes('left main 1'))
  await grace.leave()
  await until(() => heard.some((one) => one.startsWith('ended')))
  expect(heard.filter((one) => !one.startsWith('left main 2')).toSorted()).toEqual([
    ...['ended main 2', 'founded main 1', 'joined main 2', 'left main 1', 'moved main 2'],
  ])
  expect(reported.length).toBeGreaterThan(none)
  expect(reported[0]).toContain('a fault of the shop')
})

test('a room that is closed is over for all in it, who read why, and opens again later (SE-4)', async () => {
  await open()
  const [ada, grace] = [await enter('Ada'), await enter('Grace')]
  const bob = await enter('Bob', 'beside')
  await until(() => grace.safety === 'backed-up')
  expect(handle.closeRoom('duel', 'main', { why: 'we close at ten', seconds: 60 })).toBe(true)
  for (const one of [ada, grace]) {
    await until(() => one.status === 'lost')
    expect(one.code).toBe('forbidden')
    expect(one.reason).toMatch(/^we close at ten: it opens again in \d+ s$/)
  }
  await expect(enter('Linus')).rejects.toMatchObject({
    code: 'forbidden',
    message: expect.stringMatching(/^we close at ten: it opens again in \d+ s$/),
    retryAfterMs: expect.any(Number),
  })
  expect([handle.room('duel', 'main'), bob.status]).toEqual([null, 'live'])
  handle.closeRoom('duel', 'main', { why: 'open again', seconds: 0 })
  expect((await enter('Linus')).members).toHaveLength(1)
})

test('what is no room and no reason is refused where it is said (SE-4)', async () => {
  await open()
  expect(() => handle.room('', 'x')).toThrow(/game/)
  expect(() => handle.closeRoom('duel', 'x', { why: '' })).toThrow(/why is a line of 1 to/)
  expect(() => handle.closeRoom('duel', 'x', { why: 'a', seconds: -1 })).toThrow(/seconds is 0 to/)
  expect(() => handle.on('opened' as never, () => {})).toThrow(/a hub has no event "opened"/)
  expect(handle.closeRoom('duel', 'nobody', { why: 'a' })).toBe(false)
})
