// Goal: pages in React's StrictMode, with the token where the FAQ has it, are one player each,
// whatever browsers do to them: reloads, duplicated tabs, back and forward, tabs that are frozen.
// Method: two browsers; all see one member and one object of each player, and each acts.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { Hub } from './harness.ts'
import { ownPages, type OwnPages, Tabs } from './tabs.ts'

let pages: OwnPages
let hub: Hub
let ada: Tabs
let grace: Tabs
let rooms = 0

beforeAll(async () => {
  pages = await ownPages('react-page.ts')
  hub = await Hub.start(false, ['--pages', pages.folder])
})
beforeEach(async () => {
  ;[ada, grace] = await Promise.all([Tabs.start(), Tabs.start()])
  rooms++
})
afterEach(() => Promise.all([ada.end(), grace.end()]))
afterAll(async () => {
  await hub.end()
  pages.end()
})

/** A tab in its browser. */
type Seat = [browser: Tabs, tab: string]

function url(): string {
  return `${hub.url}/?room=react-${rooms}`
}

/** Ada serves, Grace would take over. */
async function both(): Promise<[Seat, Seat]> {
  const a: Seat = [ada, await ada.open(url())]
  await says(a, { status: 'live', me: '1', members: '1', mounts: '2' })
  const g: Seat = [grace, await grace.open(url())]
  await areOneEach([a, g])
  return [a, g]
}

function says([browser, tab]: Seat, what: Record<string, string | RegExp>): Promise<void> {
  return browser.until(tab, what)
}

/** These are the players 1 and 2, nobody else is there, and each acts for all to see. */
async function areOneEach(seats: readonly [Seat, Seat]): Promise<void> {
  for (const [at, seat] of seats.entries()) {
    const me = String(at + 1)
    await says(seat, { me, status: 'live', members: '1,2', dots: '1,2', safety: 'backed-up' })
  }
  const [browser, tab] = seats[0]
  const sum = Number((await browser.data(tab))['sum'])
  for (const [one, place] of seats) expect(await one.ask(place, 'add(1)')).toBe(true)
  for (const seat of seats) await says(seat, { sum: String(sum + 2) })
}

/** What a tab said before it was loaded anew counts no more. */
async function forgets([browser, tab]: Seat): Promise<void> {
  await browser.ask(tab, `document.body.dataset.status = 'old'`)
}

test('in StrictMode a page that joins twice is one player, also when it is loaded anew (N-6)', async () => {
  const [a, g] = await both()
  for (const seat of [a, g]) {
    await forgets(seat)
    await seat[0].reload(seat[1])
    await says(seat, { status: 'live', mounts: '2' })
    await areOneEach([a, g])
  }
})

test('a duplicated tab goes on as the player, and the tab it came of says so (N-6)', async () => {
  const [a, g] = await both()
  const second: Seat = [ada, await ada.duplicate(a[1])]
  await says(second, { me: '1', status: 'live', mounts: '2' })
  await says(a, { status: 'lost', code: 'elsewhere' })
  await areOneEach([second, g])
  // The first has the player again where its user loads it anew.
  await ada.reload(a[1])
  await says(a, { status: 'live', me: '1' })
  await says(second, { status: 'lost', code: 'elsewhere' })
  await areOneEach([a, g])
})

test('back and forward: a page out of the browser’s cache is the same player (N-6)', async () => {
  await ada.open('about:blank')
  const tab = await ada.open(`${hub.url}/lobby/`)
  const isLobby = `location.pathname === '/lobby/' && document.readyState === 'complete'`
  await ada.sees(tab, isLobby)
  await ada.go(tab, url())
  const a: Seat = [ada, tab]
  await says(a, { status: 'live', me: '1', members: '1' })
  const g: Seat = [grace, await grace.open(url())]
  await areOneEach([a, g])
  for (const [at, by] of ([-1, 1] as const).entries()) {
    // Away by the one button, and here again by the other.
    if (by === -1) await ada.go(tab, `${hub.url}/lobby/?next`)
    else await ada.turn(tab, -1)
    await ada.sees(tab, isLobby)
    await says(g, { members: '2' })
    await ada.turn(tab, by)
    await says(a, { restored: String(at + 1), status: 'live' })
    await areOneEach([a, g])
  }
})

test('a page that the browser freezes hands over, and is the same player again (N-6)', async () => {
  const [a, g] = await both()
  await ada.lifecycle(a[1], 'frozen')
  await says(g, { primary: '2' })
  // It stays away until nobody waits for it any more.
  await says(g, { members: '2' })
  expect(await grace.ask(g[1], 'add(1)')).toBe(true)
  await ada.lifecycle(a[1], 'active')
  // What it says until then is of before.
  await says(a, { sum: '3' })
  await areOneEach([a, g])
})
