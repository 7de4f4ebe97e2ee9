/**
 * A thousand games of classic Mazewar from seeds: 2 to 8 rats, loss to 30 %, doubled and overtaken
 * packets, skewed slots, and one fault each. For how long pictures were wrong is a histogram.
 *
 * Every second game is on a quiet wire: there, with one pair cut, a picture may be wrong at those
 * two alone (M36, M38).
 */

import { FAULTS, type Fault, type Found, play } from '../../test/mazewar/scene.ts'
import type { BenchReport, Table } from '../report.ts'
import { atMost } from '../report.ts'

/** For the list of soaks. */
export const about = '1,000 games of classic Mazewar: for how long pictures are wrong'

const GAMES = 1_000
/** Bounds of the histogram, in milliseconds. */
const BOUNDS = [100, 200, 400, 800, 1_600, 3_200, 6_400, Infinity]

/** Plays. @param seed of the first game */
export async function run({ seed }: { seed: number }): Promise<BenchReport> {
  const games: (Found & { wild: boolean })[] = []
  for (let i = 0; i < GAMES; i++) {
    const wild = i % 2 === 1
    const fault = FAULTS[Math.floor(i / 2) % FAULTS.length]!
    games.push({ ...play(seed + i, fault, wild), wild })
  }
  const complaints = games.flatMap((game) =>
    game.complaints.map((what) => `seed ${game.seed}, ${game.fault}: ${what}`),
  )
  const settled = games.map(({ settledMs }) => settledMs ?? Infinity)
  const thirds = games.filter(({ fault, wild }) => !wild && fault.startsWith('pair'))
  const wrong = thirds.flatMap(({ wrongElsewhere }) => wrongElsewhere)
  return {
    tables: [histogram(games, false), histogram(games, true), totals(games)],
    goals: [
      atMost('claims that did not hold', complaints.length, 0, 'claims'),
      atMost('wrong at a third, a pair cut on a quiet wire', wrong.length, 0, 'pictures'),
      atMost('from the calm to equal pictures', Math.max(...settled), 6_000, 'ms'),
    ],
    notes: complaints.slice(0, 20),
  }
}

function histogram(games: (Found & { wild: boolean })[], wild: boolean): Table {
  const rows = FAULTS.flatMap((fault) => {
    const some = games.filter((game) => game.fault === fault && game.wild === wild)
    return [
      row(
        fault,
        'the two',
        some.flatMap(({ wrongAtTwo }) => wrongAtTwo),
      ),
      row(
        fault,
        'others',
        some.flatMap(({ wrongElsewhere }) => wrongElsewhere),
      ),
    ]
  })
  const weather = wild ? 'loss to 30 %' : 'a quiet wire'
  return {
    title: `wrong pictures of one rat at one player, on ${weather}, by how long (ms)`,
    columns: ['fault', 'at', ...BOUNDS.map((bound) => `< ${bound}`), 'longest'],
    rows,
  }
}

function row(fault: Fault, where: string, times: number[]): (string | number)[] {
  const counts = BOUNDS.map((bound, i) => {
    const from = BOUNDS[i - 1] ?? 0
    return times.filter((ms) => ms >= from && ms < bound).length
  })
  return [fault, where, ...counts, Math.max(0, ...times)]
}

function totals(games: readonly Found[]): Table {
  const sum = (of: (game: Found) => number): number =>
    games.reduce((total, game) => total + of(game), 0)
  const settled = games.map(({ settledMs }) => settledMs ?? Infinity).toSorted((a, b) => a - b)
  return {
    title: 'all games',
    columns: ['games', 'players', 'events', 'settled after ms, median', 'longest'],
    rows: [
      [
        games.length,
        sum(({ players }) => players),
        sum(({ events }) => events),
        settled[settled.length >> 1]!,
        settled.at(-1)!,
      ],
    ],
  }
}
