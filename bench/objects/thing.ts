/** The types of Holdfast's objects in the bench. */

import { near } from '../../packages/holdfast/src/objects/types.ts'
import { angle, object, ranged, vec2 } from '../../packages/holdfast/src/node.ts'
import type { Setting } from './words.ts'
import { RADIUS, SIGHT, sideOf, SPEED } from './workload.ts'

/** So far may be from the truth what the others reckon; then something is said. */
const WITHIN = 0.1
/** Corrections are small and may be quick. */
const WARP = 0.5

/** What moves, as a setting wants it seen. */
export function thingType({ objects, sees }: Setting) {
  const side = Math.ceil(sideOf(objects))
  const fastest = SPEED[1]
  const spins = fastest / RADIUS[0]
  return object(
    'thing',
    {
      pos: vec2(0, side, 0.01),
      vel: vec2(-fastest, fastest, 0.05),
      turn: angle(8),
      spin: ranged(-spins, spins, 0.05),
    },
    {
      motion: { follow: { pos: 'vel', turn: 'spin' }, within: WITHIN, warp: WARP },
      visibleTo: sees === 'near' ? near('pos', SIGHT) : undefined,
    },
  )
}

/** From where a client looks around: only the server needs to know. */
export function eyeType({ objects }: Setting) {
  const side = Math.ceil(sideOf(objects))
  return object('eye', { pos: vec2(0, side, 0.1) }, { eyes: 'pos', visibleTo: () => false })
}
