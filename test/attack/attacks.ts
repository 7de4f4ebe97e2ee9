/**
 * What strangers do to a hub that runs: each attack as fast as one process can, from as many
 * addresses as it is given. All end at a time, and after so many deeds.
 */

import http from 'node:http'
import net, { type Socket } from 'node:net'
import type { FromHub } from '../../packages/holdfast/src/hub-protocol/messages.ts'
import { knocking as door } from '../../packages/holdfast/src/wire/relay.ts'
import { frameKnock, frameRelay } from '../../packages/holdfast/src/wire/relay.ts'
import { digest, proofOf } from '../../packages/holdfast/src/wire/digest.ts'
import { Ghost, type Goes } from './ghost.ts'
import { reflecting } from './reflecting.ts'
import type { Target } from './target.ts'
import { blank, count, SECRET, Stranger, type Tally } from './stranger.ts'

/** Most deeds of one attack. */
const DEEDS_MAX = 2_000_000
/** Most sockets that one attack holds. */
const SOCKETS_MAX = 6_000
/** Deeds of one stream in a row. */
const RUN = 64
const BIG = new Uint8Array(1_200)

/**
 * Addresses of loopback, each another: 127.1.0.1 and so on.
 *
 * @param net  which of 250 nets they are of, so that nobody pays for those before
 */
export function addresses(many: number, net: number): string[] {
  return Array.from(
    { length: many },
    (_none, at) => `127.${1 + (net % 250)}.${Math.floor(at / 250)}.${1 + (at % 250)}`,
  )
}

