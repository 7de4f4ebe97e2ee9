/** The rooms whose code is changed: machines and the simulator, whose clocks are virtual. */

import { FLOORS, MACHINES_TOP, OUTSIDE, place } from '../tidy/floors.ts'
import * as house from '../tidy/house.ts'
import { isTest, parse } from '../tidy/source.ts'
import type { Source } from '../tidy/source.ts'

/** Their names, from the ground. */
export const ROOMS: readonly string[] = [...FLOORS.slice(1, MACHINES_TOP + 1).flat(), 'sim'].filter(
  (room) => !OUTSIDE.includes(room),
)

/** The room of a file; null if it is in none of these, or a test. */
export function roomOf(path: string): string | null {
  const room = place(path)?.room
  return room !== undefined && ROOMS.includes(room) && !isTest(path) ? room : null
}

/** All files of the rooms, parsed, in the order of their paths. */
export function sources(root: string): Source[] {
  return house
    .written(root)
    .filter((path) => roomOf(path) !== null)
    .map((path) => parse(path, house.read(root, path)))
}

/** The tests that judge: units, models and fuzz in virtual time; paths from the root. */
export function tests(root: string): string[] {
  return house.written(root).filter((path) => {
    if (!/^(packages|proof|test)\/.*\.test\.ts$/.test(path)) return false
    return !NOT_HERE.some((pattern) => pattern.test(path))
  })
}

// What needs a real clock, a build or minutes, and what judges the text of the house.
const NOT_HERE = [
  /^test\/(e2e|conformance)\//,
  /^(packages\/holdfast\/src\/drivers|packages\/cli|proof\/cli)\//,
  /^test\/sim\/(seeds|many)\.test\.ts$/,
  /^proof\/models\/large\.test\.ts$/,
  /^test\/[a-z]+\.test\.ts$/,
]
