/** Work that waits for curves: asked for by number, and answered after the call that asked. */

import type { CurveJob, CurveQuestion, Runtime } from './state.ts'

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
