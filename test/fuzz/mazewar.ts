/**
 * Hostile packets into classic players in the middle of a game: half of them well formed, with
 * hostile content and ids and addresses of those who play; the others are such packets with bytes
 * changed, cut or added, and noise.
 */

import {
  type Absolute,
  type Action,
  decode,
  encode,
  type Missile,
  type Packet,
} from '../../games/mazewar/classic/packets.ts'
import { deadline, type Wish } from '../../games/mazewar/classic/peer.ts'
import { OTHERS_MAX, PENDING_MAX, WAITING_MAX } from '../../games/mazewar/classic/state.ts'
import {
  below,
  chance,
  fill,
  pick,
  type Prng,
  word,
} from '../../packages/holdfast/src/faults/prng.ts'
import * as lan from '../mazewar/lan.ts'

/** What came of it. */
export interface Found {
  packets: number
  wellFormed: number
  accepted: number
  refused: number
  complaints: string[]
}

/** Packets between two looks at the tables. */
const ROUND = 100
const EDGES = [0, 1, 2, 2 ** 27 - 1, 2 ** 27, 2 ** 28 - 1, 2 ** 31, 2 ** 32 - 1]

/**
 * Throws so many packets at the players of a game of three.
 *
 * @param forged some come as if from the players' own addresses: packets have no proof of who sent
 *   them, so such a one speaks for a player, and the pictures need not agree after it
 */
export function storm(seed: number, packets: number, forged: boolean): Found {
  const net = lan.createLan(`storm ${seed}`, 'rtt=4')
  const players = ['a', 'b', 'c'].map((name) => lan.join(net, name))
  lan.run(net, 2_000)
  const found: Found = { packets: 0, wellFormed: 0, accepted: 0, refused: 0, complaints: [] }
  while (found.packets < packets) {
    for (let i = 0; i < ROUND; i++) throwOne(net, players, forged, found)
    lan.run(net, below(net.chance, 60))
    for (const player of players) {
      lan.act(net, player, pick(net.chance, WISHES))
      look(player, found)
    }
  }
  for (const { peer } of players) {
    found.refused += Object.values(peer.counters.refused).reduce((sum, count) => sum + count, 0)
  }
  if (!forged) calm(net, players, found)
  return found
}

const WISHES: Wish[] = [
  { kind: 'step', speed: 1 },
  { kind: 'turn', facing: 0 },
  { kind: 'turn', facing: 3 },
  { kind: 'fire' },
  { kind: 'cloak', on: true },
]

function throwOne(net: lan.Lan, players: lan.Player[], forged: boolean, found: Found): void {
  const { chance: random } = net
  const player = pick(random, players)
  const said = packet(random, players)
  const whole = chance(random, 0.5)
  const bytes = whole ? encode(said) : spoilt(random, encode(said))
  found.packets += 1
  if (whole) found.wellFormed += 1
  judge(bytes, whole, found)
  const names = [...(forged ? net.players.keys() : []), 'x', 'y', `z${below(random, 100)}`]
  lan.inject(net, player, pick(random, names), bytes)
}

/** What the decoder makes of it must be what it says, and canonical but for pads. */
function judge(bytes: Uint8Array, whole: boolean, found: Found): void {
  const read = decode(bytes)
  if (!read) {
    if (whole) complain(found, 'refused a packet that is well formed', bytes)
    return
  }
  found.accepted += 1
  if (!isPacket(bytes)) complain(found, 'took what is no packet', bytes)
  const again = encode(read)
  if (again.length !== bytes.length) complain(found, 'took another length', bytes)
  if (whole && again.some((byte, i) => byte !== bytes[i])) complain(found, 'changed it', bytes)
  const me = read.kind === 'response' ? read.destination : null
  const third = encode(decode(again, me)!)
  if (third.some((byte, i) => byte !== again[i])) complain(found, 'is not canonical', bytes)
}

function complain(found: Found, what: string, bytes: Uint8Array): void {
  const hex = Buffer.from(bytes).toString('hex')
  if (found.complaints.length < 20) found.complaints.push(`${what}: ${hex}`)
}

const LENGTHS = [8, 12, null, 12, 4, null, 8]
const DATA = [2, 1, 1, 2, 6]

/** Whether these bytes are a packet, by arithmetic on bytes alone. */
function isPacket(bytes: Uint8Array): boolean {
  const kind = bytes[0]! >> 4
  const length = ((bytes[0]! & 15) << 8) | bytes[1]!
  if (bytes.length !== length + 2 || kind > 7) return false
  if (kind === 7) return length >= 4 && length <= 36
  const fixed = LENGTHS[kind]
  if (fixed !== null) return length === fixed
  if (kind === 2) return isState(bytes, 10)
  // With its heartbeat, or without (M45).
  return isState(bytes, 14) || isState(bytes, 10)
}

// Of an event or a response, whose state begins there.
function isState(bytes: Uint8Array, start: number): boolean {
  const kind = bytes[0]! >> 4
  if (bytes.length < start + 6) return false
  // The two bytes of place, facing, cloak and count.
  const [high, low] = [bytes[start + 4]!, bytes[start + 5]!]
  const behind = start + 6 + 2 * ((low >> 2) & 3)
  if (kind === 5) return isList(bytes, behind)
  const type = bytes[2]! >> 4
  if (type > 4 || bytes.length !== behind + DATA[type]!) return false
  const [facing, step] = [bytes[behind]! >> 6, (bytes[behind]! >> 4) & 3]
  const faces = ((high << 8) | low) >> 5
  return type !== 1 || step === 0 || (step < 3 && facing === (faces & 3))
}

