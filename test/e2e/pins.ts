/** Pins of Dots, as a window drops them. */

import type { Window } from './harness.ts'

/** Drops pins and waits for their outcomes; the page counts what was acknowledged. */
export function drop(window: Window, count: number): Promise<number> {
  return window.page.evaluate(async (times) => {
    const { dots } = globalThis as unknown as { dots: { drop(): Promise<{ ok: boolean }> } }
    let ok = 0
    for (let i = 0; i < times; i++) if ((await dots.drop()).ok) ok++
    return ok
  }, count)
}
