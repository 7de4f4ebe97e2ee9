// Goal: what a session does at once when a link, the hub or a process tells it something, and with
// whom it wants links.
// Method: the shipped session, by hand, at instants that are arguments.
import { describe, expect, test } from 'vitest'
import type { FromHub } from '../../packages/holdfast/src/hub-protocol/messages.ts'
import { fresh, NO_PARTS } from '../../proof/models/processes.ts'
import * as client from '../../packages/holdfast/src/session/client.ts'
import type { PeerMessage } from '../../packages/holdfast/src/session/messages.ts'
import { hold, mayPublish, releaseHeld } from '../../packages/holdfast/src/session/output.ts'
import * as machine from '../../packages/holdfast/src/session/session.ts'
import { RULES } from '../../packages/holdfast/src/session/session.ts'
import { handOver } from '../../packages/holdfast/src/session/roles.ts'
import {
  leadOf,
  type Session,
  restartVouched,
  NO_VIEW,
} from '../../packages/holdfast/src/session/state.ts'
import * as watch from '../../packages/holdfast/src/session/failure-detector.ts'
import { calmly } from '../calmly.ts'
import { backedUpOf, heardAt, listening, memberOf, primaryOf, saidOf } from './scene.ts'

const HANDOVER_MS = 1_000
const REFRESH_MS = 1_000
const REFRESHES_MAX = 8

type Heard = ReturnType<typeof listening>

const BODY = Uint8Array.of(7)
const waits = (own: Session): void => {
  own.client.pending.push({ seq: 1, part: 5, body: BODY, since: 0 })
  own.client.againAt = 900
}

function hubSays(own: Session, message: FromHub, now = 0, heard = listening()): Heard {
  calmly(() => machine.receiveFromHub({ session: own, now, out: heard.out }, message))
  return heard
}

describe('a link', () => {
  function linked(own: Session, peer: number, relayed = false): Heard {
    const heard = listening()
    calmly(() =>
      machine.onLinked({ session: own, now: 50, out: heard.out }, peer, relayed ? 'relay' : 'udp'),
    )
    return heard
  }
  test('T12: is watched from now on, and what the hub said of its peer still holds (PR-2)', () => {
    const { own } = memberOf(3)
    own.detectors.set(2, { ...heardAt(0), samples: 99, vouched: true })
    linked(own, 2, true)
    expect(own.detectors.get(2)).toEqual({ ...watch.create(50, 'relay'), vouched: true })
    linked(own, 1)
    expect(own.detectors.get(1)).toEqual(watch.create(50, 'udp'))
  })
  test('T44: to our primary, or whom the register names, is asked for all we lack (PR-2)', () => {
    const asks = (peer: number, epoch: number, primary: number): boolean => {
      const { own } = memberOf(3)
      own.client.register = { epoch, primary, backup: 0 }
      const { sent } = linked(own, peer)
      expect(sent).toEqual(own.client.published.waiting ? [[peer, 'resync']] : [])
      return own.client.published.waiting
    }
    expect([asks(1, 2, 1), asks(2, 2, 1), asks(2, 3, 2), asks(2, 2, 2), asks(2, 3, 9)]).toEqual([
      true,
      false,
      true,
      false,
      false,
    ])
  })
  test('T44: has what waits sent again at once, and nothing where nothing does (PR-2)', () => {
    const { own } = memberOf(3)
    linked(own, 1)
    expect(own.client.againAt).toBe(Infinity)
    waits(own)
    linked(own, 2)
    expect(own.client.againAt).toBe(900)
    linked(own, 1)
    expect(own.client.againAt).toBe(50)
  })
  test('T14: that began with a JOIN is not asked for anything, for all of it comes (PR-2)', () => {
    const entered = (own: Session): Heard => {
      const heard = listening()
      own.detectors.set(2, { ...heardAt(0), vouched: true })
      calmly(() => machine.onEntered({ session: own, now: 50, out: heard.out }, 2, 'relay'))
      expect(own.detectors.get(2)).toEqual(watch.create(50, 'relay'))
      return heard
    }
    const { own } = memberOf(3)
    own.client.published.coming = [{ part: 5, bytes: BODY }]
    expect(entered(own).sent).toEqual([])
    const askAt = 50 + client.ASK_SNAPSHOT_AGAIN_MS
    expect(own.client.published).toMatchObject({ waiting: true, coming: [], askAt })
    expect(own.client.againAt).toBe(Infinity)
    waits(own)
    entered(own)
    expect(own.client.againAt).toBe(50)
    const primary = primaryOf(3).session
    expect(entered(primary).events).toEqual([{ kind: 'welcome', to: [2] }])
    expect(primary.client.published.askAt).toBe(Infinity)
  })
  test('has a path and a round trip, of which nothing is known without a link (PR-2)', () => {
    const { own } = memberOf(3)
    own.detectors.set(2, heardAt(0, true))
    for (const peer of [2, 9]) {
      calmly(() => machine.onRerouted(own, peer, 'udp', false))
      calmly(() => machine.onMeasured(own, 0, peer, 40, 0))
    }
    expect(own.detectors.get(2)).toMatchObject({ path: 'udp', relayed: false, rttMs: 40 })
    expect([...own.detectors.keys()]).toEqual([1, 2])
  })
  test('T32: that its peer closed ends its membership, at a primary (PR-2)', () => {
    const closes = (own: Session, peer: number): unknown[] => {
      const { out, messages } = listening()
      calmly(() => machine.onClosed({ session: own, now: 0, out }, peer, 'failed'))
      const why = messages.find(({ kind }) => kind === 'change')
      return [own.server.role, why?.kind === 'change' ? [why.remove, why.why] : null]
    }
    expect(closes(primaryOf(3).session, 3)).toEqual(['alone', [3, 'failed']])
    expect(closes(backedUpOf(3).session, 2)).toEqual(['dropping', null])
    expect(closes(memberOf(3).own, 1)).toEqual(['idle', null])
  })
})

