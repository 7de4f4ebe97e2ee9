// Goal: a connection that broke without a word is noticed on both sides, one that never greets is
// let go, and backing off is not reset by a greeting that leads nowhere.
// Method: a clock that the test moves, and streams in memory that can fall silent.
import { describe, expect, test } from 'vitest'
import type { Alarm, Loop, Stream, StreamEvents } from '../../ports.ts'
import { Connections } from './connections.ts'

/** A clock that stands still until it is told. */
class Clock {
  now = 0
  #alarms: { at: number; run: () => void }[] = []
  #chance = 0

  readonly loop: Loop = {
    now: () => this.now,
    random: (count) => new Uint8Array(count).fill((this.#chance += 51) % 255),
    soon: (run) => queueMicrotask(run),
    alarm: (run) => this.#alarm(run),
  }

  #alarm(run: () => void): Alarm {
    const mine = { at: Infinity, run }
    this.#alarms.push(mine)
    return { set: (at) => void (mine.at = at), cancel: () => void (mine.at = Infinity) }
  }

  async to(instant: number): Promise<void> {
    for (;;) {
      // What was said arrives before time goes on.
      for (let i = 0; i < 20; i++) await Promise.resolve()
      const [next] = this.#alarms.toSorted((a, b) => a.at - b.at)
      if (!next || next.at > instant) break
      this.now = Math.max(this.now, next.at)
      next.at = Infinity
      next.run()
    }
    this.now = instant
  }
}

/** Two ends; while `dead` is set nothing comes and nobody is told. */
interface Wire {
  dead: boolean
  dialled: number
}

interface Side {
  lines: Connections
  connected: string[]
  gone: string[]
}

function side(id: string, clock: Clock, wire: Wire, other: () => Side): Side {
  const connected: string[] = []
  const gone: string[] = []
  const connect = (_url: string, events: StreamEvents): Stream => {
    wire.dialled++
    return joined(wire, events, (stream) => other().lines.accept(stream))
  }
  const lines = new Connections({ id, key: '' }, clock.loop, connect, {
    accepts: () => null,
    connected: (peer) => connected.push(peer),
    message: () => {},
    disconnected: (_peer, why) => gone.push(why),
    failed: (_peer, why) => gone.push(why),
  })
  return { lines, connected, gone }
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

function pair(): { clock: Clock; wire: Wire; alice: Side; bob: Side } {
  const clock = new Clock()
  const wire = { dead: false, dialled: 0 }
  const bob: Side = side('bob', clock, wire, () => alice)
  const alice: Side = side('alice', clock, wire, () => bob)
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

  test('that never greets is let go (MB-22)', async () => {
    const { clock, bob } = pair()
    let closed = 0
    const silent = (): Stream => ({ send: () => true, backlog: () => 0, close: () => closed++ })
    for (let i = 0; i < 300; i++) bob.lines.accept(silent())
    expect(closed).toBe(300 - 256)
    await clock.to(13_000)
    expect(closed).toBe(300)
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
