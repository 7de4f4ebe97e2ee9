/**
 * How long a page takes from navigation to the first shared state: all objects of a room that a
 * Node process serves, in Chromium with an empty cache, beside a page of Colyseus in turn.
 *
 * Both pages are built and packed by the same tool and come from one server, on loopback and over
 * lines with a round trip of 50 ms. The page's own clock, which begins with the navigation, says
 * when the module ran and when the state was there.
 */

import { type Browser, chromium } from 'playwright-core'
import { openLine } from './arrival/line.ts'
import { type PageSource, servePages } from './arrival/pages.ts'
import { isServing } from './objects/trial.ts'
import type { Setting } from './objects/words.ts'
import { endAll, heard, start } from './processes/children.ts'
import { installPeers, version } from './processes/peers.ts'
import { atMost, type BenchReport, quantile, type Table, unjudged } from './report.ts'

/** For the list of benches. */
export const about = 'from navigation until a page has the state of a room, beside Colyseus'

const TRIALS = 30
const QUICK_TRIALS = 2
const OPEN_MS = 30_000
/** A page that takes longer has failed. */
const COME_MS = 20_000
/** Colyseus' time, times this, is the goal. */
const GOAL = 1.3

const SETTING: Setting = { seed: 1, clients: 1, objects: 100, sees: 'all', loss: 0 }

/** When a page's module ran and when its state was there, in ms since the navigation. */
interface Marks {
  ran: number
  came: number
}

const OURS = 'ours'
const THEIRS = 'theirs'

/** The module of a page; `joins` resolves once all objects are there. */
function module(imports: string, joins: string): string {
  return `
    ${imports}
    const ran = performance.now()
    const at = new URLSearchParams(location.search).get('server')
    ${joins}
    globalThis.marks = { ran, came: performance.now() }
  `
}

function pages(): Map<string, PageSource> {
  const setting = JSON.stringify(SETTING)
  const ours = module(
    `import { join } from 'holdfast'
     import { eyeType, thingType } from '../../bench/objects/thing.ts'`,
    `const setting = ${setting}
     const Thing = thingType(setting)
     const types = [Thing, eyeType(setting)]
     const session = await join({ game: 'objects', types, server: at })
     const there = session.all(Thing).length
     if (there !== ${SETTING.objects}) throw new Error('the page has ' + there + ' objects')`,
  )
  const theirs = module(
    "import { Client } from '@colyseus/sdk'",
    `const room = await new Client(at).joinOrCreate('arena', { number: 0 })
     const isThere = () => room.state.ents?.size === ${SETTING.objects}
     if (!isThere()) await new Promise((resolve) => {
       room.onStateChange(() => isThere() && resolve())
     })`,
  )
  return new Map([
    [OURS, { text: ours, folder: 'games/first' }],
    [THEIRS, { text: theirs, folder: 'bench/peers' }],
  ])
}

/** Round trips of the lines, in ms. */
const ROUND_TRIPS = [0, 50]

/** Measures; `quick` takes two trials of each, and judges nothing. */
export async function run({ quick }: { quick: boolean }): Promise<BenchReport> {
  await installPeers()
  const lines: { close: () => void }[] = [await servePages(pages())]
  const [served] = lines as [Awaited<ReturnType<typeof servePages>>]
  const browser = await chromium.launch({
    executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
  })
  const setting = JSON.stringify(SETTING)
  const over = async (port: number, roundTrip: number): Promise<string> => {
    if (roundTrip === 0) return `127.0.0.1:${port}`
    const line = await openLine(port, roundTrip)
    lines.push(line)
    return `127.0.0.1:${line.port}`
  }
  try {
    const theirs = await begin('colyseus-server', [setting])
    const found: Found[] = []
    for (const roundTrip of ROUND_TRIPS) {
      const page = `http://${await over(served.port, roundTrip)}`
      const hub = await begin('holdfast-hub', [page])
      await begin('holdfast-server', [setting, `http://127.0.0.1:${hub}`, 'relay'])
      const [ofHub, ofTheirs] = [await over(hub, roundTrip), await over(theirs, roundTrip)]
      const ours = { name: OURS, roundTrip, url: urlOf(page, OURS, `http://${ofHub}`) }
      const others = { name: THEIRS, roundTrip, url: urlOf(page, THEIRS, `ws://${ofTheirs}`) }
      const pair = [ours, others].map((one): Found => ({ ...one, marks: [] }))
      for (let trial = 0; trial < (quick ? QUICK_TRIALS : TRIALS); trial++) {
        const inTurn = trial % 2 === 0 ? pair : pair.toReversed()
        for (const { url, marks } of inTurn) marks.push(await arrival(browser, url))
      }
      found.push(...pair)
    }
    return report(found, quick)
  } finally {
    await browser.close()
    await endAll()
    for (const line of lines) line.close()
  }
}

interface Found {
  name: string
  roundTrip: number
  url: string
  marks: Marks[]
}

function urlOf(page: string, name: string, server: string): string {
  return `${page}/${name}/?server=${encodeURIComponent(server)}`
}

/** Starts a server of the bench of objects. @returns its port */
async function begin(name: string, words: readonly string[]): Promise<number> {
  const child = start(new URL(`./objects/${name}.js`, import.meta.url), words)
  return (await heard(child, isServing, name, OPEN_MS)).port
}

async function arrival(browser: Browser, url: string): Promise<Marks> {
  // Nothing is in its cache.
  const context = await browser.newContext()
  try {
    const page = await context.newPage()
    const failed = new Promise<never>((_, reject) => page.on('pageerror', reject))
    await page.goto(url, { waitUntil: 'commit' })
    const there = page.waitForFunction('globalThis.marks', null, { timeout: COME_MS })
    const marks = await Promise.race([there, failed])
    return (await marks.jsonValue()) as Marks
  } finally {
    await context.close()
  }
}

function report(found: readonly Found[], quick: boolean): BenchReport {
  const goals = ROUND_TRIPS.map((roundTrip) => {
    const of = (name: string): number => {
      const { marks } = found.find((one) => one.name === name && one.roundTrip === roundTrip)!
      return quantile(marks.map(cameOf), 0.5)
    }
    const name = `until the state is there / Colyseus, round trip ${roundTrip} ms`
    return atMost(name, of(OURS) / of(THEIRS), GOAL, 'x')
  })
  const table: Table = {
    title: `ms since navigation, ${SETTING.objects} objects, empty cache`,
    columns: ['round trip', 'page', 'trials', 'module runs', 'state', '9 of 10', 'joining alone'],
    rows: found.map(({ name, roundTrip, marks }) => [
      `${roundTrip} ms`,
      name === OURS ? 'Holdfast' : version('@colyseus/sdk'),
      marks.length,
      rounded(marks.map(({ ran }) => ran)),
      rounded(marks.map(cameOf)),
      rounded(marks.map(cameOf), 0.9),
      rounded(marks.map(({ ran, came }) => came - ran)),
    ]),
  }
  return { tables: [table], goals: quick ? goals.map(unjudged) : goals }
}

const cameOf = ({ came }: Marks): number => came

function rounded(all: readonly number[], share = 0.5): number {
  return Number(quantile(all, share).toFixed(1))
}
