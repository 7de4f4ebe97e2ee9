import { describe, expect, test } from 'vitest'
import { best, worth } from './verdict.ts'

const UNIT = 'packages/holdfast/src/link/link.test.ts'
const MODEL = 'proof/models/models.test.ts'

function assertion(actual: unknown, message = 'expected 1 to be 2') {
  return { name: 'AssertionError', message, actual }
}

describe('what a failure is worth', () => {
  test('an assertion of a unit test', () => {
    expect(worth(UNIT, assertion('1'))).toBe('assertion')
  })
  test('an assertion in a property of fast-check, by its cause', () => {
    const error = { name: 'Error', message: 'Property failed after 1 tests' }
    expect(worth(UNIT, { ...error, cause: assertion('1') })).toBe('assertion')
    expect(worth(UNIT, { ...error, cause: { name: 'TypeError', message: 'x' } })).toBe('thrown')
  })
  test('an exception is none, nor is a time limit', () => {
    expect(worth(UNIT, { name: 'TypeError', message: 'x is undefined' })).toBe('thrown')
    expect(worth(UNIT, { name: 'Error', message: 'Test timed out in 5000ms.' })).toBe('time')
  })
  test('a model counts by the name of a property', () => {
    const violation = 'Object {\n  "property": "lease.safe",\n  "trace": Array [],\n}'
    expect(worth(MODEL, assertion(violation))).toBe('assertion')
    expect(worth(MODEL, assertion('Array [\n  Array [\n    "handed over",'))).toBe('assertion')
  })
  test('a model does not count by states, by steps, or for a mutant that is not found', () => {
    expect(worth(MODEL, assertion('8722', 'expected 8722 to be >= 10000'))).toBe('count')
    expect(worth(MODEL, assertion('4'))).toBe('count')
    expect(worth(MODEL, assertion('undefined'))).toBe('count')
    expect(worth(MODEL, assertion('false'))).toBe('count')
  })
})

test('of several failures an assertion catches, and the rest say what there was', () => {
  expect(best(['thrown', 'assertion'])).toBe('caught')
  expect(best(['time', 'count', 'thrown'])).toBe('thrown')
  expect(best(['time', 'count'])).toBe('count')
  expect(best(['time'])).toBe('time')
  expect(best([])).toBe('survived')
})
