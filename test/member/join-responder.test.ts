// Goal: who asks a primary to let it in has a place among those who ask, is checked, and answered;
// and the other way round.
// Method: one process by hand, as the primary and as who asks; others are what is said for them.
import { admissionOf } from '../../packages/holdfast/src/hub-protocol/messages.ts'
import { RIGHTS } from '../../packages/holdfast/src/machine.ts'
import { describe, expect, test } from 'vitest'
import * as link from '../../packages/holdfast/src/link/link.ts'
import { createArrivals } from '../../packages/holdfast/src/link/link.ts'
import * as joinResponder from '../../packages/holdfast/src/member/join-responder.ts'
import { PENDING_JOINS_PER_STREAM } from '../../packages/holdfast/src/member/join-responder.ts'
import * as curves from '../../packages/holdfast/src/member/dispatch.ts'
import * as joinClient from '../../packages/holdfast/src/member/join-client.ts'
import * as member from '../../packages/holdfast/src/member/member.ts'
import * as peers from '../../packages/holdfast/src/member/peers.ts'
import type { PendingJoin } from '../../packages/holdfast/src/member/state.ts'
import { nameOf } from '../../packages/holdfast/src/seal/seal.ts'
import {
  claimOf,
  type Join,
  type Joined,
  joinedLayout,
  joinLayout,
  SESSION_VERSION,
} from '../../packages/holdfast/src/session/messages.ts'
import { toyCurves } from '../../packages/sim/src/toy-ciphers.ts'
import { fingerprint } from '../../packages/holdfast/src/wire/digest.ts'
import { encode } from '../../packages/holdfast/src/wire/layout.ts'
import { NO_VIEW } from '../../packages/holdfast/src/session/state.ts'
import { Bare, pointOf, SESSION } from './bare.ts'

const CALLER_MS = 10_000
const CALLERS_MAX = 64
const SILENT_MS = 1_500

const DOOR = 'knock:5'
/** From which the hub has its key. */
const HUB = new Uint8Array(32).fill(99)

/** The JOIN of a process whose keys are made of that byte, signed by itself. */
function joinOf(byte: number, other: Partial<Join> = {}, signer = byte): Uint8Array {
  const seed = new Uint8Array(32).fill(signer)
  const wish = {
    ...{ version: SESSION_VERSION, schema: fingerprint(''), name: 'p', addresses: [] },
    ...{ kind: 'node' as const, watches: false, registerHash: new Uint8Array(16), resume: null },
    ...{ link: pointOf(byte), key: toyCurves.signer(new Uint8Array(32).fill(byte)) },
    ...other,
  }
  const right = { link: wish.link, key: wish.key, rights: RIGHTS.play }
  const admission = toyCurves.sign(HUB, admissionOf({ session: SESSION, ...right }))
  const said = { rights: RIGHTS.play, admission, ...wish }
  const signature = toyCurves.sign(seed, claimOf(SESSION, said))
  return encode(joinLayout, { ...said, signature })
}

const keyOf = (byte: number): string => nameOf(pointOf(byte))

function primary(): Bare {
  const bare = new Bare()
  bare.founds()
  bare.hears({ kind: 'signs', key: toyCurves.signer(HUB) })
  for (const list of [bare.events, bare.asked]) list.length = 0
  return bare
}

function asks(bare: Bare, byte: number, address = DOOR, join = joinOf(byte)) {
  const more = { from: 0, mv: 0, link: 1, again: false }
  return bare.do((run) => joinResponder.admit(run, { peer: keyOf(byte), address, join, ...more }))
}

function callerOf(bare: Bare, byte: number): PendingJoin | undefined {
  return bare.run.member.pendingJoins.get(keyOf(byte))
}

function stands(bare: Bare, byte: number): void {
  const caller = callerOf(bare, byte)!
  bare.do((run) => joinResponder.onLinkUp(run, caller, caller.address))
}

const known = (bare: Bare): string[] => [...bare.run.member.pendingJoins.keys()]
const members = (bare: Bare): number[] => [...bare.run.member.session.server.durable.members.keys()]

