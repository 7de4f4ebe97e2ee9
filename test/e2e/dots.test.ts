// Goal: windows of Dots survive the death of the server's window, the backup's and the hub.
// Method: each window is a browser process; killed means SIGKILL; the page says how things stand.
// Slow: each window is a browser that starts, and a death is noticed after seconds.
import { expect, onTestFinished, test } from 'vitest'
import { Cluster } from './cluster.ts'
import { drop } from './pins.ts'
import { killed, knowsDemo, sayDemo, type Window } from './harness.ts'
import { Tabs } from './tabs.ts'

const cluster = Cluster.forEachTest(true)

async function open(name: string, room = 'e2e'): Promise<Window> {
  const window = await cluster.open(name, `/dots/?room=${room}&name=${name}`)
  await window.until({ status: 'live' })
  return window
}

test('T30, T36: the window of the backup is killed: the server plays on with another', async () => {
  const ada = await open('Ada')
  const grace = await open('Grace')
  await ada.until({ safety: 'backed-up', backup: '2' })
  const linus = await open('Linus')
  await linus.until({ members: '1,2,3' })
  const dropping = drop(linus, 20)
  await grace.kill()
  await ada.until({ members: '1,3', safety: 'backed-up', backup: '3', primary: '1' })
  await linus.until({ members: '1,3', safety: 'backed-up', role: 'backup' })
  expect(await dropping).toBe(20)
  for (const window of [ada, linus]) await window.until({ pinsTotal: '20' })
})

test('T24, T33: the hub is killed and comes back: tabs pause, say so, and go on in the epoch', async () => {
  const ada = await open('Ada')
  const grace = await open('Grace')
  await grace.until({ safety: 'backed-up', members: '1,2' })
  await drop(grace, 2)
  const { primary } = await grace.data()
  await cluster.hub.kill()
  await grace.until({ status: 'reconnecting' })
  await grace.shot('4-hub-gone')
  const dropping = drop(grace, 3)
  await cluster.hub.start()
  for (const window of [ada, grace]) await window.until({ status: 'live', safety: 'backed-up' })
  expect(await dropping).toBe(3)
  for (const window of [ada, grace]) {
    await window.until({ pinsTotal: '5', primary: primary!, members: '1,2', returns: '0' })
  }
  await grace.shot('5-hub-back')
})

test('twenty switches between tabs make no epoch, and a hidden server keeps time', async () => {
  const tabs = await Tabs.start()
  onTestFinished(() => tabs.end())
  const ada = await tabs.open(`${cluster.hub.url}/dots/?room=e2e&name=Ada`)
  const other = await tabs.open('about:blank')
  await tabs.show(ada)
  const status = (): Promise<unknown> => tabs.ask(ada, 'document.body.dataset.status')
  await expect.poll(status).toBe('live')
  const grace = await open('Grace')
  await grace.until({ safety: 'backed-up', primary: '1', members: '1,2' })
  const { primary } = await grace.data()
  const seen = new Set<unknown>()
  for (let i = 0; i < 10; i++) {
    for (const tab of [other, ada]) {
      await tabs.show(tab)
      // A pin from elsewhere goes through the server, whether anybody looks at it or not.
      expect(await drop(grace, 1)).toBe(1)
      seen.add(await tabs.ask(ada, 'document.visibilityState'))
    }
  }
  expect(seen).toEqual(new Set(['hidden', 'visible']))
  await tabs.show(other)
  expect(await drop(grace, 40)).toBe(40)
  expect(await tabs.ask(ada, 'document.visibilityState')).toBe('hidden')
  await grace.until({ safety: 'backed-up' })
  expect(await grace.data()).toMatchObject({ primary, status: 'live' })
})

