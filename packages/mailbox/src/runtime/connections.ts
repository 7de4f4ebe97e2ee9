/**
 * The connections of a mailbox: dialled again for ever, or accepted; one at a time for each peer.
 */

import type { Millis } from '../../../holdfast/src/machine.ts'
import { answerGreeting, greet, hearGreeting } from '../machine/greeting.ts'
import type { Gate, Greeted, Greeter, GreetingJob, Known, Self } from '../machine/greeting.ts'
import type { OwnProof } from '../machine/keys.ts'
import type { Counters } from '../machine/mailbox.ts'
import { greetingLayout, NONCE_BYTES } from '../machine/messages.ts'
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

/** Has a job done. @param done  is called once: in this call where curves answer at once */
export function compute(
  curves: Curves,
  job: GreetingJob,
  done: (answer: CurveAnswer) => void,
): void {
  const answer = answerOf(curves, job)
  if (answer instanceof Promise) answer.then(done, () => done(null))
  else done(answer)
}

function answerOf(curves: Curves, job: GreetingJob): Later<CurveAnswer> {
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
/** After so long a silence the other side is asked whether it is alive. */
const QUIET_MS: Millis = 5_000
/** After so long a silence the connection is dropped. */
const DEAD_MS: Millis = 15_000
/** Time that an accepted stream has to finish its greeting. */
const GREETING_MS: Millis = 10_000
/** Most accepted streams that have not finished it yet. */
const UNGREETED_MAX = 256
/** Most jobs of greetings that curves have not answered, of streams that are over too. */
const JOBS_MAX = 512
/** A connection that was open for so long was a good one. */
const GOOD_MS: Millis = 30_000

/** A carrier to a peer that is no URL, such as a session. */
export type Way = (events: StreamEvents, peer: string) => Stream

/** What connections need of their mailbox. */
export interface LineEvents extends Gate {
  /** @param key  that the peer proved @param proof  what we proved to it */
  connected(peer: string, key: Uint8Array, proof: OwnProof): void
  message(peer: string, key: Uint8Array, bytes: Uint8Array): void
  /** @param why a sentence */
  disconnected(peer: string, why: string): void
  /** A connection could not be made, or was refused. @param counts  what it was here, if so */
  failed(peer: string | null, why: string, counts: keyof Counters | null): void
}

/** What connections run on. */
export interface LinePlace {
  loop: Loop
  connect: Connect
  curves: Curves
}

/** A stream, and the state of its greeting. */
interface Line {
  stream: Stream
  greeter: Greeter
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
  way: Way
  wait: Millis
  alarm: Alarm
  line: Line | null
}

const ALIVE = encode(greetingLayout, { kind: 'alive', wanted: true })
const HERE = encode(greetingLayout, { kind: 'alive', wanted: false })

/** All connections of one mailbox. */
export class Connections {
  readonly #self: Self
  readonly #place: LinePlace
  readonly #loop: Loop
  readonly #events: LineEvents
  readonly #open = new Map<string, Line>()
  readonly #all = new Set<Line>()
  readonly #dialled = new Map<string, Dialling>()
  readonly #check: Alarm
  #jobs = 0
  #closed = false

  /** @param self  whose keys may become others: greetings that begin then have these */
  constructor(self: Self, place: LinePlace, events: LineEvents) {
    this.#self = self
    this.#place = place
    this.#loop = place.loop
    this.#events = events
    this.#check = place.loop.alarm(() => this.#checkAll())
  }

  /** Keeps a connection to a peer, for ever (S4, S10). */
  dial(peer: string, by: string | Way): void {
    const way = typeof by === 'string' ? (to: StreamEvents) => this.#place.connect(by, to) : by
    this.#dialled.get(peer)?.alarm.cancel()
    const alarm = this.#loop.alarm(() => this.#try(peer))
    this.#dialled.set(peer, { way, wait: BACKOFF_MS, alarm, line: null })
    this.#try(peer)
  }

  /** Takes a stream that another mailbox opened. */
  accept(stream: Stream): StreamEvents {
    const { line } = this.#begin(null)
    line.stream = stream
    const waiting = [...this.#all].filter((one) => one.peer === null && one.greeter.whom === null)
    // The oldest has had the most time for its greeting.
    if (waiting.length >= UNGREETED_MAX) {
      this.#drop(waiting[0]!, 'too many have not greeted yet', 'ungreeted')
    }
    return this.#listen(line, [])
  }

  /** @returns false if that peer cannot be reached now */
  send(peer: string, bytes: Uint8Array): boolean {
    const line = this.#open.get(peer)
    if (!line) return false
    if (line.stream.send(bytes)) return true
    this.#drop(line, 'its connection takes no more')
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
    const line = this.#open.get(peer)
    if (line) this.#drop(line, why)
  }

  /** Letters went to or from that peer: after the next break it is dialled again soon. */
  progress(peer: string): void {
    const dialling = this.#dialled.get(peer)
    if (dialling) dialling.wait = BACKOFF_MS
  }

  /** Ends all connections. */
  hangUpAll(why: string): void {
    for (const line of [...this.#all]) this.#drop(line, why)
  }

  close(): void {
    this.#closed = true
    this.#check.cancel()
    for (const { alarm } of this.#dialled.values()) alarm.cancel()
    for (const line of this.#all) line.stream.close()
    this.#all.clear()
    this.#open.clear()
  }

  #try(peer: string): void {
    const dialling = this.#dialled.get(peer)!
    if (this.#closed || dialling.line || this.#open.has(peer)) return
    const { line, first } = this.#begin(peer)
    dialling.line = line
    line.stream = dialling.way(this.#listen(line, first), peer)
  }

  #begin(whom: string | null): { line: Line; first: Uint8Array[] } {
    const nonce = this.#loop.random(NONCE_BYTES)
    const { greeter, first } = greet(this.#self, nonce, whom, this.#events)
    const now = this.#loop.now()
    const dialler = whom === null ? '' : this.#self.id
    const nobody = { stream: null!, peer: null, key: null }
    return { line: { ...nobody, greeter, dialler, since: now, heardAt: now }, first }
  }

  #listen(line: Line, first: readonly Uint8Array[]): StreamEvents {
    if (this.#all.size === 0) this.#check.set(this.#loop.now() + CHECK_MS)
    this.#all.add(line)
    return {
      opened: () => {
        for (const bytes of first) line.stream.send(bytes)
      },
      message: (bytes) => {
        if (!this.#all.has(line)) return
        line.heardAt = this.#loop.now()
        if (line.peer === null) this.#greeted(line, bytes)
        else if (bytes[0] === ALIVE[0]) this.#alive(line, bytes)
        else this.#events.message(line.peer, line.key!, bytes)
      },
      closed: (why) => this.#gone(line, why),
    }
  }

  #alive(line: Line, bytes: Uint8Array): void {
    const message = decode(greetingLayout, bytes)
    if (message?.kind === 'alive' && message.wanted) line.stream.send(HERE)
  }

  /** Finds connections that broke without notice, or never began, by their silence. */
  #checkAll(): void {
    const now = this.#loop.now()
    for (const line of [...this.#all]) {
      const silence = now - line.heardAt
      if (line.peer === null) {
        if (now - line.since > GREETING_MS) {
          this.#drop(line, 'it did not greet in time', 'ungreeted')
        }
      } else if (silence > DEAD_MS) this.#drop(line, 'nothing came from it for 15 seconds')
      else if (silence > QUIET_MS) line.stream.send(ALIVE)
      if (line.peer !== null && now - line.since > GOOD_MS) this.progress(line.peer)
    }
    if (this.#all.size > 0) this.#check.set(now + CHECK_MS)
  }

  #greeted(line: Line, bytes: Uint8Array): void {
    const events = this.#events
    const refuses = (id: string): string | null => this.#welcome(line, id) ?? events.refuses(id)
    this.#goOn(line, hearGreeting(line.greeter, bytes, { ...events, refuses }))
  }

  #goOn(line: Line, { answers, job, known, refused, counts }: Greeted): void {
    for (const bytes of answers) line.stream.send(bytes)
    if (refused !== null) return this.#drop(line, refused, counts)
    if (job) this.#ask(line, job)
    if (!known) return
    this.#take(line, known)
    for (const bytes of known.early) this.#events.message(known.id, known.key, bytes)
  }

  /** Has curves do a job of a greeting. */
  #ask(line: Line, job: GreetingJob): void {
    if (this.#jobs >= JOBS_MAX) {
      return this.#drop(line, 'too many greetings are being checked', 'ungreeted')
    }
    this.#jobs++
    compute(this.#place.curves, job, (answer) => {
      this.#jobs--
      if (this.#all.has(line)) this.#goOn(line, answerGreeting(line.greeter, answer))
    })
  }

  #welcome(line: Line, id: string): string | null {
    if (line.dialler === '') line.dialler = id
    const known = this.#open.get(id)
    // Where both dial each other, both must keep the same one of the two connections.
    const first = id < this.#self.id ? id : this.#self.id
    if (known && known.dialler === first && line.dialler !== first) {
      return 'another connection of these two stands'
    }
    return null
  }

  #take(line: Line, { id: peer, key, proof }: Known): void {
    const older = this.#open.get(peer)
    if (older) this.#drop(older, 'a newer connection came')
    Object.assign(line, { peer, key, since: this.#loop.now() })
    this.#open.set(peer, line)
    this.#events.connected(peer, key, proof)
  }

  #drop(line: Line, why: string, counts: keyof Counters | null = null): void {
    line.stream.close()
    this.#gone(line, why, counts)
  }

  #gone(line: Line, why: string, counts: keyof Counters | null = null): void {
    if (!this.#all.delete(line) || this.#closed) return
    const { peer } = line
    const wasOpen = peer !== null && this.#open.get(peer) === line
    if (wasOpen) this.#open.delete(peer)
    if (wasOpen) this.#events.disconnected(peer, why)
    else this.#events.failed(line.greeter.whom ?? line.greeter.other?.id ?? null, why, counts)
    this.#again(line)
  }

  #again(line: Line): void {
    for (const [peer, dialling] of this.#dialled) {
      const isTheirs = dialling.line === line || line.peer === peer
      if (!isTheirs) continue
      if (dialling.line === line) dialling.line = null
      // The wait is partly random, or all peers of one restarted process would come back at once.
      const wait = dialling.wait * (0.5 + this.#loop.random(1)[0]! / 510)
      dialling.wait = Math.min(BACKOFF_MAX_MS, dialling.wait * 2)
      dialling.alarm.set(this.#loop.now() + wait)
    }
  }
}
