/**
 * One seeded run: all come in, then there is trouble for ten seconds, then peace, and at the
 * end the accounts are looked into (judge.ts). What must hold at every instant is looked at
 * after each event of the world.
 */

import * as prng from '../packages/holdfast/src/faults/prng.ts'
import { sentenceOf } from '../packages/sim/src/faults.ts'
import { format } from '../packages/holdfast/src/faults/conditions.ts'
import type { Millis } from '../packages/holdfast/src/machine.ts'
import type { Counters } from '../packages/sim/src/ground.ts'
import { hash } from '../packages/sim/src/checker/hash.ts'
import type { SimNode } from '../packages/sim/src/world.ts'
import { metCalls } from './workloads/calls.ts'
import { bareFaces } from './workloads/pieces.ts'
import { hasRung } from './workloads/timers.ts'
import { count, trace, type Trial } from './trace.ts'
import { checkPersistence } from './persistence.ts'
import { endings, judge, settled, unserved } from './judge.ts'
import {
  ask,
  call,
  clock,
  requestObjects,
  handle,
  handOver,
  isIn,
  leave,
  startClient,
  move,
  serving,
} from './clients.ts'
import { type Drawing, TROUBLE_MS, type Turn } from './seeds.ts'
import { checkRequests } from './workloads/requests.ts'
import { play, watchThings } from './workloads/objects.ts'
import { watch } from './roles.ts'
import type { SessionBug } from './mutants.ts'
import { world } from '../packages/sim/src/session-world.ts'

/** All must be in by then. */
export const ENTRY_MS: Millis = 30_000
/** Peace lasts so long at most; what is not in order by then stays so. */
export const PEACE_MS: Millis = 45_000
/** After peace has settled in the network somebody must serve within this. */
export const SERVE_MS: Millis = 5_000
const TICK_MS: Millis = 100
const LOOK_MS: Millis = 50
/** The share of the hub's writes whose outcome it does not learn. */
const UNSURE = 0.03

/** What came of a run. */
export interface Result {
  seed: number
  /** What does not hold, in sentences; empty if all does. */
  wrong: string[]
  /** What happened at least once. */
  reached: Record<string, number>
  faults: Counters['faults']
  /** Time from peace until all was in order; Infinity if never. */
  settledMs: Millis
  virtualMs: Millis
  events: number
  /** Of how it went: its story, faults, times; and of what each member shows at the end. */
  digests: { course: string; ending: string }
  /** What a person wants to know, in order. */
  story: string[]
}

/** Runs what a seed stands for. @param bug a bug for all members, to see whether it is found */
export async function run(drawing: Drawing, bug: SessionBug | null = null): Promise<Result> {
  const trial = start(drawing, bug)
  const { world: w } = trial
  const first = Math.max(...drawing.actors.map(({ at }) => at))
  await w.run(first + 1)
  const entered = await w.runUntil(() => watch(trial) && allIn(trial), ENTRY_MS)
  if (!entered) trial.observed.wrong.add(`not all are in after ${ENTRY_MS} ms`)
  trouble(trial)
  await w.runUntil(() => watch(trial) && false, TROUBLE_MS)
  const peace = w.now()
  trace(trial, 'world', 'peace')
  w.heal()
  w.conditions('*', '*', 'rtt=20')
  const done = await w.runUntil(() => watch(trial) && isSettled(trial), PEACE_MS)
  judge(trial)
  const settledMs = done ? w.now() - peace : Infinity
  const ending = hash(endings(trial)).toString(36)
  if (done && trial.observed.wrong.size === 0) await checkPersistence(trial)
  return conclude(trial, settledMs, ending)
}

// Who was not let in in time, as in bad weather, asks once more, as people do.
function allIn(trial: Trial): boolean {
  const { drawing, newest, world: w } = trial
  let all = true
  for (const { name } of drawing.actors) {
    const client = newest.get(name)!
    all &&= isIn(client)
    const { node, failed } = client
    if (failed === '' || !/within \d+ s$/.test(failed) || !node.alive()) continue
    count(trial, 'came in at the second try')
    w.crash(node.name)
    w.sim.restart(node.name)
  }
  return all
}

function start(drawing: Drawing, bug: SessionBug | null): Trial {
  const { seed, conditions, actors, topology = 'star', hubs = 1 } = drawing
  const w = world({ seed, conditions, unsure: UNSURE, linesMax: 0, hubs })
  const trial: Trial = {
    drawing,
    bug,
    world: w,
    clients: [],
    newest: new Map(),
    observed: {
      wrong: new Set(),
      reached: {},
      primaries: new Map(),
      roles: new Map(),
      backups: new Map(),
      owners: new Map(),
      outage: null,
      calmAt: Infinity,
      lookedAt: -Infinity,
    },
    story: [],
  }
  const weather = format(conditions) || 'quiet weather'
  trace(trial, 'world', `${actors.length} members in a ${topology}, ${weather}`)
  if (topology === 'mesh') count(trial, 'a mesh')
  for (const { name, kind, at } of actors) {
    w.at(at, () => w.sim.node(name, (node) => begin(trial, node, { kind, topology, hubs })))
  }
  return trial
}

// A machine starts, which begins one more client of it.
function begin(trial: Trial, node: SimNode, as: Parameters<typeof startClient>[1]): void {
  const { drawing, clients, newest } = trial
  const { name } = node
  const count = clients.filter((client) => client.node.name === name).length + 1
  const who = `${name}.${count}`
  trace(trial, who, `starts (${as.kind})`)
  const before = drawing.keepsTokens ? (newest.get(name) ?? null) : null
  const client = startClient(node, as, count, (what) => trace(trial, who, what), before)
  clients.push(client)
  newest.set(name, client)
}

