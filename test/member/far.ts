/** The other end of a member's links, by hand: what it answers, and what it says and hears. */

import * as link from '../../packages/holdfast/src/link/link.ts'
import type { PeerId } from '../../packages/holdfast/src/machine.ts'
import { BASE_POINT } from '../../packages/holdfast/src/ports.ts'
import * as machine from '../../packages/holdfast/src/seal/seal.ts'
import type { Seal, SealSink, Verdict } from '../../packages/holdfast/src/seal/state.ts'
import { toyCurves } from '../../packages/sim/src/toy-ciphers.ts'
import { openCiphers } from '../open-ciphers.ts'

/** The public key of a secret. */
export function pointOf(secret: Uint8Array): Uint8Array {
  return toyCurves.agree(secret, BASE_POINT)!
}

/** One other member. */
export class Far {
  readonly seal: Seal
  /** What it sends. */
  readonly sent: Uint8Array[] = []
  /** The texts of packets that it got. */
  readonly heard: Uint8Array[] = []
  /** Its answer to who asks for a link. */
  verdict: Verdict = null
  readonly #jobs: [job: number, pairs: readonly (readonly [Uint8Array, Uint8Array])[]][] = []

  constructor(inc: PeerId, session: string, secret: Uint8Array) {
    const seed = new Uint8Array(32).fill(inc)
    const point = pointOf(secret)
    const out: SealSink = {
      datagram: (_to, bytes) => void this.sent.push(bytes.slice()),
      agree: (job, pairs) => void this.#jobs.push([job, pairs]),
      admit: () => this.verdict,
      event: () => {},
    }
    const options = { out, ciphers: openCiphers, session, secret, point, seed, me: inc }
    this.seal = machine.create(0, options)
  }

  hears(now: number, bytes: Uint8Array): void {
    this.#do(now, () => {
      const packet = machine.receive(this.seal, now, 'there', bytes)
      if (packet) this.heard.push(packet.bytes.slice())
    })
  }

  /** Seals a packet for whoever has that key. */
  says(now: number, key: string, text: Uint8Array): void {
    this.#do(now, () => void machine.send(this.seal, now, key, text))
  }

  /** Says messages, in one packet, on a link that begins with them. */
  begins(now: number, key: string, ...messages: Uint8Array[]): void {
    const open = link.create(now, { keepaliveMs: 10_000 })
    for (const message of messages) link.send(open, now, message)
    link.flush(open, now, {
      packet: (bytes) => this.says(now, key, bytes),
      write: () => link.NOTHING_WAITS,
      lost: () => {},
    })
  }

  #do(now: number, verb: () => void): void {
    verb()
    for (let next = this.#jobs.shift(); next; next = this.#jobs.shift()) {
      const shared = next[1].map(([secret, point]) => toyCurves.agree(secret, point))
      machine.agreed(this.seal, now, next[0], shared)
    }
  }
}
