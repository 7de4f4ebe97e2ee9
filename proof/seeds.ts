/**
 * What a seed stands for: who takes part, in what weather, and what befalls them when.
 *
 * A drawing is plain data. It is made from the seed alone, so a seed that failed fails again,
 * and a step taken out of its schedule leaves a drawing that may be run as well.
 */

import type { Conditions } from '../packages/holdfast/src/faults/conditions.ts'
import * as conditions from '../packages/holdfast/src/faults/conditions.ts'
import * as prng from '../packages/holdfast/src/faults/prng.ts'
import type { Prng } from '../packages/holdfast/src/faults/prng.ts'
import { FAULT_KINDS, type FaultKind, type Schedule } from '../packages/sim/src/faults.ts'
import type { Millis } from '../packages/holdfast/src/machine.ts'
import type { Topology } from '../packages/holdfast/src/hub-protocol/messages.ts'
import { plan } from './schedules.ts'

/** Faults begin and end within so much time. */
export const TROUBLE_MS: Millis = 10_000
/** Members of a run. */
export const MEMBERS: readonly [min: number, max: number] = [2, 8]

/** Most objects that change hands in a run. */
export const THINGS_MAX = 200

/** Cards of a run that has some. */
export const CARDS = 50

/** One process, and when it comes. */
export interface Actor {
  name: string
  kind: 'node' | 'browser'
  /** From the start. */
  at: Millis
}

/** One run. */
export interface Drawing {
  seed: number
  actors: Actor[]
  conditions: Conditions
  /** Begins when all are in. */
  schedule: Schedule
  /** What the members do of their own will meanwhile; older drawings have none. */
  turns?: Turn[]
  /** A process that starts again comes back with the token of the life before. */
  keepsTokens?: boolean
  /** Who has links; in older drawings a star. */
  topology?: Topology
  /** Objects that all may take; in older drawings none. */
  things?: number
  /** They call one another; in older drawings they do not. */
  calls?: boolean
  /** Cards that they turn; in older drawings none. */
  cards?: number
  /** Objects of each kind that each of them makes, and asks others for; in older drawings none. */
  requests?: number
  /** They wind clocks of the table; in older drawings they do not. */
  clocks?: boolean
  /** How many hubs there are on one store; one by default. */
  hubs?: number
}

/** Something that befalls whoever has that role then. */
export interface Turn {
  at: Millis
  /** `heads`: the server and its backup die at once. */
  kind: 'hand-over' | 'leave' | 'heads'
  /** Which member leaves: a share of those that are there. */
  who: number
}

/** Longest stall of one of two hubs: the other one fences it meanwhile, or does not. */
const HUB_STALL_MAX_MS: Millis = 5_000

/** The same with two hubs, each of which is away now and then, or stands still. */
export function drawTwoHubs(seed: number): Drawing {
  const one = draw(seed)
  const chance = prng.fork(prng.create(seed), 'hubs')
  const schedule = one.schedule.map(({ at, fault }) => {
    const isSecond = fault.kind === 'outage' && prng.chance(chance, 0.5)
    return { at, fault: isSecond ? { ...fault, node: 'hub2' } : fault }
  })
  for (const node of ['hub', 'hub2']) {
    if (!prng.chance(chance, 0.4)) continue
    const at = prng.below(chance, TROUBLE_MS)
    const ms = prng.below(chance, HUB_STALL_MAX_MS)
    schedule.push({ at, fault: { kind: 'stall', node, ms } })
  }
  return { ...one, schedule: schedule.toSorted((a, b) => a.at - b.at), hubs: 2 }
}

/** What a seed stands for. */
export function draw(seed: number): Drawing {
  const chance = prng.create(seed)
  const [least, most] = MEMBERS
  const span = most - least + 1
  // Small sessions are the more delicate ones.
  const count = least + Math.min(prng.below(chance, span), prng.below(chance, span))
  const nodes = prng.next(chance)
  const actors: Actor[] = Array.from({ length: count }, (_none, i) => ({
    name: `m${i + 1}`,
    kind: prng.chance(chance, nodes) ? 'node' : 'browser',
    at: i === 0 ? 0 : 100 + prng.below(chance, 1_500),
  }))
  const weather = drawConditions(chance)
  const schedule = plan(chance, {
    nodes: actors.map(({ name }) => name),
    hub: 'hub',
    ms: TROUBLE_MS,
    calmMs: 500,
    count: 1 + prng.below(chance, 8),
    kinds: drawKinds(chance),
  })
  const will = prng.fork(prng.create(seed), 'turns')
  const turns = drawTurns(will)
  const keepsTokens = prng.chance(will, 0.5)
  const topology: Topology = prng.chance(will, 0.4) ? 'mesh' : 'star'
  const things = prng.chance(will, 0.2) ? THINGS_MAX : prng.below(will, 20)
  const calls = prng.chance(will, 0.6)
  const cards = prng.chance(prng.fork(prng.create(seed), 'cards'), 0.5) ? CARDS : 0
  const asks = prng.fork(prng.create(seed), 'prizes')
  const requests = prng.chance(asks, 0.5) ? 1 + prng.below(asks, 4) : 0
  const clocks = prng.chance(prng.fork(prng.create(seed), 'clocks'), 0.5)
  const more = { keepsTokens, topology, things, calls, cards, requests, clocks }
  return { seed, actors, conditions: weather, schedule, turns, ...more }
}

function drawTurns(chance: Prng): Turn[] {
  const turns: Turn[] = []
  const add = (kind: Turn['kind']): void => {
    turns.push({ at: prng.below(chance, TROUBLE_MS), kind, who: prng.next(chance) })
  }
  if (prng.chance(chance, 0.4)) add('hand-over')
  if (prng.chance(chance, 0.2)) add('hand-over')
  if (prng.chance(chance, 0.2)) add('leave')
  if (prng.chance(chance, 0.15)) add('heads')
  return turns
}

// Quiet weather in two of five runs, so that what faults do alone is seen too.
function drawConditions(chance: Prng): Conditions {
  const rttMs = prng.below(chance, 120)
  if (prng.chance(chance, 0.4)) return { ...conditions.PERFECT, rttMs }
  return {
    ...conditions.PERFECT,
    rttMs,
    jitterMs: prng.below(chance, 150),
    lossShare: prng.between(chance, 0, 0.3),
    duplicateShare: prng.between(chance, 0, 0.05),
    reorderShare: prng.between(chance, 0, 0.05),
  }
}

// Some kinds only: with all of them in each run few would be met alone. Crashes count thrice.
function drawKinds(chance: Prng): FaultKind[] {
  const some = FAULT_KINDS.filter((kind) => kind !== 'crash' && prng.chance(chance, 0.35))
  const crashes: FaultKind[] = prng.chance(chance, 0.75) ? ['crash', 'crash', 'crash'] : []
  const back: FaultKind[] = prng.chance(chance, 0.6) ? ['restart'] : []
  return [...some.filter((kind) => kind !== 'restart'), ...crashes, ...back]
}