// The schedule, and meanwhile everybody acts.
function trouble(trial: Trial): void {
  const { world: w, drawing } = trial
  const begun = w.now()
  w.follow(drawing.schedule)
  for (const { at, fault } of drawing.schedule) {
    w.at(begun + at, () => trace(trial, 'world', sentenceOf(fault)))
    if (fault.kind !== 'outage') continue
    w.at(begun + at - 1, () => (trial.observed.outage = epochs(trial)))
    w.at(begun + at + fault.ms + 3_000, () => survived(trial))
  }
  for (const each of drawing.turns ?? []) w.at(begun + each.at, () => turn(trial, each))
  const chance = prng.fork(prng.create(drawing.seed), 'acts')
  const hands = prng.fork(prng.create(drawing.seed), 'hands')
  const calling = prng.fork(prng.create(drawing.seed), 'calls')
  const playing = prng.fork(prng.create(drawing.seed), 'plays')
  const gambling = prng.fork(prng.create(drawing.seed), 'gambles')
  const winding = prng.fork(prng.create(drawing.seed), 'winds')
  for (let at = 0; at < TROUBLE_MS; at += TICK_MS) {
    w.at(begun + at, () => {
      for (const client of trial.clients) {
        move(client)
        if (prng.chance(chance, 0.3)) ask(client)
        play(trial, client, hands)
        if (drawing.cards) handle(client, drawing.cards, playing)
        if (drawing.requests) requestObjects(client, drawing.requests, gambling, () => w.now())
        if (drawing.clocks) clock(client, winding)
        if (drawing.calls && prng.chance(calling, 0.5)) call(client, calling)
      }
      watchThings(trial)
      watchFaces(trial)
      watchAsks(trial)
    })
  }
}

// request.ends: no answer is waited for longer than the docs say.
function watchAsks({ clients, observed, world: w }: Trial): void {
  for (const client of clients) {
    if (!isIn(client)) continue
    for (const fault of checkRequests(client.requests, client.name, w.now()))
      observed.wrong.add(fault)
  }
}

// secret: what came to a member and is not for its eyes.
function watchFaces({ clients, observed }: Trial): void {
  for (const client of clients) {
    if (!isIn(client) || client.anew) continue
    for (const fault of bareFaces(client.session)) observed.wrong.add(fault)
  }
}

function turn(trial: Trial, { kind, who }: Turn): void {
  const here = trial.clients.filter((client) => isIn(client))
  const heads = here.filter((client) => {
    return ['backedup', 'backup'].includes(client.session!.member!.session.server.role)
  })
  trace(trial, 'world', kind)
  if (kind === 'leave')
    return here.length > 1 ? leave(here[Math.floor(who * here.length)]!) : undefined
  if (kind === 'hand-over') return heads.forEach((client) => handOver(client))
  if (heads.length !== 2) return
  for (const { node } of heads) trial.world.sim.crash(node.name, { silent: true })
  count(trial, 'server and backup died at once')
}

function epochs(trial: Trial): string {
  return trial.clients
    .map((client) => `${serving(client)?.session}/${serving(client)?.epoch}`)
    .join(' ')
}

function survived(trial: Trial): void {
  const { observed } = trial
  if (observed.outage !== null && observed.outage === epochs(trial)) {
    if (/\d/.test(observed.outage)) count(trial, 'hub outage survived in the same epoch')
  }
  observed.outage = null
}

function isSettled(trial: Trial): boolean {
  const { observed, world: w, clients } = trial
  // A look at everything costs much: some times in a second is enough.
  if (w.now() - observed.lookedAt < LOOK_MS) return false
  observed.lookedAt = w.now()
  watchAsks(trial)
  const calm = clients.every((client) => !isIn(client) || client.session.member!.hub === 'attached')
  if (calm) observed.calmAt = Math.min(observed.calmAt, w.now())
  if (w.now() > observed.calmAt + SERVE_MS && unserved(trial)) {
    observed.wrong.add(`role.live: nobody serves ${SERVE_MS} ms after all reach the hub again`)
  }
  return settled(trial)
}

function conclude(trial: Trial, settledMs: Millis, ending: string): Result {
  const { world: w, observed, story, drawing } = trial
  for (const client of trial.clients) {
    const returns = client.session?.member?.counters.returns ?? 0
    if (client.served && returns > 0) count(trial, 'deposed primary returned')
    const back = client.former?.home === client.home && client.former.player === client.player
    if (back) count(trial, 'the same player in a new process')
  }
  const met = new Set(trial.clients.flatMap(({ hand, requests }) => [...hand.met, ...requests.met]))
  for (const what of met) count(trial, what)
  if (trial.clients.some((client) => isIn(client) && hasRung(client.session)))
    count(trial, 'a timer ran')
  for (const what of metCalls(trial.clients.map(({ book }) => book))) count(trial, what)
  const result = {
    seed: drawing.seed,
    wrong: [...observed.wrong],
    reached: observed.reached,
    faults: w.counters.faults,
    settledMs,
    virtualMs: w.now(),
    events: w.counters.events,
    story,
  }
  const course = hash([result, w.counters.print]).toString(36)
  return { ...result, digests: { course, ending } }
}
