/**
 * What the members of a simulated run do with objects: create, change, take, give and destroy
 * them; and what must be true of those at every instant and in the end (docs/protocols/objects.md).
 */

import * as prng from '../../packages/holdfast/src/faults/prng.ts'
import type { Prng } from '../../packages/holdfast/src/faults/prng.ts'
import type { GiveOutcome, TakeOutcome } from '../../packages/holdfast/src/kind/outcomes.ts'
import type { InternalSession as Session } from '../../packages/holdfast/src/join/session-impl.ts'
import type { Member } from '../../packages/holdfast/src/member/state.ts'
import {
  leads,
  type Objects,
  OBJECTS_CHANNEL,
  type Replica,
} from '../../packages/holdfast/src/objects/protocol/objects.ts'
import { count, type Trial } from '../trace.ts'
import { isIn, type Client, type Sighting, Thing } from '../clients.ts'

/** What a member may do with things in one turn. */
export function play(trial: Trial, client: Client, chance: Prng): void {
  if (!isIn(client) || client.leaves) return
  const { things = 0 } = trial.drawing
  const { session } = client
  const all = session.all(Thing)
  const share = Math.ceil(things / trial.drawing.actors.length)
  for (let made = all.length; made < things && client.made < share; client.made++, made++) {
    session.create(Thing, { face: prng.below(chance, 256) })
  }
  for (let turn = 0; turn < 1 + things / 20; turn++) {
    const one = all[prng.below(chance, Math.max(1, all.length))]
    if (!one?.alive) continue
    if (!one.mine) void wait(trial, client, 'take', one.take())
    else if (prng.chance(chance, 0.02)) one.destroy()
    else if (prng.chance(chance, 0.1)) {
      const to = session.members[prng.below(chance, session.members.length)]!
      void wait(trial, client, 'give', one.give(to))
    } else {
      one.set({ turns: (one.state.turns + 1) % 65_536 })
      if (prng.chance(chance, 0.3)) one.set({ side: prng.below(chance, 256) })
    }
  }
}

async function wait(
  trial: Trial,
  client: Client,
  what: string,
  answer: Promise<TakeOutcome | GiveOutcome>,
): Promise<void> {
  client.waiting++
  try {
    const outcome = await answer
    count(trial, `${what} ${outcome.ok ? 'granted' : outcome.code}`)
  } catch {
    // The session ended first.
  }
  client.waiting--
}

/** obj.unique and obj.forward: looked at after each event of the world that may matter. */
export function watchThings(trial: Trial): void {
  for (const client of trial.clients) {
    const own = isIn(client) ? client.session.member : null
    if (!own) continue
    const state = objectsOf(own)
    const { id, me } = own.session
    const who = `${id} ${me}`
    for (const replica of state.replicas.values()) {
      const seen = forward(trial, client, who, replica)
      if (!replica.dead && replica.owner === state.me) unique(trial, id, state.me, replica, seen)
    }
  }
}

// One version is written down once for each who owns it: a second time adds nothing.
function unique(trial: Trial, session: string, me: number, replica: Replica, seen: Sighting): void {
  if (seen.owned === me) return
  seen.owned = me
  const { owners, wrong } = trial.observed
  const { epoch, count: number } = replica.version
  const version = `${session} ${replica.key} ${epoch}.${number}`
  const other = owners.get(version)
  if (other === undefined) owners.set(version, me)
  else if (other !== me) wrong.add(`obj.unique: ${other} and ${me} both owned ${version}`)
}

function forward(trial: Trial, client: Client, who: string, replica: Replica): Sighting {
  const { key, dead, oseq } = replica
  const { epoch, count: number } = replica.version
  const seen = client.seen.get(key)
  if (!seen || seen.who !== who) {
    const first = { who, epoch, count: number, oseq, owned: 0 }
    client.seen.set(key, first)
    return first
  }
  const back = epoch - seen.epoch || number - seen.count || (dead ? 0 : oseq - seen.oseq)
  if (back < 0) trial.observed.wrong.add(`obj.forward: ${client.name} went back with ${key}`)
  if (epoch !== seen.epoch || number !== seen.count) {
    seen.epoch = epoch
    seen.count = number
    seen.owned = 0
  }
  seen.oseq = oseq
  return seen
}

/** obj.converge: what a session shows of its things, in one order. */
export function thingsOf(session: Session): string[] {
  const state = objectsOf(session.member!)
  return [...state.replicas.values()]
    .filter((replica) => !replica.dead && isShared(replica.type))
    .map(({ key, version, owner, former, fields }) => {
      return `${key} ${version.epoch}.${version.count} of ${owner}/${former}: ${fields.join()}`
    })
    .sort()
}

/** What a member knows of the objects. */
function objectsOf({ mounts: slots }: Member): Objects {
  return slots.find(({ part }) => part.channel === OBJECTS_CHANNEL)!.state as Objects
}

// They are dot, ghost, prize, relic and thing. Dots are looked at by themselves, and not all may
// see ghosts.
function isShared(type: number): boolean {
  return type >= 2
}

/** What is not in order with the things of one member, in peace. */
export function unsettled(client: Client & { session: Session }): string[] {
  const { members, member } = client.session
  const state = objectsOf(member!)
  const found: string[] = []
  const here = new Set(members.map(({ inc }) => inc))
  for (const { key, owner, dead, hidden } of state.replicas.values()) {
    // Of what we may not see we do not hear whose it is.
    if (!dead && !hidden && !here.has(owner))
      found.push(`${client.name}: ${key} is owned by ${owner}, who is not here`)
  }
  if (state.requests.size > 0) found.push(`${client.name} waits for ${state.requests.size} answers`)
  if (leads(state) && state.openAsks.size > 0)
    found.push(`${client.name} has asked ${state.openAsks.size}`)
  return found
}
