// Goal: what a primary does by the clock, to the millisecond: whom it removes, whom it asks to
// stand by, when it gives its role away, and what it says at the hub.
// Method: the shipped server object, woken by hand at instants that are arguments.
import { describe, expect, test } from 'vitest'
import { NO_PARTS } from '../../proof/models/processes.ts'
import type { Member } from '../../packages/holdfast/src/replication/layouts.ts'
import { RIGHTS } from '../../packages/holdfast/src/machine.ts'
import * as server from '../../packages/holdfast/src/session/server.ts'
import { hasLeft } from '../../packages/holdfast/src/session/session.ts'
import { leadOf, type Session } from '../../packages/holdfast/src/session/state.ts'
import { calmly } from '../calmly.ts'
import { backedUpOf, heardAt, listening, memberOf, primaryOf } from './scene.ts'

const ASK_PROMISES_MS = 1_000
const LEASE_MS = 10_000
const PROMISE_MS = 5_000
const UNEASY_MS = 4_000

type Heard = ReturnType<typeof listening>

function wake(own: Session, now: number, heard: Heard = listening()): Heard {
  calmly(() => server.wake({ session: own, now, out: heard.out }))
  return heard
}

/** All others were heard at that instant. */
function hear(own: Session, now: number, ...but: number[]): void {
  for (const inc of own.server.published.keys()) {
    if (inc !== own.me && !but.includes(inc)) own.detectors.set(inc, heardAt(now))
  }
}

const membersOf = (own: Session): number[] => [...own.server.durable.members.keys()]
const rolesOf = ({ events }: Heard): string[] => {
  return events.flatMap((event) => (event.kind === 'role' ? [event.role] : []))
}

describe('a member that is silent', () => {
  test.each([
    [server.REMOVE_MS, { gone: false, relayed: false }],
    [server.REMOVE_MS, { gone: true, relayed: false }],
    [server.REMOVE_MS, { gone: false, relayed: true }],
    [server.REMOVE_GONE_MS, { gone: true, relayed: true }],
  ])('T31: is removed after %i ms if it is %j, and not before (PR-2)', (ms, how) => {
    for (const [now, members] of [[ms, [1, 2, 3]] as const, [ms + 1, [1, 2]] as const]) {
      const own = primaryOf(3).session
      hear(own, now)
      own.detectors.set(3, { ...heardAt(0), ...how })
      // What we hear of ourselves says nothing.
      own.detectors.set(1, heardAt(0))
      wake(own, now)
      expect(membersOf(own)).toEqual(members)
    }
  })
  test('T31: and never had a link has as long from when that was seen (PR-2)', () => {
    const own = primaryOf(3).session
    hear(own, 0, 3)
    wake(own, 500)
    expect(own.detectors.get(3)).toMatchObject({
      since: 500,
      path: 'relay',
      relayed: true,
      samples: 0,
    })
    const at = 500 + server.REMOVE_MS
    hear(own, at, 3)
    wake(own, at)
    expect(membersOf(own)).toEqual([1, 2, 3])
    hear(own, at + server.SWEEP_MS, 3)
    wake(own, at + server.SWEEP_MS)
    expect(membersOf(own)).toEqual([1, 2])
  })
  test('is looked for four times a second, however often the primary wakes (PR-2)', () => {
    const own = primaryOf(3).session
    wake(own, 1_000)
    expect(leadOf(own).sweepAt).toBe(1_000 + server.SWEEP_MS)
    own.detectors.set(3, { ...heardAt(-99_999) })
    wake(own, 1_000 + server.SWEEP_MS - 1)
    expect(membersOf(own)).toEqual([1, 2, 3])
    wake(own, 1_000 + server.SWEEP_MS)
    expect(membersOf(own)).toEqual([1, 2])
  })
})

