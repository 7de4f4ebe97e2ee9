// Goal: what a member, a primary and a backup do at once when a link, a view or the register
// changes, and what they leave alone.
// Method: the shipped verbs, by hand, at instants that are arguments.
import { beforeEach, describe, expect, test } from 'vitest'
import { founder, fresh, NO_PARTS } from '../../proof/models/processes.ts'
import * as client from '../../packages/holdfast/src/session/client.ts'
import { remove } from '../../packages/holdfast/src/session/membership.ts'
import type { View } from '../../packages/holdfast/src/session/messages.ts'
import type { Member } from '../../packages/holdfast/src/replication/layouts.ts'
import { operate } from '../../packages/holdfast/src/session/operations.ts'
import { nextCandidate } from '../../packages/holdfast/src/session/server.ts'
import * as machine from '../../packages/holdfast/src/session/session.ts'
import { type Parts, type Session, NO_VIEW } from '../../packages/holdfast/src/session/state.ts'
import * as watch from '../../packages/holdfast/src/session/failure-detector.ts'
import { ackOf, listening, One, registerOf } from './scene.ts'

const ATTEMPT_MS = 250
const SEEK_MS = 8_000
const SWEEP_MS = 250

/** The primary, 1, of three. */
function primary(): One {
  const one = new One(founder(null).process)
  for (const asker of [1, 2]) one.give({ kind: 'join', asker })
  return one
}

/** Brings 2 to be the registered backup of 1, at epoch 2. */
function backUp(one: One): void {
  one.give({ kind: 'offer', peer: 2 })
  one.give(ackOf(1, one.length))
  one.give(registerOf(2, 1, 2))
}

function membersOf(one: One): Member[] {
  return [...one.session.server.published.values()]
}

/** Member 3 of that session, which follows 1. */
function third(): { own: Session; view: View } {
  const own = fresh(2, null).session
  own.me = 3
  const members = membersOf(primary())
  const view = { ...NO_VIEW, epoch: 2, mv: 3, primary: 1, backup: 2, members }
  client.follow({ session: own, now: 0, out: listening().out }, view, null)
  return { own, view }
}

describe('a new link', () => {
  const body = Uint8Array.of(7)
  let heard: ReturnType<typeof listening>
  beforeEach(() => void (heard = listening()))

  test('B9: to the primary of our view: it is asked for all that we may lack (PR-2)', () => {
    const { own } = third()
    own.client.published.waiting = false
    machine.onLinked({ session: own, now: 5, out: heard.out }, 2, 'udp')
    expect([heard.sent, own.client.published.waiting]).toEqual([[], false])
    machine.onLinked({ session: own, now: 5, out: heard.out }, 1, 'udp')
    expect([heard.sent, own.client.published.waiting]).toEqual([[[1, 'resync']], true])
  })
  test('T44: what has no outcome is sent again at once, on a link to the primary (PR-2)', () => {
    const { own } = third()
    own.client.pending.push({ seq: 1, part: 5, body, since: 0 })
    own.client.againAt = 900
    machine.onLinked({ session: own, now: 5, out: heard.out }, 1, 'udp')
    expect(machine.deadline(own)).toBe(5)
    machine.wake({ session: own, now: 5, out: heard.out })
    expect(heard.sent).toEqual([
      [1, 'resync'],
      [1, 'operation'],
    ])
  })
})

describe('a view', () => {
  test('T34: that has us in it is followed; without us we come back anew (PR-2)', () => {
    const { own, view } = third()
    const { out, events } = listening()
    const [first, , self] = view.members
    const give = (mv: number, members: Member[]): string[] => {
      events.length = 0
      client.takeView({ session: own, now: 0, out }, 1, { ...view, mv, members })
      return events.map(({ kind }) => kind)
    }
    expect(give(4, [self!])).toEqual(['view'])
    expect(give(5, [first!, self!])).toEqual(['view'])
    expect(give(6, [first!])).toEqual(['removed'])
  })
  test('S-5: leaves whom it lacks known for a minute, for whoever recovers by then (PR-2)', () => {
    const { own, view } = third()
    const members = view.members.filter(({ inc }) => inc !== 2)
    const known = [0, 60_000, 60_001].map((now, at) => {
      client.takeView({ session: own, now, out: listening().out }, 1, {
        ...view,
        mv: 4 + at,
        members,
      })
      return own.client.former.has(2)
    })
    expect(known).toEqual([true, true, false])
  })
  test('S-5: leaves whom the application keeps known for longer than that (PR-2)', () => {
    const { own, view } = third()
    const members = view.members.filter(({ inc }) => inc === 3)
    const parts = { ...NO_PARTS, keeps: (player: number) => player === 2 }
    const keeps = { ...listening().out, parts }
    client.takeView({ session: own, now: 0, out: keeps }, 1, { ...view, mv: 4, members })
    client.takeView({ session: own, now: 60_001, out: keeps }, 1, { ...view, mv: 5, members })
    expect([...own.client.former.keys()]).toEqual([2])
  })
  test('S-2: has a number more for each who came or went, also at who takes over (PR-2)', () => {
    const one = primary()
    const { server } = one.session
    expect([server.publishedMv, server.durable.mv]).toEqual([3, 3])
    remove({ session: one.session, now: 0, out: listening().out }, 3, 'timeout')
    expect([server.publishedMv, server.durable.mv]).toEqual([4, 4])
  })
})

