// Goal: docs/STANDARD.md, section 20, says every bit of Mazewar's packets, and the code does so.
// Method: a reader that knows the document alone is compared with the code: on its examples, on a
// file of vectors that its writer made, on spoilt bytes, and on all packets of a game.
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { decode, encode, type Packet } from '../../games/mazewar/classic/packets.ts'
import * as prng from '../../packages/holdfast/src/faults/prng.ts'
import * as lan from '../mazewar/lan.ts'
import { drawPacket, inWords, type Read, readLayouts, readPacket } from './mazewar.ts'
import { Malformed } from './values.ts'

const text = readFileSync(new URL('../../docs/STANDARD.md', import.meta.url), 'utf8')
const layouts = readLayouts(text)
const VECTORS = new URL('../data/mazewar_vectors.txt', import.meta.url)
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

/** What the document makes of bytes, in words; null for malformed. */
function byDocument(bytes: Uint8Array, of = layouts): string | null {
  try {
    return inWords(readPacket(of, bytes))
  } catch (error) {
    if (error instanceof Malformed) return null
    throw error
  }
}

/** The same by the code. */
function byCode(bytes: Uint8Array): string | null {
  const packet = decode(bytes)
  return packet && inWords(asRead(packet))
}

const TYPES = ['born', 'movement', 'cloak', 'projection', 'hit']
const STEPS = ['none', 'forward', 'backward']

function asRead(packet: Packet): Read {
  switch (packet.kind) {
    case 'event': {
      const { event, source, action } = packet
      const head = { packet: 'event', type: TYPES.indexOf(action.kind), event, source }
      return { ...head, absolute: absoluteOf(packet), data: dataOf(packet.action) }
    }
    case 'response': {
      const { heartbeat, source, destination } = packet
      const uncommitted = packet.uncommitted.map(({ event, action }) => {
        return { type: TYPES.indexOf(action.kind), event, data: dataOf(action) }
      })
      const beat: Read = heartbeat === null ? {} : { heartbeat }
      const head: Read = { packet: 'response', ...beat, source, destination }
      return { ...head, absolute: absoluteOf(packet), uncommitted }
    }
    case 'name': {
      const name = packet.name.map((byte) => ({ byte }))
      return { packet: 'name', source: packet.source, name }
    }
    default: {
      const { kind, ...rest } = packet
      return { packet: kind, ...rest }
    }
  }
}

function absoluteOf({ absolute }: Packet & { kind: 'event' | 'response' }): Read {
  const { score, cell, facing, cloaked, missiles } = absolute
  const count = missiles.length
  return { score, cell, facing, cloaked: cloaked ? 1 : 0, count, missiles: missiles.map(same) }
}

function same({ id, cell, heading }: { id: number; cell: number; heading: number }): Read {
  return { id, cell, heading }
}

function dataOf(action: (Packet & { kind: 'event' })['action']): Read {
  switch (action.kind) {
    case 'born':
      return { cell: action.cell, facing: action.facing }
    case 'movement':
      return { facing: action.facing, step: STEPS.indexOf(action.step) }
    case 'cloak':
      return { off: action.on ? 0 : 1 }
    case 'projection':
      return { missile: same(action.missile) }
    case 'hit':
      return { owner: action.owner, missile: same(action.missile) }
    default:
      return action satisfies never
  }
}

/** Bytes with one changed, or cut, or longer. */
function spoil(bytes: Uint8Array, chance: (most: number) => number): Uint8Array {
  const other = Uint8Array.from([...bytes, ...new Uint8Array(chance(8) === 0 ? 1 + chance(4) : 0)])
  for (let changes = chance(3); changes > 0; changes--) {
    other[chance(other.length)]! ^= 1 << chance(8)
  }
  return chance(8) === 0 ? other.slice(0, chance(other.length)) : other
}

/** A game of five in bad weather: all that was sent. */
function game(): lan.Lan {
  const net = lan.createLan('standard', 'rtt=10,jitter=30,loss=20%,dup=2%', true)
  const players = ['a', 'b', 'c', 'd', 'e'].map((name) => {
    lan.run(net, 350)
    return lan.join(net, name, { name: name.repeat(3) })
  })
  for (let round = 0; round < 700; round++) {
    const facing = prng.below(net.chance, 4) as 0
    for (const player of players) {
      const dice = prng.below(net.chance, 10)
      if (dice < 4) lan.act(net, player, { kind: 'step', speed: dice < 3 ? 1 : 2 })
      else if (dice < 6) lan.act(net, player, { kind: 'turn', facing })
      else if (dice < 7) lan.act(net, player, { kind: 'fire' })
      else if (dice < 8) lan.act(net, player, { kind: 'cloak', on: round % 2 === 0 })
    }
    lan.run(net, 60)
  }
  return net
}

