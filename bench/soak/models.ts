/** Every scope that shall hold, also those that take minutes, whole and over all cores. */

import type { ResourceLimits } from 'node:worker_threads'
import { shareOut } from '../../proof/cli/pool.ts'
import type { ScopeTask } from '../../proof/cli/model-thread.ts'
import { threadsHere } from '../../proof/cli/seed-runs.ts'
import { ROOMS } from '../../proof/models/index.ts'
import { render, type Report } from '../../packages/sim/src/checker/checker.ts'
import { atMost, type BenchReport } from '../report.ts'

/** For the list of soaks. */
export const about = 'all scopes of all models, the deep ones too, over all cores'

const SCRIPT = new URL('../../proof/cli/model-thread.js', import.meta.url)

interface Explored {
  task: ScopeTask
  report: Report
}

/** How far exploring came, and why no farther. */
interface Rest {
  task: ScopeTask
  why: string
}

/** Runs; it takes as long as it takes, and says each scope as it ends. */
export function run(): Promise<BenchReport> {
  return explore(SCRIPT, tasks(), threadsHere(), (line) => console.log(line))
}

/**
 * Explores scopes; one whose thread dies is named, and the others go on.
 *
 * @param say hears a line of each scope as it ends
 * @param limits what a thread may use, if not as much as usual
 */
export async function explore(
  script: URL,
  scopes: readonly ScopeTask[],
  threads: number,
  say: (line: string) => void,
  limits?: ResourceLimits,
): Promise<BenchReport> {
  const found: Explored[] = []
  const rest: Rest[] = []
  const after = (one: Explored): void => {
    say(`${one.task.room}: ${render(one.report)}`)
    found.push(one)
    const { complete, violation, states } = one.report
    if (!complete && !violation) rest.push({ task: one.task, why: `more than ${states} states` })
  }
  const lost = (task: ScopeTask, { message }: Error): void => {
    say(`${task.room}: ${task.scope}: NOT EXPLORED WHOLE: ${message}`)
    rest.push({ task, why: message })
  }
  const sharing = { lost, ...(limits && { limits }) }
  await shareOut<ScopeTask, Explored>(script, scopes.values(), threads, after, sharing)
  return conclude(found, rest)
}

function conclude(found: readonly Explored[], rest: readonly Rest[]): BenchReport {
  const bad = found.filter(({ report }) => isBad(report))
  const named = rest.map(({ task, why }) => `${task.room} ${task.scope} (${why})`)
  return {
    tables: [
      {
        title: 'scopes',
        columns: ['room', 'scope', 'states', 'edges', 'depth', 'whole', 's', 'states/s'],
        rows: found.map(({ task, report }) => rowOf(task, report)),
      },
    ],
    goals: [
      atMost('scopes in which something does not hold', bad.length, 0, 'scopes'),
      atMost('scopes not explored whole', rest.length, 0, 'scopes'),
    ],
    notes: [
      ...bad.map(({ report }) => render(report)),
      ...(rest.length > 0 ? [`not explored whole: ${named.join(', ')}`] : []),
    ],
  }
}

// The deep ones first, so that no core waits for the last.
function tasks(): ScopeTask[] {
  const all = Object.entries(ROOMS).flatMap(([room, models]) =>
    models.filter(({ violates }) => violates === null).map((model) => ({ room, model })),
  )
  const ordered = all.toSorted((one, other) => Number(other.model.deep) - Number(one.model.deep))
  return ordered.map(({ room, model }) => ({ room, scope: model.name }))
}

// What was not reached in a part may be in the rest of it.
function isBad({ violation, complete, sometimes }: Report): boolean {
  return violation !== null || (complete && Object.values(sometimes).some((met) => !met))
}

function rowOf({ room, scope }: ScopeTask, report: Report): (string | number)[] {
  const { states, edges, depth, complete, ms = 0 } = report
  const speed = Math.round((states / Math.max(1, ms)) * 1_000)
  return [room, scope, states, edges, depth, complete ? 'yes' : 'no', Math.round(ms / 1_000), speed]
}
