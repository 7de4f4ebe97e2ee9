/**
 * Which changes are tried. Each has a number of its own, a hash of seed and place, and the lowest
 * are drawn: so a change elsewhere in the module does not draw others, and a seed can be told.
 */

import { moduleOf, MODULES } from './modules.ts'
import { shown } from './sites.ts'
import type { Site } from './sites.ts'

/** The smallest share of a module in a draw, if it has that many sites. */
const MODULE_MIN = 6

/** Draws from sites of any modules. @returns by module, lowest first; within one in drawn order */
export function draw(sites: readonly Site[], seed: number, count: number): Site[] {
  const modules = MODULES.map((module) => {
    const own = sites.filter(({ file }) => moduleOf(file) === module)
    const hashed = own.map((site) => ({ site, hash: hash(`${seed} ${shown(site)}`) }))
    return hashed.toSorted((a, b) => a.hash - b.hash).map(({ site }) => site)
  }).filter(({ length }) => length > 0)
  const shares = share(
    modules.map(({ length }) => length),
    count,
  )
  return modules.flatMap((module, index) => module.slice(0, shares[index]))
}

/** How many of each: a few of every module, the rest by size. */
function share(sizes: readonly number[], count: number): number[] {
  const shares = sizes.map((size) => Math.min(size, MODULE_MIN, Math.floor(count / sizes.length)))
  const wanted = Math.min(count, sum(sizes))
  while (sum(shares) < wanted) {
    // Whoever has the least of what is its due by size.
    const due = sizes.map((size, index) =>
      shares[index]! < size ? shares[index]! / size : Infinity,
    )
    shares[due.indexOf(Math.min(...due))]!++
  }
  return shares
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0)
}

// FNV-1a, stirred once more at the end, for short texts that end alike.
function hash(text: string): number {
  let state = 0x811c9dc5
  for (let at = 0; at < text.length; at++) {
    state = Math.imul(state ^ text.charCodeAt(at), 0x01000193)
  }
  state = Math.imul(state ^ (state >>> 15), 0x85ebca6b)
  return (state ^ (state >>> 13)) >>> 0
}
