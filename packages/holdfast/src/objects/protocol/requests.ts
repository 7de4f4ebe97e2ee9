/**
 * Requests for objects: how a member asks, and how the primary decides.
 *
 *   A4  a GRANT counts only from our primary, and only if its version is newer than ours; then we
 *       own the object, keep the newer of our state and the grant's, and send everybody its entry
 *
 * A request is resent to a new primary. It is settled by a grant, a refusal, another owner, the
 * object's destruction, or a timeout of REQUEST_MS.
 */

import type { Millis, PeerId } from '../../machine.ts'
import { replaceState, install } from './accept.ts'
import { KIND, nameOf, plain, withEntry, encodeRequest } from './messages.ts'
import {
  type IncomingAsk,
  type Ask,
  type PendingRequest,
  type Grant,
  isMine,
  isUnclaimed,
  leads,
  type Objects,
  type Refusal,
  REFUSALS,
  type Replica,
  type Context,
  after,
  compare,
  type Version,
  type Answer,
  place,
  REPLICAS_MAX,
  type Request,
  type ObjectEntry,
  type RequestKind,
} from './state.ts'

/** Timeout of a request; it covers the crashes of two primaries. */
export const REQUEST_MS: Millis = 30_000

/** Asks for an object, or gives it. @param answers  see Request @returns the request's number */
export function request(
  ctx: Context,
  replica: Replica,
  what: RequestKind,
  to: PeerId,
  answers = 0,
): number {
  const { objects, now } = ctx
  const number = objects.nextRequest++
  const { key, version } = replica
  const asked = { key, what, to, version, answers, at: now }
  objects.requests.set(number, asked)
  if (what !== 'take') replica.giving = true
  send(ctx, number, asked)
  return number
}

function send({ objects, types, now }: Context, number: number, asked: Request): void {
  const { me, primary } = objects
  const replica = objects.replicas.get(asked.key)
  if (!replica) return
  if (leads(objects)) {
    objects.pending.push({ ...asked, from: me, number, entry: null, at: now })
    objects.pendingAt = now
    return
  }
  const bytes = encodeRequest(types, number, replica, asked)
  objects.outbox.push({ to: primary, bytes })
}

/** After a new primary or a new link to it: resends unsettled requests. */
export function resendRequests(ctx: Context): void {
  for (const [number, asked] of ctx.objects.requests) send(ctx, number, asked)
}

/** An object has a new version or is destroyed: settles our requests about it. */
export function settle(ctx: Context, replica: Replica): void {
  const { objects } = ctx
  const { dead, owner } = replica
  for (const [number, { key, version, to }] of [...objects.requests]) {
    if (key !== replica.key) continue
    if (!dead && compare(replica.version, version) <= 0) continue
    const answer = dead ? 'gone' : owner === to ? 'granted' : 'late'
    conclude(ctx, number, answer, owner)
  }
}

/** Ends one of our requests. @param by  the member that the answer names; 0 for none */
export function conclude(ctx: Context, number: number, answer: Answer, by: PeerId): void {
  const { objects, out } = ctx
  const asked = objects.requests.get(number)
  if (!asked) return
  objects.requests.delete(number)
  const replica = objects.replicas.get(asked.key)
  if (replica?.giving) {
    const others = [...objects.requests.values()].filter(({ key }) => key === asked.key)
    replica.giving = others.some(({ what }) => what !== 'take')
  }
  // A `yes` emits no answer: the object's new owner shows the outcome.
  if (asked.what !== 'yes') out.emit({ kind: 'object-answer', request: number, answer, by })
}

export function endRequests(ctx: Context): void {
  const { objects, now } = ctx
  for (const [number, { at }] of [...objects.requests]) {
    if (now - at >= REQUEST_MS) conclude(ctx, number, 'no-answer', 0)
  }
}

