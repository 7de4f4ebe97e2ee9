/**
 * A type of pieces as a game names it: its fields, who may see which, and what the primary makes
 * of an update.
 */

import { HoldfastError } from '../machine.ts'
import { type Hold, PIECE_BYTES_MAX, type PieceRules, type Row } from '../pieces/pieces.ts'
import {
  type Field,
  type FieldKind,
  type Fields,
  type Quantised,
  quantiseInto,
  type Schema,
  schema,
  type StateOf,
} from '../wire/schema.ts'

/** A piece as rules see it: all of its fields, who holds it, its number. */
export type Face<State = Readonly<Record<string, unknown>>> = State & {
  readonly id: number
  /** The player who holds it; 0 for nobody. */
  readonly heldBy: number
}

/** Who may see a secret field: whoever it returns anything truthy for. One that throws hides. */
export type Sees = (piece: Face, player: number) => unknown

/** A field that not everybody may see. */
export type Secret<Value, Kind extends FieldKind> = Field<Value | null, Kind> & {
  readonly sees: Sees
}

/**
 * A field whose value is sent to nobody but those who may see it, and to the machines that serve
 * or stand by; for the others it is null.
 *
 *     face: secret(u8, (card, who) => card.up || card.hand === who)
 */
export function secret<Value, Kind extends FieldKind>(
  field: Field<Value, Kind>,
  sees: Sees,
): Secret<Value, Kind> {
  const hidden = field as unknown as Field<Value | null, Kind>
  return { ...hidden, text: `secret ${field.text}`, sees }
}

/** What a rule returns that lets nothing happen. */
export interface Rejection {
  readonly rejected: string
}

/** Lets an update not happen: its player is told the sentence. */
export function reject(reason: string): Rejection {
  return { rejected: reason }
}

/** What `piece` takes besides. */
export interface PieceOptions<F extends Fields> {
  /** `must`: only who holds it changes it. `free` (default): anybody, unless another holds it. */
  readonly hold?: 'must' | 'free'
  readonly rules?: {
    /**
     * What becomes of an update. It runs on the primary alone, before anything is changed; what it
     * throws refuses the update.
     *
     * @param piece  as it stands
     * @param patch  the fields that are asked for
     * @param by  the player who asks
     * @param hold  what the update does about holding
     * @returns the fields that change; if they are others than asked for, everybody is told so
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
  readonly kind: 'piece'
  readonly name: string
  readonly schema: Schema<F>
  readonly rules: PieceRules
}

/** Compiles a type. @throws HoldfastError code `bad-value` if its fields are too long */
export function compilePiece<F extends Fields>(
  name: string,
  fields: F,
  options: PieceOptions<F>,
): PieceType<F> {
  const compiled = schema(fields)
  if (compiled.bytesMax > PIECE_BYTES_MAX) {
    const limit = `a piece has at most ${PIECE_BYTES_MAX} bytes`
    throw new HoldfastError('bad-value', `${name}: ${limit}: ${compiled.bytesMax}`)
  }
  const { hold = 'free' } = options
  if (hold !== 'must' && hold !== 'free') {
    throw new HoldfastError('bad-value', `${name}: hold is must or free: ${String(hold)}`)
  }
  const whole = compiled as unknown as Schema<Fields>
  const rules: PieceRules = {
    name,
    schema: whole,
    mustHold: hold === 'must',
    ...secretsOf(whole),
    ...decisionOf(whole, options as unknown as PieceOptions<Fields>),
  }
  return { kind: 'piece', name, schema: compiled, rules }
}

function secretsOf(type: Schema<Fields>): Pick<PieceRules, 'secret' | 'hides'> {
  const secrets = type.columns.flatMap(({ field }, i) =>
    'sees' in field ? [{ bit: 2 ** i, sees: field.sees as Sees }] : [],
  )
  const secretMask = secrets.reduce((mask, { bit }) => mask + bit, 0)
  return {
    secret: secretMask,
    hides: (row, player) => {
      if (secretMask === 0) return 0
      const face = faceOf(type, row)
      return secrets.reduce(
        (mask, { bit, sees }) => (may(sees, face, player) ? mask : mask + bit),
        0,
      )
    },
  }
}

function may(sees: Sees, face: Face, player: number): boolean {
  try {
    return Boolean(sees(face, player))
  } catch {
    return false
  }
}

function decisionOf(
  type: Schema<Fields>,
  { rules }: PieceOptions<Fields>,
): Pick<PieceRules, 'decide'> {
  const update = rules?.update
  if (!update) return { decide: null }
  return {
    decide: (next, op, before, by) => {
      try {
        const asked = patchOf(type, next.fields, op.mask)
        const made = update(faceOf(type, before) as Face<StateOf<Fields>>, asked, by, op.hold)
        if (isRejection(made)) return { ok: false, reason: made.rejected.slice(0, 66) }
        const fields = [...before.fields]
        quantiseInto(type, made, fields)
        return { ok: true, fields }
      } catch (error) {
        // A rule that throws harms nobody (O44, O45).
        const why = error instanceof Error ? error.message : String(error)
        return { ok: false, reason: `its rule failed: ${why}`.slice(0, 66) }
      }
    },
  }
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

/** A piece's fields by name; null for those that are hidden. */
export function stateOf(type: Schema<Fields>, { fields, hidden }: Row): Record<string, unknown> {
  const state: Record<string, unknown> = {}
  for (const [i, { name, field, at }] of type.columns.entries()) {
    state[name] = (hidden & (1 << i)) === 0 ? field.valueAt(fields, at) : null
  }
  return state
}

function faceOf(type: Schema<Fields>, row: Row): Face {
  return { ...stateOf(type, row), id: row.id, heldBy: row.heldBy }
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
    const why = error instanceof Error ? error.message : String(error)
    throw new HoldfastError('bad-value', `${type}: ${why}`)
  }
  return { mask, fields }
}
