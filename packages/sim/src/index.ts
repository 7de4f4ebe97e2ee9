/**
 * The entry point for the simulator and the model checker.
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
} from './enact.ts'
export { world, type Place, type SessionWorld } from './session-world.ts'
export { check, render, type Action, type Model, type Report } from './checker/checker.ts'
export { createWorld, type SimNode, type World, type WorldOptions } from './world.ts'