test('of what was done a member knows the newest that it was told, in whatever order (PR-2)', () => {
  const { own } = third()
  own.client.published.waiting = false
  const known = [9, 4, 12].map((index, at) => {
    const news = {
      kind: 'news',
      index,
      player: 2,
      seq: at,
      part: 5,
      bytes: Uint8Array.of(),
    } as const
    client.takeNews({ session: own, now: 0, out: listening().out }, 1, news)
    return own.client.published.index
  })
  expect(known).toEqual([9, 9, 12])
})

describe('what all are told', () => {
  test('S-1: of one who went: the number, and nobody who came instead (PR-2)', () => {
    const { out, messages } = listening()
    remove({ session: primary().session, now: 0, out }, 3, 'timeout')
    const changes = messages.filter(({ kind }) => kind === 'change')
    const change = { kind: 'change', epoch: 1, mv: 4, add: null, remove: 3, why: 'timeout' }
    expect(changes).toEqual([change, change, change])
  })
  test('is one message for all who may see the whole, encoded once; others have their own (PR-2)', () => {
    const own = primary().session
    const { out, messages } = listening()
    const whole = Uint8Array.of(1, 2)
    const parts: Parts = {
      ...NO_PARTS,
      perform: () => ({ outcome: whole, changes: [], news: [{ part: 5, bytes: whole }] }),
      show: (_part, news, player) => (player === 2 ? news.subarray(1) : news),
    }
    const asked = { kind: 'operation', seq: 1, part: 5, body: whole } as const
    operate({ session: own, now: 0, out: { ...out, parts } }, 1, asked)
    const news = messages.filter((message) => message.kind === 'news')
    expect(news.map(({ bytes }) => [...bytes])).toEqual([[1, 2], [2], [1, 2]])
    expect(news[2]).toBe(news[0])
  })
})