function isList(bytes: Uint8Array, from: number): boolean {
  let at = from
  while (at < bytes.length) {
    const type = bytes[at]! >> 4
    if (type > 4) return false
    if (type === 1 && ((bytes[at + 4]! >> 4) & 3) === 3) return false
    at += 4 + DATA[type]!
  }
  return at === bytes.length
}

/** Tables are bounded, no two rats share a cell, and there is a next time to wake. */
function look({ name, peer }: lan.Player, { complaints }: Found): void {
  const most = OTHERS_MAX
  const claims: [string, boolean][] = [
    ['more others than may be', peer.others.size <= most],
    ['more rats than players', peer.rats.size <= most + 1],
    ['acks of more than there are', peer.waiting.size <= most],
    ['more acks than may', [...peer.waiting.values()].every((all) => all.length <= WAITING_MAX)],
    ['more waits for a slot than may', peer.pending.length <= (most + 1) * PENDING_MAX],
    ['two in a cell', new Set(peer.cells.values()).size === peer.cells.size],
    ['no time to wake', deadline(peer) < Infinity],
  ]
  for (const [what, holds] of claims) {
    if (!holds && complaints.length < 20) complaints.push(`${name}: ${what}`)
  }
}

// When it is over, strangers are forgotten, and those who play see the same.
function calm(net: lan.Lan, players: lan.Player[], { complaints }: Found): void {
  lan.run(net, 20_000)
  const pictures = players.map(({ peer }) =>
    JSON.stringify([...peer.cells].toSorted(([one], [other]) => one - other)),
  )
  if (new Set(pictures).size > 1) complaints.push(`no peace: ${pictures.join(' | ')}`)
  if (players.some(({ peer }) => peer.cells.size !== 3)) complaints.push('not three rats')
}

function spoilt(random: Prng, bytes: Uint8Array): Uint8Array {
  if (chance(random, 0.2)) {
    const noise = new Uint8Array(below(random, 64))
    fill(random, noise)
    return noise
  }
  const more = chance(random, 0.2) ? below(random, 20) : 0
  const other = Uint8Array.from([...bytes, ...new Uint8Array(more)])
  for (let flips = below(random, 4); flips > 0; flips--) {
    other[below(random, other.length)] = word(random) & 0xff
  }
  return chance(random, 0.2) ? other.slice(0, below(random, other.length)) : other
}

function packet(random: Prng, players: lan.Player[]): Packet {
  const id = (): number =>
    chance(random, 0.7) ? pick(random, players).peer.id : number(random, 32)
  const source = id()
  const destination = id()
  const heartbeat = number(random, 32)
  const event = number(random, 28)
  switch (below(random, 8)) {
    case 0:
      return { kind: 'heartbeat', heartbeat, source }
    case 1:
      return { kind: 'heartbeat-ack', heartbeat, source, destination }
    case 2:
      return { kind: 'event-ack', event, source, destination }
    case 3:
      return { kind: 'inquiry', source }
    case 4: {
      const many = below(random, chance(random, 0.05) ? 300 : 4)
      const uncommitted = Array.from({ length: many }, () => {
        return { event: number(random, 28), action: action(random, null, id) }
      })
      const ends = { source, destination }
      return { kind: 'response', heartbeat, ...ends, absolute: absolute(random), uncommitted }
    }
    case 5:
      return { kind: 'response-ack', source, destination }
    case 6: {
      const name = new Uint8Array(below(random, 33))
      fill(random, name)
      return { kind: 'name', source, name: [...name] }
    }
    default: {
      const state = absolute(random)
      return { kind: 'event', source, event, absolute: state, action: action(random, state, id) }
    }
  }
}

function number(random: Prng, bits: number): number {
  const value = chance(random, 0.4) ? pick(random, EDGES) : word(random)
  return value % 2 ** bits
}

function missile(random: Prng): Missile {
  return { id: below(random, 4), cell: below(random, 512), heading: below(random, 4) as 0 }
}

function absolute(random: Prng): Absolute {
  return {
    score: number(random, 32) | 0,
    cell: below(random, 512),
    facing: below(random, 4) as 0,
    cloaked: chance(random, 0.5),
    missiles: Array.from({ length: below(random, 4) }, () => missile(random)),
  }
}

const STEPS = ['none', 'forward', 'backward'] as const

function action(random: Prng, before: Absolute | null, id: () => number): Action {
  const facing = below(random, 4) as 0
  switch (below(random, 5)) {
    case 0:
      return { kind: 'born', cell: below(random, 512), facing }
    case 1: {
      const step = pick(random, STEPS)
      // A step to another side is no packet.
      return {
        kind: 'movement',
        facing: step === 'none' ? facing : (before?.facing ?? facing),
        step,
      }
    }
    case 2:
      return { kind: 'cloak', on: chance(random, 0.5) }
    case 3:
      return { kind: 'projection', missile: missile(random) }
    default:
      return { kind: 'hit', owner: id(), missile: missile(random) }
  }
}
