// Goal: windows reach one another without the hub, and play on while it is away.
// Method: a hub and windows in a network of their own, in which a route leads out; each window's
// stream to the hub is listened to.
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { bundlePage } from '../conformance/bundle.ts'
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
  script = await bundlePage('test/e2e/direct-page.ts')
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

interface Three {
  all: [Entered, Entered, Entered]
  /** What each of them sees; of those that are left. */
  saw: (what: string, of?: readonly Entered[]) => Promise<unknown[]>
}

/** Three windows of one room, each with a channel to each other; the first one serves. */
async function three(kept: boolean): Promise<Three> {
  const all: Three['all'] = [
    await window('ada', kept),
    await window('bea', kept),
    await window('cyd', kept),
  ]
  const saw: Three['saw'] = async (what, of = all) => {
    return (await Promise.all(of.map(({ seen }) => seen()))).map((each) => each[what])
  }
  await expect.poll(() => saw('kinds')).toEqual(all.map(() => ['webrtc', 'webrtc']))
  await expect.poll(() => saw('role')).toEqual(['backedup', 'backup', 'idle'])
  return { all, saw }
}

async function moveAll(of: readonly Entered[], times: number): Promise<void> {
  for (let n = 0; n < times; n++) for (const { move } of of) await move()
}

test.each([
  ['is kept', true],
  ['is not kept', false],
])('three windows of a room that %s play directly, also while the hub is away', async (_, kept) => {
  const { all, saw } = await three(kept)
  let moves = 0
  /** @returns how many packets the hub relayed meanwhile */
  const play = async (times: number): Promise<number> => {
    const before = all.map(({ relayed }) => relayed)
    moves += times
    await moveAll(all, times)
    return all.reduce((sum, { relayed }, at) => sum + relayed - before[at]!, 0)
  }
  await expect.poll(() => play(1)).toBe(0)
  expect(await play(20)).toBe(0)
  const epochs = await saw('epoch')
  await killed(hub)
  await play(20)
  await expect.poll(() => saw('moves')).toEqual(all.map(() => [moves, moves, moves]))
  expect(await saw('epoch')).toEqual(epochs)
  // Who serves goes while nobody can take over: what the others do waits for the hub.
  const [ada, ...left] = all
  await ada.page.close()
  await expect.poll(() => saw('safety', left)).toEqual(['waiting', 'waiting'])
  const waiting = left.map(({ move }) => move())
  hub = await startHub()
  await Promise.all(waiting)
  await expect.poll(() => saw('role', left)).toEqual(['backedup', 'backup'])
  const ends = left.map(() => [moves, moves + 1, moves + 1])
  await expect.poll(() => saw('moves', left)).toEqual(ends)
})

test('a direct path that is cut is left for the relay, and comes back, without the session noticing', async () => {
  const { all, saw } = await three(false)
  const epochs = await saw('epoch')
  await nft('add table inet cut')
  await nft('add chain inet cut in { type filter hook input priority 0; }')
  await nft('add rule inet cut in meta l4proto udp drop')
  const moved = moveAll(all, 10)
  await expect.poll(() => saw('kinds')).toEqual(all.map(() => ['relay', 'relay']))
  await moved
  await nft('delete table inet cut')
  await moveAll(all, 10)
  await expect
    .poll(() => saw('kinds'), { timeout: 60_000 })
    .toEqual(all.map(() => ['webrtc', 'webrtc']))
  await expect.poll(() => saw('moves')).toEqual(all.map(() => [20, 20, 20]))
  expect([await saw('epoch'), await saw('status')]).toEqual([epochs, all.map(() => 'live')])
})

const ENDS: readonly [string, (page: Page) => Promise<void>][] = [
  ['is closed', (page) => page.close()],
  ['is killed', async (page) => void cdp(page, 'Page.crash').catch(() => {})],
  // No more of its code runs.
  ['is frozen', (page) => cdp(page, 'Debugger.enable', 'Debugger.pause')],
]
test.each(ENDS)(
  'a window that serves and %s is replaced, and no move is lost or made twice',
  async (_, end) => {
    const { all, saw } = await three(false)
    await moveAll(all, 5)
    const [ada, ...left] = all
    const [epoch] = (await saw('epoch')) as number[]
    await end(ada.page)
    await moveAll(left, 5)
    await expect.poll(() => saw('role', left)).toEqual(['backedup', 'backup'])
    await expect.poll(() => saw('moves', left)).toEqual(left.map(() => [5, 10, 10]))
    for (const after of await saw('epoch', left)) expect(after).toBeGreaterThan(epoch!)
  },
)

async function cdp(page: Page, ...methods: readonly string[]): Promise<void> {
  const session = await page.context().newCDPSession(page)
  for (const method of methods) await session.send(method as never)
}

async function nft(rule: string): Promise<void> {
  const child = net.start('nft', [rule])
  const [code] = (await once(child, 'exit')) as [number]
  if (code !== 0) throw new Error(`nft ${rule}: ${code}`)
}
