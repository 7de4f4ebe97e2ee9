// Goal: who was away for a while, frozen or with a cut line, is who they were; who was away
// for too long is told that they are somebody else now.
// Method: hidden tabs of one browser; the freezes and the cuts last side by side. What a page shows
// is waited for; only a fault has a length of its own.
// Slow: tabs are frozen for up to 90 seconds, while lines are cut for 30.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Line } from './line.ts'
import * as pots from './pots.ts'
import { cluster, enter, hub, nameIn, score, scoreOf, seen, tabs, together } from './pots.ts'

const MINUTE = 60_000

const lines: Line[] = []
let frozen: Promise<void>
let cut: Promise<void>

// One after the other, for a machine that opens all tabs at once stands still for as long as some
// faults last. Each is judged by the test that bears its title.
beforeAll(async () => {
  await pots.begin()
  const ice = await cluster('ice', ['Ada', 'Grace', 'Linus', 'Edsger', 'Barbara'])
  frozen = freezes(ice)
  frozen.catch(() => {})
  cut = cuts(await clusterOfLines())
  cut.catch(() => {})
}, 4 * MINUTE)

afterAll(async () => {
  for (const line of lines) line.end()
  await pots.finish()
})

// Whoever serves is frozen for 5 seconds, two others for 15 and 90.
async function freezes(all: readonly string[]): Promise<void> {
  const players = await together(all)
  const before = await score(all, players)
  const froze = `document.addEventListener('freeze', () => (document.body.dataset.froze = 'yes'))`
  for (const tab of all) await tabs.ask(tab, froze)
  const said = await tabs.data(all[0]!)
  const [server, backup] = [Number(said['primary']), Number(said['backup'])]
  const others = players.filter((player) => player !== server && player !== backup)
  const [long, deep, last] = others
  const steady = [backup, last!]
  const of = (player: number | undefined): string => all[players.indexOf(player!)]!
  // A banner stands for some seconds only: each is waited for at once, whatever else takes long.
  const over = [
    tabs.freeze(of(server), 5_000),
    tabs.freeze(of(long), 15_000).then(() => isBack(of(long))),
    tabs.freeze(of(deep), 90_000).then(() => isBack(of(deep))),
  ]
  for (const one of over) one.catch(() => {})
  for (const player of steady) {
    await tabs.until(of(player), { primary: new RegExp(`^(?!${server}$)`) })
  }
  await over[0]
  await tabs.until(of(server), { status: 'live', froze: 'yes', me: String(server) })
  await over[1]
  await tabs.until(of(long), { status: 'live', froze: 'yes', me: String(long) })
  const here = [...steady, server, long!]
  await seen(here.map(of), here)
  const rows = here.map((player) => `(?=.*\\b${player}:${scoreOf(before, player)}\\b)`).join('')
  for (const player of here) await tabs.until(of(player), { points: new RegExp(rows) })
  await over[2]
  // The room is kept, and so are its players.
  await tabs.until(of(deep), { status: 'live', froze: 'yes', me: String(deep) })
  await seen(all, players)
}

function isBack(tab: string): Promise<void> {
  return tabs.until(tab, { banner: /Back again.* You are the same player/ })
}

/** Two tabs, and two whose lines can be cut. */
async function clusterOfLines(): Promise<string[]> {
  const all: string[] = []
  for (const name of ['Ada', 'Grace']) all.push(await enter('line', name))
  for (const name of ['Brief', 'Lasting']) {
    const line = await Line.to(hub.port)
    lines.push(line)
    all.push(await enter('line', name, '', line.url))
  }
  return all
}

async function cuts(all: readonly string[]): Promise<void> {
  const players = await together(all)
  const [ada, , brief, lasting] = all
  const before = await score(all, players.slice(2))
  const over = lines.map((line, i) => line.cut([3_000, 30_000][i]!))
  await tabs.until(lasting!, { status: 'reconnecting', banner: /Connection lost/ })
  await over[0]
  await seen([ada!, brief!], players.slice(0, 3))
  await over[1]
  await tabs.until(lasting!, { banner: /Back again after \d+ seconds. You are the same player/ })
  await seen(all, players)
  for (const tab of all) await tabs.until(tab, { points: before })
  const names = await Promise.all([brief!, lasting!].map(nameIn))
  expect(names).toEqual(['Brief', 'Lasting'])
  await tabs.until(brief!, { me: String(players[2]) })
  await tabs.until(lasting!, { me: String(players[3]) })
  expect(lines.every(({ held }) => held > 0)).toBe(true)
}

test('T33: a line that is cut for 3 and for 30 seconds: the same players', async () => {
  await cut
})

test('T33, T34, T43, T81: tabs frozen for 5, 15 and 90 seconds are the same players', async () => {
  await frozen
})