describe('a process that asks a primary', () => {
  test('T14: has a place for ten seconds, and a number of its own (PR-2)', () => {
    const bare = primary()
    bare.run.member.dueAt = Infinity
    expect(asks(bare, 10)).toBe(null)
    expect(callerOf(bare, 10)).toMatchObject({ address: DOOR, number: 1, until: CALLER_MS })
    expect(bare.run.member.dueAt).toBe(CALLER_MS)
    bare.now = 50
    bare.run.now = 50
    asks(bare, 11)
    expect(callerOf(bare, 11)).toMatchObject({ number: 2, until: 50 + CALLER_MS })
    expect(bare.run.member.dueAt).toBe(CALLER_MS)
    bare.run.now = CALLER_MS - 1
    bare.do(joinResponder.dropExpired)
    expect(known(bare)).toHaveLength(2)
    bare.run.now = CALLER_MS
    bare.do(joinResponder.dropExpired)
    expect(known(bare)).toEqual([keyOf(11)])
  })
  test('T14: is denied by who leaves, or does not serve; then all of them are forgotten (PR-2)', () => {
    const bare = primary()
    asks(bare, 10)
    bare.run.member.session.leaving = true
    expect(asks(bare, 11)).toBe('denied')
    Object.assign(bare.run.member.session.server, { role: 'idle' })
    bare.run.member.session.leaving = false
    expect(asks(bare, 11)).toBe('denied')
    bare.do(joinResponder.dropExpired)
    expect(known(bare)).toEqual([])
  })
  test('SE-9: by one stream at the hub has three at a time, by another more (PR-2)', () => {
    const bare = primary()
    for (let at = 0; at < PENDING_JOINS_PER_STREAM; at++) expect(asks(bare, 10 + at)).toBe(null)
    expect(asks(bare, 20, 'knock:6')).toBe(null)
    // One more takes the place of the oldest of these that has no link.
    stands(bare, 10)
    expect(asks(bare, 13)).toBe(null)
    expect(known(bare)).toEqual([12, 20, 13].map(keyOf))
    // By itself one takes its own place.
    expect(asks(bare, 12)).toBe(null)
    expect(known(bare)).toEqual([20, 13, 12].map(keyOf))
    expect(bare.run.member.counters.unchecked).toBe(0)
  })
  test('SE-9: takes the place of nobody else’s, and the last of those that ask (PR-2)', () => {
    const bare = primary()
    for (const [byte, door] of [
      [9, 'knock:6'] as const,
      [10, DOOR] as const,
      [11, DOOR] as const,
    ]) {
      asks(bare, byte, door)
    }
    asks(bare, 10)
    expect(known(bare)).toEqual([9, 11, 10].map(keyOf))
    for (const byte of [12, 13]) asks(bare, byte)
    expect(known(bare)).toEqual([9, 10, 12, 13].map(keyOf))
    const direct = primary()
    for (let at = 0; at < CALLERS_MAX; at++) asks(direct, 10 + at, `udp:${at}`)
    expect(asks(direct, 200, 'udp:x')).toBe(null)
    expect(known(direct).includes(keyOf(10))).toBe(false)
  })
  test('SE-9: finds no place where all of them have links, members that never attached too (PR-2)', () => {
    const bare = primary()
    for (let at = 0; at < PENDING_JOINS_PER_STREAM; at++) {
      asks(bare, 10 + at)
      const { peer } = callerOf(bare, 10 + at)!
      bare.do((run) => peers.open(run, peer, DOOR))
    }
    expect(asks(bare, 13)).toBe('later')
    expect([known(bare).length, bare.run.member.counters.unchecked]).toEqual([3, 1])
    const other = primary()
    for (let at = 0; at < PENDING_JOINS_PER_STREAM; at++) {
      asks(other, 10 + at)
      stands(other, 10 + at)
    }
    expect([members(other), known(other)]).toEqual([[1, 2, 3, 4], []])
    expect(asks(other, 13)).toBe('later')
    expect(asks(other, 13, 'knock:6')).toBe(null)
  })
  test('SE-9: on direct ways has as many as there are places, and not one more (PR-2)', () => {
    const bare = primary()
    for (let at = 0; at < CALLERS_MAX; at++) expect(asks(bare, 10 + at, 'udp:x')).toBe(null)
    expect(known(bare)).toHaveLength(CALLERS_MAX)
    expect(asks(bare, 200, 'udp:x')).toBe(null)
    expect([known(bare).length, known(bare).includes(keyOf(10))]).toEqual([CALLERS_MAX, false])
  })
  test('T14: whose link stands and whose JOIN is right is a member, and is told so on it (PR-2)', () => {
    const bare = primary()
    asks(bare, 10)
    const { peer } = callerOf(bare, 10)!
    stands(bare, 10)
    expect([members(bare), known(bare), peer.inc, peers.pathOf(peer)]).toEqual([
      [1, 2],
      [],
      2,
      DOOR,
    ])
    expect(bare.run.member.peers.get(2)).toBe(peer)
    expect(bare.run.member.keys.get(keyOf(10))).toBe(2)
    // By its key it is the member from now on, and a new link takes the place of the old one.
    asks(bare, 10)
    stands(bare, 10)
    expect([members(bare), bare.run.member.peers.get(2) === peer]).toEqual([[1, 2], false])
  })
  test.each<[string, Uint8Array, Partial<Record<'forged' | 'malformed', number>>, boolean]>([
    ['of another version', joinOf(10, { version: SESSION_VERSION + 1 }), {}, true],
    ['that nobody of ours can read', Uint8Array.of(SESSION_VERSION + 1, 1), {}, true],
    ['that is none', Uint8Array.of(SESSION_VERSION, 1), { malformed: 1 }, false],
    ['of another link key', joinOf(10, { link: pointOf(11) }), { forged: 1 }, false],
    ['that somebody else signed', joinOf(10, {}, 11), { forged: 1 }, false],
    ['with other types', joinOf(10, { schema: 1 }), {}, true],
  ])('SE-2: with a JOIN %s is no member (PR-2)', (_what, join, counted, stays) => {
    const bare = primary()
    asks(bare, 10, DOOR, join)
    bare.now = 700
    bare.run.now = 700
    stands(bare, 10)
    expect([members(bare), known(bare).length]).toEqual([[1], stays ? 1 : 0])
    expect(bare.run.member.counters).toMatchObject({ forged: 0, malformed: 0, ...counted })
    // Who was told why has time to hear of it.
    if (!stays) return
    const { until, peer } = callerOf(bare, 10)!
    expect(until).toBe(700 + CALLER_MS)
    expect(link.send(peer.link!, 700, Uint8Array.of(1))).toBe(2)
  })
  test('SE-2: is let in by nobody to whom the hub has not told its key (PR-2)', () => {
    const bare = new Bare()
    bare.founds()
    expect(bare.run.member.hubKey).toBe(null)
    asks(bare, 10)
    stands(bare, 10)
    expect([members(bare), known(bare)]).toEqual([[1], []])
    expect(bare.run.member.counters.forged).toBe(1)
  })
  test('SE-2: is let in by its newest call alone, and not while too much is held (PR-2)', () => {
    const bare = primary()
    bare.isHeld = true
    asks(bare, 10)
    stands(bare, 10)
    const [[job]] = bare.jobs.splice(0) as [[number, unknown]]
    asks(bare, 10)
    bare.do((run) => member.computed(run, 0, job, true))
    expect([members(bare), known(bare)]).toEqual([[1], [keyOf(10)]])
    stands(bare, 10)
    const held = {
      length: 9_999,
      effect: { kind: 'send', to: 9, message: { kind: 'leave' } },
    } as const
    bare.run.member.session.server.log.held = Array.from({ length: 32_768 }, () => held)
    bare.compute()
    expect([members(bare), known(bare)]).toEqual([[1], []])
  })
  test('T14: that closed its link is forgotten, and an answer to nobody goes nowhere (PR-2)', () => {
    const bare = primary()
    asks(bare, 10, DOOR, joinOf(10, { schema: 1 }))
    stands(bare, 10)
    bare.do(joinResponder.dropExpired)
    expect(known(bare)).toHaveLength(1)
    callerOf(bare, 10)!.peer.link!.closed = 1
    bare.do(joinResponder.dropExpired)
    expect(known(bare)).toEqual([])
    asks(bare, 11)
    const denied: Joined = { kind: 'denied', code: 'full', why: '' }
    for (const number of [99, callerOf(bare, 11)!.number]) {
      bare.do((run) => joinResponder.answer(run, number, denied))
    }
    expect(known(bare)).toHaveLength(1)
  })
})

