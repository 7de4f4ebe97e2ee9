/**
 * How long a session stands still when its primary is killed.
 *
 * Eight Node members, each in a process of its own, over UDP loopback, with a hub as `holdfast
 * serve` runs it. All act all the time. The primary's process is killed (SIGKILL); the pause
 * lasts until the last survivor has an operation acknowledged by the new primary. Judged is the
 * heartbeat alone: 10 ms, suspicion after 50. Beside it stands the same with the kernel's word
 * that the dead process's port is closed, which only one machine or a kind network gives; and a
 * primary that stands still (SIGSTOP): its stream stays, so the hub asks it before it is replaced.
 *
 * Then nobody is killed, for 20 minutes, half of them beside a busy process for each core: every
 * change of the epoch is a false suspicion. FALSE_MINUTES takes another time, or 0.
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { calm, type Calm } from './failover/calm.ts'
import { endAll } from './processes/children.ts'
import { type Balance, Cluster, EVERY_MS, MEMBERS } from './failover/cluster.ts'
import { etcd } from './failover/etcd.ts'
import { floor } from './failover/floor.ts'
import { type Pause, trial } from './failover/trial.ts'
import { atMost, unjudged } from './report.ts'
import type { BenchReport, Goal, Table } from './report.ts'

/** For the list of benches. */
export const about = 'the pause when the primary is killed, and false suspicions when nobody is'

const TRIALS = 30
const FROZEN_TRIALS = 10
const ETCD_TRIALS = 10
const MEDIAN_GOAL_MS = 60
const MAX_GOAL_MS = 100
// A quick run stops killing after this, so that it ends in time on a slow machine too.
const QUICK_MS = 4_000
const QUICK_CALM_MS = 30_000

/** How a trial of ours and one of etcd differ, for who compares their rows. */
const BESIDE = [
  'Ours needs the hub, one arbiter that was alive in every trial; etcd elects by a quorum of its',
  'servers, and syncs to disk. etcd is asked through its JSON gateway, by a new request to each of',
  'the two that are left every 2 ms, on the same processors; our members have one operation each',
  'under way.',
]

/** The pauses and losses of one cluster. */
interface Found {
  pauses: Pause[]
  /** Those of primaries that stood still. */
  frozen: Pause[]
  calms: Calm[]
  balance: Balance
}

