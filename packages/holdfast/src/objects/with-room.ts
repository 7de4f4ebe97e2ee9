/** Objects that a room keeps beyond its members. */

import { type Keeper, keeper } from './protocol/keeping.ts'
import { checkOptions } from '../api/options.ts'
import type { Fields } from '../wire/schema.ts'
import type { MigrationOptions } from '../api/migrations.ts'

/** What `withRoom` gives. */
export interface WithRoom {
  /** What writes and reads them. */
  readonly keeper: Keeper
  /** As it was called. */
  readonly options: MigrationOptions<Fields>
}

/**
 * For the option `kept` of a type of objects: a room that outlives its members (`keepRoom`) has
 * them, at most 0.1 s old. Whoever opens the room owns them, and who comes back within a minute has
 * their own again.
 *
 *     object('note', fields, { onOwnerLeave: 'keep', kept: withRoom() })
 *
 * @throws HoldfastError `bad-value`
 */
export function withRoom<F extends Fields = Fields>(options: MigrationOptions<F> = {}): WithRoom {
  checkOptions('withRoom', options, ['was', 'migrate'])
  return { keeper, options: options as unknown as MigrationOptions<Fields> }
}

/** Whether it is made by `withRoom`. */
export function isWithRoom(given: unknown): given is WithRoom {
  return typeof given === 'object' && given !== null && 'keeper' in given && 'options' in given
}
