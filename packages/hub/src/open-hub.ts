/** Opens a hub on an existing web server. */

import { ASYNC_DISPOSE, type Emitter, Listeners } from '../../holdfast/src/api/emitter.ts'
import * as options from '../../holdfast/src/api/options.ts'
import { Reports } from '../../holdfast/src/api/reports.ts'
import { nodeCurves } from '../../holdfast/src/drivers/crypto/node-crypto.ts'
import { createNodeLoop } from '../../holdfast/src/drivers/net/loop-node.ts'
import { whenBare } from '../../holdfast/src/drivers/net/server/tls.ts'
import * as sockets from '../../holdfast/src/drivers/net/server/websocket-server.ts'
import { report as reportError, warn } from '../../holdfast/src/drivers/report.ts'
import { createMemoryStore } from '../../holdfast/src/drivers/store/memory.ts'
import { openSqliteStore } from '../../holdfast/src/drivers/store/sqlite.ts'
import { wallClock } from '../../holdfast/src/drivers/wall-clock.ts'
import { badValue, type Millis } from '../../holdfast/src/machine.ts'
import type { HubLinks, Loop, Store } from '../../holdfast/src/ports.ts'
import { shown } from '../../holdfast/src/wire/fields/fields.ts'
import { NOBODY, type Trust } from '../../holdfast/src/wire/text/ip.ts'
import { type Budgets, create as budgetsOf } from './machine/budgets.ts'
import { all, page } from './machine/listing.ts'
import * as relayedPairs from './machine/relayed-pairs.ts'
import type { Page } from './machine/state.ts'
import { upgradeRecords } from './machine/upgrade.ts'
import { consultWith, type OnJoin } from './on-join.ts'
import * as rooms from './rooms.ts'
import { readTrust } from '../../holdfast/src/api/door.ts'
import { type HubLimits, readLimits } from './server/given-limits.ts'
import { readServers, type TurnOptions } from './server/given-servers.ts'
import * as figures from './server/hub-figures.ts'
import type { HubHealth, RelayWrapper, Report } from './server/hub-options.ts'
import { HubServer } from './server/hub-server.ts'
import { type SharedStore, takeStore } from './nats.ts'
import { type LoginProvider, type TicketKey, ticketReader } from './tickets.ts'

/** Options of `hub()`. */
export interface HubOptions {
  /**
   * The `http` or `https` server of Node that serves your pages; Express, Fastify, Hono and Vite
   * have one. Requests and upgrades at other paths are left alone.
   */
  server: sockets.WebServer
  /** The path where members connect, as in `join({ server })`. Default `/hub`. */
  path?: string
  /** The only games that sessions may have. Default: any. */
  games?: readonly string[]
  /**
   * The file of the register, which survives the hub; its folder must exist. Null: memory, for
   * development; after a restart of the hub each room starts over, empty. A store that hubs share:
   * see `nats`.
   */
  store: string | SharedStore | null
  /**
   * Origins whose pages may connect, such as `https://play.example.com`, besides this server's own;
   * `*` for all. Behind a proxy pages have another origin: list it here.
   */
  origins?: readonly string[]
  /**
   * Limits for an address, a stream, a room and the hub that differ from the defaults, as `{
   * address: { streams: 64 } }`; docs/commands.md has the table.
   */
  limits?: HubLimits
  /**
   * The trusted proxies in front: their number, or their addresses and ranges, such as
   * `['10.0.0.0/8']`. The address of a stream is then taken from their `X-Forwarded-For`. Default
   * 0: the header is ignored.
   */
  trustProxy?: number | readonly string[]
  /**
   * The keys whose tickets the hub accepts, and identity providers whose ID tokens it accepts as
   * tickets, each for which games; rooms of these games then require one. Several keys at once
   * allow key rotation. Default: no tickets.
   */
  tickets?: readonly (TicketKey | LoginProvider)[]
  /**
   * Decides, after tickets, who may join; called each time a process of an admitted player joins. A
   * string refuses, and is the reason with which `join` rejects (`forbidden`). If it throws or
   * takes longer than 5 s, the player is refused and `report` gets the error. Default: everyone may
   * join whom the tickets admit.
   */
  onJoin?: OnJoin
  /** STUN servers for members that use WebRTC, such as `stun:stun.example.org`. Default: none. */
  stun?: readonly string[]
  /**
   * TURN servers for them, and the secret that they share with this hub (`use-auth-secret` of
   * coturn). Members get credentials that last an hour. Default: none.
   */
  turn?: TurnOptions
  /** Called with an error in the hub itself, which costs one stream. Default: a process warning. */
  report?: Report
}

