/** A type of objects as a game defines it: fields, ownership, visibility, motion. */

import {
  type Fields,
  type Schema,
  type StateOf,
  type Field,
  shown,
  valueOf,
} from '../wire/fields/schema.ts'
import type { Keeper, TypeRules, VisibilityRule, TakePolicy } from './protocol/objects.ts'
import type { Kind } from '../kind/kind.ts'
import type { Course, MotionOptions } from './motion.ts'
import { checkOptions, checkSync, checkWord } from '../api/options.ts'
import { type Report, guardRule } from '../api/reports.ts'
import { badValue, type PeerId } from '../machine.ts'
import { migrationOf, type MigrationOptions } from '../api/migrations.ts'
import { keeper } from './protocol/keeper.ts'

/** The result of `withRoom`. */
export interface WithRoom {
  /** Writes and reads the objects of a stored room. */
  readonly keeper: Keeper
  /** The options of the call. */
  readonly options: MigrationOptions<Fields>
}

/**
 * For the option `kept` of a type of objects: a room that outlives its members (`keepRoom`) stores
 * them, at most 0.1 s old. The member that opens the room owns them all; players who return within
 * a minute get their own back.
 *
 *     object('note', fields, { onOwnerLeave: 'keep', kept: withRoom() })
 *
 * @throws HoldfastError `bad-value`
 */
export function withRoom<F extends Fields = Fields>(options: MigrationOptions<F> = {}): WithRoom {
  checkOptions('withRoom', options, ['was', 'migrate'])
  return { keeper, options: options as unknown as MigrationOptions<Fields> }
}

function isWithRoom(given: unknown): given is WithRoom {
  return typeof given === 'object' && given !== null && 'keeper' in given && 'options' in given
}

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

/** A member that might see an object. */
export interface Onlooker {
  /** The number of the incarnation. */
  readonly inc: PeerId
  /** The number of the player, the same over all their incarnations. */
  readonly player: number
}

/** Members see an object within a radius of their eyes; made by `near`. */
export interface Near {
  /** The vec2 field with the object's place. */
  readonly field: string
  /** In units of that field. */
  readonly radius: number
}

/** Options of `object` about ownership and visibility. */
export interface OwningOptions<F extends Fields> {
  /**
   * The members that may take the object from its owner: all (`free`), those that the owner's
   * `on('asked')` lets (`ask`), none (`fixed`, the default). Its owner may always give it away.
   */
  readonly take?: TakePolicy
  /**
   * The outcome of a request that its owner does not answer within 10 s: it is refused (`refuse`,
   * the default), or granted (`take`).
   */
  readonly unanswered?: 'refuse' | 'take'
  /** The fate of an object whose owner left, or did not return in a minute. Default `destroy`. */
  readonly onOwnerLeave?: 'destroy' | 'keep'
  /** The server moves it from members that own many to members that own few, now and then. */
  readonly balance?: boolean
  /** If not all changes fit a packet, twice the weight means half the wait; default: 1. */
  readonly weight?: number
  /**
   * A room that outlives its members stores it: `withRoom()`. Only with `onOwnerLeave: 'keep'`.
   */
  readonly kept?: WithRoom
  /** A vec2 field with the eyes of its owner, who sees objects `near` to it. */
  readonly eyes?: Extract<keyof F, string>
  /**
   * The members that see the object: `near('pos', 40)`, or a rule of the game; default: all. A rule
   * is called when the object changes, and once a second. Its owner and the server always see it.
   */
  readonly visibleTo?: Near | ((state: StateOf<F>, onlooker: Onlooker) => boolean)
}

/**
 * An object is seen by members whose eyes are within the radius of that vec2 field, and by members
 * without eyes. A grid decides, so the radius is exact within an eighth; an object that is seen
 * already stays visible a little further away.
 */
export function near(field: string, radius: number): Near {
  return { field, radius }
}

/** Checks and compiles the options. @throws HoldfastError `bad-value` with type and option */
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

/** The rules on which two builds must agree, besides fields and motion, as text. */
export function ruleText({
  schema,
  take,
  unanswered,
  onOwnerLeave,
  balance,
  weight,
  visibility,
  eyes,
  kept,
}: TypeRules): string {
  const words = [`take ${take}`, `onOwnerLeave ${onOwnerLeave}`]
  if (unanswered === 'take') words.push('unanswered take')
  if (balance) words.push('balance')
  if (weight !== 1) words.push(`weight ${weight}`)
  if (eyes >= 0) words.push(`eyes ${schema.names[eyes]}`)
  if (visibility?.kind === 'near')
    words.push(`near ${schema.names[visibility.column]} ${visibility.radius}`)
  if (visibility?.kind === 'rule') words.push('visibleTo')
  if (kept) words.push('kept')
  return words.join(', ')
}

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

/** A change of an object's state: some of its fields. */
export type Patch<F extends Fields> = Partial<StateOf<F>>
