import { Worker as ThreadWorker } from 'node:worker_threads'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import {
  BrowserLoop,
  type TickWorker,
} from '../../packages/holdfast/src/drivers/net/loop-browser.ts'
import { createNodeLoop } from '../../packages/holdfast/src/drivers/net/loop-node.ts'
import { loopConformance, type OpenedLoop } from './loop.ts'

/** The worker of a page, over a thread of Node. */
function startThread(source: string, sent: number[] = []): TickWorker {
  const bridge = `
    const { parentPort } = require('node:worker_threads')
    globalThis.postMessage = (data) => parentPort.postMessage(data)
    parentPort.on('message', (data) => onmessage({ data }))
    ${source.replace('onmessage =', 'globalThis.onmessage =')}`
  const thread = new ThreadWorker(bridge, { eval: true })
  const worker: TickWorker = {
    onmessage: null,
    onerror: null,
    postMessage: (delay) => {
      sent.push(delay)
      thread.postMessage(delay)
    },
    terminate: () => void thread.terminate(),
  }
  thread.on('message', (data: unknown) => worker.onmessage?.({ data }))
  thread.on('error', (error: Error) => worker.onerror?.({ message: error.message }))
  return worker
}

async function openThreadLoop(sent?: number[]): Promise<OpenedLoop> {
  const loop = new BrowserLoop((source) => startThread(source, sent))
  while (loop.ticks() !== 'worker') await rung(loop, 1)
  return { loop, close: () => loop.close() }
}

function rung(loop: OpenedLoop['loop'], after: number): Promise<void> {
  return new Promise((resolve) => loop.alarm(resolve).set(loop.now() + after))
}

loopConformance('loop of Node', async () => ({ loop: createNodeLoop(), close: () => {} }))
loopConformance('loop of a page, ticks from a worker', () => openThreadLoop())
loopConformance('loop of a page, workers forbidden', async () => {
  const loop = new BrowserLoop(() => {
    throw new Error('SecurityError: worker-src')
  })
  return { loop, close: () => loop.close() }
})

describe('the loop of a page', () => {
  test('asks its worker only when an alarm comes nearer', async () => {
    const sent: number[] = []
    const { loop, close } = await openThreadLoop(sent)
    sent.length = 0
    const alarm = loop.alarm(() => {})
    for (let i = 0; i < 100; i++) alarm.set(loop.now() + 10_000 + i)
    expect(sent).toHaveLength(1)
    alarm.set(loop.now() + 5000)
    expect(sent).toHaveLength(2)
    alarm.cancel()
    await rung(loop, 1)
    const before = sent.length
    // Nothing is set now, so nothing may be said: give a constant ticker time to show itself.
    await new Promise((resolve) => setTimeout(resolve, 30))
    expect(sent.length).toBe(before)
    close()
  })

  test('what is due at once rings in the order of its instants', async () => {
    const { loop, close } = await openThreadLoop()
    const rings: number[] = []
    const now = loop.now()
    for (const after of [3, 1, 2]) loop.alarm(() => rings.push(after)).set(now + after)
    while (loop.now() < now + 5);
    await rung(loop, 1)
    expect(rings).toEqual([1, 2, 3])
    close()
  })

  test('says why it has no worker, and goes on with timers', async () => {
    const loop = new BrowserLoop(() => {
      throw new Error('not here')
    })
    expect(loop.ticks()).toBe('timers')
    expect(loop.trouble()).toContain('not here')
    await rung(loop, 2)
    loop.close()
  })

  test('goes on with timers when its worker fails later, and keeps the alarms', async () => {
    let worker: TickWorker | null = null
    const loop = new BrowserLoop((source) => (worker = startThread(source)))
    while (loop.ticks() !== 'worker') await rung(loop, 1)
    const waited = rung(loop, 20)
    ;(worker as TickWorker | null)?.onerror?.({ message: 'the worker died' })
    await waited
    expect(loop.ticks()).toBe('timers')
    expect(loop.trouble()).toBe('the worker died')
    loop.close()
  })

  test('a worker that never answers leaves the timers at work', async () => {
    const mute: TickWorker = {
      onmessage: null,
      onerror: null,
      postMessage: () => {},
      terminate: () => {},
    }
    const loop = new BrowserLoop(() => mute)
    await rung(loop, 2)
    expect(loop.ticks()).toBe('timers')
    loop.close()
  })

  /** A document, and how often the loop in it has started a worker. */
  function inDocument(hidden: boolean): {
    page: EventTarget
    starts: () => number
    loop: BrowserLoop
  } {
    const page = Object.assign(new EventTarget(), { hidden })
    vi.stubGlobal('document', page)
    vi.useFakeTimers()
    onTestFinished(() => {
      vi.useRealTimers()
      vi.unstubAllGlobals()
    })
    const mute = { onmessage: null, onerror: null, postMessage: () => {}, terminate: () => {} }
    let starts = 0
    const loop = new BrowserLoop(() => {
      starts += 1
      return mute
    })
    onTestFinished(() => loop.close())
    return { page, starts: () => starts, loop }
  }

  test('starts its worker a second later in a visible page, once', () => {
    const { page, starts } = inDocument(false)
    vi.advanceTimersByTime(999)
    expect(starts()).toBe(0)
    vi.advanceTimersByTime(1)
    page.dispatchEvent(new Event('visibilitychange'))
    expect(starts()).toBe(1)
  })

  test('starts its worker when the page is hidden, once', () => {
    const { page, starts } = inDocument(false)
    page.dispatchEvent(new Event('visibilitychange'))
    expect(starts()).toBe(1)
    vi.advanceTimersByTime(2_000)
    expect(starts()).toBe(1)
  })

  test('starts no worker once it is closed', () => {
    const { loop, starts } = inDocument(false)
    loop.close()
    vi.advanceTimersByTime(2_000)
    expect(starts()).toBe(0)
  })

  test('starts its worker at once in a hidden page', () => {
    expect(inDocument(true).starts()).toBe(1)
  })

  test('a closed loop rings no more', async () => {
    const { loop, close } = await openThreadLoop()
    let rings = 0
    loop.alarm(() => (rings += 1)).set(loop.now() + 2)
    close()
    loop.alarm(() => (rings += 1)).set(loop.now())
    await rung(createNodeLoop(), 20)
    expect(rings).toBe(0)
  })
})
