/**
 * What a game names once: the types of its objects, its actions and its procedures. The kind says
 * who has authority: an object its owner, an action the primary, a procedure whoever is called.
 */

import type { Actor, Run } from '../actions/actions.ts'
import { HoldfastError, type PeerId } from '../machine.ts'
import { type Fields, type Schema, schema, type StateOf } from '../wire/schema.ts'
import { STATE_MAX, type TypeRules } from '../objects/objects.ts'
import { type Course, courseOf, type MotionOptions } from './motion.ts'
import { PIECE_TYPES_MAX } from '../pieces/pieces.ts'
import { compilePiece, type PieceOptions, type PieceType } from './piece-types.ts'
import { type OwningOptions, rulesOf } from './rules.ts'
import type { GameTable } from './table.ts'

/** Longest name of a type or an action. */
export const TYPE_NAME_MAX = 32
/** Most types of objects in a game. */
export const OBJECT_TYPES_MAX = 128

/** A type of objects. */
export interface ObjectType<F extends Fields = Fields> {
  readonly kind: 'object'
  readonly name: string
  readonly schema: Schema<F>
  /** How it moves between updates; null if it does not. */
  readonly course: Course | null
  readonly rules: TypeRules
}

/** What `object` takes besides. */
export interface ObjectOptions<F extends Fields> extends OwningOptions<F> {
  /** Which fields go on by which velocities, so that `view` shows them between updates. */
  readonly motion?: MotionOptions<F>
}

/** An action. */
export interface ActionType<Args = unknown, Answer = unknown> {
  readonly kind: 'action'
  readonly name: string
  readonly run: (table: GameTable, args: Args, by: Actor) => Answer
}

/** What a procedure does where it is called: its answer, or a promise of that. */
export type Procedure<Args = never, Answer = unknown> = (
  args: Args,
  by: MemberInfo,
) => Answer | PromiseLike<Answer>

/** A procedure. */
export interface ProcedureType<Args = never, Answer = unknown> {
  readonly kind: 'procedure'
  readonly name: string
  /** What every member does; null where each says by `session.answer`. */
  readonly run: Procedure<Args, Answer> | null
}

/** What `join` takes in `types`. */
export type GameType =
  | ObjectType<Fields>
  | PieceType<Fields>
  | ActionType<never, unknown>
  | ProcedureType

/**
 * A type of objects: its state field by field. Each object has one owner, who sets it; the
 * newest state reaches everybody, and nobody waits for it.
 *
 * @throws HoldfastError code `bad-value` for a name that is empty or too long, or a motion whose
 *   fields do not fit
 */
export function object<F extends Fields>(
  name: string,
  fields: F,
  options: ObjectOptions<NoInfer<F>> = {},
): ObjectType<F> {
  const course = courseOf(name, fields, options.motion as MotionOptions<Fields> | undefined)
  const compiled = schema(fields)
  const whole = compiled as unknown as Schema<Fields>
  if (compiled.bytesMax > STATE_MAX) {
    const limit = `its state has at most ${STATE_MAX} bytes`
    throw new HoldfastError('bad-value', `${name}: ${limit}: ${compiled.bytesMax}`)
  }
  const rules = rulesOf(name, whole, options as OwningOptions<Fields>, course !== null)
  return { kind: 'object', name: checkName(name), schema: compiled, course, rules }
}

/**
 * A type of pieces: what several hands may reach for. The primary decides who was first; what is
 * done is shown at once, and who was too late is told who was first. Pieces are made by actions.
 *
 * @throws HoldfastError code `bad-value` for a name that is empty or too long
 */
export function piece<F extends Fields>(
  name: string,
  fields: F,
  options: PieceOptions<NoInfer<F>> = {},
): PieceType<F> {
  return compilePiece(checkName(name), fields, options as PieceOptions<F>)
}

/**
 * An action: runs on the primary, once, also when that changes hands meanwhile. What it
 * throws is told to whoever asked, and nothing of it is kept. It must not keep the table.
 *
 * @throws HoldfastError code `bad-value` for a name that is empty or too long
 */
