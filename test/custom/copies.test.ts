// Goal: a part of another author's has one state at all who keep it and one at all who see it; what
// comes twice, too late, of another, or in pieces that fit nothing, changes neither.
// Method: the part by itself with a journal for a state: each change is a text.
import { beforeEach, describe, expect, test } from 'vitest'
import {
  type Asker,
  type Author,
  create,
  CUSTOM_PIECE_MAX,
  CUSTOM_SNAPSHOT_MAX,
  type Custom,
  customAnswer,
  customMessage,
  customPart,
  customSnapshot,
  sendMessage,
} from '../../packages/holdfast/src/custom/protocol/custom.ts'
import type { Effected, PartOut } from '../../packages/holdfast/src/kind/protocol/part.ts'
import type { Charge } from '../../packages/holdfast/src/kind/protocol/part.ts'
import { decode, encode } from '../../packages/holdfast/src/wire/layout.ts'
import { calmPart } from '../calmly.ts'

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)
const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

let askedBy: unknown[] = []
// An operation is its changes, with commas between; `no` is refused, `bad` is no snapshot.
const author: Author = {
  create: () => [],
  perform: (_, operation, by) => {
    askedBy.push(by)
    const text = textOf(operation)
    if (text === 'no') return { kind: 'refused', reason: 'it says no' }
    const changes = text === '' ? [] : text.split(',').map(bytesOf)
    return { kind: 'done', changes, answer: bytesOf(`did ${text}`) }
  },
  apply: (state, change) => void (state as string[]).push(textOf(change)),
  snapshot: (state) => bytesOf((state as string[]).join()),
  restore: (bytes) => (textOf(bytes) === 'bad' ? null : textOf(bytes).split(',')),
}
const part = calmPart(customPart(64, author))

let events: unknown[] = []
let sent: { to: number; kind: string }[] = []
let out: PartOut
beforeEach(() => {
  events = []
  sent = []
  askedBy = []
  out = {
    send: (to, bytes) => sent.push({ to, kind: decode(customMessage, bytes)!.kind }),
    emit: (event) => void events.push(event),
  }
})

const VIEW = { session: 's', primary: 1, epoch: 1, mesh: false, left: false }

/** Member `me` of three, of which 1 serves. */
function member(me: number): Custom {
  const state = create(author)
  const members = [1, 2, 3].map((inc) => ({ inc, player: inc * 10 }))
  part.view!(state, 0, { ...VIEW, me, members }, out)
  return state
}

function perform(state: Custom, operation: string): Effected {
  return part.perform!(state, 500, bytesOf(operation), 2, 20) as Effected
}

function come(state: Custom, message: Parameters<typeof encode<never>>[1], from = 1): void {
  part.receive!(state, 0, from, encode(customMessage, message), out)
}

const changesOf = (before: number, ...texts: string[]): never => {
  return { kind: 'changes', before, changes: texts.map(bytesOf) } as never
}

describe('an operation', () => {
  test('is put to the author with who asks and when, and says what it changes (PR-2)', () => {
    const state = member(1)
    part.clock!(state, 1_000)
    const { outcome, changes, news, refused } = perform(state, 'a,b')
    expect(askedBy).toMatchObject([{ player: 20, inc: 2, now: 1_500 }])
    const [by] = askedBy as [Asker]
    expect([10, 30, 40].map((player) => by.isHere(player))).toEqual([true, true, false])
    expect(textOf((decode(customAnswer, outcome) as { answer: Uint8Array }).answer)).toBe('did a,b')
    expect(changes.map(textOf)).toEqual(['a', 'b'])
    expect(refused).toBeFalsy()
    expect(decode(customMessage, news!)).toEqual(changesOf(0, 'a', 'b'))
    // Nothing is changed before it is in the log.
    expect(state.committed).toEqual({ made: 0, state: [] })
  })
  test('that changes nothing is no news, and one that is refused says why (PR-2)', () => {
    const state = member(1)
    expect(perform(state, '')).toMatchObject({ changes: [], news: null })
    const refusal = perform(state, 'no')
    expect(refusal).toMatchObject({ refused: true, changes: [], news: null })
    expect(decode(customAnswer, refusal.outcome)).toEqual({ kind: 'refused', reason: 'it says no' })
  })
  test('counts its changes at who keeps them, from where the last one ended (PR-2)', () => {
    const state = member(1)
    for (const change of ['a', 'b']) part.apply!(state, bytesOf(change))
    expect(state.committed).toEqual({ made: 2, state: ['a', 'b'] })
    expect(state.published).toEqual({ made: 0, state: [] })
    expect(decode(customMessage, perform(state, 'c').news!)).toEqual(changesOf(2, 'c'))
  })
})

