// Goal: a member gives each part what is its own, and the session what it needs of them.
// Method: one process by hand with parts that note what they are told.
import { describe, expect, test } from 'vitest'
import { NOTHING_WAITS } from '../../packages/holdfast/src/link/link.ts'
import type { Effected, Part, PartView } from '../../packages/holdfast/src/kind/protocol/part.ts'
import * as dispatch from '../../packages/holdfast/src/member/dispatch.ts'
import {
  framePart,
  frameSession,
  takeMessage,
} from '../../packages/holdfast/src/member/dispatch.ts'
import * as links from '../../packages/holdfast/src/member/links.ts'
import * as member from '../../packages/holdfast/src/member/member.ts'
import * as peers from '../../packages/holdfast/src/member/peers.ts'
import { type MemberEvent, SESSION_CHANNEL } from '../../packages/holdfast/src/member/state.ts'
import * as operations from '../../packages/holdfast/src/session/operations.ts'
import type { Member as Row } from '../../packages/holdfast/src/replication/layouts.ts'
import { calmly } from '../calmly.ts'
import { Bare, pointOf, SESSION } from './bare.ts'
import { Hand } from './hand.ts'

const SWEEP_MS = 250

const BYTES = Uint8Array.of(7)

/** A primary with parts of channels 5 and 6, and what they are told. */
function primary(one: Partial<Part<string>> = {}, other: Partial<Part<string>> = {}): Bare {
  const slots = [
    { part: { channel: 5, ...one } as Part<unknown>, state: 'five' },
    { part: { channel: 6, ...other } as Part<unknown>, state: 'six' },
  ]
  const bare = new Bare({}, slots)
  bare.founds()
  for (const list of [bare.events, bare.asked]) list.length = 0
  return bare
}

const rowOf = (inc: number): Row => ({
  ...{ inc, player: inc, name: 'p', kind: 'node', addresses: [] },
  ...{ link: pointOf(inc + 20), registerHash: new Uint8Array(16), key: new Uint8Array(32) },
  rights: 1,
})

/** A second member that the primary publishes to, with a link. */
function joined(bare: Bare): Row {
  const { server } = bare.run.member.session
  const row = rowOf(2)
  server.durable.members.set(2, row)
  server.durable.players.set(2, { player: 2, key: row.key, lastSeq: 0, outcomes: [] })
  server.published.set(2, row)
  const peer = bare.do((run) => peers.create(run, 2, false))
  bare.do((run) => peers.open(run, peer, 'sim:2'))
  return row
}

describe('an operation', () => {
  const effects = { outcome: Uint8Array.of(1), changes: [BYTES], news: BYTES }
  function performed(done?: Effected): { bare: Bare; applied: unknown[]; asked: unknown[] } {
    const applied: unknown[] = []
    const asked: unknown[] = []
    const apply = (state: string, change: Uint8Array): void => void applied.push([state, change])
    const perform: Part<string>['perform'] = (state, now, body, by, player) => {
      asked.push([state, now, body, by, player])
      return done!
    }
    const bare = primary({ perform, apply }, { apply })
    bare.now = 30
    bare.do((run) => member.submit(run, 30, 5, BYTES))
    return { bare, applied, asked }
  }
  const outcomes = ({ bare }: { bare: Bare }): unknown[] => {
    return bare.events.flatMap((event) => (event.kind === 'done' ? [event.outcome] : []))
  }
  test('T49: is performed by its part, and changes that and others (PR-2)', () => {
    const also = [{ part: 6, changes: [Uint8Array.of(8)], news: null }]
    const done = performed({ ...effects, also })
    expect(done.asked).toEqual([['five', 30, BYTES, 1, 1]])
    expect(done.applied).toEqual([
      ['five', BYTES],
      ['six', Uint8Array.of(8)],
    ])
    expect(outcomes(done)).toEqual([effects.outcome])
  })
  test('that its part does not take, or that is of none, has the outcome of nobody (PR-2)', () => {
    const done = performed()
    expect([outcomes(done), done.applied]).toEqual([[Uint8Array.of(0)], []])
    const bare = primary()
    for (const part of [5, 99]) bare.do((run) => member.submit(run, 0, part, BYTES))
    expect(bare.events.filter(({ kind }) => kind === 'done')).toHaveLength(2)
  })
})

