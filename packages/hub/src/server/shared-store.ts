/** A store that several hubs have: what `nats()` opens and `hub()` takes. */

import type { HubLinks, Store } from '../../../holdfast/src/ports.ts'

/** A store that several hubs have. One hub of a process takes it, and closes it with itself. */
export interface SharedStore {
  /** Closes it where no hub took it. */
  close(): void
}

interface Parts {
  readonly store: Store
  readonly links: HubLinks
}

const all = new WeakMap<SharedStore, Parts>()
const taken = new WeakSet<SharedStore>()

export function sharedStore({ store, links }: Parts): SharedStore {
  const shared = { close: () => store.close() }
  all.set(shared, { store, links })
  return shared
}

/** The parts of a store, for one hub; null for anything else. */
export function takeStore(shared: SharedStore): Parts | 'taken' | null {
  const parts = all.get(shared)
  if (!parts) return null
  if (taken.has(shared)) return 'taken'
  taken.add(shared)
  return parts
}
