// Goal: how a process gets in, how often it asks, and with which words it gives up.
// Method: one process by hand; the hub says what the test has it say, at instants that are given.
import { describe, expect, test } from 'vitest'
import { HUB_VERSION, NO_GAME } from '../../packages/holdfast/src/hub-protocol/messages.ts'
import { BACK_FACTOR, TOLERANCE_MS } from '../../packages/holdfast/src/member/join-client.ts'
import * as peers from '../../packages/holdfast/src/member/peers.ts'
import * as joinClient from '../../packages/holdfast/src/member/join-client.ts'
import * as member from '../../packages/holdfast/src/member/member.ts'
import { type MemberOptions } from '../../packages/holdfast/src/member/state.ts'
import { SEAL_VERSION } from '../../packages/holdfast/src/seal/limits.ts'
import { nameOf } from '../../packages/holdfast/src/seal/seal.ts'
import type { Met } from '../../packages/holdfast/src/ports.ts'
import { Bare, pointOf, SESSION } from './bare.ts'

const ASK_AGAIN_MS = 500
const JOIN_MS = 15_000

const HUB = 'wss://hub'

/** What came of a process by that instant, to the millisecond. */
function givesUp(bare: Bare, at: number): unknown {
  bare.wake(at - 1)
  expect(bare.failure()).toBe(null)
  expect(joinClient.deadline(bare.run)).toBe(at)
  bare.wake(at)
  expect([bare.run.member.phase, joinClient.deadline(bare.run)]).toEqual(['out', Infinity])
  return bare.failure()
}

describe('what a process finds at the address of a hub', () => {
  const meets = (bare: Bare, kind: Met['kind'], what = 'a shop', now = bare.now): void => {
    bare.now = now
    bare.do((run) => member.hubMet(run, now, { kind, what }))
  }
  test.each<[Met['kind'], string, string]>([
    ['denied', 'forbidden', `the hub at ${HUB} refuses us: a shop`],
    ['wrong', 'unreachable', `no hub at ${HUB}: a shop`],
    ['passing', 'unreachable', `no hub at ${HUB}: a shop`],
  ])('that is %s makes it give up as soon as that is sure (PR-2)', (kind, code, why) => {
    const bare = new Bare()
    meets(bare, kind, 'a shop', 100)
    if (TOLERANCE_MS[kind] === 0) bare.wake(100)
    const failure =
      TOLERANCE_MS[kind] === 0 ? bare.failure() : givesUp(bare, 100 + TOLERANCE_MS[kind])
    expect(failure).toEqual({ code, why })
  })
  test('is counted from when it was met first, and anew where it is something else (PR-2)', () => {
    const bare = new Bare()
    meets(bare, 'wrong', 'a shop', 100)
    meets(bare, 'wrong', 'a bar', 900)
    expect(joinClient.deadline(bare.run)).toBe(100 + TOLERANCE_MS.wrong)
    meets(bare, 'passing', 'a bar', 950)
    expect(joinClient.deadline(bare.run)).toBe(950 + TOLERANCE_MS.passing)
    expect(givesUp(bare, 950 + TOLERANCE_MS.passing)).toMatchObject({
      why: `no hub at ${HUB}: a bar`,
    })
  })
  test('is forgotten when a stream opens, and is nothing to who was greeted before (PR-2)', () => {
    const bare = new Bare()
    meets(bare, 'wrong')
    bare.opens()
    expect(joinClient.deadline(bare.run)).toBeGreaterThan(0)
    bare.closes()
    meets(bare, 'denied')
    bare.wake(JOIN_MS - 1)
    expect(bare.failure()).toBe(null)
    const gone = `the hub at ${HUB} went away, and did not come back within 15 s`
    bare.wake(JOIN_MS)
    expect(bare.failure()).toEqual({ code: 'unreachable', why: gone })
  })
})

