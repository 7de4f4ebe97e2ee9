import { describe, expect, test } from 'vitest'
import * as eights from './eights.ts'
import { CARDS, indexOf, nameOf, rankOf, suitOf } from './faces.ts'

/** A face by its name. */
function face(name: string): number {
  return Array.from({ length: CARDS }, (_, each) => each).find((each) => nameOf(each) === name)!
}

const round: eights.Round = { players: [3, 5, 9], turn: 1, suit: 2, drawn: 0, passes: 0 }

test('52 faces, each with a name of its own', () => {
  const names = new Set(Array.from({ length: CARDS }, (_, each) => nameOf(each)))
  expect(names.size).toBe(CARDS)
  expect([suitOf(face('10 of hearts')), rankOf(face('10 of hearts'))]).toEqual([2, 10])
  expect(indexOf(face('queen of spades'))).toBe('Q')
})

describe('what may be played', () => {
  test.each([
    ['4 of hearts', '9 of hearts', 2, true],
    ['9 of clubs', '9 of hearts', 2, true],
    ['4 of clubs', '9 of hearts', 2, false],
    ['8 of clubs', '9 of hearts', 2, true],
    ['4 of clubs', '8 of hearts', 0, true],
    ['4 of hearts', '8 of hearts', 0, false],
  ])('%s on %s with suit %s: %s', (card, top, suit, is) => {
    expect(eights.fits(face(card), face(top), suit)).toBe(is)
  })
  test('only in turn, and then the next follows', () => {
    const [card, top] = [face('4 of hearts'), face('9 of hearts')]
    expect(eights.whyNot(round, 3, card, top)).toContain('not your turn')
    expect(eights.whyNot(round, 5, card, top)).toBe('')
    const next = eights.played(round, card, 0)
    expect(eights.playerOf(next)).toBe(9)
    expect(eights.playerOf(eights.played(next, card, 0))).toBe(3)
    expect(eights.played(round, face('8 of hearts'), 3).suit).toBe(3)
  })
})

describe('drawing and passing', () => {
  test('three cards at most, and only then one passes', () => {
    expect(eights.whyNoPass(round, 5, 20)).toContain('you draw')
    expect(eights.whyNoDraw(round, 5, 20)).toBe('')
    const drawn = { ...round, drawn: eights.DRAWS_MAX }
    expect(eights.whyNoDraw(drawn, 5, 20)).toContain('or pass')
    expect(eights.whyNoPass(drawn, 5, 20)).toBe('')
    expect(eights.passed(drawn, 20)).toMatchObject({ turn: 2, drawn: 0, passes: 0 })
  })
  test('with nothing left all may pass, and then it is over', () => {
    let now = round
    for (const player of [5, 9, 3]) {
      expect(eights.isStuck(now)).toBe(false)
      expect(eights.whyNoPass(now, player, 0)).toBe('')
      now = eights.passed(now, 0)
    }
    expect(eights.isStuck(now)).toBe(true)
  })
})

describe('the points', () => {
  test('an empty hand gets what the others hold', () => {
    const hands = new Map([
      [3, [face('8 of clubs'), face('king of hearts')]],
      [5, []],
      [9, [face('ace of spades'), face('5 of clubs')]],
    ])
    expect(eights.settle(hands)).toEqual({ winner: 5, points: 66 })
  })
  test('a stuck round goes to the cheapest hand for what the others have more', () => {
    const hands = new Map([
      [3, [face('5 of hearts')]],
      [5, [face('2 of hearts')]],
    ])
    expect(eights.settle(hands)).toEqual({ winner: 5, points: 3 })
    expect(eights.settle(new Map([...hands, [9, [face('2 of clubs')]]]))).toEqual({
      winner: 0,
      points: 0,
    })
  })
})

test('a round is the same as a row, and what is none is none', () => {
  expect(eights.decode(eights.encode(round))).toEqual(round)
  for (const text of [undefined, 1, '', '3 0 0 0 0', '3,5 0 0 0']) {
    expect(eights.decode(text)).toBe(null)
  }
})
