/** `join` and `host`, on every platform. */

import { parse } from '../faults/conditions.ts'
import { badValue, HoldfastError, type Millis, NAME_MAX } from '../machine.ts'
import { EXPELLERS, type Expellers } from '../session/moderation.ts'
import type { MemberEvent } from '../member/state.ts'
import type { Topology } from '../hub-protocol/messages.ts'
import type { Alarm, Environment, WebRtcOptions } from '../ports.ts'
import { iceOf } from './ice.ts'
import { openEvents } from './events.ts'
import {
  checkCount,
  checkFlag,
  checkFunction,
  checkNameOf,
  checkOptions,
  checkWord,
} from '../api/options.ts'
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

/** The options of `join`. */
export interface JoinOptions {
  /** The game, as the lobby lists it: 1 to 64 bytes. */
  game: string
  /** The room of the game; created if nobody is in it. Default `main`. */
  room?: string
  /** The player's name as others see it: 1 to 64 bytes. Default `player`. */
  name?: string
  /** The definitions of the game, in any order; the same in all builds that play together. */
  types?: readonly Definition[]
  /**
   * The hub's address, such as `http://127.0.0.1:8700`; a page defaults to its own origin. Without
   * a path, or with `/`, the path is `/hub`; a path that ends in `/` gets `hub` appended; any other
   * is used as it is: `https://example.org/rt/` is `/rt/hub` there.
   *
   * Several addresses, at most 8, are tried in turn: paths to one hub, or to a replacement that has
   * its file. A member stays with the hub of its session. A hub with another file has other rooms:
   * after a minute without its own hub a member founds the room there again, without its content,
   * and emits `rolledBack`.
   */
  server?: string | readonly string[]
  /** Most players, if this call creates the session: 1 to 256. Default 16. */
  playersMax?: number
  /** Rejoins as the player whose `session.token` this is, if it has not expired. */
  token?: string
  /**
   * Whether the others continue with what they received after primary and backup failed at once,
   * after some 15 seconds (default). False: the session ends, so a loss is never partial.
   */
  recover?: boolean
  /**
   * Which members may be primary or backup: `all` (default), or `hosts`, which the hub admitted as
   * such by a ticket. Both know what is hidden from players, so where that matters the application
   * runs its own hosts, and players wait for one. The same in all builds that play together.
   */
  primaries?: 'all' | 'hosts'
  /**
   * The credential for a room that not everybody may join, which also defines what its bearer may
   * do there: text from `mintTicket`, `holdfast ticket` or `session.invite`. A player who joined
   * with it rejoins without it. It may carry the room's key for `keepRoom`; the hub never gets it.
   */
  ticket?: string
  /**
   * Whether this member may be primary or backup (default). False makes it a guest, which takes
   * part in everything else: for members nobody should depend on, such as a bot in a user's page. A
   * guest creates no session but waits for one, which ends with the last member that may serve.
   */
  serves?: boolean
  /**
   * Joins to watch: sees what a player without secrets sees, changes nothing, is never primary, and
   * counts towards `watchersMax` instead of `playersMax`. A ticket to watch does the same.
   */
  watch?: boolean
  /** Most members that watch, if this call creates the session: 0 to 255. Default 16. */
  watchersMax?: number
  /**
   * Most objects that one player creates, if this call creates the session: 0 to 10,000. Default
   * 2,500. Only the room's capacity limits a player with a host's ticket, or one who is alone.
   */
  objectsPerPlayer?: number
  /**
   * Admission to the session that this call creates: `open` (default) admits everybody, `invite`
   * players whom a player there invited (see `session.invite`). A hub may also require tickets.
   */
  entry?: 'open' | 'invite'
  /**
   * How long the hub keeps the room after its last member left, if this call creates it: such as
   * `30d`; by default ten minutes, with `false` not at all. Players who join meanwhile continue
   * with the same players, table, timers and pieces; everything else, objects too, starts empty.
   */
  keepRoom?: KeepRoom
  /**
   * Starts a room that is empty and not stored from the bytes of `session.export`: with the same
   * players, table, timers, pieces and session time. A sealed export needs its key.
   */
  from?: Uint8Array
  /**
   * Whether to start a new room if the stored one is unreadable here: it is of another build, its
   * key is missing, or its bytes are no room. The hub keeps the old one under the name in
   * `session.laidAside`. By default `join` fails with `schema`, `forbidden` or `store`.
   */
  fresh?: boolean
  /**
   * Whether lists of rooms show it (default), if this call creates the session. Rooms by invitation
   * are never listed.
   */
  listed?: boolean
  /**
   * Expulsion in the session that this call creates. Hosts may always expel players; besides them
   * the creator may (`founder`, default), more than half of the players (`vote`), or nobody
   * (`hosts`).
   */
  expellers?: Expellers
  /**
   * Most requests of one player to the primary a second, if this call creates the session: 1 to
   * 10,000 actions, changes of pieces, requests for objects, calls and messages. Default 500, and
   * twice as many in a burst. Further requests wait; a refused one counts four times.
   */
  operationsPerSecond?: number
  /**
   * Links of the session that this call creates. `star` (default): each member has links to primary
   * and backup, and the primary forwards. `mesh`: each member has links to all others, directly
   * where both have addresses: fastest, at a cost that grows with the square of the members.
   */
  topology?: Topology
  /**
   * Most send ticks a second for this member's objects: 1 to 250 (default). Fewer cost less and add
   * delay.
   */
  updatesPerSecond?: number
  /**
   * Whether members in browsers, and those on Node that ask for it, are reached directly by WebRTC
   * where both allow it; default false. Until a direct path is open, and where none is, packets go
   * through the hub. Members that use it learn addresses of this machine; `{ relayOnly: true }`
   * hides them, with a TURN server of the hub or in `ice`. A kept room whose members all died at
   * once opens after 60 s, not 15, for they might play on. On Node it needs the package
   * node-datachannel.
   */
  webrtc?: boolean | WebRtcOptions
  /** Simulated network conditions on this member's links, such as `rtt=120,loss=5%,jitter=30`. */
  condition?: string
  /**
   * Called at the start, and up to four times a second at a change, with what `join` waits for,
   * why, how long at most (a change by a second counts), and how much has arrived.
   */
  onProgress?: (progress: JoinProgress) => void
  /** Aborts joining. */
  signal?: AbortSignal
}

