/** Kills a process that writes to a store on disk, and looks at what it left. */

import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Store } from '../../packages/holdfast/src/ports.ts'
import { blobsOf, recordOf } from './store.ts'
import { dice, type Dice } from './until.ts'

const KILLS = 50

const WRITER = fileURLToPath(new URL('store-writer.js', import.meta.url))

/** A store that a child process can open by itself. */
export interface WriterPlan {
  /** URL of the built module, since a child process does not run TypeScript on Node 20. */
  module: string
  /** The exported function that opens a file. */
  verb: string
  file: string
  habit?: 'early' | 'torn'
}

/**
 * Starts a writer, lets it write for a seeded while, kills it.
 *
 * @returns the number of the last change that was durable, as far as the writer could say it
 */
export function writeAndKill(plan: WriterPlan, random: Dice): Promise<number> {
  const { module, verb, file, habit } = plan
  const child = spawn(process.execPath, [WRITER, module, verb, file, habit ?? 'honest'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let errors = ''
  let last = -1
  let rest = 1 + random.below(30)
  child.stderr.on('data', (bytes: Buffer) => (errors += bytes.toString()))
  createInterface({ input: child.stdout }).on('line', (line) => {
    last = Number(line.split(' ')[1])
    rest -= 1
    if (rest === 0) killAfter(random.next() * 2, () => child.kill('SIGKILL'))
  })
  return new Promise((resolve, reject) => {
    child.on('close', (_code, signal) => {
      if (signal === 'SIGKILL' && last >= 0) resolve(last)
      else reject(new Error(`the writer ended by itself: ${errors}`))
    })
  })
}

/** Spins, for no timer is exact below a millisecond, and a write takes less. */
function killAfter(ms: number, kill: () => void): void {
  const until = performance.now() + ms
  while (performance.now() < until);
  kill()
}

/** The number that the writer's record has; 0 for none. */
export function numberIn(store: Store): number {
  return numberOf(recordOf(store, 'number')?.value ?? new Uint8Array(4))
}

function numberOf({ buffer, byteOffset }: Uint8Array): number {
  return new DataView(buffer, byteOffset).getUint32(0)
}

/** What is wrong with a store after a kill, a sentence each. @param last acknowledged change */
export async function inspect(store: Store, last: number): Promise<string[]> {
  const wrong: string[] = []
  const found = numberIn(store)
  if (found < last) wrong.push(`change ${last} was acknowledged, the store has ${found}`)
  if (found > last + 1) wrong.push(`change ${found} was never begun, ${last} was the last`)
  const expected = new Map<string, number | null>()
  for (let part = 1; part < 8; part++) expected.set(`part/${part}`, found === 0 ? null : found)
  // The one before the oldest is gone, and none of the next change is there.
  for (let tail = Math.max(1, found - 10); tail <= found + 1; tail++)
    expected.set(`tail/${tail}`, null)
  for (let tail = Math.max(1, found - 9); tail <= found; tail++) expected.set(`tail/${tail}`, tail)
  const blobs = await blobsOf(store, 'number', ...expected.keys())
  for (const [name, number] of expected) {
    const blob = blobs.shift() ?? null
    const has = blob && numberOf(blob)
    if (has !== number) wrong.push(`${name} of change ${found} holds ${has}`)
  }
  for (const [key] of store.entries()) {
    if (key !== 'number') wrong.push(`${key} does not belong there`)
  }
  return wrong
}

/**
 * Runs the kills that every store on disk survives.
 *
 * @param module  the built file that exports `verb`, which opens a file
 * @param file  names a fresh file for each call
 */
export function storeKills(
  name: string,
  module: URL,
  verb: string,
  open: (file: string) => Store,
  file: () => string,
): void {
  describe(`a store in ${name} that is killed`, () => {
    beforeAll(() => {
      if (!existsSync(module)) throw new Error('run `npx tsc -b` first: child processes need dist/')
    })
    const planOf = (habit?: WriterPlan['habit']): WriterPlan => {
      return { module: module.href, verb, file: file(), habit }
    }
    const killOnce = async (plan: WriterPlan, seed: number): Promise<string[]> => {
      const last = await writeAndKill(plan, dice(seed))
      const store = open(plan.file)
      const wrong = await inspect(store, last)
      store.close()
      return wrong
    }

    test(`has every acknowledged change, and none by half, after ${KILLS} kills`, async () => {
      const plan = planOf()
      for (let seed = 1; seed <= KILLS; seed++) expect(await killOnce(plan, seed)).toEqual([])
    })

    test.each(['early', 'torn'] as const)('a planted fault is caught: %s', async (habit) => {
      const plan = planOf(habit)
      let wrong: string[] = []
      for (let seed = 1; seed <= KILLS && wrong.length === 0; seed++) {
        wrong = await killOnce(plan, seed)
      }
      expect(wrong).not.toEqual([])
    })
  })
}
