/** The states of the model in kept.ts, and by what they are told apart. */

import type { StoredRoom } from '../../packages/hub/src/machine/archive.ts'
import type { Hub } from '../../packages/hub/src/machine/hub.ts'
import { placeOf, type Row } from '../../packages/hub/src/machine/register.ts'
import type { PendingRequest } from '../../packages/hub/src/machine/state.ts'
import { readPlace } from '../../packages/hub/src/machine/places.ts'
import type { StoreChange } from '../../packages/holdfast/src/ports.ts'
import type { Millis, PeerId } from '../../packages/holdfast/src/machine.ts'
import { hash } from '../../packages/sim/src/checker/hash.ts'
import type { Session } from '../../packages/holdfast/src/session/state.ts'
import { type FromDisk, opsIn, type Peer } from './kept-peer.ts'

/** How much may happen. */
export interface KeptScope {
  /** Who may open the room beside its first primary, and how often somebody asks to. */
  others: number
  asks: number
  /** Operations; and how often somebody comes beside the first primary. */
  ops: number
  guests: number
  /** Who comes has a path to the primary without the hub. */
  paths: boolean
  /** Requests to add a backup, or to drop it. */
  backups: number
  /** Segments that are written anew because no answer came. */
  again: number
  /** Streams that break, and members that die or leave. */
  breaks: number
  deaths: number
  leaves: number
  /** Goodbyes: who led is gone for good, and waits for nothing. */
  byes: number
  /** Kills of the hub, and writes that the disk refuses. */
  kills: number
  refusals: number
  /** How often the hub's folder is copied, and perhaps put back. */
  copies: number
  /** How often BACK_MS pass, and how often RECOVER_MS, and SILENT_MS. */
  short: number
  middle: number
  long: number
  /** A bug around the rules. */
  bug?: KeptBug
}

type KeptBug =
  | ('no-fence' | 'halves' | 'told-before-the-disk' | 'number-twice' | 'refused-counts')
  | ('goodbye-before-the-disk' | 'epoch-and-index' | 'presumed')
  | ('path-unseen' | 'believed' | 'alone-not-strict')

export const PLACE = { game: 'g', room: 'r' }
/** The key of its record. */
export const PLACE_KEY: string = placeOf(PLACE)

/** What the disk of the hub has: the record of the place, and the segments. */
export type Disk = ReadonlyMap<string, Uint8Array>

/** Everything at one instant. What a step changes of it is a copy. */
export interface KeptScene {
  now: Millis
  hub: Hub
  /** The hub is a copy of this step's own. */
  fresh: boolean
  disk: Disk
  /** On its way to the disk; null for nothing. */
  writing: StoreChange | null
  /** Whether the hub waits for the record. */
  loads: boolean
  /** Segments that the hub waits for. */
  reads: readonly { readonly read: number; readonly names: readonly string[] }[]
  /** Whether the next write has something of the session. */
  owed: boolean
  session: string
  peers: Peer[]
  /** Streams so far. */
  streams: number
  /** By which epoch each operation was recorded; the first is operation 1. */
  authors: readonly number[]
  /** What the strictest acknowledgement promised. */
  promised: readonly number[]
  /** Who opened the room last, and what it read. */
  told: { epoch: number } & FromDisk
  /** Numbers and epochs that were given out. */
  numbers: readonly PeerId[]
  epochs: readonly number[]
  notes: { lost: string; twice: string; torn: string; untold: string; alarm: string } & Seen
  /** What somebody copied of the disk, with what was claimed then. */
  copy: Copy | null
  left: Left
}

/** A copy of the hub's folder: whoever puts it back loses what came after. */
export type Copy = Pick<KeptScene, 'disk' | 'promised' | 'told' | 'numbers' | 'epochs'>

type Left = Omit<KeptScope, 'name' | 'deep' | 'bug' | 'others' | 'paths'>

/** What has happened on the way. */
interface Seen {
  opened: boolean
  /** Somebody heard that it is too early; that it is no member any more; that another opened it. */
  early: boolean
  out: boolean
  second: boolean
  entries: boolean
  restored: boolean
  /** Somebody was told of a loss. */
  told: boolean
}

/** All that a later step could read. */
export function essence(scene: KeptScene): unknown {
  const { now, writing, owed, authors, promised, told, numbers, epochs, notes, left } = scene
  const by = new Map(scene.peers.map(({ stream }, who) => [stream, who]))
  const disk = [diskOf(scene.disk), writing, scene.loads, scene.reads.map(({ names }) => names)]
  const copy = scene.copy && { ...scene.copy, disk: diskOf(scene.copy.disk) }
  const claims = [authors, promised, told, numbers, epochs, Object.values(notes), copy]
  const peers = scene.peers.map((peer) => ofPeer(peer, scene.hub))
  return [now, ofHub(scene, by), disk, owed, peers, claims, Object.values(left)]
}

