/** A thread that explores scopes of models. */

import { ROOMS } from '../models/index.ts'
import type { Report } from '../../packages/sim/src/checker/checker.ts'
import { work } from './pool.ts'

/** One scope of a module. */
export interface ScopeTask {
  room: string
  scope: string
}

work(({ room, scope }: ScopeTask): { task: ScopeTask; report: Report } => {
  const model = ROOMS[room]!.find(({ name }) => name === scope)!
  return { task: { room, scope }, report: model.explore(() => performance.now()) }
})