describe('links that are wanted', () => {
  test('T12: are with primary and backup, as far as they are members, and not with ourselves (PR-2)', () => {
    const wanted = (make: (own: Session) => void, me = 3): number[] => {
      const { own } = memberOf(me)
      make(own)
      return calmly(() => machine.wanted(own))
    }
    const view = (primary: number, backup: number) => (own: Session) => {
      own.client.view = { ...own.client.view, primary, backup }
    }
    const named = (epoch: number, primary: number) => (own: Session) => {
      own.client.register = { epoch, primary, backup: 0 }
    }
    expect(wanted(() => {})).toEqual([1, 2])
    expect(wanted(() => {}, 2)).toEqual([1])
    expect(wanted(view(1, 0))).toEqual([1])
    expect(wanted(view(1, 9))).toEqual([1])
    expect(wanted(view(0, 0))).toEqual([])
    // Whom the register names may not be in our view yet.
    expect(wanted(named(3, 9))).toEqual([1, 2, 9])
    expect(wanted(named(2, 9))).toEqual([1, 2])
    expect(wanted(named(3, 2))).toEqual([1, 2])
    expect(wanted(named(3, 3))).toEqual([1, 2])
  })
  test('T12: are with the candidate that a primary asks (PR-2)', () => {
    const one = primaryOf(3)
    const own = one.session
    const members = [...own.server.published.values()]
    own.client.view = { ...NO_VIEW, epoch: 1, mv: 3, primary: 1, backup: 0, members }
    expect(machine.wanted(own)).toEqual([])
    Object.assign(own.server, { candidate: 3 })
    expect(machine.wanted(own)).toEqual([3])
  })
  test('B8: are with all others in a mesh, and with none of them in a star (PR-2)', () => {
    const { own } = memberOf(3)
    expect(machine.meshed(own)).toEqual([])
    own.topology = 'mesh'
    expect(machine.meshed(own)).toEqual([1, 2])
  })
})

