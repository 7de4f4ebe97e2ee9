/**
 * Rooms that outlive their members, in every order of a small scope: the whole shipped hub with its
 * disk, and on the members' side the shipped writing and reading of segments (kept-peer.ts).
 *
 * Links among members, views, roles and leases are not in it: whoever comes beside the first
 * primary holds what it holds from then on. What is said to the hub and by it may stay in its
 * stream for as long as it likes, but for what a process begins a stream with.
 */

import {
  SILENT_MS,
  type FromHub,
  LATER,
} from '../../packages/holdfast/src/hub-protocol/messages.ts'
import { BACK_MS } from '../../packages/hub/src/machine/persistence.ts'
import { ASK_MS, RECOVER_MS } from '../../packages/hub/src/machine/register.ts'
import type * as chunks from '../../packages/holdfast/src/wire/chunks.ts'
import type { LeaderStart } from '../../packages/holdfast/src/replication/layouts.ts'
import { lacks as lacksOf } from '../../packages/holdfast/src/session/lineage.ts'
import { PROMISED_MAX_MS } from '../../packages/holdfast/src/session/persistence.ts'
import type { Action, Model } from '../../packages/sim/src/checker/checker.ts'
import { forced, forgetful, thrifty } from './kept-hub.ts'
import * as hub from './kept-hub.ts'
import * as peers from './kept-peer.ts'
import type { Peer } from './kept-peer.ts'
import { essence, type KeptScene, roomOn } from './kept-scene.ts'
import type { KeptScope } from './kept-scene.ts'

const FIRST = 0
const NOTHING_READ: peers.FromDisk = { ops: [], lineage: [], segments: 0 }

/** The model of that scope. */
export function keptModel(name: string, scope: KeptScope): Model<KeptScene> {
  return {
    name,
    init: () => begin(scope),
    actions: (scene) => actions(scope, scene),
    always: {
      'room.kept': ({ notes }) => notes.lost === '' || notes.lost,
      'room.fence': fence,
      'room.one': ({ notes }) => notes.twice === '' || notes.twice,
      'room.whole': whole,
      'room.strict': strict,
      'room.told': ({ notes }) => notes.untold === '' || notes.untold,
      'room.calm': ({ notes }) => notes.alarm === '' || notes.alarm,
    },
    sometimes: sometimes(scope),
    copy: (scene) => ({
      ...scene,
      peers: [...scene.peers],
      notes: { ...scene.notes },
      left: { ...scene.left },
    }),
    canonical: essence,
    show,
  }
}

// What happens on some way, or the scope is too small.
function sometimes({
  others,
  ops,
  breaks,
  kills,
  long,
  copies,
}: KeptScope): Record<string, (scene: KeptScene) => boolean> {
  return {
    'opened with all': ({ notes, told }) => notes.opened && told.ops.length === ops,
    'opened with entries': ({ notes }) => notes.entries,
    ...(kills > 0 && long > 0 && { 'too early': ({ notes }) => notes.early }),
    ...(breaks > 0 && { 'the first is out': ({ notes }) => notes.out }),
    ...(copies > 0 && {
      'opened from an old copy': ({ notes }) => notes.restored && notes.opened,
      'a loss is told': ({ notes }) => notes.told,
    }),
    ...(others > 1 && { 'two at once': ({ notes }) => notes.second }),
  }
}

// What is there goes on from what was read, by nobody who led before.
function fence({ disk, session, told, authors }: KeptScene): true | string {
  const { ops } = roomOn(disk, session)
  if (typeof ops === 'string') return true
  const { length } = told.ops
  if (told.ops.some((op, at) => ops[at] !== op)) {
    return `room.fence: [${told.ops.join()}] was read, and [${ops.join()}] is there`
  }
  const late = ops.slice(length).find((op) => authors[op - 1]! < told.epoch)
  return late === undefined || `room.fence: operation ${late} is of epoch ${authors[late - 1]}`
}

// What is on disk is one state: a whole, and the entries behind it.
function whole({ disk, session, notes }: KeptScene): true | string {
  if (notes.torn !== '') return notes.torn
  const { stored, segments, ops } = roomOn(disk, session)
  if (!stored) return segments === 0 || 'room.whole: segments of no room'
  if (segments !== stored.segments) {
    return `room.whole: ${segments} segments of ${stored.segments}`
  }
  if (typeof ops === 'string') return `room.whole: ${ops}`
  return ops.length === stored.index || `room.whole: [${ops.join()}] to ${stored.index}`
}