/** The primary grants us an object (A4). */
export function receiveGrant(
  ctx: Context,
  from: PeerId,
  version: Version,
  base: ObjectEntry,
): void {
  const { objects } = ctx
  const known = objects.replicas.get(base.key)
  const other = known !== undefined && known.type !== base.type
  if (other || from !== objects.primary || leads(objects) || base.dead)
    return void objects.counters.ignored++
  if (known && compare(version, known.version) <= 0) return void objects.counters.stale++
  if ((!known || known.dead) && objects.living >= REPLICAS_MAX)
    return void objects.counters.ignored++
  const replica = known ?? place(objects, base.creator, base.count, base.type)
  // The event of the new owner names the former one, also for an object that we never saw.
  if (!known) replica.owner = base.owner
  const order =
    known && !known.dead ? compare(known.version, base.version) || known.oseq - base.oseq : -1
  const fresher = order >= 0 && known ? { ...known, madeAt: known.madeAt } : base
  install(ctx, replica, { ...fresher, version, owner: objects.me, former: 0 })
}

// The primary decides requests in order of arrival (B29, B30): it grants, refuses, or asks the
// owner. A grant (B39, B43) makes one member the owner from the next version on; the grantee then
// sends everybody its entry (B38). The primary keeps a grant until that entry arrives.

/** An unconfirmed grant blocks the next request for at most this long. */
export const GRANT_MS: Millis = 2_000

/** The grant that its grantee may still confirm; null for none. */
export function openGrant({ objects, now }: Context, key: number): Grant | null {
  const grant = objects.grants.get(key)?.at(-1)
  if (!grant || !objects.here.has(grant.to) || now - grant.at >= GRANT_MS) return null
  return grant
}

/** Refuses a request. @param by  the member that has the object, or was first; 0 for none */
export function refuse(
  ctx: Context,
  { from, number }: Pick<PendingRequest, 'from' | 'number'>,
  why: Refusal,
  by: PeerId = 0,
): void {
  const { objects } = ctx
  if (from === objects.me) return conclude(ctx, number, why, by)
  if (why !== 'overloaded') ctx.out.charge?.(from, 'refusal')
  const bytes = plain(KIND.refuse, number, REFUSALS.indexOf(why), by)
  objects.outbox.push({ to: from, bytes })
}

/** As primary: makes a member the owner from the next version on. */
export function give(
  ctx: Context,
  replica: Replica,
  to: PeerId,
  giver: Grant['giver'] = null,
): void {
  const { objects } = ctx
  objects.rules.grant(ctx, replica, nextVersion(objects, replica), to, giver)
}

/** As primary: makes a member the owner in that version, and sends it the GRANT. */
export function grant(
  ctx: Context,
  replica: Replica,
  version: Version,
  to: PeerId,
  giver: Grant['giver'],
): void {
  const { objects, now } = ctx
  if (to === objects.me) return takeOwnership(ctx, replica, version, 0)
  const grants = objects.grants.get(replica.key) ?? []
  objects.grants.set(replica.key, [...grants, { version, to, at: now, giver }])
  sendGrant(ctx, replica, version, to)
}

function sendGrant(
  { objects, types }: Context,
  replica: Replica,
  version: Version,
  to: PeerId,
): void {
  const { epoch, count } = version
  objects.outbox.push({ to, bytes: withEntry(KIND.grant, types, replica, epoch, count) })
}

/** The version of the next grant: newer than every earlier grant, confirmed or not. */
export function nextVersion(objects: Objects, replica: Replica): Version {
  const granted = objects.grants.get(replica.key)?.at(-1)?.version
  const known = replica.version
  const newest = granted && compare(granted, known) > 0 ? granted : known
  return after(newest, objects.rules.epochOf(objects))
}

/** Makes us the owner in that version. @param former  the player it waits for; 0 for none */
export function takeOwnership(
  ctx: Context,
  replica: Replica,
  version: Version,
  former: number,
): void {
  const { objects } = ctx
  objects.grants.delete(replica.key)
  install(ctx, replica, { ...replica, version, owner: objects.me, former })
  // This also answers our own request for the object.
  if (objects.requests.size > 0) settle(ctx, replica)
}

