/**
 * The end of a seeded run: everybody goes, in one of four ways, and one comes back. What was
 * settled is there, though nobody was: the room was kept.
 */

import * as commit from '../packages/holdfast/src/replication/log.ts'
import * as prng from '../packages/holdfast/src/faults/prng.ts'
import type { Millis } from '../packages/holdfast/src/machine.ts'
import { cardsOf } from './workloads/pieces.ts'
import { count, trace, type Trial } from './trace.ts'
import { ask, isIn, leave, type Client, startClient, Thing } from './clients.ts'
import type { InternalSession as Session } from '../packages/holdfast/src/join/session-impl.ts'

/** Members with paths of their own may play on without the hub: the room opens after a minute. */
const BACK_MS: Millis = 120_000
/** The last that was done is written at the hub within this, after what the weather held up. */
const WRITTEN_MS: Millis = 10_000
/** Objects of whoever opened a room are shown, and written at the hub, within this. */
const BROUGHT_MS: Millis = 1_000

type Inside = Client & { session: Session }

const WAYS = [
  ...(['they leave', 'they are killed', 'they are killed, and the hub'] as const),
  'the last one is killed with the hub as it is answered',
] as const

/** Plays it, if all are in one session that goes on. */
export async function checkPersistence(trial: Trial): Promise<void> {
  const { world: w, clients, drawing, observed } = trial
  // Who opened the room a moment ago still brings what is its own.
  await w.run(BROUGHT_MS)
  const isWritten = await w.runUntil(() => clients.every(owesNothing) && agree(clients), WRITTEN_MS)
  if (!isWritten) observed.wrong.add(`room.kept: the hub does not have all after ${WRITTEN_MS} ms`)
  const inside = clients.filter((client): client is Inside => isIn(client))
  // Who is on the way in would go on with the session.
  const here = new Set(inside.map(({ node }) => node.name))
  const coming = clients.map(({ node }) => node.name).filter((name) => !here.has(name))
  for (const name of new Set(coming)) if (w.sim.isRunning(name)) w.crash(name)
  const homes = new Set(inside.map(({ session }) => session.member!.session.id))
  if (homes.size !== 1 || w.hubs().length < (drawing.hubs ?? 1)) return
  const chance = prng.fork(prng.create(drawing.seed), 'home')
  const way = prng.pick(chance, WAYS)
  const who = prng.pick(chance, inside)
  const { session, player } = who
  const id = session.member!.session.id
  const before = await go(trial, inside, who, way)
  const back = await comes(trial, who)
  count(trial, `all went: ${way}`)
  if (!back) return void observed.wrong.add(`room.kept: nobody comes in again: ${way}`)
  const found = shown(back.session)
  const now = [back.session.member!.session.id, back.session.me.player, found]
  const then = [id, player, before]
  if (JSON.stringify(now) === JSON.stringify(then)) return
  observed.wrong.add(`room.kept: ${JSON.stringify(now)} is not ${JSON.stringify(then)}: ${way}`)
}

// What one says of objects last comes to the server, and from there to all.
function agree(clients: readonly Client[]): boolean {
  const views = clients
    .filter((client): client is Inside => isIn(client))
    .map(({ session }) => session)
  return new Set(views.map((session) => JSON.stringify(shown(session)))).size <= 1
}

// The hub has on disk what was recorded, where somebody serves.
function owesNothing(client: Client): boolean {
  if (!isIn(client)) return true
  const { server } = client.session!.member!.session
  if (!('lead' in server)) return true
  const { on, kept, unlogged: loose, inFlight: flying } = server.lead.persistence
  return !on || (kept === commit.lengthOf(server.log) && !loose && !flying)
}

// Returns what was shown last.
async function go(
  trial: Trial,
  inside: Inside[],
  who: Inside,
  way: (typeof WAYS)[number],
): Promise<unknown> {
  const { world: w } = trial
  trace(trial, 'world', way)
  if (way === WAYS[3]) {
    await allLeave(
      trial,
      inside.filter((client) => client !== who),
    )
    await answered(trial, who)
  }
  const before = shown(who.session)
  if (way === WAYS[0]) await allLeave(trial, inside)
  for (const { node } of inside) w.crash(node.name)
  if (way === WAYS[0] || way === WAYS[1]) return before
  w.killHub()
  await w.run(1_000)
  w.restartHub()
  return before
}

async function allLeave({ world: w }: Trial, inside: Inside[]): Promise<void> {
  for (const client of inside) {
    leave(client)
    await w.runUntil(() => !isIn(client), 10_000)
  }
}

// Whoever is alone is answered once the hub has it.
async function answered({ world: w }: Trial, who: Inside): Promise<void> {
  await w.runUntil(() => who.session.members.length === 1, 20_000)
  const count = who.answered.size
  ask(who)
  await w.runUntil(() => who.answered.size > count, 20_000)
}

async function comes(trial: Trial, before: Inside): Promise<Inside | null> {
  const { world: w, clients, drawing } = trial
  const { kind } = before
  let client: Client | null = null
  w.sim.node('home', (node) => {
    const as = { kind, topology: drawing.topology ?? 'star' }
    client = startClient(node, as, clients.length, (what) => trace(trial, 'home', what), before)
    clients.push(client)
  })
  const isBack = await w.runUntil(() => client !== null && isIn(client), BACK_MS)
  return isBack ? (client as unknown as Inside) : null
}

// The table, the cards as far as all may see them, and objects that are kept.
function shown(session: Session): unknown {
  const rows = session.table.keys().map((key) => [key, session.table.get(key)])
  const things = session.all(Thing).map(({ id, state }) => `${id} ${JSON.stringify(state)}`)
  return [rows, cardsOf(session).length, things.toSorted()]
}
