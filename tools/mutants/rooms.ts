/** The rooms whose code is changed: floors 1 to 4, but for the drivers, whose clocks are real. */

import { FLOORS, MACHINES_TOP, place } from '../tidy/floors.ts'
import * as house from '../tidy/house.ts'
import { isTest, parse } from '../tidy/source.ts'
import type { Source } from '../tidy/source.ts'

const OUTSIDE = 'drivers'

/** Their names, from the ground. */
export const ROOMS: readonly string[] = FLOORS.slice(1, MACHINES_TOP + 1)
  .flat()
  .filter((room) => room !== OUTSIDE)

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
    if (!/^(src|test)\/.*\.test\.ts$/.test(path)) return false
    return !NOT_HERE.some((pattern) => pattern.test(path))
  })
}

// What needs a real clock, a build or minutes, and what judges the text of the house.
const NOT_HERE = [
  /^test\/(e2e|conformance)\//,
  /^src\/(drivers|cli)\//,
  /^test\/sim\/(seeds|many)\.test\.ts$/,
  /^src\/proof\/models\/large\.test\.ts$/,
  /^test\/[a-z]+\.test\.ts$/,
]
