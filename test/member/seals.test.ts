// Goal: what sealing tells a member about its links is done, for those whom it is about alone.
// Method: one member by hand; sealing says what the test has it say.
import { describe, expect, test } from 'vitest'
import * as link from '../../packages/holdfast/src/link/link.ts'
import * as dispatch from '../../packages/holdfast/src/member/dispatch.ts'
import * as links from '../../packages/holdfast/src/member/links.ts'
import * as member from '../../packages/holdfast/src/member/member.ts'
import * as paths from '../../packages/holdfast/src/paths/paths.ts'
import * as peers from '../../packages/holdfast/src/member/peers.ts'
import { drawKey, freshSession, type Peer } from '../../packages/holdfast/src/member/state.ts'
import type { Part } from '../../packages/holdfast/src/kind/protocol/part.ts'
import { nameOf } from '../../packages/holdfast/src/seal/seal.ts'
import type { SealEvent } from '../../packages/holdfast/src/seal/state.ts'
import { calmly } from '../calmly.ts'
import { Bare, WISH } from './bare.ts'
import { Hand } from './hand.ts'

/** Member 2 of three; its link with 1 stands if that is wanted. */
function scene(linked = true): { hand: Hand; peer: Peer; told: string[] } {
  const hand = new Hand(2, 3, 'star')
  const told: string[] = []
  const part: Part<null> = {
    channel: 5,
    linked: (_state, now, inc) => void told.push(`linked ${inc} at ${now}`),
    unlinked: (_state, now, inc) => void told.push(`unlinked ${inc} at ${now}`),
  }
  hand.run.member.mounts.push({ part: part as Part<unknown>, state: null })
  hand.pass(50)
  if (linked) hand.link(1, 'sim:1')
  told.length = 0
  hand.sent.length = 0
  hand.run.now = 90
  return { hand, peer: hand.peer(1), told }
}

function tells({ run }: Hand, event: SealEvent): void {
  calmly(() => run.seals.event(event))
}

describe('keys of a link', () => {
  test('that end take the link with them, and nothing where there is none (PR-2)', () => {
    const { hand, peer, told } = scene()
    tells(hand, { kind: 'down', peer: 'nobody', why: 'gone' })
    expect(hand.run.member.peers.get(1)).toBe(peer)
    tells(hand, { kind: 'down', peer: peer.key!, why: 'gone' })
    expect([hand.run.member.peers.has(1), told]).toEqual([false, ['unlinked 1 at 90']])
    const without = scene(false)
    tells(without.hand, { kind: 'down', peer: without.peer.key!, why: 'gone' })
    expect(without.hand.run.member.peers.get(1)).toBe(without.peer)
    // Of whom we ask to let us in nothing is forgotten by that.
    const entrance = peers.blank('aa', true)
    peers.open(hand.run, entrance, 'knock:0')
    hand.run.member.joinPeer = entrance
    for (const kind of ['down', 'answered'] as const) {
      tells(hand, { kind, peer: 'aa', address: 'sim:1' } as SealEvent)
    }
    expect([hand.run.member.joinPeer, peers.pathOf(entrance)]).toEqual([entrance, 'knock:0'])
  })
  test('by which a peer answers from elsewhere make that a path, of a link that stands (PR-2)', () => {
    const { hand, peer } = scene()
    peer.paths.dueAt = hand.run.member.dueAt = Infinity
    const known = (of: Peer): unknown => paths.find(of.paths, 'sim:7')
    tells(hand, { kind: 'answered', peer: peer.key!, address: 'sim:7' })
    expect(known(peer)).toMatchObject({ state: 'good', lastAnswered: 90, offered: false })
    expect([peers.pathOf(peer), hand.run.member.dueAt]).toEqual(['sim:1', 90])
    tells(hand, { kind: 'answered', peer: 'nobody', address: 'sim:7' })
    const without = scene(false)
    tells(without.hand, { kind: 'answered', peer: without.peer.key!, address: 'sim:7' })
    expect(known(without.peer)).toBe(null)
  })
  test('of another version are counted, and which that is is known (PR-2)', () => {
    const { hand } = scene()
    tells(hand, { kind: 'version', peer: 'x', version: 9 } as SealEvent)
    expect([hand.run.member.counters.denied, hand.run.member.otherSeal]).toEqual([1, 9])
  })
})

