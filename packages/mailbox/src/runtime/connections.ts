/** The connections of a mailbox, dialled (and redialled for ever) or accepted; one per peer. */

import type { Millis } from '../../../holdfast/src/machine.ts'
import { completeJob, beginHandshake, receiveHandshake } from '../machine/handshake.ts'
import type {
  PeerPolicy,
  HandshakeStep,
  Handshake,
  HandshakeJob,
  Authenticated,
  Self,
} from '../machine/handshake.ts'
import type { OwnProof } from '../machine/keys.ts'
import type { Counters } from '../machine/mailbox.ts'
import { handshakeLayout, NONCE_BYTES } from '../machine/messages.ts'
import { decode, encode } from '../../../holdfast/src/wire/layout.ts'
import type {
  Alarm,
  Connect,
  Curves,
  Loop,
  Stream,
  StreamEvents,
  Later,
} from '../../../holdfast/src/ports.ts'

/** A signature, or whether one was valid; null if the curves failed. */
export type CurveAnswer = Uint8Array | boolean | null

/** Runs a job. @param done  called once, synchronously if the curves answer at once */
export function compute(
  curves: Curves,
  job: HandshakeJob,
  done: (answer: CurveAnswer) => void,
): void {
  const answer = answerOf(curves, job)
  if (answer instanceof Promise) answer.then(done, () => done(null))
  else done(answer)
}

function answerOf(curves: Curves, job: HandshakeJob): Later<CurveAnswer> {
  try {
    if (job.kind === 'sign') return curves.sign(job.seed, job.message)
    return curves.verify(job.key, job.message, job.signature)
  } catch {
    return null
  }
}

/** The first wait after a failed connection; doubled each time. */
const BACKOFF_MS: Millis = 50
/** The longest such wait. */
const BACKOFF_MAX_MS: Millis = 5_000

/** How often all connections are checked. */
const CHECK_MS: Millis = 2_500
/** Silence after which the peer is asked for a heartbeat. */
const QUIET_MS: Millis = 5_000
/** Silence after which the connection is dropped. */
const DEAD_MS: Millis = 15_000
/** Time limit for the handshake of an accepted stream. */
const GREETING_MS: Millis = 10_000
/** Most accepted streams in their handshake. */
const UNGREETED_MAX = 256
const JOBS_MAX = 512
/** A connection open for so long counts as good and resets the backoff. */
const GOOD_MS: Millis = 30_000

/** Dials a peer over a carrier other than a URL, such as a session. */
export type Dialer = (events: StreamEvents, peer: string) => Stream

/** What connections need of their mailbox. */
export interface ConnectionEvents extends PeerPolicy {
  /** @param key  proved by the peer @param proof  what we proved to it */
  connected(peer: string, key: Uint8Array, proof: OwnProof): void
  message(peer: string, key: Uint8Array, bytes: Uint8Array): void
  /** @param why a sentence */
  disconnected(peer: string, why: string): void
  /** A connection failed or was refused. @param counts  the counter, if it was refused here */
  failed(peer: string | null, why: string, counts: keyof Counters | null): void
}

/** What connections run on. */
export interface ConnectionsHost {
  loop: Loop
  connect: Connect
  curves: Curves
}

interface Connection {
  stream: Stream
  handshake: Handshake
  /** The id of the side that dialled. */
  dialler: string
  peer: string | null
  /** The key that the peer proved; null until then. */
  key: Uint8Array | null
  /** When the connection began, and when the last message came. */
  since: Millis
  heardAt: Millis
}

interface Dialling {
  way: Dialer
  wait: Millis
  alarm: Alarm
  connection: Connection | null
}

const ALIVE = encode(handshakeLayout, { kind: 'alive', wanted: true })
const HERE = encode(handshakeLayout, { kind: 'alive', wanted: false })

export class Connections {
  readonly #self: Self
  readonly #place: ConnectionsHost
  readonly #loop: Loop
  readonly #events: ConnectionEvents
  readonly #open = new Map<string, Connection>()
  readonly #all = new Set<Connection>()
  readonly #dialled = new Map<string, Dialling>()
  readonly #check: Alarm
  #jobs = 0
  #closed = false

