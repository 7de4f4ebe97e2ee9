/** `holdfast serve`: a hub with its lobby, in one process and one file. */

import { existsSync, mkdirSync } from 'node:fs'
import { networkInterfaces, type NetworkInterfaceInfo } from 'node:os'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { CAC } from 'cac'
import { countsText } from '../../../holdfast/src/api/prometheus.ts'
import { Conditioner } from '../../../holdfast/src/drivers/net/conditioner.ts'
import { createNodeLoop } from '../../../holdfast/src/drivers/net/loop-node.ts'
import { isLoopback, isThisMachine } from '../../../holdfast/src/drivers/net/server/origins.ts'
import {
  type Conditions,
  createPath,
  format,
  parse,
} from '../../../holdfast/src/faults/conditions.ts'
import { HUB_VERSION } from '../../../holdfast/src/hub-protocol/messages.ts'
import { badValue } from '../../../holdfast/src/machine.ts'
import type { Certificate, Loop } from '../../../holdfast/src/ports.ts'
import { plainLines } from '../../../holdfast/src/wire/text/plain.ts'
import { create } from '../../../hub/src/machine/budgets.ts'
import { nats } from '../../../hub/src/nats.ts'
import { type Drained, openHub } from '../../../hub/src/open-hub.ts'
import type { RelayWrapper } from '../../../hub/src/server/hub-options.ts'
import * as given from '../given.ts'
import type { Word } from '../given.ts'
import { fail } from './give.ts'
import { type Answer, openServer, visibleHost } from './http.ts'
import { createMetrics } from './metrics.ts'
import { type Pages, readPages } from './pages.ts'
import { roomDoor } from './room-door.ts'
import * as site from './site.ts'

type Interfaces = NodeJS.Dict<NetworkInterfaceInfo[]>

/**
 * The URLs at which others reach a hub on that host, as `http://host:port`; none on loopback.
 *
 * @param url  its URL for a browser on this machine
 */
export function reachOf(
  host: string,
  url: string,
  interfaces: Interfaces = networkInterfaces(),
): string[] {
  if (isLoopback(host) || isThisMachine(host)) return []
  const { protocol, port } = new URL(url)
  const at = (name: string): string => `${protocol}//${name}${port && `:${port}`}`
  if (host !== '0.0.0.0' && host !== '::') return [at(visibleHost(host))]
  const all = Object.values(interfaces).flatMap((some) => some ?? [])
  const found = all.filter(({ family, internal, address }) => {
    // Self-assigned link-local addresses are unreachable.
    return family === 'IPv4' && !internal && !address.startsWith('169.254.')
  })
  return found.map(({ address }) => at(address))
}

const PORT_DEFAULT = 8700
const DATA_DEFAULT = '.holdfast/hub.db'
// systemd stops waiting after this long by default.
const DRAIN_MAX = 90

const LIMITS_HELP =
  'To change one, pass a file such as {"address": {"streams": 64}} to `serve --limits`.'

const STORE_HELP = 'such as nats://a,b,c; replaces --data'

const REFUSED = 'Requests refused, by reason'

interface Serving {
  readonly url: string
  /** The URL of the metrics, if on a port of their own. */
  readonly metricsUrl: string | null
  /** Replaces the certificate. @throws HoldfastError `bad-value` */
  renew(certificate: Certificate): void
  /** Stops accepting streams: see `drain` of a hub. */
  drain(): Promise<Drained>
  close(): Promise<void>
}

