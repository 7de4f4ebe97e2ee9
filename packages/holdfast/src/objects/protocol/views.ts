/**
 * Applies the views and links that the session reports (members, primary, links), and sends what a
 * change of them requires.
 */

import { isHost, mayPlay, type Millis, type PeerId, RIGHTS } from '../../machine.ts'
import type { PartView } from '../../kind/protocol/part.ts'
import { SWEEP_MS } from './accept.ts'
import { countVisible, forgetAll, owe, oweAll } from './fan-out.ts'
import { beginToSee, beginToShow, removeViewer } from './interest.ts'
import { BATCH_BYTES, begin, KIND, plain, writeEntry } from './messages.ts'
import { BALANCE_MS, endGrace, settleOwners, SETTLE_MS } from './unowned.ts'
import { resendAsks, endAsks, endGrants, resendGrants, resendRequests } from './requests.ts'
import {
  BARRIER,
  createState,
  createSubscriber,
  leads,
  NOBODY,
  type Objects,
  OBJECTS_MAX,
  quotaOf,
  type Replica,
  type Subscriber,
  type Context,
  type Types,
} from './state.ts'
import { finish } from '../../wire/bytes.ts'

/** Most departed members whose players are remembered. */
const WENT_MAX = 256

/** Drops all state: we are in another session, or another incarnation. */
export function reset({ objects, out }: Context): void {
  for (const number of objects.requests.keys()) {
    out.emit({ kind: 'object-answer', request: number, answer: 'no-answer', by: 0 })
  }
  const { offset, counters, rules, nextRequest, gatherMs } = objects
  Object.assign(objects, { ...createState(gatherMs, rules), offset, counters, nextRequest })
}

export function receiveView(ctx: Context, view: PartView): void {
  const { objects, now } = ctx
  const { found } = objects.kept
  if (objects.me !== 0 && objects.me !== view.me) reset(ctx)
  objects.kept.found = found
  // During a term we see every epoch. If one is missing, another member led meanwhile.
  const isMissed = objects.epoch !== 0 && view.epoch > objects.epoch + 1
  const other = objects.primary !== view.primary || (view.me === view.primary && isMissed)
  const later = objects.epoch !== view.epoch
  const { primary: before } = objects
  Object.assign(objects, { me: view.me, primary: view.primary, epoch: view.epoch, mesh: view.mesh })
  if (other) {
    // Grants, asks and requests of our earlier term are void.
    objects.grants.clear()
    objects.openAsks.clear()
    objects.pending.length = 0
    objects.term = { from: view.epoch, at: now }
    for (const subscriber of objects.subscribers.values()) {
      subscriber.follows = false
      subscriber.outdated.clear()
      // In a star all acks of the earlier term are void.
      if (!objects.mesh) forgetAll(subscriber)
    }
  }
  objects.ended = view.ended ?? new Map()
  const { came, gone } = compareMembers(objects, view)
  for (const peer of gone) {
    removeViewer(objects, peer)
    objects.subscribers.delete(peer)
  }
  for (const peer of came) {
    if (peer === objects.me) continue
    const subscriber = subscriberOf(objects, peer)
    beginToSee(ctx, subscriber)
    oweAll(ctx, subscriber)
  }
  if (other) beginTerm(ctx, before)
  else if (later) sendFollow(objects)
  if (leads(objects)) {
    settleOwners(ctx, view.left ?? false)
    objects.sweepAt = Math.min(objects.sweepAt, endGrace(ctx))
    endGrants(ctx)
    endAsks(ctx)
    objects.pendingAt = now
    if (gone.length > 0) scheduleResync(objects)
  }
  objects.sweepAt = Math.min(objects.sweepAt, now + SWEEP_MS)
  objects.balanceAt = leads(objects) ? Math.min(objects.balanceAt, now + BALANCE_MS) : Infinity
}

// Another member than `before` leads, or the same member in a new term.
function beginTerm(ctx: Context, before: PeerId): void {
  const { objects } = ctx
  const { early, mesh, primary, epoch } = objects
  if (mesh) showTo(ctx, [before, primary])
  else if (leads(objects)) beginToShow(ctx)
  // Peers that knew of the next primary before we did sent us entries that we rejected while we
  // led. They believe that we have them.
  if (!leads(objects)) {
    const here = [...early].filter((peer) => objects.here.has(peer))
    for (const to of here) objects.outbox.push({ to, bytes: plain(KIND.follow, epoch) })
    early.clear()
  }
  objects.rules.follow(ctx)
}