describe('a handshake that failed', () => {
  test('is begun again at once, by who has no link yet (PR-2)', () => {
    const { hand, peer } = scene(false)
    peer.askAt = Infinity
    hand.run.member.dueAt = Infinity
    tells(hand, { kind: 'failed', peer: peer.key! })
    expect([peer.askAt, hand.run.member.dueAt]).toEqual([90, 90])
    const linked = scene()
    linked.peer.askAt = 7
    for (const name of [linked.peer.key!, 'nobody'])
      tells(linked.hand, { kind: 'failed', peer: name })
    expect(linked.peer.askAt).toBe(7)
  })
  test('that was refused counts where there is no link, and of who leads it sends us back (PR-2)', () => {
    const refused = (make: (hand: Hand, peer: Peer) => string, linked = false): unknown[] => {
      const { hand, peer } = scene(linked)
      const name = make(hand, peer)
      tells(hand, { kind: 'refused', peer: name } as SealEvent)
      const { counters } = hand.run.member
      return [counters.denied, counters.returns]
    }
    const leads = (view: number, register: number) => (hand: Hand, peer: Peer) => {
      const { client } = hand.run.member.session
      client.view = { ...client.view, primary: view }
      client.register = { epoch: 1, primary: register, backup: 0 }
      return peer.key!
    }
    expect(refused((_hand, peer) => peer.key!)).toEqual([1, 1])
    expect(refused((_hand, peer) => peer.key!, true)).toEqual([0, 0])
    expect(refused(() => 'nobody')).toEqual([0, 0])
    expect(refused(leads(3, 3))).toEqual([1, 0])
    expect(refused(leads(1, 3))).toEqual([1, 1])
    expect(refused(leads(3, 1))).toEqual([1, 1])
  })
  test('with whom we asked to let us in has us look again (PR-2)', () => {
    for (const kind of ['failed', 'refused'] as const) {
      const bare = new Bare()
      bare.opens()
      bare.added(false)
      const { joinPeer: entrance } = bare.run.member
      bare.do((run) => run.seals.event({ kind, peer: entrance!.key! } as SealEvent))
      expect([bare.run.member.phase, bare.run.member.joinPeer]).toEqual(['finding', null])
      expect(bare.run.member.counters.denied).toBe(kind === 'refused' ? 1 : 0)
    }
  })
})

