// Goal: in a hub that was installed from the package whoever is alone can play, by keys alone and
// on a phone; no page says what is not so, and none is worse for who cannot see or point.
// Method: one browser and one hub for all pages; axe-core judges what it can judge.
// Slow: each page is loaded, walked through by keys and judged as a whole.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type GameId, GAMES } from '../../games/games.ts'
import { type Globals } from './hands.ts'
import { Hub, PATIENCE_MS, Window } from './harness.ts'
import { clashes, findings, walk } from './looks.ts'

/** Commands that an installed hub has not, and the button that is for demonstrations alone. */
const FALSE = /npm |npx |kill the server/i
/** All that can be pressed, and what stands still over the game. */
const CONTROLS =
  'button, a, input, summary, .stick, .chip, .room, .scores, .bowl, .card, .bar, .tools, .map'
const SIZES = [
  [390, 844],
  [360, 640],
  [844, 390],
  [640, 360],
] as const
/** Panels that are shut at first. */
const PANELS: Readonly<Partial<Record<GameId, string>>> = {
  teapots: 'Under the lid',
  tabletop: 'Panel',
}

let hub: Hub
let window: Window
let page: Page

beforeAll(async () => {
  hub = await Hub.installed()
  window = await Window.open('one', hub.url)
  page = window.page
})
afterAll(async () => {
  await window.end()
  await hub.end()
})

function pathOf(game: GameId, more = ''): string {
  return `${hub.url}/${game}/?room=alone&frames=0${more}`
}

/** All words of a page, also those that only show over a thing. */
function wordsOf(on: Page): Promise<string> {
  return on.evaluate(() =>
    [
      document.body.innerText,
      ...[...document.querySelectorAll('[title], [aria-label], [placeholder]')].flatMap((each) =>
        ['title', 'aria-label', 'placeholder'].map((name) => each.getAttribute(name) ?? ''),
      ),
    ].join('\n'),
  )
}

/** Goes by Tab to what has these words. */
async function tabTo(words: string): Promise<void> {
  for (let i = 0; i < 60; i++) {
    await page.keyboard.press('Tab')
    const at = await page.evaluate(() => {
      const element = document.activeElement
      return element?.getAttribute('aria-label') || element?.textContent || ''
    })
    if (at.trim() === words) return
  }
  throw new Error(`${words} is not reached by Tab`)
}

test('lobby, race and examples: nothing serious for accessibility, in landmarks, with headings (AP-24)', async () => {
  for (const path of [
    '',
    'rooms/',
    'race/',
    'first/',
    'examples/preact/',
    'examples/three/',
    'examples/whiteboard/',
  ]) {
    await page.goto(`${hub.url}/${path}`)
    if (path === 'examples/preact/') await page.getByRole('heading', { name: 'Cards' }).waitFor()
    expect([path, await findings(page)]).toEqual([path, []])
    // The race names a command of the repository, which is where its page is served.
    const words = path === 'race/' ? /npx |kill the server/i : /npm |kill the server/i
    expect(await wordsOf(page)).not.toMatch(words)
  }
})

test('the lobby: a room gets the name that one types, and what a link is worth is said (AP-24)', async () => {
  await page.goto(hub.url)
  const form = page.getByRole('region', { name: 'A room of your own' })
  const name = form.getByRole('textbox', { name: /name your room/i })
  const link = form.getByRole('textbox', { name: 'Link to this room' })
  const suggested = await name.getAttribute('placeholder')
  expect(await link.inputValue()).toBe(`${hub.url}/dots/?room=${suggested}`)
  await name.fill('our-place')
  expect(await link.inputValue()).toBe(`${hub.url}/dots/?room=our-place`)
  await form.getByLabel('Game').selectOption('Tabletop')
  await form.getByLabel('Show it in this list').uncheck()
  expect(await link.inputValue()).toBe(`${hub.url}/tabletop/?room=our-place&unlisted=`)
  await form.getByText('This link works on this machine only.').waitFor()
  await form.getByRole('button', { name: 'QR' }).click()
  await form.getByRole('img', { name: 'The link as a QR code' }).waitFor()
  expect(await findings(page)).toEqual([])
  expect(await wordsOf(page)).toMatch(/--host 0\.0\.0\.0/)
  await form.getByLabel('Game').selectOption('Dots')
  await name.press('Enter')
  await page.getByRole('heading', { name: 'Join our-place' }).waitFor()
  await page.getByRole('button', { name: 'Join' }).click()
  await window.until({ status: 'live' })
  // It is in no list.
  const listed = (await (await fetch(`${hub.url}/api/sessions`)).json()) as { room: string }[]
  expect(listed.filter(({ room }) => room === 'our-place')).toEqual([])
})

