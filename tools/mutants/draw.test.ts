import { expect, test } from 'vitest'
import { draw } from './draw.ts'
import { moduleOf } from './modules.ts'
import type { Site } from './sites.ts'

function site(module: string, n: number): Site {
  const file = `packages/holdfast/src/${module}/a.ts`
  return { file, within: 'f', text: `a < ${n}`, nth: 0, put: `a <= ${n}`, rule: 'boundary' }
}

function many(module: string, count: number): Site[] {
  return Array.from({ length: count }, (_, n) => site(module, n))
}

const ALL = [...many('wire', 10), ...many('link', 100), ...many('objects/protocol', 300)]

test('the same seed draws the same, another seed others', () => {
  expect(draw(ALL, 7, 30)).toEqual(draw(ALL, 7, 30))
  expect(draw(ALL, 7, 30)).not.toEqual(draw(ALL, 8, 30))
})
test('each module has some, and the rest goes by size', () => {
  const drawn = draw(ALL, 1, 60)
  const of = (module: string): number =>
    drawn.filter(({ file }) => moduleOf(file) === module).length
  expect([of('wire'), of('link'), of('objects/protocol')]).toEqual([6, 14, 40])
})
test('what is added to a module draws itself at most', () => {
  const before = new Set(draw(many('link', 100), 3, 20))
  const after = draw([...many('link', 100), site('link', 1000)], 3, 20)
  expect(
    after.filter((one) => ![...before].some(({ text }) => text === one.text)).length,
  ).toBeLessThan(2)
})
test('no more than there are', () => {
  expect(draw(many('wire', 3), 1, 10)).toHaveLength(3)
})
