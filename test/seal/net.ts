/** Ends that seal, and a network between them that does what a test says. */

import { expect } from 'vitest'
import type { Ciphers, Curves } from '../../packages/holdfast/src/ports.ts'
import { BASE_POINT } from '../../packages/holdfast/src/ports.ts'
import type { Limits } from '../../packages/holdfast/src/seal/limits.ts'
import type { SealRules } from '../../packages/holdfast/src/seal/rules.ts'
import * as machine from '../../packages/holdfast/src/seal/seal.ts'
import type {
  Request,
  Seal,
  SealEvent,
  SealSink,
  Verdict,
} from '../../packages/holdfast/src/seal/state.ts'
import { toyCiphers, toyCurves } from '../../packages/sim/src/toy-ciphers.ts'
import { calmly } from '../calmly.ts'

/** A datagram on its way. */
export interface Datagram {
  from: string
  to: string
  bytes: Uint8Array
}

/** One end: what it was told, and where it is. */
export interface End {
  name: string
  seal: Seal
  address: string
  packets: string[]
  events: SealEvent[]
  requests: Request[]
  /** Its answer to who asks for a link. */
  admit: (request: Request) => Verdict
  curves: Curves
  waiting: { job: number; pairs: readonly (readonly [Uint8Array, Uint8Array])[] }[]
}

/** The network: time, ends by name, what is on its way, and what ever was. */
export interface Net {
  now: number
  ends: Map<string, End>
  flying: Datagram[]
  sent: Datagram[]
}

/** What an end may differ in. */
export interface Differs {
  ciphers?: Ciphers
  curves?: Curves
  session?: string
  limits?: Limits
  rules?: SealRules
}

/** An empty network. */
export function createNet(): Net {
  return { now: 1000, ends: new Map(), flying: [], sent: [] }
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** An end whose secret is drawn from its name. @param me  its incarnation */
export function addEnd(net: Net, name: string, me: number, differs: Differs = {}): End {
  const { ciphers = toyCiphers, curves = toyCurves, session = 's-1', limits, rules } = differs
  const secret = ciphers.hash(encoder.encode(`secret of ${name}`))
  const point = curves.agree(secret, BASE_POINT) as Uint8Array
  const seed = ciphers.hash(encoder.encode(`seed of ${name}`))
  const options = { ciphers, session, secret, point, seed, me, mv: 1, limits, rules }
  const end: End = {
    name,
    seal: machine.create(net.now, { ...options, out: sinkOf(net, () => end) }),
    address: `udp:${name}`,
    packets: [],
    events: [],
    requests: [],
    admit: () => null,
    curves,
    waiting: [],
  }
  net.ends.set(name, end)
  return end
}

/** The name of an end's key. */
export function keyOf(end: End): string {
  return machine.nameOf(end.seal.point)
}

/** Runs a verb of an end, with all that curves have to compute for it. */
export function run<Result>(net: Net, end: End, verb: () => Result): Result {
  const result = calmly(verb)
  for (;;) {
    const next = end.waiting.shift()
    if (!next) return result
    const shared = next.pairs.map(([secret, point]) => end.curves.agree(secret, point))
    const points = shared as (Uint8Array | null)[]
    calmly(() => machine.agreed(end.seal, net.now, next.job, points))
  }
}

function sinkOf(net: Net, own: () => End): SealSink {
  return {
    datagram: (to, bytes) => {
      const datagram = { from: own().address, to, bytes: new Uint8Array(bytes) }
      net.flying.push(datagram)
      net.sent.push(datagram)
    },
    agree: (job, pairs) => own().waiting.push({ job, pairs }),
    admit: (request) => {
      own().requests.push(request)
      return own().admit(request)
    },
    event: (event) => {
      own().events.push(event)
      // Packets go where the peer has answered last.
      if (event.kind === 'answered') machine.route(own().seal, event.peer, event.address)
    },
  }
}

/** One end asks the other for a link. */
export function ask(net: Net, end: End, other: End, join: Uint8Array | null = null): void {
  const asked = { peer: keyOf(other), to: other.seal.me, addresses: [other.address], join }
  run(net, end, () => machine.ask(end.seal, net.now, asked))
}

/** One end seals a text for the other. */
export function say(net: Net, end: End, other: End, text: string): boolean {
  const bytes = encoder.encode(text)
  return run(net, end, () => machine.send(end.seal, net.now, keyOf(other), bytes))
}

/** A datagram comes to whoever is at its address. */
export function arrive(net: Net, { from, to, bytes }: Datagram): void {
  for (const end of net.ends.values()) {
    if (end.address !== to) continue
    run(net, end, () => {
      const packet = machine.receive(end.seal, net.now, from, bytes)
      if (packet) end.packets.push(decoder.decode(packet.bytes))
    })
  }
}

/** More than a few ends have to say to one another at once. */
const SETTLE_MAX = 5_000

/** All that is on its way comes, and what is sent for it. */
export function settle(net: Net): void {
  let left = SETTLE_MAX
  for (let next = net.flying.shift(); next; next = net.flying.shift()) {
    if (left-- === 0) expect.fail('datagrams never come to an end')
    arrive(net, next)
  }
}

/** What is due at an end is done. */
export function wake(net: Net, end: End): void {
  run(net, end, () => machine.wake(end.seal, net.now))
}

/** Time passes; what is due is done, and what is sent for it comes. */
export function pass(net: Net, ms: number): void {
  const until = net.now + ms
  let left = SETTLE_MAX
  for (;;) {
    const due = Math.min(...[...net.ends.values()].map(({ seal }) => machine.deadline(seal)))
    if (due > until) break
    if (left-- === 0) expect.fail(`what is due at ${due} stays due`)
    net.now = Math.max(net.now, due)
    for (const end of net.ends.values()) wake(net, end)
    settle(net)
  }
  net.now = until
}

/** Two ends with a link that the first asked for. */
export function linked(differs: Differs = {}): { net: Net; ada: End; bea: End } {
  const net = createNet()
  const ada = addEnd(net, 'ada', 1, differs)
  const bea = addEnd(net, 'bea', 2, differs)
  ask(net, ada, bea)
  settle(net)
  return { net, ada, bea }
}

/** The number of the link that an end has to another; 0 if none. */
export function linkOf(end: End, other: End): number {
  return end.seal.peers.get(keyOf(other))?.link?.number ?? 0
}
