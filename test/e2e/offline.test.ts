// Goal: of the moves of a window that was offline nothing is lost in silence: each is recorded, or
// refused and its player told, whether the window was away for a moment or for too long.
// Method: of five windows at one table three that neither serve nor stand by have their lines cut
// at once. Each moves a card that nobody else touches, and one that who serves moves too; lines
// are mended 5, 15 and 90 s after that.
// Slow: lines are cut for up to 90 seconds.
import { expect, onTestFinished, test } from 'vitest'
import { Cluster } from './cluster.ts'
import { agreed, dragTo, lay, type Place, state } from './hands.ts'
import { Window } from './harness.ts'
import { Line } from './line.ts'

const OFFLINE_MS = [5_000, 15_000, 90_000]
const NAMES = ['Ada', 'Grace', 'Edith', 'Mary', 'Emmy']

/** A window and the line it has to the hub. */
interface Player {
  window: Window
  line: Line
  /** Its number in the session. */
  me: string
}

/** A player whose line is cut, and what it does. */
interface Away extends Player {
  /** The card that nobody else touches. */
  own: string
  /** The one that is moved by another, too. */
  both: string
  /** Where it laid its own. */
  laid: Place
}

let cluster: Cluster

async function open(name: string, line: Line): Promise<Player> {
  const window = await Window.open(name, `${line.url}/tabletop/?room=offline&name=${name}`)
  cluster.windows.push(window)
  await window.until({ status: 'live' })
  return { window, line, me: (await window.data())['me']! }
}

/** A table in use, as everybody sees it. */
async function table(lines: readonly Line[]): Promise<Player[]> {
  const all: Player[] = []
  for (const [at, name] of NAMES.entries()) all.push(await open(name, lines[at]!))
  for (const { window } of all) await window.until({ members: '1,2,3,4,5', safety: 'backed-up' })
  await all[0]!.window.page.getByRole('button', { name: /Free table/ }).click()
  for (const { window } of all) await window.until({ pieces: '54' })
  return all
}

/** Who serves, and the three that neither serve nor stand by, whoever that is by now. */
async function roles(all: readonly Player[]): Promise<{ server: Player; others: Player[] }> {
  const { primary, backup } = await all[0]!.window.data()
  for (const { window } of all) {
    await window.until({ primary: primary!, backup: backup!, safety: 'backed-up' })
  }
  const server = all.find(({ me }) => me === primary)!
  return { server, others: all.filter(({ me }) => me !== primary && me !== backup) }
}

async function deal(all: readonly Window[], others: readonly Player[]): Promise<Away[]> {
  const away: Away[] = []
  for (const [at, player] of others.entries()) {
    const own = await lay(all, [760 + 120 * at, 660])
    away.push({ ...player, own, both: await lay(all, [1320, 200 + 200 * at]), laid: [0, 0] })
  }
  return away
}

/** What they do while they are offline. */
async function move(server: Window, away: readonly Away[]): Promise<void> {
  for (const [at, one] of away.entries()) {
    await dragTo(one.window, one.own, [760 + 120 * at, 500])
    await dragTo(one.window, one.both, [1200, 200 + 200 * at])
    one.laid = (await state(one.window, one.own)).at
    await dragTo(server, one.both, [1260, 200 + 200 * at])
  }
}

test('O24, O57: offline for 5, 15 and 90 s: each move is recorded, or refused and said', async () => {
  cluster = await Cluster.begin()
  const lines = await Promise.all(NAMES.map(() => Line.to(cluster.hub.port)))
  onTestFinished(async () => {
    for (const line of lines) line.end()
    await cluster.end()
  })
  const all = await table(lines)
  const { server, others } = await roles(all)
  const windows = all.map(({ window }) => window)
  const away = await deal(windows, others)
  for (const { line } of away) line.hold()
  await move(server.window, away)
  const over = away.map(({ line }, at) => line.mend(OFFLINE_MS[at]!))
  // Also after 90 s: the room is kept, and so are its players.
  for (const at of [0, 1, 2]) {
    const { window, me, own, both, laid } = away[at]!
    await over[at]
    const toast = new RegExp(`^${server.window.name} has the `)
    await window.until({ status: 'live', me, toast })
    const there = await agreed([server.window, window], both)
    expect(Math.abs(there.at[0] - 1260)).toBeLessThan(12)
    expect((await agreed([server.window, window], own)).at).toEqual(laid)
  }
  expect(cluster.complaints).toEqual([])
})
