// Goal: who stands by holds the whole log, leads when the register says so, and not before.
// Method: the shipped verbs of roles and of the log, by hand, at instants that are arguments.
import { describe, expect, test } from 'vitest'
import { EPOCH_MAX } from '../../packages/holdfast/src/hub-protocol/messages.ts'
import { fresh, NO_PARTS } from '../../proof/models/processes.ts'
import { type Delta, deltaLayout } from '../../packages/holdfast/src/replication/layouts.ts'
import { retry, certificateFor, viewOf } from '../../packages/holdfast/src/session/output.ts'
import * as roles from '../../packages/holdfast/src/session/roles.ts'
import { handOver, proceed } from '../../packages/holdfast/src/session/roles.ts'
import { remove } from '../../packages/holdfast/src/session/membership.ts'
import type { PeerMessage } from '../../packages/holdfast/src/session/messages.ts'
import { record } from '../../packages/holdfast/src/session/replicate.ts'
import * as machine from '../../packages/holdfast/src/session/session.ts'
import { leadOf, type Session } from '../../packages/holdfast/src/session/state.ts'
import * as watch from '../../packages/holdfast/src/session/failure-detector.ts'
import { encode } from '../../packages/holdfast/src/wire/layout.ts'
import { calmly } from '../calmly.ts'
import {
  ackOf,
  backedUpOf,
  heardAt,
  listening,
  memberOf,
  One,
  operation,
  primaryOf,
  registerOf,
  saidOf,
} from './scene.ts'

const ATTEMPT_MS = 250
const HANDOVER_MS = 1_000
const LEASE_MS = 10_000

type Snapshot = PeerMessage & { kind: 'snapshot' }
type Heard = ReturnType<typeof listening>

/** The snapshot that 2 is sent as a candidate. */
function snapshotOf(): Snapshot {
  const one = primaryOf(3)
  one.give({ kind: 'offer', peer: 2 })
  return one.sent.find((message) => message.kind === 'snapshot')!
}

/** Member 2, which holds the log of 1 and stands by since epoch 2, if it is named. */
function standby(named = true): One {
  const one = new One(fresh(1, null))
  Object.assign(one.session, { me: 2, player: 2 })
  one.give({ kind: 'receive', from: 1, message: snapshotOf() })
  if (named) one.give(registerOf(2, 1, 2))
  for (const list of [one.sent, one.asked, one.told]) list.length = 0
  return one
}

function hear(own: Session, message: PeerMessage, from = 1, now = 0, heard = listening()): Heard {
  calmly(() => machine.receive({ session: own, now, out: heard.out }, from, message))
  return heard
}

const lengthOf = ({ server: { log } }: Session): number => log.base + log.entries.length
const entryOf = (delta: Delta): Uint8Array => encode(deltaLayout, delta)

