/** Jobs for curves, which in a page make one wait. */

import type { GreetingJob } from '../machine/greeting.ts'
import type { Curves, Later } from '../../../holdfast/src/ports.ts'

/** A signature; whether one was right; null if that cannot be known here. */
export type CurveAnswer = Uint8Array | boolean | null

/** Has a job done. @param done  is called once: in this call where curves answer at once */
export function compute(
  curves: Curves,
  job: GreetingJob,
  done: (answer: CurveAnswer) => void,
): void {
  const answer = answerOf(curves, job)
  if (answer instanceof Promise) answer.then(done, () => done(null))
  else done(answer)
}

function answerOf(curves: Curves, job: GreetingJob): Later<CurveAnswer> {
  try {
    if (job.kind === 'sign') return curves.sign(job.seed, job.message)
    return curves.verify(job.key, job.message, job.signature)
  } catch {
    return null
  }
}
