// Goal: frames leave when they are due: acts that come together leave together, and who acts is
// heard until all agree.
// Method: members by hand, asked at instants just before and at the bound.
import { expect, test } from 'vitest'
import { insert } from '../../packages/holdfast/src/slots/protocol/events.ts'
import { slotsLayout } from '../../packages/holdfast/src/slots/protocol/messages.ts'
import { UNSURE_SLOTS } from '../../packages/holdfast/src/slots/protocol/slots.ts'
import { encode } from '../../packages/holdfast/src/wire/layout.ts'
import { frameOf, game, hands, hearing, member, NOW, part } from './machine.ts'

const { act, tell } = hands(hearing)

test('M31: the server gathers acts for a fifth of a slot, and then sends them on (PR-2)', () => {
  const [ada, bea] = [member(1), member(2)]
  for (const slots of [ada, bea]) slots.mesh = false
  act(bea)
  tell(bea, ada)
  for (const peer of ada.peers.values()) peer.sentIn = ada.slot
  const at = NOW + game.ms / 5
  expect([at - 1, at].map((now) => part.waits!(ada, now, 3))).toEqual([false, true])
  expect(part.waits!(ada, at, 2)).toBe(false)
})

test('who acts is heard every second slot until all agree, for 300 slots (PR-2)', () => {
  const ada = member(1)
  const isDue = (acted: number, saidBefore: number): boolean => {
    Object.assign(ada, { acted: ada.slot - acted, agreed: -1 })
    ada.peers.get(2)!.sentIn = ada.slot - saidBefore
    return part.waits!(ada, NOW, 2)
  }
  expect([isDue(UNSURE_SLOTS - 1, 1), isDue(UNSURE_SLOTS - 1, 2)]).toEqual([false, true])
  expect([isDue(UNSURE_SLOTS, 4), isDue(UNSURE_SLOTS, 5)]).toEqual([false, true])
})

test('M36: an act whose slot is settled is owed to nobody any more, the next one still is (PR-2)', () => {
  const ada = member(1)
  act(ada)
  const [event] = ada.bySlot.get(ada.slot)!.events.values()
  const { unacked } = ada.peers.get(2)!
  const [settled, open] = [ada.base, ada.base + 1].map((slot) => ({ ...event!, slot }))
  unacked.clear()
  for (const one of [settled!, open!]) unacked.set(one, NOW)
  expect(frameOf(ada, 2)).not.toBeNull()
  expect([...unacked.keys()]).toEqual([open])
  expect(ada.peers.get(2)!.flights.get(1)).toEqual([open])
})

test('M30: who has no world forgets acts of long ago, but those of the world that it had (PR-2)', () => {
  const ada = member(1)
  const { horizon } = ada
  const end = ada.slot + 1
  const body = new Uint8Array(1)
  const event = { inc: 2, player: 20, id: 1, body, act: 1, gone: 0, mark: 1, direct: true }
  const slotsOf = (): number[] => [...ada.bySlot.keys()].toSorted((a, b) => a - b)
  const [long, late] = [end - 2 * horizon - 1, end - 2 * horizon]
  ada.bySlot.clear()
  for (const slot of [long - 3, long - 2, long - 1, long, late]) {
    insert(ada, { ...event, slot, held: [] })
  }
  Object.assign(ada, { standing: 'joining', base: long - 3, validWorlds: 2 })
  part.wake!(ada, NOW + game.ms, hearing())
  expect([ada.slot, slotsOf()]).toEqual([end, [long - 2, late]])
})

test('M5: who asks for the world is sent it every 300 ms, and no sooner (PR-2)', () => {
  const bea = member(2)
  const heard = hearing()
  const inquiry = encode(slotsLayout, { kind: 'inquiry' })
  for (const at of [0, 299, 300, 599, 600]) part.receive!(bea, NOW + at, 1, inquiry, heard)
  expect(heard.sent).toHaveLength(3)
})

test('a member is due when its slot ends, or earlier if it has something to do by then (PR-2)', () => {
  const ada = member(1)
  const end = NOW + game.ms
  Object.assign(ada, { dueAt: Infinity })
  const atEnd = part.deadline!(ada)
  expect(atEnd).toBeGreaterThanOrEqual(end)
  expect(atEnd).toBeLessThan(end + 1)
  for (const dueAt of [NOW - 50, NOW, end - 1]) {
    ada.dueAt = dueAt
    expect(part.deadline!(ada)).toBe(dueAt)
  }
  ada.dueAt = end + 50
  expect(part.deadline!(ada)).toBe(atEnd)
  // Session time runs ahead of ours.
  Object.assign(ada, { dueAt: Infinity, offset: 30 })
  expect(part.deadline!(ada)).toBe(atEnd - 30)
  ada.standing = 'closed'
  expect(part.deadline!(ada)).toBe(Infinity)
})

test('what is looked over and finds nobody is due no more (PR-2)', () => {
  const ada = member(1)
  Object.assign(ada, { dueAt: NOW - 5, scannedIn: ada.slot })
  for (const peer of ada.peers.values()) Object.assign(peer, { dueAt: Infinity, sentIn: ada.slot })
  expect([...part.dirty!(ada, NOW)]).toEqual([])
  expect(part.deadline!(ada)).toBeGreaterThan(NOW)
  ada.peers.get(2)!.dueAt = NOW + 7
  Object.assign(ada, { dueAt: NOW })
  expect([...part.dirty!(ada, NOW)]).toEqual([])
  expect(part.deadline!(ada)).toBe(NOW + 7)
  expect([...part.dirty!(ada, NOW + 7)]).toEqual([2])
})

test('a packet that is lost is lost once, and one that came is not (PR-2)', () => {
  const ada = member(1)
  act(ada)
  expect(frameOf(ada, 2)).not.toBe(null)
  const peer = ada.peers.get(2)!
  expect([...peer.flights.keys()]).toEqual([1])
  part.lost!(ada, 2, 1)
  expect([peer.dueAt, ada.dueAt, peer.flights.size]).toEqual([-Infinity, -Infinity, 0])
  Object.assign(ada, { dueAt: 5 })
  part.lost!(ada, 2, 1)
  expect(ada.dueAt).toBe(5)
})
