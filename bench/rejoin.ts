/**
 * How long a room keeps out those who come back after all in it went at the same moment: reloaded,
 * closed, or killed with their browser (SIGKILL, from which nobody says goodbye).
 *
 * Tabs of Dots in Chromium, with a hub as `holdfast serve` runs it; the room is kept, as by
 * default. The clock runs from the moment at which all go until the last who comes is in the room,
 * so what the page itself takes to load is in every row. Who comes after a kill comes in a second
 * browser, which runs already.
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BrowserContext, type BrowserServer, chromium, type Page } from 'playwright-core'
import { endAll, serve } from './processes/children.ts'
import { atMost, type BenchReport, type Goal, unjudged } from './report.ts'

/** For the list of benches. */
export const about = 'until those are back who were all reloaded, closed or killed at once'

const TRIALS = 20
const QUICK_TRIALS = 1
const SERVE_MS = 30_000
/** Longer than any room stays shut. */
const COME_MS = 100_000

/** One browser; its tabs share what tabs of a browser share. */
interface Browser {
  server: BrowserServer
  context: BrowserContext
}

/** Where a trial takes place. */
interface Place {
  /** The address of the room's page. */
  url: string
  browser: Browser
  tabs: Page[]
  /** Another browser, for who comes after a kill. */
  spare: Browser
}

/** One way in which all go. */
interface Way {
  name: string
  tabs: number
  /** The goal for the longest trial, in ms. */
  goalMs: number
  /** All go, and others come. @returns when the last of these is in */
  goAndCome(place: Place): Promise<void>
}

const WAYS: readonly Way[] = [
  { name: 'two tabs reloaded', tabs: 2, goalMs: 2_000, goAndCome: reloaded },
  { name: 'two tabs closed, next tab', tabs: 2, goalMs: 3_000, goAndCome: closed },
  { name: 'browser killed, lone tab', tabs: 1, goalMs: 5_000, goAndCome: killed },
  // Fifteen seconds after the server's last word to the hub, and what a page takes.
  { name: 'browser killed, two tabs', tabs: 2, goalMs: 17_000, goAndCome: killed },
]

/** Measures; `quick` takes one trial of each, and judges nothing. */
export async function run({ quick }: { quick: boolean }): Promise<BenchReport> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-rejoin-'))
  try {
    const hub = await serve(join(folder, 'hub.db'), SERVE_MS)
    const found = new Map<Way, number[]>()
    for (const [at, way] of WAYS.entries()) {
      const times: number[] = []
      for (let i = 0; i < (quick ? QUICK_TRIALS : TRIALS); i++) {
        times.push(await trial(way, new URL(`dots/?room=rejoin-${at}-${i}`, hub.url).href))
      }
      found.set(way, times)
      // The whole takes some minutes, so each row is shown as it comes.
      console.log(JSON.stringify({ [way.name]: times.map(Math.round) }))
    }
    return report(found, quick)
  } finally {
    await endAll()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** How long it takes, in ms. */
async function trial(way: Way, url: string): Promise<number> {
  const count = way.tabs
  const [browser, spare] = await Promise.all([launch(), launch()])
  try {
    const tabs: Page[] = []
    for (let i = 1; i <= count; i++) {
      const tab = await browser.context.newPage()
      tabs.push(tab)
      await tab.goto(`${url}&name=Ada`)
      await isIn(tab, i)
    }
    const safety = count === 1 ? 'kept' : 'backed-up'
    for (const tab of tabs) await comesTo(tab, count, safety)
    const start = performance.now()
    await way.goAndCome({ url: `${url}&name=Grace`, browser, tabs, spare })
    return performance.now() - start
  } finally {
    await Promise.all([browser.server.kill(), spare.server.kill()])
  }
}

async function launch(): Promise<Browser> {
  const server = await chromium.launchServer({
    executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
  })
  const browser = await chromium.connect(server.wsEndpoint())
  return { server, context: await browser.newContext() }
}

async function reloaded({ tabs }: Place): Promise<void> {
  await Promise.all(tabs.map((tab) => tab.reload({ waitUntil: 'commit' })))
  await Promise.all(tabs.map((tab) => isIn(tab, tabs.length)))
}

async function closed({ tabs, browser, url }: Place): Promise<void> {
  await Promise.all(tabs.map((tab) => tab.close()))
  await comes(browser, url)
}

async function killed({ browser, spare, url }: Place): Promise<void> {
  await browser.server.kill()
  await comes(spare, url)
}

async function comes({ context }: Browser, url: string): Promise<void> {
  const tab = await context.newPage()
  await tab.goto(url)
  await isIn(tab, 1)
}

/** Waits until a tab is in its room, as one of so many. */
async function isIn(tab: Page, members: number): Promise<void> {
  await comesTo(tab, members, '')
}

/** The same; with a word for how safe its room is, unless that is empty. */
async function comesTo(tab: Page, members: number, safety: string): Promise<void> {
  await tab.waitForFunction(
    (wanted) => {
      const said = document.body?.dataset
      const count = (said?.['members'] ?? '').split(',').length
      const isSafe = wanted.safety === '' || said?.['safety'] === wanted.safety
      return said?.['status'] === 'live' && count === wanted.members && isSafe
    },
    { members, safety },
    { timeout: COME_MS, polling: 10 },
  )
}

function report(found: ReadonlyMap<Way, readonly number[]>, quick: boolean): BenchReport {
  const rows: (string | number)[][] = []
  const goals: Goal[] = []
  for (const [{ name, goalMs }, times] of found) {
    const sorted = times.toSorted((a, b) => a - b)
    const [median, longest] = [sorted[sorted.length >> 1]!, sorted.at(-1)!]
    rows.push([name, times.length, Math.round(median), Math.round(longest)])
    goals.push(atMost(`${name}, longest`, longest, goalMs, 'ms'))
  }
  return {
    tables: [
      { title: 'back in the room, ms', columns: ['what', 'trials', 'median', 'longest'], rows },
    ],
    goals: quick ? goals.map(unjudged) : goals,
    notes: ['loading the page is in every row; who comes after a kill has a browser that runs'],
  }
}
