/**
 * The connections of a mailbox: dialled again for ever, or accepted; one at a time for each peer.
 */

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

/** A signature; whether one was right; null if that cannot be known here. */
export type CurveAnswer = Uint8Array | boolean | null

/** Runs a job. @param done  called once, within this call if the curves answer at once */
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

/** The first wait after a connection failed; doubled each time. */
const BACKOFF_MS: Millis = 50
/** And at most this. */
const BACKOFF_MAX_MS: Millis = 5_000

/** How often all connections are checked. */
const CHECK_MS: Millis = 2_500
/** Silence after which the other side is asked whether it is alive. */
const QUIET_MS: Millis = 5_000
/** Silence after which the connection is dropped. */
const DEAD_MS: Millis = 15_000
/** Longest handshake of an accepted stream. */
const GREETING_MS: Millis = 10_000
/** Most accepted streams in their handshake. */
const UNGREETED_MAX = 256
/** Most open jobs of handshakes, also of streams that are closed. */
const JOBS_MAX = 512
/** A connection that was open for so long was a good one. */
const GOOD_MS: Millis = 30_000

/** A carrier to a peer that is no URL, such as a session. */
export type Dialer = (events: StreamEvents, peer: string) => Stream

/** What connections need of their mailbox. */
export interface ConnectionEvents extends PeerPolicy {
  /** @param key  that the peer proved @param proof  what we proved to it */
  connected(peer: string, key: Uint8Array, proof: OwnProof): void
  message(peer: string, key: Uint8Array, bytes: Uint8Array): void
  /** @param why a sentence */
  disconnected(peer: string, why: string): void
  /** A connection could not be made, or was refused. @param counts  what it was here, if so */
  failed(peer: string | null, why: string, counts: keyof Counters | null): void
}

/** What connections run on. */
export interface ConnectionsHost {
  loop: Loop
  connect: Connect
  curves: Curves
}

/** A stream, and the state of its handshake. */
interface Connection {
  stream: Stream
  handshake: Handshake
  /** The id of the side that dialled. */
  dialler: string
  peer: string | null
  /** The key that the peer proved, as soon as it is one. */
  key: Uint8Array | null
  /** When the connection began, and when a message last came. */
  since: Millis
  heardAt: Millis
}

/** A peer that is dialled. */
interface Dialling {
  way: Dialer
  wait: Millis
  alarm: Alarm
  connection: Connection | null
}

const ALIVE = encode(handshakeLayout, { kind: 'alive', wanted: true })
const HERE = encode(handshakeLayout, { kind: 'alive', wanted: false })

/** All connections of one mailbox. */
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

  /** Keeps a connection to a peer, for ever (S4, S10). */
  dial(peer: string, by: string | Dialer): void {
    const way = typeof by === 'string' ? (to: StreamEvents) => this.#place.connect(by, to) : by
    this.#dialled.get(peer)?.alarm.cancel()
    const alarm = this.#loop.alarm(() => this.#try(peer))
    this.#dialled.set(peer, { way, wait: BACKOFF_MS, alarm, connection: null })
    this.#try(peer)
  }

  /** Takes a stream that another mailbox opened. */
  accept(stream: Stream): StreamEvents {
    const { connection } = this.#begin(null)
    connection.stream = stream
    const waiting = [...this.#all].filter((one) => one.peer === null && one.handshake.whom === null)
    // The oldest has had the most time for its handshake.
    if (waiting.length >= UNGREETED_MAX) {
      this.#drop(waiting[0]!, 'too many have not greeted yet', 'ungreeted')
    }
    return this.#listen(connection, [])
  }

  /** @returns false if that peer cannot be reached now */
  send(peer: string, bytes: Uint8Array): boolean {
    const connection = this.#open.get(peer)
    if (!connection) return false
    if (connection.stream.send(bytes)) return true
    this.#drop(connection, 'its connection takes no more')
    return false
  }

  /** Ends the connections to all but some peers. */
  hangUpAllBut(some: ReadonlyMap<string, unknown>, why: string): void {
    for (const peer of [...this.#open.keys()]) if (!some.has(peer)) this.hangUp(peer, why)
  }

  /** Whether a connection to that peer is open. */
  has(peer: string): boolean {
    return this.#open.has(peer)
  }

  /** Whether that peer is dialled, or connected. */
  expects(peer: string): boolean {
    return this.#dialled.has(peer) || this.#open.has(peer)
  }

  /** Ends the connection to one peer; a peer that is dialled is dialled again. */
  hangUp(peer: string, why: string): void {
    const connection = this.#open.get(peer)
    if (connection) this.#drop(connection, why)
  }

  /** Letters went to or from that peer: after the next break it is dialled again soon. */
  progress(peer: string): void {
    const dialling = this.#dialled.get(peer)
    if (dialling) dialling.wait = BACKOFF_MS
  }

  /** Ends all connections. */
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

  /** Finds connections that broke without notice, or never began, by their silence. */
  #checkAll(): void {
    const now = this.#loop.now()
    for (const connection of [...this.#all]) {
      const silence = now - connection.heardAt
      if (connection.peer === null) {
        if (now - connection.since > GREETING_MS) {
          this.#drop(connection, 'it did not greet in time', 'ungreeted')
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

  /** Runs a job of a handshake. */
  #ask(connection: Connection, job: HandshakeJob): void {
    if (this.#jobs >= JOBS_MAX) {
      return this.#drop(connection, 'too many greetings are being checked', 'ungreeted')
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
    // Where both dial each other, both must keep the same one of the two connections.
    const first = id < this.#self.id ? id : this.#self.id
    if (known && known.dialler === first && connection.dialler !== first) {
      return 'another connection of these two stands'
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
      // The wait is partly random, or all peers of one restarted process would come back at once.
      const wait = dialling.wait * (0.5 + this.#loop.random(1)[0]! / 510)
      dialling.wait = Math.min(BACKOFF_MAX_MS, dialling.wait * 2)
      dialling.alarm.set(this.#loop.now() + wait)
    }
  }
}
