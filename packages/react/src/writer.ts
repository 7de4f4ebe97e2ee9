/** Writes what a user types into a field that others write, too. */

import type { Fields, ObjectHandle, PieceHandle } from '../../holdfast/src/index.ts'
import { merge } from './text.ts'

/**
 * Shortest time between two writes, in ms. A writer nearer to the server could otherwise always be
 * first; so others are, within one round trip.
 */
const PACE_MS = 250

/** The object or piece of a field. */
export type AnyHandle = ObjectHandle<Fields> | PieceHandle<Fields>

/** Calls a function after a time in ms. @returns what cancels it */
type After = (ms: number, run: () => void) => () => void

const afterInPage: After = (ms, run) => {
  const timer = setTimeout(run, ms)
  return () => clearTimeout(timer)
}

type Written = 'done' | 'late' | 'refused'

/** What becomes of the text. */
export interface Outcomes {
  /** The text now has what another user typed, too. */
  readonly merged: (text: string) => void
  readonly refused: () => void
}

/** Writes the newest text of a field, one at a time, merged with what others wrote. */
export class Writer {
  readonly #handle: AnyHandle
  readonly #name: string
  readonly #after: After
  // What this user has typed, and the shared text that it was typed into; null at rest.
  #own: string | null = null
  #base = ''
  #isWriting = false
  #isNewer = false
  #whenDone: (() => void) | null = null
  #wake: (() => void) | null = null

  constructor(handle: AnyHandle, name: string, after: After = afterInPage) {
    this.#handle = handle
    this.#name = name
    this.#after = after
  }

  isOf(handle: AnyHandle, name: string): boolean {
    return handle === this.#handle && name === this.#name
  }

  /** The user changed the text that was shown. @returns the text with what came meanwhile */
  type(shown: string, typed: string): string {
    if (this.#own === null) {
      this.#base = shown
      this.#own = typed
    } else this.#own = merge(shown, typed, this.#own)
    this.#whenDone = null
    return this.#own
  }

  write(outcomes: Outcomes): void {
    this.#isNewer = true
    if (!this.#isWriting) void this.#run(outcomes)
  }

  /** Forgets what was typed once it is written, unless there is more until then. */
  rest(done: () => void): void {
    this.#whenDone = () => {
      this.#own = null
      done()
    }
    if (!this.#isWriting) this.#finish()
    else this.#wake?.()
  }

  #finish(): void {
    const done = this.#whenDone
    this.#whenDone = null
    done?.()
  }

  async #run(outcomes: Outcomes): Promise<void> {
    this.#isWriting = true
    let outcome: Written = 'done'
    while (this.#isNewer && outcome !== 'refused') {
      this.#isNewer = false
      outcome = await this.#writeOnce(outcomes)
      // Another writer was first: the outcome came with their text, so a write at once may win.
      if (outcome === 'late') this.#isNewer = true
      else if (outcome === 'done') await this.#pause()
    }
    this.#isWriting = false
    if (outcome !== 'refused') return this.#finish()
    this.#isNewer = false
    this.#own = null
    this.#whenDone = null
    outcomes.refused()
  }

  // Ends early at a rest, so that the last text is written at once when the user leaves.
  async #pause(): Promise<void> {
    if (this.#whenDone) return
    await new Promise<void>((resolve) => {
      const cancel = this.#after(PACE_MS, resolve)
      this.#wake = () => {
        cancel()
        resolve()
      }
    })
    this.#wake = null
  }

  async #writeOnce({ merged }: Outcomes): Promise<Written> {
    const handle = this.#handle
    try {
      if (!('update' in handle) && !handle.mine && !(await handle.take()).ok) return 'refused'
      const shared = textOf(handle, this.#name)
      const text = merge(this.#base, this.#own!, shared)
      if (text !== this.#own) merged(text)
      // A later edit is to this text, of which `shared` is a part.
      this.#own = text
      this.#base = shared
      const patch = { [this.#name]: text } as never
      if (!('update' in handle)) handle.set(patch)
      else {
        const outcome = await handle.update(patch)
        if (!outcome.ok) return outcome.code === 'late' ? 'late' : 'refused'
      }
      this.#base = text
      return 'done'
    } catch {
      return 'refused'
    }
  }
}

function textOf(handle: AnyHandle, name: string): string {
  return (handle.state[name] as string | null | undefined) ?? ''
}
