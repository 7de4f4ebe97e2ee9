/**
 * Views and links, as the session reports them: who is here, who leads, whom we are linked to; and
 * what must be sent to whom because of a change.
 */

import { isHost, mayPlay, type Millis, type PeerId, RIGHTS } from '../../machine.ts'
import type { PartView } from '../../kind/protocol/part.ts'
import { LOOK_MS } from './accept.ts'
import { countFor, forgetAll, owe, oweAll } from './fan-out.ts'
import { beginToSee, beginToShow, unwatch } from './interest.ts'
import { BATCH_BYTES, begin, KIND, plain, writeEntry } from './messages.ts'
import { BALANCE_MS, endGrace, settleView, COUNT_MS } from './orphans.ts'
import { asksAgain, endAsks, endGrants, grantAgain } from './grants.ts'
import { askAgain } from './requests.ts'
import {
  BARRIER,
  createState,
  createSubscriber,
  isUnclaimed,
  leads,
  NOBODY,
  type Objects,
  OBJECTS_MAX,
  quotaOf,
  type Replica,
  type Subscriber,
  type Turn,
  type Types,
} from './state.ts'
import { finish } from '../../wire/bytes.ts'

/** Most members that left whose players are remembered. */
const WENT_MAX = 256

/** We are in another session, or another incarnation: all state is dropped. */
export function reset({ objects, out }: Turn): void {
  for (const number of objects.requests.keys()) {
    out.emit({ kind: 'object-answer', request: number, answer: 'no-answer', by: 0 })
  }
  const { offset, counters, rules, nextRequest, gatherMs } = objects
  Object.assign(objects, { ...createState(gatherMs, rules), offset, counters, nextRequest })
}

/** Takes a new view of the session. */
export function viewed(turn: Turn, view: PartView): void {
  const { objects, now } = turn
  const { found } = objects.kept
  if (objects.me !== 0 && objects.me !== view.me) reset(turn)
  objects.kept.found = found
  // Within a term we see each epoch: where one is missing another led, though we lead again.
  const isMissed = objects.epoch !== 0 && view.epoch > objects.epoch + 1
  const other = objects.primary !== view.primary || (view.me === view.primary && isMissed)
  const later = objects.epoch !== view.epoch
  const { primary: before } = objects
  Object.assign(objects, { me: view.me, primary: view.primary, epoch: view.epoch, mesh: view.mesh })
  if (other) {
    // Asks to us and grants by us in an earlier term are over.
    objects.grants.clear()
    objects.asked.clear()
    objects.pending.length = 0
    objects.term = { from: view.epoch, at: now }
    for (const subscriber of objects.subscribers.values()) {
      subscriber.follows = false
      subscriber.outdated.clear()
      // In a star no peer is known any more to have what we sent it.
      if (!objects.mesh) forgetAll(subscriber)
    }
  }
  objects.ended = view.ended ?? new Map()
  const { came, gone } = compareMembers(objects, view)
  for (const peer of gone) {
    unwatch(objects, peer)
    objects.subscribers.delete(peer)
  }
  for (const peer of came) {
    if (peer === objects.me) continue
    const subscriber = sightOf(objects, peer)
    beginToSee(turn, subscriber)
    oweAll(turn, subscriber)
  }
  if (other) beginTerm(turn, before)
  else if (later) sayFollow(objects)
  if (leads(objects)) {
    settleView(turn, view.left ?? false)
    objects.lookAt = Math.min(objects.lookAt, endGrace(turn))
    endGrants(turn)
    endAsks(turn)
    objects.pendingAt = now
    if (gone.length > 0) askAll(objects)
  }
  objects.lookAt = Math.min(objects.lookAt, now + LOOK_MS)
  objects.balanceAt = leads(objects) ? Math.min(objects.balanceAt, now + BALANCE_MS) : Infinity
}