/** As primary: a peer follows us; resends grants to it that may have been lost. */
export function resendGrants(ctx: Context, peer: PeerId): void {
  const { objects } = ctx
  for (const [key, grants] of objects.grants) {
    const replica = objects.replicas.get(key)
    const grant = grants.at(-1)
    if (grant?.to === peer && replica) sendGrant(ctx, replica, grant.version, peer)
  }
}

/** As primary: refuses givers whose grantee left or is silent; they keep the object for now. */
export function endGrants(ctx: Context): void {
  for (const [key, grants] of ctx.objects.grants) {
    const open = openGrant(ctx, key)
    for (const grant of grants) {
      const { giver, to } = grant
      if (!giver || grant === open) continue
      grant.giver = null
      refuse(ctx, { from: giver.inc, number: giver.request }, 'away', to)
    }
  }
}

// The primary asks an owner on behalf of a member. It asks again after the owner's link was lost,
// and waits ASK_MS at most. The owner keeps its answer for as long as it owns the object, because
// the next primary may ask again.

/** The time in which an owner must answer; after that the type's `unanswered` decides. */
export const ASK_MS: Millis = 10_000

type Asker = Pick<Ask, 'by' | 'request'>

/** As primary: asks the owner of an object; its application decides. */
export function ask(ctx: Context, replica: Replica, asked: Ask): void {
  const { objects } = ctx
  const { owner } = replica
  if (owner === objects.me) return receiveAsk(ctx, replica.key, asked)
  const bytes = plain(KIND.ask, ...nameOf(replica), asked.by, asked.request)
  objects.outbox.push({ to: owner, bytes })
}

/** As primary: a member follows us; resends asks to it that may have been lost. */
export function resendAsks(ctx: Context, peer: PeerId): void {
  const { objects } = ctx
  for (const [key, asked] of objects.openAsks) {
    const replica = objects.replicas.get(key)
    if (replica && objects.rules.asksAgain(asked, peer)) ask(ctx, replica, asked)
  }
}

export function receiveDecline(
  ctx: Context,
  from: PeerId,
  key: number,
  { by, request }: Asker,
): void {
  const { objects } = ctx
  const asked = objects.openAsks.get(key)
  const isOwner = objects.replicas.get(key)?.owner === from
  if (asked?.by !== by || asked.request !== request || !isOwner)
    return void objects.counters.ignored++
  end(ctx, key, asked, 'denied', from)
}

function end(ctx: Context, key: number, { by, request }: Ask, why: Refusal, whose: PeerId): void {
  ctx.objects.openAsks.delete(key)
  refuse(ctx, { from: by, number: request }, why, whose)
}

/** As primary: ends asks whose owner left, lost the object, or did not answer in time. */
export function endAsks(ctx: Context): void {
  const { objects, types, now } = ctx
  for (const [key, asked] of objects.openAsks) {
    const { by, owner } = asked
    const replica = objects.replicas.get(key)
    if (!objects.here.has(by)) objects.openAsks.delete(key)
    else if (!replica || replica.dead) end(ctx, key, asked, 'gone', 0)
    else if (replica.owner !== owner) end(ctx, key, asked, 'late', replica.owner)
    else if (now - asked.at < ASK_MS) continue
    else if (types[replica.type]!.unanswered === 'refuse') {
      end(ctx, key, asked, 'no-answer', owner)
    } else {
      objects.openAsks.delete(key)
      give(ctx, replica, by)
    }
  }
}

/** As owner: the primary asks us on behalf of a member. */
export function receiveAsk(ctx: Context, key: number, { by, request }: Asker): void {
  const { objects, out } = ctx
  const replica = objects.replicas.get(key)
  if (!replica || replica.dead || replica.owner !== objects.me)
    return void objects.counters.ignored++
  const known = objects.incomingAsks.get(key)
  if (known?.by === by && known.request === request) {
    known.sent = false
    return
  }
  objects.incomingAsks.set(key, { by, request, answer: null, sent: false })
  out.emit({ kind: 'object-asked', key, by, request })
}

