/** Operations that a user waits for: what each is, by its number, until its outcome is told. */

import { HoldfastError } from '../machine.ts'
import * as member from '../member/member.ts'
import type { Runner } from '../runtime/runner.ts'

/** An operation on a part. */
export interface Question {
  /** Its body, made when it has its number. */
  body(): Uint8Array
  /** Its outcome is told. */
  settle(outcome: Uint8Array): void
  /** Nobody will tell what came of it: a sentence says why. */
  lost(why: string): void
  /** It was not asked, for it cannot be. */
  reject(error: Error): void
}

/** See the head of this file. */
export class Questions {
  readonly #waiting = new Map<number, Question>()

  /** Asks the primary. What is wrong rejects the question. @param runner  null once we left */
  ask(runner: Runner | null, channel: number, question: Question): void {
    if (!runner) {
      return question.reject(new HoldfastError('left', 'nothing is asked: the session was left'))
    }
    // Before it is asked: alone, the outcome is told before `submit` returns.
    const seq = runner.member.session.client.nextSeq
    this.#waiting.set(seq, question)
    try {
      runner.do((now, run) => member.submit(run, now, channel, question.body()))
    } catch (error) {
      this.#waiting.delete(seq)
      question.reject(error as Error)
    }
  }

  /** An outcome was told. */
  onOutcome(seq: number, outcome: Uint8Array): void {
    const question = this.#waiting.get(seq)
    this.#waiting.delete(seq)
    question?.settle(outcome)
  }

  /** Nobody will tell what came of these. */
  forget(seqs: readonly number[], why: string): void {
    for (const seq of seqs) {
      const question = this.#waiting.get(seq)
      this.#waiting.delete(seq)
      question?.lost(`not known whether it was done: ${why}`)
    }
  }

  /** The session is over. */
  end(why: string): void {
    this.forget([...this.#waiting.keys()], why)
  }
}
