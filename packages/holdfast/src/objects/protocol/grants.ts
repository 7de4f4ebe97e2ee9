/**
 * How the primary treats requests (B29, B30), in the order in which they come: it grants, refuses,
 * or asks the owner. By a grant (B39, B43) one member owns an object from the next version on, and
 * sends everybody its entry (B38). The primary keeps a grant until that entry arrives, which may be
 * late.
 */

import type { Millis, PeerId } from '../../machine.ts'
import { renew, stand } from './accept.ts'
import { KIND, nameOf, plain, withEntry } from './messages.ts'
import { conclude, request, settle } from './requests.ts'
import {
  type Answering,
  type Ask,
  type Asked,
  type Grant,
  isMine,
  isUnclaimed,
  leads,
  type Objects,
  type Refusal,
  REFUSALS,
  type Replica,
  type Turn,
} from './state.ts'
import { after, compare, type Version } from './stamp.ts'

/** A grantee that is silent for so long does not keep the next request waiting. */
export const GRANT_MS: Millis = 2_000

/** The grant that its grantee has not confirmed, and may still confirm; null for none. */
export function openGrant({ objects, now }: Turn, key: number): Grant | null {
  const grant = objects.grants.get(key)?.at(-1)
  if (!grant || !objects.here.has(grant.to) || now - grant.at >= GRANT_MS) return null
  return grant
}

/** Refuses a request. @param by  who has the object, or was first; 0 for nobody */
export function refuse(
  turn: Turn,
  { from, number }: Pick<Asked, 'from' | 'number'>,
  why: Refusal,
  by: PeerId = 0,
): void {
  const { objects } = turn
  if (from === objects.me) return conclude(turn, number, why, by)
  if (why !== 'overloaded') turn.out.charge?.(from, 'refusal')
  const bytes = plain(KIND.refuse, number, REFUSALS.indexOf(why), by)
  objects.outbox.push({ to: from, bytes })
}

/** As primary: makes that member the owner from the next version on. */
export function give(turn: Turn, replica: Replica, to: PeerId, giver: Grant['giver'] = null): void {
  const { objects } = turn
  objects.rules.grant(turn, replica, nextVersion(objects, replica), to, giver)
}

/** As primary: makes that member the owner in that version, and tells it so. */
export function grant(
  turn: Turn,
  replica: Replica,
  version: Version,
  to: PeerId,
  giver: Grant['giver'],
): void {
  const { objects, now } = turn
  if (to === objects.me) return own(turn, replica, version, 0)
  const grants = objects.grants.get(replica.key) ?? []
  objects.grants.set(replica.key, [...grants, { version, to, at: now, giver }])
  sendGrant(turn, replica, version, to)
}

function sendGrant({ objects, types }: Turn, replica: Replica, version: Version, to: PeerId): void {
  const { epoch, count } = version
  objects.outbox.push({ to, bytes: withEntry(KIND.grant, types, replica, epoch, count) })
}

/** The version of the next grant: newer than all that were granted, confirmed or not. */
export function nextVersion(objects: Objects, replica: Replica): Version {
  const granted = objects.grants.get(replica.key)?.at(-1)?.version
  const known = replica.version
  const newest = granted && compare(granted, known) > 0 ? granted : known
  return after(newest, objects.rules.epochOf(objects))
}

/** Makes us the owner in that version. @param former  the player who owned it; 0 for nobody */
export function own(turn: Turn, replica: Replica, version: Version, former: number): void {
  const { objects } = turn
  objects.grants.delete(replica.key)
  stand(turn, replica, { ...replica, version, owner: objects.me, former })
  // Our own request for the object has its answer by that.
  if (objects.requests.size > 0) settle(turn, replica)
}

/** As primary: a peer follows us; grants that were lost on their way to it are sent again. */
export function grantAgain(turn: Turn, peer: PeerId): void {
  const { objects } = turn
  for (const [key, grants] of objects.grants) {
    const replica = objects.replicas.get(key)
    const grant = grants.at(-1)
    if (grant?.to === peer && replica) sendGrant(turn, replica, grant.version, peer)
  }
}

