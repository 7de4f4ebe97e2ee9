/** Types of pieces as a game defines them: fields, their secrecy, and the rule for updates. */

import { HoldfastError, within } from '../machine.ts'
import type { Kind } from '../kind/kind.ts'
import { checkSync, checkOptions } from '../api/options.ts'
import { requireSync, isMistake, type Report, guardRule } from '../api/reports.ts'
import type { Hold, PieceRules, Row } from './protocol/pieces.ts'
import type { MigrationOptions } from '../api/migrations.ts'
import {
  type Field,
  type FieldKind,
  type Fields,
  type Quantised,
  putValue,
  quantiseInto,
  type Schema,
  type StateOf,
  shown,
} from '../wire/fields/schema.ts'

/** A piece as rules see it: all of its fields, its id and its holder. */
export type Face<State = Readonly<Record<string, unknown>>> = State & {
  /** The id that its handles have. */
  readonly id: string
  /** The number of the player who holds it; 0 for nobody. */
  readonly heldBy: number
}

/** Whether a player may see a secret field: any truthy value shows it, an exception hides it. */
export type Sees = (piece: Face, player: number) => unknown

/** A field that only some players may see. */
export type Secret<Value, Kind extends FieldKind> = Field<Value | null, Kind> & {
  /** Whether a player may see it. */
  readonly sees: Sees
}

/**
 * A field whose value is sent only to players who may see it, and to the primary and the backup;
 * everybody else sees null.
 *
 *     face: secret(u8, (card, who) => card.up || card.hand === who)
 */
export function secret<Value, Kind extends FieldKind>(
  field: Field<Value, Kind>,
  sees: Sees,
): Secret<Value, Kind> {
  checkSync('who sees a secret field', sees)
  const hidden = field as unknown as Field<Value | null, Kind>
  return { ...hidden, text: `secret ${field.text}`, sees }
}

/** What a rule returns to refuse an update. */
export interface Rejection {
  /** The reason for the player; cut to 66 characters. */
  readonly rejected: string
}

/** Refuses an update; its player gets the reason. */
export function reject(reason: string): Rejection {
  return { rejected: reason }
}

/** Options of `piece`. */
export interface PieceOptions<F extends Fields> extends MigrationOptions<F> {
  /** `must`: only its holder may change it. `free` (default): anybody, unless another holds it. */
  readonly hold?: 'must' | 'free'
  /** Decisions of the game, made by the primary. */
  readonly rules?: {
    /**
     * Decides on an update. It runs on the primary only, before anything changes; an exception
     * refuses the update.
     *
     * @param piece  before the update
     * @param patch  the requested fields
     * @param by  the player who asks
     * @param hold  the effect on the holder
     * @returns the fields to change; if they differ from the request, the outcome is `clamped`
     */
    readonly update?: (
      piece: Face<StateOf<F>>,
      patch: Partial<StateOf<F>>,
      by: number,
      hold: Hold,
    ) => Partial<StateOf<F>> | Rejection
  }
}

/** A type of pieces. */
export interface PieceType<F extends Fields = Fields> {
  /** The kind of all that `piece` makes. */
  readonly kind: Kind<'piece'>
  /** 1 to 32 characters, the same in every build. */
  readonly name: string
  /** Its fields as the network carries them. */
  readonly schema: Schema<F>
  /** Decisions of the primary; exceptions of rules are not reported. */
  readonly rules: PieceRules
  /** The same for one session; exceptions of the game's rules go to `report`. */
  readonly rulesFor: (report: Report) => PieceRules
}

/** @throws HoldfastError `bad-value` */
export function checkRules(type: string, rules: { readonly update?: unknown } | undefined): void {
  if (rules === undefined) return
  checkOptions(`rules of "${type}"`, rules, ['update'])
  if (rules.update !== undefined) checkSync(`the update rule of "${type}"`, rules.update)
}

export function secretsOf(
  type: string,
  compiled: Schema<Fields>,
  report: Report,
): Pick<PieceRules, 'secret' | 'hides'> {
  const secrets = compiled.columns.flatMap(({ name, field }, i) => {
    if (!('sees' in field)) return []
    // A rule that throws or returns a promise hides the field.
    return [
      {
        bit: 2 ** i,
        sees: guardRule(report, `secret "${name}" of "${type}"`, field.sees as Sees, false),
      },
    ]
  })
  const secretMask = secrets.reduce((mask, { bit }) => mask + bit, 0)
  return {
    secret: secretMask,
    hides: (row, player) => {
      if (secretMask === 0) return 0
      const face = faceOf(compiled, row)
      return secrets.reduce((mask, { bit, sees }) => (sees(face, player) ? mask : mask + bit), 0)
    },
  }
}