// A member left: asks the others to report what they have of its objects.
function scheduleResync({ subscribers, owing }: Objects): void {
  for (const [peer, subscriber] of subscribers) {
    subscriber.resyncDue = subscriber.follows
    if (subscriber.follows) owing.add(peer)
  }
}

// The primary sees every object; a former primary sees what any other member sees.
function showTo(ctx: Context, peers: readonly PeerId[]): void {
  const { objects, types } = ctx
  for (const replica of objects.replicas.values()) {
    if (replica.owner !== objects.me || types[replica.type]!.visibility === null) continue
    for (const peer of peers) {
      const subscriber = objects.subscribers.get(peer)
      const knows = subscriber?.barrier[replica.index] ?? BARRIER.none
      const sees = peer === objects.primary || subscriber?.seen[replica.index] === 1
      const isOpen = knows !== BARRIER.none && knows !== BARRIER.hidden && knows !== BARRIER.hiding
      if (subscriber && sees !== isOpen) owe(ctx, subscriber, replica)
    }
  }
}

function compareMembers(objects: Objects, view: PartView): { came: PeerId[]; gone: PeerId[] } {
  const here = new Map(view.members.map(({ inc, player }) => [inc, player]))
  const came = [...here.keys()].filter((inc) => !objects.here.has(inc))
  const gone = [...objects.here.keys()].filter((inc) => !here.has(inc))
  for (const inc of gone) objects.departed.set(inc, objects.here.get(inc)!)
  for (const inc of objects.departed.keys()) {
    if (objects.departed.size <= WENT_MAX) break
    objects.departed.delete(inc)
  }
  objects.here = here
  const hosting = view.members.filter(({ rights }) => isHost(rights ?? RIGHTS.play))
  objects.hosts = new Set(hosting.map(({ inc }) => inc))
  const watching = view.members.filter(({ rights }) => !mayPlay(rights ?? RIGHTS.play))
  objects.watching = new Set(watching.map(({ inc }) => inc))
  objects.quota = quotaOf(view.terms ?? '')
  return { came, gone }
}

function subscriberOf(objects: Objects, peer: PeerId): Subscriber {
  let subscriber = objects.subscribers.get(peer)
  if (!subscriber) objects.subscribers.set(peer, (subscriber = createSubscriber(peer)))
  return subscriber
}

/** Follows a new primary, and sends it our objects and open requests. */
export function follow(ctx: Context): void {
  const { objects } = ctx
  const { primary } = objects
  if (leads(objects)) {
    resendRequests(ctx)
    ctx.out.emit({ kind: 'objects-known' })
    objects.settleAt = ctx.now + SETTLE_MS
    return
  }
  const subscriber = objects.subscribers.get(primary)
  if (!subscriber?.linked) return
  sendFollow(objects)
  objects.reportedIn = objects.epoch
  objects.followCount++
  if (!objects.mesh) oweAll(ctx, subscriber)
  resendRequests(ctx)
}

// Sends FOLLOW in each epoch, because a primary that lost and regained its role needs a new one.
function sendFollow(objects: Objects): void {
  const { primary, epoch } = objects
  if (leads(objects) || !objects.subscribers.get(primary)?.linked) return
  objects.outbox.push({ to: primary, bytes: plain(KIND.follow, epoch) })
}

/** A new link to a peer: we do not know what the peer has. @param letIn  it joined on this link */
export function linked(
  objects: Objects,
  types: Types,
  now: Millis,
  peer: PeerId,
  letIn = false,
): void {
  const subscriber = subscriberOf(objects, peer)
  // In a mesh nobody else sends the peer a HIDE for objects that it may no longer see.
  forgetAll(subscriber, objects.mesh)
  subscriber.linked = true
  if (letIn && leads(objects) && !objects.mesh) objects.newcomers.push(peer)
  // No event for the application results from this.
  const out = { send: () => 0, emit: () => {} }
  const ctx: Context = { objects, types, now, out }
  if (!objects.here.has(peer)) return
  oweAll(ctx, subscriber)
  if (peer === objects.primary) follow(ctx)
}