describe('a link that stands', () => {
  const up = (peer: string, asked: boolean, address = 'sim:1'): SealEvent => {
    return { kind: 'up', peer, asked, address } as SealEvent
  }
  test('is that of whom we asked, or who asked us meanwhile (PR-2)', () => {
    for (const asked of [true, false]) {
      const { hand, peer, told } = scene(false)
      peer.initiator = !asked
      hand.run.member.reconcileDue = false
      hand.run.member.dueAt = Infinity
      tells(hand, up(peer.key!, asked))
      expect(hand.run.member.peers.get(1)).toBe(peer)
      expect([peer.initiator, peers.pathOf(peer)]).toEqual([asked, 'sim:1'])
      expect([told, hand.run.member.reconcileDue]).toEqual([['linked 1 at 90'], true])
      expect([...hand.run.member.touched]).toEqual([1])
      expect(hand.run.member.dueAt).toBeLessThan(Infinity)
      expect(hand.run.member.session.detectors.get(1)).toMatchObject({ begun: 90, path: 'udp' })
    }
  })
  test('takes the place of the one that there was, which is told (PR-2)', () => {
    const { hand, peer, told } = scene()
    tells(hand, up(peer.key!, false, 'relay:1'))
    expect(hand.run.member.peers.get(1)).not.toBe(peer)
    expect(hand.peer(1)).toMatchObject({ initiator: false, key: peer.key })
    expect(peers.pathOf(hand.peer(1))).toBe('relay:1')
    expect(told).toEqual(['unlinked 1 at 90', 'linked 1 at 90'])
    expect(hand.run.member.session.detectors.get(1)).toMatchObject({ path: 'relay' })
  })
  test('with a member that we did not ask is one with a member that we have from then on (PR-2)', () => {
    const { hand, told } = scene()
    const key = nameOf(hand.pointOf(3))
    hand.run.member.keys.set(key, 3)
    tells(hand, up(key, false, 'sim:3'))
    expect(hand.peer(3)).toMatchObject({ inc: 3, initiator: false })
    expect(peers.pathOf(hand.peer(3))).toBe('sim:3')
    expect(told).toEqual(['linked 3 at 90'])
  })
  test('of whom no view has, or whose key is another by now, is none (PR-2)', () => {
    const { hand, peer } = scene()
    tells(hand, up('77'.repeat(32), false))
    expect([...hand.run.member.peers.keys()]).toEqual([1])
    const [row] = hand.run.member.session.client.view.members
    row!.link = new Uint8Array(32).fill(9)
    const other = scene(false)
    const [first] = other.hand.run.member.session.client.view.members
    first!.link = new Uint8Array(32).fill(9)
    other.hand.run.member.keys.set('88'.repeat(32), 1)
    tells(other.hand, up('88'.repeat(32), false))
    expect(other.peer.link).toBe(null)
    expect(hand.run.member.peers.get(1)).toBe(peer)
  })
  test('of who asked us to let it in is its entrance, unless we asked it (PR-2)', () => {
    const isTheirs = (asked: boolean): boolean => {
      const { hand, peer } = scene(false)
      const own = peers.blank(peer.key, false)
      const caller = {
        peer: own,
        address: 'x',
        number: 1,
        join: new Uint8Array(0),
        refused: false,
        waits: null,
        until: 999,
      }
      hand.run.member.pendingJoins.set(peer.key!, caller)
      tells(hand, up(peer.key!, asked))
      return own.link !== null
    }
    expect([isTheirs(true), isTheirs(false)]).toEqual([false, true])
  })
})

describe('who asks a member for a link', () => {
  const asks = (hand: Hand, from: number, byte: number | null, mv = 0): unknown => {
    const peer = byte === null ? nameOf(hand.pointOf(from)) : '77'.repeat(32)
    const more = { address: 'sim:x', link: 1, again: false, join: null }
    return hand.run.seals.admit({ peer, from, mv, ...more })
  }
  test('T15: gets one as the member whose key it has, may come later, or is none (PR-2)', () => {
    const { hand } = scene()
    hand.run.member.keys.clear()
    expect(asks(hand, 3, null)).toBe(null)
    expect([...hand.run.member.keys]).toEqual([[nameOf(hand.pointOf(3)), 3]])
    expect(hand.run.member.counters.denied).toBe(0)
    expect(asks(hand, 3, 1)).toBe('notMember')
    expect(asks(hand, 9, 1)).toBe('notMember')
    expect(asks(hand, 9, 1, 99)).toBe('later')
    expect([hand.run.member.keys.size, hand.run.member.counters.denied]).toEqual([1, 2])
  })
  test('T14: and has a JOIN with it is asked as a process that is no member (PR-2)', () => {
    const { hand } = scene()
    const request = { peer: '77'.repeat(32), from: 0, mv: 0, address: 'x', link: 1, again: false }
    expect(hand.run.seals.admit({ ...request, join: new Uint8Array(0) })).toBe('denied')
  })
})

