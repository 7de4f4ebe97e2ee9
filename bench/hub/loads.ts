/** The processes that load a hub, as the bench gives them orders. */

import { end, heard, start } from '../processes/children.ts'
import type { Asked, Did, Order, Said } from './words.ts'

const READY_MS = 120_000
const DONE_MS = 120_000

/** One that is ready. */
export interface Load {
  begin(ms: number): Promise<Did>
  end(): Promise<void>
}

/** Starts one, and waits until it is ready. */
export async function load(order: Order): Promise<Load> {
  const child = start(new URL('./load.js', import.meta.url), [])
  const ask = (asked: Asked): unknown => child.send(asked)
  const isReady = (said: Said): said is Said & { kind: 'ready' } => said.kind === 'ready'
  const isDone = (said: Said): said is Said & { kind: 'did' } => said.kind === 'did'
  const ready = heard(child, isReady, `preparing ${order.kind}`, READY_MS)
  ask({ kind: 'prepare', order })
  await ready
  return {
    begin: (ms) => {
      const done = heard(child, isDone, order.kind, DONE_MS)
      ask({ kind: 'begin', ms })
      return done
    },
    end: () => end(child),
  }
}
