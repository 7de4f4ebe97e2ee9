// Goal: a greeting lets in who has the key, and nobody who altered, repeated, turned round or moved
// what others said; it says why, throws nothing, and keeps nothing without a limit.
// Method: both sides by hand, and whoever is in between; jobs are answered at once.
import { calmly } from '../../../../test/calmly.ts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { answerOf, chance, exchange, kindsOf } from '../../../../test/mailbox/handshakes.ts'
import { OPEN_GATE, ownKey, Side } from '../../../../test/mailbox/handshakes.ts'
import { decode, encode } from '../../../holdfast/src/wire/layout.ts'
import {
  completeJob,
  EARLY_BYTES_MAX,
  type PeerPolicy,
  beginHandshake,
  receiveHandshake,
} from './handshake.ts'
import { type HandshakeMessage, handshakeLayout, MAIL_VERSION, NONCE_BYTES } from './messages.ts'

const REFUSAL_MAX = 300

const ALICE = { id: 'alice', keys: [ownKey(1)] }
const BOB = { id: 'bob', keys: [ownKey(2)] }
const EVE = { id: 'eve', keys: [ownKey(3)] }

const calling = (gate?: PeerPolicy): Side => new Side(ALICE, 'bob', gate && { gate })
const called = (gate?: PeerPolicy): Side => new Side(BOB, null, gate && { gate })
const knowing = (key: Uint8Array): PeerPolicy => ({ ...OPEN_GATE, keyOf: () => key })

describe('a greeting', () => {
  test('makes both known to each other, and who calls proves first (MB-21)', () => {
    const [alice, bob] = [calling(), called()]
    const kinds = kindsOf(exchange(alice, bob))
    const first = ['open', 'known', 'open', 'known', 'key']
    expect(kinds).toEqual([...first, 'key', 'proof', 'proof'])
    const [ours, theirs] = [ALICE.keys[0]!.key, BOB.keys[0]!.key]
    const proof = { own: ours, isAsked: false }
    expect(alice.known).toEqual({ id: 'bob', key: theirs, proof, early: [] })
    expect(bob.known).toEqual({
      id: 'alice',
      key: ours,
      proof: { ...proof, own: theirs },
      early: [],
    })
  })

  test('of which any byte was altered lets in neither on the word of the other (MB-21)', () => {
    const length = exchange(calling(), called()).reduce((sum, one) => sum + one.length, 0)
    for (let at = 0; at < length; at++) {
      const [alice, bob] = [calling(), called()]
      let before = 0
      exchange(alice, bob, (bytes) => {
        const place = at - before
        before += bytes.length
        return place >= 0 && place < bytes.length ? flipped(bytes, place) : bytes
      })
      // What was altered last is seen by its receiver; all before it by both.
      const isLast = at >= length - 65
      expect([at, alice.known, isLast ? null : bob.known]).toEqual([at, null, null])
    }
  })

  test('that is said once more is worth nothing, to either side (MB-21)', () => {
    const [alice, bob] = [calling(), called()]
    const all = exchange(alice, bob)
    const again = called()
    for (const bytes of [...all.slice(0, 2), ...all.slice(5, 7)]) again.hear(bytes)
    expect([again.known, again.counts]).toEqual([null, 'unproved'])
    expect(again.refused).toBe('alice did not prove to bob that the key which it named is its own')
    const other = calling()
    for (const bytes of [...all.slice(2, 5), all[7]!]) other.hear(bytes)
    expect([other.known, other.counts]).toEqual([null, 'unproved'])
  })

  test('that is turned round is worth nothing, under whatever name (MB-21)', () => {
    const alice = calling()
    for (const bytes of alice.said.splice(0)) alice.hear(bytes)
    expect(alice.refused).toBe('this is the mailbox of alice, not of bob')
    // As what she says would have to look to be an answer: with her own key and her own proof.
    const second = calling()
    const nonce = chance(NONCE_BYTES)
    const open = { kind: 'open', version: MAIL_VERSION, from: 'bob', to: 'alice', nonce } as const
    second.hear(encode(handshakeLayout, open))
    second.hear(second.said[1]!)
    second.hear(encode(handshakeLayout, { kind: 'key', key: ALICE.keys[0]!.key }))
    second.hear(second.said.at(-1)!)
    expect([second.known, second.counts]).toEqual([null, 'unproved'])
  })

  test('of two connections at once proves nothing on the other one (MB-21)', () => {
    const [one, two] = [calling(), calling()]
    const [first, second] = [called(), called()]
    // Up to the proofs, each by itself; then these change places.
    for (const [alice, bob] of [
      [one, first],
      [two, second],
    ] as const) {
      for (const bytes of alice.said.splice(0)) bob.hear(bytes)
      for (const bytes of bob.said.splice(0)) alice.hear(bytes)
    }
    for (const bytes of one.said.splice(0)) second.hear(bytes)
    for (const bytes of two.said.splice(0)) first.hear(bytes)
    expect([first.counts, second.counts]).toEqual(['unproved', 'unproved'])
  })

  test('with somebody else proves nothing to a third (MB-21)', () => {
    // Alice calls eve, who calls bob and passes on what alice proves.
    const alice = new Side(ALICE, 'eve')
    const bob = called()
    const nonce = alice.handshake.nonce
    const open = { kind: 'open', version: MAIL_VERSION, from: 'alice', to: 'bob', nonce } as const
    bob.hear(encode(handshakeLayout, open))
    bob.hear(alice.said.splice(0)[1]!)
    const theirs = decode(handshakeLayout, bob.said[0]!) as HandshakeMessage & { kind: 'open' }
    const asEve = { ...theirs, from: 'eve' }
    for (const bytes of [encode(handshakeLayout, asEve), ...bob.said.splice(1)]) alice.hear(bytes)
    for (const bytes of alice.said.splice(0)) bob.hear(bytes)
    expect([bob.known, bob.counts]).toEqual([null, 'unproved'])
  })

  test('that somebody passes on whole is one of the two at its ends, and not with him', () => {
    const [alice, bob] = [calling(), called()]
    exchange(alice, bob, (bytes) => bytes.slice())
    expect([alice.known?.id, bob.known?.id]).toEqual(['bob', 'alice'])
    expect(alice.known?.key).not.toEqual(EVE.keys[0]!.key)
  })

  test('gives who proves nothing two ids, two keys and a nonce', () => {
    const bob = called()
    for (const bytes of calling().said) bob.hear(bytes)
    expect(kindsOf(bob.said)).toEqual(['open', 'known', 'key'])
  })
})

