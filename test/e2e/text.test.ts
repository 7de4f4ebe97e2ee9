// Goal: an editor that knows Yjs merges what windows type, shows the cursors of others, and has all
// of it after the window that serves was killed, a reload, and an empty room.
// Method: CodeMirror in a page of its own; each window is a browser process.
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { Hub, Window } from './harness.ts'
import { ownPages, type OwnPages } from './tabs.ts'

let pages: OwnPages
let hub: Hub
let windows: Window[] = []

beforeAll(async () => {
  pages = await ownPages('text-page.ts')
  hub = await Hub.start(false, ['--pages', pages.folder])
})
afterEach(async () => {
  await Promise.all(windows.map((window) => window.end()))
  windows = []
})
afterAll(async () => {
  await hub.end()
  pages.end()
})

async function open(name: string): Promise<Window> {
  const window = await Window.open(name, `${hub.url}/?room=notes&name=${name}`)
  windows.push(window)
  await window.until({ status: 'saved' })
  return window
}

/** Types where a key leads, such as the end of the text. */
async function type({ page }: Window, at: 'Home' | 'End', text: string): Promise<void> {
  await page.locator('.cm-content').focus()
  await page.keyboard.press(`Control+${at}`)
  await page.keyboard.type(text)
}

async function show(text: string | RegExp): Promise<void> {
  for (const window of windows) await window.until({ status: 'saved', text, shown: text })
}

test('typed text merges, and outlives windows, a reload and an empty room', async () => {
  const ada = await open('Ada')
  const grace = await open('Grace')
  for (const window of windows) await window.until({ members: '2', safety: 'backed-up' })
  await type(ada, 'End', 'Hello')
  await show('Hello')
  await Promise.all([type(ada, 'Home', 'one two three '), type(grace, 'End', ' four five six')])
  await show('one two three Hello four five six')
  await grace.until({ cursors: 'Ada,Grace' })
  await grace.page.locator('.cm-ySelectionInfo', { hasText: 'Ada' }).waitFor({ state: 'attached' })
  await grace.shot('text-1-two')
  // Only what this window typed is undone.
  await grace.page.keyboard.press('Control+z')
  await show('one two three Hello')
  await grace.page.keyboard.press('Control+y')
  await show('one two three Hello four five six')

  await ada.until({ primary: 'Ada' })
  windows = [grace]
  const killed = ada.kill()
  await type(grace, 'End', ' seven')
  await killed
  await grace.until({ primary: 'Grace', members: '1', cursors: 'Grace' })
  await show('one two three Hello four five six seven')
  await expect.poll(() => grace.page.locator('.cm-ySelectionInfo').count()).toBe(0)
  const linus = await open('Linus')
  await show('one two three Hello four five six seven')

  await grace.page.reload()
  await grace.until({ me: '2', members: '2' })
  await type(grace, 'Home', 'zero ')
  await show('zero one two three Hello four five six seven')
  expect([ada, grace, linus].flatMap(({ complaints }) => complaints)).toEqual([])

  await Promise.all(windows.map((window) => window.end()))
  windows = []
  const late = await open('Late')
  await show('zero one two three Hello four five six seven')
  await type(late, 'End', ' eight')
  await show('zero one two three Hello four five six seven eight')
  await late.shot('text-2-again')
})
