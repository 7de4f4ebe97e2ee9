import { expect, test } from 'vitest'
import { readIceUrl } from './ice-url.ts'

test.each([
  ['stun:example.org', ['stun', 'example.org', 3478, 'udp']],
  ['STUNS:example.org:443', ['stuns', 'example.org', 443, 'tcp']],
  ['turn:10.0.0.1:65535?transport=tcp', ['turn', '10.0.0.1', 65_535, 'tcp']],
  ['turn:example.org?transport=UDP', ['turn', 'example.org', 3478, 'udp']],
  ['turns:[2001:db8::1]', ['turns', '2001:db8::1', 5349, 'tcp']],
])('%s is read', (url, expected) => {
  const { scheme, host, port, transport } = readIceUrl(url)!
  expect([scheme, host, port, transport]).toEqual(expected)
})

test.each([
  ...['', 'example.org', 'http://example.org', 'stun:', 'stun://example.org', 'turn:a b'],
  ...['turn:example.org:0', 'turn:example.org:65536', 'turn:example.org:x', 'turn:[::1'],
  ...['stun:example.org?transport=udp', 'turn:example.org?transport=sctp', 'turn:e\nx'],
  ...['turn:user@example.org', 'turn:example.org#x', `stun:${'a'.repeat(196)}`, 7, null],
])('%j is none', (url) => {
  expect(readIceUrl(url)).toBeNull()
})
