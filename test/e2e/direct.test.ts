// Goal: windows reach one another without the hub, and play on while it is away.
// Method: a hub and windows in a network of their own, in which a route leads out; each window's
// stream to the hub is listened to.
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { Apart, type ApartWindow } from './apart.ts'

let apart: Apart

beforeAll(async () => {
  apart = await Apart.open('test/e2e/direct-page.ts')
})
afterAll(() => apart?.close())
afterEach(() => apart.closeWindows())

interface Entered extends ApartWindow {
  seen: () => Promise<Record<string, unknown>>
  move: () => Promise<unknown>
}

interface Own {
  enter: (name: string, keepRoom: boolean) => Promise<void>
  move: () => Promise<unknown>
  seen: () => Record<string, unknown>
}

async function window(name: string, kept: boolean): Promise<Entered> {
  const opened = await apart.window()
  const { page } = opened
  await page.evaluate(
    ([who, keep]) => (globalThis as unknown as Own).enter(who as string, keep as boolean),
    [name, kept],
  )
  return {
    ...opened,
    seen: () => page.evaluate(() => (globalThis as unknown as Own).seen()),
    move: () => page.evaluate(() => (globalThis as unknown as Own).move()),
  }
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
    const before = all.map(({ relayed }) => relayed.packets)
    moves += times
    await moveAll(all, times)
    return all.reduce((sum, { relayed }, at) => sum + relayed.packets - before[at]!, 0)
  }
  await expect.poll(() => play(1)).toBe(0)
  expect(await play(20)).toBe(0)
  const epochs = await saw('epoch')
  await apart.killHub()
  await play(20)
  await expect.poll(() => saw('moves')).toEqual(all.map(() => [moves, moves, moves]))
  expect(await saw('epoch')).toEqual(epochs)
  // Who serves goes while nobody can take over: what the others do waits for the hub.
  const [ada, ...left] = all
  await ada.page.close()
  await expect.poll(() => saw('safety', left)).toEqual(['waiting', 'waiting'])
  const waiting = left.map(({ move }) => move())
  await apart.startHub()
  await Promise.all(waiting)
  await expect.poll(() => saw('role', left)).toEqual(['backedup', 'backup'])
  const ends = left.map(() => [moves, moves + 1, moves + 1])
  await expect.poll(() => saw('moves', left)).toEqual(ends)
})

test('a direct path that is cut is left for the relay, and comes back, without the session noticing', async () => {
  const { all, saw } = await three(false)
  const epochs = await saw('epoch')
  await apart.cut()
  const moved = moveAll(all, 10)
  await expect.poll(() => saw('kinds')).toEqual(all.map(() => ['relay', 'relay']))
  await moved
  await apart.mend()
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
