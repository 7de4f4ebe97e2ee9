/**
 * A link of ours over a driver of the product, sealed as in the product: a datagram is opened, its
 * arrivals are handled and what waits leaves, as a member does it; acks and timers by one alarm.
 */

import { createNodeLoop } from '../../packages/holdfast/src/drivers/net/loop-node.ts'
import * as link from '../../packages/holdfast/src/link/link.ts'
import type { LinkSink } from '../../packages/holdfast/src/link/link.ts'
import { BASE_POINT, type Crypto, KEY_BYTES } from '../../packages/holdfast/src/ports.ts'
import * as seal from '../../packages/holdfast/src/seal/seal.ts'
import { writeRaw } from '../../packages/holdfast/src/wire/bytes.ts'
import type { Came, Line, Talk } from './line.ts'

const FRAMES = 4
const loop = createNodeLoop()

/** A link sends through it. */
export interface Carrier {
  /** The address of the peer; null at the end that is asked. */
  readonly peer: string | null
  send(to: string, bytes: Uint8Array): void
}

/** Takes a datagram. */
type Datagram = (from: string, bytes: Uint8Array) => void

/** Opens one between the two ends. */
export type Open = (datagram: Datagram) => Promise<Carrier>

/** The incarnations of both, by which the relay and channels name them. */
export interface Incs {
  me: number
  other: number
}

/** One end of a link. */
export class Linked implements Line {
  readonly #came: Came
  readonly #link = link.create(loop.now())
  readonly #arrivals = link.createArrivals()
  readonly #alarm = loop.alarm(() => this.#wake())
  readonly #sink: LinkSink
  readonly #waiting: Uint8Array[] = []
  #flooding: Uint8Array | null = null

  constructor(came: Came, packet: (bytes: Uint8Array) => void) {
    this.#came = came
    this.#sink = {
      packet,
      write: (_sequence, writer, budget) => {
        const bytes = this.#waiting[0] ?? this.#flooding
        if (!bytes) return link.NOTHING_WAITS
        // A message that does not fit beside another has a packet of its own.
        if (budget < bytes.length) return -1
        this.#waiting.shift()
        writeRaw(writer, bytes)
        return FRAMES
      },
      lost: () => {},
    }
  }

  send(bytes: Uint8Array): void {
    this.#waiting.push(bytes.slice())
    link.scheduleWrite(this.#link, loop.now())
    this.#turn()
  }

  flood(bytes: Uint8Array | null): void {
    this.#flooding = bytes
    if (bytes) link.scheduleWrite(this.#link, loop.now())
    this.#turn()
  }

  /** Takes a packet of the peer. */
  take(bytes: Uint8Array): void {
    const isTaken = link.receive(this.#link, loop.now(), bytes, this.#arrivals)
    const { list, count } = this.#arrivals
    for (let at = 0; at < count; at++) {
      if (list[at]!.what === 'frame') this.#came(list[at]!.bytes)
    }
    if (isTaken) link.answer(this.#link, loop.now(), this.#sink)
    this.#turn()
  }

  #turn(): void {
    link.flush(this.#link, loop.now(), this.#sink)
    this.#alarm.set(link.deadline(this.#link))
  }

  #wake(): void {
    link.wake(this.#link, loop.now(), this.#sink)
    this.#turn()
  }
}

/** A link on the bare driver. */
export async function unsealed(open: Open, came: Came): Promise<Line> {
  let carrier: Carrier | null = null
  let from = ''
  const line = new Linked(came, (bytes) => carrier?.send(carrier.peer ?? from, bytes))
  carrier = await open((source, bytes) => {
    from = source
    line.take(bytes)
  })
  return line
}

/** A sealed link, once the handshake is done: `a` asks for it, and must know the key of `b`. */
export async function sealed(
  open: Open,
  talk: Talk,
  { crypto, me, other }: Incs & { crypto: Crypto },
  came: Came,
): Promise<Line> {
  const { ciphers, curves } = crypto
  const secret = loop.random(KEY_BYTES)
  const point = (await curves.agree(secret, BASE_POINT))!
  if (talk.side === 'b') talk.tell(seal.nameOf(point))
  const peer = talk.side === 'a' ? String(await talk.hear()) : ''
  let carrier: Carrier | null = null
  let line: Linked | null = null
  const waking = loop.alarm(() => {
    seal.wake(own, loop.now())
    plan()
  })
  const plan = (): void => waking.set(seal.deadline(own))
  let up = (_line: Line): void => {}
  let failed = (_error: Error): void => {}
  const isUp = new Promise<Line>((resolve, reject) => ([up, failed] = [resolve, reject]))
  const own = seal.create(loop.now(), {
    ...{ ciphers, session: 'bench', secret, point, seed: loop.random(KEY_BYTES), me },
    out: {
      datagram: (to, bytes) => carrier?.send(to, bytes),
      agree: (job, pairs) => {
        const shared = pairs.map(async ([one, that]) => await curves.agree(one, that))
        void Promise.all(shared).then((points) => {
          seal.agreed(own, loop.now(), job, points)
          plan()
        })
      },
      admit: () => null,
      event: (event) => {
        if (event.kind === 'failed') failed(new Error('the handshake failed'))
        if (event.kind !== 'up') return
        line = new Linked(came, (bytes) => seal.send(own, loop.now(), event.peer, bytes))
        up(line)
      },
    },
  })
  carrier = await open((from, bytes) => {
    const packet = seal.receive(own, loop.now(), from, bytes)
    if (packet) line?.take(packet.bytes)
    plan()
  })
  if (carrier.peer !== null) {
    seal.ask(own, loop.now(), { peer, to: other, addresses: [carrier.peer] })
    plan()
  }
  return isUp
}