/** As primary: a giver whose grantee left, or is silent, keeps the object for now and learns so. */
export function endGrants(turn: Turn): void {
  for (const [key, grants] of turn.objects.grants) {
    const open = openGrant(turn, key)
    for (const grant of grants) {
      const { giver, to } = grant
      if (!giver || grant === open) continue
      grant.giver = null
      refuse(turn, { from: giver.inc, number: giver.request }, 'away', to)
    }
  }
}

// The primary asks an owner on behalf of a member, and the owner answers. The primary asks again
// when the owner's link was lost and is back, and waits ASK_MS at most. The owner keeps its answer
// for as long as it owns the object, so that the next primary may ask it again.

/** An owner that has not answered by then is asked no more: the type's `unanswered` decides. */
export const ASK_MS: Millis = 10_000

type Asker = Pick<Ask, 'by' | 'request'>

/** As primary: asks the owner of an object, whose application decides. */
export function ask(turn: Turn, replica: Replica, asked: Ask): void {
  const { objects } = turn
  const { owner } = replica
  if (owner === objects.me) return hearAsk(turn, replica.key, asked)
  const bytes = plain(KIND.ask, ...nameOf(replica), asked.by, asked.request)
  objects.outbox.push({ to: owner, bytes })
}

/** As primary: a member follows us; asks that we sent it may have been lost with its link. */
export function asksAgain(turn: Turn, peer: PeerId): void {
  const { objects } = turn
  for (const [key, asked] of objects.asked) {
    const replica = objects.replicas.get(key)
    if (replica && objects.rules.asksAgain(asked, peer)) ask(turn, replica, asked)
  }
}

/** As primary: an owner declines. */
export function declined(turn: Turn, from: PeerId, key: number, { by, request }: Asker): void {
  const { objects } = turn
  const asked = objects.asked.get(key)
  const isOwner = objects.replicas.get(key)?.owner === from
  if (asked?.by !== by || asked.request !== request || !isOwner) {
    return void objects.counters.ignored++
  }
  end(turn, key, asked, 'denied', from)
}

function end(turn: Turn, key: number, { by, request }: Ask, why: Refusal, whose: PeerId): void {
  turn.objects.asked.delete(key)
  refuse(turn, { from: by, number: request }, why, whose)
}

/** As primary: ends asks whose owner left, owns the object no more, or does not answer in time. */
export function endAsks(turn: Turn): void {
  const { objects, types, now } = turn
  for (const [key, asked] of objects.asked) {
    const { by, owner } = asked
    const replica = objects.replicas.get(key)
    if (!objects.here.has(by)) objects.asked.delete(key)
    else if (!replica || replica.dead) end(turn, key, asked, 'gone', 0)
    else if (replica.owner !== owner) end(turn, key, asked, 'late', replica.owner)
    else if (now - asked.at < ASK_MS) continue
    else if (types[replica.type]!.unanswered === 'refuse') {
      end(turn, key, asked, 'no-answer', owner)
    } else {
      objects.asked.delete(key)
      give(turn, replica, by)
    }
  }
}

/** As owner: our primary asks on behalf of a member. */
export function hearAsk(turn: Turn, key: number, { by, request }: Asker): void {
  const { objects, out } = turn
  const replica = objects.replicas.get(key)
  if (!replica || replica.dead || replica.owner !== objects.me) {
    return void objects.counters.ignored++
  }
  const known = objects.asks.get(key)
  if (known?.by === by && known.request === request) {
    known.said = false
    return
  }
  objects.asks.set(key, { by, request, answer: null, said: false })
  out.emit({ kind: 'object-asked', key, by, request })
}

