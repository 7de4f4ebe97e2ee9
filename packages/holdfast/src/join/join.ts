/** How one gets a session: `join` and `host`, for any place to run in. */

import { parse } from '../faults/conditions.ts'
import { badValue, HoldfastError, type Millis } from '../machine.ts'
import { EXPELLERS, type Expellers } from '../session/moderation.ts'
import type { MemberEvent } from '../member/state.ts'
import type { Topology } from '../hub-protocol/messages.ts'
import type { Alarm, Environment } from '../ports.ts'
import { openEvents } from './events.ts'
import { checkCount, checkFlag, checkFunction, checkNameOf } from '../api/options.ts'
import { checkOptions, checkWord } from '../api/options.ts'
import { OPERATIONS_PER_SECOND_MAX } from '../session/operations.ts'
import { MemberLoop, type MemberLoopOptions } from '../runtime/member-loop.ts'
import type { Definition } from '../kind/kind.ts'
import { SessionImpl, type InternalSession } from './session-impl.ts'
import { type KeepRoom, keepingOf } from './keep-room.ts'
import { type JoinProgress, reportProgress } from './progress.ts'
import { savedOf } from './saved-file.ts'
import { readTicket } from '../hub-protocol/tickets.ts'
import { parseToken } from './token.ts'
import type { Reports } from '../api/reports.ts'
import { type Definitions, sortDefinitions } from '../kind/definitions.ts'

export type { KeepOptions, KeepRoom, KeepTime, LaidAside } from './keep-room.ts'

/** What `join` takes. */
export interface JoinOptions {
  /** The game, as the lobby lists it: 1 to 64 bytes. */
  game: string
  /** Which of its sessions; it is created if nobody is there. Default `main`. */
  room?: string
  /** How others see us: 1 to 64 bytes. Default `player`. */
  name?: string
  /** What the game is made of, in any order; the same in every build that shall fit. */
  types?: readonly Definition[]
  /**
   * Where the hub is, such as `http://127.0.0.1:8700`; in a page by default its own origin. Without
   * a path, or with `/`, its path is `/hub`; one that ends in `/` gets `hub` put behind it; any
   * other is taken as it stands: `https://example.org/rt/` is `/rt/hub` there.
   *
   * Several, at most 8, are tried in turn: ways to one hub, or to one that takes its place with its
   * file. A member stays with the hub of its session. A hub with a file of its own is another hub,
   * with other rooms: after a minute without its own a member founds the room anew there, without
   * what was in it, and hears `rolledBack`.
   */
  server?: string | readonly string[]
  /** Most players, if this call creates the session: 1 to 256. Default 16. */
  playersMax?: number
  /** Comes back as the player whose `session.token` this is, if that is not too long ago. */
  token?: string
  /**
   * When the server and its backup are gone at once, the others go on with what they were told,
   * after some 15 seconds (default). False: then the session ends; what is lost is never partial.
   */
  recover?: boolean
  /**
   * Who may be the server and its backup: `all` members (default), or `hosts`, those that the hub
   * admitted as such by a ticket. What is hidden from players is known to both, so where that
   * matters the application runs hosts of its own; players then wait for one. The same in every
   * build that shall fit.
   */
  primaries?: 'all' | 'hosts'
  /**
   * What lets this player in where not everybody may come, and says what it may do there: text that
   * `mintTicket`, `holdfast ticket` or `session.invite` made. Who came in by it comes back without.
   * The text may carry the key of the room, for `keepRoom`; the hub does not get that.
   */
  ticket?: string
  /**
   * Whether this member may be the server or its backup (default). False makes it a guest, who
   * takes part in all else: for what nobody should depend on, such as a bot in somebody's page. A
   * guest opens no session but waits for one, and with the last member that may serve it is over.
   */
  serves?: boolean
  /**
   * Comes to watch: sees what a player without secrets sees, changes nothing, is never the server,
   * and has a place of its own beside the players. So does who comes by a ticket to watch.
   */
  watch?: boolean
  /** Most members that watch, if this call creates the session: 0 to 255. Default 16. */
  watchersMax?: number
  /**
   * Objects that one player makes at most, if this call creates the session: 0 to 10,000, by
   * default 2,500. Who came in by a ticket of a host, and a player who is alone, make as many as
   * there is room for.
   */
  objectsPerPlayer?: number
  /**
   * Who comes in, if this call creates the session: all (`open`, default), or whom somebody who
   * plays there has invited (`invite`: see `session.invite`). A hub may want tickets besides.
   */
  entry?: 'open' | 'invite'
  /**
   * For how long the hub keeps the room after its last member, if this call creates it: such as
   * `30d`; by default ten minutes, and with `false` not at all. Whoever comes meanwhile goes on
   * with the same players, table, timers and pieces; others, objects too, begin anew.
   */
  keepRoom?: KeepRoom
  /**
   * Begins the room with what `session.export` gave, where nobody is and nothing is kept: the same
   * players, table, timers and pieces, session time as it was saved. A sealed one wants its key.
   */
  from?: Uint8Array
  /**
   * Whether the room begins anew where what is kept of it cannot be read here: by another build,
   * without its key, or because its bytes are no room. That stays at the hub, under another name,
   * which `session.laidAside` says. By default `join` fails with `schema`, `forbidden` or `store`.
   */
  fresh?: boolean
  /**
   * Whether lists of rooms have it (default), if this call creates the session. Rooms by invitation
   * are in none.
   */
  listed?: boolean
  /**
   * Who may put players out beside hosts, if this call creates the session: the player that creates
   * it (`founder`, default), more than half of them by `vote`, or nobody (`hosts`).
   */
  expellers?: Expellers
  /**
   * What one player may ask of the server a second, if this call creates the session: 1 to 10,000
   * actions, changes of pieces, requests for objects, calls and messages, by default 500, and twice
   * as many at once. What is beyond waits; what is refused counts four times.
   */
  operationsPerSecond?: number
  /**
   * Who has links, if this call creates the session. `star` (default): each member to the server
   * and its backup, and the server passes everything on. `mesh`: each to all others, directly
   * where both have addresses; soonest there, and dearer by the square of the members.
   */
  topology?: Topology
  /**
   * Changes of objects leave us in at most so many rounds a second, 1 to 250 (default): fewer cost
   * less and are later.
   */
  updatesPerSecond?: number
  /** Simulated network conditions on this member's links, such as `rtt=120,loss=5%,jitter=30`. */
  condition?: string
  /**
   * Called with what `join` waits for, why, how long at most, and how much has come: at the
   * beginning and up to four times a second while that changes.
   */
  onProgress?: (progress: JoinProgress) => void
  /** Gives up joining. */
  signal?: AbortSignal
}

