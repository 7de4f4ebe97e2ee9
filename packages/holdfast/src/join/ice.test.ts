// Goal: an option `webrtc` that no library would take is refused by a sentence that names it.
import { expect, test } from 'vitest'
import { iceOf, refusedBy } from './ice.ts'

const STUN = { urls: 'stun:stun.example.org:3478' }

test('no WebRTC is the default, and all of its options have one', () => {
  expect([iceOf(), iceOf(false)]).toEqual([null, null])
  expect([iceOf(true), iceOf({})]).toEqual([{}, { ice: [], relayOnly: false }])
  const full = { ice: [STUN], relayOnly: true, host: '10.0.0.7', ports: [4_000, 4_000] } as const
  expect(iceOf(full)).toEqual({ ice: [STUN], relayOnly: true })
})

test.each([
  ['yes', /^webrtc /],
  [{ stun: [] }, /stun/],
  [{ ice: STUN }, /^webrtc\.ice is at most 8 servers/],
  [{ ice: Array.from({ length: 9 }, () => STUN) }, /^webrtc\.ice is at most 8 servers/],
  [{ ice: [{ urls: [] }] }, /^a server of webrtc\.ice has urls/],
  [{ ice: [{ urls: ['http://example.org'] }] }, /^a server of webrtc\.ice has urls/],
  [{ ice: [{ urls: 'stun:example.org?transport=udp' }] }, /^a server of webrtc\.ice has urls/],
  [{ ice: [{ urls: ['stun:a.example', 'turn:b.example'] }] }, /needs username and credential$/],
  [{ ice: [{ urls: 'turn:b.example', username: 'u', credential: '' }] }, /needs username and/],
  [{ ice: [null] }, /^a server of webrtc\.ice has urls/],
  [{ relayOnly: 1 }, /^webrtc\.relayOnly /],
  [{ host: 'example.org' }, /^webrtc\.host is an IP address/],
  [{ host: 7 }, /^webrtc\.host is an IP address/],
  [{ ports: 4_000 }, /^the first of webrtc\.ports /],
  [{ ports: [4_000] }, /^the last of webrtc\.ports /],
  [{ ports: [4_000, 3_999] }, /^the last of webrtc\.ports /],
  [{ ports: [1, 2, 3] }, /^webrtc\.ports is the first and the last/],
] as const)('%j is refused', (given, sentence) => {
  expect(() => iceOf(given as never)).toThrow(sentence)
})

test('a refusal names the server, the code and the cause, and what a server says is plain', () => {
  const url = 'turn:example.org'
  const said = (code: number, why: string): [string, string] => {
    const { code: word, message } = refusedBy({ url, code, why })
    return [word, message]
  }
  expect(said(401, 'Unauthorized')).toEqual([
    'forbidden',
    `${url} refuses us with 401 (Unauthorized): its credentials are wrong, or have ended`,
  ])
  expect(said(486, 'Quota\u001b[31m')).toEqual([
    'forbidden',
    `${url} refuses us with 486 (Quota\\u001b[31m)`,
  ])
  expect(said(0, 'x'.repeat(500))).toEqual([
    'unreachable',
    `${url} gave no address: ${'x'.repeat(200)}`,
  ])
})