describe('a snapshot', () => {
  /** What became of a candidate that was given these. */
  function after(messages: Partial<Snapshot>[], make: (own: Session) => void = () => {}, from = 1) {
    const own = fresh(1, null).session
    Object.assign(own, { me: 2, player: 2 })
    make(own)
    const heard = listening()
    const whole = snapshotOf()
    for (const other of messages) hear(own, { ...whole, ...other }, from, 70, heard)
    return { own, role: own.server.role, sent: heard.messages }
  }
  const { bytes, length } = snapshotOf()
  const half = { of: 2, piece: 0, bytes: bytes.slice(0, 9) }
  const rest = { of: 2, piece: 1, bytes: bytes.slice(9) }

  test('T38: that is whole is acked with the length of its log, and its sender watched anew (PR-2)', () => {
    const { own, role, sent } = after([{}], (made) => {
      made.detectors.set(1, { ...heardAt(0), samples: 99 })
    })
    expect([role, sent]).toEqual(['sync', [{ kind: 'acknowledge', epoch: 1, length }]])
    expect(own.server).toMatchObject({ primary: 1, ackedAt: 70, epoch: 1, incoming: null })
    expect(own.detectors.get(1)).toEqual(watch.create(70, 'udp'))
  })
  test('T38: comes in pieces, all of one copy (PR-2)', () => {
    expect(after([half]).role).toBe('idle')
    expect(after([half, rest]).role).toBe('sync')
    expect(after([half, { ...rest, epoch: 2 }]).role).toBe('idle')
    expect(after([half, { ...rest, length: length + 1 }]).role).toBe('idle')
    expect(after([rest]).role).toBe('idle')
    expect(after([half, half, rest]).role).toBe('sync')
    const own = after([half]).own
    own.client.register = { epoch: 9, primary: 5, backup: 0 }
    own.client.view = { ...own.client.view, epoch: 1, primary: 1 }
    // The other half of another's is none.
    hear(own, { ...snapshotOf(), ...rest }, 5)
    expect(own.server.role).toBe('idle')
  })
  test.each<[string, Partial<Snapshot>, number, (own: Session) => void]>([
    ['of an epoch beyond the last', { epoch: EPOCH_MAX + 1 }, 1, () => {}],
    ['of too many pieces', { of: 2_049 }, 1, () => {}],
    ['of bytes that are none', { bytes: Uint8Array.of(1) }, 1, () => {}],
    ['of ourselves', {}, 2, () => {}],
    ['of who may not lead', {}, 9, (own) => void (own.client.view = memberOf(2).view)],
  ])('T38: %s is not taken (PR-2)', (_what, other, from, make) => {
    const { role, sent, own } = after([other], make, from)
    expect([role, sent]).toEqual(['idle', []])
    expect(own.server).toMatchObject({ incoming: null })
  })
  test('T38: of the last epoch is taken, and one of as many pieces as there may be is begun (PR-2)', () => {
    expect(after([{ epoch: EPOCH_MAX }]).role).toBe('sync')
    const { own } = after([{ of: 2_048 }])
    expect(own.server).toMatchObject({ incoming: { pieces: { of: 2_048 } } })
  })
  test('T38: takes the place of one of the same epoch, not of a later one, nor of a log that is followed', () => {
    const again = (epoch: number, first = 2): number => {
      const { own } = after([{ epoch: first }])
      hear(own, { ...snapshotOf(), epoch, length: 99 })
      return lengthOf(own)
    }
    expect([again(2), again(3), again(1)]).toEqual([99, 99, length])
    const one = standby()
    one.give({ kind: 'receive', from: 1, message: { ...snapshotOf(), epoch: 9, length: 99 } })
    expect([one.session.server.role, one.sent]).toEqual(['backup', []])
  })
  test('T38: that a part does not take leaves who held none with none (PR-2)', () => {
    const own = fresh(1, null).session
    own.me = 2
    const { out, sent, events } = listening()
    const deaf = { ...out, parts: { ...NO_PARTS, restore: () => false } }
    calmly(() => machine.receive({ session: own, now: 0, out: deaf }, 1, snapshotOf()))
    expect([own.server.role, sent, events]).toEqual(['idle', [], []])
  })
})

