/** How a hub is opened on a web server that is already there. */

import {
  ASYNC_DISPOSE,
  type Emitter,
  type Listen,
  Listeners,
} from '../../holdfast/src/api/emitter.ts'
import { nodeCurves } from '../../holdfast/src/drivers/crypto/node-crypto.ts'
import {
  checkPath,
  checkServer,
  checkTexts,
  checkFunction,
  checkOptions,
} from '../../holdfast/src/api/options.ts'
import { checkNameOf } from '../../holdfast/src/api/options.ts'
import { createNodeLoop } from '../../holdfast/src/drivers/net/loop-node.ts'
import {
  acceptStreams,
  type StreamServer,
} from '../../holdfast/src/drivers/net/websocket-server.ts'
import type {
  StreamServerOptions,
  WebServer,
} from '../../holdfast/src/drivers/net/websocket-server.ts'
import { whenBare } from '../../holdfast/src/drivers/net/tls.ts'
import { report, warn } from '../../holdfast/src/drivers/report.ts'
import { wallClock } from '../../holdfast/src/drivers/wall-clock.ts'
import { createMemoryStore } from '../../holdfast/src/drivers/store/memory.ts'
import { openSqliteStore } from '../../holdfast/src/drivers/store/sqlite.ts'
import { badValue, type Millis } from '../../holdfast/src/machine.ts'
import type { Loop, Store } from '../../holdfast/src/ports.ts'
import { NOBODY, type Trust } from '../../holdfast/src/wire/ip.ts'
import { type Budgets, create as budgetsOf } from './machine/budgets.ts'
import { all, page } from './machine/listing.ts'
import type { Page } from './machine/state.ts'
import { shown } from '../../holdfast/src/wire/fields.ts'
import {
  ceilingsOf,
  figuresText,
  type HubFigures,
  listedSession,
  type ListedSession,
} from './server/hub-figures.ts'
import { type HubHealth, HubServer, type Report, type Weather } from './server/hub-server.ts'
import { type HubLimits, readLimits, readTrust } from './server/given-limits.ts'
import type { Stop } from '../../holdfast/src/api/emitter.ts'
import {
  type CloseOptions,
  closeRoom,
  eventOf,
  HUB_EVENTS,
  dropRoom,
  exportKept,
  type HubEvents,
  importKept,
  type ImportOptions,
  type KeptRoom,
  keptRooms,
  roomIn,
  type RoomView,
} from './rooms.ts'
import { Reports } from '../../holdfast/src/api/reports.ts'
import { consultWith, type OnJoin } from './on-join.ts'
import { type TicketKey, ticketReader } from './tickets.ts'

/** Options of `hub()`: where it keeps its register, who may come, what it listens to. */
export interface HubOptions {
  /**
   * The server, of Node's `http` or `https`, that your pages come from: Express, Fastify, Hono and
   * Vite have one. Requests and upgrades at other paths stay what they are.
   */
  server: WebServer
  /** Where members connect, which is what `join({ server })` names. Default `/hub`. */
  path?: string
  /** The only games that there may be sessions of. Default: any. */
  games?: readonly string[]
  /**
   * The file of the register, which survives the hub; its folder must be there. Null: memory, for
   * development; when the hub is opened anew, each room that was there begins anew, empty.
   */
  store: string | null
  /**
   * Pages of which origins may connect, such as `https://play.example.com`, beside those that come
   * from this server itself; `*` for all. A proxy in front makes another origin of it: name that.
   */
  origins?: readonly string[]
  /**
   * What an address, a stream, a room and the hub may cost, where that is other than the defaults,
   * as `{ address: { streams: 64 } }`; docs/deploy.md has the table.
   */
  limits?: HubLimits
  /**
   * Behind proxies: how many there are, or their addresses and ranges, such as `['10.0.0.0/8']`.
   * The address of a stream is then what they say in `X-Forwarded-For`. Default 0: nobody's word
   * counts.
   */
  trustProxy?: number | readonly string[]
  /**
   * Whose tickets count, and for which games: their rooms are closed then to who has none. Several
   * keys at once, so that one can take the place of another. Default: nobody needs a ticket.
   */
  tickets?: readonly TicketKey[]
  /**
   * Decides beside tickets who comes in: called for everybody who may by them, each time a process
   * of theirs comes. A text refuses them, and is what `join` rejects with (`forbidden`). Whoever
   * cannot be decided about within 5 s, or because it threw, does not come in; `report` hears of
   * it. Default: everybody comes in who may.
   */
  onJoin?: OnJoin
  /** Hears of an error in the hub itself, which costs one stream. Default: a process warning. */
  report?: Report
}

