// Goal: packets go by the best path that works in both directions, leave it when it does not, and
// never go to and fro.
// Method: the machine by hand, at instants that are given; a random network in test/paths.
import { describe, expect, test } from 'vitest'
import * as paths from './paths.ts'
import type { PathKind, Paths, PathsSink } from './paths.ts'

const [DIRECT, CHANNEL, STREAM, RELAY] = ['udp:a', 'rtc:7.1', 'wss://a', 'relay:7'] as const

class Hand implements PathsSink {
  now = 0
  readonly own: Paths = paths.create()
  readonly probed: string[] = []
  readonly beats: string[] = []
  readonly used: string[] = []
  /** The addresses that answer, and those that the seal has not proven. */
  answers = new Set<string>()
  unknown = new Set<string>()

  constructor(begun: string, ...addresses: string[]) {
    for (const address of addresses) paths.offer(this.own, 0, address)
    paths.begin(this.own, 0, begun)
    this.answers = new Set([begun, ...addresses])
  }

  probe(address: string): void {
    this.probed.push(address)
  }
  use({ address }: paths.Candidate): boolean {
    if (!this.unknown.has(address)) this.used.push(address)
    return !this.unknown.has(address)
  }
  beat({ address }: paths.Candidate): void {
    this.beats.push(address)
  }

  get path(): string {
    return this.own.chosen!.address
  }
  of(address: string): paths.Candidate {
    return paths.find(this.own, address)!
  }

  /** Time passes, and packets come by those paths each ten milliseconds. */
  pass(ms: number, ...heard: string[]): void {
    for (const until = this.now + ms; this.now < until;) {
      this.now += 1
      for (const address of heard) if (this.now % 10 === 0) paths.heard(this.own, this.now, address)
      if (this.own.dueAt > this.now) continue
      const before = this.probed.length
      paths.wake(this.own, this.now, this)
      for (const address of this.probed.slice(before)) {
        if (this.answers.has(address)) paths.answered(this.own, this.now, address)
      }
    }
  }
}

describe('which path', () => {
  test('is the best kind that answers, whatever the order in which they are offered', () => {
    const hand = new Hand(RELAY, STREAM, CHANNEL, DIRECT, RELAY)
    hand.pass(5, RELAY)
    expect(hand.path).toBe(DIRECT)
    expect(hand.own.candidates.map(({ kind }) => kind)).toEqual(['udp', 'rtc', 'ws', 'relay'])
    for (const [gone, next] of [
      [DIRECT, CHANNEL],
      [CHANNEL, STREAM],
      [STREAM, RELAY],
    ] as const) {
      paths.withdraw(hand.own, hand.now, gone, hand)
      expect(hand.path).toBe(next)
      hand.pass(5, next)
    }
    expect(hand.used).toEqual([DIRECT, CHANNEL, STREAM, RELAY])
  })

  test.each([
    ['udp:127.0.0.1:4000', 'udp'],
    ['sim:b', 'udp'],
    ['rtc:7.1', 'rtc'],
    ['ws://a/rt', 'ws'],
    ['wss://a/rt', 'ws'],
    // At the end that accepted it.
    ['stream:1', 'ws'],
    ['relay:7', 'relay'],
    ['knock:3', 'relay'],
  ])('by %s is of the kind %s', (address, kind) => {
    expect(new Hand(address).own.chosen!.kind).toBe(kind)
  })

  test('is never one that does not answer, though packets of the peer come by it (one way)', () => {
    const hand = new Hand(RELAY, DIRECT, RELAY)
    hand.answers.delete(DIRECT)
    hand.pass(10_000, DIRECT, RELAY)
    expect([hand.path, hand.used]).toEqual([RELAY, []])
    expect(hand.of(DIRECT)).toMatchObject({ state: 'bad', lastReceived: 10_000 })
  })

  test('does not change because packets come by another that works too', () => {
    const hand = new Hand(DIRECT, RELAY)
    hand.pass(10_000, RELAY)
    expect([hand.path, hand.used]).toEqual([DIRECT, []])
    hand.pass(10_000, RELAY, DIRECT)
    expect([hand.path, hand.used]).toEqual([DIRECT, []])
  })

  test('stays if the seal does not know the better one as proven, and it is asked again', () => {
    const hand = new Hand(RELAY, DIRECT)
    hand.unknown.add(DIRECT)
    hand.pass(300, RELAY)
    expect([hand.path, hand.own.candidates.length]).toEqual([RELAY, 2])
    hand.unknown.clear()
    hand.pass(300, RELAY)
    expect(hand.path).toBe(DIRECT)
  })

  test('is another of the same kind where a packet showed that one, once ours does not answer', () => {
    const hand = new Hand(DIRECT, RELAY)
    hand.pass(3_000, DIRECT)
    // A router has given the peer another address.
    hand.answers.delete(DIRECT)
    hand.pass(20, 'udp:new')
    paths.answered(hand.own, hand.now, 'udp:new')
    hand.pass(100, 'udp:new')
    expect([hand.path, hand.of('udp:new').offered]).toEqual(['udp:new', false])
  })

  test('of a process that is no member yet is left when that is one, and is no failure', () => {
    const hand = new Hand('knock:3', DIRECT, RELAY)
    hand.answers.delete(DIRECT)
    hand.pass(500, 'knock:3')
    paths.answered(hand.own, hand.now, 'knock:9')
    paths.withdraw(hand.own, hand.now, 'knock:3', hand)
    expect([hand.path, hand.own.failures.relay]).toEqual([RELAY, 0])
    expect(hand.own.candidates).toHaveLength(2)
  })
})

