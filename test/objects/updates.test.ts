// Goal: each peer ends with the newest of every field, whatever is lost, and nothing is said
// that it has.
// Method: a cluster whose packets the test carries, loses and acks by hand.
import { describe, expect, test } from 'vitest'
import type { Millis, PeerId } from '../../packages/holdfast/src/machine.ts'
import * as objects from '../../packages/holdfast/src/objects/protocol/objects.ts'
import { bytes, type Field } from '../../packages/holdfast/src/wire/fields/schema.ts'
import {
  act,
  type Cluster,
  destroy,
  grant,
  land,
  link,
  look,
  looks,
  meet,
  type Packet,
  packets,
  pass,
  pull,
  rules,
  set,
  settle,
  spawn,
  state,
  takeOver,
  thing,
  told,
  verdict,
  write,
} from './cluster.ts'

const TOMBSTONE_MS = 60_000
const COMPANY_MS = 100
const UNSENT_MS = 2_000

const [HOST, A, B, C] = [1, 2, 3, 4] as const

/** A has an object that HOST knows. */
function pair(): { cluster: Cluster; key: number } {
  const cluster = meet({ incs: [HOST, A] })
  const key = spawn(cluster, A)
  settle(cluster)
  return { cluster, key }
}

function arrives(cluster: Cluster, packet: Packet | null): void {
  land(cluster, packet!)
  verdict(cluster, packet!, true)
}

