/** Schedules of faults that are drawn from a seed. */

import { HoldfastError, type Millis } from '../packages/holdfast/src/machine.ts'
import * as prng from '../packages/holdfast/src/faults/prng.ts'
import type { Prng } from '../packages/holdfast/src/faults/prng.ts'
import {
  type Fault,
  FAULT_KINDS,
  type FaultKind,
  type Schedule,
  type Step,
  type NetworkFault,
} from '../packages/sim/src/faults.ts'

/** The options of `plan`. */
export interface PlanOptions {
  /** Nodes that may be hit, at least one. */
  nodes: readonly string[]
  /** The node whose outages are drawn; it is in no other fault but partitions and deafness. */
  hub?: string
  /** Length of the schedule. */
  ms: Millis
  /** No fault begins or lasts in so much time at the end; by default a third of `ms`. */
  calmMs?: Millis
  /** How many faults to draw, restarts not counted; up to STEPS_MAX; by default one in 500 ms. */
  count?: number
  /** The kinds to draw; by default all. 'restart' means that crashed nodes may come back. */
  kinds?: readonly FaultKind[]
  /** Most nodes that are down at once; by default 1, the promise of the library. */
  downMax?: number
}

/** Most faults of one plan. */
export const STEPS_MAX = 10_000
/** The duration of a fault is drawn evenly between these. */
const LASTS_MIN: Millis = 50
const LASTS_MAX: Millis = 3_000
/** Stalls are shorter: a longer one would count as a crash. */
const STALL_MAX: Millis = 1_500

/** The nodes that are down by what has been drawn so far. */
interface Drawing {
  readonly chance: Prng
  readonly options: PlanOptions
  readonly end: Millis
  readonly schedule: Schedule
  /** When each node that crashed is back; Infinity for one that stays away. */
  readonly back: Map<string, Millis>
}

/** Draws a schedule. @throws HoldfastError 'bad-value' for options out of their limits */
export function plan(chance: Prng, options: PlanOptions): Schedule {
  const { nodes, ms, calmMs = ms / 3, count = Math.ceil(ms / 500) } = options
  if (nodes.length === 0) throw bad('a plan needs at least one node: 0')
  if (!(ms > 0)) throw bad(`the length of a plan must be above 0 ms: ${ms}`)
  if (!(calmMs >= 0 && calmMs < ms)) throw bad(`calmMs must be from 0 to below ${ms}: ${calmMs}`)
  if (!(count >= 0 && count <= STEPS_MAX)) {
    throw bad(`the count of a plan must be from 0 to ${STEPS_MAX}: ${count}`)
  }
  const end = ms - calmMs
  const drawing = { chance, options, end, schedule: [], back: new Map<string, Millis>() }
  const kinds = drawable(options)
  const instants = Array.from({ length: count }, () => Math.floor(prng.next(chance) * end))
  // In the order of time, so that it is known who is down at an instant when it is drawn.
  for (const at of instants.sort((one, two) => one - two)) {
    if (kinds.length > 0) draw(drawing, at, prng.pick(chance, kinds))
  }
  return drawing.schedule.sort((one: Step, two: Step) => one.at - two.at)
}

function drawable(options: PlanOptions): FaultKind[] {
  const { kinds = FAULT_KINDS, nodes, hub } = options
  const several = nodes.length + (hub === undefined ? 0 : 1) > 1
  return kinds.filter((kind) => {
    if (kind === 'restart') return false
    if (kind === 'outage') return hub !== undefined
    return several || (kind !== 'partition' && kind !== 'deafness')
  })
}

function draw(drawing: Drawing, at: Millis, kind: FaultKind): void {
  const { chance, options, end, schedule } = drawing
  const longest = kind === 'stall' ? STALL_MAX : LASTS_MAX
  const ms = Math.min(Math.floor(prng.between(chance, LASTS_MIN, longest)), end - at)
  const node = prng.pick(chance, options.nodes)
  switch (kind) {
    case 'loss':
    case 'duplication':
    case 'jitter':
    case 'reordering':
      return void schedule.push({ at, fault: drawNetworkFault(chance, kind, ms) })
    case 'partition':
    case 'deafness':
      return void schedule.push({ at, fault: drawCut(chance, options, kind, ms) })
    case 'crash':
      return drawCrash(drawing, at, node, ms)
    case 'stall':
      return void schedule.push({ at, fault: { kind, node, ms } })
    case 'slow-clock': {
      const factor = Math.round(prng.between(chance, 0.5, 0.99) * 100) / 100
      return void schedule.push({ at, fault: { kind, node, factor, ms } })
    }
    case 'outage':
      return void schedule.push({ at, fault: { kind, node: options.hub!, ms } })
    case 'restart':
      return
    default:
      kind satisfies never
  }
}

function drawNetworkFault(chance: Prng, kind: NetworkFault['kind'], ms: Millis): NetworkFault {
  const share = Math.round(prng.between(chance, 0.02, 0.3) * 100) / 100
  switch (kind) {
    case 'loss': {
      const burst = prng.chance(chance, 0.5) ? 1 : 2 + prng.below(chance, 8)
      return { kind, conditions: { lossShare: share, burst }, ms }
    }
    case 'duplication':
      return { kind, conditions: { duplicateShare: share }, ms }
    case 'jitter':
      return { kind, conditions: { jitterMs: 5 + prng.below(chance, 395) }, ms }
    case 'reordering':
      return { kind, conditions: { reorderShare: share }, ms }
    default:
      return kind satisfies never
  }
}

/**
 * Two nodes are cut from each other: one way or, with all others on one side or the other, both
 * ways.
 */
function drawCut(
  chance: Prng,
  { nodes, hub }: PlanOptions,
  kind: 'partition' | 'deafness',
  ms: Millis,
): Fault {
  const everyone = hub === undefined ? [...nodes] : [...nodes, hub]
  const [from] = everyone.splice(prng.below(chance, everyone.length), 1) as [string]
  const [to] = everyone.splice(prng.below(chance, everyone.length), 1) as [string]
  if (kind === 'deafness') return { kind, from, to, ms }
  const groups = [[from], [to]]
  for (const name of everyone) groups[prng.below(chance, 2)]!.push(name)
  return { kind, groups, ms }
}

function drawCrash(drawing: Drawing, at: Millis, node: string, ms: Millis): void {
  const { chance, options, schedule, back } = drawing
  const { kinds = FAULT_KINDS, downMax = 1 } = options
  const silent = prng.chance(chance, 0.3)
  const returns = kinds.includes('restart') && prng.chance(chance, 0.7)
  const down = [...back].filter(([, until]) => until >= at)
  if (down.length >= downMax || down.some(([name]) => name === node)) return
  schedule.push({ at, fault: { kind: 'crash', node, silent } })
  back.set(node, returns ? at + ms : Number.POSITIVE_INFINITY)
  if (returns) schedule.push({ at: at + ms, fault: { kind: 'restart', node } })
}

function bad(message: string): HoldfastError {
  return new HoldfastError('bad-value', message)
}