describe('the hub', () => {
  const grant = new Uint8Array(64).fill(5)
  const leader = { link: new Uint8Array(32), grant }
  test('says of this session alone what its register is, and who signed for it (PR-2)', () => {
    const { own } = memberOf(3)
    hubSays(own, { ...saidOf(5, 9), session: 'other', leader })
    expect([own.client.register.epoch, own.leaderCertificate]).toEqual([0, null])
    hubSays(own, { ...saidOf(5, 9), leader })
    expect([own.client.register.epoch, own.leaderCertificate]).toEqual([
      5,
      { epoch: 5, bytes: grant },
    ])
    hubSays(own, saidOf(6, 9))
    expect(own.leaderCertificate).toEqual({ epoch: 5, bytes: grant })
  })
  test('PEER_GONE: says who is attached, and who came or went (PR-2)', () => {
    const { own } = memberOf(3)
    for (const inc of [1, 2]) own.detectors.set(inc, heardAt(0))
    const gone = (): boolean[] => [1, 2].map((inc) => own.detectors.get(inc)!.gone)
    const register = { epoch: 4, primary: 2, backup: 0 }
    const attached = { request: 0, session: 's', register, present: [2], leader }
    hubSays(own, { kind: 'attached', ...attached })
    expect([gone(), own.client.register, own.leaderCertificate?.epoch]).toEqual([
      [true, false],
      register,
      4,
    ])
    const present = { kind: 'present', session: 's' } as const
    hubSays(own, { ...present, inc: 1, here: true })
    hubSays(own, { ...present, inc: 2, here: false })
    hubSays(own, { ...present, inc: 9, here: false })
    expect(gone()).toEqual([false, true])
    expect(own.detectors.has(9)).toBe(false)
  })
  test('that is back is told the members, asked what is open, and asked for the register (PR-2)', () => {
    const up = (own: Session): unknown[] => {
      const { out, asked } = listening()
      machine.onHubDown(own, out)
      expect(own.hub.up).toBe(false)
      own.client.askAt = 9_000
      calmly(() => machine.onHubUp({ session: own, now: 70, out }))
      expect([own.hub, own.client.askAt]).toEqual([{ up: true, since: 70 }, 70])
      return asked.map(({ kind }) => kind)
    }
    expect(up(memberOf(3).own)).toEqual([])
    expect(up(primaryOf(3).session)).toEqual(['members'])
    const one = backedUpOf(3)
    one.give({ kind: 'suspect', peer: 2 })
    if ('attempt' in one.session.server) one.session.server.attempt.againAt = 5_000
    expect(up(one.session)).toEqual(['members', 'change'])
  })
  test('T36: asks who leads whether it does, of this session and epoch; then the relay is tried (PR-2)', () => {
    const asked = (
      own: Session,
      other: Partial<FromHub & { kind: 'challenge' }> = {},
    ): unknown[] => {
      const question = { kind: 'challenge', session: 's', epoch: 2, nonce: 7, ...other } as const
      const heard = hubSays(own, question)
      return [heard.asked, heard.events]
    }
    const alive = [{ kind: 'alive', session: 's', epoch: 2, nonce: 7 }]
    expect(asked(backedUpOf(3).session)).toEqual([alive, [{ kind: 'unheard', peer: 2 }]])
    expect(asked(backedUpOf(3).session, { session: 'other' })).toEqual([[], []])
    expect(asked(backedUpOf(3).session, { epoch: 3 })).toEqual([[], []])
    expect(asked(memberOf(3).own)).toEqual([[], []])
    const alone = primaryOf(3).session
    expect(asked(alone, { epoch: 1 })).toEqual([[{ ...alive[0], epoch: 1 }], []])
    const gathers = primaryOf(3).session
    Object.assign(gathers.server, { role: 'gathering' })
    expect(asked(gathers, { epoch: 1 })).toEqual([[{ ...alive[0], epoch: 1 }], []])
  })
  test('T36: says that the primary lives: it is watched anew, for a second at least (PR-2)', () => {
    const { own } = memberOf(2)
    const vetoed = (role: string, session = 's', request = 4): unknown[] => {
      const attempt = { request: 4, againAt: 0 }
      Object.assign(own.server, { role, primary: 1, ackedAt: 0, attempt })
      own.detectors.set(1, { ...heardAt(0), samples: 99 })
      const { events } = hubSays(own, { kind: 'alive', request, session }, 30)
      return [own.server.role, own.detectors.get(1)!.vouched, events.map(({ kind }) => kind)]
    }
    expect(vetoed('taking')).toEqual(['backup', true, ['role', 'unheard']])
    expect(own.detectors.get(1)).toEqual({ ...watch.create(30, 'udp'), vouched: true })
    expect(vetoed('taking', 'other')).toEqual(['taking', false, []])
    expect(vetoed('backup')).toEqual(['backup', false, []])
    // Of an older request it only puts the next one off.
    expect(vetoed('taking', 's', 3)).toEqual(['taking', false, []])
    expect(own.server).toMatchObject({ attempt: { againAt: 1_030 } })
    own.detectors.clear()
    restartVouched(own, 30, 1)
    expect(own.detectors.get(1)).toEqual({ ...watch.create(30, 'relay'), vouched: true })
  })
})