/** Options that the kinds of some definitions read, and check. */
const OF_KINDS = ['objectsPerPlayer', 'updatesPerSecond'] as const

const JOIN_OPTIONS = [
  ...OF_KINDS,
  ...(['game', 'room', 'name', 'types', 'server', 'playersMax', 'token', 'recover'] as const),
  ...(['primaries', 'serves', 'ticket', 'topology', 'expellers', 'operationsPerSecond'] as const),
  ...(['watch', 'watchersMax', 'entry', 'listed', 'keepRoom', 'from', 'fresh'] as const),
  ...(['condition', 'signal', 'onProgress'] as const),
  // On Node alone.
  'udp',
] as const

// Longest wait of a canceled join until the others know it.
const WITHDRAW_MS: Millis = 3_000

// Longest wait for the objects after the first view.
const INITIAL_LOAD_MS: Millis = 15_000

/** Most players of a session. */
export const PLAYERS_MAX = 256

/**
 * Joins a session, or creates it if there is none. A failure names the address: after a second if
 * it is surely no hub, after five if no server listens, after fifteen if the hub answers but no
 * member lets us in.
 *
 * @throws HoldfastError `bad-value`, `unreachable`, `forbidden` (the hub takes none of our origin),
 *   `timeout`, `full`, `version`, `schema`, `elsewhere`, `kicked`, `banned`, `exists`
 */
export async function joinIn(
  environment: Environment,
  options: JoinOptions,
): Promise<InternalSession> {
  checkOptions('join', options, JOIN_OPTIONS)
  const definitions = sortDefinitions(options.types ?? [])
  checkRead(options, definitions)
  if (options.onProgress !== undefined) checkFunction('onProgress', options.onProgress)
  const memberOptions = memberOptionsOf(options, definitions)
  const { events, reports } = openEvents(environment)
  const session = new SessionImpl(definitions, events, reports, options)
  const door = new Door(session, options, reports)
  const memberLoop = await MemberLoop.start({
    environment,
    urls: hubUrls(options.server ?? environment.defaultServer),
    memberOptions,
    parts: session.parts,
    conditions: options.condition ? parse(options.condition) : null,
    onEvent: (event) => door.onEvent(event),
    onSettled: session.onSettled,
  })
  // Before anything can be drawn.
  session.bind(memberLoop)
  return door.opened(environment, memberLoop)
}

