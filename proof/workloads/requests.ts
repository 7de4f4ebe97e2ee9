/**
 * Objects that members of a simulated run ask one another for, and some that not all may see:
 * owners answer at once, later, or never, their listeners and rules throw, objects are given away
 * and end meanwhile. Each request must end, and no object may live with one member alone.
 */

import { object } from '../../packages/holdfast/src/objects/objects.ts'
import type { ObjectType, Onlooker } from '../../packages/holdfast/src/objects/types.ts'
import type { Asking } from '../../packages/holdfast/src/join/events.ts'
import type { ObjectHandle } from '../../packages/holdfast/src/objects/handles.ts'
import type { Session } from '../../packages/holdfast/src/join/session.ts'
import * as prng from '../../packages/holdfast/src/faults/prng.ts'
import type { Prng } from '../../packages/holdfast/src/faults/prng.ts'
import type { Millis } from '../../packages/holdfast/src/machine.ts'
import { u8 } from '../../packages/holdfast/src/wire/fields/schema.ts'

/** Its owner is asked. */
export const Prize: ObjectType<{ worth: typeof u8 }> = object(
  'prize',
  { worth: u8 },
  { take: 'ask', onOwnerLeave: 'keep' },
)

/** Its owner is asked, and loses the say if it does not answer. */
export const Relic: ObjectType<{ worth: typeof u8 }> = object(
  'relic',
  { worth: u8 },
  { take: 'ask', unanswered: 'take', onOwnerLeave: 'keep' },
)

// In this mood the rule throws.
const MAD = 7

/** Not all may see it, and its rule throws at times. */
export const Ghost: ObjectType<{ mood: typeof u8 }> = object(
  'ghost',
  { mood: u8 },
  { take: 'free', onOwnerLeave: 'keep', visibleTo: isSeen },
)

function isSeen({ mood }: { mood: number }, { player }: Onlooker): boolean {
  if (mood === MAD) throw new Error('a ghost is mad')
  return (mood + player) % 3 !== 0
}

/** Nobody waits longer for the answer to a request. */
const ENDS_MS: Millis = 31_500

/** A request that has no answer yet. */
interface Waiting {
  what: string
  since: Millis
}

/** What one client has to do with requests. */
export interface Requests {
  made: number
  waiting: Set<Waiting>
  /** Asks that wait for a later word. */
  later: Asking[]
  /** What came of its requests, how often. */
  met: Set<string>
  /** Requests that did not end in time. */
  wrong: Set<string>
}

/** An empty one. */
export function createRequests(): Requests {
  return { made: 0, waiting: new Set(), later: [], met: new Set(), wrong: new Set() }
}

/** Owners answer now, later, or never; some throw instead. */
export function answerAsks(requests: Requests, session: Session, chance: Prng): void {
  session.on('error', () => {})
  session.on('asked', (asking) => {
    const way = prng.below(chance, 8)
    if (way === 0) throw new Error('not now')
    if (way === 1) return
    if (way < 4) requests.later.push(asking)
    else if (way < 6) asking.grant()
    else asking.refuse()
  })
}

type AnyHandle = ObjectHandle<{ worth: typeof u8 }> | ObjectHandle<{ mood: typeof u8 }>

/** What a member may do in one turn. */
export function playRequests(
  requests: Requests,
  session: Session,
  { share, chance, now }: { share: number; chance: Prng; now: () => Millis },
): void {
  for (; requests.made < share; requests.made++) {
    session.create(Prize, { worth: prng.below(chance, 256) })
    session.create(Relic)
    session.create(Ghost, { mood: prng.below(chance, 6) })
  }
  const asking = requests.later.shift()
  if (asking && prng.chance(chance, 0.5)) asking.grant()
  else asking?.refuse()
  for (const type of [Prize, Relic])
    act(requests, session, pick(session.all(type), chance), chance, now)
  const ghost = pick(session.all(Ghost), chance)
  if (ghost?.mine && !ghost.away) ghost.set({ mood: prng.below(chance, MAD + 1) })
  else if (ghost) act(requests, session, ghost, chance, now)
}

function pick<Item>(all: readonly Item[], chance: Prng): Item | undefined {
  return all[prng.below(chance, Math.max(1, all.length))]
}

function act(
  requests: Requests,
  session: Session,
  one: AnyHandle | undefined,
  chance: Prng,
  now: () => Millis,
): void {
  if (!one?.alive) return
  const what = one.type.name
  if (!one.mine) return void wait(requests, `take ${what}`, one.take(), now)
  if (prng.chance(chance, 0.02)) one.destroy()
  else if (prng.chance(chance, 0.15)) {
    const to = session.members[prng.below(chance, session.members.length)]!
    void wait(requests, `give ${what}`, one.give(to), now)
  }
}

async function wait(
  requests: Requests,
  what: string,
  asked: Promise<{ ok: true } | { ok: false; code: string }>,
  now: () => Millis,
): Promise<void> {
  const waiting = { what, since: now() }
  requests.waiting.add(waiting)
  try {
    const outcome = await asked
    requests.met.add(`${what}: ${outcome.ok ? 'granted' : outcome.code}`)
  } catch {
    // The session ended first.
  }
  requests.waiting.delete(waiting)
}

/** request.ends: of a member whose process runs. */
export function checkRequests(requests: Requests, name: string, now: Millis): string[] {
  for (const { what, since } of requests.waiting) {
    if (now - since > ENDS_MS) requests.wrong.add(`request.ends: ${name} waits for ${what}`)
  }
  return [...requests.wrong]
}

/** obj.everywhere: what is not as it shall be with what not all may see, in peace. */
export function wrongGhosts(session: Session, primary: Session): string[] {
  const { player } = session.me
  const of = (one: Session): string[] =>
    one.all(Ghost).map(({ id, state }) => `${id} ${state.mood}`)
  const may = primary.all(Ghost).filter(({ state, owner }) => {
    if (owner?.player === player || session.me.inc === primary.me.inc) return true
    return state.mood !== MAD && isSeen(state, session.me)
  })
  const wanted = may.map(({ id, state }) => `${id} ${state.mood}`).toSorted()
  const found = of(session).toSorted()
  if (found.join() === wanted.join()) return []
  return [`obj.everywhere: sees ghosts ${found.join()} and may see ${wanted.join()}`]
}