test('PA10: the path of a process that knocks is none once another one is taken', () => {
  const hand = new Hand('knock:3', DIRECT, RELAY)
  hand.pass(500, 'knock:3')
  expect(hand.path).toBe(DIRECT)
  expect(hand.own.candidates.map(({ address }) => address)).toEqual([DIRECT, RELAY])
  // The first packet from the relay address of a member shows that it is attached.
  const other = new Hand('knock:3', RELAY)
  other.pass(500, 'knock:3')
  expect(other.path).toBe('knock:3')
  other.pass(20, RELAY)
  expect([other.path, other.own.candidates.length]).toEqual([RELAY, 1])
})

describe('a silent path', () => {
  const LIMIT = 25
  function direct(): Hand {
    const hand = new Hand(DIRECT, RELAY)
    paths.setLimit(hand.own, 0, LIMIT, 2)
    hand.pass(3_000, DIRECT)
    return hand
  }

  test('is left at its limit for a spare that answered meanwhile, and not before', () => {
    const hand = direct()
    hand.answers.delete(DIRECT)
    hand.pass(LIMIT - 1)
    expect([hand.path, hand.own.heardBy]).toEqual([DIRECT, 'udp'])
    hand.pass(1)
    expect([hand.path, hand.own.heardBy]).toEqual([RELAY, 'relay'])
    expect(hand.of(DIRECT)).toMatchObject({ state: 'bad' })
  })

  test('has heartbeats too after it was left, for the limit and two round trips of the next', () => {
    const hand = direct()
    hand.of(RELAY).rtt = 40
    hand.answers.delete(DIRECT)
    hand.pass(LIMIT + 300)
    const beats = Math.ceil((LIMIT + 2 * 40) / (LIMIT / 2))
    expect(new Set(hand.beats)).toEqual(new Set([DIRECT]))
    expect(Math.abs(hand.beats.length - beats)).toBeLessThanOrEqual(2)
  })

  test('is kept while nothing answers: then the peer is silent, and not the path', () => {
    const hand = direct()
    hand.answers.clear()
    const before = hand.probed.length
    hand.pass(5_000)
    expect([hand.path, hand.own.heardBy, hand.used]).toEqual([DIRECT, 'udp', []])
    expect(hand.probed.length - before).toBeLessThan(70)
    // The first that answers is taken, whichever it is.
    hand.answers.add(RELAY)
    hand.pass(300)
    expect(hand.path).toBe(RELAY)
  })

  test('is kept if the peer comes back by it in the same turn as the answer of the spare', () => {
    const hand = direct()
    hand.answers.clear()
    hand.pass(60)
    paths.answered(hand.own, hand.now, RELAY)
    paths.heard(hand.own, hand.now, DIRECT)
    hand.pass(100, DIRECT)
    expect([hand.path, hand.used]).toEqual([DIRECT, []])
  })

  test('has the time to answer: one with a long round trip is not left for a few lost packets', () => {
    const hand = direct()
    paths.setLimit(hand.own, hand.now, LIMIT, 90)
    hand.answers.delete(DIRECT)
    hand.pass(LIMIT / 2 + 89)
    expect(hand.path).toBe(DIRECT)
    hand.pass(2)
    expect(hand.path).toBe(RELAY)
  })

  test('that is left is not the one that the detector goes by, also just after a veto', () => {
    const hand = direct()
    hand.answers.delete(DIRECT)
    paths.beatByRelay(hand.own, hand.now)
    hand.own.heardBy = 'udp'
    hand.pass(LIMIT + 1)
    expect([hand.path, hand.own.heardBy]).toEqual([RELAY, 'relay'])
  })

  test('of which a heartbeat is late or lost has the relay asked for nothing', () => {
    const hand = direct()
    const before = hand.probed.filter((to) => to === RELAY).length
    for (let n = 0; n < 50; n++) {
      hand.pass(17)
      paths.heard(hand.own, hand.now, DIRECT)
    }
    expect(hand.probed.filter((to) => to === RELAY).length - before).toBe(0)
  })

  test('on which the heartbeats of a peer that left it still come is left all the same', () => {
    const hand = direct()
    hand.answers.delete(DIRECT)
    hand.pass(10 + paths.HINT_MS + 10, DIRECT, RELAY)
    expect(hand.path).toBe(RELAY)
  })

  test('of a peer that is silent for long has no address probed often that never answered', () => {
    const hand = new Hand(RELAY, DIRECT, 'udp:victim', RELAY)
    hand.answers.clear()
    hand.pass(60_000)
    const probes = hand.probed.filter((to) => to === 'udp:victim').length
    expect(probes).toBeLessThan(45)
  })

  test('is not silent for as long as our own loop stood still', () => {
    const hand = direct()
    hand.answers.delete(DIRECT)
    hand.now += 500
    paths.forgive(hand.own, hand.now, 500)
    hand.pass(LIMIT - 1)
    expect(hand.path).toBe(DIRECT)
    hand.pass(2)
    expect(hand.path).toBe(RELAY)
  })

  test('that answers is none: the peer sends by another, which it prefers for a while', () => {
    const hand = direct()
    hand.pass(20_000, RELAY)
    expect([hand.path, hand.own.heardBy, hand.used]).toEqual([DIRECT, 'relay', []])
  })

  test('is left at once where the peer has left it and it does not answer', () => {
    const hand = new Hand(DIRECT, RELAY)
    hand.pass(3_000, DIRECT)
    hand.answers.delete(DIRECT)
    hand.pass(10 + paths.HINT_MS, RELAY)
    expect(hand.path).toBe(RELAY)
    // Without that hint it takes a second.
    const other = new Hand(DIRECT, RELAY)
    other.pass(3_000, DIRECT)
    other.answers.delete(DIRECT)
    other.pass(paths.PATH_DEAD_MS - 1)
    expect(other.path).toBe(DIRECT)
    other.pass(1)
    expect(other.path).toBe(RELAY)
  })

  test('that nothing could replace is not probed at all', () => {
    const hand = new Hand(RELAY, RELAY)
    hand.pass(5_000)
    expect([hand.probed, hand.own.dueAt]).toEqual([[], Infinity])
  })
})

