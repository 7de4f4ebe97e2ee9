/** The table of an action: its values and its pieces. */

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

/** A piece inside an action: changes show at once here, and to others once recorded. */
export interface TablePiece<F extends Fields = Fields> {
  /** The id that its handles have: unique in the session, and never used again. */
  readonly id: string
  /** All fields, secret ones too. A secret that a recovery lost is null. */
  readonly state: Readonly<StateOf<F>>
  /** The number of the player who holds it; 0 for nobody. */
  readonly heldBy: number
  /** Changes some fields. @throws HoldfastError `bad-value` that names the field, `not-found` */
  set(patch: Partial<StateOf<F>>): void
  /** Makes that player its holder; 0 for nobody. */
  hold(player: number): void
  /** Puts it above all others. */
  raise(): void
  /** Puts it below all others. */
  lower(): void
  /** Removes it for everybody; its id is not used again. */
  remove(): void
}

/** The table as an action reads and changes it. */
export interface GameTable extends Table {
  /** As `later` of Table, with arguments of the action's type. */
  later<Args>(ms: Millis, action: Timed<Args>, args: Args): number
  later(ms: Millis, action: Timed<undefined>): number
  later(ms: Millis, action: string, args?: unknown): number
  /** Creates a piece above all others. */
  create<F extends Fields>(type: PieceType<F>, state?: Partial<StateOf<F>>): TablePiece<F>
  /** All pieces of a type, lowest level first. */
  all<F extends Fields>(type: PieceType<F>): TablePiece<F>[]
  /** The piece of that id; null if there is none of that type. @throws as `all` does */
  find<F extends Fields>(type: PieceType<F>, id: string): TablePiece<F> | null
  /** A random integer from 0 to below `sides`, uniform and unpredictable for everybody. */
  draw(sides: number): number
}

/** An action that a timer can run. */
export interface Timed<Args> {
  /** The kind of all actions. */
  readonly kind: Kind<'action'>
  /** The name by which the timer finds it. */
  readonly name: string
  /** Runs on the primary when the timer is due; `by.player` is 0. */
  readonly run: (table: GameTable, args: Args, by: Actor) => unknown
}

export function tableOf(pieces: Pieces, types: readonly PieceType[], rules: PieceTypes): Companion {
  return ({ player }) => {
    const opened = draft(pieces, rules, PIECES_CHANNEL, player)
    return { ...opened, api: apiOf(opened.api, types) }
  }
}

function apiOf(made: PieceDraft, types: readonly PieceType[]): Omit<GameTable, keyof Table> {
  const place = (type: PieceType): number => placeOf(types, type)
  const api = {
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
  return api as unknown as Omit<GameTable, keyof Table>
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
