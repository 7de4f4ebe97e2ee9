/**
 * The members' side in the model of kept rooms: session/{persistence,segments}.ts as they
 * are, over as much of a session as they read. An operation is one entry of the log, and the parts
 * are the list of all operations.
 */

import type { FromHub, Register, ToHub } from '../../packages/holdfast/src/hub-protocol/messages.ts'
import { type Millis, type PeerId, RIGHTS } from '../../packages/holdfast/src/machine.ts'
import * as durable from '../../packages/holdfast/src/replication/durable.ts'
import {
  deltaLayout,
  type Member,
  type PersistedPoint,
  type LeaderStart,
} from '../../packages/holdfast/src/replication/layouts.ts'
import * as commit from '../../packages/holdfast/src/replication/log.ts'
import * as persistence from '../../packages/holdfast/src/session/persistence.ts'
import * as lineage from '../../packages/holdfast/src/session/lineage.ts'
import * as whole from '../../packages/holdfast/src/session/session.ts'
import { RULES } from '../../packages/holdfast/src/session/session.ts'
import * as segments from '../../packages/holdfast/src/session/segments.ts'
import type { Session, SessionOut } from '../../packages/holdfast/src/session/state.ts'
import type { Role } from '../../packages/holdfast/src/session/role-table.ts'
import { digest, proofOf } from '../../packages/holdfast/src/wire/digest.ts'
import { KEY_BYTES } from '../../packages/holdfast/src/ports.ts'
import { encode } from '../../packages/holdfast/src/wire/layout.ts'
import { NO_PARTS } from './processes.ts'

/** A day, so that no room is dropped meanwhile. */
export const TERMS = 'keep=1440'
const PART = 1
const PLAYER = 1
const NOBODY = new Uint8Array(0)
const PROOFS = [1, 2, 3].map((byte) => proofOf(new Uint8Array(16).fill(byte), 'register'))
const HASHES = PROOFS.map((proof) => digest(proof))
const KEY = new Uint8Array(KEY_BYTES)

/** A process: the first primary, or one who may open the room. */
export interface Peer {
  phase: 'idle' | 'asks' | 'leads' | 'dead'
  /** Its stream to the hub; 0 for none. */
  stream: number
  inc: PeerId
  epoch: number
  /** When it last said that it lives. */
  yesAt: Millis
  /** As far as session/persistence.ts reads it; null unless it leads. */
  session: Session | null
  /** What it has recorded, and how much of it is acknowledged. */
  ops: number[]
  acked: number
  /** The newest that it knows to be on disk, and the operations up to there: as in its token. */
  known: { point: PersistedPoint; ops: readonly number[] } | null
  /** Who was let in, and is told once so much is acknowledged. */
  coming: { inc: PeerId; at: number } | null
  up: ToHub[]
  down: FromHub[]
}

/** How a process asks for the room. */
export function wishOf(who: number): ToHub & { kind: 'add' } {
  const [link, key] = [0x10 + who, 0x20 + who].map((byte) => new Uint8Array(32).fill(byte))
  return {
    ...({ kind: 'add', request: 1, game: 'g', room: 'r', playersMax: 8, recovers: true } as const),
    ...({ topology: 'star', terms: TERMS, hosts: false, ticket: '', fresh: false } as const),
    ...{ hash: HASHES[who]!, link: link!, key: key! },
  }
}

/** How a member attaches. */
export function attachOf(who: number, session: string, inc: PeerId): ToHub {
  return { kind: 'attach', request: 2, session, inc, proof: PROOFS[who]! }
}

/** How a primary ends its session. */
export function endOf(who: number, session: string, { inc, epoch }: Peer): ToHub {
  const demand = { session, inc, proof: PROOFS[who]!, expect: epoch, primary: 0, backup: 0 }
  return { kind: 'change', request: 3, ...demand, why: 'end' }
}

