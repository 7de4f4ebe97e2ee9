/**
 * The motion of a type: which of its fields are places, and which velocities extrapolate them
 * between updates.
 *
 *     object('pot', fields, { motion: { follow: { pos: 'vel', aim: 'spin' }, snap: 20 } })
 */

import { checkFactor } from '../kind/viewer.ts'
import { badValue, type Millis } from '../machine.ts'
import type { Motion } from '../motion/motion.ts'
import { turnBetween } from '../motion/rotation.ts'
import * as trails from '../motion/trail.ts'
import { layOut, type Place, REACH_MS, type Track, type TrackKind } from '../motion/trail.ts'
import { numberAt, type Scale } from '../wire/fields/scale.ts'
import type {
  Field,
  FieldKind,
  Fields,
  Quantised,
  Quaternion,
  StateOf,
} from '../wire/fields/schema.ts'

export const WARP_DEFAULT = 0.85

// With dead reckoning an owner may be silent for longer, so its state is extrapolated for longer.
const REACH_PREDICTED_MS: Millis = 2_500

type NamesOf<F extends Fields, Kind extends FieldKind> = {
  [Name in keyof F]: F[Name] extends Field<unknown, Kind> ? Name : never
}[keyof F]

type VelocitiesOf<F extends Fields, Name extends keyof F> = Exclude<
  NamesOf<F, VelocityKind<F[Name]>>,
  Name
>

type VelocityKind<Place> =
  Place extends Field<unknown, 'vec2'>
    ? 'vec2'
    : Place extends Field<unknown, 'vec3' | 'quaternion'>
      ? 'vec3'
      : 'ranged'

type PlaceKind = 'vec2' | 'vec3' | 'quaternion' | 'ranged' | 'angle'

/**
 * Position field to velocity field: `vec2` to `vec2`, `vec3` to `vec3`, `ranged` or `angle` to
 * `ranged`, and `quaternion` to a `vec3`: its direction is the axis of the turn in the world, its
 * length radians a second.
 */
export type Follow<F extends Fields> = {
  readonly [Name in NamesOf<F, PlaceKind>]?: VelocitiesOf<F, Name>
}

/** What `object` takes as `motion`. */
export interface MotionOptions<F extends Fields> {
  /** Velocities are per second: of angles and orientations in radians, else in the place's unit. */
  readonly follow: Follow<F>
  /**
   * The warping factor F: what share of an error is left after a 60th of a second. 0 shows each
   * correction at once, towards 1 they get slower and smoother; 0.85 if not given.
   */
  readonly warp?: number
  /** An error beyond this distance is a teleport and shown at once; default: none. */
  readonly snap?: number
  /**
   * Dead reckoning: no update is sent while all followed places are within this distance of where
   * the others extrapolate them, in the unit of each (radians for turns); default: 0, every change
   * is sent.
   */
  readonly within?: number
}

interface Followed extends Track, Place {
  readonly position: string
  readonly velocity: string
  /** Where both are in a quantised state, and their scales; an orientation has none. */
  readonly from: Readonly<Record<'position' | 'velocity', FieldPlace>>
}

interface FieldPlace {
  readonly at: number
  readonly field: Field<unknown>
  readonly scale: Scale | null
}

export interface Course {
  readonly followed: readonly Followed[]
  /** Fields that are shown as they are. */
  readonly others: readonly string[]
  readonly warp: number
  readonly snap: number
  readonly within: number
  /** How long a sample is extrapolated. */
  readonly reach: Millis
  /** The columns of places and velocities, as a mask. */
  readonly mask: number
  /** The text on which both sides must agree. */
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
  const followed = layOut(
    Object.entries(follow).map(([position, velocity]) => {
      return followedOf(type, fields, position, velocity)
    }),
  )
  if (followed.length === 0) throw badValue(`${type}: motion follows no field: give \`follow\``)
  const snap = options.snap ?? Infinity
  if (!(snap > 0)) throw badValue(`${type}: snap is a distance above 0: ${snap}`)
  const within = options.within ?? 0
  if (!(within >= 0)) throw badValue(`${type}: within is a distance from 0: ${within}`)
  const names = Object.keys(fields)
  const mask = followed.reduce((sum, { position, velocity }) => {
    return sum | (1 << names.indexOf(position)) | (1 << names.indexOf(velocity))
  }, 0)
  return {
    followed,
    others: Object.keys(fields).filter((name) => !(name in follow)),
    warp: checkFactor(`${type}: warp`, options.warp ?? WARP_DEFAULT),
    snap,
    within,
    reach: within > 0 ? REACH_PREDICTED_MS : REACH_MS,
    mask: mask >>> 0,
    text: `follow { ${followed.map((one) => `${one.position}: ${one.velocity}`).join(', ')} }`,
  }
}

