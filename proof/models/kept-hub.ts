/** The hub's side in the model of kept rooms: the whole machine, its disk, and time. */

import {
  type FromHub,
  fromHub,
  HUB_VERSION,
  type ToHub,
  toHub,
} from '../../packages/holdfast/src/hub-protocol/messages.ts'
import { MEMBERS_MAX, type Millis, type PeerId } from '../../packages/holdfast/src/machine.ts'
import { KEY_BYTES, SIGNATURE_BYTES } from '../../packages/holdfast/src/ports.ts'
import { decode, encode } from '../../packages/holdfast/src/wire/layout.ts'
import { frameMessage, readFrame } from '../../packages/holdfast/src/wire/relay.ts'
import * as archive from '../../packages/hub/src/machine/archive.ts'
import type { StoredRoom } from '../../packages/hub/src/machine/archive.ts'
import { create as budgetsOf } from '../../packages/hub/src/machine/budgets.ts'
import * as hub from '../../packages/hub/src/machine/hub.ts'
import type { Hub, HubOut, Turn } from '../../packages/hub/src/machine/hub.ts'
import { defaults } from '../../packages/hub/src/machine/limits.ts'
import { encodePlace, readPlace } from '../../packages/hub/src/machine/places.ts'
import { openingOf } from '../../packages/hub/src/machine/persistence.ts'
import { ASK_MS, find, findAlive, rowAt } from '../../packages/hub/src/machine/register.ts'
import { clone } from '../../packages/sim/src/checker/clone.ts'
import * as peers from './kept-peer.ts'
import type { Peer } from './kept-peer.ts'
import { type KeptScene, PLACE, PLACE_KEY } from './kept-scene.ts'

const KEY = new Uint8Array(KEY_BYTES)
const SIGNATURE = new Uint8Array(SIGNATURE_BYTES)
const BUDGETS = budgetsOf(defaults())
const TROUBLE = 'the disk is full'

/** A hub that has read that disk. */
export function started(scene: Pick<KeptScene, 'now' | 'disk'>, boot: number): Hub {
  const made = hub.create(scene.now, boot, KEY, null, unspent())
  const value = scene.disk.get(PLACE_KEY)
  if (value) hub.restore(made, scene.now, PLACE_KEY, { value, rev: 1 })
  hub.restored(made)
  return made
}

/** A copy that a step may change; whatever it spends is forgotten. */
export function copyOf(hub: Hub): Hub {
  const { budgets: _, counters, listing, ...rest } = hub
  return { ...clone(rest), counters: { ...counters }, listing, budgets: unspent() }
}

/** Budgets of which nothing is spent. */
export function unspent(): Hub['budgets'] {
  const none = { accounts: new Map(), rooms: new Map(), hub: {}, levels: {} }
  return { ...BUDGETS, ...none, refused: { ...BUDGETS.refused } }
}

/** A step works on a copy of the hub, one for all that it does. */
export function working(scene: KeptScene): Hub {
  if (scene.fresh) return scene.hub
  scene.fresh = true
  scene.hub = copyOf(scene.hub)
  return scene.hub
}

/** What was spent is forgotten: nothing here is so much that a limit is met. */
export function settle(scene: KeptScene): void {
  if (!scene.fresh) return
  scene.fresh = false
  scene.hub.budgets = BUDGETS
  for (const from of scene.hub.connections.values()) {
    from.buckets = {}
    Object.assign(from.account, { buckets: {}, recent: {} })
  }
}

/** A step works on a copy of the process that it is about. */
export function peerOf(scene: KeptScene, who: number): Peer {
  const copy = clone(scene.peers[who]!)
  scene.peers[who] = copy
  return copy
}

function turnOf(scene: KeptScene): Turn {
  return { hub: working(scene), now: scene.now, out: outOf(scene) }
}

/** The sink of the hub: what matters to a process waits in its stream. */
function outOf(scene: KeptScene): HubOut {
  return {
    send: (connection, bytes) => hears(scene, connection, bytes),
    record: () => {
      scene.owed = true
    },
    load: () => {
      scene.loads = true
    },
    read: (read, _place, names) => {
      scene.reads = [...scene.reads, { read, names }]
    },
    sign: () => SIGNATURE,
    close: (connection) => {
      const who = whoBy(scene, connection)
      if (who >= 0) cut(scene, who)
    },
    pass: () => {},
    unpass: () => {},
    relay: () => {},
    knock: () => {},
    consult: () => {},
    check: () => {},
    roomChanged: () => {},
  }
}

function whoBy({ peers: all }: KeptScene, connection: number): number {
  return all.findIndex(({ stream }) => stream === connection)
}

function hears(scene: KeptScene, connection: number, bytes: Uint8Array): void {
  const who = whoBy(scene, connection)
  const frame = readFrame(bytes)
  const message = frame?.kind === 'message' ? decode(fromHub, frame.bytes) : null
  if (who < 0 || !message || !counts(scene.peers[who]!, message)) return
  peerOf(scene, who).down.push(message)
}

function counts({ inc, phase }: Peer, message: FromHub): boolean {
  if (message.kind === 'areYouAlive') return phase === 'leads'
  if (message.kind === 'present') return message.inc === inc && !message.here
  return ['added', 'segment', 'kept', 'attached', 'register', 'refused'].includes(message.kind)
}

