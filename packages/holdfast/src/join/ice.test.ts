// Goal: an option `webrtc` that no library would take is refused by a sentence that names it.
import { expect, test } from 'vitest'
import { iceOf } from './ice.ts'

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
