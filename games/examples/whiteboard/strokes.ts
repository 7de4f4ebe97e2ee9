/** What is on a whiteboard: strokes, which the room keeps, and where the others point. */

import { list, object, type ObjectHandle, oneOf, vec2, withRoom } from 'holdfast'

/** The board, in its own units; a window shows all of it. */
export const WIDTH = 1_600
/** See WIDTH. */
export const HEIGHT = 1_000
/** Colours of pens by name, in the order of their keys. */
export const INKS = {
  black: '#22262e',
  red: '#d2372c',
  blue: '#1f6fd0',
  green: '#2b8a4b',
  orange: '#d9801a',
} as const
/** The name of a colour. */
export type Ink = keyof typeof INKS
/** Points of one stroke; a longer line is several. */
export const POINTS_MAX = 200

const place = vec2(0, WIDTH, 1)
const [first, ...others] = Object.keys(INKS) as [Ink, ...Ink[]]

/** A line that somebody drew: it is theirs to remove, and stays when they go. */
export const Stroke = object(
  'stroke',
  { ink: oneOf(first, ...others), points: list(place, POINTS_MAX) },
  { onOwnerLeave: 'keep', kept: withRoom() },
)
/** A stroke as one holds it. */
export type StrokeHandle = ObjectHandle<typeof Stroke.schema.fields>

/** Where somebody points: gone with them. */
export const Pointer = object('pointer', { at: place, ink: oneOf(first, ...others) })
