// Goal: when a packet counts as lost or arrived, to the packet and to the millisecond.
// Method: single verbs with numbers of ours, and a pair where several play together.
import { describe, expect, test } from 'vitest'
import { createPair, numbered, offer, run, send } from '../../../../test/link/pair.ts'
import { LIMITS } from './limits.ts'
import { createRtt, sample } from './timing/loss.ts'
import { createHeader } from './packets/packet.ts'
import * as reliable from './reliable.ts'
import { create, createArrivals } from './link.ts'
import { ackedBy, takeAcks } from './verdict.ts'
import { enter, noteRun } from './window.ts'

const STATE_ACK_DELAY_MAX = 100

/** Nothing is asked. */
const ASKED = { asked: [1e9], askedAt: 1e9 }

test('L3: what an acked packet carried is delivered, and is not sent again (PR-2)', () => {
  const pair = createPair(1, {}, { keepaliveMs: 10_000 })
  for (const { link } of pair.ends) Object.assign(link.clock, ASKED)
  send(pair, 0, numbered(0))
  run(pair, 100)
  expect(pair.ends[0].acked).toEqual([0])
  expect(pair.ends[0].delivered).toEqual([1])
  run(pair, 2_000)
  expect(pair.ends[0].packets).toHaveLength(1)
})

test('L3: of an acked packet each piece of each run has arrived, at once (PR-2)', () => {
  const link = create(0)
  const { outgoing, sent } = link
  const ids = [0, 1, 2, 3].map((n) => reliable.queue(outgoing, 0, numbered(n)))
  // The third piece is in no packet.
  const carried = ids.filter((_id, place) => place !== 2)
  for (const id of ids) reliable.sent(outgoing, id, sent.next)
  for (const id of carried) noteRun(sent, id)
  const sequence = sent.next
  expect(sent.runCount[sequence]).toBe(2)
  enter(sent, 0, 100, false, link.paths[0]!)
  const arrivals = createArrivals()
  takeAcks(link, 10, sequence, 1, 0, 0, arrivals)
  const told = arrivals.list.map(({ what, number }) => `${what} ${number}`)
  expect(told).toEqual([`acked ${sequence}`, `delivered ${ids[1]}`])
  const stages = ids.slice(2).map((id) => reliable.pieceAt(outgoing, id)!.stage)
  expect(stages).toEqual([reliable.PIECE.flying, reliable.PIECE.arrived])
})

describe('L5', () => {
  test('a packet is lost as soon as the third later one is acked (PR-2)', () => {
    const pair = createPair(1, { delay: 100 })
    pair.fate = (from, _bytes, index) => (from === 0 && index === 0 ? 0 : 1)
    for (let count = 0; count < 4; count++) offer(pair, 0, 4, numbered(count))
    run(pair, 215)
    const { acked, lost } = pair.ends[0]
    expect(acked.toSorted((a, b) => a - b)).toEqual([1, 2, 3])
    expect(lost).toEqual([0])
  })
  test('silence that is over is forgotten: the next one is probed as soon (PR-2)', () => {
    const pair = createPair(1, {}, { keepaliveMs: 10_000 })
    send(pair, 0, numbered(0))
    run(pair, 500)
    pair.fate = () => 0
    send(pair, 0, numbered(1))
    run(pair, 3_000)
    expect(pair.ends[0].link.loss.probes).toBeGreaterThan(1)
    pair.fate = null
    run(pair, 6_000)
    expect(pair.ends[0].messages).toEqual([])
    expect(pair.ends[1].messages).toHaveLength(2)
    expect(pair.ends[0].link.loss.probes).toBe(0)
  })
})

test('L4: the packet that comes next was not sent yet, so nobody acks it (PR-2)', () => {
  const pair = createPair()
  const [{ link }] = pair.ends
  const header = { ...createHeader(), ackBits: 1 }
  expect(ackedBy(link, { ...header, ack: link.sent.next })).toBe(null)
  send(pair, 0, numbered(0))
  run(pair, 1)
  expect(ackedBy(link, { ...header, ack: link.sent.next - 1 })).toBe(link.sent.next - 1)
  expect(ackedBy(link, { ...header, ack: link.sent.next })).toBe(null)
})

test('L6: what a peer says that it held an ack back is believed up to the most it may (PR-2)', () => {
  const said = (held: number): number => {
    const rtt = createRtt()
    sample(rtt, 100, 0)
    sample(rtt, 500, held)
    return rtt.smoothed
  }
  expect(said(60)).toBe(100 + (500 - 60 - 100) / 8)
  expect(said(STATE_ACK_DELAY_MAX)).toBe(150 - STATE_ACK_DELAY_MAX / 8)
  expect(said(300)).toBe(said(STATE_ACK_DELAY_MAX))
  expect(said(1e9)).toBe(said(STATE_ACK_DELAY_MAX))
})

test('B2: what a newer packet carries is not sent again when an older one is lost (PR-2)', () => {
  const outgoing = reliable.createOutgoing()
  const id = reliable.queue(outgoing, 0, numbered(0))
  reliable.sent(outgoing, id, 3)
  reliable.sendAgain(outgoing, id)
  expect(reliable.sent(outgoing, id, 8)).toBe(true)
  reliable.given(outgoing, id, 3)
  expect(reliable.nextPiece(outgoing, LIMITS)).toBe(0)
  reliable.given(outgoing, id, 8)
  expect(reliable.nextPiece(outgoing, LIMITS)).toBe(id)
})
