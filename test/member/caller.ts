/**
 * A process that asks a primary to let it in, by hand: what it says in its handshake, and hears.
 */

import * as link from '../../packages/holdfast/src/link/link.ts'
import { createArrivals } from '../../packages/holdfast/src/link/link.ts'
import {
  fromHub,
  HUB_VERSION,
  type ToHub,
  toHub,
} from '../../packages/holdfast/src/hub-protocol/messages.ts'
import { JOIN_CHANNEL } from '../../packages/holdfast/src/member/state.ts'
import {
  BASE_POINT,
  type Ciphers,
  SIGNATURE_BYTES,
  type Stream,
} from '../../packages/holdfast/src/ports.ts'
import { HUB_URL } from '../../packages/sim/src/session-world.ts'
import { knocking } from '../../packages/holdfast/src/wire/relay.ts'
import * as machine from '../../packages/holdfast/src/seal/seal.ts'
import type { Seal, SealSink } from '../../packages/holdfast/src/seal/state.ts'
import {
  type Join,
  type Joined,
  joinedLayout,
} from '../../packages/holdfast/src/session/messages.ts'
import type { SimNode } from '../../packages/sim/src/world.ts'
import { toyCiphers, toyCurves } from '../../packages/sim/src/toy-ciphers.ts'
import { decode, encode } from '../../packages/holdfast/src/wire/layout.ts'
import { frameKnock, frameMessage, readFrame } from '../../packages/holdfast/src/wire/relay.ts'

const WISH = {
  ...{ playersMax: 0, recovers: false, terms: '', hash: new Uint8Array(16) },
  ...{ hosts: false, ticket: '', fresh: false },
}

/** See above. It looks for the session of a game in the room `main`. */
export class Caller {
  readonly answers: Joined[] = []
  /** The public key of its links. */
  point: Uint8Array
  /** What the hub lets it do, as a JOIN has it. */
  admitted: Pick<Join, 'rights' | 'admission'> = {
    rights: 0,
    admission: new Uint8Array(SIGNATURE_BYTES),
  }
  readonly #node: SimNode
  readonly #ciphers: Ciphers
  readonly #stream: Stream
  #secret: Uint8Array
  readonly #game: string
  #key: Uint8Array
  #primary: { inc: number; key: string } | null = null
  #seal: Seal | null = null
  #session = ''
  #link: link.Link | null = null
  readonly #jobs: [job: number, pairs: readonly (readonly [Uint8Array, Uint8Array])[]][] = []

  /** @param key  of the player as which it asks */
  constructor(node: SimNode, game: string, key: Uint8Array, ciphers: Ciphers = toyCiphers) {
    this.#key = key
    this.#node = node
    this.#game = game
    this.#ciphers = ciphers
    this.#secret = new Uint8Array(32).fill(node.loop.random(1)[0]!)
    this.point = toyCurves.agree(this.#secret, BASE_POINT)!
    this.#stream = node.connect(HUB_URL, {
      opened: () => this.say({ kind: 'hello', version: HUB_VERSION }),
      message: (bytes) => this.#hear(bytes),
      closed: () => {},
    })
  }

  close(): void {
    this.#stream.close()
  }

  /** It asks as somebody else from now on, on the same stream; as that player, if one is named. */
  becomes(byte: number, key: Uint8Array | null = null): void {
    this.#secret = new Uint8Array(32).fill(byte)
    this.point = toyCurves.agree(this.#secret, BASE_POINT)!
    this.#seal = this.#sealed(this.#session)
    if (!key) return
    this.#key = key
    this.#look()
  }

  #look(): void {
    const wish = { ...WISH, game: this.#game, room: 'main', link: this.point, key: this.#key }
    this.say({ kind: 'add', request: 1, topology: 'star', ...wish })
  }

  /** Whether it knows who serves. */
  get knows(): boolean {
    return this.#primary !== null
  }

  /** What it heard of answers, in a word each. */
  words(): string[] {
    return this.answers.map((one) => (one.kind === 'denied' ? one.code : one.kind))
  }

  /** Asks by a handshake of its own, in which that JOIN stands. */
  ask(join: Uint8Array): void {
    const { inc, key } = this.#primary!
    this.#link = null
    machine.hangUp(this.#seal!, key)
    const asked = { peer: key, to: inc, addresses: [knocking(0)], join }
    this.#do(() => machine.ask(this.#seal!, this.#now, asked))
  }

  get #now(): number {
    return this.#node.loop.now()
  }

  say(message: ToHub): void {
    this.#stream.send(frameMessage(encode(toHub, message)))
  }

  #hear(bytes: Uint8Array): void {
    const frame = readFrame(bytes)
    if (frame?.kind === 'knock') return this.#datagram(frame.bytes)
    const message = frame?.kind === 'message' ? decode(fromHub, frame.bytes) : null
    if (message?.kind === 'welcome') this.#look()
    if (message?.kind !== 'added') return
    const { session, register } = message.entry
    const { rights, signature } = message.admission
    this.admitted = { rights, admission: signature }
    this.#primary = { inc: register.primary, key: machine.nameOf(message.leader!.link) }
    this.#session = session
    this.#seal = this.#sealed(session)
  }

  #sealed(session: string): Seal {
    const keys = { secret: this.#secret, point: this.point, seed: this.#secret }
    const out: SealSink = {
      datagram: (_to, bytes) => void this.#stream.send(frameKnock(0, bytes)),
      agree: (job, pairs) => void this.#jobs.push([job, pairs]),
      admit: () => 'notMember',
      event: ({ kind }) => {
        if (kind === 'up') this.#link = link.create(this.#now, { keepaliveMs: 10_000 })
      },
    }
    return machine.create(this.#now, { out, ciphers: this.#ciphers, session, ...keys })
  }

  #datagram(bytes: Uint8Array): void {
    this.#do(() => {
      const packet = machine.receive(this.#seal!, this.#now, knocking(0), bytes)
      if (!packet || !this.#link) return
      const arrivals = createArrivals()
      link.receive(this.#link, this.#now, packet.bytes, arrivals)
      for (const one of arrivals.list.slice(0, arrivals.count)) {
        if (one.what !== 'message' || one.bytes[0] !== JOIN_CHANNEL) continue
        this.answers.push(decode(joinedLayout, one.bytes.subarray(1))!)
      }
      link.answer(this.#link, this.#now, this.#linkSink())
    })
  }

  #linkSink(): link.LinkSink {
    const { key } = this.#primary!
    return {
      packet: (bytes) => void machine.send(this.#seal!, this.#now, key, bytes),
      write: () => link.NOTHING_WAITS,
      lost: () => {},
    }
  }

  #do(verb: () => void): void {
    verb()
    for (let next = this.#jobs.shift(); next; next = this.#jobs.shift()) {
      const shared = next[1].map(([secret, point]) => toyCurves.agree(secret, point))
      machine.agreed(this.#seal!, this.#now, next[0], shared)
    }
  }
}
