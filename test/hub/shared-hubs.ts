/** Hubs by hand that share a disk. */

import type { FromHub, ToHub } from '../../packages/holdfast/src/hub-protocol/messages.ts'
import { HoldfastError } from '../../packages/holdfast/src/machine.ts'
import { BEAT_MS } from '../../packages/hub/src/machine/heartbeat.ts'
import * as hub from '../../packages/hub/src/machine/hub.ts'
import { GONE_MS } from '../../packages/hub/src/machine/register.ts'
import { readPlace } from '../../packages/hub/src/machine/places.ts'
import { Desk, proof } from './desk.ts'
import { PlainDisk } from './plain-disk.ts'

/** The place of the room that `Desk.session` founds. */
export const MAIN = '1 g main'
/** What a store answers that is away. */
export const GONE = new HoldfastError('store', 'the store is gone')

/** Hubs that share a disk, and have written their first heartbeat. */
export function hubs(count = 2): Desk[] {
  const disk = new PlainDisk()
  const made = Array.from({ length: count }, (_none, at) => {
    return new Desk({}, { disk, boot: 1 + 1_000 * at, isShared: true })
  })
  for (const desk of made) desk.recovers = true
  pass(BEAT_MS, ...made)
  return made
}

/** Time passes for these hubs; for others it stands still. */
export function pass(ms: number, ...desks: Desk[]): void {
  for (let left = ms; left > 0; left -= 100) for (const desk of desks) desk.go(100)
}

/** A hub that stood still goes on, at the time of the other. */
export function wakes(desk: Desk, { now }: Desk): void {
  desk.now = now
  desk.wake()
}

/** That hub reads what the disk has, under its name. */
export function reads(desk: Desk): void {
  for (const [key, found] of desk.disk.records) hub.restore(desk.hub, desk.now, key, found)
  for (const place of hub.restored(desk.hub)) desk.owed.add(place)
}

/** The keys of heartbeats on a disk. */
export function heartbeatsOn({ disk }: Desk): string[] {
  return [...disk.records.keys()].filter((key) => key.startsWith('hub '))
}

/** The hub that has a room. */
export const tenderOf = ({ disk }: Desk, key = MAIN): number | undefined => {
  const found = disk.records.get(key)
  return found && readPlace(found.value)?.boot
}

/** The second member asks to recover the session. */
export const recovery = (session: string): ToHub => {
  const change = { kind: 'change', request: 9, session, inc: 2, proof: proof(2) } as const
  return { ...change, expect: 1, primary: 2, backup: 0, why: 'recover' }
}

/** What that stream heard last, apart from whether it lives. */
export const lastOf = (desk: Desk, stream: number): FromHub | undefined => {
  return desk.heard.get(stream)!.findLast(({ kind }) => kind !== 'areYouAlive')
}

/** A hub that dies in the middle of a move: its session is at two places. */
export function halfMoved(): { one: Desk; two: Desk; id: string; aside: string } {
  const [one, two] = hubs()
  const { id, streams } = one!.session(1)
  one!.recovers = false
  one!.close(streams[0]!)
  pass(GONE_MS + 100, one!, two!)
  one!.store = (change) => (change.value ? one!.disk.change(change) : GONE)
  one!.add(one!.open(), 'main', 2)
  reads(two!)
  return { one: one!, two: two!, id, aside: `${MAIN}~${id}` }
}