/** Streams that are soon dialled, so that most of the time goes by with deeds. */
function few({ addresses: { length } }: Target): number {
  return Math.max(16, 2 * length)
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** Streams from all addresses, dialled again as they are closed, which do their deeds in turn. */
async function streams(
  target: Target,
  most: number,
  deed: (stranger: Stranger, at: number, tally: Tally) => boolean,
): Promise<Tally> {
  const tally = blank()
  const all: Stranger[] = []
  const { length } = target.addresses
  for (let at = 0; performance.now() < target.until && tally.done < DEEDS_MAX; at++) {
    const slot = at % Math.min(most, SOCKETS_MAX)
    const known = all[slot]
    if (!known || known.isOver) {
      const from = target.addresses[at % length]!
      all[slot] = new Stranger(target.url, from, tally)
      // A dial is a deed, too, and not of a run.
      if (at % 8 === 0) await turn()
      continue
    }
    for (let n = 0; n < RUN && deed(known, at, tally); n++);
    await turn()
  }
  for (const one of all) one.end()
  return tally
}

/** Rooms are founded, and left at once. */
function founding(target: Target): Promise<Tally> {
  let rooms = 0
  return streams(target, 4 * target.addresses.length, (stranger) => {
    return stranger.add(`room ${target.addresses[0]} ${rooms++}`)
  })
}

/** Rooms are founded and attended, and kept. */
function attaching(target: Target): Promise<Tally> {
  let rooms = 0
  const asked = new WeakSet<Stranger>()
  return streams(target, 128 * target.addresses.length, (stranger) => {
    if (asked.has(stranger)) return false
    asked.add(stranger)
    stranger.once('added', () => stranger.attach())
    return stranger.add(`kept ${rooms++}`)
  })
}

/** Streams are opened and left alone, more than an address may have. */
function hoarding(target: Target): Promise<Tally> {
  return streams(target, 512 * target.addresses.length, () => false)
}

/** Lists are asked for, and never read. */
function unread(target: Target): Promise<Tally> {
  return streams(target, 32 * target.addresses.length, (stranger) => {
    stranger.socket.pause()
    return stranger.say({ kind: 'list', request: 1, game: '', after: '' })
  })
}

/** The room of others is knocked at. */
function knocking(target: Target): Promise<Tally> {
  const found = new WeakSet<Stranger>()
  return streams(target, few(target), (stranger) => {
    if (!found.has(stranger)) {
      found.add(stranger)
      stranger.find(target.game, target.room)
    }
    return stranger.frame(frameKnock(0, BIG))
  })
}

/** Lists are asked for by stream. */
function listing(target: Target): Promise<Tally> {
  return streams(target, few(target), (stranger) => {
    return stranger.say({ kind: 'list', request: 1, game: '', after: '' })
  })
}

/** Messages that mean nothing. */
function chatting(target: Target): Promise<Tally> {
  return streams(target, few(target), (stranger) => {
    return stranger.say({ kind: 'ping', count: 1 })
  })
}

/** Members of a room of their own, who relay to each other as fast as they can. */
function shouting(target: Target): Promise<Tally> {
  const asked = new WeakSet<Stranger>()
  const hash = digest(proofOf(SECRET, 'register'))
  const key = new Uint8Array(32)
  const members = [1, 2].map((inc) => ({ inc, player: inc, hash, link: key, key }))
  let founder: Stranger | null = null
  return streams(target, 2 * target.addresses.length, (stranger, at) => {
    if (asked.has(stranger)) return stranger.frame(frameRelay(at % 2 ? 1 : 2, BIG))
    asked.add(stranger)
    const other = founder
    founder = other ? null : stranger
    stranger.once('added', () => {
      stranger.attach(other ? 2 : 1)
      if (!other)
        stranger.say({
          kind: 'members',
          session: stranger.session,
          members,
          players: members.length,
        })
    })
    stranger.add(`shouts ${Math.floor(at / 2)}`)
    return false
  })
}

/** Most that one stream brings: one more than a primary lets it. */
const GHOSTS = 4

/** The room of others is asked by many with keys of their own, who go so far in turn. */
function ghosts(target: Target, ways: readonly Goes[]): Promise<Tally> {
  const brought = new WeakMap<Stranger, Ghost[]>()
  let count = 0
  return streams(target, few(target), (stranger) => {
    const own = brought.get(stranger) ?? []
    brought.set(stranger, own)
    // One that has brought all it may makes place for another.
    if (own.length >= GHOSTS) stranger.end()
    if (own.length >= GHOSTS || !stranger.isOpen) return false
    const ghost = new Ghost(ways[count++ % ways.length]!)
    own.push(ghost)
    stranger.knocked = (bytes) => own.forEach((one) => one.hear(bytes))
    stranger.once('added', (added) => {
      const send = (bytes: Uint8Array): void => void stranger.frame(frameKnock(0, bytes))
      const way = { address: door(0), send }
      ghost.ask(added as FromHub & { kind: 'added' }, target.schema, way)
    })
    stranger.find(target.game, target.room, ghost)
    return false
  })
}

/** Such that never come in. */
function ghosting(target: Target): Promise<Tally> {
  return ghosts(target, ['asks', 'stands'])
}

/** Such that come in, and never attach. */
function haunting(target: Target): Promise<Tally> {
  return ghosts(target, ['enters'])
}

/** Sockets that come to nothing, dialled again as they end. */
async function sockets(
  target: Target,
  most: number,
  begin: (socket: Socket) => void,
): Promise<Tally> {
  const tally = blank()
  const { hostname, port } = new URL(target.url)
  const all = new Set<Socket>()
  for (let at = 0; performance.now() < target.until && tally.done < DEEDS_MAX; at++) {
    if (all.size < Math.min(most, SOCKETS_MAX)) {
      const from = target.addresses[at % target.addresses.length]!
      const socket = net.connect({ host: hostname, port: Number(port), localAddress: from })
      all.add(socket)
      socket.on('error', () => {})
      socket.on('data', () => {})
      socket.on('connect', () => {
        tally.done++
        begin(socket)
      })
      socket.on('close', () => {
        count(tally, 'socket ended')
        all.delete(socket)
      })
    }
    if (at % 8 === 0) await turn()
  }
  for (const socket of all) socket.destroy()
  return tally
}

const HEAD = `GET /hub HTTP/1.1\r\nHost: localhost\r\nX-Slow: `
/** Asks for a stream, as the bytes of the request. */
export const UPGRADE =
  'GET /hub HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
  'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n'
const SLOW_MS = 200

/** Half a request, and no more. */
function halfOpening(target: Target): Promise<Tally> {
  return sockets(target, 1_500 * target.addresses.length, (socket) => void socket.write(HEAD))
}

/** A stream whose first message comes a byte at a time. */
function slowly(target: Target): Promise<Tally> {
  return sockets(target, 300 * target.addresses.length, (socket) => {
    socket.write(UPGRADE)
    // A frame of 200,000 bytes, of which they say one now and then.
    socket.write(Uint8Array.of(0x82, 0xff, 0, 0, 0, 0, 0, 3, 0x0d, 0x40, 0, 0, 0, 0))
    const more = setInterval(() => socket.write(BIG.subarray(0, 1)), SLOW_MS)
    socket.on('close', () => clearInterval(more))
  })
}

/** Lists and pages by HTTP. */
async function fetching(target: Target): Promise<Tally> {
  const tally = blank()
  const { hostname, port } = new URL(target.url)
  const place = { host: hostname, port: Number(port), agent: false } as const
  let open = 0
  for (let at = 0; performance.now() < target.until && tally.done < DEEDS_MAX; at++) {
    if (open < 64 * Math.min(8, target.addresses.length)) {
      open++
      const localAddress = target.addresses[at % target.addresses.length]!
      const path = at % 2 ? '/api/sessions' : '/health'
      const request = http.get({ ...place, path, localAddress, headers: { host: 'localhost' } })
      request.on('response', (answer) => {
        tally.done++
        if (answer.statusCode !== 200) count(tally, `${answer.statusCode}`)
        answer.resume()
      })
      request.on('error', () => count(tally, 'socket ended'))
      request.on('close', () => open--)
    }
    if (at % 8 === 0) await turn()
  }
  return tally
}

/** All attacks by name. */
export const ATTACKS = {
  ...{ founding, attaching, hoarding, halfOpening, unread, slowly },
  ...{ knocking, ghosting, haunting, listing, fetching, chatting },
  ...{ shouting, reflecting },
} as const satisfies Record<string, (target: Target) => Promise<Tally>>

/** The name of one. */
export type Attack = keyof typeof ATTACKS
