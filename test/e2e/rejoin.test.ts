// Goal: pages that all go at the same moment, by a reload, by being closed or with their browser,
// leave a room that lets them in again: with all that was acknowledged where it is kept, and begun
// anew where it is not.
// Method: tabs of one browser, whose processes are ended together. Each test waits for the event;
// how long that takes is what `npm run bench -- rejoin` measures. That a goodbye opens a room at
// once is in test/sessions/leaving.test.ts, and where a browser drops what was said on the stream,
// in test/sessions/beacons.test.ts.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { Hub } from './harness.ts'
import { ownPages, type OwnPages, Tabs } from './tabs.ts'

const TWO = /^\d+,\d+$/

let pages: OwnPages
let hub: Hub
let tabs: Tabs

beforeAll(async () => {
  pages = await ownPages('react-page.ts')
  hub = await Hub.start(false, ['--pages', pages.folder])
})
beforeEach(async () => {
  tabs = await Tabs.start()
})
afterEach(() => tabs.end())
afterAll(async () => {
  await hub.end()
  pages.end()
})

type Keep = 'yes' | 'strict' | 'no'

/** A room of its own for each test. */
function visit(what: string, keep: Keep): Promise<string> {
  return tabs.open(`${hub.url}/?room=${what}-${keep}&keep=${keep}`)
}

/** What a tab does is acknowledged. */
async function adds(tab: string, by: number): Promise<void> {
  expect(await tabs.ask(tab, `add(${by})`)).toBe(true)
}

/** Two tabs of a room, in which an operation of each was acknowledged. @returns its session too */
async function two(what: string, keep: Keep): Promise<{ both: string[]; session: string }> {
  const both = [await visit(what, keep)]
  await tabs.until(both[0]!, { status: 'live', me: '1', members: '1' })
  both.push(await visit(what, keep))
  for (const tab of both) await tabs.until(tab, { members: TWO, safety: 'backed-up' })
  await adds(both[0]!, 2)
  await adds(both[1]!, 3)
  return { both, session: (await tabs.data(both[0]!))['session']! }
}

/** When something of the room was kept last, on the clock of the machine. */
async function keptAt(session: string): Promise<number> {
  const answer = await fetch(`${hub.url}/api/rooms?kept`, { headers: { 'x-holdfast': 'rooms' } })
  const { kept } = (await answer.json()) as { kept: { session: string; at: number }[] }
  return kept.find((one) => one.session === session)!.at
}

/** Two tabs are there, no third, in one session, and what either does the other sees. */
async function areTogether(both: string[], sum: number): Promise<void> {
  for (const tab of both) await tabs.until(tab, { members: TWO, dots: TWO, safety: 'backed-up' })
  const [a, b] = await Promise.all(both.map((tab) => tabs.data(tab)))
  expect([a!['session'], a!['members']]).toEqual([b!['session'], b!['members']])
  for (const tab of both) await adds(tab, 1)
  for (const tab of both) await tabs.until(tab, { sum: String(sum + 2) })
}

async function reload(both: string[]): Promise<void> {
  // What the pages said before counts no more.
  for (const tab of both) await tabs.ask(tab, `document.body.dataset.session = ''`)
  await Promise.all(both.map((tab) => tabs.reload(tab)))
  for (const tab of both) await tabs.until(tab, { session: /./, members: TWO })
}

test('two tabs that are reloaded at the same moment are in their room again, with all (N-1)', async () => {
  const { both, session } = await two('reload', 'yes')
  await reload(both)
  for (const [at, tab] of both.entries()) {
    await tabs.until(tab, { session, me: String(at + 1), members: '1,2', dots: '1,2', sum: '5' })
  }
  await areTogether(both, 5)
})

test('and together in one that is not kept, which begins anew (N-1)', async () => {
  const { both } = await two('reload', 'no')
  await reload(both)
  const sums = await Promise.all(both.map(async (tab) => (await tabs.data(tab))['sum']))
  // One that was gone before the other came back has left nothing.
  await areTogether(both, Number(sums[0]))
})

test('both tabs are closed: the next finds all that was acknowledged (N-1)', async () => {
  const { both, session } = await two('close', 'yes')
  await Promise.all(both.map((tab) => tabs.close(tab)))
  const next = await visit('close', 'yes')
  await tabs.until(next, { session, members: /^\d+$/, sum: '5' })
  await adds(next, 1)
  await tabs.until(next, { safety: 'kept', sum: '6' })
})

test('and begins the room anew where it is not kept (N-1)', async () => {
  const { both } = await two('close', 'no')
  await Promise.all(both.map((tab) => tabs.close(tab)))
  const next = await visit('close', 'no')
  await tabs.until(next, { status: 'live', me: '1', members: '1', sum: '0' })
  await adds(next, 1)
})

test.each(['strict', 'yes'] as const)(
  'the browser is killed: another finds all that was acknowledged (keep: %s) (N-1)',
  async (keep) => {
    const { session } = await two('kill', keep)
    const since = Date.now()
    if (keep === 'yes') {
      // Without strictness the hub has it a tenth of a second later, and not before.
      await expect.poll(() => keptAt(session)).toBeGreaterThan(since)
    }
    await tabs.end()
    tabs = await Tabs.start()
    const both = [await visit('kill', keep), await visit('kill', keep)]
    for (const tab of both) await tabs.until(tab, { session, members: TWO, sum: '5' })
    await areTogether(both, 5)
  },
)

test('and begins the room anew where it is not kept, with nobody in it but those who come (N-1)', async () => {
  await two('kill', 'no')
  await tabs.end()
  tabs = await Tabs.start()
  const both = [await visit('kill', 'no'), await visit('kill', 'no')]
  for (const tab of both) await tabs.until(tab, { members: TWO, sum: '0' })
  await areTogether(both, 0)
})