describe('a player who went', () => {
  /** Whether the row of player 3, who went at 1,000, is there after the last of these instants. */
  function kept(instants: readonly number[], keeps: (now: number) => boolean): boolean {
    const own = primaryOf(3).session
    own.server.durable.members.delete(3)
    for (const now of [1_000, ...instants]) {
      const heard = listening()
      const parts = { ...NO_PARTS, keeps: (player: number) => player === 3 && keeps(now) }
      hear(own, now)
      leadOf(own).sweepAt = now
      calmly(() => server.wake({ session: own, now, out: { ...heard.out, parts } }))
    }
    return own.server.durable.players.has(3)
  }
  const end = 1_000 + server.GRACE_MS
  test('S-5: may come back for a minute, to the millisecond (PR-2)', () => {
    expect(kept([end], () => false)).toBe(true)
    expect(kept([end + 1], () => false)).toBe(false)
  })
  test('S-5: has a minute from when no part needs them any more (PR-2)', () => {
    const needed = (now: number): boolean => now <= end + 1
    expect(kept([end + 1, end + 1 + server.GRACE_MS], needed)).toBe(true)
    expect(kept([end + 1, end + 2 + server.GRACE_MS], needed)).toBe(false)
  })
  test('S-5: and came back has a whole minute the next time (PR-2)', () => {
    const own = primaryOf(3).session
    const { members } = own.server.durable
    const away = members.get(3)!
    const at = (now: number): void => {
      hear(own, now)
      leadOf(own).sweepAt = now
      wake(own, now)
    }
    members.delete(3)
    at(0)
    members.set(3, away)
    at(server.GRACE_MS)
    expect(leadOf(own).absent.size).toBe(0)
    members.delete(3)
    at(server.GRACE_MS + 1)
    at(2 * server.GRACE_MS)
    expect(own.server.durable.players.has(3)).toBe(true)
    at(2 * server.GRACE_MS + 2)
    expect(own.server.durable.players.has(3)).toBe(false)
    expect(leadOf(own).absent.size).toBe(0)
  })
})

describe('who is asked to stand by', () => {
  /** A primary of four, to whom all others were heard a moment ago. */
  function own(): Session {
    const made = primaryOf(4).session
    hear(made, 0)
    return made
  }
  const kinds = (made: Session, ...list: Member['kind'][]): void => {
    for (const [at, kind] of list.entries()) {
      const member = { ...made.server.published.get(at + 1)!, kind }
      made.server.published.set(at + 1, member)
      made.server.durable.members.set(at + 1, member)
    }
  }
  test('T37: is the next by number behind the last who was asked, and then the first (PR-2)', () => {
    const made = own()
    const asked = [0, 2, 3, 4, 9].map((pointer) => {
      made.server.durable.pointer = pointer
      return server.nextCandidate(made, 0)
    })
    expect(asked).toEqual([2, 3, 4, 2, 2])
    // However they are listed.
    made.server.published = new Map([...made.server.published].toReversed())
    made.server.durable.pointer = 0
    expect(server.nextCandidate(made, 0)).toBe(2)
  })
  test('T37: is who was admitted as a host before who says that it is on Node (N-4)', () => {
    const made = own()
    kinds(made, 'browser', 'browser', 'browser', 'node')
    expect(server.nextCandidate(made, 0)).toBe(4)
    const host = { ...made.server.published.get(3)!, rights: RIGHTS.play | RIGHTS.host }
    made.server.published.set(3, host)
    expect(server.nextCandidate(made, 0)).toBe(3)
  })
  test('T37: is a Node process where there is one, and a guest never (PR-2)', () => {
    const made = own()
    kinds(made, 'browser', 'browser', 'guest', 'node')
    expect(server.nextCandidate(made, 0)).toBe(4)
    made.detectors.delete(4)
    expect(server.nextCandidate(made, 0)).toBe(2)
    made.hosts = true
    expect(server.nextCandidate(made, 0)).toBe(0)
  })
  test.each<[string, (made: Session) => void]>([
    ['has no link', (made) => void made.detectors.delete(2)],
    ['was not heard yet', (made) => void (made.detectors.get(2)!.samples = 0)],
    ['is silent', (made) => void (made.detectors.get(2)!.since = -server.LAGGING_MS)],
    ['is on its way out', (made) => void made.server.durable.members.delete(2)],
    [
      'is out of the reach of the hub, and of us',
      (made) => void Object.assign(made.detectors.get(2)!, { gone: true, relayed: true }),
    ],
    ['did not answer', (made) => void leadOf(made).passedOver.set(2, 1)],
  ])('T37: is nobody who %s (PR-2)', (_what, make) => {
    const made = own()
    leadOf(made).since = -server.LAGGING_MS
    expect(server.nextCandidate(made, 0)).toBe(2)
    make(made)
    expect(calmly(() => server.nextCandidate(made, 0))).toBe(3)
  })
  test('T37: may be whoever was passed over until now, or was heard less than a second ago (PR-2)', () => {
    const made = own()
    leadOf(made).since = -server.LAGGING_MS
    leadOf(made).passedOver.set(2, 0)
    made.detectors.get(2)!.since = 1 - server.LAGGING_MS
    expect(server.nextCandidate(made, 0)).toBe(2)
  })
  test('T37: a primary of less than a second also considers members heard within five (PR-2)', () => {
    const made = own()
    leadOf(made).since = 1 - server.LAGGING_MS
    made.detectors.get(2)!.since = 1 - 5_000
    expect(server.nextCandidate(made, 0)).toBe(2)
    made.detectors.get(2)!.since = -5_000
    expect(server.nextCandidate(made, 0)).toBe(3)
  })
  test('is not the backup that there is, and who does not serve asks nobody (PR-2)', () => {
    const made = backedUpOf(3).session
    hear(made, 0)
    made.server.durable.pointer = 1
    expect(server.nextCandidate(made, 0)).toBe(3)
    expect(calmly(() => server.nextCandidate(memberOf(3).own, 0))).toBe(0)
  })
  test('T37: is passed over for ten seconds if it does not answer within two (PR-2)', () => {
    const made = own()
    wake(made, 0)
    expect(made.server).toMatchObject({ candidate: 2, candidateSince: 0 })
    hear(made, server.CANDIDATE_MS - 1)
    leadOf(made).sweepAt = 0
    wake(made, server.CANDIDATE_MS - 1)
    expect(made.server).toMatchObject({ candidate: 2 })
    leadOf(made).sweepAt = 0
    wake(made, server.CANDIDATE_MS)
    expect(made.server).toMatchObject({ candidate: 3, candidateSince: server.CANDIDATE_MS })
    expect([...leadOf(made).passedOver]).toEqual([[2, server.CANDIDATE_MS + 10_000]])
  })
  test('T37: is asked again after two seconds if there is nobody else (PR-2)', () => {
    const made = primaryOf(2).session
    for (const now of [0, server.CANDIDATE_MS, 2 * server.CANDIDATE_MS]) {
      hear(made, now)
      leadOf(made).sweepAt = 0
      const { sent } = wake(made, now)
      expect(sent.filter(([, kind]) => kind === 'snapshot')).toHaveLength(
        now === server.CANDIDATE_MS ? 0 : 1,
      )
    }
    expect([...leadOf(made).passedOver]).toEqual([[2, 2 * server.CANDIDATE_MS]])
  })
  test('T37: is nobody while the hub is away, or where nobody is able (PR-2)', () => {
    const made = own()
    made.hub.up = false
    wake(made, 0)
    expect(made.server).toMatchObject({ role: 'alone', candidate: 0 })
    const lone = primaryOf(1).session
    const { sent } = wake(lone, 0)
    expect([sent, lone.server.durable.pointer]).toEqual([[], 0])
  })
})