describe('an entry of the log', () => {
  const delta = entryOf({ kind: 'pointer', inc: 3 })
  const at = (own: Session, other: Partial<PeerMessage & { kind: 'replicate' }> = {}) => {
    return { kind: 'replicate', epoch: 2, index: lengthOf(own), delta, ...other } as const
  }
  test('T35: is made and acked, in the epoch of who sent it (PR-2)', () => {
    const own = standby().session
    const length = lengthOf(own)
    const { messages } = hear(own, at(own), 1, 40)
    expect(messages).toEqual([{ kind: 'acknowledge', epoch: 2, length: length + 1 }])
    expect(own.server).toMatchObject({ ackedAt: 40, durable: { pointer: 3 } })
  })
  test.each<[string, Partial<PeerMessage & { kind: 'replicate' }>, number]>([
    ['of another member', {}, 3],
    ['of an older epoch', { epoch: 1 }, 1],
    ['of an epoch beyond the last', { epoch: EPOCH_MAX + 1 }, 1],
    ['that is none', { delta: Uint8Array.of(99) }, 1],
  ])('T35: %s is not taken (PR-2)', (_what, other, from) => {
    const own = standby().session
    const before = [lengthOf(own), own.server.epoch]
    expect(hear(own, at(own, other), from).sent).toEqual([])
    expect([lengthOf(own), own.server.epoch]).toEqual(before)
  })
  test('T35: of the last epoch is taken, and to who follows nobody is nothing (PR-2)', () => {
    const own = standby().session
    expect(hear(own, at(own, { epoch: EPOCH_MAX })).sent).toEqual([[1, 'acknowledge']])
    expect(own.server).toMatchObject({ role: 'backup', epoch: EPOCH_MAX })
    const idle = memberOf(3).own
    expect(hear(idle, at(idle)).sent).toEqual([])
  })
  test('T38: of a later epoch, or a word of it, tells who was asked that it stands by (PR-2)', () => {
    const roleAfter = (message: (own: Session) => PeerMessage): unknown[] => {
      const own = standby(false).session
      own.detectors.set(1, { ...heardAt(0), samples: 99 })
      hear(own, message(own), 1, 30)
      return [own.server.role, own.server.epoch, own.detectors.get(1)!.samples]
    }
    expect(roleAfter((own) => at(own, { epoch: 1 }))).toEqual(['sync', 1, 99])
    expect(roleAfter((own) => at(own, { epoch: 2 }))).toEqual(['backup', 2, 0])
    expect(roleAfter(() => ({ kind: 'confirm', epoch: 1 }))).toEqual(['backup', 1, 0])
    expect(roleAfter(() => ({ kind: 'confirm', epoch: 2 }))).toEqual(['backup', 2, 0])
  })
  test('T77: of a later epoch is not taken while it asks to take over (PR-2)', () => {
    const one = standby()
    one.give({ kind: 'suspect', peer: 1 })
    const own = one.session
    expect(hear(own, at(own, { epoch: 3 })).sent).toEqual([])
    expect(hear(own, at(own)).sent).toEqual([[1, 'acknowledge']])
    expect(own.server).toMatchObject({ role: 'taking', epoch: 2 })
  })
})

describe('the log of a primary', () => {
  test('T35: goes to who stands by, and is owed to nobody where nobody does (PR-2)', () => {
    const alone = primaryOf(2).session
    record({ session: alone, now: 5, out: listening().out }, { kind: 'pointer', inc: 2 })
    expect(alone.server.log).toMatchObject({ entries: [], bytes: 0, unackedSince: Infinity })
    expect(alone.server.log.acked).toBe(lengthOf(alone))
    const { session } = backedUpOf(3)
    const { out, messages } = listening()
    record({ session, now: 5, out }, { kind: 'pointer', inc: 2 })
    const index = lengthOf(session) - 1
    const delta = entryOf({ kind: 'pointer', inc: 2 })
    expect(messages).toEqual([{ kind: 'replicate', epoch: 2, index, delta }])
    expect(session.server.log.unackedSince).toBe(5)
    const { own } = memberOf(3)
    expect(() => record({ session: own, now: 0, out }, { kind: 'pointer', inc: 2 })).toThrow(
      'only a serving primary',
    )
  })
  test('T35: is sent again on a new link, what is not acked of it (PR-2)', () => {
    const one = backedUpOf(3)
    for (const seq of [1, 2, 3]) one.give(operation(seq))
    one.give(ackOf(2, one.length - 1))
    const kinds = (peer: number, own = one.session): [number, string][] => {
      const { out, sent } = listening()
      calmly(() => machine.onLinked({ session: own, now: 0, out }, peer, 'udp'))
      return sent
    }
    expect(kinds(2)).toEqual([
      [2, 'confirm'],
      [2, 'replicate'],
    ])
    expect(kinds(3)).toEqual([])
    one.give({ kind: 'suspect', peer: 2 })
    expect(kinds(2)).toEqual([[2, 'replicate']])
    const alone = primaryOf(3)
    expect(kinds(2, alone.session)).toEqual([])
    alone.give({ kind: 'offer', peer: 2 })
    expect(kinds(2, alone.session)).toEqual([[2, 'snapshot']])
  })
  test('C-1: an ack counts of who follows, in this epoch; what is acked is not kept (PR-2)', () => {
    const one = backedUpOf(3)
    one.give(operation(1))
    const ack = (from: number, epoch = 2): number => {
      const message = { kind: 'acknowledge', epoch, length: one.length } as const
      one.give({ kind: 'receive', from, message })
      return one.session.server.log.entries.length
    }
    expect([ack(3), ack(2, 1), ack(2)]).toEqual([1, 1, 0])
    // Of a primary that asks nobody, nobody acks.
    const alone = primaryOf(3)
    const whole = { kind: 'acknowledge', epoch: 1, length: alone.length } as const
    for (const from of [0, 2]) alone.give({ kind: 'receive', from, message: whole })
    expect(alone.session.server.role).toBe('alone')
    hear(memberOf(3).own, whole, 2)
  })
})

