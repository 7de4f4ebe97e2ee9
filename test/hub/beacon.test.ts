// Goal: what a page says beside its stream as it ends counts as if said on it, whichever comes
// first, and lets nobody do what a stream would not; what is no such thing is refused.
// Method: the loop around the hub with streams by hand, a kept room of one, and bodies by hand.
import { describe, expect, test } from 'vitest'
import {
  HUB_VERSION,
  type ToHub,
  toHub,
} from '../../packages/holdfast/src/hub-protocol/messages.ts'
import { create } from '../../packages/hub/src/machine/budgets.ts'
import { defaults } from '../../packages/hub/src/machine/limits.ts'
import type { Loop, Store } from '../../packages/holdfast/src/ports.ts'
import { BEHIND_MS } from '../../packages/hub/src/server/beacon.ts'
import { HubServer } from '../../packages/hub/src/server/hub-server.ts'
import { toyCurves } from '../../packages/sim/src/toy-ciphers.ts'
import { joinMessages, splitMessages } from '../../packages/holdfast/src/wire/beacon.ts'
import { encode } from '../../packages/holdfast/src/wire/layout.ts'
import { frameMessage } from '../../packages/holdfast/src/wire/relay.ts'
import { Caller, WHENCE } from './caller.ts'
import { PlainDisk } from './plain-disk.ts'
import { keyOf, listed, OPEN, proof } from './desk.ts'

/** Time that passes when it is told to. */
class Still implements Loop {
  readonly #soon: (() => void)[] = []
  readonly #alarms = new Map<() => void, number>()
  #now = 0

  now(): number {
    return this.#now
  }

  random(count: number): Uint8Array {
    return new Uint8Array(count).fill(7)
  }

  soon(run: () => void): void {
    this.#soon.push(run)
  }

  alarm(run: () => void): ReturnType<Loop['alarm']> {
    return {
      set: (at) => void this.#alarms.set(run, at),
      cancel: () => void this.#alarms.delete(run),
    }
  }

  /** Time passes, and what is due runs. */
  go(ms: number = 0): void {
    this.#now += ms
    for (let run = this.#next(); run; run = this.#next()) run()
  }

  #next(): (() => void) | undefined {
    const [due] = [...this.#alarms].find(([, at]) => at <= this.#now) ?? []
    const next = this.#soon.shift() ?? due
    if (next === due && due) this.#alarms.delete(due)
    return next
  }
}

/** A disk that answers behind what runs now, or when it is told to. */
class Disk implements Store {
  isHeld = false
  readonly #disk = new PlainDisk()
  readonly #held: (() => void)[] = []
  readonly #loop: Loop

  constructor(loop: Loop) {
    this.#loop = loop
  }

  entries(): ReturnType<Store['entries']> {
    return this.#disk.records
  }

  get(...[key, done]: Parameters<Store['get']>): void {
    this.#loop.soon(() => done(this.#disk.records.get(key) ?? null))
  }

  blobs(...[_key, names, done]: Parameters<Store['blobs']>): void {
    this.#loop.soon(() => done(this.#disk.find(names)))
  }

  cas(...[change, done]: Parameters<Store['cas']>): void {
    const outcome = this.#disk.change(change)
    if (this.isHeld) this.#held.push(() => done(outcome))
    else this.#loop.soon(() => done(outcome))
  }

  check(done: (error: null) => void): void {
    this.#loop.soon(() => done(null))
  }

  goOn(): void {
    this.isHeld = false
    for (const done of this.#held.splice(0)) done()
  }

  close(): void {}
}

/** A kept room at a hub, and its founder, who has written one segment. */
class Scene {
  readonly loop = new Still()
  readonly disk = new Disk(this.loop)
  readonly server: HubServer
  readonly session: string
  readonly founder: Caller

  constructor(budgets = create(defaults())) {
    this.server = new HubServer(this.loop, this.disk, { wall: () => 0, curves: toyCurves, budgets })
    this.founder = new Caller(this.server)
    this.session = this.add(this.founder, 1)
    this.founder.say(this.attach())
    this.founder.say(this.keep('one ', 1))
    this.loop.go()
  }