export function action<Args, Answer>(
  name: string,
  run: (table: GameTable, args: Args, by: Actor) => Answer,
): ActionType<Args, Answer> {
  return { kind: 'action', name: checkName(name), run }
}

/**
 * A procedure: one member calls it at another, and waits for the answer. Prefer an object for
 * what others shall see, for it costs less and nobody can miss it, and an action for what must
 * happen once: of a call that was under way when a link or a machine was lost nobody knows
 * whether it ran.
 *
 *     const roll = procedure('roll', (dice: { sides: number }) => 1 + below(dice.sides))
 *     const ask = procedure<string, boolean>('ask')      // each says what by session.answer
 *
 * @param run  what every member does when it is called; what it throws is told to who called
 * @throws HoldfastError code `bad-value` for a name that is empty or too long
 */
export function procedure<Args, Answer>(
  name: string,
  run: Procedure<Args, Answer> | null = null,
): ProcedureType<Args, Answer> {
  return { kind: 'procedure', name: checkName(name), run }
}

function checkName(name: string): string {
  if (name.length > 0 && name.length <= TYPE_NAME_MAX) return name
  throw new HoldfastError(
    'bad-value',
    `the name of a type has 1 to ${TYPE_NAME_MAX} characters: "${name}" has ${name.length}`,
  )
}

/** The types of one game, sorted out. */
export interface Types {
  objects: readonly ObjectType<Fields>[]
  pieces: readonly PieceType[]
  runs: ReadonlyMap<string, Run>
  procedures: ReadonlyMap<string, ProcedureType>
  /** All that two builds must agree on, a line for each type, action and procedure. */
  text: string
}

/** Sorts the types of a game. @throws HoldfastError code `bad-value` for a name used twice */
export function sortTypes(types: readonly GameType[]): Types {
  const objects: ObjectType<Fields>[] = []
  const pieces: PieceType[] = []
  const runs = new Map<string, Run>()
  const procedures = new Map<string, ProcedureType>()
  const names = new Set<string>()
  for (const type of types) {
    if (names.has(type.name)) {
      throw new HoldfastError('bad-value', `two types of this game are called "${type.name}"`)
    }
    names.add(type.name)
    if (type.kind === 'object') objects.push(type)
    else if (type.kind === 'piece') pieces.push(type)
    else if (type.kind === 'action') runs.set(type.name, type.run as unknown as Run)
    else procedures.set(type.name, type)
  }
  if (objects.length > OBJECT_TYPES_MAX) {
    throw new HoldfastError(
      'bad-value',
      `a game has ${OBJECT_TYPES_MAX} types of objects at most: ${objects.length}`,
    )
  }
  if (pieces.length > PIECE_TYPES_MAX) {
    throw new HoldfastError(
      'bad-value',
      `a game has ${PIECE_TYPES_MAX} types of pieces at most: ${pieces.length}`,
    )
  }
  const texts = [...objects.map(textOf), ...pieces.map(pieceText), ...runs.keys()]
  for (const name of procedures.keys()) texts.push(`${name}()`)
  return { objects, pieces, runs, procedures, text: texts.join('\n') }
}

function pieceText({ name, schema: { text } }: PieceType): string {
  return `${name} ${text} piece`
}

function textOf({ name, schema: { text }, course }: ObjectType<Fields>): string {
  return course ? `${name} ${text} ${course.text}` : `${name} ${text}`
}

/** A change of an object's state: some of its fields. */
export type Patch<F extends Fields> = Partial<StateOf<F>>

/** A member as an application sees it. */
export interface MemberInfo {
  /** The same for as long as the player takes part, over reconnections and failures. */
  readonly player: number
  /** The number of this incarnation. */
  readonly inc: PeerId
  readonly name: string
  /** Where it runs; `guest` for a member that never serves: see `serves` of `join`. */
  readonly kind: 'node' | 'browser' | 'guest'
}
