/** How a hub is opened on a web server that is already there. */

import { ASYNC_DISPOSE, type Emitter, Listeners } from '../../holdfast/src/api/emitter.ts'
import * as options from '../../holdfast/src/api/options.ts'
import { Reports } from '../../holdfast/src/api/reports.ts'
import { nodeCurves } from '../../holdfast/src/drivers/crypto/node-crypto.ts'
import { createNodeLoop } from '../../holdfast/src/drivers/net/loop-node.ts'
import { whenBare } from '../../holdfast/src/drivers/net/server/tls.ts'
import * as sockets from '../../holdfast/src/drivers/net/server/websocket-server.ts'
import { report, warn } from '../../holdfast/src/drivers/report.ts'
import { createMemoryStore } from '../../holdfast/src/drivers/store/memory.ts'
import { openSqliteStore } from '../../holdfast/src/drivers/store/sqlite.ts'
import { wallClock } from '../../holdfast/src/drivers/wall-clock.ts'
import { badValue, type Millis } from '../../holdfast/src/machine.ts'
import type { Loop, Store } from '../../holdfast/src/ports.ts'
import { shown } from '../../holdfast/src/wire/fields/fields.ts'
import { NOBODY, type Trust } from '../../holdfast/src/wire/text/ip.ts'
import { type Budgets, create as budgetsOf } from './machine/budgets.ts'
import { all, page } from './machine/listing.ts'
import type { Page } from './machine/state.ts'
import { consultWith, type OnJoin } from './on-join.ts'
import * as rooms from './rooms.ts'
import { type HubLimits, readLimits, readTrust } from './server/given-limits.ts'
import * as figures from './server/hub-figures.ts'
import { type HubHealth, HubServer, type Report, type Weather } from './server/hub-server.ts'
import { type TicketKey, ticketReader } from './tickets.ts'

/** Options of `hub()`: where it keeps its register, who may come, what it listens to. */
export interface HubOptions {
  /**
   * The server, of Node's `http` or `https`, that your pages come from: Express, Fastify, Hono and
   * Vite have one. Requests and upgrades at other paths stay what they are.
   */
  server: sockets.WebServer
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
export interface HubHandle extends Emitter<rooms.HubEvents> {
  /** Where members connect. */
  readonly path: string
  /** How it does; for a check of health. */
  health(): HubHealth & { upMs: Millis }
  /** Sessions, streams and members at this moment, and counts since the hub was opened. */
  figures(): figures.HubFigures
  /** The same in Prometheus' text format, version 0.0.4. */
  metrics(): string
  /** The sessions of one game or of all, as a lobby lists them. */
  sessions(game?: string): figures.ListedSession[]
  /** One room, listed or not; null if nobody is in it. @throws HoldfastError `bad-value` */
  room(game: string, room: string): rooms.RoomView | null
  /**
   * Ends the session of a room. Its members are out within seconds, with `why` (`forbidden`), and
   * nobody comes in or opens it anew for a while. Forgotten when the hub starts again.
   *
   * @returns whether there was a session
   * @throws HoldfastError `bad-value`
   */
  closeRoom(game: string, room: string, options: rooms.CloseOptions): boolean
  /** What is kept of rooms, also of those that somebody is in. */
  kept(): rooms.KeptRoom[]
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
  importRoom(file: Uint8Array, options?: rooms.ImportOptions): Promise<rooms.KeptRoom>
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
  waitingMax?: sockets.StreamServerOptions['waitingMax']
}

/**
 * Opens a hub on a server, whether that listens already or not.
 *
 * @throws HoldfastError `bad-value` or `store`, with what to do
 */
export function hub(given: HubOptions): HubHandle {
  options.checkOptions('hub', given, [
    ...(['server', 'path', 'games', 'store', 'origins'] as const),
    ...(['limits', 'trustProxy', 'tickets', 'onJoin', 'report'] as const),
  ])
  return openHub(given, { waitingMax: 0 })
}

/** A hub as our own program has it. */
export interface InnerHub extends HubHandle {
  /** A part of the list of rooms, at most a second old; see listing.ts. */
  page(game: string, after: string): Page
}

/** Opens one. @throws HoldfastError `bad-value` or `store` */
export function openHub(given: HubOptions, inner: InnerOptions): InnerHub {
  const { server, path = '/hub', origins = [], report: tell = report } = given
  options.checkServer('server', server)
  const paths = [path, ...(inner.paths ?? [])].map(options.checkPath)
  options.checkFunction('report', tell)
  const games = given.games === undefined ? null : checkGames(given.games)
  const limits = readLimits('limits', given.limits ?? {})
  const trust = inner.trust ?? readTrust('trustProxy', given.trustProxy)
  const tickets = ticketReader('tickets', given.tickets ?? [])
  const loop = createNodeLoop()
  const consult = consultWith(given.onJoin, loop)
  const store = openStore(given.store)
  try {
    const events = eventsOf(loop, tell)
    const hubServer = new HubServer(loop, store, {
      onRoomChange: (news) => events.emit(news.kind, rooms.eventOf(news)),
      curves: nodeCurves,
      wall: wallClock,
      games,
      tickets,
      consult,
      report: tell,
      weather: inner.weather,
      budgets: inner.budgets ?? budgetsOf(limits),
    })
    const streams = sockets.acceptStreams(server, {
      path: paths,
      origins: options.checkTexts('origins', origins),
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
    return handleOf(path, loop, { server, hubServer, streams, store, events })
  } catch (error) {
    store.close()
    throw error
  }
}

function eventsOf(loop: Loop, tell: Report): Listeners<rooms.HubEvents> {
  const reports = new Reports({
    soon: (run) => loop.soon(run),
    notify: () => false,
    reportUncaught: ({ error, where }) => tell(error, where),
  })
  return new Listeners<rooms.HubEvents>('a hub', rooms.HUB_EVENTS, reports)
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
    streams.close()
    await hubServer.close()
    store.close()
  }
  const close = (): Promise<void> => (closed ??= end())
  server.once('close', ended)
  const figuresNow = (): figures.HubFigures => figuresOf(hubServer, streams)
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
    kept: () => rooms.keptRooms(hubServer),
    dropRoom: (game, room) => rooms.dropRoom(hubServer, game, room),
    exportRoom: (game, room) => rooms.exportKept(hubServer, game, room),
    importRoom: (file, how) => rooms.importKept(hubServer, file, how),
    on: (name, listener, how) => events.on(name, listener, how),
    page: (game, after) => page(hubServer.hub, loop.now(), game, after),
    drain: async () => {
      await hubServer.drain()
      const { connections, sessions } = hubServer.health()
      return { streams: connections, sessions }
    },
    close,
    [ASYNC_DISPOSE]: close,
  }
}

function figuresOf(hubServer: HubServer, streams: sockets.StreamServer): figures.HubFigures {
  const { registers, attached, counters, budgets } = hubServer.hub
  const kept = rooms.keptRooms(hubServer)
  return {
    sessions: registers.rows.size,
    streams: streams.open(),
    members: [...attached.values()].reduce((sum, members) => sum + members.size, 0),
    diskOk: hubServer.health().ok,
    kept: { rooms: kept.length, bytes: kept.reduce((sum, { bytes }) => sum + bytes, 0) },
    ceilings: figures.ceilingsOf(budgets.limits),
    hub: { ...counters },
    refused: { ...budgets.refused },
    door: { ...streams.counters },
  }
}
