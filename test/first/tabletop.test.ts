// Goal: a drag at a card table goes on when the server's window is killed.
// Method: each window is a browser process, its mouse is Playwright's; killed means SIGKILL.
// Slow: three browsers start, and a death is noticed after seconds.
import { expect, test } from 'vitest'
import { Cluster } from '../e2e/cluster.ts'
import { agreed, drag, lay, pointAt, pointOf, table } from '../e2e/hands.ts'
import type { Window } from '../e2e/harness.ts'

const cluster = Cluster.forEachTest()

test('O57, O58: the server’s window is killed while another drags: the drag goes on', async () => {
  const [ada, grace, linus] = (await table(cluster, /Free table/, ['Ada', 'Grace', 'Linus'])) as [
    Window,
    Window,
    Window,
  ]
  const id = await lay([ada, grace, linus], [860, 640])
  const dragger = (await ada.data())['backup'] === '3' ? grace : linus
  const { me } = await dragger.data()
  await drag(dragger, id, [40, 10])
  for (const window of [grace, linus]) await window.until({ held: `${id}:${me}` })
  await ada.kill()
  const { mouse } = dragger.page
  const [x, y] = await pointAt(dragger.page, [1200, 500])
  await mouse.move(x, y, { steps: 5 })
  for (const window of [grace, linus]) {
    await window.until({ primary: /[23]/, members: /^(2,3|3,2)$/, safety: 'backed-up' })
  }
  expect((await dragger.data())['dragging']).toBe(String(id))
  await mouse.move(x + 30, y + 20, { steps: 5 })
  const dropped = await pointOf(dragger.page, id)
  await mouse.up()
  const { at } = await agreed([grace, linus], id)
  const lies = await pointAt(dragger.page, at)
  expect(Math.hypot(lies[0] - dropped[0], lies[1] - dropped[1])).toBeLessThan(3)
  expect((await dragger.data())['lost']).toBe('0')
  await linus.shot('tabletop-2-took-over')
})