/** Options that the kinds of some definitions read and check. */
const OF_KINDS = ['objectsPerPlayer', 'updatesPerSecond'] as const

const JOIN_OPTIONS = [
  ...OF_KINDS,
  ...(['game', 'room', 'name', 'types', 'server', 'playersMax', 'token', 'recover'] as const),
  ...(['primaries', 'serves', 'ticket', 'topology', 'expellers', 'operationsPerSecond'] as const),
  ...(['watch', 'watchersMax', 'entry', 'listed', 'keepRoom', 'from', 'fresh'] as const),
  ...(['condition', 'signal', 'onProgress', 'webrtc'] as const),
  // Only on Node.
  ...(['udp', 'listen'] as const),
] as const

// Longest wait of a canceled join until the others know.
const WITHDRAW_MS: Millis = 3_000

// Longest wait for the objects after the first view.
const INITIAL_LOAD_MS: Millis = 15_000

/** Most players of a session. */
export const PLAYERS_MAX = 256

/**
 * Joins a session, or creates it if there is none. A failure names the address: after a second if
 * it is surely no hub, after five if no server listens, after fifteen if the hub answers but no
 * member admits this one.
 *
 * @throws HoldfastError `bad-value`, `unreachable`, `forbidden` (the hub refuses our origin),
 *   `timeout`, `full`, `version`, `schema`, `elsewhere`, `kicked`, `banned`, `exists`
 */
export async function joinIn(
  environment: Environment,
  options: JoinOptions,
): Promise<InternalSession> {
  checkOptions('join', options, JOIN_OPTIONS)
  if (options.game === undefined) {
    throw badValue(`join needs \`game\`, a text of 1 to ${NAME_MAX} bytes: undefined`)
  }
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
    ice: iceOf(options.webrtc),
    onEvent: (event) => door.onEvent(event),
    onSettled: session.onSettled,
  })
  // Before anything draws random numbers.
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
  // The initial load is complete, or no longer awaited.
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

  // Delivers queued events once the session has its member loop. A session that fails before its
  // initial load is complete was never joined.
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

  // `join` returns once all objects arrived and we own ours again, or after INITIAL_LOAD_MS.
  #enter(): void {
    this.#open = true
    this.#lateAt = this.#now() + INITIAL_LOAD_MS
    this.#patience?.set(this.#lateAt)
  }

  // The session ends with its process, even during `join`.
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

  #reportProgress(memberLoop: MemberLoop): (() => void) | undefined {
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
    const endProgress = this.#reportProgress(memberLoop)
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

/** The hub's URL for an address; see `JoinOptions.server`. @throws HoldfastError `bad-value` */
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
