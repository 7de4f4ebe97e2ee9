// Goal: a member's links follow what paths/ decides, and are given up or asked for in time.
// Method: one member by hand, whose links stand or are asked for, at instants that are given.
import { describe, expect, test } from 'vitest'
import * as link from '../../packages/holdfast/src/link/link.ts'
import * as dispatch from '../../packages/holdfast/src/member/dispatch.ts'
import * as peers from '../../packages/holdfast/src/member/peers.ts'
import * as paths from '../../packages/holdfast/src/paths/paths.ts'
import { BOUND_MAX_MS } from '../../packages/holdfast/src/session/failure-detector.ts'
import * as links from '../../packages/holdfast/src/member/links.ts'
import * as member from '../../packages/holdfast/src/member/member.ts'
import { CLOSE, type Peer } from '../../packages/holdfast/src/member/state.ts'
import { calmly } from '../calmly.ts'
import { Hand, linked, roleOf, standsBy } from './hand.ts'

const ASKED_MS = 1_000
const PATH_DEAD_MS = 1_000
const LOST_MS = 3_000

const ways = (hand: Hand): string[] => hand.sent.splice(0).map(({ to }) => to)

describe('a packet that came', () => {
  test('T39: from where we were told that nobody is ends that doubt, and is counted (PR-2)', () => {
    for (const [from, ends] of [['sim:1', true] as const, ['relay:1', false] as const]) {
      const { hand, peer } = linked()
      peer.reachability = peers.beginCheck(50, 'sim:1', 0)
      peers.onPacket(hand.run, peer, from)
      expect([peer.reachability === null, hand.run.member.counters.falseAlarms]).toEqual([
        ends,
        ends ? 1 : 0,
      ])
    }
    const { hand, peer } = linked()
    calmly(() => peers.onPacket(hand.run, peer, 'sim:1'))
    expect(hand.run.member.counters.falseAlarms).toBe(0)
  })
  test('PA3, PA9: by another path moves nothing, and has the detector go by that one', () => {
    const { hand, peer } = linked()
    const heard = (from: string, at: number): unknown[] => {
      hand.run.now = at
      peers.onPacket(hand.run, peer, from)
      const { path, relayed } = hand.run.member.session.detectors.get(1)!
      // Though it is heard by the relay, it is not lost when the hub falls.
      expect(relayed).toBe(false)
      return [peers.pathOf(peer), path]
    }
    expect(heard('sim:1', 70)).toEqual(['sim:1', 'udp'])
    expect(heard('relay:1', 80)).toEqual(['sim:1', 'relay'])
    expect(heard('sim:99', 81)).toEqual(['sim:1', 'relay'])
    expect(heard('sim:1', 80 + PATH_DEAD_MS - 1)).toEqual(['sim:1', 'relay'])
    expect(heard('sim:1', 80 + PATH_DEAD_MS)).toEqual(['sim:1', 'udp'])
  })
})

