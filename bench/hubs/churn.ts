/**
 * Rooms that come and go at two hubs, simulated: what the hubs write for them, and say to each
 * other. The hubs are the shipped ones, in virtual time, with a store and links in memory.
 *
 * Each room is founded at one of the hubs. Guests join it by the other hub, one after the other;
 * then it ends, and the next one is founded there. How long each stays is drawn.
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
import type { Loop, Store, StreamEvents } from '../../packages/holdfast/src/ports.ts'
import { digest } from '../../packages/holdfast/src/wire/digest.ts'
import { decode, encode } from '../../packages/holdfast/src/wire/layout.ts'
import { frameMessage, readFrame } from '../../packages/holdfast/src/wire/relay.ts'
import * as budgets from '../../packages/hub/src/machine/budgets.ts'
import { HubServer } from '../../packages/hub/src/server/hub-server.ts'
import { toyCurves } from '../../packages/sim/src/toy-ciphers.ts'
import { Links } from '../../test/hub/hub-links.ts'
import { PlainDisk } from '../../test/hub/plain-disk.ts'
import { dice } from '../../test/conformance/until.ts'
import { readLimits } from '../../packages/hub/src/server/given-limits.ts'
import { unbound } from '../hub/bystander.ts'

/** How long a room lasts, and a guest stays in it, on average. */
export const ROOM_MS: Millis = 60_000
export const GUEST_MS: Millis = 20_000
const STEP_MS: Millis = 50

export interface Churn {
  /** Virtual time that was counted: after the first rooms have ended. */
  readonly ms: Millis
  readonly rooms: number
  readonly founded: number
  readonly ended: number
  readonly joined: number
  /** Requests that a hub refused. */
  readonly refused: number
  /** Changes of records, and their bytes; of those, heartbeats. */
  readonly changes: number
  readonly bytes: number
  readonly beats: number
  /** Records at the end, also those of heartbeats. */
  readonly records: number
  /** Messages from hub to hub. */
  readonly passed: number
}

type Counts = { -readonly [Key in Exclude<keyof Churn, 'ms' | 'rooms' | 'records'>]: number }

/** So many rooms at a time, over so much virtual time. */
export async function churn(rooms: number, ms: Millis): Promise<Churn> {
  const world = new World()
  for (let n = 0; n < rooms; n++) world.plan(world.drawn(ROOM_MS), () => world.found())
  await world.run(2 * ROOM_MS)
  world.counts = none()
  await world.run(ms)
  const { counts, disk, links } = world
  return { ms, rooms, records: disk.records.size, ...counts, passed: links.count - counts.passed }
}

const none = (): Counts => {
  return { founded: 0, ended: 0, joined: 0, refused: 0, changes: 0, bytes: 0, beats: 0, passed: 0 }
}

/** Two hubs, and processes that come to them, in virtual time. */
class World {
  counts = none()
  readonly disk = new PlainDisk()
  readonly links = new Links()
  #now: Millis = 0
  readonly #chance = dice(1)
  /** What is to be done, by when. */
  readonly #plans = new Map<Millis, (() => void)[]>()
  readonly #alarms: { at: Millis; readonly run: () => void }[] = []
  #founded = 0
  readonly #hubs: HubServer[]

  constructor() {
    this.#hubs = [1, 2].map((boot) => {
      const options = { curves: toyCurves, wall: () => this.#now, links: this.links }
      const spent = budgets.create(readLimits('limits', unbound()))
      return new HubServer(this.#loop(boot), this.#store(), { ...options, budgets: spent })
    })
  }

