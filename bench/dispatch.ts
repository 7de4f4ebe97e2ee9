/**
 * Finds a bench or a soak by the name of its file, runs it and prints its report.
 *
 * A file `name.ts` in the folder exports `run(options): Promise<BenchReport>` and, for the list,
 * `about`, a line of text. What belongs to it alone stands in a folder of its name. The code runs
 * compiled from build/, where the tree is the one of the repository: import what you measure as
 * `../packages/holdfast/src/…`, never as `holdfast`, or there are two of it.
 */

import { existsSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { BenchReport } from './report.ts'
import { show } from './report.ts'

/** What a file in the folder exports. */
interface Work<Options> {
  readonly about?: string
  run(options: Options): Promise<BenchReport>
}

/** Files beside the benches that are none. */
const OURS = new Set(['dispatch', 'main', 'plain-install', 'report', 'soak'])

/** The names that can be run, in order. @param folder where their compiled files stand */
export function names(folder: URL): string[] {
  const found: string[] = []
  if (!existsSync(folder)) return found
  for (const entry of readdirSync(fileURLToPath(folder), { withFileTypes: true })) {
    const name = entry.name.replace(/\.js$/, '')
    if (entry.isFile() && entry.name.endsWith('.js') && !OURS.has(name)) found.push(name)
  }
  return found.toSorted()
}

/** The names with what they say about themselves. */
export async function list(folder: URL): Promise<string> {
  const lines: string[] = []
  for (const name of names(folder)) {
    const work = await load<unknown>(folder, name)
    lines.push(`  ${name.padEnd(16)} ${work.about ?? ''}`.trimEnd())
  }
  return lines.length > 0 ? lines.join('\n') : '  (none yet)'
}

/**
 * Runs one and prints its report.
 *
 * @param notes  sentences that end the report, such as the load of the machine
 * @returns the report, or null if the name is unknown
 */
export async function dispatch<Options>(
  folder: URL,
  name: string,
  options: Options,
  notes: readonly string[] = [],
): Promise<BenchReport | null> {
  if (!names(folder).includes(name)) {
    console.error(`there is no "${name}"; there are:\n${await list(folder)}`)
    return null
  }
  const work = await load<Options>(folder, name)
  const found = await work.run(options)
  const report = { ...found, notes: [...(found.notes ?? []), ...notes] }
  console.log(show(name, report))
  return report
}

async function load<Options>(folder: URL, name: string): Promise<Work<Options>> {
  return (await import(new URL(`${name}.js`, folder).href)) as Work<Options>
}
