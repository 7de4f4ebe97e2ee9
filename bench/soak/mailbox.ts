/**
 * Ten thousand kills: the processes of two mailboxes are killed at random moments of a stream of
 * letters and answers; after each round their books are compared.
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { killMailboxes, type Killed } from '../../test/conformance/mail-kill.ts'
import { atLeast, atMost } from '../report.ts'
import type { BenchReport } from '../report.ts'

/** For the list of soaks. */
export const about = '10,000 kills of two mailboxes in a stream of letters and answers'

const KILLS = 10_000
const ROUND = 500
const ROOT = new URL('../../../', import.meta.url)

/** Kills. @param seed the first of the rounds' seeds */
export async function run({ seed }: { seed: number }): Promise<BenchReport> {
  const all: Killed = { wrong: [], letters: 0, answers: 0, torn: 0 }
  const rounds: number[][] = []
  for (let round = 0; round < KILLS / ROUND; round++) {
    const found = await one(seed + round)
    all.wrong.push(...found.wrong.map((why) => `seed ${seed + round}: ${why}`))
    all.letters += found.letters
    all.answers += found.answers
    all.torn += found.torn
    rounds.push([seed + round, ROUND, found.letters, found.torn, found.wrong.length])
    console.error(`${(round + 1) * ROUND} kills, ${all.letters} letters, ${all.wrong.length} wrong`)
  }
  return {
    tables: [
      {
        title: 'rounds',
        columns: ['seed', 'kills', 'letters', 'died while writing', 'wrong'],
        rows: rounds,
      },
    ],
    goals: [
      atLeast('processes killed', KILLS, KILLS, 'kills'),
      atLeast('letters that took effect once and in order', all.letters, KILLS, 'letters'),
      atMost('letters lost, doubled or out of order', all.wrong.length, 0, 'claims'),
    ],
    notes: all.wrong.slice(0, 20),
  }
}

async function one(seed: number): Promise<Killed> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-soak-'))
  const script = fileURLToPath(new URL('test/conformance/mail-life.js', ROOT))
  const door = new URL('dist/mailbox.js', ROOT).href
  try {
    return await killMailboxes({ script, door, folder, kills: ROUND, seed })
  } finally {
    rmSync(folder, { recursive: true })
  }
}