describe('section 20', () => {
  test('M8-M21, M39-M47: its examples are read so by its reader and by the code', () => {
    expect(layouts.examples.length).toBeGreaterThan(6)
    for (const { what, bytes, reads } of layouts.examples) {
      expect([what, byDocument(bytes)]).toEqual([what, reads])
      expect([what, byCode(bytes)]).toEqual([what, reads])
    }
  })

  test('M8-M22: 500 vectors of another writer are read and written alike', () => {
    const lines = readFileSync(VECTORS, 'utf8').trim().split('\n')
    expect(lines).toHaveLength(500)
    const kinds = new Set<string>()
    for (const line of lines) {
      const [bytes = '', ...words] = line.split(' ')
      const packet = decode(Buffer.from(bytes, 'hex'))!
      expect(inWords(asRead(packet))).toBe(words.join(' '))
      expect(hex(encode(packet))).toBe(bytes)
      kinds.add(packet.kind === 'event' ? packet.action.kind : packet.kind)
    }
    expect(kinds.size).toBe(12)
  })

  test('the vectors are what the document’s writer draws', () => {
    const chance = prng.create('mazewar vectors')
    const lines = Array.from({ length: 500 }, () => {
      const { read, bytes } = drawPacket(layouts, (most) => prng.below(chance, most))
      return `${hex(bytes)} ${inWords(read)}`
    })
    expect(lines.join('\n')).toBe(readFileSync(VECTORS, 'utf8').trim())
  })

  test('M42: 4,000 packets, whole or spoilt, are read alike by document and code', () => {
    const random = prng.create('mazewar spoilt')
    const chance = (most: number): number => prng.below(random, most)
    let malformed = 0
    for (let round = 0; round < 4_000; round++) {
      const bytes = spoil(drawPacket(layouts, chance).bytes, chance)
      const read = byDocument(bytes)
      if (read === null) malformed++
      if (byCode(bytes) !== read) expect([hex(bytes), byCode(bytes)]).toEqual([hex(bytes), read])
    }
    expect(malformed).toBeGreaterThan(400)
    expect(malformed).toBeLessThan(3_000)
  })

  test.each([
    ['`heartbeat:32 source:32`', '`source:32 heartbeat:32`'],
    ['cell:9 facing:2 cloaked:1', 'facing:2 cell:9 cloaked:1'],
    ['`off:1 pad:7`', '`pad:7 off:1`'],
    ['| born | 0 |', '| born | 4 |'],
    ['score:i32', 'score:32'],
  ])('a document that says something else is found out: %s', (said, other) => {
    expect(text).toContain(said)
    const changed = readLayouts(text.replace(said, other))
    const random = prng.create('mazewar other')
    const packets = Array.from({ length: 300 }, () => {
      return drawPacket(layouts, (most) => prng.below(random, most)).bytes
    })
    expect(packets.some((bytes) => byDocument(bytes, changed) !== byCode(bytes))).toBe(true)
  })
})

describe('a captured game', () => {
  const net = game()
  const read = net.sent!.map(({ from, to, bytes }) => ({
    from,
    to,
    packet: readPacket(layouts, bytes),
  }))
  const of = (kind: string): typeof read => read.filter(({ packet }) => packet['packet'] === kind)

  test('M1-M7, M22: every packet is what the document says, and every kind and type was sent', () => {
    for (const { kind } of layouts.packets.values())
      expect([kind, of(kind).length > 0]).toEqual([kind, true])
    const types = new Set(of('event').map(({ packet }) => packet['type']))
    expect(types).toEqual(new Set([0, 1, 2, 3, 4]))
    expect(of('response').some(({ packet }) => (packet['uncommitted'] as Read[]).length > 0)).toBe(
      true,
    )
  })

  test('M5, M10, M18, M21: acks go to whose packet it was, and name a number that was sent', () => {
    const sources = new Map(read.map(({ from, packet }) => [packet['source'], from]))
    expect(sources.size).toBe(net.players.size)
    for (const [ack, kind, number] of [
      ['event-ack', 'event', 'event'],
      ['heartbeat-ack', 'heartbeat', 'heartbeat'],
    ] as const) {
      const named = (source: Read[string] | undefined, packet: Read): string =>
        JSON.stringify([source, packet[number]])
      const sent = new Set(of(kind).map(({ packet }) => named(packet['source'], packet)))
      for (const { to, packet } of of(ack)) {
        expect(sources.get(packet['destination'])).toBe(to)
        expect(sent.has(named(packet['destination'], packet))).toBe(true)
      }
    }
  })

  test('M9, M11, M14, M23, M47: numbers count up by one, and a step goes where the state before it faces', () => {
    for (const name of net.players.keys()) {
      const mine = of('event').filter(({ from, to }) => from === name && to === null)
      const numbers = mine.map(({ packet }) => packet['event'] as number)
      expect(numbers).toEqual(numbers.map((_, i) => i + 1))
      const beats = of('heartbeat').filter(({ from }) => from === name)
      expect(beats.map(({ packet }) => packet['heartbeat'])).toEqual(beats.map((_, i) => i + 1))
      let facing: unknown
      for (const { packet } of mine) {
        const [absolute, data] = [packet['absolute'] as Read, packet['data'] as Read]
        if (facing !== undefined) expect(absolute['facing']).toBe(facing)
        facing = packet['type'] === 0 || packet['type'] === 1 ? data['facing'] : absolute['facing']
      }
    }
  })
})
