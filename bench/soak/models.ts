/** Every scope that shall hold, also those that take minutes, whole and over all cores. */

import { shareOut } from '../../src/cli/proof/pool.ts'
import type { ScopeTask } from '../../src/cli/proof/model-thread.ts'
import { threadsHere } from '../../src/cli/proof/seed-runs.ts'
import { ROOMS } from '../../src/proof/models/index.ts'
import { render, type Report } from '../../src/sim/checker.ts'
import { atMost, type BenchReport } from '../report.ts'

/** For the list of soaks. */
export const about = 'all scopes of all models, the deep ones too, over all cores'

const SCRIPT = new URL('../../src/cli/proof/model-thread.js', import.meta.url)

interface Explored {
  task: ScopeTask
  report: Report
}

/** Runs; it takes as long as it takes, and says each scope as it ends. */
export async function run(): Promise<BenchReport> {
  const found: Explored[] = []
  await shareOut<ScopeTask, Explored>(SCRIPT, tasks().values(), threadsHere(), (one) => {
    console.log(`${one.task.room}: ${render(one.report)}`)
    found.push(one)
  })
  const bad = found.filter(({ report }) => isBad(report))
  return {
    tables: [
      {
        title: 'scopes',
        columns: ['room', 'scope', 'states', 'edges', 'depth', 'whole', 's', 'states/s'],
        rows: found.map(({ task, report }) => rowOf(task, report)),
      },
    ],
    goals: [atMost('scopes in which something does not hold', bad.length, 0, 'scopes')],
    notes: bad.map(({ report }) => render(report)),
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

function isBad({ violation, complete, sometimes }: Report): boolean {
  return violation !== null || !complete || Object.values(sometimes).some((met) => !met)
}

function rowOf({ room, scope }: ScopeTask, report: Report): (string | number)[] {
  const { states, edges, depth, complete, ms = 0 } = report
  const speed = Math.round((states / Math.max(1, ms)) * 1_000)
  return [room, scope, states, edges, depth, complete ? 'yes' : 'no', Math.round(ms / 1_000), speed]
}
