// Goal: who recovers a session whose primary and backup are gone, and what it goes on with.
// Method: the shipped verbs of a recovery, by hand, at instants that are arguments.
import { describe, expect, test } from 'vitest'
import { INC_MAX, MEMBERS_MAX } from '../../packages/holdfast/src/machine.ts'
import { NO_PARTS } from '../../proof/models/processes.ts'
import { create } from '../../packages/holdfast/src/replication/moderation.ts'
import * as durable from '../../packages/holdfast/src/replication/durable.ts'
import type { PartState } from '../../packages/holdfast/src/replication/durable.ts'
import { PLAYERS_KEPT_MAX } from '../../packages/holdfast/src/replication/layouts.ts'
import {
  type PeerMessage,
  SNAPSHOT_PIECE_MAX,
  testimonyLayout,
} from '../../packages/holdfast/src/session/messages.ts'
import * as recovery from '../../packages/holdfast/src/session/recovery.ts'
import * as machine from '../../packages/holdfast/src/session/session.ts'
import type { StoredState } from '../../packages/holdfast/src/session/segments.ts'
import { leadOf, type Session } from '../../packages/holdfast/src/session/state.ts'
import { decode, encode, type ValueOf } from '../../packages/holdfast/src/wire/layout.ts'
import { calmly } from '../calmly.ts'
import { listening, memberOf, saidOf } from './scene.ts'

const LEASE_MS = 10_000
const GATHER_MS = 2_000
const SEEK_AGAIN_MS = 1_000
const SEEK_MS = 8_000

type Heard = ReturnType<typeof listening>
type Testimony = ValueOf<typeof testimonyLayout>

const KEY = new Uint8Array(32)
const AT = SEEK_MS + 100
// Nobody was put out.
const NOBODY = { cv: 0, banned: [], votes: [] }

/** Member 3 of so many, which lost its primary at 0. */
function lost(count = 5): Session {
  const { own } = memberOf(3, count)
  own.recovers = true
  Object.assign(own.client, { lost: true, lostAt: 0 })
  own.client.register = { epoch: 2, primary: 1, backup: 2 }
  return own
}

function seek(own: Session, now = SEEK_MS, heard = listening()): Heard {
  calmly(() => recovery.seek({ session: own, now, out: heard.out }))
  return heard
}

/** It asked, and the register names it; the others are asked how much they were told. */
function gathering(
  count = 5,
  heard = listening(),
  make: (own: Session) => void = () => {},
): Session {
  const own = lost(count)
  make(own)
  seek(own)
  calmly(() =>
    machine.receiveFromHub({ session: own, now: AT, out: heard.out }, saidOf(3, 3, 0, 1)),
  )
  return own
}

function hear(own: Session, from: number, message: PeerMessage, out = listening().out): void {
  calmly(() => machine.receive({ session: own, now: AT, out }, from, message))
}

function says(own: Session, from: number, index: number, settled = 0, out = listening().out): void {
  hear(own, from, { kind: 'witness', epoch: 3, index, settled, ...NOBODY }, out)
}

function testimony(said: Partial<Testimony>, epoch = 3): PeerMessage & { kind: 'testimony' } {
  const whole = { index: 9, seqs: [], parts: [], former: [], ...said }
  return { kind: 'testimony', epoch, piece: 0, of: 1, bytes: encode(testimonyLayout, whole) }
}

