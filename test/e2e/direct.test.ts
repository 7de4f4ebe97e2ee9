// Goal: windows reach one another without the hub, and play on while it is away.
// Method: a hub and windows in a network of their own, in which a route leads out; each window's
// stream to the hub is listened to.
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'
import { build, type Rolldown } from 'vite'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { entryPointsAsSource } from '../../tools/entry-points.ts'
import { type Network, network } from '../conformance/network.ts'
import { ARGS, CHROMIUM, killed, said } from './harness.ts'

const PROGRAM = 'packages/holdfast/dist/cli/src/holdfast.js'
const URL = 'http://127.0.0.1:8700/'
/** The first byte of a message that the hub relays, and of a packet in it. */
const RELAY = 1
const PACKET = 0x10

let net: Network
let browser: Browser
let hub: ChildProcess
let script = ''
const folder = mkdtempSync(join(tmpdir(), 'holdfast-direct-'))

async function startHub(): Promise<ChildProcess> {
  const data = join(folder, 'hub.db')
  const child = net.start(process.execPath, [PROGRAM, 'serve', '--port', '8700', '--data', data])
  await said(child, 'Holdfast serves')
  return child
}

beforeAll(async () => {
  net = await network()
  hub = await startHub()
  const made = (await build({
    configFile: false,
    logLevel: 'error',
    resolve: { alias: entryPointsAsSource(process.cwd(), 'browser') },
    build: {
      ...{ write: false, minify: false },
      lib: { entry: 'test/e2e/direct-page.ts', formats: ['iife'], name: 'page' },
    },
  })) as Rolldown.RolldownOutput[]
  script = made[0]!.output[0].code
  browser = await chromium.launch({
    ...{ executablePath: net.program(CHROMIUM), headless: true, args: ARGS },
  })
})
afterAll(async () => {
  await browser?.close()
  await killed(hub)
  net?.close()
  rmSync(folder, { recursive: true })
})

afterEach(async () => {
  for (const context of browser.contexts()) await context.close()
})

interface Entered {
  page: Page
  /** Packets that the hub relayed for it; challenges, which keep the relay as a spare, are none. */
  relayed: number
  seen: () => Promise<Record<string, unknown>>
  move: () => Promise<unknown>
}

interface Own {
  enter: (name: string, keepRoom: boolean) => Promise<void>
  move: () => Promise<unknown>
  seen: () => Record<string, unknown>
}

async function window(name: string, kept: boolean): Promise<Entered> {
  const page = await (await browser.newContext({ bypassCSP: true })).newPage()
  const entered: Entered = {
    page,
    relayed: 0,
    seen: () => page.evaluate(() => (globalThis as unknown as Own).seen()),
    move: () => page.evaluate(() => (globalThis as unknown as Own).move()),
  }
  page.on('websocket', (socket) => {
    socket.on('framesent', ({ payload }) => {
      // The number of the peer has one byte.
      const isPacket = typeof payload !== 'string' && (payload[2]! & 0xf0) === PACKET
      if (isPacket && payload[0] === RELAY) entered.relayed += 1
    })
  })
  await page.goto(URL)
  await page.addScriptTag({ content: script })
  await page.evaluate(
    ([who, keep]) => (globalThis as unknown as Own).enter(who as string, keep as boolean),
    [name, kept],
  )
  return entered
}

test.each([
  ['is kept', true],
  ['is not kept', false],
])('three windows of a room that %s play directly, also while the hub is away', async (_, kept) => {
  const all = [await window('ada', kept), await window('bea', kept), await window('cyd', kept)]
  const saw = async (what: string): Promise<unknown[]> => {
    return (await Promise.all(all.map(({ seen }) => seen()))).map((each) => each[what])
  }
  await expect.poll(() => saw('path')).toEqual(['none', 'direct', 'direct'])
  let moves = 0
  /** @returns how many packets the hub relayed meanwhile */
  const play = async (times: number): Promise<number> => {
    const before = all.map(({ relayed }) => relayed)
    moves += times
    for (let n = 0; n < times; n++) for (const { move } of all) await move()
    return all.reduce((sum, { relayed }, at) => sum + relayed - before[at]!, 0)
  }
  // The path between two who do not serve is in no figure.
  await expect.poll(() => play(1)).toBe(0)
  await expect.poll(() => saw('kinds')).toEqual(all.map(() => ['webrtc', 'webrtc']))
  expect(await play(20)).toBe(0)
  const epochs = await saw('epoch')
  await killed(hub)
  await play(20)
  await expect.poll(() => saw('moves')).toEqual(all.map(() => [moves, moves, moves]))
  expect(await saw('epoch')).toEqual(epochs)
  hub = await startHub()
})
