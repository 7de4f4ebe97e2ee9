/**
 * A tab of each game with eight bots in it: frames a second, how much of its main thread it takes,
 * and whether its heap grows. The pages and the hub are the built ones, the browser is Chromium
 * without a screen and without a graphics processor, so what is drawn in three dimensions is drawn
 * by the processor.
 */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Browser, type CDPSession, chromium, type Page } from 'playwright-core'
import { atLeast, atMost, type BenchReport, type Goal, type Table, unjudged } from './report.ts'

/** For the list of benches. */
export const about = 'a tab of each game with eight bots: frames, main thread, heap'

const GAMES = ['teapots', 'tabletop', 'dots', 'mazewar'] as const
const BOTS = 8
const LOOK_MS = 15_000
/** Bots that came just now are not counted. */
const SETTLE_MS = 3_000
const HEAP_MS = 10 * 60_000
/** Four tabs that draw leave little to the fourth that opens. */
const OPEN_MS = 3 * 60_000
const SIZE = { width: 1280, height: 800 }
/** Windows in which heaps are measured: they draw less, and Tabletop does not fold in them yet. */
const SMALL = { width: 1000, height: 700 }
const MB = 2 ** 20
const PROGRAM = fileURLToPath(
  new URL('../../packages/holdfast/dist/cli/src/holdfast.js', import.meta.url),
)

interface Tab {
  game: string
  page: Page
  protocol: CDPSession
  /** Ends its browser, so that it takes nothing from the next. */
  close(): Promise<void>
}

interface Figures {
  game: string
  framesPerSecond: number
  /** Milliseconds of its main thread in each second. */
  busyMs: number
  /** Megabytes of the tab's heap, after garbage was collected. */
  megabytes: number
}