describe('a path that failed', () => {
  test('is chosen again once it has answered for a second, then for two, four, and so on', () => {
    const hand = new Hand(DIRECT, RELAY)
    paths.setLimit(hand.own, 0, 100, 2)
    hand.pass(3_000, DIRECT)
    const holds: number[] = []
    for (let failures = 0; failures < 8; failures++) {
      hand.answers.delete(DIRECT)
      hand.pass(200)
      expect(hand.path).toBe(RELAY)
      hand.answers.add(DIRECT)
      const answered = hand.of(DIRECT).probedAt + paths.PROBE_MS
      while (hand.path === RELAY) hand.pass(1, RELAY)
      holds.push(hand.now - answered)
      hand.pass(500, DIRECT)
    }
    const all = [0, 1, 2, 3, 4, 5, 6, 7].map((n) => Math.min(60_000, 1_000 * 2 ** n))
    for (const [place, hold] of holds.entries()) expect(hold - all[place]!).toBeLessThan(300)
    expect(holds.every((hold, place) => hold >= all[place]!)).toBe(true)
  })

  test('is forgiven after a minute in which it did not fail', () => {
    const hand = new Hand(DIRECT, RELAY)
    for (let times = 0; times < 3; times++) {
      hand.pass(61_000, DIRECT)
      hand.answers.delete(DIRECT)
      hand.pass(1_001)
      expect([hand.path, hand.own.failures.udp]).toEqual([RELAY, 1])
      hand.answers.add(DIRECT)
      hand.pass(4_000, RELAY)
    }
  })

  test('counts for its kind: a channel that comes and goes is not taken each time', () => {
    const hand = new Hand(RELAY, RELAY)
    const taken: number[] = []
    for (let n = 1; n <= 40; n++) {
      paths.offer(hand.own, hand.now, `rtc:7.${n}`)
      hand.answers.add(`rtc:7.${n}`)
      hand.pass(1_500, RELAY)
      if (hand.path !== RELAY) taken.push(n)
      paths.withdraw(hand.own, hand.now, `rtc:7.${n}`, hand)
    }
    expect(taken).toEqual([1, 2])
  })
})

