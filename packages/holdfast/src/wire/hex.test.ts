import { expect, test } from 'vitest'
import { fromHex, toHex } from './bytes.ts'

test('bytes are two digits each, and read as they were written', () => {
  const all = Uint8Array.from({ length: 256 }, (_, at) => at)
  const text = toHex(all)
  expect([text.length, text.slice(0, 6), text.slice(-4)]).toEqual([512, '000102', 'feff'])
  expect(fromHex(text, 256)).toEqual(all)
  expect(fromHex('FF00', 2)).toEqual(Uint8Array.of(255, 0))
  expect([toHex(new Uint8Array(0)), fromHex('', 0)]).toEqual(['', new Uint8Array(0)])
})

test.each(['ff0', 'ff00f', 'ff 0', 'xx00', '-100', '+1ff', '', null, 65_280])(
  '%j is no two bytes',
  (text) => {
    expect(fromHex(text, 2)).toBe(null)
  },
)