describe('a process that gets no further', () => {
  test('says that no hub answered, or that somebody else did (PR-2)', () => {
    const silent = `no hub at ${HUB} answered within 15 s: is it running?`
    expect(givesUp(new Bare(), JOIN_MS)).toEqual({ code: 'unreachable', why: silent })
    const bare = new Bare()
    bare.do((run) => member.hubOpened(run, 0))
    const why = `no hub at ${HUB}: who takes streams there says nothing that a hub says`
    bare.wake(JOIN_MS)
    expect(bare.failure()).toEqual({ code: 'unreachable', why })
  })
  const WHERE = `g/r at ${HUB}`
  const guests = `the hub is there, but nobody that may serve ${WHERE} (serves: false opens none)`
  const hosts = `the hub is there, but nobody that may serve ${WHERE} (primaries: 'hosts' wants`
  test.each<[string, Partial<MemberOptions>, string, string]>([
    ['nothing', {}, '', `nobody let us into ${WHERE} within 15 s`],
    ['that it is full', {}, 'full', `the hub did not open ${WHERE}: full within 15 s`],
    ['nobody serves it, as a guest', { kind: 'guest' }, 'none', `${guests} came within 15 s`],
    [
      'nobody serves it, in a browser',
      { kind: 'browser', hosts: true },
      'none',
      `${hosts} one with a ticket of a host) came within 15 s`,
    ],
  ])('and heard %s says so (PR-2)', (_what, wish, heard, why) => {
    const bare = new Bare(wish)
    bare.opens()
    if (heard !== '') bare.hears({ kind: 'refused', request: 1, why: heard })
    bare.wake(JOIN_MS)
    expect(bare.failure()).toEqual({ code: 'timeout', why })
  })
  test('though it found a primary that lets it in says so, too (PR-2)', () => {
    const bare = new Bare()
    bare.opens()
    bare.hears({ kind: 'refused', request: 1, why: 'full' })
    bare.added(false)
    expect(bare.run.member.phase).toBe('asking')
    bare.do((run) => member.wake(run, JOIN_MS))
    expect(bare.failure()?.why).toBe(`nobody let us into ${WHERE} within 15 s`)
  })
  test('because the store of its hub does not answer says that, and while it waits', () => {
    const bare = new Bare()
    bare.opens()
    bare.hears({ kind: 'store', answers: false })
    const reason = 'the store of the hub does not answer'
    expect(joinClient.waitingOf(bare.run)).toMatchObject({ waitingFor: 'room', reason })
    bare.hears({ kind: 'store', answers: true })
    expect(joinClient.waitingOf(bare.run)).toMatchObject({ waitingFor: 'room', reason: '' })
    bare.hears({ kind: 'store', answers: false })
    bare.wake(JOIN_MS)
    expect(bare.failure()?.why).toBe(`nobody let us into ${WHERE} within 15 s: ${reason}`)
  })
  test('because the disk of its hub is full gives the reason of the hub', () => {
    const bare = new Bare()
    bare.opens()
    bare.hears({ kind: 'store', answers: false })
    bare.hears({ kind: 'refused', request: 1, why: 'the disk is full' })
    expect(joinClient.waitingOf(bare.run)).toMatchObject({ reason: 'the disk is full' })
    bare.wake(JOIN_MS)
    expect(bare.failure()?.why).toBe(`the hub did not open ${WHERE}: the disk is full within 15 s`)
  })
  test('because the room has links of another version says that (PR-2)', () => {
    const bare = new Bare()
    bare.opens()
    bare.added(false)
    bare.run.member.otherSeal = SEAL_VERSION + 1
    bare.do((run) => member.wake(run, JOIN_MS))
    const spoken = `the room speaks version ${SEAL_VERSION + 1}, this build version ${SEAL_VERSION}`
    const why = `${spoken}: reload the page, or update this program`
    expect(bare.failure()).toEqual({ code: 'version', why })
  })
  test('is told at once of a hub of another version, or without its game (PR-2)', () => {
    const other = new Bare()
    other.opens(HUB_VERSION + 1)
    const newer = `the hub speaks version ${HUB_VERSION + 1}, this build version ${HUB_VERSION}`
    const reload = `${newer}: reload the page, or update this program`
    expect(other.failure()).toEqual({ code: 'version', why: reload })
    expect(other.run.member.greeted).toBe(false)
    const older = new Bare()
    older.opens(HUB_VERSION - 1)
    expect(older.failure()?.why).toMatch(/: update the hub$/)
    const none = new Bare()
    none.opens()
    none.hears({ kind: 'refused', request: 1, why: `${NO_GAME}"g"` })
    expect(none.failure()).toEqual({ code: 'no-such-game', why: `${NO_GAME}"g" (${HUB})` })
    // Once it looks for nothing it is told nothing of that.
    const inside = new Bare()
    inside.founds()
    inside.hears({ kind: 'refused', request: 1, why: `${NO_GAME}"g"` })
    expect(inside.failure()).toBe(null)
  })
})

