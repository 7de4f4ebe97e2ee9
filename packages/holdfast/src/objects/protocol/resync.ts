/**
 * How a primary and its members come to know all that either of them knows: a member announces that
 * it follows (FOLLOW), the primary sends it all objects, then asks what else there is (RESYNC), and
 * the member reports the objects that it has of members who left (UNOWNED).
 */

import type { Millis, PeerId } from '../../machine.ts'
import { finish } from '../../wire/bytes.ts'
import { countFor, forgetAll, oweAll } from './fan-out.ts'
import { BATCH_BYTES, begin, KIND, plain, writeEntry } from './messages.ts'
import { asksAgain } from './asking.ts'
import { grantAgain } from './owning.ts'
import { askAgain } from './requests.ts'
import {
  isUnclaimed,
  leads,
  NOBODY,
  OBJECTS_MAX,
  type Replica,
  type Subscriber,
  type Turn,
} from './state.ts'

/** A primary says how many objects are to come, if they are so many. */
export const TOTAL_MIN = 100

/** After a primary has sent all: so long other members' objects may still come by way of it. */
export const COUNT_MS: Millis = 3_000

/** A peer knows that we lead: from now on it accepts what we send as its primary. */
export function followed(turn: Turn, from: PeerId, epoch: number): void {
  const { objects } = turn
  const subscriber = objects.subscribers.get(from)
  const since = Math.min(epoch, objects.epoch)
  if (objects.mesh && !leads(objects) && subscriber && since > subscriber.resyncedIn) {
    return retell(turn, subscriber, since)
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
  sayTotal(turn, subscriber)
  grantAgain(turn, from)
  asksAgain(turn, from)
  objects.pendingAt = turn.now
}

// Whoever shows how far a join is wants to know how much is to come; less is there at once.
function sayTotal(turn: Turn, subscriber: Subscriber): void {
  const total = countFor(turn, subscriber)
  if (total >= TOTAL_MIN) turn.out.send(subscriber.peer, plain(KIND.total, total))
}

/** TOTAL: our primary is about to send us so many objects; it says so for displays alone. */
export function expected({ objects, out }: Turn, from: PeerId, total: number): void {
  if (from !== objects.primary || total > OBJECTS_MAX) objects.counters.ignored++
  else out.emit({ kind: 'objects-total', total })
}

// In a mesh a peer that led until now rejected what we sent. Once in an epoch we send it again.
function retell(turn: Turn, subscriber: Subscriber, epoch: number): void {
  subscriber.resyncedIn = epoch
  forgetAll(subscriber, true)
  oweAll(turn, subscriber)
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
