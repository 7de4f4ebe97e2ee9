// Goal: whoever comes back is who they were: after a reload, on another device, and when server and
// backup die at once.
// Method: hidden tabs of one browser, which draw nothing. What a page shows is waited for.
// Slow: hidden tabs are let on at most once a second, and deaths are noticed after seconds.
import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { GAMES } from '../../games/games.ts'
import { killed, said } from './harness.ts'
import * as pots from './pots.ts'
import { cluster, enter, hub, nameIn, open, score, seen, tabs, together, visit } from './pots.ts'

const bots: ChildProcess[] = []

beforeAll(() => pots.begin())
// A test begins with nothing of the one before.
afterEach(async () => {
  await pots.closeAll()
  await Promise.all(bots.splice(0).map(killed))
})
afterAll(() => pots.finish())

test('T34: a tab that is reloaded is the same player, with score and name, past no door', async () => {
  const [ada, grace] = await cluster('reload', ['Ada', 'Grace'])
  const linus = await visit('reload', '')
  await tabs.sees(linus, `!!document.querySelector('.door')`)
  await tabs.ask(linus, `document.querySelector('[name=name]').value = 'Linus'`)
  await tabs.press(linus, 'Join')
  const players = await together([ada!, grace!, linus])
  const before = await score([ada!, grace!, linus], players.slice(2))
  const me = String(players[2])
  await tabs.reload(linus)
  await tabs.until(linus, { banner: /the same player as before/, status: 'live', me })
  await seen([ada!, grace!, linus], players)
  for (const tab of [ada!, linus]) await tabs.until(tab, { points: before })
  expect(await nameIn(linus)).toBe('Linus')
})

test('T3, T29, T34: the tab of the server is reloaded: another serves, and it is who it was', async () => {
  const all = await cluster('server', ['Ada', 'Grace', 'Linus'])
  const players = await together(all)
  const before = await score(all, players)
  const server = Number((await tabs.data(all[0]!))['primary'])
  const tab = all[players.indexOf(server)]!
  const name = await nameIn(tab)
  await tabs.reload(tab)
  await tabs.until(tab, { banner: /the same player as before/, status: 'live', me: String(server) })
  await seen(all, players)
  for (const each of all) {
    await tabs.until(each, { points: before, primary: new RegExp(`^(?!${server}$)`) })
  }
  expect(await nameIn(tab)).toBe(name)
})

test('T34: a personal link takes the player to another window, and back, also in a full room', async () => {
  const [ada, grace] = await cluster('link', ['Ada', 'Grace'], '&players=2')
  const late = await visit('link', '&name=Late')
  await tabs.until(late, { status: 'failed', error: 'full' })
  await tabs.sees(late, `document.body.innerText.includes('This room is full')`)

  await tabs.press(grace!, 'Under the lid')
  const field = `document.querySelector('[aria-label="Your personal link"]')?.value`
  await tabs.sees(grace!, `/#as=/.test(${field})`)
  const link = (await tabs.ask(grace!, field)) as string
  const second = await open(link)
  const third = `document.body.innerText.includes('You play elsewhere now')`
  await tabs.until(second, { status: 'live', me: '2', banner: /the same player as before/ })
  expect(await tabs.ask(second, 'location.hash')).toBe('')
  await tabs.sees(grace!, third)
  const again = await open(link)
  await tabs.until(again, { status: 'live', me: '2' })
  await tabs.sees(second, third)
  await tabs.press(grace!, 'Play here again')
  await tabs.until(grace!, { status: 'live', me: '2', banner: /the same player as before/ })
  await tabs.sees(again, third)
  await seen([ada!, grace!], [1, 2])
  expect(await nameIn(grace!)).toBe('Grace')
  await tabs.reload(ada!)
  await tabs.until(ada!, { banner: /the same player as before/, status: 'live', me: '1' })
})

test('T34: a token that is worth nothing keeps nobody out', async () => {
  const [ada] = await cluster('stale', ['Ada'])
  const token = (await tabs.ask(ada!, 'teapots.session.token')) as string
  // Session, player, and the seed of the key; behind these is what is stored of the room.
  const forged = token.replace(/^(?:[^.]+\.){2}./, (head) => {
    return head.slice(0, -1) + (head.endsWith('0') ? '1' : '0')
  })
  for (const [i, wrong] of ['rubbish', `gone-1.1.${'0'.repeat(32)}`, forged].entries()) {
    const tab = await visit('stale', `#as=${wrong}&name=New`)
    await tabs.until(tab, { status: 'live', me: String(i + 2), banner: /you are a new player/ })
    expect(await nameIn(tab)).toBe('New')
  }
})

test('every door has its name selected, to be typed over at once', async () => {
  for (const { id } of GAMES) {
    const tab = await open(`${hub.url}/${id}/?room=door&frames=0`)
    await tabs.sees(
      tab,
      `(({ name, value, selectionStart, selectionEnd }) => name === 'name' && value !== '' &&
        selectionStart === 0 && selectionEnd === value.length)(document.activeElement ?? {})`,
    )
  }
})

test('T2, T3: an empty lobby says so, and whoever leaves is forgotten by the tab', async () => {
  const tab = await open(hub.url)
  const sessions = `document.querySelector('[aria-label="Sessions of Dots"]').innerText`
  await tabs.sees(tab, `${sessions}.includes('Nobody plays just now')`)
  const door = `location.pathname === '/dots/' && document.body.innerText.includes('Your name')`
  await tabs.ask(tab, `location.assign('/dots/?room=brief')`)
  await tabs.sees(tab, door)
  await tabs.press(tab, 'Join')
  await tabs.until(tab, { status: 'live', me: '1', role: 'alone' })
  await tabs.press(tab, 'Dots')
  await tabs.sees(tab, `location.pathname === '/' && ${sessions}.includes('Nobody plays just now')`)
  await tabs.ask(tab, `location.assign('/dots/?room=brief')`)
  await tabs.sees(tab, door)
  await tabs.until(tab, { status: 'door' })
})

test('T30: server and backup are killed at once: the others keep ids and scores, and are told', async () => {
  const room = 'both'
  const script = fileURLToPath(new URL('../../build/games/bots.js', import.meta.url))
  for (const index of ['1', '2']) {
    const args = [script, 'teapots', '--index', index, '--room', room, '--server', hub.url]
    const bot = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] })
    bots.push(bot)
    await said(bot, `plays as player ${index}`)
  }
  const all = [await enter(room, 'Linus'), await enter(room, 'Edsger')]
  const [linus, edsger] = all
  await seen(all, [1, 2, 3, 4])
  for (const tab of all) await tabs.until(tab, { primary: '1', backup: '2', hits: /[1-9]/ })
  const hits = async (): Promise<number[]> => {
    return (await Promise.all(all.map((tab) => tabs.data(tab)))).map((said) => Number(said['hits']))
  }
  const before = await hits()
  await Promise.all(bots.map(killed))
  await tabs.until(linus!, { banner: /The server and its backup do not answer/ })
  for (const tab of all) {
    await tabs.until(tab, {
      banner: /Bot Earl Grey and Bot Lady Assam went at once.*(Linus|Edsger)’s copy/,
    })
  }
  await seen(all, [3, 4])
  expect([(await tabs.data(linus!))['me'], (await tabs.data(edsger!))['me']]).toEqual(['3', '4'])
  // What either had seen is with both; the bots may have hit once more.
  await expect.poll(async () => new Set(await hits()).size).toBe(1)
  expect((await hits())[0]).toBeGreaterThanOrEqual(Math.max(...before))
  await score(all, [3])
})
