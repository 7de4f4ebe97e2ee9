// Goal: from any of our keys letters lead to the newest, each signed by one that the last is about.
// Method: letters about keys by hand, some of which a store of an older version never kept.
import { expect, test } from 'vitest'
import { keyLetter, leading, readKeyLetter } from './keys.ts'
import { MAIL_KEYS_MAX } from './messages.ts'

const keyOf = (n: number): Uint8Array => new Uint8Array(32).fill(n)
const signed = (n: number): { key: Uint8Array; signature: Uint8Array } => {
  return { key: keyOf(n), signature: new Uint8Array(64) }
}
/** The letter about the key n, which those before it sign, the newest first. */
function about(n: number): Uint8Array {
  const before = Array.from({ length: Math.min(n - 1, MAIL_KEYS_MAX - 1) }, (_, at) => n - 1 - at)
  return keyLetter({ before: before.map(signed), now: signed(n) })
}

/** The keys that letters lead over, from one to the last. @param first  with a letter of its own */
function way(from: number, last: number, first = 2): number[] {
  const letterOf = (key: Uint8Array): Uint8Array | null => (key[0]! < first ? null : about(key[0]!))
  return leading(keyOf(from), about(last), letterOf).map((one) => readKeyLetter(one)!.now.key[0]!)
}

test('letters lead from a key to the newest, as few as there can be (N-10)', () => {
  expect(way(39, 40)).toEqual([40])
  expect(way(33, 40)).toEqual([40])
  expect(way(32, 40)).toEqual([33, 40])
  expect(way(1, 40)).toEqual([5, 12, 19, 26, 33, 40])
})

test('letters lead from a key whose own letter an older version did not keep (N-10)', () => {
  // That version had eight keys, and the letter about the newest of them.
  for (let from = 1; from < 40; from++) {
    const keys = way(from, 40, 8)
    for (const [at, key] of keys.entries()) {
      const before = keys[at - 1] ?? from
      expect([from, key - before >= 1, key - before < MAIL_KEYS_MAX]).toEqual([from, true, true])
    }
  }
})

test('nothing leads from a key that never was ours: the newest letter says so (N-10)', () => {
  expect(way(99, 40)).toEqual([40])
})
