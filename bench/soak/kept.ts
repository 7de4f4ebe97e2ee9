/**
 * Ten thousand kills of players who are alone in kept rooms, and of the hubs that keep them: what
 * was acknowledged is there for whoever opens the room next.
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundle } from '../../test/conformance/bundle.ts'
import { type Killed, killKept, KeptLife } from '../../test/conformance/kept-kill.ts'
import { Spares } from '../../test/conformance/lives.ts'
import { atLeast, atMost } from '../report.ts'
import type { BenchReport } from '../report.ts'

/** For the list of soaks. */
export const about = 'kills of lone players and of the hubs that keep their rooms; --kills 10000'

/** Kills of one room and its hub. */
const ROUND = 100
/** Rooms at a time, each with a hub: most of them wait until a hub lets a room be opened. */
const LANES = 32
const SPARES = 4

type Round = Killed & { seed: number }
type Count = Exclude<keyof Killed, 'wrong'>

/** Kills. @param seed the first of the rounds' seeds */
export async function run({ seed, kills }: { seed: number; kills: number }): Promise<BenchReport> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-kept-'))
  const script = await bundle('test/conformance/kept-life.ts', join(folder, 'life'))
  const spares = new Spares(script, SPARES, (child) => new KeptLife(child))
  const all: Round[] = []
  const sum = (of: Count): number => all.reduce((total, found) => total + found[of], 0)
  const last = seed + Math.ceil(kills / ROUND)
  let next = seed
  const lane = async (): Promise<void> => {
    while (next < last) {
      const round = next++
      const own = mkdtempSync(join(folder, 'hub-'))
      const count = Math.min(ROUND, kills - (round - seed) * ROUND)
      const plan = { spares, folder: own, kills: count, seed: round }
      all.push({ seed: round, ...(await killKept(plan)) })
      console.error(
        `${sum('kills')} kills, ${sum('acks')} operations: ${wrongOf(all).length} wrong`,
      )
    }
  }
  try {
    await Promise.all(Array.from({ length: LANES }, lane))
  } finally {
    await spares.end()
    rmSync(folder, { recursive: true })
  }
  return report(all, sum, kills)
}

function wrongOf(all: readonly Round[]): string[] {
  return all.flatMap(({ seed, wrong }) => wrong.map((why) => `seed ${seed}: ${why}`))
}

function report(all: readonly Round[], sum: (of: Count) => number, kills: number): BenchReport {
  const wrong = wrongOf(all)
  const kinds: [what: string, of: Count][] = [
    ['processes killed', 'kills'],
    ['of them hubs', 'hubs'],
    ['of them while a room was opened', 'opening'],
    ['rooms opened again', 'opened'],
    ['of them by a new player', 'strangers'],
    ['operations acknowledged', 'acks'],
  ]
  return {
    tables: [
      {
        title: 'in all',
        columns: ['what', 'times'],
        rows: kinds.map(([what, of]) => [what, sum(of)]),
      },
    ],
    goals: [
      atLeast('processes killed', sum('kills'), kills, 'kills'),
      atMost('claims that did not hold', wrong.length, 0, 'claims'),
    ],
    notes: wrong.slice(0, 20),
  }
}
