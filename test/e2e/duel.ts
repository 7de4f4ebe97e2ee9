/** Windows that play Teapots: opened, set going, and asked for their hits. */

import { expect } from 'vitest'
import type { Cluster } from './cluster.ts'
import type { Window } from './harness.ts'

export const PAGE = '/teapots/?room=e2e'

/** A window that plays, and draws nothing unless `more` says so. */
export async function open(cluster: Cluster, name: string, more = '&frames=0'): Promise<Window> {
  const window = await cluster.open(name, `${PAGE}&name=${name}${more}`)
  await window.until({ status: 'live' })
  return window
}

/** Ada, who serves, Grace, who is her backup, and Linus; all with their pots on the tray. */
export async function three(
  cluster: Cluster,
): Promise<[ada: Window, grace: Window, linus: Window]> {
  const ada = await open(cluster, 'Ada')
  const others = await Promise.all([open(cluster, 'Grace'), open(cluster, 'Linus')])
  for (const window of [ada, ...others]) {
    const whole = { members: '1,2,3', pots: '1,2,3', safety: 'backed-up', primary: '1' }
    await window.until({ ...whole, backup: /[23]/ })
  }
  const { backup } = await ada.data()
  const first = (await others[0].data())['me'] === backup
  return first ? [ada, others[0], others[1]] : [ada, others[1], others[0]]
}

/** Lets these pots play by themselves, or not any more. */
export async function play(players: readonly Window[], on: boolean): Promise<void> {
  for (const { page } of players) {
    await page.evaluate((wanted) => {
      const { teapots } = globalThis as unknown as { teapots: { autopilot: boolean } }
      teapots.autopilot = wanted
    }, on)
  }
}

/** A number that the page says of itself. */
export async function figure(window: Window, name: string): Promise<number> {
  return Number((await window.data())[name])
}

/** Waits until so many more hits count and nothing is in the air; all windows say the same. */
export async function hits(players: readonly Window[], more: number): Promise<number> {
  const wanted = (await figure(players[0]!, 'hits')) + more
  await play(players, true)
  await expect.poll(() => figure(players[0]!, 'hits')).toBeGreaterThan(wanted)
  await play(players, false)
  // What a page said of its cubes before it stopped is not what counts.
  const forget = 'delete document.body.dataset.flying; delete document.body.dataset.claims'
  await Promise.all(players.map(({ page }) => page.evaluate(forget)))
  const differences = async (): Promise<number> => {
    const said = await Promise.all(players.map((window) => window.data()))
    const busy = said.filter(({ flying, claims }) => flying !== '0' || claims !== '0').length
    return busy + new Set(said.map((data) => `${data['hits']} ${data['points']}`)).size - 1
  }
  await expect.poll(differences).toBe(0)
  return figure(players[0]!, 'hits')
}

/** How many hits these windows saw counted, all together. */
export async function counted(players: readonly Window[]): Promise<number> {
  const all = await Promise.all(players.map((window) => figure(window, 'counted')))
  return all.reduce((sum, one) => sum + one, 0)
}