describe('a silent path', () => {
  /** The direct path is silent for so long, and the relay has just answered. */
  function silent(ms: number, make: (hand: Hand) => void = () => {}): { hand: Hand; peer: Peer } {
    const { hand, peer } = linked()
    make(hand)
    hand.run.now = hand.now + ms
    peers.limitPaths(hand.run, peer)
    peers.onAnswered(hand.run, peer, 'relay:1')
    hand.run.member.reconcileDue = false
    peers.wakePaths(hand.run, peer)
    return { hand, peer }
  }
  test('PA4, PA5: is left after a second; at a backup after half of its bound', () => {
    expect(peers.pathOf(silent(PATH_DEAD_MS - 1).peer)).toBe('sim:1')
    expect(peers.pathOf(silent(PATH_DEAD_MS).peer)).toBe('relay:1')
    const half = BOUND_MAX_MS / 2
    // It has time for one answer: nothing is known yet of its round trip.
    const guess = 100 + 4 * 50
    expect(peers.pathOf(silent(half / 2 + guess - 1, standsBy).peer)).toBe('sim:1')
    expect(peers.pathOf(silent(half / 2 + guess, standsBy).peer)).toBe('relay:1')
  })
  test('PA4: takes the link, its figures and its heartbeats along, and the detector', () => {
    const { hand, peer } = silent(PATH_DEAD_MS)
    const relay = paths.find(peer.paths, 'relay:1')!
    expect([peer.link!.using, link.current(peer.link!).id]).toEqual([relay.id, relay.id])
    expect(hand.run.member.reconcileDue).toBe(true)
    expect(hand.run.member.session.detectors.get(1)!.path).toBe('relay')
    hand.sent.length = 0
    link.probe(peer.link!, hand.run.now, dispatch.sinkOf(hand.run, peer))
    expect(ways(hand)).toEqual(['relay:1'])
  })
  test('PA7: is probed with the spare, by the challenges of the seal', () => {
    const { hand, peer } = linked()
    const probesAfter = (ms: number): string[] => {
      hand.run.now = hand.now + ms
      peers.wakePaths(hand.run, peer)
      return ways(hand)
    }
    expect(probesAfter(PATH_DEAD_MS / 2)).toEqual(['sim:1'])
    expect(probesAfter((PATH_DEAD_MS * 3) / 4)).toEqual(['sim:1', 'relay:1'])
  })
  test('PA4: has its time anew after our own loop stalled', () => {
    const after = (stalledMs: number): string => {
      const { hand, peer } = linked()
      const now = hand.now + 2 * PATH_DEAD_MS
      member.wake(hand.run, now, now - stalledMs)
      peers.onAnswered(hand.run, peer, 'relay:1')
      peers.wakePaths(hand.run, peer)
      return peers.pathOf(peer)
    }
    expect([after(0), after(2 * PATH_DEAD_MS)]).toEqual(['relay:1', 'sim:1'])
  })
  test.each(['taking', 'dropping'])('PA5: keeps its limit at a member that is %s', (role) => {
    const { hand, peer } = linked()
    standsBy(hand)
    peers.limitPaths(hand.run, peer)
    Object.assign(hand.run.member.session.server, { role })
    peers.limitPaths(hand.run, peer)
    expect(peer.paths.limit).toBe(BOUND_MAX_MS / 2)
  })
})

describe('the path through the hub', () => {
  test('PA8: has heartbeats too for five seconds when the hub was asked about the peer', () => {
    const { hand, peer } = linked()
    links.beatByRelay(hand.run, 1)
    expect([peers.pathOf(peer), hand.run.member.dueAt]).toEqual(['sim:1', hand.now])
    expect(hand.run.member.session.detectors.get(1)!.path).toBe('relay')
    const beats: number[] = []
    for (const from = hand.now; hand.now < from + 6_000;) {
      hand.wake(hand.now + 50)
      peers.onPacket(hand.run, peer, 'sim:1')
      peer.link!.lastReceived = hand.now
      if (ways(hand).includes('relay:1')) beats.push(hand.now - from)
    }
    const early = beats.filter((at) => at <= 5_000)
    expect([
      early.length >= 5_000 / 250,
      Math.max(...early.slice(1).map((at, n) => at - early[n]!)) <= 250,
    ]).toEqual([true, true])
    expect([peers.pathOf(peer), peer.link!.using]).toEqual(['sim:1', peer.paths.chosen!.id])
  })
  test('PA8: has no heartbeats while the path in use is not proven: they could not go back', () => {
    const { hand, peer } = linked()
    for (const { link: own } of hand.run.member.seal!.peers.values()) own?.shown.splice(0)
    links.beatByRelay(hand.run, 1)
    peers.wakePaths(hand.run, peer)
    expect(ways(hand).filter((to) => to === 'relay:1').length).toBeLessThanOrEqual(1)
    expect([peer.link!.using, peers.pathOf(peer)]).toEqual([peer.paths.chosen!.id, 'sim:1'])
    const [seal] = [...hand.run.member.seal!.peers.values()].flatMap((one) => one.link ?? [])
    expect(seal!.address).toBe('sim:1')
  })
  test('T39: without a link has the peer asked for one at once, if it is not being asked (PR-2)', () => {
    const asks = (askAt: number): [number, number] => {
      const hand = new Hand(2, 2, 'star')
      hand.pass(50)
      const peer = hand.peer(1)
      peer.askAt = askAt
      hand.run.member.dueAt = 900
      hand.run.now = 80
      links.beatByRelay(hand.run, 1)
      return [peer.askAt, hand.run.member.dueAt]
    }
    expect(asks(700)).toEqual([80, 80])
    expect(asks(Infinity)).toEqual([Infinity, 900])
    const hand = new Hand(2, 2, 'star')
    hand.run.member.peers.clear()
    calmly(() => links.beatByRelay(hand.run, 9))
    expect(hand.run.member.peers.has(9)).toBe(false)
    calmly(() => links.beatByRelay(hand.run, 1))
    expect(hand.run.member.peers.has(1)).toBe(true)
  })
})

