/**
 * The objects as a part of a member: the messages to the rooms' verbs, views, links, what is due.
 */

import type { Millis, Part, PartOut, PartView, PeerId } from '../machine.ts'
import { type ByteReader, createReader, finish, isDone, readU8, readVarint } from '../wire/bytes.ts'
import { LOOK_MS, takeSaid } from './accept.ts'
import { createSight, delivered, flush, forgetAll, owe, oweAll, reach } from './duty.ts'
import { beginToSee, beginToShow, hideFurther, lookAgain, unwatch } from './interest.ts'
import { BATCH_BYTES, begin, KIND, plain, readEntry, readName, writeEntry } from './messages.ts'
import {
  type Asked,
  balance,
  BALANCE_MS,
  conclude,
  decide,
  declined,
  endGrace,
  endAsked,
  endGrants,
  giveBack,
  grantAgain,
  REFUSED,
  settleView,
  takeOrphan,
} from './owning.ts'
import { drain, leavesAt } from './queue.ts'
import { reckon, reckonsAt } from './reckoning.ts'
import { askAgain, settle, takeGrant } from './requests.ts'
import {
  create,
  forget,
  GATE,
  leads,
  type ObjectEvent,
  type Objects,
  type Sight,
  type Turn,
  type Types,
} from './state.ts'
import { acked, lost, read, waits, write } from './updates.ts'
import { compare, readVersion } from './version.ts'

/** The channel of objects. */
export const OBJECTS_CHANNEL = 4
/** A destroyed object is remembered so long: nothing older is on its way any more (B49). */
export const TOMBSTONE_MS: Millis = 60_000
/** After a primary has told all: so long what others knew may still come by way of it. */
const COUNT_MS: Millis = 3_000
/** Members that went whose players are remembered. */
const WENT_MAX = 256

/** The part, for a game with these types. */
export function objectsPart(types: Types): Part<Objects> {
  const turn = (objects: Objects, now: Millis, out: PartOut): Turn => {
    return { objects, types, now, out: out as PartOut<ObjectEvent> }
  }
  return {
    channel: OBJECTS_CHANNEL,
    receive: (state, now, from, bytes, out) => receive(turn(state, now, out), from, bytes),
    read: (state, now, from, bytes, out) => read(turn(state, now, out), from, bytes),
    write: (state, now, to, seq, writer, budget) => {
      return write(state, types, now, to, seq, writer, budget)
    },
    waits,
    dirty: drain,
    flush: (state, now, out) => {
      const done = turn(state, now, out)
      reckon(done)
      flush(done)
    },
    wake: (state, now, out) => wake(turn(state, now, out)),
    deadline: (state) =>
      Math.min(state.lookAt, state.countedAt, state.balanceAt, leavesAt(state), reckonsAt(state)),
    clock: (state, offset) => void (state.offset = offset),
    reset: (state, out) => reset(turn(state, 0, out)),
    view: (state, now, view, out) => viewed(turn(state, now, out), view),
    linked: (state, now, peer) => linked(state, types, now, peer),
    acked,
    lost,
    delivered: (state, peer, upTo) => delivered(state, 0, peer, upTo),
  }
}

function reset({ objects, out }: Turn): void {
  for (const number of objects.requests.keys()) {
    out.emit({ kind: 'object-answer', request: number, answer: 'gone' })
  }
  const { offset, counters, variant, nextRequest, gatherMs } = objects
  Object.assign(objects, { ...create(gatherMs), offset, counters, variant, nextRequest })
}

// Hostile: what is malformed is counted, and so is what is not for us.
function receive(turn: Turn, from: PeerId, bytes: Uint8Array): void {
  const { objects } = turn
  const reader = createReader(bytes)
  const kind = readU8(reader)
  if (objects.variant === 'deaf-to-strangers' && !objects.here.has(from)) return
  if (reader.failed || !(known(kind) && take(turn, from, kind, reader))) {
    objects.counters.malformed++
  }
}

function known(kind: number): boolean {
  return kind >= KIND.tell && kind <= KIND.refuse
}

// Returns whether it was well formed.
function take(turn: Turn, from: PeerId, kind: number, reader: ByteReader): boolean {
  const { objects } = turn
  switch (kind) {
    case KIND.tell:
    case KIND.orphans:
      return entries(turn, from, kind, reader)
    case KIND.hide:
      return hide(turn, from, reader)
    case KIND.follow:
      return followed(turn, from, readVarint(reader), reader)
    case KIND.census:
      return counted(turn, from, readVarint(reader), reader)
    case KIND.refuse: {
      const [number, why] = [readVarint(reader), readVarint(reader)]
      if (!isDone(reader) || why > REFUSED.gone) return false
      if (from === objects.primary) {
        conclude(turn, number, why === REFUSED.gone ? 'gone' : 'refused')
      }
      return true
    }
    default:
      return takeOwning(turn, from, kind, reader)
  }
}

