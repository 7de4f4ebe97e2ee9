// Goal: the key of a room travels behind what lets one in; the hub gets the one and not the other,
// and no sentence shows the key.
// Method: texts, by hand.
import { describe, expect, test } from 'vitest'
import { readTicket, withKey } from './tickets.ts'

const KEY = 'a6'.repeat(32)
const JWT = 'head.body_1.sign-2'
const INVITE = `invite.${'0f'.repeat(32)}`

describe('what lets one in', () => {
  test.each([JWT, INVITE])('%s goes to the hub, and the key behind it does not', (ticket) => {
    const bytes = new Uint8Array(32).fill(0xa6)
    expect(readTicket(withKey(ticket, KEY))).toEqual({ ticket, key: bytes })
    expect(readTicket(withKey(ticket, KEY.toUpperCase()))).toEqual({ ticket, key: bytes })
    expect(readTicket(withKey(ticket, null))).toEqual({ ticket, key: null })
  })

  test('may be nothing', () => {
    expect(readTicket('')).toEqual({ ticket: '', key: null })
  })

  test.each([
    ...[`~${KEY}`, `${JWT}~`, `${JWT}~${KEY.slice(1)}`, `${JWT}~${KEY}~${KEY}`, `${JWT}~${KEY}0`],
    ...['one.two', `${INVITE}0`, `one two.three.four`, `${JWT}.more`, 'x'.repeat(2_000), 7, null],
  ])('is not %j', (given) => {
    expect(() => readTicket(given)).toThrow(/^ticket is what mintTicket, invite or a login gives/)
    expect(() => readTicket(given)).not.toThrow('a6a6')
  })
})
