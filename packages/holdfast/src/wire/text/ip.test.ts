// Goal: who counts as one address, and whose a request is, cannot be talked over.
// Method: addresses in all spellings, and headers that anybody may have written.
import { describe, expect, test } from 'vitest'
import { clientOf, isTrusted, NOBODY, placeOf, type Range, readRange } from './ip.ts'

const ranges = (...texts: string[]): Range[] => texts.map((text) => readRange(text)!)

describe('a place', () => {
  test.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['::ffff:c000:207', '192.0.2.7'],
    ['64:ff9b::192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2::', '2001:db8:1:2::/64'],
    ['2001:db8:1:3::9', '2001:db8:1:3::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0:0:0:0:1'],
    ['fe80::2', 'fe80:0:0:0:0:0:0:2'],
    ['', 'unknown'],
    ['unknown', 'unknown'],
    ['1.2.3.256', '1.2.3.256'],
    ['1:2:3:4:5:6:7:8:9', '1:2:3:4:5:6:7:8:9'],
    ['1::2::3', '1::2::3'],
    ['1:2:3:4:5:6:7::8', '1:2:3:4:5:6:7::8'],
    ['1:2:3:4:5:6::8', '1:2:3:4::/64'],
    ['1:2:3:4:5:6:7:8::', '1:2:3:4:5:6:7:8::'],
    ['x'.repeat(200), 'x'.repeat(64)],
  ])('of %s is %s (SE-9)', (address, place) => {
    expect(placeOf(address)).toBe(place)
  })
})

describe('a range', () => {
  test.each([
    ['10.0.0.0/8', '10.255.1.2', '11.0.0.0'],
    ['10.1.2.3', '10.1.2.3', '10.1.2.2'],
    ['10.1.2.0/31', '::ffff:10.1.2.1', '10.1.2.2'],
    ['2001:db8::/33', '2001:db8:7fff::', '2001:db8:8000::'],
    ['::/0', '9.9.9.9', ''],
    ['127.0.0.0/8', '127.4.5.6', '::1'],
  ])('%s has %s and not %s', (text, inside, outside) => {
    expect(isTrusted(inside, ranges(text))).toBe(true)
    expect(isTrusted(outside, ranges(text))).toBe(false)
  })
  test.each(['10.0.0.0/33', '::/129', '10.0.0.0/x', 'a', '', '10.0.0.0/8/8', '10.0.0/8'])(
    '%s is none',
    (text) => {
      expect(readRange(text)).toBe(null)
    },
  )
})

describe('a header of proxies', () => {
  test('of whom nobody trusts is nothing (SE-9)', () => {
    expect(clientOf('192.0.2.7', '10.0.0.1', NOBODY)).toBe('192.0.2.7')
    expect(clientOf('192.0.2.7', '10.0.0.1', ranges('127.0.0.1'))).toBe('192.0.2.7')
    expect(isTrusted('192.0.2.7', NOBODY)).toBe(false)
  })
  test('is read from the right, as far as it is trusted (SE-9)', () => {
    const said = '6.6.6.6, 198.51.100.1, 203.0.113.9'
    expect(clientOf('127.0.0.1', said, 1)).toBe('203.0.113.9')
    expect(clientOf('127.0.0.1', said, 2)).toBe('198.51.100.1')
    expect(clientOf('127.0.0.1', said, 9)).toBe('6.6.6.6')
    expect(clientOf('127.0.0.1', said, ranges('127.0.0.0/8'))).toBe('203.0.113.9')
    expect(clientOf('127.0.0.1', said, ranges('127.0.0.0/8', '203.0.113.0/24'))).toBe(
      '198.51.100.1',
    )
  })
  test('is read 32 entries deep, and no deeper (PR-2)', () => {
    const said = Array.from({ length: 40 }, (_, at) => `10.0.0.${40 - at}`).join(',')
    expect(clientOf('127.0.0.1', said, 31)).toBe('10.0.0.31')
    expect(clientOf('127.0.0.1', said, 32)).toBe('10.0.0.32')
    expect(clientOf('127.0.0.1', said, 33)).toBe('10.0.0.32')
  })
  test('with a port or in brackets is read, and where it is none it ends', () => {
    expect(clientOf('::1', '[2001:db8::1]:443', 1)).toBe('2001:db8::1')
    expect(clientOf('::1', '192.0.2.7:9999', 1)).toBe('192.0.2.7')
    expect(clientOf('::1', '10.0.0.1, unknown', 2)).toBe('::1')
    expect(clientOf('::1', '', 1)).toBe('::1')
    expect(clientOf('::1', undefined, 1)).toBe('::1')
  })
})