// Another member leads than `before`, or the same anew.
function beginTerm(turn: Turn, before: PeerId): void {
  const { objects } = turn
  const { early, mesh, primary, epoch } = objects
  if (mesh) showTo(turn, [before, primary])
  else if (leads(objects)) beginToShow(turn)
  // Peers that knew of the next primary before we did sent us entries while we led, and we rejected
  // them; those peers believe that we have them.
  if (!leads(objects)) {
    const here = [...early].filter((peer) => objects.here.has(peer))
    for (const to of here) objects.outbox.push({ to, bytes: plain(KIND.follow, epoch) })
    early.clear()
  }
  objects.rules.follow(turn)
}

// Somebody left: the others report what they have of that member's objects.
function askAll({ subscribers, owing }: Objects): void {
  for (const [peer, subscriber] of subscribers) {
    subscriber.resyncDue = subscriber.follows
    if (subscriber.follows) owing.add(peer)
  }
}

// The primary sees every object; a former primary sees what any other member sees.
function showTo(turn: Turn, peers: readonly PeerId[]): void {
  const { objects, types } = turn
  for (const replica of objects.replicas.values()) {
    if (replica.owner !== objects.me || types[replica.type]!.visibility === null) continue
    for (const peer of peers) {
      const subscriber = objects.subscribers.get(peer)
      const knows = subscriber?.barrier[replica.slot] ?? BARRIER.none
      const sees = peer === objects.primary || subscriber?.seen[replica.slot] === 1
      const isOpen = knows !== BARRIER.none && knows !== BARRIER.hidden && knows !== BARRIER.hiding
      if (subscriber && sees !== isOpen) owe(turn, subscriber, replica)
    }
  }
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
  const hosting = view.members.filter(({ rights }) => isHost(rights ?? RIGHTS.play))
  objects.hosts = new Set(hosting.map(({ inc }) => inc))
  const watching = view.members.filter(({ rights }) => !mayPlay(rights ?? RIGHTS.play))
  objects.watching = new Set(watching.map(({ inc }) => inc))
  objects.quota = quotaOf(view.terms ?? '')
  return { came, gone }
}

function sightOf(objects: Objects, peer: PeerId): Subscriber {
  let subscriber = objects.subscribers.get(peer)
  if (!subscriber) objects.subscribers.set(peer, (subscriber = createSubscriber(peer)))
  return subscriber
}

/**
 * Our primary is another: it shall send us all, and we send it all of ours and our open requests.
 */
export function follow(turn: Turn): void {
  const { objects } = turn
  const { primary } = objects
  if (leads(objects)) {
    askAgain(turn)
    turn.out.emit({ kind: 'objects-known' })
    objects.countedAt = turn.now + COUNT_MS
    return
  }
  const subscriber = objects.subscribers.get(primary)
  if (!subscriber?.linked) return
  sayFollow(objects)
  objects.reportedIn = objects.epoch
  objects.follows++
  if (!objects.mesh) oweAll(turn, subscriber)
  askAgain(turn)
}

// FOLLOW is sent in each epoch: a primary that lost its role and got it back has no FOLLOW since.
function sayFollow(objects: Objects): void {
  const { primary, epoch } = objects
  if (leads(objects) || !objects.subscribers.get(primary)?.linked) return
  objects.outbox.push({ to: primary, bytes: plain(KIND.follow, epoch) })
}

/** A new link to a peer: nothing is known of what it has. */
export function linked(objects: Objects, types: Types, now: Millis, peer: PeerId): void {
  const subscriber = sightOf(objects, peer)
  // In a mesh nobody else sends the peer a HIDE for what it may not see any more.
  forgetAll(subscriber, objects.mesh)
  subscriber.linked = true
  // Nothing here is an event for the application.
  const out = { send: () => 0, emit: () => {} }
  const turn: Turn = { objects, types, now, out }
  if (!objects.here.has(peer)) return
  oweAll(turn, subscriber)
  if (peer === objects.primary) follow(turn)
}

// How a primary and its members come to know all that either of them knows: a member announces that
// it follows (FOLLOW), the primary sends it all objects, then asks what else there is (RESYNC), and
// the member reports the objects that it has of members who left (UNOWNED).

/** A primary says how many objects are to come, if they are so many. */
export const TOTAL_MIN = 100

