// Goal: each hit counts once, also when the server's window is killed.
// Method: each window is a browser process; killed means SIGKILL; pots that must play do so by
// themselves, and the page says how things stand. What nobody looks at is not drawn.
// Slow: three browsers start, and pots hit each other at the game's own pace.
import { expect, test } from 'vitest'
import { Cluster } from '../e2e/cluster.ts'
import { counted, figure, hits, play, three } from '../e2e/duel.ts'

const cluster = Cluster.forEachTest(true)

test('T3, T5, T29, T49: every hit counts once, also when the window of the server is killed', async () => {
  const [ada, grace, linus] = await three(cluster)
  const first = await hits([ada, grace, linus], 2)
  expect(await counted([ada, grace, linus])).toBe(first)
  const adas = await figure(ada, 'counted')
  const players = [await figure(grace, 'me'), await figure(linus, 'me')]

  await play([grace, linus], true)
  await ada.kill()
  const served = String(players[0])
  for (const window of [grace, linus]) {
    await window.until({ members: '2,3', primary: served, safety: 'backed-up', pots: '2,3' })
  }
  expect([await figure(grace, 'me'), await figure(linus, 'me')]).toEqual(players)
  await grace.page
    .getByRole('status')
    .getByText(/You are the server now/)
    .waitFor()
  const second = await hits([grace, linus], 1)
  expect(second).toBeGreaterThan(first)
  expect(adas + (await counted([grace, linus]))).toBe(second)
  expect(cluster.complaints).toEqual([])
})
