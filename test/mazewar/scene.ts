/**
 * A game of classic players from a seed: bots that walk and shoot, bad weather, one fault, then a
 * calm. What every picture may show at any time is asked all the while; and when all is calm, all
 * pictures are the same.
 */

import { resolve, type RatState } from '../../games/mazewar/classic/rat-state.ts'
import type { Peer, Wish } from '../../games/mazewar/classic/peer.ts'
import * as prng from '../../packages/holdfast/src/faults/prng.ts'
import * as lan from './lan.ts'

/** What befalls the players in the middle of the game. */
export const FAULTS = [
  'none',
  'pair cut, short',
  'pair cut, long',
  'one cut from all, short',
  'one cut from all, long',
  'one deaf to one',
  'one leaves, one comes',
] as const
export type Fault = (typeof FAULTS)[number]

/** What was found. */
export interface Found {
  seed: number
  fault: Fault
  players: number
  weather: string
  /** How long pictures were wrong: at the two that were cut off from each other, and at others. */
  wrongAtTwo: number[]
  wrongElsewhere: number[]
  /** What must not be. */
  complaints: string[]
  events: number
  /** From the calm until all pictures were the same. */
  settledMs: number | null
}

/** How often pictures are looked at. */
const LOOK_MS = 100
/** A picture shows what was said so long ago at the latest: two slots and a slow path. */
const DELAY_MS = 500
const FAULT_AT = 2_500
const LONG_MS = 6_000
const SHORT_MS = 1_200
/** How often somebody does something in a look. */
const ACTS_SHARE = 0.6
const CALM_AT = 8_600
const CALM_MS = 16_000
/** The same pictures for so long: heartbeats were missed and found by then. */
const PEACE_MS = 4_000

interface Scene {
  lan: lan.Lan
  found: Found
  fault: Fault
  /** The two of the fault. */
  two: [string, string]
  /** What each rat may be shown as: where it was said to be, and when. */
  said: Map<number, { at: number; cells: number[] }[]>
  /** Since when a picture of a rat is wrong. */
  wrong: Map<string, number>
}

/** Plays a game. @param wild with bad weather, or on a quiet wire */
export function play(seed: number, fault: Fault, wild: boolean): Found {
  const scene = setUp(seed, fault, wild)
  const { lan: net, found } = scene
  for (let at = 0; at < CALM_AT; at += LOOK_MS) {
    befall(scene, at)
    for (const player of lan.present(net)) move(net, player)
    lan.run(net, LOOK_MS)
    look(scene, at)
  }
  net.conditions = { ...net.conditions, lossShare: 0 }
  net.deaf.clear()
  for (let ms = 0; ms < CALM_MS; ms += LOOK_MS) {
    lan.run(net, LOOK_MS)
    look(scene, CALM_AT + ms)
    if (isSettled(scene)) found.settledMs ??= ms
    else found.settledMs = null
    if (found.settledMs !== null && ms - found.settledMs >= PEACE_MS) break
  }
  if (found.settledMs === null) found.complaints.push(`no peace: ${pictures(scene).join(' | ')}`)
  for (const player of lan.present(net)) found.events += player.peer.counters.sent.event
  return found
}

function setUp(seed: number, fault: Fault, wild: boolean): Scene {
  const chance = prng.create(`mazewar ${seed}`)
  const players = 2 + prng.below(chance, 7)
  const share = (most: number): string => `${prng.below(chance, most * 10) / 10}%`
  const weather = wild
    ? `rtt=${prng.below(chance, 60)},jitter=${prng.below(chance, 40)},loss=${share(30)},` +
      `dup=${share(5)},reorder=${share(10)}`
    : `rtt=${prng.below(chance, 40)},jitter=${prng.below(chance, 25)}`
  const net = lan.createLan(`mazewar ${seed}`, weather)
  for (let i = 0; i < players; i++) {
    lan.join(net, `p${i}`, {}, prng.below(chance, 200))
    lan.run(net, prng.below(chance, 300))
  }
  const found = { seed, fault, players, weather, wrongAtTwo: [], wrongElsewhere: [] }
  return {
    lan: net,
    found: { ...found, complaints: [], events: 0, settledMs: null },
    ...{ fault, two: ['p0', 'p1'], said: new Map(), wrong: new Map() },
  }
}

// A bot: it walks along, turns where it must or likes to, and shoots now and then.
function move(net: lan.Lan, player: lan.Player): void {
  const { chance } = net
  if (!prng.chance(chance, ACTS_SHARE)) return
  const facing = prng.below(chance, 4) as 0 | 1 | 2 | 3
  const dice = prng.below(chance, 16)
  const wish: Wish =
    dice < 9
      ? { kind: 'step', speed: 1 }
      : dice < 10
        ? { kind: 'step', speed: 2 }
        : dice < 13
          ? { kind: 'turn', facing }
          : dice < 15
            ? { kind: 'fire' }
            : { kind: 'cloak', on: prng.chance(chance, 0.5) }
  if (!lan.act(net, player, wish)) {
    lan.act(net, player, { kind: 'turn', facing })
  }
}