// Refuses options that no given kind of definition reads.
function checkRead(options: JoinOptions, { kinds }: Definitions): void {
  const read = [...kinds.keys()].flatMap((kind) => kind.options ?? [])
  for (const name of OF_KINDS) {
    if (options[name] === undefined || read.includes(name)) continue
    throw badValue(`${name}: join was given no type that it is for`)
  }
}

function memberOptionsOf(
  options: JoinOptions,
  definitions: Definitions,
): MemberLoopOptions['memberOptions'] {
  const { kinds, text, kept: keptTypes } = definitions
  const { primaries = 'all', topology = 'star', recover = true, serves = true, token } = options
  checkWord('primaries', primaries, ['all', 'hosts'])
  checkWord('topology', topology, ['star', 'mesh'])
  const { watch = false, fresh = false } = options
  const given = options as unknown as Readonly<Record<string, unknown>>
  const termsOfKinds = [...kinds.keys()].map((kind) => kind.terms?.(given) ?? '')
  const { ticket, key: ofTicket } = readTicket(options.ticket ?? '')
  const came = token === undefined ? null : parseToken(token)
  const carried = ofTicket ?? came?.roomKey ?? null
  const hides = [...kinds].some(([kind, own]) => own.some((one) => kind.hides?.(one) ?? false))
  const kept = keepingOf(options.keepRoom, { hides, carried })
  const terms = [...termsOfKinds, ...termsOfRate(options), ...kept.terms, ...termsOfEntry(options)]
  return {
    game: checkNameOf('game', options.game),
    room: checkNameOf('room', options.room ?? 'main'),
    name: checkNameOf('name', options.name ?? 'player'),
    playersMax: checkCount('playersMax', options.playersMax ?? 16, 1, PLAYERS_MAX),
    keptTypes,
    types: primaries === 'hosts' ? `${text}\nprimaries: hosts` : text,
    recovers: checkFlag('recover', recover),
    hosts: primaries === 'hosts',
    ticket,
    roomKey: kept.key,
    saved: savedOf(options.from, options.game),
    fresh: checkFlag('fresh', fresh),
    hides,
    watches: checkFlag('watch', watch),
    guest: !checkFlag('serves', serves),
    topology,
    terms: terms.filter((one) => one !== '').join(';'),
    token: came,
  }
}

function termsOfRate({ operationsPerSecond: most }: JoinOptions): string[] {
  if (most === undefined) return []
  return [`operations=${checkCount('operationsPerSecond', most, 1, OPERATIONS_PER_SECOND_MAX)}`]
}

// The settings for entry, room lists and moderation.
function termsOfEntry(options: JoinOptions): string[] {
  const { entry = 'open', listed = true, expellers = 'founder', watchersMax } = options
  checkWord('entry', entry, ['open', 'invite'])
  checkWord('expellers', expellers, EXPELLERS)
  const terms: string[] = []
  if (entry === 'invite') terms.push('entry=invite')
  if (!checkFlag('listed', listed)) terms.push('listed=no')
  if (expellers !== 'founder') terms.push(`expellers=${expellers}`)
  if (watchersMax !== undefined) {
    terms.push(`watchers=${checkCount('watchersMax', watchersMax, 0, PLAYERS_MAX - 1)}`)
  }
  return terms
}

// Queues events until the first view, and passes them to the session from then on.
class Door {
  readonly #session: SessionImpl
  readonly #signal: AbortSignal | undefined
  readonly #options: JoinOptions
  readonly #reports: Reports
  readonly #early: MemberEvent[] = []
  #settle: { resolve: () => void; reject: (error: Error) => void } | null = null
  #open = false
  // The initial load is complete, or not awaited any more.
  #whole = false
  #lateAt: Millis = Infinity
  #isLate = false
  #patience: Alarm | null = null
  #now: () => Millis = () => 0

  constructor(session: SessionImpl, options: JoinOptions, reports: Reports) {
    this.#session = session
    this.#options = options
    this.#reports = reports
    this.#signal = options.signal
  }

