/** Processes at a hub, by hand: each stream says what the test says, and keeps what it hears. */

import type { Applicant, RoomChange } from '../../packages/hub/src/machine/state.ts'
import { create as budgetsOf } from '../../packages/hub/src/machine/budgets.ts'
import * as hub from '../../packages/hub/src/machine/hub.ts'
import type { Hub, HubOut } from '../../packages/hub/src/machine/hub.ts'
import {
  type FromHub,
  fromHub,
  leaderCertificateOf,
  HUB_VERSION,
  type Leader,
  type Listed,
  type ToHub,
  toHub,
} from '../../packages/holdfast/src/hub-protocol/messages.ts'
import {
  type Closing,
  KEY_BYTES,
  type StoreChange,
  type StoreOutcome,
} from '../../packages/holdfast/src/ports.ts'
import { type HubLimits, readLimits } from '../../packages/hub/src/server/given-limits.ts'
import { toyCurves } from '../../packages/sim/src/toy-ciphers.ts'
import { digest, proofOf } from '../../packages/holdfast/src/wire/digest.ts'
import { decode, encode } from '../../packages/holdfast/src/wire/layout.ts'
import { frameKnock, frameMessage, readFrame } from '../../packages/holdfast/src/wire/relay.ts'
import { expect } from 'vitest'
import { calmly } from '../calmly.ts'
import { PlainDisk } from './plain-disk.ts'

/** Most times that a hub may ask to be woken at one and the same instant. */
const WAKES_MAX = 100
/** Most writes in a row that each request another one. */
const WRITES_MAX = 1_000
const SEED = new Uint8Array(KEY_BYTES).fill(99)
/** By which what the hub signs is checked. */
export const HUB_KEY: Uint8Array = toyCurves.signer(SEED)

/** What the hub tells of who leads. */
export function leaderOf(session: string, epoch: number, id: number): Leader {
  const link = linkOf(id)
  return {
    link,
    grant: toyCurves.sign(SEED, leaderCertificateOf({ session, epoch, primary: id, link })),
  }
}

/** The secret of a process of the tests. */
export function secretOf(id: number): Uint8Array {
  return new Uint8Array(16).fill(id)
}

/** What it proves at the register. */
export function proof(id: number): Uint8Array {
  return proofOf(secretOf(id), 'register')
}

/** A member as the primary lists it: process and player have its number. */
export function listed(inc: number, id: number = inc): Listed {
  return { inc, player: inc, hash: digest(proof(id)), link: linkOf(id), key: keyOf(id) }
}

/** The key of a player of the tests. */
export function keyOf(id: number): Uint8Array {
  return new Uint8Array(KEY_BYTES).fill(0x80 + id)
}

/** What the founder of an open room says of rights. */
export const OPEN = { key: keyOf(1), hosts: false, ticket: '', fresh: false }

/** The link key of a process of the tests. */
export function linkOf(id: number): Uint8Array {
  return new Uint8Array(KEY_BYTES).fill(id)
}

/** Who takes down what passes, if anybody. */
export interface Ear {
  /** A stream says something, or hears it. */
  said(connection: number, message: ToHub): void
  heard(connection: number, message: FromHub): void
  closed(connection: number, why: string): void
  /** The disk has it. */
  kept(place: string): void
}

