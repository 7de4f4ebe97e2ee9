/**
 * Reassembles fragmented packets. Our packets fit one datagram, so we send no fragments; another
 * implementation of the reliable standard may.
 *
 * Bounded: ASSEMBLIES_MAX packets at once, FRAGMENTS_MAX fragments of FRAGMENT_BYTES_MAX bytes
 * each. A new packet evicts the one begun first.
 */

import { joined } from '../../wire/bytes.ts'
import { FRAGMENT_HEADER, HEADER_MAX, createHeader, readFragment, readHeader } from './packet.ts'

/** Most packets in assembly at once. */
export const ASSEMBLIES_MAX = 4
/** Most fragments of one packet. */
export const FRAGMENTS_MAX = 16
/** Most payload in one fragment, in bytes. */
export const FRAGMENT_BYTES_MAX = 1024

export interface Assemblies {
  list: Assembly[]
}

interface Assembly {
  sequence: number
  missing: number
  shares: (Uint8Array | null)[]
}

export function createAssemblies(): Assemblies {
  return { list: [] }
}

/** @returns the whole packet once no share is missing; null before that, and for duplicates */
export function addFragment(
  assemblies: Assemblies,
  bytes: Uint8Array,
): Uint8Array | null | 'malformed' {
  const found = readFragment(bytes, FRAGMENTS_MAX)
  if (found === null) return 'malformed'
  const room = FRAGMENT_BYTES_MAX + (found.index === 0 ? HEADER_MAX : 0)
  if (bytes.length - FRAGMENT_HEADER > room) return 'malformed'
  const { list } = assemblies
  let assembly = list.find((one) => one.sequence === found.sequence)
  if (assembly && assembly.shares.length !== found.count) return 'malformed'
  if (!assembly) {
    assembly = { sequence: found.sequence, missing: found.count, shares: [] }
    for (let index = 0; index < found.count; index++) assembly.shares.push(null)
    if (list.length === ASSEMBLIES_MAX) list.shift()
    list.push(assembly)
  }
  if (assembly.shares[found.index]) return null
  assembly.shares[found.index] = new Uint8Array(bytes.subarray(FRAGMENT_HEADER))
  assembly.missing -= 1
  if (assembly.missing > 0) return null
  list.splice(list.indexOf(assembly), 1)
  return join(assembly) ?? 'malformed'
}

// Every share but the last must hold the same number of payload bytes, the last no more.
function join({ sequence, shares }: Assembly): Uint8Array | null {
  const all = shares as Uint8Array[]
  const header = createHeader()
  const start = readHeader(all[0]!, 0, header)
  if (start < 0 || header.sequence !== sequence) return null
  const size = all[0]!.length - start
  for (const [index, share] of all.entries()) {
    const length = share.length - (index === 0 ? start : 0)
    if (index < all.length - 1 ? length !== size : length > size) return null
  }
  return joined(...all)
}