// Resync between a primary and a member: the member announces that it follows (FOLLOW), the primary
// sends it all objects and then RESYNC, and the member reports the objects of departed members that
// it has (UNOWNED).

/** A primary announces the number of objects to come if it is at least this. */
export const TOTAL_MIN = 100

/** FOLLOW: the peer knows that we lead, and accepts our messages as those of its primary. */
export function receiveFollow(ctx: Context, from: PeerId, epoch: number): void {
  const { objects } = ctx
  const subscriber = objects.subscribers.get(from)
  const since = Math.min(epoch, objects.epoch)
  if (objects.mesh && !leads(objects) && subscriber && since > subscriber.resyncedIn) {
    // A peer that led until now rejected our entries. We resend them once in an epoch.
    subscriber.resyncedIn = since
    forgetAll(subscriber, true)
    return oweAll(ctx, subscriber)
  }
  // FOLLOW counts once per link.
  if (!leads(objects) || epoch < objects.term.from || !subscriber || subscriber.follows)
    return void objects.counters.ignored++
  if (!objects.mesh) forgetAll(subscriber)
  subscriber.follows = true
  subscriber.resyncDue = true
  objects.owing.add(from)
  if (!objects.mesh) objects.rules.oweAll(ctx, subscriber)
  // For the progress display of a join; fewer objects arrive at once.
  const total = countVisible(ctx, subscriber)
  if (total >= TOTAL_MIN) ctx.out.send(from, plain(KIND.total, total))
  resendGrants(ctx, from)
  resendAsks(ctx, from)
  objects.pendingAt = ctx.now
}

/**
 * A member of a star that joined by us follows us from its first moment: it sends a FOLLOW, but our
 * messages need not wait for that.
 */
export function takeNewcomers(ctx: Context): void {
  const { objects } = ctx
  for (const peer of objects.newcomers.splice(0)) {
    if (objects.here.has(peer)) receiveFollow(ctx, peer, objects.epoch)
  }
}

/** TOTAL: the number of objects that our primary is about to send; only for displays. */
export function receiveTotal({ objects, out }: Context, from: PeerId, total: number): void {
  if (from !== objects.primary || total > OBJECTS_MAX) objects.counters.ignored++
  else out.emit({ kind: 'objects-total', total })
}

/** RESYNC: the primary has sent everything it knows. We report what it lacks, and hide the rest. */
export function receiveResync(ctx: Context, from: PeerId, term: number): void {
  const { objects } = ctx
  if (from !== objects.primary) return
  // Between two terms of this primary another member led: the primary rejected what we sent then.
  if (term > objects.reportedIn) sendAllAgain(ctx)
  reportUnowned(ctx)
  hideUnseen(ctx)
  ctx.out.emit({ kind: 'objects-known' })
  objects.settleAt = ctx.now + SETTLE_MS
}

// Hides objects that we may no longer see: a new primary does not know which ones we saw, so it
// sends no HIDE for them.
function hideUnseen({ objects, types, out }: Context): void {
  for (const replica of objects.replicas.values()) {
    const { key, dead, hidden, owner, receivedUnder } = replica
    // In a mesh the primary sends only what it adopted.
    const isReceived = objects.mesh
      ? objects.here.has(owner)
      : receivedUnder === objects.followCount
    if (
      isReceived ||
      types[replica.type]!.visibility === null ||
      dead ||
      hidden ||
      owner === objects.me
    )
      continue
    replica.hidden = true
    out.emit({ kind: 'object-went', key })
  }
}

function sendAllAgain(ctx: Context): void {
  const { objects } = ctx
  const subscriber = objects.subscribers.get(objects.primary)
  if (subscriber && !objects.mesh) {
    const { linked: open } = subscriber
    forgetAll(subscriber)
    if (open) oweAll(ctx, subscriber)
  }
  objects.reportedIn = objects.epoch
  resendRequests(ctx)
}

// Reports departed members' objects, including those hidden from us, in their last known state.
function reportUnowned(ctx: Context): void {
  const { here, rules } = ctx.objects
  report(ctx, ({ owner, dead }) => {
    return owner !== NOBODY && !here.has(owner) && (!dead || rules.tombstone('report'))
  })
}

/** Reports the objects that pass, in their last known state. */
export function report({ objects, types }: Context, isLeft: (replica: Replica) => boolean): void {
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
