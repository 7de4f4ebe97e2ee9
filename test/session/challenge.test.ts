// Goal: a primary that lives says so, and a backup that hears it stands by again, lacking nothing.
// Method: the shipped verbs, by hand, at instants that are arguments.
import { describe, expect, test } from 'vitest'
import type { FromHub, ToHub } from '../../packages/holdfast/src/hub-protocol/messages.ts'
import { founder, fresh, SESSION_ID } from '../../proof/models/processes.ts'
import * as watch from '../../packages/holdfast/src/session/failure-detector.ts'
import { handOver } from '../../packages/holdfast/src/session/session.ts'
import * as machine from '../../packages/holdfast/src/session/session.ts'
import { leadOf, type Session, restartDetector } from '../../packages/holdfast/src/session/state.ts'
import { ackOf, listening, One, registerOf } from './scene.ts'

const ATTEMPT_MS = 250
const LEASE_MS = 10_000

/** The primary, 1, of three, with 2 for its backup since epoch 2; and that one. */
function pair(): { primary: One; backup: Session } {
  const primary = new One(founder(null).process)
  for (const asker of [1, 2]) primary.give({ kind: 'join', asker })
  primary.give({ kind: 'offer', peer: 2 })
  const snapshot = primary.sent.find(({ kind }) => kind === 'snapshot')!
  primary.give(ackOf(1, primary.length))
  primary.give(registerOf(2, 1, 2))
  const other = new One(fresh(1, null))
  other.session.me = 2
  other.give({ kind: 'receive', from: 1, message: snapshot })
  other.give(registerOf(2, 1, 2))
  restartDetector(other.session, 0, 1)
  return { primary, backup: other.session }
}

const challenge = (epoch: number): FromHub => {
  return { kind: 'challenge', session: SESSION_ID, epoch, nonce: 7 }
}
const alive = (request: number): FromHub => ({ kind: 'alive', session: SESSION_ID, request })
const granted = (epoch: number): FromHub => {
  const register = { epoch, primary: 2, backup: 0 }
  return { kind: 'register', session: SESSION_ID, request: 0, ok: true, register, leader: null }
}

/** It suspects its primary then. @returns the request that it sends */
function suspects(backup: Session, now: number): number {
  const { out, asked } = listening()
  machine.onClosed({ session: backup, now, out }, 1, 'failed')
  const request = asked.find((message): message is ToHub & { kind: 'change' } => {
    return message.kind === 'change'
  })!
  expect(request).toMatchObject({ why: 'takeover', expect: 2 })
  return request.request
}

describe('a primary that is challenged', () => {
  test('T24: answers at once while it leads that epoch, and takes the relay (SE-3)', () => {
    const { primary } = pair()
    const { out, asked, events } = listening()
    machine.receiveFromHub({ session: primary.session, now: 5, out }, challenge(2))
    expect(asked).toEqual([{ kind: 'alive', session: SESSION_ID, epoch: 2, nonce: 7 }])
    expect(events).toEqual([{ kind: 'unheard', peer: 2 }])
  })

  test('is silent about another epoch, another session, and once it leads no more (SE-3)', () => {
    const { primary, backup } = pair()
    const { out, asked } = listening()
    machine.receiveFromHub({ session: primary.session, now: 5, out }, challenge(1))
    machine.receiveFromHub({ session: primary.session, now: 5, out }, challenge(3))
    machine.receiveFromHub({ session: primary.session, now: 5, out }, {
      ...challenge(2),
      session: 'other',
    } as FromHub)
    machine.receiveFromHub({ session: backup, now: 5, out }, challenge(2))
    expect(asked).toEqual([])
    handOver({ session: primary.session, now: 5, out: listening().out }, true)
    primary.give(ackOf(2, primary.length))
    expect(primary.session.server.role).toBe('handing')
    machine.receiveFromHub({ session: primary.session, now: 5, out }, challenge(2))
    expect(asked).toEqual([])
  })
})