  add(caller: Caller, id: number, room = 'main'): string {
    const place = { game: 'g', room, playersMax: 4, recovers: true, topology: 'star' } as const
    const { hash, link } = listed(id)
    const wish = { ...place, terms: 'keep=10', hash, link, ...OPEN, key: keyOf(id) }
    caller.say({ kind: 'add', request: 1, ...wish } as ToHub)
    this.loop.go()
    const added = caller.heard.find((one) => one.kind === 'added')
    return added?.kind === 'added' ? added.entry.session : ''
  }

  attach(more: Partial<ToHub & { kind: 'attach' }> = {}): ToHub {
    return { kind: 'attach', request: 2, session: this.session, inc: 1, proof: proof(1), ...more }
  }

  /** The whole state. */
  keep(text: string, index: number): ToHub {
    const said = { session: this.session, number: index, from: null, index, time: 5, next: 2 }
    const bytes = new TextEncoder().encode(text)
    return { kind: 'keep', ...said, acks: 'strict', piece: 0, of: 1, bytes }
  }

  gone(index: number): ToHub {
    return { kind: 'gone', session: this.session, epoch: 1, index }
  }

  /** What a page says beside its stream. */
  beacon(...messages: ToHub[]): boolean {
    const said: ToHub[] = [{ kind: 'hello', version: HUB_VERSION }, ...messages]
    const body = joinMessages(said.map((one) => frameMessage(encode(toHub, one))))
    const taken = this.server.beacon(body, WHENCE)
    this.loop.go()
    return taken
  }

  /** What somebody else reads who opens the room now; null if it is shut. */
  opens(): string | null {
    const caller = new Caller(this.server)
    this.add(caller, 2)
    const segments = caller.heard.flatMap((one) => (one.kind === 'segment' ? [...one.bytes] : []))
    return segments.length === 0 ? null : new TextDecoder().decode(Uint8Array.from(segments))
  }

  /** Who of the room said goodbye. */
  get goodbyes(): number[] {
    return [...(this.server.hub.registers.rows.get(this.session)?.goodbyes.keys() ?? [])]
  }