describe('the state of all parts', () => {
  const state = (bytes: number): Partial<Part<string>> => ({
    snapshot: () => Uint8Array.of(bytes),
    published: () => Uint8Array.of(bytes + 1),
    restore: (_state, taken) => taken[0] === bytes,
  })
  test('T38: is collected, as it is and as it was published, of those that have any (PR-2)', () => {
    const { parts } = primary(state(3), {}).run.out
    expect(calmly(() => parts.collect())).toEqual([{ part: 5, bytes: Uint8Array.of(3) }])
    expect(calmly(() => parts.published())).toEqual([{ part: 5, bytes: Uint8Array.of(4) }])
  })
  test.each<[string, readonly (readonly [number, number])[], boolean]>([
    [
      'each of which is taken',
      [
        [5, 3],
        [6, 8],
      ],
      true,
    ],
    ['of which one is missing', [[5, 3]], false],
    [
      'of which one is not taken',
      [
        [5, 3],
        [6, 9],
      ],
      false,
    ],
    [
      'with one too many',
      [
        [5, 3],
        [6, 8],
        [7, 1],
      ],
      false,
    ],
  ])('T38: %s is restored or not, and counted if not (PR-2)', (_what, given, whole) => {
    const bare = primary(state(3), state(8))
    const parts = given.map(([part, byte]) => ({ part, bytes: Uint8Array.of(byte) }))
    expect(calmly(() => bare.run.out.parts.restore(parts))).toBe(whole)
    expect(bare.run.member.counters.unrestored).toBe(whole ? 0 : 1)
  })
  test('S-5: is asked whether it needs a player, of whatever part (PR-2)', () => {
    const bare = primary({ keeps: (_state, player) => player === 4 }, { keeps: () => false })
    expect([4, 5].map((player) => bare.run.out.parts.keeps(player))).toEqual([true, false])
  })
  test('is shown to each player by its part, or as it is (PR-2)', () => {
    const bare = primary({ show: (_state, _news, player) => Uint8Array.of(player) })
    expect(bare.run.out.parts.show(5, BYTES, 9)).toEqual(Uint8Array.of(9))
    for (const part of [6, 99]) expect(bare.run.out.parts.show(part, BYTES, 9)).toBe(BYTES)
  })
  test('T44: is what a new member is sent, part by part, and then that it is all (PR-2)', () => {
    const bare = primary({ welcome: () => [BYTES, Uint8Array.of(8)] })
    joined(bare)
    const queued: unknown[] = []
    bare.run.out.send = (to, message) => {
      queued.push([
        to,
        message.kind,
        message.kind === 'news' ? [message.part, message.bytes] : null,
      ])
    }
    bare.do((run) => run.out.emit({ kind: 'welcome', to: [2] }))
    expect(queued).toEqual([
      [2, 'news', [5, BYTES]],
      [2, 'news', [5, Uint8Array.of(8)]],
      [2, 'standing', null],
    ])
    expect(bare.events).toEqual([])
  })
})

describe('an event of the session', () => {
  test('of the view goes to each part, with who we are and why (PR-2)', () => {
    const seen: PartView[] = []
    const bare = primary({ view: (_state, _now, view) => void seen.push(view) })
    const { view, former } = bare.run.member.session.client
    for (const [player, ended] of [[7, true] as const, [8, false] as const]) {
      former.set(player, { key: BYTES, since: 4, ended })
    }
    for (const [topology, why] of [['star', 'left'] as const, ['mesh', 'timeout'] as const]) {
      bare.run.member.session.topology = topology
      bare.do((run) => run.out.emit({ kind: 'view', view, before: null, why }))
    }
    const own = { session: SESSION, me: 1, terms: '', ended: new Map([[7, 4]]) }
    expect(seen.slice(-2)).toEqual([
      { ...view, ...own, mesh: false, left: true },
      { ...view, ...own, mesh: true, left: false },
    ])
    expect(bare.events.map(({ kind }) => kind)).toEqual(['view', 'view'])
  })
  test('that we are removed has us come back, or out where we are elsewhere (PR-2)', () => {
    const after = (why: string): unknown[] => {
      const bare = primary()
      bare.do((run) => run.out.emit({ kind: 'removed', why }))
      return [bare.run.member.phase, bare.failure()?.code]
    }
    expect(after('returned')).toEqual(['out', 'elsewhere'])
    expect(after('timeout')).toEqual(['finding', undefined])
    const bare = primary()
    bare.do((run) => run.out.emit({ kind: 'abandoned' }))
    expect(bare.failure()?.code).toBe('unreachable')
  })
  test('of a role makes it look after its links, and its clock where that has no time (PR-2)', () => {
    const asks = (set: boolean, phase: 'in' | 'finding'): [boolean, boolean] => {
      const bare = primary()
      Object.assign(bare.run.member, { phase, reconcileDue: false })
      bare.run.member.clock.set = set
      calmly(() => bare.run.out.emit({ kind: 'role', role: 'alone' }))
      return [bare.run.member.reconcileDue, bare.run.member.clock.set]
    }
    expect(asks(false, 'in')).toEqual([true, true])
    expect(asks(false, 'finding')).toEqual([true, false])
  })
  test('is told to whoever is above, as it is (PR-2)', () => {
    const bare = primary()
    const event: MemberEvent = { kind: 'slow', slow: true }
    bare.do((run) => run.out.emit(event))
    expect(bare.events).toEqual([event])
  })
})