/** Measures; `quick` takes a few trials, and judges nothing. */
export async function run({ quick }: { quick: boolean }): Promise<BenchReport> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-'))
  try {
    const floors: number[] = []
    for (let i = 0; i < (quick ? 2 : TRIALS); i++) floors.push(await floor())
    const minutes = Number(process.env['FALSE_MINUTES'] ?? 20)
    const calmMs = quick ? QUICK_CALM_MS : minutes * 60_000
    const deaf = await clusterOf(folder, 'deaf', quick, calmMs)
    const ears = quick ? null : await clusterOf(folder, 'watch', quick, 0)
    const anchor = quick ? null : await etcd(folder, ETCD_TRIALS)
    return report(floors, deaf, ears, anchor, quick)
  } finally {
    await endAll()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function clusterOf(
  folder: string,
  ears: 'watch' | 'deaf',
  quick: boolean,
  calmMs: number,
): Promise<Found> {
  const cluster = new Cluster(folder, ears)
  await cluster.open()
  const pauses: Pause[] = []
  const start = performance.now()
  for (let i = 0; i < TRIALS; i++) {
    pauses.push(await trial(cluster))
    await cluster.hire()
    if (quick && performance.now() - start > QUICK_MS) break
  }
  const frozen: Pause[] = []
  for (let i = 0; ears === 'deaf' && i < (quick ? 2 : FROZEN_TRIALS); i++) {
    frozen.push(await trial(cluster, 'SIGSTOP'))
    await cluster.hire()
  }
  const calms: Calm[] = []
  if (calmMs > 0) {
    await cluster.steady()
    for (const busy of [0, cpus().length]) calms.push(await calm(cluster, calmMs / 2, busy))
  }
  const balance = await cluster.rest()
  await cluster.close()
  return { pauses, frozen, calms, balance }
}

function report(
  floors: readonly number[],
  deaf: Found,
  ears: Found | null,
  anchor: readonly number[] | null,
  quick: boolean,
): BenchReport {
  const served = (found: Found): number[] => found.pauses.map((one) => one.served)
  const rows = [row('heartbeat 10, bound 50: kill to served', served(deaf))]
  rows.push(row('  pause minus detector', over(deaf)))
  const stopped = deaf.frozen.map((one) => one.served)
  rows.push(row('the primary stands still, its stream stays: to served', stopped))
  if (ears) rows.push(row('as shipped, closed ports heard: kill to served', served(ears)))
  rows.push(row('bare sockets, heartbeat 10, bound 50: kill to noticed', floors))
  if (anchor) rows.push(row('etcd, 3 servers, 10/50: kill to a write', anchor))
  const goals = goalsOf(deaf, ears)
  const notes = [
    `${MEMBERS} members, one operation of each under way, at most one in ${EVERY_MS} ms each.`,
  ]
  if (anchor) notes.push(...BESIDE)
  else if (!quick) notes.push('etcd was not measured: apt-get install etcd-server')
  return {
    tables: [
      { title: 'pauses in ms', columns: ['what', 'trials', 'min', 'median', 'p90', 'max'], rows },
      stages(deaf),
      calmTable(deaf.calms),
    ],
    goals: quick ? goals.map(unjudged) : goals,
    notes,
  }
}

function goalsOf(deaf: Found, ears: Found | null): Goal[] {
  const pauses = deaf.pauses.map((one) => one.served)
  const sum = (field: 'lost' | 'doubled'): number =>
    deaf.balance[field] + (ears?.balance[field] ?? 0)
  const watched = deaf.calms.reduce((total, one) => total + one.seconds, 0)
  const epochs = deaf.calms.reduce((total, one) => total + one.epochs, 0)
  const name = `false suspicions in ${Math.round(watched)} s`
  const acked = deaf.balance.acked + (ears?.balance.acked ?? 0)
  const shipped = ears?.pauses.map((one) => one.served) ?? null
  return [
    atMost('pause by heartbeat alone, median', quantile(pauses, 0.5), MEDIAN_GOAL_MS, 'ms'),
    atMost('pause by heartbeat alone, max', Math.max(...pauses), MAX_GOAL_MS, 'ms'),
    atMost('pause as shipped, median', shipped && quantile(shipped, 0.5), MEDIAN_GOAL_MS, 'ms'),
    atMost('pause as shipped, max', shipped && Math.max(...shipped), MAX_GOAL_MS, 'ms'),
    atMost(`lost of ${acked} acknowledged`, sum('lost'), 0, 'operations'),
    atMost('doubled', sum('doubled'), 0, 'operations'),
    atMost(name, watched > 0 ? epochs : null, 0, 'epochs'),
  ]
}

function stages(found: Found): Table {
  const of = (from: keyof Pause | null, to: keyof Pause): number[] =>
    found.pauses.map((one) => one[to] - (from ? one[from] : 0))
  return {
    title: 'where the time goes, in ms',
    columns: ['stage', 'trials', 'min', 'median', 'p90', 'max'],
    rows: [
      row("the detector's bound", of(null, 'bound')),
      row('kill to suspected', of(null, 'suspected')),
      row('suspected to primary', of('suspected', 'took')),
      row('primary to the last who hears of it', of('took', 'led')),
      row('to the last operation acknowledged', of('led', 'served')),
    ],
  }
}

function calmTable(calms: readonly Calm[]): Table {
  return {
    title: 'nobody is killed',
    columns: ['seconds', 'busy processes', 'epochs', 'longest bound ms'],
    rows: calms.map((one) => [
      Math.round(one.seconds),
      one.busy,
      one.epochs,
      Number(one.boundMax.toFixed(1)),
    ]),
  }
}

function over({ pauses }: Found): number[] {
  return pauses.map((one) => one.served - one.bound)
}

function row(what: string, values: readonly number[]): (string | number)[] {
  const at = (share: number): number => Number(quantile(values, share).toFixed(1))
  return [what, values.length, at(0), at(0.5), at(0.9), at(1)]
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.ceil(share * (sorted.length - 1))] ?? NaN
}
