/**
 * What a game names once: the types of its objects, its actions and its procedures. The kind says
 * who has authority: an object its owner, an action the primary, a procedure whoever is called.
 */

import type { Actor } from '../actions/actions.ts'
import { badValue } from '../machine.ts'
import { byUtf8, checkSize, type Fields, type Schema, shown, type StateOf } from '../wire/schema.ts'
import { STATE_MAX, type TypeRules } from '../objects/objects.ts'
import { type Course, courseOf, type MotionOptions } from './motion.ts'
import { PIECE_TYPES_MAX } from '../pieces/pieces.ts'
import { compilePiece, type PieceOptions, type PieceType } from './piece-types.ts'
import { checkAtOnce, checkName, checkOptions, fieldsOf } from '../runtime/options.ts'
import type { ProcedureType } from './procedures.ts'
import type { Report } from '../runtime/reports.ts'
import { OWNING_OPTIONS, type OwningOptions, rulesOf, ruleText } from './rules.ts'
import type { GameTable } from './table.ts'

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
  /** The same for one session, to which what a rule of the game throws is reported. */
  readonly rulesFor: (report: Report) => TypeRules
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
 * @throws HoldfastError code `bad-value` for a name that is empty or too long, a motion whose
 *   fields do not fit, and a state that may take more than 1,024 bytes: it goes in one datagram.
 *   The sentence has the bytes of each field
 */
export function object<F extends Fields>(
  name: string,
  fields: F,
  options: ObjectOptions<NoInfer<F>> = {},
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
  return { kind: 'object', name, schema: compiled, course, rules: rulesFor(() => {}), rulesFor }
}

const OBJECT_OPTIONS = [...OWNING_OPTIONS, 'motion']

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
  checkName(name)
  return compilePiece(name, fields, options as PieceOptions<F>)
}

/**
 * An action: runs on the primary, once, also when that changes hands meanwhile. What it
 * throws is told to whoever asked, and nothing of it is kept. It must not keep the table.
 *
 * @throws HoldfastError code `bad-value` for a name that is empty or too long
 */
export function action<Args, Answer>(
  name: string,
  run: (table: GameTable, args: Args, by: Actor) => AtOnce<Answer>,
): ActionType<Args, Answer> {
  checkName(name)
  checkAtOnce(`the action "${name}"`, run)
  return { kind: 'action', name, run: run as ActionType<Args, Answer>['run'] }
}

/** An answer, unless it is a promise: then the function does not fit. */
export type AtOnce<Answer> =
  Answer extends PromiseLike<unknown>
    ? 'what it does after an await would be lost: it may not be async'
    : Answer

/** The types of one game, sorted out. */
export interface Types {
  objects: readonly ObjectType<Fields>[]
  pieces: readonly PieceType[]
  actions: readonly ActionType<never, unknown>[]
  procedures: ReadonlyMap<string, ProcedureType>
  /** All that two builds must agree on, a line for each type, action and procedure. */
  text: string
}

/**
 * Sorts the types of a game, by their names: so it does not matter in what order they are given,
 * and all members number them alike.
 *
 * @throws HoldfastError code `bad-value` for a name used twice
 */
export function sortTypes(types: readonly GameType[]): Types {
  checkTypes(types)
  const objects: ObjectType<Fields>[] = []
  const pieces: PieceType[] = []
  const actions: ActionType<never, unknown>[] = []
  const procedures = new Map<string, ProcedureType>()
  const names = new Set<string>()
  for (const type of [...types].sort((one, other) => byUtf8(one.name, other.name))) {
    if (names.has(type.name)) throw badValue(`two types of this game are called "${type.name}"`)
    names.add(type.name)
    if (type.kind === 'object') objects.push(type)
    else if (type.kind === 'piece') pieces.push(type)
    else if (type.kind === 'action') actions.push(type)
    else procedures.set(type.name, type)
  }
  checkCount('objects', objects.length, OBJECT_TYPES_MAX)
  checkCount('pieces', pieces.length, PIECE_TYPES_MAX)
  const texts = [
    ...objects.map(textOf),
    ...pieces.map(pieceText),
    ...actions.map(({ name }) => name),
  ]
  for (const name of procedures.keys()) texts.push(`${name}()`)
  return { objects, pieces, actions, procedures, text: texts.join('\n') }
}

const KINDS = ['object', 'piece', 'action', 'procedure']

function checkTypes(types: unknown): void {
  if (!Array.isArray(types)) throw badValue(`types is a list: ${shown(types)}`)
  for (const [i, type] of (types as unknown[]).entries()) {
    const kind: unknown = (type as { kind?: unknown } | null)?.kind
    if (typeof kind === 'string' && KINDS.includes(kind)) continue
    throw badValue(
      `types[${i}] is made by object(), piece(), action() or procedure(): ${shown(type)}`,
    )
  }
}

function checkCount(what: string, count: number, max: number): void {
  if (count > max) throw badValue(`a game has ${max} types of ${what} at most: ${count}`)
}

function pieceText({ name, schema: { text } }: PieceType): string {
  return `${name} ${text} piece`
}

// Which rules a type has, not what they do.
function textOf({ name, schema: { text }, course, rules }: ObjectType<Fields>): string {
  return [name, text, ...(course ? [course.text] : []), ruleText(rules)].join(' ')
}

/** A change of an object's state: some of its fields. */
export type Patch<F extends Fields> = Partial<StateOf<F>>
