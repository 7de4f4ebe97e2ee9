/**
 * Runs one member: feeds it time, datagrams and hub messages, and carries out its output.
 *
 * Events are queued until the current call has returned, so a listener may call back at once. One
 * alarm serves the member's deadline; a stall shows in how late it fires.
 */

import { openCarriers } from '../drivers/net/carriers.ts'
import { Conditioner } from '../drivers/net/conditioner.ts'
import { LateChannels } from '../drivers/net/late-channels.ts'
import { Relay } from '../drivers/net/relay.ts'
import { type Conditions, createPath, type Path, PERFECT } from '../faults/conditions.ts'
import type { Millis } from '../machine.ts'
import type { Part } from '../kind/protocol/part.ts'
import * as member from '../member/member.ts'
import {
  create,
  type CurveAnswer,
  type CurveQuestion,
  type Member,
  type MemberEvent,
  type MemberPorts,
  type Runtime,
  type MountedPart,
  type MemberOptions,
  type Identity,
} from '../member/state.ts'
import { TAKES_CHANNELS } from '../member/channels.ts'
import { type Waiting, waitingOf } from '../member/join-client.ts'
import { markOf } from '../member/room-key.ts'
import {
  type Alarm,
  type Ciphers,
  type Datagrams,
  type IceOptions,
  type IceServer,
  type Loop,
  type Later,
  type Crypto,
  type Curves,
  type Environment,
  KEY_BYTES,
} from '../ports.ts'
import { ADDRESSES_MAX, type PersistedPoint } from '../replication/layouts.ts'
import { isChannel, isRelayed, frameMessage } from '../wire/relay.ts'
import { hasLeft } from '../session/session.ts'
import { HubConnection } from './hub-stream.ts'

export interface Player {
  crypto: Crypto
  identity: Identity
}

export async function openPlayer(
  environment: Environment,
  token: { seed: Uint8Array } | null,
): Promise<Player> {
  const crypto = await environment.crypto()
  const seed = token?.seed ?? environment.loop.random(KEY_BYTES)
  return { crypto, identity: { seed, key: await crypto.curves.signer(seed) } }
}

export function answerOf(curves: Curves, question: CurveQuestion): Later<CurveAnswer> {
  switch (question.kind) {
    case 'sign':
      return curves.sign(question.seed, question.message)
    case 'verify':
      return curves.verify(question.key, question.message, question.signature)
    case 'agree': {
      const shared = question.pairs.map(([secret, point]) => curves.agree(secret, point))
      const waits = shared.some((one) => one instanceof Promise)
      return waits ? Promise.all(shared.map(async (one) => one)) : (shared as (Uint8Array | null)[])
    }
  }
}

/** Without a call for so long the process was frozen, as browsers do to pages. */
const STANDSTILL_MS: Millis = 1_000
/** A loss of contact noticed so soon after a standstill began with the standstill. */
const NOTICED_MS: Millis = 5_000

export interface MemberLoopOptions {
  environment: Environment
  /** The hub's URLs, `ws://…/hub`, in the order in which they are tried. */
  urls: readonly string[]
  memberOptions: Omit<
    MemberOptions,
    'addresses' | 'kind' | 'hub' | 'identity' | 'resume' | 'point'
  > & {
    guest: boolean
    token: Token | null
  }
  parts: { part: Part<never>; state: unknown }[]
  conditions: Conditions | null
  /** How channels are opened; null for none. */
  ice: IceOptions | null
  /** Called for each event, outside of all calls into the member. */
  onEvent: (event: MemberEvent) => void
  /** Called when all events of one call were handled. */
  onSettled: () => void
}

/**
 * The identity with which a player rejoins, and what only the player stores of the room. Anyone who
 * has the seed is that player.
 */
export interface Token {
  session: string
  player: number
  seed: Uint8Array
  /** The key of the room; null for none. */
  roomKey: Uint8Array | null
  /** The newest point known to be on the hub's disk; null for none. */
  point: Omit<PersistedPoint, 'session'> | null
}

