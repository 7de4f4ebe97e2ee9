// Goal: the primary of a star passes calls on, and knows of which the fate is not known.
// Method: the machines by themselves, as in rpc.test.ts.
import { describe, expect, test } from 'vitest'
import {
  CALL_BYTES_MAX,
  FLIGHT_BYTES_MAX,
} from '../../packages/holdfast/src/calls/protocol/messages.ts'
import { Net } from './net.ts'

const ROUTES_MAX = 256

describe('the primary of a star', () => {
  test('B9: members hear calls from it alone', () => {
    const net = new Net(3, 'star')
    net.lie(2, 3, { kind: 'call', from: 2, to: 3, id: 1, method: 'roll', args: '1' })
    expect([net.ran(3), net.at(3).counters.forged]).toEqual([0, 1])
  })

  test('B9: it passes on what it does not look into, byte for byte', () => {
    const net = new Net(3, 'star')
    net.call(2, 3, '"ä\\u0000"')
    const before = net.links.get('2>1')![0]!
    net.arrive(2, 1)
    expect(net.links.get('1>3')![0]).toEqual(before)
    expect(net.ran(1)).toBe(0)
  })

  test('it says who is not there, and whom it does not reach', () => {
    const net = new Net(4, 'star')
    net.call(2, 3)
    // The caller has not heard yet that member 3 went.
    net.see([1, 2, 4], [1, 4])
    net.settle()
    expect([net.outcomes(2), net.why(2)]).toEqual([['not-found'], 'member 3 is not here'])
    net.sever(1, 4, false)
    net.call(2, 4)
    net.settle()
    expect(net.outcomes(2)).toEqual(['not-found', 'unreachable'])
  })

  test('who asked it for too much hears so, and nobody else; nothing of that ran (SE-10)', () => {
    const net = new Net(3, 'star')
    net.charge = (from) => from !== 2
    net.call(2, 3)
    net.note(2, 3)
    net.call(2, 1)
    net.call(3, 2)
    net.settle()
    const why = 'this player asks for more than the server does for one in a second'
    expect([net.outcomes(2), net.why(2)]).toEqual([['overloaded', 'overloaded'], why])
    expect([net.ran(1), net.ran(3), net.told(3)]).toEqual([0, 0, 0])
    expect(net.at(1).counters.overloaded).toBe(3)
    // Answers are charged to nobody, and neither are the primary’s own calls.
    expect(net.outcomes(3)).toEqual(['ok'])
    net.charge = () => false
    net.call(1, 3)
    net.settle()
    expect(net.outcomes(1)).toEqual(['ok'])
  })

  test('answers still find their callers after somebody came (PR-2)', () => {
    const net = new Net(3, 'star')
    net.call(2, 3)
    net.settle(false)
    net.see([1, 2, 3, 4], [1, 2, 3])
    net.settle()
    expect([net.outcomes(2), net.at(1).counters.late]).toEqual([['ok'], 0])
  })

  test('it forgets what it passed on when it leads no more, and takes no answer to that (PR-2)', () => {
    const net = new Net(3, 'star')
    net.call(2, 3)
    net.settle(false)
    net.primary = 2
    net.see()
    net.primary = 1
    net.see()
    net.lie(3, 1, { kind: 'result', from: 3, to: 2, id: 1, outcome: 'ok', text: '0' })
    expect([net.at(1).counters.late, net.links.get('1>2') ?? []]).toEqual([1, []])
  })

  test('nothing is passed on to who went, though the link is still there (PR-2)', () => {
    const net = new Net(3, 'star')
    net.see([1, 2], [1])
    net.note(2, 3)
    net.note(2, 0)
    net.settle()
    expect([net.told(1), net.told(3)]).toEqual([1, 0])
  })

  test('a new one: what the old one had to pass on is of unknown fate, and runs once at most', () => {
    const net = new Net(3, 'star')
    net.call(2, 3)
    net.call(3, 2)
    net.settle(false)
    const late = net.links.get('1>3')?.[0]
    net.primary = 2
    net.see()
    expect([net.outcomes(2), net.outcomes(3)]).toEqual([['unknown'], ['unknown']])
    expect([net.at(2).running.size, net.at(3).running.size]).toEqual([0, 0])
    net.call(3, 1)
    net.settle()
    expect(net.outcomes(3)).toEqual(['unknown', 'ok'])
    expect(late).toBeUndefined()
    expect([net.ran(2), net.ran(3)]).toEqual([1, 1])
  })

  test('what the old one sends late is not believed', () => {
    const net = new Net(3, 'star')
    net.call(2, 3)
    net.arrive(2, 1)
    net.primary = 2
    net.see()
    net.arrive(1, 3)
    expect([net.ran(3), net.at(3).counters.forged]).toEqual([0, 1])
  })

  test('it remembers so many calls of each member, the newest', () => {
    const net = new Net(3, 'star')
    const call = { kind: 'call', from: 2, to: 3, method: 'roll', args: '1' } as const
    for (let id = 1; id <= ROUTES_MAX + 5; id++) net.lie(2, 1, { ...call, id })
    const routes = net.at(1).routes.get(2)!
    expect([routes.size, routes.has(5), routes.has(6)]).toEqual([ROUTES_MAX, false, true])
    net.lie(2, 1, { ...call, id: 6 })
    expect(net.at(1).counters.stale).toBe(1)
  })

  test('many callers do not fill its link to one member', () => {
    const net = new Net(12, 'star')
    const big = JSON.stringify('x'.repeat(CALL_BYTES_MAX - 2))
    for (let from = 2; from <= 11; from++) {
      for (let i = 0; i < 20; i++) net.call(from, 12, big)
      while (net.links.get(`${from}>1`)!.length > 0) net.arrive(from, 1)
    }
    expect(net.at(1).flights.get(12)!.bytes).toBeLessThanOrEqual(FLIGHT_BYTES_MAX)
    net.settle()
    const all = [2, 3, 4, 5, 6, 7, 8, 9, 10, 11].flatMap((from) => net.outcomes(from))
    expect(all).toHaveLength(200)
    expect(all.filter((one) => one === 'ok')).toHaveLength(net.ran(12))
    expect(new Set(all)).toEqual(new Set(['ok', 'overloaded']))
  })
})
