// Goal: a soak finds the threads that it starts by the name of a file.
// Method: what bench/tsconfig.json compiles beside the benches, held against those names.
import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

test('threads that are started by name are compiled with the benches', () => {
  const { include } = JSON.parse(readFileSync('bench/tsconfig.json', 'utf8')) as {
    include: string[]
  }
  const named = readdirSync('bench/soak').flatMap((file) => {
    const text = readFileSync(`bench/soak/${file}`, 'utf8')
    return [...text.matchAll(/new URL\('([^']+)-thread\.js'/g)].map(([, path]) => path!)
  })
  expect(named.length).toBeGreaterThan(0)
  expect(include).toContain('../src/cli/proof/*-thread.ts')
  expect(named.filter((path) => !path.startsWith('../../src/cli/proof/'))).toEqual([])
})