function flipped(bytes: Uint8Array, at: number): Uint8Array {
  const copy = bytes.slice()
  copy[at]! ^= 1
  return copy
}

describe('keys', () => {
  test('by which one is not known are refused on either side, with what to do (MB-20, MB-21)', () => {
    const known = knowing(ownKey(9).key)
    for (const [alice, bob] of [
      [calling(known), called()],
      [calling(), called(known)],
    ] as const) {
      exchange(alice, bob)
      const [strict, other] = alice.counts === null ? [bob, alice] : [alice, bob]
      const [us, them] = strict === alice ? ['alice', 'bob'] : ['bob', 'alice']
      expect([strict.counts, other.counts]).toEqual(['otherKey', null])
      expect(strict.refused).toBe(`${them} is known by another key`)
      expect(other.refused).toBe(
        `${us} knows ${them} by another key than this: it has to trust the new one, ` +
          'or the old one has to come back',
      )
      expect([alice.known, bob.known]).toEqual([null, null])
    }
  })

  test('from before are proved to who knows one by them, the newest to all others', () => {
    const [old, now] = [ownKey(7), ownKey(8)]
    const changed = { id: 'bob', keys: [now, old] }
    for (const [gate, key] of [
      [knowing(old.key), old.key],
      [knowing(now.key), now.key],
      [OPEN_GATE, now.key],
    ] as const) {
      const [alice, bob] = [calling(gate), new Side(changed, null)]
      exchange(alice, bob)
      expect([alice.known?.key, bob.known?.id]).toEqual([key, 'alice'])
      expect(bob.known?.proof).toEqual({ own: key, isAsked: gate !== OPEN_GATE })
    }
  })

  test('from before are not asked for by who is in between: that is signed too', () => {
    const [old, now] = [ownKey(7), ownKey(8)]
    const [alice, bob] = [calling(), new Side({ id: 'bob', keys: [now, old] }, null)]
    const known = encode(handshakeLayout, { kind: 'known', key: old.key })
    exchange(alice, bob, (bytes, n) => (n === 1 ? known : bytes))
    expect([alice.known, bob.known, bob.counts]).toEqual([null, null, 'unproved'])
  })
})

