/** What every model gives: its scopes as rows of a table, and those with a planted bug. */

import { check, type Model, type Report } from '../../packages/sim/src/checker/checker.ts'

/** A scope: how much may happen, and what the search finds then. */
export interface Row<Scope> {
  /** What it is about; by default the name of the bug. */
  says?: string
  scope: Scope
  /** A scope that holds has at least so many states, or it says less than it seems. */
  states?: number
  /** A mutant: each claim that breaks, judged alone, and after how many steps; nearest first. */
  violates?: readonly (readonly [claim: string, steps: number])[]
  /** Judge these claims alone. */
  claims?: readonly string[]
  /** It takes some seconds (`npm run test:wide`), or minutes (only when asked for). */
  size?: 'large' | 'deep'
  /** Numbers of the lists in tools/requirements, where not those of the whole model. */
  proves?: string
}

/** Scopes by name. */
export type Rows<Scope> = Readonly<Record<string, Row<Scope>>>

/** A model in one scope. */
export interface NamedModel {
  name: string
  says: string
  row: Row<unknown>
  /** Takes minutes: explored only when asked for. */
  deep: boolean
  /** The claim that a mutant breaks first. */
  violates: string | null
  /**
   * Explores it.
   *
   * @param now  a clock in milliseconds, to fill in `ms`
   * @param claim  judge this one alone; by default, of a mutant, the one that it breaks first
   */
  explore: (now?: () => number, claim?: string) => Report
}

/** Most states of one exploration. */
const STATES_MAX = 10_000_000

/** A model in each scope of some tables. */
export function inScopes<Scope, State>(
  model: (name: string, scope: Scope) => Model<State>,
  ...tables: readonly Rows<Scope>[]
): NamedModel[] {
  return tables.flatMap((rows) => {
    return Object.entries(rows).map(([name, row]) => inScope(model, name, row))
  })
}

function inScope<Scope, State>(
  model: (name: string, scope: Scope) => Model<State>,
  name: string,
  row: Row<Scope>,
): NamedModel {
  const { scope, claims, size, violates: broken } = row
  const violates = broken?.[0]?.[0] ?? null
  const says = row.says ?? (scope as { bug: string }).bug
  const explore: NamedModel['explore'] = (now, claim = violates ?? undefined) => {
    const made = model(name, scope)
    const only = claim === undefined ? claims : [claim]
    const always = judged(made.always, only)
    const settled = judged(made.settled ?? {}, only)
    return check({ ...made, always, settled }, { statesMax: STATES_MAX, ...(now && { now }) })
  }
  return { name, says, row, deep: size === 'deep', violates, explore }
}

type Claims<State> = Model<State>['always']

function judged<State>(all: Claims<State>, only: readonly string[] | undefined): Claims<State> {
  return Object.fromEntries(Object.entries(all).filter(([name]) => !only || only.includes(name)))
}