  onEvent(event: MemberEvent): void {
    if (this.#open && this.#whole) return this.#session.onEvent(event)
    this.#early.push(event)
    this.#look()
  }

  // Events from before the session has its member loop reach it now. One that ends before it is
  // whole was never joined.
  #look(): void {
    if (!this.#settle) return
    for (const event of this.#early.splice(0)) {
      this.#session.onEvent(event)
      if (event.kind === 'view' && !this.#open) this.#enter()
      if (event.kind === 'failed') {
        this.#settle.reject(new HoldfastError(event.code, event.why, event.opens))
      }
    }
    this.#whole ||= this.#isLate && this.#session.status === 'live'
    this.#whole ||= this.#session.complete
    if (this.#open && this.#whole) this.#settle.resolve()
  }

  // `join` returns once all objects have come and ours are ours again, or after INITIAL_LOAD_MS.
  #enter(): void {
    this.#open = true
    this.#lateAt = this.#now() + INITIAL_LOAD_MS
    this.#patience?.set(this.#lateAt)
  }

  // The session ends with its process, also while it is joined.
  #endWith(environment: Pick<Environment, 'onEnd'>): (() => void)[] {
    const ended = (): void => {
      this.#session.end('the process ended')
      this.#settle?.reject(givenUp('the process ended'))
    }
    const forget = [environment.onEnd(ended)]
    this.#session.on('status', (status) => {
      if (status === 'lost') for (const one of forget) one()
    })
    return forget
  }

  #tell(memberLoop: MemberLoop): (() => void) | undefined {
    const { onProgress } = this.#options
    if (!onProgress) return undefined
    return reportProgress(
      memberLoop,
      this.#reports,
      onProgress,
      this.#session.initialLoad,
      () => this.#lateAt,
    )
  }

  async opened(
    { loop, ...environment }: Environment,
    memberLoop: MemberLoop,
  ): Promise<SessionImpl> {
    this.#now = () => loop.now()
    this.#patience = loop.alarm(() => {
      this.#isLate = true
      this.#look()
    })
    const endProgress = this.#tell(memberLoop)
    const aborted = (): void => this.#settle?.reject(givenUp(this.#signal?.reason))
    const forget = this.#endWith(environment)
    try {
      await new Promise<void>((resolve, reject) => {
        this.#settle = { resolve, reject }
        this.#signal?.addEventListener('abort', aborted)
        if (this.#signal?.aborted) aborted()
        this.#look()
      })
      const { code, reason } = this.#session
      // The session ended with the last events of its initial load.
      if (code !== null) throw new HoldfastError(code, reason)
    } catch (error) {
      if (error instanceof HoldfastError && error.code !== 'left') memberLoop.stop()
      else void memberLoop.withdraw(WITHDRAW_MS)
      for (const one of forget) one()
      throw error
    } finally {
      this.#patience.cancel()
      endProgress?.()
      this.#signal?.removeEventListener('abort', aborted)
    }
    forget.push(environment.onFreeze(() => this.#session.freeze()))
    return this.#session
  }
}

// The abort reason is the cause.
function givenUp(cause: unknown): HoldfastError {
  const why = cause instanceof Error ? cause.message : String(cause)
  const error = new HoldfastError('left', `joining was given up: ${why}`)
  error.cause = cause
  return error
}

/** Most addresses of a hub. */
export const SERVERS_MAX = 8

/** The hub URLs of one or several servers. @throws HoldfastError code `bad-value` */
export function hubUrls(server: string | readonly string[] | null): string[] {
  const given = Array.isArray(server) ? (server as readonly string[]) : [server as string | null]
  if (given.length === 0 || given.length > SERVERS_MAX) {
    throw badValue(`server is 1 to ${SERVERS_MAX} addresses: ${given.length}`)
  }
  const urls = given.map((one) => hubUrl(one))
  const twice = urls.find((url, at) => urls.indexOf(url) !== at)
  if (twice === undefined) return urls
  throw badValue(`server names an address twice: ${twice}`)
}

/**
 * The hub's stream behind what a user writes, as `JoinOptions.server` says.
 *
 * @throws HoldfastError code `bad-value`
 */
export function hubUrl(server: string | null): string {
  if (server === null) {
    throw new HoldfastError('bad-value', 'no server: give `server`, such as ws://127.0.0.1:8700')
  }
  let url: URL
  try {
    url = new URL(server)
  } catch {
    throw new HoldfastError('bad-value', `server is no URL: "${server}"`)
  }
  url.protocol = url.protocol.replace(/^http/, 'ws')
  if (url.protocol !== 'ws:' && url.protocol !== 'wss:') {
    throw new HoldfastError('bad-value', `server must be ws, wss, http or https: "${server}"`)
  }
  if (url.pathname.endsWith('/')) url.pathname += 'hub'
  url.hash = ''
  return url.href
}
