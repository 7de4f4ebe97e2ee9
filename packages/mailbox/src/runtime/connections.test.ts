// Goal: a connection that broke without a word is noticed on both sides, one that never greets is
// let go, and backing off is not reset by a greeting that leads nowhere.
// Method: a clock that the test moves, and streams in memory that can fall silent.
import { describe, expect, test } from 'vitest'
import { Clock } from '../../../../test/mailbox/clock.ts'
import type { Stream, StreamEvents } from '../../../holdfast/src/ports.ts'
import { ownKey, Side as Greets } from '../../../../test/mailbox/handshakes.ts'
import type { Curves, Later } from '../../../holdfast/src/ports.ts'
import { toyCurves } from '../../../sim/src/toy-ciphers.ts'
import { Connections } from './connections.ts'

/** Two ends; while `dead` is set nothing comes and nobody is told. */
interface Wire {
  dead: boolean
  dialled: number
}

interface Side {
  lines: Connections
  connected: string[]
  gone: string[]
  counts: string[]
  heard: string[]
}

function side(
  id: string,
  clock: Clock,
  { wire, curves }: { wire: Wire; curves: Curves },
  other: () => Side,
): Side {
  const connected: string[] = []
  const gone: string[] = []
  const counts: string[] = []
  const heard: string[] = []
  const connect = (_url: string, events: StreamEvents): Stream => {
    wire.dialled++
    return joined(wire, events, (stream) => other().lines.accept(stream))
  }
  const self = { id, keys: [ownKey(id.length)] }
  const lines = new Connections(
    self,
    { loop: clock.loop, connect, curves },
    {
      refuses: () => null,
      keyOf: () => null,
      formerKey: () => null,
      strange: () => 'it is strange',
      connected: (peer) => {
        connected.push(peer)
        lines.send(peer, new TextEncoder().encode(`${id} is here`))
      },
      message: (_peer, _key, bytes) => heard.push(new TextDecoder().decode(bytes)),
      disconnected: (_peer, why) => gone.push(why),
      failed: (_peer, why, counted) => {
        gone.push(why)
        if (counted) counts.push(counted)
      },
    },
  )
  return { lines, connected, gone, counts, heard }
}

function joined(wire: Wire, here: StreamEvents, accept: (end: Stream) => StreamEvents): Stream {
  const end = (to: () => StreamEvents): Stream => ({
    send: (bytes) => {
      queueMicrotask(() => !wire.dead && to().message(bytes.slice()))
      return true
    },
    backlog: () => 0,
    close: () => queueMicrotask(() => !wire.dead && to().closed('the other side closed it')),
  })
  const there: StreamEvents = accept(end(() => here))
  queueMicrotask(() => !wire.dead && here.opened())
  return end(() => there)
}

function pair(curves: Curves = toyCurves): { clock: Clock; wire: Wire; alice: Side; bob: Side } {
  const clock = new Clock()
  const wire = { dead: false, dialled: 0 }
  const bob: Side = side('bob', clock, { wire, curves }, () => alice)
  const alice: Side = side('alice', clock, { wire, curves }, () => bob)
  return { clock, wire, alice, bob }
}

describe('a connection', () => {
  test('S4, S10: that falls silent is noticed by both sides, and dialled anew (MB-16)', async () => {
    const { clock, wire, alice, bob } = pair()
    alice.lines.dial('bob', 'ws://bob')
    await clock.to(60_000)
    // Nobody has anything to say, and all is well.
    expect([alice.connected, alice.gone, bob.gone]).toEqual([['bob'], [], []])
    wire.dead = true
    await clock.to(80_000)
    for (const { gone, lines } of [alice, bob]) {
      expect(gone[0]).toBe('nothing came from it for 15 seconds')
      expect(lines.has(alice.lines === lines ? 'bob' : 'alice')).toBe(false)
    }
    wire.dead = false
    await clock.to(110_000)
    expect(alice.connected).toEqual(['bob', 'bob'])
  })

  test('that never greets, or stops in the middle, is let go, and counted (MB-22)', async () => {
    for (const messages of [0, 1, 2]) {
      const { clock, bob } = pair()
      let closed = 0
      const silent = (): Stream => ({ send: () => true, backlog: () => 0, close: () => closed++ })
      for (let i = 0; i < 300; i++) {
        const self = { id: `stranger ${i}`, keys: [ownKey(9)] }
        const events = bob.lines.accept(silent())
        for (const bytes of new Greets(self, 'bob').said.slice(0, messages)) events.message(bytes)
      }
      expect([messages, closed]).toEqual([messages, 300 - 256])
      await clock.to(13_000)
      expect([closed, bob.counts.length]).toEqual([300, 300])
      expect(new Set(bob.counts)).toEqual(new Set(['ungreeted']))
    }
  })

  test('whose curves make one wait greets all the same, and loses nothing that came behind', async () => {
    const slowly = async <Value>(value: Later<Value>): Promise<Value> => {
      for (let i = 0; i < 5; i++) await Promise.resolve()
      return value
    }
    const slow: Curves = {
      ...toyCurves,
      sign: (seed, message) => slowly(toyCurves.sign(seed, message)),
      verify: (key, message, by) => slowly(toyCurves.verify(key, message, by)),
    }
    const { clock, alice, bob } = pair(slow)
    alice.lines.dial('bob', 'ws://bob')
    await clock.to(100)
    expect([alice.connected, bob.connected]).toEqual([['bob'], ['alice']])
    expect([alice.heard, bob.heard]).toEqual([['bob is here'], ['alice is here']])
    const broken: Curves = { ...slow, sign: () => Promise.reject(new Error('no curve')) }
    const other = pair(broken)
    other.alice.lines.dial('bob', 'ws://bob')
    await other.clock.to(40)
    expect(other.alice.gone[0]).toBe('signing failed')
    expect(other.alice.counts[0]).toBe('greetings')
  })

  test('that greets and leads nowhere is dialled less and less often (MB-15)', async () => {
    const { clock, wire, alice, bob } = pair()
    alice.lines.dial('bob', 'ws://bob')
    const dialledIn = async (ms: number, leads: boolean): Promise<number> => {
      const [before, until] = [wire.dialled, clock.now + ms]
      while (clock.now < until) {
        await clock.to(clock.now + 10)
        if (!alice.lines.has('bob')) continue
        if (leads) alice.lines.progress('bob')
        bob.lines.hangUp('alice', 'the store refused')
      }
      return wire.dialled - before
    }
    await dialledIn(20_000, false)
    expect(await dialledIn(20_000, false)).toBeLessThan(10)
    expect(await dialledIn(20_000, true)).toBeGreaterThan(100)
  })
})