// Who acknowledges what the hub does not have is not taken for strict.
function strict({ hub: { archive: known }, session, peers: all }: KeptScene): true | string {
  const saved = known.rooms.get(session)?.saved
  for (const peer of all) {
    if (peer.phase !== 'leads' || peers.whyOf(peer) !== '') continue
    if (peers.limitOf(peer) < Infinity || saved?.acks !== 'strict') continue
    if (saved.by === peer.inc) {
      return `room.strict: ${peer.inc} is not strict, and the hub takes it for that`
    }
  }
  return true
}

// The first primary is attached, and has written nothing.
function begin(scope: KeptScope): KeptScene {
  const { bug: _, others, paths: _paths, ...left } = scope
  const idle = {
    phase: 'idle',
    session: null,
    ...{ stream: 0, inc: 0, epoch: 0, yesAt: 0, acked: 0, known: null, coming: null },
  } as const
  const scene = {
    ...{
      now: 0,
      disk: new Map(),
      writing: null,
      owed: false,
      reads: [],
      loads: false,
      session: '',
      streams: 0,
    },
    fresh: true,
    peers: Array.from({ length: 1 + others }, () => ({ ...idle, ops: [], up: [], down: [] })),
    ...{ authors: [], promised: [], told: { epoch: 0, ...NOTHING_READ }, numbers: [], epochs: [] },
    copy: null,
    notes: {
      ...{ lost: '', twice: '', torn: '', untold: '', alarm: '', told: false },
      ...{ opened: false, early: false, out: false, second: false },
      ...{ entries: false, restored: false },
    },
    left,
  } as unknown as KeptScene
  scene.hub = hub.started(scene, 1)
  hub.dial(scene, FIRST, peers.wishOf(FIRST))
  scene.session = [...scene.hub.registers.rows.keys()][0]!
  hub.beginWrite(scene)
  hub.wrote(scene)
  hear(scope, scene, FIRST)
  hear(scope, scene, FIRST)
  hub.settle(scene)
  return scene
}

function* actions(scope: KeptScope, scene: KeptScene): Iterable<Action<KeptScene>> {
  const { left, writing, reads, loads } = scene
  for (const [who, peer] of scene.peers.entries()) yield* steps(scope, scene, who, peer)
  if (writing) yield step('the disk has it', hub.wrote)
  if (loads) yield step('the record is read', hub.load)
  if (reads.length > 0) yield step('the disk is read', hub.readNext)
  if (writing && left.refusals > 0) {
    yield mishap('the disk refuses it', 'refusals', hub.refused)
  }
  if (left.kills > 0) {
    yield mishap('the hub is killed', 'kills', (copy) => {
      if (scope.bug === 'halves' && copy.writing) hub.take(copy, true)
      hub.kill(copy)
    })
    if (writing) {
      yield mishap('the hub is killed, and the disk has it', 'kills', (copy) => {
        hub.take(copy)
        hub.kill(copy)
      })
    }
  }
  if (left.copies > 0) yield mishap('the folder is copied', 'copies', hub.copy)
  if (scene.copy) {
    yield { ...step('the hub is killed, and the copy put back', hub.putBack), environment: true }
  }
  if (left.short > 0) {
    yield mishap('some seconds pass', 'short', (copy) => hub.pass(copy, BACK_MS + 1))
  }
  if (left.middle > 0) {
    yield mishap('a lease passes', 'middle', (copy) => hub.pass(copy, RECOVER_MS + ASK_MS))
  }
  if (left.long > 0) {
    yield mishap('a minute passes', 'long', (copy) => hub.pass(copy, SILENT_MS + 1))
  }
}

type Step = (scene: KeptScene) => void

function step(label: string, next: Step): Action<KeptScene> {
  return {
    label,
    next: (scene) => {
      next(scene)
      hub.beginWrite(scene)
      hub.settle(scene)
    },
  }
}

