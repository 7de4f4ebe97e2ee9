/**
 * Rooms that come and go at two hubs, in the simulator: what the hubs write for them.
 *
 * Each room is founded at one of the hubs. Guests join it by the other hub, one after the other;
 * then it ends, and the next one is founded. How long a room lasts and a guest stays is drawn.
 */

import {
  type FromHub,
  fromHub,
  HUB_VERSION,
  type Listed,
  type ToHub,
  toHub,
} from '../../packages/holdfast/src/hub-protocol/messages.ts'
import type { Millis } from '../../packages/holdfast/src/machine.ts'
import type { Store, Stream } from '../../packages/holdfast/src/ports.ts'
import { digest } from '../../packages/holdfast/src/wire/digest.ts'
import { decode, encode } from '../../packages/holdfast/src/wire/layout.ts'
import { frameMessage, readFrame } from '../../packages/holdfast/src/wire/relay.ts'
import * as budgets from '../../packages/hub/src/machine/budgets.ts'
import { readLimits } from '../../packages/hub/src/server/given-limits.ts'
import { HubServer } from '../../packages/hub/src/server/hub-server.ts'
import { linksOf } from '../../packages/sim/src/session-world.ts'
import { toyCurves } from '../../packages/sim/src/toy-ciphers.ts'
import { createWorld, type SimNode, type World } from '../../packages/sim/src/world.ts'
import { dice } from '../../test/conformance/until.ts'
import { unbound } from '../hub/bystander.ts'

/** How long a room lasts and a guest stays, on average. */
export const ROOM_MS: Millis = 60_000
export const GUEST_MS: Millis = 20_000
/** The first rooms are founded within this. */
const START_MS: Millis = 10_000
const HUBS = ['hub', 'hub2']
const SECRET = new Uint8Array(16).fill(5)

/** Counts of events in a span of virtual time. */
export interface Counts {
  founded: number
  joined: number
  /** Requests that a hub refused. */
  refused: number
  /** Changes of records, also of heartbeats, and their bytes. */
  changes: number
  bytes: number
}

/** Keeps that many rooms going. @returns what happened in `ms`, once all rooms were founded */
export function churn(rooms: number, ms: Millis): Counts {
  const scene = new Scene()
  for (let slot = 0; slot < rooms; slot++) {
    scene.sim.at((START_MS * slot) / rooms, () => new Room(scene, slot, 0))
  }
  // How long a room or a guest still stays does not depend on how long it has been there.
  scene.sim.runSync(2 * START_MS)
  scene.counts = none()
  scene.sim.runSync(ms)
  return scene.counts
}

const none = (): Counts => ({ founded: 0, joined: 0, refused: 0, changes: 0, bytes: 0 })

/** Two hubs on one disk. */
class Scene {
  counts = none()
  readonly sim: World = createWorld({
    ...{ seed: 1, conditions: 'rtt=20', sharing: HUBS, linesMax: 0 },
  })
  readonly #chance = dice(1)

  constructor() {
    for (const name of HUBS) this.sim.node(name, (node) => this.#serve(node))
  }

  #serve(node: SimNode): void {
    const hub = new HubServer(node.loop, this.#counted(node.store), {
      ...{ curves: toyCurves, wall: () => this.sim.now(), links: linksOf(node) },
      budgets: budgets.create(readLimits('limits', unbound())),
    })
    node.listen(urlOf(node.name), (stream, opening) => hub.accept(stream, opening))
  }

  #counted(store: Store): Store {
    const cas: Store['cas'] = (change, done) => {
      this.counts.changes++
      this.counts.bytes += change.value?.length ?? 0
      store.cas(change, done)
    }
    return { ...store, cas }
  }

  /** Calls `act` after a time that is exponentially distributed. */
  after(mean: Millis, act: () => void): void {
    this.sim.at(this.sim.now() - mean * Math.log(1 - this.#chance.next()), act)
  }

  /** Opens a stream from a machine to a hub. @param opened  called once the hub has its hello */
  dial(name: string, hub: number, opened: (process: Process) => void): Process {
    return new Process(this.sim.node(name), urlOf(HUBS[hub % 2]!), opened)
  }
}

const urlOf = (hub: string): string => `ws://${hub}/hub`

/** A process at a hub. */
class Process {
  /** Called with each message. */
  heard: (message: FromHub) => void = () => {}
  readonly #stream: Stream

  constructor(node: SimNode, url: string, opened: (process: Process) => void) {
    this.#stream = node.connect(url, {
      opened: () => {
        this.say({ kind: 'hello', version: HUB_VERSION })
        opened(this)
      },
      message: (bytes) => {
        const frame = readFrame(bytes)
        const message = frame?.kind === 'message' ? decode(fromHub, frame.bytes) : null
        if (message) this.heard(message)
      },
      closed: () => {},
    })
  }

  say(message: ToHub): void {
    this.#stream.send(frameMessage(encode(toHub, message)))
  }

  end(): void {
    this.#stream.close()
  }
}

