import { describe, expect, test } from 'vitest'
import { createPath, PERFECT, parse } from '../../faults/conditions.ts'
import type { Datagrams } from '../../ports.ts'
import { createWorld, type World } from '../../../../sim/src/world.ts'
import { Conditioner, CONDITIONER_QUEUE_MAX } from './conditioner.ts'

// Goal: conditions over a carrier do what they say, whichever way, also while they change.
// Method: a quiet simulated network underneath, so that every delay and loss is the conditioner's.

interface Scene {
  world: World
  weather: Conditioner
  /** Under conditions. */
  a: Datagrams
  b: Datagrams
  /** When and what each heard. */
  heard: { a: string[]; b: string[] }
}

async function scene(conditions: string): Promise<Scene> {
  const world = createWorld({ seed: 1 })
  const [a, b] = [world.node('a'), world.node('b')]
  const weather = new Conditioner(a.loop, parse(conditions), 5)
  const heard: Scene['heard'] = { a: [], b: [] }
  const events = (words: string[]) => ({
    datagram: (_: string, bytes: Uint8Array) => words.push(`${world.now()}: ${bytes.join()}`),
    refused: (address: string) => words.push(`${world.now()}: refused ${address}`),
  })
  const [out, into, own] = [createPath(), createPath(), events(heard.a)]
  const carrier = await a.openDatagrams({
    ...own,
    datagram: (from, bytes) => weather.pass(into, bytes, (copy) => own.datagram(from, copy)),
  })
  return {
    world,
    weather,
    a: {
      ...carrier,
      send: (to, bytes) => weather.pass(out, bytes, (copy) => carrier.send(to, copy)),
      close: () => weather.close(),
    },
    b: await b.openDatagrams(events(heard.b)),
    heard,
  }
}

function sendMany(scenery: Scene, count: number): void {
  for (let i = 0; i < count; i++) scenery.a.send('sim:b', new Uint8Array([i & 0xff]))
}

describe('one datagram', () => {
  test('waits half the round trip each way, as a copy', async () => {
    const { world, a, b, heard } = await scene('rtt=100')
    const bytes = new Uint8Array([1])
    a.send('sim:b', bytes)
    bytes[0] = 9
    b.send('sim:a', new Uint8Array([2]))
    world.runSync(1000)
    expect(heard).toEqual({ a: ['50: 2'], b: ['50: 1'] })
  })

  test('on a quiet wire goes straight through', async () => {
    const { world, a, heard } = await scene('')
    a.send('sim:b', new Uint8Array([1]))
    world.runSync(0)
    expect(heard.b).toEqual(['0: 1'])
  })
})

describe('many datagrams', () => {
  test('keep their order where there is no jitter', async () => {
    const scenery = await scene('rtt=100')
    sendMany(scenery, 200)
    scenery.world.runSync(100)
    expect(scenery.heard.b).toEqual(Array.from({ length: 200 }, (_, i) => `50: ${i}`))
  })

  test('are lost, doubled and mixed as often as the shares say', async () => {
    const scenery = await scene('rtt=20,loss=10%,dup=5%,jitter=20')
    const { world, weather, heard } = scenery
    sendMany(scenery, 5000)
    world.runSync(1000)
    const { lost, duplicated, passed } = weather.counters
    expect(lost / 5000).toBeCloseTo(0.1, 1.5)
    expect(duplicated / 5000).toBeCloseTo(0.045, 1.5)
    expect(passed).toBe(5000 - lost + duplicated)
    expect(heard.b).toHaveLength(passed)
    const instants = heard.b.map((line) => Number.parseFloat(line))
    expect(Math.min(...instants)).toBeGreaterThanOrEqual(10)
    expect(Math.max(...instants)).toBeLessThan(30)
    expect(instants).toEqual([...instants].sort((one, two) => one - two))
  })

  test('beyond the bound of the queue are dropped and counted', async () => {
    const scenery = await scene('rtt=100')
    sendMany(scenery, CONDITIONER_QUEUE_MAX + 7)
    scenery.world.runSync(100)
    expect(scenery.heard.b).toHaveLength(CONDITIONER_QUEUE_MAX)
    expect(scenery.weather.counters.overflowed).toBe(7)
  })
})

describe('while it runs', () => {
  test('a change holds for what is sent from now on', async () => {
    const { world, weather, a, heard } = await scene('rtt=200')
    a.send('sim:b', new Uint8Array([1]))
    weather.change(parse('rtt=20'))
    expect(weather.current()).toEqual({ ...PERFECT, rttMs: 20 })
    a.send('sim:b', new Uint8Array([2]))
    world.runSync(1000)
    expect(heard.b).toEqual(['10: 2', '100: 1'])
    weather.change({ lossShare: 1 })
    a.send('sim:b', new Uint8Array([3]))
    world.runSync(1000)
    expect(heard.b).toHaveLength(2)
    expect(() => weather.change({ lossShare: 2 })).toThrow('lossShare must be from 0 to 1: 2')
    expect(weather.current().lossShare).toBe(1)
  })

  test('after close nothing that waited leaves', async () => {
    const { world, a, b, heard } = await scene('rtt=100')
    a.send('sim:b', new Uint8Array([1]))
    b.send('sim:a', new Uint8Array([2]))
    world.runSync(1)
    a.close()
    // Code that runs while it is closed may still send.
    a.send('sim:b', new Uint8Array([3]))
    world.runSync(1000)
    expect(heard.b).toEqual([])
  })

  test('the same seed makes the same weather', async () => {
    const runs = await Promise.all([scene('loss=50%,jitter=9'), scene('loss=50%,jitter=9')])
    for (const run of runs) {
      sendMany(run, 100)
      run.world.runSync(100)
    }
    expect(runs[0].heard).toEqual(runs[1].heard)
  })

  test('fair weather draws no chance, and is changed for bad and back', async () => {
    const world = createWorld({ seed: 1 })
    const { loop, openDatagrams } = world.node('a')
    let drawn = 0
    const counted = { ...loop, random: (count: number) => (drawn++, loop.random(count)) }
    const weather = new Conditioner(counted, {})
    const heard: number[] = []
    const carrier = await openDatagrams({ datagram: () => heard.push(world.now()), refused() {} })
    const path = createPath()
    const send = (): void => {
      weather.pass(path, new Uint8Array([1]), (copy) => carrier.send('sim:a', copy))
    }
    send()
    world.runSync(100)
    expect([heard, drawn]).toEqual([[0], 0])
    weather.change({ rttMs: 30 })
    send()
    weather.change(PERFECT)
    send()
    world.runSync(100)
    expect([heard, drawn]).toEqual([[0, 100, 115], 1])
    expect(() => new Conditioner(loop, { rttMs: -1 })).toThrow('rttMs must be from 0')
  })
})
