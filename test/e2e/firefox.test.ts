// Goal: Firefox joins, takes over, comes back and finds what was kept, as Chromium does.
// Method: its own protocol (WebDriver BiDi), and the page of react.test.ts; it plays with Chromium.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { Fox } from './fox.ts'
import { Hub } from './harness.ts'
import { ownPages, type OwnPages, Tabs } from './tabs.ts'

let pages: OwnPages
let hub: Hub
let fox: Fox
let rooms = 0

beforeAll(async () => {
  pages = await ownPages('react-page.ts')
  hub = await Hub.start(false, ['--pages', pages.folder])
})
beforeEach(async () => {
  fox = await Fox.start()
  rooms++
})
afterEach(() => fox.end())
afterAll(async () => {
  await hub.end()
  pages.end()
})

function url(keep = 'yes'): string {
  return `${hub.url}/?room=fox-${rooms}&keep=${keep}`
}

async function adds(browser: Fox | Tabs, tab: string, by: number): Promise<void> {
  expect(await browser.ask(tab, `add(${by})`)).toBe(true)
}

/** Two tabs of Firefox; the first serves, and something of each was acknowledged. */
async function two(keep = 'yes'): Promise<[string, string]> {
  const first = await fox.open(url(keep))
  await fox.until(first, { status: 'live', me: '1', members: '1', mounts: '2' })
  const second = await fox.open(url(keep))
  for (const tab of [first, second]) {
    await fox.until(tab, { members: '1,2', dots: '1,2', primary: '1', safety: 'backed-up' })
  }
  await adds(fox, first, 2)
  await adds(fox, second, 3)
  for (const tab of [first, second]) await fox.until(tab, { sum: '5' })
  return [first, second]
}

test('Firefox and Chromium play in one room, whoever of them serves', async () => {
  const tabs = await Tabs.start()
  try {
    const one = await fox.open(url())
    await fox.until(one, { status: 'live', me: '1', members: '1' })
    const other = await tabs.open(url())
    await tabs.until(other, { status: 'live', members: '1,2', dots: '1,2', safety: 'backed-up' })
    await adds(fox, one, 1)
    await adds(tabs, other, 2)
    await fox.until(one, { sum: '3', members: '1,2', dots: '1,2' })
    await fox.close(one)
    await tabs.until(other, { members: '2', primary: '2', sum: '3' })
    const again = await fox.open(url())
    await fox.until(again, { status: 'live', members: '2,3', sum: '3', safety: 'backed-up' })
    await tabs.close(other)
    await fox.until(again, { members: '3', primary: '3', sum: '3' })
    await adds(fox, again, 1)
  } finally {
    await tabs.end()
  }
})

test('the tab of the server is closed: the other takes over in Firefox', async () => {
  const [first, second] = await two()
  await fox.close(first)
  await fox.until(second, { status: 'live', primary: '2', members: '2', sum: '5' })
  await adds(fox, second, 1)
  await fox.until(second, { sum: '6' })
})

test('a tab is reloaded beside another in Firefox: each is who it was', async () => {
  const both = await two()
  for (const [at, tab] of both.entries()) {
    await fox.ask(tab, `document.body.dataset.session = ''`)
    await fox.reload(tab)
    const me = String(at + 1)
    await fox.until(tab, { session: /./, me, members: '1,2', dots: '1,2', safety: 'backed-up' })
  }
  for (const tab of both) await adds(fox, tab, 1)
  for (const tab of both) await fox.until(tab, { sum: '7' })
})

// Firefox closes the sockets of a page that is reloaded before the page hears of it (pagehide), so
// what it says by a beacon is all that says goodbye. Without, the room would wait as after deaths.
test('both are reloaded at the same moment in Firefox: who they were, with all (N-1)', async () => {
  const both = await two('strict')
  const { session } = await fox.data(both[0])
  for (const tab of both) await fox.ask(tab, `document.body.dataset.session = ''`)
  await Promise.all(both.map((tab) => fox.reload(tab)))
  for (const [at, tab] of both.entries()) {
    const was = { session: session!, me: String(at + 1) }
    await fox.until(tab, { ...was, members: '1,2', dots: '1,2', sum: '5' })
  }
  for (const tab of both) await adds(fox, tab, 1)
  for (const tab of both) await fox.until(tab, { sum: '7', safety: 'backed-up' })
})

test('Firefox is killed as the last in the room, and finds what was kept (N-1)', async () => {
  const alone = await fox.open(url())
  await fox.until(alone, { status: 'live', safety: 'kept' })
  await adds(fox, alone, 4)
  const { session } = await fox.data(alone)
  await fox.end()
  fox = await Fox.start()
  const next = await fox.open(url())
  await fox.until(next, { session: session!, status: 'live', members: /^\d+$/, sum: '4' })
  await adds(fox, next, 1)
  await fox.until(next, { sum: '5', safety: 'kept' })
})