/** As owner: our application grants or declines an ask. The first answer counts. */
export function reply(ctx: Context, key: number, { by, request }: Asker, yes: boolean): void {
  const known = ctx.objects.incomingAsks.get(key)
  if (known?.by !== by || known.request !== request || known.answer !== null) return
  known.answer = yes ? 'yes' : 'no'
}

/** As owner: sends our application's answers. A yes waits while we are giving the object away. */
export function sendAnswers(ctx: Context): void {
  for (const [key, answering] of ctx.objects.incomingAsks) {
    if (answering.answer !== null && !answering.sent) sendAnswer(ctx, key, answering)
  }
}

function sendAnswer(ctx: Context, key: number, answering: IncomingAsk): void {
  const { objects } = ctx
  const replica = objects.replicas.get(key)
  if (!replica || replica.dead || replica.owner !== objects.me)
    return void objects.incomingAsks.delete(key)
  const mine = isMine(objects, replica)
  if (answering.answer === 'yes' && !mine) return
  answering.sent = true
  if (answering.answer === 'yes') {
    return void request(ctx, replica, 'yes', answering.by, answering.request)
  }
  if (!objects.rules.declines(mine)) return
  if (leads(objects)) return receiveDecline(ctx, objects.me, key, answering)
  const bytes = plain(KIND.decline, ...nameOf(replica), answering.by, answering.request)
  objects.outbox.push({ to: objects.primary, bytes })
}

/** As owner: forgets asks whose asker left, or whose object is no longer ours. */
export function forgetAsks({ objects }: Context): void {
  for (const [key, { by }] of objects.incomingAsks) {
    const replica = objects.replicas.get(key)
    const isOurs = replica && !replica.dead && replica.owner === objects.me
    if (!isOurs || !objects.here.has(by)) objects.incomingAsks.delete(key)
  }
}

// A new primary decides nothing before every member here has sent the objects that it owns, because
// the earlier primary may have granted an object to one of them: of two members that ask for one
// object, exactly one gets `granted`. Requests also wait for an object that the primary does not
// know yet (in a mesh it may arrive after the request), and for their player's rate limit.

/** How long a request waits for an object or version that the primary does not know. */
export const HOLD_MS: Millis = 5_000
/** How often a rate-limited request is tried again. */
const PUSHED_BACK_MS: Millis = 10
/** Most waiting requests of one member. */
export const WAITING_MAX = 2_048

/** As primary: a member sent a request. */
export function receiveRequest(ctx: Context, asked: PendingRequest): void {
  const { objects, now } = ctx
  const { pending } = objects
  const again = pending.findIndex((one) => one.from === asked.from && one.number === asked.number)
  const theirs = (): number => pending.filter(({ from }) => from === asked.from).length
  if (again >= 0) pending[again] = { ...pending[again]!, ...asked, at: pending[again]!.at }
  else if (pending.length < WAITING_MAX || theirs() < WAITING_MAX) pending.push(asked)
  else return refuse(ctx, asked, 'overloaded')
  objects.pendingAt = now
}

export function decideAll(ctx: Context): void {
  const { objects, now } = ctx
  if (now < objects.pendingAt) return
  const asked = objects.pending.splice(0)
  objects.pendingAt = Infinity
  if (!leads(objects)) return
  for (const one of asked) {
    if (decide(ctx, one)) continue
    objects.pending.push(one)
    objects.pendingAt = Math.min(objects.pendingAt, dueAt(ctx, one))
  }
}

function dueAt({ objects, now }: Context, { at, waits }: PendingRequest): Millis {
  const { term, allReportedIn } = objects
  if (waits) return now + PUSHED_BACK_MS
  return allReportedIn === term.from ? at + HOLD_MS : Math.max(now + 1, term.at + GRANT_MS)
}

