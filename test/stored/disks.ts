/** What a hub has on disk, and other disks under it. */

import { segmentName } from '../../packages/hub/src/machine/archive.ts'
import { readPlace } from '../../packages/hub/src/machine/places.ts'
import type { SessionWorld } from '../../packages/sim/src/session-world.ts'

/** The records of a hub, and the segments of its rooms. */
export interface Disk {
  readonly records: ReadonlyMap<string, Uint8Array>
  readonly blobs: ReadonlyMap<string, Uint8Array>
}

export const EMPTY: Disk = { records: new Map(), blobs: new Map() }

/** The disk of the hub as it is now. */
export function diskOf(w: SessionWorld): Disk {
  const { store } = w.sim.node('hub')
  const records = new Map<string, Uint8Array>()
  const blobs = new Map<string, Uint8Array>()
  for (const [key, { value }] of store.entries()) {
    records.set(key, value)
    const known = readPlace(value)
    for (let segment = 0; segment < (known?.stored?.segments ?? 0); segment++) {
      const name = segmentName(known!.session.entry.session, segment)
      blobs.set(name, store.blob(name)!)
    }
  }
  return { records, blobs }
}

/** The hub starts again with that disk, and has never seen another. */
export async function putBack(w: SessionWorld, { records, blobs }: Disk): Promise<void> {
  if (w.hub()) w.killHub()
  w.restartHub()
  const { store } = w.sim.node('hub')
  const keys = new Set([...records.keys(), ...[...store.entries()].map(([key]) => key)])
  let puts = [...blobs]
  for (const key of keys) {
    const rev = store.read(key)?.rev ?? 0
    store.cas({ key, rev, value: records.get(key) ?? null, blobs: puts }, () => {})
    puts = []
  }
  await w.run(100)
  w.killHub()
  w.restartHub()
}
