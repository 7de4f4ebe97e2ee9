/** What no input may make throw: network input is hostile, and time goes on whatever comes. */

import { expect } from 'vitest'

/** Runs a step. What it throws is a claim that does not hold, and fails as an assertion. */
export function calmly<Value>(run: () => Value): Value {
  try {
    return run()
  } catch (error) {
    if (error instanceof Error && error.name === 'AssertionError') throw error
    const why = error instanceof Error ? (error.stack ?? error.message) : String(error)
    return expect.fail(`nothing may make this throw: ${why}`)
  }
}

/** A part, or any other set of verbs, none of which may throw. */
export function calmPart<Verbs extends object>(part: Verbs): Verbs {
  const calm = (verb: unknown): unknown => {
    if (typeof verb !== 'function') return verb
    return (...given: unknown[]) => calmly(() => Reflect.apply(verb, part, given) as unknown)
  }
  const verbs = Object.entries(part).map(([name, verb]) => [name, calm(verb)])
  return Object.fromEntries(verbs) as Verbs
}
