/**
 * Members and hub are made to send to somebody who asked for nothing: by members of a room whose
 * JOINs name the addresses of others, by datagrams from many sources to members, and by frames to
 * the hub that name the streams of others. All that comes there is counted there.
 */

import { randomBytes } from 'node:crypto'
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import type { FromHub } from '../../packages/holdfast/src/hub-protocol/messages.ts'
import { nodeEnvironment } from '../../packages/holdfast/src/drivers/node.ts'
import { parseUdpAddress, type UdpPlace } from '../../packages/holdfast/src/drivers/net/udp.ts'
import { joinIn } from '../../packages/holdfast/src/join/join.ts'
import type { InternalSession } from '../../packages/holdfast/src/join/session-impl.ts'
import { action } from '../../packages/holdfast/src/node.ts'
import type { Connect, OpenDatagrams } from '../../packages/holdfast/src/ports.ts'
import { FIRST_MIN } from '../../packages/holdfast/src/seal/limits.ts'
import { KIND } from '../../packages/holdfast/src/seal/messages.ts'
import { frameKnock, frameRelay, readFrame } from '../../packages/holdfast/src/wire/relay.ts'
import type { Target } from './target.ts'
import { Ghost } from './ghost.ts'
import { blank, count, Stranger, type Tally } from './stranger.ts'

/** Sources of datagrams, and streams of others. */
const SOURCES = 16
/** Liars that come in: one that plays on, and one that hears nobody but who serves. */
const LIARS = ['lies', 'deaf'] as const
/** What befell a source that got more bytes than it sent. */
export const MORE = 'more than it sent'
/** Datagrams of one turn. */
const RUN = 32
const SIZES = [0, 1, 5, 33, FIRST_MIN, 600, 1_200]

const move = action('move', () => 0)

/** What went to somebody, and what came from them. */
interface Third {
  socket: Socket
  sent: number
  got: number
}

async function thirdAt(host: string): Promise<Third> {
  const third = { socket: createSocket('udp4'), sent: 0, got: 0 }
  third.socket.on('message', (bytes) => (third.got += bytes.length))
  third.socket.on('error', () => {})
  third.socket.bind(0, host)
  await once(third.socket, 'listening')
  return third
}

/** The address of a socket, as a JOIN names it. */
function nameOf({ socket }: Third): string {
  const { address, port } = socket.address()
  return `udp:${address}:${port}`
}

/** Comes in with the addresses of others for its own. What it says to the hub is counted. */
async function enter(
  { url, game, room }: Target,
  how: (typeof LIARS)[number],
  named: readonly Third[],
  says: (bytes: number) => void,
): Promise<InternalSession> {
  const own = nodeEnvironment(null)
  const carrier: OpenDatagrams = async () => {
    return { addresses: named.map(nameOf), reaches: () => false, send: () => {}, close: () => {} }
  }
  const connect: Connect = (to, events) => {
    const stream = own.connect(to, {
      ...events,
      message: (bytes) => {
        const frame = readFrame(bytes)
        const isOfPeer = frame?.kind === 'relay' && frame.peer !== 1
        if (!isOfPeer || how === 'lies') events.message(bytes)
      },
    })
    return {
      send: (bytes) => {
        says(bytes.length)
        return stream.send(bytes)
      },
      backlog: () => stream.backlog(),
      close: (why) => stream.close(why),
    }
  }
  const environment = { ...own, connect, carriers: [carrier] }
  const wish = { game, room, name: how, types: [move], server: url }
  return (await joinIn(environment, wish)) as InternalSession
}

/** A datagram of some kind: nonsense, or such as begins a handshake. */
function datagramOf(at: number): Uint8Array {
  const bytes = new Uint8Array(randomBytes(SIZES[at % SIZES.length]!))
  const kinds = Object.values(KIND)
  if (at % 3 !== 0 && bytes.length > 0) bytes[0] = kinds[at % kinds.length]!
  return bytes
}

/** Of those members, where they may be sent to. */
function doorsOf(liar: InternalSession, named: readonly Third[]): UdpPlace[] {
  const false_ = new Set(named.map(nameOf))
  const { members } = liar.member!.session.client.view
  const all = members.flatMap(({ addresses }) => addresses)
  return all.flatMap((one) => (false_.has(one) ? [] : (parseUdpAddress(one) ?? [])))
}

function send(third: Third, bytes: Uint8Array, { host, port }: UdpPlace): void {
  third.sent += bytes.length
  third.socket.send(bytes, port, host, () => {})
}

/** One who asks by UDP, by all rules: its handshake goes to all doors, from sources in turn. */
function askFrom(
  target: Target,
  stranger: Stranger,
  sources: readonly Third[],
  doors: readonly UdpPlace[],
): void {
  const ghost = new Ghost('asks')
  stranger.once('added', (added) => {
    let at = 0
    const way = {
      address: 'udp:127.0.0.1:1',
      send: (bytes: Uint8Array) => {
        // Each says the same again: what was answered once is answered from memory.
        for (const door of doors) for (let n = 0; n < 3; n++) send(sources[at++ % 3]!, bytes, door)
      },
    }
    ghost.ask(added as FromHub & { kind: 'added' }, target.schema, way)
  })
  stranger.find(target.game, target.room, ghost)
}

/** Frames to the hub that name streams and members that are others'. */
function nameOthers(stranger: Stranger, at: number): void {
  const bytes = new Uint8Array(randomBytes(200))
  stranger.frame(at % 2 ? frameKnock(1 + (at % 64), bytes) : frameRelay(1 + (at % 64), bytes))
}

/** See above. What was sent more to others than came from them is in `befell`. */
export async function reflecting(target: Target): Promise<Tally> {
  const tally = blank()
  const { addresses, url, until } = target
  const hosts = Array.from({ length: SOURCES }, (_none, at) => addresses[at % addresses.length]!)
  const named = await Promise.all(hosts.slice(0, 2).map(thirdAt))
  const sources = await Promise.all(hosts.map(thirdAt))
  const liars: InternalSession[] = []
  for (const how of LIARS) {
    liars.push(await enter(target, how, named, (bytes) => (tally.sent += bytes)))
  }
  const doors = doorsOf(liars[0]!, named)
  const silent = new Stranger(url, hosts[0]!, tally)
  const loud = new Stranger(url, hosts[1]!, tally)
  silent.knocked = () => count(tally, 'a knock of others')
  while (!loud.isOpen && !loud.isOver) await pause(10)
  for (let at = 0; performance.now() < until; at++) {
    if (at % 8 === 0) askFrom(target, loud, sources, doors)
    for (let n = 0; n < RUN; n++) {
      const which = at * RUN + n
      for (const door of doors) send(sources[which % SOURCES]!, datagramOf(which), door)
      tally.done += doors.length
    }
    nameOthers(loud, at)
    await pause(10)
  }
  for (const liar of liars) liar.end('done')
  for (const { sent, got } of sources) if (got > sent) count(tally, MORE)
  for (const third of named) tally.got += third.got
  for (const { socket } of [...named, ...sources]) socket.close()
  for (const one of [silent, loud]) one.end()
  return tally
}
