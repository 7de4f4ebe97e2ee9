// Goal: who is named by the register as what it did not ask for stays what it is, and still takes
// what it did ask for.
// Method: the shipped session, by hand; the register says what no honest hub would.
import { describe, expect, test } from 'vitest'
import { founder, fresh } from '../../proof/models/processes.ts'
import { handOver } from '../../packages/holdfast/src/session/session.ts'
import { ackOf, listening, One, registerOf } from './scene.ts'

/** The primary, 1, of three, alone. */
function alone(): One {
  const one = new One(founder(null).process)
  for (const asker of [1, 2]) one.give({ kind: 'join', asker })
  return one
}

/** It has asked for 2 to be its backup. */
function adding(): One {
  const one = alone()
  one.give({ kind: 'offer', peer: 2 })
  one.give(ackOf(1, one.length))
  return one
}

function backedUp(): One {
  const one = adding()
  one.give(registerOf(2, 1, 2))
  return one
}

/** What it is after each of these, and whether it said anything to anybody. */
function after(one: One, ...registers: [epoch: number, primary: number, backup: number][]) {
  const [sent, asked] = [one.sent.length, one.asked.length]
  for (const register of registers) one.give(registerOf(...register))
  const { role, epoch } = one.session.server
  return { role, epoch, said: one.sent.length - sent + one.asked.length - asked }
}

describe('who is named by the register as what it did not ask for', () => {
  test('T77: a primary that is alone gets no backup (AP-19)', () => {
    const one = alone()
    expect(after(one, [2, 1, 3], [2, 1, 0])).toEqual({ role: 'alone', epoch: 1, said: 0 })
    one.give({ kind: 'offer', peer: 2 })
    one.give(ackOf(1, one.length))
    expect(after(one, [2, 1, 2])).toMatchObject({ role: 'backedup', epoch: 2 })
  })

  test('T77: one that asks for a backup gets no other, and the one that it asked for (AP-19)', () => {
    const one = adding()
    expect(after(one, [2, 1, 3], [2, 1, 0])).toEqual({ role: 'adding', epoch: 1, said: 0 })
    expect(after(one, [2, 1, 2])).toMatchObject({ role: 'backedup', epoch: 2 })
  })

  test('T77: one that has a backup keeps it, until it asks (AP-19)', () => {
    const one = backedUp()
    expect(after(one, [3, 1, 0], [3, 1, 3])).toEqual({ role: 'backedup', epoch: 2, said: 0 })
    one.give({ kind: 'suspect', peer: 2 })
    expect(after(one, [3, 1, 3])).toEqual({ role: 'dropping', epoch: 2, said: 0 })
    expect(after(one, [3, 1, 0])).toMatchObject({ role: 'alone', epoch: 3 })
  })

  test('T4: one that gives its role away is not told to keep it (AP-19)', () => {
    const one = backedUp()
    expect(handOver({ session: one.session, now: 0, out: listening().out }, true)).toBe(true)
    expect(after(one, [3, 1, 0], [3, 1, 2])).toEqual({ role: 'handing', epoch: 2, said: 0 })
    const other = new One(one.process)
    expect(after(other, [3, 3, 0])).toEqual({ role: 'idle', epoch: 0, said: 0 })
    one.give(registerOf(3, 2, 0))
    expect([one.session.server.role, one.sent.at(-1)?.kind]).toEqual(['idle', 'stepDown'])
  })

  test('T42: who holds nothing of the session neither leads nor stands by (AP-19)', () => {
    const one = new One(fresh(1, null))
    one.session.me = 2
    expect(after(one, [9, 2, 0], [10, 1, 2])).toEqual({ role: 'idle', epoch: 0, said: 0 })
  })
})
