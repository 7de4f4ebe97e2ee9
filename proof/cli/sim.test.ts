// Goal: many seeds say the same on one thread and on many; a mistake is one sentence.
// Method: the built command, beside the batch that runs them one after the other.
// Slow: the seeds run twice, on one thread and on two.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { runSeeds } from '../batch.ts'

const COMMAND = fileURLToPath(new URL('../../build/proof/cli/main.js', import.meta.url))

interface Said {
  code: number
  out: string
  error: string
}

/** Runs `npm run sim`, once it is built. */
function sim(...args: string[]): Promise<Said> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [COMMAND, 'sim', ...args], (_error, out, error) =>
      resolve({ code: child.exitCode ?? -1, out, error }),
    )
  })
}

test('seeds over two threads come to what they come to one after the other (PR-6)', async () => {
  const [said, batch] = await Promise.all([sim('--seeds', '4', '--threads', '2'), runSeeds(1, 4)])
  expect([said.code, said.error]).toEqual([0, ''])
  expect(said.out).toContain(`seeds 1 to 4: 0 failed; ${batch.events} events, `)
  for (const [fault, times] of Object.entries(batch.faults)) {
    expect(said.out).toContain(`${String(times).padStart(7)}  ${fault}\n`)
  }
})

test.each([
  [['--threads', '0'], '--threads is a whole number from 1 to 64: 0'],
  [['--threads', '65'], '--threads is a whole number from 1 to 64: 65'],
  [['--seeds', 'all'], '--seeds is a whole number from 1 to 10000000: all'],
  [['--seed=-3'], '--seed is a whole number from 0 to 9007199254740991: -3'],
])('%j', async (args, sentence) => {
  expect(await sim(...args)).toEqual({ code: 2, out: '', error: `holdfast: ${sentence}\n` })
})
