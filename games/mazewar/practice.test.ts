// Goal: bots make a game of it, and it is the same game from the same seed.

import { expect, test } from 'vitest'
import { Practice } from './practice.ts'

function play(seed: number, slots: number): Practice {
  const practice = new Practice({ name: 'Ada', bots: 7, seed, now: 0 })
  for (let slot = 1; slot <= slots; slot++) practice.advance(slot * 200)
  return practice
}

test('bots meet and hit each other, and each of them moves', () => {
  const practice = new Practice({ name: 'Ada', bots: 7, seed: 5, now: 0 })
  const places = new Map<number, Set<number>>()
  let hits = 0
  for (let slot = 1; slot <= 900; slot++) {
    practice.advance(slot * 200)
    hits += practice.state.hits.filter((hit) => hit.slot === practice.state.slot).length
    for (const { id, at } of practice.state.rats) {
      places.set(id, (places.get(id) ?? new Set()).add(at))
    }
  }
  expect(hits).toBeGreaterThan(10)
  expect(places.get(1)!.size).toBeLessThan(20)
  for (const id of [2, 3, 4, 5, 6, 7, 8]) expect(places.get(id)!.size).toBeGreaterThan(60)
})

test('the same seed plays the same game', () => {
  expect(play(11, 200).state).toEqual(play(11, 200).state)
  expect(play(11, 200).state).not.toEqual(play(12, 200).state)
})

test('what we do is seen at once, and stands when the slot is over', () => {
  const practice = play(3, 2)
  const before = practice.state.rats[0]!
  practice.act({ kind: 'cloak', on: true })
  expect(practice.ahead.rats[0]!.cloaked).toBe(true)
  expect(practice.state.rats[0]).toEqual(before)
  practice.advance(3 * 200)
  expect(practice.state.rats[0]!.cloaked).toBe(true)
})
