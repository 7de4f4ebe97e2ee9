// Goal: a member makes as many calls as is said and no more, and one that left has none.
// Method: members whose links are queues.
import { describe, expect, test } from 'vitest'
import { HoldfastError } from '../../packages/holdfast/src/machine.ts'
import * as calls from '../../packages/holdfast/src/calls/protocol/rpc.ts'
import { rpcPart } from '../../packages/holdfast/src/calls/protocol/rpc.ts'
import { Net } from './net.ts'

/** Whether it went, or by which code it was refused. */
function outcome(act: () => unknown): string {
  try {
    act()
    return 'went'
  } catch (error) {
    return error instanceof HoldfastError ? error.code : 'thrown'
  }
}

describe('calls of one member', () => {
  test('count as notes do: so many at once, and no more until time passes (PR-2)', () => {
    const net = new Net(3, 'star')
    const made = (): number => {
      let count = 0
      while (count < 5_000 && outcome(() => net.call(2, 3)) === 'went') {
        count++
        net.settle()
      }
      return count
    }
    const burst = made()
    expect(burst).toBe(400)
    expect(outcome(() => net.call(2, 3))).toBe('overloaded')
    expect(outcome(() => net.note(2, 3))).toBe('overloaded')
    net.now += 1_000
    expect(made()).toBe(200)
  })
  test('have from more than 0 to 600,000 ms, and a refused one counts for nothing (PR-2)', () => {
    const net = new Net(3, 'star')
    const said = { method: 'roll', args: '' }
    const call = (ms: number) => () => calls.call(net.at(2), 0, 3, said, ms)
    expect([0, -1, NaN, 600_001].map((ms) => outcome(call(ms)))).toEqual(
      Array.from({ length: 4 }, () => 'bad-value'),
    )
    expect([0.5, 600_000].map((ms) => outcome(call(ms)))).toEqual(['went', 'went'])
    expect(net.at(2).pending.size).toBe(2)
  })
})

test('a call that the primary has no room to pass on, or no link, is remembered by it no more (PR-2)', () => {
  const big = JSON.stringify('x'.repeat(8_190))
  const full = new Net(3, 'star')
  while (outcome(() => full.note(1, 3, big)) === 'went');
  const cut = new Net(3, 'star')
  cut.sever(1, 3, false)
  const said = [full, cut].map((net) => {
    net.call(2, 3, big)
    net.settle()
    return [net.outcomes(2), net.at(1).routes.get(2)?.size, net.ran(3)]
  })
  expect(said).toEqual([
    [['overloaded'], 0, 0],
    [['unreachable'], 0, 0],
  ])
})

test('an answer counts from the member that was called alone (PR-2)', () => {
  const net = new Net(3, 'star')
  const id = net.call(2, 3)
  const said = { kind: 'result', to: 2, id, outcome: 'ok', text: '1' } as const
  net.lie(1, 2, { ...said, from: 1 })
  expect([net.outcomes(2), net.at(2).counters.late]).toEqual([[], 1])
  net.lie(1, 2, { ...said, from: 3 })
  expect(net.outcomes(2)).toEqual(['ok'])
})

test('who begins anew is nobody, and nothing of its calls is kept (PR-2)', () => {
  const net = new Net(3, 'star')
  net.call(2, 3)
  net.call(3, 2)
  net.arrive(3, 1)
  net.arrive(1, 2)
  const rpc = net.at(2)
  expect([rpc.me, rpc.pending.size, rpc.running.size]).toEqual([2, 1, 1])
  const events: unknown[] = []
  const out = { send: () => 0, emit: (event: unknown) => void events.push(event) }
  rpcPart.reset!(rpc, out)
  expect(rpc).toMatchObject({ me: 0, outbox: [] })
  const all = [rpc.here, rpc.marks, rpc.routes, rpc.buckets, rpc.flights, rpc.pending]
  expect(all.map(({ size }) => size)).toEqual([0, 0, 0, 0, 0, 0])
  rpcPart.flush!(rpc, 0, out)
  const why = 'that was another session: it may have run or not'
  expect(events).toMatchObject([{ kind: 'settled', id: 1, text: why }])
})
