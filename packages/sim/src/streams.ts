/**
 * Streams in a simulated network: whole messages, ordered and reliable, as over TCP.
 *
 * Each end has a queue of sent items, of which only the head moves. A random loss delays the head,
 * as when TCP resends, and with it the rest. A cut in either direction blocks the queue, since
 * nothing could be acknowledged; after BREAK_MS the sender's end breaks. The other end learns of it
 * only when it sends and gets a reset: half-open, as in reality. The same holds when a machine
 * dies. When only the process dies, its operating system resets the other ends at once.
 */

import { badValue, HoldfastError, type Millis } from '../../holdfast/src/machine.ts'
import { STREAM_BACKLOG_MAX, STREAM_MESSAGE_MAX } from '../../holdfast/src/ports.ts'
import type { Accept, Met, Stream, StreamEvents } from '../../holdfast/src/ports.ts'
import { content, note, sent, type Ground } from './ground.ts'
import type { Machine } from './machines.ts'
import * as paths from './paths.ts'
import type { Paths } from './paths.ts'
import * as timeline from './timeline.ts'

/** An end breaks when its queue was blocked for this long. */
export const BREAK_MS: Millis = 10_000
const RETRY_MS: Millis = 200
/** Bytes that both operating systems buffer before `backlog` shows any. */
const SYSTEM_BUFFER: number = 64 * 1024

export interface Streams {
  readonly ground: Ground
  readonly paths: Paths
  /** Listeners by URL; a stopped one remains, because its machine does. */
  readonly offers: Map<string, Offer>
  readonly ends: Set<End>
}

interface Offer {
  readonly machine: Machine
  /** Null: stopped. */
  accept: Accept | null
}

interface End {
  readonly machine: Machine
  readonly life: number
  readonly url: string
  events: StreamEvents
  other: End | null
  state: 'opening' | 'open' | 'closed'
  readonly line: Item[]
  bytes: number
  lastAt: Millis
  /** Whether the head of the queue is in the timeline. */
  moving: boolean
  /** Since when the queue has been blocked, or -1. */
  stuckSince: Millis
}

interface Item {
  kind: 'open' | 'message' | 'close'
  bytes: Uint8Array
  at: Millis
}

const EMPTY = new Uint8Array(0)

export function create(ground: Ground, network: Paths): Streams {
  return { ground, paths: network, offers: new Map(), ends: new Set() }
}

/** Listens for streams at a URL. @returns stops listening @throws HoldfastError 'port-taken' */
export function listen(
  streams: Streams,
  machine: Machine,
  life: number,
  url: string,
  accept: Accept,
): () => void {
  if (life !== machine.life) return () => {}
  if (streams.offers.get(url)?.accept) {
    throw new HoldfastError('port-taken', `another node listens already: ${url}`)
  }
  const offer: Offer = { machine, accept }
  streams.offers.set(url, offer)
  return () => void (offer.accept = null)
}

export function connect(
  streams: Streams,
  machine: Machine,
  life: number,
  url: string,
  events: StreamEvents,
): Stream {
  const end = createEnd(streams, machine, life, url)
  end.events = events
  if (life === machine.life) {
    const since = streams.ground.timeline.now
    const offer = streams.offers.get(url)
    const delay = offer ? delayTo(streams, machine, offer.machine) : 0
    after(streams, delay, () => requestStream(streams, end, since))
  } else end.state = 'closed'
  return streamOf(streams, end)
}

/** Ends the streams of a process that died; with `silent` its operating system died too. */
export function closeAll(streams: Streams, machine: Machine, silent: boolean): void {
  for (const offer of streams.offers.values()) if (offer.machine === machine) offer.accept = null
  for (const end of streams.ends) {
    if (end.machine !== machine) continue
    end.state = 'closed'
    drop(streams, end)
    if (silent || !end.other || paths.isCut(streams.paths, machine.name, end.other.machine.name)) {
      continue
    }
    const { other } = end
    const delay = delayTo(streams, machine, other.machine)
    after(streams, delay, () => breakEnd(streams, other, `${machine.name} reset the stream`))
  }
}

function createEnd(streams: Streams, machine: Machine, life: number, url: string): End {
  const end: End = {
    machine,
    life,
    url,
    events: { opened() {}, message() {}, closed() {} },
    other: null,
    state: 'opening',
    line: [],
    bytes: 0,
    lastAt: 0,
    moving: false,
    stuckSince: -1,
  }
  streams.ends.add(end)
  return end
}

function streamOf(streams: Streams, end: End): Stream {
  return {
    send(bytes) {
      if (bytes.length > STREAM_MESSAGE_MAX) {
        const found = `${STREAM_MESSAGE_MAX} bytes: ${bytes.length}`
        throw badValue(`a stream message has at most ${found}`)
      }
      if (end.state !== 'open' || end.life !== end.machine.life) return false
      if (end.bytes + bytes.length > STREAM_BACKLOG_MAX) return false
      push(streams, end, 'message', bytes.slice())
      return true
    },
    backlog: () => (end.state === 'open' ? Math.max(0, end.bytes - SYSTEM_BUFFER) : 0),
    close() {
      if (end.state === 'closed' || end.life !== end.machine.life) return
      const wasOpen = end.state === 'open'
      end.state = 'closed'
      if (wasOpen) push(streams, end, 'close', EMPTY)
      else streams.ends.delete(end)
    },
  }
}

