// Goal: who asks for keys, when, and what is said where no more can be asked for or computed.
// Method: two ends by hand, with keys that wear out soon and curves that fail.
import { describe, expect, test } from 'vitest'
import { LIMITS } from '../../packages/holdfast/src/seal/limits.ts'
import { drawIndex } from '../../packages/holdfast/src/seal/state.ts'
import { toyCurves } from '../../packages/sim/src/toy-ciphers.ts'
import * as net from './net.ts'
import { type End, keyOf, linked, linkOf } from './net.ts'

const PEERS_MAX = 512

describe('keys that sealed as many packets as they may', () => {
  /** How many packets that end sends before it asks for the next keys. */
  function sentBefore(whose: 'ada' | 'bea'): number {
    const limits = { ...LIMITS, rekeyPackets: 20 }
    const { net: world, ada, bea } = linked({ limits })
    const [from, to] = whose === 'ada' ? [ada, bea] : [bea, ada]
    for (let sent = 1; sent < 100; sent++) {
      net.say(world, from, to, 'a')
      net.settle(world)
      net.wake(world, from)
      if (from.seal.peers.get(keyOf(to))!.initiator) return sent
    }
    return 0
  }
  test('are replaced by whoever asked for them, and half as many later by the other (PR-2)', () => {
    const [asker, other] = [sentBefore('ada'), sentBefore('bea')]
    expect(asker).toBeGreaterThan(15)
    expect(asker).toBeLessThanOrEqual(20)
    expect(other).toBeGreaterThan(25)
    expect(other).toBeLessThanOrEqual(30)
  })
})

test('keys to be get a number that no others have, nor others to be (PR-2)', () => {
  const { ada, bea } = linked()
  const { seal } = ada
  const { chance } = seal
  const drawn = (): number => {
    seal.chance = chance
    return drawIndex(seal)
  }
  const first = drawn()
  expect([first === 0, drawn()]).toEqual([false, first])
  seal.keys.set(first, seal.keys.values().next().value!)
  const second = drawn()
  expect(second).not.toBe(first)
  const peer = seal.peers.get(keyOf(bea))!
  peer.initiator = { index: second } as never
  expect([first, second]).not.toContain(drawn())
})

test('where as many peers have links as there may be, nobody new is asked (PR-2)', () => {
  const { net: world, ada, bea } = linked()
  const known = ada.seal.peers.get(keyOf(bea))!
  for (let n = ada.seal.peers.size; n < PEERS_MAX; n++)
    ada.seal.peers.set(`peer ${n}`, { ...known })
  const cy = net.addEnd(world, 'cy', 3)
  const { busy } = ada.seal.counters
  net.ask(world, ada, cy)
  expect(ada.seal.counters.busy).toBe(busy + 1)
  expect([world.flying, ada.seal.peers.has(keyOf(cy))]).toEqual([[], false])
  // Once one of them is idle, its place is free.
  ada.seal.peers.set('peer 7', { ...known, link: null, initiator: null, responder: null })
  net.ask(world, ada, cy)
  net.settle(world)
  expect(linkOf(cy, ada)).toBe(linkOf(ada, cy))
  expect([linkOf(ada, cy) > 0, ada.seal.peers.has('peer 7')]).toEqual([true, false])
})

test('a handshake of which a curve makes nothing is forged, at whichever step (PR-2)', () => {
  /** Bea can compute so many curves, and then no more. */
  function after(count: number): { link: number; bea: End } {
    const world = net.createNet()
    const [ada, bea] = [net.addEnd(world, 'ada', 1), net.addEnd(world, 'bea', 2)]
    let left = count
    bea.curves = {
      ...toyCurves,
      agree: (secret, point) => (left-- > 0 ? toyCurves.agree(secret, point) : null),
    }
    net.ask(world, ada, bea)
    net.settle(world)
    return { link: linkOf(bea, ada), bea }
  }
  const made = [0, 1, 2, 3, 4, 5].map(after)
  expect(made.map(({ link }) => link > 0)).toEqual([false, false, false, false, false, true])
  for (const { bea } of made.slice(0, 2)) expect(bea.seal.counters.forged).toBe(1)
})
