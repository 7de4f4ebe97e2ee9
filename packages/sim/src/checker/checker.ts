/**
 * The model checker: every interleaving of a small scope, breadth first.
 *
 * From the first state each enabled action is applied to a copy; a new state joins the next ring. A
 * hash identifies a state (hash.ts describes what that may miss), so memory holds 53 bits, a parent
 * and an ordinal per state, and whole states only for two rings (rings.ts). Rings come in order of
 * distance, so the first violation of an `always` has a shortest trace. Walking the parents back
 * and replaying the ordinals finds the trace, so a model must offer the same actions for the same
 * state each time.
 *
 * Three kinds of claims:
 *   always     holds in every state (also: nothing throws, and a state holds plain data only)
 *   sometimes  holds in at least one state; otherwise the model proves less than it seems to
 *   settled    holds in every state in which only the environment can move: no other action leads
 *              to another state
 */

import { assert, badValue } from '../../../holdfast/src/machine.ts'
import type { Cells } from './cells.ts'
import { clone } from './clone.ts'
import { hash } from './hash.ts'
import { ringsOf } from './rings.ts'
import * as seen from './seen.ts'

/** One step that a model may take from a state. */
export interface Action<State> {
  /**
   * The action's name in a trace, such as `network loses JOIN(3) to 1`; or a function that returns
   * it for the state before the action, called only when a trace is rendered.
   */
  label: string | ((state: State) => string)
  /** Loss, crash, …: may happen, but the model must not rely on it. */
  environment?: boolean
  /** Changes the given copy; must not keep references into the state that it was made for. */
  next(state: State): void
}

/** The states to explore, and the claims that must hold there. */
export interface Model<State> {
  /** Name in reports. */
  name: string
  /** Creates the first state. */
  init(): State
  /** All enabled actions, in the same order at each call for equal states. */
  actions(state: State): Iterable<Action<State>>
  /** True, or a sentence that names the violation. */
  always: Record<string, (state: State) => true | string>
  /** Claims that must hold in at least one reachable state, so that the scope is not vacuous. */
  sometimes?: Record<string, (state: State) => boolean>
  /** As `always`, for states in which only the environment can move. */
  settled?: Record<string, (state: State) => true | string>
  /** The data that distinguishes states, if less than the whole state. */
  canonical?(state: State): unknown
  /** A copy that shares no mutable data; by default a deep one (clone.ts). */
  copy?(state: State): State
  /**
   * For states that are Int32Arrays of one length: how many of their first numbers distinguish
   * states. Replaces `canonical` and `copy`; nothing may retain a state.
   */
  flat?: number
  /** A line about a state, shown under each step of a trace. */
  show?(state: State): string
}

/** A model whose states consist of cells. */
export interface CellModel<State> extends Model<State> {
  cells: Cells
  /** Fields that are arrays of cells, of one length in all states; every other field is a cell. */
  arrays: readonly (keyof State & string)[]
  /** Fields that do not tell states apart, because claims alone read them. */
  aside?: readonly (keyof State & string)[]
}

/** The limits of a search. */
export interface Bounds {
  /** The search ends at this many states, 1 to STATES_MAX. */
  statesMax: number
  /** A clock in ms, used only for `ms`. */
  now?: () => number
}

/** A violated claim, and the path to the violation. */
export interface Violation {
  property: string
  why: string
  /** The labels of the steps from the first state. */
  trace: string[]
  /** With `show`: the line for the first state and then for each step. */
  shown: string[] | null
}

/** The result of a search. */
export interface Report {
  /** Name of the model. */
  name: string
  /** Distinct states, including the first. */
  states: number
  /** Actions applied. */
  edges: number
  /** Steps to the farthest state seen. */
  depth: number
  /** Every reachable state was seen, and each property holds in all of them. */
  complete: boolean
  /** The first violation found, with a shortest trace; null if there is none. */
  violation: Violation | null
  /** Whether each of the `sometimes` was reached. */
  sometimes: Record<string, boolean>
  /** How long it took, if a clock was given. */
  ms?: number
}

/** Most states of one run; each occupies 24 to 48 bytes until the end. */
export const STATES_MAX: number = 50_000_000
/** An action must not change its parent state; checked for this many states. */
const WATCHED_MAX = 5_000
/** For states of cells, whose content is large (cells.ts). */
const WATCHED_CELLS_MAX = 100
/** The property that an exception violates. */
const NO_EXCEPTION = 'nothing throws'

type Search<State> = ReturnType<typeof begin<State>>

interface Fault {
  property: string
  why: string
  /** The state where the trace ends, and the ordinal of one further action or -1. */
  at: number
  further: number
}

/**
 * Explores the model.
 *
 * @throws HoldfastError 'bad-value' for a bad bound, or a first state that is not plain data
 */
export function check<State>(model: Model<State>, bounds: Bounds): Report {
  const { statesMax, now } = bounds
  if (!Number.isInteger(statesMax) || statesMax < 1 || statesMax > STATES_MAX) {
    throw badValue(`statesMax must be an integer from 1 to ${STATES_MAX}: ${statesMax}`)
  }
  const started = now?.() ?? 0
  const search = begin(model, statesMax)
  const { rings, known } = search
  const first = model.init()
  meet(search, first, rings.keyOf(first), -1, 0)
  let depth = -1
  for (let size = rings.turn(); size > 0; size = rings.turn()) {
    depth++
    // States are numbered in the order in which they join a ring.
    const from = known.count - size
    for (let i = 0; i < size && !isOver(search); i++) expand(search, rings.take(i), from + i)
  }
  const report = conclude(search, depth)
  if (now) report.ms = now() - started
  return report
}

/** The action's name in that state. */
export function labelOf<State>({ label }: Action<State>, state: State): string {
  return typeof label === 'string' ? label : label(state)
}

