/**
 * Hidden tabs that play Teapots, in one browser at one hub. Such a tab draws nothing, as one of
 * somebody who looks at something else.
 */

import { Hub } from './harness.ts'
import { comesTrue, Tabs } from './tabs.ts'

/** Of this test file. */
export let hub: Hub
/** Of this test file. */
export let tabs: Tabs
let blank: string
let opened: string[] = []

/** Before all tests of a file. */
export async function begin(): Promise<void> {
  hub = await Hub.start()
  tabs = await Tabs.start()
  blank = await tabs.open('about:blank')
}

/** Closes all tabs. */
export async function closeAll(): Promise<void> {
  await Promise.all(opened.map((tab) => tabs.close(tab)))
  opened = []
}

/** After all tests of a file. */
export async function finish(): Promise<void> {
  await tabs.end()
  await hub.end()
}

/** A tab, hidden behind an empty one. */
export async function open(url: string): Promise<string> {
  const tab = await tabs.open(url)
  await tabs.show(blank)
  opened.push(tab)
  return tab
}

/** A tab that may stand at the door of a room. */
export function visit(room: string, more: string, server: string = hub.url): Promise<string> {
  return open(`${server}/teapots/?frames=0&room=${room}${more}`)
}

/** A tab that plays. */
export async function enter(
  room: string,
  name: string,
  more = '',
  server: string = hub.url,
): Promise<string> {
  const tab = await visit(room, `&name=${name}${more}`, server)
  await tabs.until(tab, { status: 'live', tea: /./ })
  return tab
}

/** So many tabs that see one another, in the order of these names. */
export async function cluster(room: string, names: string[], more = ''): Promise<string[]> {
  const all: string[] = []
  for (const name of names) all.push(await enter(room, name, more))
  await together(all)
  return all
}

/**
 * Waits until these tabs see one another and nobody else. @returns their players: who is cut off
 * while all still come in, on a busy machine, comes in as another
 */
export async function together(all: readonly string[]): Promise<number[]> {
  const safe = all.length > 1 ? 'backed-up' : 'kept'
  let players: number[] = []
  let seen: string[] = []
  const isWhole = async (): Promise<boolean> => {
    const said = await Promise.all(all.map((tab) => tabs.data(tab)))
    players = said.map(({ me }) => Number(me))
    seen = said.map(({ status, safety, members }) => `${status} ${safety} ${members}`)
    const whole = players.toSorted((a, b) => a - b).join()
    return said.every(({ status, safety, members = '' }) => {
      const sorted = members.split(',').toSorted((a, b) => Number(a) - Number(b))
      return status === 'live' && safety === safe && sorted.join() === whole
    })
  }
  await comesTrue(isWhole, () => `they do not see one another: ${seen.join('; ')}`)
  return players
}

/** Waits until all of them see these players, in whatever order they came. */
export async function seen(all: readonly string[], players: readonly number[]): Promise<void> {
  const safety = players.length > 1 ? 'backed-up' : 'kept'
  const each = players.map((player) => `(?=.*\\b${player}\\b)`).join('')
  const members = new RegExp(`^${each}\\d+(,\\d+){${players.length - 1}}$`)
  for (const tab of all) await tabs.until(tab, { status: 'live', safety, members })
}

/** Lets all of them play until these have points. @returns the points of everybody */
export async function score(all: readonly string[], players: readonly number[]): Promise<string> {
  const play = (on: boolean) => all.map((tab) => tabs.ask(tab, `teapots.autopilot = ${on}`))
  await Promise.all(play(true))
  const have = new RegExp(players.map((player) => `(?=.*\\b${player}:[1-9])`).join(''))
  await tabs.until(all[0]!, { points: have })
  await Promise.all(play(false))
  // What a page said of its cubes before it stopped is not what counts.
  const marks = 'delete document.body.dataset.flying; delete document.body.dataset.claims'
  await Promise.all(all.map((tab) => tabs.ask(tab, marks)))
  for (const tab of all) await tabs.until(tab, { flying: '0', claims: '0' })
  const agree = async (): Promise<boolean> => new Set(await Promise.all(all.map(points))).size === 1
  await comesTrue(agree, () => 'they do not agree on the points')
  return points(all[0]!)
}

async function points(tab: string): Promise<string> {
  return (await tabs.data(tab))['points'] ?? ''
}

/** The points of one, in words that `score` returned. */
export function scoreOf(said: string, player: number): string {
  return new RegExp(`\\b${player}:(\\d+)`).exec(said)![1]!
}

/** The name of who plays in a tab. */
export function nameIn(tab: string): Promise<unknown> {
  return tabs.ask(tab, 'teapots.session.me.name')
}
