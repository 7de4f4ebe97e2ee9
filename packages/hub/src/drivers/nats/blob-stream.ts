/**
 * The stream of blobs: segments of stored rooms, in parts that a message can carry.
 *
 * A record names its blobs by the numbers of their messages. So two hubs that write segments of one
 * room at the same moment do not replace each other's: the record that counts names its own. Blobs
 * that no record names, such as those of the other hub, are removed.
 */

import type { Millis } from '../../../../holdfast/src/machine.ts'
import { CHUNK_MAX, type Names } from './layout.ts'
import { ANSWER_MS, type Jet } from './record-stream.ts'

/** A blob that no record names by then is not about to be named. */
const ORPHAN_MS: Millis = 24 * 60 * 60_000

export class BlobStream {
  readonly #jet: Jet
  readonly #names: Names

  constructor(jet: Jet, names: Names) {
    this.#jet = jet
    this.#names = names
  }

  /** Persists a blob. @returns the numbers of its messages */
  put(bytes: Uint8Array): Promise<number[]> {
    const count = Math.max(1, Math.ceil(bytes.length / CHUNK_MAX))
    return Promise.all(
      Array.from({ length: count }, async (_none, at) => {
        const part = bytes.subarray(at * CHUNK_MAX, (at + 1) * CHUNK_MAX)
        const { seq } = await this.#jet.publish(this.#names.blob, part, { timeout: ANSWER_MS })
        return seq
      }),
    )
  }

  /** Reads a blob; null if there is none, or a part of it is gone. */
  async get(parts: readonly number[] | null): Promise<Uint8Array | null> {
    if (!parts) return null
    const { streams } = this.#jet
    const found = await Promise.all(
      parts.map((seq) => streams.getMessage(this.#names.blobs, { seq })),
    )
    const data = found.filter((one) => one !== null).map((one) => one.data)
    if (data.length < parts.length) return null
    const bytes = new Uint8Array(data.reduce((sum, { length }) => sum + length, 0))
    let at = 0
    for (const part of data) {
      bytes.set(part, at)
      at += part.length
    }
    return bytes
  }

  /** Removes blobs that no record names. What cannot be removed now is removed by `sweep`. */
  remove(parts: Iterable<number>): void {
    const { streams } = this.#jet
    for (const seq of parts)
      void streams.deleteMessage(this.#names.blobs, seq, true).catch(() => {})
  }

  /** Removes old blobs that no record names. @param isNamed  whether one does */
  async sweep(isNamed: (seq: number) => boolean): Promise<void> {
    const { client, streams } = this.#jet
    const { state } = await streams.info(this.#names.blobs)
    if (state.messages === 0) return
    const consumer = await client.consumers.getPushConsumer(this.#names.blobs, {
      headers_only: true,
      deliver_policy: 'all',
    })
    const messages = await consumer.consume()
    for await (const { seq, time } of messages) {
      const isOld = time.getTime() < Date.now() - ORPHAN_MS
      if (isOld && !isNamed(seq)) this.remove([seq])
      if (!isOld || seq >= state.last_seq) break
    }
    messages.stop()
  }
}