/** An open hub. */
export interface HubHandle extends Emitter<rooms.HubEvents> {
  /** The path where members connect. */
  readonly path: string
  /** Its health, for health checks. */
  health(): HubHealth & { upMs: Millis }
  /** Current sessions, streams and members, and counts since the hub was opened. */
  figures(): figures.HubFigures
  /** The same in Prometheus' text format, version 0.0.4. */
  metrics(): string
  /** The sessions of one game or of all games, as a lobby lists them. */
  sessions(game?: string): figures.ListedSession[]
  /** One room, listed or not; null if it is empty. @throws HoldfastError `bad-value` */
  room(game: string, room: string): rooms.RoomView | null
  /**
   * Ends the session of a room. Its members are removed within seconds, with `why` (`forbidden`),
   * and for a while the room cannot be joined or founded, also after a restart of the hub and at
   * the other hubs of a shared store.
   *
   * @returns whether there was a session
   * @throws HoldfastError `bad-value`
   */
  closeRoom(game: string, room: string, options: rooms.CloseOptions): boolean
  /** The stored rooms, including those in use. */
  kept(): rooms.KeptRoom[]
  /**
   * Drops a stored room; one in use is stored again as it is.
   *
   * @returns whether it was stored
   * @throws HoldfastError `bad-value`
   */
  dropRoom(game: string, room: string): boolean
  /**
   * Exports a stored room as bytes for a file: see `importRoom`, and `from` of `join`. The export
   * of a room in use lacks the last 0.1 s. Resolves with null if the room is not stored. Rejects
   * with a HoldfastError: `bad-value`, or `store` if it cannot be read.
   */
  exportRoom(game: string, room: string): Promise<Uint8Array | null>
  /**
   * Stores a room from `exportRoom` or `session.export`, as if its players had just left it.
   * Resolves once it is persisted. Rejects with a HoldfastError: `bad-value` for an invalid file,
   * `no-such-game`, `exists` if the room does, `full`, `store`.
   */
  importRoom(file: Uint8Array, options?: rooms.ImportOptions): Promise<rooms.KeptRoom>
  /**
   * Prepares a restart: refuses new streams, and `health` is not ok, so that a proxy sends members
   * to another hub. Members here play on, until `close` sends them away as well.
   */
  drain(): Promise<Drained>
  /**
   * Waits for requested writes, closes all streams, and releases the file. Members reconnect to the
   * next hub with the same file, or go on at once at another one that shares the store. Closing the
   * server closes the hub too, but the server waits for streams, so close the hub first. A second
   * call returns the promise of the first.
   */
  close(): Promise<void>
  /** Closes the hub at the end of a block with `await using`. */
  [Symbol.asyncDispose](): Promise<void>
}

/** What remains on a drained hub. */
export interface Drained {
  /** Open streams, of members and joining processes. */
  readonly streams: number
  /** Sessions that continue. */
  readonly sessions: number
}

/** Further options for this package's own program. */
export interface InnerOptions {
  /** Paths besides `path`. */
  paths?: readonly string[]
  wrapRelay?: RelayWrapper | undefined
  /** Existing spending and its limits. */
  budgets?: Budgets
  /** The trusted proxies. */
  trust?: Trust
  /** How many TCP connections may wait; a server that is not ours limits that itself. */
  waitingMax?: sockets.StreamServerOptions['waitingMax']
}

/**
 * Opens a hub on a server, listening or not.
 *
 * @throws HoldfastError `bad-value` or `store`, with a remedy
 */
export function hub(given: HubOptions): HubHandle {
  options.checkOptions('hub', given, [
    ...(['server', 'path', 'games', 'store', 'origins'] as const),
    ...(['limits', 'trustProxy', 'tickets', 'onJoin', 'stun', 'turn', 'report'] as const),
  ])
  return openHub(given, { waitingMax: 0 })
}

/** The hub of this package's own program. */
export interface InnerHub extends HubHandle {
  /** A page of the list of rooms, at most a second old (listing.ts). */
  page(game: string, after: string): Page
}

/** Opens a hub. @throws HoldfastError `bad-value` or `store` */
export function openHub(given: HubOptions, inner: InnerOptions): InnerHub {
  const { server, path = '/hub', origins = [], report = reportError } = given
  options.checkServer('server', server)
  const paths = [path, ...(inner.paths ?? [])].map(options.checkPath)
  options.checkFunction('report', report)
  const games = given.games === undefined ? null : checkGames(given.games)
  const limits = readLimits('limits', given.limits ?? {})
  const trust = inner.trust ?? readTrust('trustProxy', given.trustProxy)
  const tickets = ticketReader('tickets', given.tickets ?? [])
  const servers = readServers(given.stun, given.turn)
  const loop = createNodeLoop()
  const consult = consultWith(given.onJoin, loop)
  const { store, links } = openStore(given.store)
  try {
    const events = eventsOf(loop, report)
    const hubServer = new HubServer(loop, store, {
      onRoomChange: (change) => events.emit(change.kind, rooms.eventOf(change)),
      curves: nodeCurves,
      wall: wallClock,
      games,
      tickets,
      consult,
      servers,
      report,
      wrapRelay: inner.wrapRelay,
      ...(links && { links }),
      budgets: inner.budgets ?? budgetsOf(limits),
    })
    const streams = sockets.acceptStreams(server, {
      path: paths,
      origins: options.checkTexts('origins', origins),
      ...(inner.waitingMax !== undefined && { waitingMax: inner.waitingMax }),
      // The hub chooses which stream to close when there are too many.
      connectionsMax: Infinity,
      trust,
      untrusted: once(() => report(new Error(UNTRUSTED), 'a proxy')),
      accept: (stream, opening) => hubServer.accept(stream, opening),
      beacon: (body, opening) => hubServer.beacon(body, opening),
    })
    // A trusted proxy terminates TLS.
    if (trust === NOBODY) whenBare(server, (address) => warn(BARE(address)))
    return handleOf(path, loop, { server, hubServer, streams, store, events })
  } catch (error) {
    store.close()
    throw error
  }
}