describe('a hand-over', () => {
  test('T4: waits a second for the log to be there, and is off then (PR-2)', () => {
    const own = backedUpOf(3).session
    const { out, sent } = listening()
    expect(handOver({ session: own, now: 100, out })).toBe(true)
    expect(own.server).toMatchObject({ handoverUntil: 100 + HANDOVER_MS })
    expect(sent).toEqual([[2, 'replicate']])
    // Asked for again it is under way.
    expect(handOver({ session: own, now: 300, out })).toBe(true)
    expect([sent.length, own.server]).toMatchObject([1, { handoverUntil: 100 + HANDOVER_MS }])
    calmly(() => proceed({ session: own, now: 99 + HANDOVER_MS, out }))
    expect(own.server).toMatchObject({ handoverUntil: 100 + HANDOVER_MS })
    calmly(() => proceed({ session: own, now: 100 + HANDOVER_MS, out }))
    expect(own.server).toMatchObject({ role: 'backedup', handoverUntil: null })
  })
  test('T4: is to nobody without a backup, or without a hub to say so (PR-2)', () => {
    const { out } = listening()
    const away = backedUpOf(3).session
    away.hub.up = false
    for (const own of [away, primaryOf(3).session, memberOf(3).own]) {
      expect(calmly(() => handOver({ session: own, now: 0, out }))).toBe(false)
      calmly(() => proceed({ session: own, now: 0, out }))
    }
  })
  test('T4: asks the register, and says to who leads now that it does, with what the hub signed (PR-2)', () => {
    const own = backedUpOf(3).session
    const heard = listening()
    handOver({ session: own, now: 0, out: heard.out }, true)
    expect(heard.asked).toMatchObject([{ why: 'handover', expect: 2, primary: 2, backup: 0 }])
    const bytes = new Uint8Array(64).fill(3)
    const leader = { link: new Uint8Array(32), grant: bytes }
    machine.receiveFromHub({ session: own, now: 400, out: heard.out }, { ...saidOf(3, 2), leader })
    expect(heard.messages.at(-1)).toEqual({ kind: 'stepDown', epoch: 3, grant: bytes })
    expect([own.server.role, own.client.handedAt]).toEqual(['idle', 400])
    expect([certificateFor(own, 3), certificateFor(own, 2)]).toEqual([bytes, null])
  })
  test('T4: to another epoch than the next is none: somebody else leads (PR-2)', () => {
    const own = backedUpOf(3).session
    const { out, sent } = listening()
    handOver({ session: own, now: 0, out }, true)
    machine.receiveFromHub({ session: own, now: 400, out }, saidOf(4, 2))
    expect([own.server.role, sent]).toEqual(['idle', []])
  })
  test('T4: is taken by the backup of who says so, in the epoch that comes next (PR-2)', () => {
    const takes = (from: number, epoch: number, make = standby): unknown[] => {
      const own = make().session
      const bytes = new Uint8Array(64)
      hear(own, { kind: 'stepDown', epoch, grant: bytes }, from)
      return [own.server.role, own.leaderCertificate]
    }
    const grant = { epoch: 3, bytes: new Uint8Array(64) }
    expect(takes(1, 3)).toEqual(['alone', grant])
    for (const [from, epoch] of [
      [3, 3],
      [1, 2],
      [1, 4],
    ] as const) {
      expect(takes(from, epoch)).toEqual(['backup', null])
    }
    expect(takes(1, 3, () => standby(false))).toEqual(['sync', null])
    const bare = standby().session
    hear(bare, { kind: 'stepDown', epoch: 3, grant: null })
    expect([bare.server.role, bare.leaderCertificate]).toEqual(['alone', null])
  })
})

