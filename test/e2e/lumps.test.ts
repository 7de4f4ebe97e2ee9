// Goal: a lump of sugar changes hands for ever, whoever dies, and all agree whose it is and where.
// Method: three windows, each a browser process; their pots are put where they bump the lump, one
// after the other, so each pass is the game's own. Killed means SIGKILL, in the middle of a pass;
// somebody new comes for whoever died.
// Slow: a hundred passes, each played as the game plays them, between five browsers.
import { expect, test } from 'vitest'
import { Cluster } from './cluster.ts'
import type { Window } from './harness.ts'

/** How often the lump is passed on. */
const PASSES = 100
/** During these passes the window of the server is killed. */
const KILLS = [30, 65]
/** Which lump: one with room all around. */
const HOME = 4

const cluster = Cluster.forEachTest()

/** What a page offers, as far as it is needed here. */
interface Page {
  teapots: {
    session: {
      me: { player: number }
      all(type: object): { subscribe(listener: () => void): void }
    }
    seat: { body: { pos: Place; vel: Place; aim: number; spin: number } }
    sugar: { sights: Sight[] }
  }
  /** How often the lump went back to a version that was over. */
  backwards: number
}

interface Sight {
  handle: {
    type: object
    state: { home: number }
    mine: boolean
    away: boolean
    version: Version
  }
  lump: { pos: Place }
}

type Place = [x: number, y: number]

interface Version {
  epoch: number
  count: number
}

function isNewer(than: Version, { epoch, count }: Version): boolean {
  return epoch > than.epoch || (epoch === than.epoch && count > than.count)
}

async function open(name: string): Promise<Window> {
  const window = await cluster.open(name, `/teapots/?room=e2e&frames=0&name=${name}`)
  await window.until({ status: 'live', tea: /[123]/, lumps: new RegExp(`\\b${HOME}:`) })
  await window.page.evaluate((home) => {
    const page = globalThis as unknown as Page
    page.backwards = 0
    let [epoch, count] = [-1, -1]
    page.teapots.session.all(page.teapots.sugar.sights[0]!.handle.type).subscribe(() => {
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

/** A pot runs into the lump until that is its own, then goes aside. @returns the version then */
function bump(window: Window): Promise<Version> {
  return window.page.evaluate(
    (home) =>
      new Promise<Version>((resolve) => {
        const { seat, session, sugar } = (globalThis as unknown as Page).teapots
        // Across the tray nobody is in anybody's way.
        const angle = Math.PI + 0.25 * (session.me.player - 3)
        const aside = { ...seat.body, pos: [13 * Math.cos(angle), 13 * Math.sin(angle)] as Place }
        // Of a pass that went by way of a server who died we may have yet to hear.
        let stale: number | null = null
        const beat = setInterval(() => {
          const sight = sugar.sights.find(({ handle }) => handle.state.home === home)
          if (!sight) return
          const { handle, lump } = sight
          const { epoch, count } = handle.version
          const now = epoch * 1e6 + count
          stale ??= handle.mine ? now : -1
          if (handle.mine && !handle.away && now > stale) {
            clearInterval(beat)
            seat.body = { ...aside, vel: [0, 0] }
            return resolve({ epoch, count })
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

/** The windows among which the lump goes round. */
class Round {
  windows: Window[] = []
  last: Window | null = null
  /** What each pass has made of it. */
  readonly versions: Version[] = []
  /** Somebody new is on the way. */
  coming: Promise<void> = Promise.resolve()
  readonly #names = ['Ada', 'Grace', 'Linus', 'Hedy', 'Radia']

  async invite(): Promise<void> {
    const window = await open(this.#names.shift()!)
    this.windows.push(window)
    this.last ??= window
  }

  /** The lump goes on to the next. @param dies  is killed in the middle of that */
  async pass(dies: Window | null): Promise<void> {
    const from = this.windows.indexOf(this.last!)
    const order = [...this.windows.slice(from + 1), ...this.windows.slice(0, Math.max(0, from))]
    const next = order.find((window) => window !== dies)!
    const passing = bump(next)
    if (dies) {
      await dies.kill()
      this.windows = this.windows.filter((window) => window !== dies)
      this.coming = this.invite()
    }
    this.versions.push(await passing)
    this.last = next
  }
}

/** Waits until all say the same of all lumps. */
async function agreed(windows: readonly Window[]): Promise<void> {
  const differing = async (): Promise<number> => {
    return new Set(await Promise.all(windows.map((window) => said(window, 'lumps')))).size
  }
  await expect.poll(differing).toBe(1)
}

test('B23, B25, B26, B51: a lump passed round 100 times, its server killed twice: all agree', async () => {
  const round = new Round()
  await round.invite()
  await Promise.all([round.invite(), round.invite()])
  const kills = [...KILLS]
  for (let pass = 0; pass < PASSES; pass++) {
    const server = pass >= kills[0]! ? await serving(round.windows) : null
    // What a server has just taken for itself nobody else may know of.
    const dies = server === round.last ? null : server
    if (dies) kills.shift()
    await round.pass(dies)
    // One dies when the others have made up for the one before, and all of them end the round.
    if (pass + 1 === kills[0] || pass + 10 === PASSES) await round.coming
  }
  const { windows, last, versions } = round
  expect(windows).toHaveLength(3)

  const { epoch, count } = versions.at(-1)!
  const owned = `\\b${HOME}:${await said(last!, 'me')}:${epoch}\\.${count}:`
  for (const window of windows) await window.until({ lumps: new RegExp(owned) })
  await agreed(windows)
  expect((await said(last!, 'lumps')).split(' ')).toHaveLength(6)
  // Also after a server whose grants nobody else had heard of.
  expect(versions.filter((version, i) => i > 0 && !isNewer(versions[i - 1]!, version))).toEqual([])
  expect(epoch).toBeGreaterThan(KILLS.length)
  for (const { page } of windows) {
    expect(await page.evaluate(() => (globalThis as unknown as Page).backwards)).toBe(0)
  }
  expect(cluster.complaints).toEqual([])
})