describe('who asks to be let in', () => {
  /** It has found a session, and asks its primary; its link with it stands if that is wanted. */
  function asking(linked = true, bare = new Bare()): Bare {
    bare.opens()
    bare.added(false)
    if (linked) {
      const { joinPeer: peer } = bare.run.member
      bare.do((run) => peers.open(run, peer!, 'knock:0'))
    }
    return bare
  }
  const view = { ...NO_VIEW, epoch: 1, mv: 2, primary: 1, backup: 0, members: [] }
  const row = (inc: number, byte: number) => ({
    ...{ inc, player: inc, name: 'p', kind: 'node' as const, addresses: [] },
    ...{ link: pointOf(byte), registerHash: new Uint8Array(16), key: new Uint8Array(32) },
    rights: 1,
  })
  const joined = (other: Partial<Joined & { kind: 'joined' }> = {}): Joined => ({
    ...{ kind: 'joined', inc: 2, player: 2, lastSeq: 4 },
    view: { ...view, members: [row(1, 7), row(2, 1)] },
    ...other,
  })
  function answers(bare: Bare, answer: Joined): void {
    const { joinPeer: peer } = bare.run.member
    bare.do((run) => joinClient.onJoinAnswer(run, peer!, encode(joinedLayout, answer)))
  }

  test('T14: has its JOIN signed once, and sends it while it is wanted (PR-2)', () => {
    const bare = new Bare()
    bare.opens()
    bare.isHeld = true
    bare.added(false)
    bare.do((run) => joinClient.sendJoin(run, SESSION, {} as Join))
    expect(bare.jobs.map(([, { kind }]) => kind)).toEqual(['sign'])
    // It looks for another session by then.
    bare.run.member.found = 'other'
    bare.compute()
    expect(bare.run.member.joinPeer).toBe(null)
    const late = new Bare()
    late.opens()
    late.isHeld = true
    late.added(false)
    late.run.member.phase = 'finding'
    late.compute()
    expect(late.run.member.joinPeer).toBe(null)
    const unnamed = new Bare()
    unnamed.opens()
    unnamed.isHeld = true
    unnamed.added(false)
    unnamed.run.member.named = null
    unnamed.compute()
    expect(unnamed.run.member.joinPeer).toBe(null)
  })
  test('T14: sends none that curves did not sign (PR-2)', () => {
    const bare = new Bare()
    bare.opens()
    bare.isHeld = true
    bare.added(false)
    const [[job]] = bare.jobs.splice(0) as [[number, unknown]]
    bare.do((run) => member.computed(run, 0, job, false))
    expect([bare.run.member.joinPeer, bare.run.member.phase]).toEqual([null, 'asking'])
  })
  test('T14: is in by the answer, with its number, what it did, and the link that it has (PR-2)', () => {
    const bare = asking()
    const { joinPeer: peer } = bare.run.member
    bare.words()
    answers(bare, joined())
    const { session, phase, home, resume, joinPeer: left, giveUpAt } = bare.run.member
    expect([phase, home, left, giveUpAt]).toEqual(['in', SESSION, null, Infinity])
    expect(session).toMatchObject({ id: SESSION, me: 2, player: 2, hub: { up: true } })
    expect([session.client.nextSeq, session.client.view.mv]).toEqual([5, 2])
    expect(resume).toEqual({ session: SESSION, player: 2, inc: 2, settled: 0 })
    expect([bare.run.member.peers.get(1), peer!.inc]).toEqual([peer, 1])
    expect([bare.told(), bare.words()]).toEqual([['joined', 'view'], ['attach']])
    expect(session.client.published.waiting).toBe(true)
  })
  test.each<[string, number, string, number]>([
    ['the same player', 2, SESSION, 5],
    ['another player', 3, SESSION, 0],
    ['a player of another session', 2, 'other', 0],
  ])(
    'T80: as %s is told how many of its operations were lost (PR-2)',
    (_what, player, session, lost) => {
      const bare = asking()
      Object.assign(bare.run.member, { recorded: 9 })
      bare.run.member.resume = { session, player, inc: 2, settled: 0 }
      bare.run.member.session.client.nextSeq = 20
      answers(bare, joined())
      expect(bare.events.find(({ kind }) => kind === 'joined')).toMatchObject({ lost })
      expect(bare.run.member.session.client.nextSeq).toBe(lost > 0 ? 20 : 5)
      const none = asking()
      none.run.member.recorded = 2
      none.run.member.resume = { session: SESSION, player: 2, inc: 2, settled: 0 }
      answers(none, joined())
      expect(none.events.find(({ kind }) => kind === 'joined')).toMatchObject({ lost: 0 })
    },
  )
  test('L9: in another session than before has no time of that one (PR-2)', () => {
    const keeps = (home: string): boolean => {
      const bare = asking()
      const { clock } = bare.run.member
      bare.run.member.home = home
      answers(bare, joined())
      return bare.run.member.clock === clock
    }
    expect([keeps(''), keeps(SESSION), keeps('other')]).toEqual([true, true, false])
  })
  test.each<[Joined, string]>([
    [{ kind: 'denied', code: 'full', why: 'full of them' }, 'full'],
    [{ kind: 'denied', code: 'version', why: 'another' }, 'version'],
    [{ kind: 'unfit', types: 'dot { hue: u8 }' }, 'schema'],
  ])('T15: is out for good where it is told %j (PR-2)', (answer, code) => {
    const bare = asking()
    answers(bare, answer)
    expect([bare.run.member.phase, bare.failure()?.code]).toEqual(['out', code])
    expect(bare.run.member.joinPeer).toBe(null)
    if (answer.kind === 'denied') expect(bare.failure()!.why).toBe(answer.why)
  })
  test('T15: looks again where whom it asked is no primary any more (PR-2)', () => {
    const bare = asking()
    answers(bare, { kind: 'denied', code: 'notPrimary', why: '' })
    expect([bare.run.member.phase, bare.failure(), bare.run.member.joinPeer]).toEqual([
      'finding',
      null,
      null,
    ])
  })
  test('T14: counts an answer that is none, and one that it does not wait for (PR-2)', () => {
    const bare = asking()
    const { joinPeer: peer } = bare.run.member
    bare.do((run) => joinClient.onJoinAnswer(run, peer!, Uint8Array.of(99)))
    expect([bare.run.member.phase, bare.run.member.counters.malformed]).toEqual(['asking', 1])
    bare.run.member.phase = 'finding'
    bare.do((run) => joinClient.onJoinAnswer(run, peer!, encode(joinedLayout, joined())))
    expect([bare.run.member.phase, bare.run.member.counters.malformed]).toEqual(['finding', 2])
  })
  test('T14: gives up whom it asked when that is silent for a second and a half (PR-2)', () => {
    const bare = asking()
    const silent = (now: number): boolean => {
      bare.run.now = now
      return joinClient.isAnswerOverdue(bare.run)
    }
    expect([silent(1_500), silent(1_501)]).toEqual([false, true])
    bare.wake(SILENT_MS)
    expect(bare.run.member.phase).toBe('asking')
    bare.wake(2 * SILENT_MS)
    expect([bare.run.member.phase, bare.run.member.joinPeer]).toEqual(['finding', null])
    expect(joinClient.isAnswerOverdue(asking(false).run)).toBe(false)
    expect(joinClient.isAnswerOverdue(new Bare().run)).toBe(false)
  })
  test('T14: hears the answer among what a datagram brings, and how much that was (PR-2)', () => {
    const bare = asking()
    const brought = (...list: [what: string, ...bytes: number[]][]): unknown => {
      bare.run.arrivals = createArrivals()
      bare.run.arrivals.count = list.length
      const made = list.map(([what, ...bytes]) => ({
        what,
        number: 0,
        bytes: Uint8Array.from(bytes),
      }))
      Object.assign(bare.run.arrivals, { list: made })
      return joinClient.takeAnswer(bare.run)
    }
    expect(brought()).toBe(null)
    expect(brought(['message', 0, 9], ['frame', 1, 9])).toBe(null)
    const answer = { blob: Uint8Array.of(9), count: 2 }
    expect(brought(['acked', 1], ['message', 1, 9], ['message', 1, 8])).toEqual(answer)
  })
  test('is left where nobody is asked, without harm (PR-2)', () => {
    const bare = new Bare()
    bare.do(joinClient.leaveJoinLink)
    const closing = asking()
    const peer = closing.run.member.joinPeer!
    closing.do((run) => joinClient.closeJoinLink(run, peer, 1))
    expect([closing.run.member.joinPeer, link.isDown(peer.link!, 0)]).toEqual([null, true])
    const unlinked = asking(false)
    unlinked.do((run) => joinClient.closeJoinLink(run, unlinked.run.member.joinPeer!, 1))
    expect(unlinked.run.member.joinPeer).toBe(null)
  })
})

test('curves answer each question once, and what was none is nothing (PR-2)', () => {
  const bare = new Bare()
  bare.isHeld = true
  bare.opens()
  const [[job]] = bare.jobs as [[number, unknown]]
  expect(curves.takeJob(bare.run, job)?.kind).toBe('key')
  expect([curves.takeJob(bare.run, job), bare.run.member.curves.jobs.size]).toEqual([null, 0])
  bare.do((run) => member.computed(run, 0, job, true))
  expect(bare.run.member.linkKey.point).toBe(null)
})
