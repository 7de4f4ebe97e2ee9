import { describe, expect, test } from 'vitest'
import type { Stream } from '../../holdfast/src/ports.ts'
import { createWorld } from './world.ts'
import type { World } from './world.ts'

// Goal: simulated streams keep the promises of ports.ts and break as those of real systems do.
// Method: a server that echoes, and what both ends hear while the world is unkind to them.

/** What a node heard, as words. */
type Heard = string[]

/** A server of streams that answers each message with itself, and a client. */
function echo(world: World): { heard: Heard; served: Heard; dial: () => Stream } {
  const served: Heard = []
  const heard: Heard = []
  world.node('hub', (node) => {
    node.listen('ws://hub/', (stream) => ({
      opened: () => served.push('opened'),
      message: (bytes) => {
        served.push(`message ${bytes.join()}`)
        stream.send(bytes)
      },
      closed: (why) => served.push(why),
    }))
  })
  world.node('a')
  const dial = (): Stream => {
    const stream = world.node('a').connect('ws://hub/', {
      opened: () => {
        heard.push(`opened at ${world.now()}`)
        stream.send(new Uint8Array([1]))
        stream.send(new Uint8Array([2]))
      },
      message: (bytes) => heard.push(`message ${bytes.join()}`),
      closed: (why) => heard.push(why),
    })
    return stream
  }
  return { heard, served, dial }
}

describe('streams', () => {
  test('they open after a round trip, keep the order and answer', () => {
    const world = createWorld({ seed: 3, conditions: 'rtt=100,jitter=80,loss=20%' })
    const { heard, served, dial } = echo(world)
    const stream = dial()
    expect(stream.send(new Uint8Array([0]))).toBe(false)
    world.runSync(5000)
    expect(heard[0]).toMatch(/^opened at/)
    expect(heard.slice(1)).toEqual(['message 1', 'message 2'])
    stream.close()
    stream.close()
    expect(stream.send(new Uint8Array([0]))).toBe(false)
    world.runSync(5000)
    expect(served).toEqual(['opened', 'message 1', 'message 2', 'a closed the stream'])
    expect(heard).toHaveLength(3)
  })

  test('where all is lost by chance, a segment gets through at its sixth resend (PR-2)', () => {
    const world = createWorld({ seed: 1, conditions: 'loss=100%' })
    const { heard, dial } = echo(world)
    dial()
    world.runSync(10_000)
    expect(heard).toEqual(['opened at 2400', 'message 1', 'message 2'])
  })

  test('where nobody listens it is told as closed', () => {
    const world = createWorld({ seed: 1 })
    const heard: string[] = []
    const events = { opened() {}, message() {}, closed: (why: string) => heard.push(why) }
    world.node('a').connect('ws://nowhere/', events)
    expect(heard).toEqual([])
    world.runSync(10)
    expect(heard).toEqual(['nobody listens at ws://nowhere/'])
  })

  test('a crash resets the other end; after the restart it can be dialled again', () => {
    const world = createWorld({ seed: 1, conditions: 'rtt=20' })
    const { heard, dial } = echo(world)
    dial()
    world.runSync(100)
    heard.length = 0
    world.crash('hub')
    world.runSync(9)
    expect(heard).toEqual([])
    world.runSync(1)
    expect(heard).toEqual(['hub reset the stream'])
    dial()
    world.runSync(100)
    expect(heard[1]).toBe('nobody listens at ws://hub/')
    world.restart('hub')
    dial()
    world.runSync(100)
    expect(heard.slice(3)).toEqual(['message 1', 'message 2'])
  })

  test('a dead machine tells nobody: who sends breaks after ten seconds, others never', () => {
    const world = createWorld({ seed: 1, conditions: 'rtt=20' })
    const { heard, dial } = echo(world)
    const [busy] = [dial(), dial()]
    world.runSync(100)
    heard.length = 0
    world.crash('hub', { silent: true })
    busy.send(new Uint8Array([3]))
    world.runSync(10_000)
    expect(heard).toEqual([])
    world.runSync(300)
    expect(heard).toEqual(['nothing got through for 10000 ms'])
    world.runSync(60_000)
    expect(heard).toHaveLength(1)
  })

  test('a short partition holds a stream up, a long one leaves the far end half-open', () => {
    const world = createWorld({ seed: 1, conditions: 'rtt=20' })
    const { heard, served, dial } = echo(world)
    const stream = dial()
    world.runSync(100)
    heard.length = served.length = 0
    const mend = world.partition([['a'], ['hub']])
    stream.send(new Uint8Array([3]))
    world.runSync(5000)
    expect(heard).toEqual([])
    mend()
    world.runSync(1000)
    expect(heard).toEqual(['message 3'])
    world.partition([['a'], ['hub']])
    stream.send(new Uint8Array([4]))
    world.runSync(20_000)
    expect(heard).toEqual(['message 3', 'nothing got through for 10000 ms'])
    expect(served).toEqual(['message 3'])
  })

  test('the backlog is bounded while nothing gets through, and whole messages are refused', () => {
    const world = createWorld({ seed: 1 })
    const { dial } = echo(world)
    const stream = dial()
    world.runSync(100)
    world.partition([['a'], ['hub']])
    const big = new Uint8Array(256 * 1024)
    let sent = 0
    while (stream.send(big)) sent++
    expect(sent).toBe(16)
    expect(stream.backlog()).toBe(4 * 1024 * 1024 - 64 * 1024)
    expect(() => stream.send(new Uint8Array(256 * 1024 + 1))).toThrow('at most 262144 bytes')
  })

  test('one URL has one listener', () => {
    const world = createWorld({ seed: 1 })
    echo(world)
    const accept = () => ({ opened() {}, message() {}, closed() {} })
    expect(() => world.node('b').listen('ws://hub/', accept)).toThrow('another node listens')
  })
})
