import { describe, expect, test } from 'vitest'
import type { Datagrams } from '../../holdfast/src/ports.ts'
import { createWorld } from './world.ts'
import type { SimNode, World } from './world.ts'

// Goal: the ports of a simulated node keep the promises of ports.ts, each fault does what its
// name says.
// Method: small programs in a world, looked at from outside.

/** What a node heard, as words. */
type Heard = string[]

interface Talker {
  node: SimNode
  datagrams: Datagrams
  heard: Heard
}

async function talker(world: World, name: string): Promise<Talker> {
  const node = world.node(name)
  const heard: Heard = []
  const datagrams = await node.openDatagrams({
    datagram: (from, bytes) => heard.push(`${from} ${bytes.join()}`),
    refused: (address) => heard.push(`refused ${address}`),
  })
  return { node, datagrams, heard }
}

test('who is told that nobody listens is told it by whoever forges it', async () => {
  const world = createWorld({ seed: 1 })
  const [a, b] = [await talker(world, 'a'), await talker(world, 'b')]
  world.stall('a', 50)
  world.refuse('a', 'sim:b')
  await world.run(20)
  expect(a.heard).toEqual([])
  await world.run(40)
  expect([a.heard, b.heard]).toEqual([['refused sim:b'], []])
})

describe('time', () => {
  test('alarms go off in order, never within the call that set them, and once each', () => {
    const world = createWorld({ seed: 1 })
    const { loop } = world.node('a')
    const start = loop.now()
    const heard: string[] = []
    const alarm = (name: string) => loop.alarm(() => heard.push(`${name} ${loop.now() - start}`))
    alarm('late').set(start + 30)
    alarm('past').set(start - 30)
    const moved = alarm('moved')
    moved.set(start + 5)
    moved.set(start + 20)
    moved.set(start + 10)
    const cancelled = alarm('cancelled')
    cancelled.set(start + 1)
    cancelled.cancel()
    alarm('never').set(Number.POSITIVE_INFINITY)
    expect(heard).toEqual([])
    world.runSync(1000)
    expect(heard).toEqual(['past 0', 'moved 10', 'late 30'])
    expect(world.now()).toBe(1000)
  })

  test('an alarm that was cancelled can be set again', () => {
    const world = createWorld({ seed: 1 })
    const { loop } = world.node('a')
    const heard: number[] = []
    const alarm = loop.alarm(() => heard.push(world.now()))
    alarm.set(loop.now() + 10)
    alarm.cancel()
    alarm.set(loop.now() + 20)
    world.runSync(15)
    alarm.cancel()
    alarm.set(loop.now() + 5)
    world.runSync(100)
    expect(heard).toEqual([20])
  })

  test('at the instant an alarm goes off the clock shows at least what it was set to', () => {
    for (const factor of [1, 0.7, 1 / 3, 0.999, 1.1]) {
      const world = createWorld({ seed: 2 })
      const { loop } = world.node('a')
      world.runSync(1 / 3)
      world.slowClock('a', factor)
      let due = loop.now()
      const early: number[] = []
      const alarm = loop.alarm(() => {
        if (loop.now() < due) early.push(due)
        alarm.set((due += 0.1))
      })
      alarm.set(due)
      world.runSync(200)
      expect(early).toEqual([])
    }
  })

  test('a slow clock makes alarms late, also those already set', () => {
    const world = createWorld({ seed: 1 })
    const { loop } = world.node('a')
    const heard: number[] = []
    loop.alarm(() => heard.push(world.now())).set(loop.now() + 100)
    world.runSync(50)
    world.slowClock('a', 0.5)
    world.runSync(1000)
    expect(heard).toEqual([150])
  })

  test('slack makes alarms late by less than it says, never early', () => {
    const world = createWorld({ seed: 1, slackMs: 15 })
    const { loop } = world.node('a')
    const late: number[] = []
    for (let i = 0; i < 100; i++) {
      const due = loop.now() + i
      loop.alarm(() => late.push(loop.now() - due)).set(due)
    }
    world.runSync(1000)
    expect(late).toHaveLength(100)
    expect(Math.min(...late)).toBeGreaterThanOrEqual(0)
    expect(Math.max(...late)).toBeLessThan(15)
    expect(Math.max(...late)).toBeGreaterThan(10)
  })

  test('a stalled loop runs nothing, then everything late, alarms before datagrams', async () => {
    const world = createWorld({ seed: 1 })
    const [a, b] = [await talker(world, 'a'), await talker(world, 'b')]
    world.stall('b', 500)
    b.node.loop.alarm(() => b.heard.push(`alarm at ${world.now()}`)).set(b.node.loop.now() + 20)
    a.datagrams.send('sim:b', new Uint8Array([1]))
    world.runSync(499)
    expect(b.heard).toEqual([])
    world.runSync(1)
    expect(b.heard).toEqual(['alarm at 500', 'sim:a 1'])
  })

  test('a stalled node keeps 256 datagrams and loses what is beyond', async () => {
    const world = createWorld({ seed: 1 })
    const [a, b] = [await talker(world, 'a'), await talker(world, 'b')]
    world.stall('b', 100)
    for (let i = 0; i < 300; i++) a.datagrams.send('sim:b', new Uint8Array([1]))
    world.runSync(1000)
    expect(b.heard).toHaveLength(256)
    expect(world.counters.overflowed).toBe(44)
  })

  test('what waits already when it stalls once more is not counted twice (PR-2)', async () => {
    const world = createWorld({ seed: 1 })
    const [a, b] = [await talker(world, 'a'), await talker(world, 'b')]
    const send = (count: number): void => {
      for (let i = 0; i < count; i++) a.datagrams.send('sim:b', new Uint8Array([1]))
    }
    world.stall('b', 100)
    send(200)
    world.runSync(90)
    world.stall('b', 100)
    world.runSync(20)
    expect(b.heard).toEqual([])
    send(60)
    world.runSync(1000)
    expect(b.heard).toHaveLength(256)
    expect(world.counters.overflowed).toBe(4)
  })

  test('an endless loop at one instant is caught', () => {
    const world = createWorld({ seed: 1 })
    const { loop } = world.node('a')
    // Not quite endless, so that a world that does not notice comes to an end.
    let left = 1_200_000
    const alarm = loop.alarm(() => left-- > 0 && alarm.set(loop.now()))
    alarm.set(loop.now())
    expect(() => world.runSync(1)).toThrow('1000000 events at 0 ms, the last an alarm of a')
  })

  test('a world runs for no time that is below zero or no number (PR-2)', () => {
    const world = createWorld({ seed: 1 })
    for (const ms of [-1, NaN]) {
      expect(() => world.runSync(ms)).toThrow(`a world runs for 0 ms or more: ${ms}`)
    }
    world.runSync(0)
    expect(world.now()).toBe(0)
  })

  test('promises go on before time moves', async () => {
    const world = createWorld({ seed: 1 })
    const { loop } = world.node('a')
    const heard: string[] = []
    const wait = (ms: number) =>
      new Promise<void>((resolve) => loop.alarm(resolve).set(loop.now() + ms))
    const program = async (): Promise<void> => {
      await wait(10)
      heard.push(`one ${world.now()}`)
      await wait(10)
      heard.push(`two ${world.now()}`)
    }
    void program()
    expect(await world.runUntil(() => heard.length === 2, 1000)).toBe(true)
    expect(heard).toEqual(['one 10', 'two 20'])
    expect(await world.runUntil(() => heard.length === 3, 100)).toBe(false)
    expect(world.now()).toBe(120)
  })
})