function followedOf(
  type: string,
  fields: Fields,
  position: string,
  velocity: string,
): Omit<Followed, keyof Place> {
  const kind = TRACKS[fields[position]?.kind ?? ''] ?? null
  if (kind === null) {
    const kinds = 'a vec2, vec3, quaternion, ranged or angle'
    throw badValue(`${type}: motion follows ${kinds}: "${position}" is none`)
  }
  const wanted = VELOCITIES[kind]
  if (fields[velocity]?.kind !== wanted || velocity === position) {
    throw badValue(
      `${type}: the velocity of ${position} is another field, ${wanted}: "${velocity}"`,
    )
  }
  const { min = -Infinity, max = Infinity } = fields[position]!
  const from = {
    position: placeOfField(fields, position),
    velocity: placeOfField(fields, velocity),
  }
  return { position, velocity, from, kind, min, max }
}

function placeOfField(fields: Fields, name: string): FieldPlace {
  const field = fields[name]!
  const before = Object.keys(fields).slice(0, Object.keys(fields).indexOf(name))
  const at = before.reduce((sum, each) => sum + fields[each]!.size, 0)
  return { at, field, scale: field.scale ?? field.axes ?? null }
}

const TRACKS: Readonly<Record<string, TrackKind>> = {
  vec2: 'plane',
  vec3: 'space',
  quaternion: 'rotation',
  ranged: 'line',
  angle: 'turn',
}

const VELOCITIES: Readonly<Record<TrackKind, FieldKind>> = {
  plane: 'vec2',
  space: 'vec3',
  rotation: 'vec3',
  line: 'ranged',
  turn: 'ranged',
}

/** Whether the others' extrapolation of the last update is near enough to this state. */
export function isPredicted(
  course: Course,
  { trail, came }: Motion,
  fields: Quantised,
  mask: number,
  now: Millis,
): boolean {
  const { within, followed } = course
  const lately = now - trail.sampledAt < course.reach
  if (within === 0 || !lately || (mask & ~course.mask) !== 0) return false
  trails.aim(trail, now)
  // `came` is scratch here: it is filled again before the next sample.
  rowOf(course, 'position', fields, came.position)
  for (const { kind, at, end } of followed) {
    if (distance(kind, came.position, trail.goal, at, end) > within) return false
  }
  return true
}

const apart = [0, 0, 0]

function distance(
  kind: TrackKind,
  one: Float64Array,
  other: Float64Array,
  at: number,
  end: number,
): number {
  if (kind === 'rotation') turnBetween(one, at, other, at, apart, 0)
  else for (let i = 0; i < 3; i++) apart[i] = at + i < end ? one[at + i]! - other[at + i]! : 0
  const turn = 2 * Math.PI
  if (kind === 'turn') apart[0]! -= turn * Math.round(apart[0]! / turn)
  return Math.sqrt(apart[0]! ** 2 + apart[1]! ** 2 + apart[2]! ** 2)
}

/** Writes the places, or the velocities, of a quantised state into a row of numbers. */
export function rowOf(
  course: Course,
  what: 'position' | 'velocity',
  fields: Quantised,
  row: Float64Array,
): void {
  for (const { from, at: to } of course.followed) {
    const { at, field, scale } = from[what]
    if (scale === null) row.set(field.valueAt(fields, at) as Quaternion, to)
    // An angular velocity has three numbers, and a fourth place that stays 0.
    else for (let i = 0; i < field.size; i++) row[to + i] = numberAt(scale, Number(fields[at + i]))
  }
}

/** @param into  is filled and returned, and so are its arrays, unless they belong to a state */
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
  for (const { position, at, end } of course.followed) {
    if (end === at + 1) view[position] = shown[at]
    else {
      const numbers = numbersOf(view[position])
      for (let i = at; i < end; i++) numbers[i - at] = shown[i]!
      view[position] = numbers
    }
  }
  return view as StateOf<Fields>
}

// Arrays of states are frozen.
function numbersOf(known: unknown): number[] {
  return Array.isArray(known) && !Object.isFrozen(known) ? (known as number[]) : []
}
