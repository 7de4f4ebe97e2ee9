/** One contender in one setting: a server, processes of clients, and what they found. */

import type { ChildProcess } from 'node:child_process'
import { cpus } from 'node:os'
import type { Certificate } from '../../test/conformance/certificate.ts'
import { end, heard, startOn } from '../processes/children.ts'
import { clock } from '../processes/clock.ts'
import type { Traffic } from './floor.ts'
import { BIN } from './words.ts'
import type { Asked, ClientsSaid, ServerSaid, Setting, Shown, Way, Window, Wire } from './words.ts'
import { TICK_MS } from './workload.ts'

/** Processes of clients. */
const CLUSTERS = 2
/** Clients in each of them that draw. */
const SCREENS = 2
const OPEN_MS = 180_000
/** How often a run is tried that others spoil. */
const TRIES = 4
/** Before the first tick. */
const HEAD_MS = 500
/** After the last. */
const ANSWER_MS = 20_000
/** Servers and clients do not share a processor, so far as the system lets us say so. */
const SERVER_CORE = '0'
const CLIENT_CORE_COUNT = Math.max(1, cpus().length - 1)
const CLIENT_CORES = `1-${CLIENT_CORE_COUNT}`

/** What was measured: a tick and a client each. */
export interface Found {
  /** Of all processes that serve, in ms a tick. */
  cpuMs: number
  /** Of each of them. */
  cpus: number[]
  /** Part of it in which the bench itself said who sees what. */
  interestMs: number
  down: Wire
  up: Wire
  shown: { name: string; p50: number; p99: number }[]
  missing: number
  has: number
  /** How late the server's ticks began, at worst but one of a hundred. */
  lateMs: number
  /** Clients whose packets went another way than the one that is measured. */
  astray: number
  /** Share of their processors that the clients used. */
  load: number
}

/** How long is measured. */
export interface Length {
  warmTicks: number
  ticks: number
}

type Served = ServerSaid & { kind: 'served' }
type Saw = ClientsSaid & { kind: 'saw' }

/** Colyseus. @param tls  what its WebSockets are sealed with; null for nothing */
export async function colyseus(
  setting: Setting,
  length: Length,
  tls: Certificate | null,
): Promise<Found> {
  const words = JSON.stringify(setting)
  const clusters = await stand(
    'colyseus-clients',
    shares(setting.clients, 0).map((share) => [words, ...share, SCREENS]),
  )
  const server = startOn(SERVER_CORE, script('colyseus-server'), [
    words,
    ...(tls ? [tls.cert, tls.key] : []),
  ])
  const { port } = await heard(server, isServing, 'the server', OPEN_MS)
  await join(clusters, `${tls ? 'wss' : 'ws'}://127.0.0.1:${port}`)
  return measure(setting, length, [server], clusters)
}

/**
 * Holdfast. Where the machine is so busy that somebody takes over,
 * nothing was measured, and it is tried again.
 *
 * @throws Error if that does not help
 */
export async function holdfast(setting: Setting, length: Length, way: Way): Promise<Found> {
  for (let tries = 0; tries < TRIES; tries++) {
    try {
      return await held(setting, length, way)
    } catch (error) {
      if (!(error instanceof Unsteady)) throw error
      console.error(error.message)
    }
  }
  throw new Error('the machine is too busy: each time another member took over')
}

class Unsteady extends Error {}

async function held(setting: Setting, length: Length, way: Way): Promise<Found> {
  const words = JSON.stringify(setting)
  // The backup is behind the hub, where a primary that is held up for a moment is not suspected.
  const backup = [words, 0, 1, 0, 'relay', 'node']
  const others = shares(setting.clients - 1, 1).map((share) => [
    ...[words, ...share],
    ...[SCREENS, way, 'browser'],
  ])
  const clusters = await stand('holdfast-clients', [backup, ...others])
  const hub = startOn(SERVER_CORE, script('holdfast-hub'), [])
  const { port } = await heard(hub, isServing, 'the hub', OPEN_MS)
  const url = `http://127.0.0.1:${port}`
  const server = startOn(SERVER_CORE, script('holdfast-server'), [words, url, way])
  await heard(server, isServing, 'the server', OPEN_MS)
  await join(clusters.slice(0, 1), url)
  await join(clusters.slice(1), url)
  return measure(setting, length, [server, hub], clusters)
}

/** The floor under what Holdfast did in that setting, see floor.ts. */
export async function floor(
  setting: Setting,
  length: Length,
  way: Way,
  { down, up }: Found,
): Promise<Found> {
  const traffic = JSON.stringify({ down, up } satisfies Traffic)
  const all = shares(setting.clients, 0).map(([, count]) => [traffic, way, count])
  const clusters = await stand('floor-clients', all)
  const servers: ChildProcess[] = []
  const serve = async (role: Way | 'hub', url = ''): Promise<number> => {
    const server = startOn(SERVER_CORE, script('floor-server'), [traffic, role, url])
    servers.unshift(server)
    return (await heard(server, isServing, `the floor's ${role}`, OPEN_MS)).port
  }
  // The hub takes its first stream for the server's.
  const hub = way === 'relay' ? `ws://127.0.0.1:${await serve('hub')}` : ''
  const port = await serve(way, hub)
  const url = { udp: String(port), ws: `ws://127.0.0.1:${port}`, relay: hub }[way]
  await join(clusters, url)
  return measure(setting, length, servers, clusters)
}