describe('a member without keys', () => {
  test('asks nobody, sends nowhere, and counts what it cannot read (PR-2)', () => {
    const bare = new Bare()
    bare.do((run) => member.datagram(run, 0, 'sim:9', Uint8Array.of(1)))
    expect(bare.run.member.counters.stray).toBe(1)
    for (const key of [null, 'aa']) {
      const peer = peers.blank(key, true)
      expect(calmly(() => peers.requestLink(bare.run, peer))).toBe(false)
      calmly(() => peers.hangUp(bare.run, peer))
    }
    expect([bare.sent, bare.jobs, bare.run.member.keys.size]).toEqual([[], [], 0])
    const { hand, peer } = scene()
    const unknown = { ...peer, key: null }
    expect(calmly(() => peers.requestLink(hand.run, unknown))).toBe(false)
    unknown.paths.dueAt = 0
    calmly(() => peers.wakePaths(hand.run, unknown))
    calmly(() => peers.hangUp(hand.run, unknown))
    expect(calmly(() => peers.keyOf(hand.run, 99))).toBe(null)
  })
  test('begins with new ones in another session, and keeps those of the same (PR-2)', () => {
    const { hand } = scene()
    const { seal } = hand.run.member
    hand.run.member.keys.set('aa', 7)
    peers.createSeal(hand.run, 's')
    expect([hand.run.member.seal, hand.run.member.keys.has('aa')]).toEqual([seal, true])
    peers.createSeal(hand.run, 'other')
    expect(hand.run.member.seal).not.toBe(seal)
    expect([hand.run.member.sealed, hand.run.member.keys.size]).toEqual(['other', 0])
  })
  test('draws keys of which no half is known, each another (PR-2)', () => {
    const entropy = { seed: new Uint8Array(16).fill(1), count: 0 }
    const keys = [1, 2].map(() => [...drawKey(entropy)])
    expect(keys[0]).not.toEqual(keys[1])
    for (const key of keys) {
      expect(new Set(key.slice(0, 16)).size).toBeGreaterThan(1)
      expect(key.slice(16)).not.toEqual(key.slice(0, 16))
      expect(new Set(key.slice(16)).size).toBeGreaterThan(1)
    }
  })
  test.each([
    ['node', true, true],
    ['browser', true, true],
    ['guest', true, false],
    ['node', false, false],
  ] as const)('T30: as %s, recovers %s, may recover: %s (PR-2)', (kind, recovers, may) => {
    const entropy = { seed: new Uint8Array(16), count: 0 }
    expect(freshSession(0, { ...WISH, kind, recovers }, entropy, null).recovers).toBe(may)
  })
  test.each([
    [1, false, true],
    [1, true, false],
    [5, true, true],
    [4, false, false],
  ] as const)(
    'T30: let in with the rights %i, where hosts alone serve: %s, may recover: %s (SE-4)',
    (rights, hosts, may) => {
      const bare = new Bare({ recovers: true, hosts })
      bare.opens()
      bare.added(true, { admission: { rights, signature: new Uint8Array(64) } })
      expect(bare.run.member.session.recovers).toBe(may)
    },
  )
})

describe('messages that wait for a signature', () => {
  test('are kept up to a number, and those beyond are counted (PR-2)', () => {
    const { hand, peer } = scene()
    peer.held = []
    const bytes = Uint8Array.of(99)
    for (let at = 0; at < 4_097; at++) dispatch.takeMessage(hand.run, 1, bytes)
    expect([peer.held.length, hand.run.member.counters.malformed]).toEqual([4_096, 1])
    bytes[0] = 7
    expect(peer.held[0]).toEqual(Uint8Array.of(99))
  })
  test('a part has one sink, whoever it hears from (PR-2)', () => {
    const { hand } = scene()
    expect(dispatch.partOut(hand.run, 5)).toBe(dispatch.partOut(hand.run, 5))
    expect(dispatch.partOut(hand.run, 6)).not.toBe(dispatch.partOut(hand.run, 5))
    expect(dispatch.partOut(scene().hand.run, 5)).not.toBe(dispatch.partOut(hand.run, 5))
  })
  test('what a datagram brings for a part that is not there is counted, and losses are told (PR-2)', () => {
    const { hand } = scene()
    const lost: unknown[] = []
    const part = {
      channel: 6,
      lost: (_state: null, from: number, at: number) => void lost.push([from, at]),
    }
    hand.run.member.mounts.push({ part: part as never, state: null })
    const list = [
      { what: 'lost', number: 4, bytes: new Uint8Array(0) },
      { what: 'frame', number: 99, bytes: new Uint8Array(0) },
      { what: 'frame', number: 6, bytes: new Uint8Array(0) },
    ]
    Object.assign(hand.run.arrivals, { list, count: 3 })
    calmly(() => dispatch.takeArrivals(hand.run, 1))
    expect([lost, hand.run.member.counters.malformed]).toEqual([[[1, 4]], 2])
  })
})

