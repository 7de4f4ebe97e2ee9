// Goal: frames leave when they are due: acts that come together leave together, and who acts is
// heard until all agree.
// Method: members by hand, asked at instants just before and at the bound.
import { expect, test } from 'vitest'
import { UNSURE_SLOTS } from '../../src/slots/slots.ts'
import { game, hands, hearing, member, NOW, part } from './machine.ts'

const { act, tell } = hands(hearing)

test('M31: the server gathers acts for a fifth of a slot, and then sends them on (PR-2)', () => {
  const [ada, bea] = [member(1), member(2)]
  for (const slots of [ada, bea]) slots.mesh = false
  act(bea)
  tell(bea, ada)
  for (const peer of ada.peers.values()) peer.saidIn = ada.slot
  const at = NOW + game.ms / 5
  expect([at - 1, at].map((now) => part.waits!(ada, now, 3))).toEqual([false, true])
  expect(part.waits!(ada, at, 2)).toBe(false)
})

test('who acts is heard every second slot until all agree, for 300 slots (PR-2)', () => {
  const ada = member(1)
  const isDue = (acted: number, saidBefore: number): boolean => {
    Object.assign(ada, { acted: ada.slot - acted, agreed: -1 })
    ada.peers.get(2)!.saidIn = ada.slot - saidBefore
    return part.waits!(ada, NOW, 2)
  }
  expect([isDue(UNSURE_SLOTS - 1, 1), isDue(UNSURE_SLOTS - 1, 2)]).toEqual([false, true])
  expect([isDue(UNSURE_SLOTS, 4), isDue(UNSURE_SLOTS, 5)]).toEqual([false, true])
})