test('the lobby: one press leads to where most play (AP-24)', async () => {
  const other = await Window.open('other', `${hub.url}/dots/?room=busy&name=Ada`)
  await other.until({ status: 'live' })
  await page.goto(hub.url)
  await page.getByText('busy').waitFor()
  await page.getByRole('link', { name: 'Play Dots' }).click()
  await page.getByRole('heading', { name: 'Join busy' }).waitFor()
  await other.end()
})

/** Through the door of a game, whose name is ready to be typed over. */
async function enter(game: GameId): Promise<void> {
  await page.goto(pathOf(game))
  await page.waitForFunction(() => (document.activeElement as HTMLInputElement)?.name === 'name')
  expect(await findings(page)).toEqual([])
  expect((await walk(page)).unseen).toEqual([])
  await page.getByRole('textbox', { name: 'Your name' }).focus()
  await page.keyboard.type('Ada')
  await page.keyboard.press('Enter')
  await window.until({ status: 'live', members: /^\d+$/, bots: '0' })
  expect(await wordsOf(page)).not.toMatch(FALSE)
  const panel = PANELS[game]
  if (panel === undefined) return
  await tabTo(panel)
  await page.keyboard.press('Enter')
}

test.each(GAMES.map(({ id }) => id))(
  '%s: by keys alone through the door, and bots come and go (AP-24)',
  async (game) => {
    await enter(game)
    await tabTo('Play with bots')
    await page.keyboard.press('Enter')
    const count = game === 'tabletop' ? 1 : 3
    const members = new RegExp(`^\\d+(,\\d+){${count}}$`)
    // Bots are none that could take over, and it is not said that they were.
    await window.until({ bots: String(count), members, safety: 'kept' })
    await page
      .getByText(/^Bot \w/)
      .first()
      .waitFor()
    const words = await wordsOf(page)
    expect(words).toMatch(/None of them is ever the server|The bot waits for a game/)
    expect(words).not.toMatch(FALSE)
    if (game === 'tabletop') await page.getByRole('button', { name: /Draughts/ }).click()
    let round = await walk(page)
    // A line about a bot that comes in meanwhile pushes down what has the focus: then once more.
    if (round.unseen.length > 0) round = await walk(page)
    expect(round.unseen).toEqual([])
    expect(round.reached).toContain('One bot more')
    expect(await findings(page)).toEqual([])
    if (game === 'tabletop') await sitDown()
    await window.shot(`pages-1-${game}`)

    await tabTo('Send the bots away')
    await page.keyboard.press('Space')
    await window.until({ bots: '0', members: /^\d+$/ })
  },
)

// A bot comes to the other seat as soon as somebody has one.
async function sitDown(): Promise<void> {
  await page.getByRole('button', { name: 'Sit here' }).first().click()
  await window.until({ seats: /^[1-9]\d*,[1-9]\d*$/, turn: 'b' })
}

test('the last window of a room is loaded anew: the room was kept, with the player (AP-1, AP-24)', async () => {
  await page.goto(pathOf('dots', '&name=Ada').replace('alone', 'brief'))
  await window.until({ status: 'live' })
  await page.keyboard.press('Space')
  await window.until({ pinsTotal: '1' })
  // Bots of the page are none who keep the room.
  const invite = page.getByRole('button', { name: 'Play with bots' }).first()
  await invite.click()
  await window.until({ bots: '3' })
  await page.reload()
  const same = /the same player as before/
  await window.until({ status: 'live', pinsTotal: '1', members: '1', banner: same })
  await invite.click()
  await window.until({ bots: '3' })
  await page.goto(hub.url)
  const card = page.getByRole('article').filter({ hasText: 'Everybody is a dot' })
  // A page says goodbye as it goes, if it can: else the hub finds out that nobody answers.
  await card.getByText(/Nobody plays just now|nobody answers/).waitFor()
})