describe('a member that lost its primary', () => {
  const asks = (make: (own: Session) => void, now = SEEK_MS): boolean => {
    const own = lost()
    make(own)
    return seek(own, now).asked.length > 0
  }
  test('T30: asks for the session after eight seconds, and again a second after a no (PR-2)', () => {
    expect(asks(() => {}, SEEK_MS - 1)).toBe(false)
    const own = lost()
    const wish = { why: 'recover', expect: 2, primary: 3, backup: 0, request: 1 }
    expect(seek(own).asked).toMatchObject([wish])
    expect([own.server.role, own.client.seekAt]).toEqual(['recovering', SEEK_MS + SEEK_AGAIN_MS])
    const no = { ...saidOf(2, 1, 2), ok: false }
    for (const request of [2, 1]) {
      machine.receiveFromHub(
        { session: own, now: SEEK_MS, out: listening().out },
        { ...no, request },
      )
      expect(own.server.role).toBe(request === 1 ? 'idle' : 'recovering')
    }
    expect(seek(own, SEEK_MS + SEEK_AGAIN_MS - 1).asked).toEqual([])
    expect(seek(own, SEEK_MS + SEEK_AGAIN_MS).asked).toHaveLength(1)
    // To who asks for nothing a no is nothing.
    const idle = lost()
    calmly(() =>
      machine.receiveFromHub(
        { session: idle, now: 0, out: listening().out },
        { ...no, request: 0 },
      ),
    )
    expect(idle.server.role).toBe('idle')
  })
  test.each<[string, (own: Session) => void]>([
    ['may not', (own) => void (own.recovers = false)],
    ['has its primary again', (own) => void (own.client.lost = false)],
    ['leaves', (own) => void (own.leaving = true)],
    ['stands by', (own) => void Object.assign(own.server, { role: 'backup', primary: 1 })],
    ['has no hub', (own) => void (own.hub.up = false)],
    ['is named as primary', (own) => void (own.client.register.primary = 3)],
    ['is named as backup', (own) => void (own.client.register.backup = 3)],
    ['promised not to', (own) => void (own.client.promisedUntil = SEEK_MS + 1)],
  ])('T30: does not ask for it where it %s (PR-2)', (_what, make) => {
    expect(asks(() => {})).toBe(true)
    expect(asks((own) => void (own.client.promisedUntil = SEEK_MS))).toBe(true)
    expect(asks(make)).toBe(false)
  })
})

describe('who recovers', () => {
  test('T30: tells the hub and all who are here, and asks them how much they were told (PR-2)', () => {
    const heard = listening()
    const own = gathering(5, heard)
    expect(own.server).toMatchObject({ role: 'gathering', epoch: 3, until: AT + GATHER_MS })
    expect([...own.server.published.keys()]).toEqual([3, 4, 5])
    expect(heard.sent).toEqual([
      ...[3, 4, 5].map((inc) => [inc, 'view']),
      ...[4, 5].map((inc) => [inc, 'inquire']),
    ])
    expect(heard.messages.at(-1)).toEqual({ kind: 'inquire', epoch: 3, whole: false })
    expect(heard.asked.map(({ kind }) => kind)).toEqual(['members'])
    expect(leadOf(own).lease.until).toBe(SEEK_MS + LEASE_MS)
  })
  test('T20: gives no number again that those who are gone may have given (PR-2)', () => {
    const nextOf = (make: (own: Session) => void): number => {
      return gathering(5, listening(), make).server.durable.nextInc
    }
    expect(nextOf(() => {})).toBe(5 + MEMBERS_MAX)
    expect(
      nextOf((own) => void own.client.former.set(40, { key: KEY, since: 0, ended: false })),
    ).toBe(40 + MEMBERS_MAX)
    // No segment says a number beyond the last.
    expect(
      nextOf(
        (own) => void own.client.former.set(INC_MAX - 9, { key: KEY, since: 0, ended: false }),
      ),
    ).toBe(INC_MAX)
  })
  test('T30: counts as gone whom view or register named, and never itself (PR-2)', () => {
    const here = (make: (own: Session) => void): number[] => {
      return [...gathering(5, listening(), make).server.published.keys()]
    }
    const view = (primary: number, backup: number) => (own: Session) => {
      own.client.view = { ...own.client.view, primary, backup }
    }
    expect(here(view(1, 4))).toEqual([3, 5])
    expect(here(view(1, 3))).toEqual([3, 4, 5])
    expect(here(view(1, 0))).toEqual([3, 4, 5])
  })
  test('T30: waits for all, and no longer than two seconds (PR-2)', () => {
    const own = gathering()
    says(own, 4, 0)
    expect(own.server.role).toBe('gathering')
    const { out, events } = listening()
    recovery.wake({ session: own, now: AT + GATHER_MS - 1, out })
    expect(own.server.role).toBe('gathering')
    recovery.wake({ session: own, now: AT + GATHER_MS, out })
    expect(own.server.role).toBe('alone')
    expect([...own.server.published.keys()]).toEqual([3, 4])
    expect(events).toContainEqual({ kind: 'welcome', to: [3, 4] })
    // By the clock nothing happens to who gathers nothing.
    const idle = lost()
    calmly(() => recovery.wake({ session: idle, now: 99_999, out }))
    expect(idle.server.role).toBe('idle')
  })
  test.each<[string, number, Partial<PeerMessage & { kind: 'witness' }>]>([
    ['of whom it does not know', 9, {}],
    ['of another epoch', 5, { epoch: 2 }],
  ])('T30: hears no answer %s (PR-2)', (_what, from, other) => {
    const own = gathering()
    says(own, 4, 0)
    hear(own, from, { kind: 'witness', epoch: 3, index: 0, settled: 0, ...NOBODY, ...other })
    expect(own.server.role).toBe('gathering')
    says(own, 5, 0)
    expect(own.server.role).toBe('alone')
  })
  test('T30: asks again whose link is new, for what is missing, and nobody else (PR-2)', () => {
    const own = gathering()
    const asked = (peer: number): unknown[] => {
      const { out, messages } = listening()
      calmly(() => machine.onLinked({ session: own, now: AT, out }, peer, 'udp'))
      return messages.filter(({ kind }) => kind === 'inquire')
    }
    expect(asked(4)).toEqual([{ kind: 'inquire', epoch: 3, whole: false }])
    says(own, 4, 7)
    expect(asked(4)).toEqual([])
    says(own, 5, 0)
    expect(own.server).toMatchObject({ witness: 4 })
    expect(asked(4)).toEqual([{ kind: 'inquire', epoch: 3, whole: true }])
    expect(asked(5)).toEqual([])
    const idle = lost()
    const { out, sent } = listening()
    calmly(() => recovery.ask(idle, 4, out))
    expect(sent).toEqual([])
  })
})