describe('on its way in a process', () => {
  test('asks again each half second while it has a stream and no answer (PR-2)', () => {
    const bare = new Bare()
    expect(joinClient.deadline(bare.run)).toBe(JOIN_MS)
    bare.opens()
    expect(bare.words()).toEqual(['hello', 'add'])
    expect(joinClient.deadline(bare.run)).toBe(ASK_AGAIN_MS)
    bare.wake(ASK_AGAIN_MS - 1)
    expect(bare.words()).toEqual([])
    bare.wake(ASK_AGAIN_MS)
    expect(bare.words()).toEqual(['add'])
    bare.closes()
    expect(joinClient.deadline(bare.run)).toBe(JOIN_MS)
    bare.wake(3 * ASK_AGAIN_MS)
    expect(bare.words()).toEqual([])
  })
  test('asks for a place where it may serve, and only for what there is where it may not (PR-2)', () => {
    const wished = (wish: Partial<MemberOptions>): unknown => {
      const bare = new Bare(wish)
      bare.opens()
      const add = bare.asked.find(({ kind }) => kind === 'add')
      return add?.kind === 'add' ? [add.playersMax, add.game, add.room, add.terms] : null
    }
    expect(wished({ terms: 'a=b' })).toEqual([8, 'g', 'r', 'a=b'])
    expect(wished({ kind: 'guest' })).toEqual([0, 'g', 'r', ''])
    expect(wished({ kind: 'browser', hosts: true })).toEqual([0, 'g', 'r', ''])
  })
  test('has its link key made once, whoever asks meanwhile, and waits for it (PR-2)', () => {
    const bare = new Bare()
    bare.isHeld = true
    bare.opens()
    bare.wake(ASK_AGAIN_MS)
    expect(bare.jobs.map(([, { kind }]) => kind)).toEqual(['agree'])
    expect(bare.words()).toEqual(['hello'])
    // Curves that fail make none.
    const [[job]] = bare.jobs as [[number, unknown]]
    bare.do((run) => member.computed(run, bare.now, job, [null]))
    expect([bare.words(), bare.run.member.linkKey.point]).toEqual([[], null])
    bare.wake(2 * ASK_AGAIN_MS)
    bare.closes()
    bare.compute()
    expect([bare.words(), bare.run.member.linkKey.point !== null]).toEqual([[], true])
  })
  test('takes what the session is from the hub, and asks who leads it for a place (PR-2)', () => {
    const bare = new Bare()
    bare.opens()
    const named = { session: 'other', game: 'g', room: 'r', players: 1, playersMax: 3 }
    const register = { epoch: 4, primary: 9, backup: 0 }
    const more = { standing: 'open', topology: 'mesh', terms: 'a=b' } as const
    const entered = { ...named, register, ...more }
    // The hub may not know yet whose key leads.
    bare.added(false, { entry: entered, leader: null })
    expect(bare.run.member.phase).toBe('finding')
    bare.added(false, { entry: entered })
    const { found, phase, session, named: leads } = bare.run.member
    expect([found, phase, leads?.inc]).toEqual(['other', 'asking', 9])
    expect(session).toMatchObject({ topology: 'mesh', terms: 'a=b', playersMax: 3 })
    expect(bare.run.member.joinPeer).not.toBe(null)
  })
  test('founds the session that the hub opened for it, as its first member (PR-2)', () => {
    const bare = new Bare({ addresses: ['udp:192.0.2.1:9'] })
    bare.opens()
    bare.words()
    bare.added(true)
    const { session, phase, home, clock } = bare.run.member
    expect([phase, home, clock.set, session.id, session.me, session.player]).toEqual([
      'in',
      SESSION,
      true,
      SESSION,
      1,
      1,
    ])
    expect(session.leaderCertificate?.epoch).toBe(1)
    expect(session.server.durable.members.get(1)).toMatchObject({
      ...{ inc: 1, player: 1, name: 'p', kind: 'node', addresses: ['udp:192.0.2.1:9'] },
      link: bare.run.member.linkKey.point,
    })
    expect(bare.told()).toEqual(['joined', 'role', 'caught-up', 'view'])
    expect(bare.words().filter((word) => word !== 'members')).toEqual(['attach'])
    expect(joinClient.deadline(bare.run)).toBe(ASK_AGAIN_MS)
    bare.wake(ASK_AGAIN_MS)
    expect(bare.words()).toContain('attach')
    bare.attached({ session: 'other' })
    expect(bare.run.member.hub).toBe('open')
    bare.attached()
    expect([bare.run.member.hub, bare.told()]).toEqual(['attached', ['hub']])
    expect(joinClient.deadline(bare.run)).toBe(Infinity)
    bare.wake(9_000)
    expect(bare.words()).not.toContain('attach')
  })
  test('looks again where whom it asked is not there, or says nothing (PR-2)', () => {
    const bare = new Bare()
    bare.opens()
    bare.added(false)
    bare.hears({ kind: 'refused', request: 0, why: 'not attached' })
    expect([bare.run.member.phase, bare.run.member.joinPeer]).toEqual(['finding', null])
    expect(bare.run.member.unfound).toBe('')
    bare.added(false)
    bare.closes()
    expect([bare.run.member.phase, bare.run.member.joinPeer]).toEqual(['finding', null])
  })
  test('counts what no hub says, and goes on (PR-2)', () => {
    const bare = new Bare()
    bare.opens()
    bare.do((run) => member.hubMessage(run, 0, Uint8Array.of(99)))
    expect(bare.run.member.counters.malformed).toBe(1)
  })
})

