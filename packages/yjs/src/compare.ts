/** Whether two documents have the same under the same ids: a player may use those of another. */

import * as Y from 'yjs'
import type { Struct } from './places.ts'

/** A client of whom both documents have something, but not the same; null for none. */
export function conflictOf(one: Y.Doc, other: Y.Doc): number | null {
  for (const [client, structs] of one.store.clients) {
    const others = other.store.clients.get(client)
    if (others && !isSame(structs, others)) return client
  }
  return null
}

// Of what is deleted in either, nothing is left to compare.
function isSame(structs: readonly Struct[], others: readonly Struct[]): boolean {
  let [at, by] = [0, 0]
  while (at < structs.length && by < others.length) {
    const [one, other] = [structs[at]!, others[by]!]
    const from = Math.max(one.id.clock, other.id.clock)
    const to = Math.min(one.id.clock + one.length, other.id.clock + other.length)
    if (!one.deleted && !other.deleted) {
      if (!isSamePart(one as Y.Item, other as Y.Item, from, to)) return false
    }
    if (one.id.clock + one.length === to) at++
    if (other.id.clock + other.length === to) by++
  }
  return true
}

function isSamePart(one: Y.Item, other: Y.Item, from: number, to: number): boolean {
  const [first, second] = [one.content, other.content]
  const hasSameIds =
    Y.compareIDs(originAt(one, from), originAt(other, from)) &&
    Y.compareIDs(one.rightOrigin, other.rightOrigin)
  if (!hasSameIds || first.constructor !== second.constructor) return false
  if (!(first instanceof Y.ContentString) || !(second instanceof Y.ContentString)) {
    return bytesOf(one, from, to) === bytesOf(other, from, to)
  }
  for (let at = from; at < to; at++) {
    const codes = [
      first.str.charCodeAt(at - one.id.clock),
      second.str.charCodeAt(at - other.id.clock),
    ]
    // Yjs replaces the halves of a character that it splits.
    if (codes[0] !== codes[1] && !codes.some(isHalf)) return false
  }
  return true
}

function isHalf(code: number): boolean {
  return code === 0xfffd || (code >= 0xd800 && code < 0xe000)
}

function originAt({ id, origin }: Y.Item, clock: number): Y.ID | null {
  return clock > id.clock ? Y.createID(id.client, clock - 1) : origin
}

// As they are sent: values may have had another class before.
function bytesOf({ id, content }: Y.Item, from: number, to: number): string {
  const encoder = new Y.UpdateEncoderV1()
  if (content instanceof Y.ContentAny) {
    for (const value of content.arr.slice(from - id.clock, to - id.clock)) encoder.writeAny(value)
  } else if (content instanceof Y.ContentFormat) {
    encoder.writeString(content.key)
    encoder.writeJSON(content.value)
  } else if (content instanceof Y.ContentEmbed) encoder.writeJSON(content.embed)
  else if (content instanceof Y.ContentBinary) encoder.writeBuf(content.content)
  return encoder.toUint8Array().join()
}
