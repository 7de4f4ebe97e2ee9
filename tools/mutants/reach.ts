/**
 * The map from probes to tests: made once, kept under build/, and brought up to date by what
 * changed since. A test file that changed runs again; where a file of a module changed, whoever
 * reached anything in it counts as reaching all of it, until `--map` makes the map anew.
 */

import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Reporter } from 'vitest/node'
import { read } from '../tidy/codebase.ts'
import type { Source } from '../tidy/source.ts'
import { bases, constantAt, probed, probes, watching } from './probes.ts'
import { tests } from './modules.ts'
import { open, pathOf, run, titleOf } from './runner.ts'
import type { Range } from './sites.ts'

/** A test, what it takes in milliseconds, and which probes it sets off. */
export interface Reaching {
  readonly file: string
  readonly name: string
  readonly ms: number
  readonly reached: readonly number[]
}

/** What is kept: text by its hash, as it was when the map was made. */
export interface Reach {
  readonly sources: Record<string, { hash: string; base: number; count: number }>
  readonly tests: Record<string, { hash: string; found: Reaching[] }>
}

const KEPT = 'build/mutants/reach.json'
const TEST_MS = 180_000
const SLOW = /^(proof|test\/sim)\//

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64').slice(0, 16)
}

/** The map as it is kept; null where there is none. */
function load(root: string): Reach | null {
  const path = join(root, KEPT)
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Reach) : null
}

function save(root: string, reach: Reach): void {
  const path = join(root, KEPT)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, JSON.stringify(reach))
}

/** Reads the map, and runs what is new. @param anew whether all is to be run */
export async function bring(
  root: string,
  sources: readonly Source[],
  workers: number,
  anew: boolean,
): Promise<Reach> {
  const kept = anew ? null : load(root)
  const firsts = bases(sources)
  const reach: Reach = kept ?? { sources: {}, tests: {} }
  if (!kept) {
    for (const source of sources) {
      const count = probes(source).length
      const hash = digest(source.text)
      reach.sources[source.path] = { hash, base: firsts.get(source.path)!, count }
    }
  }
  const stale = tests(root).filter((file) => reach.tests[file]?.hash !== digest(read(root, file)))
  if (stale.length === 0) return reach
  // A file that changed has other probes by now: only those of others are set while it is so.
  const same = sources.filter(({ path, text }) => reach.sources[path]?.hash === digest(text))
  console.log(`which tests reach what: ${stale.length} files of tests run once`)
  const vitest = await open({
    root,
    workers,
    testMs: TEST_MS,
    setup: [join(root, 'tools/mutants/collect.ts')],
    rewrite: (path) => {
      const source = same.find((one) => one.path === path)
      return source ? probed(source, reach.sources[path]!.base) : null
    },
    reporter: mapping(root, reach),
  })
  for (const group of groups(stale)) {
    await run(vitest, new Map(group.map((file) => [file, null])))
    save(root, reach)
  }
  await vitest.close()
  return reach
}

// What is slow comes last, and each by itself: what is known by then is kept.
function groups(files: readonly string[]): string[][] {
  const isSlow = (file: string): boolean => SLOW.test(file)
  const quick = files.filter((file) => !isSlow(file))
  const slow = files.filter(isSlow).map((file) => [file])
  return quick.length > 0 ? [quick, ...slow] : slow
}

function mapping(root: string, reach: Reach): Reporter {
  return {
    onTestModuleEnd(module) {
      const outside = (module.meta() as { reached?: number[] }).reached ?? []
      const found: Reaching[] = []
      for (const test of module.children.allTests()) {
        const { reached: inside = [] } = test.meta() as { reached?: number[] }
        const ms = Math.ceil(test.diagnostic()?.duration ?? 0)
        const { state } = test.result()
        const { file, name } = titleOf(test)
        if (state === 'failed') console.log(`fails as it is: ${file}: ${name}`)
        if (state !== 'passed') continue
        found.push({ file, name, ms, reached: [...new Set([...outside, ...inside])] })
      }
      const file = pathOf(module)
      reach.tests[file] = { hash: digest(read(root, file)), found }
      console.log(`  ${file}: ${found.length} tests`)
    },
  }
}

/** The tests that reach a place; of a constant also those of the files that name it. */
export function reaching(
  reach: Reach,
  sources: readonly Source[],
  file: string,
  at: Range,
): Reaching[] {
  const source = sources.find(({ path }) => path === file)!
  const { text } = source
  const all = Object.values(reach.tests).flatMap(({ found }) => found)
  const kept = reach.sources[file]
  const whole = (own: typeof kept): ((probe: number) => boolean) => {
    return (probe) => !!own && probe >= own.base && probe < own.base + own.count
  }
  const watched = watching(sources, file, at)
  const unmoved = sources.every(({ path, text: now }) => reach.sources[path]?.hash === digest(now))
  const wanted =
    unmoved || (kept?.hash === digest(text) && watched.size === 1)
      ? shifted(watched, sources, reach)
      : null
  const within = wanted ? (probe: number): boolean => wanted.has(probe) : whole(kept)
  const naming = filesNaming(reach, constantAt(source, at))
  return all.filter((test) => naming.has(test.file) || test.reached.some(within))
}

// A test that holds a constant against a document reaches no statement that names it.
function filesNaming({ tests: known }: Reach, name: string): Set<string> {
  if (name === '') return new Set()
  const whole = new RegExp(`\\b${name}\\b`)
  const root = process.cwd()
  return new Set(Object.keys(known).filter((file) => whole.test(read(root, file))))
}

/** Numbers of probes as they were when the map was made. */
function shifted(
  watched: ReadonlySet<number>,
  sources: readonly Source[],
  reach: Reach,
): Set<number> {
  const found = new Set<number>()
  const firsts = [...bases(sources)]
  for (const probe of watched) {
    const [path, base] = firsts.findLast(([, first]) => first <= probe)!
    found.add(probe - base + (reach.sources[path]?.base ?? 0))
  }
  return found
}
