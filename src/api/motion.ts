/**
 * How a type moves: which of its fields are places, and by what velocities they go on between
 * two updates.
 *
 *     object('pot', fields, { motion: { follow: { pos: 'vel', aim: 'spin' }, snap: 20 } })
 */

import { HoldfastError } from '../machine.ts'
import type { Motion } from '../motion/motion.ts'
import type { Track, TrackKind } from '../motion/trail.ts'
import type { Field, FieldKind, Fields, StateOf } from '../wire/schema.ts'

/** The warping factor of a type that names none. */
export const WARP_DEFAULT = 0.85

type NamesOf<F extends Fields, Kind extends FieldKind> = {
  [Name in keyof F]: F[Name] extends Field<unknown, Kind> ? Name : never
}[keyof F]

type VelocitiesOf<F extends Fields, Name extends keyof F> = Exclude<
  NamesOf<F, F[Name] extends Field<unknown, 'vec2'> ? 'vec2' : 'ranged'>,
  Name
>

/** Position field to velocity field: `vec2` to `vec2`, `ranged` or `angle` to `ranged`. */
export type Follow<F extends Fields> = {
  readonly [Name in NamesOf<F, 'vec2' | 'ranged' | 'angle'>]?: VelocitiesOf<F, Name>
}

/** What `object` takes as `motion`. */
export interface MotionOptions<F extends Fields> {
  /** Velocities are per second: an angle's in radians, the others' in the unit of the place. */
  readonly follow: Follow<F>
  /**
   * The warping factor F: what share of an error is left after a 60th of a second. 0 shows each
   * correction at once, towards 1 they get slower and smoother; 0.85 if not given.
   */
  readonly warp?: number
  /** An error beyond this distance is a teleport and is shown at once; none if not given. */
  readonly snap?: number
}

/** A field that is followed. */
interface Followed extends Track {
  readonly position: string
  readonly velocity: string
}

/** The motion of a type, checked. */
export interface Course {
  readonly followed: readonly Followed[]
  /** Fields that are shown as they are. */
  readonly others: readonly string[]
  readonly warp: number
  readonly snap: number
  /** What both sides must agree on. */
  readonly text: string
}

/** Checks the motion of a type. @throws HoldfastError code `bad-value` that names the field */
export function courseOf(
  type: string,
  fields: Fields,
  options: MotionOptions<Fields> | undefined,
): Course | null {
  if (!options) return null
  const follow = options.follow as Readonly<Record<string, string>>
  const followed = Object.entries(follow).map(([position, velocity]) =>
    followedOf(type, fields, position, velocity),
  )
  if (followed.length === 0) throw bad(`${type}: motion follows no field: give \`follow\``)
  const snap = options.snap ?? Infinity
  if (!(snap > 0)) throw bad(`${type}: snap is a distance above 0: ${snap}`)
  return {
    followed,
    others: Object.keys(fields).filter((name) => !(name in follow)),
    warp: checkFactor(`${type}: warp`, options.warp ?? WARP_DEFAULT),
    snap,
    text: `follow { ${followed.map((one) => `${one.position}: ${one.velocity}`).join(', ')} }`,
  }
}

function followedOf(type: string, fields: Fields, position: string, velocity: string): Followed {
  const kind = TRACKS[fields[position]?.kind ?? ''] ?? null
  if (kind === null) {
    throw bad(`${type}: motion follows a vec2, ranged or angle: "${position}" is none`)
  }
  const wanted = kind === 'plane' ? 'vec2' : 'ranged'
  if (fields[velocity]?.kind !== wanted || velocity === position) {
    throw bad(`${type}: the velocity of ${position} is another field, ${wanted}: "${velocity}"`)
  }
  const { min = -Infinity, max = Infinity } = fields[position]!
  return { position, velocity, kind, min, max }
}

const TRACKS: Readonly<Record<string, TrackKind>> = { vec2: 'plane', ranged: 'line', angle: 'turn' }

/** The factor, if it is one. @throws HoldfastError code `bad-value` */
export function checkFactor(what: string, factor: number): number {
  if (factor >= 0 && factor < 1) return factor
  throw bad(`${what} is from 0 to below 1: ${String(factor)}`)
}

function bad(message: string): HoldfastError {
  return new HoldfastError('bad-value', message)
}

/** Writes the places, or the velocities, of a state into a row of numbers. */
export function rowOf(
  course: Course,
  what: 'position' | 'velocity',
  state: StateOf<Fields>,
  row: Float64Array,
): void {
  let at = 0
  for (const one of course.followed) {
    const value = state[one[what]] as number | readonly [number, number]
    if (typeof value === 'number') row[at++] = value
    else {
      row[at++] = value[0]
      row[at++] = value[1]
    }
  }
}

/**
 * The state with its places where they are shown.
 *
 * @param into  is filled and returned, and so are its arrays, unless they belong to a state
 */
export function viewOf(
  course: Course,
  motion: Motion,
  state: StateOf<Fields>,
  into: StateOf<Fields> | undefined,
): StateOf<Fields> {
  const usable = into !== undefined && !Object.isFrozen(into)
  const view = (usable ? into : {}) as Record<string, unknown>
  for (const name of course.others) view[name] = state[name]
  const { shown } = motion
  let at = 0
  for (const { position, kind } of course.followed) {
    if (kind !== 'plane') view[position] = shown[at++]
    else {
      const pair = pairOf(view[position])
      pair[0] = shown[at++]!
      pair[1] = shown[at++]!
      view[position] = pair
    }
  }
  return view as StateOf<Fields>
}

// Arrays of states are frozen.
function pairOf(known: unknown): [number, number] {
  if (Array.isArray(known) && !Object.isFrozen(known)) return known as [number, number]
  return [0, 0]
}