describe('datagrams', () => {
  test('they arrive after half a round trip, with an address to answer to', async () => {
    const world = createWorld({ seed: 1, conditions: 'rtt=100' })
    const [a, b] = [await talker(world, 'a'), await talker(world, 'b')]
    expect(a.datagrams.addresses).toEqual(['sim:a'])
    expect(a.datagrams.reaches('sim:b')).toBe(true)
    expect(a.datagrams.reaches('udp:1.2.3.4:5')).toBe(false)
    const bytes = new Uint8Array([7])
    a.datagrams.send('sim:b', bytes)
    bytes[0] = 9
    world.runSync(49)
    expect(b.heard).toEqual([])
    world.runSync(1)
    expect(b.heard).toEqual(['sim:a 7'])
  })

  test('the bytes are not to be kept: they are scribbled over after the call', async () => {
    const world = createWorld({ seed: 1 })
    const a = await talker(world, 'a')
    const kept: Uint8Array[] = []
    await world.node('b').openDatagrams({ datagram: (_, bytes) => kept.push(bytes), refused() {} })
    a.datagrams.send('sim:b', new Uint8Array([7, 7]))
    world.runSync(1)
    expect([...kept[0]!]).toEqual([0xdd, 0xdd])
  })

  test('where nobody listens the sender is told, unless the machine itself is dead', async () => {
    const world = createWorld({ seed: 1 })
    const [a] = [await talker(world, 'a'), await talker(world, 'b')]
    world.crash('b')
    a.datagrams.send('sim:b', new Uint8Array([1]))
    world.runSync(10)
    expect(a.heard).toEqual(['refused sim:b'])
    world.restart('b')
    world.crash('b', { silent: true })
    a.datagrams.send('sim:b', new Uint8Array([1]))
    world.runSync(10)
    expect(a.heard).toHaveLength(1)
  })

  test('1233 bytes are too many, and a closed socket sends nothing', async () => {
    const world = createWorld({ seed: 1 })
    const [a, b] = [await talker(world, 'a'), await talker(world, 'b')]
    a.datagrams.send('sim:b', new Uint8Array(1233))
    a.datagrams.close()
    a.datagrams.send('sim:b', new Uint8Array(1))
    world.runSync(10)
    expect(b.heard).toEqual([])
    expect(world.counters).toMatchObject({ oversize: 1, sent: 0 })
  })

  test('the last word for a pair counts, and one way only', async () => {
    const world = createWorld({ seed: 1, conditions: { rttMs: 10 } })
    const [a, b] = [await talker(world, 'a'), await talker(world, 'b')]
    world.conditions('*', 'b', 'rtt=100')
    world.conditions('a', 'b', 'loss=100%')
    a.datagrams.send('sim:b', new Uint8Array([1]))
    b.datagrams.send('sim:a', new Uint8Array([2]))
    world.runSync(1000)
    expect(b.heard).toEqual([])
    expect(a.heard).toEqual(['sim:b 2'])
    const clear = world.weather({ lossShare: 1 })
    b.datagrams.send('sim:a', new Uint8Array([3]))
    clear()
    b.datagrams.send('sim:a', new Uint8Array([4]))
    world.runSync(1000)
    expect(a.heard).toEqual(['sim:b 2', 'sim:b 4'])
  })

  test('a partition stops both ways and what is under way; deafness one way', async () => {
    const world = createWorld({ seed: 1, conditions: 'rtt=10' })
    const [a, b] = [await talker(world, 'a'), await talker(world, 'b')]
    const both = (byte: number): void => {
      a.datagrams.send('sim:b', new Uint8Array([byte]))
      b.datagrams.send('sim:a', new Uint8Array([byte]))
    }
    both(1)
    const mend = world.partition([['a']])
    both(2)
    world.runSync(100)
    expect([a.heard, b.heard]).toEqual([[], []])
    mend()
    world.deafen('a', 'b')
    both(3)
    world.runSync(100)
    expect([a.heard, b.heard]).toEqual([['sim:b 3'], []])
    world.heal()
    both(4)
    world.runSync(100)
    expect(b.heard).toEqual(['sim:a 4'])
  })
})