function mishap(label: string, what: keyof KeptScene['left'], next: Step): Action<KeptScene> {
  const own = step(label, next)
  return {
    ...own,
    environment: true,
    next: (scene) => {
      scene.left[what]--
      own.next(scene)
    },
  }
}

function* steps(
  scope: KeptScope,
  scene: KeptScene,
  who: number,
  peer: Peer,
): Iterable<Action<KeptScene>> {
  const { left } = scene
  const { phase, stream, up, down } = peer
  if (phase === 'idle' && left.asks > 0 && hub.isThere(scene)) {
    yield step(`${who} asks to open the room`, (copy) => ask(scope, copy, who))
  }
  if (up.length > 0) {
    yield step(`the hub hears ${up[0]!.kind} of ${who}`, (copy) => heard(scope, copy, who))
  }
  if (down.length > 0) {
    yield step(`${who} hears ${down[0]!.kind}`, (copy) => hear(scope, copy, who))
  }
  if (stream > 0 && left.breaks > 0) {
    yield mishap(`the stream of ${who} breaks`, 'breaks', (copy) => hub.cut(copy, who))
  }
  if (left.deaths > 0 && (phase === 'asks' || phase === 'leads')) {
    yield mishap(`${who} dies`, 'deaths', (copy) => die(copy, who))
  }
  if (phase === 'leads') yield* leading(scope, scene, who, peer)
}

function* leading(
  scope: KeptScope,
  { left, session }: KeptScene,
  who: number,
  peer: Peer,
): Iterable<Action<KeptScene>> {
  const on = (label: string, next: (peer: Peer, scene: KeptScene) => void): Action<KeptScene> => {
    return step(`${who} ${label}`, (copy) => {
      const own = hub.peerOf(copy, who)
      next(own, copy)
      if (own.phase === 'leads') acknowledge(scope, copy, own)
    })
  }
  if (peer.stream === 0) {
    const message = peers.attachOf(who, session, peer.inc)
    yield step(`${who} comes back`, (copy) => hub.dial(copy, who, message))
  }
  if (left.ops > 0) yield on('records', record)
  const dueAt = peers.due(peer)
  if (dueAt < Infinity && (dueAt <= 0 || left.again > 0)) {
    yield on('writes', (own, copy) => {
      if (dueAt > 0) copy.left.again--
      peers.write(own)
      if (scope.bug === 'presumed') peers.presume(own)
      if (scope.bug === 'believed') peers.believe(own)
    })
  }
  if (left.guests > 0 && !peer.coming) {
    yield on('lets somebody in', (own, copy) => come(scope, own, copy))
  }
  const role = peers.roleOf(peer)
  if (peers.here(peer) > 1 && role === 'alone') yield on('sees one go', peers.goes)
  // Who has a backup hears of its end, or does not, and asks again on a new stream.
  if (left.backups > 0 && peer.stream > 0 && peers.here(peer) > 1) {
    const why = role === 'alone' ? 'add' : 'drop'
    if (role === 'alone' || role === 'backedup') {
      yield on(`asks to ${why} a backup`, (own, copy) => {
        copy.left.backups--
        peers.seekBackup(who, own, session, why)
      })
    }
  }
  if (left.byes > 0 && peer.stream > 0) {
    yield on('says goodbye', (own, copy) => {
      copy.left.byes--
      copy.promised = own.ops.slice(0, Math.max(own.acked, copy.promised.length))
      peers.farewell(own)
    })
  }
  if (left.leaves > 0 && peer.stream > 0) {
    yield on('leaves', (own, copy) => {
      copy.left.leaves--
      peers.leave(own)
      own.up.push(peers.endOf(who, session, own))
      Object.assign(own, { phase: 'dead', session: null })
    })
  }
}

function record(peer: Peer, scene: KeptScene): void {
  scene.left.ops--
  scene.authors = [...scene.authors, peer.epoch]
  peers.record(peer, scene.authors.length)
}

function come({ paths }: KeptScope, peer: Peer, scene: KeptScene): void {
  scene.left.guests--
  scene.authors = [...scene.authors, peer.epoch]
  peers.letIn(peer, scene.authors.length, paths)
}

