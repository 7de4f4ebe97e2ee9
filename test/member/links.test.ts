// Goal: how links begin, which way they take, and when a member asks for them.
// Method: one member by hand; the others are what is said in their names.
import { describe, expect, test } from 'vitest'
import { ACK_NOW_AFTER } from '../../packages/holdfast/src/link/limits.ts'
import * as link from '../../packages/holdfast/src/link/link.ts'
import type { Part } from '../../packages/holdfast/src/kind/protocol/part.ts'
import { takeMessage, receiveForPart } from '../../packages/holdfast/src/member/dispatch.ts'
import * as links from '../../packages/holdfast/src/member/links.ts'
import * as member from '../../packages/holdfast/src/member/member.ts'
import * as peers from '../../packages/holdfast/src/member/peers.ts'
import { CLOSE, SESSION_CHANNEL } from '../../packages/holdfast/src/member/state.ts'
import { peerLayout } from '../../packages/holdfast/src/session/messages.ts'
import {
  createWriter,
  finish,
  writeRaw,
  writeU8,
  writeVarint,
} from '../../packages/holdfast/src/wire/bytes.ts'
import { encode } from '../../packages/holdfast/src/wire/layout.ts'
import { Hand } from './hand.ts'

const ASKED_MS = 1_000
const PROBE_MS = 2_000

// Of the time before this member is up to date.
const NEWS = { kind: 'news', index: 0, player: 2, seq: 1, part: 5 } as const

test('on its way in a member asks for the next thing as soon as it has the one before (PR-2)', () => {
  expect(new Hand(2, 2, 'star').asked).toEqual(['hello', 'add', 'attach'])
})

describe('a greeting', () => {
  test('that is denied makes no link; who leads and says that we are none sends us back (PR-2)', () => {
    const hand = new Hand(3, 3, 'star', 2)
    hand.pass(50)
    expect(hand.answer(2, 'sim:2', 'notMember').link).toBe(null)
    const { counters, session } = hand.run.member
    expect([counters.denied, counters.returns, session.me]).toEqual([1, 0, 3])
    hand.answer(1, 'sim:1', 'notMember')
    expect([counters.denied, counters.returns, hand.run.member.phase]).toEqual([2, 1, 'finding'])
  })
  test('that is accepted does (PR-2)', () => {
    const hand = new Hand(2, 2, 'star')
    hand.pass(50)
    expect(hand.link(1, 'sim:1').link).not.toBe(null)
    expect(hand.run.member.counters.denied).toBe(0)
  })
  test('B8: in a mesh goes at once to who serves and who came later, to the older after a while (PR-2)', () => {
    const hand = new Hand(3, 4, 'mesh')
    hand.pass(100)
    expect(new Set(hand.greeted())).toEqual(new Set([1, 4]))
    hand.pass(ASKED_MS)
    expect(hand.greeted().at(-1)).toBe(2)
  })
})

describe('the way of a link', () => {
  function relayed(): Hand {
    const hand = new Hand(2, 2, 'star')
    hand.pass(50)
    hand.link(1, 'relay:1')
    hand.sent.length = 0
    return hand
  }
  /** When something went on the direct way. */
  function tries(hand: Hand, ms: number): number[] {
    const found: number[] = []
    for (const until = hand.now + ms; hand.now < until;) {
      hand.pass(50)
      // It is well heard by the hub all the time.
      peers.onPacket(hand.run, hand.peer(1), 'relay:1')
      hand.peer(1).link!.lastReceived = hand.now
      if (hand.sent.splice(0).some(({ to }) => to === 'sim:1')) found.push(hand.now)
    }
    return found
  }

  test('PA7: goes through the hub; the direct one is tried four times, then every two seconds', () => {
    const hand = relayed()
    const found = tries(hand, 3 * PROBE_MS + 1_000)
    const waits = found.slice(1).map((at, place) => at - found[place]!)
    expect([found[0]! - 50, ...waits.slice(0, 3)].every((wait) => wait <= 300)).toBe(true)
    expect(waits.slice(3).every((wait) => wait >= PROBE_MS)).toBe(true)
    expect(waits).toHaveLength(6)
    expect(peers.pathOf(hand.peer(1))).toBe('relay:1')
  })
  test('T39: that the relay has nobody there just now is no word about who was reached by it (PR-2)', () => {
    const hand = relayed()
    member.refused(hand.run, hand.now, 'relay:1')
    expect([hand.peer(1).reachability, hand.sent.length]).toEqual([null, 0])
  })
  test('T39: that nobody listens at the direct address is asked after there (PR-2)', () => {
    const hand = new Hand(2, 2, 'star')
    hand.pass(50)
    hand.link(1, 'sim:1')
    hand.sent.length = 0
    member.refused(hand.run, hand.now, 'sim:1')
    expect(hand.peer(1).reachability?.address).toBe('sim:1')
    expect(hand.sent.map(({ to }) => to)).toContain('sim:1')
  })
})

test('L8: a link that is closed is none any more, and what still comes on it is nobody’s (PR-2)', () => {
  const hand = new Hand(2, 2, 'star')
  hand.pass(50)
  const closed = hand.link(1, 'sim:1')
  const before = hand.sent.length
  links.close(hand.run, closed, CLOSE.idle)
  const { seal, peers } = hand.run.member
  expect(hand.sent.length).toBeGreaterThan(before)
  expect(peers.get(1)).toBe(undefined)
  hand.says(1, 'sim:1', new Uint8Array(20))
  expect(seal!.counters.unknown).toBe(1)
})