describe('the copy that a session goes on with', () => {
  /** Three have answered: 4 was told as much as `one`, 5 as much as `other`, and 3 five. */
  function told(one: number, other: number, heard = listening()): Session {
    const own = gathering(5, listening(), (made) => void (made.client.published.index = 5))
    says(own, 4, one)
    says(own, 5, other, 0, heard.out)
    return own
  }
  test('T30: is that of whom most was told to, of equals our own, then the first (PR-2)', () => {
    const witness = (one: number, other: number): unknown => {
      const own = told(one, other)
      return 'witness' in own.server ? own.server.witness : own.server.role
    }
    expect(witness(5, 5)).toBe('alone')
    expect(witness(0, 5)).toBe('alone')
    expect(witness(6, 5)).toBe(4)
    expect(witness(6, 6)).toBe(4)
    expect(witness(6, 7)).toBe(5)
  })
  test('T30: is asked for, and waited for as long again; then the next best is (PR-2)', () => {
    const heard = listening()
    const own = told(7, 6, heard)
    expect(heard.sent).toEqual([[4, 'inquire']])
    expect(heard.messages).toEqual([{ kind: 'inquire', epoch: 3, whole: true }])
    expect(own.server).toMatchObject({ witness: 4, copy: null, until: AT + GATHER_MS })
    // Nobody else's word changes that.
    says(own, 5, 99)
    expect(own.server).toMatchObject({ witness: 4 })
    says(own, 5, 6)
    const { out } = listening()
    const later = AT + GATHER_MS
    recovery.wake({ session: own, now: later, out })
    expect(own.server).toMatchObject({ witness: 5, until: later + GATHER_MS })
    recovery.wake({ session: own, now: later + GATHER_MS, out })
    expect(own.server.role).toBe('alone')
    expect([...own.server.published.keys()]).toEqual([3])
  })
  test.each<[string, number, Partial<PeerMessage & { kind: 'testimony' }>, boolean]>([
    ['of the witness', 4, {}, true],
    ['of another', 5, {}, false],
    ['of another epoch', 4, { epoch: 2 }, false],
    ['of too many pieces', 4, { of: 2_049 }, false],
    ['of which the beginning is missing', 4, { piece: 1 }, false],
  ])('T30: is the one %s (PR-2)', (_what, from, other, taken) => {
    const own = told(7, 6)
    hear(own, from, { ...testimony({}), ...other })
    expect(own.server.role).toBe(taken ? 'alone' : 'gathering')
  })
  test('T30: may have as many pieces as a snapshot has, and comes in order (PR-2)', () => {
    const own = told(7, 6)
    const { bytes } = testimony({})
    const piece = { kind: 'testimony', epoch: 3, of: 2_048, bytes } as const
    hear(own, 4, { ...piece, piece: 0 })
    expect(own.server).toMatchObject({ copy: { of: 2_048, pieces: [bytes] } })
    for (const [at, cut] of [bytes.slice(0, 2), bytes.slice(2)].entries()) {
      hear(own, 4, { ...piece, piece: at, of: 2, bytes: cut })
    }
    expect(own.server.role).toBe('alone')
  })
  test('T30: to those who do not recover it is nothing, nor is an answer (PR-2)', () => {
    const idle = lost()
    hear(idle, 4, testimony({}))
    says(idle, 4, 7)
    expect(idle.server.role).toBe('idle')
  })
  test('T78: that a part does not take, or that is none, is given up for the next (PR-2)', () => {
    const none = { ...testimony({}), bytes: Uint8Array.of(1) }
    for (const bad of [testimony({}), none]) {
      const own = told(7, 6)
      const parts = { ...NO_PARTS, restore: () => false }
      hear(own, 4, bad, { ...listening().out, parts })
      expect(own.server).toMatchObject({ role: 'gathering', witness: 5 })
    }
  })
  test('T78: of ours goes on though a part does not take it, for nobody is left to ask (PR-2)', () => {
    const own = gathering(4)
    const parts = { ...NO_PARTS, restore: () => false }
    says(own, 4, 0, 0, { ...listening().out, parts })
    expect(own.server.role).toBe('alone')
  })
  test('T80: counts what it, and each who answered, knows to be done; never less (PR-2)', () => {
    const own = told(7, 6)
    own.server.durable.players.get(5)!.lastSeq = 4
    const lastSeqs = (): unknown => {
      return [3, 4, 5].map((player) => own.server.durable.players.get(player)!.lastSeq)
    }
    if (own.server.role === 'gathering')
      own.server.answers.set(4, { index: 7, settled: 3, moderation: create() })
    const heard = listening()
    const seqs = [3, 5, 99].map((player) => ({ player, seq: 2 }))
    hear(own, 4, testimony({ index: 12, seqs }), heard.out)
    expect(lastSeqs()).toEqual([2, 3, 4])
    expect(own.server.log.base).toBe(13)
  })
  test('T30: is what all are told of, with who is gone and how many were silent (PR-2)', () => {
    const own = gathering()
    says(own, 4, 7)
    recovery.wake({ session: own, now: AT + GATHER_MS, out: listening().out })
    const heard = listening()
    hear(own, 4, testimony({}), heard.out)
    const gone = [1, 2].map((player) => ({ player, name: 'p' }))
    const recovered = { kind: 'recovered', epoch: 3, witness: 4, gone, silent: 1 }
    expect(heard.messages.filter(({ kind }) => kind === 'recovered')).toEqual([
      recovered,
      recovered,
    ])
    expect(heard.sent.filter(([, kind]) => kind === 'view').map(([to]) => to)).toEqual([3, 4])
    expect(heard.sent.filter(([, kind]) => kind === 'change').map(([to]) => to)).toEqual([3, 4, 5])
    const own3 = gathering(3, heard)
    expect([own3.server.role, heard.messages.at(-1)]).toMatchObject([
      'alone',
      { kind: 'recovered', witness: 3, silent: 0 },
    ])
  })
  test('S-5: names players who may come back, up to as many as are kept (PR-2)', () => {
    const former = [40, 41, 5].map((player) => ({ player, key: KEY }))
    const own = told(7, 6)
    const { players } = own.server.durable
    const before = players.get(5)
    for (let player = 1_000; players.size < PLAYERS_KEPT_MAX - 1; player++) {
      players.set(player, { player, key: KEY, lastSeq: 0, outcomes: [] })
    }
    hear(own, 4, testimony({ former }))
    expect([players.has(40), players.has(41), players.get(5)]).toEqual([true, false, before])
    expect(players.get(40)).toEqual({ player: 40, key: KEY, lastSeq: 0, outcomes: [] })
    expect([...own.client.former.keys()]).toEqual([40])
    expect(own.client.former.get(40)).toEqual({ key: KEY, since: AT, ended: false })
  })
})

