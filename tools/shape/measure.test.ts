import { expect, test } from 'vitest'
import { parse } from '../tidy/source.ts'
import { measure } from './measure.ts'

test('lines without code are not counted, and each kind of code is apart (AP-22)', () => {
  const text = '/**\n * A head.\n */\n\nconst a = 1 // one\n/* b */ const b = () => {\n\n  a\n}\n'
  const paths = [
    'packages/hub/src/a.ts',
    'packages/hub/src/a.test.ts',
    'proof/a.ts',
    'games/a.ts',
    'games/b.ts',
  ]
  const shapes = measure(paths.map((path) => parse(path, text)))
  expect(shapes.map(({ kind, files, lines }) => `${kind} ${files} ${lines}`)).toEqual([
    'tests 1 4',
    'proofs 1 4',
    'library 1 4',
    'games 2 8',
  ])
  expect(shapes[2]).toMatchObject({ median: 4, longest: 4 })
})
