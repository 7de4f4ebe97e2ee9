// Goal: what a member learns of another is of no use in the other's name, as far as the hub says
// who sends, and a forged word that nobody listens removes nobody.
// Method: whole sessions in virtual time; a member by hand has a stream of its own making, and says
// on it what no member would.
import type { InternalSession as Session } from '../../packages/holdfast/src/join/session-impl.ts'
import { describe, expect, test } from 'vitest'
import { joinIn } from '../../packages/holdfast/src/join/join.ts'
import * as prng from '../../packages/holdfast/src/faults/prng.ts'
import type { JoinOptions } from '../../packages/holdfast/src/index.ts'
import { CLOSE } from '../../packages/holdfast/src/member/state.ts'
import type { Connect, Stream, StreamEvents } from '../../packages/holdfast/src/ports.ts'
import {
  environmentOf,
  HUB_URL,
  type SessionWorld,
  world,
} from '../../packages/sim/src/session-world.ts'
import { indexAt, KIND } from '../../packages/holdfast/src/seal/messages.ts'
import { frameRelay, readFrame } from '../../packages/holdfast/src/wire/relay.ts'

interface Datagram {
  peer: number
  bytes: Uint8Array
}

/** What one member sends and hears by the relay, and a hand on its stream. */
class Tap {
  readonly heard: Datagram[] = []
  /** Takes what it sends away, while it is true. */
  holds: (sent: Datagram) => boolean = () => false
  #stream: Stream | null = null

