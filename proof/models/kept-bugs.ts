/** Bugs injected around the hub in the model of kept rooms. */

import { MEMBERS_MAX, type PeerId } from '../../packages/holdfast/src/machine.ts'
import * as archive from '../../packages/hub/src/machine/archive.ts'
import { openingOf } from '../../packages/hub/src/machine/persistence.ts'
import type { StoredRoom } from '../../packages/hub/src/machine/archive.ts'
import { find } from '../../packages/hub/src/machine/register.ts'
import { working } from './kept-hub.ts'
import type { KeptScene } from './kept-scene.ts'

const PLACE = { game: 'g', room: 'r' }

/** Sheets are taken from whoever once led. */
export function forced(scene: KeptScene, who: number, say: () => void): void {
  const { inc, stream } = scene.peers[who]!
  const { session } = scene
  const before = scene.hub
  const hub = working(scene)
  const row = find(hub.registers, session)
  const from = hub.connections.get(stream)
  if (!row || !from) return say()
  Object.assign(from, { session, inc })
  row.entry.register = { ...row.entry.register, primary: inc }
  row.pending = null
  hub.attached.set(session, new Map([[inc, stream]]))
  say()
  const after = scene.hub
  const [was, is] = [before, after].map(({ registers }) => find(registers, session)!)
  is!.entry.register = was!.entry.register
  is!.pending = was!.pending
  after.attached = before.attached
  Object.assign(after.connections.get(stream)!, before.connections.get(stream)!)
}

/** Whoever opens a room gets the next number that was written, whoever was here since. */
export function thrifty(scene: KeptScene, say: () => void): void {
  const hub = working(scene)
  const known = standOf(archive.find(hub.archive, PLACE))
  const opening = openingOf({ hub, now: scene.now }, PLACE)
  if (!known || !opening || typeof opening === 'number' || opening.inc === known.next) return say()
  known.next -= MEMBERS_MAX
  say()
  const { rooms } = scene.hub.archive
  for (const { saved, writing, next } of rooms.values()) {
    for (const stored of [saved, writing?.stored, next?.stored]) {
      // What was written since is of who opened it.
      if (stored && stored.next <= 0) standOf(stored)!.next += MEMBERS_MAX
    }
  }
}

/** What was refused counts as if it were here. */
export function forgetful(scene: KeptScene, say: () => void): void {
  const row = find(working(scene).registers, scene.session)
  if (row) row.storeFailed = false
  say()
}

function standOf(stored: StoredRoom | null): { next: PeerId } | null {
  return stored as { next: PeerId } | null
}