describe('a message', () => {
  test('to many is encoded once, and another anew (PR-2)', () => {
    const bare = primary()
    joined(bare)
    const sent: Uint8Array[] = []
    bare.run.member.loopback.push = (one) => sent.push(one)
    const message = { kind: 'leave' } as const
    for (const one of [message, message, { kind: 'resync' } as const, message])
      bare.run.out.send(1, one)
    expect([sent[0] === sent[1], sent[2] === sent[1], sent[3] === sent[0]]).toEqual([
      true,
      false,
      false,
    ])
    expect(sent.map((bytes) => [...bytes])).toEqual([
      [SESSION_CHANNEL, 9],
      [SESSION_CHANNEL, 9],
      [SESSION_CHANNEL, 10],
      [SESSION_CHANNEL, 9],
    ])
  })
  test('to ourselves comes back before the call ends, in its order (PR-2)', () => {
    const heard: unknown[] = []
    const bare = primary({
      receive: (_state, _now, from, bytes, out) => {
        heard.push([from, bytes[0]])
        if (bytes[0]! < 3) out.send(1, Uint8Array.of(bytes[0]! + 1))
      },
    })
    expect(bare.run.deliver(1, framePart(5, Uint8Array.of(1)))).toBe(0)
    bare.do((run) => member.touched(run, 5))
    expect(heard).toEqual([1, 2, 3].map((byte) => [1, byte]))
    // To whom there is no link it goes nowhere.
    expect(bare.run.deliver(9, framePart(5, BYTES))).toBe(0)
  })
  test('that leads to another for ever is a bug, and not a silence (PR-2)', () => {
    const bare = primary({ receive: (_state, _now, _from, bytes, out) => out.send(1, bytes) })
    bare.run.deliver(1, framePart(5, BYTES))
    expect(() => member.touched(bare.run, 5)).toThrow('messages to ourselves come to an end')
  })
  test('that is none of the session, or of no part, is counted (PR-2)', () => {
    const bare = primary({ receive: () => {} })
    const malformed = (bytes: readonly number[]): number => {
      const before = bare.run.member.counters.malformed
      bare.do((run) => takeMessage(run, 1, Uint8Array.from(bytes)))
      return bare.run.member.counters.malformed - before
    }
    const leave = [...frameSession({ kind: 'leave' })]
    expect([[0, 99], [], [99, 1], [6, 1], [5, 1], leave].map(malformed)).toEqual([1, 1, 1, 1, 0, 0])
  })
  test('of a part is told on as its own (PR-2)', () => {
    const bare = primary({ receive: (_state, _now, _from, bytes, out) => out.emit([...bytes]) })
    bare.do((run) => takeMessage(run, 1, Uint8Array.of(5, 9)))
    expect(bare.events).toEqual([{ kind: 'part', channel: 5, event: [9] }])
  })
  test('is queued on the link of its member, with a number (PR-2)', () => {
    const bare = primary()
    joined(bare)
    const numbers = [1, 2].map(() => bare.run.deliver(2, framePart(5, BYTES)))
    expect(numbers[1]! - numbers[0]!).toBe(1)
    expect([...bare.run.member.touched]).toEqual([2])
    bare.do((run) => member.touched(run, 5))
    expect([...bare.run.member.touched]).toEqual([])
  })
  test('that a link takes no more ends that link (PR-2)', () => {
    const bare = primary()
    joined(bare)
    let count = 0
    const big = new Uint8Array(60_000)
    while (count < 10_000 && bare.run.member.peers.has(2)) {
      bare.do((run) => links.send(run, 2, big))
      count++
    }
    expect(bare.run.member.peers.has(2)).toBe(false)
  })
})

