/**
 * What Dots is, without a screen: two types of objects, one action, and the maths of moving.
 *
 * A dot is an object: its owner moves it, and nobody waits for that. A pin is a decision that
 * lasts, so it goes through an action: the server runs it once, writes it into the table, and
 * says so when the backup has it too. The table holds the newest `PINS_MAX` pins, one number
 * for all pins that ever were, and one for each player.
 */

import { action, type ActionType, type Actor, object, type ObjectType, type Table } from 'holdfast'
import { type Field, type Value, vec2, type Vec2 } from 'holdfast'
import { Kill } from '../kill.ts'

/** Most players of a room. */
export const PLAYERS_MAX = 16
/** How exactly a pin is placed. */
const PIN_STEP = 0.1
/** Pins that stay; with one more, the oldest goes. */
export const PINS_MAX = 60
/** Players whose pins are counted; with one more, who came first is forgotten. */
export const COUNTS_MAX = 256
/** The field's edges, on both axes. */
export const FIELD: Vec2 = [0, 100]
/** How fast the keys move a dot, in units of the field a second. */
export const KEYS_SPEED = 45
/** How long a dot on screen takes for most of the way to where it was last said to be. */
const GLIDE_MS = 45

/** Where somebody points. */
export const Dot: ObjectType<{ pos: Field<Vec2> }> = object('dot', {
  pos: vec2(FIELD[0], FIELD[1], 0.05),
})

/** What came of a pin. */
export interface Dropped {
  /** Its number among all pins of the session, from 1. */
  number: number
  /** Pins of this player. */
  count: number
}

/** Drops a pin. */
export const drop: ActionType<{ at: Vec2 }, Dropped> = action(
  'drop',
  { at: vec2(FIELD[0], FIELD[1], PIN_STEP) },
  dropPin,
)

/** All types of the game, for `join`. */
export const TYPES: [typeof Dot, typeof Kill, typeof drop] = [Dot, Kill, drop]

/** A pin on the field. */
export interface Pin {
  /** Its number among all pins of the session, from 1. */
  number: number
  player: number
  at: Vec2
}

/** What can be read of a table: that of an action, or a session's. */
export type Readable = Pick<Table, 'get' | 'keys'>

/** Runs the action. @throws RangeError when `at` is no place on the field */
export function dropPin(table: Table, args: { at: Vec2 }, by: Actor): Dropped {
  const [x, y] = checkPlace(args)
  const number = pinsTotal(table) + 1
  table.set('pins', number)
  table.set(pinKey(number), `${by.player} ${x} ${y}`)
  if (number > PINS_MAX) table.delete(pinKey(number - PINS_MAX))
  const count = countOf(table, by.player) + 1
  if (count === 1) forgetOldest(table)
  table.set(countKey(by.player), count)
  return { number, count }
}

function checkPlace(args: unknown): Vec2 {
  const at = (args as { at?: unknown } | null)?.at
  if (!Array.isArray(at) || at.length !== 2 || !at.every(onField)) {
    throw new RangeError(`a pin goes on the field: two numbers from 0 to 100, not ${String(at)}`)
  }
  const [x, y] = at as [number, number]
  return [Math.round(x * 10) / 10, Math.round(y * 10) / 10]
}

function onField(value: unknown): boolean {
  return typeof value === 'number' && value >= FIELD[0] && value <= FIELD[1]
}

function forgetOldest(table: Table): void {
  const counted = table.keys('count.').map((key) => Number(key.slice('count.'.length)))
  if (counted.length >= COUNTS_MAX) table.delete(countKey(Math.min(...counted)))
}

// Numbers in keys have one length, so that sorted keys are in the order of the numbers.
function pinKey(number: number): string {
  return `pin.${String(number).padStart(9, '0')}`
}

function countKey(player: number): string {
  return `count.${player}`
}

/** The pins that are on the field, oldest first. */
export function pins(table: Readable): Pin[] {
  const found: Pin[] = []
  for (const key of table.keys('pin.')) {
    const [player, x, y] = String(table.get(key)).split(' ').map(Number)
    const number = Number(key.slice('pin.'.length))
    if (player === undefined || x === undefined || y === undefined) continue
    if ([number, player, x, y].every(Number.isFinite)) found.push({ number, player, at: [x, y] })
  }
  return found
}

/** Pins that were ever dropped in this session. */
export function pinsTotal(table: Readable): number {
  return numberOf(table.get('pins'))
}

/** Pins that this player ever dropped. */
export function countOf(table: Readable, player: number): number {
  return numberOf(table.get(countKey(player)))
}

function numberOf(value: Value | undefined): number {
  return typeof value === 'number' ? value : 0
}

/** A player's hue in degrees: neighbours are far apart, and 1,000 players differ. */
export function hueOf(player: number): number {
  return Math.round((player * 137.508) % 360)
}

/** A player's colour, for canvas and CSS alike. */
export function colourOf(player: number, alpha: number = 1): string {
  return `oklch(0.78 0.15 ${hueOf(player)} / ${alpha})`
}

/** Where a dot is shown after so long, on its way to where it was last said to be. */
export function glide(shown: Vec2, said: Vec2, ms: number): Vec2 {
  const share = 1 - Math.exp(-Math.max(0, ms) / GLIDE_MS)
  return [shown[0] + (said[0] - shown[0]) * share, shown[1] + (said[1] - shown[1]) * share]
}

/** Where the keys take a dot: `way` is -1, 0 or 1 on each axis. Diagonals are no faster. */
export function step(from: Vec2, way: Vec2, ms: number): Vec2 {
  const length = Math.hypot(way[0], way[1])
  if (length === 0) return from
  const by = (KEYS_SPEED * ms) / 1000 / length
  return [clamp(from[0] + way[0] * by), clamp(from[1] + way[1] * by)]
}

/** On the field, and nowhere else. */
export function clamp(value: number): number {
  return Math.min(FIELD[1], Math.max(FIELD[0], value))
}

/** Where a bot strolls: smooth loops of its own for each seed, inside the field. */
export function stroll(seed: number, ms: number): Vec2 {
  const t = ms / 1000
  const [a, b] = [0.31 + (seed % 7) * 0.043, 0.23 + (seed % 5) * 0.057]
  const x = 50 + 30 * Math.sin(a * t + seed) + 11 * Math.sin(2.3 * a * t + 2 * seed)
  const y = 50 + 30 * Math.cos(b * t + 1.7 * seed) + 11 * Math.sin(1.9 * b * t + seed)
  return [clamp(x), clamp(y)]
}