/** A primary asks the register for a backup, or to drop it. */
export function seekBackup(who: number, peer: Peer, id: string, why: 'add' | 'drop'): void {
  const { server } = peer.session!
  const { inc, epoch } = peer
  server.role = why === 'add' ? 'adding' : 'dropping'
  const backup = why === 'add' ? Math.max(...server.published.keys()) : 0
  const demand = { session: id, inc, proof: PROOFS[who]!, expect: epoch, primary: inc, backup }
  peer.up.push({ kind: 'change', request: 4, ...demand, why })
}

/** The register as the hub says it: only that changes a role. */
export function registered(peer: Peer, { epoch, primary, backup }: Register): void {
  if (primary !== peer.inc || epoch <= peer.epoch) return
  peer.epoch = epoch
  peer.session!.server.role = backup === 0 ? 'alone' : 'backedup'
}

/** Its role, as primary. */
export function roleOf({ session }: Peer): Role {
  return session!.server.role
}

/** A primary ends: what it owes is written, and it is gone for good. */
export function farewell(peer: Peer): void {
  whole.shutDown({ session: peer.session!, now: 0, out: outOf(peer) })
  whole.farewell(peer.session!, outOf(peer))
  Object.assign(peer, { phase: 'dead', session: null })
}

/** What a process has read. */
export interface FromDisk {
  ops: readonly number[]
  lineage: readonly LeaderStart[]
  segments: number
}

/** A primary begins, with what it has read. */
export function lead(
  peer: Peer,
  id: string,
  { inc, epoch, next, from }: Pick<Peer, 'inc' | 'epoch'> & { next: PeerId; from: FromDisk },
): void {
  const { ops } = from
  const log = commit.create(ops.length)
  const state = { ...durable.create(), nextInc: next }
  // Of the session there is what persistence.ts reads.
  const session = {
    ...{ id, me: inc, leaving: false, terms: TERMS, keptTypes: '', keeps: true, recovers: true },
    ...{ hub: { up: true }, topology: 'star', playersMax: 8 },
    ...{ lineage: from.lineage, point: null, rules: RULES },
    // No two draw the same.
    secret: Uint8Array.of(peer.stream, inc),
    server: {
      ...{
        role: 'alone',
        epoch,
        log,
        durable: state,
        published: new Map([[inc, memberOf(inc, false)]]),
        lead: {},
      },
    },
  } as unknown as Session & { server: { role: 'alone' } }
  lineage.begin(session, epoch, ops.length, { segments: from.segments, imported: false })
  const { persistence: begun } = persistence.beginLead(session, 0, 0, [], {
    founds: true,
    free: ops.length,
  })
  Object.assign(session.server.lead, { persistence: begun })
  Object.assign(peer, {
    phase: 'leads',
    session,
    inc,
    epoch,
    ops: [...ops],
    acked: ops.length,
    coming: null,
  })
}

function memberOf(inc: PeerId, hasPath: boolean): Member {
  return {
    ...{ inc, player: inc, name: '', kind: 'node', rights: RIGHTS.play },
    ...{ link: KEY, key: KEY, registerHash: HASHES[0]! },
    addresses: hasPath ? ['10.0.0.9:7000'] : [],
  }
}

/** A primary records an operation. */
export function record(peer: Peer, op: number): void {
  const session = peer.session as Session & { server: { role: 'alone' } }
  peer.ops.push(op)
  session.server.log = commit.create(peer.ops.length)
  const changes = [{ part: PART, bytes: Uint8Array.of(op) }]
  const delta = { kind: 'operation', player: PLAYER, seq: op, outcome: NOBODY, changes } as const
  const length = peer.ops.length
  persistence.noteEntry(session.server.lead, 0, encode(deltaLayout, delta), { length, acts: true })
}

/** When something is to be written; later than 0 if only for want of an answer. */
export function due({ session }: Peer): Millis {
  return session ? persistence.deadline(session) : Infinity
}

/** Writes what is due. */
export function write(peer: Peer): void {
  persistence.flush({ session: peer.session!, now: Math.max(0, due(peer)), out: outOf(peer) })
}

