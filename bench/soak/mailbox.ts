/**
 * Ten thousand kills: the processes of three mailboxes among whom money moves, and of the session
 * over which two of them write, are killed and stopped at random moments; after each round their
 * books are compared.
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundle } from '../../test/conformance/bundle.ts'
import { startHubIn } from '../../test/conformance/hub-process.ts'
import { killMailboxes, type Killed } from '../../test/conformance/mail-kill.ts'
import { atLeast, atMost } from '../report.ts'
import type { BenchReport } from '../report.ts'

/** For the list of soaks. */
export const about = '10,000 kills of three mailboxes among whom money moves'

const KILLS = 10_000
const ROUND = 250
/** Rounds at a time: one waits most of its time for processes to find each other. */
const LANES = 2

type Round = Killed & { seed: number }

/** Kills. @param seed the first of the rounds' seeds */
export async function run({ seed }: { seed: number }): Promise<BenchReport> {
  const all: Round[] = []
  const sum = (of: Exclude<keyof Round, 'wrong'>): number =>
    all.reduce((total, found) => total + found[of], 0)
  const wrong: string[] = []
  let next = seed
  const lane = async (): Promise<void> => {
    while (next < seed + KILLS / ROUND) {
      const round = next++
      const found = await one(round)
      all.push({ seed: round, ...found })
      wrong.push(...found.wrong.map((why) => `seed ${round}: ${why}`))
      console.error(`${sum('kills')} kills, ${sum('letters')} letters, ${wrong.length} wrong`)
    }
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  const row = (found: Round): number[] => {
    const { kills, stops, letters, overSession, meanwhile, torn } = found
    return [found.seed, kills, stops, letters, overSession, meanwhile, torn, found.wrong.length]
  }
  return {
    tables: [
      {
        title: 'rounds',
        columns: [
          ...['seed', 'kills', 'stops', 'letters', 'over the session'],
          ...['while one stood still', 'died while writing', 'wrong'],
        ],
        rows: all.map(row),
      },
    ],
    goals: [
      atLeast('processes killed', sum('kills'), KILLS, 'kills'),
      atLeast('letters that took effect once and in order', sum('letters'), KILLS, 'letters'),
      atLeast('of these over the session', sum('overSession'), KILLS / 10, 'letters'),
      atMost('claims on money, order and rows that did not hold', wrong.length, 0, 'claims'),
    ],
    notes: wrong.slice(0, 20),
  }
}

async function one(seed: number): Promise<Killed> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-soak-'))
  const hub = await startHubIn(folder)
  try {
    const script = await bundle('test/conformance/mail-life.ts', join(folder, 'life'))
    return await killMailboxes({ script, hub: hub.url, folder, kills: ROUND, seed })
  } finally {
    await hub.kill('SIGKILL')
    rmSync(folder, { recursive: true })
  }
}
