// Goal: who judges rooms whose players were killed notices each thing that must not be.
// Method: histories by hand, each with one fault.
import { describe, expect, test } from 'vitest'
import { CLAIMS, Ledger } from './kept-ledger.ts'
import type { Ack, Found } from './kept-life-messages.ts'

const ack = (n: number, more: Partial<Ack> = {}): Ack => {
  return { n, at: n, player: 1, now: n, safety: 'kept', ...more }
}

/** The room after five operations and a move. */
function room(more: Partial<Found> = {}): Found {
  return {
    ...{ player: 1, token: 'ada', epoch: 3, now: 100, count: 5, moves: 1 },
    ...{ newest: [1, 2, 3, 4, 5], made: [{ id: 'a', at: 4 }] },
    ...more,
  }
}

// Ada came, did five operations and one move, and was killed; six were given her.
function played(): Ledger {
  const ledger = new Ledger()
  const empty = { count: 0, moves: 0, newest: [], made: [], epoch: 1, now: 0 }
  ledger.found(room(empty), null)
  ledger.give(6)
  for (let n = 1; n <= 5; n++) ledger.acked(ack(n))
  ledger.moved(1)
  return ledger
}

describe('of a room that is opened again', () => {
  test('nothing is wrong where all is there, or one more that was under way', () => {
    const same = played()
    same.found(room(), 'ada')
    same.give(1)
    same.acked(ack(7, { at: 6, now: 101 }))
    const more = played()
    more.found(room({ count: 6, newest: [1, 2, 3, 4, 5, 6], moves: 2, player: 2 }), null)
    expect([same.wrong, more.wrong]).toEqual([[], []])
  })

  const faults: [claim: string, found: Partial<Found>, token?: null][] = [
    ['acknowledged is kept', { count: 4, newest: [1, 2, 3, 4] }],
    ['acknowledged is kept', { moves: 0 }],
    ['acknowledged is kept', { newest: [1, 2, 3, 4, 6] }],
    ['once', { count: 6, newest: [1, 2, 3, 4, 5, 5] }],
    ['once', { moves: 7 }],
    ['nothing that nobody did', { count: 6, newest: [1, 2, 3, 4, 5, 7] }],
    ['same players', { player: 2 }],
    ['same players', {}, null],
    ['same pieces', { made: [] }],
    ['one after the other', { epoch: 1 }],
    ['time goes on', { now: 4 }],
  ]
  test.each(faults)('%s: %o', (claim, found, token) => {
    const ledger = played()
    ledger.found(room(found), token === null ? null : 'ada')
    expect(ledger.wrong).toHaveLength(1)
    expect(ledger.wrong[0]).toMatch(new RegExp(`^${claim}: `))
  })

  test('a piece with another id, and two with one, are not the same pieces', () => {
    const ledger = played()
    ledger.found(room(), 'ada')
    ledger.found(room({ epoch: 4, made: [{ id: 'b', at: 4 }] }), 'ada')
    expect(ledger.wrong).toEqual(['same pieces: the piece of 4 was a, and is b'])
    const other = played()
    const made = [4, 8].map((at) => ({ id: 'a', at }))
    other.give(3)
    other.found(room({ count: 8, newest: [1, 2, 3, 4, 5, 6, 7, 8], made }), 'ada')
    expect(other.wrong).toEqual(['same pieces: two pieces have one id'])
  })

  test('nothing of who was killed comes later', () => {
    const ledger = played()
    ledger.found(room(), 'ada')
    ledger.give(1)
    ledger.found(room({ epoch: 4, count: 6, newest: [1, 2, 3, 4, 5, 6] }), 'ada')
    expect(ledger.wrong).toEqual(['nothing comes later: operation 6 came to 6'])
  })
})

test('who is alone has nothing acknowledged that the hub does not have', () => {
  const ledger = new Ledger()
  ledger.give(1)
  ledger.acked(ack(1, { safety: 'alone' }))
  expect(ledger.wrong).toEqual(['alone waits for the hub: operation 1, alone'])
})

test('a move that comes again, or is taken back, is not once', () => {
  const ledger = played()
  ledger.moved(1)
  expect(ledger.wrong).toEqual(['once: move 1 came after 1'])
})

test('each claim has a name of its own', () => {
  expect(new Set(CLAIMS).size).toBe(CLAIMS.length)
})
