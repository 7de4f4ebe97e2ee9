// Goal: two members have a channel whatever they run on, and no signal or frame breaks an end.
// Method: ends that take orders: in this process, in one of a network of its own, in pages there.
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import {
  type ConnectionEvents,
  WebRtcChannels,
} from '../../packages/holdfast/src/drivers/net/webrtc/channels.ts'
import {
  nodeDataChannel,
  openChannelsOnNode,
} from '../../packages/holdfast/src/drivers/net/webrtc/node.ts'
import { DATAGRAM_MAX } from '../../packages/holdfast/src/ports.ts'
import { ARGS, CHROMIUM } from '../e2e/harness.ts'
import { bundle, bundlePage } from './bundle.ts'
import { type Network, network } from './network.ts'
import { dice, until } from './until.ts'
import { openEnd, type Order, type Told } from './webrtc-end.ts'

/** A member: its end, and what that told. */
class End {
  readonly me: number
  order: (order: Order) => unknown = () => {}
  readonly all: Told[] = []
  /** Where its signals go, in place of the peer. */
  onSignal: (told: Told & { what: 'signal' }) => void = () => {}

  constructor(me: number) {
    this.me = me
  }

  take(told: Told): void {
    this.all.push(told)
    if (told.what === 'signal') this.onSignal(told)
  }

  told<What extends Told['what']>(what: What): (Told & { what: What })[] {
    return this.all.filter((one) => one.what === what) as (Told & { what: What })[]
  }

  /** The address of the newest open channel; empty for none. */
  get address(): string {
    return this.told('candidate').at(-1)?.address ?? ''
  }

  async counters(): Promise<Record<string, number>> {
    const before = this.told('counters').length
    this.order({ do: 'count' })
    await until(() => this.told('counters').length > before)
    return this.told('counters').at(-1)!.counters
  }
}

const ends: End[] = []
afterEach(() => {
  for (const each of ends.splice(0)) each.order({ do: 'close' })
})

function kept(end: End): End {
  ends.push(end)
  return end
}

function onNode(me: number): Promise<End> {
  const end = kept(new End(me))
  end.order = openEnd(
    (events) => openChannelsOnNode({ host: '127.0.0.1' }, () => ({}), events),
    (told) => end.take(told),
  )
  return Promise.resolve(end)
}

/** Signals of each go to the other, in order, as a link brings them. */
function pair(a: End, b: End): void {
  for (const [from, to] of [
    [a, b],
    [b, a],
  ] as const) {
    from.onSignal = ({ bytes }) => void to.order({ do: 'signal', peer: from.me, bytes })
  }
}

async function opened(a: End, b: End): Promise<void> {
  const [before, beforeB] = [a.told('candidate').length, b.told('candidate').length]
  a.order({ do: 'offer', peer: b.me })
  await until(() => a.told('candidate').length > before && b.told('candidate').length > beforeB)
}

