/** What a hub has on disk, and other disks under it. */

import { segmentNames } from '../../packages/hub/src/machine/archive.ts'
import { readPlace } from '../../packages/hub/src/machine/places.ts'
import type { SessionWorld } from '../../packages/sim/src/session-world.ts'

/** The records of a hub, and the segments of its rooms. */
export interface Disk {
  readonly records: ReadonlyMap<string, Uint8Array>
  readonly blobs: ReadonlyMap<string, Uint8Array>
}

/** Longest that a disk takes for that, in simulated milliseconds. */
const READ_MS = 5

export const EMPTY: Disk = { records: new Map(), blobs: new Map() }

/** The disk of the hub as it is now. */
export async function diskOf(w: SessionWorld): Promise<Disk> {
  const { store } = w.sim.node('hub')
  const records = new Map<string, Uint8Array>()
  const blobs = new Map<string, Uint8Array>()
  for (const [key, { value }] of store.entries()) {
    records.set(key, value)
    const names = namesIn(value)
    store.blobs(key, names, (all) => {
      for (const [at, name] of names.entries()) blobs.set(name, (all as Uint8Array[])[at]!)
    })
  }
  await w.run(READ_MS)
  return { records, blobs }
}

/** The names of the segments of a record. */
function namesIn(value: Uint8Array): string[] {
  const { session, stored } = readPlace(value) ?? {}
  return session && stored ? segmentNames(session.entry.session, stored.segments) : []
}

/** The hub starts again with that disk, and has never seen another. */
export async function putBack(w: SessionWorld, { records, blobs }: Disk): Promise<void> {
  if (w.hub()) w.killHub()
  w.restartHub()
  const { store } = w.sim.node('hub')
  const before = new Map(store.entries())
  const keys = new Set([...records.keys(), ...before.keys()])
  for (const key of keys) {
    const rev = before.get(key)?.rev ?? 0
    const value = records.get(key) ?? null
    const puts = value ? namesIn(value).map((name) => [name, blobs.get(name)!] as const) : []
    store.cas({ key, rev, value, blobs: puts }, () => {})
  }
  await w.run(100)
  w.killHub()
  w.restartHub()
}
