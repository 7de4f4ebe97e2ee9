/**
 * WebRTC channels as datagrams: one channel a pair of members, unordered and without retransmits.
 *
 * The states of ICE decide nothing here: a channel is there when it opens, and gone when it closes,
 * which a dead peer may not cause for 15 s. Whoever offers a channel hears of its silence sooner.
 *
 * A channel keeps what it cannot send, and delivers it late, so at most WAITING_MAX bytes wait in
 * one: more is dropped and counted. One end opens before the other, so a frame may come before our
 * own end is open; a few of those are held until it is.
 */

import { type ChannelEvents, type Channels, DATAGRAM_MAX, type IceRefusal } from '../../../ports.ts'
import { channelTo, peerOf } from '../../../wire/relay.ts'
import { UNCOUNTED } from '../relay.ts'
import {
  candidateOf,
  lineOf,
  readSignal,
  sdpOf,
  type Signal,
  signalOf,
  type SignalOf,
  writeSignal,
} from './signals.ts'

/** Most bytes that may wait in a channel when a frame is added. */
const WAITING_MAX = 4 * 1024
/** Most channels at once; further pairs stay on the relay. */
const CHANNELS_MAX = 64
/** Most frames that are held until our end is open. */
const EARLY_MAX = 16
/** Most candidates taken of one end of a channel, either way. */
const CANDIDATES_MAX = 12
/** A TURN server that gave no address for so long is looked into, in ms. */
export const GATHERING_MS = 6_000
/** A carrier reports at most so many different refusals of servers. */
const REFUSALS_MAX = 64

/** One connection of a library. Its methods never throw; what fails, closes it. */
export interface Connection {
  /** Begins: makes our offer, or answers that of the peer. */
  begin(offer: string | null): void
  /** Takes the answer to our offer. */
  accept(answer: string): void
  candidate(line: string): void
  /** Bytes that wait to leave. */
  waiting(): number
  /** @returns false if the library did not take it */
  send(bytes: Uint8Array): boolean
  /** Ends it without a further event. */
  close(): void
}

/** Its events, none within a call. */
export interface ConnectionEvents {
  /** Our offer, or our answer. */
  described(sdp: string): void
  candidate(line: string): void
  opened(): void
  /** The bytes are valid only during the call. */
  frame(bytes: Uint8Array): void
  closed(): void
  /** A server refuses us; each channel asks it again. */
  refused(refusal: IceRefusal): void
}

export type Connect = (events: ConnectionEvents) => Connection

interface Channel {
  readonly peer: number
  readonly generation: number
  readonly address: string
  readonly ours: boolean
  readonly connection: Connection
  answered: boolean
  /** Candidates that were sent, and that came. */
  told: number
  heard: number
  /** Frames that came before our end was open; null once it is. */
  early: Uint8Array[] | null
}

export class WebRtcChannels implements Channels {
  readonly addresses: readonly string[] = []
  readonly counters = {
    ...UNCOUNTED,
    /** Early frames beyond EARLY_MAX. */
    early: 0,
    /** Malformed signals. */
    malformed: 0,
    /** Signals about no channel, or another one; candidates beyond CANDIDATES_MAX. */
    stale: 0,
    /** Channels beyond CHANNELS_MAX. */
    full: 0,
  }
  readonly #connect: Connect
  readonly #events: ChannelEvents
  readonly #ended: () => void
  readonly #channels = new Map<number, Channel>()
  /** The refusals that it has reported, by server and code. */
  readonly #refusals = new Set<string>()
  #generation = 0
  #open = true

  /** @param ended  called once, at `close` */
  constructor(connect: Connect, events: ChannelEvents, ended: () => void = () => {}) {
    this.#connect = connect
    this.#events = events
    this.#ended = ended
  }

  reaches(address: string): boolean {
    return this.#at(address) !== null
  }