/** A hub that is open. */
export interface HubHandle extends Emitter<HubEvents> {
  /** Where members connect. */
  readonly path: string
  /** How it does; for a check of health. */
  health(): HubHealth & { upMs: Millis }
  /** Sessions, streams and members at this moment, and counts since the hub was opened. */
  figures(): HubFigures
  /** The same in Prometheus' text format, version 0.0.4. */
  metrics(): string
  /** The sessions of one game or of all, as a lobby lists them. */
  sessions(game?: string): ListedSession[]
  /** One room, listed or not; null if nobody is in it. @throws HoldfastError `bad-value` */
  room(game: string, room: string): RoomView | null
  /**
   * Ends the session of a room. Its members are out within seconds, with `why` (`forbidden`), and
   * nobody comes in or opens it anew for a while. Forgotten when the hub starts again.
   *
   * @returns whether there was a session
   * @throws HoldfastError `bad-value`
   */
  closeRoom(game: string, room: string, options: CloseOptions): boolean
  /** What is kept of rooms, also of those that somebody is in. */
  kept(): KeptRoom[]
  /**
   * Drops what is kept of a room; one that somebody is in is kept anew as it is.
   *
   * @returns whether anything was
   * @throws HoldfastError `bad-value`
   */
  dropRoom(game: string, room: string): boolean
  /**
   * What is kept of a room, as bytes for a file: see `importRoom`, and `from` of `join`. Of a room
   * that somebody is in it lacks the last 0.1 s.
   *
   * @returns null if nothing is
   * @throws HoldfastError `bad-value`
   */
  exportRoom(game: string, room: string): Uint8Array | null
  /**
   * Keeps a room that `exportRoom` or `session.export` gave, as if its players had just left it.
   * Resolves once the disk has it. It rejects with a HoldfastError: `bad-value` for what is no such
   * file, `no-such-game`, `exists` where the room is, `full`, `store`.
   */
  importRoom(file: Uint8Array, options?: ImportOptions): Promise<KeptRoom>
  /**
   * Before a restart: takes no new stream from now on, and `health` is not ok, so that a proxy
   * sends members to another hub. Who is here plays on. Resolves once the disk has all that was
   * asked; `close` then closes the streams, and members dial again, each address that they have.
   */
  drain(): Promise<Drained>
  /**
   * Closes all streams, waits until the disk has what was asked, and lets go of the file. Members
   * come back by themselves to the next hub with the same file. The server is yours to close, and
   * closes this too; but it waits for streams, so close the hub before. A second call is the first.
   */
  close(): Promise<void>
  /** The same, at the end of a block of `await using`. */
  [Symbol.asyncDispose](): Promise<void>
}

/** What a hub that is drained has left. */
export interface Drained {
  /** Streams that are open: members, and who is on the way in. */
  readonly streams: number
  /** Sessions that go on. */
  readonly sessions: number
}

/** What the program of this package wants besides. */
export interface InnerOptions {
  /** More paths than `path`. */
  paths?: readonly string[]
  weather?: Weather | undefined
  /** What is spent already, and by what limits. */
  budgets?: Budgets
  /** Whose word of an address counts. */
  trust?: Trust
  /** How many TCP connections may wait; a server of somebody else sees to that itself. */
  waitingMax?: StreamServerOptions['waitingMax']
}

const OPTIONS = ['server', 'path', 'games', 'store', 'origins'] as const
const MORE = ['limits', 'trustProxy', 'tickets', 'onJoin', 'report'] as const

/**
 * Opens a hub on a server, whether that listens already or not.
 *
 * @throws HoldfastError `bad-value` or `store`, with what to do
 */
export function hub(options: HubOptions): HubHandle {
  checkOptions('hub', options, [...OPTIONS, ...MORE])
  return openHub(options, { waitingMax: 0 })
}

/** A hub as our own program has it. */
export interface InnerHub extends HubHandle {
  /** A part of the list of rooms, at most a second old; see listing.ts. */
  page(game: string, after: string): Page
}

/** Opens one. @throws HoldfastError `bad-value` or `store` */
export function openHub(options: HubOptions, inner: InnerOptions): InnerHub {
  const { server, path = '/hub', games, origins = [], onJoin, report: tell = report } = options
  checkServer('server', server)
  const paths = [path, ...(inner.paths ?? [])].map(checkPath)
  checkFunction('report', tell)
  const allowed = games === undefined ? null : checkGames(games)
  const limits = readLimits('limits', options.limits ?? {})
  const trust = inner.trust ?? readTrust('trustProxy', options.trustProxy)
  const tickets = ticketReader('tickets', options.tickets ?? [])
  const loop = createNodeLoop()
  const consult = consultWith(onJoin, loop)
  const store = openStore(options.store)
  try {
    const events = eventsOf(loop, tell)
    const hubServer = new HubServer(loop, store, {
      happened: (news) => events.emit(news.kind, eventOf(news)),
      ...{ curves: nodeCurves, wall: wallClock },
      ...{ games: allowed, tickets, consult },
      report: tell,
      weather: inner.weather,
      budgets: inner.budgets ?? budgetsOf(limits),
    })
    const streams = acceptStreams(server, {
      path: paths,
      origins: checkTexts('origins', origins),
      ...(inner.waitingMax !== undefined && { waitingMax: inner.waitingMax }),
      // The hub itself knows which stream goes when there are too many.
      connectionsMax: Infinity,
      trust,
      untrusted: once(() => tell(new Error(UNTRUSTED), 'a proxy')),
      accept: (stream, opening) => hubServer.accept(stream, opening),
      beacon: (body, opening) => hubServer.beacon(body, opening),
    })
    // A proxy that is trusted has the TLS.
    if (trust === NOBODY) whenBare(server, (address) => warn(BARE(address)))
    return new OpenHub(path, loop, { server, hubServer, streams, store, events })
  } catch (error) {
    store.close()
    throw error
  }
}

