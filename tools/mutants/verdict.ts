/**
 * What a failed test says of a change. Only an assertion counts, and in a model only a property
 * that is named: a count of states moves with any change, and a mutant that is no longer
 * found, or a time limit on a busy machine, says nothing about what is right.
 */

/** An error of a test, as vitest tells it. */
export interface Failure {
  readonly name?: string | undefined
  readonly message?: string | undefined
  readonly actual?: unknown
  readonly cause?: unknown
}

/** What one failed test is worth: `assertion` alone catches. */
export type Worth = 'assertion' | 'thrown' | 'count' | 'time'

/** What came of one change. */
export type Outcome = 'caught' | 'thrown' | 'count' | 'time' | 'survived' | 'unreached'

const MODELS = 'proof/models/'

/** The worth of an error. @param file the test's, from the root of the repository */
export function worth(file: string, error: Failure): Worth {
  const message = error.message ?? ''
  if (/timed out in \d+ ?ms/.test(message)) return 'time'
  if (!isAssertion(error)) return 'thrown'
  if (file.startsWith(MODELS)) return namesProperty(error.actual) ? 'assertion' : 'count'
  return 'assertion'
}

function isAssertion(error: Failure): boolean {
  if (error.name === 'AssertionError') return true
  // A property of fast-check: its counterexample failed, by an assertion or otherwise.
  const { cause } = error
  if (typeof cause !== 'object' || cause === null) return false
  return isAssertion(cause as Failure)
}

/** Whether what was found is a violation, or a list of what was never reached. */
function namesProperty(actual: unknown): boolean {
  if (typeof actual !== 'string') return false
  return /"?property"?:/.test(actual) || /^(Array )?\[\s*(Array )?\[/.test(actual)
}

/** Of several the one that says most. */
export function best(worths: readonly Worth[]): Outcome {
  if (worths.includes('assertion')) return 'caught'
  return (['thrown', 'count', 'time'] as const).find((one) => worths.includes(one)) ?? 'survived'
}
