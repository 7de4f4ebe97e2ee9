/**
 * The entry point to the simulator and the model checker.
 *
 * @module
 */

export {
  enact,
  type Arrival,
  type Change,
  type Deed,
  type Enacted,
  type Play,
  type Standing,
  type Telling,
} from './proof/enact.ts'
export { world, type Place, type SessionWorld } from './proof/world.ts'
export { check, render, type Action, type Model, type Report } from './sim/checker.ts'
export { createWorld, type SimNode, type World, type WorldOptions } from './sim/world.ts'