describe('what changed', () => {
  test('B15, B20: leaves in the packets of the link, which may be lost, and in no message', () => {
    const { cluster, key } = pair()
    write(cluster, A, key, 5)
    expect(cluster.links.get(`${A}>${HOST}`)!.letters).toEqual([])
    arrives(cluster, pull(cluster, A, HOST))
    expect(look(cluster, HOST, key)).toBe('2 v0.0 5,1')
    expect(told(cluster, HOST, 'object-changed')).toEqual([
      { kind: 'object-changed', key, mask: 1, ages: null },
    ])
  })

  test('B16, B17: is not said again once it has come, and where nothing changed nothing is said', () => {
    const { cluster, key } = pair()
    expect(packets(cluster)).toEqual([])
    write(cluster, A, key, 5)
    arrives(cluster, pull(cluster, A, HOST))
    settle(cluster)
    expect(pull(cluster, A, HOST)).toBe(null)
    set(cluster, A, key, [5, 1], 0)
    expect(pull(cluster, A, HOST)).toBe(null)
    expect(thing(cluster, A, key).oseq).toBe(2)
  })

  test('B17: is not said again while it is on its way', () => {
    const { cluster, key } = pair()
    write(cluster, A, key, 5)
    const packet = pull(cluster, A, HOST)
    expect(packet).not.toBe(null)
    expect(pull(cluster, A, HOST)).toBe(null)
    pass(cluster, 5_000)
    expect(pull(cluster, A, HOST)).toBe(null)
  })

  test('B18: is said again when the packet is lost, as it is then', () => {
    const { cluster, key } = pair()
    write(cluster, A, key, 5)
    const lost = pull(cluster, A, HOST)!
    write(cluster, A, key, 6, 1)
    const late = pull(cluster, A, HOST)!
    write(cluster, A, key, 7)
    verdict(cluster, late, false)
    verdict(cluster, lost, false)
    arrives(cluster, pull(cluster, A, HOST))
    expect(look(cluster, HOST, key)).toBe('2 v0.0 7,6')
    expect(pull(cluster, A, HOST)).toBe(null)
  })

  test('B18: of two packets the older one lost says nothing again: the newer one carries it', () => {
    const { cluster, key } = pair()
    write(cluster, A, key, 5)
    const lost = pull(cluster, A, HOST)!
    write(cluster, A, key, 6, 1)
    const newer = pull(cluster, A, HOST)!
    verdict(cluster, lost, false)
    expect(pull(cluster, A, HOST)).toBe(null)
    arrives(cluster, newer)
    expect(look(cluster, HOST, key)).toBe('2 v0.0 5,6')
  })

  test('B56: an update carries every field that the peer is not known to have', () => {
    const { cluster, key } = pair()
    write(cluster, A, key, 5)
    const older = pull(cluster, A, HOST)!
    write(cluster, A, key, 6, 1)
    const newer = pull(cluster, A, HOST)!
    land(cluster, newer)
    expect(look(cluster, HOST, key)).toBe('2 v0.0 5,6')
    // The older one is ignored for good, and its ack is no harm.
    land(cluster, older)
    for (const packet of [older, newer]) verdict(cluster, packet, true)
    expect(look(cluster, HOST, key)).toBe('2 v0.0 5,6')
    expect(pull(cluster, A, HOST)).toBe(null)
  })

  test('B56: and no field that it is known to have', () => {
    const { cluster, key } = pair()
    write(cluster, A, key, 5)
    arrives(cluster, pull(cluster, A, HOST))
    cluster.events.get(HOST)!.length = 0
    write(cluster, A, key, 6, 1)
    arrives(cluster, pull(cluster, A, HOST))
    expect(told(cluster, HOST, 'object-changed').map(({ mask }) => mask)).toEqual([2])
  })

  test('B16: a packet taken for lost that came, and one acked late, make nothing worse', () => {
    const { cluster, key } = pair()
    write(cluster, A, key, 5)
    const doubted = pull(cluster, A, HOST)!
    land(cluster, doubted)
    verdict(cluster, doubted, false)
    const again = pull(cluster, A, HOST)!
    verdict(cluster, doubted, true)
    land(cluster, again)
    expect(state(cluster, HOST).counters.stale).toBe(1)
    verdict(cluster, again, true)
    expect(pull(cluster, A, HOST)).toBe(null)
    expect(looks(cluster, key)).toEqual(['2 v0.0 5,1'])
  })

  test('what changed so often that 16 bits of oseq do not tell it apart arrives all the same', () => {
    for (const count of [32_766, 32_767, 70_000]) {
      const { cluster, key } = pair()
      for (let i = 0; i < count; i++) write(cluster, A, key, 2 + (i % 2))
      write(cluster, A, key, 200, 1)
      settle(cluster)
      expect([count, look(cluster, HOST, key)]).toEqual([count, look(cluster, A, key)])
    }
  })

  test('of hundreds that lie between two that changed the numbers cost nothing', () => {
    const cluster = meet({ incs: [HOST, A] })
    const keys = Array.from({ length: 600 }, () => spawn(cluster, A))
    settle(cluster)
    for (const key of [keys[0]!, keys[599]!, keys[1]!]) write(cluster, A, key, 5)
    const packet = pull(cluster, A, HOST)!
    expect(packet.bytes.length).toBeLessThan(24)
    arrives(cluster, packet)
    expect([0, 1, 599].map((i) => look(cluster, HOST, keys[i]!))).toEqual([
      '2 v0.0 5,1',
      '2 v0.0 5,1',
      '2 v0.0 5,1',
    ])
  })

  describe('in one send tick', () => {
    /** A has two objects that HOST knows. The first changes in so many ticks, the second rests. */
    function uneven(ticks: number): { cluster: Cluster; moving: number; resting: number } {
      const { cluster, key: moving } = pair()
      const resting = spawn(cluster, A)
      settle(cluster)
      for (let i = 0; i < ticks; i++) {
        write(cluster, A, moving, i % 256)
        settle(cluster)
      }
      return { cluster, moving, resting }
    }

    const oseqs = (cluster: Cluster, ...keys: number[]): number[] => {
      return keys.map((key) => thing(cluster, A, key).oseq)
    }

    test('has one oseq, which a packet names once', () => {
      const { cluster, moving, resting } = uneven(12)
      const only = (): number => {
        write(cluster, A, moving, 7)
        return pull(cluster, A, HOST)!.bytes.length
      }
      const alone = only()
      settle(cluster)
      write(cluster, A, moving, 8)
      write(cluster, A, resting, 8)
      const [one, other] = oseqs(cluster, moving, resting)
      expect(one).toBe(other)
      const packet = pull(cluster, A, HOST)!
      // The head, the mask and the value.
      expect(packet.bytes.length - alone).toBe(3)
      arrives(cluster, packet)
      expect([moving, resting].map((key) => look(cluster, HOST, key))).toEqual([
        '2 v0.0 8,1',
        '2 v0.0 8,1',
      ])
      expect(thing(cluster, HOST, resting).oseq).toBe(one)
    })

    test('catches up with the others in steps of 16, once a tick', () => {
      const { cluster, moving, resting } = uneven(40)
      const before = oseqs(cluster, resting)[0]!
      const seen = [1, 2, 3].map((value) => {
        for (let i = 0; i < 5; i++) write(cluster, A, resting, 10 * value + i)
        write(cluster, A, moving, value)
        settle(cluster)
        const [own, other] = oseqs(cluster, resting, moving)
        return [own! - before, own! >= other!]
      })
      expect(seen).toEqual([
        [16 + 5, false],
        [2 * (16 + 5), true],
        [2 * (16 + 5) + 5, true],
      ])
    })

    test('and while catching up no late packet is taken for a newer one', () => {
      for (const [frames, often] of [
        [13, 10],
        [129, 1],
      ] as const) {
        const { cluster, moving, resting: key } = uneven(1)
        const own = state(cluster, A)
        Object.assign(own, { round: 100_000, newestOseq: 99_999 })
        thing(cluster, A, moving).oseq = own.newestOseq
        write(cluster, A, key, 77)
        cluster.now += 50
        const late = pull(cluster, A, HOST)!
        for (let frame = 0; frame < frames; frame++) {
          write(cluster, A, moving, frame)
          for (let i = 0; i < often; i++) write(cluster, A, key, (frame * often + i) % 50)
          cluster.now += 16
          for (const packet of packets(cluster)) arrives(cluster, packet)
        }
        expect(own.round).toBeGreaterThan(100_000 + frames - 2)
        land(cluster, late)
        expect(looks(cluster, key)).toHaveLength(1)
        write(cluster, A, key, 60)
        settle(cluster)
        expect(look(cluster, HOST, key)).toBe('2 v0.0 60,1')
      }
    })

    test('goes in a packet however often it changes', () => {
      const { cluster, key } = pair()
      Object.assign(state(cluster, A), { round: 100_000, newestOseq: 99_999 })
      for (let i = 0; i < 3_000; i++) write(cluster, A, key, i % 256)
      cluster.now += 50
      expect(packets(cluster)).toHaveLength(1)
      expect(cluster.links.get(`${A}>${HOST}`)!.letters).toEqual([])
    })

    test('has an oseq that others accept, however old the room is', () => {
      const { cluster, key } = pair()
      const own = state(cluster, A)
      Object.assign(own, { round: 2 ** 30 - 1, newestOseq: 2 ** 30 - 2 })
      for (let value = 2; value < 10; value++) {
        thing(cluster, A, key).oseq = Math.max(own.round - 1, thing(cluster, A, key).oseq)
        write(cluster, A, key, value)
        settle(cluster)
      }
      expect(own.round).toBe(2 ** 30)
      const late = spawn(cluster, A)
      settle(cluster)
      expect(look(cluster, HOST, late)).toBe('2 v0.0 1,1')
    })

    test('follows no oseq that a former owner chose', () => {
      const { cluster, moving, resting } = uneven(3)
      const far = 2 ** 31 - 1
      thing(cluster, A, resting).oseq = far
      for (const key of [resting, moving]) write(cluster, A, key, 9)
      settle(cluster)
      write(cluster, A, moving, 10)
      expect(oseqs(cluster, moving, resting)).toEqual([expect.any(Number), far + 1])
      expect(oseqs(cluster, moving)[0]).toBeLessThan(10)
    })
  })

  test('of another member leaves together with those of a primary that simulates', () => {
    const cluster = meet({ incs: [HOST, A, B] })
    const keys = new Map<PeerId, number>([HOST, A].map((inc) => [inc, spawn(cluster, inc)]))
    settle(cluster)
    for (const one of cluster.states.values()) one.gatherMs = 50
    /** When packets leave for B in each of 20 ticks; members change theirs at these times. */
    const course = (changes: readonly (readonly [PeerId, Millis])[]): number[][] => {
      return Array.from({ length: 20 }, (_none, tick) => {
        const begin = cluster.now
        const left: number[] = []
        for (let after = 0; after < 50; after++) {
          cluster.now = begin + after
          for (const [inc, at] of changes) {
            if (at === after) write(cluster, inc, keys.get(inc)!, tick + after)
          }
          for (const packet of packets(cluster)) {
            arrives(cluster, packet)
            if (packet.to === B) left.push(after)
          }
        }
        cluster.now = begin + 50
        return left
      }).slice(2)
    }
    const both = course([
      [HOST, 0],
      [A, 30],
    ])
    expect(both).toEqual(Array(18).fill([0]))
    // Without such changes they wait for nothing but the next look.
    const others = course([[A, 30]])
    expect(others.slice(3)).toEqual(Array(15).fill([31]))
  })

  test('peers that lack the same are written the same bytes, encoded once', () => {
    const cluster = meet({ incs: [HOST, A, B, C] })
    const key = spawn(cluster, HOST)
    settle(cluster)
    let encoded = 0
    const [column] = cluster.types[0]!.schema.columns
    const counted = column!.field as { write: Field<unknown>['write'] }
    const plain = counted.write
    counted.write = (...given) => {
      encoded++
      plain(...given)
    }
    write(cluster, HOST, key, 5)
    const [one, two, three] = [A, B, C].map((to) => pull(cluster, HOST, to)!.bytes)
    counted.write = plain
    expect([two, three]).toEqual([one, one])
    expect(encoded).toBe(1)
  })
})