/** A hub and the streams to it. */
export class Desk {
  now = 0
  readonly disk: PlainDisk
  /** What the store answers to a change: by default what became of it. */
  store: (change: StoreChange) => StoreOutcome = (change) => this.disk.change(change)
  readonly heard = new Map<number, FromHub[]>()
  /** Tickets that are to be read. */
  readonly news: RoomChange[] = []
  readonly consulted: { connection: number; applicant: Applicant }[] = []
  readonly tickets: { connection: number; ticket: string }[] = []
  readonly closed = new Map<number, string>()
  readonly relayed: { to: number; from: number; bytes: Uint8Array }[] = []
  readonly knocked: { to: number; caller: number; bytes: Uint8Array }[] = []
  /** What was passed to other hubs; with null the end of that. */
  readonly passed: { connection: number; to: number; bytes: Uint8Array | null }[] = []
  hub: Hub
  /** Places whose records the disk has not taken yet. */
  readonly owed = new Set<string>()
  /** Whether the disk answers at once what the hub asks for: records, and segments. */
  isRead = true
  readonly loads: string[] = []
  readonly reads: { readonly read: number; readonly names: readonly string[] }[] = []
  /** Whether what is said is on disk before the next word; else `write` does it. */
  atOnce = true
  /** Whether members of sessions made from now on may recover them. */
  recovers = false
  ear: Ear | null = null
  #count = 0
  /** How each stream was closed. */
  readonly closings = new Map<number, Closing>()
  readonly out: HubOut = {
    send: (connection, bytes) => this.#hear(connection, bytes),
    relay: (to, from, bytes) => void this.relayed.push({ to, from, bytes: bytes.slice() }),
    knock: (to, caller, bytes) => void this.knocked.push({ to, caller, bytes: bytes.slice() }),
    sign: (message) => toyCurves.sign(SEED, message),
    roomChanged: (event) => void this.news.push(event),
    consult: (connection, applicant) => void this.consulted.push({ connection, applicant }),
    check: (connection, ticket) => void this.tickets.push({ connection, ticket }),
    record: (place) => void this.owed.add(place),
    pass: (connection, to, bytes) => void this.passed.push({ connection, to, bytes }),
    unpass: (connection) => void this.passed.push({ connection, to: 0, bytes: null }),
    load: (place) => void this.loads.push(place),
    read: (read, _place, names) => void this.reads.push({ read, names }),
    close: (connection, closing) => {
      const { why } = closing
      this.ear?.closed(connection, why)
      this.closings.set(connection, closing)
      this.closed.set(connection, why)
      calmly(() => hub.removeStream(this, connection))
    },
  }

  /**
   * @param limits  other than the defaults
   * @param own  its disk, which another hub may have too, and knows of if it is shared; its `boot`
   */
  constructor(limits: HubLimits = {}, { disk = new PlainDisk(), boot = 1, isShared = false } = {}) {
    this.disk = disk
    this.hub = hub.create(0, boot, HUB_KEY, null, budgetsOf(readLimits('limits', limits)))
    if (isShared) hub.startSharing(this.hub, 0)
  }

  /** A new stream that has said hello; without an address it has one of its own. */
  open(address?: string): number {
    const connection = this.dial(address)
    if (!this.closed.has(connection)) this.say(connection, { kind: 'hello', version: HUB_VERSION })
    return connection
  }

  /** A new stream that says nothing. */
  dial(address?: string): number {
    const connection = ++this.#count
    this.heard.set(connection, [])
    const own = `10.9.${connection >> 8}.${connection & 0xff}`
    calmly(() => hub.addStream(this, connection, address ?? own))
    return connection
  }

  say(connection: number, message: ToHub): FromHub[] {
    this.ear?.said(connection, message)
    return this.bytes(connection, frameMessage(encode(toHub, message)))
  }

  /** @returns what this stream heard in answer */
  bytes(connection: number, bytes: Uint8Array): FromHub[] {
    const before = this.heard.get(connection)!.length
    calmly(() => hub.receive(this, connection, bytes))
    if (this.atOnce) this.write()
    return this.heard.get(connection)!.slice(before)
  }

  close(connection: number): void {
    calmly(() => hub.removeStream(this, connection))
    if (this.atOnce) this.write()
  }

  pass(ms: number): void {
    for (const until = this.now + ms; this.now < until; this.now += 100) {
      this.wake()
    }
  }

  /** The hub does what is due. */
  wake(): void {
    calmly(() => hub.wake(this))
    if (this.atOnce) this.write()
  }

  /** Time passes, and the hub is woken when it asks to be. */
  go(ms: number): void {
    const until = this.now + ms
    let wakes = 0
    for (let due = hub.deadline(this.hub); due <= until; due = hub.deadline(this.hub)) {
      wakes = due <= this.now ? wakes + 1 : 0
      if (wakes > WAKES_MAX) expect.fail(`the hub asks to be woken again and again at ${due}`)
      this.now = Math.max(this.now, due)
      this.wake()
    }
    this.now = until
  }

  /** The disk takes what it is owed, or refuses all of it. */
  write(trouble: string | null = null): void {
    for (let passes = 1; ; passes++) {
      if (this.isRead) this.read()
      this.#failPassing()
      if (this.owed.size === 0) return
      if (passes > WRITES_MAX)
        expect.fail(`the hub writes ${[...this.owed].join()} again and again`)
      const places = [...this.owed]
      this.owed.clear()
      const changes = places.flatMap((one) => calmly(() => hub.beginWrite(this.hub, one)) ?? [])
      if (trouble !== null) {
        return changes.forEach(({ key }) => calmly(() => hub.failWrite(this, key, trouble)))
      }
      const made = changes.map((change) => [change, this.store(change)] as const)
      for (const [{ key }] of made) this.ear?.kept(key)
      for (const [change, outcome] of made) this.#settle(change, outcome)
      // As hub/src/server/hub-server.ts does, which waits before it tries again.
      if (made.some(([, outcome]) => outcome instanceof Error)) return
    }
  }

