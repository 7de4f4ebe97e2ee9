// Goal: what a member keeps and what it drops as it comes, goes and comes back.
// Method: one process by hand; the hub says what the test has it say, at instants that are given.
import { describe, expect, test } from 'vitest'
import * as joinClient from '../../packages/holdfast/src/member/join-client.ts'
import * as member from '../../packages/holdfast/src/member/member.ts'
import * as peers from '../../packages/holdfast/src/member/peers.ts'
import * as steering from '../../packages/holdfast/src/member/links.ts'
import { nameOf } from '../../packages/holdfast/src/seal/seal.ts'
import { Bare, pointOf, SESSION } from './bare.ts'
import { Hand } from './hand.ts'

const ASK_AGAIN_MS = 500
const JOIN_MS = 15_000

function founded(): Bare {
  const bare = new Bare()
  bare.founds()
  for (const list of [bare.events, bare.asked]) list.length = 0
  return bare
}

describe('a process that asks a primary', () => {
  /** The JOIN that it has signed. */
  function joinOf(bare: Bare): unknown {
    bare.opens()
    bare.isHeld = true
    bare.added(false)
    const [job] = bare.run.member.curves.jobs.values()
    return job?.kind === 'sign' ? job.join.resume : 'no job'
  }
  test('S-5: says as whom it comes back, in the session where it was that (PR-2)', () => {
    const resume = { session: SESSION, player: 4, inc: 2, settled: 3 }
    expect(joinOf(new Bare({ resume }))).toEqual(resume)
    expect(joinOf(new Bare({ resume: { ...resume, session: 'other' } }))).toBe(null)
    expect(joinOf(new Bare())).toBe(null)
  })
  test('has one JOIN signed at a time, for each session (PR-2)', () => {
    const bare = new Bare()
    bare.opens()
    bare.isHeld = true
    bare.added(false)
    bare.wake(ASK_AGAIN_MS)
    expect(bare.jobs).toHaveLength(1)
    bare.run.member.found = 'other'
    bare.wake(2 * ASK_AGAIN_MS)
    expect(bare.jobs).toHaveLength(2)
  })
  test('asks it no more once it is asking it, and looks at no silence but its own (PR-2)', () => {
    const bare = new Bare()
    bare.opens()
    bare.added(false)
    bare.isHeld = true
    bare.wake(ASK_AGAIN_MS)
    expect(bare.jobs.filter(([, { kind }]) => kind === 'sign')).toEqual([])
    // As long as it looks for a session it asks the hub, whatever is left of before.
    const { joinPeer: entrance } = bare.run.member
    peers.open(bare.run, entrance!, 'knock:0')
    bare.run.member.phase = 'finding'
    bare.words()
    bare.wake(9_000)
    expect([bare.words(), bare.run.member.joinPeer]).toEqual([['add'], entrance])
  })
  test('founds no second session by an answer that comes twice (PR-2)', () => {
    const bare = founded()
    const { session } = bare.run.member
    bare.added(true)
    expect([bare.run.member.session === session, bare.told()]).toEqual([true, []])
  })
})

describe('keys of a link', () => {
  test('are made for each incarnation, and those of an older one ask for nothing (PR-2)', () => {
    const bare = founded()
    const { linkKey: old } = bare.run.member
    bare.isHeld = true
    joinClient.rejoin(bare.run)
    expect(bare.jobs).toHaveLength(1)
    bare.words()
    joinClient.onLinkKey(bare.run, old, [pointOf(3)])
    expect([old.point, bare.words()]).toEqual([pointOf(3), []])
    joinClient.onLinkKey(bare.run, bare.run.member.linkKey, true)
    joinClient.onLinkKey(bare.run, bare.run.member.linkKey, [])
    expect([bare.run.member.linkKey.point, bare.words()]).toEqual([null, []])
    bare.compute()
    expect(bare.words()).toEqual(['add'])
  })
  test('T13: are there before it asks for a session, so an answer that comes sooner is none (PR-2)', () => {
    for (const created of [true, false]) {
      const bare = new Bare()
      bare.isHeld = true
      bare.opens()
      bare.added(created)
      const { phase, found, named } = bare.run.member
      expect([phase, found, named, bare.told()]).toEqual(['finding', '', null, []])
      bare.compute()
      bare.isHeld = false
      bare.added(created)
      expect(bare.run.member.phase).toBe(created ? 'in' : 'asking')
    }
  })
  test('say to others who we are, and what view we have (PR-2)', () => {
    const { me, mv } = founded().run.member.seal!
    expect([me, mv]).toEqual([1, 0])
    const hand = new Hand(2, 3, 'star')
    expect(hand.run.member.seal).toMatchObject({ me: 2 })
    hand.pass(50)
    expect(hand.run.member.seal).toMatchObject({ me: 2, mv: 3 })
  })
})