/** The report as readable lines: numbers, claims that were not reached, trace. */
export function render(report: Report): string {
  const { name, states, edges, depth, complete, violation, ms } = report
  const extent = complete ? 'all of them' : violation ? 'until the violation' : 'bounded'
  const time = ms === undefined ? '' : `, ${(ms / 1000).toFixed(2)} s`
  const lines = [`${name}: ${states} states (${extent}), ${edges} edges, depth ${depth}${time}`]
  for (const [claim, reached] of Object.entries(report.sometimes)) {
    lines.push(`  sometimes ${claim}: ${reached ? 'reached' : 'NOT REACHED'}`)
  }
  if (!violation) return lines.join('\n')
  lines.push(`VIOLATED after ${violation.trace.length} steps: ${violation.property}`)
  lines.push(`  ${violation.why}`)
  const width = String(violation.trace.length).length
  if (violation.shown) lines.push(`  ${' '.repeat(width)}  = ${violation.shown[0]}`)
  for (const [i, label] of violation.trace.entries()) {
    lines.push(`  ${String(i + 1).padStart(width)}. ${label}`)
    if (violation.shown) lines.push(`  ${' '.repeat(width)}  = ${violation.shown[i + 1]}`)
  }
  return lines.join('\n')
}

function begin<State>(model: Model<State>, statesMax: number) {
  return {
    model,
    statesMax,
    always: Object.entries(model.always),
    settled: Object.entries(model.settled ?? {}),
    /** The `sometimes` not yet reached. */
    missing: Object.entries(model.sometimes ?? {}),
    known: seen.create(),
    rings: ringsOf(model),
    watchedMax: 'cells' in model ? WATCHED_CELLS_MAX : WATCHED_MAX,
    edges: 0,
    /** Whether a new state exceeded `statesMax`. */
    cut: false,
    fault: null as Fault | null,
  }
}

function isOver({ fault, cut }: { fault: Fault | null; cut: boolean }): boolean {
  return fault !== null || cut
}

function meet<State>(
  search: Search<State>,
  state: State,
  key: number,
  parent: number,
  ordinal: number,
): void {
  const { known } = search
  if (known.count === search.statesMax) {
    search.cut = true
    return
  }
  const id = seen.add(known, key, parent, ordinal)
  search.rings.push(state)
  judge(search, search.always, state, id)
  // Most states reach no claim for the first time.
  if (search.missing.some(([, holds]) => holds(state))) {
    search.missing = search.missing.filter(([, holds]) => !holds(state))
  }
}

function expand<State>(search: Search<State>, state: State, id: number): void {
  const { model } = search
  const watched = id < search.watchedMax ? hash(state) : 0
  const moves = tryAll(search, state, id)
  if (isOver(search)) return
  if (id < search.watchedMax) {
    assert(watched === hash(state), `${model.name}: an action changed its parent state`)
  }
  if (!moves) judge(search, search.settled, state, id)
}

/** Applies all actions. @returns whether one besides the environment's leads to another state */
function tryAll<State>(search: Search<State>, state: State, id: number): boolean {
  const { model, rings, known } = search
  const own = rings.keyOf(state)
  let ordinal = 0
  let moves = false
  try {
    for (const action of model.actions(state)) {
      search.edges++
      const copy = rings.copyOf(state)
      action.next(copy)
      const key = rings.keyOf(copy)
      if (!action.environment && key !== own) moves = true
      if (!seen.has(known, key)) meet(search, copy, key, id, ordinal)
      if (search.fault || search.cut) return moves
      ordinal++
    }
  } catch (error) {
    search.fault = { property: NO_EXCEPTION, why: String(error), at: id, further: ordinal }
  }
  return moves
}

function judge<State>(
  search: Search<State>,
  claims: Search<State>['always'],
  state: State,
  id: number,
): void {
  for (const [property, holds] of claims) {
    const why = holds(state)
    if (why === true) continue
    search.fault = { property, why, at: id, further: -1 }
    return
  }
}

function conclude<State>(search: Search<State>, depth: number): Report {
  const { model, known, fault } = search
  const missing = new Set(search.missing.map(([claim]) => claim))
  const claims = Object.keys(model.sometimes ?? {})
  return {
    name: model.name,
    states: known.count,
    edges: search.edges,
    depth,
    complete: !fault && !search.cut,
    violation: fault && { property: fault.property, why: fault.why, ...retrace(search, fault) },
    sometimes: Object.fromEntries(claims.map((claim) => [claim, !missing.has(claim)])),
  }
}

function retrace<State>(
  search: Search<State>,
  fault: Fault,
): { trace: string[]; shown: string[] | null } {
  const { model, known } = search
  const ordinals = fault.further < 0 ? [] : [fault.further]
  for (let id = fault.at; known.parents[id]! >= 0; id = known.parents[id]!) {
    ordinals.unshift(known.ordinals[id]!)
  }
  const state = model.init()
  const trace: string[] = []
  const shown = model.show ? [model.show(state)] : null
  for (const [step, ordinal] of ordinals.entries()) {
    const action = nth(model.actions(clone(state)), ordinal)
    if (!action) {
      trace.push('(here actions itself throws, or differs from one call to the next)')
      break
    }
    trace.push(labelOf(action, state))
    // The last step may be the one that throws.
    if (fault.further >= 0 && step === ordinals.length - 1) break
    action.next(state)
    if (model.show) shown!.push(model.show(state))
  }
  if (shown && shown.length <= trace.length) shown.push('(it throws)')
  return { trace, shown }
}

function nth<State>(actions: Iterable<Action<State>>, ordinal: number): Action<State> | null {
  try {
    let index = 0
    for (const action of actions) if (index++ === ordinal) return action
  } catch {
    return null
  }
  return null
}
