/** Processes at a hub, by hand: each stream says what the test says, and keeps what it hears. */

import * as hub from '../../src/directory/hub.ts'
import type { Hub, HubOut } from '../../src/directory/hub.ts'
import {
  type FromHub,
  fromHub,
  HUB_VERSION,
  type Listed,
  type ToHub,
  toHub,
} from '../../src/directory/messages.ts'
import { recordOf, restore } from '../../src/directory/register.ts'
import { digest, proofOf } from '../../src/wire/digest.ts'
import { decode, encode } from '../../src/wire/layout.ts'
import { frameMessage, readFrame } from '../../src/wire/relay.ts'

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
  return { inc, player: inc, hash: digest(proof(id)) }
}

/** Who takes down what passes, if anybody. */
export interface Ear {
  /** A stream says something, or hears it. */
  said(connection: number, message: ToHub): void
  heard(connection: number, message: FromHub): void
  closed(connection: number, why: string): void
  /** The disk has it. */
  kept(session: string): void
}

/** A hub and the streams to it. */
export class Desk {
  now = 0
  readonly disk = new Map<string, Uint8Array>()
  readonly heard = new Map<number, FromHub[]>()
  readonly closed = new Map<number, string>()
  readonly relayed: { to: number; from: number; bytes: Uint8Array }[] = []
  hub: Hub = hub.create(0, 1)
  /** Sessions whose records the disk has not taken yet. */
  readonly owed = new Set<string>()
  /** Whether what is said is on disk before the next word; else `write` does it. */
  atOnce = true
  /** Whether members of sessions made from now on may recover them. */
  recovers = false
  ear: Ear | null = null
  #count = 0
  readonly #out: HubOut = {
    send: (connection, bytes) => this.#hear(connection, bytes),
    relay: (to, from, bytes) => void this.relayed.push({ to, from, bytes: bytes.slice() }),
    record: (session) => void this.owed.add(session),
    close: (connection, why) => {
      this.ear?.closed(connection, why)
      this.closed.set(connection, why)
    },
  }

  /** A new stream that has said hello. */
  open(): number {
    const connection = ++this.#count
    this.heard.set(connection, [])
    hub.opened(this.hub, this.now, connection)
    this.say(connection, { kind: 'hello', version: HUB_VERSION })
    return connection
  }

  say(connection: number, message: ToHub): FromHub[] {
    this.ear?.said(connection, message)
    return this.bytes(connection, frameMessage(encode(toHub, message)))
  }

  /** @returns what this stream heard in answer */
  bytes(connection: number, bytes: Uint8Array): FromHub[] {
    const before = this.heard.get(connection)!.length
    hub.receive(this.hub, this.now, connection, bytes, this.#out)
    if (this.atOnce) this.write()
    return this.heard.get(connection)!.slice(before)
  }

  close(connection: number): void {
    hub.closed(this.hub, this.now, connection, this.#out)
  }

  pass(ms: number): void {
    for (const until = this.now + ms; this.now < until; this.now += 100) {
      hub.wake(this.hub, this.now, this.#out)
      if (this.atOnce) this.write()
    }
  }

  /** The disk takes what it is owed, or refuses all of it. */
  write(trouble: string | null = null): void {
    while (this.owed.size > 0) {
      const sessions = [...this.owed]
      this.owed.clear()
      const records = sessions.map((one) => [one, recordOf(this.hub.directory, one)] as const)
      if (trouble !== null) return hub.unkept(this.hub, this.now, sessions, trouble, this.#out)
      for (const [session, bytes] of records) {
        if (bytes) this.disk.set(session, bytes)
        else this.disk.delete(session)
        this.ear?.kept(session)
      }
      hub.kept(this.hub, this.now, sessions, this.#out)
    }
  }

  /** SIGKILL and a start from disk: all streams are gone. */
  restart(): void {
    this.hub = hub.create(this.now, this.hub.boot + 1)
    for (const bytes of this.disk.values()) restore(this.hub.directory, this.now, bytes)
  }

  /** A session of process 1 with more members, attached. @returns its id and the streams */
  session(members: number, room = 'main'): { id: string; streams: number[] } {
    const streams = Array.from({ length: members }, () => this.open())
    const wish = {
      game: 'g',
      room,
      playersMax: 4,
      recovers: this.recovers,
      topology: 'star' as const,
      terms: '',
      hash: digest(proof(1)),
    }
    const [added] = this.say(streams[0]!, { kind: 'add', request: 1, ...wish })
    const id = added?.kind === 'added' ? added.entry.session : ''
    this.attach(streams[0]!, id, 1)
    const list = streams.map((_, i) => listed(i + 1))
    this.say(streams[0]!, { kind: 'members', session: id, members: list })
    for (let i = 1; i < members; i++) this.attach(streams[i]!, id, i + 1)
    return { id, streams }
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