function eventsOf(loop: Loop, tell: Report): Listeners<HubEvents> {
  const reports = new Reports({
    soon: (run) => loop.soon(run),
    tell: () => false,
    place: ({ error, where }) => tell(error, where),
  })
  return new Listeners<HubEvents>('a hub', HUB_EVENTS, reports)
}

const BARE = (address: string): string =>
  `a hub listens on ${address} without TLS: who is on the way learns who plays where, and may ` +
  'keep players apart, though it can neither read nor change what they say to one another; give ' +
  'the server a certificate (--tls-cert), or listen on 127.0.0.1 behind a proxy that has one'

const UNTRUSTED =
  'requests say that they came through a proxy; without --trust-proxy (trustProxy) all that come ' +
  'through it share what one address may cost'

function once(run: () => void): () => void {
  let done = false
  return () => {
    if (!done) run()
    done = true
  }
}

function openStore(file: string | null): Store {
  if (file === null) return createMemoryStore()
  if (typeof file === 'string' && file !== '') return openSqliteStore(file)
  throw badValue(`store is the name of a file, or null for memory: ${shown(file)}`)
}

function checkGames(games: readonly string[]): ReadonlySet<string> {
  for (const game of checkTexts('games', games)) checkNameOf('a game', game)
  if (games.length > 0) return new Set(games)
  throw badValue('games is empty, so there could be no session; leave it out for any game')
}

interface Parts {
  server: WebServer
  hubServer: HubServer
  streams: StreamServer
  store: Store
  events: Listeners<HubEvents>
}

class OpenHub implements InnerHub {
  readonly path: string
  readonly #loop: Loop
  readonly #startedAt: Millis
  readonly #parts: Parts
  #closed: Promise<void> | null = null

  constructor(path: string, loop: Loop, parts: Parts) {
    this.path = path
    this.#loop = loop
    this.#startedAt = loop.now()
    this.#parts = parts
    parts.server.once('close', this.#ended)
  }

  #ended = (): void => void this.close()

  health(): HubHealth & { upMs: Millis } {
    const upMs = Math.round(this.#loop.now() - this.#startedAt)
    const health = this.#parts.hubServer.health()
    const { isDraining } = this.#parts.hubServer
    if (this.#closed === null && !isDraining) return { ...health, upMs }
    const trouble = this.#closed === null ? 'this hub is drained' : 'this hub is closed'
    return { ...health, ok: false, trouble, upMs }
  }

  figures(): HubFigures {
    const { hubServer, streams } = this.#parts
    const { directory, attached, counters, budgets } = hubServer.hub
    const kept = this.kept()
    return {
      sessions: directory.rows.size,
      streams: streams.open(),
      members: [...attached.values()].reduce((sum, members) => sum + members.size, 0),
      diskOk: hubServer.health().ok,
      kept: { rooms: kept.length, bytes: kept.reduce((sum, { bytes }) => sum + bytes, 0) },
      ceilings: ceilingsOf(budgets.limits),
      hub: { ...counters },
      refused: { ...budgets.refused },
      door: { ...streams.counters },
    }
  }

  metrics(): string {
    return figuresText(this.figures())
  }

  sessions(game: string = ''): ListedSession[] {
    return all(this.#parts.hubServer.hub.directory, game).map(listedSession)
  }

  room(game: string, room: string): RoomView | null {
    return roomIn(this.#parts.hubServer, game, room)
  }

  closeRoom(game: string, room: string, options: CloseOptions): boolean {
    return closeRoom(this.#parts.hubServer, game, room, options)
  }

  kept(): KeptRoom[] {
    return keptRooms(this.#parts.hubServer)
  }

  dropRoom(game: string, room: string): boolean {
    return dropRoom(this.#parts.hubServer, game, room)
  }

  exportRoom(game: string, room: string): Uint8Array | null {
    return exportKept(this.#parts.hubServer, game, room)
  }

  importRoom(file: Uint8Array, options?: ImportOptions): Promise<KeptRoom> {
    return importKept(this.#parts.hubServer, file, options)
  }

  on<Name extends keyof HubEvents>(
    name: Name,
    listener: (event: HubEvents[Name]) => void,
    options?: Listen,
  ): Stop {
    return this.#parts.events.on(name, listener, options)
  }

  page(game: string, after: string): Page {
    return page(this.#parts.hubServer.hub, this.#loop.now(), game, after)
  }

  [ASYNC_DISPOSE](): Promise<void> {
    return this.close()
  }

  async drain(): Promise<Drained> {
    const { hubServer } = this.#parts
    await hubServer.drain()
    const { connections, sessions } = hubServer.health()
    return { streams: connections, sessions }
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    const { server, hubServer, streams, store } = this.#parts
    server.off('close', this.#ended)
    streams.close()
    await hubServer.close()
    store.close()
  }
}
