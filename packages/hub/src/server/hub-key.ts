/** The hub's signing key: its seed is in the store, so that it stays over restarts. */

import { HoldfastError } from '../../../holdfast/src/machine.ts'
import { KEY_BYTES, type Loop, type Store, type StoredRecord } from '../../../holdfast/src/ports.ts'

/** Key of the signing key's seed in the store; those of places begin with a digit. */
export const SEED_RECORD = 'the hub'

/** The stored seed, or a new one. @throws HoldfastError `store` for one of another length */
export function seedOf(found: StoredRecord | undefined, loop: Loop): Uint8Array {
  const known = found?.value
  if (known?.length === KEY_BYTES) return known
  if (known) {
    const found = `${known.length} bytes`
    throw new HoldfastError('store', `the seed of the hub's key has ${KEY_BYTES} bytes: ${found}`)
  }
  return loop.random(KEY_BYTES)
}

/**
 * Stores a new seed. If that fails, the key differs after the next start, which members accept.
 *
 * @param replaced  called if another hub of the store was faster: its seed counts
 */
export function writeSeed(
  store: Store,
  value: Uint8Array,
  replaced: (seed: Uint8Array) => void,
): void {
  store.cas({ key: SEED_RECORD, rev: 0, value, blobs: [] }, (outcome) => {
    if (outcome !== 'conflict' && outcome !== 'unknown') return
    store.get(SEED_RECORD, (found) => {
      if (found instanceof HoldfastError) return
      if (found) replaced(found.value)
      else writeSeed(store, value, replaced)
    })
  })
}
