/** A type of objects as a game defines it: fields, ownership, motion. */

import { checkSize, type Fields, type Schema, type StateOf } from '../wire/fields/schema.ts'
import { type Keeper, STATE_MAX, type TypeRules } from './protocol/objects.ts'
import type { Kind } from '../kind/kind.ts'
import { type Course, courseOf, type MotionOptions } from './motion.ts'
import { checkName, checkOptions, fieldsOf } from '../api/options.ts'
import type { Report } from '../api/reports.ts'
import { OWNING_OPTIONS, type OwningOptions, rulesOf, ruleText } from './rules.ts'

export const OBJECT_TYPES_MAX = 128

/** A type of objects. */
export interface ObjectType<F extends Fields = Fields> {
  /** The kind of all definitions that `object` makes. */
  readonly kind: Kind<'object'>
  /** 1 to 32 characters, the same in every build. */
  readonly name: string
  /** Its fields as they go over the network. */
  readonly schema: Schema<F>
  /** How it moves between updates; null if it does not. */
  readonly course: Course | null
  /** Who may see and own its objects. */
  readonly rules: TypeRules
  /** Stores its objects beyond the members of a room; null if they are not stored. */
  readonly keeper: Keeper | null
  /** The rules for one session, which reports what a rule of the game throws. */
  readonly rulesFor: (report: Report) => TypeRules
}

/** Options of `object`. */
export interface ObjectOptions<F extends Fields> extends OwningOptions<F> {
  /** Which fields follow which velocities, so that `view` extrapolates them between updates. */
  readonly motion?: MotionOptions<F>
}

/** Compiles a type. @throws HoldfastError code `bad-value`, see `object` */
export function compileObject<F extends Fields>(
  kind: Kind<'object'>,
  name: string,
  fields: F,
  options: ObjectOptions<F>,
): ObjectType<F> {
  checkName(name)
  checkOptions(name, options, OBJECT_OPTIONS)
  const compiled = fieldsOf(name, fields)
  const course = courseOf(name, fields, options.motion as MotionOptions<Fields> | undefined)
  const whole = compiled as unknown as Schema<Fields>
  checkSize(`${name}: its state`, whole, STATE_MAX)
  const rulesFor = (report: Report): TypeRules => {
    return rulesOf(name, whole, options as OwningOptions<Fields>, course !== null, report)
  }
  const keeper = options.kept?.keeper ?? null
  return { kind, name, schema: compiled, course, rules: rulesFor(() => {}), keeper, rulesFor }
}

const OBJECT_OPTIONS = [...OWNING_OPTIONS, 'motion']

/** The text on which two builds must agree: which rules a type has, not what they do. */
export function textOf({ name, schema: { text }, course, rules }: ObjectType<Fields>): string {
  return [name, text, ...(course ? [course.text] : []), ruleText(rules)].join(' ')
}

/** The text by which a stored room's objects of a type are read; '' if it stores none. */
export function keptTextOf({ name, schema: { text }, rules }: ObjectType<Fields>): string {
  return rules.kept ? `${name} ${text} ${rules.timed ? 'timed ' : ''}kept` : ''
}

/** A change of an object's state: some of its fields. */
export type Patch<F extends Fields> = Partial<StateOf<F>>
