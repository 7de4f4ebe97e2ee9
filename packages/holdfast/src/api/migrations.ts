/** How pieces and objects that another build kept become those of this one. */

import type { Migration } from '../wire/fields/converting.ts'
import type { Field, Fields, StateOf } from '../wire/fields/schema.ts'
import { checkSync } from './options.ts'
import { checkNameOf } from './options.ts'

/** What `piece`, and `object` of a type that is kept, take about other builds. */
export interface MigrationOptions<F extends Fields> {
  /** What the type was called in builds before: what they kept of it is of this type now. */
  readonly was?: string
  /**
   * What is made of a state that a build with other fields kept. It runs as a kept or saved room is
   * opened, for each piece or object; what it throws refuses the room, which stays as it was.
   *
   * @param from  the fields of that build, as text by name: `{ rank: 'u8' }`
   * @param state  their values; null for one whose value is lost
   * @returns fields that are not taken over as they are: others are, by name or by `was`
   */
  readonly migrate?: (
    from: Readonly<Record<string, string>>,
    state: Readonly<Record<string, unknown>>,
  ) => Partial<StateOf<F>>
}

/**
 * A field that had another name in builds before: what they kept of it is taken over.
 *
 *     rank: was('value', u8)
 */
export function was<F extends Field<unknown>>(name: string, field: F): F {
  checkNameOf('was', name)
  return { ...field, was: name }
}

/** The same for the machines. @throws HoldfastError `bad-value` */
export function migrationOf(name: string, options: MigrationOptions<Fields>): Migration | null {
  const { was: before, migrate } = options
  if (before !== undefined) checkNameOf(`${name}: was`, before)
  if (migrate !== undefined) checkSync(`${name}: migrate`, migrate)
  if (before === undefined && migrate === undefined) return null
  return { was: before ?? '', migrate: migrate ?? null }
}
