// Goal: who has no key gets nothing: no packet, no link, no address, no answer longer than its
// question; and whoever has one gets no more than its own.
// Method: the shipped machine, with real ciphers and with the simulator's, and a network that does
// what an attacker on the way can do.
import { describe, expect, test } from 'vitest'
import { nodeCurves } from '../../packages/holdfast/src/drivers/crypto/node-crypto.ts'
import { nodeCiphers } from '../node-ciphers.ts'
import { LIMITS, REPLAY_WINDOW } from '../../packages/holdfast/src/seal/limits.ts'
import { COOKIE_DATAGRAM, KIND } from '../../packages/holdfast/src/seal/messages.ts'
import * as machine from '../../packages/holdfast/src/seal/seal.ts'
import type { Counters } from '../../packages/holdfast/src/seal/state.ts'
import { toyCiphers, toyCurves } from '../../packages/sim/src/toy-ciphers.ts'
import { type Datagram, type Differs, type End, keyOf, linked, linkOf, type Net } from './net.ts'
import * as net from './net.ts'

const COOKIE_MS = 120_000
const SEALED_TEXT_MAX = 1132

const MEANS: [name: string, differs: Differs][] = [
  ['toys', { ciphers: toyCiphers, curves: toyCurves }],
  ['ciphers', { ciphers: nodeCiphers, curves: nodeCurves }],
]

function counted(end: End): Partial<Counters> {
  const of = Object.entries(end.seal.counters).filter(([, count]) => count > 0)
  return Object.fromEntries(of)
}

function ofKind({ sent }: Net, kind: number): Datagram[] {
  return sent.filter(({ bytes }) => bytes[0] === kind || (bytes[0]! & 0xf0) === kind)
}

/** Takes what is on its way from the network. */
function caught(world: Net): Datagram[] {
  return world.flying.splice(0)
}

function bytesOf(datagrams: readonly Datagram[]): number {
  return datagrams.reduce((sum, { bytes }) => sum + bytes.length, 0)
}