describe('a backup that is slow', () => {
  const LATE = server.SLOW_MS + 1
  const slows = ({ events }: Heard): boolean[] => {
    return events.flatMap((event) => (event.kind === 'slow' ? [event.slow] : []))
  }
  /** Its oldest entry without an ack is of instant 0. */
  function late(count: number, rttMs = 0): Session {
    const own = backedUpOf(count).session
    own.server.log.unackedSince = 0
    hear(own, 0)
    own.detectors.get(2)!.rttMs = rttMs
    return own
  }
  function round(own: Session, now: number, heard = listening()): Heard {
    for (const seen of own.detectors.values()) seen.since = now
    leadOf(own).sweepAt = now
    return wake(own, now, heard)
  }
  test.each([
    [0, LATE],
    [60, LATE],
    [100, 401],
  ])('C-5: with a round trip of %i ms is late after %i, not sooner (PR-2)', (rttMs, at) => {
    const slowSince = (now: number): unknown => {
      const own = late(2, rttMs)
      round(own, now)
      return 'slowSince' in own.server && own.server.slowSince
    }
    expect([slowSince(at - 1), slowSince(at)]).toEqual([Infinity, at])
  })
  test('C-5: for two seconds, with nobody to replace it, is told once, and told when it is not (PR-2)', () => {
    const own = late(2)
    const heard = listening()
    for (const ms of [0, 1_000, server.SLOW_FOR_MS - 1]) round(own, LATE + ms, heard)
    expect(slows(heard)).toEqual([])
    for (const ms of [0, 500]) round(own, LATE + server.SLOW_FOR_MS + ms, heard)
    expect([slows(heard), own.server.role, leadOf(own).slow]).toEqual([[true], 'backedup', true])
    own.server.log.unackedSince = Infinity
    for (const ms of [600, 700]) round(own, LATE + server.SLOW_FOR_MS + ms, heard)
    expect([slows(heard), leadOf(own).slow]).toEqual([[true, false], false])
    // It begins anew.
    own.server.log.unackedSince = 0
    round(own, 5_000, heard)
    expect(own.server).toMatchObject({ slowSince: 5_000 })
  })
  test('C-5: is dropped for another, and is not asked again for ten seconds (PR-2)', () => {
    const own = late(3)
    round(own, LATE)
    const at = LATE + server.SLOW_FOR_MS
    expect(rolesOf(round(own, at))).toEqual(['dropping'])
    expect([...leadOf(own).passedOver]).toEqual([[2, at + 10_000]])
  })
})

