/** What a process of clients received, sent and used in the measured ticks. */

import { at, cpuMs } from './ticks.ts'
import { blankWire, type Window, type Wire } from './words.ts'
import { TICK_MS } from './workload.ts'

/** Something that counts both directions from its beginning. */
export interface Counting {
  readonly down: Wire
  readonly up: Wire
}

/** What was used between two instants. */
export interface Used {
  down: Wire
  up: Wire
  cpuMs: number
}

/**
 * Counts what the window takes. It begins and ends half a tick late, when nothing is on the way.
 */
export function used(window: Window, wires: readonly Counting[]): Promise<Used> {
  const read = (): Used => ({
    down: total(wires.map(({ down }) => down)),
    up: total(wires.map(({ up }) => up)),
    cpuMs: cpuMs(),
  })
  return new Promise((resolve) => {
    let before: Used
    at(window.at + (window.from + 0.5) * TICK_MS, () => (before = read()))
    at(window.at + (window.to + 0.5) * TICK_MS, () => {
      const after = read()
      resolve({
        down: less(after.down, before.down),
        up: less(after.up, before.up),
        cpuMs: after.cpuMs - before.cpuMs,
      })
    })
  })
}

const COUNTS = ['bytes', 'packets', 'messages', 'payload'] as const

function total(wires: readonly Wire[]): Wire {
  const sum = blankWire()
  for (const wire of wires) {
    for (const what of COUNTS) sum[what] += wire[what]
  }
  return sum
}

function less(left: Wire, right: Wire): Wire {
  const rest = blankWire()
  for (const what of COUNTS) rest[what] = left[what] - right[what]
  return rest
}
