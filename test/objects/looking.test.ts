// Goal: a view asks for what it makes necessary, once, and what is near is seen by a rule that does
// not flicker.
// Method: a cluster, with views and messages by hand.
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
} from './cluster.ts'

const [HOST, A, B, C] = [1, 2, 3, 4] as const
const place = { at: vec2(-500, 500, 1) }
const map = [
  rules({ visibility: { kind: 'near', column: 0, radius: 40 } }, place),
  rules({ eyes: 0 }, place),
]
const spot = (x: number): number[] => [x + 500, 500]

test('B34: the others are asked for what they have of it when somebody left, and else not (PR-2)', () => {
  const cluster = meet({ incs: [HOST, A, B] })
  seeAll(cluster)
  expect([kinds(cluster, HOST, A), kinds(cluster, HOST, B)]).toEqual([[], []])
  lose(cluster, B)
  expect(kinds(cluster, HOST, A)).toEqual([KIND.resync])
})

test('B34: who knew of the next primary before us is asked once to say all again (PR-2)', () => {
  const cluster = meet({ incs: [HOST, A, B, C], mesh: true })
  state(cluster, A).early.add(C)
  takeOver(cluster, B)
  const asked = (): number => kinds(cluster, A, C).filter((kind) => kind === KIND.follow).length
  expect([asked(), state(cluster, A).early.size]).toEqual([1, 0])
  Object.assign(cluster, { primary: HOST, epoch: 3 })
  cluster.primary = C
  seeAll(cluster)
  cluster.links.get(`${A}>${C}`)!.letters.length = 0
  Object.assign(cluster, { primary: B, epoch: 4 })
  seeAll(cluster)
  expect(asked()).toBe(0)
})

test('T76: who goes away sees it for longer than who comes near (PR-2)', () => {
  const cluster = meet({ incs: [HOST, A, B], types: map })
  const key = spawn(cluster, A, spot(0), 0)
  const eye = spawn(cluster, B, spot(0), 1)
  settle(cluster)
  const isSeen = (x: number): boolean => {
    set(cluster, B, eye, spot(x), 1)
    settle(cluster)
    return look(cluster, B, key) !== 'hidden'
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