describe('by the clock links', () => {
  test('are due when keys are, or whatever is due of them first (PR-2)', () => {
    const { hand } = scene()
    const bare = new Bare()
    bare.run.member.dueAt = 700
    expect(links.deadline(bare.run)).toBe(700)
    hand.run.member.dueAt = 9e9
    const keys = links.deadline(hand.run)
    expect(keys).toBeLessThan(9e9)
    hand.run.member.dueAt = keys - 1
    expect(links.deadline(hand.run)).toBe(keys - 1)
  })
  test('are looked at when one is due, and callers when their time is over (PR-2)', () => {
    const bare = new Bare()
    bare.founds()
    const peer = peers.blank('aa', false)
    const caller = {
      peer,
      address: 'x',
      number: 1,
      join: new Uint8Array(0),
      refused: false,
      waits: null,
      until: 500,
    }
    bare.run.member.pendingJoins.set('aa', caller)
    const wake = (now: number, dueAt: number): unknown[] => {
      bare.run.now = now
      bare.run.member.dueAt = dueAt
      bare.do(links.wake)
      return [bare.run.member.pendingJoins.size, bare.run.member.dueAt]
    }
    expect(wake(600, 601)).toEqual([1, 601])
    expect(wake(499, 499)).toEqual([1, 500])
    expect(wake(500, 500)).toEqual([0, Infinity])
  })
  test('a link that is due says something, and is due later then; before that it is silent (PR-2)', () => {
    const { hand, peer } = scene()
    const due = link.deadline(peer.link!)
    const wake = (now: number): number => {
      hand.sent.length = 0
      hand.run.now = now
      hand.run.member.dueAt = now
      calmly(() => links.wake(hand.run))
      return hand.sent.length
    }
    expect([wake(due - 1), wake(due) > 0]).toEqual([0, true])
    expect(link.deadline(peer.link!)).toBeGreaterThan(due)
    expect(wake(due)).toBe(0)
  })
  test('a doubt is looked into, and a link does what is due of it then (PR-2)', () => {
    const { hand, peer } = scene()
    peer.reachability = { address: 'sim:1', askAt: 90, until: 999, last: false }
    hand.run.member.dueAt = 0
    hand.sent.length = 0
    links.wake(hand.run)
    expect(hand.sent.map(({ to }) => to).filter((to) => to === 'sim:1').length).toBeGreaterThan(1)
    expect(peer.reachability.askAt).toBe(100)
  })
  test('that went by the door of strangers go as those of members once it is attached (PR-2)', () => {
    const { hand, peer } = scene()
    paths.begin(peer.paths, 90, 'knock:0')
    peers.open(hand.run, peers.create(hand.run, 3, true), 'sim:3')
    expect(peers.pathOf(peer)).toBe('knock:0')
    peers.leaveKnockPaths(hand.run)
    // The direct one has answered the handshake.
    expect([peer, hand.peer(3)].map(peers.pathOf)).toEqual(['sim:1', 'sim:3'])
    expect(paths.find(peer.paths, 'knock:0')).toBe(null)
  })
})