function give(scene: KeptScene, inc: number): void {
  if (scene.numbers.includes(inc)) scene.notes.twice = `room.one: ${inc} is given twice`
  scene.numbers = [...scene.numbers, inc]
}

// What is acknowledged while the hub must have it is promised.
function acknowledge(scope: KeptScope, scene: KeptScene, peer: Peer): void {
  const limit = limitOf(scope, peer)
  const isBackedUp = peers.roleOf(peer) === 'backedup'
  if (limit === Infinity && !reaches(scope, scene, peer)) return
  const length =
    scope.bug === 'told-before-the-disk' ? peer.ops.length : Math.min(limit, peer.ops.length)
  if (length <= peer.acked) return
  const { told } = scene
  const acked = peer.ops.slice(0, length)
  if (told.epoch > peer.epoch && acked.some((op, at) => told.ops[at] !== op)) {
    scene.notes.lost = `room.kept: [${acked.join()}] is acknowledged by who leads no more`
  }
  peer.acked = length
  // What a backup has may be lost with both; so may what is shown where members have paths.
  if (limit < Infinity || !(isBackedUp || scope.paths)) scene.promised = acked
  const came = peers.told(peer)
  if (came > 0) give(scene, came)
}

function limitOf({ bug }: KeptScope, peer: Peer): number {
  return bug === 'alone-not-strict' && peers.here(peer) > 1 ? Infinity : peers.limitOf(peer)
}

// Whether who acknowledges with others, or by itself, may: a backup acknowledges by the relay, or
// by a path of its own for as long as promises hold.
function reaches({ paths, bug }: KeptScope, { now }: KeptScene, peer: Peer): boolean {
  if (paths) return now < peer.yesAt + PROMISED_MAX_MS
  return peer.stream > 0 || (bug === 'alone-not-strict' && peers.roleOf(peer) !== 'backedup')
}

function die(scene: KeptScene, who: number): void {
  hub.cut(scene, who)
  Object.assign(scene.peers[who]!, { phase: 'dead', session: null })
}

function ask({ bug }: KeptScope, scene: KeptScene, who: number): void {
  scene.left.asks--
  if (scene.peers.some(({ phase }) => phase === 'asks')) scene.notes.second = true
  hub.peerOf(scene, who).phase = 'asks'
  const say = (): void => hub.dial(scene, who, peers.wishOf(who))
  if (bug === 'number-twice') thrifty(scene, say)
  else if (bug === 'refused-counts') forgetful(scene, say)
  else say()
}

function heard({ bug }: KeptScope, scene: KeptScene, who: number): void {
  const said = hub.peerOf(scene, who).up.shift()!
  const say = (): void => hub.say(scene, who, said)
  if (bug === 'no-fence' && said.kind === 'keep') forced(scene, who, say)
  else if (bug === 'path-unseen' && said.kind === 'keep' && said.acks === 'free') {
    hub.say(scene, who, { ...said, acks: 'relayed' })
  } else if (bug === 'goodbye-before-the-disk' && said.kind === 'gone') {
    hub.say(scene, who, { ...said, index: 0 })
  } else say()
}

function hear(scope: KeptScope, scene: KeptScene, who: number): void {
  const peer = hub.peerOf(scene, who)
  const message = peer.down.shift()!
  const { notes } = scene
  if (message.kind === 'added') return added(scope, scene, who, message)
  // The hub takes us for no member: we come back by a new stream, or not.
  if (message.kind === 'present') return hub.cut(scene, who)
  if (message.kind === 'refused') {
    notes.early ||= message.why.startsWith(LATER)
    notes.out ||= peer.phase === 'leads'
    if (peer.phase !== 'dead') Object.assign(peer, { phase: 'idle', session: null })
    return hub.cut(scene, who)
  }
  if (peer.phase !== 'leads') return
  if (message.kind === 'register') peers.registered(peer, message.register)
  if (message.kind === 'attached') {
    peers.registered(peer, message.register)
    peers.attached(peer, true)
  }
  if (message.kind === 'kept') {
    const isUnseen = scope.bug === 'path-unseen' && message.acks === 'relayed'
    peers.answered(peer, isUnseen ? { ...message, acks: 'free' } : message)
  }
  acknowledge(scope, scene, peer)
}

