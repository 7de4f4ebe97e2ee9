/**
 * A LAN of classic players in virtual time: their shipped machines, and between them what
 * `packages/holdfast/src/faults` does to datagrams, from a seed. Paths can be cut one way or both.
 */

import * as conditions from '../../packages/holdfast/src/faults/conditions.ts'
import * as prng from '../../packages/holdfast/src/faults/prng.ts'
import * as classic from '../../games/mazewar/classic/peer.ts'

/** One player. */
export interface Player {
  readonly name: string
  /** So far is its clock, and the slots on it, ahead of the LAN's. */
  readonly skew: number
  readonly peer: classic.Peer
  readonly news: classic.News[]
  out: classic.Out
  /** It left, in silence. */
  gone: boolean
}

/** What was sent, by whom and when; `to` is null for all. */
export interface Sent {
  at: number
  from: string
  to: string | null
  bytes: Uint8Array
}

/** A LAN. */
export interface Lan {
  now: number
  readonly players: Map<string, Player>
  readonly chance: prng.Prng
  conditions: conditions.Conditions
  /** `a b`: what a sends does not reach b. */
  readonly deaf: Set<string>
  readonly queue: Arrival[]
  /** All that was sent, if it is kept. */
  readonly sent: Sent[] | null
}

interface Arrival {
  at: number
  /** In the order of sending, where two come at once. */
  order: number
  from: string
  to: string
  bytes: Uint8Array
}

let order = 0

/** A LAN with nobody in it. @param weather as `conditions.parse` reads it */
export function createLan(seed: number | string, weather = '', keep = false): Lan {
  return {
    now: 1_000_000,
    players: new Map(),
    chance: prng.create(seed),
    conditions: conditions.parse(weather),
    deaf: new Set(),
    queue: [],
    sent: keep ? [] : null,
  }
}

/** Somebody joins. */
export function join(
  lan: Lan,
  name: string,
  options: Partial<classic.PeerOptions> = {},
  skew = 0,
): Player {
  const id = options.id ?? prng.word(lan.chance)
  const seed = options.seed ?? prng.word(lan.chance)
  const news: classic.News[] = []
  const player: Player = {
    ...{ name, skew, news, gone: false },
    peer: classic.create(lan.now + skew, { ...options, id, seed }),
    out: {
      multicast: (bytes) => send(lan, player, null, bytes),
      unicast: (to, bytes) => send(lan, player, to, bytes),
      tell: (one) => news.push(one),
    },
  }
  lan.players.set(name, player)
  classic.wake(player.peer, lan.now + skew, player.out)
  return player
}

function send(lan: Lan, { name: from }: Player, to: string | null, bytes: Uint8Array): void {
  lan.sent?.push({ at: lan.now, from, to, bytes })
  for (const name of to === null ? lan.players.keys() : [to]) {
    if (name === from || lan.deaf.has(`${from} ${name}`)) continue
    for (const delay of conditions.fate(lan.conditions, lan.chance).copies) {
      push(lan.queue, { at: lan.now + delay, order: order++, from, to: name, bytes })
    }
  }
}

/** What the first sends does not reach the second, and the other way round too. */
export function cut(lan: Lan, one: string, other: string): void {
  lan.deaf.add(`${one} ${other}`).add(`${other} ${one}`)
}

/** One is cut from all. */
export function isolate(lan: Lan, one: string): void {
  for (const other of lan.players.keys()) if (other !== one) cut(lan, one, other)
}

/** Does something by somebody. */
export function act(lan: Lan, player: Player, wish: classic.Wish): boolean {
  return classic.act(player.peer, lan.now + player.skew, wish, player.out)
}

/** Bytes from somewhere, now. */
export function inject(lan: Lan, player: Player, from: string, bytes: Uint8Array): void {
  classic.receive(player.peer, lan.now + player.skew, from, bytes, player.out)
}

/** Lets time pass. */
export function run(lan: Lan, ms: number): void {
  const end = lan.now + ms
  const here = present(lan)
  for (;;) {
    let at = lan.queue[0]?.at ?? Infinity
    for (const { peer, skew } of here) at = Math.min(at, classic.deadline(peer) - skew)
    if (at > end) break
    lan.now = Math.max(lan.now, at)
    while (lan.queue.length > 0 && lan.queue[0]!.at <= lan.now) arrive(lan, pop(lan.queue)!)
    for (const { peer, skew, out } of here) {
      const now = lan.now + skew
      if (classic.deadline(peer) <= now) classic.wake(peer, now, out)
    }
  }
  lan.now = end
}

/** Those who have not left. */
export function present(lan: Lan): Player[] {
  return [...lan.players.values()].filter(({ gone }) => !gone)
}

function arrive(lan: Lan, { from, to, bytes }: Arrival): void {
  const player = lan.players.get(to)
  if (!player || player.gone || lan.deaf.has(`${from} ${to}`)) return
  classic.receive(player.peer, lan.now + player.skew, from, bytes, player.out)
}

// A heap: the soonest is first.
function push(heap: Arrival[], one: Arrival): void {
  let at = heap.push(one) - 1
  while (at > 0) {
    const above = (at - 1) >> 1
    if (sooner(heap[above]!, one)) break
    heap[at] = heap[above]!
    at = above
  }
  heap[at] = one
}

function pop(heap: Arrival[]): Arrival | undefined {
  const first = heap[0]
  const last = heap.pop()
  if (!last || heap.length === 0) return last
  let at = 0
  for (;;) {
    let below = 2 * at + 1
    if (below >= heap.length) break
    if (below + 1 < heap.length && sooner(heap[below + 1]!, heap[below]!)) below += 1
    if (sooner(last, heap[below]!)) break
    heap[at] = heap[below]!
    at = below
  }
  heap[at] = last
  return first
}

function sooner(one: Arrival, other: Arrival): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order)
}