test('T4, T41: in a demonstration any window can kill the server, but none that does not obey (AP-24)', async () => {
  // Whether it is a demonstration each window asks the hub for itself.
  const ada = await cluster.open('Ada')
  await ada.page.route('**/api/hub', (route) => route.fulfill({ json: { demo: false } }))
  await ada.page.goto(`${cluster.hub.url}/dots/?room=e2e&name=Ada`)
  await ada.until({ status: 'live' })
  const grace = await open('Grace')
  await grace.until({ safety: 'backed-up', members: '1,2' })
  expect(await ada.page.getByRole('button', { name: /kill the server/i }).count()).toBe(0)
  await grace.page.getByRole('button', { name: /kill the server/i }).click()
  await grace.until({ banner: 'Ada’s window does not die when it is asked to.' })
  await ada.until({ status: 'live', primary: '1', members: '1,2' })

  await ada.page.unroute('**/api/hub')
  if (!knowsDemo()) await sayDemo(ada.page)
  await ada.page.reload()
  await ada.until({ status: 'live', me: '1', primary: '2', safety: 'backed-up' })
  await ada.page.getByRole('button', { name: /kill the server/i }).click()
  await ada.until({ members: '1', primary: '1', role: 'alone' })
  await ada.page
    .getByRole('status')
    .getByText(/You are the server now/)
    .waitFor()
  await grace.until({ status: 'killed' })
  await grace.shot('6-killed')
})

test('T34, T81: a server whose window stalls comes back as the same player', async () => {
  const ada = await open('Ada')
  const grace = await open('Grace')
  await grace.until({ safety: 'backed-up', members: '1,2' })
  await ada.stalled(() => grace.until({ primary: '2' }))
  await grace.until({ primary: '2', members: '2,1', safety: 'backed-up' })
  await ada.until({ me: '1', status: 'live', primary: '2', role: 'backup', returns: '1' })
  expect(await drop(ada, 3)).toBe(3)
  await grace.until({ pinsTotal: '3' })
})

test('T2: the lobby lists the rooms there are, and one joins or starts another', async () => {
  await open('Ada', 'old-room')
  const lobby = await cluster.open('lobby')
  await lobby.page.getByText('old-room').waitFor()
  await lobby.shot('8-lobby')
  await lobby.page.getByRole('link', { name: /join/i }).first().click()
  await lobby.page.getByRole('button', { name: /join/i }).click()
  await lobby.until({ status: 'live', members: '1,2' })

  await lobby.page.goto(cluster.hub.url)
  const form = lobby.page.getByRole('region', { name: 'A room of your own' })
  await form.getByRole('textbox', { name: /name your room/i }).fill('new-room')
  await form.getByText(/start a new room/i).click()
  await lobby.page.getByRole('button', { name: /join/i }).click()
  await lobby.until({ status: 'live', members: '1', role: 'alone' })
})

test('T5, T37: bots on Node serve a window; hub and serving bot die in turn', async () => {
  const window = await open('Ada', 'mixed')
  for (const index of [1, 2, 3]) {
    cluster.addBot('dots', index, 'mixed')
    await window.until({ members: new RegExp(`,${index + 1}$`) })
  }
  await window.until({ safety: 'backed-up', backup: '2' })
  await window.page.getByRole('button', { name: /kill the server/i }).click()
  const other = await open('Grace', 'mixed')
  await other.until({ primary: '2', safety: 'backed-up', members: '2,3,4,5' })
  expect(await drop(other, 3)).toBe(3)

  await cluster.hub.kill()
  await other.until({ status: 'reconnecting' })
  await cluster.hub.start()
  const same = { members: '2,3,4,5', primary: '2', me: '5' }
  await other.until({ status: 'live', safety: 'backed-up', ...same })

  await killed(cluster.bots[0]!)
  await other.until({ primary: /[34]/, safety: 'backed-up', members: '3,4,5' })
  expect(await drop(other, 3)).toBe(3)
  await other.shot('7-bots')
})

test('who only watches has no dot and drops no pin, until they join the others', async () => {
  const ada = await open('Ada')
  await ada.until({ safety: 'kept', me: '1' })
  const grace = await cluster.open('Grace', '/dots/?room=e2e')
  await grace.page.getByRole('button', { name: 'Only watch' }).click()
  await grace.until({ status: 'live', members: '1,2' })
  await ada.page.getByText('watches').waitFor()
  expect(await drop(grace, 1)).toBe(0)
  await grace.page.reload()
  await grace.until({ status: 'live', me: '2' })
  await grace.page.getByRole('button', { name: 'Join the others' }).click()
  expect(await drop(grace, 2)).toBe(2)
  await ada.until({ pinsTotal: '2' })
  await ada.page.getByText('watches').waitFor({ state: 'detached' })
})