/** As owner: our application gives the object to who asked, or not. The first answer counts. */
export function reply(turn: Turn, key: number, { by, request }: Asker, yes: boolean): void {
  const known = turn.objects.asks.get(key)
  if (known?.by !== by || known.request !== request || known.answer !== null) return
  known.answer = yes ? 'yes' : 'no'
}

/** As owner: sends our application's answers. A yes waits while we give the object to another. */
export function sayAnswers(turn: Turn): void {
  for (const [key, answering] of turn.objects.asks) {
    if (answering.answer !== null && !answering.said) say(turn, key, answering)
  }
}

function say(turn: Turn, key: number, answering: Answering): void {
  const { objects } = turn
  const replica = objects.replicas.get(key)
  if (!replica || replica.dead || replica.owner !== objects.me) return void objects.asks.delete(key)
  const mine = isMine(objects, replica)
  if (answering.answer === 'yes' && !mine) return
  answering.said = true
  if (answering.answer === 'yes') {
    return void request(turn, replica, 'yes', answering.by, answering.request)
  }
  if (!objects.rules.declines(mine)) return
  if (leads(objects)) return declined(turn, objects.me, key, answering)
  const bytes = plain(KIND.decline, ...nameOf(replica), answering.by, answering.request)
  objects.outbox.push({ to: objects.primary, bytes })
}

/** As owner: forgets asks whose asker left, or whose object is no more ours. */
export function forgetAsks({ objects }: Turn): void {
  for (const [key, { by }] of objects.asks) {
    const replica = objects.replicas.get(key)
    const isOurs = replica && !replica.dead && replica.owner === objects.me
    if (!isOurs || !objects.here.has(by)) objects.asks.delete(key)
  }
}

// A new primary decides nothing before all members that are here have sent it the objects that they
// own, for the earlier primary may have granted the object to one of them: of two members who ask
// for one object, exactly one gets `granted`. An object that the primary does not know may be on
// its way, in a mesh behind the request: such a request waits too. And so does one whose player
// asks for more than one may a second.

/** A request for an object or version that the primary does not know waits so long for it. */
export const HOLD_MS: Millis = 5_000
/** One whose player asked for too much is looked at again so often. */
const PUSHED_BACK_MS: Millis = 10
/** Most requests of one member that wait. */
export const WAITING_MAX = 2_048

/** As primary: a member asks. */
export function demand(turn: Turn, asked: Asked): void {
  const { objects, now } = turn
  const { pending } = objects
  const again = pending.findIndex((one) => one.from === asked.from && one.number === asked.number)
  const theirs = (): number => pending.filter(({ from }) => from === asked.from).length
  if (again >= 0) pending[again] = { ...pending[again]!, ...asked, at: pending[again]!.at }
  else if (pending.length < WAITING_MAX || theirs() < WAITING_MAX) pending.push(asked)
  else return refuse(turn, asked, 'overloaded')
  objects.pendingAt = now
}

/** As primary: decides all requests that can be decided by now. */
export function decideAll(turn: Turn): void {
  const { objects, now } = turn
  if (now < objects.pendingAt) return
  const asked = objects.pending.splice(0)
  objects.pendingAt = Infinity
  if (!leads(objects)) return
  for (const one of asked) {
    if (decide(turn, one)) continue
    objects.pending.push(one)
    objects.pendingAt = Math.min(objects.pendingAt, dueAt(turn, one))
  }
}

function dueAt({ objects, now }: Turn, { at, waits }: Asked): Millis {
  const { term, heardIn } = objects
  if (waits) return now + PUSHED_BACK_MS
  return heardIn === term.from ? at + HOLD_MS : Math.max(now + 1, term.at + GRANT_MS)
}

