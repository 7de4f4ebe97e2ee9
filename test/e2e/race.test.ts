// Goal: the page of the race can be played with, and what it says changes with what is done.
// Method: one window, by mouse and keyboard, and a narrow one by touch; the page says how it is.
// Slow: it is played by mouse and keyboard, at the pace of its page.
import { expect, test } from 'vitest'
import { Cluster } from './cluster.ts'
import type { Window } from './harness.ts'

const cluster = Cluster.forEachTest()

/** Drags a message by the mouse. @param by  pixels to the right */
async function drag(window: Window, name: RegExp, by: number): Promise<void> {
  const { page } = window
  const slider = page.getByRole('slider', { name })
  await slider.scrollIntoViewIfNeeded()
  const box = (await slider.boundingBox())!
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2]
  await page.mouse.move(x, y)
  await page.mouse.down()
  await page.mouse.move(x + by / 2, y)
  await page.mouse.move(x + by, y)
  await page.mouse.up()
}

/** The same by a finger. */
async function swipe(window: Window, name: RegExp, by: number): Promise<void> {
  const { page } = window
  const slider = page.getByRole('slider', { name })
  await slider.scrollIntoViewIfNeeded()
  const box = (await slider.boundingBox())!
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2]
  const finger = await page.context().newCDPSession(page)
  const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', at?: number): Promise<unknown> =>
    finger.send('Input.dispatchTouchEvent', {
      type,
      touchPoints: at === undefined ? [] : [{ x: at, y }],
    })
  await touch('touchStart', x)
  await touch('touchMove', x + by / 2)
  await touch('touchMove', x + by)
  await touch('touchEnd')
}

test('B31, B45, B47: a paradox with the fix off, none with it on, in orders of one’s own', async () => {
  const window = await cluster.open('race', '/race/')
  const said: string[] = []
  window.page.on('console', (message) => said.push(message.text()))
  await window.page.reload()
  await window.until({ play: 'shortest', fix: 'off', order: 'M_ab C', verdict: 'paradox' })
  await window.page.getByText('X takes A for the owner, everybody else B').waitFor()
  await window.shot('race-paradox')
  const fix = window.page.getByRole('switch')
  await fix.click()
  await window.until({ fix: 'on', order: 'M_ab C', verdict: 'well' })
  await window.page.getByText('version 0 is older than 1').waitFor()

  await window.page.getByRole('button', { name: 'As expected' }).click()
  await window.until({ play: 'calm', order: 'C M_ab D', verdict: 'well' })
  await window.page.getByRole('slider', { name: /^C from A/ }).focus()
  await window.page.keyboard.press('ArrowRight')
  await window.until({ order: 'M_ab C D', verdict: 'well' })
  await window.page.keyboard.press('ArrowRight')
  await window.until({ order: 'M_ab D C', verdict: 'well' })
  await fix.click()
  await window.until({ fix: 'off', order: 'M_ab D C', verdict: 'paradox' })

  await drag(window, /^C from A/, -500)
  await window.until({ order: 'C M_ab D', verdict: 'well', note: /C leaves A at 40 ms/ })
  await fix.click()
  await drag(window, /^M_ab from B/, 400)
  await window.until({ order: 'C M_ab D', note: /B to X is one ordered stream/ })
  await window.shot('race-fixed')
  await window.page.getByText('A dies before C has left').click()
  expect(said).toEqual([])
  expect(cluster.complaints).toEqual([])
})

test('B33: on a phone; the lobby leads there, and a global order stands still if A dies', async () => {
  const window = await cluster.open('phone')
  await window.page.setViewportSize({ width: 390, height: 844 })
  await window.page.getByRole('link', { name: 'See the race' }).click()
  await window.until({ verdict: 'paradox' })
  await window.page.getByRole('button', { name: 'Two migrations' }).click()
  await window.until({ play: 'chain', verdict: 'paradox' })
  const wide = await window.page.evaluate(() => document.documentElement.scrollWidth)
  expect(wide).toBe(390)
  await window.shot('race-phone')
  await swipe(window, /^C from A/, -300)
  await window.until({ order: /^C D/, note: /C leaves A at 40 ms/ })
  await swipe(window, /^C from A/, 300)
  await window.until({ order: /C$/ })
  await window.page.getByText('A dies before C has left').click()
  await window.page.getByText(/One machine died, and 2 healthy links stand still/).waitFor()
  expect(cluster.complaints).toEqual([])
})