// All processes stand before the first joins: to start one holds up all others for a moment.
async function stand(name: string, all: readonly (string | number)[][]): Promise<ChildProcess[]> {
  const clusters = all.map((words) => startOn(CLIENT_CORES, script(name), words))
  await Promise.all(clusters.map((cluster) => heard(cluster, isStanding, 'the clients', OPEN_MS)))
  return clusters
}

async function join(clusters: readonly ChildProcess[], url: string): Promise<void> {
  for (const cluster of clusters) cluster.send({ kind: 'join', url } satisfies Asked)
  await Promise.all(clusters.map((cluster) => heard(cluster, isJoined, 'the clients', OPEN_MS)))
}

function script(name: string): URL {
  return new URL(`./${name}.js`, import.meta.url)
}

function shares(clients: number, from: number): [first: number, count: number][] {
  const each = Math.ceil(clients / CLUSTERS)
  return Array.from({ length: CLUSTERS }, (_, cluster) => [
    from + cluster * each,
    Math.min(each, clients - cluster * each),
  ])
}

async function measure(
  setting: Setting,
  { warmTicks, ticks }: Length,
  servers: readonly ChildProcess[],
  clusters: readonly ChildProcess[],
): Promise<Found> {
  const window: Window = { at: clock() + HEAD_MS, from: warmTicks, to: warmTicks + ticks }
  const ms = HEAD_MS + window.to * TICK_MS + ANSWER_MS
  const served = Promise.all(servers.map((one) => heard(one, isServed, 'the server', ms)))
  const saw = Promise.all(clusters.map((one) => heard(one, isSaw, 'the clients', ms)))
  for (const child of [...servers, ...clusters])
    child.send({ kind: 'begin', window } satisfies Asked)
  const [serving, seeing] = await Promise.all([served, saw])
  await Promise.all([...clusters, ...servers].map(end))
  if (!serving.every((one) => one.steady)) throw new Unsteady('another member took over: once more')
  return foundIn(setting, ticks, serving, seeing)
}

export const isServing = (said: ServerSaid): said is ServerSaid & { kind: 'serves' } =>
  said.kind === 'serves'
const isServed = (said: ServerSaid): said is Served => said.kind === 'served'
const isStanding = (said: ClientsSaid): said is ClientsSaid & { kind: 'stands' } =>
  said.kind === 'stands'
const isJoined = (said: ClientsSaid): said is ClientsSaid & { kind: 'joined' } =>
  said.kind === 'joined'
const isSaw = (said: ClientsSaid): said is Saw => said.kind === 'saw'

function foundIn(
  { clients }: Setting,
  ticks: number,
  served: readonly Served[],
  saw: readonly Saw[],
): Found {
  const wire = (way: 'down' | 'up'): Wire => {
    const of = (what: keyof Wire): number => sum(saw.map((one) => one[way][what])) / ticks / clients
    return {
      bytes: of('bytes'),
      packets: of('packets'),
      messages: of('messages'),
      payload: of('payload'),
    }
  }
  const screens = saw.filter((one) => one.shown.length > 0)
  const ways = screens[0]?.shown.map(({ name }) => name) ?? []
  return {
    cpuMs: sum(served.map((one) => one.cpuMs)) / ticks,
    cpus: served.map((one) => one.cpuMs / ticks),
    interestMs: sum(served.map((one) => one.interestMs)),
    down: wire('down'),
    up: wire('up'),
    shown: ways.map((name, way) => ({ name, ...quantiles(screens.map((one) => one.shown[way]!)) })),
    missing: sum(saw.map((one) => one.missing)) / sum(saw.map((one) => one.wanted)),
    has: mean(screens.map((one) => one.has)),
    lateMs: Math.max(...served.map((one) => one.lateMs)),
    astray: sum(saw.map((one) => one.astray)),
    load: sum(saw.map((one) => one.cpuMs)) / (ticks * TICK_MS * CLIENT_CORE_COUNT),
  }
}

function quantiles(all: readonly Shown[]): { p50: number; p99: number } {
  const bins = all[0]!.bins.map((_, bin) => sum(all.map((one) => one.bins[bin]!)))
  const count = sum(bins)
  const at = (share: number): number => {
    let rest = share * count
    const bin = bins.findIndex((many) => (rest -= many) <= 0)
    return (bin + 1) * BIN
  }
  return { p50: at(0.5), p99: at(0.99) }
}

function sum(list: readonly number[]): number {
  return list.reduce((total, one) => total + one, 0)
}

function mean(list: readonly number[]): number {
  return sum(list) / list.length
}