describe('a change that others extrapolate', () => {
  test('B17: waits for two seconds since the last that was said, and no longer (PR-2)', () => {
    const { cluster, key } = pair()
    const isSaid = (value: number): boolean => set(cluster, A, key, [value, 1], 1, NaN, true)
    write(cluster, A, key, 5)
    const since = cluster.now
    cluster.now = since + UNSENT_MS - 1
    expect(isSaid(6)).toBe(false)
    cluster.now = since + UNSENT_MS
    expect(isSaid(7)).toBe(true)
  })
})

describe('the count of changes', () => {
  test('goes on over each change of owner, so that an update never seems old', () => {
    const cluster = meet()
    const key = spawn(cluster, A)
    settle(cluster)
    for (let value = 2; value < 9; value++) {
      write(cluster, value % 2 === 0 ? A : B, key, value)
      settle(cluster)
      expect(looks(cluster, key)).toHaveLength(1)
      grant(cluster, key, value % 2 === 0 ? B : A)
      settle(cluster)
    }
    expect(thing(cluster, HOST, key)).toMatchObject({ oseq: 8, version: { epoch: 1, count: 7 } })
  })

  test('is the owner’s, end to end: over a new primary no state is older than what was seen', () => {
    const cluster = meet({ incs: [HOST, A, B, C] })
    const key = spawn(cluster, A)
    settle(cluster)
    const seen: number[] = []
    for (let value = 2; value < 60; value++) {
      write(cluster, A, key, value)
      if (value === 20) takeOver(cluster, B)
      if (value === 40) takeOver(cluster, C)
      pass(cluster, 7)
      if (cluster.states.has(C)) seen.push(thing(cluster, C, key).oseq)
    }
    settle(cluster)
    expect(seen).toEqual([...seen].sort((one, other) => one - other))
    expect(looks(cluster, key)).toEqual(['2 v0.0 59,1'])
  })

  test('a new link knows nothing of what the peer has, so acks of the old one do not count', () => {
    const { cluster, key } = pair()
    write(cluster, A, key, 5)
    const packet = pull(cluster, A, HOST)!
    link(cluster, HOST, A)
    verdict(cluster, packet, true)
    settle(cluster)
    expect(looks(cluster, key)).toEqual(['2 v0.0 5,1'])
  })
})

