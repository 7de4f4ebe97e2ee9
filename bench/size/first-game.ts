/** What the first game of README costs, and what of it which part of the library. */

import { readFileSync } from 'node:fs'
import { type Bundle, bundle, weigh, type Weight, weighParts } from './bundles.ts'

/** The first game, as a page has it. */
export function firstGame(): Promise<Bundle> {
  const folder = 'games/first'
  const text = readFileSync(`${folder}/main.ts`, 'utf8')
  return bundle({ text, folder, place: 'browser' })
}

/** The parts of a page: the folders of the packages, what others wrote, and the rest. */
export function partOf(path: string): string {
  const [, file] = /(?:^|\/)packages\/\w+\/src\/(.+)$/.exec(path) ?? []
  if (path.includes('node_modules/')) return 'packages'
  if (file === undefined) return 'the game'
  return file.includes('/') ? file.slice(0, file.indexOf('/')) : 'doors'
}

/** Its weight as a table of bytes, the heaviest part first; the last line is the whole. */
export function tableOf(game: Bundle): string {
  const line = (name: string, { minified, gzipped }: Weight): string => {
    return `${name.padEnd(14)}${String(minified).padStart(9)}${String(gzipped).padStart(9)}\n`
  }
  const parts = [...weighParts(game, partOf)].toSorted(([, a], [, b]) => b.minified - a.minified)
  const head = `${'part'.padEnd(14)}${'minified'.padStart(9)}${'gzipped'.padStart(9)}\n`
  return (
    head +
    parts.map(([name, weight]) => line(name, weight)).join('') +
    line('all', weigh(game.code))
  )
}

/** A table as it was written, by part. */
export function readTable(text: string): Map<string, Weight> {
  const rows = text.trim().split('\n').slice(1)
  return new Map(
    rows.map((row) => {
      const [, name = '', minified, gzipped] = /^(.+?) +(\d+) +(\d+)$/.exec(row) ?? []
      return [name, { minified: Number(minified), gzipped: Number(gzipped) }]
    }),
  )
}