/** A process says something, which arrives at once. */
export function say(scene: KeptScene, who: number, message: ToHub): void {
  const { stream } = scene.peers[who]!
  const bytes = frameMessage(encode(toHub, message))
  hub.receive(turnOf(scene), stream, bytes)
}

/** A process has a new stream, and says something. */
export function dial(scene: KeptScene, who: number, message: ToHub): void {
  const peer = peerOf(scene, who)
  peer.stream = ++scene.streams
  hub.addStream(turnOf(scene), peer.stream, `10.0.0.${who + 1}`)
  say(scene, who, { kind: 'hello', version: HUB_VERSION })
  say(scene, who, message)
}

/** A stream breaks, with what is in it. */
export function cut(scene: KeptScene, who: number): void {
  const peer = peerOf(scene, who)
  const { stream } = peer
  silence(peer)
  if (scene.hub.connections.has(stream)) {
    hub.removeStream(turnOf(scene), stream)
  }
}

function silence(peer: Peer): void {
  Object.assign(peer, { stream: 0, up: [], down: [] })
  peers.attached(peer, false)
  if (peer.phase === 'asks') peer.phase = 'idle'
}

/** Whether the hub has the room; who asks for another founds one without its past. */
export function isThere({ hub: { registers, archive: own }, now }: KeptScene): boolean {
  return findAlive(registers, now, PLACE) !== null || archive.roomAt(own, PLACE_KEY) !== null
}

/** The next write begins, if there is one to make. */
export function beginWrite(scene: KeptScene): void {
  if (!scene.owed || scene.writing) return
  scene.owed = false
  const row = rowAt(scene.hub.registers, PLACE_KEY)
  // A session without the past of this one is out of scope, and never comes to be.
  if (row && row.entry.session !== scene.session) return
  const change = hub.beginWrite(working(scene), PLACE_KEY)
  // States that differ only in who wrote are one.
  const known = change?.value && readPlace(change.value)
  const value = known ? encodePlace({ ...known, boot: 0, write: 0 }) : null
  scene.writing = change && { ...change, value }
}

/** The disk takes what is on its way to it; of a torn write the segments alone. */
export function take(scene: KeptScene, isTorn = false): void {
  const disk = new Map(scene.disk)
  const { key, value, blobs } = scene.writing!
  for (const [name, bytes] of isTorn ? blobs : [...blobs, [key, value] as const]) {
    if (bytes) disk.set(name, bytes)
    else disk.delete(name)
  }
  scene.disk = disk
}

/** The disk has what was on its way. */
export function wrote(scene: KeptScene): void {
  take(scene)
  const rev = scene.writing!.value ? 1 : 0
  scene.writing = null
  hub.confirmWrite(turnOf(scene), PLACE_KEY, rev)
}

/** The disk answers with the record. */
export function load(scene: KeptScene): void {
  scene.loads = false
  const value = scene.disk.get(PLACE_KEY)
  hub.receiveRecord(turnOf(scene), PLACE_KEY, value ? { value, rev: 1 } : null)
}

/** The disk answers the oldest read. */
export function readNext(scene: KeptScene): void {
  const [{ read, names }, ...rest] = scene.reads as [KeptScene['reads'][0]]
  scene.reads = rest
  const found = names.map((name) => scene.disk.get(name)).filter((one) => one !== undefined)
  hub.receiveSegments(turnOf(scene), read, found.length === names.length ? found : null)
}

/** The disk did not take it. */
export function refused(scene: KeptScene): void {
  scene.writing = null
  hub.failWrite(turnOf(scene), PLACE_KEY, TROUBLE)
  // As hub/src/server/hub-server.ts does.
  if (find(scene.hub.registers, scene.session)) scene.owed = true
}

/** The hub is killed, and started from its disk. */
export function kill(scene: KeptScene): void {
  Object.assign(scene, { writing: null, owed: false, reads: [], loads: false })
  for (const who of scene.peers.keys()) silence(peerOf(scene, who))
  scene.hub = started(scene, scene.hub.boot + 1)
  scene.fresh = true
}

/** Somebody copies the folder of the hub. */
export function copy(scene: KeptScene): void {
  const { disk, promised, told, numbers, epochs } = scene
  scene.copy = { disk, promised, told, numbers, epochs }
}

/** The hub is killed, and started from that copy. */
export function putBack(scene: KeptScene): void {
  Object.assign(scene, scene.copy, { copy: null })
  scene.notes.restored = true
  kill(scene)
}

/** Time passes, and who is heard says that it lives. */
export function pass(scene: KeptScene, ms: Millis): void {
  const until = scene.now + ms
  while (scene.now < until) {
    scene.now = Math.min(until, scene.now + ASK_MS)
    hub.wake(turnOf(scene))
    for (const who of scene.peers.keys()) yes(scene, who)
  }
}

// What is on its way before it is first.
function yes(scene: KeptScene, who: number): void {
  const { down, up, epoch } = scene.peers[who]!
  const asked = down.findLast((message) => message.kind === 'areYouAlive')
  if (!asked) return
  const peer = peerOf(scene, who)
  peer.down = peer.down.filter(({ kind }) => kind !== 'areYouAlive')
  const { session, nonce } = asked
  if (up.length > 0) return
  peer.yesAt = scene.now
  say(scene, who, { kind: 'yes', session, epoch, nonce, players: 1 })
}

/** Segments are taken from whoever once led. */
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
