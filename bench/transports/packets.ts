/**
 * UDP packets that a frame in a WebRTC channel takes, counted on their way: each of two ends learns
 * a port of this process as the candidate of the other, which hands on what comes.
 */

import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { openChannelsOnNode } from '../../packages/holdfast/src/drivers/net/webrtc/node.ts'
import { readSignal, writeSignal } from '../../packages/holdfast/src/drivers/net/webrtc/signals.ts'
import { type Channels, DATAGRAM_MAX } from '../../packages/holdfast/src/ports.ts'

/** The first byte of a DTLS record with data; what comes as STUN has another. */
const DATA = 23
const WAIT_MS = 5_000

/** The packets of frames of one size. */
export interface Taken {
  /** UDP packets a frame. */
  each: number
  /** The payloads of the last frame's packets, in bytes, in order. */
  sizes: readonly number[]
}

interface End {
  channels: Channels
  /** Its port, and the socket whose port the other end takes for it. */
  port: number
  stand: Socket
}

/** Two ends in this process. */
export class Counting {
  readonly #ends: readonly End[]
  #address = ''
  #sizes: number[] = []
  #opened = (): void => {}
  #came = (): void => {}

  private constructor(stands: readonly Socket[]) {
    this.#ends = stands.map((stand, at) => ({ channels: this.#open(at), port: 0, stand }))
    stands[0]!.on('message', (bytes) => this.#handOn(1, 0, bytes))
    stands[1]!.on('message', (bytes) => {
      if (bytes[0] === DATA) this.#sizes.push(bytes.length)
      this.#handOn(0, 1, bytes)
    })
  }

  static async open(): Promise<Counting> {
    const stands = [createSocket('udp4'), createSocket('udp4')]
    for (const stand of stands) await once(stand.bind(0, '127.0.0.1'), 'listening')
    const counting = new Counting(stands)
    await soon('a channel', (done) => {
      counting.#opened = done
      counting.#ends[0]!.channels.offer(numberOf(1))
    })
    return counting
  }

  /** Sends frames of that size, each once the one before has come. */
  async count(bytes: number, frames: number): Promise<Taken> {
    let packets = 0
    for (let n = 0; n < frames; n++) {
      this.#sizes = []
      await soon(`a frame of ${bytes} bytes`, (done) => {
        this.#came = done
        this.#ends[0]!.channels.send(this.#address, new Uint8Array(bytes))
      })
      packets += this.#sizes.length
    }
    return { each: packets / frames, sizes: this.#sizes }
  }

  /** The longest frame that goes in one packet. */
  async longest(): Promise<number> {
    let [fits, tooLong] = [1, DATAGRAM_MAX + 1]
    while (tooLong - fits > 1) {
      const middle = (fits + tooLong) >> 1
      // A heartbeat of SCTP may come between.
      if ((await this.count(middle, 10)).each < 1.5) fits = middle
      else tooLong = middle
    }
    return fits
  }

  close(): void {
    for (const { channels, stand } of this.#ends) {
      channels.close()
      stand.close()
    }
  }

  #open(at: number): Channels {
    const other = 1 - at
    return openChannelsOnNode({ host: '127.0.0.1' }, () => ({}), {
      refused: () => {},
      signal: (_peer, bytes) => {
        const signal = readSignal(bytes)!
        const own = this.#ends[at]!
        if (signal.kind === 'candidate') {
          own.port = signal.port
          signal.port = own.stand.address().port
        }
        this.#ends[other]!.channels.signal(numberOf(at), writeSignal(signal))
      },
      candidate: (_peer, address) => {
        if (at === 1) return
        this.#address = address
        this.#opened()
      },
      gone: (address) => {
        throw new Error(`the channel ${address} is gone`)
      },
      datagram: () => this.#came(),
    })
  }

  #handOn(from: number, to: number, bytes: Uint8Array): void {
    const { port } = this.#ends[to]!
    if (port > 0) this.#ends[from]!.stand.send(bytes, port, '127.0.0.1')
  }
}

const numberOf = (at: number): number => at + 1

function soon(what: string, begin: (done: () => void) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (): void => reject(new Error(`${what} did not come within ${WAIT_MS} ms`))
    const timer = setTimeout(fail, WAIT_MS)
    begin(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}
