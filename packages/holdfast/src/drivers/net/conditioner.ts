/**
 * Network conditions over any carrier of datagrams, in real or virtual time. `faults/` decides for
 * outgoing and, if requested, incoming datagrams as it does for the simulated network.
 *
 *     const weather = new Conditioner(loop, parse('rtt=120,loss=5%,jitter=30'))
 *     const open = weather.condition(openUdp)
 *     weather.change(parse('rtt=40'))           // a slider: applies to later datagrams
 *
 * `rtt` is added to the carrier's own delay, half each way: if only one end is conditioned, both
 * its sending and its receiving are, so that the whole trip counts.
 */

import * as faults from '../../faults/conditions.ts'
import * as prng from '../../faults/prng.ts'
import type { Millis } from '../../machine.ts'
import {
  type Alarm,
  DATAGRAM_MAX,
  type DatagramEvents,
  type Datagrams,
  type Loop,
  type OpenDatagrams,
} from '../../ports.ts'

/** Most datagrams that one carrier's conditioner holds back; more are dropped and counted. */
export const CONDITIONER_QUEUE_MAX = 8192

export type Direction = 'both' | 'out' | 'in'

/** Conditions that may change while carriers run under them. */
export class Conditioner {
  /** Counts of datagrams, both ways, since the conditioner was created. */
  readonly counters = {
    passed: 0,
    lost: 0,
    duplicated: 0,
    /** Dropped because CONDITIONER_QUEUE_MAX waited. */
    overflowed: 0,
    /** Dropped because `send` got more than DATAGRAM_MAX bytes. */
    oversize: 0,
  }
  readonly loop: Loop
  readonly #seed: number | string | null
  #chance: prng.Prng | null = null
  #conditions: faults.Conditions
  quiet: boolean

  /** @param seed  drawn from the loop by default @throws HoldfastError 'bad-value' */
  constructor(
    loop: Loop,
    conditions: Partial<faults.Conditions>,
    seed: number | string | null = null,
  ) {
    this.loop = loop
    this.#seed = seed
    this.#conditions = faults.verify(conditions)
    this.quiet = faults.isPerfect(this.#conditions)
  }

  current(): Readonly<faults.Conditions> {
    return this.#conditions
  }

  /** Applies to datagrams from now on. @throws HoldfastError 'bad-value' */
  change(conditions: Partial<faults.Conditions>): void {
    this.#conditions = faults.verify(conditions)
    this.quiet = faults.isPerfect(this.#conditions)
  }

  /** @param direction  'both' unless the other end is conditioned as well */
  condition(open: OpenDatagrams, direction: Direction = 'both'): OpenDatagrams {
    return async (events) => {
      const carrier = new Conditioned(this, events, direction)
      carrier.carrier = await open(carrier.under)
      return carrier
    }
  }

  /** The delays of the copies of one datagram. */
  decide(path: faults.Path): Millis[] {
    // Created late: perfect conditions draw no random numbers.
    this.#chance ??= prng.create(this.#seed ?? this.loop.random(8).join())
    const { copies } = faults.fate(this.#conditions, this.#chance, path)
    if (copies.length === 0) this.counters.lost += 1
    if (copies.length > 1) this.counters.duplicated += 1
    return copies
  }
}

class Conditioned implements Datagrams {
  /** Receives the events of the underlying carrier. */
  readonly under: DatagramEvents
  readonly #weather: Conditioner
  readonly #out: faults.Path | null
  readonly #queue: Queue
  /** Set late, because opening it takes our events. */
  carrier: Datagrams | null = null
  #closed = false

  constructor(weather: Conditioner, events: DatagramEvents, direction: Direction) {
    this.#weather = weather
    this.#queue = new Queue(weather)
    this.#out = direction === 'in' ? null : faults.createPath()
    const into = direction === 'out' ? null : faults.createPath()
    this.under = {
      datagram: (from, bytes) => {
        if (this.#closed) return
        if (this.#passes(into)) return events.datagram(from, bytes)
        this.#hold(into!, bytes, (copy) => this.#closed || events.datagram(from, copy))
      },
      refused: (address) => this.#closed || events.refused(address),
    }
  }

  get addresses(): readonly string[] {
    return this.carrier?.addresses ?? []
  }

  reaches(address: string): boolean {
    return this.carrier?.reaches(address) ?? false
  }

  send(to: string, bytes: Uint8Array): void {
    if (this.#closed) return
    // Holding it back would cost memory, only for the carrier to refuse it.
    if (bytes.length > DATAGRAM_MAX) this.#weather.counters.oversize += 1
    else if (this.#passes(this.#out)) this.carrier?.send(to, bytes)
    else this.#hold(this.#out!, bytes, (copy) => this.carrier?.send(to, copy))
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#queue.clear()
    this.carrier?.close()
  }

  // Under perfect conditions a datagram is neither copied nor inspected.
  #passes(path: faults.Path | null): boolean {
    if (path !== null && !this.#weather.quiet) return false
    if (path !== null) this.#weather.counters.passed += 1
    return true
  }

  #hold(path: faults.Path, bytes: Uint8Array, pass: (copy: Uint8Array) => unknown): void {
    for (const delay of this.#weather.decide(path)) {
      // A datagram without delay takes no detour, and keeps the carrier's own order and cost.
      if (delay > 0) this.#queue.add(delay, bytes.slice(), pass)
      else {
        this.#weather.counters.passed += 1
        pass(bytes)
      }
    }
  }
}

interface Held {
  at: Millis
  bytes: Uint8Array
  pass: (copy: Uint8Array) => unknown
}

/** Waiting datagrams, ordered by the instant at which they go on. */
class Queue {
  readonly #weather: Conditioner
  readonly #alarm: Alarm
  /** The next to go is at the end, so that taking it out moves nothing. */
  readonly #held: Held[] = []

  constructor(weather: Conditioner) {
    this.#weather = weather
    this.#alarm = weather.loop.alarm(() => this.#release())
  }

  add(delay: Millis, bytes: Uint8Array, pass: Held['pass']): void {
    const held = this.#held
    if (held.length >= CONDITIONER_QUEUE_MAX) {
      this.#weather.counters.overflowed += 1
      return
    }
    const at = this.#weather.loop.now() + delay
    // The first place whose datagram goes no later: equal instants keep the order of sending.
    let low = 0
    let high = held.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (held[middle]!.at > at) low = middle + 1
      else high = middle
    }
    held.splice(low, 0, { at, bytes, pass })
    if (low === held.length - 1) this.#alarm.set(at)
  }

  clear(): void {
    this.#held.length = 0
    this.#alarm.cancel()
  }

  #release(): void {
    const now = this.#weather.loop.now()
    const held = this.#held
    // `pass` may add datagrams that are due as well, but they never leave within this call.
    for (let left = held.length; left > 0; left--) {
      const next = held.at(-1)
      if (next === undefined || next.at > now) break
      held.pop()
      this.#weather.counters.passed += 1
      next.pass(next.bytes)
    }
    const next = held.at(-1)
    if (next !== undefined) this.#alarm.set(next.at)
  }
}
