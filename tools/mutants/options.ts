/** What the command line asks for. */

import { parseArgs } from 'node:util'
import { MODULES } from './modules.ts'

/** What is to be done. */
export interface Options {
  /** Changes of this module alone; null for all. */
  readonly module: string | null
  readonly seed: number
  /** How many are drawn, beside the fixed list. */
  readonly count: number
  readonly fixed: boolean
  readonly list: boolean
  /** Whether the map of what tests reach is made anew. */
  readonly map: boolean
  /** How many changes are tried at a time. */
  readonly jobs: number
  /** The output of an earlier run: what is caught there is not tried again. */
  readonly caught: string | null
}

/** What the user got wrong, as a sentence. */
export class UsageError extends Error {}

const COUNT_MAX = 10_000
const JOBS_MAX = 64

/** What `--help` says. */
export const USAGE = `npm run mutants -- [MODULE] [--seed N] [--count N] [--list]
  Makes one-place changes in the code of a module, one at a time, and runs the tests that reach
  the place, the cheapest first. What no test notices is named. No file is touched.
  MODULE       ${MODULES.slice(0, 9).join(', ')},
             ${MODULES.slice(9).join(', ')}; all of them by default
  --seed N   which changes are drawn (1)
  --count N  how many are drawn (20; 0 for the fixed list alone)
  --drawn    without the fixed list
  --list     only says which changes
  --map      runs all tests once more, to know which of them reach what
  --jobs N   how many are tried at a time (1)
  --caught FILE  takes for caught what FILE, the output of an earlier run, says is caught`

/** Reads the command line. @throws UsageError for what it does not know */
export function options(args: readonly string[]): Options | 'help' {
  const { values, positionals } = parsed(args)
  if (values.help) return 'help'
  const [module = null, more] = positionals
  if (more !== undefined) throw new UsageError(`one module at a time: ${module}, ${more}`)
  if (module !== null && !MODULES.includes(module)) {
    throw new UsageError(`no module is called ${module}; there are ${MODULES.join(', ')}`)
  }
  return {
    module,
    seed: number('--seed', values.seed, 0, Number.MAX_SAFE_INTEGER),
    count: number('--count', values.count, 0, COUNT_MAX),
    jobs: number('--jobs', values.jobs, 1, JOBS_MAX),
    fixed: !values.drawn,
    list: values.list,
    map: values.map,
    caught: values.caught ?? null,
  }
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        seed: { type: 'string', default: '1' },
        count: { type: 'string', default: '20' },
        jobs: { type: 'string', default: '1' },
        drawn: { type: 'boolean', default: false },
        list: { type: 'boolean', default: false },
        map: { type: 'boolean', default: false },
        caught: { type: 'string' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    })
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\n${USAGE}`)
  }
}

function number(name: string, text: string, min: number, max: number): number {
  const value = /^\d+$/.test(text) ? Number(text) : NaN
  if (value >= min && value <= max) return value
  throw new UsageError(`${name} is a whole number from ${min} to ${max}: ${text}`)
}
