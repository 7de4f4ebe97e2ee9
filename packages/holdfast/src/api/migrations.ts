/** Converts pieces and objects that another build stored. */

import type { Migration } from '../wire/fields/converting.ts'
import type { Field, Fields, StateOf } from '../wire/fields/schema.ts'
import { checkSync, checkNameOf } from './options.ts'

/** Options of `piece`, and of a kept type of `object`, about other builds. */
export interface MigrationOptions<F extends Fields> {
  /** The type's name in earlier builds: what they stored under it is of this type now. */
  readonly was?: string
  /**
   * Converts a state that a build with other fields stored. It runs when a stored or exported room
   * is opened, for each piece or object; an error refuses the room, which stays as it was.
   *
   * @param from  the fields of that build, as text by name: `{ rank: 'u8' }`
   * @param state  their values; null for a lost value
   * @returns the fields that change; all others are taken over by name or by `was`
   */
  readonly migrate?: (
    from: Readonly<Record<string, string>>,
    state: Readonly<Record<string, unknown>>,
  ) => Partial<StateOf<F>>
}

/**
 * A field that had another name in earlier builds, and takes over what they stored under it.
 *
 *     rank: was('value', u8)
 */
export function was<F extends Field<unknown>>(name: string, field: F): F {
  checkNameOf('was', name)
  return { ...field, was: name }
}

/** Compiles the options. @throws HoldfastError `bad-value` */
export function migrationOf(name: string, options: MigrationOptions<Fields>): Migration | null {
  const { was: before, migrate } = options
  if (before !== undefined) checkNameOf(`${name}: was`, before)
  if (migrate !== undefined) checkSync(`${name}: migrate`, migrate)
  if (before === undefined && migrate === undefined) return null
  return { was: before ?? '', migrate: migrate ?? null }
}