/** Measures each game by itself, and then how the heaps of all grow in ten minutes. */
export async function run({ quick }: { quick: boolean }): Promise<BenchReport> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-pages-'))
  const hub = await serve(join(folder, 'hub.db'))
  try {
    const figures: Figures[] = []
    for (const game of GAMES) {
      const tab = await open(hub.url, game)
      figures.push(await look(tab, quick ? LOOK_MS / 3 : LOOK_MS))
      // The whole takes a quarter of an hour, so each figure is shown as it comes.
      console.log(JSON.stringify(figures.at(-1)))
      await tab.close()
    }
    const grown = quick ? [] : await grow(hub.url)
    return {
      tables: [table(figures), ...(quick ? [] : [heapTable(grown)])],
      goals: goalsOf(figures, grown).map((goal) => (quick ? unjudged(goal) : goal)),
      notes: [
        '1280 x 800, Chromium without a graphics processor: frames are drawn by the processor',
        'heaps: 1000 x 700, for four tabs draw at once',
      ],
    }
  } finally {
    hub.end()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function serve(data: string): Promise<{ url: string; end: () => void }> {
  const args = [PROGRAM, 'serve', '--port', '0', '--data', data]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
  const url = /http:\/\/\S+?(?=\/?$)/.exec(line)?.[0]
  if (!url) throw new Error(`the hub said: ${line}; run npm run build first`)
  return { url, end: () => void child.kill('SIGKILL') }
}

async function open(hub: string, game: string, size = SIZE): Promise<Tab> {
  const browser: Browser = await chromium.launch({
    executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
  })
  const context = await browser.newContext({ viewport: size })
  const page = await context.newPage()
  page.setDefaultTimeout(OPEN_MS)
  await page.goto(`${hub}/${game}/?room=bench-${game}&name=Ada`)
  await page.waitForFunction(() => document.body.dataset['status'] === 'live')
  if (game === 'tabletop') await page.getByRole('button', { name: /Crazy Eights/ }).click()
  await page.getByRole('button', { name: 'Play with bots' }).first().click()
  const more = page.getByRole('button', { name: 'One bot more' }).first()
  const beyond = async (bots: number): Promise<void> => {
    await page.waitForFunction((few) => Number(document.body.dataset['bots']) > few, bots)
  }
  await beyond(0)
  // Where the button stands aside, in a panel that is shut.
  const panel = page.getByRole('button', { name: 'Under the lid' })
  if (!(await more.isVisible()) && (await panel.isVisible())) await panel.click()
  const some = await page.evaluate(() => Number(document.body.dataset['bots']))
  for (let bots = some; bots < BOTS; bots++) {
    await more.click()
    await beyond(bots)
  }
  const protocol = await context.newCDPSession(page)
  await protocol.send('Performance.enable')
  return { game, page, protocol, close: () => browser.close() }
}

async function look({ game, page, protocol }: Tab, ms: number): Promise<Figures> {
  await wait(SETTLE_MS)
  const before = await metric(protocol, 'TaskDuration')
  const frames = await page.evaluate(async (length) => {
    const end = performance.now() + length
    for (let count = 0; ; count++) {
      const now = await new Promise<number>((next) => requestAnimationFrame(next))
      if (now >= end) return count
    }
  }, ms)
  const busy = (await metric(protocol, 'TaskDuration')) - before
  const framesPerSecond = (1000 * frames) / ms
  const megabytes = await heapOf(protocol)
  return { game, framesPerSecond, busyMs: (1_000_000 * busy) / ms, megabytes }
}

async function metric(protocol: CDPSession, wanted: string): Promise<number> {
  const { metrics } = await protocol.send('Performance.getMetrics')
  return metrics.find(({ name }) => name === wanted)?.value ?? NaN
}

async function heapOf(protocol: CDPSession): Promise<number> {
  await protocol.send('HeapProfiler.collectGarbage')
  return (await metric(protocol, 'JSHeapUsedSize')) / MB
}

interface Grown {
  game: string
  /** Megabytes after one minute, after half of the time, and at the end. */
  heaps: [first: number, half: number, last: number]
}

// All beside each other, for ten minutes each would be forty.
async function grow(hub: string): Promise<Grown[]> {
  const tabs: Tab[] = []
  for (const game of GAMES) tabs.push(await open(hub, game, SMALL))
  const heaps: number[][] = tabs.map(() => [])
  for (const ms of [HEAP_MS / 10, (HEAP_MS * 4) / 10, HEAP_MS / 2]) {
    await wait(ms)
    for (const [at, { protocol }] of tabs.entries()) heaps[at]!.push(await heapOf(protocol))
    console.log(JSON.stringify(heaps))
  }
  for (const tab of tabs) await tab.close()
  return tabs.map(({ game }, at) => ({ game, heaps: heaps[at] as Grown['heaps'] }))
}

function table(figures: readonly Figures[]): Table {
  return {
    title: `a tab with ${BOTS} bots`,
    columns: ['game', 'frames a second', 'main thread ms a second', 'heap MB'],
    rows: figures.map(({ game, framesPerSecond, busyMs, megabytes }) => [
      game,
      Math.round(framesPerSecond),
      Math.round(busyMs),
      Number(megabytes.toFixed(1)),
    ]),
  }
}

function heapTable(grown: readonly Grown[]): Table {
  return {
    title: 'heap over ten minutes, all four at once, in MB',
    columns: ['game', '1 min', '5 min', '10 min'],
    rows: grown.map(({ game, heaps }) => [game, ...heaps.map((heap) => Number(heap.toFixed(1)))]),
  }
}

function goalsOf(figures: readonly Figures[], grown: readonly Grown[]): Goal[] {
  const frames = figures.map(({ game, framesPerSecond }) =>
    atLeast(`${game}: frames a second`, framesPerSecond, game === 'teapots' ? 20 : 50, 'frames'),
  )
  const heaps = grown.map(({ game, heaps: [, half, last] }) =>
    atMost(`${game}: heap after ten minutes / after five`, last / half, 1.1, 'x'),
  )
  return [...frames, ...heaps]
}
