// Goal: a call runs once or not at all, and settles exactly once, whatever is lost or lied.
// Method: the machines by themselves; links are queues that can be cut at any message.
import { describe, expect, test } from 'vitest'
import { HoldfastError, type PeerId } from '../../packages/holdfast/src/machine.ts'
import * as calls from '../../packages/holdfast/src/calls/protocol/rpc.ts'
import {
  CALL_BYTES_MAX,
  CALLS_BURST_TAKEN,
  FLIGHT_BYTES_MAX,
  rpcLayout,
  type RpcMessage,
} from '../../packages/holdfast/src/calls/protocol/messages.ts'
import { rpcPart } from '../../packages/holdfast/src/calls/protocol/rpc.ts'
import { decode } from '../../packages/holdfast/src/wire/layout.ts'
import { Net } from './net.ts'

const CALLS_BURST = 400
const CALLS_MAX = 64
const CALLS_PER_SECOND = 200

function refusal(act: () => unknown): HoldfastError {
  try {
    act()
  } catch (error) {
    expect(error).toBeInstanceOf(HoldfastError)
    return error as HoldfastError
  }
  return expect.unreachable('nothing was refused')
}

describe.each(['star', 'mesh'] as const)('calls in a %s', (topology) => {
  test.each([
    [2, 3],
    [2, 1],
    [1, 3],
    [2, 2],
    [1, 1],
  ])('B4: member %i calls member %i, which answers once', (from, to) => {
    const net = new Net(3, topology)
    net.call(from, to, '{"sides":6}')
    net.settle()
    const { me } = net.at(from)
    const asked = { kind: 'call', from: me, id: 1, method: 'roll', args: '{"sides":6}' }
    const answered = { kind: 'settled', id: 1, outcome: 'ok', text: '"done"' }
    const seen = [...net.events.get(to)!, ...net.events.get(from)!]
    expect(seen).toContainEqual(asked)
    expect(seen).toContainEqual(answered)
    expect([net.ran(to), net.outcomes(from)]).toEqual([1, ['ok']])
    for (const rpc of net.members.values()) {
      expect([rpc.pending.size, rpc.running.size]).toEqual([0, 0])
      expect([...rpc.routes.values()].every((routes) => routes.size === 0)).toBe(true)
    }
  })

  test('a note to all others reaches each of them once', () => {
    const net = new Net(4, topology)
    for (const from of [1, 2]) net.note(from, 0)
    net.settle()
    expect([1, 2, 3, 4].map((inc) => net.told(inc))).toEqual([1, 1, 2, 2])
  })

  test('a note to one reaches that one', () => {
    const net = new Net(4, topology)
    net.note(2, 3)
    net.settle()
    expect([1, 2, 3, 4].map((inc) => net.told(inc))).toEqual([0, 0, 1, 0])
  })

  test('answers come in any order, each to its call', () => {
    const net = new Net(3, topology)
    const [first, second] = [net.call(2, 3), net.call(2, 3)]
    net.settle(false)
    net.answer(3, 2, second, '2')
    net.answer(3, 2, first, '1')
    net.settle()
    expect(net.events.get(2)).toEqual([
      { kind: 'settled', id: second, outcome: 'ok', text: '2' },
      { kind: 'settled', id: first, outcome: 'ok', text: '1' },
    ])
  })

  test('without a link nothing is sent, and the caller is told so', () => {
    const net = new Net(3, topology)
    net.sever(2, topology === 'star' ? 1 : 3, false)
    net.call(2, 3)
    expect([net.outcomes(2), net.ran(3)]).toEqual([['unreachable'], 0])
    expect(net.why(2)).toContain('no link to member')
  })

  test('who is not here is not found, by name', () => {
    const net = new Net(3, topology)
    const error = refusal(() => net.call(2, 9))
    expect(error).toMatchObject({ code: 'not-found', message: 'member 9 is not here' })
    expect(refusal(() => net.note(2, 9)).code).toBe('not-found')
  })

  test('no answer in time is the caller’s own end of it; a late one changes nothing', () => {
    const net = new Net(3, topology)
    const id = net.call(2, 3, '1', 500)
    net.settle(false)
    expect(rpcPart.deadline!(net.at(2))).toBe(500)
    net.now = 499
    rpcPart.wake!(net.at(2), net.now, { send: () => 0, emit: () => {} })
    net.flush(2)
    expect(net.outcomes(2)).toEqual([])
    net.now = 500
    rpcPart.wake!(net.at(2), net.now, { send: () => 0, emit: () => {} })
    net.flush(2)
    expect([net.outcomes(2), net.why(2)]).toEqual([['timeout'], 'no answer within 500 ms'])
    expect(rpcPart.deadline!(net.at(2))).toBe(Infinity)
    net.answer(3, 2, id)
    net.settle()
    expect([net.outcomes(2), net.at(2).counters.late]).toEqual([['timeout'], 1])
  })

  test('a call that nobody answers ends after ten seconds, if none says otherwise (PR-2)', () => {
    const net = new Net(3, topology)
    net.call(2, 3)
    net.settle(false)
    expect(rpcPart.deadline!(net.at(2))).toBe(10_000)
  })

  test('an answer that is said twice counts once', () => {
    const net = new Net(3, topology)
    const id = net.call(2, 3)
    net.settle()
    net.answer(3, 2, id)
    net.settle()
    const from = topology === 'star' ? 1 : 3
    net.lie(from, 2, { kind: 'result', from: 3, to: 2, id, outcome: 'ok', text: '7' })
    expect([net.outcomes(2), net.at(2).counters.late]).toEqual([['ok'], 1])
  })

  test('a call that comes twice, or late, runs once', () => {
    const net = new Net(3, topology)
    net.call(2, 3)
    net.call(2, 3)
    net.settle()
    const from = topology === 'star' ? 1 : 2
    for (const id of [1, 2]) {
      net.lie(from, 3, { kind: 'call', from: 2, to: 3, id, method: 'roll', args: '1' })
    }
    expect([net.ran(3), net.at(3).counters.stale]).toEqual([2, 2])
  })

  describe('a link that is lost', () => {
    // How far the call has got: messages arrive one by one, then the link is cut.
    const hops = topology === 'star' ? [2, 1, 3] : [2, 3]
    const path = [...hops, ...hops.toReversed().slice(1)]
    const ways = path.slice(1).map((to, i) => [path[i]!, to] as const)
    const cuts = hops.slice(1).map((to, i) => [hops[i]!, to] as const)
    const cases = ways.flatMap((_way, at) => cuts.map((cut) => ({ at, cut })))

    test.each(cases)(
      'after $at of its ways, between $cut: its fate is not known',
      ({ at, cut }) => {
        const net = new Net(3, topology)
        const id = net.call(2, 3)
        for (const [i, [from, to]] of ways.slice(0, at).entries()) {
          if (i === hops.length - 1) net.answer(3, 2, id)
          net.arrive(from, to)
        }
        if (at === hops.length - 1) net.answer(3, 2, id)
        net.sever(...cut)
        net.settle()
        // Before the call has come to that link, and once the answer has passed it, all is well.
        const passed = topology === 'star' && cut[1] === 3 && (at === 0 || at === 3)
        expect(net.outcomes(2)).toEqual([passed ? 'ok' : 'unknown'])
        expect(net.ran(3)).toBeLessThanOrEqual(1)
        if (!passed) expect(net.why(2)).toMatch(/may have run or not/)
        // And the next call is as good as any.
        net.call(2, 3)
        net.settle()
        expect(net.outcomes(2).at(-1)).toBe('ok')
      },
    )

    test('of others’ calls nothing is lost', () => {
      const net = new Net(4, topology)
      net.call(2, 3)
      net.call(4, 3)
      net.settle(false)
      net.sever(2, topology === 'star' ? 1 : 3)
      net.settle()
      expect([net.outcomes(2), net.outcomes(4)]).toEqual([['unknown'], ['ok']])
    })
  })

  test('a member that went: of its calls nobody hears, and calls to it are of unknown fate', () => {
    const net = new Net(4, topology)
    net.call(2, 3)
    net.call(3, 4)
    net.settle(false)
    net.see([1, 2, 4])
    net.settle()
    expect([net.outcomes(2), net.why(2)]).toEqual([
      ['unknown'],
      'the member went: it may have run or not',
    ])
    expect(net.at(4).running.size).toBe(0)
    expect(net.at(1).routes.get(3)).toBeUndefined()
  })

  test('with a new incarnation all that was under way is of unknown fate', () => {
    const net = new Net(3, topology)
    net.call(2, 3)
    net.call(3, 2)
    net.settle(false)
    const members = [1, 3, 4].map((inc) => ({ inc, player: inc }))
    const view = {
      session: 'a',
      me: 4,
      primary: 1,
      epoch: 1,
      mesh: topology === 'mesh',
      left: false,
      members,
    }
    rpcPart.view!(net.at(2), 0, view, { send: () => 0, emit: () => {} })
    net.flush(2)
    expect(net.outcomes(2)).toEqual(['unknown'])
    expect([net.at(2).running.size, net.at(2).marks.size]).toEqual([0, 0])
  })

  test('another session, too', () => {
    const net = new Net(3, topology)
    net.call(2, 3)
    rpcPart.reset!(net.at(2), { send: () => 0, emit: () => {} })
    net.flush(2)
    expect(net.outcomes(2)).toEqual(['unknown'])
  })

  test(`${CALLS_MAX} calls under way: the next is refused, and each of them ends`, () => {
    const net = new Net(3, topology)
    for (let i = 0; i < CALLS_MAX; i++) net.call(2, 3)
    const error = refusal(() => net.call(2, 3))
    expect(error).toMatchObject({ code: 'overloaded' })
    expect(error.message).toContain('64 calls are under way')
    net.settle()
    expect(net.outcomes(2)).toEqual(Array.from({ length: CALLS_MAX }, () => 'ok'))
  })

  test('as many run for one member at another, however impatient it is', () => {
    const net = new Net(3, topology)
    for (let i = 0; i <= CALLS_MAX; i++) {
      net.call(2, 3, '1', 1)
      net.now += 10
      rpcPart.wake!(net.at(2), net.now, { send: () => 0, emit: () => {} })
      net.flush(2)
    }
    net.settle(false)
    expect([net.ran(3), net.at(3).running.size]).toEqual([CALLS_MAX, CALLS_MAX])
    expect(net.at(3).counters.overloaded).toBe(1)
  })

  test('arguments and answers have 8 KB at most', () => {
    const net = new Net(3, topology)
    const most = JSON.stringify('x'.repeat(CALL_BYTES_MAX - 2))
    const id = net.call(2, 3, most)
    const error = refusal(() => net.call(2, 3, `${most} `))
    expect(error.code).toBe('bad-value')
    expect(error.message).toBe('the arguments of "roll" have 8192 bytes at most: 8193')
    net.settle(false)
    net.answer(3, 2, id, `${most} `)
    net.settle()
    expect([net.outcomes(2), net.why(2)]).toEqual([
      ['failed'],
      'an answer has 8192 bytes at most: 8193',
    ])
  })

  test('the name of a procedure has 96 bytes; what has more is malformed (PR-2)', () => {
    const net = new Net(3, topology)
    const say = (bytes: number): void => {
      // NOTE from 1 to 2; the arguments are `1`.
      const name = new Uint8Array(bytes).fill(109)
      net.say(1, 2, Uint8Array.of(3, 1, 2, bytes, ...name, 1, 49))
    }
    say(96)
    expect([net.told(2), net.at(2).counters.malformed]).toEqual([1, 0])
    say(97)
    expect([net.told(2), net.at(2).counters.malformed]).toEqual([1, 1])
  })

  test('a time to wait that is none is refused', () => {
    const net = new Net(3, topology)
    for (const timeoutMs of [0, -1, NaN, Infinity, 600_001]) {
      expect(refusal(() => net.call(2, 3, '1', timeoutMs)).message).toMatch(/timeoutMs is 1 to/)
    }
  })

  test('so many a second, and so many at once', () => {
    const net = new Net(3, topology)
    for (let i = 0; i < CALLS_BURST; i++) net.note(2, 3)
    const error = refusal(() => net.note(2, 3))
    expect(error).toMatchObject({ code: 'overloaded' })
    expect(error.message).toMatch(/200 calls and notes a second, 400 at once: prefer an object/)
    net.now += 1_000
    for (let i = 0; i < CALLS_PER_SECOND; i++) net.note(2, 3)
    expect(() => net.note(2, 3)).toThrow('400 at once')
    net.settle()
    expect(net.told(3)).toBe(CALLS_BURST + CALLS_PER_SECOND)
  })

  test('who does not hold to that is refused by whoever hears it first', () => {
    const net = new Net(3, topology)
    const first = topology === 'star' ? 1 : 3
    const call = { kind: 'call', from: 2, to: 3, method: 'roll', args: '1' } as const
    for (let id = 1; id <= CALLS_BURST_TAKEN + 10; id++) {
      net.lie(2, first, { ...call, id })
      net.settle()
    }
    expect(net.ran(3)).toBe(CALLS_BURST_TAKEN)
    expect(net.at(first).counters.overloaded).toBe(10)
  })

  test('calls take no more than their share of a link', () => {
    const net = new Net(3, topology)
    const big = JSON.stringify('x'.repeat(CALL_BYTES_MAX - 2))
    const peer = topology === 'star' ? 1 : 3
    const room = Math.floor(FLIGHT_BYTES_MAX / (CALL_BYTES_MAX + 20))
    for (let i = 0; i < room; i++) net.note(2, 3, big)
    net.call(2, 3, big)
    expect(net.outcomes(2)).toEqual(['overloaded'])
    expect(net.why(2)).toMatch(/262144 bytes of calls are on their way to member \d already/)
    expect(() => net.note(2, 3, big)).toThrow('262144 bytes of calls are on their way')
    for (const upTo of [1_000, 2_000]) {
      expect(() => rpcPart.delivered!(net.at(2), peer, upTo)).not.toThrow()
    }
    expect(net.at(2).flights.get(peer)).toEqual({ sent: [], bytes: 0 })
    net.call(2, 3, '1')
    net.settle()
    expect(net.outcomes(2).at(-1)).toBe('ok')
  })

  test('a call for which its link has no room is counted as refused for that (PR-2)', () => {
    const net = new Net(3, topology)
    const big = JSON.stringify('x'.repeat(CALL_BYTES_MAX - 2))
    const room = Math.floor(FLIGHT_BYTES_MAX / (CALL_BYTES_MAX + 20))
    for (let i = 0; i < room; i++) net.note(2, 3, big)
    expect(net.at(2).counters.overloaded).toBe(0)
    net.call(2, 3, big)
    expect([net.outcomes(2), net.at(2).counters.overloaded]).toEqual([['overloaded'], 1])
  })

  test('an answer for which there is no room is told to be none, for its call ran (PR-2)', () => {
    const net = new Net(3, topology)
    const ids = Array.from({ length: CALLS_MAX }, () => net.call(2, 3))
    net.settle(false)
    // With what stands beside it each is a little more than a part in 64 of twice the share.
    const longest = JSON.stringify('x'.repeat(CALL_BYTES_MAX - 2))
    for (const id of ids) net.answer(3, 2, id, longest)
    net.settle()
    const wanted = [...ids.slice(1).map(() => 'ok'), 'unknown']
    expect([net.outcomes(2), net.at(3).counters.overloaded]).toEqual([wanted, 1])
    expect(net.events.get(2)!.at(-1)).toMatchObject({
      text: 'it ran, and there is no room for its answer',
    })
  })

  test('a reason leaves with 200 letters at most (PR-2)', () => {
    const net = new Net(3, topology)
    const id = net.call(2, 3)
    net.settle(false)
    calls.answer(net.at(3), 2, id, 'failed', 'x'.repeat(300))
    net.flush(3)
    const [bytes] = net.links.get(topology === 'star' ? '3>1' : '3>2')!
    expect(decode(rpcLayout, bytes!)).toMatchObject({ outcome: 'failed', text: 'x'.repeat(200) })
  })

  test('a link that is lost has nothing on its way any more (PR-2)', () => {
    const net = new Net(3, topology)
    const via = topology === 'star' ? 1 : 3
    net.call(2, 3)
    expect(net.at(2).flights.get(via)!.sent).toHaveLength(1)
    net.sever(2, via)
    expect(net.at(2).flights.has(via)).toBe(false)
  })

  test('of who went nothing is kept (PR-2)', () => {
    const net = new Net(4, topology)
    const peers = topology === 'star' ? [1] : [1, 2, 4]
    net.call(3, 4)
    for (const to of peers) net.call(3, to)
    for (const from of peers) net.note(from, 3)
    net.settle()
    const kept = (me: PeerId): boolean[] => {
      const { marks, buckets, flights, routes } = net.at(me)
      return [marks, buckets, flights, routes].map((all) => all.has(3))
    }
    const [before] = peers.map(kept)
    expect(before).toEqual([true, true, true, topology === 'star'])
    net.see([1, 2, 4])
    for (const me of peers) expect([me, kept(me)]).toEqual([me, Array(4).fill(false)])
  })

  test('planted bytes change nothing and throw nothing', () => {
    const net = new Net(3, topology)
    net.call(2, 3)
    net.call(2, 1)
    const planted: [PeerId, PeerId, Uint8Array][] = []
    for (let length = 0; length < 24; length++) {
      for (let first = 0; first < 6; first++) {
        planted.push([
          3,
          2,
          Uint8Array.from({ length }, (_none, i) => (i === 0 ? first : 0x81 * i)),
        ])
      }
    }
    for (const one of planted) net.say(...one)
    const { malformed, forged, late } = net.at(2).counters
    expect(malformed + forged + late).toBe(planted.length)
    expect(malformed).toBeGreaterThan(100)
    expect(net.outcomes(2)).toEqual([])
    net.settle()
    expect(net.outcomes(2)).toEqual(['ok', 'ok'])
  })

  test('nobody speaks for another', () => {
    const net = new Net(4, topology)
    const mine = net.call(2, 3)
    net.settle(false)
    const said = { method: 'roll', args: '1' }
    const lies: [PeerId, PeerId, RpcMessage][] = [
      // For another caller, for one who is not here, and of an answer that is not its own.
      [4, 1, { kind: 'call', from: 2, to: 1, id: 9, ...said }],
      [4, 3, { kind: 'call', from: 2, to: 3, id: 9, ...said }],
      [4, 1, { kind: 'note', from: 2, to: 0, ...said }],
      [4, 3, { kind: 'note', from: 9, to: 3, ...said }],
      [4, 2, { kind: 'result', from: 3, to: 2, id: mine, outcome: 'ok', text: '0' }],
      [4, 1, { kind: 'result', from: 4, to: 2, id: mine, outcome: 'ok', text: '0' }],
      [4, 3, { kind: 'call', from: 4, to: 2, id: 9, ...said }],
    ]
    for (const lie of lies) net.lie(...lie)
    net.settle(false)
    expect([1, 2, 3].map((inc) => net.ran(inc))).toEqual([0, 0, 1])
    expect([1, 2, 3].map((inc) => net.told(inc))).toEqual([0, 0, 0])
    net.settle()
    expect(net.outcomes(2)).toEqual(['ok'])
  })

  test('what is for another is counted as forged, but by who passes it on (PR-2)', () => {
    const net = new Net(4, topology)
    const call = { kind: 'call', from: 2, to: 4, id: 1, method: 'roll', args: '1' } as const
    const [via, first] = topology === 'star' ? [1, 1] : [2, 4]
    net.lie(via, 3, call)
    expect([net.ran(3), net.at(3).counters.forged]).toEqual([0, 1])
    net.lie(2, first, call)
    net.settle()
    expect([net.ran(4), net.at(first).counters.forged]).toEqual([1, 0])
  })

  test('arguments that are no JSON are nobody’s; such an answer is none', () => {
    const net = new Net(3, topology)
    const id = net.call(2, 3)
    const [up, down] = topology === 'star' ? [1, 1] : [2, 3]
    net.lie(up, 3, { kind: 'call', from: 2, to: 3, id: 9, method: 'roll', args: '{' })
    net.lie(down, 2, { kind: 'result', from: 3, to: 2, id, outcome: 'ok', text: '{' })
    expect([net.ran(3), net.at(3).counters.malformed]).toEqual([0, 1])
    expect([net.outcomes(2), net.at(2).counters.malformed]).toEqual([['unknown'], 1])
  })
})

test('in a mesh a change of the primary is nothing to a call', () => {
  const net = new Net(3, 'mesh')
  net.call(2, 3)
  net.call(3, 1)
  net.primary = 2
  net.see()
  net.settle()
  expect([net.outcomes(2), net.outcomes(3)]).toEqual([['ok'], ['ok']])
})

test('who went is not heard any more, though its link is still there (PR-2)', () => {
  const net = new Net(3, 'mesh')
  net.see([1, 2], [1])
  const said = { method: 'roll', args: '1' }
  net.lie(3, 1, { kind: 'note', from: 3, to: 1, ...said })
  net.lie(3, 1, { kind: 'call', from: 3, to: 1, id: 1, ...said })
  expect([net.told(1), net.ran(1), net.at(1).counters.forged]).toEqual([0, 0, 2])
})
