/** What a hub has on disk, and other disks under it. */

import type { SessionWorld } from '../../packages/sim/src/session-world.ts'

/** All records of a hub. */
export type Disk = ReadonlyMap<string, Uint8Array>

/** The disk of the hub as it is now. */
export function diskOf(w: SessionWorld): Disk {
  return new Map([...w.sim.node('hub').store.entries()].map(([key, value]) => [key, value.slice()]))
}

/** The hub starts again with that disk, and has never seen another. */
export async function putBack(w: SessionWorld, disk: Disk): Promise<void> {
  if (w.hub()) w.killHub()
  w.restartHub()
  const none = [...diskOf(w).keys()]
    .filter((key) => !disk.has(key))
    .map((key) => [key, null] as const)
  w.sim.node('hub').store.write([...none, ...disk], () => {})
  await w.run(100)
  w.killHub()
  w.restartHub()
}