describe('a report that nobody listens', () => {
  const doubts = (make: (peer: Peer) => void, address = 'sim:1'): boolean => {
    const { hand, peer } = linked()
    make(peer)
    const before = peer.reachability
    member.refused(hand.run, hand.now, address)
    return peer.reachability !== before
  }
  test('T39: makes a doubt where packets go there on a link, and one at a time (PR-2)', () => {
    expect(doubts(() => {})).toBe(true)
    expect(doubts(() => {}, 'sim:9')).toBe(false)
    expect(doubts((peer) => void (peer.reachability = peers.beginCheck(0, 'sim:1', 0)))).toBe(false)
    expect(doubts((peer) => void (peer.link = null))).toBe(false)
  })
  test('T39: has the peer asked every ten milliseconds, by its round trip, and believed then (PR-2)', () => {
    const { hand, peer } = linked()
    link.current(peer.link!).rtt.smoothed = 20
    member.refused(hand.run, hand.now, 'sim:1')
    const until = hand.now + peers.CHECK_MS + 60
    expect(peer.reachability).toMatchObject({ until })
    expect(ways(hand)).toEqual(['sim:1', 'sim:1'])
    hand.run.now = hand.now + peers.ASK_AGAIN_MS
    peers.checkReachability(hand.run, peer, peer.reachability!)
    expect(ways(hand)).toHaveLength(2)
    peers.checkReachability(hand.run, peer, peer.reachability!)
    expect(ways(hand)).toEqual([])
    hand.run.now = until
    const own = peer.reachability!
    peers.checkReachability(hand.run, peer, own)
    expect(peer.reachability).toBe(own)
    standsBy(hand)
    peers.checkReachability(hand.run, peer, own)
    expect([peer.reachability, roleOf(hand)]).toEqual([null, 'taking'])
  })
  test('T39: says nothing of a peer that is reached another way by then (PR-2)', () => {
    const { hand, peer } = linked()
    member.refused(hand.run, hand.now, 'sim:1')
    const own = peer.reachability!
    Object.assign(own, { last: true })
    hand.run.now = own.until
    peer.paths.chosen = paths.find(peer.paths, 'relay:1')
    standsBy(hand)
    peers.checkReachability(hand.run, peer, own)
    expect([peer.reachability, roleOf(hand)]).toEqual([null, 'backup'])
  })
})

describe('a link that is looked over', () => {
  const kept = (
    make: (hand: Hand, peer: Peer) => void,
    way: 'sim:1' | 'relay:1' = 'sim:1',
  ): boolean => {
    const { hand, peer } = linked(way)
    hand.run.now = 5_000
    peer.link!.lastReceived = 5_000
    make(hand, peer)
    calmly(() => links.sweep(hand.run))
    return hand.run.member.peers.get(1) === peer
  }
  test('T42: is given up when its primary is silent for longer than three seconds (PR-2)', () => {
    const silent = (ms: number) => (_hand: Hand, peer: Peer) => {
      peer.link!.lastReceived = 5_000 - ms
    }
    expect(kept(silent(LOST_MS))).toBe(true)
    expect(kept(silent(LOST_MS + 1))).toBe(false)
    const late = silent(LOST_MS + 1)
    // We did not ask for it, so the other asks anew.
    expect(kept((hand, peer) => (late(hand, peer), void (peer.initiator = false)))).toBe(true)
    const other = (hand: Hand, peer: Peer): void => {
      late(hand, peer)
      const { client } = hand.run.member.session
      client.view = { ...client.view, primary: 2 }
      client.register = { epoch: 9, primary: 1, backup: 0 }
    }
    expect(kept(other)).toBe(true)
  })
  test('T42: through the hub is counted from when that was back, and not without it (PR-2)', () => {
    const since = (at: number, hub: 'attached' | 'open') => (hand: Hand, peer: Peer) => {
      peer.link!.lastReceived = 5_000 - LOST_MS - 1
      hand.run.member.session.hub.since = at
      hand.run.member.hub = hub
    }
    expect(kept(since(0, 'attached'), 'relay:1')).toBe(false)
    expect(kept(since(5_000 - LOST_MS, 'attached'), 'relay:1')).toBe(true)
    expect(kept(since(5_000 - LOST_MS, 'attached'))).toBe(false)
    expect(kept(since(0, 'open'), 'relay:1')).toBe(true)
    expect(kept(since(0, 'open'))).toBe(false)
  })
  test('is closed when nobody wants it for longer than ten seconds (PR-2)', () => {
    expect(kept((_hand, peer) => void (peer.idleSince = 5_000 - 10_000))).toBe(true)
    const { hand, peer } = linked()
    peer.idleSince = hand.now - 10_001
    const before = peer.link!
    links.sweep(hand.run)
    expect([hand.run.member.peers.get(1) === peer, ways(hand).length > 0]).toEqual([false, true])
    expect(link.isDown(before, hand.now)).toBe(true)
    const { hand: other, peer: down } = linked()
    down.link!.closed = CLOSE.idle
    links.sweep(other.run)
    expect(other.run.member.peers.get(1)).not.toBe(down)
  })
  test('is measured for the session, and told what time it is (PR-2)', () => {
    const { hand, peer } = linked()
    link.current(peer.link!).rtt.smoothed = 30
    links.sweep(hand.run)
    expect(hand.run.member.session.detectors.get(1)!.rttMs).toBe(30)
  })
  test('a peer without a link is left alone (PR-2)', () => {
    const hand = new Hand(2, 2, 'star')
    hand.pass(50)
    calmly(() => links.sweep(hand.run))
    expect(hand.peer(1).link).toBe(null)
  })
})

