/**
 * How a primary and its members come to know all that either of them knows: a member says that it
 * follows (FOLLOW), the primary tells it all, then asks what else there is (RESYNC), and the member
 * reports what it has of those who went (UNOWNED).
 */

import type { Millis, PeerId } from '../machine.ts'
import { finish } from '../wire/bytes.ts'
import { forgetAll, oweAll } from './fan-out.ts'
import { BATCH_BYTES, begin, KIND, writeEntry } from './messages.ts'
import { asksAgain } from './asking.ts'
import { grantAgain } from './owning.ts'
import { askAgain } from './requests.ts'
import { leads, type Replica, type Subscriber, type Turn } from './state.ts'

/** After a primary has told all: so long what others knew may still come by way of it. */
export const COUNT_MS: Millis = 3_000

/** A peer knows that we lead: now what we tell it counts. */
export function followed(turn: Turn, from: PeerId, epoch: number): void {
  const { objects } = turn
  const subscriber = objects.subscribers.get(from)
  const since = Math.min(epoch, objects.epoch)
  if (objects.mesh && !leads(objects) && subscriber && since > subscriber.resyncedIn) {
    return retell(turn, from, subscriber, since)
  }
  // On one link it is said once.
  if (!leads(objects) || epoch < objects.term.from || !subscriber || subscriber.follows) {
    objects.counters.ignored++
    return
  }
  if (!objects.mesh) forgetAll(subscriber)
  subscriber.follows = true
  subscriber.resyncDue = true
  objects.owing.add(from)
  if (!objects.mesh) objects.rules.oweAll(turn, from, subscriber)
  grantAgain(turn, from)
  asksAgain(turn, from)
  objects.pendingAt = turn.now
}

// In a mesh one that led until now took what we said for a lie. Once in an epoch it hears it again.
function retell(turn: Turn, from: PeerId, subscriber: Subscriber, epoch: number): void {
  subscriber.resyncedIn = epoch
  forgetAll(subscriber, true)
  oweAll(turn, from, subscriber)
}

/** The primary has told all that it knows: so we do, and what we do not have is not there. */
export function counted(turn: Turn, from: PeerId, term: number): void {
  const { objects } = turn
  if (from !== objects.primary) return
  // It led before, and somebody else between: what we said then it did not take.
  if (term > objects.reportedIn) tellAnew(turn)
  tellUnowned(turn)
  forgetUnseen(turn)
  turn.out.emit({ kind: 'objects-known' })
  objects.countedAt = turn.now + COUNT_MS
}

// What we may not see any more the one before would have hidden; this one does not know what we
// saw.
function forgetUnseen({ objects, types, out }: Turn): void {
  for (const replica of objects.replicas.values()) {
    const { key, dead, hidden, owner, heardUnder: toldAt } = replica
    // In a mesh the primary speaks for what it adopted alone.
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
    if (open) oweAll(turn, objects.primary, subscriber)
  }
  objects.reportedIn = objects.epoch
  askAgain(turn)
}

// What we have of members who went, to the primary that has told us all it knows; also what is not
// for our eyes, in the state that we saw last.
function tellUnowned(turn: Turn): void {
  const { here, rules } = turn.objects
  report(turn, ({ owner, dead }) => {
    return owner !== NOBODY && !here.has(owner) && (!dead || rules.tombstone('report'))
  })
}

/**
 * Some time later all who own something have told it to our primary. What was ours and is hidden
 * from us, whoever has it, the primary knows by now; or nobody does, and we had it last.
 */
export function tellHidden(turn: Turn): void {
  const { objects } = turn
  if (!leads(objects))
    report(turn, ({ owner, hidden, dead }) => owner === NOBODY && hidden && !dead)
}

// The owner of what was hidden from who owned it.
const NOBODY: PeerId = 0

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
