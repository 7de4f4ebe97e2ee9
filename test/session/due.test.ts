// Goal: what is due by the clock is done then, and not before; and when that is, is said.
// Method: the shipped server object in each role, woken by hand at instants that are arguments.
import { describe, expect, test } from 'vitest'
import { create } from '../../packages/holdfast/src/replication/moderation.ts'
import * as server from '../../packages/holdfast/src/session/server.ts'
import { leadOf, type Session } from '../../packages/holdfast/src/session/state.ts'
import { calmly } from '../calmly.ts'
import { backedUpOf, heardAt, listening, memberOf, primaryOf } from './scene.ts'

const HANDOVER_MS = 1_000

type Heard = ReturnType<typeof listening>

function wake(own: Session, now: number, heard: Heard = listening()): Heard {
  calmly(() => server.wake({ session: own, now, out: heard.out }))
  return heard
}

/** All others were heard at that instant. */
function hear(own: Session, now: number): void {
  for (const inc of own.server.published.keys()) {
    if (inc !== own.me) own.detectors.set(inc, heardAt(now))
  }
}

describe('what else is due by the clock', () => {
  test('T4: a hand-over that takes too long is off, and a lease that is over is told (PR-2)', () => {
    const own = backedUpOf(3).session
    Object.assign(own.server, { handoverUntil: 300 })
    Object.assign(leadOf(own).lease, { counts: true, until: 300 })
    hear(own, 300)
    const { events } = wake(own, 300)
    expect(own.server).toMatchObject({ handoverUntil: null })
    expect(events).toContainEqual({ kind: 'leased', leased: false })
  })
  test('T30: who recovers goes on without those who do not answer (PR-2)', () => {
    const own = primaryOf(3).session
    const answers = new Map([[1, { index: 0, settled: 0, moderation: create() }]])
    const gathering = { role: 'gathering', until: 400, answers, witness: 0, copy: null, gone: [] }
    Object.assign(own.server, gathering)
    wake(own, 399)
    expect(own.server.role).toBe('gathering')
    wake(own, 400)
    expect(own.server.role).toBe('alone')
  })
})

describe('when a primary is due', () => {
  test('is its next round, or the end of a hand-over, whichever comes first (PR-2)', () => {
    const own = backedUpOf(3).session
    const { server: at } = own
    leadOf(own).sweepAt = 700
    expect(server.deadline(own)).toBe(700)
    Object.assign(at, { handoverUntil: 600 })
    expect(server.deadline(own)).toBe(600)
    own.detectors.set(2, heardAt(0))
    Object.assign(own.detectors.get(2)!, { since: -500 })
    expect(server.deadline(own)).toBe(500)
    expect(server.watchedPeer(own)).toBe(2)
    expect(server.patience(own)).toBe(1_000)
    own.detectors.delete(2)
    expect(calmly(() => server.patience(own))).toBe(null)
    expect(calmly(() => server.deadline(own))).toBe(600)
  })
  test('is the end of what it waits for while it recovers the session (PR-2)', () => {
    const own = primaryOf(3).session
    Object.assign(own.server, { role: 'gathering', until: 400 })
    expect(server.deadline(own)).toBe(400)
    Object.assign(own.server, { role: 'alone' })
    leadOf(own).sweepAt = 700
    expect(server.deadline(own)).toBe(700)
  })
  test('is never the silence of a member 0, which only a lie can name (PR-2)', () => {
    const own = primaryOf(3).session
    Object.assign(own.server, { role: 'alone' })
    leadOf(own).sweepAt = 70_000
    own.detectors.set(0, heardAt(0))
    expect(server.watchedPeer(own)).toBe(0)
    expect(server.deadline(own)).toBe(70_000)
    expect(server.patience(own)).toBe(null)
    wake(own, 60_000)
    expect(own.server.role).toBe('alone')
  })
  test('is as soon as it may ask the register again, where there is a hub to ask (PR-2)', () => {
    const own = backedUpOf(3).session
    const { out } = listening()
    leadOf(own).sweepAt = 700
    calmly(() => server.wake({ session: own, now: 0, out }))
    own.detectors.set(2, heardAt(-2_000))
    for (const now of [0, 1]) calmly(() => server.wake({ session: own, now, out }))
    expect(own.server.role).toBe('dropping')
    expect(server.deadline(own)).toBe(251)
    own.hub.up = false
    expect(server.deadline(own)).toBe(700)
    // It asks again as it is due, and not before.
    own.hub.up = true
    own.detectors.get(2)!.since = -9_000
    expect(server.deadline(own)).toBe(251)
    expect(wake(own, 250).asked).toEqual([])
    expect(wake(own, 251).asked).toMatchObject([{ kind: 'change', why: 'drop', expect: 2 }])
  })
  test('T38: who holds a log and was not named asks the register once a second (PR-2)', () => {
    const { own } = memberOf(3)
    Object.assign(own.server, { role: 'sync', primary: 1, ackedAt: 0 })
    own.client.askAt = 300
    expect(server.deadline(own)).toBe(300)
    expect(wake(own, 299).asked).toEqual([])
    expect(wake(own, 300).asked).toEqual([{ kind: 'get', request: 1, session: 's' }])
    expect(server.deadline(own)).toBe(300 + server.LAGGING_MS)
    own.hub.up = false
    expect(wake(own, 9_000).asked).toEqual([])
    expect(server.watchedPeer(own)).toBe(0)
    expect(server.deadline(own)).toBe(Infinity)
  })
  test('T39: a backup watches its primary, and asks for its role when it is silent (PR-2)', () => {
    const { own } = memberOf(2)
    Object.assign(own.server, { role: 'backup', primary: 1, ackedAt: 0, epoch: 2 })
    expect(server.watchedPeer(own)).toBe(1)
    own.detectors.set(1, heardAt(0))
    expect(server.deadline(own)).toBe(1_000)
    expect(wake(own, 999).asked).toEqual([])
    wake(own, 1_000)
    expect(wake(own, 1_000).asked).toMatchObject([{ why: 'takeover', primary: 2 }])
  })
  test('T4: who leaves, or whose player is here anew, gives the role away in its next round (PR-2)', () => {
    for (const why of ['leaving', 'yields', 'neither'] as const) {
      const own = backedUpOf(3).session
      hear(own, 0)
      if (why === 'leaving') own.leaving = true
      if (why === 'yields') leadOf(own).yields = true
      wake(own, 0)
      const until = why === 'neither' ? null : HANDOVER_MS
      expect(own.server).toMatchObject({ role: 'backedup', handoverUntil: until })
    }
  })
})
