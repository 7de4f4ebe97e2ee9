/**
 * Two ends with a link, and the paths between them, in virtual time: paths come, go, work one way,
 * and each takes its own time. The ends are wired as members wire them; a planted bug wires them
 * wrongly. A challenge and its answer stand for those of the seal.
 */

import * as link from '../../packages/holdfast/src/link/link.ts'
import type { Link, LinkSink } from '../../packages/holdfast/src/link/link.ts'
import type { Millis } from '../../packages/holdfast/src/machine.ts'
import * as machine from '../../packages/holdfast/src/paths/paths.ts'
import type { Paths, PathsSink } from '../../packages/holdfast/src/paths/paths.ts'
import { calmly } from '../calmly.ts'

export type Bug =
  /** A packet by any path counts as a sign of life of the one in use. */
  | 'late-packet-counts'
  /** A silent path is left before another one has answered. */
  | 'breaks-first'
  /** A packet proves the path by which it came. */
  | 'foreign-candidate'
  /** One round trip and one order for all paths. */
  | 'shared-figures'

export type Side = 0 | 1

/** One path: what it does to each direction, by the side that sends. */
interface Way {
  up: [boolean, boolean]
  /** One way, in ms. */
  delay: Millis
}

type Datagram = { kind: 'packet' | 'challenge' | 'answer'; bytes: Uint8Array }

interface Flight {
  at: Millis
  to: Side
  by: string
  datagram: Datagram
}

/** The clock of the second end is ahead by this. */
export const SKEW: Millis = 5_000
/** By this address somebody on the way sends on what the other end said. */
export const STRANGER = 'udp:stranger'

export class End {
  readonly paths: Paths = machine.create()
  readonly link: Link
  readonly side: Side
  /** When each message of the other end came; their numbers come in order. */
  readonly got: Millis[] = []
  /** When each of ours was sent. */
  readonly said: Millis[] = []
  /** Addresses that the seal knows as proven, and those that answered a challenge of ours. */
  readonly proven = new Set<string>()
  readonly answered = new Set<string>()
  disorder = ''
  /** By which packets leave. */
  way = ''
  readonly #net: Net

  constructor(net: Net, side: Side) {
    this.#net = net
    this.side = side
    this.link = link.create(this.now)
  }

  get now(): Millis {
    return this.#net.now + this.side * SKEW
  }

  readonly sink: LinkSink = {
    packet: (bytes) => this.send(this.way, 'packet', bytes),
    write: () => link.NOTHING_WAITS,
    lost: () => {},
  }

  readonly out: PathsSink = {
    probe: (address) => this.send(address, 'challenge'),
    use: (path) => {
      if (!this.proven.has(path.address) && path.kind !== 'relay') return false
      this.go(path)
      calmly(() => link.probe(this.link, this.now, this.sink))
      return true
    },
    beat: (path) => {
      const { chosen } = this.paths
      this.go(path)
      calmly(() => link.probe(this.link, this.now, this.sink))
      this.go(chosen!)
    },
  }

  go({ id, address, rtt }: machine.Candidate): void {
    this.way = address
    if (this.#net.bug !== 'shared-figures') link.use(this.link, this.now, id, rtt)
  }

  /** The link is up, by that path. */
  begin(by: string, offered: readonly string[]): void {
    for (const address of offered) machine.offer(this.paths, this.now, address)
    machine.begin(this.paths, this.now, by)
    this.proven.add(by)
    this.answered.add(by)
    this.go(this.paths.chosen!)
  }

  send(by: string, kind: Datagram['kind'], bytes: Uint8Array = new Uint8Array(0)): void {
    this.#net.fly(this.side, by, { kind, bytes: new Uint8Array(bytes) })
  }

  /** Says a numbered message. */
  say(): void {
    const number = this.said.push(this.now)
    calmly(() => link.send(this.link, this.now, Uint8Array.of(number & 255, number >> 8)))
    calmly(() => link.flush(this.link, this.now, this.sink))
  }

  hear(by: string, { kind, bytes }: Datagram): void {
    const { paths, now } = this
    if (kind === 'challenge') return this.send(by, 'answer')
    if (kind === 'answer') {
      this.proven.add(by)
      this.answered.add(by)
      return machine.answered(paths, now, by)
    }
    if (this.#net.bug === 'foreign-candidate') {
      this.proven.add(by)
      machine.answered(paths, now, by)
    }
    const id = machine.find(paths, by)?.id ?? -1
    const path = this.#net.bug === 'shared-figures' ? this.link.using : id
    const isTaken = calmly(() => link.receive(this.link, now, bytes, arrivals, path))
    for (const { what, bytes: message } of arrivals.list.slice(0, arrivals.count)) {
      if (what === 'message') this.#take(message[0]! + message[1]! * 256)
    }
    if (!isTaken) return
    calmly(() => link.answer(this.link, now, this.sink))
    const counts = this.#net.bug === 'late-packet-counts' ? paths.chosen!.address : by
    machine.heard(paths, now, counts)
  }

  #take(number: number): void {
    this.got.push(this.now)
    if (number !== this.got.length) this.disorder ||= `${number} at place ${this.got.length}`
  }

