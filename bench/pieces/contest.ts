/** One contender at one table: a server, processes of players, and what they found. */

import type { ChildProcess } from 'node:child_process'
import type { Asked, ServerSaid, Window } from '../objects/words.ts'
import { TICK_MS } from '../objects/workload.ts'
import { end, heard, startOn } from '../processes/children.ts'
import { cpus } from 'node:os'
import { clock } from '../processes/clock.ts'
import { BIN, PLAYERS, type PlayersSaid } from './words.ts'

const OPEN_MS = 120_000
const HEAD_MS = 500
const ANSWER_MS = 20_000
const TRIES = 4
const SERVER_CORE = '0'
const PLAYER_CORES = `1-${Math.max(1, cpus().length - 1)}`

/** How long is measured, in ms. */
export interface Length {
  warmMs: number
  ms: number
}

/** What was found. */
export interface Found {
  who: string
  /** Confirmed a second. */
  moves: number
  /** Share of all that was not confirmed. */
  others: number
  told: { p50: number; p99: number }
  seen: { p50: number; p99: number }
  /** Of the server, in µs a move. */
  cpu: number
  /** Share of a processor that the players used. */
  load: number
  /** A move at one player, in bytes. */
  down: number
  up: number
}

/** y-websocket's server. */
export async function yjs(length: Length): Promise<Found> {
  const half = PLAYERS / 2
  const clusters = await stand('yjs-players', [
    [0, half],
    [half, half],
  ])
  const server = startOn(SERVER_CORE, script('./yjs-table.js'), [])
  const { port } = await heard(server, isServing, 'the server', OPEN_MS)
  for (const cluster of clusters) await join([cluster], `ws://127.0.0.1:${port}`)
  return measured('y-websocket', length, [server], clusters)
}

/** Holdfast over UDP. @throws Error if each time somebody takes over, for the machine is busy */
export async function holdfast(length: Length, backup: boolean): Promise<Found> {
  for (let tries = 0; tries < TRIES; tries++) {
    const found = await held(length, backup)
    if (found) return found
    console.error('another member took over: once more')
  }
  throw new Error('the machine is too busy: each time another member took over')
}

async function held(length: Length, backup: boolean): Promise<Found | null> {
  const half = (PLAYERS - 1) >> 1
  const clusters = await stand('holdfast-players', [
    [0, 1, backup ? 'node' : 'browser'],
    [1, half, 'browser'],
    [1 + half, PLAYERS - 1 - half, 'browser'],
  ])
  const hub = startOn(SERVER_CORE, script('../objects/holdfast-hub.js'), [])
  const { port } = await heard(hub, isServing, 'the hub', OPEN_MS)
  const url = `http://127.0.0.1:${port}`
  const server = startOn(SERVER_CORE, script('./holdfast-table.js'), [url])
  await heard(server, isServing, 'the server', OPEN_MS)
  await join(clusters.slice(0, 1), url)
  await join(clusters.slice(1), url)
  const who = `Holdfast, udp, ${backup ? 'with a backup' : 'no backup'}`
  return measured(who, length, [server, hub], clusters).catch((error: unknown) => {
    if (error instanceof Unsteady) return null
    throw error
  })
}

class Unsteady extends Error {}

// All processes stand before the first joins: to start one holds up all others for a moment.
async function stand(name: string, all: readonly (string | number)[][]): Promise<ChildProcess[]> {
  const clusters = all.map((words) => startOn(PLAYER_CORES, script(`./${name}.js`), words))
  await Promise.all(clusters.map((cluster) => heard(cluster, isStanding, 'the players', OPEN_MS)))
  return clusters
}

async function join(clusters: readonly ChildProcess[], url: string): Promise<void> {
  for (const cluster of clusters) cluster.send({ kind: 'join', url } satisfies Asked)
  await Promise.all(clusters.map((cluster) => heard(cluster, isJoined, 'the players', OPEN_MS)))
}

function script(path: string): URL {
  return new URL(path, import.meta.url)
}

async function measured(
  who: string,
  { warmMs, ms }: Length,
  servers: readonly ChildProcess[],
  clusters: readonly ChildProcess[],
): Promise<Found> {
  const from = Math.round(warmMs / TICK_MS)
  const window: Window = { at: clock() + HEAD_MS, from, to: from + Math.round(ms / TICK_MS) }
  const most = HEAD_MS + window.to * TICK_MS + ANSWER_MS
  const served = Promise.all(servers.map((one) => heard(one, isServed, 'the server', most)))
  const moved = Promise.all(clusters.map((one) => heard(one, isMoved, 'the players', most)))
  for (const child of [...servers, ...clusters])
    child.send({ kind: 'begin', window } satisfies Asked)
  const [serving, moving] = await Promise.all([served, moved])
  await Promise.all([...clusters, ...servers].map(end))
  if (!serving.every(({ steady }) => steady)) throw new Unsteady()
  return foundIn(who, ms, serving, moving)
}

const isServing = (said: ServerSaid): said is ServerSaid & { kind: 'serves' } =>
  said.kind === 'serves'
const isServed = (said: ServerSaid): said is Served => said.kind === 'served'
const isStanding = (said: PlayersSaid): said is PlayersSaid & { kind: 'stands' } =>
  said.kind === 'stands'
const isJoined = (said: PlayersSaid): said is PlayersSaid & { kind: 'joined' } =>
  said.kind === 'joined'
const isMoved = (said: PlayersSaid): said is Moved => said.kind === 'moved'

type Served = ServerSaid & { kind: 'served' }
type Moved = PlayersSaid & { kind: 'moved' }

function foundIn(
  who: string,
  ms: number,
  served: readonly Served[],
  moved: readonly Moved[],
): Found {
  const moves = sum(moved.map((one) => one.moves))
  const others = sum(moved.map((one) => one.others))
  return {
    who,
    moves: (1_000 * moves) / ms,
    others: others / Math.max(1, moves + others),
    told: quantiles(moved.map(({ told }) => told)),
    seen: quantiles(moved.map(({ seen }) => seen)),
    cpu: (1_000 * sum(served.map(({ cpuMs }) => cpuMs))) / Math.max(1, moves),
    load: sum(moved.map(({ cpuMs }) => cpuMs)) / ms,
    down: sum(moved.map(({ down }) => down.bytes)) / Math.max(1, moves) / PLAYERS,
    up: sum(moved.map(({ up }) => up.bytes)) / Math.max(1, moves) / PLAYERS,
  }
}

function quantiles(all: readonly (readonly number[])[]): { p50: number; p99: number } {
  const bins = all[0]!.map((_, bin) => sum(all.map((one) => one[bin]!)))
  const count = sum(bins)
  if (count === 0) return { p50: NaN, p99: NaN }
  const at = (share: number): number => {
    let rest = share * count
    return (bins.findIndex((many) => (rest -= many) <= 0) + 1) * BIN
  }
  return { p50: at(0.5), p99: at(0.99) }
}

function sum(list: readonly number[]): number {
  return list.reduce((total, one) => total + one, 0)
}
