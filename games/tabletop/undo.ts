/**
 * Takes my last move back, as a new move: what changed since is not touched, and a sentence says
 * by whom.
 */

import type { PieceHandle, PieceOutcome } from 'holdfast'
import type { Lane } from './lane.ts'
import { called, isSame, type Moment, momentOf, type Thing } from './kinds.ts'

/** Moves that are remembered. */
const MOVES_MAX = 40

interface Step {
  readonly thing: Thing
  readonly before: Moment
  /** How it lay when the move was confirmed; null while it is not, or if it was not. */
  after: Moment | null
  /** Brings it back to its level, where that was what changed. */
  readonly level?: () => Promise<PieceOutcome>
}

/** What a move did to one thing. */
export interface Moved {
  readonly thing: Thing
  readonly before: Moment
  readonly outcome: Promise<boolean>
  /** See Step. */
  readonly level?: () => Promise<PieceOutcome>
}

/** See the head of this file. */
export class Undo {
  readonly #me: () => number
  readonly #lane: Lane
  readonly #moves: { steps: Step[]; told: Promise<unknown> }[] = []

  constructor(lane: Lane, me: () => number) {
    this.#lane = lane
    this.#me = me
  }

  /** Whether there is a move to be taken back. */
  get isPossible(): boolean {
    return this.#moves.length > 0
  }

  /** Remembers a move: what it moved, how that lay before, and what came of it. */
  moved(steps: readonly Moved[]): void {
    const kept = steps.map(({ thing, before, level }): Step => {
      return { thing, before, after: null, level }
    })
    const told = Promise.all(
      steps.map(async ({ outcome }, place) => {
        if (await outcome) kept[place]!.after = momentOf(kept[place]!.thing)
      }),
    )
    this.#moves.push({ steps: kept, told })
    if (this.#moves.length > MOVES_MAX) this.#moves.shift()
  }

  /** Forgets all moves, for the table was cleared. */
  clear(): void {
    this.#moves.length = 0
  }

  /** Takes the last move back. @returns why something was not, and by whom; null if all was */
  async back(nameOf: (player: number) => string): Promise<{ text: string; player: number } | null> {
    const move = this.#moves.pop()
    if (!move) return { text: 'There is no move of yours to take back.', player: 0 }
    await move.told
    const done = move.steps.filter(({ after }) => after !== null)
    const changed = done.find((step) => this.#isTouched(step))
    if (!changed) {
      const answers = await Promise.all(done.map((step) => this.#restore(step)))
      const failed = answers.findIndex((answer) => !answer.ok)
      if (failed < 0) return null
      return this.#why(done[failed]!.thing, answers[failed]!, nameOf)
    }
    const { handle } = changed.thing
    const player = handle.heldBy || handle.lastBy
    const what = `${called(changed.thing)} changed since`
    const who = player === 0 ? '' : `: ${nameOf(player)} ${handle.heldBy ? 'holds' : 'moved'} it`
    return { text: `Not taken back: ${what}${who}.`, player }
  }

  #isTouched({ thing, after }: Step): boolean {
    const { alive, heldBy, lastBy } = thing.handle
    return !alive || heldBy !== 0 || lastBy !== this.#me() || !isSame(momentOf(thing), after!)
  }

  async #restore({ thing, before, level }: Step): Promise<PieceOutcome> {
    if (level) return this.#lane.run(level)
    const handle = thing.handle as unknown as PieceHandle
    const grabbed = this.#lane.run(() => handle.grab())
    const released = this.#lane.run(() => handle.release(before as never))
    const first = await grabbed
    const last = await released
    return first.ok ? last : first
  }

  #why(thing: Thing, answer: PieceOutcome, nameOf: (player: number) => string) {
    if (answer.ok) return null
    const player = answer.by?.player ?? 0
    const isTheirs = answer.code === 'late' || answer.code === 'held'
    if (!isTheirs || player === 0) return { text: `Not taken back: ${answer.reason}.`, player: 0 }
    return {
      text: `Not taken back: ${nameOf(player)} was first with ${called(thing)}.`,
      player,
    }
  }
}