describe('when not all that changed can leave at once', () => {
  const big = (weight: number) => rules({ weight }, { load: bytes(300) })

  function load(value: number): string {
    return String.fromCharCode(value).repeat(300)
  }

  test('each packet stays within its budget, and what did not leave goes next', () => {
    const cluster = meet({ incs: [HOST, A], types: [big(1)] })
    const keys = Array.from({ length: 10 }, () => spawn(cluster, A, [load(1)]))
    settle(cluster)
    for (const key of keys) set(cluster, A, key, [load(2)], 1)
    const left: number[] = []
    const go = (): void => {
      for (let packet; (packet = pull(cluster, A, HOST));) {
        left.push(packet.bytes.length)
        arrives(cluster, packet)
      }
    }
    go()
    // For what little is left no packet of its own goes in this round.
    expect(left).toHaveLength(3)
    cluster.now += objects.GATHER_MS * 3
    expect([...cluster.part.dirty!(state(cluster, A), cluster.now)]).toEqual([HOST])
    go()
    expect(left).toHaveLength(4)
    expect(Math.max(...left)).toBeLessThanOrEqual(1_000)
    expect(new Set(keys.map((key) => look(cluster, HOST, key)))).toEqual(
      new Set([look(cluster, A, keys[0]!)]),
    )
  })

  test('one of three times the weight waits a third as long, and none waits for ever', () => {
    const cluster = meet({ incs: [HOST, A], types: [big(1), big(3)] })
    const keys = [0, 0, 0, 1, 1, 1].map((type) => spawn(cluster, A, [load(1)], type))
    settle(cluster)
    const times = new Map<number, number>(keys.map((key) => [key, 0]))
    for (let round = 0; round < 300; round++) {
      cluster.now += 10
      for (const key of keys) {
        const fields = [load(2 + (round % 2))]
        set(cluster, A, key, fields, 1)
      }
      cluster.events.get(HOST)!.length = 0
      arrives(cluster, pull(cluster, A, HOST, 400))
      for (const { key } of told(cluster, HOST, 'object-changed'))
        times.set(key, times.get(key)! + 1)
    }
    const [light, heavy] = [keys.slice(0, 3), keys.slice(3)].map((some) =>
      some.map((key) => times.get(key)!),
    )
    expect(Math.min(...light!)).toBeGreaterThan(15)
    for (const one of heavy!) {
      for (const other of light!) {
        expect(one / other).toBeGreaterThan(2)
        expect(one / other).toBeLessThan(4)
      }
    }
  })

  test('changes of some milliseconds gather; the first after a while leaves at once', () => {
    const { cluster, key } = pair()
    pass(cluster, 100)
    const left: number[] = []
    for (let ms = 0; ms < 40; ms++) {
      write(cluster, A, key, ms + 2)
      for (const packet of packets(cluster)) {
        left.push(ms)
        arrives(cluster, packet)
      }
      cluster.now++
    }
    expect(left[0]).toBe(0)
    expect(left.length).toBeLessThanOrEqual(Math.ceil(40 / objects.GATHER_MS))
    expect(left.length).toBeGreaterThan(5)
  })
})