describe('who asks for all of it anew', () => {
  const asks = (own: Session, from: number, now: number): Heard => {
    const heard = listening()
    calmly(() => machine.receive({ session: own, now, out: heard.out }, from, { kind: 'resync' }))
    return heard
  }
  test('T44: gets it from who leads, eight times a second at most, each by itself (PR-2)', () => {
    const own = primaryOf(3).session
    const { sent, events } = asks(own, 2, 0)
    expect([sent, events]).toEqual([[[2, 'view']], [{ kind: 'welcome', to: [2] }]])
    for (let at = 1; at < REFRESHES_MAX; at++) expect(asks(own, 2, 9).sent).toHaveLength(1)
    expect(asks(own, 2, REFRESH_MS - 1).sent).toEqual([])
    expect(asks(own, 3, REFRESH_MS - 1).sent).toHaveLength(1)
    expect(asks(own, 2, REFRESH_MS).sent).toHaveLength(1)
    expect(leadOf(own).refreshed.get(2)).toEqual({ since: REFRESH_MS, count: 1 })
    // Of a member that was removed nothing is kept.
    calmly(() =>
      machine.onClosed({ session: own, now: REFRESH_MS, out: listening().out }, 2, 'left'),
    )
    expect([...leadOf(own).refreshed.keys()]).toEqual([3])
    expect([...leadOf(own).lease.removed.keys()]).toEqual([2])
  })
  test('T44: gets nothing where it is no member, or from who does not lead (PR-2)', () => {
    expect(asks(primaryOf(3).session, 9, 0).sent).toEqual([])
    expect(asks(memberOf(3).own, 2, 0).sent).toEqual([])
  })
  test('T30: a word that the session was recovered counts of our primary alone (PR-2)', () => {
    const { own } = memberOf(3)
    const silent = { epoch: 2, witness: 3, gone: [], silent: 0 }
    const recovered: PeerMessage = { kind: 'recovered', ...silent }
    const told = (from: number): unknown[] => {
      const { out, events } = listening()
      calmly(() => machine.receive({ session: own, now: 0, out }, from, recovered))
      return events
    }
    expect([told(2), told(1)]).toEqual([[], [recovered]])
  })
})

