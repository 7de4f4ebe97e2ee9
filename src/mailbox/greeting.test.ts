// Goal: a mailbox says why it does not talk with somebody.
// Method: a greeting in bytes, given by hand.
import { expect, test } from 'vitest'
import { encode } from '../wire/layout.ts'
import { greet, hearGreeting } from './greeting.ts'
import { greetingLayout, MAIL_VERSION, NONCE_BYTES } from './messages.ts'

test('a mailbox talks with none that is called like itself, or like nothing (PR-2)', () => {
  const self = { id: 'ada', key: 'a key of sixteen bytes' }
  const nonce = new Uint8Array(NONCE_BYTES).fill(1)
  const refusedFor = (from: string): string | null => {
    const { greeter } = greet(self, nonce, null)
    const open = { kind: 'open', version: MAIL_VERSION, from, to: 'ada', nonce } as const
    return hearGreeting(greeter, encode(greetingLayout, open), () => null).refused
  }
  expect(refusedFor('bob')).toBe(null)
  expect(refusedFor('ada')).toBe('a mailbox cannot be called ada like this one')
  // A terminal would obey it: the bell, an escape, the end of a line.
  for (const obeyed of ['b\u0007b', 'b\u001b[2Jb', 'b\nb', 'b\u009bb']) {
    expect(refusedFor(obeyed)).toBe('no mailbox can be called like this')
  }
  expect(refusedFor('')).toBe('a mailbox cannot be called nothing')
})
