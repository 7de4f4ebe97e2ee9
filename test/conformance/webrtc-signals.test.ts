import { describe, expect, test } from 'vitest'
import {
  candidateOf,
  lineOf,
  readSignal,
  sdpOf,
  signalOf,
  type SignalOf,
  writeSignal,
} from '../../packages/holdfast/src/drivers/net/webrtc/signals.ts'
import { dice } from './until.ts'

const OFFER: SignalOf<'offer'> = {
  ...{ kind: 'offer', generation: 3, ufrag: 'ab+/', pwd: 'p'.repeat(22) },
  fingerprint: new Uint8Array(32).fill(0xab),
}
const CANDIDATE: SignalOf<'candidate'> = {
  ...{ kind: 'candidate', generation: 3, foundation: '1', priority: 2 ** 31, port: 4000 },
  ...{ host: '10.0.0.1', type: 'host' },
}

describe('signals of WebRTC', () => {
  test('a description keeps what the peer needs', () => {
    const read = readSignal(writeSignal(OFFER)) as SignalOf<'offer'>
    expect(read).toEqual(OFFER)
    expect(signalOf('offer', 3, sdpOf(read))).toEqual(OFFER)
    expect(sdpOf(read).match(/a=setup:.*/)).toEqual(expect.arrayContaining(['a=setup:active']))
    expect(signalOf('offer', 3, 'v=0\r\n')).toBeNull()
  })

  test('a candidate says its own address, and no other', () => {
    const line = 'candidate:12 1 udp 1677 203.0.113.5 4001 typ srflx raddr 10.1.2.3 rport 4000 x'
    const said = candidateOf(3, line)!
    const at = { foundation: '12', priority: 1677, host: '203.0.113.5', port: 4001, type: 'srflx' }
    expect(said).toEqual({ kind: 'candidate', generation: 3, ...at })
    expect(lineOf(readSignal(writeSignal(said)) as SignalOf<'candidate'>)).toBe(
      'candidate:12 1 UDP 1677 203.0.113.5 4001 typ srflx raddr 0.0.0.0 rport 0',
    )
  })

  test.each([
    ['of TCP', 'candidate:1 1 tcp 15 10.0.0.1 9 typ host tcptype active'],
    ['of another component', 'candidate:1 2 udp 15 10.0.0.1 9 typ host'],
    ['without a port', 'candidate:1 1 udp 15 10.0.0.1 0 typ host'],
    ['no candidate', ''],
  ])('a candidate %s is not sent', (_, line) => {
    expect(candidateOf(1, line)).toBeNull()
  })

  // A name would be looked up, and a second line would be one more line of SDP.
  test.each([
    'example.org',
    'beef.de',
    'localhost',
    '127.1',
    '10.0.0.1/8',
    'fe80::1%eth0',
    '',
    '10.0.0.1\r\na=x',
    'evil.local',
  ])('the host %j is refused', (host) => {
    expect(readSignal(writeSignal({ ...CANDIDATE, host }))).toBeNull()
  })

  test.each(['10.0.0.1', '2001:db8::1', '01234567-89ab-cdef-0123-456789abcdef.local'])(
    'the host %j is taken',
    (host) => {
      expect(readSignal(writeSignal({ ...CANDIDATE, host }))).toEqual({ ...CANDIDATE, host })
    },
  )

  test.each([
    { ufrag: 'abc' },
    { ufrag: 'ab\r\nm=audio' },
    { pwd: 'short' },
    { pwd: ' '.repeat(30) },
  ])('an offer with %j is refused', (wrong) => {
    expect(readSignal(writeSignal({ ...OFFER, ...wrong }))).toBeNull()
  })

  test('random bytes are no signal, and never throw', () => {
    const random = dice(3)
    let read = 0
    for (let i = 0; i < 20_000; i++) {
      const bytes = random.bytes(random.below(120))
      if (i % 2 === 0) bytes[0] = 1 + random.below(3)
      if (readSignal(bytes) !== null) read += 1
    }
    expect(read).toBe(0)
  })
})
