// Goal: the layer above decides by which of a peer's addresses packets go, of those that have shown
// that the peer is there; what comes by the hub counts only from whom the hub says.
import { expect, test } from 'vitest'
import { SHOWN_MAX } from '../../packages/holdfast/src/seal/limits.ts'
import * as machine from '../../packages/holdfast/src/seal/seal.ts'
import * as net from './net.ts'
import { type End, keyOf, linked, linkOf, type Net } from './net.ts'

const DOOR = 'udp:another-door'

function addressOf(end: End, other: End): string {
  return end.seal.peers.get(keyOf(other))!.link!.address
}

function probe(world: Net, end: End, other: End, address: string): void {
  net.run(world, end, () => machine.probe(end.seal, world.now, keyOf(other), address))
}

test('an address of which one only heard is asked with few bytes, and used once it answered (SE-11)', () => {
  const { net: world, ada, bea } = linked()
  const home = bea.address
  expect(machine.route(ada.seal, keyOf(bea), DOOR)).toBe(false)
  probe(world, ada, bea, DOOR)
  const asked = world.flying.filter(({ to }) => to === DOOR)
  expect(asked).toHaveLength(1)
  expect(asked[0]!.bytes.length).toBeLessThan(40)
  // Nobody answers from there, and packets go where they went.
  net.say(world, ada, bea, 'hi')
  net.settle(world)
  expect([addressOf(ada, bea), bea.packets]).toEqual([home, ['hi']])
  world.now += 1_000
  probe(world, ada, bea, DOOR)
  bea.address = DOOR
  net.settle(world)
  expect(addressOf(ada, bea)).toBe(DOOR)
  expect(ada.events.at(-1)).toEqual({ kind: 'answered', peer: keyOf(bea), address: DOOR })
})

test('PA1: one that answered before is challenged too, and an answer counts for a second', () => {
  const { net: world, ada, bea } = linked()
  const home = bea.address
  const answers = (): number => ada.events.filter(({ kind }) => kind === 'answered').length
  const before = answers()
  // Its round trip is longer than the time between two challenges.
  probe(world, ada, bea, home)
  const [first] = world.flying.splice(0)
  world.now += 900
  probe(world, ada, bea, home)
  world.flying.length = 0
  net.arrive(world, first!)
  net.settle(world)
  expect(answers()).toBe(before + 1)
  // Each answer counts once.
  net.arrive(world, world.sent.at(-1)!)
  expect(answers()).toBe(before + 1)
  // After a second the number is another.
  probe(world, ada, bea, home)
  const [old] = world.flying.splice(0)
  net.arrive(world, old!)
  const [answer] = world.flying.splice(0)
  world.now += 1_000
  probe(world, ada, bea, home)
  world.flying.length = 0
  net.arrive(world, answer!)
  expect(answers()).toBe(before + 1)
})

test('of the addresses that have shown themselves any may be taken, without a question (SE-12)', () => {
  const { net: world, ada, bea } = linked()
  const home = bea.address
  bea.address = DOOR
  net.say(world, bea, ada, 'from here')
  net.settle(world)
  expect(addressOf(ada, bea)).toBe(DOOR)
  const sent = world.sent.length
  expect(machine.route(ada.seal, keyOf(bea), home)).toBe(true)
  expect([addressOf(ada, bea), world.sent.length]).toEqual([home, sent])
  // The hub says who is behind it.
  expect(machine.route(ada.seal, keyOf(bea), 'relay:2')).toBe(true)
})