function befall({ lan: net, fault, two: [one, other] }: Scene, at: number): void {
  const long = fault.endsWith('long')
  if (at === FAULT_AT) {
    if (fault.startsWith('pair')) lan.cut(net, one, other)
    if (fault.startsWith('one cut')) lan.isolate(net, one)
    if (fault === 'one deaf to one') net.deaf.add(`${one} ${other}`)
    if (fault === 'one leaves, one comes') {
      net.players.get(one)!.gone = true
      lan.join(net, 'late')
    }
  }
  if (at === FAULT_AT + (long ? LONG_MS : SHORT_MS)) net.deaf.clear()
}

function look(scene: Scene, at: number): void {
  remember(scene)
  if (at % (4 * LOOK_MS) === 0) samePictures(scene)
  const present = lan.present(scene.lan)
  for (const player of present) {
    const cells = new Set(player.peer.cells.values())
    if (cells.size < player.peer.cells.size) {
      scene.found.complaints.push(`${at}: two rats in one cell at ${player.name}`)
    }
    for (const other of present) judge(scene, player, other)
  }
}

// Where each rat is by what all rats said last, and what each said.
function remember({ lan: net, said }: Scene): void {
  const newest = new Map<number, RatState>()
  for (const { peer } of lan.present(net)) if (peer.self) newest.set(peer.id, peer.self)
  const cells = resolve(newest)
  for (const [id, { cell, before }] of newest) {
    const list = said.get(id) ?? []
    list.push({ at: net.now, cells: [cells.get(id)!, cell, before] })
    while (list[0]!.at < net.now - DELAY_MS) list.shift()
    said.set(id, list)
  }
}

// Two who know the same newest events show the same, whatever came to whom in which slot.
function samePictures({ lan: net, found }: Scene): void {
  const known = new Map<string, { name: string; picture: string }>()
  for (const { peer, name } of lan.present(net)) {
    const key = newestOf(peer)
    if (peer.phase !== 'playing' || key === null) continue
    const picture = pictureOf(peer, false)
    const same = known.get(key)
    if (same && same.picture !== picture && found.complaints.length < 5) {
      found.complaints.push(`${name} and ${same.name}: ${picture} and ${same.picture}`)
    }
    known.set(key, { name, picture })
  }
}

/** The newest event of each rat that was worked in; null if one is not known by its number. */
function newestOf(peer: Peer): string | null {
  const own = peer.pending.filter(({ source }) => source === peer.id).length
  const numbers: string[] = []
  for (const id of [...peer.rats.keys()].toSorted((a, b) => a - b)) {
    const last = id === peer.id ? peer.event - own : peer.others.get(id)?.last
    if (last === null || last === undefined) return null
    numbers.push(`${id}:${last}`)
  }
  return numbers.join(' ')
}

function pictureOf(peer: Peer, whole: boolean): string {
  const rats: string[] = []
  for (const id of [...peer.rats.keys()].toSorted((a, b) => a - b)) {
    const { cell, facing, cloaked, score, missiles } = peer.rats.get(id)!
    const more = whole ? `:${score}:${missiles.length}` : ''
    rats.push(`${id}:${peer.cells.get(id) ?? cell}:${facing}:${cloaked ? 1 : 0}${more}`)
  }
  return rats.join(' ')
}

// Whether a picture shows a rat as nobody said that it is, and how long it does.
function judge(scene: Scene, { peer, name }: lan.Player, { peer: other }: lan.Player): void {
  const key = `${name} ${other.id}`
  const { now } = scene.lan
  const said = scene.said.get(other.id)
  const both = peer.phase === 'playing' && other.phase === 'playing' && said
  const shown = peer.cells.get(other.id)
  const right = !both || isYoung(other, now) || said.some(({ cells }) => cells.includes(shown!))
  const since = scene.wrong.get(key)
  if (!right && since === undefined) scene.wrong.set(key, now)
  if (!right || since === undefined) return
  scene.wrong.delete(key)
  const list = scene.two.includes(name) ? scene.found.wrongAtTwo : scene.found.wrongElsewhere
  list.push(now - since)
}

// It was born a moment ago: not all have heard of it.
function isYoung(peer: lan.Player['peer'], now: number): boolean {
  return now - peer.birthAt < 2 * DELAY_MS + 200
}

function isSettled(scene: Scene): boolean {
  const all = pictures(scene)
  return all.length === lan.present(scene.lan).length && new Set(all).size === 1
}

function pictures({ lan: net }: Scene): string[] {
  return lan.present(net).map(({ peer }) => pictureOf(peer, true))
}
