// Goal: whatever a network does, no text comes twice or altered, and both ends end with one link,
// or one of them knows that it has none.
// Method: the shipped machine, and steps of a network drawn at random: loss, order, doubles, flips,
// sources that lie, requests of either end, time.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hashValues, thawed } from '../frozen.ts'
import { LIMITS } from '../../packages/holdfast/src/seal/limits.ts'
import { type End, keyOf, linkOf, type Net } from './net.ts'
import * as net from './net.ts'

type Step =
  | { do: 'ask'; by: number }
  | { do: 'say'; by: number }
  | { do: 'arrive' | 'lose' | 'double' | 'flip' | 'elsewhere'; which: number }
  | { do: 'replay'; which: number }
  | { do: 'move'; by: number }
  | { do: 'pass'; ms: number }

const which = fc.nat(10_000)
const by = fc.nat(1)
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ do: fc.constant('ask' as const), by }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('say' as const), by }) },
  { weight: 12, arbitrary: fc.record({ do: fc.constant('arrive' as const), which }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom('lose' as const, 'double', 'flip', 'elsewhere'),
      which,
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('replay' as const), which }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('move' as const), by }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.nat(3_000) }),
  },
)

/** Bytes that came from an address that is nobody's, and that went there. */
interface Tally {
  texts: number
  came: number
  elsewhere: string
}

function enact(world: Net, ends: readonly End[], one: Step, tally: Tally): void {
  const { flying } = world
  switch (one.do) {
    case 'ask':
      return net.ask(world, ends[one.by]!, ends[1 - one.by]!)
    case 'say':
      return void net.say(world, ends[one.by]!, ends[1 - one.by]!, `text ${tally.texts++}`)
    case 'move':
      ends[one.by]!.address = `udp:${ends[one.by]!.name}-${world.now}-${tally.texts}`
      return
    case 'replay': {
      if (world.sent.length > 0) net.arrive(world, world.sent[one.which % world.sent.length]!)
      return
    }
    case 'pass':
      world.now += one.ms
      for (const end of ends) net.wake(world, end)
      return
    default:
  }
  if (flying.length === 0) return
  const at = one.which % flying.length
  const datagram = flying[at]!
  if (one.do !== 'double') flying.splice(at, 1)
  if (one.do === 'lose') return
  const bytes = datagram.bytes.slice()
  if (one.do === 'flip') bytes[one.which % bytes.length]! ^= 1 << (one.which % 8)
  const from = one.do === 'elsewhere' ? tally.elsewhere : datagram.from
  if (one.do === 'elsewhere') tally.came += bytes.length
  net.arrive(world, { ...datagram, from, bytes })
}

test('whatever is lost, doubled, altered or late: nothing comes twice, and both agree (SE-2) (SE-12)', () => {
  const courses: number[] = []
  const check = (steps: Step[]): void => {
    const world = net.createNet()
    const limits = { ...LIMITS, rekeyMs: 9_000, overlapMs: 2_000, rekeyPackets: 12 }
    const ends = [net.addEnd(world, 'ada', 1, { limits }), net.addEnd(world, 'bea', 2, { limits })]
    const [ada, bea] = ends as [End, End]
    const tally = { texts: 0, came: 0, elsewhere: 'udp:elsewhere' }
    for (const one of steps) enact(world, ends, one, tally)
    const went = world.sent.filter(({ to }) => to === tally.elsewhere)
    const bytes = went.reduce((sum, one) => sum + one.bytes.length, 0)
    expect(bytes).toBeLessThanOrEqual(tally.came)
    for (const { packets } of ends) expect(new Set(packets).size).toBe(packets.length)
    // The network is well again: who asks anew has a link, and it is the same at both ends.
    net.settle(world)
    net.pass(world, 12_000)
    net.ask(world, ada, bea)
    net.settle(world)
    net.pass(world, 6_000)
    expect(linkOf(ada, bea)).toBe(linkOf(bea, ada))
    expect(linkOf(ada, bea)).not.toBe(0)
    net.say(world, bea, ada, 'at last')
    net.say(world, ada, bea, 'at last')
    net.settle(world)
    expect([ada, bea].map(({ packets }) => packets.at(-1))).toEqual(['at last', 'at last'])
    courses.push(hashValues([world.sent, ada.events, bea.events]))
  }
  fc.assert(fc.property(fc.array(step, { maxLength: 60 }), check), { seed: 19, numRuns: 400 })
  expect(thawed('seal', { 19: `${hashValues(courses)} ${hashValues(courses.length)}` })).toEqual([])
})

test('bytes of anybody never throw, and change no link (SE-14)', () => {
  const { net: world, ada, bea } = net.linked()
  const link = linkOf(bea, ada)
  const kinds = fc.constantFrom(1, 2, 3, 4, 0x11, 0x12, 0x13, 0x21, 0x22, 0x23)
  const bytes = fc.uint8Array({ maxLength: 300 })
  const check = (kind: number, rest: Uint8Array): void => {
    const whole = Uint8Array.of(kind, ...rest)
    net.arrive(world, { from: 'udp:x', to: bea.address, bytes: whole })
  }
  fc.assert(fc.property(kinds, bytes, check), { seed: 19, numRuns: 5_000 })
  expect(linkOf(bea, ada)).toBe(link)
  expect(bea.packets).toEqual([])
  expect([...bea.seal.peers.keys()]).toEqual([keyOf(ada)])
})
