// Goal: the examples in Svelte and in Vue show what others do, touch only what changed, and go on
// when the window that serves is killed.
// Method: each in two windows, and one window of each in one room.
// Slow: seven browsers start.
import { expect, test } from 'vitest'
import { Cluster } from './cluster.ts'
import type { Window } from './harness.ts'
import { findings } from './looks.ts'

const cluster = Cluster.forEachTest()

/** Ada serves, and Grace would take over. */
async function both(ofAda: string, ofGrace: string): Promise<[Window, Window]> {
  const ada = await cluster.open('Ada', `/examples/${ofAda}/`)
  await ada.page.getByText('Here: player 1; this window serves').waitFor()
  const grace = await cluster.open('Grace', `/examples/${ofGrace}/`)
  await grace.page.getByText('Here: player 1, player 2; another serves').waitFor()
  await ada.page.getByText('Here: player 1, player 2').waitFor()
  return [ada, grace]
}

async function add({ page }: Window, title: string): Promise<void> {
  await page.getByLabel('New task').fill(title)
  await page.getByRole('button', { name: 'Add' }).click()
}

function tick({ page }: Window, title: string): Promise<void> {
  return page.getByLabel(title, { exact: true }).click()
}

function done({ page }: Window, title: string): Promise<void> {
  return page.locator('.done', { hasText: title }).waitFor()
}

interface Watched {
  touched: string[]
}

/** Notes from now on which rows of the list are touched. @returns reads them */
async function touchedOf({ page }: Window): Promise<() => Promise<string[]>> {
  await page.evaluate(() => {
    const own = globalThis as unknown as Watched
    own.touched = []
    const observer = new MutationObserver((records) => {
      for (const { target } of records) {
        const row = (target instanceof Element ? target : target.parentElement)?.closest('li')
        own.touched.push(row?.querySelector('label')?.textContent?.trim() ?? 'the list')
      }
    })
    const all = { subtree: true, childList: true, attributes: true, characterData: true }
    observer.observe(document.querySelector('ul')!, all)
  })
  return () => page.evaluate(() => [...new Set((globalThis as unknown as Watched).touched)])
}

test.each([
  ['svelte', 'svelte'],
  ['vue', 'vue'],
  ['svelte', 'vue'],
])('Ada in %s, Grace in %s: both edit, a tick touches its row alone, one dies', async (a, g) => {
  const [ada, grace] = await both(a, g)
  await add(ada, 'Pour the tea')
  await add(ada, 'Cut the cake')
  await grace.page.getByText('Cut the cake').waitFor()
  const touched = await touchedOf(grace)
  await tick(ada, 'Pour the tea')
  await done(grace, 'Pour the tea')
  expect(await touched()).toEqual(['Pour the tea'])
  await tick(grace, 'Cut the cake')
  await done(ada, 'Cut the cake')
  for (const { page } of [ada, grace]) expect(await findings(page)).toEqual([])
  await grace.shot(`example-${g}`)
  await grace.page.setViewportSize({ width: 390, height: 844 })
  expect(await grace.page.evaluate('document.documentElement.scrollWidth')).toBe(390)
  await grace.shot(`example-${g}-phone`)
  await ada.kill()
  await grace.page.getByText('Here: player 2; this window serves').waitFor()
  await grace.page.getByRole('button', { name: 'Remove Pour the tea' }).click()
  await grace.page.getByText('Pour the tea').waitFor({ state: 'detached' })
  await add(grace, 'Wash the cups')
  await tick(grace, 'Wash the cups')
  await done(grace, 'Wash the cups')
  expect(cluster.complaints).toEqual([])
})