describe('who leads from now on', () => {
  /** The backup asked to take over at 500, the register names it at 900. */
  function takesOver(make: (own: Session) => void = () => {}): { own: Session; heard: Heard } {
    const own = standby().session
    own.recovers = true
    make(own)
    calmly(() => roles.suspect({ session: own, now: 500, out: listening().out }, 1))
    const heard = listening()
    calmly(() => machine.receiveFromHub({ session: own, now: 900, out: heard.out }, saidOf(3, 2)))
    return { own, heard }
  }
  test('T41: removes who led, tells all and the hub, and sends them what they lack (PR-2)', () => {
    const { own, heard } = takesOver()
    expect([...own.server.durable.members.keys()]).toEqual([2, 3])
    expect(heard.sent).toEqual([
      [2, 'view'],
      [3, 'view'],
    ])
    expect(heard.asked.map(({ kind }) => kind)).toEqual(['members'])
    expect(heard.events.at(-1)).toEqual({ kind: 'welcome', to: [2, 3] })
    expect(leadOf(own)).toMatchObject({ since: 900, sweepAt: 900 + roles.SERVE_FIRST_MS })
    // Whoever led and is gone already is not removed again.
    const { mv } = own.server.durable
    const other = takesOver((made) => void made.server.durable.members.delete(1)).own
    expect(other.server.durable.mv).toBe(mv - 1)
  })
  test('T43: counts its lease from its request, or handed the role from its last ack (PR-2)', () => {
    expect(leadOf(takesOver().own).lease.until).toBe(500 + LEASE_MS)
    const own = standby().session
    own.recovers = true
    hear(own, { kind: 'confirm', epoch: 2 }, 1, 300)
    machine.receiveFromHub({ session: own, now: 900, out: listening().out }, saidOf(3, 2))
    expect(leadOf(own).lease.until).toBe(300 + LEASE_MS)
    expect([...own.server.durable.members.keys()]).toEqual([1, 2, 3])
  })
  test('S-5: keeps of each player the newest, and tells those whom it removes (PR-2)', () => {
    const { own, heard } = takesOver((made) => {
      const { members } = made.server.durable
      const third = members.get(3)!
      // The newest stands before the others.
      made.server.durable.members = new Map([
        [9, { ...third, inc: 9 }],
        ...members,
        [5, { ...third, inc: 5 }],
      ])
    })
    expect([...own.server.published.keys()]).toEqual([9, 2])
    expect(heard.sent.map(([to]) => to)).toEqual([9, 2, 3, 5])
  })
  test('T81: who is deposed is told so if it served, and is nobody afterwards (PR-2)', () => {
    const deposed = (own: Session): string[] => {
      const { out, events } = listening()
      calmly(() => machine.receiveFromHub({ session: own, now: 0, out }, saidOf(9, 7)))
      return [own.server.role, ...events.map(({ kind }) => kind)]
    }
    expect(deposed(backedUpOf(3).session)).toEqual(['idle', 'role', 'removed'])
    expect(deposed(standby().session)).toEqual(['idle', 'role'])
    expect(deposed(memberOf(3).own)).toEqual(['idle'])
    const { out, events } = listening()
    roles.depose({ session: memberOf(3).own, now: 0, out })
    expect(events).toEqual([])
  })
  test('T77: a register of the same epoch, or an older one, changes nothing (PR-2)', () => {
    for (const epoch of [1, 2]) {
      const own = standby().session
      calmly(() =>
        machine.receiveFromHub({ session: own, now: 0, out: listening().out }, saidOf(epoch, 7)),
      )
      expect(own.server.role).toBe('backup')
    }
  })
  test('T36: it may be named again while it asks, and then stands by (PR-2)', () => {
    const own = standby().session
    calmly(() => roles.suspect({ session: own, now: 500, out: listening().out }, 1))
    machine.receiveFromHub({ session: own, now: 900, out: listening().out }, saidOf(3, 1, 2))
    expect(own.server).toMatchObject({ role: 'backup', epoch: 3 })
    machine.receiveFromHub({ session: own, now: 950, out: listening().out }, saidOf(4, 1, 2))
    expect(own.server).toMatchObject({ role: 'backup', epoch: 4 })
  })
})