describe('a packet that came', () => {
  const since = ({ run }: Hand): number => run.member.session.detectors.get(1)!.since
  test('says that its sender lives, if it is one of a link (PR-2)', () => {
    const { hand, peer } = scene()
    hand.now = 140
    hand.says(1, 'relay:1', Uint8Array.of(255, 255))
    expect([since(hand), peers.pathOf(peer)]).toEqual([50, 'sim:1'])
    hand.tells(1, 'sim:1', Uint8Array.of(5, 1))
    expect([since(hand), peer.paths.chosen!.lastReceived]).toEqual([140, 140])
  })
  test('on keys whose link is none any more is counted, and nothing else (PR-2)', () => {
    const { hand, peer } = scene()
    peers.unlink(hand.run, peer)
    hand.says(1, 'sim:1', new Uint8Array(9))
    expect(hand.run.member.counters.stray).toBe(1)
    // Nor is it where we want a link that does not stand yet.
    peers.create(hand.run, 1, true)
    hand.says(1, 'sim:1', new Uint8Array(9))
    expect([hand.run.member.counters.stray, hand.peer(1).link]).toEqual([2, null])
  })
  test('of curves that failed, or for keys that are no more, opens nothing (PR-2)', () => {
    const { hand } = scene()
    const { seal } = hand.run.member
    calmly(() => links.onAgreed(hand.run, { kind: 'seal', of: seal!, job: 99 }, true))
    hand.run.member.seal = null
    calmly(() => links.onAgreed(hand.run, { kind: 'seal', of: seal!, job: 99 }, []))
    expect(hand.run.member.peers.size).toBe(1)
  })
})

describe('a view that the hub signed', () => {
  test('SE-2: is forged where no hub said by which key, or its leader is not in it (PR-2)', () => {
    const forged = (make: (hand: Hand) => void): number => {
      const hand = new Hand(3, 4, 'star', 2)
      hand.pass(50)
      hand.link(2, 'sim:2')
      const { view } = hand.run.member.session.client
      const next = { ...view, epoch: 2, mv: 5, primary: 2, backup: 0 }
      make(hand)
      const isIn = hand.run.member.hubKey !== null
      const members = view.members.filter(({ inc }) => inc !== (isIn ? 2 : 1))
      const { grant } = hand.leaderAs(2, 2)
      hand.tells(
        2,
        'sim:2',
        dispatch.frameSession({ kind: 'view', view: { ...next, members, grant } }),
      )
      expect(hand.run.member.session.client.view.epoch).toBe(1)
      return hand.run.member.counters.forged
    }
    expect(forged((hand) => void (hand.run.member.hubKey = null))).toBe(1)
    expect(forged(() => {})).toBe(1)
  })
  test('SE-2: is nothing any more once its sender’s link is another (PR-2)', () => {
    const { hand, peer } = scene()
    const { view } = hand.run.member.session.client
    peer.held = [Uint8Array.of(99)]
    hand.run.member.peers.delete(1)
    calmly(() => dispatch.onGrantChecked(hand.run, { kind: 'grant', of: peer, view }, true))
    expect([peer.held.length, hand.run.member.counters.malformed]).toEqual([1, 0])
  })
})

describe('who is here', () => {
  test('is also whom a primary has published, and not shown to itself yet (PR-2)', () => {
    const { hand } = scene()
    const { session } = hand.run.member
    const row = { ...session.client.view.members[2]!, inc: 7, player: 7 }
    session.server.published.set(7, row)
    const peer = peers.create(hand.run, 7, false)
    peers.open(hand.run, peer, 'sim:7')
    links.reconcile(hand.run)
    expect(hand.run.member.peers.get(7)).toBe(peer)
    session.server.published.delete(7)
    links.reconcile(hand.run)
    expect(hand.run.member.peers.has(7)).toBe(false)
  })
  test('has a link looked over by the clock, with all that belongs to it (PR-2)', () => {
    const { hand, peer } = scene()
    hand.run.member.clock.set = true
    peer.link!.clock.shift = 999
    hand.run.member.reconcileDue = true
    links.sweep(hand.run)
    expect([peer.link!.clock.shift, hand.run.member.reconcileDue]).toEqual([0, false])
  })
})