describe('a member that the hub is gone from', () => {
  test('is told so once, and that it is back, and attaches again (PR-2)', () => {
    const bare = new Bare()
    bare.founds()
    bare.told()
    bare.closes()
    bare.closes()
    expect(bare.events).toEqual([{ kind: 'hub', up: false }])
    expect([bare.run.member.hub, bare.run.member.session.hub.up]).toEqual(['closed', false])
    bare.words()
    bare.now = 50
    bare.opens()
    expect(bare.words()).toEqual(['hello', 'attach'])
    bare.attached()
    expect(bare.events.at(-1)).toEqual({ kind: 'hub', up: true })
    expect(bare.run.member.session.hub).toEqual({ up: true, since: 50 })
  })
})

describe('a member that is outside', () => {
  function founded(): Bare {
    const bare = new Bare()
    bare.founds()
    for (const list of [bare.events, bare.asked]) list.length = 0
    return bare
  }
  test('T34: by the hub comes back as the same player, with another key and secret (PR-2)', () => {
    const bare = founded()
    const { session: before, linkKey } = bare.run.member
    before.client.nextSeq = 6
    before.client.published.seqs.set(1, 4)
    before.client.pending.push({ seq: 5, part: 5, body: new Uint8Array(1), since: 0 })
    bare.run.member.found = ''
    bare.hears({ kind: 'present', session: SESSION, inc: 1, here: false })
    const { session, resume, recorded, phase, counters, hub, giveUpAt } = bare.run.member
    expect([phase, hub, counters.returns, recorded]).toEqual(['finding', 'open', 1, 4])
    expect(resume).toEqual({ session: SESSION, player: 1, inc: 1, settled: 4 })
    expect([session.client.pending.length, session.client.nextSeq]).toEqual([1, 6])
    expect(session.secret).not.toEqual(before.secret)
    expect(bare.run.member.linkKey.secret).not.toEqual(linkKey.secret)
    expect([bare.told(), bare.words()]).toEqual([['lost'], ['add']])
    expect(giveUpAt).toBe(JOIN_MS * BACK_FACTOR)
    const { member: own } = bare.run
    expect([own.seal, own.sealed, own.keys.size, own.peers.size, own.named]).toEqual([
      null,
      '',
      0,
      0,
      null,
    ])
    bare.closes()
    bare.wake(JOIN_MS * BACK_FACTOR)
    const why = `the hub at ${HUB} went away, and did not come back within 60 s`
    expect(bare.failure()).toEqual({ code: 'unreachable', why })
  })
  test.each<[string, (bare: Bare) => void, boolean]>([
    [
      'of ours',
      (bare) => bare.hears({ kind: 'present', session: SESSION, inc: 1, here: false }),
      true,
    ],
    [
      'of another member',
      (bare) => bare.hears({ kind: 'present', session: SESSION, inc: 2, here: false }),
      false,
    ],
    [
      'of another session',
      (bare) => bare.hears({ kind: 'present', session: 'x', inc: 1, here: false }),
      false,
    ],
    [
      'that we came',
      (bare) => bare.hears({ kind: 'present', session: SESSION, inc: 1, here: true }),
      false,
    ],
    [
      'that is no refusal of our place',
      (bare) => bare.hears({ kind: 'refused', request: 0, why: 'no' }),
      false,
    ],
    [
      'that refuses it',
      (bare) => {
        bare.closes()
        bare.opens()
        bare.hears({ kind: 'refused', request: 0, why: 'no' })
      },
      true,
    ],
  ])('T34: comes back by a word %s (PR-2)', (_what, says, back) => {
    const bare = founded()
    says(bare)
    expect(bare.run.member.phase).toBe(back ? 'finding' : 'in')
  })
  test('T34: and leaves does not come back, nor does one that is on its way (PR-2)', () => {
    const leaves = founded()
    leaves.run.member.session.leaving = true
    joinClient.rejoin(leaves.run)
    expect(leaves.run.member.phase).toBe('in')
    const early = new Bare()
    joinClient.rejoin(early.run)
    expect(early.run.member.counters.returns).toBe(0)
  })
  test('S-5: for its player is elsewhere now, or nobody serves, is out for good (PR-2)', () => {
    const [other, gone] = [founded(), founded()]
    other.run.out.emit({ kind: 'removed', why: 'returned' })
    expect(other.failure()).toEqual({ code: 'elsewhere', why: 'this player plays elsewhere now' })
    gone.run.out.emit({ kind: 'abandoned' })
    expect(gone.failure()?.code).toBe('unreachable')
    expect([other.run.member.phase, gone.run.member.phase]).toEqual(['out', 'out'])
  })
  test('T34: in another session has its parts begin anew, and its clock (PR-2)', () => {
    const resets = (home: string): [number, boolean] => {
      let count = 0
      const part = { channel: 5, reset: () => void count++ }
      const bare = new Bare({}, [{ part, state: null }])
      bare.run.member.home = home
      bare.opens()
      bare.added(true)
      return [count, bare.run.member.home === SESSION]
    }
    expect([resets(''), resets(SESSION), resets('before')]).toEqual([
      [0, true],
      [0, true],
      [1, true],
    ])
  })
})