// Returns whether the request was decided.
function decide(ctx: Context, asked: PendingRequest): boolean {
  const { objects, now } = ctx
  if (!haveAllReported(ctx)) return false
  const replica = objects.replicas.get(asked.key)
  const isUnknown =
    !replica ||
    isUnclaimed(replica) ||
    (!replica.dead && compare(asked.version, replica.version) > 0)
  if (isUnknown && now - asked.at < HOLD_MS) return false
  if (ctx.out.charge?.(asked.from, asked.waits ? 'again' : 'operation') === false) {
    asked.waits = true
    if (now - asked.at < HOLD_MS) return false
    refuse(ctx, asked, 'overloaded')
  } else if (isUnknown) refuse(ctx, asked, 'no-answer')
  else if (replica.dead) refuse(ctx, asked, 'gone')
  else if (asked.what === 'take') decideTake(ctx, asked, replica)
  else decideGive(ctx, asked, replica)
  return true
}

// After GRANT_MS a member without a FOLLOW may be dead, and no longer delays decisions.
function haveAllReported({ objects, now }: Context): boolean {
  const { me, term, here, subscribers } = objects
  if (objects.allReportedIn === term.from || !objects.rules.waitsForAll()) return true
  const all = [...here.keys()].every((inc) => inc === me || subscribers.get(inc)?.follows === true)
  if (!all && now - term.at < GRANT_MS) return false
  objects.allReportedIn = term.from
  return true
}

function decideTake(ctx: Context, asked: PendingRequest, replica: Replica): void {
  const { objects, types, now } = ctx
  const { from, number: request, key } = asked
  if (asked.to !== from) return void objects.counters.ignored++
  const { take: policy } = types[replica.type]!
  const before = objects.openAsks.get(key)
  // The member asked again: its grant is in flight, or the owner is being asked.
  if (objects.grants.get(key)?.at(-1)?.to === from) return
  if (before?.by === from && before.request === request) return
  const { owner } = replica
  if (policy === 'fixed') return refuse(ctx, asked, 'fixed', owner)
  // A member that did not know of the newest owner is refused: another member was first.
  const isTheirs = owner === from && replica.former === 0
  const isLate = compare(asked.version, replica.version) < 0
  if (isTheirs || isLate) return refuse(ctx, asked, 'late', owner)
  const open = openGrant(ctx, key)
  if (open) return refuse(ctx, asked, 'held', open.to)
  if (before) return refuse(ctx, asked, 'busy', before.by)
  if (policy === 'free') return give(ctx, replica, from)
  const made = { by: from, request, owner, at: now }
  objects.openAsks.set(key, made)
  ask(ctx, replica, made)
}

// The owner gives the object to any member (`give`), or to the member that asked (`yes`).
function decideGive(ctx: Context, asked: PendingRequest, replica: Replica): void {
  const { objects } = ctx
  const { from, to, number, key } = asked
  const known = objects.grants.get(key)?.at(-1)
  if (known && known.to === to && known.giver?.inc === from) {
    known.giver.request = number
    return
  }
  const ask = objects.openAsks.get(key)
  const answers = ask?.by === to && ask.request === asked.answers
  if (asked.what === 'yes' && !answers) return refuse(ctx, asked, 'late')
  if (replica.owner !== from) return refuse(ctx, asked, 'late', replica.owner)
  if (!objects.here.has(to) || objects.watching.has(to)) return refuse(ctx, asked, 'away', to)
  const open = openGrant(ctx, key)
  if (open) return refuse(ctx, asked, 'held', open.to)
  takeState(ctx, asked, replica)
  endAsk(ctx, asked)
  give(ctx, replica, to, { inc: from, request: number })
}

// The giver's request carries the newest state (3.5: no write is lost).
function takeState(ctx: Context, { entry }: PendingRequest, replica: Replica): void {
  if (!entry || entry.dead || entry.type !== replica.type) return
  if (compare(entry.version, replica.version) !== 0 || entry.oseq <= replica.oseq) return
  replaceState(ctx, replica, entry)
}

// The object is given away, so an ask of another member ends.
function endAsk(ctx: Context, { key, to }: PendingRequest): void {
  const { objects } = ctx
  const ask = objects.openAsks.get(key)
  if (!ask) return
  objects.openAsks.delete(key)
  if (ask.by === to || !objects.rules.endsByGive(ask, to)) return
  refuse(ctx, { from: ask.by, number: ask.request }, 'late', to)
}
