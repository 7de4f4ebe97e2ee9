/** The order in which tests that reach a place run: cheap ones and those of the module first. */

import type { Reaching } from './reach.ts'

/** A longer test is not tried. */
export const TEST_MS_MAX = 6_000
/** All tests of one change together are to take no longer, as they took when the map was made. */
const SUM_MS_MAX = 12_000
/** Whole sessions and storms by seed are asked last, for so long, whatever the others took. */
const SEEDS = /^test\/sim\/frozen/
const SEEDS_MS_MAX = 10_000
/** What a first test of a file costs beside itself: its imports. */
const FILE_MS = 150
/** What a test from elsewhere must save to come first. */
const AWAY_MS = 2_000
const BATCHES_MS = [400, 1_500, 5_000, Infinity]

/** Tests by file. */
export type Batch = [file: string, names: string[]][]

/** The batches, cheapest first; empty where no test comes near. */
export function batches(tests: readonly Reaching[], module: string): Batch[] {
  const isSeeds = ({ file }: Reaching): boolean => SEEDS.test(file)
  const others = tests.filter((test) => !isSeeds(test))
  const seeds = inOrder(tests.filter(isSeeds), module, SEEDS_MS_MAX)
  return [...inOrder(others, module, SUM_MS_MAX), ...seeds]
}

function inOrder(tests: readonly Reaching[], module: string, sumMax: number): Batch[] {
  const near = (file: string): boolean => file.split('/').includes(module)
  const price = ({ file, ms, reached }: Reaching): number => {
    // Of tests as cheap as each other, one that reaches little is the more likely to look closely.
    return ms + (near(file) ? 0 : AWAY_MS) + reached.length / 20
  }
  const ordered = tests
    .filter(({ ms }) => ms <= TEST_MS_MAX)
    .toSorted((a, b) => price(a) - price(b))
  const found = BATCHES_MS.map(() => new Map<string, string[]>())
  let spent = 0
  let at = 0
  let inBatch = 0
  for (const { file, name, ms } of ordered) {
    const cost = ms + (found[at]!.has(file) ? 0 : FILE_MS)
    if (spent + cost > sumMax) break
    if (inBatch + cost > BATCHES_MS[at]! && inBatch > 0) {
      at++
      inBatch = 0
    }
    inBatch += cost
    spent += cost
    const names = found[at]!.get(file)
    if (names) names.push(name)
    else found[at]!.set(file, [name])
  }
  return found.filter(({ size }) => size > 0).map((batch) => [...batch])
}
