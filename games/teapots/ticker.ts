/**
 * A steady beat, also while nobody looks: a hidden page's own timers go off once a second, those
 * of a worker go on. Where there may be no worker, the page's timers must do.
 */

const SOURCE = 'setInterval(() => postMessage(0), 1000 / 60)'

/** Calls sixty times a second, as long as the page is open. */
export function tick(run: () => void): void {
  const fallback = (): void => void setInterval(run, 1000 / 60)
  const url = URL.createObjectURL(new Blob([SOURCE], { type: 'text/javascript' }))
  try {
    const worker = new Worker(url, { name: 'teapots-ticks' })
    worker.onmessage = run
    worker.onerror = fallback
  } catch {
    fallback()
  }
}