function eventsOf(loop: Loop, report: Report): Listeners<rooms.HubEvents> {
  const reports = new Reports({
    soon: (run) => loop.soon(run),
    notify: () => false,
    reportUncaught: ({ error, where }) => report(error, where),
  })
  return new Listeners<rooms.HubEvents>('a hub', rooms.HUB_EVENTS, reports)
}

const BARE = (address: string): string =>
  `a hub listens on ${address} without TLS: anyone on the path learns who plays where and can ` +
  'keep players apart, but can neither read nor change their messages; give the server a ' +
  'certificate (--tls-cert), or listen on 127.0.0.1 behind a proxy that has one'

const UNTRUSTED =
  'requests came through a proxy; without --trust-proxy (trustProxy) all clients behind it share ' +
  'the limits of one address'

function once(run: () => void): () => void {
  let done = false
  return () => {
    if (!done) run()
    done = true
  }
}

function openStore(given: HubOptions['store']): { store: Store; links?: HubLinks } {
  if (given === null) return { store: createMemoryStore() }
  if (typeof given === 'string' && given !== '')
    return { store: openSqliteStore(given, { upgrade: upgradeRecords }) }
  const shared = typeof given === 'object' ? takeStore(given) : null
  if (shared === 'taken') throw badValue('store was given to a hub before: open one for each hub')
  if (shared) return shared
  const others = 'null for memory, or what nats() resolved with'
  throw badValue(`store is the name of a file, ${others}: ${shown(given)}`)
}

function checkGames(games: readonly string[]): ReadonlySet<string> {
  for (const game of options.checkTexts('games', games)) options.checkNameOf('a game', game)
  if (games.length > 0) return new Set(games)
  throw badValue('games is empty, so there could be no session; leave it out for any game')
}

interface Parts {
  server: sockets.WebServer
  hubServer: HubServer
  streams: sockets.StreamServer
  store: Store
  events: Listeners<rooms.HubEvents>
}

function handleOf(path: string, loop: Loop, parts: Parts): InnerHub {
  const { server, hubServer, streams, store, events } = parts
  const startedAt = loop.now()
  let closed: Promise<void> | null = null
  const ended = (): void => void close()
  const end = async (): Promise<void> => {
    server.off('close', ended)
    await hubServer.close()
    streams.close()
    store.close()
  }
  const close = (): Promise<void> => (closed ??= end())
  server.once('close', ended)
  const figuresNow = (): figures.HubFigures => figuresOf(hubServer, streams, loop.now())
  return {
    path,
    health: () => {
      const health = { ...hubServer.health(), upMs: Math.round(loop.now() - startedAt) }
      if (closed) return { ...health, ok: false, trouble: 'this hub is closed' }
      return hubServer.isDraining
        ? { ...health, ok: false, trouble: 'this hub is drained' }
        : health
    },
    figures: figuresNow,
    metrics: () => figures.figuresText(figuresNow()),
    sessions: (game = '') => all(hubServer.hub.registers, game).map(figures.listedSession),
    room: (game, room) => rooms.roomIn(hubServer, game, room),
    closeRoom: (game, room, how) => rooms.closeRoom(hubServer, game, room, how),
    kept: () => rooms.storedRooms(hubServer),
    dropRoom: (game, room) => rooms.dropRoom(hubServer, game, room),
    exportRoom: (game, room) => rooms.exportStored(hubServer, game, room),
    importRoom: (file, how) => rooms.importStored(hubServer, file, how),
    on: (name, listener, how) => events.on(name, listener, how),
    page: (game, after) => page(hubServer.hub, loop.now(), game, after),
    drain: () => {
      hubServer.isDraining = true
      const { connections, sessions } = hubServer.health()
      return Promise.resolve({ streams: connections, sessions })
    },
    close,
    [ASYNC_DISPOSE]: close,
  }
}

function figuresOf(
  hubServer: HubServer,
  streams: sockets.StreamServer,
  now: number,
): figures.HubFigures {
  const { registers, attached, counters, budgets } = hubServer.hub
  const stored = rooms.storedRooms(hubServer)
  return {
    sessions: registers.rows.size,
    streams: streams.open(),
    members: [...attached.values()].reduce((sum, members) => sum + members.size, 0),
    relayedPairs: relayedPairs.count(hubServer.hub, now),
    diskOk: hubServer.health().ok,
    kept: { rooms: stored.length, bytes: stored.reduce((sum, { bytes }) => sum + bytes, 0) },
    ceilings: figures.ceilingsOf(budgets.limits),
    hub: { ...counters },
    refused: { ...budgets.refused },
    door: { ...streams.counters },
  }
}