describe('a word of the hub', () => {
  test('has a member look after its links, and answers what it is asked (PR-2)', () => {
    const bare = founded()
    bare.run.member.phase = 'finding'
    bare.run.member.reconcileDue = false
    bare.hears({ kind: 'pong', count: 1 })
    expect(bare.run.member.reconcileDue).toBe(true)
    bare.run.member.phase = 'in'
    bare.hears({ kind: 'areYouAlive', session: SESSION, nonce: 3, heard: 0 })
    expect(bare.words()).toEqual(['yes'])
  })
  test('that says whose key leads has it asked at once, if its key was not known (PR-2)', () => {
    const asked = (key: string | null, isNamed = true): number => {
      const bare = founded()
      const peer = peers.create(bare.run, 4, true)
      Object.assign(peer, { key, askAt: 900 })
      bare.now = 70
      const leader = isNamed ? { link: pointOf(9), grant: new Uint8Array(64) } : null
      const register = { epoch: 0, primary: 4, backup: 0 }
      bare.run.member.session.client.register = { epoch: 9, primary: 4, backup: 0 }
      bare.run.member.reconcileDue = false
      bare.hears({ kind: 'register', request: 0, ok: true, session: SESSION, register, leader })
      return peer.askAt
    }
    expect([asked(null), asked('aa'), asked(null, false)]).toEqual([70, 900, 900])
  })
  test('that it is attached says who is here and who leads, and ends the asking (PR-2)', () => {
    const hand = new Hand(2, 3, 'star')
    const { session } = hand.run.member
    hand.run.member.askAt = 5
    session.detectors.set(3, { ...session.detectors.get(1)!, gone: false })
    const register = { epoch: 1, primary: 1, backup: 0 }
    const leader = hand.leaderAs(1, 1, 3)
    hand.hears({ kind: 'attached', request: 2, session: 's', register, leader, present: [1, 2] })
    expect([hand.run.member.askAt, session.detectors.get(3)!.gone]).toEqual([Infinity, true])
    expect(hand.run.member.named).toEqual({ inc: 1, key: nameOf(leader.link) })
  })
  test('that it is gone ends what was asked, and is told to who was attached alone (PR-2)', () => {
    const bare = new Bare()
    bare.opens()
    bare.closes()
    expect([bare.run.member.askAt, bare.told()]).toEqual([Infinity, []])
    expect(joinClient.deadline(bare.run)).toBe(JOIN_MS)
  })
  test('T34: that it went counts while the stream speaks for it (PR-2)', () => {
    const bare = founded()
    bare.closes()
    bare.opens()
    bare.hears({ kind: 'present', session: SESSION, inc: 1, here: false })
    expect(bare.run.member.phase).toBe('in')
    bare.attached()
    bare.hears({ kind: 'refused', request: 0, why: 'no' })
    expect(bare.run.member.phase).toBe('in')
  })
})

describe('a member that comes back', () => {
  test('T34: has nothing of its links and callers, nor of what it said to itself (PR-2)', () => {
    const bare = founded()
    const { member: own } = bare.run
    const peer = peers.create(bare.run, 4, true)
    own.keys.set('aa', 4)
    own.pendingJoins.set('aa', {
      peer,
      address: '',
      number: 1,
      join: new Uint8Array(0),
      refused: false,
      waits: null,
      until: 9,
    })
    own.named = { inc: 4, key: 'aa' }
    own.loopback.push(new Uint8Array(1))
    joinClient.rejoin(bare.run)
    const sizes = [own.peers.size, own.keys.size, own.pendingJoins.size, own.loopback.length]
    expect([sizes, own.named]).toEqual([[0, 0, 0, 0], null])
  })
  test('T34: waits for the hub where there is none (PR-2)', () => {
    const bare = founded()
    bare.closes()
    bare.words()
    joinClient.rejoin(bare.run)
    expect([bare.run.member.hub, bare.words()]).toEqual(['closed', []])
  })
  test('T80: what it had under way is unknown where it founds a session anew (PR-2)', () => {
    const bare = founded()
    bare.run.member.session.client.pending.push({
      seq: 1,
      part: 5,
      body: new Uint8Array(1),
      since: 0,
    })
    bare.do(joinClient.rejoin)
    bare.added(true)
    expect(bare.events).toContainEqual({ kind: 'unknown', seqs: [1] })
  })
  test('without a place that it had comes as nobody (PR-2)', () => {
    const bare = founded()
    bare.run.member.resume = null
    bare.do(joinClient.rejoin)
    expect(bare.run.member.resume).toBe(null)
  })
})

describe('when a process is due', () => {
  test('is what it asks, and when it gives up, as long as it is on its way (PR-2)', () => {
    const bare = founded()
    bare.run.member.met = { kind: 'wrong', what: '', since: 0 }
    expect(joinClient.deadline(bare.run)).toBe(Infinity)
    bare.run.member.phase = 'finding'
    bare.run.member.giveUpAt = 400
    expect(joinClient.deadline(bare.run)).toBe(400)
    bare.run.member.giveUpAt = 9_000
    expect(joinClient.deadline(bare.run)).toBe(1_000)
    bare.run.member.phase = 'out'
    bare.run.member.hub = 'open'
    bare.run.member.askAt = 5
    expect(joinClient.deadline(bare.run)).toBe(Infinity)
    bare.wake(9_999)
    expect(bare.failure()).toBe(null)
    expect(member.deadline(bare.run)).toBeLessThan(Infinity)
  })
  test('is nothing that it asks while it is attached, or has no stream (PR-2)', () => {
    const bare = founded()
    for (const hub of ['attached', 'closed'] as const) {
      Object.assign(bare.run.member, { hub, askAt: 5 })
      expect(joinClient.deadline(bare.run)).toBe(Infinity)
      bare.wake(10)
      expect(bare.words()).toEqual([])
    }
  })
})

describe('session time', () => {
  test('L9: is told to all links once it is known, and not again (PR-2)', () => {
    const hand = new Hand(2, 3, 'star')
    hand.pass(50)
    const peer = hand.link(1, 'sim:1')
    peers.create(hand.run, 3, true)
    const { clock } = hand.run.member
    expect([clock.set, peers.shiftOf(hand.run), peer.link!.clock.shift]).toEqual([false, NaN, NaN])
    const { client } = hand.run.member.session
    client.view = { ...client.view, primary: 2, members: [] }
    client.view.members = [{ ...client.view.members[0]!, inc: 2 }]
    steering.steerClock(hand.run)
    expect([clock.set, peer.link!.clock.shift]).toEqual([true, 0])
    peer.link!.clock.shift = 7
    steering.steerClock(hand.run)
    expect(peer.link!.clock.shift).toBe(7)
  })
})