describe('a channel of WebRTC', () => {
  let net: Network
  let browser: Browser
  let script = ''
  let life = ''
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-webrtc-'))
  const children: ChildProcess[] = []

  beforeAll(async () => {
    net = await network()
    life = await bundle('test/conformance/webrtc-process.ts', folder)
    script = await bundlePage('test/conformance/webrtc-page.ts')
    browser = await chromium.launch({
      ...{ executablePath: net.program(CHROMIUM), headless: true, args: ARGS },
    })
  })
  afterAll(async () => {
    await browser?.close()
    for (const child of children) child.kill('SIGKILL')
    net?.close()
    rmSync(folder, { recursive: true })
  })

  async function inPage(me: number): Promise<End> {
    const end = kept(new End(me))
    const page = await browser.newPage()
    await page.exposeFunction('told', (told: Told) => end.take(told))
    await page.addScriptTag({ content: script })
    const run = (order: Order): void => {
      ;(globalThis as unknown as { order: (order: Order) => void }).order(order)
    }
    // A page takes orders in the order in which they are given.
    end.order = (order) => page.evaluate(run, order).catch(() => {})
    return end
  }

  function inProcess(me: number): Promise<End> {
    const end = kept(new End(me))
    const child = net.fork(life)
    children.push(child)
    child.on('message', (told: Told) => end.take(told))
    end.order = (order) => child.connected && child.send(order)
    return Promise.resolve(end)
  }

  const PAIRS: [string, (me: number) => Promise<End>, (me: number) => Promise<End>][] = [
    ['Node and Node', onNode, onNode],
    ['a page and a page', inPage, inPage],
    ['a page and Node', inPage, (me) => inProcess(me)],
    ['Node and a page', (me) => inProcess(me), inPage],
  ]
  test.each(PAIRS)('between %s brings datagrams of every size both ways', async (_, one, two) => {
    const [a, b] = [await one(1), await two(2)]
    pair(a, b)
    await opened(a, b)
    expect([a.address, b.address]).toEqual(['rtc:2.1', 'rtc:1.1'])
    const random = dice(1)
    // Some are sent before the other end knows that it is open: they come after its event.
    const sizes = [1, 2, 64, 576, DATAGRAM_MAX]
    for (const [from, to] of [
      [a, b],
      [b, a],
    ] as const) {
      const sent = sizes.map((size) => [...random.bytes(size)])
      for (const bytes of sent) from.order({ do: 'send', to: from.address, bytes })
      await until(() => to.told('datagram').length === sent.length)
      const got = to.told('datagram').map(({ bytes }) => bytes)
      // Nothing says in which order they come.
      expect(got.toSorted((x, y) => x.length - y.length)).toEqual(sent)
      expect(new Set(to.told('datagram').map(({ from: by }) => by))).toEqual(new Set([to.address]))
    }
    expect(await a.counters()).toMatchObject({ sent: 5, received: 5, stale: 0, malformed: 0 })
  })

  test('a page that is gone ends the channel at the other page', async () => {
    const [a, b] = [await inPage(1), await inPage(2)]
    pair(a, b)
    await opened(a, b)
    b.order({ do: 'close' })
    await until(() => a.told('gone').length > 0)
    expect(a.told('gone')).toEqual([{ what: 'gone', address: 'rtc:2.1' }])
  })

  test('a process ends by itself once its channels are closed', async () => {
    const [a, b] = [await inPage(1), await inProcess(2)]
    pair(a, b)
    await opened(a, b)
    const child = children.at(-1)!
    const ended = new Promise((resolve) => child.once('exit', resolve))
    b.order({ do: 'close' })
    expect(await ended).toBe(0)
  })
})

