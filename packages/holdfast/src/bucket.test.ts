// Goal: a bucket gives what it holds and what has come back, and never more.
// Method: sums by hand.
import { describe, expect, test } from 'vitest'
import * as bucket from './bucket.ts'

const RATE = { max: 10, perSecond: 4 }

describe('a token bucket', () => {
  test('gives all it holds at once, and then what has come back since', () => {
    const one = bucket.create(0, RATE)
    expect(bucket.take(one, RATE, 0, 10)).toBe(true)
    expect(bucket.take(one, RATE, 249, 1)).toBe(false)
    expect(bucket.take(one, RATE, 250, 1)).toBe(true)
    expect(bucket.take(one, RATE, 250, 1)).toBe(false)
  })

  test('takes all or nothing: who asked for too much may ask for less', () => {
    const one = bucket.create(0, RATE)
    expect(bucket.take(one, RATE, 0, 11)).toBe(false)
    expect(bucket.take(one, RATE, 0, 10)).toBe(true)
  })

  test('holds no more after an hour than at the start', () => {
    const one = bucket.create(0, RATE)
    expect(bucket.take(one, RATE, 3_600_000, 10)).toBe(true)
    expect(bucket.take(one, RATE, 3_600_000, 1)).toBe(false)
  })

  test('loses nothing when the time that it is told goes back', () => {
    const one = bucket.create(1_000, RATE)
    expect(bucket.take(one, RATE, 0, 10)).toBe(true)
  })
})