describe('what is held', () => {
  const leave: PeerMessage = { kind: 'leave' }
  test('T43: leaves by the lease, to the millisecond, or by promises of all others (PR-2)', () => {
    const own = primaryOf(3).session
    const { lease } = leadOf(own)
    expect(mayPublish(own, 99_999)).toBe(true)
    Object.assign(lease, { counts: true, until: 500, known: true })
    expect([mayPublish(own, 499), mayPublish(own, 500)]).toEqual([true, false])
    for (const inc of [2, 3]) lease.promises.set(inc, 900)
    expect([mayPublish(own, 899), mayPublish(own, 900)]).toEqual([true, false])
    expect(calmly(() => mayPublish(memberOf(3).own, 99_999))).toBe(true)
  })
  test('T78: is what it was, and leaves in its order as soon as it may (PR-2)', () => {
    const own = primaryOf(3).session
    Object.assign(leadOf(own).lease, { counts: true, until: 500 })
    const { out, sent } = listening()
    for (const to of [3, 2])
      hold({ session: own, now: 500, out }, { kind: 'send', to, message: leave })
    expect(sent).toEqual([])
    releaseHeld({ session: own, now: 499, out })
    expect(sent).toEqual([
      [3, 'leave'],
      [2, 'leave'],
    ])
  })
  test('T78: news are the same message for all who may see all of it (PR-2)', () => {
    const own = primaryOf(3).session
    const news = { kind: 'news', index: 1, player: 1, seq: 1, part: 5, bytes: BODY } as const
    const { out, messages } = listening()
    const show = (_part: number, bytes: Uint8Array, player: number): Uint8Array => {
      return player === 3 ? Uint8Array.of(0) : bytes
    }
    const parts = { ...NO_PARTS, show }
    hold({ session: own, now: 0, out: { ...out, parts } }, { kind: 'broadcast', news })
    expect(messages).toEqual([news, news, { ...news, bytes: Uint8Array.of(0) }])
    expect(messages[0]).toBe(messages[1])
  })
  test('T13: the founder alone is told the whole view as it comes in (PR-2)', () => {
    const views = (inc: number): unknown[] => {
      const own = primaryOf(1).session
      const { out, sent } = listening()
      own.server.published.clear()
      const member = { ...[...own.server.durable.members.values()][0]!, inc }
      hold({ session: own, now: 0, out }, { kind: 'came', member })
      return sent
    }
    expect([views(1), views(2)]).toEqual([[[1, 'view']], []])
  })
  test('who asked for the session already promises nothing more (PR-2)', () => {
    const names = ['idle', 'alone', 'recovering', 'backup'] as const
    const may = names.map((role) => RULES.mayPromise(role))
    expect(may).toEqual([true, true, false, true])
  })
})

describe('by the clock', () => {
  test('nothing is due where the process is no member yet (PR-2)', () => {
    const own = fresh(1, null).session
    own.client.againAt = 0
    const { out, sent } = listening()
    expect(machine.deadline(own)).toBe(Infinity)
    own.client.published.askAt = 0
    machine.wake({ session: own, now: 99_999, out })
    expect(sent).toEqual([])
  })
  test('whatever is due first, of the server object or the client, is due (PR-2)', () => {
    const own = primaryOf(3).session
    leadOf(own).sweepAt = 70
    own.client.againAt = 80
    expect(machine.deadline(own)).toBe(70)
    own.client.againAt = 60
    expect(machine.deadline(own)).toBe(60)
  })
  test('a stall of our own is taken off all clocks, and may cost the role (PR-2)', () => {
    const own = backedUpOf(3).session
    for (const inc of [2, 3]) own.detectors.set(inc, heardAt(0))
    const at = 30_000
    for (const now of [at, at + 2_000]) {
      calmly(() => machine.onStalled({ session: own, now, out: listening().out }, 300))
    }
    expect([...own.detectors.values()].map(({ since }) => since)).toEqual([600, 600])
    expect(own.server).toMatchObject({ handoverUntil: at + 2_000 + HANDOVER_MS })
  })
})

describe('who leaves', () => {
  const leaves = (own: Session): unknown[] => {
    const { out, sent, asked } = listening()
    calmly(() => machine.leave({ session: own, now: 0, out }))
    calmly(() => machine.endIfLast({ session: own, now: 0, out }))
    expect(own.leaving).toBe(true)
    return [sent.map(([to, kind]) => `${kind} ${to}`), asked.map(({ kind }) => kind)]
  }
  test('T31: says so to its primary, hands its role over, or ends the session (PR-2)', () => {
    expect(leaves(memberOf(3).own)).toEqual([['leave 1'], []])
    const unled = memberOf(3).own
    unled.client.view = { ...unled.client.view, primary: 0 }
    expect(leaves(unled)).toEqual([[], []])
    const backed = backedUpOf(3).session
    backed.client.view = { ...backed.client.view, primary: 1 }
    expect(leaves(backed)).toEqual([['replicate 2'], []])
    const last = primaryOf(1).session
    last.client.view = { ...last.client.view, primary: 1 }
    expect(leaves(last)).toEqual([[], ['change']])
    // While the role is on its way the session is not ended.
    const gives = backedUpOf(2).session
    gives.client.view = { ...gives.client.view, primary: 1 }
    gives.server.published.delete(2)
    expect(handOver({ session: gives, now: 0, out: listening().out })).toBe(true)
    expect(leaves(gives)).toEqual([[], []])
  })
})