// No disk changes any more that a step has left: what is on it is found once.
const HASHES = new WeakMap<Disk, number>()
const ROOMS = new WeakMap<Disk, Found>()

function diskOf(disk: Disk): number {
  const known = HASHES.get(disk) ?? hash(disk)
  HASHES.set(disk, known)
  return known
}

function ofPeer(peer: Peer, { connections }: Hub): unknown {
  const { phase, stream, inc, epoch, yesAt, session, ops, acked, known, coming, up, down } = peer
  const from = connections.get(stream)
  const there = from ? [from.inc, from.created, from.founded.size] : null
  const lead = session && ofLead(session)
  return [phase, there, inc, epoch, yesAt, lead, ops, acked, known, coming, up, down]
}

function ofLead({ server, lineage }: Session): unknown {
  if (!('lead' in server)) return null
  const { persistence } = server.lead
  const { role, published } = server
  return [role, published.size, server.durable.nextInc, Object.values(persistence), lineage]
}

type By = ReadonlyMap<number, number>

function ofHub({ hub, session }: KeptScene, by: By): unknown {
  const { archivedAt, absentAt, sweepAt, registers } = hub
  const row = registers.rows.get(session)
  const times = [archivedAt, absentAt, sweepAt, registers.asking.dueAt]
  const asked = hub.pendingRequests.get(session)
  const waiting = hub.waiting.get(PLACE_KEY)?.map(({ connection, message }) => {
    return [by.get(connection), message.kind]
  })
  const attached = [...(hub.attached.get(session) ?? [])].map(([inc, at]) => [inc, by.get(at)])
  const present = hub.expiries.get(session)
  const attendance = present && [present.attended, present.since, present.total, present.until]
  const reads = [...hub.pendingReads.values()].map((one) => ofAsked(one.asked, by))
  return [
    ...[times, row && ofRow(row), ofRoom(hub, session, by), waiting, asked && ofAsked(asked, by)],
    ...[reads, attached, attendance],
  ]
}

function ofAsked(asked: PendingRequest, by: By): unknown {
  const opened = asked.kind === 'add' && asked.opened
  return [asked.kind, by.get(asked.connection), opened && stands(opened.stored)]
}

function ofRow({
  entry,
  pending,
  members,
  present,
  goneAt,
  lastYes,
  knownAt,
  missed,
  storeFailed: refused,
  goodbyes,
}: Row): unknown {
  const { register, standing } = entry
  return [
    register,
    standing,
    pending,
    members.map(({ inc }) => inc),
    present,
    goneAt,
    lastYes,
    knownAt,
    missed,
    refused,
    [...goodbyes].map(([inc, { epoch, index }]) => [inc, epoch, index]),
  ]
}

function ofRoom(hub: Hub, session: string, by: By): unknown {
  const room = hub.archive.rooms.get(session)
  if (!room) return null
  const [next, writing] = [room.next, room.writing].map((batch) => {
    if (!batch) return null
    const waiters = batch.waiters.map(({ connection, index, acks }) => {
      return [by.get(connection), index, acks]
    })
    return [batch.stored && stands(batch.stored), batch.segments, waiters]
  })
  const { saved, unloaded, complete } = room
  return [saved && stands(saved), unloaded, next, writing, complete]
}

function stands({ session, ...rest }: StoredRoom): unknown {
  return [session.entry.register, session.members.map(({ inc }) => inc), Object.values(rest)]
}

/** What a disk has of a room. */
export interface Found {
  readonly stored: StoredRoom | null
  readonly segments: number
  /** The operations in them; or why they are no room. */
  readonly ops: readonly number[] | string
}

/** The room as that disk has it. */
export function roomOn(disk: Disk, session: string): Found {
  const known = ROOMS.get(disk) ?? readRoom(disk, session)
  ROOMS.set(disk, known)
  return known
}

function readRoom(disk: Disk, session: string): Found {
  const record = disk.get(PLACE_KEY)
  const known = record && readPlace(record)
  const stored = known?.stored ? { ...known.stored, session: known.session } : null
  const segments: Uint8Array[] = []
  for (const [key, bytes] of disk) {
    const [prefix, at] = key.split(' ')
    if (prefix === session) segments[Number(at)] = bytes
  }
  const ops = segments.length === 0 ? [] : opsIn(segments)
  return { stored, segments: segments.length, ops }
}
