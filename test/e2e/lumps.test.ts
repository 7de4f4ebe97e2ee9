// Goal: a lump of sugar changes hands for ever, whoever dies, and all agree whose it is and where.
// Method: three windows, each a browser process; their pots are put where they bump the lump, one
// after the other, so each pass is the game's own. Killed means SIGKILL, in the middle of a pass;
// somebody new comes for whoever died.
import { expect, test } from 'vitest'
import { Crew } from './crew.ts'
import type { Window } from './harness.ts'

/** How often the lump is passed on. */
const PASSES = 100
/** During these passes the window of the server is killed. */
const KILLS = [30, 65]
/** Which lump: one with room all around. */
const HOME = 4

const crew = Crew.forEachTest()

/** What a page offers, as far as it is needed here. */
interface Page {
  teapots: {
    session: { me: { player: number }; on(name: 'objects', listener: () => void): void }
    seat: { body: { pos: Place; vel: Place; aim: number; spin: number } }
    sugar: { sights: Sight[] }
  }
  /** How often the lump went back to a version that was over. */
  backwards: number
}

interface Sight {
  handle: {
    state: { home: number }
    mine: boolean
    away: boolean
    version: { epoch: number; count: number }
  }
  lump: { pos: Place }
}

type Place = [x: number, y: number]

async function open(name: string): Promise<Window> {
  const window = await crew.open(name, `/teapots/?room=e2e&frames=0&name=${name}`)
  await window.until({ status: 'live', tea: /[123]/, lumps: new RegExp(`\\b${HOME}:`) })
  await window.page.evaluate((home) => {
    const page = globalThis as unknown as Page
    page.backwards = 0
    let [epoch, count] = [-1, -1]
    page.teapots.session.on('objects', () => {
      const found = page.teapots.sugar.sights.find(({ handle }) => handle.state.home === home)
      if (!found) return
      const { version } = found.handle
      const isOld = version.epoch < epoch || (version.epoch === epoch && version.count < count)
      if (isOld) page.backwards++
      ;({ epoch, count } = version)
    })
  }, HOME)
  return window
}

/** A pot runs into the lump, as often as it takes until that is its own; then it goes aside. */
function bump(window: Window): Promise<void> {
  return window.page.evaluate(
    (home) =>
      new Promise<void>((resolve) => {
        const { seat, session, sugar } = (globalThis as unknown as Page).teapots
        // Across the tray nobody is in anybody's way.
        const angle = Math.PI + 0.25 * (session.me.player - 3)
        const aside = { ...seat.body, pos: [13 * Math.cos(angle), 13 * Math.sin(angle)] as Place }
        const beat = setInterval(() => {
          const sight = sugar.sights.find(({ handle }) => handle.state.home === home)
          if (!sight) return
          const { handle, lump } = sight
          if (handle.mine && !handle.away) {
            clearInterval(beat)
            seat.body = { ...aside, vel: [0, 0] }
            return resolve()
          }
          // From the rim it is pushed to the middle, and the other way round.
          const far = Math.hypot(...lump.pos)
          const side = far > 9.8 ? 1 : -1
          const [x, y] = [(lump.pos[0] / far) * side, (lump.pos[1] / far) * side]
          const pos: Place = [lump.pos[0] + 1.95 * x, lump.pos[1] + 1.95 * y]
          seat.body = { ...aside, pos, vel: [-3 * x, -3 * y] }
        }, 25)
      }),
    HOME,
  )
}

async function said(window: Window, name: string): Promise<string> {
  return (await window.data())[name] ?? ''
}

async function serving(windows: readonly Window[]): Promise<Window> {
  for (const window of windows) {
    const data = await window.data()
    if (data['primary'] === data['me']) return window
  }
  throw new Error('nobody serves')
}

/** Whose turn it is: the next in the round, but for one. */
function after(windows: readonly Window[], last: Window, but: Window | null): Window {
  const from = windows.indexOf(last)
  const round = [...windows.slice(from + 1), ...windows.slice(0, Math.max(0, from))]
  return round.find((window) => window !== but)!
}

/** Waits until all say the same of all lumps. */
async function agreed(windows: readonly Window[]): Promise<void> {
  const differing = async (): Promise<number> => {
    return new Set(await Promise.all(windows.map((window) => said(window, 'lumps')))).size
  }
  await expect.poll(differing, { timeout: 20_000 }).toBe(1)
}

test('B23, B25, B26, B51: a lump passed round 100 times, its server killed twice: all agree', async () => {
  let windows = [await open('Ada')]
  windows.push(...(await Promise.all([open('Grace'), open('Linus')])))
  const names = ['Hedy', 'Radia']
  let coming: Promise<void> | null = null
  let last = windows[0]!
  for (let pass = 0; pass < PASSES; pass++) {
    const server = KILLS.includes(pass) ? await serving(windows) : null
    const next = after(windows, last, server)
    const passing = bump(next)
    if (server) {
      await server.kill()
      windows = windows.filter((window) => window !== server)
      coming = open(names.shift()!).then((window) => void windows.push(window))
    }
    await passing
    last = next
    // One dies when the others have made up for the one before.
    if (KILLS.includes(pass + 1)) await coming
  }
  await coming
  expect(windows).toHaveLength(3)

  await agreed(windows)
  const lumps = (await said(last, 'lumps')).split(' ')
  expect(lumps).toHaveLength(6)
  const [, owner, version] = lumps.find((lump) => lump.startsWith(`${HOME}:`))!.split(':')
  expect(owner).toBe(await said(last, 'me'))
  const [epoch, count] = version!.split('.').map(Number)
  expect(epoch).toBeGreaterThan(KILLS.length)
  // Of a pass to the server's own window, at the end of it, nobody else may have heard.
  expect(count).toBeGreaterThanOrEqual(PASSES - KILLS.length)
  for (const { page } of windows) {
    expect(await page.evaluate(() => (globalThis as unknown as Page).backwards)).toBe(0)
  }
  expect(crew.complaints).toEqual([])
})
