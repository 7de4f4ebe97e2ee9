// Goal: requests of a player who asks for too much wait at the primary, in order, and end with a
// reason; those of others do not wait.
// Method: bytes at the objects of a primary, and an allowance that the test holds.
import { describe, expect, test } from 'vitest'
import type { Charge } from '../../packages/holdfast/src/kind/protocol/part.ts'
import { KIND } from '../../packages/holdfast/src/objects/protocol/messages.ts'
import { keyOf } from '../../packages/holdfast/src/objects/protocol/objects.ts'
import { REFUSALS } from '../../packages/holdfast/src/objects/protocol/state.ts'
import { createReader, readU8, readVarint } from '../../packages/holdfast/src/wire/bytes.ts'
import { Desk, GOOD, LIAR, ME, TYPE, wish } from './desk.ts'

const HOLD_MS = 5_000
const LOOK_MS = 10
const WAITING_MAX = 2_048

/** A desk at which the liar has so many tokens, what was charged, and what each was answered. */
function desk(tokens: number) {
  const made = Object.assign(new Desk(), { tokens })
  const charged: [from: number, what: Charge][] = []
  made.charge = (from, what) => {
    if (from === LIAR && what !== 'refusal' && made.tokens === 0) return false
    if (from === LIAR && what !== 'refusal') made.tokens--
    charged.push([from, what])
    return true
  }
  const answers = (to: number): string[] =>
    made.sent.flatMap(({ to: whom, bytes }) => {
      if (whom !== to) return []
      const reader = createReader(bytes)
      const kind = readU8(reader)
      if (kind === KIND.grant) return ['granted']
      if (kind !== KIND.refuse) return []
      return [`${readVarint(reader)} ${REFUSALS[readVarint(reader)]!}`]
    })
  /** So many rocks of ours, each asked for by a request of that number. */
  const rocks = Array.from({ length: 4 }, () => made.spawn(TYPE.plain).count)
  const take = (from: number, at: number, request: number): void => {
    made.hear(from, wish(ME, rocks[at]!, from, undefined, [0, 0], request))
  }
  return { made, charged, answers, take, rocks }
}

describe('a player who asks for too much', () => {
  test.each([true, false])('waits, and others do not (its requests first: %s) (SE-10)', (first) => {
    const { made, answers, take, rocks } = desk(1)
    const ask = (): void => [0, 1, 2].forEach((at) => take(LIAR, at, at + 1))
    if (first) ask()
    take(GOOD, 3, 1)
    if (!first) ask()
    expect([answers(GOOD), answers(LIAR)]).toEqual([['granted'], ['granted']])
    // What it asked for first is decided first.
    made.tokens = 1
    made.pass(LOOK_MS - 1)
    expect(answers(LIAR)).toEqual(['granted'])
    made.pass(1)
    const granted = rocks.map((count) => made.state.grants.get(keyOf(ME, count))?.at(-1)?.to)
    expect(granted).toEqual([LIAR, LIAR, undefined, GOOD])
    expect(made.state.pending.map(({ number }) => number)).toEqual([3])
    made.tokens = 9
    made.pass(LOOK_MS)
    expect(answers(LIAR)).toEqual(['granted', 'granted', 'granted'])
    expect([made.tokens, made.state.pendingAt]).toEqual([8, Infinity])
  })
  test('hears after five seconds that it is too much, and is not charged for that (SE-10)', () => {
    const { made, charged, answers, take } = desk(0)
    take(LIAR, 0, 7)
    made.pass(HOLD_MS - 1)
    expect(answers(LIAR)).toEqual([])
    made.pass(LOOK_MS)
    expect([answers(LIAR), charged]).toEqual([['7 overloaded'], []])
    expect(made.state.pending).toEqual([])
  })
  test('has 2,048 requests wait, and one more is refused at once (SE-10)', () => {
    const { made, answers, take } = desk(0)
    for (let request = 1; request <= WAITING_MAX; request++) take(LIAR, 0, request)
    expect(answers(LIAR)).toEqual([])
    take(LIAR, 0, WAITING_MAX + 1)
    expect(answers(LIAR)).toEqual([`${WAITING_MAX + 1} overloaded`])
    // One that is sent again waits once.
    take(LIAR, 0, 5)
    expect(made.state.pending.length).toBe(WAITING_MAX)
  })
  test('is charged once for what waited, and again for what was refused (SE-10)', () => {
    const { made, charged, answers, take } = desk(0)
    take(LIAR, 0, 1)
    take(GOOD, 0, 1)
    made.tokens = 1
    made.pass(LOOK_MS)
    expect([answers(GOOD), answers(LIAR)]).toEqual([['granted'], ['1 held']])
    expect(charged).toEqual([
      [GOOD, 'operation'],
      [LIAR, 'again'],
      [LIAR, 'refusal'],
    ])
  })
})

describe('a request about what the primary does not know', () => {
  test('waits five seconds, and is then answered that nothing is known of it (PR-2)', () => {
    const { made, answers, rocks } = desk(9)
    // A version of a rock that nobody was granted, and an object that nobody made.
    made.hear(GOOD, wish(ME, rocks[0]!, GOOD, undefined, [1, 9], 1))
    made.pass(HOLD_MS - 1)
    expect([answers(GOOD), made.state.pending.length]).toEqual([[], 1])
    made.pass(1)
    expect([answers(GOOD), made.state.pending.length]).toEqual([['1 no-answer'], 0])
    made.hear(GOOD, wish(GOOD, 77, GOOD, undefined, [0, 0], 2))
    made.pass(HOLD_MS)
    expect(answers(GOOD)).toEqual(['1 no-answer', '2 no-answer'])
    expect(made.find(ME, rocks[0]!)).toMatchObject({ owner: ME })
  })
})