describe('a suspicion', () => {
  const roleAfter = (own: Session, peer: number): string => {
    calmly(() => roles.suspect({ session: own, now: 0, out: listening().out }, peer))
    return own.server.role
  }
  test('T36: is acted on by primary and backup, each of the other alone (PR-2)', () => {
    expect(roleAfter(backedUpOf(3).session, 2)).toBe('dropping')
    expect(roleAfter(backedUpOf(3).session, 3)).toBe('backedup')
    expect(roleAfter(standby().session, 1)).toBe('taking')
    expect(roleAfter(standby().session, 3)).toBe('backup')
    expect(roleAfter(standby(false).session, 1)).toBe('sync')
    expect(roleAfter(primaryOf(3).session, 2)).toBe('alone')
    expect(roleAfter(memberOf(3).own, 1)).toBe('idle')
  })
  test('T36: is taken back when the primary is heard, unless the hub was asked (PR-2)', () => {
    const heard = (up: boolean, peer = 1): string => {
      const own = standby().session
      own.hub.up = up
      for (const inc of [1, 3]) own.detectors.set(inc, heardAt(0))
      roleAfter(own, 1)
      calmly(() => machine.markAlive({ session: own, now: 9, out: listening().out }, peer))
      return own.server.role
    }
    expect([heard(false), heard(true), heard(false, 3)]).toEqual(['backup', 'taking', 'taking'])
    const idle = memberOf(3).own
    calmly(() => roles.withdrawSuspicion({ session: idle, now: 0, out: listening().out }))
    calmly(() => machine.markAlive({ session: idle, now: 0, out: listening().out }, 77))
    expect(idle.server.role).toBe('idle')
  })
  test('T77: is asked for again each quarter of a second, where there is a hub (PR-2)', () => {
    const own = standby().session
    const { out, asked } = listening()
    own.hub.up = false
    calmly(() => roles.suspect({ session: own, now: 100, out }, 1))
    expect(own.server).toMatchObject({ attempt: { sent: false, againAt: 100 + ATTEMPT_MS } })
    own.hub.up = true
    retry({ session: own, now: 99 + ATTEMPT_MS, out })
    expect(asked).toEqual([])
    for (const times of [1, 2, 2]) retry({ session: own, now: 100 + times * ATTEMPT_MS, out })
    const request = { kind: 'change', why: 'takeover', inc: 2, expect: 2, primary: 2, backup: 0 }
    expect(asked).toMatchObject([1, 2].map((at) => ({ ...request, request: at })))
    expect(own.server).toMatchObject({
      attempt: { sent: true, sentAt: 100 + ATTEMPT_MS, request: 2 },
    })
    calmly(() => retry({ session: memberOf(3).own, now: 0, out }))
    expect(asked).toHaveLength(2)
  })
})

