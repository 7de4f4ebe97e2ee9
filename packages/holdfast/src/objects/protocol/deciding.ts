/**
 * How the primary treats requests, in the order in which they come (B29, B30): it grants, refuses,
 * or asks the owner; and it waits where it may not know enough yet.
 *
 * A new primary decides nothing before all members that are here have sent it the objects that they
 * own, for the earlier primary may have granted the object to one of them: of two members who ask
 * for one object, exactly one gets `granted`. An object that the primary does not know may be on
 * its way, in a mesh behind the request: such a request waits too. And so does one whose player
 * asks for more than one may a second.
 */

import type { Millis } from '../../machine.ts'
import { renew } from './accept.ts'
import { ask } from './asking.ts'
import { give, GRANT_MS, openGrant, refuse } from './owning.ts'
import { type Asked, isUnclaimed, leads, type Replica, type Turn } from './state.ts'
import { compare } from './stamp.ts'

/** A request for an object or version that the primary does not know waits so long for it. */
export const HOLD_MS: Millis = 5_000
/** One whose player asked for too much is looked at again so often. */
export const LOOK_MS: Millis = 10
/** Most requests of one member that wait. */
export const WAITING_MAX = 2_048

/** As primary: a member asks. */
export function demand(turn: Turn, asked: Asked): void {
  const { objects, now } = turn
  const { pending } = objects
  const again = pending.findIndex((one) => one.from === asked.from && one.number === asked.number)
  if (again >= 0) pending[again] = { ...pending[again]!, ...asked, at: pending[again]!.at }
  else if (isFull(pending, asked)) return refuse(turn, asked, 'overloaded')
  else pending.push(asked)
  objects.pendingAt = now
}

function isFull(pending: readonly Asked[], { from }: Asked): boolean {
  return (
    pending.length >= WAITING_MAX &&
    pending.filter((one) => one.from === from).length >= WAITING_MAX
  )
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
  if (waits) return now + LOOK_MS
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