function added(
  scope: KeptScope,
  scene: KeptScene,
  who: number,
  message: FromHub & { kind: 'added' },
): void {
  const { created, opened, entry } = message
  const peer = hub.peerOf(scene, who)
  const segments = peer.down.splice(0).filter((one) => one.kind === 'segment')
  if (!created) {
    peer.phase = 'idle'
    return hub.cut(scene, who)
  }
  const { epoch, primary: inc } = entry.register
  // Who hears so late of it that another has opened the room since leads nothing.
  const isLate = scene.epochs.some((other) => other > epoch)
  if (opened && !isLate) judge(scene, epoch, opened, segments)
  else if (!opened && scene.promised.length > 0)
    scene.notes.lost = 'room.kept: the room begins anew'
  give(scene, inc)
  if (scene.epochs.includes(epoch)) scene.notes.twice = `room.one: epoch ${epoch} is given twice`
  scene.epochs = [...scene.epochs, epoch]
  // Another session of that name is not looked at.
  if (scene.session !== entry.session) return die(scene, who)
  peers.lead(peer, scene.session, { inc, epoch, next: inc + 1, from: scene.told })
  if (opened && !isLate) compare(scope, scene, peer.session!.lineage)
  hub.say(scene, who, peers.attachOf(who, scene.session, inc))
}

type Opened = NonNullable<(FromHub & { kind: 'added' })['opened']>

// Somebody has opened the room, and reads it.
function judge(
  scene: KeptScene,
  epoch: number,
  { segments: said }: Opened,
  pieces: readonly chunks.Piece[],
): void {
  const { notes, promised } = scene
  if (pieces.length !== said) {
    notes.torn = `room.whole: ${said} segments are told of, and ${pieces.length} come`
  }
  const read = peers.readSegments(pieces.map(({ bytes }) => bytes))
  if (typeof read === 'string') {
    notes.torn ||= `room.whole: ${read}`
    return
  }
  const { ops } = read
  if (promised.some((op, at) => ops[at] !== op) || new Set(ops).size < ops.length) {
    notes.lost = `room.kept: [${promised.join()}] was acknowledged, and [${ops.join()}] is read`
  }
  scene.told = { epoch, ...read }
  notes.opened = true
  notes.entries ||= pieces.length > 1
}

// Whoever knew what was on disk looks whether it is there: if it is not, that is told, and where no
// older copy was put there, nothing is.
function compare({ bug }: KeptScope, scene: KeptScene, lineage: readonly LeaderStart[]): void {
  const { notes, peers: all, told } = scene
  const lacks = bug === 'epoch-and-index' ? byEpochAndIndex : lacksOf
  for (const { known } of all) {
    if (!known) continue
    const isThere = known.ops.every((op, at) => told.ops[at] === op)
    const loss = lacks(lineage, known.point)
    notes.told ||= loss !== null
    const what = `[${known.ops.join()}] was on disk, and [${told.ops.join()}] is`
    if (!isThere && !loss) notes.untold = `room.told: ${what}`
    if (loss && !notes.restored) notes.alarm = `room.calm: ${what}`
  }
}

// A bug: whoever opens a room has a larger epoch than all before.
const byEpochAndIndex: typeof lacksOf = (lineage, { epoch, index }) => {
  const last = lineage.at(-1)!
  const isOlder = last.epoch < epoch || (last.epoch === epoch && last.index < index)
  return isOlder ? { entries: index - last.index, imported: false } : null
}

function show({
  now,
  hub: { registers, archive: known },
  session,
  writing,
  peers: all,
}: KeptScene): string {
  const row = registers.rows.get(session)
  const saved = known.rooms.get(session)?.saved
  const { epoch = 0, primary = 0 } = row?.entry.register ?? {}
  const disk = saved ? `kept by ${saved.by} to ${saved.index} in ${saved.segments}` : 'nothing kept'
  const members = all.map(({ phase, inc, stream, ops, acked }) => {
    return `${phase} ${inc}${stream > 0 ? '' : ' cut off'} [${ops.join()}] ${acked}`
  })
  const on = `${row?.pending ? ', changes' : ''}${writing ? ', writes' : ''}`
  return `${now} register (${epoch}, ${primary})${on}, ${disk}; ${members.join(' | ')}`
}
