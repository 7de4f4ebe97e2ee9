/**
 * Bytes of one WebSocket at its client: what the socket read and wrote, framing included, and how
 * many TCP segments that takes. A message is a segment for each 1,460 bytes; each two segments of
 * one direction, and the last of a message, are acked by one that is empty. Over TLS the socket
 * counts what is inside of it, so bytes of TLS are too few. Messages and their payload are not
 * counted.
 */

import { HEADERS } from './counted.ts'
import { blankWire, type Wire } from './words.ts'

const SEGMENT = 1460
/** Most bytes of a message for each length of a frame's head. */
const HEADS: readonly [most: number, head: number][] = [
  [125, 2],
  [65_535, 4],
  [Infinity, 10],
]

/** The `ws` of a client. */
export interface ClientSocket {
  _socket: { bytesRead: number; bytesWritten: number }
  on(event: 'message', listen: (bytes: { byteLength: number }) => void): void
}

/** What went over one WebSocket so far. */
export class StreamCount {
  readonly #socket: ClientSocket
  #segments = 0
  #acks = 0

  constructor(socket: ClientSocket) {
    this.#socket = socket
    socket.on('message', ({ byteLength }) => {
      const [, head] = HEADS.find(([most]) => byteLength <= most)!
      const segments = Math.ceil((byteLength + head) / SEGMENT)
      this.#segments += segments
      this.#acks += Math.ceil(segments / 2)
    })
  }

  /** What the client received. */
  get down(): Wire {
    const bytes = this.#socket._socket.bytesRead + this.#segments * HEADERS.tcp
    return { ...blankWire(), bytes, packets: this.#segments }
  }

  /** What the client sent. */
  get up(): Wire {
    const bytes = this.#socket._socket.bytesWritten + this.#acks * HEADERS.tcp
    return { ...blankWire(), bytes, packets: this.#acks }
  }
}
