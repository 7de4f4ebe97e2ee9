/**
 * As many messages as a server takes, for as little work of the client: prepared bytes are written
 * to a socket many at once, and answers are counted by their bytes, which nobody looks into.
 */

import net, { type Socket } from 'node:net'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { UPGRADE } from '../../test/attack/attacks.ts'
import { blank, SECRET, Stranger } from '../../test/attack/stranger.ts'
import {
  HUB_VERSION,
  type ToHub,
  toHub,
} from '../../packages/holdfast/src/hub-protocol/messages.ts'
import { proofOf } from '../../packages/holdfast/src/wire/digest.ts'
import { encode } from '../../packages/holdfast/src/wire/layout.ts'
import { frameMessage, frameRelay } from '../../packages/holdfast/src/wire/relay.ts'
import { fill, found, heard } from './holding.ts'
import type { Did } from './words.ts'

/** Of one lane so many bytes are under way, which fits into what a hub keeps for a member. */
const WINDOW_BYTES = 32 * 1024
/** So many lanes for lists. */
const LISTERS = 16
/** Answers of a list that are under way in one. */
const LIST_WINDOW = 2
/** A socket to which nothing came for so long has all that was sent to it. */
const QUIET_MS = 200
/** Before it is counted. */
const WARM_MS = 500
const REQUEST = 'GET /api/sessions HTTP/1.1\r\nHost: localhost\r\n\r\n'
const PROOF = proofOf(SECRET, 'register')

/** One way: what is written to one socket comes, as so many bytes each, out of another. */
interface Lane {
  from: Socket
  to: Socket
  shot: Uint8Array
  answer: number
  window: number
}

type Work = (ms: number) => Promise<Did>

/**
 * Members of one room send each other datagrams of so many bytes, through the hub.
 *
 * @param other  that of the second member, if it is another one
 */
export async function relay(url: string, bytes: number, other: string = url): Promise<Work> {
  const session = await roomOf(url)
  const ends: Socket[] = []
  for (const inc of [2, 3]) {
    const socket = await stream(inc === 2 ? url : other)
    say(socket, { kind: 'hello', version: HUB_VERSION })
    say(socket, { kind: 'attach', request: 1, session, inc, proof: PROOF })
    ends.push(socket)
  }
  await quiet(ends)
  return between(ends, (at) => frameRelay(3 - at, new Uint8Array(bytes)))
}

/** Two clients of a server that hands on every message to the other, as plain as that can be. */
export async function echo(url: string, bytes: number): Promise<Work> {
  const ends = [await stream(url), await stream(url)]
  await quiet(ends)
  // As long as a frame of a hub.
  return between(ends, () => frameRelay(2, new Uint8Array(bytes)))
}

/** Lists are asked for, and thrown away. */
export async function lists(url: string, by: 'stream' | 'request'): Promise<Work> {
  const sockets: Socket[] = []
  for (let at = 0; at < LISTERS; at++) {
    const socket = by === 'stream' ? await stream(url) : await dial(url)
    if (by === 'stream') say(socket, { kind: 'hello', version: HUB_VERSION })
    sockets.push(socket)
  }
  await quiet(sockets)
  const list = { kind: 'list', request: 1, game: '', after: '' } as const
  const shot = by === 'request' ? Buffer.from(REQUEST) : framed(list)
  const [first] = sockets
  const before = first!.bytesRead
  first!.write(shot)
  await quiet([first!])
  const answer = first!.bytesRead - before
  return fire(sockets.map((one) => ({ from: one, to: one, shot, answer, window: LIST_WINDOW })))
}

// What comes out is as long as what goes in, but for the mask.
function between([a, b]: readonly Socket[], frame: (at: number) => Uint8Array): Work {
  const lane = (from: Socket, to: Socket, at: number): Lane => {
    const shot = masked(frame(at))
    return { from, to, shot, answer: shot.length - 4, window: windowOf(shot) }
  }
  return fire([lane(a!, b!, 0), lane(b!, a!, 1)])
}

function windowOf(shot: Uint8Array): number {
  return Math.floor(WINDOW_BYTES / shot.length)
}

function fire(lanes: readonly Lane[]): Work {
  return async (ms) => {
    const all = lanes.map(open)
    await pause(WARM_MS)
    const start = performance.now()
    const before = all.map((one) => one.done())
    await pause(ms)
    const count = all.reduce((sum, one, at) => sum + one.done() - before[at]!, 0)
    const elapsed = performance.now() - start
    const lost = all.reduce((sum, one) => sum + one.close(), 0)
    return { count, ms: elapsed, lost }
  }
}

/** A lane on which as many as may be are under way. */
function open({ from, to, shot, answer, window }: Lane): { done(): number; close(): number } {
  const many = new Uint8Array(shot.length * window)
  for (let at = 0; at < window; at++) many.set(shot, at * shot.length)
  const base = to.bytesRead
  let [sent, lost, seen] = [0, 0, 0]
  const done = (): number => Math.floor((to.bytesRead - base) / answer)
  const more = (): void => {
    const free = Math.min(window, window - (sent - lost - done()))
    // Half of them at once, or each would be written alone.
    if (free < window / 2) return
    sent += free
    from.write(many.subarray(0, free * shot.length))
  }
  // What does not come within a while was dropped on the way.
  const looking = setInterval(() => {
    if (done() === seen) lost = sent - seen
    seen = done()
    more()
  }, QUIET_MS)
  to.on('data', more)
  more()
  const close = (): number => {
    clearInterval(looking)
    to.off('data', more)
    return lost
  }
  return { done, close }
}

async function roomOf(url: string): Promise<string> {
  const founder = new Stranger(url, '127.0.0.1', blank())
  await heard(founder, 'welcome')
  await found(founder, 'relay')
  const { session } = await fill(founder, 3)
  return session
}

async function stream(url: string): Promise<Socket> {
  const socket = await dial(url)
  socket.write(UPGRADE)
  await once(socket, 'data')
  return socket
}

async function dial(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const socket = net.connect({ host: hostname, port: Number(port), noDelay: true })
  socket.on('data', () => {})
  await once(socket, 'connect')
  return socket
}

async function quiet(sockets: readonly Socket[]): Promise<void> {
  const sum = (): number => sockets.reduce((bytes, { bytesRead }) => bytes + bytesRead, 0)
  for (let before = -1; before !== sum(); await pause(QUIET_MS)) before = sum()
}

function say(socket: Socket, message: ToHub): void {
  socket.write(framed(message))
}

function framed(message: ToHub): Uint8Array {
  return masked(frameMessage(encode(toHub, message)))
}

/** A message of a WebSocket client whose mask changes nothing. */
export function masked(bytes: Uint8Array): Uint8Array {
  const { length } = bytes
  const size = length < 126 ? [0x80 | length] : [0xfe, length >> 8, length & 255]
  return Uint8Array.of(0x82, ...size, 0, 0, 0, 0, ...bytes)
}