describe('on Node', () => {
  test('a channel that waits to be read drops and counts, so that nothing old queues', async () => {
    const [a, b] = [await onNode(1), await onNode(2)]
    pair(a, b)
    await opened(a, b)
    a.order({ do: 'send', to: a.address, bytes: Array<number>(1200).fill(5), times: 20_000 })
    const { sent = 0, congested = 0 } = await a.counters()
    expect(sent + congested).toBe(20_000)
    expect(congested).toBeGreaterThan(10_000)
    await until(() => b.told('datagram').length > 0)
    for (const { bytes } of b.told('datagram')) expect(bytes).toHaveLength(1200)
  })

  test('a new offer replaces the channel, and the old address is gone', async () => {
    const [a, b] = [await onNode(1), await onNode(2)]
    pair(a, b)
    await opened(a, b)
    await opened(a, b)
    expect([a.address, b.address]).toEqual(['rtc:2.2', 'rtc:1.2'])
    expect(b.told('gone')).toEqual([{ what: 'gone', address: 'rtc:1.1' }])
    a.order({ do: 'send', to: 'rtc:2.1', bytes: [1] })
    a.order({ do: 'send', to: 'rtc:2.2', bytes: [2] })
    await until(() => b.told('datagram').length > 0)
    expect(b.told('datagram')).toEqual([{ what: 'datagram', from: 'rtc:1.2', bytes: [2] }])
    expect(await a.counters()).toMatchObject({ sent: 1, unreachable: 1 })
  })

  test('a dropped channel is gone at the other end alone', async () => {
    const [a, b] = [await onNode(1), await onNode(2)]
    pair(a, b)
    await opened(a, b)
    a.order({ do: 'drop', peer: 2 })
    await until(() => b.told('gone').length > 0)
    expect(a.told('gone')).toEqual([])
  })

  test('hostile signals are counted, and a channel opens after them', async () => {
    const [a, b] = [await onNode(1), await onNode(2)]
    pair(a, b)
    await opened(a, b)
    const whole = [...a.told('signal'), ...b.told('signal')].map(({ bytes }) => bytes)
    expect(new Set(whole.map(([kind]) => kind))).toEqual(new Set([1, 2, 3]))
    const random = dice(7)
    for (let i = 0; i < 2_000; i++) {
      // Whole signals with bytes that changed, and noise.
      const bytes = i % 2 === 0 ? [...whole[i % whole.length]!] : [...random.bytes(i % 300)]
      for (let n = random.below(4); n > 0; n--)
        bytes[random.below(bytes.length)] = random.below(256)
      b.order({ do: 'signal', peer: 100 + (i % 199), bytes })
    }
    const { malformed = 0, stale = 0, full = 0 } = await b.counters()
    expect(malformed).toBeGreaterThan(1_000)
    expect(stale).toBeGreaterThan(100)
    expect(full).toBeGreaterThan(0)
    for (let peer = 100; peer < 300; peer++) b.order({ do: 'drop', peer })
    await opened(a, b)
    // Of another generation, or for the other end.
    for (const bytes of whole) a.order({ do: 'signal', peer: 2, bytes })
    expect((await a.counters())['stale']).toBe(whole.length)
  })

  test('without the package, webrtc says what to install', () => {
    const missing = (): never => {
      throw new Error("Cannot find module 'node-datachannel'\nRequire stack: here")
    }
    expect(() => nodeDataChannel(missing)).toThrow(
      /webrtc needs the package node-datachannel: npm install node-datachannel@\^0\.33\.4/,
    )
  })
})

// Only these are without a library: which end opens first, and which server refuses, no real one
// lets a test decide.
function channelsByHand(): {
  channels: WebRtcChannels
  told: string[]
  events: () => ConnectionEvents
} {
  let events: ConnectionEvents | null = null
  const told: string[] = []
  const channels = new WebRtcChannels(
    (given) => {
      events = given
      const nothing = (): void => {}
      return {
        ...{ begin: nothing, accept: nothing, candidate: nothing, close: nothing },
        ...{ waiting: () => 0, send: () => true },
      }
    },
    {
      signal: () => {},
      candidate: (_, address) => void told.push(`open ${address}`),
      gone: () => {},
      refused: ({ url, code }) => void told.push(`${url} ${code}`),
      datagram: (_, bytes) => void told.push(`frame ${bytes[0]}`),
    },
  )
  return { channels, told, events: () => events! }
}

test('a carrier reports a server once for each code, however many channels ask it', () => {
  const { channels, told, events } = channelsByHand()
  for (let peer = 1; peer <= 3; peer++) {
    channels.offer(peer)
    for (const code of [401, 486]) events().refused({ url: 'turn:a', code, why: `${peer}` })
    events().refused({ url: 'turn:b', code: 401, why: '' })
  }
  expect(told.splice(0)).toEqual(['turn:a 401', 'turn:a 486', 'turn:b 401'])
  for (let n = 0; n < 100; n++) events().refused({ url: `turn:${n}`, code: 401, why: '' })
  expect(told.splice(0)).toHaveLength(61)
  channels.close()
  events().refused({ url: 'turn:c', code: 401, why: '' })
  expect(told).toEqual([])
})

test('a frame that comes before our end is open is held, a bounded number of them', () => {
  const { channels, told, events } = channelsByHand()
  channels.offer(7)
  const bytes = new Uint8Array(1)
  for (let i = 0; i < 20; i++) events().frame(bytes.fill(i))
  channels.send('rtc:7.1', bytes)
  expect(told).toEqual([])
  events().opened()
  events().frame(bytes.fill(99))
  const held = Array.from({ length: 16 }, (_, i) => `frame ${i}`)
  expect(told).toEqual(['open rtc:7.1', ...held, 'frame 99'])
  expect(channels.counters).toMatchObject({ early: 4, unreachable: 1, received: 21 })
})
