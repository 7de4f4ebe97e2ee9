// Goal: of the moves of a window that was offline nothing is lost in silence: each is recorded, or
// refused and its player told, whether the window was away for a moment or for too long.
// Method: three windows at one table whose lines are cut at once. Each moves a card that nobody
// else touches, and one that who stayed moves too; lines are mended 5, 15 and 90 s after that.
import { expect, onTestFinished, test } from 'vitest'
import { Crew } from './crew.ts'
import { agreed, dragTo, lay, type Place, state } from './hands.ts'
import { Window } from './harness.ts'
import { Line } from './line.ts'

const MINUTE = 60_000
const OFFLINE_MS = [5_000, 15_000, 90_000]
const NAMES = ['Brief', 'Longer', 'Lasting']

/** A window whose line is cut, and what it does. */
interface Away {
  window: Window
  /** The card that nobody else touches. */
  own: number
  /** The one that is moved by another, too. */
  both: number
  /** Where it laid its own. */
  laid: Place
}

let crew: Crew

async function open(name: string, url: string): Promise<Window> {
  const window = await Window.open(name, `${url}/tabletop/?room=offline&name=${name}`)
  crew.windows.push(window)
  await window.until({ status: 'live' })
  return window
}

/** A table with Ada, who serves, Grace, who stands by, and windows behind lines of their own. */
async function table(lines: readonly Line[]): Promise<Window[]> {
  const all = [await open('Ada', crew.hub.url), await open('Grace', crew.hub.url)]
  for (const [at, name] of NAMES.entries()) all.push(await open(name, lines[at]!.url))
  for (const window of all) await window.until({ members: '1,2,3,4,5', safety: 'backed-up' })
  await all[0]!.page.getByRole('button', { name: /Free table/ }).click()
  for (const window of all) await window.until({ pieces: '78', primary: '1', backup: '2' })
  return all
}

async function deal(all: readonly Window[]): Promise<Away[]> {
  const away: Away[] = []
  for (const [at, window] of all.slice(2).entries()) {
    const own = await lay(all, [760 + 120 * at, 660])
    away.push({ window, own, both: await lay(all, [1320, 200 + 200 * at]), laid: [0, 0] })
  }
  return away
}

/** What they do while they are offline. */
async function move(ada: Window, away: readonly Away[]): Promise<void> {
  for (const [at, one] of away.entries()) {
    await dragTo(one.window, one.own, [760 + 120 * at, 500])
    await dragTo(one.window, one.both, [1200, 200 + 200 * at])
    one.laid = (await state(one.window, one.own)).at
    await dragTo(ada, one.both, [1260, 200 + 200 * at])
  }
}

test(
  'O24, O57: offline for 5, 15 and 90 s: each move is recorded, or refused and said',
  async () => {
    crew = await Crew.begin()
    const lines = await Promise.all(NAMES.map(() => Line.to(crew.hub.port)))
    onTestFinished(async () => {
      for (const line of lines) line.end()
      await crew.end()
    })
    const all = await table(lines)
    const [ada] = all as [Window]
    const away = await deal(all)
    for (const line of lines) line.hold()
    await move(ada, away)
    const over = lines.map((line, at) => line.mend(OFFLINE_MS[at]!))
    for (const at of [0, 1]) {
      const { window, own, both, laid } = away[at]!
      await over[at]
      await window.until({ status: 'live', me: String(at + 3), toast: /^Ada has the / })
      const there = await agreed([ada, window], both)
      expect(Math.abs(there.at[0] - 1260)).toBeLessThan(12)
      expect((await agreed([ada, window], own)).at).toEqual(laid)
    }
    const { window, own, both } = away[2]!
    await over[2]
    await window.until({ status: 'live', banner: /you are a new player now/ }, MINUTE)
    await window.until({ toast: /^not known whether it was done: the session forgot us/ })
    for (const id of [own, both]) await agreed([ada, window], id)
    expect(Number((await window.data())['me'])).toBeGreaterThan(5)
    expect(crew.complaints).toEqual([])
  },
  4 * MINUTE,
)
