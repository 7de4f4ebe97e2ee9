/**
 * Members 2 and 3 of a mesh in which 1 serves, who is silent, on ways of 10 ms: direct ones and one
 * by the hub. A line for each message of a handshake, and for each packet that goes another way
 * than the one before.
 */

import type { Millis, PeerId } from '../../packages/holdfast/src/machine.ts'
import * as links from '../../packages/holdfast/src/member/links.ts'
import * as peers from '../../packages/holdfast/src/member/peers.ts'
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
  readonly script = new Script({ untold: ['counter', 'join', 'pad', 'number'] })
  readonly hands = new Map<PeerId, Hand>()
  now: Millis = 0
  readonly #cut = new Set<string>()
  readonly #ways = new Map<PeerId, string>()
  readonly #flights: { at: Millis; from: PeerId; to: PeerId; way: string; bytes: Uint8Array }[] = []
  // Links are drawn, so they are told by the order in which they come.
  readonly #links: number[] = []
  #lose = 0

  constructor() {
    for (const inc of [2, 3]) this.hands.set(inc, new Hand(inc, 3, 'mesh'))
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
    if (peer) peers.forget(run, peer)
    this.#tell(inc, `forgets its link with ${other}`)
    links.reconcile(run)
  }

  pass(ms: Millis): void {
    for (const until = this.now + ms; this.now < until;) {
      this.now += STEP_MS
      const due = this.#flights.filter(({ at }) => at <= this.now)
      this.#flights.splice(0, due.length)
      for (const { from, to, way, bytes } of due) {
        this.#noticing(to, () => this.hands.get(to)!.comes(`${way}:${from}`, bytes))
      }
      for (const [inc, hand] of this.hands) {
        this.#noticing(inc, () => hand.wake(this.now))
        this.#send(inc)
      }
    }
  }

  // What becomes of the links of one while it does something.
  #noticing(inc: PeerId, verb: () => void): void {
    const { member: own } = this.hands.get(inc)!.run
    const stands = (): string => {
      const peer = own.peers.get(5 - inc)
      return peer?.link ? `has a link with ${peer.inc}, by ${peers.pathOf(peer)}` : 'has no link'
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
    const isPacket = read['kind'] === 'packet'
    const isTold = !isPacket || this.#ways.get(from) !== address
    if (isPacket) this.#ways.set(from, address)
    const said = isPacket ? 'packets' : this.#greeting(read)
    if (isTold) this.#tell(from, `-> ${address}  ${said}${isLost ? '   LOST' : ''}`)
    if (isLost) return
    this.#flights.push({ at: this.now + STEP_MS, from, to: Number(to), way, bytes: bytes.slice() })
  }

  #greeting({ kind, said }: Read): string {
    const { link, ...message } = said as Read
    if (kind !== 'first') return this.script.brief(message as Read)
    if (!this.#links.includes(link as number)) this.#links.push(link as number)
    const number = this.#links.indexOf(link as number) + 1
    return `message 1 ${this.script.brief(message as Read)} link=l${number}`
  }

  #tell(inc: PeerId, what: string): void {
    this.script.tell(this.now, `${inc}`, what)
  }
}
