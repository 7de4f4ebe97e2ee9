/** The maze as a world of slots: what all members fold, and the acts as the wire has them. */

import { type ActOf, slots, type SlotsTurn, type SlotsType } from 'holdfast'
import { SLOT_MS } from './maze-client.ts'
import { type ActRecord, decode, fields } from './rules/acts.ts'
import { step } from './rules/step.ts'
import { EMPTY, type World } from './rules/world.ts'

// Acts come as the wire has them; what cannot be read is none.
function rule(world: World, acts: readonly ActOf<ActRecord>[], turn: SlotsTurn): World {
  const deeds = acts.flatMap(({ by, act }) => {
    const read = decode(act)
    return read ? [{ by, act: read }] : []
  })
  return step(world, deeds, turn)
}

/** The maze of a session. */
export const Maze: SlotsType<World, ActRecord> = slots('maze', {
  ms: SLOT_MS,
  start: EMPTY,
  rule,
  order: 'fair',
  act: fields,
})
