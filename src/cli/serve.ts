/**
 * `holdfast serve`: a hub with its lobby, in one process with one file.
 */

import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { CAC } from 'cac'
import { HubServer, type Weather } from '../api/hub-server.ts'
import { createConditioner } from '../drivers/net/conditioner.ts'
import { createNodeLoop } from '../drivers/net/loop-node.ts'
import { acceptStreams, type StreamServer } from '../drivers/net/websocket-server.ts'
import { openSqliteStore } from '../drivers/store/sqlite.ts'
import { type Conditions, format, parse } from '../faults/conditions.ts'
import { HoldfastError } from '../machine.ts'
import type { Datagrams, Loop } from '../ports.ts'
import { list } from '../register/register.ts'
import { type HttpServer, openHttp } from './http.ts'
import { createMetrics, type Metrics } from './metrics.ts'

/** Where the hub listens unless told otherwise. */
export const PORT_DEFAULT = 8700
/** Where the register is kept unless told otherwise. */
export const DATA_DEFAULT = '.holdfast/hub.db'

/** What `serve` takes. */
export interface ServeOptions {
  port: number
  host: string
  data: string
  condition: string | null
}

/** A hub that serves. */
export interface Serving {
  readonly url: string
  close(): Promise<void>
}

/** Adds the command. */
export function addServe(cli: CAC): void {
  cli
    .command('serve', 'Run a hub: register, signalling, relay, and the lobby with the games')
    .option('--port <port>', 'Port to listen on; 0 takes any free one', { default: PORT_DEFAULT })
    .option('--host <host>', 'Address to listen on; 0.0.0.0 for the whole network', {
      default: '127.0.0.1',
    })
    .option('--data <file>', 'File of the register', { default: DATA_DEFAULT })
    .option('--condition <weather>', 'Worsen relayed paths, e.g. "rtt=120,loss=5%,jitter=30"')
    .example('holdfast serve --port 9000 --condition "rtt=80,loss=2%"')
    .action((given: Given) => run(given))
}

// A word on the command line that looks like a number comes as one.
interface Given {
  port: number | string
  host: number | string
  data: number | string
  condition?: number | string
}

async function run(given: Given): Promise<void> {
  const serving = await serve({
    port: Number(given.port),
    host: String(given.host),
    data: String(given.data),
    condition: given.condition === undefined ? null : String(given.condition),
  })
  console.log(`Holdfast serves ${serving.url}`)
  console.log('Open it in two windows. Ctrl-C ends it.')
  const end = (): void => void serving.close().then(() => process.exit(0))
  process.once('SIGINT', end)
  process.once('SIGTERM', end)
}

/**
 * Starts a hub.
 *
 * @throws HoldfastError `port-taken`, `store`, `bad-value`, … with what to do
 */
export async function serve(options: ServeOptions): Promise<Serving> {
  const conditions = options.condition === null ? null : parse(options.condition)
  const loop = createNodeLoop()
  const store = openSqliteStore(folderFor(options.data))
  const startedAt = loop.now()
  try {
    const weather = conditions ? await weatherOf(loop, conditions) : undefined
    const report = (error: unknown, where: string): void => {
      console.error(`The hub closed what it could not bear (${where}):`, error)
    }
    const hub = new HubServer(loop, store, { weather, report })
    const metrics = createMetrics()
    const http = await openHttp({
      host: options.host,
      port: options.port,
      folder: fileURLToPath(new URL('../pages', import.meta.url)),
      health: () => ({ ...hub.health(), upMs: Math.round(loop.now() - startedAt) }),
      metrics,
      sessions: () => sessions(hub),
    })
    const streams = acceptStreams(http.server, {
      path: '/hub',
      accept: (stream) => hub.accept(stream),
    })
    measure(metrics, hub, streams)
    if (conditions) console.log(`Relayed paths are worsened: ${format(conditions)}`)
    return { url: http.url, close: () => close(http, streams, hub, () => store.close()) }
  } catch (error) {
    store.close()
    throw error
  }
}

function folderFor(data: string): string {
  // Only our own default folder is made; a folder that somebody names must be there.
  if (data === DATA_DEFAULT) mkdirSync(dirname(data), { recursive: true })
  if (data === '') throw new HoldfastError('bad-value', '--data needs the name of a file')
  return data
}

async function weatherOf(loop: Loop, conditions: Conditions): Promise<Weather> {
  const conditioner = createConditioner(loop, conditions)
  let deliver: Parameters<Weather>[0] = () => {}
  const carrier: Datagrams = {
    addresses: [],
    reaches: () => true,
    send: (to, bytes) => {
      const [connection, from] = to.split(' ').map(Number)
      deliver(connection!, from!, bytes)
    },
    close: () => {},
  }
  // The hub stands in the middle: what it hands on is one way of a trip.
  const conditioned = await conditioner.condition(
    () => Promise.resolve(carrier),
    'out',
  )({
    datagram: () => {},
    refused: () => {},
  })
  return (direct) => {
    deliver = direct
    return (connection, from, datagram) => conditioned.send(`${connection} ${from}`, datagram)
  }
}

function sessions(hub: HubServer): object[] {
  return list(hub.hub.directory, '').map((entry) => ({
    session: entry.session,
    game: entry.game,
    room: entry.room,
    players: entry.players,
    playersMax: entry.playersMax,
    standing: entry.standing,
    epoch: entry.register.epoch,
  }))
}

function measure(metrics: Metrics, server: HubServer, streams: StreamServer): void {
  const { hub } = server
  metrics.count('holdfast_hub_total', 'What the hub did', () => hub.counters)
  metrics.count('holdfast_streams_total', 'What happened at the door', () => streams.counters)
  metrics.gauge('holdfast_disk_ok', 'Whether the disk takes what is written', () =>
    server.health().ok ? 1 : 0,
  )
  metrics.gauge('holdfast_sessions', 'Sessions in the register', () => hub.directory.rows.size)
  metrics.gauge('holdfast_streams', 'Open streams', () => streams.open())
  metrics.gauge('holdfast_members', 'Attached members', () =>
    [...hub.attached.values()].reduce((sum, members) => sum + members.size, 0),
  )
}

async function close(
  http: HttpServer,
  streams: StreamServer,
  hub: HubServer,
  closeStore: () => void,
): Promise<void> {
  streams.close()
  await http.close()
  await hub.close()
  closeStore()
}
