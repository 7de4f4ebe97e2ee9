/**
 * How far what is shown is from the truth, and what is not shown at all: 60 times a second, at
 * instants that have nothing to do with ticks, as a screen would.
 */

import { clock } from '../processes/clock.ts'
import { focus, paths, place, SIGHT, TICK_MS } from './workload.ts'
import type { Path } from './workload.ts'
import { BIN, BINS } from './words.ts'
import type { Setting, Shown, Window } from './words.ts'

/** Frames a second. */
export const FRAMES = 60
// Of all objects a share is looked at in each frame, in turns.
const LOOKED_AT = 100
// So near the edge of sight it is a matter of moments whether something is in it.
const SURE = 0.85

/** What an application draws: fills in x and y, or says that it has no such object. */
export type Show = (object: number, into: { x: number; y: number }) => boolean

/** One client that draws, and all the ways in which it could. */
export interface Screen {
  client: number
  /** Called once for each frame, first. */
  frame(): void
  ways: readonly { name: string; show: Show }[]
}

/** Counts of one process. */
export interface Errors {
  shown: Shown[]
  wanted: number
  missing: number
}

/** Looks at screens during the window. @returns what it found, once the window is over */
export function watch(
  setting: Setting,
  window: Window,
  screens: readonly Screen[],
): Promise<Errors> {
  const ways = screens[0]?.ways.map(({ name }) => name) ?? []
  const errors: Errors = {
    shown: ways.map((name) => ({ name, bins: Array.from({ length: BINS }, () => 0) })),
    wanted: 0,
    missing: 0,
  }
  const truth = paths(setting.seed, setting.objects)
  const looks = screens.map((screen) => ({
    screen,
    focus: focus(setting.seed, setting.objects, screen.client),
  }))
  const frameMs = 1000 / FRAMES
  const start = window.at
  const [begins, ends] = [window.at + window.from * TICK_MS, window.at + window.to * TICK_MS]
  return new Promise((resolve) => {
    let frame = Math.max(0, Math.ceil((clock() - start) / frameMs))
    const turn = (): void => {
      const now = clock()
      for (const { screen } of looks) screen.frame()
      if (now >= begins) {
        for (const look of looks)
          compare(setting, frame, (now - start) / TICK_MS, truth, look, errors)
      }
      frame = Math.max(frame + 1, Math.ceil((now - start) / frameMs))
      if (now >= ends) resolve(errors)
      else setTimeout(turn, Math.max(0, start + frame * frameMs - clock()))
    }
    setTimeout(turn, Math.max(0, start + frame * frameMs - clock()))
  })
}

const real = place()
const middle = place()
const drawn = { x: 0, y: 0 }

function compare(
  setting: Setting,
  frame: number,
  tick: number,
  truth: readonly Path[],
  look: { screen: Screen; focus: Path },
  errors: Errors,
): void {
  look.focus(tick, middle)
  const stride = Math.max(1, Math.floor(setting.objects / LOOKED_AT))
  for (let object = frame % stride; object < setting.objects; object += stride) {
    truth[object]!(tick, real)
    const away = Math.hypot(real.x - middle.x, real.y - middle.y)
    const wanted = setting.sees === 'all' || away < SIGHT * SURE
    if (wanted) errors.wanted++
    for (const [index, { show }] of look.screen.ways.entries()) {
      if (!show(object, drawn)) {
        if (wanted && index === 0) errors.missing++
        continue
      }
      const error = Math.hypot(drawn.x - real.x, drawn.y - real.y)
      const bin = Math.min(BINS - 1, Math.floor(error / BIN))
      errors.shown[index]!.bins[bin]!++
    }
  }
}
