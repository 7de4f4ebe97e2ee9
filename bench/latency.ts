/**
 * How long an action of one player takes until another player sees it.
 *
 * Three Node members in processes of their own on one machine: one serves, one acts at random
 * moments, one draws 60 times a second. An action is a `set`; it is visible in the first frame
 * whose `view` has it. The clock is the machine's, the same for all. Members talk over UDP, or
 * over WebSockets through the hub as browsers do. Beside it, in the same processes, moments and
 * frames, a plain WebSocket echo through one process.
 *
 * The five stages are what the session itself measures, by its own clock: `session.debug.ages()`.
 */

import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Asked, Instant, Role, Said, Seen, Way } from './latency/words.ts'
import { end, endAll, heard, serve, start } from './processes/children.ts'
import { atMost, unjudged } from './report.ts'
import type { BenchReport, Goal, Table } from './report.ts'

/** For the list of benches. */
export const about = 'from an action of one player to the frame in which another sees it'

const GOAL_MS = 20
/** Of the source, on average. */
const SOURCE_MS = 300
const STAGES = ['clientSend', 'serverReceive', 'serverSend', 'clientReceive', 'shown'] as const
const ROLES: readonly Role[] = ['primary', 'owner', 'viewer']
const OPEN_MS = 30_000
// Paths are found and clocks agree.
const SETTLE_MS = 3_000

type Saw = Said & { kind: 'saw' }

/** What was measured on one way. */
interface Found {
  way: Way
  acted: Instant[]
  saw: Saw
}

/** Measures; `quick` takes seconds instead of minutes, and judges nothing. */
export async function run({ quick }: { quick: boolean }): Promise<BenchReport> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-'))
  try {
    const hub = await serve(join(folder, 'hub.db'), OPEN_MS)
    const found: Found[] = []
    for (const way of ['direct', 'relayed'] as const) {
      found.push(await measure(hub.url, way, quick ? 6_000 : 75_000))
    }
    const goals = goalsOf(found)
    return {
      tables: [delays(found), ...found.map(stages)],
      goals: quick ? goals.map(unjudged) : goals,
      notes: [
        'Until it is visible, half a frame of the delay, 8.3 ms, is the wait for the next frame.',
        'A game that reads its keys once a frame adds as much. The source had frames of 100 ms.',
        'Not measured here: a browser, whose game can show the same by `session.debug.ages()`.',
      ],
    }
  } finally {
    await endAll()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function measure(url: string, way: Way, ms: number): Promise<Found> {
  const echo = start(new URL('./latency/echo.js', import.meta.url), [])
  const isPort = (said: { port: number }): said is { port: number } => said.port > 0
  const { port } = await heard(echo, isPort, 'the echo', OPEN_MS)
  const script = new URL('./latency/member.js', import.meta.url)
  const members = []
  for (const role of ROLES) {
    const child = start(script, [url, port, way, role])
    // One after the other, so that the first serves.
    await heard(child, isJoined, `the ${role}`, OPEN_MS)
    members.push(child)
  }
  await pause(SETTLE_MS)
  const [, owner, viewer] = members as [ChildProcess, ChildProcess, ChildProcess]
  owner.send('begin' satisfies Asked)
  await pause(ms)
  const answers = Promise.all([
    heard(owner, isActed, 'the actions', OPEN_MS),
    heard(viewer, isSaw, 'what was seen', OPEN_MS),
  ])
  for (const child of [owner, viewer]) child.send('end' satisfies Asked)
  const [acted, saw] = await answers
  await Promise.all([...members, echo].map(end))
  const wanted = way === 'direct' ? 'direct' : 'relay'
  for (const { kind, path } of [acted, saw]) {
    if (path !== wanted) throw new Error(`the path of who ${kind} is ${path}, wanted ${wanted}`)
  }
  return { way, acted: acted.instants, saw }
}

const isJoined = (said: Said): said is Said & { kind: 'joined' } => said.kind === 'joined'
const isActed = (said: Said): said is Said & { kind: 'acted' } => said.kind === 'acted'
const isSaw = (said: Said): said is Saw => said.kind === 'saw'

/** From each action to the first instant that has it, or a later one. */
function delaysOf(acted: readonly Instant[], seen: readonly Instant[]): number[] {
  const found: number[] = []
  let next = 0
  for (const [n, at] of acted) {
    while (next < seen.length && seen[next]![0] < n) next++
    const first = seen[next]
    if (first) found.push(first[1] - at)
  }
  return found
}

function delays(found: readonly Found[]): Table {
  const rows: (string | number)[][] = []
  for (const { way, acted, saw } of found) {
    const of = (name: string, seen: Seen): void => {
      rows.push([way, `${name}: received`, ...figures(delaysOf(acted, seen.came))])
      rows.push([way, `${name}: visible`, ...figures(delaysOf(acted, seen.shown))])
    }
    of('holdfast', saw.held)
    of('plain ws echo', saw.bare)
  }
  const columns = ['members', 'what', 'actions', 'mean', 'p50', 'p99', 'max']
  return { title: 'from action to ... in ms', columns, rows }
}

function figures(list: readonly number[]): number[] {
  const sorted = list.toSorted((a, b) => a - b)
  const at = (share: number): number => sorted[Math.floor(share * (sorted.length - 1))] ?? NaN
  return [list.length, ...[mean(list), at(0.5), at(0.99), at(1)].map(rounded)]
}

function mean(list: readonly number[]): number {
  return list.reduce((sum, one) => sum + one, 0) / list.length
}

function rounded(value: number): number {
  return Number(value.toFixed(2))
}

function stages({ way, saw }: Found): Table {
  return {
    title: `age of data in ms by the session's own instrument, ${way}`,
    columns: ['stage', 'samples', 'mean', 'p99'],
    rows: STAGES.map((stage) => {
      const { count, mean: middle, p99 } = saw.ages[stage]
      return [stage, count, rounded(middle), rounded(p99)]
    }),
  }
}

function goalsOf(found: readonly Found[]): Goal[] {
  const of = (way: Way, seen: 'held' | 'bare'): number => {
    const { acted, saw } = found.find((one) => one.way === way)!
    return mean(delaysOf(acted, saw[seen].shown))
  }
  return [
    atMost('action to visible, direct, mean', of('direct', 'held'), GOAL_MS, 'ms'),
    unjudged(atMost('action to visible, relayed, mean', of('relayed', 'held'), GOAL_MS, 'ms')),
    unjudged(atMost('plain ws echo, mean', of('direct', 'bare'), GOAL_MS, 'ms')),
    unjudged(atMost("the source's own figure, mean", SOURCE_MS, GOAL_MS, 'ms')),
  ]
}
