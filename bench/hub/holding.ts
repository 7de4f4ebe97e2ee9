/**
 * Streams that are kept, as members keep theirs: alone, each the founder of a room, or each of a
 * member of rooms that are full; or plain streams to what is no hub.
 */

import { addresses } from '../../test/attack/attacks.ts'
import { blank, SECRET, Stranger } from '../../test/attack/stranger.ts'
import { MEMBERS_MAX } from '../../packages/holdfast/src/machine.ts'
import { PING_MS } from '../../packages/holdfast/src/runtime/hub-stream.ts'
import type { FromHub } from '../../packages/holdfast/src/hub-protocol/messages.ts'
import { digest, proofOf } from '../../packages/holdfast/src/wire/digest.ts'
import type { Did } from './words.ts'

/** So many streams are dialled at a time. */
const DIALS = 32
/** They come from so many addresses. */
const ADDRESSES = 100
/** Pings are spread over so many turns. */
const TURNS = 20

const PROOF = proofOf(SECRET, 'register')

/** What is held, and where. */
export interface Held {
  kind: 'streams' | 'plain' | 'rooms' | 'members'
  url: string
  count: number
  net: number
}

/** Opens all, and keeps them: each pings as a member does. */
export async function hold({ kind, url, count, net }: Held): Promise<Did> {
  const start = performance.now()
  const tally = blank()
  const from = addresses(ADDRESSES, net)
  const all: Stranger[] = []
  keepAlive(all)
  const rooms = new Map<number, Promise<Stranger>>()
  const begin = async (stranger: Stranger, at: number): Promise<void> => {
    if (kind === 'plain') return opened(stranger)
    const welcome = heard(stranger, 'welcome')
    if (kind === 'members') return enter(rooms, stranger, { at, net }, welcome)
    await welcome
    if (kind === 'rooms') await found(stranger, `idle ${net} ${at}`)
  }
  const dial = async (): Promise<void> => {
    while (all.length < count) {
      const at = all.length
      const stranger = new Stranger(url, from[at % from.length]!, tally)
      all.push(stranger)
      await begin(stranger, at)
    }
  }
  await Promise.all(Array.from({ length: DIALS }, dial))
  const open = all.filter(({ isOpen }) => isOpen).length
  return { count: open, ms: performance.now() - start, lost: count - open }
}

/** The first of each room founds it, and lists those to come; they attach. */
async function enter(
  rooms: Map<number, Promise<Stranger>>,
  stranger: Stranger,
  { at, net }: { at: number; net: number },
  welcome: Promise<void>,
): Promise<void> {
  const room = Math.floor(at / MEMBERS_MAX)
  const inc = 1 + (at % MEMBERS_MAX)
  if (inc === 1)
    rooms.set(
      room,
      welcome.then(() => full(stranger, `full ${net} ${room}`)),
    )
  const [founder] = await Promise.all([rooms.get(room)!, welcome])
  if (inc === 1) return
  stranger.session = founder.session
  stranger.attach(inc)
  await Promise.race([heard(stranger, 'attached'), heard(stranger, 'refused')])
}

async function full(stranger: Stranger, name: string): Promise<Stranger> {
  await found(stranger, name)
  return fill(stranger, MEMBERS_MAX)
}

function opened({ socket }: Stranger): Promise<void> {
  return new Promise((resolve) => {
    socket.once('open', resolve)
    socket.once('close', resolve)
  })
}

/** The next message of that kind; or the stream is over. */
export function heard(stranger: Stranger, kind: FromHub['kind']): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      stranger.socket.off('close', done)
      resolve()
    }
    stranger.once(kind, done)
    stranger.socket.on('close', done)
  })
}

/** Founds a room and attends it, and answers when the hub asks after its primary. */
export async function found(stranger: Stranger, room: string, terms = ''): Promise<void> {
  answer(stranger)
  stranger.add(room, undefined, terms)
  await heard(stranger, 'added')
  stranger.attach()
  await heard(stranger, 'attached')
}

/** Whoever founded a room lists so many members. */
export async function fill(founder: Stranger, count: number): Promise<Stranger> {
  const { session } = founder
  const key = new Uint8Array(32)
  const members = Array.from({ length: count }, (_none, at) => {
    return { inc: at + 1, player: at + 1, hash: digest(PROOF), link: key, key }
  })
  founder.say({ kind: 'members', session, members, players: members.length })
  founder.say({ kind: 'ping', count: 1 })
  await heard(founder, 'pong')
  return founder
}

function answer(stranger: Stranger): void {
  stranger.once('areYouAlive', (asked) => {
    answer(stranger)
    if (asked.kind !== 'areYouAlive') return
    const { session, nonce } = asked
    stranger.say({ kind: 'yes', session, epoch: 1, nonce, players: 1 })
  })
}

/** Pings on all, as members do. */
export function keepAlive(all: readonly Stranger[]): void {
  let turn = 0
  const timer = setInterval(() => {
    turn++
    for (let at = turn % TURNS; at < all.length; at += TURNS) {
      all[at]!.say({ kind: 'ping', count: turn })
    }
  }, PING_MS / TURNS)
  timer.unref()
}