describe('a loop that stands still', () => {
  /** Whether stalls of so long at these instants move the role. */
  function gives(instants: readonly number[], ms = server.STALL_BAD_MS, slow = false): boolean {
    const own = backedUpOf(3).session
    leadOf(own).since = 0
    leadOf(own).slow = slow
    for (const now of instants)
      calmly(() => server.onStalled({ session: own, now, out: listening().out }, ms))
    return 'handoverUntil' in own.server && own.server.handoverUntil !== null
  }
  const AT = server.KEEP_ROLE_MS
  const FOR = server.STALLS_MS
  test('again and again for two seconds gives the role away, to the millisecond (PR-2)', () => {
    expect(gives([AT, AT + FOR])).toBe(true)
    expect(gives([AT, AT + FOR - 1])).toBe(false)
    expect(gives([AT, AT + FOR], server.STALL_BAD_MS - 1)).toBe(false)
    // They are apart: each is as if it were the first.
    expect(gives([AT, AT + FOR + 1])).toBe(false)
    expect(gives([AT, AT + FOR + 1, AT + FOR + 1_000])).toBe(false)
    expect(gives([AT, AT + 1_000, AT + 2_500])).toBe(true)
  })
  test('does not within half a minute of having been given it, nor to a slow backup (PR-2)', () => {
    expect(gives([AT - FOR, AT])).toBe(true)
    expect(gives([AT - FOR - 1, AT - 1])).toBe(false)
    expect(gives([AT, AT + FOR], server.STALL_BAD_MS, true)).toBe(false)
  })
  test('of who does not serve moves nothing (PR-2)', () => {
    const { own } = memberOf(3)
    for (const now of [AT, AT + FOR]) {
      calmly(() => server.onStalled({ session: own, now, out: listening().out }, 9_999))
    }
    expect(own.server.role).toBe('idle')
  })
})