describe('changes that come', () => {
  test('are made once, in order, and told (PR-2)', () => {
    const state = member(2)
    come(state, changesOf(0, 'a', 'b'))
    come(state, changesOf(2, 'c'))
    expect(state.published).toEqual({ made: 3, state: ['a', 'b', 'c'] })
    expect(events).toEqual([{ kind: 'custom-changed' }, { kind: 'custom-changed' }])
    expect(state.committed.made).toBe(0)
  })
  test('again, or behind a gap, change nothing and are counted (PR-2)', () => {
    const state = member(2)
    come(state, changesOf(0, 'a'))
    events = []
    come(state, changesOf(0, 'a'))
    come(state, changesOf(2, 'c'))
    expect(state.published).toEqual({ made: 1, state: ['a'] })
    expect(state.counters).toMatchObject({ again: 1, gaps: 1, dropped: 0, malformed: 0 })
    expect(events).toEqual([])
  })
  test('of anybody but who serves are dropped and counted (PR-2)', () => {
    const state = member(2)
    come(state, changesOf(0, 'a'), 3)
    come(state, { kind: 'state', piece: 0, of: 1, bytes: bytesOf('x') } as never, 3)
    expect(state.published.made).toBe(0)
    expect(state.incoming).toBeNull()
    expect(state.counters.dropped).toBe(2)
  })
})

describe('a snapshot', () => {
  const welcome = (from: Custom): Uint8Array[] => part.welcome!(from) as Uint8Array[]
  const large = 'x'.repeat(CUSTOM_PIECE_MAX)

  test('brings who comes to where who serves is, in pieces (PR-2)', () => {
    const [one, three] = [member(1), member(3)]
    for (const change of ['a', large]) part.apply!(one, bytesOf(change))
    const pieces = welcome(one)
    expect(pieces).toHaveLength(2)
    part.receive!(three, 0, 1, pieces[0]!, out)
    expect([three.published.made, events]).toEqual([0, []])
    part.receive!(three, 0, 1, pieces[1]!, out)
    expect(three.published).toEqual({ made: 2, state: ['a', large] })
    expect(events).toEqual([{ kind: 'custom-changed' }])
    expect(three.incoming).toBeNull()
  })
  test('that the author does not take changes nothing, and is counted (PR-2)', () => {
    const three = member(3)
    come(three, changesOf(0, 'a'))
    events = []
    for (const state of [bytesOf('bad'), null]) {
      const bytes = encode(customSnapshot, { made: 7, state })
      come(three, { kind: 'state', piece: 0, of: 1, bytes } as never)
      expect(part.restore!(three, bytes)).toBe(false)
    }
    come(three, { kind: 'state', piece: 0, of: 1, bytes: Uint8Array.of(255) } as never)
    expect(three.published).toEqual({ made: 1, state: ['a'] })
    expect([three.committed.made, events]).toEqual([0, []])
    expect(three.counters).toMatchObject({ refused: 5, malformed: 0 })
  })
  test('of more pieces than a state can have is malformed; of as many it is taken (PR-2)', () => {
    const three = member(3)
    const most = CUSTOM_SNAPSHOT_MAX / CUSTOM_PIECE_MAX + 1
    come(three, { kind: 'state', piece: 0, of: most + 1, bytes: bytesOf('x') } as never)
    expect([three.incoming, three.counters.malformed]).toEqual([null, 1])
    come(three, { kind: 'state', piece: 0, of: most, bytes: bytesOf('x') } as never)
    expect([three.incoming?.of, three.counters.malformed]).toEqual([most, 1])
  })
  test('of what is kept goes to who stands by, of what is shown to who keeps the room (PR-2)', () => {
    const one = member(1)
    part.apply!(one, bytesOf('a'))
    come(one, changesOf(0, 'shown'))
    const read = (bytes: Uint8Array) => textOf(decode(customSnapshot, bytes)!.state!)
    expect(read(part.snapshot!(one) as Uint8Array)).toBe('a')
    expect(read(part.published!(one) as Uint8Array)).toBe('shown')
    const two = member(2)
    expect(part.restore!(two, part.snapshot!(one) as Uint8Array)).toBe(true)
    expect([two.committed, two.published.made]).toEqual([{ made: 1, state: ['a'] }, 0])
  })
})

test('in another session all is as it was at first: both states, pieces, and what was said (PR-2)', () => {
  const one = member(1)
  part.apply!(one, bytesOf('a'))
  come(one, changesOf(0, 'a'))
  come(one, { kind: 'state', piece: 0, of: 2, bytes: bytesOf('x') } as never)
  sendMessage(one, 0, 3, bytesOf('hello'), out)
  expect([one.rates.size, one.incoming?.of]).toEqual([1, 2])
  events = []
  part.reset!(one, out)
  const nothing = { made: 0, state: [] }
  expect([one.committed, one.published]).toEqual([nothing, nothing])
  expect([one.rates.size, one.incoming]).toEqual([0, null])
  expect(events).toEqual([{ kind: 'custom-changed' }])
})

test('a message is passed on only as long as its sender has credit for it (PR-2)', () => {
  const one = member(1)
  const asked: [number, Charge][] = []
  const poor: PartOut = { ...out, charge: (...what) => (asked.push(what as never), false) }
  const message = { kind: 'say', to: 3, bytes: bytesOf('hello') } as const
  part.receive!(one, 0, 2, encode(customMessage, message), poor)
  expect([sent, one.counters.dropped]).toEqual([[], 1])
  expect(asked).toEqual([[2, 'operation']])
  part.receive!(one, 0, 2, encode(customMessage, message), { ...out, charge: () => true })
  expect(sent).toEqual([{ to: 3, kind: 'said' }])
})
