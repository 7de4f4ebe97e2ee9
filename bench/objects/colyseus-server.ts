/**
 * Colyseus's server.
 *
 *     node colyseus-server.js SETTING [CERT KEY]
 *
 * As its documentation says: one map of entities whose fields are float32; where a client sees a
 * part, the map is `view()` and each client has a StateView of its own to which entities are added
 * and from which they are removed. The patch leaves right behind the tick, not on a timer of its
 * own. A quarter of a second may pass until a client's view is looked over; this is spread evenly.
 */

import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { peer } from '../processes/peers.ts'
import type { Colyseus, Entity, RoomClient, State } from './colyseus.ts'
import { Interest } from './interest.ts'
import { asked, beat } from './ticks.ts'
import type { ServerSaid, Setting } from './words.ts'
import { type Path, paths, place, type Place } from './workload.ts'

/** A client's view is looked over every so many ticks. */
const LOOK_EVERY = 5

const [settingText, cert, key] = process.argv.slice(2) as [string, string?, string?]
const setting = JSON.parse(settingText) as Setting
process.on('disconnect', () => process.exit())
const colyseus = await peer<Colyseus>('colyseus')
const { t, schema, StateView } = colyseus
colyseus.Encoder.BUFFER_SIZE = 1 << 20

const Ent = schema({ x: t.float32(), y: t.float32(), turn: t.float32() }, 'Ent')
const ents = t.map(Ent)
const Field = schema({ ents: setting.sees === 'near' ? ents.view() : ents }, 'State')

const ways: Path[] = paths(setting.seed, setting.objects)
const places: Place[] = ways.map((way) => way(0, place()))
const list: Entity[] = []
const rooms: Arena[] = []
const clients: ({ client: RoomClient; sees: Set<number> } | undefined)[] = []
const interest = new Interest(setting)
let interestMs = 0

class Arena extends colyseus.Room {
  onCreate(): void {
    rooms.push(this)
    this.maxClients = 1000
    this.patchRate = null
    this.autoDispose = false
    this.state = new Field() as State
    for (const index of ways.keys()) {
      const ent = new Ent() as Entity
      list.push(ent)
      put(index)
      this.state.ents.set(String(index), ent)
    }
  }

  // They come in another order than they are numbered, and each looks from a place of its own.
  onJoin(client: RoomClient, { number }: { number: number }): void {
    clients[number] = { client, sees: new Set() }
    if (setting.sees === 'all') return
    client.view = new StateView()
    interest.sort(places)
    look(number, 0)
  }
}

function put(index: number): void {
  const ent = list[index]!
  const { x, y, turn } = places[index]!
  ent.x = Math.fround(x)
  ent.y = Math.fround(y)
  ent.turn = Math.fround(turn)
}

function look(index: number, tick: number): void {
  const looking = clients[index]
  if (!looking) return
  const { client, sees } = looking
  const wanted = interest.of(index, tick, places)
  for (const object of sees) {
    if (wanted.has(object)) continue
    sees.delete(object)
    client.view!.remove(list[object]!)
  }
  for (const object of wanted) {
    if (sees.has(object)) continue
    sees.add(object)
    client.view!.add(list[object]!)
  }
}

function tick(n: number, by: number): void {
  for (const [index, way] of ways.entries()) {
    way(by, places[index]!)
    put(index)
  }
  if (setting.sees === 'near') {
    const start = performance.now()
    interest.sort(places)
    for (let index = n % LOOK_EVERY; index < clients.length; index += LOOK_EVERY) look(index, n)
    interestMs += performance.now() - start
  }
  for (const room of rooms) room.broadcastPatch()
}

function say(said: ServerSaid): void {
  process.send?.(said)
}

const tls =
  cert === undefined || key === undefined
    ? {}
    : { server: createServer({ cert: readFileSync(cert), key: readFileSync(key) }) }
const transport = new colyseus.WebSocketTransport(tls)
const server = new colyseus.Server({ transport, greet: false })
server.define('arena', Arena)
await server.listen(0, '127.0.0.1')
asked('begin', ({ window }) => {
  void beat(window, tick).then(({ cpuMs, lateMs }) =>
    say({ kind: 'served', cpuMs, interestMs: interestMs / window.to, lateMs, steady: true }),
  )
})
say({ kind: 'serves', port: transport.server.address().port })