  over(connect: Connect): Connect {
    return (url, events) => {
      const stream = connect(url, { ...events, message: (bytes) => this.#hear(bytes, events) })
      this.#stream = stream
      return { ...stream, send: (bytes) => this.#take(bytes) || stream.send(bytes) }
    }
  }

  #hear(bytes: Uint8Array, events: StreamEvents): void {
    const frame = readFrame(bytes)
    if (frame?.kind === 'relay') this.heard.push({ ...frame, bytes: frame.bytes.slice() })
    events.message(bytes)
  }

  #take(bytes: Uint8Array): boolean {
    const frame = readFrame(bytes)
    return frame?.kind === 'relay' && this.holds({ ...frame, bytes: frame.bytes.slice() })
  }

  say(to: number, datagram: Uint8Array): void {
    this.#stream!.send(frameRelay(to, datagram))
  }
}

async function enter(
  w: SessionWorld,
  name: string,
  tap: Tap,
  more: Partial<JoinOptions> = {},
): Promise<Session> {
  const { connect, ...place } = environmentOf(w.sim.node(name), 'browser')
  let session: Session | null = null
  void joinIn(
    { ...place, connect: tap.over(connect) },
    { game: 'garden', name, server: HUB_URL, ...more },
  ).then((joined) => (session = joined))
  await w.runUntil(() => session !== null, 20_000)
  return session!
}

const NAMES = ['Ada', 'Grace', 'Linus', 'Mallory']

async function cluster(topology: 'star' | 'mesh'): Promise<[SessionWorld, Session[], Tap[]]> {
  const w = world({ seed: 6, conditions: 'rtt=20' })
  const taps = NAMES.map(() => new Tap())
  const all: Session[] = []
  for (const [at, name] of NAMES.entries()) {
    all.push(await enter(w, name, taps[at]!, { topology }))
  }
  await w.runUntil(() => all.every(({ safety }) => safety === 'backed-up'), 10_000)
  await w.run(2_000)
  return [w, all, taps]
}

function incs(all: readonly Session[]): number[] {
  return all.map((session) => session.me.inc)
}

describe('a member by hand', () => {
  test('T42: is nobody else by what others say to it or to each other (SE-2)', async () => {
    const [w, all, taps] = await cluster('mesh')
    const [ada, grace, linus] = all as [Session, Session, Session]
    const own = taps[3]!
    // In a mesh who was here before asks who comes. What it heard of Linus it says to the others.
    const heard = own.heard.filter(({ peer }) => peer === linus.me.inc)
    expect(heard.some(({ bytes }) => bytes[0] === KIND.first)).toBe(true)
    const before = incs(all)
    const mend = w.partition([['Linus'], ['hub', 'Ada', 'Grace', 'Mallory']])
    await w.run(700)
    own.heard.length = 0
    for (const to of [ada, grace]) for (const { bytes } of heard) own.say(to.me.inc, bytes)
    await w.run(100)
    // Nobody answers a handshake, and nobody takes a packet.
    expect(own.heard.filter(({ bytes }) => bytes[0]! < KIND.packet)).toEqual([])
    for (const { member } of [ada, grace]) {
      const { unproven, unknown, forged, malformed } = member!.seal!.counters
      expect(unproven + unknown + forged + malformed).toBeGreaterThanOrEqual(heard.length)
    }
    mend()
    await w.runUntil(() => all.every(({ status }) => status === 'live'), 20_000)
    expect(incs(all)).toEqual(before)
    expect(all.map((one) => one.members.length)).toEqual([4, 4, 4, 4])
  })

  test('L8: moves no link to itself by a packet of it (SE-12)', async () => {
    const [w, all, taps] = await cluster('star')
    const [ada] = all as [Session]
    const [his, own] = [taps[2]!, taps[3]!]
    // Two that work together: what he does not send, the other sends for him.
    const held: Datagram[] = []
    his.holds = (sent) => sent.peer === ada.me.inc && held.push(sent) > 0
    await w.runUntil(() => held.length > 0, 5_000)
    his.holds = () => false
    own.heard.length = 0
    const { forged } = ada.member!.seal!.counters
    for (const { bytes } of held) own.say(ada.me.inc, bytes)
    await w.run(2_000)
    const numbers = new Set(own.heard.map(({ bytes }) => indexAt(bytes, 1)))
    const { keys } = all[2]!.member!.seal!
    expect([...numbers].some((number) => keys.has(number))).toBe(false)
    expect(ada.member!.seal!.counters.forged - forged).toBe(held.length)
    expect(all.map(({ status }) => status)).toEqual(['live', 'live', 'live', 'live'])
  })

  test('T42: answers no greeting in the name of whom it was for (SE-2)', async () => {
    const [w, all, taps] = await cluster('star')
    const [ada, , linus] = all as [Session, Session, Session]
    const own = taps[3]!
    // Linus asks Ada anew, and Mallory answers in her name; that she hears of it is by hand, too.
    const asked: Uint8Array[] = []
    const answers: Uint8Array[] = []
    taps[0]!.holds = ({ peer, bytes }) => {
      return peer === linus.me.inc && bytes[0] === KIND.second && answers.push(bytes) > 0
    }
    taps[2]!.holds = ({ bytes }) => {
      if (bytes[0] === KIND.first) asked.push(bytes)
      return false
    }
    linus.member!.peers.get(ada.me.inc)!.link!.closed = CLOSE.idle
    await w.runUntil(() => answers.length > 0, 10_000)
    const { forged } = linus.member!.seal!.counters
    // Hers, word for word, and one of its own making.
    own.say(linus.me.inc, answers[0]!)
    const made = answers[0]!.slice()
    made[20]! ^= 1
    own.say(linus.me.inc, made)
    await w.run(100)
    expect(asked.length).toBeGreaterThan(0)
    expect(linus.member!.seal!.counters.forged - forged).toBe(2)
    expect(linus.member!.peers.get(ada.me.inc)!.link).toBe(null)
    taps[0]!.holds = () => false
    await w.runUntil(() => all.every(({ status }) => status === 'live'), 20_000)
  })
})

describe('a word that nobody listens', () => {
  async function nodes(seed: number, conditions: string): Promise<[SessionWorld, Session[]]> {
    const w = world({ seed, conditions, linesMax: 0 })
    const all: Session[] = []
    for (const name of NAMES) all.push(await w.join({ game: 'garden', name }, { name }))
    await w.runUntil(() => all.every(({ safety }) => safety === 'backed-up'), 10_000)
    await w.runUntil(() => all.every((one) => one.debug.figures().path !== 'relay'), 10_000)
    return [w, all]
  }

  test('T39: is asked after: whoever answers stays, however often it is said (SE-21)', async () => {
    for (let seed = 1; seed <= 3; seed++) {
      const [w, all] = await nodes(seed, 'rtt=30,jitter=10,loss=5%')
      await w.run(3_000)
      const { epoch } = all[0]!.debug.figures()
      const before = incs(all)
      const random = prng.create(`words ${seed}`)
      for (let n = 0; n < 200; n++) {
        const [at, of] = [prng.pick(random, NAMES), prng.pick(random, NAMES)]
        w.refuse(at, `sim:${of}`)
        await w.run(prng.below(random, 20))
      }
      expect([seed, all[0]!.debug.figures().epoch, incs(all)]).toEqual([seed, epoch, before])
      expect(all[0]!.members).toHaveLength(4)
      expect(
        all.reduce((sum, { member }) => sum + member!.counters.falseAlarms, 0),
      ).toBeGreaterThan(30)
    }
  })

  test('T36, T39: is believed of whoever does not answer, within a few round trips (SE-21)', async () => {
    const [w, all] = await nodes(3, 'rtt=2')
    await w.run(3_000)
    const [ada, grace] = all as [Session, Session]
    const backup = ada.backup!.name
    w.kill(ada)
    const next = all.find(({ me }) => me.name === backup)!
    // The detector alone would take 50 ms and more.
    expect(await w.runUntil(() => next.primary === next.me, 45)).toBe(true)
    const other = all.find((one) => one !== ada && one !== next && one !== grace)!
    w.kill(other)
    const isMissed = (): boolean => next.members.every(({ inc }) => inc !== other.me.inc)
    expect(await w.runUntil(isMissed, 400)).toBe(true)
  })
})
