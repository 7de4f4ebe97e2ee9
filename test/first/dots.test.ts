// Goal: windows of Dots go on when the server's window is killed.
// Method: each window is a browser process; killed means SIGKILL; the page says how things stand.
// Slow: three browsers start, and a death is noticed after seconds.
import { expect, test } from 'vitest'
import { Cluster } from '../e2e/cluster.ts'
import type { Window } from '../e2e/harness.ts'
import { drop } from '../e2e/pins.ts'

const cluster = Cluster.forEachTest(true)

async function open(name: string): Promise<Window> {
  const window = await cluster.open(name, `/dots/?room=e2e&name=${name}`)
  await window.until({ status: 'live' })
  return window
}

test('T1, T3, T5, T29: the window of the server is killed: the others play on', async () => {
  const ada = await open('Ada')
  await ada.until({ safety: 'kept', role: 'alone', me: '1' })
  await ada.shot('1-alone')
  const grace = await open('Grace')
  await grace.until({ safety: 'backed-up', members: '1,2' })
  const linus = await open('Linus')
  await ada.until({ members: '1,2,3', safety: 'backed-up' })
  await linus.until({ members: '1,2,3', safety: 'backed-up', primary: '1', me: '3' })
  expect(await drop(ada, 3)).toBe(3)
  expect(await drop(grace, 4)).toBe(4)
  expect(await drop(linus, 5)).toBe(5)
  for (const window of cluster.windows) await window.until({ pinsTotal: '12' })
  await linus.shot('2-three')
  const before = Number((await linus.data())['epoch'])

  const dropping = drop(linus, 20)
  await ada.kill()
  await grace.until({ members: '2,3', safety: 'backed-up', primary: '2', me: '2' })
  await linus.until({ members: '2,3', safety: 'backed-up', primary: '2', me: '3' })
  await grace.shot('3-took-over')
  expect(await dropping).toBe(20)
  expect(await drop(grace, 6)).toBe(6)
  for (const window of [grace, linus]) await window.until({ pinsTotal: '38' })
  expect(Number((await linus.data())['epoch'])).toBeGreaterThan(before)

  expect(cluster.complaints).toEqual([])
})
