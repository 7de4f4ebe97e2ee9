// Goal: a handshake goes on, waits and ends by its times, whatever comes and whoever lies.
// Method: the shipped machine with the simulator's ciphers; what is lost is taken from the network.
import { expect, test } from 'vitest'
import { MAC_BYTES } from '../../packages/holdfast/src/seal/limits.ts'
import { KIND, SECOND_HEAD } from '../../packages/holdfast/src/seal/messages.ts'
import { proven } from '../../packages/holdfast/src/seal/proofs.ts'
import * as machine from '../../packages/holdfast/src/seal/seal.ts'
import { keyFor, type SealSink } from '../../packages/holdfast/src/seal/state.ts'
import { calmly } from '../calmly.ts'
import * as net from './net.ts'
import { type Datagram, type End, keyOf, linkOf, type Net } from './net.ts'

const ANSWERING_MS = 10_000
const ASKING_MS = 5_000

function two(): { world: Net; ada: End; bea: End } {
  const world = net.createNet()
  return { world, ada: net.addEnd(world, 'ada', 1), bea: net.addEnd(world, 'bea', 2) }
}

/** The next datagram on its way, which does not come unless a test says so. */
function taken(world: Net): Datagram {
  return world.flying.shift() ?? expect.fail('nothing is on its way')
}

/** The same message 2 with other bytes, and with the proof that anybody who knows the key makes. */
function forged(end: End, second: Datagram, change: (bytes: Uint8Array) => void): Datagram {
  const bytes = second.bytes.slice(0, -MAC_BYTES)
  change(bytes)
  const key = keyFor(end.seal, 'proof', end.seal.point)
  return { ...second, bytes: proven(end.seal, key, bytes) }
}

test('who has keys and hears nothing says so again after 100 ms to a second, and then asks anew (PR-2)', () => {
  const { world, ada, bea } = two()
  net.ask(world, ada, bea)
  net.arrive(world, taken(world))
  net.arrive(world, taken(world))
  world.ends.delete('bea')
  net.pass(world, ASKING_MS - 1)
  const words = world.sent.filter(({ bytes }) => (bytes[0]! & 0xf0) === KIND.word)
  expect(words).toHaveLength(8)
  const peer = ada.seal.peers.get(keyOf(bea))!
  expect(peer.initiator?.stage).toBe('standing')
  net.pass(world, 1)
  expect([peer.initiator, linkOf(ada, bea) !== 0, ada.events.length]).toEqual([null, true, 1])
  const sent = world.sent.length
  net.ask(world, ada, bea)
  expect(world.sent.slice(sent).map(({ bytes }) => bytes[0])).toEqual([KIND.first])
})

test('while curves are computed a handshake waits, and nothing is said again (PR-2)', () => {
  const { world, ada, bea } = two()
  net.ask(world, ada, bea)
  net.arrive(world, taken(world))
  const second = taken(world)
  const waiting: number[] = []
  const sent: string[] = []
  const out: SealSink = {
    datagram: (to) => sent.push(to),
    agree: (job) => waiting.push(job),
    admit: () => null,
    event: (event) => ada.events.push(event),
  }
  const { seal } = ada
  seal.out = out
  calmly(() => machine.receive(seal, world.now, second.from, second.bytes))
  expect(waiting).toHaveLength(1)
  const dues: number[] = []
  for (let n = 0; n < 4; n++) {
    world.now = machine.deadline(seal)
    calmly(() => machine.wake(seal, world.now))
    dues.push(machine.deadline(seal) - world.now)
  }
  expect([dues, sent]).toEqual([[200, 400, 800, 1_000], []])
})

test('a message 2 that does not open, or has no point, is forged; the true one still counts (PR-2)', () => {
  const { world, ada, bea } = two()
  net.ask(world, ada, bea)
  net.arrive(world, taken(world))
  const second = taken(world)
  const altered = forged(ada, second, (bytes) => void (bytes[bytes.length - 1]! ^= 1))
  const pointless = forged(
    ada,
    second,
    (bytes) => void bytes.fill(0, SECOND_HEAD, SECOND_HEAD + 32),
  )
  for (const [at, lie] of [altered, pointless].entries()) {
    net.arrive(world, lie)
    expect([ada.seal.counters.forged, linkOf(ada, bea), ada.events]).toEqual([at + 1, 0, []])
  }
  net.arrive(world, second)
  net.settle(world)
  expect(linkOf(ada, bea)).not.toBe(0)
  expect(linkOf(bea, ada)).toBe(linkOf(ada, bea))
})

test('an older message 1 than what is answered costs no curve and no question who that is (PR-2)', () => {
  const { world, ada, bea } = two()
  net.ask(world, ada, bea)
  const older = taken(world)
  machine.hangUp(ada.seal, keyOf(bea))
  net.ask(world, ada, bea)
  net.arrive(world, taken(world))
  expect(bea.requests).toHaveLength(1)
  net.arrive(world, older)
  expect([bea.requests.length, bea.seal.counters.old]).toEqual([1, 1])
  // What nobody confirms is forgotten.
  world.flying.length = 0
  world.ends.delete('ada')
  net.pass(world, ANSWERING_MS)
  expect([bea.seal.keys.size, bea.events]).toEqual([0, []])
})

test('a cookie is taken from where it was asked for, and answered once (PR-2)', () => {
  const { world, ada, bea } = two()
  bea.seal.firsts = { left: 0, at: world.now }
  net.ask(world, ada, bea)
  net.arrive(world, taken(world))
  const cookie = taken(world)
  expect(cookie.bytes[0]).toBe(KIND.cookie)
  net.arrive(world, { ...cookie, from: 'udp:elsewhere' })
  expect([world.flying.length, ada.seal.counters.forged]).toEqual([0, 1])
  const asking = ada.seal.peers.get(keyOf(bea))!.initiator!
  expect(asking.cookie).toBe(null)
  net.arrive(world, cookie)
  expect(world.flying.splice(0).map(({ to, bytes }) => [to, bytes[0]])).toEqual([
    [bea.address, KIND.first],
  ])
  net.arrive(world, cookie)
  expect(world.flying).toEqual([])
})
