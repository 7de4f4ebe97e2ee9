/**
 * Faults over time, as plain data: which fault hits which node, when and for how long.
 *
 * Each step carries its own end, so removing a step leaves a valid schedule; that is how failing
 * schedules are shrunk.
 */

import * as conditions from '../../holdfast/src/faults/conditions.ts'
import type { Conditions } from '../../holdfast/src/faults/conditions.ts'
import type { Millis } from '../../holdfast/src/machine.ts'

/** Worse conditions on the whole network, on top of its usual ones. */
export interface NetworkFault {
  kind: 'loss' | 'duplication' | 'jitter' | 'reordering'
  conditions: Partial<Conditions>
  ms: Millis
}

/** The kinds of faults. Nodes are named; the hub is a node as well. */
export type Fault =
  | NetworkFault
  /** Nothing passes between the groups; nodes in no group form one more. */
  | { kind: 'partition'; groups: string[][]; ms: Millis }
  /** Messages from `from` do not reach `to`; the other direction works. */
  | { kind: 'deafness'; from: string; to: string; ms: Millis }
  /** The process dies; with `silent` the whole machine, and no peer is notified. */
  | { kind: 'crash'; node: string; silent: boolean }
  /** The process restarts with the content of its store; ignored if it runs. */
  | { kind: 'restart'; node: string }
  /** The node's loop pauses, then runs everything late. */
  | { kind: 'stall'; node: string; ms: Millis }
  /** The node's clock runs at this factor; below 1 is slow. */
  | { kind: 'slow-clock'; node: string; factor: number; ms: Millis }
  /** The hub's process dies and restarts after `ms`. */
  | { kind: 'outage'; node: string; ms: Millis }

export type FaultKind = Fault['kind']

/** All faults, in the order of the type. */
export const FAULT_KINDS: readonly FaultKind[] = [
  'loss',
  'duplication',
  'jitter',
  'reordering',
  'partition',
  'deafness',
  'crash',
  'restart',
  'stall',
  'slow-clock',
  'outage',
]

/** One fault and when it begins, in ms from the start of the schedule. */
export interface Step {
  at: Millis
  fault: Fault
}

/** Steps in order of time. */
export type Schedule = Step[]

/** One fault in words, such as `partition a b | c for 800 ms`. */
export function sentenceOf(fault: Fault): string {
  switch (fault.kind) {
    case 'loss':
    case 'duplication':
    case 'jitter':
    case 'reordering': {
      const weather = conditions.format({ ...conditions.PERFECT, ...fault.conditions })
      return `${fault.kind} ${weather} for ${fault.ms} ms`
    }
    case 'partition': {
      const groups = fault.groups.map((group) => group.join(' ')).join(' | ')
      return `partition ${groups} for ${fault.ms} ms`
    }
    case 'deafness':
      return `${fault.to} is deaf to ${fault.from} for ${fault.ms} ms`
    case 'crash':
      return fault.silent ? `the machine of ${fault.node} dies` : `crash of ${fault.node}`
    case 'restart':
      return `restart of ${fault.node}`
    case 'stall':
      return `${fault.node} stalls for ${fault.ms} ms`
    case 'slow-clock':
      return `the clock of ${fault.node} goes at ${fault.factor} for ${fault.ms} ms`
    case 'outage':
      return `outage of ${fault.node} for ${fault.ms} ms`
    default:
      fault satisfies never
      return ''
  }
}
