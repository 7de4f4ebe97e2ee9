/**
 * Members 2 and 3 of a mesh in which 1 serves, who is silent, on ways of 10 ms: direct ones and one
 * by the hub. A line for each message of a handshake, and for each packet that goes another way
 * than the one before.
 */

import { handshakeLayout } from '../../src/link/handshake.ts'
import type { Millis, PeerId } from '../../src/machine.ts'
import * as links from '../../src/member/links.ts'
import * as member from '../../src/member/member.ts'
import { digest, proofOf } from '../../src/wire/digest.ts'
import { encode } from '../../src/wire/layout.ts'
import { readDatagram } from '../standard/reader.ts'
import type { Read } from '../standard/values.ts'
import { Script, standardOf } from '../transcript.ts'
import { Hand } from './hand.ts'

const STEP_MS: Millis = 10
const STANDARD = standardOf()

/** A way between the two. */
export type Way = 'sim' | 'relay'

/** See above. */
export class Stage {
  readonly script = new Script({ untold: ['version', 'session', 'proof', 'nonce', 'connection'] })
  readonly hands = new Map<PeerId, Hand>()
  now: Millis = 0
  readonly #cut = new Set<string>()
  readonly #ways = new Map<PeerId, string>()
  readonly #flights: { at: Millis; from: PeerId; to: PeerId; way: string; bytes: Uint8Array }[] = []
  // Nonces and links are drawn, so they are told by the order in which they come.
  readonly #nonces: number[] = []
  #lose = 0

  constructor() {
    for (const inc of [2, 3]) this.hands.set(inc, new Hand(inc, 3, 'mesh'))
    for (const { run } of this.hands.values()) {
      for (const one of run.member.session.client.view.members) {
        const secret = this.hands.get(one.inc)?.run.member.session.secret
        if (secret) one.linkHash = digest(proofOf(secret, 'link'))
      }
    }
  }

  /** A way leads nowhere any more, or somewhere again. */
  cut(way: Way, isCut: boolean): void {
    if (isCut) this.#cut.add(way)
    else this.#cut.delete(way)
  }

  /** The next datagrams between them are lost. */
  lose(count: number): void {
    this.#lose = count
  }

  /** One of them does not know of its link any more, and asks anew where it wants one. */
  forgets(inc: PeerId, other: PeerId): void {
    const { run } = this.hands.get(inc)!
    const peer = run.member.peers.get(other)
    if (peer) links.forget(run, peer)
    this.#tell(inc, `forgets its link with ${other}`)
    links.tend(run)
  }

  /** Member 2 is greeted in the name of 3, on the direct way. */
  greets(wrong: { version?: number; proof?: Uint8Array; inc?: PeerId; to?: PeerId }): void {
    const hello = { version: 1, session: 's', inc: 3, to: 2, mv: 3, nonce: 7 }
    const proof = new Uint8Array(16)
    const bytes = encode(handshakeLayout, { kind: 'hello', ...hello, proof, ...wrong })
    this.#fly(3, 'sim:2', Uint8Array.of(0, 0, 0, 0, ...bytes))
  }

  pass(ms: Millis): void {
    for (const until = this.now + ms; this.now < until;) {
      this.now += STEP_MS
      const due = this.#flights.filter(({ at }) => at <= this.now)
      this.#flights.splice(0, due.length)
      for (const { from, to, way, bytes } of due) {
        const { run } = this.hands.get(to)!
        this.#noticing(to, () => member.datagram(run, this.now, `${way}:${from}`, bytes))
      }
      for (const [inc, { run }] of this.hands) {
        this.#noticing(inc, () => member.wake(run, this.now))
        this.#send(inc)
      }
    }
  }

  // What becomes of the links of one while it does something.
  #noticing(inc: PeerId, verb: () => void): void {
    const { member: own } = this.hands.get(inc)!.run
    const stands = (): string => {
      const peer = own.peers.get(5 - inc)
      return peer?.link ? `has a link with ${peer.inc}, by ${peer.path}` : 'has no link'
    }
    const link = own.peers.get(5 - inc)?.link
    const before = stands()
    verb()
    this.#send(inc)
    const isNew = own.peers.get(5 - inc)?.link !== link
    if (stands() !== before || isNew) this.#tell(inc, stands())
  }

  #send(inc: PeerId): void {
    for (const { to, bytes } of this.hands.get(inc)!.sent.splice(0)) this.#fly(inc, to, bytes)
  }

  #fly(from: PeerId, address: string, bytes: Uint8Array): void {
    const [way, to] = address.split(':') as [Way, string]
    if (!this.hands.has(Number(to))) return
    const isLost = this.#lose > 0 || this.#cut.has(way)
    if (this.#lose > 0) this.#lose--
    const read = readDatagram(STANDARD, bytes)
    const isTold = read['kind'] === 'handshake' || this.#ways.get(from) !== address
    if (read['kind'] !== 'handshake') this.#ways.set(from, address)
    const said = read['kind'] === 'handshake' ? this.#greeting(read['message'] as Read) : 'packets'
    if (isTold) this.#tell(from, `-> ${address}  ${said}${isLost ? '   LOST' : ''}`)
    if (isLost) return
    this.#flights.push({ at: this.now + STEP_MS, from, to: Number(to), way, bytes: bytes.slice() })
  }

  #greeting(message: Read): string {
    const nonce = message['nonce'] as number
    if (!this.#nonces.includes(nonce)) this.#nonces.push(nonce)
    return `${this.script.brief(message)} nonce=n${this.#nonces.indexOf(nonce) + 1}`
  }

  #tell(inc: PeerId, what: string): void {
    this.script.tell(this.now, `${inc}`, what)
  }
}
