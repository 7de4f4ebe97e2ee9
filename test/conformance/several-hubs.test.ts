// Goal: a member that knows several addresses goes on at the next one when its hub goes, with the
// same session and epoch; and never at a hub that keeps another register while its own may be back.
// Method: real hubs, sockets and members; hubs are drained, closed, and started on the same file.
// Slow: members wait a second or two before they turn to the next address.
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join as joinPath } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { WebSocketServer } from 'ws'
import { hub, type HubHandle } from '../../packages/hub/src/index.ts'
import { action, join, type Session } from '../../packages/holdfast/src/node.ts'
import { freePort } from './free-port.ts'

const add = action('add', (table) => {
  table.set('sum', ((table.get('sum') as number | undefined) ?? 0) + 1)
  return table.get('sum') as number
})
const ROOM = { game: 'many', room: 'r', types: [add], udp: null } as const

let folder = ''
const open: { server: Server; hub: HubHandle }[] = []
const members: Session[] = []

beforeEach(() => {
  folder = mkdtempSync(joinPath(tmpdir(), 'holdfast-hubs-'))
})
afterEach(async () => {
  for (const one of members.splice(0)) await one.leave()
  for (const one of open.splice(0)) await end(one)
  rmSync(folder, { recursive: true })
})

async function end(one: { server: Server; hub: HubHandle }): Promise<void> {
  await one.hub.close()
  await new Promise((resolve) => one.server.close(resolve))
}

async function start(file: string, port = 0): Promise<(typeof open)[number] & { url: string }> {
  const server = createServer()
  const made = { server, hub: hub({ server, store: joinPath(folder, file) }) }
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  open.push(made)
  return { ...made, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

async function joining(server: readonly string[], name: string): Promise<Session> {
  const session = await join({ ...ROOM, server, name })
  members.push(session)
  return session
}

const sessionOf = ({ token }: Session): string => token.split('.')[0]!

test('the hub is drained and closed: at the next address, with its file, play goes on', async () => {
  const first = await start('one.db')
  const port = await freePort()
  const servers = [first.url, `http://127.0.0.1:${port}`]
  const [ada, grace] = [await joining(servers, 'Ada'), await joining(servers, 'Grace')]
  await expect.poll(() => ada.safety).toBe('backed-up')
  expect(await ada.act(add, null)).toMatchObject({ ok: true, value: 1 })
  const before = [sessionOf(ada), ada.primary?.inc, ada.me.inc, grace.me.inc]
  expect(await first.hub.drain()).toEqual({ streams: 2, sessions: 1 })
  expect(first.hub.health()).toMatchObject({ ok: false, trouble: 'this hub is drained' })
  // Who is here plays on, and who comes is sent away.
  expect(await grace.act(add, null)).toMatchObject({ ok: true, value: 2 })
  await end(open.splice(0)[0]!)
  await start('one.db', port)
  expect(await ada.act(add, null)).toMatchObject({ ok: true, value: 3 })
  await expect.poll(() => [ada.status, ada.safety]).toEqual(['live', 'backed-up'])
  expect([sessionOf(ada), ada.primary?.inc, ada.me.inc, grace.me.inc]).toEqual(before)
  // Whoever comes now finds the same room, at whatever address it is.
  const linus = await joining(servers.toReversed(), 'Linus')
  expect([sessionOf(linus), linus.table.get('sum')]).toEqual([before[0], 3])
})

test('a newcomer is sent from a hub that is drained to the next address at once', async () => {
  const [old, spare] = [await start('old.db'), await start('spare.db')]
  await old.hub.drain()
  const ada = await joining([old.url, spare.url], 'Ada')
  expect(ada.status).toBe('live')
  expect(spare.hub.room('many', 'r')?.players.length).toBe(1)
})

test('a hub of another register is left alone: the session waits for its own', async () => {
  const [own, other] = [await start('own.db'), await start('other.db')]
  const servers = [own.url, other.url]
  const port = Number(new URL(own.url).port)
  const ada = await joining(servers, 'Ada')
  const grace = await joining(servers, 'Grace')
  await expect.poll(() => ada.safety).toBe('backed-up')
  expect(await ada.act(add, null)).toMatchObject({ ok: true, value: 1 })
  const before = [sessionOf(ada), ada.me.inc, grace.me.inc]
  await end(open.splice(0, 1)[0]!)
  const foreign = (): number =>
    (ada as unknown as { member: { counters: { foreign: number } } }).member.counters.foreign
  // Ada has met the other hub more than once, and founded nothing there.
  await expect.poll(foreign).toBeGreaterThan(1)
  expect(other.hub.sessions()).toEqual([])
  await start('own.db', port)
  expect(await ada.act(add, null)).toMatchObject({ ok: true, value: 2 })
  await expect.poll(() => grace.table.get('sum')).toBe(2)
  expect([sessionOf(ada), ada.me.inc, grace.me.inc]).toEqual(before)
})

test('an address where nobody is, or something else, does not keep one from the next', async () => {
  const server = createServer((_request, response) => response.end('hello'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const wrong = `http://127.0.0.1:${port}`
  const nobody = `http://127.0.0.1:${await freePort()}`
  const spare = await start('spare.db')
  const ada = await joining([wrong, nobody, spare.url], 'Ada')
  expect(ada.status).toBe('live')
  // With none that is a hub each is named with what is there.
  const lost = join({ ...ROOM, server: [`${wrong}/one`, `${wrong}/two`] })
  await expect(lost).rejects.toMatchObject({ code: 'unreachable' })
  for (const path of ['/one: ', '/two: ']) await expect(lost).rejects.toThrow(path)
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

test('a machine that takes connections and says nothing is left for the next after 2 s', async () => {
  const mute = createServer()
  mute.removeAllListeners('connection')
  await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve))
  const { port } = mute.address() as AddressInfo
  // It takes connections all the same.
  connect(port, '127.0.0.1').destroy()
  const spare = await start('spare.db')
  const ada = await joining([`http://127.0.0.1:${port}`, spare.url], 'Ada')
  expect(ada.status).toBe('live')
  mute.closeAllConnections()
  mute.close()
})

test('a server that asks to be dialled again, and ends each stream, is left for the next', async () => {
  const server = createServer()
  const sockets = new WebSocketServer({ server })
  let dials = 0
  sockets.on('connection', (socket) => {
    dials++
    socket.close(1012, 'again')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const spare = await start('spare.db')
  const ada = await joining([`http://127.0.0.1:${port}`, spare.url], 'Ada')
  expect([ada.status, dials]).toEqual(['live', 2])
  sockets.close()
  await new Promise((resolve) => server.close(resolve))
})

test.each([
  [[], 'server is 1 to 8 addresses: 0'],
  [Array.from({ length: 9 }, (_none, n) => `http://127.0.0.1:${9000 + n}`), '1 to 8 addresses: 9'],
  [['http://a.example', 'http://a.example/'], 'twice: ws://a.example/hub'],
  [['http://a.example', 'nonsense'], 'server is no URL: "nonsense"'],
])('%j is refused', async (server, why) => {
  await expect(join({ ...ROOM, server })).rejects.toMatchObject({
    code: 'bad-value',
    message: expect.stringContaining(why),
  })
})
