// Goal: WebKit joins, takes over, comes back and finds what was kept, as Chromium and Firefox do.
// Method: WebDriver, and the page of react.test.ts; it plays with Chromium.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { Hub } from './harness.ts'
import { ownPages, type OwnPages, Tabs } from './tabs.ts'
import { WebKit } from './webkit.ts'

let pages: OwnPages
let hub: Hub
let kit: WebKit
let rooms = 0

beforeAll(async () => {
  pages = await ownPages('react-page.ts')
  hub = await Hub.start(false, ['--pages', pages.folder])
})
beforeEach(async () => {
  kit = await WebKit.start()
  rooms++
})
afterEach(() => kit.end())
afterAll(async () => {
  await hub.end()
  pages.end()
})

function url(keep = 'yes'): string {
  return `${hub.url}/?room=webkit-${rooms}&keep=${keep}`
}

async function adds(browser: WebKit | Tabs, tab: string, by: number): Promise<void> {
  expect(await browser.ask(tab, `add(${by})`)).toBe(true)
}

/** Two windows of WebKit; the first serves, and something of each was acknowledged. */
async function two(keep = 'yes'): Promise<[string, string]> {
  const first = await kit.open(url(keep))
  await kit.until(first, { status: 'live', me: '1', members: '1', mounts: '2' })
  const second = await kit.open(url(keep))
  for (const tab of [first, second]) {
    await kit.until(tab, { members: '1,2', dots: '1,2', primary: '1', safety: 'backed-up' })
  }
  await adds(kit, first, 2)
  await adds(kit, second, 3)
  for (const tab of [first, second]) await kit.until(tab, { sum: '5' })
  return [first, second]
}

test('WebKit and Chromium play in one room, whoever of them serves', async () => {
  const tabs = await Tabs.start()
  try {
    const one = await kit.open(url())
    await kit.until(one, { status: 'live', me: '1', members: '1' })
    const other = await tabs.open(url())
    await tabs.until(other, { status: 'live', members: '1,2', dots: '1,2', safety: 'backed-up' })
    await adds(kit, one, 1)
    await adds(tabs, other, 2)
    await kit.until(one, { sum: '3', members: '1,2', dots: '1,2' })
    const again = await kit.open(url())
    await kit.until(again, { status: 'live', members: '1,2,3', sum: '3', safety: 'backed-up' })
    await kit.close(one)
    await tabs.until(other, { status: 'live', members: '2,3', primary: /2|3/, sum: '3' })
    await tabs.close(other)
    await kit.until(again, { status: 'live', members: '3', primary: '3', sum: '3' })
    await adds(kit, again, 1)
  } finally {
    await tabs.end()
  }
})

test('the window of the server is closed: the other takes over in WebKit', async () => {
  const [first, second] = await two()
  await kit.close(first)
  await kit.until(second, { status: 'live', primary: '2', members: '2', sum: '5' })
  await adds(kit, second, 1)
  await kit.until(second, { sum: '6' })
})

test('a window is reloaded beside another in WebKit: each is who it was', async () => {
  const both = await two()
  for (const [at, tab] of both.entries()) {
    await kit.ask(tab, `document.body.dataset.session = ''`)
    await kit.reload(tab)
    const me = String(at + 1)
    await kit.until(tab, { session: /./, me, members: '1,2', dots: '1,2', safety: 'backed-up' })
  }
  for (const tab of both) await adds(kit, tab, 1)
  for (const tab of both) await kit.until(tab, { sum: '7' })
})

test('both are reloaded at the same moment in WebKit: who they were, with all (N-1)', async () => {
  const both = await two('strict')
  const { session } = await kit.data(both[0])
  for (const tab of both) await kit.ask(tab, `document.body.dataset.session = ''`)
  await Promise.all(both.map((tab) => kit.reload(tab)))
  for (const [at, tab] of both.entries()) {
    const was = { session: session!, me: String(at + 1) }
    await kit.until(tab, { ...was, members: '1,2', dots: '1,2', sum: '5' })
  }
  for (const tab of both) await adds(kit, tab, 1)
  for (const tab of both) await kit.until(tab, { sum: '7', safety: 'backed-up' })
})

test('WebKit is killed as the last in the room, and finds what was kept (N-1)', async () => {
  const alone = await kit.open(url())
  await kit.until(alone, { status: 'live', safety: 'kept' })
  await adds(kit, alone, 4)
  const { session } = await kit.data(alone)
  await kit.end()
  kit = await WebKit.start()
  const next = await kit.open(url())
  await kit.until(next, { session: session!, status: 'live', members: /^\d+$/, sum: '4' })
  await adds(kit, next, 1)
  await kit.until(next, { sum: '5', safety: 'kept' })
})