describe.each(MEANS)('with %s', (_name, differs) => {
  const two = (): ReturnType<typeof linked> => linked(differs)

  test('two ends have one link, and say what nobody on the way can read (SE-2)', () => {
    const { net: world, ada, bea } = two()
    net.say(world, ada, bea, 'a secret, and no word of it to anybody')
    const [packet] = caught(world)
    expect(Buffer.from(packet!.bytes).includes('secret')).toBe(false)
    net.arrive(world, packet!)
    expect(bea.packets).toEqual(['a secret, and no word of it to anybody'])
    expect(linkOf(ada, bea)).toBe(linkOf(bea, ada))
    expect(ada.events.map(({ kind }) => kind)).toEqual(['up'])
    expect(bea.events.map(({ kind }) => kind)).toEqual(['up'])
  })
  test('a packet that came before, late or twice, counts once (SE-12)', () => {
    const { net: world, ada, bea } = two()
    net.say(world, ada, bea, 'first')
    const [packet] = caught(world)
    for (let n = 0; n < 3; n++) net.arrive(world, packet!)
    expect(bea.packets).toEqual(['first'])
    expect(bea.seal.counters.replayed).toBe(2)
    net.say(world, ada, bea, 'kept back')
    const [late] = caught(world)
    for (let n = 0; n < REPLAY_WINDOW - 1; n++) net.say(world, ada, bea, 'x')
    net.settle(world)
    net.arrive(world, late!)
    expect(bea.packets.filter((text) => text === 'kept back')).toHaveLength(1)
    net.say(world, ada, bea, 'too late')
    const [older] = caught(world)
    for (let n = 0; n < REPLAY_WINDOW; n++) net.say(world, ada, bea, 'x')
    net.settle(world)
    net.arrive(world, older!)
    expect(bea.packets).not.toContain('too late')
    expect(bea.seal.counters.replayed).toBe(3)
  })
  test('a packet that was cut or flipped anywhere is dropped and counted (SE-2)', () => {
    const { net: world, ada, bea } = two()
    net.say(world, ada, bea, 'whole')
    const [packet] = caught(world)
    const { bytes } = packet!
    const answers = world.sent.length
    for (let at = 0; at < bytes.length; at++) {
      const flipped = bytes.slice()
      flipped[at]! ^= 1 << (at % 8)
      net.arrive(world, { ...packet!, bytes: flipped })
      net.arrive(world, { ...packet!, bytes: bytes.slice(0, at) })
    }
    net.settle(world)
    expect(bea.packets).toEqual([])
    expect(world.sent.length).toBe(answers)
    net.arrive(world, packet!)
    expect(bea.packets).toEqual(['whole'])
  })
  test('packets in any order all count (SE-12)', () => {
    const { net: world, ada, bea } = two()
    for (const text of ['a', 'b', 'c', 'd']) net.say(world, ada, bea, text)
    for (const packet of caught(world).toReversed()) net.arrive(world, packet)
    expect(bea.packets).toEqual(['d', 'c', 'b', 'a'])
    expect(counted(bea)).toEqual({ handshakes: 1 })
  })
  test('a message of a handshake that was flipped anywhere makes no link (SE-2)', () => {
    const world = net.createNet()
    const [ada, bea] = [net.addEnd(world, 'ada', 1, differs), net.addEnd(world, 'bea', 2, differs)]
    net.ask(world, ada, bea)
    const [first] = caught(world)
    for (let at = 0; at < first!.bytes.length - 16; at += 7) {
      const bytes = first!.bytes.slice()
      bytes[at]! ^= 0x10
      net.arrive(world, { ...first!, bytes })
      net.arrive(world, { ...first!, bytes: first!.bytes.slice(0, at) })
    }
    expect(caught(world).filter(({ bytes }) => bytes[0] === KIND.second)).toEqual([])
    net.arrive(world, first!)
    const [second] = caught(world)
    for (let at = 5; at < second!.bytes.length; at += 3) {
      const bytes = second!.bytes.slice()
      bytes[at]! ^= 0x10
      net.arrive(world, { ...second!, bytes })
    }
    expect([linkOf(ada, bea), linkOf(bea, ada)]).toEqual([0, 0])
    net.arrive(world, second!)
    net.settle(world)
    expect(linkOf(ada, bea)).toBe(linkOf(bea, ada))
  })
  test('a message 1 that is replayed, at once or years later, is nothing (SE-2)', () => {
    const { net: world, ada, bea } = two()
    const [first] = ofKind(world, KIND.first)
    const link = linkOf(bea, ada)
    const sent = world.sent.length
    net.arrive(world, first!)
    expect(counted(bea)).toEqual({ handshakes: 1, old: 1 })
    net.pass(world, 60_000)
    net.arrive(world, first!)
    expect(linkOf(bea, ada)).toBe(link)
    expect(bea.events).toHaveLength(1)
    expect(world.sent.slice(sent)).toEqual([])
  })
  test('a JOIN that is replayed after its member has gone makes nobody a member (SE-13)', () => {
    const world = net.createNet()
    const [ada, bea] = [net.addEnd(world, 'ada', 0, differs), net.addEnd(world, 'bea', 2, differs)]
    net.ask(world, ada, bea, new TextEncoder().encode('JOIN'))
    net.settle(world)
    expect(bea.requests.map(({ from, join }) => [from, Buffer.from(join!).toString()])).toEqual([
      [0, 'JOIN'],
    ])
    expect(bea.events).toHaveLength(1)
    const [first, second] = [ofKind(world, KIND.first)[0]!, ofKind(world, KIND.second)[0]!]
    forget(bea, keyOf(ada))
    world.ends.delete('ada')
    net.arrive(world, first)
    const answers = caught(world)
    expect(bytesOf(answers)).toBeLessThan(first.bytes.length)
    // What was said before, said again, opens nothing: the keys are others.
    for (const old of ofKind(world, KIND.word)) net.arrive(world, old)
    net.arrive(world, second)
    net.pass(world, 60_000)
    expect(bea.events).toHaveLength(1)
    expect([bea.seal.peers.size, bea.seal.keys.size]).toEqual([0, 0])
  })
  test('a joiner becomes a member by its first sealed packet, and then renews as one (SE-13)', () => {
    const world = net.createNet()
    const [ada, bea] = [net.addEnd(world, 'ada', 0, differs), net.addEnd(world, 'bea', 2, differs)]
    net.ask(world, ada, bea, new TextEncoder().encode('JOIN'))
    for (let n = 0; n < 2; n++) net.arrive(world, caught(world)[0]!)
    expect(bea.events).toEqual([])
    net.settle(world)
    expect(bea.events).toHaveLength(1)
    machine.become(ada.seal, 7, 3)
    machine.know(bea.seal, keyOf(ada), 7)
    net.pass(world, LIMITS.rekeyMs)
    expect(bea.requests.at(-1)).toMatchObject({ from: 7, mv: 3, again: true })
    expect(bea.seal.counters.rekeys).toBe(1)
  })
  test('of two handshakes that cross, that of the lower key stands (SE-12)', () => {
    const world = net.createNet()
    const ends = ['ada', 'bea'].map((name, at) => net.addEnd(world, name, at + 1, differs))
    const [lower, higher] = ends.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)) as [End, End]
    net.ask(world, lower, higher)
    net.ask(world, higher, lower)
    net.settle(world)
    net.pass(world, 10_000)
    expect(lower.events).toMatchObject([{ kind: 'up', asked: true }])
    expect(higher.events).toMatchObject([{ kind: 'up', asked: false }])
    expect(linkOf(lower, higher)).toBe(linkOf(higher, lower))
    expect(lower.seal.counters.crossed).toBe(1)
  })
  test('another session, another version and a stranger get no link (SE-2)', () => {
    const world = net.createNet()
    const other = net.addEnd(world, 'ada', 1, { ...differs, session: 's-2' })
    const bea = net.addEnd(world, 'bea', 2, differs)
    net.ask(world, other, bea)
    const [first] = caught(world)
    net.arrive(world, first!)
    expect(caught(world)).toEqual([])
    expect(counted(bea)).toEqual({ unproven: 1 })
    const newer = first!.bytes.slice()
    newer[1] = 9
    net.arrive(world, { ...first!, bytes: newer })
    const [told] = caught(world)
    expect(told!.bytes.length).toBe(6)
    told!.bytes[1] = 9
    net.arrive(world, told!)
    expect(other.events).toEqual([{ kind: 'version', peer: keyOf(bea), version: 9 }])
    // It may be a lie, so nothing ends by it.
    expect(other.seal.peers.get(keyOf(bea))!.initiator!.stage).toBe('asked')
    bea.admit = () => 'notMember'
    const cy = net.addEnd(world, 'cy', 3, differs)
    net.ask(world, cy, bea)
    net.settle(world)
    expect(cy.events).toEqual([{ kind: 'refused', peer: keyOf(bea), why: 'notMember' }])
    expect(linkOf(bea, cy)).toBe(0)
  })
  test('a message 1 with an old counter is not answered (SE-2)', () => {
    const { net: world, ada, bea } = two()
    ada.seal.peers.get(keyOf(bea))!.counter = 0
    net.ask(world, ada, bea)
    net.settle(world)
    expect(ofKind(world, KIND.second)).toHaveLength(1)
    expect(bea.seal.counters.old).toBe(1)
  })
  test('a new link takes the old one’s place with its first sealed packet alone (SE-12)', () => {
    const { net: world, ada, bea } = two()
    const before = linkOf(bea, ada)
    net.say(world, ada, bea, 'of the old link, on its way')
    const [old] = caught(world)
    net.ask(world, ada, bea)
    const [first] = caught(world)
    net.arrive(world, first!)
    const [second] = caught(world)
    expect(second!.bytes[0]).toBe(KIND.second)
    expect(linkOf(bea, ada)).toBe(before)
    net.arrive(world, old!)
    expect(bea.packets).toEqual(['of the old link, on its way'])
    net.arrive(world, second!)
    const [here] = caught(world)
    net.arrive(world, here!)
    expect(linkOf(bea, ada)).not.toBe(before)
    expect(linkOf(bea, ada)).toBe(linkOf(ada, bea))
    expect(bea.events.map(({ kind }) => kind)).toEqual(['up', 'up'])
  })
  test('new keys for a link that is not there are refused, and the link ends (SE-12)', () => {
    const { net: world, ada, bea } = two()
    forget(bea, keyOf(ada))
    net.pass(world, LIMITS.rekeyMs + 1000)
    expect(ada.events.at(-1)).toEqual({ kind: 'down', peer: keyOf(bea), why: 'gone' })
    expect(linkOf(ada, bea)).toBe(0)
  })
  test('who may not be spoken to for long is asked again and again, and then given up (SE-11)', () => {
    const world = net.createNet()
    const [ada, bea] = [net.addEnd(world, 'ada', 1, differs), net.addEnd(world, 'bea', 2, differs)]
    bea.address = 'udp:elsewhere'
    net.ask(world, ada, { ...bea, address: 'udp:victim' })
    net.pass(world, 20_000)
    expect(ada.events).toEqual([{ kind: 'failed', peer: keyOf(bea) }])
    expect(world.sent.length).toBeLessThanOrEqual(9)
  })
})