function takeOwning(turn: Turn, from: PeerId, kind: number, reader: ByteReader): boolean {
  const { objects, types, out } = turn
  if (kind === KIND.grant) {
    const version = readVersion(reader)
    const base = readEntry(reader, types)
    if (!isDone(reader)) return false
    takeGrant(turn, from, version, base)
    settleKey(turn, base.key)
    return true
  }
  const number = kind === KIND.request ? readVarint(reader) : 0
  const { key, version } = readName(reader)
  if (kind === KIND.request) return requested(turn, { from, number, key, version }, reader)
  const by = readVarint(reader)
  if (!isDone(reader)) return false
  if (kind === KIND.decline) {
    if (leads(objects)) declined(turn, from, key)
    else objects.counters.ignored++
  } else if (from === objects.primary && objects.replicas.get(key)?.owner === objects.me) {
    out.emit({ kind: 'object-asked', key, by })
  } else objects.counters.ignored++
  return true
}

function requested(
  turn: Turn,
  head: Pick<Asked, 'from' | 'number' | 'key' | 'version'>,
  reader: ByteReader,
): boolean {
  const { objects, types } = turn
  const { key } = head
  const said = readU8(reader)
  const what = said === 1 ? 'give' : 'take'
  const to = readVarint(reader)
  const entry = what === 'give' ? readEntry(reader, types) : null
  if (!isDone(reader) || said > 1 || (entry && entry.key !== key)) return false
  if (leads(objects)) decide(turn, { ...head, what, to, entry })
  else objects.counters.ignored++
  // Our own, if it is to us that it was given.
  settleKey(turn, key)
  return true
}

function entries(turn: Turn, from: PeerId, kind: number, reader: ByteReader): boolean {
  const { objects, types } = turn
  while (!reader.failed && reader.at < reader.end) {
    const said = readEntry(reader, types)
    if (reader.failed) return false
    if (kind === KIND.tell) takeSaid(turn, from, said)
    else if (leads(objects)) takeOrphan(turn, said)
    else objects.counters.ignored++
    settleKey(turn, said.key)
  }
  return !reader.failed
}

function settleKey(turn: Turn, key: number): void {
  const replica = turn.objects.replicas.get(key)
  if (replica && turn.objects.requests.size > 0) settle(turn, replica)
}

// Whoever speaks for it does not let us see it any more; what we know of it stays, unseen.
function hide(turn: Turn, from: PeerId, reader: ByteReader): boolean {
  const { objects, out } = turn
  while (!reader.failed && reader.at < reader.end) {
    const { key, version } = readName(reader)
    if (reader.failed) return false
    const replica = objects.replicas.get(key)
    // In a mesh it may be of an owner that we have not heard of.
    const newer = replica !== undefined && compare(version, replica.version) > 0
    const speaks = from === objects.primary || from === replica?.owner || (newer && objects.mesh)
    const mine = replica?.owner === objects.me
    if (!replica || replica.dead || replica.hidden || !speaks || (mine && !newer)) {
      objects.counters.ignored++
      continue
    }
    // It was ours, and whose it is we may not know.
    if (mine) Object.assign(replica, { version, owner: 0, giving: false })
    if (mine) hideFurther(turn, replica, true)
    replica.hidden = true
    settleKey(turn, key)
    out.emit({ kind: 'object-went', key })
  }
  return !reader.failed
}

// A peer knows that we lead: now what we tell it counts.
function followed(turn: Turn, from: PeerId, epoch: number, reader: ByteReader): boolean {
  const { objects } = turn
  const sight = objects.sights.get(from)
  if (!isDone(reader)) return false
  const since = Math.min(epoch, objects.epoch)
  if (objects.mesh && !leads(objects) && sight && since > sight.retoldIn) {
    return retell(turn, from, sight, since)
  }
  // On one link it is said once.
  if (!leads(objects) || epoch < objects.reign.from || !sight || sight.follows) {
    objects.counters.ignored++
    return true
  }
  if (!objects.mesh) forgetAll(sight)
  sight.follows = true
  sight.censusDue = true
  objects.owing.add(from)
  if (!objects.mesh) oweAll(turn, from, sight)
  if (objects.variant === 'inherited-acks') inherit(objects, from, sight)
  grantAgain(turn, from)
  return true
}

// In a mesh one that led until now took what we said for a lie. Once in an epoch it hears it again.
function retell(turn: Turn, from: PeerId, sight: Sight, epoch: number): boolean {
  sight.retoldIn = epoch
  forgetAll(sight, true)
  oweAll(turn, from, sight)
  return true
}

