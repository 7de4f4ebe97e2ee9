// Goal: two hubs share their rooms by three servers of NATS, and any one process may die: no room
// ends, nothing that was acknowledged is lost or done twice, and what a session waits for it says.
// Method: hubs and servers are processes, killed or stopped one after the other while twelve
// members act in three rooms; half of the members of each room know the hubs in the other order.
// How long members wait is what `npm run bench -- hubs` measures.
import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { LEASE_MS } from '../../packages/holdfast/src/session/lease.ts'
import { action, join, newRoomKey, type Session } from '../../packages/holdfast/src/node.ts'
import { NatsCluster, noNats } from '../conformance/nats.ts'
import { Hub, Window } from './harness.ts'
import { drop } from './pins.ts'

const LACKS = noNats()
beforeEach((context) => {
  if (LACKS !== null) context.skip(LACKS)
})

const note = action('note', (table, { key }: { key: string }) => {
  table.set(key, ((table.get(key) as number | undefined) ?? 0) + 1)
})

/** Rooms, and what is special about each. */
const ROOMS = {
  // Its members reach one another without a hub.
  direct: {},
  relayed: { udp: null },
  kept: { udp: null, keepRoom: '1h' },
} as const
type Room = keyof typeof ROOMS

/** An actor rests for this long between two operations. */
const PAUSE_MS = 30

/** A member that acts, one operation after the other. */
class Actor {
  readonly room: Room
  readonly acknowledged: string[] = []
  readonly session: Session
  #rests = false
  readonly #ended: Promise<void>

  constructor(room: Room, session: Session) {
    this.room = room
    this.session = session
    this.#ended = this.#act()
  }

  static async start(room: Room, servers: readonly string[], name: string): Promise<Actor> {
    const given = { game: 'hubs', room, name, server: servers, types: [note], ...ROOMS[room] }
    return new Actor(room, await join(given))
  }

  async #act(): Promise<void> {
    const { acknowledged, session } = this
    for (let n = 0; ; n++) {
      if (this.#rests) return
      const key = `${session.me.player} ${n}`
      const { ok } = await session.act(note, { key })
      if (ok) acknowledged.push(key)
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    }
  }

  /** What a failed test shows of an actor that is stuck. */
  get state(): object {
    const { status, safety, hub, primary, backup, debug } = this.session
    const { role, path, epoch } = debug.figures()
    const roles = { role, primary: primary?.name, backup: backup?.name, epoch }
    return { room: this.room, name: this.session.me.name, status, safety, hub, path, ...roles }
  }

  async rest(): Promise<void> {
    this.#rests = true
    await this.#ended
  }
}

let cluster: NatsCluster
let hubs: [Hub, Hub]
let actors: Actor[] = []

beforeAll(async () => {
  if (LACKS !== null) return
  cluster = await NatsCluster.start(3)
  const words = ['--store', cluster.servers.join()]
  hubs = [await Hub.start(false, words), await Hub.start(false, words)]
})
afterEach(async () => {
  for (const actor of actors) await actor.rest()
  await Promise.all(actors.map(({ session }) => session.leave()))
  actors = []
})
afterAll(async () => {
  for (const hub of hubs ?? []) await hub.end()
  await cluster?.end()
})

const sessionOf = ({ session }: Actor): string => session.token.split('.')[0]!

/** Resolves once so many more operations of an actor were acknowledged. */
async function actsMore(actor: Actor, count: number): Promise<void> {
  const goal = actor.acknowledged.length + count
  await expect.poll(() => actor.acknowledged.length >= goal || actor.state).toBe(true)
}

async function allAct(): Promise<void> {
  await Promise.all(actors.map((actor) => actsMore(actor, 5)))
}

/** All act again and again, and for so long. */
async function allActFor(ms: number): Promise<void> {
  const until = performance.now() + ms
  while (performance.now() < until) await allAct()
}