  wake(): void {
    const { paths, now } = this
    if (paths.dueAt <= now) machine.wake(paths, now, this.out)
    this.#breakFirst()
    if (link.deadline(this.link) <= now) calmly(() => link.wake(this.link, now, this.sink))
  }

  #breakFirst(): void {
    const { paths, now } = this
    if (this.#net.bug !== 'breaks-first' || paths.chosen!.kind === 'relay') return
    const { lastReceived, lastAnswered } = paths.chosen!
    if (now - Math.max(lastReceived, lastAnswered) < paths.limit / 4) return
    const others = paths.candidates.filter((one) => one !== paths.chosen)
    const [next] = [...others.filter(({ kind }) => kind !== 'relay'), ...others]
    paths.chosen = next!
    this.go(next!)
  }

  get dueAt(): Millis {
    return Math.min(this.paths.dueAt, link.deadline(this.link)) - this.side * SKEW
  }
}

const arrivals = link.createArrivals()
const STEPS_MAX = 500_000

export class Net {
  now: Millis = 0
  readonly bug: Bug | null
  readonly ways = new Map<string, Way>()
  readonly ends: readonly [End, End]
  /** Packets that left by a path that was not proven. */
  unproven = 0
  #flights: Flight[] = []

  constructor(delays: Readonly<Record<string, Millis>>, bug: Bug | null = null) {
    this.bug = bug
    for (const [by, delay] of Object.entries(delays)) this.ways.set(by, { up: [true, true], delay })
    this.ends = [new End(this, 0), new End(this, 1)]
  }

  /** Both ends have a link by that path, and know of all others. */
  begin(by: string): void {
    for (const end of this.ends) end.begin(by, [...this.ways.keys()])
  }

  fly(from: Side, by: string, datagram: Datagram): void {
    const end = this.ends[from]
    const isSure = by.startsWith('relay:') || end.answered.has(by)
    if (datagram.kind === 'packet' && !isSure) this.unproven++
    const way = this.ways.get(by)
    const to = from === 0 ? 1 : 0
    if (way?.up[from]) this.#flights.push({ at: this.now + way.delay, to, by, datagram })
  }

  /** The next packet to that end comes from the stranger's address instead. */
  deceive(to: Side): void {
    const flight = this.#flights.find((one) => one.to === to && one.datagram.kind === 'packet')
    if (flight) flight.by = STRANGER
  }

  run(until: Millis): void {
    for (let steps = 0; ; steps++) {
      if (steps > STEPS_MAX) throw new Error(`two ends never come to ${until}`)
      const next = this.#flights.reduce<Flight | null>(
        (best, one) => (best === null || one.at < best.at ? one : best),
        null,
      )
      const due = Math.min(...this.ends.map(({ dueAt }) => dueAt), next?.at ?? Infinity)
      if (due > until) break
      this.now = Math.max(this.now, due)
      if (next && next.at <= this.now) {
        this.#flights.splice(this.#flights.indexOf(next), 1)
        this.ends[next.to].hear(next.by, next.datagram)
      }
      for (const end of this.ends) end.wake()
    }
    this.now = until
  }
}