describe('dead reckoning', () => {
  function move(cluster: Cluster, key: number, value: number, foreseen: boolean): boolean {
    return set(cluster, A, key, [value, 1], 1, NaN, foreseen)
  }

  test('B17: what the others foresee is not said, and said as it is then after a while', () => {
    const { cluster, key } = pair()
    move(cluster, key, 2, false)
    const from = cluster.now
    settle(cluster)
    const said = told(cluster, HOST, 'object-changed').length
    for (let value = 3; cluster.now - from < UNSENT_MS - 50; value++) {
      expect(move(cluster, key, value, true)).toBe(false)
      pass(cluster, 20)
      expect(pull(cluster, A, HOST)).toBe(null)
    }
    expect(told(cluster, HOST, 'object-changed')).toHaveLength(said)
    pass(cluster, 50 + COMPANY_MS + 50)
    expect(looks(cluster, key)).toEqual([`2 v0.0 ${thing(cluster, A, key).fields.join()}`])
    expect(told(cluster, HOST, 'object-changed')).toHaveLength(said + 1)
  })

  test('what they do not foresee is said at once, with all that was left unsaid', () => {
    const { cluster, key } = pair()
    move(cluster, key, 2, false)
    settle(cluster)
    set(cluster, A, key, [2, 7], 2, NaN, true)
    expect(pull(cluster, A, HOST)).toBe(null)
    set(cluster, A, key, [9, 7], 1, NaN, false)
    arrives(cluster, pull(cluster, A, HOST))
    expect(look(cluster, HOST, key)).toBe('2 v0.0 9,7')
    pass(cluster, 2_000)
    expect(told(cluster, HOST, 'object-changed')).toHaveLength(2)
  })

  test('B17: what was unsaid and is said now makes nothing due any more (PR-2)', () => {
    const { cluster, key } = pair()
    move(cluster, key, 2, false)
    settle(cluster)
    move(cluster, key, 3, true)
    const own = state(cluster, A)
    expect(own.unsentAt).toBeLessThanOrEqual(cluster.now + UNSENT_MS)
    pass(cluster, UNSENT_MS + COMPANY_MS)
    expect([look(cluster, HOST, key), own.unsent.size, own.unsentAt]).toEqual([
      '2 v0.0 3,1',
      0,
      Infinity,
    ])
  })

  test('B49: what is unsaid of one that ended over a minute ago is not said any more (PR-2)', () => {
    const { cluster, key } = pair()
    move(cluster, key, 5, true)
    destroy(cluster, A, key)
    // A stands still for longer than it remembers the end.
    cluster.now += TOMBSTONE_MS
    expect(() => pass(cluster, 1_000)).not.toThrow()
    expect(look(cluster, A, key)).toBe('unknown')
    expect(pull(cluster, A, HOST)).toBe(null)
  })

  test('what is unsaid is not lost when the object changes hands, or when it goes', () => {
    const cluster = meet()
    const key = spawn(cluster, A)
    settle(cluster)
    move(cluster, key, 5, true)
    act(cluster, A, (turn) => objects.request(turn, thing(cluster, A, key), 'give', B))
    settle(cluster)
    expect(looks(cluster, key)).toEqual(['3 v1.1 5,1'])
    pass(cluster, 2_000)
    expect(looks(cluster, key)).toEqual(['3 v1.1 5,1'])
  })
})
