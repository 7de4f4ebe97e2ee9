/** Nobody dies: whoever is suspected all the same is suspected falsely, and costs an epoch. */

import { setTimeout as pause } from 'node:timers/promises'
import { end, start } from '../processes/children.ts'
import { clock } from '../processes/clock.ts'
import type { Cluster } from './cluster.ts'

/** One stretch of time in which nobody died. */
export interface Calm {
  seconds: number
  /** Busy processes beside. */
  busy: number
  /** Changes of the epoch. */
  epochs: number
  /** Longest bound that the detectors went to meanwhile, in ms. */
  boundMax: number
}

/** Watches a cluster for `ms`, beside so many busy processes. */
export async function calm(cluster: Cluster, ms: number, busy: number): Promise<Calm> {
  const load = Array.from({ length: busy }, () =>
    start(new URL('./busy.js', import.meta.url), [ms + 5_000]),
  )
  const begin = clock()
  try {
    const before = await epochOf(cluster)
    let boundMax = before.bound
    while (clock() - begin < ms) {
      await pause(Math.min(1_000, begin + ms - clock()))
      boundMax = Math.max(boundMax, (await epochOf(cluster)).bound)
    }
    const epochs = (await epochOf(cluster)).epoch - before.epoch
    return { seconds: (clock() - begin) / 1000, busy, epochs, boundMax }
  } finally {
    await Promise.all(load.map(end))
  }
}

async function epochOf(cluster: Cluster): Promise<{ epoch: number; bound: number }> {
  const found = await cluster.figures()
  return {
    epoch: Math.max(...found.map(({ epoch }) => epoch)),
    bound: Math.max(...found.map(({ suspectMs }) => suspectMs ?? 0)),
  }
}
