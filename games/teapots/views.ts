/** Things as they are to be drawn now; what a call returned is filled again by the next. */

import type { ObjectHandle, StateOf } from 'holdfast'
import type { Lump, Pot } from './rules/things.ts'

/** A handle of a pot. */
export type PotHandle = ObjectHandle<typeof Pot.schema.fields>
/** A handle of a lump of sugar. */
export type LumpHandle = ObjectHandle<typeof Lump.schema.fields>
/** A pot as it is drawn. */
export type PotView = StateOf<typeof Pot.schema.fields>
/** A lump as it is drawn. */
export type LumpView = StateOf<typeof Lump.schema.fields>

/** See the head of this file. */
export class Views {
  readonly #pots = new WeakMap<PotHandle, PotView>()
  readonly #lumps = new WeakMap<LumpHandle, LumpView>()

  /** Valid until the next call for the same pot. */
  of(pot: PotHandle): PotView {
    const view = pot.view(this.#pots.get(pot))
    this.#pots.set(pot, view)
    return view
  }

  /** Valid until the next call for the same lump. */
  ofLump(lump: LumpHandle): LumpView {
    const view = lump.view(this.#lumps.get(lump))
    this.#lumps.set(lump, view)
    return view
  }
}