export function addServe(cli: CAC): void {
  cli
    .command('serve', 'Run a hub: register, signalling, relay and lobby')
    .option('--port <port>', 'Port to listen on; 0 takes any free one', { default: PORT_DEFAULT })
    .option('--host <host>', 'Address to listen on; 0.0.0.0 for the whole network', {
      default: '127.0.0.1',
    })
    .option('--data <file>', 'File of the register; each hub needs its own', {
      default: DATA_DEFAULT,
    })
    .option('--store <servers>', `NATS servers to share rooms with other hubs by; ${STORE_HELP}`)
    .option('--nats-creds <file>', 'Credentials for them, as `nsc generate creds` prints')
    .option('--nats-ca <file>', 'Authority (PEM) of their certificates; they are reached by TLS')
    .option('--pages <folder>', 'Serve your built pages; the lobby moves to /lobby/')
    .option(
      '--policy <policy>',
      'Content security policy of your pages: open, strict, none, or CSP',
      {
        default: 'open',
      },
    )
    .option('--path <path>', 'Where members connect', { default: '/hub' })
    .option('--games <names>', 'Allow only rooms of these games, comma-separated')
    .option('--origin <origin>', `Other origins whose pages may connect; ${given.ORIGIN_HELP}`)
    .option('--trust-proxy <proxies>', `${given.TRUST_HELP}; their X-Forwarded-For is trusted`)
    .option(
      '--limits <file>',
      'JSON file of limits for an address, a room and the hub; see `holdfast limits`',
    )
    .option(
      '--tickets <file>',
      'File of the keys whose tickets admit; rooms then need one; see ticket',
    )
    .option('--stun <url>', 'STUN server for WebRTC, such as stun:stun.example.com; repeatable')
    .option('--turn <url>', 'TURN server for WebRTC that takes credentials of this hub; repeatable')
    .option('--turn-secret <file>', 'File of the secret that the TURN servers share with this hub')
    .option('--drain <seconds>', 'After SIGTERM, refuse new streams for this long, then exit', {
      default: 0,
    })
    .option(
      '--metrics <where>',
      'Where to serve /metrics: a port (9100, 10.0.0.5:9100), here, off',
      {
        default: 'here',
      },
    )
    .option('--metrics-token <file>', 'File of a token that lets other machines read /metrics')
    .option('--tls-cert <file>', 'Certificate (PEM) for https; SIGHUP reloads it')
    .option('--tls-key <file>', 'Its key (PEM); default: the same file')
    .option('--condition <conditions>', 'Worsen relayed paths, e.g. "rtt=120,loss=5%,jitter=30"')
    .option('--demo', 'In the games, let any player kill the primary, to watch the takeover')
    .example('holdfast serve --port 9000 --condition "rtt=80,loss=2%"')
    .example('holdfast serve --pages dist --games duel')
    .example('holdfast serve --store nats://10.0.0.5,10.0.0.6,10.0.0.7')
    .example('holdfast serve --origin https://play.example.com --metrics 9100')
    .action(run)
  cli
    .command('limits', 'Print the limits of an address, a room and the hub')
    .action(() => console.log(`${given.limitLines()}\n\n${LIMITS_HELP}`))
}

interface Given {
  port: Word
  host: Word
  data: Word
  store?: Word | Word[]
  natsCreds?: Word
  natsCa?: Word
  origin?: Word | Word[]
  metrics: Word
  metricsToken?: Word
  tlsCert?: Word
  tlsKey?: Word
  pages?: Word
  trustProxy?: Word | Word[]
  limits?: Word
  tickets?: Word
  stun?: Word | Word[]
  turn?: Word | Word[]
  turnSecret?: Word
  policy: Word
  path: Word
  games?: Word | Word[]
  condition?: Word
  drain: Word
  demo?: boolean
}