  offer(peer: number): void {
    if (this.#open) this.#begin(peer, ++this.#generation, null)
  }

  signal(peer: number, bytes: Uint8Array): void {
    const signal = this.#open ? readSignal(bytes) : null
    if (signal === null) this.counters.malformed += 1
    else if (!this.#take(peer, signal)) this.counters.stale += 1
  }

  drop(peer: number): void {
    this.#channels.get(peer)?.connection.close()
    this.#channels.delete(peer)
  }

  send(to: string, bytes: Uint8Array): void {
    const channel = this.#at(to)
    if (channel === null || channel.early !== null) {
      this.counters.unreachable += 1
    } else if (bytes.length > DATAGRAM_MAX) {
      this.counters.oversize += 1
    } else if (channel.connection.waiting() > WAITING_MAX || !channel.connection.send(bytes)) {
      this.counters.congested += 1
    } else {
      this.counters.sent += 1
    }
  }

  close(): void {
    if (!this.#open) return
    this.#open = false
    for (const peer of [...this.#channels.keys()]) this.drop(peer)
    this.#ended()
  }

  #at(address: string): Channel | null {
    const channel = this.#channels.get(peerOf(address) ?? 0)
    return channel?.address === address ? channel : null
  }

  /** @returns false for a signal that belongs to no channel of ours */
  #take(peer: number, signal: Signal): boolean {
    const { generation } = signal
    const channel = this.#channels.get(peer)
    if (signal.kind === 'offer') {
      if (channel !== undefined && (channel.ours || channel.generation >= generation)) return false
      this.#begin(peer, generation, signal)
      return true
    }
    if (channel?.generation !== generation) return false
    if (signal.kind === 'answer') {
      if (!channel.ours || channel.answered) return false
      channel.answered = true
      channel.connection.accept(sdpOf(signal))
      return true
    }
    if (!channel.answered || channel.heard >= CANDIDATES_MAX) return false
    channel.heard += 1
    channel.connection.candidate(lineOf(signal))
    return true
  }

  #begin(peer: number, generation: number, offer: SignalOf<'offer'> | null): void {
    const former = this.#channels.get(peer)
    if (former !== undefined) this.#end(former)
    const address = channelTo(peer, generation)
    if (this.#channels.size >= CHANNELS_MAX) {
      this.counters.full += 1
      return this.#tellGone(address)
    }
    const connection = this.#connect({
      described: (sdp) => {
        this.#say(channel, signalOf(channel.ours ? 'offer' : 'answer', generation, sdp))
      },
      candidate: (line) => {
        const candidate = channel.told < CANDIDATES_MAX ? candidateOf(generation, line) : null
        if (candidate === null) return
        channel.told += 1
        this.#say(channel, candidate)
      },
      opened: () => this.#opened(channel),
      frame: (bytes) => this.#frame(channel, bytes),
      closed: () => this.#end(channel),
      refused: (refusal) => this.#refused(refusal),
    })
    const channel: Channel = {
      ...{ peer, generation, address, connection },
      ...{ ours: offer === null, answered: offer !== null, told: 0, heard: 0, early: [] },
    }
    this.#channels.set(peer, channel)
    connection.begin(offer === null ? null : sdpOf(offer))
  }

  #isCurrent(channel: Channel): boolean {
    return this.#channels.get(channel.peer) === channel
  }

  #say(channel: Channel, signal: Signal | null): void {
    if (!this.#isCurrent(channel)) return
    if (signal === null) this.#end(channel)
    else this.#events.signal(channel.peer, writeSignal(signal))
  }

  #opened(channel: Channel): void {
    const { early, address, peer } = channel
    if (!this.#isCurrent(channel) || early === null) return
    channel.early = null
    this.#events.candidate(peer, address)
    for (const bytes of early) if (this.#isCurrent(channel)) this.#events.datagram(address, bytes)
  }

  #frame(channel: Channel, bytes: Uint8Array): void {
    if (!this.#isCurrent(channel)) return
    this.counters.received += 1
    const { early, address } = channel
    if (bytes.length === 0 || bytes.length > DATAGRAM_MAX) this.counters.oversize += 1
    else if (early === null) this.#events.datagram(address, bytes)
    else if (early.length < EARLY_MAX) early.push(bytes.slice())
    else this.counters.early += 1
  }

  #refused(refusal: IceRefusal): void {
    const which = `${refusal.url} ${refusal.code}`
    if (!this.#open || this.#refusals.has(which) || this.#refusals.size >= REFUSALS_MAX) return
    this.#refusals.add(which)
    this.#events.refused(refusal)
  }

  #end(channel: Channel): void {
    if (!this.#isCurrent(channel)) return
    this.drop(channel.peer)
    this.#tellGone(channel.address)
  }

  // Never within the call that caused it.
  #tellGone(address: string): void {
    queueMicrotask(() => {
      if (this.#open) this.#events.gone(address)
    })
  }
}
