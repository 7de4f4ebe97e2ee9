// Goal: two builds agree on the highest version that both speak, or both learn what the other does.
// Method: all pairs of ranges of small numbers, against a plain list of versions.
import { describe, expect, test } from 'vitest'
import {
  negotiate,
  only,
  decodeVersions,
  encodeVersions,
  formatVersions,
  type Versions,
} from './versions.ts'

const RANGES: Versions[] = [1, 2, 3, 4, 31].flatMap((highest) =>
  [1, 2, 3, 4, 31].filter((one) => one <= highest).map((lowest) => ({ lowest, highest })),
)
const all = ({ lowest, highest }: Versions): number[] =>
  Array.from({ length: highest - lowest + 1 }, (_none, at) => lowest + at)

describe('the versions that a hello says', () => {
  test('are read as they were said, and one alone is its own number (N-2)', () => {
    for (const range of RANGES) expect(decodeVersions(encodeVersions(range))).toEqual(range)
    for (const one of [1, 4, 31]) expect(encodeVersions(only(one))).toBe(one)
    expect(encodeVersions({ lowest: 1, highest: 8 })).toBeLessThan(256)
  })

  test('have a highest that both speak, whoever asks, or none (N-2)', () => {
    for (const own of RANGES) {
      for (const other of RANGES) {
        const both = all(own).filter((version) => all(other).includes(version))
        expect(negotiate(own, encodeVersions(other))).toBe(both.at(-1) ?? null)
        expect(negotiate(other, encodeVersions(own))).toBe(both.at(-1) ?? null)
      }
    }
  })

  test('are none where the number is no range, and are shown as it stands (N-2)', () => {
    for (const number of [0, 32, 33, 31 + 32 * 31, 2 ** 40]) {
      expect(negotiate({ lowest: 1, highest: 31 }, number)).toBe(null)
      expect(formatVersions(number)).toBe(`version ${number}`)
    }
    expect([
      formatVersions(only(4)),
      formatVersions(encodeVersions({ lowest: 3, highest: 5 })),
    ]).toEqual(['version 4', 'versions 3 to 5'])
  })
})
