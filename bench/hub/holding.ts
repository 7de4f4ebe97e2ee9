/** Streams that are kept, as members keep theirs: alone, or each the founder of a room. */

import { addresses } from '../../test/attack/attacks.ts'
import { blank, Stranger } from '../../test/attack/stranger.ts'
import { PING_MS } from '../../src/runtime/member/hub-stream.ts'
import type { FromHub } from '../../src/directory/messages.ts'
import type { Did } from './words.ts'

/** So many streams are dialled at a time. */
const DIALS = 32
/** They come from so many addresses. */
const ADDRESSES = 100
/** Pings are spread over so many turns. */
const TURNS = 20

/** What is held, and where. */
export interface Held {
  kind: 'streams' | 'rooms'
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
  const dial = async (): Promise<void> => {
    while (all.length < count) {
      const stranger = new Stranger(url, from[all.length % from.length]!, tally)
      all.push(stranger)
      await heard(stranger, 'welcome')
      if (kind === 'rooms') await found(stranger, `idle ${net} ${all.indexOf(stranger)}`)
    }
  }
  await Promise.all(Array.from({ length: DIALS }, dial))
  const open = all.filter(({ isOpen }) => isOpen).length
  return { count: open, ms: performance.now() - start, lost: count - open }
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
export async function found(stranger: Stranger, room: string): Promise<void> {
  answer(stranger)
  stranger.add(room)
  await heard(stranger, 'added')
  stranger.attach()
  await heard(stranger, 'attached')
}

function answer(stranger: Stranger): void {
  stranger.once('areYouAlive', (asked) => {
    answer(stranger)
    if (asked.kind !== 'areYouAlive') return
    const { session, nonce } = asked
    stranger.say({ kind: 'yes', session, epoch: 1, nonce, players: 1 })
  })
}

function keepAlive(all: readonly Stranger[]): void {
  let turn = 0
  setInterval(() => {
    turn++
    for (let at = turn % TURNS; at < all.length; at += TURNS) {
      all[at]!.say({ kind: 'ping', count: turn })
    }
  }, PING_MS / TURNS)
}
