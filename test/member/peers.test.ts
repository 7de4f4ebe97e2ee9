// Goal: who a peer is, when it is asked for a link, and what is told when it goes.
// Method: one member by hand, whose links stand or are asked for, at instants that are given.
import { describe, expect, test } from 'vitest'
import * as link from '../../packages/holdfast/src/link/link.ts'
import * as peers from '../../packages/holdfast/src/member/peers.ts'
import * as links from '../../packages/holdfast/src/member/links.ts'
import * as dispatch from '../../packages/holdfast/src/member/dispatch.ts'
import { CLOSE } from '../../packages/holdfast/src/member/state.ts'
import { Hand, linked, roleOf, standsBy } from './hand.ts'

const REFUSED_MS = 1_000

describe('who is asked for a link', () => {
  test('and refuses it is asked again after a second, at once if nobody answers (PR-2)', () => {
    const hand = new Hand(3, 3, 'star', 2)
    hand.pass(50)
    hand.run.member.dueAt = Infinity
    hand.answer(2, 'sim:2', 'notMember')
    expect([hand.peer(2).askAt, hand.run.member.dueAt]).toEqual([50 + REFUSED_MS, 50 + REFUSED_MS])
    // Whom the register names as primary knows for sure.
    hand.run.member.session.client.register = { epoch: 1, primary: 2, backup: 0 }
    hand.pass(REFUSED_MS)
    hand.answer(2, 'sim:2', 'notMember')
    expect(hand.run.member.counters.returns).toBe(1)
  })
  test('is asked as soon as it is known by which key it is (PR-2)', () => {
    const hand = new Hand(2, 2, 'star')
    hand.pass(50)
    const unknown = peers.create(hand.run, 9, true)
    expect([unknown.key, unknown.askAt]).toEqual([null, 50])
    expect(unknown.paths.candidates.map(({ address }) => address)).toEqual(['relay:9'])
    hand.run.now = 60
    unknown.askAt = 60
    hand.run.member.dueAt = 0
    links.wake(hand.run)
    expect(unknown.askAt).toBe(60 + REFUSED_MS)
    hand.run.member.named = { inc: 9, key: '77'.repeat(32) }
    unknown.askAt = 70
    hand.run.now = 69
    hand.run.member.dueAt = 0
    links.wake(hand.run)
    expect(unknown.key).toBe(null)
    hand.run.now = 70
    hand.run.member.dueAt = 0
    links.wake(hand.run)
    expect([unknown.key, unknown.askAt]).toEqual(['77'.repeat(32), Infinity])
  })
  test('is found by its key: a member, whom we ask to let us in, or who asks us (PR-2)', () => {
    const { hand, peer } = linked()
    const { member: own } = hand.run
    expect(peers.find(hand.run, peer.key!)).toBe(peer)
    expect(peers.find(hand.run, 'no key')).toBe(null)
    const [entrance, asks] = [peers.blank('a', true), peers.blank('b', false)]
    own.joinPeer = entrance
    const caller = {
      peer: asks,
      address: '',
      number: 1,
      join: new Uint8Array(0),
      refused: false,
      waits: null,
      until: 9,
    }
    own.pendingJoins.set('b', caller)
    expect([peers.find(hand.run, 'a'), peers.find(hand.run, 'b')]).toEqual([entrance, asks])
    expect(peers.all(hand.run)).toEqual([peer, asks, entrance])
  })
})

/** Member 1 closes its link to us. */
function closedBy(hand: Hand, reason: number): void {
  const far = link.create(hand.now, { keepaliveMs: 10_000 })
  link.close(far, hand.now, reason, {
    packet: (bytes) => hand.says(1, 'sim:1', bytes),
    write: () => link.NOTHING_WAITS,
    lost: () => {},
  })
}

describe('a peer', () => {
  test('is reached by addresses that a carrier of ours can send to, and by the hub last (PR-2)', () => {
    const hand = new Hand(2, 3, 'star')
    const { client } = hand.run.member.session
    const row = client.view.members.find(({ inc }) => inc === 3)!
    row.addresses = ['udp:1', 'sim:3']
    hand.run.now = 40
    const peer = peers.create(hand.run, 3, true)
    expect(peer.paths.candidates.map(({ address }) => address)).toEqual(['sim:3', 'relay:3'])
    expect([peers.pathOf(peer), peer.paths.dueAt]).toEqual(['', 40])
    expect(hand.run.member.dueAt).toBeLessThanOrEqual(40)
  })
  test('that is forgotten is told to parts where it had a link, and not where it is another (PR-2)', () => {
    const told: number[] = []
    const { hand, peer } = linked()
    const part = {
      channel: 5,
      unlinked: (_state: null, _now: number, inc: number) => void told.push(inc),
    }
    hand.run.member.mounts.push({ part: part as never, state: null })
    const other = { ...peer }
    peers.unlink(hand.run, other)
    expect([told, hand.run.member.peers.get(1)]).toEqual([[], peer])
    peers.unlink(hand.run, peer)
    expect([told, hand.run.member.peers.size]).toEqual([[1], 0])
    const unlinked = peers.create(hand.run, 1, true)
    peers.unlink(hand.run, unlinked)
    expect([told, hand.run.member.peers.size]).toEqual([[1], 0])
  })
  test('that closes its link as it leaves is gone from the session, else only from here (PR-2)', () => {
    for (const reason of [CLOSE.leaving, CLOSE.idle]) {
      const { hand, peer } = linked()
      standsBy(hand)
      closedBy(hand, reason)
      expect(roleOf(hand)).toBe(reason === CLOSE.leaving ? 'taking' : 'backup')
      expect(hand.run.member.peers.get(1)).not.toBe(peer)
    }
  })
  test.each([
    [1, CLOSE.removed, 'finding'],
    [1, CLOSE.returned, 'out'],
    [3, CLOSE.removed, 'in'],
    [3, CLOSE.returned, 'in'],
  ])(
    'that removes us by CLOSE is believed only as our primary: that is %i, reason %i (44)',
    (...row) => {
      const [primary, reason, phase] = row
      const { hand } = linked()
      const { client } = hand.run.member.session
      client.view = { ...client.view, primary }
      closedBy(hand, reason)
      expect(hand.run.member.phase).toBe(phase)
    },
  )
  test('is due when its link is, its paths, or a doubt about it (PR-2)', () => {
    const { hand, peer } = linked()
    const due = (): number => {
      hand.run.member.dueAt = Infinity
      dispatch.noteDeadline(hand.run, peer)
      return hand.run.member.dueAt
    }
    // Its paths are due at once.
    expect(due()).toBe(hand.now)
    peer.paths.dueAt = Infinity
    const own = due()
    expect(own).toBe(link.deadline(peer.link!))
    peer.paths.dueAt = own - 9
    expect(due()).toBe(own - 9)
    peer.paths.dueAt = Infinity
    peer.reachability = { ...peers.beginCheck(0, 'sim:1', 0), askAt: own - 5, until: 9_999 }
    expect(due()).toBe(own - 5)
    peer.reachability = null
    hand.run.member.dueAt = own - 1
    dispatch.noteDeadline(hand.run, peer)
    expect(hand.run.member.dueAt).toBe(own - 1)
    peer.link = null
    peer.askAt = 7
    expect(due()).toBe(7)
  })
})