describe('each call into a member', () => {
  test('tells parts the time first, and has them say what they have at its end (PR-2)', () => {
    const told: unknown[] = []
    const bare = primary({
      clock: (_state, offset) => void told.push(['clock', offset]),
      flush: (_state, now) => void told.push(['flush', now]),
      wake: (_state, now) => void told.push(['wake', now]),
    })
    const calls: ((at: number) => unknown)[] = [
      (at) => member.touched(bare.run, at),
      (at) => member.datagram(bare.run, at, 'sim:9', BYTES),
      (at) => member.refused(bare.run, at, 'sim:9'),
      (at) => member.hubMet(bare.run, at, { kind: 'wrong', what: '' }),
      (at) => member.hubMessage(bare.run, at, BYTES),
      (at) => member.computed(bare.run, at, 99, true),
      (at) => member.submit(bare.run, at, 5, BYTES),
      (at) => member.handOver(bare.run, at, false),
      (at) => member.hubClosed(bare.run, at),
      (at) => member.hubOpened(bare.run, at),
      (at) => member.leave(bare.run, at),
    ]
    for (const [at, call] of calls.entries()) {
      told.length = 0
      calmly(() => call(100 + at))
      expect([at, told]).toEqual([
        at,
        [
          ['clock', 0],
          ['flush', 100 + at],
        ],
      ])
      expect(bare.run.now).toBe(100 + at)
    }
  })
  test('tells parts that the time is not known as long as it is not, and has them wake (PR-2)', () => {
    const told: unknown[] = []
    const bare = primary({
      clock: (_state, offset) => void told.push(['clock', offset]),
      flush: (_state, now) => void told.push(['flush', now]),
      wake: (_state, now) => void told.push(['wake', now]),
    })
    told.length = 0
    bare.run.member.clock.set = false
    bare.wake(300)
    expect(told).toEqual([
      ['clock', NaN],
      ['wake', 300],
      ['flush', 300],
    ])
  })
  test('has what is dirty leave with the next packet, where there is a link (PR-2)', () => {
    const written: number[] = []
    let dirty = [2, 9]
    const bare = primary({
      dirty: () => dirty,
      write: (_state, _now, to) => {
        written.push(to)
        return false
      },
    })
    joined(bare)
    bare.do((run) => member.touched(run, 5))
    expect(written).toContain(2)
    written.length = 0
    dirty = []
    bare.do((run) => member.touched(run, 6))
    expect(written).toEqual([])
  })
  test('that finds links to look after does, and only in a session (PR-2)', () => {
    for (const phase of ['in', 'finding'] as const) {
      const bare = primary()
      Object.assign(bare.run.member, { phase, reconcileDue: true })
      calmly(() => member.touched(bare.run, 5))
      expect(bare.run.member.reconcileDue).toBe(phase !== 'in')
    }
  })
})

