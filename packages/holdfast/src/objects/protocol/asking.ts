/**
 * The primary asks an owner on behalf of a member, and the owner answers. The primary asks again
 * when the owner's link was lost and is back, and waits ASK_MS at most. The owner keeps its answer
 * for as long as it owns the object, so that the next primary may ask it again.
 */

import type { Millis, PeerId } from '../../machine.ts'
import { KIND, nameOf, plain } from './messages.ts'
import { give, refuse } from './owning.ts'
import { request } from './requests.ts'
import {
  type Answering,
  type Ask,
  isMine,
  leads,
  type Refusal,
  type Replica,
  type Turn,
} from './state.ts'

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
