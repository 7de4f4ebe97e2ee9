// Goal: a duel of teapots goes on, ids, scores and all, whoever's window dies.
// Method: each window is a browser process; killed means SIGKILL; pots that must play do so by
// themselves, and the page says how things stand. What nobody looks at is not drawn.
// Slow: each window is a browser that starts, and pots hit each other at the game's own pace.
import { expect, test } from 'vitest'
import { Cluster } from './cluster.ts'
import { counted, figure, hits, open, PAGE, three } from './duel.ts'

const cluster = Cluster.forEachTest(true)

test('T1, T8: three windows and two bots see one another move', async () => {
  const all = await Promise.all([
    open(cluster, 'Ada', '&frames=4'),
    open(cluster, 'Grace'),
    open(cluster, 'Linus'),
  ])
  for (const index of [1, 2]) cluster.addBot('teapots', index, 'e2e')
  for (const window of all) await window.until({ pots: '1,2,3,4,5', safety: 'backed-up' })
  for (const window of all) {
    const places = async (): Promise<string[]> => (await window.data())['places']!.split(' ')
    const before = await places()
    const moved = async (): Promise<boolean> => {
      const now = await places()
      return [3, 4].every((bot) => now[bot] !== before[bot])
    }
    await expect.poll(moved).toBe(true)
  }
  await all[0].shot('teapots-1-five')
  expect(cluster.complaints).toEqual([])
})

test('T30, T34, T36, T37: the window of the backup is killed, another is loaded anew: scores stay', async () => {
  const [ada, grace, linus] = await three(cluster)
  const first = await hits([ada, grace, linus], 0)
  const graces = await figure(grace, 'counted')
  const { me } = await linus.data()
  await grace.kill()
  for (const window of [ada, linus]) {
    await window.until({ members: `1,${me}`, backup: me!, safety: 'backed-up', primary: '1' })
  }
  expect(await figure(linus, 'hits')).toBe(first)
  const second = await hits([ada, linus], 0)
  expect(graces + (await counted([ada, linus]))).toBe(second)

  const { points } = await ada.data()
  await linus.page.reload()
  for (const window of [ada, linus]) {
    await window.until({ members: new RegExp(`^(1,${me}|${me},1)$`), pots: `1,${me}` })
  }
  await linus.until({ me: me!, points: points! })
})

test('T2: the lobby lists the table; one joins with a glaze to watch, then to play; a full one says so', async () => {
  const lobby = await cluster.open('lobby')
  const card = lobby.page.getByRole('article').filter({ hasText: 'Dueling Teapots' })
  await card.getByText('Nobody plays just now').waitFor()
  const ada = await open(cluster, 'Ada', '&frames=0&players=2')
  await ada.page.getByText('You have the table to yourself').waitFor()
  await card.getByText('e2e').waitFor()
  await lobby.shot('teapots-3-lobby')

  await card.getByRole('link', { name: /join/i }).click()
  await lobby.page.getByRole('radio', { name: 'Plum' }).check({ force: true })
  await lobby.shot('teapots-4-door')
  await lobby.page.getByRole('button', { name: 'Only watch' }).click()
  await lobby.page.getByText('You watch.').waitFor()
  await lobby.until({ status: 'live', members: '1,2', pots: '1', tea: '' })

  const late = await cluster.open('Late', `${PAGE}&frames=0&name=Late`)
  await late.page.getByText('This room is full').waitFor()
  await late.until({ error: 'full' })
  await lobby.page.getByRole('button', { name: 'Take a pot' }).click()
  await lobby.until({ pots: '1,2', tea: '3' })
})

test('T4, T41: any window can kill the server under the lid, and without WebGL the page says so', async () => {
  const ada = await open(cluster, 'Ada')
  const grace = await open(cluster, 'Grace', '&frames=4')
  await grace.until({ safety: 'backed-up', members: '1,2' })
  await grace.page.getByRole('button', { name: 'Under the lid' }).click()
  await grace.shot('teapots-5-panel')
  await grace.page.getByRole('button', { name: /kill the server/i }).click()
  await grace.until({ members: '2', primary: '2', role: 'alone', pots: '2' })
  await ada.until({ status: 'killed' })
  await ada.page.getByText('This window is dead').waitFor()

  const blind = await cluster.open('Blind', PAGE, ['--disable-3d-apis'])
  await blind.page.getByText('This browser cannot draw the table').waitFor()
})