/** A key means nothing to that end any more. */
function forget({ seal }: End, key: string): void {
  machine.hangUp(seal, key)
  seal.peers.delete(key)
}

describe('addresses', () => {
  /** Bea's datagrams go to a place of hers; those of the attacker come from wherever it says. */
  const victim = 'udp:victim'

  test('a packet from elsewhere moves no link, and little goes there (SE-12)', () => {
    const { net: world, ada, bea } = linked()
    let came = 0
    for (let n = 0; n < 50; n++) {
      net.say(world, ada, bea, 'hi')
      const packet = caught(world).find(({ to }) => to === bea.address)
      came += packet!.bytes.length
      net.arrive(world, { ...packet!, from: victim })
      net.pass(world, 100)
    }
    const went = bytesOf(world.sent.filter(({ to }) => to === victim))
    expect(went).toBeGreaterThan(0)
    expect(went).toBeLessThanOrEqual(came)
    expect(bea.seal.peers.get(keyOf(ada))!.link!.address).toBe(ada.address)
    expect(bea.packets).toHaveLength(50)
  })
  test('a packet of another member, or of nobody, does not even make a question (SE-12)', () => {
    const { net: world, ada, bea } = linked()
    net.say(world, ada, bea, 'hi')
    const [packet] = caught(world)
    const bytes = packet!.bytes.slice()
    bytes[5]! += 1
    net.arrive(world, { from: victim, to: bea.address, bytes })
    expect(caught(world)).toEqual([])
    expect(bea.seal.counters.forged).toBe(1)
  })
  test('a peer that moved is challenged there, and packets may go there once it answered (SE-12)', () => {
    const { net: world, ada, bea } = linked()
    ada.address = 'udp:ada-by-another-door'
    net.say(world, ada, bea, 'hello from here')
    net.settle(world)
    expect(bea.events.at(-1)).toEqual({ kind: 'answered', peer: keyOf(ada), address: ada.address })
    net.say(world, bea, ada, 'I see')
    net.settle(world)
    expect(ada.packets).toEqual(['I see'])
    expect(counted(bea)).toEqual({ handshakes: 1, moves: 1 })
  })
  test('an answer counts from where the challenge went, and only that one (SE-12)', () => {
    const { net: world, ada, bea } = linked()
    const home = ada.address
    ada.address = 'udp:new'
    net.say(world, ada, bea, 'hello from here')
    net.arrive(world, caught(world)[0]!)
    const [challenge] = caught(world)
    expect(challenge!.to).toBe('udp:new')
    net.arrive(world, challenge!)
    const [answer] = caught(world)
    net.arrive(world, { ...answer!, from: 'udp:third' })
    net.settle(world)
    expect(bea.seal.peers.get(keyOf(ada))!.link!.address).toBe(home)
  })
  test('a message 1 whose source is a lie brings no link there (SE-11)', () => {
    const world = net.createNet()
    const [ada, bea] = [net.addEnd(world, 'ada', 1), net.addEnd(world, 'bea', 2)]
    net.ask(world, ada, bea)
    const [first] = caught(world)
    // Whoever is on the way is faster with the same bytes, and says that the victim sent them.
    net.arrive(world, { ...first!, from: victim })
    expect(bytesOf(caught(world))).toBeLessThan(first!.bytes.length)
    net.arrive(world, first!)
    net.settle(world)
    net.pass(world, 5_000)
    for (let n = 0; n < 20; n++) net.say(world, bea, ada, 'some words')
    net.settle(world)
    expect(bea.seal.peers.get(keyOf(ada))!.link).toMatchObject({
      address: ada.address,
      shown: [ada.address],
    })
    expect(ada.packets).toHaveLength(20)
    expect(bytesOf(world.sent.filter(({ to }) => to === victim))).toBeLessThan(first!.bytes.length)
  })
  test('whatever a stranger sends, it gets no more bytes than it sent (SE-11)', () => {
    const { net: world, ada, bea } = linked()
    net.ask(world, ada, bea)
    net.settle(world)
    const seen = world.sent.slice()
    const cookies = seen.length
    for (let round = 0; round < 30; round++) {
      for (const { bytes } of seen) {
        net.arrive(world, { from: victim, to: bea.address, bytes })
        net.arrive(world, { from: victim, to: ada.address, bytes })
      }
      const out = bytesOf(world.sent.filter(({ to }) => to === victim))
      expect(out).toBeLessThanOrEqual(2 * (round + 1) * bytesOf(seen))
      for (const one of caught(world)) expect(one.bytes.length).toBeLessThanOrEqual(200)
    }
    expect(cookies).toBeGreaterThan(0)
  })
})

