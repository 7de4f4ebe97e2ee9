/** A stream of a stranger, from an address of loopback: what befell it is counted. */

import { WebSocket } from 'ws'
import {
  type FromHub,
  fromHub,
  HUB_VERSION,
  type ToHub,
  toHub,
} from '../../packages/holdfast/src/hub-protocol/messages.ts'
import { digest, proofOf } from '../../packages/holdfast/src/wire/digest.ts'
import { decode, encode } from '../../packages/holdfast/src/wire/layout.ts'
import { frameMessage, readFrame } from '../../packages/holdfast/src/wire/relay.ts'

/** What an attack came to: how often it was done, and how often something befell it, by name. */
export interface Tally {
  done: number
  /** Bytes of whoever named the addresses of others, and bytes that came there. */
  sent: number
  got: number
  befell: Record<string, number>
}

/** Nothing was done. */
export function blank(): Tally {
  return { done: 0, sent: 0, got: 0, befell: {} }
}

/** One more of what befell it. */
export function count(tally: Tally, what: string): void {
  tally.befell[what] = (tally.befell[what] ?? 0) + 1
}

/** Of what it founds. */
export const SECRET = new Uint8Array(16).fill(5)
const WISH = {
  ...({ playersMax: 256, recovers: false, topology: 'star' } as const),
  terms: '',
  hash: digest(proofOf(SECRET, 'register')),
  ...{ link: new Uint8Array(32).fill(5), key: new Uint8Array(32) },
  ...{ hosts: false, ticket: '', fresh: false },
}

/** Of whoever asks for a room. */
type Keys = Pick<ToHub & { kind: 'add' }, 'link' | 'key'>

/** So many bytes may wait in its stream before it does more. */
const BACKLOG_MAX = 256 * 1024

/** See above. */
export class Stranger {
  readonly socket: WebSocket
  readonly #tally: Tally
  readonly #waiting = new Map<FromHub['kind'], (message: FromHub) => void>()
  isOpen = false
  isOver = false
  /** Hears of datagrams that came for it. */
  knocked: (datagram: Uint8Array) => void = () => {}
  /** The session that it founded or found last. */
  session = ''

  constructor(url: string, localAddress: string, tally: Tally) {
    this.#tally = tally
    this.socket = new WebSocket(new URL('/hub', url.replace('http', 'ws')), {
      localAddress,
      perMessageDeflate: false,
      handshakeTimeout: 5_000,
    })
    this.socket.on('error', () => {})
    this.socket.on('open', () => {
      this.isOpen = true
      this.say({ kind: 'hello', version: HUB_VERSION })
    })
    this.socket.on('message', (bytes: Buffer) => this.#hear(new Uint8Array(bytes)))
    this.socket.on('close', (code, reason) => {
      count(tally, this.isOpen ? `${code} ${reason.toString().split(':')[0]}` : 'not let in')
      this.isOpen = false
      this.isOver = true
    })
  }

  /** @returns whether it can do more now */
  say(message: ToHub): boolean {
    return this.frame(frameMessage(encode(toHub, message)))
  }

  frame(bytes: Uint8Array): boolean {
    if (!this.isOpen || this.socket.bufferedAmount > BACKLOG_MAX) return false
    this.socket.send(bytes)
    this.#tally.done++
    return true
  }

  add(room: string, playersMax = WISH.playersMax, terms = ''): boolean {
    return this.say({ kind: 'add', request: 1, game: 'attack', room, ...WISH, playersMax, terms })
  }

  /** It finds the room of others, for somebody with those keys. */
  find(game: string, room: string, keys: Keys = WISH): boolean {
    const { link, key } = keys
    return this.say({ kind: 'add', request: 1, game, room, ...WISH, playersMax: 0, link, key })
  }

  attach(inc = 1): boolean {
    const own = { session: this.session, inc, proof: proofOf(SECRET, 'register') }
    return this.say({ kind: 'attach', request: 2, ...own })
  }

  /** Hears of the next message of that kind. */
  once(kind: FromHub['kind'], heard: (message: FromHub) => void): void {
    this.#waiting.set(kind, heard)
  }

  end(): void {
    this.socket.terminate()
  }

  #hear(bytes: Uint8Array): void {
    const frame = readFrame(bytes)
    if (frame?.kind === 'knock') return this.knocked(frame.bytes)
    const message = frame?.kind === 'message' ? decode(fromHub, frame.bytes) : null
    if (!message) return
    if (message.kind === 'added') this.session = message.entry.session
    if (message.kind === 'refused') count(this.#tally, message.why.split(':')[0]!)
    const heard = this.#waiting.get(message.kind)
    this.#waiting.delete(message.kind)
    heard?.(message)
  }
}
