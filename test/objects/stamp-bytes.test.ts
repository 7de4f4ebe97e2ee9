// Goal: a stamp is read as it was written, up to each bound, and nothing beyond one is read.
// Method: bytes written by the document's numbers, in eighths of a millisecond.
import { describe, expect, test } from 'vitest'
import {
  agesAt,
  readNextStamp,
  readStamp,
  writeNextStamp,
  writeStamp,
} from '../../packages/holdfast/src/objects/protocol/messages.ts'
import {
  createReader,
  createWriter,
  finish,
  writeVarint,
} from '../../packages/holdfast/src/wire/bytes.ts'

const THOUSAND_YEARS = 2 ** 48

function bytesOf(...numbers: number[]): Uint8Array {
  const writer = createWriter()
  for (const number of numbers) writeVarint(writer, number)
  return finish(writer)
}

function stampOf(madeAt: number): number | null {
  const writer = createWriter()
  writeStamp(writer, madeAt)
  const reader = createReader(finish(writer))
  const read = readStamp(reader)
  return reader.failed ? null : read
}

function nextOf(before: number, ...numbers: number[]): ReturnType<typeof readNextStamp> | null {
  const reader = createReader(bytesOf(...numbers))
  const read = readNextStamp(reader, before)
  return reader.failed ? null : read
}

describe('when a whole state was made', () => {
  test('is read in eighths, and what is not known as that (PR-2)', () => {
    expect([0.3, 1, 12.125].map(stampOf)).toEqual([0.25, 1, 12.125])
    expect([NaN, -1].map(stampOf)).toEqual([NaN, NaN])
    // Instant 0 is said as the next one, for 0 says that nobody knows.
    expect(stampOf(0)).toBe(1 / 8)
  })
  test('is at most a thousand years (PR-2)', () => {
    expect(stampOf(THOUSAND_YEARS)).toBe(THOUSAND_YEARS / 8)
    const at = createReader(bytesOf(THOUSAND_YEARS))
    expect([readStamp(at), at.failed]).toEqual([THOUSAND_YEARS / 8, false])
    const beyond = createReader(bytesOf(THOUSAND_YEARS + 1))
    readStamp(beyond)
    expect(beyond.failed).toBe(true)
  })
})

describe('the stamp of an update', () => {
  test.each([
    ['later', 10, 12.5],
    ['earlier', 10, 9.875],
    ['at the same instant', 10, 10],
  ])('that was made %s is read as it was written, and gone on from (PR-2)', (_when, before, at) => {
    for (const ages of [null, [], [1, 2.5, 10_000]]) {
      const writer = createWriter()
      expect(writeNextStamp(writer, before, at, ages)).toBe(at)
      const read = readNextStamp(createReader(finish(writer)), before)
      expect(read).toEqual({ madeAt: at, last: at, ages })
    }
  })
  test('of which nobody knows the instant leaves that of the one before (PR-2)', () => {
    const writer = createWriter()
    expect(writeNextStamp(writer, 7, NaN, null)).toBe(7)
    expect(nextOf(7, 0)).toEqual({ madeAt: NaN, last: 7, ages: null })
    expect(nextOf(7, 1, 1, 16)).toEqual({ madeAt: NaN, last: 7, ages: [2] })
  })
  test('is from the first eighth to a thousand years (PR-2)', () => {
    const back = (eighths: number): number => 2 * (eighths * 2 - 1 + 1)
    expect(nextOf(1, back(7))).toMatchObject({ madeAt: 1 / 8 })
    expect(nextOf(1, back(8))).toBe(null)
    const ahead = (eighths: number): number => 2 * (eighths * 2 + 1)
    expect(nextOf(0, ahead(THOUSAND_YEARS))).toMatchObject({ last: THOUSAND_YEARS / 8 })
    expect(nextOf(0, ahead(THOUSAND_YEARS + 1))).toBe(null)
  })
  test('has three ages at most, of ten seconds each (PR-2)', () => {
    expect(nextOf(0, 1, 3, 0, 1, 80_000)?.ages).toEqual([0, 0.125, 10_000])
    expect(nextOf(0, 1, 4, 0, 1, 2, 3)).toBe(null)
    expect(nextOf(0, 1, 1, 80_001)).toBe(null)
  })
})

test('an age is added at its stage alone, and up to ten seconds (PR-2)', () => {
  expect(agesAt({ madeAt: 5, ages: [] }, 5 + 10_000, 1)).toEqual([10_000])
  expect(agesAt({ madeAt: 5, ages: [] }, 5 + 10_000.125, 1)).toBe(null)
  expect(agesAt({ madeAt: 5, ages: [1] }, 3, 2)).toEqual([1, 0])
  expect(agesAt({ madeAt: 5, ages: [1] }, 9, 1)).toBe(null)
  expect(agesAt({ madeAt: 5, ages: null }, 9, 1)).toBe(null)
  expect(agesAt({ madeAt: NaN, ages: [] }, 9, 1)).toBe(null)
})
