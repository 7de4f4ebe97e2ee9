// Goal: a soak finds the threads that it starts by the name of a file, and one of them that dies
// costs its task alone.
// Method: what bench/tsconfig.json compiles beside the benches, held against those names; threads
// that are written here, and have little memory.
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { shareOut } from '../proof/cli/pool.ts'
import { explore } from './soak/models.ts'

test('threads that are started by name are compiled with the benches', () => {
  const { include } = JSON.parse(readFileSync('bench/tsconfig.json', 'utf8')) as {
    include: string[]
  }
  const named = readdirSync('bench/soak').flatMap((file) => {
    const text = readFileSync(`bench/soak/${file}`, 'utf8')
    return [...text.matchAll(/new URL\('([^']+)-thread\.js'/g)].map(([, path]) => path!)
  })
  expect(named.length).toBeGreaterThan(0)
  expect(include).toContain('../proof/cli/*-thread.ts')
  expect(named.filter((path) => !path.startsWith('../../proof/cli/'))).toEqual([])
})

// As a thread of `shareOut` speaks: a task comes, a result goes back.
function thread(body: string): URL {
  const script = `import { parentPort } from 'node:worker_threads'
    parentPort.on('message', (task) => parentPort.postMessage(perform(task)))
    function perform(task) { ${body} }`
  return new URL(`data:text/javascript,${encodeURIComponent(script)}`)
}

const LITTLE = { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 16 }

describe('a scope whose thread has no memory left', () => {
  // It explores nothing, but for those by the name of `huge`, which never come to an end.
  const script = thread(`
    if (task.scope === 'huge') for (const all = [];;) all.push({ all: [...all] })
    const more = { complete: task.scope !== 'long', violation: null, sometimes: {} }
    return { task, report: { name: task.scope, states: 7, edges: 8, depth: 2, ...more } }`)
  const tasks = (...scopes: string[]) => scopes.map((scope) => ({ room: 'hall', scope }))

  test('is named with the reason, and the others are explored', { timeout: 60_000 }, async () => {
    const said: string[] = []
    const scopes = tasks('one', 'huge', 'two', 'huge', 'long', 'three')
    const report = await explore(script, scopes, 1, (line) => said.push(line), LITTLE)
    const rows = report.tables[0]!.rows.map(([, scope]) => scope)
    expect(rows).toEqual(['one', 'two', 'long', 'three'])
    const why = 'Worker terminated due to reaching memory limit: JS heap out of memory'
    expect(said.filter((line) => line.includes('huge'))).toEqual(
      Array(2).fill(`hall: huge: NOT EXPLORED WHOLE: ${why}`),
    )
    expect(report.goals.map(({ name, value, met }) => [name, value, met])).toEqual([
      ['scopes in which something does not hold', 0, true],
      ['scopes not explored whole', 3, false],
    ])
    expect(report.notes).toEqual([
      `not explored whole: hall huge (${why}), hall huge (${why}), hall long (more than 7 states)`,
    ])
  })

  test('is not there where all are explored', async () => {
    const report = await explore(script, tasks('one', 'two'), 2, () => {})
    expect([report.goals.map(({ met }) => met), report.notes]).toEqual([[true, true], []])
  })
})

describe('tasks that are shared out', () => {
  const script = thread(`
    if (task === 2) throw new Error('two is one too many')
    if (task === 3) process.exit(5)
    return task * 10`)

  test('all end with the first that throws, unless somebody hears of it', async () => {
    const done: number[] = []
    const all = shareOut<number, number>(script, [1, 2, 4].values(), 1, (result) =>
      done.push(result),
    )
    await expect(all).rejects.toThrow('two is one too many')
    expect(done).toEqual([10])
  })

  test('go on where somebody hears of each that was lost', async () => {
    const [done, lost]: [number[], string[]] = [[], []]
    const hear = (task: number, { message }: Error) => void lost.push(`${task}: ${message}`)
    await shareOut<number, number>(script, [1, 2, 3, 4].values(), 1, (n) => done.push(n), {
      lost: hear,
    })
    expect(done).toEqual([10, 40])
    expect(lost).toEqual(['2: two is one too many', '3: its thread ended with exit code 5'])
  })
})