  /** @param self  its keys may be replaced; later handshakes use the new ones */
  constructor(self: Self, place: ConnectionsHost, events: ConnectionEvents) {
    this.#self = self
    this.#place = place
    this.#loop = place.loop
    this.#events = events
    this.#check = place.loop.alarm(() => this.#checkAll())
  }

  /** Keeps a connection to a peer, redialling for ever (S4, S10). */
  dial(peer: string, by: string | Dialer): void {
    const way = typeof by === 'string' ? (to: StreamEvents) => this.#place.connect(by, to) : by
    this.#dialled.get(peer)?.alarm.cancel()
    const alarm = this.#loop.alarm(() => this.#try(peer))
    this.#dialled.set(peer, { way, wait: BACKOFF_MS, alarm, connection: null })
    this.#try(peer)
  }

  accept(stream: Stream): StreamEvents {
    const { connection } = this.#begin(null)
    connection.stream = stream
    const waiting = [...this.#all].filter((one) => one.peer === null && one.handshake.whom === null)
    // The oldest had the most time for its handshake.
    if (waiting.length >= UNGREETED_MAX) {
      this.#drop(waiting[0]!, 'too many handshakes are open', 'ungreeted')
    }
    return this.#listen(connection, [])
  }

  /** @returns false if that peer is unreachable now */
  send(peer: string, bytes: Uint8Array): boolean {
    const connection = this.#open.get(peer)
    if (!connection) return false
    if (connection.stream.send(bytes)) return true
    this.#drop(connection, 'its connection is full')
    return false
  }

  /** Closes the connections to all peers but some. */
  hangUpAllBut(some: ReadonlyMap<string, unknown>, why: string): void {
    for (const peer of [...this.#open.keys()]) if (!some.has(peer)) this.hangUp(peer, why)
  }

  has(peer: string): boolean {
    return this.#open.has(peer)
  }

  expects(peer: string): boolean {
    return this.#dialled.has(peer) || this.#open.has(peer)
  }

  /** Closes the connection to a peer; a dialled peer is redialled. */
  hangUp(peer: string, why: string): void {
    const connection = this.#open.get(peer)
    if (connection) this.#drop(connection, why)
  }

  /** Resets the backoff after letters went to or from that peer. */
  progress(peer: string): void {
    const dialling = this.#dialled.get(peer)
    if (dialling) dialling.wait = BACKOFF_MS
  }

  hangUpAll(why: string): void {
    for (const connection of [...this.#all]) this.#drop(connection, why)
  }

  close(): void {
    this.#closed = true
    this.#check.cancel()
    for (const { alarm } of this.#dialled.values()) alarm.cancel()
    for (const connection of this.#all) connection.stream.close()
    this.#all.clear()
    this.#open.clear()
  }

  #try(peer: string): void {
    const dialling = this.#dialled.get(peer)!
    if (this.#closed || dialling.connection || this.#open.has(peer)) return
    const { connection, first } = this.#begin(peer)
    dialling.connection = connection
    connection.stream = dialling.way(this.#listen(connection, first), peer)
  }

  #begin(whom: string | null): { connection: Connection; first: Uint8Array[] } {
    const nonce = this.#loop.random(NONCE_BYTES)
    const { handshake, first } = beginHandshake(this.#self, nonce, whom, this.#events)
    const now = this.#loop.now()
    const dialler = whom === null ? '' : this.#self.id
    const nobody = { stream: null!, peer: null, key: null }
    return { connection: { ...nobody, handshake, dialler, since: now, heardAt: now }, first }
  }

  #listen(connection: Connection, first: readonly Uint8Array[]): StreamEvents {
    if (this.#all.size === 0) this.#check.set(this.#loop.now() + CHECK_MS)
    this.#all.add(connection)
    return {
      opened: () => {
        for (const bytes of first) connection.stream.send(bytes)
      },
      message: (bytes) => {
        if (!this.#all.has(connection)) return
        connection.heardAt = this.#loop.now()
        if (connection.peer === null) this.#greeted(connection, bytes)
        else if (bytes[0] === ALIVE[0]) this.#alive(connection, bytes)
        else this.#events.message(connection.peer, connection.key!, bytes)
      },
      closed: (why) => this.#gone(connection, why),
    }
  }

  #alive(connection: Connection, bytes: Uint8Array): void {
    const message = decode(handshakeLayout, bytes)
    if (message?.kind === 'alive' && message.wanted) connection.stream.send(HERE)
  }

  #checkAll(): void {
    const now = this.#loop.now()
    for (const connection of [...this.#all]) {
      const silence = now - connection.heardAt
      if (connection.peer === null) {
        if (now - connection.since > GREETING_MS) {
          this.#drop(connection, 'the handshake took too long', 'ungreeted')
        }
      } else if (silence > DEAD_MS) this.#drop(connection, 'nothing came from it for 15 seconds')
      else if (silence > QUIET_MS) connection.stream.send(ALIVE)
      if (connection.peer !== null && now - connection.since > GOOD_MS)
        this.progress(connection.peer)
    }
    if (this.#all.size > 0) this.#check.set(now + CHECK_MS)
  }

  #greeted(connection: Connection, bytes: Uint8Array): void {
    const events = this.#events
    const refuses = (id: string): string | null =>
      this.#welcome(connection, id) ?? events.refuses(id)
    this.#goOn(connection, receiveHandshake(connection.handshake, bytes, { ...events, refuses }))
  }

  #goOn(connection: Connection, { answers, job, known, refused, counts }: HandshakeStep): void {
    for (const bytes of answers) connection.stream.send(bytes)
    if (refused !== null) return this.#drop(connection, refused, counts)
    if (job) this.#ask(connection, job)
    if (!known) return
    this.#take(connection, known)
    for (const bytes of known.early) this.#events.message(known.id, known.key, bytes)
  }

  #ask(connection: Connection, job: HandshakeJob): void {
    if (this.#jobs >= JOBS_MAX) {
      return this.#drop(connection, 'too many handshakes are being checked', 'ungreeted')
    }
    this.#jobs++
    compute(this.#place.curves, job, (answer) => {
      this.#jobs--
      if (this.#all.has(connection))
        this.#goOn(connection, completeJob(connection.handshake, answer))
    })
  }

  #welcome(connection: Connection, id: string): string | null {
    if (connection.dialler === '') connection.dialler = id
    const known = this.#open.get(id)
    // When both sides dial, both must keep the same connection.
    const first = id < this.#self.id ? id : this.#self.id
    if (known && known.dialler === first && connection.dialler !== first) {
      return 'these two are connected already'
    }
    return null
  }

  #take(connection: Connection, { id: peer, key, proof }: Authenticated): void {
    const older = this.#open.get(peer)
    if (older) this.#drop(older, 'a newer connection came')
    Object.assign(connection, { peer, key, since: this.#loop.now() })
    this.#open.set(peer, connection)
    this.#events.connected(peer, key, proof)
  }

  #drop(connection: Connection, why: string, counts: keyof Counters | null = null): void {
    connection.stream.close()
    this.#gone(connection, why, counts)
  }

  #gone(connection: Connection, why: string, counts: keyof Counters | null = null): void {
    if (!this.#all.delete(connection) || this.#closed) return
    const { peer } = connection
    const wasOpen = peer !== null && this.#open.get(peer) === connection
    if (wasOpen) this.#open.delete(peer)
    if (wasOpen) this.#events.disconnected(peer, why)
    else
      this.#events.failed(
        connection.handshake.whom ?? connection.handshake.other?.id ?? null,
        why,
        counts,
      )
    this.#again(connection)
  }

  #again(connection: Connection): void {
    for (const [peer, dialling] of this.#dialled) {
      const isTheirs = dialling.connection === connection || connection.peer === peer
      if (!isTheirs) continue
      if (dialling.connection === connection) dialling.connection = null
      // Jitter, or all peers of a restarted process would come back at once.
      const wait = dialling.wait * (0.5 + this.#loop.random(1)[0]! / 510)
      dialling.wait = Math.min(BACKOFF_MAX_MS, dialling.wait * 2)
      dialling.alarm.set(this.#loop.now() + wait)
    }
  }
}
