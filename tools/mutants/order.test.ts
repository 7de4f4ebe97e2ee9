import { expect, test } from 'vitest'
import { batches } from './order.ts'
import { EQUIVALENTS } from './equivalents.ts'
import { FIXED } from './fixed.ts'
import { sources } from './modules.ts'
import { find, shown } from './sites.ts'

const NEAR = 'packages/holdfast/src/link/a.test.ts'
const FAR = 'test/api/b.test.ts'

function reaching(file: string, name: string, ms: number) {
  return { file, name, ms, reached: [1] }
}

test('cheap tests come first, those of the module before others, and long ones not at all', () => {
  const found = batches(
    [
      reaching(FAR, 'far', 1),
      reaching(NEAR, 'slow', 3_000),
      reaching(NEAR, 'near', 20),
      reaching(FAR, 'too long', 20_000),
    ],
    'link',
  )
  expect(found).toEqual([
    [
      [NEAR, ['near']],
      [FAR, ['far']],
    ],
    [[NEAR, ['slow']]],
  ])
})
test('a test of the module that counts to a million is not behind all cheap ones from elsewhere (PR-2)', () => {
  const many = Array.from({ length: 100 }, (_, n) => reaching(`test/api/b${n}.test.ts`, 'far', 80))
  const found = batches([...many, reaching(NEAR, 'counts', 1_500)], 'link')
  expect(found[0]).toEqual([[NEAR, ['counts']]])
})
test('all tests of one change have a bound together', () => {
  const long = Array.from({ length: 10 }, (_, n) => reaching(NEAR, `${n}`, 5_000))
  expect(batches(long, 'link').flatMap((batch) => batch.flatMap(([, names]) => names))).toEqual([
    '0',
    '1',
  ])
})
test('seeds of whole sessions are asked last, whatever the others took', () => {
  const long = Array.from({ length: 10 }, (_, n) => reaching(NEAR, `${n}`, 5_000))
  const seeds = ['1', '2', '3', '4'].map((name) => {
    return reaching('test/sim/frozen.test.ts', `seed ${name}`, 3_000)
  })
  const found = batches([...seeds, ...long], 'link').flat()
  expect(found.map(([, names]) => names).flat()).toEqual(['0', '1', 'seed 1', 'seed 2', 'seed 3'])
})
test('all that is listed is there', () => {
  const all = sources(process.cwd())
  const missing = [...FIXED, ...EQUIVALENTS].filter((one) => {
    const source = all.find(({ path }) => path === one.file)
    return !source || !find(source, one)
  })
  expect(missing.map(shown)).toEqual([])
})