/** A peer knows that we lead: from now on it accepts what we send as its primary. */
export function followed(turn: Turn, from: PeerId, epoch: number): void {
  const { objects } = turn
  const subscriber = objects.subscribers.get(from)
  const since = Math.min(epoch, objects.epoch)
  if (objects.mesh && !leads(objects) && subscriber && since > subscriber.resyncedIn) {
    // A peer that led until now rejected what we sent. Once in an epoch we send it again.
    subscriber.resyncedIn = since
    forgetAll(subscriber, true)
    return oweAll(turn, subscriber)
  }
  // FOLLOW counts once on one link.
  if (!leads(objects) || epoch < objects.term.from || !subscriber || subscriber.follows) {
    objects.counters.ignored++
    return
  }
  if (!objects.mesh) forgetAll(subscriber)
  subscriber.follows = true
  subscriber.resyncDue = true
  objects.owing.add(from)
  if (!objects.mesh) objects.rules.oweAll(turn, subscriber)
  // Whoever shows how far a join is wants to know how much is to come; less is there at once.
  const total = countFor(turn, subscriber)
  if (total >= TOTAL_MIN) turn.out.send(from, plain(KIND.total, total))
  grantAgain(turn, from)
  asksAgain(turn, from)
  objects.pendingAt = turn.now
}

/** TOTAL: our primary is about to send us so many objects; it says so for displays alone. */
export function expected({ objects, out }: Turn, from: PeerId, total: number): void {
  if (from !== objects.primary || total > OBJECTS_MAX) objects.counters.ignored++
  else out.emit({ kind: 'objects-total', total })
}

/** RESYNC: the primary has sent all that it knows: what we do not have by now does not exist. */
export function counted(turn: Turn, from: PeerId, term: number): void {
  const { objects } = turn
  if (from !== objects.primary) return
  // This primary led before, and another one in between: it rejected what we sent it then.
  if (term > objects.reportedIn) tellAnew(turn)
  tellUnowned(turn)
  forgetUnseen(turn)
  turn.out.emit({ kind: 'objects-known' })
  objects.countedAt = turn.now + COUNT_MS
}

// The earlier primary would have hidden objects that we may not see any more; this one does not
// know which objects we saw.
function forgetUnseen({ objects, types, out }: Turn): void {
  for (const replica of objects.replicas.values()) {
    const { key, dead, hidden, owner, heardUnder: toldAt } = replica
    // In a mesh the primary sends only what it adopted.
    const told = objects.mesh ? objects.here.has(owner) : toldAt === objects.follows
    if (told || types[replica.type]!.visibility === null || dead || hidden || owner === objects.me)
      continue
    replica.hidden = true
    out.emit({ kind: 'object-went', key })
  }
}

function tellAnew(turn: Turn): void {
  const { objects } = turn
  const subscriber = objects.subscribers.get(objects.primary)
  if (subscriber && !objects.mesh) {
    const { linked: open } = subscriber
    forgetAll(subscriber)
    if (open) oweAll(turn, subscriber)
  }
  objects.reportedIn = objects.epoch
  askAgain(turn)
}

// Reports the objects of members who left to the primary that has sent us all it knows; also those
// that are hidden from us, in the state that we saw last.
function tellUnowned(turn: Turn): void {
  const { here, rules } = turn.objects
  report(turn, ({ owner, dead }) => {
    return owner !== NOBODY && !here.has(owner) && (!dead || rules.tombstone('report'))
  })
}

/**
 * By now all who own something have sent it to our primary. If an object that was ours and is
 * hidden from us has an owner, the primary knows it; if not, we owned it last, and report it.
 */
export function tellHidden(turn: Turn): void {
  report(turn, isUnclaimed)
}

function report({ objects, types }: Turn, isLeft: (replica: Replica) => boolean): void {
  let writer = begin(KIND.unowned)
  for (const replica of objects.replicas.values()) {
    if (!isLeft(replica) || !objects.rules.reports(replica)) continue
    writeEntry(writer, types, replica)
    if (writer.length < BATCH_BYTES) continue
    objects.outbox.push({ to: objects.primary, bytes: finish(writer) })
    writer = begin(KIND.unowned)
  }
  if (writer.length > 1) objects.outbox.push({ to: objects.primary, bytes: finish(writer) })
}
