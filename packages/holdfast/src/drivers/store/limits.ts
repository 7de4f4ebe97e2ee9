/** The limits of every store, so that none accepts what another refuses. */

import { badValue } from '../../machine.ts'
import type { StoreChange } from '../../ports.ts'

/** Longest key, in UTF-16 units. */
export const KEY_MAX = 512
/** Largest record, in bytes. */
export const RECORD_MAX: number = 512 * 1024
/** Largest blob, in bytes. */
export const BLOB_MAX: number = 1024 * 1024

/**
 * Refuses a change that no store accepts, before any of it is written.
 *
 * @throws HoldfastError `bad-value` for a key or a name that is empty, too long, or holds NUL or
 *   half a surrogate pair, and for a value that is too large
 */
export function checkChange({ key, value, blobs }: StoreChange): void {
  checkEntry('key', key, value, RECORD_MAX)
  for (const [name, bytes] of blobs) checkEntry('name', name, bytes, BLOB_MAX)
}

function checkEntry(
  what: 'key' | 'name',
  key: string,
  value: Uint8Array | null,
  max: number,
): void {
  if (key === '' || key.length > KEY_MAX) {
    throw badValue(`a ${what} in a store has 1 to ${KEY_MAX} characters: ${key.length}`)
  }
  // NUL and half surrogates do not survive UTF-8, so two keys could become one.
  if (/\0|\p{Surrogate}/u.test(key)) {
    throw badValue(`a ${what} in a store is text: ${JSON.stringify(key)}`)
  }
  if (value !== null && value.length > max) {
    const kind = what === 'key' ? 'record' : 'blob'
    throw badValue(`a ${kind} in a store has at most ${max} bytes: ${value.length} at '${key}'`)
  }
}

/** The order of keys: by code point, which is also that of their UTF-8 bytes. */
export function compareKeys(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length)
  for (let at = 0; at < shorter; at++) {
    const left = a.charCodeAt(at)
    const right = b.charCodeAt(at)
    if (left !== right) return rank(left) - rank(right)
  }
  return a.length - b.length
}

/** In UTF-16 surrogates come before U+E000, but their code points are after U+FFFF. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit
}