function optionsOf(words: Given) {
  return {
    port: Number(words.port),
    host: String(words.host),
    data: String(words.data),
    /** The servers of NATS that have the register, instead of a file; null for a file. */
    nats: given.natsOf(words),
    condition: words.condition === undefined ? null : String(words.condition),
    /** Origins whose pages may connect, beside those served here; see origins.ts. */
    origins: given.listOf(words.origin),
    metrics: given.metricsPlace(String(words.metrics)),
    /** The token for reading the metrics remotely; null for none. */
    metricsToken: given.tokenIn(words.metricsToken),
    /** The certificate for https; null for http. */
    tls: given.certificateIn(words.tlsCert, words.tlsKey),
    /** The folder of the user's pages; null for the repository's games, if this is one. */
    pages: words.pages === undefined ? null : String(words.pages),
    policy: site.checkPolicy(String(words.policy)),
    /** The path where members connect; also `/hub` unless the user's pages are served. */
    path: String(words.path),
    /** The only games allowed in sessions; empty allows any. */
    games: given.listOf(words.games),
    /** Demo mode: in the games any member may kill the primary. */
    demo: words.demo === true,
    limits: given.limitsOf(words.limits),
    tickets: given.ticketKeysIn(words.tickets),
    /** STUN and TURN servers for members that use WebRTC. */
    stun: given.listOf(words.stun),
    turn: given.turnOf(words.turn, words.turnSecret),
    trust: given.trustOf(words.trustProxy),
  }
}

type ServeOptions = ReturnType<typeof optionsOf>

async function run(words: Given): Promise<void> {
  const drain = drainOf(words.drain)
  const serving = await serve(optionsOf(words))
  console.log(`Holdfast serves ${serving.url}`)
  if (serving.metricsUrl !== null) console.log(`Metrics at ${serving.metricsUrl}`)
  console.log('Open it in two windows. Press Ctrl-C to stop.')
  const end = (): void => void serving.close().then(() => process.exit(0))
  process.once('SIGINT', end)
  process.once('SIGTERM', () => void drained(serving, drain).then(end))
  process.on('SIGHUP', () => readAnew(serving, words))
}

// Drains before closing, unless a second signal arrives.
async function drained(serving: Serving, seconds: number): Promise<void> {
  if (seconds === 0) return
  const { streams, sessions } = await serving.drain()
  console.log(`Draining ${streams} streams and ${sessions} rooms; exits in ${seconds} s.`)
  await new Promise<void>((resolve) => {
    setTimeout(resolve, seconds * 1_000)
    process.once('SIGTERM', resolve)
  })
}

function drainOf(word: Word): number {
  const seconds = Number(word)
  if (seconds >= 0 && seconds <= DRAIN_MAX) return seconds
  throw badValue(`--drain is 0 to ${DRAIN_MAX} seconds: ${String(word)}`)
}

// Reloads the certificate on SIGHUP, as renewal programs send. An unreadable file changes nothing.
function readAnew(serving: Serving, { tlsCert, tlsKey }: Given): void {
  try {
    const certificate = given.certificateIn(tlsCert, tlsKey)
    if (certificate) serving.renew(certificate)
    console.log(certificate ? 'Certificate reloaded.' : 'SIGHUP ignored: no certificate to reload.')
  } catch (error) {
    console.error(`Certificate not reloaded: ${plainLines((error as Error).message)}`)
  }
}