describe('a mailbox says', () => {
  test('that it is called like the other, or that nobody is called like this (PR-2)', () => {
    const refusedFor = (from: string): string | null => {
      const ada = new Side({ id: 'ada', keys: [ownKey(1)] }, null)
      const nonce = chance(NONCE_BYTES)
      const open = { kind: 'open', version: MAIL_VERSION, from, to: 'ada', nonce } as const
      ada.hear(encode(handshakeLayout, open))
      return ada.refused
    }
    expect(refusedFor('bob')).toBe(null)
    expect(refusedFor('ada')).toBe('ada is the name of this mailbox too')
    // A terminal would obey it: the bell, an escape, the end of a line.
    for (const obeyed of ['b\u0007b', 'b\u001b[2Jb', 'b\nb', 'b\u009bb']) {
      expect(refusedFor(obeyed)).toBe('this is no valid name of a mailbox')
    }
    expect(refusedFor('')).toBe('the name of a mailbox must not be empty')
  })

  test('who answered where another was called (PR-2)', () => {
    const alice = calling()
    const nonce = chance(NONCE_BYTES)
    const open = { kind: 'open', version: MAIL_VERSION, from: 'eve', to: 'alice', nonce } as const
    alice.hear(encode(handshakeLayout, open))
    expect([alice.refused, alice.known]).toEqual(['bob was called and eve answered', null])
  })

  test('a sentence whole, if it fits to the last byte (PR-2)', () => {
    const told = [REFUSAL_MAX, REFUSAL_MAX + 1].map((length) => {
      const bob = called({ ...OPEN_GATE, refuses: () => 'x'.repeat(length) })
      for (const bytes of calling().said) bob.hear(bytes)
      const message = decode(handshakeLayout, bob.said[0]!) as HandshakeMessage & {
        kind: 'refused'
      }
      return message.why.length
    })
    expect(told).toEqual([REFUSAL_MAX, REFUSAL_MAX])
  })

  test('which versions the two speak, to a build that is older or newer', () => {
    // As version 1 and 2 open, and as a version may that is not made yet.
    for (const [version, behind] of [
      [1, new Uint8Array(32)],
      [2, new Uint8Array(0)],
      [4, new Uint8Array(900)],
    ] as const) {
      const bob = called()
      const nonce = chance(NONCE_BYTES)
      const open = { kind: 'open', version, from: 'alice', to: 'bob', nonce } as const
      bob.hear(Uint8Array.of(...encode(handshakeLayout, open), ...behind))
      expect(bob.refused).toBe(
        `bob speaks version 3 of mailboxes, who calls version ${version}: update the older one`,
      )
      expect(kindsOf(bob.said)).toEqual(['refused'])
    }
    // Version 2 reads what we open with, and says by itself what is wrong.
    const [open] = calling().said
    expect(open!.length).toBe(2 + 6 + 4 + NONCE_BYTES)
  })

  test('whatever ids there are, a sentence that fits', () => {
    // Each sign of these is printed as six; an id has 64 bytes at most.
    const [one, two] = ['a', 'b'].map((end) => '\u2066'.repeat(21) + end)
    const gate = knowing(ownKey(9).key)
    const refusals: Uint8Array[] = []
    const overhear = (bytes: Uint8Array): Uint8Array => {
      if (kindsOf([bytes])[0] === 'refused') refusals.push(bytes)
      return bytes
    }
    for (const [here, there] of [
      [gate, OPEN_GATE],
      [OPEN_GATE, gate],
      [{ ...OPEN_GATE, refuses: () => 'n\u00f6 '.repeat(100) }, OPEN_GATE],
    ] as const) {
      const alice = calmly(() => new Side({ id: one!, keys: [ownKey(1)] }, two!, { gate: here }))
      const bob = new Side({ id: two!, keys: [ownKey(2)] }, null, { gate: there })
      calmly(() => exchange(alice, bob, overhear))
    }
    const lengths = refusals.map((bytes) => {
      const refused = decode(handshakeLayout, bytes) as HandshakeMessage & { kind: 'refused' }
      return new TextEncoder().encode(refused.why).length
    })
    const full = lengths.map((length) => length <= REFUSAL_MAX && length > REFUSAL_MAX - 9)
    expect(full).toEqual([true, true, true])
  })
})

