/**
 * How much of a WebSocket message has come while it is not whole. Package `ws` keeps the bytes of
 * a frame until its last one is here, and says nothing of it, so the heads of frames are read a
 * second time here. What breaks RFC 6455 is left to `ws`, which closes for it.
 */

/** What keeping one chunk of the network costs beside its bytes. */
const CHUNK_OVERHEAD = 256

/** Reads along with one stream of a client. */
export class FrameMeter {
  /** Bytes that are kept for a message or frame that is not whole; 0 if there is none. */
  held = 0
  readonly #head = new Uint8Array(14)
  /** Bytes of the head of a frame that are here, and of its payload that are not. */
  #headLength = 0
  #payloadLeft = 0
  /** Whether a frame has begun whose message ends with a later one. */
  #unfinished = false

  /** Takes what came, in any cut. @returns whether a message or frame became whole by it */
  take(chunk: Uint8Array): boolean {
    let at = 0
    let ended = false
    // Where the message begins that is not whole, or 0 if that was before this chunk.
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

/** Bytes of the head that begins so, the mask with it; of the first byte alone: 2. */
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