test('what another member relays is nothing, be it asked, answered or said (SE-2) (SE-12)', () => {
  const world = net.createNet()
  const [ada, bea] = [net.addEnd(world, 'ada', 1), net.addEnd(world, 'bea', 2)]
  Object.assign(ada, { address: 'relay:1' })
  Object.assign(bea, { address: 'relay:2' })
  const astray = (): void => {
    for (const one of world.flying.splice(0)) net.arrive(world, { ...one, from: 'relay:3' })
  }
  net.ask(world, ada, bea)
  astray()
  expect([linkOf(bea, ada), bea.seal.counters.forged, world.flying]).toEqual([0, 1, []])
  net.pass(world, 100)
  const [second] = world.sent.filter(({ to }) => to === 'relay:1')
  expect(second).toBeDefined()
  expect(linkOf(ada, bea)).not.toBe(0)
  net.settle(world)
  net.say(world, ada, bea, 'hi')
  astray()
  expect([bea.packets, bea.seal.counters.forged]).toEqual([[], 2])
  // An answer to our question, too.
  machine.hangUp(ada.seal, keyOf(bea))
  net.ask(world, ada, bea)
  net.arrive(world, world.flying.shift()!)
  astray()
  expect([linkOf(ada, bea), ada.seal.counters.forged]).toEqual([0, 1])
})

test('who may be known later gets no answer, and its link once it is known', () => {
  const world = net.createNet()
  const [ada, bea] = [net.addEnd(world, 'ada', 1), net.addEnd(world, 'bea', 2)]
  bea.admit = () => 'later'
  net.ask(world, ada, bea)
  net.pass(world, 1_000)
  expect(world.sent.every(({ from }) => from === ada.address)).toBe(true)
  expect(bea.seal.counters.early).toBeGreaterThan(2)
  bea.admit = () => null
  net.pass(world, 2_000)
  expect(linkOf(ada, bea)).toBe(linkOf(bea, ada))
  expect(linkOf(ada, bea)).not.toBe(0)
})

test('a link that is hung up opens nothing, and old messages bring it not back (SE-2)', () => {
  const { net: world, ada, bea } = linked()
  const all = [...world.sent]
  net.say(world, ada, bea, 'hi')
  machine.hangUp(bea.seal, keyOf(ada))
  net.settle(world)
  for (const one of all) net.arrive(world, one)
  net.settle(world)
  expect([linkOf(bea, ada), bea.packets, bea.seal.keys.size]).toEqual([0, [], 0])
  expect(bea.seal.counters.old).toBe(1)
  // It is asked for anew.
  machine.hangUp(ada.seal, keyOf(bea))
  net.ask(world, ada, bea)
  net.settle(world)
  expect(linkOf(bea, ada)).not.toBe(0)
})

test('eight addresses that have shown themselves are known; one more puts out the oldest (PR-2)', () => {
  const { net: world, ada, bea } = linked()
  const home = bea.address
  const doors = Array.from({ length: SHOWN_MAX }, (_, n) => `udp:door-${n}`)
  for (const door of doors) {
    bea.address = door
    net.say(world, bea, ada, 'from here')
    net.settle(world)
    expect(addressOf(ada, bea)).toBe(door)
  }
  expect(machine.route(ada.seal, keyOf(bea), home)).toBe(false)
  // The one by which packets go stays, though others answer later.
  expect(machine.route(ada.seal, keyOf(bea), doors[0]!)).toBe(true)
  probe(world, ada, bea, home)
  bea.address = home
  net.settle(world)
  expect(machine.route(ada.seal, keyOf(bea), doors[1]!)).toBe(false)
  for (const door of [doors[0]!, ...doors.slice(2)]) {
    expect(machine.route(ada.seal, keyOf(bea), door)).toBe(true)
  }
})

test('an answer from where nothing was asked is nothing, though it comes late (PR-2)', () => {
  const { net: world, ada, bea } = linked()
  const home = bea.address
  probe(world, ada, bea, DOOR)
  const asked = world.flying.shift()!
  bea.address = DOOR
  net.arrive(world, asked)
  const answer = world.flying.shift()!
  bea.address = home
  net.say(world, bea, ada, 'newer')
  net.settle(world)
  net.arrive(world, { ...answer, from: 'udp:third' })
  expect([addressOf(ada, bea), ada.packets]).toEqual([home, ['newer']])
})