describe('a doubt whether a peer is there', () => {
  test.each([
    [0, peers.CHECK_MS],
    [20, peers.CHECK_MS + 60],
    [900, peers.CHECK_MAX_MS],
  ])(
    'with a round trip of %i ms lasts %i: it asks, and looks once more at the end (PR-2)',
    (rtt, ms) => {
      const own = peers.beginCheck(1_000, 'there', rtt)
      expect(own).toEqual({ address: 'there', askAt: 1_010, until: 1_000 + ms, last: false })
      expect(peers.stepCheck(own, 1_009)).toBe('wait')
      expect(peers.stepCheck(own, 1_010)).toBe('ask')
      expect(own.askAt).toBe(1_020)
      expect(peers.stepCheck(own, 1_000 + ms - 0.5)).toBe(ms > 20 ? 'ask' : 'wait')
      expect(peers.stepCheck(own, 1_000 + ms)).toBe('wait')
      expect(peers.stepCheck(own, 1_000 + ms)).toBe('believe')
    },
  )
})

test('a word of the register about our session says whose key leads, and no other does (PR-2)', () => {
  const bare = new Bare()
  bare.founds()
  const register = { epoch: 2, primary: 1, backup: 0 }
  const leader = { link: pointOf(9), grant: new Uint8Array(64) }
  const said = { kind: 'register', request: 0, ok: true, register, leader } as const
  const named = { inc: 1, key: nameOf(leader.link) }
  bare.hears({ ...said, session: 'other' })
  expect(bare.run.member.named).not.toEqual(named)
  bare.hears({ ...said, session: SESSION })
  expect(bare.run.member.named).toEqual(named)
  bare.hears({ ...said, session: SESSION, leader: null })
  expect(bare.run.member.named).toBe(null)
})