describe('who is asked what it was told', () => {
  function answers(whole: boolean, from: number, parts: PartState[] = []): PeerMessage[] {
    const own = lost()
    own.client.register = { epoch: 3, primary: 4, backup: 0 }
    own.client.published = { ...own.client.published, index: 6, seqs: new Map([[2, 8]]) }
    own.client.former.set(40, { key: KEY, since: 0, ended: false })
    own.client.nextSeq = 5
    const heard = listening()
    const out = { ...heard.out, parts: { ...NO_PARTS, published: () => parts } }
    hear(own, from, { kind: 'inquire', epoch: 3, whole }, out)
    return heard.messages
  }
  test('T30: says how far that went, to whom the register names alone (PR-2)', () => {
    expect(answers(false, 4)).toEqual([
      { kind: 'witness', epoch: 3, index: 6, settled: 4, ...NOBODY },
    ])
    expect([answers(false, 5), answers(true, 5)]).toEqual([[], []])
  })
  test('T30: or sends all of it, in pieces that are no longer than a message (PR-2)', () => {
    const part = { part: 5, bytes: new Uint8Array(SNAPSHOT_PIECE_MAX).fill(9) }
    const pieces = answers(true, 4, [part]).filter((message) => message.kind === 'testimony')
    expect(pieces.map(({ piece, of, epoch }) => [piece, of, epoch])).toEqual([
      [0, 2, 3],
      [1, 2, 3],
    ])
    const bytes = Uint8Array.from(pieces.flatMap((one) => [...one.bytes]))
    const seqs = [{ player: 2, seq: 8 }]
    const former = [{ player: 40, key: KEY }]
    expect(decode(testimonyLayout, bytes)).toEqual({ index: 6, seqs, parts: [part], former })
  })
})

