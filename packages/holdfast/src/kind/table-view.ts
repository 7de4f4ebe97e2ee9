/** The table that actions write, as a member reads it. */

import type { Value } from '../actions/protocol/actions.ts'
import type { Emitter } from '../api/emitter.ts'

/** What the table tells. */
export interface TableEvents {
  /** Keys whose values are others, were added or went. */
  changed: readonly string[]
}

/** The table that actions write, as far as it is safe: what the backup has, too. */
export interface TableView extends Emitter<TableEvents> {
  /** The value of a key; undefined where there is none. */
  get(key: string): Value | undefined
  /** Keys with such a beginning, sorted. Default: all. */
  keys(prefix?: string): string[]
}
