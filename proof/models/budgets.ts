/** What may still happen, as a number: each state of all budgets is kept once. */

import * as interned from './interned.ts'

/** How often each thing may still happen that need not happen. */
export type Left<Name extends string> = Readonly<Record<Name, number>>

/** All that some budgets have been. */
export interface Budgets<Name extends string> {
  readonly kept: interned.Interned<Left<Name>>
  /** By name and number: the number of what is left once it has happened. */
  readonly less: Readonly<Record<Name, number[]>>
}

/** The number of what there is at first. */
export const WHOLE = 0

/** Budgets of that much. */
export function create<Name extends string>(whole: Left<Name>): Budgets<Name> {
  const kept = interned.create<Left<Name>>()
  interned.numberOf(kept, whole)
  const less = Object.fromEntries(Object.keys(whole).map((name) => [name, []]))
  return { kept, less: less as unknown as Record<Name, number[]> }
}

/** What is left. */
export function leftOf<Name extends string>(budgets: Budgets<Name>, number: number): Left<Name> {
  return budgets.kept.values[number]!
}

/** What is left once that has happened. */
export function spend<Name extends string>(
  { kept, less }: Budgets<Name>,
  number: number,
  name: Name,
): number {
  const known = less[name][number]
  if (known !== undefined) return known
  const left = kept.values[number]!
  const spent = interned.numberOf(kept, { ...left, [name]: left[name] - 1 })
  less[name][number] = spent
  return spent
}