describe('links that a member looks after', () => {
  test('are asked for where they are wanted, and given up where nobody is there any more (PR-2)', () => {
    const { hand, peer } = linked('sim:1', 3)
    const { client } = hand.run.member.session
    const third = peers.create(hand.run, 3, true)
    links.reconcile(hand.run)
    expect(hand.run.member.peers.has(3)).toBe(false)
    peers.create(hand.run, 3, false)
    peers.open(hand.run, hand.peer(3), 'sim:3')
    links.reconcile(hand.run)
    expect([hand.peer(3).idleSince, third.link]).toEqual([Infinity, null])
    // One that we asked for and do not want is idle from when that is seen.
    hand.peer(3).initiator = true
    hand.run.now = 300
    links.reconcile(hand.run)
    hand.run.now = 400
    links.reconcile(hand.run)
    expect([hand.peer(3).idleSince, peer.idleSince]).toEqual([300, Infinity])
    client.view = { ...client.view, backup: 3 }
    links.reconcile(hand.run)
    expect(hand.peer(3).idleSince).toBe(Infinity)
    client.view = { ...client.view, backup: 0 }
    client.view.members = client.view.members.filter(({ inc }) => inc !== 3)
    hand.sent.length = 0
    links.send(hand.run, 3, Uint8Array.of(5, 1))
    links.reconcile(hand.run)
    expect([hand.run.member.peers.has(3), hand.run.member.reconcileDue]).toEqual([false, false])
  })
  test('B8: in a mesh are asked for a second later by who serves or stands by, and by the younger (PR-2)', () => {
    const waits = (me: number, backup: number, primary = 1): unknown[] => {
      const hand = new Hand(me, 4, 'mesh', backup)
      hand.run.member.peers.clear()
      const { client } = hand.run.member.session
      client.view = { ...client.view, primary, backup }
      hand.run.now = 100
      links.reconcile(hand.run)
      return [...hand.run.member.peers.values()]
        .filter(({ askAt }) => askAt === 100 + ASKED_MS)
        .map(({ inc }) => inc)
    }
    expect(waits(3, 0)).toEqual([2])
    expect(waits(4, 0)).toEqual([2, 3])
    expect(waits(2, 0)).toEqual([])
    expect(waits(2, 2)).toEqual([3, 4])
    expect(waits(2, 0, 2)).toEqual([1, 3, 4])
  })
  test('T39: primary and backup beat five times within the shortest bound of their path, others seldom (PR-2)', () => {
    const beat = (address: string, ...roles: string[]): number => {
      const { hand, peer } = linked('sim:1', 3)
      paths.begin(peer.paths, hand.now, address)
      for (const role of roles) {
        Object.assign(hand.run.member.session.server, { role, primary: 1, ackedAt: 0 })
        links.reconcile(hand.run)
      }
      return peer.link!.keepaliveMs
    }
    const all = ['sim:1', 'rtc:1.1', 'ws://host:1/path', 'relay:1']
    expect(all.map((address) => beat(address, 'backup'))).toEqual([10, 50, 200, 200])
    expect(all.map((address) => beat(address, 'idle'))).toEqual([400, 400, 400, 400])
    // The primary that it suspects may be well, and watches it.
    expect(beat('sim:1', 'backup', 'taking')).toBe(10)
  })
})
