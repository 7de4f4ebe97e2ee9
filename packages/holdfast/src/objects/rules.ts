/**
 * What a type of objects says of itself besides its fields: who may take it, what becomes of it
 * when its owner goes, who sees it; checked, and in the form in which the objects room wants it.
 */

import { badValue, type PeerId } from '../machine.ts'
import type { VisibilityRule, TakePolicy, TypeRules } from './protocol/objects.ts'
import {
  type Field,
  type Fields,
  type Schema,
  shown,
  type StateOf,
  valueOf,
} from '../wire/fields/schema.ts'
import { checkSync, checkOptions, checkWord } from '../api/options.ts'
import { migrationOf } from '../api/migrations.ts'
import { type Report, guardRule } from '../api/reports.ts'
import { type Keeper, keeper } from './protocol/keeper.ts'
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

/** Options of `object` that this file reads. */
export const OWNING_OPTIONS = [
  'take',
  'unanswered',
  'onOwnerLeave',
  'balance',
  'weight',
  'eyes',
  'visibleTo',
  'kept',
] as const

/** Who looks at an object. */
export interface Onlooker {
  /** The number of the incarnation. */
  readonly inc: PeerId
  /** The same for as long as the player takes part. */
  readonly player: number
}

/** Sees those that are within a radius of its eyes; made by `near`. */
export interface Near {
  /** The field of places, by which both are found. */
  readonly field: string
  /** In units of that field. */
  readonly radius: number
}

/** What `object` takes about ownership and sight. */
export interface OwningOptions<F extends Fields> {
  /**
   * Who may take it from its owner: anybody (`free`), whom the owner's `on('asked')` lets (`ask`),
   * nobody (`fixed`, if not given). Its owner may always give it away.
   */
  readonly take?: TakePolicy
  /**
   * What becomes of an ask that its owner leaves without an answer for 10 s, for its listener threw
   * or never answered: it is refused (`refuse`, if not given), or who asked has it (`take`).
   */
  readonly unanswered?: 'refuse' | 'take'
  /** What becomes of it when its owner left, or did not come back within a minute: `destroy`. */
  readonly onOwnerLeave?: 'destroy' | 'keep'
  /** The server moves it from who owns many to who owns few, now and then. */
  readonly balance?: boolean
  /** When not all that changed can leave at once: one of twice the weight waits half as long; 1. */
  readonly weight?: number
  /**
   * A room that outlives its members has them: `withRoom()`. Only with `onOwnerLeave: 'keep'`.
   */
  readonly kept?: WithRoom
  /** A vec2 field from which its owner looks around: it sees what is `near` to that. */
  readonly eyes?: Extract<keyof F, string>
  /**
   * Who is told of it: `near('pos', 40)`, or a rule of the game; everybody, if not given. A rule is
   * asked when the object changes, and once a second. Its owner and the server always know it.
   */
  readonly visibleTo?: Near | ((state: StateOf<F>, onlooker: Onlooker) => boolean)
}

/**
 * Seen by those whose eyes are within the radius of that vec2 field, and by those without eyes. It
 * is found by a grid: the radius is kept within an eighth, and what was seen is seen a little
 * further.
 */
export function near(field: string, radius: number): Near {
  return { field, radius }
}

/** Checks and sorts them out. @throws HoldfastError code `bad-value` that names type and option */
export function rulesOf(
  type: string,
  schema: Schema<Fields>,
  options: OwningOptions<Fields>,
  timed: boolean,
  report: Report,
): TypeRules {
  const { take = 'fixed', unanswered = 'refuse', onOwnerLeave = 'destroy' } = options
  const { balance = false, weight = 1, eyes } = options
  checkWord(`${type}: unanswered`, unanswered, ['refuse', 'take'])
  checkWord(`${type}: take`, take, ['free', 'ask', 'fixed'])
  checkWord(`${type}: onOwnerLeave`, onOwnerLeave, ['destroy', 'keep'])
  if (!(weight > 0 && weight < Infinity)) throw badValue(`${type}: weight is above 0: ${weight}`)
  if (eyes !== undefined && typeof options.visibleTo === 'object') {
    throw badValue(
      `${type}: what has eyes is found by no grid: its visibleTo is a rule of the game`,
    )
  }
  return {
    schema,
    timed,
    take,
    unanswered,
    onOwnerLeave,
    balance,
    weight,
    kept: keptOf(type, options),
    visibility: options.visibleTo ? visibilityOf(type, schema, options.visibleTo, report) : null,
    eyes: eyes === undefined ? -1 : columnOf(type, schema, 'eyes', eyes),
  }
}

function keptOf(type: string, options: OwningOptions<Fields>): TypeRules['kept'] {
  const { kept, onOwnerLeave = 'destroy' } = options
  if (kept === undefined) return null
  if (!isWithRoom(kept)) throw badValue(`${type}: kept is what withRoom() gives: ${shown(kept)}`)
  if (onOwnerLeave === 'keep') return { name: type, migration: migrationOf(type, kept.options) }
  throw badValue(`${type}: what is kept stays when its owner leaves: onOwnerLeave: 'keep'`)
}

function visibilityOf(
  type: string,
  schema: Schema<Fields>,
  visibleTo: NonNullable<OwningOptions<Fields>['visibleTo']>,
  report: Report,
): VisibilityRule {
  if (typeof visibleTo === 'function') {
    const where = `visibleTo of "${type}"`
    checkSync(where, visibleTo)
    // A rule that throws hides.
    const maySee = guardRule(report, where, visibleTo, false)
    return {
      kind: 'rule',
      sees: (fields) => {
        const state = valueOf(schema, fields)
        return (inc, player) => maySee(state, { inc, player })
      },
    }
  }
  checkOptions(`visibleTo of "${type}"`, visibleTo, ['field', 'radius'])
  const { field, radius } = visibleTo
  if (!(radius > 0)) throw badValue(`${type}: near takes a radius above 0: ${String(radius)}`)
  return { kind: 'near', column: columnOf(type, schema, 'near', field), radius }
}

function columnOf(type: string, schema: Schema<Fields>, what: string, name: string): number {
  const column = schema.names.indexOf(name)
  const field: Field<unknown> | undefined = schema.columns[column]?.field
  if (field?.kind === 'vec2') return column
  throw badValue(
    `${type}: ${what} goes by a vec2 field: "${name}" is ${field ? field.kind : 'no field'}`,
  )
}

/** What two builds must agree on besides fields and motion: who may take it, keep it, see it. */
export function ruleText({
  schema,
  take,
  unanswered,
  onOwnerLeave,
  balance,
  weight,
  visibility: sight,
  eyes,
  kept,
}: TypeRules): string {
  const words = [`take ${take}`, `onOwnerLeave ${onOwnerLeave}`]
  if (unanswered === 'take') words.push('unanswered take')
  if (balance) words.push('balance')
  if (weight !== 1) words.push(`weight ${weight}`)
  if (eyes >= 0) words.push(`eyes ${schema.names[eyes]}`)
  if (sight?.kind === 'near') words.push(`near ${schema.names[sight.column]} ${sight.radius}`)
  if (sight?.kind === 'rule') words.push('visibleTo')
  if (kept) words.push('kept')
  return words.join(', ')
}
