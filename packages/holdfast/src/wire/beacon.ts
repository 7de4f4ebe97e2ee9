/**
 * The beacon of a closing page: one body with a new hub stream's messages, each after its length.
 *
 *     length: varint  one message, as in relay.ts
 *     …
 */

import {
  createReader,
  createWriter,
  finish,
  isDone,
  readBytes,
  writeRaw,
  writeVarint,
} from './bytes.ts'

/** Most bytes of a body. */
export const BEACON_MAX: number = 64 * 1024

export function joinMessages(messages: readonly Uint8Array[]): Uint8Array {
  const writer = createWriter()
  for (const message of messages) {
    writeVarint(writer, message.length)
    writeRaw(writer, message)
  }
  return finish(writer)
}

/** The messages in a body; null if it is malformed. */
export function splitMessages(body: Uint8Array): Uint8Array[] | null {
  const reader = createReader(body)
  const messages: Uint8Array[] = []
  while (!reader.failed && !isDone(reader)) messages.push(readBytes(reader, BEACON_MAX))
  return reader.failed ? null : messages
}