/** Requests a stream; retries while the answer is blocked. */
function requestStream(streams: Streams, end: End, since: Millis): void {
  const { ground } = streams
  if (end.state === 'closed') return
  const offer = streams.offers.get(end.url)
  if (offer && isStuck(streams, end.machine, offer.machine)) {
    if (ground.timeline.now - since >= BREAK_MS) {
      return breakEnd(streams, end, `${end.url} did not answer within ${BREAK_MS} ms`)
    }
    return after(streams, RETRY_MS, () => requestStream(streams, end, since))
  }
  if (!offer?.accept) {
    const delay = offer ? delayTo(streams, offer.machine, end.machine) : 0
    const why = `nobody listens at ${end.url}`
    const met: Met = { kind: 'passing', what: 'nobody listens there' }
    return after(streams, delay, () => breakEnd(streams, end, why, met))
  }
  const wait = offer.machine.stalledUntil - ground.timeline.now
  if (wait > 0) return after(streams, wait, () => requestStream(streams, end, since))
  const { machine, accept } = offer
  const far = createEnd(streams, machine, machine.life, end.url)
  far.state = 'open'
  far.other = end
  end.other = far
  note(ground, machine.name, `<- ${end.machine.name}  a stream opens at ${end.url}`)
  push(streams, far, 'open', EMPTY)
  far.events = accept(streamOf(streams, far), { remote: end.machine.address })
  // Messages that `accept` sent, or its close, are queued behind the opening.
  if ((far as { state: End['state'] }).state === 'open') far.events.opened()
}

function push(streams: Streams, end: End, kind: Item['kind'], bytes: Uint8Array): void {
  const { now } = streams.ground.timeline
  end.lastAt = Math.max(end.lastAt, now + delayTo(streams, end.machine, end.other!.machine))
  end.line.push({ kind, bytes, at: end.lastAt })
  end.bytes += bytes.length
  if (!end.moving) move(streams, end, end.lastAt - now)
}

function move(streams: Streams, end: End, delay: Millis): void {
  end.moving = true
  after(streams, delay, () => arrive(streams, end))
}

/** Delivers the head of the queue, if possible. */
function arrive(streams: Streams, end: End): void {
  const { ground } = streams
  const { now } = ground.timeline
  const other = end.other!
  end.moving = false
  if (end.line.length === 0) return
  if (isStuck(streams, end.machine, other.machine)) {
    if (end.stuckSince < 0) end.stuckSince = now
    if (now - end.stuckSince < BREAK_MS) return move(streams, end, RETRY_MS)
    return breakEnd(streams, end, `nothing got through for ${BREAK_MS} ms`)
  }
  end.stuckSince = -1
  if (other.life !== other.machine.life || other.state === 'closed') {
    const delay = delayTo(streams, other.machine, end.machine)
    drop(streams, end)
    const why = `${other.machine.name} does not know the stream any more`
    return after(streams, delay, () => breakEnd(streams, end, why))
  }
  const wait = other.machine.stalledUntil - now
  if (wait > 0) return move(streams, end, wait)
  const item = end.line.shift()!
  end.bytes -= item.bytes.length
  const [head] = end.line
  if (head) move(streams, end, Math.max(0, head.at - now))
  hand(streams, other, item)
}

function hand(streams: Streams, end: End, item: Item): void {
  const { ground } = streams
  const { name } = end.machine
  const from = end.other!.machine.name
  switch (item.kind) {
    case 'open':
      end.state = 'open'
      note(ground, name, `<- ${from}  its stream to ${end.url} is open`)
      return end.events.opened()
    case 'message': {
      ground.counters.messages++
      sent(ground, item.bytes)
      const what = content(ground, item.bytes)
      note(ground, name, () => `<- ${from}  message of ${what}`)
      return end.events.message(item.bytes)
    }
    case 'close':
      finish(streams, end)
      streams.ends.delete(end.other!)
      note(ground, name, `<- ${from}  closed the stream`)
      return end.events.closed(`${from} closed the stream`)
    default:
      item.kind satisfies never
  }
}

/** Breaks an end, other than by `close`. */
function breakEnd(streams: Streams, end: End, why: string, met?: Met): void {
  const { ground } = streams
  const { machine } = end
  if (end.life !== machine.life) return
  const wait = machine.stalledUntil - ground.timeline.now
  if (wait > 0) return after(streams, wait, () => breakEnd(streams, end, why, met))
  const wasOpen = end.state !== 'closed'
  finish(streams, end)
  if (!wasOpen) return
  ground.counters.broken++
  note(ground, machine.name, `stream to ${end.url} breaks: ${why}`)
  end.events.closed(why, met)
}

function finish(streams: Streams, end: End): void {
  end.state = 'closed'
  drop(streams, end)
}

function drop(streams: Streams, end: End): void {
  end.line.length = 0
  end.bytes = 0
  streams.ends.delete(end)
}

function isStuck(streams: Streams, from: Machine, to: Machine): boolean {
  if (!to.powered) return true
  const { paths: network } = streams
  return paths.isCut(network, from.name, to.name) || paths.isCut(network, to.name, from.name)
}

function delayTo(streams: Streams, from: Machine, to: Machine): Millis {
  return paths.delayOf(streams.ground, streams.paths, from.name, to.name)
}

function after(streams: Streams, delay: Millis, run: () => void): void {
  const { timeline: line } = streams.ground
  timeline.add(line, line.now + delay, run)
}