  /** The disk answers what the hub has asked for. */
  read(): void {
    for (const place of this.loads.splice(0)) {
      const found = this.disk.records.get(place) ?? null
      calmly(() => hub.receiveRecord(this, place, found))
    }
    for (const { read, names } of this.reads.splice(0)) {
      calmly(() => hub.receiveSegments(this, read, this.disk.read(names)))
    }
  }

  // As hub/src/server/hub-server.ts does.
  #settle(change: StoreChange, outcome: StoreOutcome): void {
    const { key } = change
    if (outcome instanceof Error) return calmly(() => hub.failWrite(this, key, outcome.message))
    if (outcome !== 'conflict' && outcome !== 'unknown') {
      return calmly(() => hub.confirmWrite(this, key, outcome.rev))
    }
    const found = this.disk.records.get(key) ?? null
    const again = calmly(() => hub.settleWrite(this, key, found))
    if (again) this.#settle(change, this.store(change))
    else if (this.hub.heartbeat?.isFenced) this.#startOver()
  }

  // As hub/src/server/hub-server.ts does.
  #startOver(): void {
    for (const connection of this.hub.connections.keys()) {
      this.out.close(connection, { kind: 'full', why: 'fenced' })
    }
    this.owed.clear()
    calmly(() => hub.startOver(this, this.hub.boot + 100))
  }

  // No other hub is reached.
  #failPassing(): void {
    for (const { connection, to } of this.passed.splice(0)) {
      if (to !== 0) calmly(() => hub.endPassed(this, connection))
    }
  }

  /** SIGKILL and a start from disk: all streams are gone. */
  restart(): void {
    const { limits } = this.hub.budgets
    const isShared = this.hub.heartbeat !== null
    this.owed.clear()
    this.reads.length = 0
    this.loads.length = 0
    this.hub = hub.create(this.now, this.hub.boot + 1, HUB_KEY, null, budgetsOf(limits))
    if (isShared) hub.startSharing(this.hub, this.now)
    for (const [place, found] of this.disk.records) {
      const isOurs = calmly(() => hub.restore(this.hub, this.now, place, found))
      if (!isOurs) expect.fail('the hub does not read what it wrote')
    }
    for (const place of hub.restored(this.hub)) this.owed.add(place)
    if (this.atOnce) this.write()
  }

  /** A session of process 1 with more members, attached. @returns its id and the streams */
  session(members: number, room = 'main', address?: string): { id: string; streams: number[] } {
    const streams = Array.from({ length: members }, () => this.open(address))
    const [added] = this.add(streams[0]!, room)
    const id = added?.kind === 'added' ? added.entry.session : ''
    this.attach(streams[0]!, id, 1)
    const list = streams.map((_, i) => listed(i + 1))
    this.say(streams[0]!, { kind: 'members', session: id, members: list, players: list.length })
    for (let i = 1; i < members; i++) this.attach(streams[i]!, id, i + 1)
    return { id, streams }
  }

  /** Asks for a session, which is made if there is none. */
  add(connection: number, room = 'main', id = 1): FromHub[] {
    const { hash, link, key } = listed(id)
    const wish = {
      ...{ game: 'g', room, playersMax: 4, recovers: this.recovers, terms: '', hash, link },
      ...{ ...OPEN, key },
    }
    return this.say(connection, { kind: 'add', request: 1, topology: 'star', ...wish })
  }

  /** A datagram of a stream that is no member to the primary of the session that it found. */
  knock(connection: number, datagram: Uint8Array): FromHub[] {
    return this.bytes(connection, frameKnock(0, datagram))
  }

  attach(connection: number, session: string, inc: number, id: number = inc): FromHub[] {
    return this.say(connection, { kind: 'attach', request: 2, session, inc, proof: proof(id) })
  }

  #hear(connection: number, bytes: Uint8Array): void {
    const frame = readFrame(bytes)
    const message = frame && decode(fromHub, frame.bytes)
    if (!message) return
    this.ear?.heard(connection, message)
    this.heard.get(connection)?.push(message)
  }
}