// The primary has told all that it knows: so we do, and what we do not have is not there.
function counted(turn: Turn, from: PeerId, reign: number, reader: ByteReader): boolean {
  const { objects } = turn
  if (!isDone(reader)) return false
  if (from !== objects.primary) return true
  // It led before, and somebody else between: what we said then it did not take.
  if (reign > objects.toldIn) tellAnew(turn)
  tellOrphans(turn)
  forgetUnseen(turn)
  turn.out.emit({ kind: 'objects-told' })
  objects.countedAt = turn.now + COUNT_MS
  return true
}

// What we may not see any more the one before would have hidden; this one does not know what we
// saw.
function forgetUnseen({ objects, types, out }: Turn): void {
  for (const replica of objects.replicas.values()) {
    const { key, dead, hidden, owner, toldAt } = replica
    // In a mesh the primary speaks for what it adopted alone.
    const told = objects.mesh ? objects.here.has(owner) : toldAt === objects.follows
    if (told || types[replica.type]!.sight === null || dead || hidden || owner === objects.me)
      continue
    replica.hidden = true
    out.emit({ kind: 'object-went', key })
  }
}

function tellAnew(turn: Turn): void {
  const { objects } = turn
  const sight = objects.sights.get(objects.primary)
  if (sight && !objects.mesh) {
    const { linked: open } = sight
    forgetAll(sight)
    if (open) oweAll(turn, objects.primary, sight)
  }
  objects.toldIn = objects.epoch
  askAgain(turn)
}

// Planted: as if the peer had from us what it had from the primary before.
function inherit(objects: Objects, peer: PeerId, sight: Sight): void {
  for (const replica of objects.replicas.values()) {
    if (replica.owner === peer) continue
    reach(sight, replica.slot)
    sight.gate[replica.slot] = GATE.open
    sight.acked[replica.slot] = replica.oseq
  }
}

// What we have of members who went, to the primary that has told us all it knows.
function tellOrphans(turn: Turn): void {
  const { objects, types } = turn
  if (objects.variant === 'no-orphans') return
  let writer = begin(KIND.orphans)
  for (const replica of objects.replicas.values()) {
    if (objects.here.has(replica.owner) || replica.hidden) continue
    if (replica.dead && objects.variant?.startsWith('no-tombstone')) continue
    writeEntry(writer, types, replica)
    if (writer.length < BATCH_BYTES) continue
    objects.outbox.push({ to: objects.primary, bytes: finish(writer) })
    writer = begin(KIND.orphans)
  }
  if (writer.length > 1) objects.outbox.push({ to: objects.primary, bytes: finish(writer) })
}

// Of a reign we see each epoch: where one is missing somebody else led, though it is we again.
function ledBetween(objects: Objects, { me, primary, epoch }: PartView): boolean {
  return me === primary && objects.epoch !== 0 && epoch > objects.epoch + 1
}

function viewed(turn: Turn, view: PartView): void {
  const { objects, now } = turn
  if (objects.me !== 0 && objects.me !== view.me) reset(turn)
  const other = objects.primary !== view.primary || ledBetween(objects, view)
  const later = objects.epoch !== view.epoch
  const { primary: before } = objects
  Object.assign(objects, { me: view.me, primary: view.primary, epoch: view.epoch, mesh: view.mesh })
  if (other) {
    // What was asked of us and granted by us in an earlier reign is over.
    objects.grants.clear()
    objects.asked.clear()
    objects.reign = { from: view.epoch, at: now }
  }
  const { came, gone } = compareMembers(objects, view)
  for (const peer of gone) {
    unwatch(objects, peer)
    objects.sights.delete(peer)
  }
  if (other && objects.variant === 'order-by-link' && !leads(objects)) {
    for (const replica of objects.replicas.values()) if (replica.owner !== view.me) replica.oseq = 0
  }
  if (other) for (const sight of objects.sights.values()) leave(objects, sight)
  for (const peer of came) if (peer !== objects.me) meet(turn, peer)
  if (other && leads(objects) && !objects.mesh) beginToShow(turn)
  if (other && objects.mesh) showTo(turn, [before, view.primary])
  if (other && !leads(objects)) askThose(objects)
  if (other) follow(turn)
  else if (later) sayFollow(objects)
  if (leads(objects)) {
    settleView(turn, view.left ?? false)
    if (gone.length > 0) askAll(objects)
  }
  objects.lookAt = Math.min(objects.lookAt, now + LOOK_MS)
  objects.balanceAt = leads(objects) ? Math.min(objects.balanceAt, now + BALANCE_MS) : Infinity
}