describe('floods', () => {
  /** So many message 1 at one moment, each of a key of its own. */
  function flood(world: Net, bea: End, count: number, from: (n: number) => string): void {
    for (let n = 0; n < count; n++) {
      const one = net.addEnd(world, `flooder ${n}`, 0)
      net.ask(world, one, bea)
      const [first] = world.flying.splice(-1)
      net.arrive(world, { ...first!, from: from(n) })
      world.ends.delete(one.name)
    }
  }

  test('beyond its share a message 1 is answered by a cookie, which is shorter (SE-11)', () => {
    const world = net.createNet()
    const bea = net.addEnd(world, 'bea', 2)
    bea.admit = () => 'full'
    flood(world, bea, 200, (n) => `udp:spoofed-${n}`)
    const { max } = LIMITS.firsts
    expect(counted(bea)).toEqual({ refused: max, cookies: 200 - max })
    const cookies = caught(world).filter(({ bytes }) => bytes[0] === KIND.cookie)
    expect(cookies).toHaveLength(200 - max)
    expect(new Set(cookies.map(({ bytes }) => bytes.length))).toEqual(new Set([COOKIE_DATAGRAM]))
    expect(bea.requests).toHaveLength(max)
    expect(bea.seal.jobs.size).toBe(0)
  })
  test('who shows the cookie of its address gets its link all the same (SE-11)', () => {
    const world = net.createNet()
    const [ada, bea] = [net.addEnd(world, 'ada', 1), net.addEnd(world, 'bea', 2)]
    flood(world, bea, 40, (n) => `udp:spoofed-${n}`)
    caught(world)
    net.ask(world, ada, bea)
    net.settle(world)
    expect(linkOf(ada, bea)).toBe(linkOf(bea, ada))
    expect(linkOf(ada, bea)).not.toBe(0)
  })
  test('a cookie is good for one address, and for a time (SE-11)', () => {
    const world = net.createNet()
    const [ada, bea] = [net.addEnd(world, 'ada', 1), net.addEnd(world, 'bea', 2)]
    flood(world, bea, 40, (n) => `udp:spoofed-${n}`)
    caught(world)
    net.ask(world, ada, bea)
    for (const one of caught(world)) net.arrive(world, one)
    for (const one of caught(world)) net.arrive(world, one)
    const [withCookie] = caught(world)
    const cookies = bea.seal.counters.cookies
    net.arrive(world, { ...withCookie!, from: 'udp:another' })
    expect(bea.seal.counters.cookies).toBe(cookies + 1)
    world.now += 2 * COOKIE_MS
    bea.seal.firsts = { left: 0, at: world.now }
    net.arrive(world, withCookie!)
    expect(bea.seal.counters.cookies).toBe(cookies + 2)
    expect(linkOf(bea, ada)).toBe(0)
  })
  test('one address with a cookie has a share, too (SE-11)', () => {
    const world = net.createNet()
    const bea = net.addEnd(world, 'bea', 2)
    bea.admit = () => 'full'
    flood(world, bea, 40, (n) => `udp:spoofed-${n}`)
    bea.seal.counters.refused = 0
    for (let n = 0; n < 20; n++) {
      const one = net.addEnd(world, `greedy ${n}`, 0)
      one.address = 'udp:greedy'
      net.ask(world, one, bea)
      net.settle(world)
      world.ends.delete(one.name)
    }
    expect(bea.seal.counters.refused).toBe(LIMITS.firstsOfOne.max)
    expect(bea.seal.counters.flooded).toBe(20 - LIMITS.firstsOfOne.max)
  })
  test('hostile bytes of any length and kind are dropped and counted (SE-14)', () => {
    const { net: world, ada, bea } = linked()
    const sent = world.sent.length
    let count = 0
    for (let kind = 0; kind < 256; kind++) {
      for (const length of [0, 1, 4, 5, 21, 22, 74, 200, 1232, 1500]) {
        const bytes = new Uint8Array(length).fill(kind)
        net.arrive(world, { from: 'udp:x', to: bea.address, bytes })
        count++
      }
    }
    const { malformed, unknown, version, unproven, forged } = bea.seal.counters
    expect(malformed + unknown + version + unproven + forged).toBe(count)
    // A message 1 of another version is told ours.
    for (const { bytes } of world.sent.slice(sent)) expect(bytes.length).toBeLessThanOrEqual(6)
    expect(() => net.say(world, ada, bea, 'x'.repeat(SEALED_TEXT_MAX + 1))).toThrow(
      'at most 1132 bytes',
    )
  })
})

