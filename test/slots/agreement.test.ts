// Goal: no act is void that may yet count, and rules that differ are told (slot.told).
// Method: two or three members by hand; what one says is given to the other, or kept from it.
import { beforeEach, describe, expect, test } from 'vitest'
import {
  diverging,
  receiveReport,
  receiveDiffers,
} from '../../packages/holdfast/src/slots/protocol/agreement.ts'
import {
  type Game,
  type Slots,
  slotsPart,
} from '../../packages/holdfast/src/slots/protocol/slots.ts'
import { game, hands, hearing, type Heard, member, NOW, part } from './machine.ts'

let out: Heard

beforeEach(() => {
  out = hearing()
})

const { act, tell, later, converse, voids } = hands(() => out)

describe('what is void', () => {
  // As if a world that was taken had left out what Bea did.
  function leftOut(bea: Slots): void {
    act(bea)
    bea.bySlot.clear()
    for (const peer of bea.peers.values()) peer.unacked.clear()
  }

  test('M37: an act is void when all have said so, and said so again (SL-1)', () => {
    const all = [member(1), member(2), member(3)]
    leftOut(all[1]!)
    converse(all, 0, 11)
    expect(voids()).toEqual([])
    converse(all, 12, 12)
    const [, bea] = all
    expect([bea!.base >= NOW / game.ms, voids()]).toEqual([true, []])
    converse(all, 13, 20)
    expect(voids()).toEqual([{ kind: 'slots-discarded', acts: [1] }])
    expect(bea!.counters.adopted).toBe(0)
    expect(bea!.unsure).toEqual([])
  })

  test('M37: as long as one stands still, or has other acts, nothing is void (SL-1)', () => {
    const [ada, bea, cy] = [member(1), member(2), member(3)]
    leftOut(bea)
    converse([ada, bea], 0, 40)
    expect(voids()).toEqual([])
    // What Cy alone has heard of is in his world.
    act(cy)
    later(cy, 40, [1, 2])
    cy.apart = true
    for (let by = 41; by < 44; by++) {
      later(bea, by, [1, 3])
      tell(cy, bea, later(cy, by, [1, 2]))
    }
    expect(bea.peers.get(3)!.same).toBe(-1)
    expect(voids()).toEqual([])
  })

  test('M37: whoever asks for the world of another is not counted (SL-1)', () => {
    const [ada, bea] = [member(1, 2), member(2, 2)]
    converse([ada, bea], 0, 3)
    expect(ada.peers.get(2)!.same).toBe(ada.base)
    bea.asked = 1
    const now = later(ada, 4, [2])
    later(bea, 4)
    tell(bea, ada, now)
    expect(ada.peers.get(2)!.same).toBe(-1)
    // What the root says is what she has: she asks no more.
    tell(ada, bea, now)
    expect(bea.asked).toBe(0)
  })

  test('M36: two who do not hear each other hear of it by a third (SL-1)', () => {
    const [ada, bea, cy] = [member(1), member(2), member(3)]
    leftOut(bea)
    for (let by = 0; by < 20; by++) {
      const now = NOW + by * game.ms
      for (const one of [ada, bea, cy]) part.wake!(one, now, out)
      for (const one of [ada, bea]) {
        tell(one, cy, now)
        tell(cy, one, now)
      }
    }
    expect(ada.peers.get(2)!.same).toBe(-1)
    expect(voids()).toEqual([{ kind: 'slots-discarded', acts: [1] }])
  })
})

describe('rules that are not the same (SL-3)', () => {
  const double: Game = {
    ...game,
    rule: (world, acts) => {
      const counts = { ...(world as Record<number, number>) }
      for (const { by } of acts) counts[by] = (counts[by] ?? 0) + 2
      return counts
    },
  }

  function diverged(): { player: number; slot: number }[] {
    return out.told.filter(
      (event) => (event as { kind: string }).kind === 'slots-diverged',
    ) as never[]
  }

  test('both ends are told once, with the slot and the player (SL-3)', () => {
    const [ada, bea] = [member(1, 2), member(2, 2)]
    const strange = slotsPart({ game: double })
    act(ada)
    tell(ada, bea)
    for (let by = 1; by < 16; by++) {
      const now = NOW + by * game.ms
      part.wake!(ada, now, out)
      strange.wake!(bea, now, out)
      tell(ada, bea, now)
      tell(bea, ada, now)
    }
    const slot = NOW / game.ms
    expect(
      diverged()
        .map(({ player }) => player)
        .toSorted((a, b) => a - b),
    ).toEqual([10, 20])
    for (const told of diverged()) expect(told.slot - slot).toBeLessThan(3)
    expect([diverging(ada), diverging(bea)]).toEqual([1, 1])
  })

  test('other acts are no other rule, and a world that was taken proves nothing (SL-3)', () => {
    const [ada, bea] = [member(1, 2), member(2, 2)]
    act(ada)
    for (let by = 1; by < 14; by++) {
      const now = NOW + by * game.ms
      for (const one of [ada, bea]) part.wake!(one, now, out)
    }
    converse([ada, bea], 14, 14)
    expect(diverged()).toEqual([])
    const peer = bea.peers.get(1)!
    const word = { slot: bea.base, ...bea.settled.get(bea.base)!, agreed: -1, seeks: false }
    const mine = bea.settled.get(bea.base)!
    receiveReport(bea, 1, mine, { ...word, hash: 1 }, out)
    receiveReport(bea, 1, mine, word, out)
    expect([diverged().length, diverging(bea)]).toEqual([1, 1])
    const acts = word.acts + 1
    receiveReport(bea, 1, { ...mine, acts }, { ...word, acts }, out)
    expect(peer.diverged).toBe(null)
  })

  test('whose world has other acts is not told to have other rules (PR-2)', () => {
    const bea = member(2, 2)
    const slot = bea.base
    const { hash, acts } = bea.settled.get(slot)!
    receiveDiffers(bea, 1, { slot, hash: hash + 1, acts: acts + 1 }, out)
    const peer = bea.peers.get(1)!
    expect([diverged(), peer.diverged, peer.earlyReport]).toEqual([[], null, null])
    receiveDiffers(bea, 1, { slot, hash: hash + 1, acts }, out)
    expect(diverged()).toMatchObject([{ slot, player: 10 }])
    expect(peer.diverged).toBe(acts)
  })
})
