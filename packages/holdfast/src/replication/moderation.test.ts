// Goal: what is remembered of who was put out has bounds, and what was decided last counts.
import { expect, test } from 'vitest'
import * as moderation from './moderation.ts'
import { decode, encode } from '../wire/layout.ts'
import { deltaLayout, type Expulsion, VOTES_PER_PLAYER } from './layouts.ts'

const EXPELLED_MAX = 32

const row = (player: number, ban: boolean): Expulsion => ({
  ...{ player, inc: player + 100, name: 'x', key: new Uint8Array(32).fill(player), ban, why: '' },
})
const players = ({ expelled }: moderation.Moderation): number[] =>
  expelled.map(({ player }) => player)

test('of too many who were put out the oldest kick is forgotten, and a ban only for a ban (SE-4)', () => {
  const all = moderation.create()
  moderation.expel(all, row(1, true))
  moderation.expel(all, row(2, false))
  for (let player = 3; player <= EXPELLED_MAX; player++) moderation.expel(all, row(player, true))
  expect(all.expelled).toHaveLength(32)
  moderation.expel(all, row(33, true))
  expect(players(all)).toEqual([1, ...Array.from({ length: 31 }, (_, at) => at + 3)])
  moderation.expel(all, row(34, true))
  expect([players(all)[0], all.expelled.length]).toEqual([3, 32])
})

test('why somebody was put out has 200 bytes, and no more (PR-2)', () => {
  const said = (why: string) => encode(deltaLayout, { kind: 'expel', ...row(1, true), why })
  const longest = 'w'.repeat(200)
  expect(() => said(longest)).not.toThrow()
  expect(decode(deltaLayout, said(longest))).toMatchObject({ kind: 'expel', why: longest })
  expect(() => said(`${longest}w`)).toThrow(/200/)
})

test('who is put out again is so by what was said last (SE-4)', () => {
  const all = moderation.create()
  moderation.expel(all, row(1, true))
  moderation.expel(all, row(1, false))
  expect(moderation.expulsionOf(all, 101, row(2, true).key)).toMatchObject({ ban: false })
  expect(moderation.expulsionOf(all, 0, row(1, true).key)).toBeUndefined()
  moderation.pardon(all, 1)
  expect(all.expelled).toEqual([])
})

test('a ban is of the key, a kick of the incarnation (SE-4)', () => {
  const all = moderation.create()
  moderation.expel(all, row(1, true))
  moderation.expel(all, { ...row(2, false), inc: 0 })
  expect(moderation.expulsionOf(all, 7, row(1, true).key)).toMatchObject({ player: 1 })
  expect(moderation.expulsionOf(all, 0, row(2, true).key)).toBeUndefined()
})

test('a vote counts once, the oldest of a player gives way, and they end with what they are about (SE-4)', () => {
  const all = moderation.create()
  for (const against of [2, 2, 3, 4]) moderation.vote(all, { by: 1, against }, true)
  expect(all.votes).toEqual([3, 4].map((against) => ({ by: 1, against })))
  expect(all.votes).toHaveLength(VOTES_PER_PLAYER)
  moderation.vote(all, { by: 5, against: 3 }, true)
  moderation.vote(all, { by: 1, against: 4 }, false)
  moderation.expel(all, row(3, true))
  expect(all.votes).toEqual([])
  moderation.vote(all, { by: 6, against: 5 }, true)
  moderation.vote(all, { by: 5, against: 7 }, true)
  moderation.forget(all, 5)
  expect(all.votes).toEqual([])
})

test('each change makes another version, by which views tell that something changed (PR-2)', () => {
  const all = moderation.create()
  const changes: (() => void)[] = [
    () => moderation.vote(all, { by: 1, against: 2 }, true),
    () => moderation.vote(all, { by: 1, against: 2 }, false),
    () => moderation.expel(all, row(2, true)),
    () => moderation.pardon(all, 2),
    () => moderation.forget(all, 1),
  ]
  const versions = changes.map((change) => {
    change()
    return all.cv
  })
  expect(versions).toEqual([1, 2, 3, 4, 5])
})

test('512 votes stand at once, and no more (PR-2)', () => {
  const all = moderation.create()
  for (let by = 1; by <= 256; by++) {
    for (const against of [1_001, 1_002]) moderation.vote(all, { by, against }, true)
  }
  expect(all.votes).toHaveLength(512)
  moderation.vote(all, { by: 257, against: 1_001 }, true)
  expect(all.votes).toHaveLength(512)
  expect(all.votes.some(({ by }) => by === 257)).toBe(false)
  // One that gives way makes room for its own.
  moderation.vote(all, { by: 256, against: 1_003 }, true)
  expect(all.votes.slice(-2)).toEqual([
    { by: 256, against: 1_002 },
    { by: 256, against: 1_003 },
  ])
})