describe('a backup that is dropped', () => {
  test('T31: is removed for the first reason that there was, once it is dropped (PR-2)', () => {
    const one = backedUpOf(3)
    const own = one.session
    const { out } = listening()
    roles.suspect({ session: own, now: 0, out }, 2)
    expect(own.server).toMatchObject({ role: 'dropping', removeAfterDrop: null })
    remove({ session: own, now: 0, out }, 2, 'left')
    remove({ session: own, now: 0, out }, 2, 'timeout')
    expect(own.server).toMatchObject({ removeAfterDrop: 'left' })
    const heard = listening()
    machine.receiveFromHub({ session: own, now: 50, out: heard.out }, saidOf(3, 1))
    expect(heard.messages.find(({ kind }) => kind === 'change')).toMatchObject({
      remove: 2,
      why: 'left',
    })
    expect(heard.messages[0]).toMatchObject({ kind: 'view', view: { epoch: 3, backup: 0 } })
    expect(own.server.log.unackedSince).toBe(Infinity)
  })
  test('T31: stays a member where there is no reason, or when it is none by then (PR-2)', () => {
    for (const is of [true, false]) {
      const own = backedUpOf(3).session
      const { out } = listening()
      roles.dropBackup({ session: own, now: 0, out }, is ? null : 'left')
      if (!is) own.server.durable.members.delete(2)
      const heard = listening()
      calmly(() => machine.receiveFromHub({ session: own, now: 50, out: heard.out }, saidOf(3, 1)))
      expect(heard.sent.some(([, kind]) => kind === 'change')).toBe(false)
    }
    const alone = primaryOf(3).session
    calmly(() => roles.dropBackup({ session: alone, now: 0, out: listening().out }, 'left'))
    expect(alone.server).not.toHaveProperty('removeAfterDrop')
    expect(alone.server.role).toBe('alone')
  })
  test('T31: leaves while it is being added: it is dropped as soon as it is there (PR-2)', () => {
    const one = primaryOf(3)
    one.give({ kind: 'offer', peer: 2 })
    one.give(ackOf(1, one.length))
    const own = one.session
    own.recovers = true
    own.detectors.set(2, { ...heardAt(0), samples: 9 })
    Object.assign(leadOf(own).lease, { counts: true, until: 5 })
    if ('attempt' in own.server) own.server.attempt.sentAt = 40
    remove({ session: own, now: 0, out: listening().out }, 2, 'left')
    const heard = listening()
    machine.receiveFromHub({ session: own, now: 50, out: heard.out }, saidOf(2, 1, 2))
    expect(own.server).toMatchObject({ role: 'dropping', removeAfterDrop: 'left' })
    expect(heard.asked.at(-1)).toMatchObject({ why: 'drop', expect: 2, primary: 1, backup: 0 })
    expect(leadOf(own).lease.until).toBe(40 + LEASE_MS)
    expect(own.detectors.get(2)).toEqual(watch.create(50, 'udp'))
    expect(heard.messages.some((said) => said.kind === 'view' && said.view.backup === 2)).toBe(true)
    const until = leadOf(own).lease
    if ('attempt' in own.server) own.server.attempt.sentAt = 70
    machine.receiveFromHub({ session: own, now: 90, out: heard.out }, saidOf(3, 1))
    expect(until.until).toBe(70 + LEASE_MS)
  })
  test('is named in the view for as long as the register names it (PR-2)', () => {
    const one = primaryOf(3)
    expect(viewOf(one.session).backup).toBe(0)
    const adding = primaryOf(3)
    adding.give({ kind: 'offer', peer: 2 })
    adding.give(ackOf(1, adding.length))
    expect([adding.session.server.role, viewOf(adding.session).backup]).toEqual(['adding', 0])
    const two = backedUpOf(3)
    expect(viewOf(two.session).backup).toBe(2)
    two.give({ kind: 'suspect', peer: 2 })
    expect(viewOf(two.session).backup).toBe(2)
  })
})
