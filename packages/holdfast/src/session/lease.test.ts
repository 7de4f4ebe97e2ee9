// Goal: a primary tells what it commits only while nobody can have recovered its session.
// Method: the lease by itself, with every instant given.
import { describe, expect, test } from 'vitest'
import * as leases from './lease.ts'

const RECOVER_MS = 15_000
const LEASE_MS = 10_000
const PROMISE_MS = 5_000

const OTHERS = [2, 3]

/** A lease that is over at 1,000, of a primary whose list the hub has; all promise until then. */
function promised(): leases.Lease {
  const lease = leases.create(true, 0)
  leases.noteYes(lease, 100, 1)
  leases.reached(lease, 1)
  lease.until = 1_000
  for (const inc of OTHERS) leases.promised(lease, 500, inc, 500)
  return lease
}

describe('what a primary may tell', () => {
  test('T43: nobody recovers before the lease is over by clocks whose rates differ by a third (PR-1)', () => {
    expect(RECOVER_MS).toBeGreaterThanOrEqual((LEASE_MS * 4) / 3)
    expect(LEASE_MS).toBeGreaterThan(PROMISE_MS)
  })
  test('T43: after the lease it tells while all others have promised, and to the millisecond', () => {
    const lease = promised()
    expect(leases.holds(lease, 999, [9])).toBe(true)
    expect(leases.holds(lease, 1_000, OTHERS)).toBe(true)
    expect(leases.holds(lease, 1_000, [...OTHERS, 9])).toBe(false)
    expect(leases.holds(lease, 500 + PROMISE_MS - 1, OTHERS)).toBe(true)
    expect(leases.holds(lease, 500 + PROMISE_MS, OTHERS)).toBe(false)
  })
  test('T43: a member that was removed may recover until the hub has the new list (PR-2)', () => {
    const lease = promised()
    leases.removed(lease, 600, 3)
    expect(leases.holds(lease, 1_000, [2])).toBe(false)
    leases.noteYes(lease, 700, 2)
    leases.reached(lease, 2)
    lease.until = 1_000
    expect(leases.holds(lease, 1_000, [2])).toBe(true)
  })
  test('T43: a word that was sent before a removal says nothing of it, nor one of the same instant (PR-2)', () => {
    for (const sentAt of [550, 600]) {
      const lease = promised()
      leases.noteYes(lease, sentAt, 2)
      leases.removed(lease, 600, 3)
      leases.reached(lease, 2)
      lease.until = 1_000
      expect(leases.holds(lease, 1_000, [2])).toBe(false)
    }
  })
  test('T43: a promise counts from when it was asked for, and an older one shortens none', () => {
    const lease = promised()
    leases.promised(lease, 800, 2, 400)
    leases.promised(lease, 800, 3, 900)
    expect(lease.promises.get(2)).toBe(500 + PROMISE_MS)
    expect(lease.promises.get(3)).toBe(500 + PROMISE_MS)
  })
  test('T43: a word that nobody sent renews nothing, an older one shortens nothing', () => {
    const lease = leases.create(true, 20_000)
    leases.reached(lease, 7)
    expect(lease).toMatchObject({ until: 20_000, known: false })
    leases.noteYes(lease, 5_000, 7)
    leases.reached(lease, 7)
    expect(lease).toMatchObject({ until: 20_000, known: true })
    leases.noteYes(lease, 15_000, 8)
    leases.reached(lease, 8)
    expect(lease.until).toBe(15_000 + LEASE_MS)
    expect(leases.asks(lease, 15_000 + leases.UNEASY_MS - 1)).toBe(false)
    expect(leases.asks(lease, 15_000 + leases.UNEASY_MS)).toBe(true)
    expect(leases.asks(lease, 15_000 + leases.UNEASY_MS)).toBe(false)
  })
  test('T43: of many words under way the oldest are forgotten', () => {
    const lease = leases.create(true, 0)
    for (let nonce = 1; nonce <= 17; nonce++) leases.noteYes(lease, nonce * 1_000, nonce)
    leases.reached(lease, 1)
    expect(lease.known).toBe(false)
    leases.reached(lease, 2)
    expect(lease.until).toBe(2_000 + LEASE_MS)
  })
})

describe('a lease', () => {
  test('T43: that does not count holds always, and asks for no promise (PR-2)', () => {
    const lease = leases.create(false, 0)
    expect(leases.holds(lease, 99_999, OTHERS)).toBe(true)
    expect(leases.asks(lease, 99_999)).toBe(false)
  })
  test('T43: holds by promises only where the hub has the list of members (PR-2)', () => {
    const lease = promised()
    lease.known = false
    expect(leases.holds(lease, 1_000, OTHERS)).toBe(false)
    expect(leases.holds(lease, 999, OTHERS)).toBe(true)
  })
  test('T43: is extended by promises no longer than it may be (PR-2)', () => {
    const lease = { ...promised(), most: 2_000 }
    expect(leases.holds(lease, 2_999, OTHERS)).toBe(true)
    expect(leases.holds(lease, 3_000, OTHERS)).toBe(false)
  })
  test('T43: said again with the same nonce, a word is the newest of those under way (PR-2)', () => {
    const lease = leases.create(true, 0)
    for (let nonce = 1; nonce <= 16; nonce++) leases.noteYes(lease, nonce, nonce)
    leases.noteYes(lease, 17, 1)
    leases.noteYes(lease, 18, 17)
    expect([...lease.sent.keys()].slice(0, 2)).toEqual([3, 4])
    expect(lease.sent.get(1)).toBe(17)
  })
  test('T43: has no promise of a member that was removed, nor one of a time to come (PR-2)', () => {
    const lease = promised()
    leases.removed(lease, 600, 3)
    expect([...lease.promises.keys()]).toEqual([2])
    leases.promised(lease, 600, 3, 601)
    expect([...lease.promises.keys()]).toEqual([2])
    leases.promised(lease, 600, 3, 600)
    expect(lease.promises.get(3)).toBe(600 + PROMISE_MS)
  })
})
