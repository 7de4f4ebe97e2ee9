// Goal: each bench starts, measures and prints its report, so that none rots.
// Method: `--quick` in a process of its own, one after the other; figures are not judged here.
// Slow: each bench is a process that measures for some seconds.
import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { names } from './dispatch.ts'

const MINUTE = 60_000
const BUILT = new URL('../build/bench/', import.meta.url)
const BENCHES = names(BUILT)

interface Last {
  bench: string
  goals: { value: number | null }[]
}

test('all benches are built', () => {
  const sources = readdirSync(new URL('.', import.meta.url)).filter((name) => name.endsWith('.ts'))
  for (const name of BENCHES) expect(sources).toContain(`${name}.ts`)
  expect(BENCHES.length).toBeGreaterThan(10)
})

test.each(BENCHES)(
  'bench %s measures and prints its report (N-30)',
  { timeout: 5 * MINUTE },
  async (name) => {
    const main = fileURLToPath(new URL('main.js', BUILT))
    const run = promisify(execFile)(process.execPath, [main, name, '--quick'], {
      timeout: 4 * MINUTE,
      maxBuffer: 2 ** 24,
    })
    const { stdout } = await run
    const last = JSON.parse(stdout.trim().split('\n').at(-1)!) as Last
    expect(last.bench).toBe(name)
    for (const { value } of last.goals) expect(value === null || Number.isFinite(value)).toBe(true)
  },
)
