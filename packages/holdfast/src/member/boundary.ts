/**
 * The one boundary around the machine of a member: whatever a message makes it throw is a bug of
 * ours, and stays in here. It is counted and named, and costs the one message.
 *
 * What cannot go on is a state that was changed by half. A step that is done wholly or not at all
 * counts itself while it runs (`Session.steps`): an entry of the log, a role, what is published, a
 * view. Where it threw nothing more is done with that state (`leaveBroken`).
 *
 * A member without a runtime, as in models, throws: there each throw is a fault that was found.
 */

import type { Millis } from '../machine.ts'
import type { Runtime, CurveJob, CurveQuestion } from './state.ts'

/** After a throw nothing is due for so long: what is due by the clock and throws would spin. */
export const CALM_MS: Millis = 50

/** Runs what an input causes. @param where  what it was, for whoever reads the report */
export function guard(run: Runtime, where: string, act: () => void): void {
  guarded(run, where, undefined, act)
}

/** The same of what has a result. @param instead  the result where it throws */
export function guarded<Result>(
  run: Runtime,
  where: string,
  instead: Result,
  act: () => Result,
): Result {
  const { member, ports } = run
  if (!ports.threw) return act()
  if (member.broken !== '') return instead
  try {
    return act()
  } catch (error) {
    member.counters.threw++
    member.calmUntil = run.now + CALM_MS
    ports.threw(error, where)
    if (member.session.steps > 0) member.broken = `at ${where}: ${String(error)}`
    return instead
  }
}

/** Has curves compute for a job. */
export function compute({ member, ports }: Runtime, job: CurveJob, question: CurveQuestion): void {
  const { curves } = member
  const number = curves.next++
  curves.jobs.set(number, job)
  ports.compute(number, question)
}

/** The job of that number, which is no more; null if it was none. */
export function take({ member }: Runtime, number: number): CurveJob | null {
  const { jobs } = member.curves
  const job = jobs.get(number) ?? null
  jobs.delete(number)
  return job
}