/** Starts a hub. @throws HoldfastError `port-taken`, `store`, `bad-value`, … with the cure */
async function serve(options: ServeOptions): Promise<Serving> {
  const conditions = options.condition === null ? null : parse(options.condition)
  const closers: (() => void | Promise<void>)[] = []
  const close = async (): Promise<void> => {
    for (const one of closers.splice(0).toReversed()) await one()
  }
  try {
    const serving = await opened(options, conditions, closers)
    if (conditions) console.log(`Relayed paths degraded: ${format(conditions)}`)
    return { ...serving, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Opens all parts; `closers` close them in reverse order. */
async function opened(
  options: ServeOptions,
  conditions: Conditions | null,
  closers: (() => void | Promise<void>)[],
): Promise<Omit<Serving, 'close'>> {
  const { host, port, origins, trust, games, path, tls, metrics: at } = options
  const { tickets, stun, turn } = options
  const spending = { budgets: create(options.limits), trust }
  const metrics = createMetrics()
  const shelves = shelvesOf(options)
  const wrapRelay = conditions ? relayWrapperOf(createNodeLoop(), conditions) : undefined
  // The hub needs the server, and answers need the hub; no request arrives before both are open.
  let answer: Answer = (_path, _request, response) => fail(response, 503)
  const place = { host, port, option: '--port', origins, spending, tls } as const
  const http = await openServer(place, (...asked) => answer(...asked))
  closers.push(() => http.close())
  const { server } = http
  if (options.nats) console.log('Opening the rooms in NATS; waits up to 30 s for its servers')
  const store = options.nats ? await nats(options.nats) : folderFor(options.data)
  if (typeof store === 'object') closers.push(() => store.close())
  const hub = openHub(
    {
      ...{ server, origins, report, path, tickets, store, stun },
      ...(games.length > 0 && { games }),
      ...(turn && { turn }),
    },
    // The repository's games expect the hub there.
    { wrapRelay, ...spending, paths: options.pages === null ? ['/hub'] : [] },
  )
  closers.push(() => hub.close())
  metrics.add(() => hub.metrics())
  metrics.add(() => countsText('holdfast_requests_refused_total', REFUSED, http.counters))
  const figures = site.metricsOf(metrics, readersOf(options))
  answer = site.siteOf({
    shelves: shelves.all,
    health: () => hub.health(),
    metrics: at === 'here' ? figures : null,
    rooms: roomDoor(hub, { token: options.metricsToken, local: true }),
    sessions: (game, after) => hub.page(game, after),
    spending,
    about: { version: HUB_VERSION, demo: options.demo, starts: shelves.starts },
    reach: () => reachOf(host, http.url),
  })
  let metricsUrl: string | null = null
  if (typeof at === 'object') {
    const own = await openServer({ ...at, option: '--metrics', origins }, figures)
    closers.push(() => own.close())
    metricsUrl = `${own.url}metrics`
  }
  return { url: http.url, metricsUrl, renew: http.renew, drain: () => hub.drain() }
}

// On their own port the metrics are open to everyone who reaches it, unless there is a token.
function readersOf({ metrics, metricsToken: token }: ServeOptions): site.Readers | null {
  const local = metrics === 'here'
  return local || token !== null ? { token, local } : null
}

/** The pages to serve, and the folders of games in them. */
function shelvesOf({ pages, policy }: ServeOptions): {
  all: site.Shelf[]
  starts: readonly string[]
} {
  const games = built('pages')
  if (pages === null && existsSync(games)) {
    return { all: [{ find: readOurs(games).find, policy: 'strict' }], starts: [] }
  }
  const cure = 'build your pages, and pass the folder of the build'
  const own = pages === null ? site.NO_PAGES : readPages(pages, cure)
  return { all: site.withLobby(own, policy, readOurs(built('lobby'))), starts: own.starts }
}

// The package contains only the lobby; the repository has the games too.
function built(folder: 'pages' | 'lobby'): string {
  return fileURLToPath(new URL(`../../../${folder}`, import.meta.url))
}

function readOurs(folder: string): Pages {
  return readPages(folder, 'this package is incomplete; in its repository, run npm run build')
}

function report(error: unknown, where: string): void {
  const what = error instanceof Error ? (error.stack ?? error.message) : String(error)
  console.error(`The hub closed a stream after an error (${where}):`, plainLines(what))
}

function folderFor(data: string): string {
  // Only our default folder is created; one that the user names must exist.
  if (data === DATA_DEFAULT) mkdirSync(dirname(data), { recursive: true })
  if (data === '') throw badValue('--data needs the name of a file')
  return data
}

// The hub is mid-path: relaying is one direction of a round trip.
function relayWrapperOf(loop: Loop, conditions: Conditions): RelayWrapper {
  const conditioner = new Conditioner(loop, conditions)
  const path = createPath()
  return (deliver) => (to, from, datagram) => {
    conditioner.pass(path, datagram, (copy) => deliver(to, from, copy))
  }
}