/** Writes what is owed, and leaves. */
export function leave(peer: Peer): void {
  persistence.writeAll({ session: peer.session!, now: 0, out: outOf(peer) })
}

function outOf(peer: Peer): SessionOut {
  return {
    hub: (said) => void peer.up.push(said),
    time: () => 0,
    seal: (segment) => segment,
    emit: () => {},
    send: () => {},
    answer: () => {},
    parts: {
      ...NO_PARTS,
      collect: () => [{ part: PART, bytes: Uint8Array.from(peer.ops) }],
    },
  }
}

/** The hub says what it keeps. */
export function answered(peer: Peer, message: FromHub & { kind: 'kept' }): void {
  persistence.onKept({ session: peer.session!, now: 0, out: outOf(peer) }, message)
  learn(peer, peer.session!.point)
}

/** A bug: what was written counts as if the hub had said that it is on disk. */
export function presume(peer: Peer): void {
  const { id, lineage: line, server } = peer.session as Session & { server: { role: 'alone' } }
  const { mark, epoch } = line.at(-1)!
  learn(peer, { session: id, mark, epoch, ...server.lead.persistence.asked })
}

/** A bug: the hub is taken to believe what was said to it, before it has that on disk. */
export function believe({ session }: Peer): void {
  const { server } = session as Session & { server: { role: 'alone' } }
  const { persistence: own } = server.lead
  own.believedAcks = own.sentAcks ?? own.believedAcks
}

function learn(peer: Peer, point: PersistedPoint | null): void {
  if (point) peer.known = { point, ops: peer.ops.slice(0, point.index) }
}

/** The stream to the hub is attached, or gone. */
export function attached({ session }: Peer, isUp: boolean): void {
  if (session && isUp) persistence.onAttached(session)
  else if (session) persistence.onDetached(session)
}

/** Somebody is let in beside the primary, by that operation. */
export function letIn(peer: Peer, op: number, hasPath: boolean): void {
  const { server } = peer.session!
  const inc = server.durable.nextInc++
  record(peer, op)
  server.durable.members.set(inc, memberOf(inc, hasPath))
  peer.coming = { inc, at: peer.ops.length }
}

/** Whoever was let in is told so, as soon as that may be. @returns their number; 0 for nobody */
export function told(peer: Peer): PeerId {
  const { coming, session } = peer
  if (!coming || coming.at > peer.acked) return 0
  const { inc } = coming
  const { durable: own, published } = session!.server
  published.set(inc, own.members.get(inc)!)
  peer.coming = null
  return inc
}

/** Whoever came last goes. */
export function goes({ session }: Peer): void {
  const { durable: own, published } = session!.server
  const last = Math.max(...published.keys())
  published.delete(last)
  own.members.delete(last)
}

/** How many are here, by the primary. */
export function here({ session }: Peer): number {
  return session?.server.published.size ?? 0
}

/** How much may be acknowledged; Infinity if others have it. */
export function limitOf({ session }: Peer): number {
  return persistence.limitOf(session!)
}

/** The operations in the segments of a room; or why they are no room. */
export function opsIn(all: readonly Uint8Array[]): readonly number[] | string {
  const found = readSegments(all)
  return typeof found === 'string' ? found : found.ops
}

/** The segments of a room; or why they are none. */
export function readSegments(all: readonly Uint8Array[]): FromDisk | string {
  const found = segments.read(all.map((bytes) => ({ bytes, index: null })))
  if (!found) return `${all.length} segments are no room`
  const ops = [...found.parts, ...found.changes].flatMap(({ bytes }) => [...bytes])
  const { lineage: line, segments: count } = found
  if (found.length === ops.length) return { ops, lineage: line, segments: count }
  return `a log of ${found.length} has ${ops.length} operations`
}

/** Why the hub does not keep it; '' if it does. */
export function whyOf({ session }: Peer): string {
  const { server } = session as Session & { server: { role: 'alone' } }
  return server.lead.persistence.why
}