describe('roles', () => {
  test('T37: nobody is its own backup, however well it hears itself (PR-2)', () => {
    const own = primary().session
    for (const inc of [1, 2]) {
      own.detectors.set(inc, watch.create(0, 'udp'))
      machine.markAlive({ session: own, now: 100, out: listening().out }, inc)
    }
    const chosen = [0, 1, 2].map((pointer) => {
      own.server.durable.pointer = pointer
      return nextCandidate(own, 100)
    })
    expect(chosen).toEqual([2, 2, 2])
  })
  test('C-5: a backup is late by the oldest entry that it lacks, not by the last (PR-2)', () => {
    const one = primary()
    backUp(one)
    const own = one.session
    const bytes = Uint8Array.of(1)
    const done = { outcome: bytes, changes: [], news: [] }
    const out = { ...listening().out, parts: { ...NO_PARTS, perform: () => done } }
    const since = [100, 300].map((now, at) => {
      operate({ session: own, now, out }, 1, {
        kind: 'operation',
        seq: at + 1,
        part: 5,
        body: bytes,
      })
      return own.server.log.unackedSince
    })
    expect(since).toEqual([100, 100])
    const { epoch } = own.server
    machine.receive({ session: own, now: 400, out }, 2, {
      kind: 'acknowledge',
      epoch,
      length: one.length,
    })
    expect(own.server.log.unackedSince).toBe(Infinity)
    operate({ session: own, now: 500, out }, 1, { kind: 'operation', seq: 3, part: 5, body: bytes })
    expect(own.server.log.unackedSince).toBe(500)
  })
  test('T31: a backup that leaves is a member until the register has dropped it (PR-2)', () => {
    const one = primary()
    backUp(one)
    remove({ session: one.session, now: 0, out: listening().out }, 2, 'left')
    const { server } = one.session
    expect([server.role, [...server.durable.members.keys()]]).toEqual(['dropping', [1, 2, 3]])
    one.give(registerOf(3, 1, 0))
    const { role, durable, published, publishedMv } = one.session.server
    expect([role, [...durable.members.keys()], durable.mv]).toEqual(['alone', [1, 3], 4])
    expect([[...published.keys()], publishedMv]).toEqual([[1, 3], 4])
  })
  test('T36: a backup asks for the role by the epoch in which the hub named it (PR-2)', () => {
    const one = primary()
    one.give({ kind: 'offer', peer: 2 })
    const snapshot = one.sent.find(({ kind }) => kind === 'snapshot')!
    const backup = new One(fresh(1, null))
    backup.session.me = 2
    backup.give({ kind: 'receive', from: 1, message: snapshot })
    backup.give(registerOf(2, 1, 2))
    backup.give({ kind: 'suspect', peer: 1 })
    expect(backup.asked).toMatchObject([{ why: 'takeover', expect: 2, primary: 2, backup: 0 }])
    // Somebody was quicker, and it is the backup still: it goes on standing by.
    backup.give(registerOf(3, 1, 2))
    expect(backup.session.server).toMatchObject({ role: 'backup', epoch: 3 })
  })
  test('T4: who leaves without a backup gives the role away as soon as it has one (PR-2)', () => {
    const one = primary()
    machine.leave({ session: one.session, now: 0, out: listening().out })
    backUp(one)
    expect(one.session.server.role).toBe('backedup')
    machine.wake({ session: one.session, now: SWEEP_MS, out: listening().out })
    one.give(ackOf(2, one.length))
    expect(one.session.server.role).toBe('handing')
  })
  test('T30: who recovers asks the register no more once that has named it (PR-2)', () => {
    const { own } = third()
    const { out, asked } = listening()
    own.recovers = true
    own.hub = { up: true, since: 0 }
    own.client.register = { epoch: 2, primary: 1, backup: 2 }
    machine.wake({ session: own, now: client.LOST_MS, out })
    const at = client.LOST_MS + SEEK_MS
    machine.wake({ session: own, now: at, out })
    const changes = () => asked.filter(({ kind }) => kind === 'change')
    expect([own.server.role, changes().length]).toEqual(['recovering', 1])
    const register = { epoch: 3, primary: 3, backup: 0 }
    const more = { ok: true, register, leader: null }
    const said = { kind: 'register', request: 1, session: 's', ...more } as const
    machine.receiveFromHub({ session: own, now: at, out }, said)
    expect(own.server.role).toBe('alone')
    machine.wake({ session: own, now: at + ATTEMPT_MS, out })
    expect(changes()).toHaveLength(1)
  })
  test('T30: who gathers what the others know does nothing for them yet (AP-19)', () => {
    const { own, view } = third()
    const { out, messages } = listening()
    own.recovers = true
    own.hub = { up: true, since: 0 }
    const fourth = { ...view.members[2]!, inc: 4, player: 4 }
    const members = [...view.members, fourth]
    client.follow({ session: own, now: 0, out }, { ...view, mv: 4, members }, null)
    own.client.register = { epoch: 2, primary: 1, backup: 2 }
    machine.wake({ session: own, now: client.LOST_MS, out })
    const at = client.LOST_MS + SEEK_MS
    machine.wake({ session: own, now: at, out })
    const register = { epoch: 3, primary: 3, backup: 0 }
    machine.receiveFromHub(
      { session: own, now: at, out },
      { kind: 'register', request: 1, session: 's', ok: true, register, leader: null },
    )
    const [before, { length }] = [own.server.log.entries.length, messages]
    operate({ session: own, now: at, out }, 4, {
      kind: 'operation',
      seq: 1,
      part: 5,
      body: Uint8Array.of(1),
    })
    expect([own.server.role, own.server.log.entries.length]).toEqual(['gathering', before])
    expect(messages.slice(length)).toEqual([])
  })
  test('T4: who holds the log and has not heard that it stands by leads when it is named (AP-19)', () => {
    const one = primary()
    one.give({ kind: 'offer', peer: 2 })
    const snapshot = one.sent.find(({ kind }) => kind === 'snapshot')!
    const backup = new One(fresh(1, null))
    backup.session.me = 2
    backup.give({ kind: 'receive', from: 1, message: snapshot })
    expect(backup.session.server.role).toBe('sync')
    backup.give(registerOf(3, 2, 0))
    expect(backup.session.server).toMatchObject({ role: 'alone', epoch: 3 })
  })
})