describe('life and death', () => {
  test('what was written survives, alarms and sockets of the dead do nothing', async () => {
    const world = createWorld({ seed: 1 })
    const b = await talker(world, 'b')
    const lives: SimNode[] = []
    world.node('a', (node) => lives.push(node))
    const [first] = lives as [SimNode]
    const socket = await first.openDatagrams({ datagram() {}, refused() {} })
    const heard: string[] = []
    first.loop.alarm(() => heard.push('of the dead')).set(first.loop.now() + 150)
    const written: string[] = []
    const change = (key: string, rev: number, byte: number | null): void => {
      const value = byte === null ? null : Uint8Array.of(byte)
      first.store.cas({ key, rev, value, blobs: [[key, value]] }, (outcome) => {
        written.push(`${key} ${JSON.stringify(outcome)}`)
      })
    }
    for (const [key, rev, byte] of [
      ['b', 0, 2],
      ['a', 0, 1],
      ['c', 0, 3],
      ['c', 3, null],
      ['a', 2, 4],
      ['b', 7, 9],
    ] as const) {
      change(key, rev, byte)
      world.runSync(20)
    }
    world.crash('a')
    expect([first.alive(), world.isRunning('a')]).toEqual([false, false])
    change('a', 4, 9)
    first.loop.alarm(() => heard.push('of the dead')).set(0)
    socket.send('sim:b', new Uint8Array([1]))
    world.restart('a')
    world.runSync(100)
    expect(lives).toHaveLength(2)
    const { store } = lives[1]!
    expect([...store.entries()].map(([key, { value }]) => [key, ...value])).toEqual([
      ['a', 4],
      ['b', 2],
    ])
    for (const key of ['a', 'b', 'c']) {
      store.blobs(key, ['a', 'b', 'c'], (blobs) => {
        const found = (blobs as (Uint8Array | null)[]).map((one) => one?.[0] ?? '-')
        heard.push(`${key}: ${found.join('')}`)
      })
    }
    world.runSync(10)
    expect(heard.splice(0).toSorted()).toEqual(['a: 4--', 'b: -2-', 'c: ---'])
    expect(written).toEqual([
      'b {"rev":1}',
      'a {"rev":2}',
      'c {"rev":3}',
      'c {"rev":0}',
      'a {"rev":4}',
      'b "conflict"',
    ])
    expect([heard, b.heard]).toEqual([[], []])
    expect(world.restart('a')).toBe(lives[1])
  })

  test('a clock starts anywhere in its first thousand seconds (PR-2)', () => {
    const starts = Array.from({ length: 40 }, (_, seed) => {
      return createWorld({ seed }).node('a').loop.now()
    })
    expect(starts.filter((ms) => ms < 0 || ms >= 1_000_000)).toEqual([])
    expect(starts.some((ms) => ms > 800_000)).toBe(true)
    expect(starts.some((ms) => ms < 200_000)).toBe(true)
  })

  test('two lives have neither the same clock nor the same chance', () => {
    const world = createWorld({ seed: 1 })
    const before = world.node('a')
    const seen = [before.loop.now(), before.loop.random(8).join()]
    world.crash('a')
    const after = world.restart('a')
    expect(after.loop.now()).not.toBe(seen[0])
    expect(after.loop.random(8).join()).not.toBe(seen[1])
  })

  test('names that are wrong are refused with what there is', () => {
    const world = createWorld({ seed: 1 })
    world.node('a')
    expect(() => world.crash('z')).toThrow('no node is called z; there are a')
    expect(() => world.node('a b')).toThrow("a node's name has no space")
    expect(() => world.slowClock('a', 0)).toThrow('above 0 to 100: 0')
    expect(() => world.conditions('z', '*', 'rtt=1')).toThrow('no node is called z; there are a')
    expect(() => world.conditions('*', 'z', 'rtt=1')).toThrow('no node is called z; there are a')
    expect(() => world.conditions('*', 'a', 'rtt=1')).not.toThrow()
    expect(() => createWorld({ seed: 1, slackMs: -1 })).toThrow('slackMs must be from 0')
  })
})

describe('a transcript', () => {
  test('reads well and forgets its oldest lines', async () => {
    const world = createWorld({
      seed: 1,
      conditions: 'rtt=40',
      linesMax: 6,
      describe: (bytes) => `<${bytes.join(' ')}>`,
    })
    const [a] = [await talker(world, 'a'), await talker(world, 'b')]
    world.follow([{ at: 5, fault: { kind: 'crash', node: 'b', silent: false } }])
    a.node.note('says hello')
    a.datagrams.send('sim:b', new Uint8Array([1, 2]))
    world.runSync(100)
    expect(world.transcript()).toEqual([
      '(2 lines before)',
      '       0.000  a         says hello',
      '       0.000  a         -> b  2 B <1 2>: 20.000 ms',
      '       5.000  world     crash of b',
      '       5.000  b         crashes',
      '      20.000  b         <- a  2 B: nobody listens',
      '      40.000  a         is told that nobody listens at sim:b',
    ])
  })
})
