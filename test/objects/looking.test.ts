// Goal: a view asks for what it makes necessary, once, and what is near is seen by a rule that does
// not flicker.
// Method: a crew, with views and messages by hand.
import { expect, test } from 'vitest'
import { KIND } from '../../packages/holdfast/src/objects/protocol/messages.ts'
import { vec2 } from '../../packages/holdfast/src/wire/fields/schema.ts'
import {
  kinds,
  look,
  lose,
  meet,
  rules,
  seeAll,
  set,
  settle,
  spawn,
  state,
  takeOver,
} from './crew.ts'

const [HOST, A, B, C] = [1, 2, 3, 4] as const
const place = { at: vec2(-500, 500, 1) }
const map = [
  rules({ visibility: { kind: 'near', column: 0, radius: 40 } }, place),
  rules({ eyes: 0 }, place),
]
const spot = (x: number): number[] => [x + 500, 500]

test('B34: the others are asked for what they have of it when somebody left, and else not (PR-2)', () => {
  const crew = meet({ incs: [HOST, A, B] })
  seeAll(crew)
  expect([kinds(crew, HOST, A), kinds(crew, HOST, B)]).toEqual([[], []])
  lose(crew, B)
  expect(kinds(crew, HOST, A)).toEqual([KIND.resync])
})

test('B34: who knew of the next primary before us is asked once to say all again (PR-2)', () => {
  const crew = meet({ incs: [HOST, A, B, C], mesh: true })
  state(crew, A).early.add(C)
  takeOver(crew, B)
  const asked = (): number => kinds(crew, A, C).filter((kind) => kind === KIND.follow).length
  expect([asked(), state(crew, A).early.size]).toEqual([1, 0])
  Object.assign(crew, { primary: HOST, epoch: 3 })
  crew.primary = C
  seeAll(crew)
  crew.links.get(`${A}>${C}`)!.letters.length = 0
  Object.assign(crew, { primary: B, epoch: 4 })
  seeAll(crew)
  expect(asked()).toBe(0)
})

test('T76: who goes away sees it for longer than who comes near (PR-2)', () => {
  const crew = meet({ incs: [HOST, A, B], types: map })
  const key = spawn(crew, A, spot(0), 0)
  const eye = spawn(crew, B, spot(0), 1)
  settle(crew)
  const isSeen = (x: number): boolean => {
    set(crew, B, eye, spot(x), 1)
    settle(crew)
    return look(crew, B, key) !== 'hidden'
  }
  expect(isSeen(0)).toBe(true)
  let lost = 0
  while (lost < 400 && isSeen(lost)) lost++
  let seen = lost + 100
  while (seen > 0 && !isSeen(seen)) seen--
  expect(lost).toBeLessThan(400)
  expect(seen).toBeGreaterThanOrEqual(40)
  expect(lost - seen).toBeGreaterThan(1)
})