describe('what one datagram brings', () => {
  const PART = 5
  interface Heard {
    hand: Hand
    told: string[]
    far: link.Link
  }

  /** A member with a part that notes what it is told, and the other end of its link with 1. */
  function heard(more: Partial<Part<null>> = {}): Heard {
    const hand = new Hand(2, 2, 'star')
    const told: string[] = []
    const part: Part<null> = {
      channel: PART,
      receive: (_state, _now, _from, bytes) => void told.push(`message ${bytes[0]}`),
      read: (_state, _now, _from, bytes) => void told.push(`frame ${bytes[0]}`),
      acked: (_state, _to, sequence) => void told.push(`acked ${sequence}`),
      delivered: (_state, _to, message) => void told.push(`delivered ${message}`),
      unlinked: () => void told.push('unlinked'),
      ...more,
    }
    hand.run.member.mounts.push({ part: part as Part<unknown>, state: null })
    hand.pass(50)
    hand.link(1, 'sim:1')
    return { hand, told, far: link.create(hand.now) }
  }

  /** What the other end has queued reaches the member, with newest state if there is any. */
  function says({ hand, far }: Heard, newest: number | null = null): void {
    let left = newest
    if (left !== null) link.scheduleWrite(far, hand.now)
    link.flush(far, hand.now, {
      packet: (bytes) => hand.says(1, 'sim:1', bytes),
      write: (_sequence, writer) => {
        if (left === null) return link.NOTHING_WAITS
        writeU8(writer, left)
        left = null
        return PART
      },
      lost: () => {},
    })
  }

  function queue({ hand, far }: Heard, body: number): void {
    link.send(far, hand.now, Uint8Array.of(PART, body))
  }

  /** The other end takes what has left here. */
  function carried({ hand, far }: Heard): void {
    const end = hand.far(1)
    for (const { bytes } of hand.sent.splice(0)) end.hears(hand.now, bytes)
    for (const bytes of end.heard.splice(0)) {
      link.receive(far, hand.now, bytes, link.createArrivals())
    }
  }

  test('is told in its order: what it acks, its messages, its newest state (AP-19)', () => {
    const here = heard()
    const { hand, told } = here
    const number = links.send(hand.run, 1, Uint8Array.of(PART, 1))
    member.touched(hand.run, hand.now)
    carried(here)
    told.length = 0
    for (const body of [7, 8]) queue(here, body)
    says(here, 9)
    const acks = told.findIndex((one) => !one.startsWith('acked'))
    expect(acks).toBeGreaterThan(0)
    const [delivered, ...brought] = told.slice(acks)
    expect(delivered).toBe(`delivered ${number}`)
    expect(brought.toSorted()).toEqual(['frame 9', 'message 7', 'message 8'])
    expect(brought.indexOf('message 7')).toBeLessThan(brought.indexOf('message 8'))
  })
  test('is told whole, though the first of it ends the link: it is acked whole (AP-19)', () => {
    const here = heard({
      receive: (_state, _now, _from, bytes) => {
        here.told.push(`message ${bytes[0]}`)
        const peer = here.hand.run.member.peers.get(1)
        if (peer) links.close(here.hand.run, peer, CLOSE.idle)
      },
    })
    here.told.length = 0
    for (const body of [7, 8]) queue(here, body)
    says(here)
    expect(here.told).toEqual(['message 7', 'unlinked', 'message 8'])
    expect(here.hand.run.member.peers.get(1)?.link ?? null).toBe(null)
  })
  test('L6: of a flood is acked within the read, once what came was dealt with (AP-19)', () => {
    const here = heard({
      receive: () => void here.told.push(`after ${here.hand.sent.length} packets`),
    })
    const { hand, told } = here
    member.wake(hand.run, hand.now)
    hand.sent.length = 0
    for (let count = 0; count < ACK_NOW_AFTER; count++) {
      queue(here, 7)
      says(here)
    }
    expect(told.at(-1)).toBe('after 0 packets')
    expect(hand.sent).toHaveLength(1)
  })
  test('is not told again with the next (AP-19)', () => {
    const here = heard()
    here.told.length = 0
    for (const body of [7, 8]) {
      queue(here, body)
      says(here)
    }
    expect(here.told).toEqual(['message 7', 'message 8'])
  })
})

test('news of an operation are taken up to the length that the standard names, and no longer (PR-2)', () => {
  const { run } = new Hand(2, 2, 'star')
  const { published } = run.member.session.client
  const give = (size: number): void => {
    const head = encode(peerLayout, { ...NEWS, bytes: new Uint8Array(0) })
    const writer = createWriter()
    writeU8(writer, SESSION_CHANNEL)
    writeRaw(writer, head.subarray(0, -1))
    writeVarint(writer, size)
    writeRaw(writer, new Uint8Array(size))
    takeMessage(run, 1, finish(writer))
  }
  for (const size of [61_440, 61_441]) give(size)
  expect(published.coming.map(({ bytes }) => bytes.length)).toEqual([61_440])
  expect(run.member.counters.malformed).toBe(1)
})

test('a message for a part that is not there is counted, and harms nobody (PR-2)', () => {
  const { run } = new Hand(2, 2, 'star')
  expect(() => receiveForPart(run, 1, 99, Uint8Array.of(1, 2, 3))).not.toThrow()
  expect(run.member.counters.malformed).toBe(1)
})
