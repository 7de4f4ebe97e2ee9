/**
 * A steady beat, also while nobody looks: a hidden page's own timers go off once a second, those
 * of a worker go on. Where there may be no worker, the page's timers must do.
 */

import type { Beat } from './bot.ts'

/** How often the worker ticks, a second. */
const TICKS = 60
const SOURCE = `setInterval(() => postMessage(0), 1000 / ${TICKS})`

const runs = new Set<() => void>()
let ticks = false

/** Calls sixty times a second. @returns ends it */
export function tick(run: () => void): () => void {
  if (!ticks) start()
  ticks = true
  runs.add(run)
  return () => void runs.delete(run)
}

/** Calls as often as that, as far as ticks allow. */
export const beat: Beat = (run, ms) => {
  let due = performance.now() + ms
  return tick(() => {
    const now = performance.now()
    if (now < due) return
    // After a pause it goes on from now: what was missed is not made up for.
    due = now - due > ms ? now + ms : due + ms
    run()
  })
}

function start(): void {
  const all = (): void => {
    for (const run of runs) run()
  }
  const fallback = (): void => void setInterval(all, 1000 / TICKS)
  const url = URL.createObjectURL(new Blob([SOURCE], { type: 'text/javascript' }))
  try {
    const worker = new Worker(url, { name: 'ticks' })
    worker.onmessage = all
    worker.onerror = fallback
  } catch {
    fallback()
  }
}