// Returns whether the request was decided.
function decide(turn: Turn, asked: Asked): boolean {
  const { objects, now } = turn
  if (!hasHeard(turn)) return false
  const replica = objects.replicas.get(asked.key)
  const isUnknown =
    !replica ||
    isUnclaimed(replica) ||
    (!replica.dead && compare(asked.version, replica.version) > 0)
  if (isUnknown && now - asked.at < HOLD_MS) return false
  if (turn.out.charge?.(asked.from, asked.waits ? 'again' : 'operation') === false) {
    asked.waits = true
    if (now - asked.at < HOLD_MS) return false
    refuse(turn, asked, 'overloaded')
  } else if (isUnknown) refuse(turn, asked, 'no-answer')
  else if (replica.dead) refuse(turn, asked, 'gone')
  else if (asked.what === 'take') take(turn, asked, replica)
  else handOn(turn, asked, replica)
  return true
}

// A member that does not send FOLLOW in time may be dead, and is not waited for.
function hasHeard({ objects, now }: Turn): boolean {
  const { me, term, here, subscribers } = objects
  if (objects.heardIn === term.from || !objects.rules.waitsForAll()) return true
  const all = [...here.keys()].every((inc) => inc === me || subscribers.get(inc)?.follows === true)
  if (!all && now - term.at < GRANT_MS) return false
  objects.heardIn = term.from
  return true
}

function take(turn: Turn, asked: Asked, replica: Replica): void {
  const { objects, types, now } = turn
  const { from, number: request, key } = asked
  if (asked.to !== from) return void objects.counters.ignored++
  const { take: policy } = types[replica.type]!
  const before = objects.asked.get(key)
  // The member asked twice: its grant is on the way, or the owner is being asked.
  if (objects.grants.get(key)?.at(-1)?.to === from) return
  if (before?.by === from && before.request === request) return
  const { owner } = replica
  if (policy === 'fixed') return refuse(turn, asked, 'fixed', owner)
  // A member that asked before it knew of the newest owner learns now that somebody was quicker.
  const isTheirs = owner === from && replica.former === 0
  const isLate = compare(asked.version, replica.version) < 0
  if (isTheirs || isLate) return refuse(turn, asked, 'late', owner)
  const open = openGrant(turn, key)
  if (open) return refuse(turn, asked, 'held', open.to)
  if (before) return refuse(turn, asked, 'busy', before.by)
  if (policy === 'free') return give(turn, replica, from)
  const made = { by: from, request, owner, at: now }
  objects.asked.set(key, made)
  ask(turn, replica, made)
}

// The owner gives the object to somebody (`give`), or to the member that asked (`yes`).
function handOn(turn: Turn, asked: Asked, replica: Replica): void {
  const { objects } = turn
  const { from, to, number, key } = asked
  const known = objects.grants.get(key)?.at(-1)
  if (known && known.to === to && known.giver?.inc === from) {
    known.giver.request = number
    return
  }
  const ask = objects.asked.get(key)
  const answers = ask?.by === to && ask.request === asked.answers
  if (asked.what === 'yes' && !answers) return refuse(turn, asked, 'late')
  if (replica.owner !== from) return refuse(turn, asked, 'late', replica.owner)
  if (!objects.here.has(to) || objects.watching.has(to)) return refuse(turn, asked, 'away', to)
  const open = openGrant(turn, key)
  if (open) return refuse(turn, asked, 'held', open.to)
  takeOver(turn, asked, replica)
  endAsk(turn, asked)
  give(turn, replica, to, { inc: from, request: number })
}

// The giver's request carries the newest state there is (3.5: no write is lost).
function takeOver(turn: Turn, { entry }: Asked, replica: Replica): void {
  if (!entry || entry.dead || entry.type !== replica.type) return
  if (compare(entry.version, replica.version) !== 0 || entry.oseq <= replica.oseq) return
  renew(turn, replica, entry)
}

// Another member had asked for the object that is given away now: its ask ends.
function endAsk(turn: Turn, { key, to }: Asked): void {
  const { objects } = turn
  const ask = objects.asked.get(key)
  if (!ask) return
  objects.asked.delete(key)
  if (ask.by === to || !objects.rules.endsByGive(ask, to)) return
  refuse(turn, { from: ask.by, number: ask.request }, 'late', to)
}