  /** A span of time, exponentially distributed. */
  drawn(mean: Millis): Millis {
    return -mean * Math.log(1 - this.#chance.next())
  }

  plan(ms: Millis, run: () => void): void {
    const at = Math.ceil((this.#now + ms) / STEP_MS) * STEP_MS
    const due = this.#plans.get(at)
    if (due) due.push(run)
    else this.#plans.set(at, [run])
  }

  async run(ms: Millis): Promise<void> {
    this.counts.passed = this.links.count
    for (const until = this.#now + ms; this.#now < until; this.#now += STEP_MS) {
      for (const one of this.#alarms.filter(({ at }) => at <= this.#now)) {
        one.at = Infinity
        one.run()
      }
      const due = this.#plans.get(this.#now) ?? []
      this.#plans.delete(this.#now)
      for (const run of due) run()
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  /** A process at one of the hubs. */
  dial(hub: number, heard: (message: FromHub) => void): Process {
    return new Process(this.#hubs[hub % 2]!, heard)
  }

  found(): void {
    new Room(this, ++this.#founded)
  }

  #loop(boot: number): Loop {
    const chance = dice(boot)
    return {
      now: () => this.#now,
      random: (count) => chance.bytes(count),
      soon: (run) => queueMicrotask(run),
      alarm: (run) => {
        const own = { at: Infinity, run }
        this.#alarms.push(own)
        return { set: (at) => void (own.at = at), cancel: () => void (own.at = Infinity) }
      },
    }
  }

  #store(): Store {
    const { disk } = this
    return {
      isShared: true,
      watch: (changed) => void disk.watchers.push(changed),
      entries: () => disk.records,
      get: (key, done) => queueMicrotask(() => done(disk.records.get(key) ?? null)),
      blobs: (_key, names, done) => queueMicrotask(() => done(disk.find(names))),
      check: (done) => queueMicrotask(() => done(null)),
      cas: (change, done) => {
        this.counts.changes++
        this.counts.bytes += change.value?.length ?? 0
        if (change.key.startsWith('hub ')) this.counts.beats++
        const outcome = disk.change(change)
        queueMicrotask(() => done(outcome))
      },
      close: () => {},
    }
  }
}

/** A stream to a hub, whose end says what it says. */
class Process {
  readonly #events: StreamEvents

  constructor(hub: HubServer, heard: (message: FromHub) => void) {
    const stream = {
      send: (bytes: Uint8Array): boolean => {
        const frame = readFrame(bytes)
        const message = frame?.kind === 'message' ? decode(fromHub, frame.bytes) : null
        if (message) queueMicrotask(() => heard(message))
        return true
      },
      backlog: () => 0,
      close: () => {},
    }
    this.#events = hub.accept(stream, { remote: '192.0.2.7' })
    this.#events.opened()
    this.say({ kind: 'hello', version: HUB_VERSION })
  }

  say(message: ToHub): void {
    this.#events.message(frameMessage(encode(toHub, message)))
  }

  end(): void {
    this.#events.closed('it ended')
  }
}

const secretOf = (inc: number): Uint8Array => new Uint8Array(16).fill(inc)
const keyOf = (inc: number): Uint8Array => new Uint8Array(32).fill(inc)
const memberOf = (inc: number): Listed => {
  const hash = digest(secretOf(inc))
  return { inc, player: inc, hash, link: keyOf(inc), key: keyOf(inc) }
}

/** A room with its primary, and the guests who come to it. */
class Room {
  readonly #world: World
  readonly #at: number
  readonly #primary: Process
  #session = ''
  #guests = 0
  #guest: Process | null = null
  #isOver = false

  constructor(world: World, at: number) {
    this.#world = world
    this.#at = at
    this.#primary = world.dial(at, (message) => this.#hear(message))
    this.#add(this.#primary, 1)
  }

  #add(process: Process, inc: number): void {
    const { hash, link, key } = memberOf(inc)
    const wish = { playersMax: 8, recovers: true, topology: 'star', terms: '' } as const
    const open = { hosts: false, ticket: '', fresh: false, hash, link, key }
    process.say({ kind: 'add', request: 1, game: 'g', room: `room ${this.#at}`, ...wish, ...open })
  }

  #attach(process: Process, inc: number): void {
    const own = { session: this.#session, inc, proof: secretOf(inc) }
    process.say({ kind: 'attach', request: 2, ...own })
  }

  #hear(message: FromHub): void {
    const { counts } = this.#world
    const session = this.#session
    if (message.kind === 'refused') counts.refused++
    else if (message.kind === 'areYouAlive') {
      const { nonce } = message
      const players = this.#guest ? 2 : 1
      this.#primary.say({ kind: 'yes', session, epoch: 1, nonce, players })
    } else if (message.kind === 'added') {
      counts.founded++
      this.#session = message.entry.session
      this.#attach(this.#primary, 1)
      this.#list()
      this.#world.plan(this.#world.drawn(ROOM_MS), () => this.#end())
      this.#comes()
    } else if (message.kind === 'register' && message.request === 3 && message.ok) {
      counts.ended++
      this.#primary.end()
      this.#world.found()
    }
  }

  // The guest's process is admitted by the primary, over paths of their own.
  #comes(): void {
    if (this.#isOver) return
    const inc = 2 + (this.#guests++ % 250)
    const { counts } = this.#world
    const guest = this.#world.dial(this.#at + 1, (message) => {
      if (message.kind === 'refused') counts.refused++
      if (message.kind === 'attached') counts.joined++
      if (message.kind !== 'added') return
      this.#guest = guest
      this.#list(memberOf(inc))
      this.#attach(guest, inc)
    })
    this.#add(guest, inc)
    this.#world.plan(this.#world.drawn(GUEST_MS), () => {
      guest.end()
      if (this.#isOver) return
      this.#guest = null
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
    this.#guest?.end()
    this.#primary.say({
      ...({ kind: 'change', request: 3, session: this.#session, inc: 1, why: 'end' } as const),
      ...{ proof: secretOf(1), expect: 1, primary: 1, backup: 0 },
    })
  }
}
