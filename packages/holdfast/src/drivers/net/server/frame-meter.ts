/**
 * Measures incomplete WebSocket messages. Package `ws` keeps the bytes of a frame until the last
 * one arrived, and does not report them, so this file parses the heads of frames again. Violations
 * of RFC 6455 are left to `ws`, which closes the stream for them.
 */

/** Cost of a kept network chunk beside its bytes. */
const CHUNK_OVERHEAD = 256

export class FrameMeter {
  /** Bytes kept for an incomplete message or frame; 0 if there is none. */
  held = 0
  readonly #head = new Uint8Array(14)
  /** Bytes of a frame's head that have arrived, and of its payload that have not. */
  #headLength = 0
  #payloadLeft = 0
  /** Whether a message has begun that a later frame ends. */
  #unfinished = false

  /** Takes a chunk, cut anywhere. @returns whether it completed a message or frame */
  take(chunk: Uint8Array): boolean {
    let at = 0
    let ended = false
    // Where the incomplete message begins; 0 if that was before this chunk.
    let from = 0
    while (at < chunk.length) {
      if (this.#payloadLeft > 0) {
        const count = Math.min(this.#payloadLeft, chunk.length - at)
        this.#payloadLeft -= count
        at += count
      } else {
        this.#head[this.#headLength++] = chunk[at++]!
        if (this.#headLength === headSize(this.#head)) this.#begin()
      }
      if (this.#isWhole()) {
        this.held = 0
        ended = true
        from = at
      }
    }
    if (!this.#isWhole()) this.held += chunk.length - from + CHUNK_OVERHEAD
    return ended
  }

  #begin(): void {
    const [first = 0] = this.#head
    this.#headLength = 0
    this.#payloadLeft = payloadSize(this.#head)
    // Pings, pongs and closes come between the parts of a message.
    if ((first & 0x08) === 0) this.#unfinished = (first & 0x80) === 0
  }

  #isWhole(): boolean {
    return this.#headLength === 0 && this.#payloadLeft === 0 && !this.#unfinished
  }
}

/** Length of the head that begins with these bytes, with its mask; 2 for the first byte alone. */
function headSize(head: Uint8Array): number {
  const second = head[1]!
  const length = second & 0x7f
  return 2 + (length === 126 ? 2 : length === 127 ? 8 : 0) + (second >= 0x80 ? 4 : 0)
}

function payloadSize(head: Uint8Array): number {
  const length = head[1]! & 0x7f
  if (length < 126) return length
  const view = new DataView(head.buffer)
  return length === 126 ? view.getUint16(2) : Number(view.getBigUint64(2))
}