describe('what the hub has of a kept session', () => {
  /** Member 3 recovers it with two others, of whom one saw the log to 9. */
  function kept(parts: Partial<typeof NO_PARTS> = {}): {
    own: Session
    heard: Heard
    out: Heard['out']
  } {
    const heard = listening()
    const own = gathering(5, heard, (one) => void Object.assign(one, { terms: 'keep=10' }))
    const out = { ...heard.out, parts: { ...NO_PARTS, ...parts } }
    says(own, 4, 9, 0, out)
    says(own, 5, 2, 0, out)
    return { own, heard, out }
  }

  function read(length: number): StoredState {
    const state = durable.create()
    const row = { player: 4, key: KEY, lastSeq: 12, outcomes: [{ seq: 12, outcome: KEY }] }
    Object.assign(state, { nextInc: 4_000, players: new Map([[4, row]]) })
    const none = { settings: null, lineage: [], schema: 0, types: '', parts: [], changes: [] }
    return { ...none, segments: 3, state, length }
  }

  test('is waited for, and no longer than two seconds (N-8)', () => {
    const { own, out } = kept()
    expect(own.server.role).toBe('gathering')
    expect((own.server as { witness?: number }).witness).toBe(0)
    calmly(() => recovery.wake({ session: own, now: AT + GATHER_MS, out }))
    expect((own.server as { witness?: number }).witness).toBe(4)
    // It is too late.
    calmly(() => recovery.onStored({ session: own, now: AT + GATHER_MS, out }, null))
    expect(own.server.role).toBe('gathering')
  })

  test('is what it goes on from, with all outcomes, if nobody saw more (N-8)', () => {
    const { own, out } = kept()
    calmly(() => recovery.onStored({ session: own, now: AT, out }, read(9)))
    expect(own.server.role).toBe('alone')
    const { durable: state } = own.server
    expect(state.players.get(4)).toMatchObject({ lastSeq: 12, outcomes: [{ seq: 12 }] })
    expect(state.nextInc).toBe(4_000)
    expect([...state.members.keys()]).toEqual([3, 4, 5])
  })

  test.each<[string, () => StoredState | null, Partial<typeof NO_PARTS>]>([
    ['somebody saw more', () => read(8), {}],
    ['there is none, or none that can be read', () => null, {}],
    ['a part does not take it', () => read(9), { reopen: () => false }],
  ])('is left where %s: the most advanced is asked (N-8)', (_why, found, parts) => {
    const { own, out } = kept(parts)
    calmly(() => recovery.onStored({ session: own, now: AT, out }, found()))
    expect((own.server as { witness?: number }).witness).toBe(4)
  })
})