describe('nothing hostile', () => {
  test('is taken out of turn, at any stage, by either side', () => {
    const all = exchange(calling(), called())
    for (const isCaller of [true, false]) {
      const theirs = all.filter((_bytes, n) => [2, 3, 4, 7].includes(n) === isCaller)
      for (let stage = 0; stage < theirs.length; stage++) {
        for (const message of [...all, encode(handshakeLayout, { kind: 'alive', wanted: true })]) {
          const side = isCaller ? calling() : called()
          const other = isCaller ? called() : calling()
          const spoken = exchangeUpTo(isCaller ? side : other, isCaller ? other : side, side, stage)
          expect(spoken).toBe(stage)
          if (kindsOf([message])[0] === side.handshake.stage) continue
          side.hear(message)
          expect([side.known, side.refused]).toEqual([null, 'a handshake message came out of turn'])
        }
      }
    }
  })

  test('throws, or gets in, or is kept without a limit: bytes by chance', () => {
    const message = fc.oneof(fc.uint8Array({ maxLength: 120 }), fc.constantFrom(...sayings()))
    fc.assert(
      fc.property(fc.array(message, { maxLength: 12 }), fc.boolean(), (messages, isCaller) => {
        const side = isCaller ? calling() : called()
        for (const bytes of messages) side.hear(bytes)
        expect(side.known).toBe(null)
      }),
      { numRuns: 3_000 },
    )
  })

  test('comes before a proof is checked, but what the other side says behind its proof', () => {
    const { handshake, first } = beginHandshake(ALICE, chance(NONCE_BYTES), 'bob', OPEN_GATE)
    const bob = called()
    for (const bytes of first) bob.hear(bytes)
    for (const bytes of bob.said.splice(0)) {
      const { job } = receiveHandshake(handshake, bytes, OPEN_GATE)
      if (!job) continue
      for (const answer of completeJob(handshake, answerOf(job)).answers) bob.hear(answer)
    }
    const [proof] = bob.said
    const { job } = receiveHandshake(handshake, proof!, OPEN_GATE)
    const letters = new Uint8Array(1000).fill(7)
    expect(receiveHandshake(handshake, letters, OPEN_GATE).answers).toEqual([])
    const { known } = completeJob(structuredClone(handshake), answerOf(job!))
    expect(known?.early).toEqual([letters])
    const flood = new Uint8Array(EARLY_BYTES_MAX)
    const { refused } = receiveHandshake(handshake, flood, OPEN_GATE)
    expect(refused).toBe('too many messages came before the handshake was done')
  })

  test('is heard any more once either side has refused (PR-2)', () => {
    const alice = calling()
    const first = exchange(calling(), called())[2]!
    const refusal = encode(handshakeLayout, { kind: 'refused', why: 'not you' })
    expect(receiveHandshake(alice.handshake, refusal, OPEN_GATE).refused).toBe('not you')
    const nothing = { answers: [], job: null, known: null, refused: null, counts: null }
    for (const bytes of [first, refusal, Uint8Array.of(255)]) {
      expect(receiveHandshake(alice.handshake, bytes, OPEN_GATE)).toEqual(nothing)
    }
  })

  test('passes for a signature where curves fail', () => {
    for (const failed of [null, false, true] as const) {
      const { handshake, first } = beginHandshake(ALICE, chance(NONCE_BYTES), 'bob', OPEN_GATE)
      const bob = called()
      for (const bytes of first) bob.hear(bytes)
      for (const bytes of bob.said) receiveHandshake(handshake, bytes, OPEN_GATE)
      const { refused, answers } = completeJob(handshake, failed)
      expect([refused, kindsOf(answers)]).toEqual(['signing failed', ['refused']])
    }
  })
})

/** Messages go on until a side has heard so many. @returns how many it has heard */
function exchangeUpTo(caller: Side, other: Side, side: Side, most: number): number {
  let heard = 0
  while (caller.said.length + other.said.length > 0) {
    for (const [from, to] of [
      [caller, other],
      [other, caller],
    ] as const) {
      for (const bytes of from.said.splice(0)) {
        if (to === side && heard === most) return heard
        if (to === side) heard++
        to.hear(bytes)
      }
    }
  }
  return heard
}

/** Each message as it would be, of the wrong people. */
function sayings(): Uint8Array[] {
  const [eve, bob] = [new Side(EVE, 'bob'), called()]
  const asked = new Side({ ...EVE, id: 'bob' }, null)
  return [...exchange(eve, bob), ...exchange(new Side({ ...EVE, id: 'mallory' }, 'bob'), asked)]
}