describe('keys', () => {
  test('are replaced every two minutes, and both open for some seconds (SE-2)', () => {
    const { net: world, ada, bea } = linked()
    net.say(world, ada, bea, 'sealed before')
    const [before] = caught(world)
    world.now += LIMITS.rekeyMs
    net.pass(world, 100)
    expect([ada, bea].map(({ seal }) => seal.counters.rekeys)).toEqual([1, 1])
    net.arrive(world, before!)
    net.say(world, ada, bea, 'sealed after')
    net.settle(world)
    expect(bea.packets).toEqual(['sealed before', 'sealed after'])
    expect(ada.events).toHaveLength(1)
    net.pass(world, LIMITS.overlapMs)
    expect([ada.seal.keys.size, bea.seal.keys.size]).toEqual([1, 1])
  })
  test('are replaced after a number of packets (SE-2)', () => {
    const limits = { ...LIMITS, rekeyPackets: 20 }
    const { net: world, ada, bea } = linked({ limits })
    for (let n = 0; n < 50; n++) {
      net.say(world, ada, bea, `${n}`)
      net.pass(world, 1)
      net.settle(world)
    }
    expect(ada.seal.counters.rekeys).toBeGreaterThanOrEqual(2)
    expect(bea.packets).toEqual(Array.from({ length: 50 }, (_, n) => `${n}`))
  })
  test('that nobody replaces seal nothing more after three minutes (SE-2)', () => {
    const { net: world, ada, bea } = linked()
    world.ends.delete('bea')
    net.pass(world, 200_000)
    expect(ada.events.at(-1)).toEqual({ kind: 'down', peer: keyOf(bea), why: 'spent' })
    expect(net.say(world, ada, bea, 'x')).toBe(false)
    expect(ada.seal.counters.unsent).toBe(1)
  })
})
