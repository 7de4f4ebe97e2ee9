/** What an action of the game works with: the table of values, and the pieces on it. */

import type { Actor, Table } from '../actions/protocol/actions.ts'
import { HoldfastError, type Millis } from '../machine.ts'
import {
  above,
  below,
  byLevel,
  draft,
  type PieceDraft,
  PIECES_CHANNEL,
  type Pieces,
  type PieceTypes,
  type Row,
} from './protocol/pieces.ts'
import { placeOf } from '../kind/definitions.ts'
import type { Companion, Kind } from '../kind/kind.ts'
import type { Fields, StateOf } from '../wire/fields/schema.ts'
import { type Face, idOf, numberOf, patched, type PieceType, stateOf } from './types.ts'

/** A piece as an action has it: it is changed at once, and for all when the action is recorded. */
export interface TablePiece<F extends Fields = Fields> {
  /** The same as that of the handles: unique in the session, for ever. */
  readonly id: string
  /** All of its fields: the server knows them. One that was lost with other machines is null. */
  readonly state: Readonly<StateOf<F>>
  /** The player who holds it, by number as actions have players; 0 for nobody. */
  readonly heldBy: number
  /** Changes some fields. @throws HoldfastError `bad-value` that names the field, `not-found` */
  set(patch: Partial<StateOf<F>>): void
  /** Puts it into the hand of that player; 0 for nobody's. */
  hold(player: number): void
  /** Above all others. */
  raise(): void
  /** Below all others. */
  lower(): void
  /** Takes it off the table, for all and for ever. */
  remove(): void
}

/** The table as an action sees it, and as it makes it. */
export interface GameTable extends Table {
  /** As `later` of Table, with the arguments that the action has. */
  later<Args>(ms: Millis, action: Timed<Args>, args: Args): number
  later(ms: Millis, action: Timed<undefined>): number
  later(ms: Millis, action: string, args?: unknown): number
  /** A new piece, above all others. */
  create<F extends Fields>(type: PieceType<F>, state?: Partial<StateOf<F>>): TablePiece<F>
  /** All pieces of a type, lowest level first. */
  all<F extends Fields>(type: PieceType<F>): TablePiece<F>[]
  /** The piece of that id; null if there is none of that type. @throws as `all` does */
  find<F extends Fields>(type: PieceType<F>, id: string): TablePiece<F> | null
  /** 0 to below `sides`, each as likely; nobody can foresee it. */
  draw(sides: number): number
}

/** An action that a timer may run. */
export interface Timed<Args> {
  /** The kind of all that `action` makes. */
  readonly kind: Kind<'action'>
  /** By which the timer finds it. */
  readonly name: string
  /** What the primary does when the time has come; `by.player` is 0. */
  readonly run: (table: GameTable, args: Args, by: Actor) => unknown
}

/** The pieces of a session, for its actions. */
export function tableOf(pieces: Pieces, types: readonly PieceType[], rules: PieceTypes): Companion {
  return ({ player }) => {
    const opened = draft(pieces, rules, PIECES_CHANNEL, player)
    return { ...opened, face: faceOf(opened.face, types) }
  }
}

function faceOf(made: PieceDraft, types: readonly PieceType[]): Omit<GameTable, keyof Table> {
  const place = (type: PieceType): number => placeOf(types, type)
  const face = {
    create: (type: PieceType, state: Readonly<Record<string, unknown>> = {}) => {
      const { mask, fields } = patched(type, state)
      const { id } = made.create(place(type), mask, fields, above(made.rows()))
      return new DraftedPiece(made, type, id)
    },
    all: (type: PieceType) => {
      const at = place(type)
      const rows = made.rows().filter((row) => row.type === at)
      return rows.toSorted(byLevel).map(({ id }) => new DraftedPiece(made, type, id))
    },
    find: (type: PieceType, id: string) => {
      const number = numberOf(id)
      return made.get(number)?.type === place(type) ? new DraftedPiece(made, type, number) : null
    },
    draw: (sides: number) => made.draw(sides),
  }
  return face as unknown as Omit<GameTable, keyof Table>
}

class DraftedPiece implements TablePiece {
  readonly id: string
  readonly #number: number
  readonly #made: PieceDraft
  readonly #type: PieceType

  constructor(made: PieceDraft, type: PieceType, number: number) {
    this.id = idOf(number)
    this.#number = number
    this.#made = made
    this.#type = type
  }

  get #row(): Row {
    const row = this.#made.get(this.#number)
    if (row) return row
    throw new HoldfastError('not-found', `${this.#type.name} ${this.id} was removed`)
  }

  get state(): Face<StateOf<Fields>> {
    return stateOf(this.#type.schema, this.#row) as Face<StateOf<Fields>>
  }

  get heldBy(): number {
    return this.#row.heldBy
  }

  set(patch: Readonly<Record<string, unknown>>): void {
    const { mask, fields } = patched(this.#type, patch)
    this.#made.change(this.#number, mask, fields)
  }

  hold(player: number): void {
    this.#made.hold(this.#number, player)
  }

  raise(): void {
    this.#made.level(this.#number, above(this.#made.rows()))
  }

  lower(): void {
    this.#made.level(this.#number, below(this.#made.rows()))
  }

  remove(): void {
    this.#made.remove(this.#number)
  }
}