describe('spares', () => {
  test('are probed each ten seconds, and are bad after four probes without an answer', () => {
    const hand = new Hand(DIRECT, RELAY)
    const times: number[] = []
    const passes = (ms: number): void => {
      for (const until = hand.now + ms; hand.now < until;) {
        const before = hand.probed.length
        hand.pass(1, DIRECT)
        for (const to of hand.probed.slice(before)) if (to === RELAY) times.push(hand.now)
      }
    }
    hand.pass(10, DIRECT)
    passes(35_000)
    expect(times).toEqual([2_000, 12_000, 22_000, 32_000])
    hand.answers.delete(RELAY)
    passes(12_000)
    expect(times.slice(4)).toEqual([42_000, 42_250, 42_500, 42_750, 44_750, 46_750])
    expect(hand.of(RELAY).state).toBe('bad')
    hand.answers.add(RELAY)
    passes(3_000)
    expect(hand.of(RELAY)).toMatchObject({ state: 'good', unanswered: 0 })
  })

  test('are at most eight, and a bad one that a packet showed makes room', () => {
    const hand = new Hand(DIRECT, RELAY)
    for (let n = 0; n < 7; n++) {
      hand.answers.add(`udp:${n}`)
      paths.answered(hand.own, 0, `udp:${n}`)
    }
    paths.offer(hand.own, 0, 'udp:row')
    const first = hand.own.candidates.map(({ address }) => address)
    expect([first.length, first.includes('udp:6')]).toEqual([paths.CANDIDATES_MAX, false])
    hand.answers.delete('udp:3')
    hand.pass(20_000, DIRECT)
    paths.offer(hand.own, hand.now, 'udp:row')
    const known = hand.own.candidates.map(({ address }) => address)
    expect([known.includes('udp:3'), known.includes('udp:row')]).toEqual([false, true])
    // The link keeps the figures of each in a place of its own.
    expect(new Set(hand.own.candidates.map(({ id }) => id % paths.PATHS_KEPT)).size).toBe(8)
  })

  test('that come and go for long keep places of their own in the link', () => {
    const hand = new Hand(DIRECT, RELAY)
    for (let n = 1; n <= 40; n++) {
      paths.offer(hand.own, 0, `rtc:7.${n}`)
      const places = hand.own.candidates.map(({ id }) => id % paths.PATHS_KEPT)
      expect(new Set(places).size).toBe(3)
      paths.withdraw(hand.own, 0, `rtc:7.${n}`, hand)
    }
  })

  test('have a round trip, of probes whose answer is surely theirs', () => {
    const hand = new Hand(DIRECT, RELAY)
    hand.answers.clear()
    hand.pass(2_030, DIRECT)
    paths.answered(hand.own, hand.now, RELAY)
    expect(hand.of(RELAY).rtt).toBe(30)
    hand.pass(2_260, DIRECT)
    paths.answered(hand.own, hand.now, RELAY)
    expect(hand.of(RELAY).rtt).toBe(30)
  })

  test('by the relay carry heartbeats too for five seconds, after the hub asked about the peer', () => {
    const hand = new Hand(DIRECT, RELAY)
    hand.pass(100, DIRECT)
    paths.beatByRelay(hand.own, hand.now)
    expect(hand.own.heardBy).toBe('relay')
    hand.pass(6_000, DIRECT)
    expect(hand.beats).toEqual(Array.from({ length: 25 }, () => RELAY))
    expect([hand.path, hand.own.heardBy]).toEqual([DIRECT, 'udp'])
  })
})

test('the worst kind by which the peer was heard within a second is what its detector goes by', () => {
  const hand = new Hand(DIRECT, CHANNEL, RELAY)
  const seen: PathKind[] = []
  for (const heard of [
    [DIRECT],
    [DIRECT, CHANNEL],
    [DIRECT, RELAY],
    [DIRECT],
    [DIRECT],
    [DIRECT],
  ]) {
    hand.pass(600, ...heard)
    seen.push(hand.own.heardBy)
  }
  expect(seen).toEqual(['udp', 'rtc', 'relay', 'relay', 'udp', 'udp'])
})