/** Waits until nothing lies over another: a page is laid out a moment after its size changed. */
async function fitting(on: Page, selectors: string): Promise<void> {
  const size = on.viewportSize()
  const found = async (): Promise<unknown> => [size, await clashes(on, selectors)]
  await expect.poll(found).toEqual([size, []])
}

test('on a phone, upright and on its side, nothing lies over a control, with four and long names (AP-24)', async () => {
  const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }
  const context = await page.context().browser()!.newContext(phone)
  context.setDefaultTimeout(PATIENCE_MS)
  const open = async (name: string): Promise<Page> => {
    const one = await context.newPage()
    await one.goto(pathOf('teapots', `&name=${name}`).replace('alone', 'orchard-of-plums'))
    await one.waitForFunction(() => document.body.dataset['status'] === 'live')
    return one
  }
  const ada = await open('Wilhelmina-Maxim')
  const fits = async (): Promise<void> => {
    for (const [width, height] of SIZES) {
      await ada.setViewportSize({ width, height })
      await fitting(ada, CONTROLS)
    }
  }
  await ada.waitForFunction(() => document.body.dataset['tea'] === '3')
  await fits()
  await ada.setViewportSize({ width: 390, height: 844 })
  await ada.getByRole('button', { name: 'Play with bots' }).tap()
  await open('Bartholomew-Ludo')
  await ada.waitForFunction(() => {
    const { safety, pots } = document.body.dataset
    return safety === 'backed-up' && pots!.split(',').length === 5
  })
  await fits()
  // Both are pressed where they are.
  await ada.getByRole('button', { name: 'Mute' }).tap()
  await ada.getByRole('button', { name: 'Under the lid' }).tap()
  await ada.getByRole('heading', { name: 'Under the lid' }).waitFor()
  await context.close()
})

test('on a phone what happened to the server is said beside the score, not over it (N-27)', async () => {
  const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }
  const context = await page.context().browser()!.newContext(phone)
  context.setDefaultTimeout(PATIENCE_MS)
  const [linus, ada, grace] = [
    await context.newPage(),
    await context.newPage(),
    await context.newPage(),
  ]
  for (const [one, name] of [
    [linus, 'Linus'],
    [ada, 'Ada'],
    [grace, 'Grace'],
  ] as const) {
    await one.goto(pathOf('teapots', `&name=${name}`).replace('alone', 'news'))
    await one.waitForFunction(() => document.body.dataset['status'] === 'live')
  }
  await ada.waitForFunction(() => document.body.dataset['safety'] === 'backed-up')
  await linus.close()
  await ada
    .locator('.banner')
    .getByText(/was the server and is gone/)
    .waitFor()
  await ada.bringToFront()
  await ada.screenshot({ path: 'test/e2e/shots/pages-3-news.png' })
  const said = '.banner p, .scores, .bowl, .top, .stick, .fire'
  for (const [width, height] of SIZES) {
    await ada.setViewportSize({ width, height })
    await fitting(ada, said)
  }
  await context.close()
})

test('a free table on a phone begins with all that lies on it (AP-24)', async () => {
  await page.setViewportSize({ width: 390, height: 844 })
  await page.goto(pathOf('tabletop', '&name=Ada').replace('alone', 'free'))
  await window.until({ status: 'live' })
  await page.getByRole('button', { name: /Free table/ }).click()
  await window.until({ pieces: '54' })
  const outside = (): Promise<number> =>
    page.evaluate(() => {
      const { tabletop, tabletopScene } = globalThis as unknown as Globals
      const box = document.querySelector('div.table')!.getBoundingClientRect()
      return tabletop.things.filter(({ id }) => {
        const [x, y] = tabletopScene.looks.onScreen(id) ?? [-1, -1]
        return x < 0 || y < 0 || x > box.width || y > box.height
      }).length
    })
  await expect.poll(outside).toBe(0)
  await page.getByRole('button', { name: 'Box' }).click()
  await page.getByRole('button', { name: 'Take out a red counter' }).click()
  await page.getByRole('button', { name: 'Take out a d20' }).click()
  await window.until({ pieces: '56' })
  expect(await findings(page)).toEqual([])
  await page.keyboard.press('Escape')
  await expect.poll(outside).toBe(0)
  // Of all pages so far.
  expect(window.complaints).toEqual([])
  await window.shot('pages-2-free-table')
})