test('each of two hubs and of three servers is killed in turn under play, and each hub closed', async () => {
  const urls = hubs.map(({ url }) => url)
  for (const room of Object.keys(ROOMS) as Room[]) {
    for (let at = 0; at < 4; at++) {
      const servers = at % 2 === 0 ? urls : urls.toReversed()
      actors.push(await Actor.start(room, servers, `${room} ${at}`))
    }
  }
  const sessions = actors.map(sessionOf)
  await allAct()
  for (const hub of hubs) {
    await hub.kill()
    await allAct()
    // The one that is left has all rooms: whoever comes finds them.
    const guest = await Actor.start('relayed', urls, 'guest')
    expect(sessionOf(guest)).toBe(sessionOf(actors.find(({ room }) => room === 'relayed')!))
    await actsMore(guest, 1)
    await guest.rest()
    await guest.session.leave()
    await hub.start()
    // A hub that is closed leaves its rooms to the other one.
    const other = hubs[hub === hubs[0] ? 1 : 0]
    await other.close()
    await allAct()
    await other.start()
  }
  for (const at of cluster.servers.keys()) {
    await cluster.kill(at)
    await allAct()
    cluster.start(at)
  }
  // Without a majority of servers no room is founded, and no hub renews a lease. Rooms play on with
  // the promises of their members, on which a primary relies once a hub told it that it had heard
  // it: that takes some seconds and a heartbeat that NATS acknowledged.
  await natsIsWhole()
  await allActFor(5_000)
  const reach = (): string[] => [...new Set(actors.map(({ session }) => session.hub))]
  await cluster.kill(0)
  await cluster.kill(1)
  await expect.poll(reach).toEqual(['waiting'])
  await allActFor(1.2 * LEASE_MS)
  cluster.start(0)
  cluster.start(1)
  await expect.poll(reach).toEqual(['up'])
  await allAct()
  // A hub that stands still is fenced by the other, and starts over when it goes on.
  hubs[0].signal('SIGSTOP')
  await allAct()
  hubs[0].signal('SIGCONT')
  await allAct()
  await Promise.all(actors.map((actor) => actor.rest()))
  expect(actors.map(sessionOf)).toEqual(sessions)
  for (const room of Object.keys(ROOMS) as Room[]) {
    const inRoom = actors.filter((actor) => actor.room === room)
    const keys = inRoom.flatMap(({ acknowledged }) => acknowledged)
    for (const { session } of inRoom) {
      await expect.poll(() => keys.filter((key) => session.table.get(key) !== 1)).toEqual([])
    }
  }
})

/** Servers were killed a moment ago. Each stream elects a leader: nobody joins before. */
async function natsIsWhole(): Promise<void> {
  for (const stream of ['holdfast-records', 'holdfast-blobs']) {
    await expect.poll(() => cluster.isWhole(stream)).toBe(true)
  }
}

/** One name of both hubs: each connection goes to one that takes it. */
async function oneName(): Promise<{ url: string; close(): void }> {
  const open = new Set<Socket>()
  const through = (near: Socket, [first, ...more]: Hub[]): void => {
    if (!first) return void near.destroy()
    const far = createConnection({ host: '127.0.0.1', port: first.port })
    let isTaken = false
    far.on('connect', () => {
      isTaken = true
      near.pipe(far).pipe(near)
    })
    far.on('error', () => void (isTaken || through(near, more)))
    far.on('close', () => void (isTaken && near.destroy()))
    near.on('close', () => far.destroy())
  }
  const server = createServer((socket) => {
    open.add(socket)
    socket.on('error', () => {})
    through(socket, hubs)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = (): void => {
    server.close()
    for (const socket of open) socket.destroy()
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close }
}

test('windows play on while each hub is killed and closed, and each server killed', async () => {
  await natsIsWhole()
  const name = await oneName()
  const path = `${name.url}/dots/?room=windows&name=`
  const windows = [
    await Window.open('ada', `${path}Ada`),
    await Window.open('grace', `${path}Grace`),
  ]
  onTestFinished(async () => {
    for (const window of windows) await window.end()
    name.close()
  })
  for (const window of windows) await window.until({ status: 'live', members: /,/ })
  const { me, primary } = await windows[0]!.data()
  let sum = 0
  const allDrop = async (): Promise<void> => {
    for (const window of windows) {
      sum += await drop(window, 5)
      await window.until({ status: 'live', members: /,/ })
    }
  }
  await allDrop()
  for (const hub of hubs) {
    await hub.kill()
    await allDrop()
    await hub.start()
    await hub.close()
    await allDrop()
    await hub.start()
  }
  for (const at of cluster.servers.keys()) {
    await cluster.kill(at)
    await allDrop()
    cluster.start(at)
  }
  expect(sum).toBe(windows.length * 5 * (1 + 2 * hubs.length + cluster.servers.length))
  for (const window of windows) {
    await window.until({ pinsTotal: String(sum) })
    expect(window.complaints).toEqual([])
  }
  // Nobody took over: the room was never without its server.
  expect(await windows[0]!.data()).toMatchObject({ me, primary })
  await windows[1]!.shot('two-hubs')
})

test('a kept room that all have left opens at the other hub, also once it was laid aside', async () => {
  const [first, second] = hubs.map(({ url }) => url) as [string, string]
  await natsIsWhole()
  const given = { game: 'hubs', room: 'den', types: [note], udp: null } as const
  const keepRoom = { for: '1h', key: newRoomKey() } as const
  const keys = Array.from({ length: 20 }, (_none, n) => String(n))
  const ada = await join({ ...given, keepRoom, server: first })
  for (const key of keys) expect(await ada.act(note, { key })).toMatchObject({ ok: true })
  await ada.leave()
  const grace = await join({ ...given, keepRoom, server: second })
  expect(grace.table.keys()).toHaveLength(keys.length)
  await grace.leave()
  // Without the key the room cannot be read: its session moves to another name.
  const linus = await join({ ...given, keepRoom: '1h', server: first, fresh: true })
  const { room } = linus.laidAside!
  expect(linus.table.keys()).toEqual([])
  await linus.leave()
  const back = await join({ ...given, keepRoom, server: second, room: room! })
  expect(back.table.keys()).toHaveLength(keys.length)
  await back.leave()
})