describe('by the clock a member', () => {
  test('looks over its links four times a second, while it is in a session (PR-2)', () => {
    const bare = primary()
    bare.wake(1_000)
    expect(bare.run.member.sweepAt).toBe(1_000 + SWEEP_MS)
    bare.wake(999 + SWEEP_MS)
    expect(bare.run.member.sweepAt).toBe(1_000 + SWEEP_MS)
    bare.wake(1_000 + SWEEP_MS)
    expect(bare.run.member.sweepAt).toBe(1_000 + 2 * SWEEP_MS)
    bare.run.member.dueAt = Infinity
    expect(member.deadline(bare.run)).toBeLessThanOrEqual(1_000 + 2 * SWEEP_MS)
    bare.run.member.phase = 'out'
    bare.run.member.sweepAt = -5
    expect(member.deadline(bare.run)).toBeGreaterThan(-5)
  })
  test('is due when the first of its parts is, or its session (PR-2)', () => {
    const bare = primary({ deadline: () => 700 }, { deadline: () => 510 })
    bare.wake(500)
    expect(member.deadline(bare.run)).toBe(510)
    const other = primary()
    other.wake(500)
    Object.assign(other.run.member.session.client, { againAt: 520 })
    expect(member.deadline(other.run)).toBe(520)
  })
  test('takes a stall of its own off the clocks, if it is one (PR-2)', () => {
    const { run } = new Hand(2, 2, 'star')
    const since = (late: number): number => {
      const watch = { ...run.member.session.detectors.get(1)!, since: 10, lastReceived: 10 }
      run.member.session.detectors.set(1, watch)
      member.wake(run, 500, 500 - late)
      return run.member.session.detectors.get(1)!.since
    }
    expect([since(25), since(26)]).toEqual([10, 36])
  })
})

describe('who goes', () => {
  test('T31: leaves its session once, and is out when it stops, with all links closed (PR-2)', () => {
    const bare = primary()
    joined(bare)
    let leaves = 0
    bare.run.out.hub = ({ kind }) => void (leaves += Number(kind === 'change'))
    bare.run.member.session.server.published.delete(2)
    bare.do((run) => member.leave(run, 5))
    bare.do((run) => member.leave(run, 6))
    expect([leaves, bare.run.member.session.leaving]).toEqual([1, true])
    bare.do((run) => member.stop(run, 7))
    expect([bare.run.member.phase, bare.run.member.peers.size]).toEqual(['out', 0])
    const early = new Bare()
    early.do((run) => member.leave(run, 5))
    expect(early.run.member.session.leaving).toBe(false)
  })
  test('T4: hands its role over where there is somebody to take it (PR-2)', () => {
    const bare = primary()
    expect(bare.do((run) => member.handOver(run, 5, false))).toBe(false)
    joined(bare)
    const { server } = bare.run.member.session
    Object.assign(server, { role: 'backedup', backup: 2, slowSince: Infinity, handoverUntil: null })
    expect(bare.do((run) => member.handOver(run, 5, false))).toBe(true)
  })
})

describe('a packet', () => {
  const sinkWith = (part: Partial<Part<string>>, other: Partial<Part<string>> = {}) => {
    const bare = primary(part, other)
    joined(bare)
    const peer = bare.run.member.peers.get(2)!
    return { bare, peer, sink: dispatch.sinkOf(bare.run, peer) }
  }
  const writer = { bytes: new Uint8Array(9), length: 0 }
  test('has a frame of the first part that has one, or waits for more (PR-2)', () => {
    const no = () => false
    const write = (parts: Partial<Part<string>>[]): number => {
      return sinkWith(parts[0]!, parts[1]).sink.write(1, writer, 9)
    }
    expect(write([{ write: () => true }, { write: () => true }])).toBe(5)
    expect(write([{ write: no }, { write: () => true }])).toBe(6)
    expect(write([{ write: no, waits: () => true }, {}])).toBe(-1)
    expect(write([{ write: no, waits: no }, {}])).toBe(NOTHING_WAITS)
    expect(write([{}, { waits: () => true }])).toBe(-1)
  })
  test('that is lost is told to parts of a member, and of who has no number nothing is (PR-2)', () => {
    const lost: unknown[] = []
    const part = { lost: (_state: string, to: number, seq: number) => void lost.push([to, seq]) }
    const { peer, sink } = sinkWith({ ...part, write: () => true })
    sink.lost(4)
    peer.inc = 0
    sink.lost(5)
    expect(lost).toEqual([[2, 4]])
    expect(sink.write(1, writer, 9)).toBe(NOTHING_WAITS)
    peer.key = null
    calmly(() => sink.packet(BYTES))
  })
})

test('what a primary tells of the state goes to members that it has published (PR-2)', () => {
  const bare = primary()
  const heard: unknown[] = []
  bare.run.out.send = (to, message) => void heard.push([to, message.kind])
  bare.do((run) =>
    operations.completeSnapshot({ session: run.member.session, now: 0, out: run.out }, 2),
  )
  expect(heard).toEqual([[2, 'standing']])
})