export class MemberLoop {
  readonly loop: Loop
  readonly member: Member
  readonly #run: Runtime
  readonly #alarm: Alarm
  readonly #hub: HubConnection
  readonly #direct: Datagrams
  readonly #channels: LateChannels | null
  /** The hub's STUN and TURN servers. */
  #hubServers: IceServer[] = []
  readonly #relay: Relay
  readonly #curves: Curves
  readonly #conditioner: Conditioner
  readonly #paths = {
    in: createPath(),
    out: createPath(),
    fromRelay: createPath(),
    toRelay: createPath(),
  }
  readonly #onEvent: (event: MemberEvent) => void
  readonly #onSettled: () => void
  #touched = false
  #touchedAt: Millis = 0
  // Listeners were notified of the first change of this turn.
  #notified = false
  #depth = 0
  readonly #queue: MemberEvent[] = []
  readonly #traffic: Traffic
  #notifying = false
  #armedAt: Millis = Infinity
  #stopped = false
  #lastCallAt: Millis = 0
  #standstill = { from: -Infinity, until: -Infinity }

  private constructor(options: MemberLoopOptions, direct: Datagrams, { crypto, identity }: Player) {
    const { environment, conditions } = options
    const { loop } = environment
    this.loop = loop
    this.#onEvent = options.onEvent
    this.#onSettled = options.onSettled
    this.#direct = direct
    this.#channels = this.#channelsOf(options)
    this.#conditioner = new Conditioner(loop, conditions ?? PERFECT)
    this.#traffic = new Traffic(loop.now())
    const memberOptions = memberOptionsOf(options, addressesOf(options, direct), {
      crypto,
      identity,
    })
    this.#curves = crypto.curves
    this.member = create(
      loop.now(),
      memberOptions,
      loop.random(32),
      options.parts as unknown as MountedPart[],
    )
    this.#run = member.wire(this.member, {
      ciphers: crypto.ciphers,
      datagram: (to, bytes) => {
        this.#traffic.sent(this.#run.now, bytes.length)
        const relayed = isRelayed(to)
        const carrier = relayed ? this.#relay : ((isChannel(to) ? this.#channels : null) ?? direct)
        if (this.#conditioner.quiet) return carrier.send(to, bytes)
        const path = relayed ? this.#paths.toRelay : this.#paths.out
        this.#conditioner.pass(path, bytes, (copy) => carrier.send(to, copy))
      },
      reaches: (address) => direct.reaches(address),
      ...(this.#channels ? this.#portsOf(this.#channels) : {}),
      hub: (message) => void this.#hub.send(frameMessage(message)),
      elsewhere: () => this.#hub.elsewhere(),
      compute: (job, question) => this.#compute(job, question),
      emit: (event) => void this.#queue.push(event),
      threw: (error, where) => void this.#queue.push({ kind: 'threw', error, where }),
    })
    this.#lastCallAt = loop.now()
    this.#alarm = loop.alarm(() => this.#wake())
    this.#relay = new Relay(
      (frame) => this.#hub.send(frame),
      () => this.#hub.backlog(),
      { datagram: (from, bytes) => this.#receive(from, bytes, this.#paths.fromRelay) },
    )
    this.#hub = new HubConnection(options.urls, environment, {
      opened: () => this.do((now) => member.hubOpened(this.#run, now)),
      closed: () => this.do((now) => member.hubClosed(this.#run, now)),
      met: (met) => this.do((now) => member.hubMet(this.#run, now, met)),
      message: (bytes) => this.do((now) => member.hubMessage(this.#run, now, bytes)),
      quiet: (isQuiet) => this.do(() => void this.#queue.push({ kind: 'quiet', isQuiet })),
      relayed: (from, bytes) => this.#relay.deliver(from, bytes),
      isNeeded: () => member.needsHub(this.#run),
    })
    this.do((now) => member.started(this.#run, now))
  }

  #channelsOf({ ice, environment: { openChannels } }: MemberLoopOptions): LateChannels | null {
    if (!ice || !openChannels) return null
    const { ice: own = [], relayOnly = false } = ice
    return new LateChannels(() =>
      openChannels(() => ({ ice: [...own, ...this.#hubServers], relayOnly }), {
        signal: (peer, bytes) => this.do((now, run) => member.signalled(run, now, peer, bytes)),
        candidate: (peer, address) => {
          this.do((now, run) => member.channelOpened(run, now, peer, address))
        },
        gone: (address) => this.do((now, run) => member.channelClosed(run, now, address)),
        refused: (refusal) => this.do(() => void this.#queue.push({ kind: 'ice', ...refusal })),
        datagram: (from, bytes) => this.#receive(from, bytes, this.#paths.in),
      }),
    )
  }

  #portsOf(channels: LateChannels): Pick<MemberPorts, 'channels' | 'servers'> {
    return {
      channels,
      servers: (given) => void (this.#hubServers = given.urls.length > 0 ? [given] : []),
    }
  }

  #receive(from: string, bytes: Uint8Array, path: Path): void {
    if (this.#conditioner.quiet) this.#take(from, bytes)
    else this.#conditioner.pass(path, bytes, (copy) => this.#take(from, copy))
  }

  #take(from: string, bytes: Uint8Array): void {
    this.do((now) => {
      this.#traffic.received(now, bytes.length)
      member.datagram(this.#run, now, from, bytes)
    })
  }

  // The answer always comes after the call that asked.
  #compute(job: number, question: CurveQuestion): void {
    const done = (answer: CurveAnswer): void => {
      this.do((now) => member.computed(this.#run, now, job, answer))
    }
    const answer = answerOf(this.#curves, question)
    if (answer instanceof Promise) answer.then(done, () => done(false))
    else this.loop.soon(() => done(answer))
  }

  /** The token of this player; null before it has joined. */
  get token(): Token | null {
    const { resume, session: own, options } = this.member
    if (!resume) return null
    const { session, player } = resume
    const point = own.point?.session === session ? own.point : null
    return { session, player, seed: options.identity.seed, roomKey: options.roomKey, point }
  }

  /** Opens the carriers and starts. @throws HoldfastError when one cannot be opened */
  static async start(options: MemberLoopOptions): Promise<MemberLoop> {
    const player = await openPlayer(options.environment, options.memberOptions.token)
    let started: MemberLoop | null = null
    const direct = await openCarriers(options.environment.carriers, {
      datagram: (from, bytes) => {
        if (started) started.#receive(from, bytes, started.#paths.in)
      },
      refused: (address) => started?.do((now, run) => member.refused(run, now, address)),
    })
    started = new MemberLoop(options, direct, player)
    return started
  }

  /** Session time; NaN while it is not known. */
  sessionTime(): Millis {
    return member.knowsTime(this.#run) ? member.sessionTime(this.#run, this.loop.now()) : NaN
  }

  /** Session time of a change made now: one instant until the running code returns. */
  changeTime(): Millis {
    this.touch()
    if (!member.knowsTime(this.#run)) return NaN
    return member.sessionTime(this.#run, this.#touched ? this.#touchedAt : this.loop.now())
  }

  get bytesPerSecond(): ByteRates {
    return this.#traffic.rates(this.loop.now())
  }

  /** Sets simulated network conditions on our links; null for none. */
  condition(conditions: Conditions | null): void {
    this.#conditioner.change(conditions ?? PERFECT)
  }

  get waiting(): Waiting {
    return waitingOf(this.#run)
  }

  /** Since when contact is lost, for a loss noticed now. */
  outOfTouchSince(): Millis {
    const now = this.loop.now()
    return now - this.#standstill.until < NOTICED_MS ? this.#standstill.from : now
  }

  /** Runs a function on the member, hands out its events, and sets the alarm. */
  do<Result>(verb: (now: Millis, run: Runtime) => Result): Result | undefined {
    if (this.#stopped) return undefined
    const now = this.loop.now()
    if (now - this.#lastCallAt > STANDSTILL_MS)
      this.#standstill = { from: this.#lastCallAt, until: now }
    this.#lastCallAt = now
    this.#depth++
    try {
      return verb(now, this.#run)
    } finally {
      this.#depth--
      this.#after()
    }
  }
  #after(): void {
    this.#arm()
    if (this.#notifying) return
    this.#notifying = true
    try {
      while (this.#queue.length > 0) {
        while (this.#queue.length > 0) this.#onEvent(this.#queue.shift()!)
        this.#onSettled()
      }
    } finally {
      this.#notifying = false
    }
  }

  /** Our state changed: sends it when the running code has returned. */
  touch(): void {
    if (this.#touched || this.#stopped) return
    this.#touched = true
    this.#touchedAt = this.loop.now()
    this.loop.soon(() => {
      this.#touched = false
      this.#notified = false
      this.do((now) => member.touched(this.#run, now))
      this.#settle()
    })
  }

  /**
   * Our state changed: notifies listeners. The first change of a turn is reported within the call,
   * because an input field that is drawn later loses its caret; further changes, and those made by
   * listeners or the member, are reported together afterwards.
   */
  notify(): void {
    this.touch()
    if (this.#notified || this.#depth > 0 || this.#stopped) return
    this.#notified = true
    this.#settle()
  }

  // Changes that listeners make meanwhile are reported afterwards.
  #settle(): void {
    if (this.#notifying) return
    this.#notifying = true
    try {
      this.#onSettled()
    } finally {
      this.#notifying = false
    }
    this.#after()
  }

  #arm(): void {
    if (this.#stopped) return
    const due = member.deadline(this.#run)
    // An alarm that is too early costs one look; moving it for each packet would cost more.
    if (due >= this.#armedAt) return
    // A deadline in the past may have arisen just now, so that does not count as a late alarm.
    this.#armedAt = Math.max(due, this.loop.now())
    if (due < Infinity) this.#alarm.set(due)
  }

  #wake(): void {
    const dueAt = this.#armedAt
    this.#armedAt = Infinity
    this.do((now) => member.wake(this.#run, now, dueAt))
  }

  /** Resolves once none of our output is pending, or after that time. */
  settled(maxMs: Millis): Promise<void> {
    return new Promise((resolve) => {
      const until = this.loop.now() + maxMs
      const alarm = this.loop.alarm(() => {
        if (this.#isIdle() || this.loop.now() >= until) resolve()
        else alarm.set(this.loop.now() + 10)
      })
      alarm.set(this.loop.now() + 20)
    })
  }

  #isIdle(): boolean {
    const { session, phase } = this.member
    if (phase !== 'in' && phase !== 'out') return false
    const { pending } = session.client
    // Members that know we left have forgotten our link, and ack nothing any more.
    return hasLeft(session) && pending.length === 0 && session.server.log.held.length === 0
  }

  /** Cancels a join, and stops once the session is left. */
  async withdraw(maxMs: Millis): Promise<void> {
    this.do((now, run) => member.withdraw(run, now))
    await this.settled(maxMs)
    this.stop()
  }

  stop(): void {
    if (this.#stopped) return
    const aside = this.#hub.notes()
    const first = this.do((now) => member.stop(this.#run, now, aside))
    if (first) this.#hub.beacon(first)
    this.crash()
  }

  /** Stops without notice, like a process that is killed. */
  crash(): void {
    this.#stopped = true
    this.#alarm.cancel()
    this.#hub.end()
    this.#conditioner.close()
    this.#direct.close()
    this.#channels?.close()
    this.#relay.close()
  }
}

// A row has few addresses: those of the same kind as the first give way.
function addressesOf({ ice, environment }: MemberLoopOptions, { addresses }: Datagrams): string[] {
  if (!ice || !environment.openChannels) return [...addresses]
  return [...addresses.slice(0, 1), TAKES_CHANNELS, ...addresses.slice(1)]
}

function memberOptionsOf(
  options: MemberLoopOptions,
  addresses: readonly string[],
  { crypto, identity }: Player,
): MemberOptions {
  const { guest, token, ...wanted } = options.memberOptions
  return {
    ...wanted,
    terms: sealedTerms(wanted, crypto.ciphers),
    identity,
    resume: token && { session: token.session, player: token.player, inc: 0, settled: 0 },
    point: token?.point ? { ...token.point, session: token.session } : null,
    hub: options.urls.join(' or '),
    kind: guest ? 'guest' : options.environment.kind,
    addresses: addresses.slice(0, ADDRESSES_MAX),
  }
}

// The settings name the key that opens the stored room.
function sealedTerms(
  { terms, roomKey }: Pick<MemberOptions, 'terms' | 'roomKey'>,
  by: Ciphers,
): string {
  return roomKey ? `${terms};sealed=${markOf(by, roomKey)}` : terms
}

const SLOT_MS: Millis = 250
const SLOTS = 8

/** Bytes per second, without the headers of the carrier. */
export interface ByteRates {
  readonly in: number
  readonly out: number
}

/** Counts bytes in a ring of time slots. */
export class Traffic {
  readonly #startedAt: Millis
  readonly #in = new Float64Array(SLOTS)
  readonly #out = new Float64Array(SLOTS)
  #slot: number

  constructor(now: Millis) {
    this.#startedAt = now
    this.#slot = Math.floor(now / SLOT_MS)
  }

  sent(now: Millis, bytes: number): void {
    this.#out[this.#slotAt(now)]! += bytes
  }

  received(now: Millis, bytes: number): void {
    this.#in[this.#slotAt(now)]! += bytes
  }

  /** The recent rates, over one slot at least. */
  rates(now: Millis): ByteRates {
    this.#slotAt(now)
    const oldest = (this.#slot - SLOTS + 1) * SLOT_MS
    const seconds = Math.max(SLOT_MS, now - Math.max(oldest, this.#startedAt)) / 1000
    const sum = (slots: Float64Array): number => slots.reduce((all, one) => all + one, 0)
    return { in: sum(this.#in) / seconds, out: sum(this.#out) / seconds }
  }

  #slotAt(now: Millis): number {
    const slot = Math.floor(now / SLOT_MS)
    const passed = Math.min(SLOTS, slot - this.#slot)
    for (let i = 0; i < passed; i++) {
      const place = (slot - i) % SLOTS
      this.#in[place] = 0
      this.#out[place] = 0
    }
    this.#slot = Math.max(this.#slot, slot)
    return this.#slot % SLOTS
  }
}
