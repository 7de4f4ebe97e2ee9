// Goal: the hub's stream carries messages and datagrams apart, and nothing else is read from it.
import { describe, expect, test } from 'vitest'
import { toHex } from '../../../../test/hex.ts'
import { frameMessage, frameRelay, readFrame } from './relay.ts'

describe('a frame of the hub’s stream', () => {
  test('a message stands behind a 0, also an empty one (PR-2)', () => {
    expect(toHex(frameMessage(Uint8Array.of(1, 2)))).toBe('000102')
    for (const bytes of [Uint8Array.of(1, 2), new Uint8Array(0)]) {
      expect(readFrame(frameMessage(bytes))).toEqual({ kind: 'message', bytes })
    }
  })
  test('a datagram stands behind a 1 and the other member’s number (PR-2)', () => {
    expect(toHex(frameRelay(300, Uint8Array.of(7)))).toBe('01ac0207')
    for (const peer of [0, 127, 128, 2 ** 32]) {
      for (const bytes of [Uint8Array.of(7), new Uint8Array(0)]) {
        expect(readFrame(frameRelay(peer, bytes))).toEqual({ kind: 'relay', peer, bytes })
      }
    }
  })
  test.each([[[]], [[2]], [[3, 0]], [[255, 1, 2]], [[1]], [[1, 0x80]], [[1, 0x80, 0]]])(
    '%j is neither (PR-2)',
    (bytes) => {
      expect(readFrame(Uint8Array.from(bytes))).toBe(null)
    },
  )
})
