/**
 * What the members of a simulated run do with objects: create, change, take, give and destroy
 * them; and what must be true of those at every instant and in the end (docs/protocols/objects.md).
 */

import * as prng from '../faults/prng.ts'
import type { Prng } from '../faults/prng.ts'
import type { GiveOutcome, TakeOutcome } from '../faces/outcomes.ts'
import type { Session } from '../faces/session.ts'
import { leads, type Replica } from '../objects/objects.ts'
import { count, type Trial } from './diary.ts'
import { isIn, type Life, Thing } from './lives.ts'

/** What a member may do with things in one turn. */
export function play(trial: Trial, life: Life, chance: Prng): void {
  if (!isIn(life)) return
  const { things = 0 } = trial.drawing
  const { session } = life
  const all = session.all(Thing)
  const share = Math.ceil(things / trial.drawing.actors.length)
  for (let made = all.length; made < things && life.made < share; life.made++, made++) {
    session.create(Thing, { face: prng.below(chance, 256) })
  }
  for (let turn = 0; turn < 1 + things / 20; turn++) {
    const one = all[prng.below(chance, Math.max(1, all.length))]
    if (!one?.alive) continue
    if (!one.mine) void wait(trial, life, 'take', one.take())
    else if (prng.chance(chance, 0.02)) one.destroy()
    else if (prng.chance(chance, 0.1)) {
      const to = session.members[prng.below(chance, session.members.length)]!
      void wait(trial, life, 'give', one.give(to))
    } else {
      one.set({ turns: (one.state.turns + 1) % 65_536 })
      if (prng.chance(chance, 0.3)) one.set({ side: prng.below(chance, 256) })
    }
  }
}

async function wait(
  trial: Trial,
  life: Life,
  what: string,
  answer: Promise<TakeOutcome | GiveOutcome>,
): Promise<void> {
  life.waiting++
  try {
    const outcome = await answer
    count(trial, `${what} ${outcome.ok ? 'granted' : outcome.code}`)
  } catch {
    // The session ended first.
  }
  life.waiting--
}

/** obj.unique and obj.forward: looked at after each event of the world that may matter. */
export function watchThings(trial: Trial): void {
  for (const life of trial.lives) {
    const own = isIn(life) ? life.session.member : null
    const state = life.session?.belongings
    if (!own || !state) continue
    const { id, me } = own.session
    for (const replica of state.replicas.values()) {
      forward(trial, life, `${id} ${me}`, replica)
      if (!replica.dead && replica.owner === state.me) unique(trial, id, state.me, replica)
    }
  }
}

function unique(trial: Trial, session: string, me: number, replica: Replica): void {
  const { owners, wrong } = trial.account
  const { epoch, count: number } = replica.version
  const version = `${session} ${replica.key} ${epoch}.${number}`
  const other = owners.get(version)
  if (other === undefined) owners.set(version, me)
  else if (other !== me) wrong.add(`obj.unique: ${other} and ${me} both owned ${version}`)
}

function forward(trial: Trial, life: Life, who: string, replica: Replica): void {
  const { epoch, count: number } = replica.version
  const seen = life.seen.get(replica.key)
  if (seen && seen.who === who) {
    const back =
      epoch - seen.epoch || number - seen.count || (replica.dead ? 0 : replica.oseq - seen.oseq)
    if (back < 0) trial.account.wrong.add(`obj.forward: ${life.name} went back with ${replica.key}`)
  }
  life.seen.set(replica.key, { who, epoch, count: number, oseq: replica.oseq })
}

/** obj.converge: what a session shows of its things, in one order. */
export function thingsOf(session: Session): string[] {
  const state = session.belongings
  return [...state.replicas.values()]
    .filter((replica) => !replica.dead && isShared(replica.type))
    .map(({ key, version, owner, former, fields }) => {
      return `${key} ${version.epoch}.${version.count} of ${owner}/${former}: ${fields.join()}`
    })
    .sort()
}

// Types are numbered by their names: dot, ghost, prize, relic, thing. Dots are looked at by
// themselves, and ghosts not all may see.
function isShared(type: number): boolean {
  return type >= 2
}

/** What is not in order with the things of one member, in peace. */
export function unsettled(life: Life & { session: Session }): string[] {
  const { belongings: state, members } = life.session
  const found: string[] = []
  const here = new Set(members.map(({ inc }) => inc))
  for (const { key, owner, dead, hidden } of state.replicas.values()) {
    // Of what we may not see we do not hear whose it is.
    if (!dead && !hidden && !here.has(owner))
      found.push(`${life.name}: ${key} is owned by ${owner}, who is not here`)
  }
  if (state.requests.size > 0) found.push(`${life.name} waits for ${state.requests.size} answers`)
  if (leads(state) && state.asked.size > 0) found.push(`${life.name} has asked ${state.asked.size}`)
  return found
}