  /** Streams that are open. */
  get streams(): number {
    return this.server.health().connections
  }
}

describe('a beacon', () => {
  test('is a goodbye, with what its page recorded, and leaves no stream (N-1)', () => {
    const scene = new Scene()
    expect(scene.beacon(scene.attach(), scene.keep('two ', 2), scene.gone(2))).toBe(true)
    scene.founder.ends()
    scene.loop.go()
    expect(scene.streams).toBe(0)
    expect(scene.opens()).toBe('two ')
  })

  test('waits for what its page said before on its stream, until that ends (N-1)', () => {
    const scene = new Scene()
    scene.beacon(scene.attach(), scene.keep('three ', 3), scene.gone(3))
    scene.founder.say(scene.keep('two ', 2))
    scene.loop.go()
    expect(scene.founder.heard.at(-1)).toMatchObject({ kind: 'kept', index: 2, why: '' })
    expect(scene.goodbyes).toEqual([])
    scene.founder.ends()
    scene.loop.go()
    expect(scene.opens()).toBe('three ')
  })

  test('waits a second at most: then what comes on the older stream is void (N-1)', () => {
    const scene = new Scene()
    scene.beacon(scene.attach(), scene.gone(1))
    scene.loop.go(BEHIND_MS - 1)
    expect(scene.streams).toBe(2)
    expect(scene.goodbyes).toEqual([])
    scene.loop.go(1)
    expect(scene.streams).toBe(1)
    scene.founder.say(scene.keep('two ', 2))
    scene.loop.go()
    expect(scene.opens()).toBe('one ')
  })

  test('of a page whose stream was closed before counts as well (N-1)', () => {
    const scene = new Scene()
    scene.founder.ends()
    expect(scene.opens()).toBe(null)
    scene.beacon(scene.attach(), scene.gone(1))
    expect(scene.opens()).toBe('one ')
  })

  test.each([['the stream'], ['the beacon']])(
    'and a stream that say the same say it once; first %s (N-1)',
    (first) => {
      const scene = new Scene()
      const last = [scene.keep('two ', 2), scene.gone(2)]
      const ways = [
        () => last.forEach((one) => scene.founder.say(one)),
        () => void scene.beacon(scene.attach(), ...last),
      ]
      if (first === 'the beacon') ways.reverse()
      for (const say of ways) {
        say()
        scene.loop.go(BEHIND_MS)
      }
      scene.founder.ends()
      expect(scene.streams).toBe(0)
      expect(scene.opens()).toBe('two ')
    },
  )

  test('waits for a register that is on its way to the disk (N-1)', () => {
    const scene = new Scene()
    scene.disk.isHeld = true
    const members = [listed(1), listed(2)]
    scene.founder.say({ kind: 'members', session: scene.session, members, players: 2 })
    const change = {
      inc: 1,
      proof: proof(1),
      expect: 1,
      primary: 1,
      backup: 2,
      why: 'add',
    } as const
    scene.founder.say({ kind: 'change', request: 3, session: scene.session, ...change })
    scene.founder.ends()
    scene.beacon(scene.attach(), scene.gone(1))
    expect(scene.goodbyes).toEqual([])
    scene.disk.goOn()
    scene.loop.go()
    expect(scene.goodbyes).toEqual([1])
    expect(scene.streams).toBe(0)
  })

  test.each<[string, (scene: Scene) => ToHub]>([
    ['with a wrong proof', (scene) => scene.attach({ proof: proof(3) })],
    ['as nobody who is there', (scene) => scene.attach({ inc: 9 })],
    ['in no session', (scene) => scene.attach({ session: 'none' })],
  ])('%s changes nothing, and leaves no stream (N-1)', (_what, attach) => {
    const scene = new Scene()
    scene.beacon(attach(scene), scene.keep('two ', 2), scene.gone(2))
    scene.loop.go(BEHIND_MS)
    expect(scene.streams).toBe(1)
    expect(scene.opens()).toBe(null)
    scene.founder.ends()
    expect(scene.opens()).toBe(null)
  })

  test('of a member of another session says nothing of this one (N-1)', () => {
    const scene = new Scene()
    const other = new Caller(scene.server)
    const session = scene.add(other, 3, 'other')
    const attach = scene.attach({ session, proof: proof(3) })
    scene.beacon(attach, scene.keep('two ', 2), scene.gone(2))
    const { rows } = scene.server.hub.registers
    expect([...rows.values()].map(({ goodbyes }) => goodbyes.size)).toEqual([0, 0])
    expect(scene.opens()).toBe(null)
  })

  test('costs what a stream costs: an address without any left says nothing (SE-9, N-1)', () => {
    const limits = defaults()
    const budgets = create({ ...limits, address: { ...limits.address, streams: 1 } })
    const scene = new Scene(budgets)
    scene.beacon(scene.attach(), scene.gone(1))
    scene.loop.go(BEHIND_MS)
    expect(scene.goodbyes).toEqual([])
    expect(scene.streams).toBe(1)
  })

  test('is what begins with hello and attach, and nothing else (N-1)', () => {
    const scene = new Scene()
    const garbage = [[], [1], [255, 255, 255, 255], [3, 0, 1], [0], [2, 0, 99]]
    for (const bytes of garbage) {
      expect(scene.server.beacon(Uint8Array.from(bytes), WHENCE)).toBe(false)
    }
    expect(scene.beacon()).toBe(false)
    expect(scene.beacon(scene.gone(1), scene.attach())).toBe(false)
    expect(scene.streams).toBe(1)
  })

  test('a body is read as it was joined, and no other length is one', () => {
    const messages = [[], [1], Array<number>(300).fill(5)].map((one) => Uint8Array.from(one))
    const body = joinMessages(messages)
    expect(splitMessages(body)).toEqual(messages)
    expect(splitMessages(body.subarray(0, -1))).toBe(null)
  })
})
