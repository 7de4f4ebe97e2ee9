// Goal: two rats see and hit each other, and one plays on when the server's window is killed.
// Method: births in the corridor of the upper edge, cells 0 to 9.
// Slow: two browsers start, and a death is noticed after seconds.
import { expect, test } from 'vitest'
import { Cluster } from '../e2e/cluster.ts'
import type { Window } from '../e2e/harness.ts'

const cluster = Cluster.forEachTest()

async function open(name: string, more: string): Promise<Window> {
  const window = await cluster.open(name, `/mazewar/?room=e2e&name=${name}${more}`)
  await window.until({ status: 'live', slots: 'live' })
  return window
}

test('two windows see each other, a shot counts once, and one goes on when the other is killed', async () => {
  const ada = await open('Ada', '&born=2,3')
  const grace = await open('Grace', '&born=6,2')
  for (const window of [ada, grace]) await window.until({ rats: '1@2/3 2@6/2', scores: '1:0 2:0' })
  await ada.until({ sees: '2' })
  await grace.until({ sees: '1' })
  await ada.shot('mazewar-1-face-to-face')
  await ada.page.keyboard.press('ArrowUp')
  // A key that a busy machine holds for longer is more than one step.
  for (const window of [ada, grace]) await window.until({ rats: /^1@[345]\/3 2@6\/2$/ })
  await grace.page.keyboard.press('KeyC')
  await ada.until({ sees: '' })
  await grace.page.keyboard.press('KeyC')
  await ada.until({ sees: '2' })

  await ada.page.keyboard.press('Space')
  for (const window of [ada, grace]) await window.until({ scores: '1:10 2:-5' })
  await ada.until({ lines: /You hit Grace/, rats: /^1@[345]\/3 2@(?!6\/)/ })
  await grace.until({ lines: /Ada hit you/ })
  expect(await grace.data()).toMatchObject({ scores: '1:10 2:-5' })

  await grace.until({ members: '1,2', safety: 'backed-up' })
  await ada.kill()
  // A key that is struck while nobody serves does nothing.
  await grace.until({ members: '2', status: 'live', slots: 'live' })
  await grace.page.keyboard.press('Space')
  await grace.until({ rats: /^2@/, scores: '2:-6', members: '2' })
  expect(cluster.complaints).toEqual([])
})