// What they told us while we led, and took it for a lie, they think that we know.
function askThose(objects: Objects): void {
  for (const peer of objects.early) {
    if (objects.here.has(peer))
      objects.outbox.push({ to: peer, bytes: plain(KIND.follow, objects.epoch) })
  }
  objects.early.clear()
}

// Somebody went: the others say what they have of theirs.
function askAll({ sights, owing }: Objects): void {
  for (const [peer, sight] of sights) {
    sight.censusDue = sight.follows
    if (sight.follows) owing.add(peer)
  }
}

// A primary sees all, and who was one no more than others.
function showTo(turn: Turn, peers: readonly PeerId[]): void {
  const { objects, types } = turn
  for (const replica of objects.replicas.values()) {
    if (replica.owner !== objects.me || types[replica.type]!.sight === null) continue
    for (const peer of peers) {
      const sight = objects.sights.get(peer)
      const knows = sight?.gate[replica.slot] ?? GATE.none
      const sees = peer === objects.primary || sight?.seen[replica.slot] === 1
      const isOpen = knows !== GATE.none && knows !== GATE.hidden && knows !== GATE.hiding
      if (sight && sees !== isOpen) owe(turn, peer, sight, replica)
    }
  }
}

// Another primary: in a star nobody knows any more what we have told them.
function leave({ mesh }: Objects, sight: Sight): void {
  sight.follows = false
  sight.outdated.clear()
  if (!mesh) forgetAll(sight)
}

function compareMembers(objects: Objects, view: PartView): { came: PeerId[]; gone: PeerId[] } {
  const here = new Map(view.members.map(({ inc, player }) => [inc, player]))
  const came = [...here.keys()].filter((inc) => !objects.here.has(inc))
  const gone = [...objects.here.keys()].filter((inc) => !here.has(inc))
  for (const inc of gone) objects.went.set(inc, objects.here.get(inc)!)
  for (const inc of objects.went.keys()) {
    if (objects.went.size <= WENT_MAX) break
    objects.went.delete(inc)
  }
  objects.here = here
  return { came, gone }
}

function meet(turn: Turn, peer: PeerId): void {
  const { objects } = turn
  const sight = sightOf(objects, peer)
  beginToSee(turn, peer, sight)
  oweAll(turn, peer, sight)
}

function sightOf(objects: Objects, peer: PeerId): Sight {
  let sight = objects.sights.get(peer)
  if (!sight) objects.sights.set(peer, (sight = createSight()))
  return sight
}

// Our primary is another: it is to tell us all, and hears all of ours and what we asked for.
function follow(turn: Turn): void {
  const { objects } = turn
  const { primary } = objects
  if (leads(objects)) {
    askAgain(turn)
    turn.out.emit({ kind: 'objects-told' })
    objects.countedAt = turn.now + COUNT_MS
    return
  }
  const sight = objects.sights.get(primary)
  if (!sight?.linked) return
  sayFollow(objects)
  objects.toldIn = objects.epoch
  objects.follows++
  if (!objects.mesh) oweAll(turn, primary, sight)
  askAgain(turn)
}

// Said in each epoch: a primary that lost its role and got it back has not heard it since.
function sayFollow(objects: Objects): void {
  const { primary, epoch } = objects
  if (leads(objects) || !objects.sights.get(primary)?.linked) return
  objects.outbox.push({ to: primary, bytes: plain(KIND.follow, epoch) })
}

function linked(objects: Objects, types: Types, now: Millis, peer: PeerId): void {
  const sight = sightOf(objects, peer)
  // In a mesh nobody else tells it what it may not see any more.
  forgetAll(sight, objects.mesh)
  sight.linked = true
  // Nothing of this tells the application anything.
  const out = { send: () => 0, emit: () => {} }
  const turn: Turn = { objects, types, now, out }
  if (!objects.here.has(peer)) return
  oweAll(turn, peer, sight)
  if (peer === objects.primary) follow(turn)
}

function wake(turn: Turn): void {
  const { objects, now } = turn
  if (now >= objects.balanceAt) {
    objects.balanceAt = now + BALANCE_MS
    balance(turn)
  }
  if (now >= objects.countedAt) {
    objects.countedAt = Infinity
    turn.out.emit({ kind: 'objects-settled' })
  }
  if (now < objects.lookAt) return
  objects.lookAt = now + LOOK_MS
  lookAgain(turn)
  if (leads(objects)) {
    giveBack(turn)
    endGrace(turn)
    endGrants(turn)
    endAsked(turn)
  }
  for (const replica of [...objects.replicas.values()]) {
    if (!replica.dead || now - replica.since < TOMBSTONE_MS) continue
    objects.grants.delete(replica.key)
    objects.asked.delete(replica.key)
    forget(objects, replica)
  }
}