export function decisionOf(
  name: string,
  type: Schema<Fields>,
  { rules }: PieceOptions<Fields>,
  report: Report,
): Pick<PieceRules, 'decide'> {
  const update = rules?.update
  if (!update) return { decide: null }
  const where = `the update rule of "${name}"`
  return {
    decide: (next, op, before, by) => {
      try {
        const asked = patchOf(type, next.fields, op.mask)
        const face = faceOf(type, before) as Face<StateOf<Fields>>
        const made = requireSync(where, update(face, asked, by, op.hold))
        checkAnswer(where, type, made)
        if (isRejection(made)) return { ok: false, reason: made.rejected.slice(0, 66) }
        const fields = [...before.fields]
        quantiseInto(type, made, fields)
        return { ok: true, fields }
      } catch (error) {
        // A rule that throws only refuses the update (O44, O45).
        if (isMistake(error)) report(error, where, update)
        const why = error instanceof Error ? error.message : String(error)
        return { ok: false, reason: `${RULE_FAILED}${why}`.slice(0, 66) }
      }
    },
  }
}

/** How the reason begins if a rule threw. The wire has no other sign of it. */
export const RULE_FAILED = 'its rule failed: '

/** Properties of `Face` that are no fields of the piece. */
const OF_FACE = ['id', 'heldBy']

function checkAnswer(where: string, type: Schema<Fields>, made: unknown): asserts made is object {
  const fields = typeof made === 'object' && made !== null && !Array.isArray(made)
  if (!fields) throw new TypeError(`${where} gives a change or reject(): ${shown(made)}`)
  if (isRejection(made)) return
  const unknown = Object.keys(made).find((name) => {
    return !type.places.has(name) && !OF_FACE.includes(name)
  })
  if (unknown !== undefined) throw new TypeError(`${where} gives "${unknown}", which is no field`)
}

function isRejection(made: object): made is Rejection {
  return 'rejected' in made && typeof made.rejected === 'string'
}

function patchOf(type: Schema<Fields>, from: Quantised, mask: number): Record<string, unknown> {
  const patch: Record<string, unknown> = {}
  for (const [i, { name, field, at }] of type.columns.entries()) {
    if ((mask & (1 << i)) !== 0) patch[name] = field.valueAt(from, at)
  }
  return patch
}

/** A piece's id as users have it: text, as the ids of objects are. */
export function idOf(id: number): string {
  return String(id)
}

/** The number of a piece; 0, which no piece has, for any other value: ids may be forged. */
export function numberOf(id: unknown): number {
  const number = Number(id)
  return idOf(number) === id ? number : 0
}

/** A piece's fields by name; null for those that are hidden. */
export function stateOf(type: Schema<Fields>, { fields, hidden }: Row): Record<string, unknown> {
  const state: Record<string, unknown> = {}
  for (const [i, column] of type.columns.entries()) {
    if ((hidden & (1 << i)) === 0) putValue(state, column, fields)
    else state[column.name] = null
  }
  return state
}

function faceOf(type: Schema<Fields>, row: Row): Face {
  return { ...stateOf(type, row), id: idOf(row.id), heldBy: row.heldBy }
}

/** A change by name, quantised: its mask and its places. @throws HoldfastError `bad-value` */
export function patched(
  { name: type, schema: compiled }: PieceType,
  patch: Readonly<Record<string, unknown>>,
): { mask: number; fields: Quantised } {
  const fields: Quantised = []
  let mask = 0
  for (const name of Object.keys(patch)) {
    const place = compiled.places.get(name)
    if (place === undefined) {
      throw new HoldfastError('bad-value', `${type} has no field called "${name}"`)
    }
    mask += 2 ** place
  }
  try {
    quantiseInto(compiled, patch as Partial<StateOf<Fields>>, fields)
  } catch (error) {
    throw within(type, error)
  }
  return { mask, fields }
}
