// Goal: the first game of the README is the one that the tests run (test/e2e/examples.test.ts).
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

test('the first game of the README is games/first/main.ts, letter by letter (DO-2)', () => {
  const read = (path: string): string => {
    return readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
  }
  const [, indented = ''] = /^ {3}```ts\n(.*?)^ {3}```$/ms.exec(read('README.md')) ?? []
  expect(indented.replaceAll(/^ {3}/gm, '')).toBe(read('games/first/main.ts'))
})
