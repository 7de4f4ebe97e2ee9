/** What others send, and we never do: packets that were split. */

import {
  createHeader,
  FRAGMENT_HEADER,
  readHeader,
} from '../../packages/holdfast/src/link/packets/packet.ts'

const FRAGMENT_BIT = 1

/**
 * Splits a whole packet into fragments, for carriers that take only shorter ones.
 *
 * @param packet  header and payload
 * @param size  bytes of payload in each fragment but the last
 * @throws RangeError when it would be more than 256 fragments or the packet has no header
 */
export function fragment(packet: Uint8Array, size: number): Uint8Array[] {
  const header = createHeader()
  const start = readHeader(packet, 0, header)
  if (start < 0) throw new RangeError('a packet to split must start with a header')
  const count = Math.max(1, Math.ceil((packet.length - start) / size))
  if (count > 256) throw new RangeError(`a packet has at most 256 fragments: ${count}`)
  const fragments: Uint8Array[] = []
  for (let index = 0; index < count; index++) {
    const from = index === 0 ? 0 : start + index * size
    const share = packet.subarray(from, start + (index + 1) * size)
    const bytes = new Uint8Array(FRAGMENT_HEADER + share.length)
    bytes.set([FRAGMENT_BIT, header.sequence & 0xff, header.sequence >>> 8, index, count - 1])
    bytes.set(share, FRAGMENT_HEADER)
    fragments.push(bytes)
  }
  return fragments
}
