// Goal: what a member of a world of slots makes of who is here.
// Method: views by hand.
import { describe, expect, test } from 'vitest'
import { RIGHTS } from '../../packages/holdfast/src/machine.ts'
import type { PartView } from '../../packages/holdfast/src/kind/protocol/part.ts'
import { updateApart } from '../../packages/holdfast/src/slots/protocol/reference.ts'
import type { SlotPeer } from '../../packages/holdfast/src/slots/protocol/state.ts'
import { takeDiscarded } from '../../packages/holdfast/src/slots/protocol/agreement.ts'
import { hands, hearing, member, NOW, part } from './machine.ts'

const VIEW = { session: 's', me: 1, primary: 1, epoch: 1, mesh: true, left: false }
const listed = (...incs: number[]) => incs.map((inc) => ({ inc, player: inc * 10 }))

function see(slots: ReturnType<typeof member>, more: Partial<PartView>): void {
  part.view!(slots, NOW, { ...VIEW, members: listed(1, 2, 3), ...more }, hearing())
}

describe('an act that comes', () => {
  /** Who is known to have the act of member 2, once these have said it. */
  function holders(...by: number[]): number[] {
    const [ada, bea, cy] = [member(1), member(2), member(3)]
    for (const slots of [ada, bea, cy]) Object.assign(slots, { mesh: false, primary: 3 })
    const { act, tell } = hands(hearing)
    act(bea)
    tell(bea, cy)
    for (const from of by) {
      const teller = from === 2 ? bea : cy
      tell(teller, ada)
    }
    const [event] = [...ada.bySlot.get(ada.slot)!.events.values()]
    return event!.held
  }

  test('is had by whoever passed it on, and that is remembered (PR-2)', () => {
    expect([holders(2), holders(3), holders(2, 3), holders(3, 2)]).toEqual([[], [3], [3], [3]])
  })
})

test('an act of ours that is not settled yet is not void, whoever asks that early (PR-2)', () => {
  const ada = member(1)
  hands(hearing).act(ada)
  const [event] = ada.unsure
  expect(event!.slot).toBeGreaterThan(ada.base)
  expect(takeDiscarded(ada, event!.slot + 5)).toEqual([])
  expect(ada.unsure).toEqual([event])
  ada.base = event!.slot
  expect(takeDiscarded(ada, event!.slot + 5)).toEqual([event])
  expect(ada.unsure).toEqual([])
})

test('where all were cut off, the oldest that plays and is heard leads again (PR-2)', () => {
  const after = (of: Partial<SlotPeer>): boolean => {
    const bea = member(2)
    bea.apart = true
    for (const peer of bea.peers.values()) peer.apart = true
    Object.assign(bea.peers.get(1)!, of)
    updateApart(bea, NOW)
    return !bea.apart
  }
  const silent = { receivedAt: NOW - 1_000_000 }
  expect([after({}), after({ standing: 'joining' }), after(silent)]).toEqual([false, true, true])
  // One that hears most is apart no longer only where nobody leads.
  expect(after({ apart: false })).toBe(false)
})

describe('who is here', () => {
  test('is who plays, and oneself; who watches is known as such (PR-2)', () => {
    const slots = member(1)
    const [one, two, three] = listed(1, 2, 3)
    const members = [one!, { ...two!, rights: 0 }, { ...three!, rights: RIGHTS.play }]
    see(slots, { members })
    expect([[...slots.here], [...slots.watchers]]).toEqual([[1, 3], [2]])
    see(slots, {})
    expect([[...slots.here], [...slots.watchers]]).toEqual([[1, 2, 3], []])
    see(slots, { members: [{ ...one!, rights: 0 }, two!] })
    expect([[...slots.here], [...slots.watchers]]).toEqual([[1, 2], [1]])
  })
  test('has the player that is said, also oneself (PR-2)', () => {
    const slots = member(1)
    const members = [
      { inc: 1, player: 77 },
      { inc: 2, player: 88 },
    ]
    see(slots, { members, primary: 2, mesh: false })
    expect(slots).toMatchObject({ me: 1, player: 77, primary: 2, mesh: false })
    expect([slots.players.get(1), slots.players.get(2)]).toEqual([77, 88])
  })
  test('is looked at anew at once, by who has a world that is open (PR-2)', () => {
    const slots = member(1)
    Object.assign(slots, { changed: false, scannedIn: 9, dueAt: Infinity })
    see(slots, {})
    expect(slots).toMatchObject({ changed: true, scannedIn: -1, dueAt: NOW })
    const closed = member(1)
    Object.assign(closed, { standing: 'closed', changed: false, dueAt: NOW - 5 })
    see(closed, {})
    expect(closed).toMatchObject({ changed: false, dueAt: NOW - 5 })
  })
  test('as somebody else came back, and begins its acts anew (PR-2)', () => {
    const slots = member(1)
    Object.assign(slots, { nextId: 9, asked: 7 })
    see(slots, {})
    expect(slots).toMatchObject({ nextId: 9, asked: 7 })
    see(slots, { me: 4, members: listed(2, 3, 4) })
    expect(slots).toMatchObject({ me: 4, player: 40, nextId: 1, asked: 0, beginAt: NaN })
    const first = member(1)
    Object.assign(first, { me: 0, nextId: 9 })
    see(first, {})
    expect(first).toMatchObject({ me: 1, nextId: 9 })
  })
})