describe('at the hub', () => {
  const asked = { nonce: 7, heard: 6 }
  test('T24: who leads says that it lives, in its epoch, with the number of its players (PR-2)', () => {
    const one = backedUpOf(3).session
    const [, , third] = [...one.server.published.values()]
    one.server.published.set(4, { ...third!, inc: 4 })
    const { out, asked: said } = listening()
    server.answerYes({ session: one, now: 5, out }, asked)
    expect(said).toEqual([{ kind: 'yes', session: 's', epoch: 2, nonce: 7, players: 3 }])
    expect(leadOf(one).lease.sent.get(7)).toBe(5)
    const none = listening()
    calmly(() => server.answerYes({ session: memberOf(3).own, now: 5, out: none.out }, asked))
    expect(none.asked).toEqual([])
  })
  test('T43: what it heard lengthens the lease, and what was held for it leaves (PR-2)', () => {
    const own = primaryOf(2).session
    const { lease } = leadOf(own)
    Object.assign(lease, { counts: true, until: 0 })
    lease.sent.set(6, 90)
    own.server.log.held.push({
      ...{ length: 0 },
      effect: { kind: 'send', to: 2, message: { kind: 'confirm', epoch: 1 } },
    })
    const { out, sent } = listening()
    server.answerYes({ session: own, now: 100, out }, asked)
    expect(lease.until).toBe(90 + LEASE_MS)
    expect(sent).toEqual([[2, 'confirm']])
  })
  test('T43: that is silent makes it ask all others for promises, once a second (PR-2)', () => {
    const own = primaryOf(3).session
    Object.assign(leadOf(own).lease, { counts: true, until: LEASE_MS, askAt: UNEASY_MS })
    const heard = listening()
    const look = (now: number): unknown[] => {
      heard.sent.length = 0
      server.checkLease({ session: own, now, out: heard.out })
      return heard.sent
    }
    expect(look(UNEASY_MS - 1)).toEqual([])
    const both = [2, 3].map((inc) => [inc, 'askPromise'])
    expect(look(UNEASY_MS + 0.5)).toEqual(both)
    expect(heard.messages.at(-1)).toEqual({ kind: 'askPromise', at: UNEASY_MS })
    expect(look(UNEASY_MS + ASK_PROMISES_MS)).toEqual([])
    expect(look(UNEASY_MS + ASK_PROMISES_MS + 0.5)).toEqual(both)
    expect(heard.events).toEqual([])
    look(LEASE_MS)
    look(LEASE_MS + 1)
    expect(heard.events).toEqual([{ kind: 'leased', leased: false }])
    for (const inc of [2, 3]) {
      server.onPromise({ session: own, now: LEASE_MS + 1, out: heard.out }, inc, LEASE_MS)
      // Of whom it is no member a promise is nothing.
      server.onPromise({ session: own, now: LEASE_MS + 1, out: heard.out }, inc + 5, LEASE_MS)
    }
    leadOf(own).lease.known = true
    look(LEASE_MS + 2)
    expect(heard.events.at(-1)).toEqual({ kind: 'leased', leased: true })
    const until = LEASE_MS + PROMISE_MS
    expect([...leadOf(own).lease.promises]).toEqual([
      [2, until],
      [3, until],
    ])
  })
  test('T43: a promise that came lets go what was held for want of one (PR-2)', () => {
    const own = primaryOf(2).session
    Object.assign(leadOf(own).lease, { counts: true, until: 0, known: true })
    own.server.log.held.push({
      ...{ length: 0 },
      effect: { kind: 'send', to: 2, message: { kind: 'confirm', epoch: 1 } },
    })
    const { out, sent } = listening()
    server.onPromise({ session: own, now: 100, out }, 2, 50)
    expect(sent).toEqual([[2, 'confirm']])
    calmly(() => server.onPromise({ session: memberOf(3).own, now: 100, out }, 2, 50))
    calmly(() => server.checkLease({ session: memberOf(3).own, now: 100, out }))
  })
  test.each<[Member['kind'], boolean]>([
    ['guest', true],
    ['browser', false],
    ['node', false],
  ])('T20: who leaves a %s behind ends the session: %s (PR-2)', (kind, ends) => {
    const own = primaryOf(2).session
    own.server.published.set(2, { ...own.server.published.get(2)!, kind })
    const { out, asked: said } = listening()
    server.end({ session: own, now: 100, out })
    expect(said).toEqual([])
    own.leaving = true
    server.end({ session: own, now: 100, out })
    const wish = { why: 'end', expect: 1, primary: 1, backup: 0, inc: 1 }
    expect(said).toMatchObject(ends ? [wish] : [])
  })
  test('T20: the end is asked for again after a quarter of a second, until the hub has it', () => {
    const own = primaryOf(1).session
    own.leaving = true
    const { out, asked: said } = listening()
    for (const now of [100, 349, 350, 599]) server.end({ session: own, now, out })
    expect(said).toHaveLength(2)
    expect(hasLeft(own)).toBe(false)
    const [first = 0, last = 0] = said.map((one) => ('request' in one ? one.request : 0))
    // The answer to the first request may come after the second was sent.
    expect(last).toBe(first)
    server.onChanged(own, first + 1)
    expect(hasLeft(own)).toBe(false)
    server.onChanged(own, first)
    expect(hasLeft(own)).toBe(true)
    server.end({ session: own, now: 5_000, out })
    expect(said).toHaveLength(2)
  })
  test('T20: who does not serve is gone once it is in no view', () => {
    const { own } = memberOf(3)
    own.leaving = true
    calmly(() => server.onChanged(own, 1))
    expect(hasLeft(own)).toBe(false)
    own.client.view = { ...own.client.view, members: [] }
    expect(hasLeft(own)).toBe(true)
  })
  test('T20: who has a backup, or does not serve, ends nothing (PR-2)', () => {
    for (const own of [backedUpOf(2).session, memberOf(3).own]) {
      own.server.published.clear()
      own.leaving = true
      const { out, asked: said } = listening()
      server.end({ session: own, now: 100, out })
      expect(said).toEqual([])
    }
  })
})
