/** `npm run mutants`: whether the tests notice mistakes; docs/MUTANTS.md says how. */

import { readFileSync } from 'node:fs'
import { UsageError, options, USAGE } from './options.ts'
import type { Options } from './options.ts'
import { draw } from './draw.ts'
import { EQUIVALENTS } from './equivalents.ts'
import { FIXED, GONE } from './fixed.ts'
import { bring } from './reach.ts'
import { caughtIn, line, missed, table } from './report.ts'
import type { Result } from './report.ts'
import { moduleOf, sources } from './modules.ts'
import { find, shown, sites } from './sites.ts'
import type { Change } from './sites.ts'
import { tried } from './trial.ts'
import type { Source } from '../tidy/source.ts'

const root = process.cwd()

function drawn(all: readonly Source[], { module, seed, count }: Options): Change[] {
  const found = all
    .filter(({ path }) => module === null || moduleOf(path) === module)
    .flatMap(sites)
  return draw(found, seed, count)
}

function listed(all: readonly Source[], { module }: Options): Change[] {
  const here = FIXED.filter(({ file }) => module === null || moduleOf(file) === module)
  for (const one of here) {
    const source = all.find(({ path }) => path === one.file)
    if (!source || !find(source, one)) {
      throw new UsageError(`the fixed list names ${one.id}, which is not there: ${shown(one)}`)
    }
  }
  return here
}

async function all(
  changes: readonly Change[],
  files: Source[],
  wanted: Options,
): Promise<Result[]> {
  const before = wanted.caught === null ? null : caughtIn(textOf(wanted.caught))
  const reach = await bring(root, files, wanted.jobs, wanted.map)
  const results: Result[] = []
  let next = 0
  const work = async (): Promise<void> => {
    while (next < changes.length) {
      const change = changes[next++]!
      const known = knownOf(change, before)
      const result: Result = known
        ? { change, seconds: 0, ...known }
        : await tried(change, files, reach)
      results.push(result)
      console.log(line(result, results.length, changes.length))
    }
  }
  await Promise.all(Array.from({ length: wanted.jobs }, work))
  return results
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new UsageError(`--caught ${path}: ${(error as Error).message}`)
  }
}

function knownOf(
  change: Change,
  before: ReadonlySet<string> | null,
): Pick<Result, 'outcome' | 'by'> | null {
  const name = shown(change)
  if (EQUIVALENTS.some((one) => shown(one) === name)) return { outcome: 'equivalent', by: '' }
  return before?.has(name) ? { outcome: 'caught', by: 'an earlier run' } : null
}

function tell(what: string, results: readonly Result[], goals: boolean): void {
  console.log(`\n${what}`)
  for (const text of table(results)) console.log(text)
  for (const { change, outcome } of results) {
    if (outcome !== 'caught' && outcome !== 'equivalent') {
      console.log(`${outcome}: ${shown(change)}`)
    }
  }
  for (const text of goals ? missed(results) : []) {
    console.log(`goal missed: ${text}`)
    process.exitCode = 1
  }
}

async function main(): Promise<void> {
  const wanted = options(process.argv.slice(2))
  if (wanted === 'help') return console.log(USAGE)
  const files = sources(root)
  const fixed = wanted.fixed ? listed(files, wanted) : []
  const chance = drawn(files, wanted)
  if (wanted.list) {
    for (const one of fixed) console.log(`fixed: ${shown(one)}`)
    for (const { id, why } of GONE) console.log(`gone: ${id}: ${why}`)
    for (const one of chance) console.log(`seed ${wanted.seed}: ${shown(one)}`)
    return
  }
  const results = await all([...fixed, ...chance], files, wanted)
  const ofFixed = results.filter(({ change }) => fixed.includes(change))
  if (fixed.length > 0) tell('the fixed list', ofFixed, false)
  const ofChance = results.filter(({ change }) => chance.includes(change))
  if (chance.length > 0) tell(`drawn by seed ${wanted.seed}`, ofChance, true)
}

try {
  await main()
} catch (error) {
  if (!(error instanceof UsageError)) throw error
  console.error(error.message)
  process.exitCode = 1
}
