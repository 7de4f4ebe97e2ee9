// Goal: limits and proxies that somebody gives are taken, or refused with the thing and the value.
// Method: what a file may have in it, right and wrong.
import { describe, expect, test } from 'vitest'
import { defaults, rowsOf, TABLE } from '../machine/limits.ts'
import { placeOf } from '../../../holdfast/src/wire/text/ip.ts'
import { readTrust } from '../../../holdfast/src/api/door.ts'
import { readLimits } from './given-limits.ts'

test('no limits are those of the table, each of which is a number above 0 (SE-9)', () => {
  expect(readLimits('limits', {})).toEqual(defaults())
  expect(defaults().address.opens).toEqual({ max: 256, perSecond: 32 })
  expect(defaults().address.streams).toBe(256)
  for (const { limit } of rowsOf(defaults())) {
    for (const one of Object.values(typeof limit === 'number' ? { limit } : limit)) {
      expect(Number.isSafeInteger(one) && one > 0).toBe(true)
    }
  }
})

test('a limit that is given takes the place of one, and of no other (SE-9)', () => {
  const given = { address: { streams: 7, opens: { max: 1, perSecond: 2 } }, hub: { rooms: 10_000 } }
  const limits = readLimits('limits', given)
  expect(limits.address).toEqual({ ...defaults().address, ...given.address })
  expect(limits.stream).toEqual(defaults().stream)
  // What is handed out is nobody else's.
  expect(TABLE.address.streams.limit).toBe(256)
})

describe('what is wrong is named, with the limit and the value (SE-9)', () => {
  test.each<[unknown, string]>([
    [null, 'limits is an object, such as { stream: … }: null'],
    [[], 'limits is an object, such as { stream: … }: []'],
    [{ adress: {} }, 'limits has no "adress": did you mean "address"?'],
    [{ player: {} }, 'limits has no "player": there are stream, address, key, room, hub'],
    [{ key: {} }, 'limits: key has no limits yet'],
    [{ address: 7 }, 'limits: address is an object, such as { sockets: … }: 7'],
    [{ address: { stream: 7 } }, 'limits: address has no "stream": did you mean "streams"?'],
    [
      { hub: { joins: 7 } },
      'limits: hub has no "joins": there are sockets, dials, streams, opens, messages, rows, room',
    ],
    [{ address: { streams: 0 } }, 'limits: address.streams is a whole number above 0: 0'],
    [{ address: { streams: 1.5 } }, 'limits: address.streams is a whole number above 0: 1.5'],
    [{ address: { streams: '7' } }, 'limits: address.streams is a whole number above 0: "7"'],
    [{ address: { opens: 7 } }, 'limits: address.opens is an object, such as { max: … }: 7'],
    [
      { address: { opens: { max: 7 } } },
      'limits: address.opens.perSecond is a whole number above 0',
    ],
    [
      { address: { opens: { max: -1, perSecond: 1 } } },
      'address.opens.max is a whole number above 0: -1',
    ],
    [{ address: { opens: { most: 1 } } }, 'limits: address.opens has no "most": '],
    [{ hub: { rooms: 10_001 } }, 'limits: hub.rooms is at most 10000: 10001'],
  ])('%j', (given, sentence) => {
    expect(() => readLimits('limits', given)).toThrow(sentence)
    expect(() => readLimits('--limits a.json', given)).toThrow(/^--limits a\.json/)
  })
})

describe('proxies', () => {
  test('are so many, or those at these addresses (SE-9)', () => {
    expect(readTrust('trustProxy', undefined)).toBe(0)
    expect(readTrust('trustProxy', 2)).toBe(2)
    expect(readTrust('trustProxy', ['10.0.0.0/8', '::1'])).toHaveLength(2)
    expect(placeOf('10.1.2.3')).toBe('10.1.2.3')
  })
  test.each<[unknown, string]>([
    [-1, 'trustProxy is the number of proxies in front, 0 to 16: -1'],
    [17, 'trustProxy is the number of proxies in front, 0 to 16: 17'],
    [true, 'trustProxy is a number of proxies, or a list of their addresses: true'],
    [['nginx'], 'trustProxy has addresses, such as 10.0.0.7, or 10.0.0.0/8: "nginx"'],
    [[7], 'trustProxy has addresses, such as 10.0.0.7, or 10.0.0.0/8: 7'],
  ])('%j are none', (given, sentence) => {
    expect(() => readTrust('trustProxy', given)).toThrow(sentence)
  })
})
