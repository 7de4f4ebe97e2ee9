// Goal: the hooks of `holdfast/react` join once, render again only for what they read, and keep the
// caret of who types, in React 19, React 18 and Preact, in StrictMode.
// Method: one page that uses every hook, built with each of the three and played in two browsers.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Hub, Window } from './harness.ts'
import { ownPages, type OwnPages } from './tabs.ts'

const LIBRARIES: [name: string, alias: Record<string, string>][] = [
  ['React 19', {}],
  ['React 18', { 'react-dom': 'react-dom-18', react: 'react-18' }],
  ['Preact', { 'react-dom': 'preact/compat', react: 'preact/compat' }],
]

describe.each(LIBRARIES)('%s', (_name, alias) => {
  let pages: OwnPages
  let hub: Hub
  let windows: Window[] = []
  let rooms = 0

  beforeAll(async () => {
    pages = await ownPages('hooks-page.tsx', alias)
    hub = await Hub.start(false, ['--pages', pages.folder])
  })
  beforeEach(() => void rooms++)
  afterEach(async () => {
    await Promise.all(windows.map((window) => window.end()))
    windows = []
  })
  afterAll(async () => {
    await hub.end()
    pages.end()
  })

  async function open(name: string, more = ''): Promise<Window> {
    const window = await Window.open(name, `${hub.url}/?room=r${rooms}${more}`)
    windows.push(window)
    return window
  }

  async function both(more = ''): Promise<[Window, Window]> {
    const ada = await open('Ada', more)
    await ada.until({ status: 'live', members: '1' })
    const grace = await open('Grace', more)
    for (const window of windows) await window.until({ members: '1,2', safety: 'backed-up' })
    return [ada, grace]
  }

  const ask = ({ page }: Window, code: string): Promise<unknown> => page.evaluate(code)

  /** What was rendered again while something happened. */
  async function rendered(window: Window, happen: () => Promise<unknown>): Promise<string[]> {
    const count = async (): Promise<Record<string, number>> => {
      return (await ask(window, '({ ...renders })')) as Record<string, number>
    }
    const before = await count()
    await happen()
    const after = await count()
    return Object.keys(after).filter((name) => after[name] !== before[name])
  }

  test('one join for all users of a room, and each hook renders for what it reads', async () => {
    const [ada, grace] = await both()
    await grace.until({ other: 'live', room: 'live' })
    const dealt = await rendered(grace, async () => {
      expect(await ask(ada, `deal('one')`)).toBe(true)
      expect(await ask(ada, `deal('two')`)).toBe(true)
      await grace.until({ cards: '2', dealt: '2' })
    })
    expect(dealt.toSorted()).toEqual(['dealt', 'list', 'row 1', 'row 2'])
    const turned = await rendered(grace, async () => {
      await ask(ada, 'turn(0, 7).then(() => 0)')
      await grace.page.getByText('one 7').waitFor()
    })
    expect(turned).toEqual(['row 1'])
    const noted = await rendered(grace, async () => {
      expect(await ask(ada, `note('x')`)).toBe(true)
      expect(await ask(grace, `note('y')`)).toBe(true)
    })
    expect(noted).toEqual([])
    await ask(ada, 'dot()')
    await grace.until({ dots: '1', hue: '1', mine: 'false' })
    const left = await rendered(grace, async () => {
      await ada.end()
      await grace.until({ members: '2', primary: '2', mine: 'true' })
    })
    // A row may, too: who changed its piece last is nobody who is here.
    const others = left.filter((name) => !name.startsWith('row'))
    expect(others.toSorted()).toEqual(['list', 'mark', 'members', 'status'])
    expect(windows.flatMap(({ complaints }) => complaints)).toEqual([])
  })

  test('the last user of a room leaves it, and joins again when it is back', async () => {
    const [ada, grace] = await both('&only')
    await ask(grace, 'setIn(false)')
    await ada.until({ members: '1' })
    await ask(grace, 'setIn(true)')
    await ada.until({ members: /^1,\d$/ })
    await grace.until({ members: /^1,\d$/ })
  })

  test('a field keeps the caret, and shows what others wrote after a rest', async () => {
    const [ada, grace] = await both()
    expect(await ask(ada, `deal('hello')`)).toBe(true)
    const input = grace.page.getByLabel('Title 1')
    const caret = (): Promise<number | null> => {
      return input.evaluate((element) => (element as HTMLInputElement).selectionStart)
    }
    await input.waitFor()
    await input.focus()
    await grace.page.keyboard.press('Home')
    await grace.page.keyboard.type('oh, ')
    expect(await input.inputValue()).toBe('oh, hello')
    await ada.page.getByText('oh, hello').waitFor()
    expect(await caret()).toBe(4)
    await ask(ada, `title(0, 'so: oh, hello')`)
    await expect.poll(() => input.inputValue()).toBe('so: oh, hello')
    expect(await caret()).toBe(8)
    await grace.page.keyboard.type('x')
    await ada.page.getByText('so: oh, xhello').waitFor()
    await input.fill('y'.repeat(81))
    await expect.poll(() => input.inputValue()).toBe('so: oh, xhello')
    expect(await input.getAttribute('aria-invalid')).toBe('true')
  })

  test('two who type into one field lose no key, and see the same', async () => {
    const [ada, grace] = await both()
    expect(await ask(ada, `deal('Bread')`)).toBe(true)
    const inputs = [ada, grace].map(({ page }) => page.getByLabel('Title 1'))
    for (const input of inputs) await input.waitFor()
    const typing = [ada, grace].map(async ({ page }, at) => {
      await inputs[at]!.focus()
      await page.keyboard.press('End')
      for (let n = 0; n < 12; n++) await page.keyboard.type('Ag'[at]!, { delay: 60 + 7 * at })
    })
    await Promise.all(typing)
    const values = (): Promise<string[]> => Promise.all(inputs.map((input) => input.inputValue()))
    // Each may show an order of its own until it rests.
    const found = async (): Promise<unknown> => {
      const [one, two] = await values()
      return [one === two, one!.match(/[Ag]/g)?.length]
    }
    await expect.poll(found).toEqual([true, 24])
    const [one] = await values()
    expect(one).toMatch(/^Bread[Ag]{24}$/)
    expect(one!.split('A').length - 1).toBe(12)
    expect(await inputs[0]!.getAttribute('aria-invalid')).toBe('false')
  })

  test('a lost session can be joined again; a reload is the same player', async () => {
    const [, grace] = await both('&remember')
    await ask(grace, 'crash()')
    await grace.until({ room: 'lost', code: /./ })
    await ask(grace, 'retry()')
    await grace.until({ room: 'live', me: '2', members: '1,2' })
    await grace.page.reload()
    await grace.until({ room: 'live', me: '2', members: '1,2' })
  })

  /** A tab of the same browser, once it has joined as that player. */
  async function tabOf({ page }: Window, url: string, player: number): Promise<void> {
    const tab = await page.context().newPage()
    await tab.goto(url)
    await tab.locator(`body[data-room="live"][data-me="${player}"]`).waitFor({ state: 'attached' })
  }

  test.each([
    ['the same player with "browser"', '&remember=browser', 2],
    ['another player with true', '&remember', 3],
  ])('a closed tab that is opened again is %s', async (_is, more, player) => {
    const [ada, grace] = await both(more)
    const url = grace.page.url()
    await grace.page.close()
    await ada.until({ members: '1' })
    await tabOf(grace, url, player)
    await ada.until({ members: `1,${player}` })
  })

  test('a second tab of a browser takes over as the same player', async () => {
    const [ada, grace] = await both('&remember=browser')
    await tabOf(grace, grace.page.url(), 2)
    await grace.until({ room: 'lost', code: 'elsewhere' })
    await ada.until({ members: '1,2' })
  })

  test('another value of `remember` is named', async () => {
    const window = await open('Ada', '&remember=tab')
    await window.until({
      room: 'failed',
      code: 'bad-value',
      error: /^remember is true, false or 'browser': "tab"$/,
    })
  })
})