const memberOf = (inc: number): Listed => {
  const key = new Uint8Array(32).fill(inc)
  return { inc, player: inc, hash: digest(SECRET), link: key, key }
}

/** A room with its primary, and the guests who come to it. */
class Room {
  readonly #scene: Scene
  readonly #slot: number
  /** How many rooms were here before. */
  readonly #count: number
  readonly #primary: Process
  #session = ''
  #guests = 0
  #guest: Process | null = null
  #isOver = false

  constructor(scene: Scene, slot: number, count: number) {
    this.#scene = scene
    this.#slot = slot
    this.#count = count
    this.#primary = scene.dial(`primary${slot}`, slot, (process) => this.#add(process, 1))
    this.#primary.heard = (message) => this.#hear(message)
  }

  #add(process: Process, inc: number): void {
    const { hash, link, key } = memberOf(inc)
    process.say({
      ...({ kind: 'add', request: 1, game: 'g' } as const),
      room: `${this.#slot} ${this.#count}`,
      ...({ playersMax: 8, recovers: true, topology: 'star', terms: '' } as const),
      ...{ hosts: false, ticket: '', fresh: false, hash, link, key },
    })
  }

  #attach(process: Process, inc: number): void {
    process.say({ kind: 'attach', request: 2, session: this.#session, inc, proof: SECRET })
  }

  #hear(message: FromHub): void {
    const { counts } = this.#scene
    const session = this.#session
    if (message.kind === 'refused') counts.refused++
    else if (message.kind === 'areYouAlive') {
      const { nonce } = message
      this.#primary.say({ kind: 'yes', session, epoch: 1, nonce, players: this.#guest ? 2 : 1 })
    } else if (message.kind === 'added') {
      counts.founded++
      this.#session = message.entry.session
      this.#attach(this.#primary, 1)
      this.#list()
      this.#scene.after(ROOM_MS, () => this.#end())
      this.#comes()
    } else if (message.kind === 'register' && message.request === 3 && message.ok) {
      this.#primary.end()
      new Room(this.#scene, this.#slot, this.#count + 1)
    }
  }

  // The primary admits the guest over a path of their own.
  #comes(): void {
    if (this.#isOver) return
    const inc = 2 + (this.#guests++ % 250)
    const { counts } = this.#scene
    const add = (process: Process): void => this.#add(process, inc)
    const guest = this.#scene.dial(`guest${this.#slot}`, this.#slot + 1, add)
    guest.heard = (message) => {
      if (this.#isOver) return
      if (message.kind === 'refused') counts.refused++
      if (message.kind === 'attached') counts.joined++
      if (message.kind !== 'added') return
      this.#guest = guest
      this.#list(memberOf(inc))
      this.#attach(guest, inc)
    }
    this.#scene.after(GUEST_MS, () => {
      guest.end()
      this.#guest = null
      if (this.#isOver) return
      this.#list()
      this.#comes()
    })
  }

  #list(...guests: Listed[]): void {
    const members = [memberOf(1), ...guests]
    const session = this.#session
    this.#primary.say({ kind: 'members', session, members, players: members.length })
  }

  #end(): void {
    this.#isOver = true
    this.#primary.say({
      ...({ kind: 'change', request: 3, session: this.#session, inc: 1, why: 'end' } as const),
      ...{ proof: SECRET, expect: 1, primary: 1, backup: 0 },
    })
  }
}