describe('a backup whose takeover is vetoed', () => {
  test('T36: is backup again, waits for a second, and takes the relay (SE-3)', () => {
    const { backup } = pair()
    const { out, events } = listening()
    machine.receiveFromHub({ session: backup, now: 40, out }, alive(suspects(backup, 0)))
    expect(backup.server).toMatchObject({ role: 'backup', primary: 1, epoch: 2 })
    expect(events).toEqual([
      { kind: 'role', role: 'backup' },
      { kind: 'unheard', peer: 1 },
    ])
    const seen = (): watch.FailureDetector => backup.detectors.get(1)!
    const beats = (from: number): void => {
      for (let now = from; now < from + 3_000; now += 10)
        machine.markAlive({ session: backup, now, out }, 1)
    }
    beats(50)
    expect(watch.bound(seen())).toBe(watch.BOUND_MAX_MS)
    // Also behind a new link.
    machine.onLinked({ session: backup, now: 3_100, out }, 1, 'udp')
    beats(3_110)
    expect(watch.bound(seen())).toBe(watch.BOUND_MAX_MS)
    machine.wake({ session: backup, now: 7_000, out })
    expect(backup.server.role).toBe('backup')
    machine.wake({ session: backup, now: 7_120, out })
    machine.wake({ session: backup, now: 7_121, out })
    expect(backup.server.role).toBe('taking')
  })

  test('another primary is watched as ever (SE-3)', () => {
    const { backup } = pair()
    machine.receiveFromHub(
      { session: backup, now: 40, out: listening().out },
      alive(suspects(backup, 0)),
    )
    restartDetector(backup, 50, 1)
    expect(backup.detectors.get(1)!.vouched).toBe(false)
  })

  test('T35: takes and acks entries meanwhile, so that it lacks none after it (SE-3)', () => {
    const { primary, backup } = pair()
    const request = suspects(backup, 0)
    const { out, messages } = listening()
    primary.sent.length = 0
    const hands = (): void => {
      for (const message of primary.sent.splice(0))
        machine.receive({ session: backup, now: 20, out }, 1, message)
    }
    for (const seq of [1, 2]) {
      primary.give({ kind: 'operation', from: 1, seq, id: seq })
      hands()
      if (seq === 1)
        machine.receiveFromHub({ session: backup, now: 30, out: listening().out }, alive(request))
    }
    const acks = messages.filter(({ kind }) => kind === 'acknowledge')
    expect(acks.map((ack) => 'length' in ack && ack.length)).toEqual([
      primary.length - 1,
      primary.length,
    ])
  })

  test('T77: waits for the answer to its newest request, and asks no more until then (SE-3)', () => {
    const { backup } = pair()
    const first = suspects(backup, 0)
    const { out, asked } = listening()
    machine.wake({ session: backup, now: ATTEMPT_MS, out })
    const newest = asked.find(({ kind }) => kind === 'change') as ToHub & { kind: 'change' }
    expect(newest.request).toBeGreaterThan(first)
    asked.length = 0
    machine.receiveFromHub({ session: backup, now: ATTEMPT_MS + 1, out }, alive(first))
    expect(backup.server.role).toBe('taking')
    machine.wake({ session: backup, now: ATTEMPT_MS * 3, out })
    expect(asked).toEqual([])
    machine.receiveFromHub({ session: backup, now: ATTEMPT_MS * 3, out }, alive(newest.request))
    expect(backup.server.role).toBe('backup')
  })

  test('hears nothing in what is said of another session, or of what it did not ask (SE-3)', () => {
    const { backup } = pair()
    const { out, events } = listening()
    machine.receiveFromHub({ session: backup, now: 5, out }, alive(1))
    expect(events).toEqual([])
    const request = suspects(backup, 10)
    machine.receiveFromHub({ session: backup, now: 20, out }, {
      ...alive(request),
      session: 'other',
    } as FromHub)
    expect(backup.server.role).toBe('taking')
  })
})

describe('the lease of who takes over', () => {
  test('T43: counts from the first request that it sent, not from the grant (SE-3)', () => {
    const { backup } = pair()
    backup.recovers = true
    suspects(backup, 1_000)
    for (const now of [1_250, 1_500]) machine.wake({ session: backup, now, out: listening().out })
    machine.receiveFromHub({ session: backup, now: 1_700, out: listening().out }, granted(3))
    expect(backup.server.role).toBe('alone')
    expect(leadOf(backup).lease.until).toBe(1_000 + LEASE_MS)
  })

  test('T43: after a veto, from the first request of the takeover that is granted (SE-3)', () => {
    const { backup } = pair()
    backup.recovers = true
    machine.receiveFromHub(
      { session: backup, now: 1_040, out: listening().out },
      alive(suspects(backup, 1_000)),
    )
    suspects(backup, 9_000)
    machine.receiveFromHub({ session: backup, now: 9_300, out: listening().out }, granted(3))
    expect(leadOf(backup).lease.until).toBe(9_000 + LEASE_MS)
  })
})
