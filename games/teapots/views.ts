/** Pots as they are to be drawn now; what a call returned is filled again by the next. */

import type { ObjectHandle, StateOf } from 'holdfast'
import type { Pot } from './rules/things.ts'

/** A handle of a pot. */
export type PotHandle = ObjectHandle<typeof Pot.schema.fields>
/** A pot as it is drawn. */
export type PotView = StateOf<typeof Pot.schema.fields>

/** See the head of this file. */
export class Views {
  readonly #kept = new WeakMap<PotHandle, PotView>()

  /** Valid until the next call for the same pot. */
  of(pot: PotHandle): PotView {
    const view = pot.view(this.#kept.get(pot))
    this.#kept.set(pot, view)
    return view
  }
}
