// Goal: each part of what members do for one another is there, also where another would make up
// for it in the end (what the drawn runs cannot tell).
// Method: two or three members by hand; what one says is given to the other, or kept from it.
import { beforeEach, describe, expect, test } from 'vitest'
import { queueEvent } from '../../packages/holdfast/src/slots/protocol/frames.ts'
import { digestOf, find } from '../../packages/holdfast/src/slots/protocol/events.ts'
import { ahead, seal, shown } from '../../packages/holdfast/src/slots/protocol/fold.ts'
import { referenceOf } from '../../packages/holdfast/src/slots/protocol/reference.ts'
import {
  ACTS_PER_SLOT,
  type Game,
  GONE_MAX,
  HISTORY_SLOTS,
  type SlotEvent,
  type Slots,
  tick,
  UNSURE_MAX,
  UNSURE_SLOTS,
} from '../../packages/holdfast/src/slots/protocol/slots.ts'
import { frameOf, game, hands, hearing, type Heard, member, NOW, part } from './machine.ts'

const WORLD_PLAYERS_MAX = 256

let out: Heard

beforeEach(() => {
  out = hearing()
})

const { act, tell, later, converse, voids } = hands(() => out)

function acked(from: Slots, to: Slots): void {
  part.acked!(from, to.me, 1)
}

const [eventOf, bodies] = [
  (slots: Slots): SlotEvent => [...slots.bySlot.get(slots.slot)!.events.values()].at(-1)!,
  (slots: Slots): number[] =>
    [...slots.bySlot.values()].flatMap(({ events }) =>
      [...events.values()].map(({ body }) => body[0]!),
    ),
]

function asStar(...all: readonly Slots[]): void {
  for (const slots of all) slots.mesh = false
}

describe('who is told', () => {
  test('M31: the server of a star passes an act on within the slot, and to no one twice', () => {
    const [ada, bea, cy] = [member(1), member(2), member(3)]
    asStar(ada, bea, cy)
    act(bea)
    tell(bea, ada)
    for (const peer of ada.peers.values()) peer.sentIn = ada.slot
    const soon = NOW + game.ms / 2
    expect(part.dirty!(ada, soon)).toEqual([3])
    const bytes = frameOf(ada, 3, soon)!
    part.read!(cy, soon, 1, bytes, out)
    expect(bodies(cy)).toEqual([1])
    acked(ada, cy)
    expect(ada.peers.get(3)!.unacked.size).toBe(0)
    expect(ada.peers.get(2)!.unacked.size).toBe(0)
  })

  test('who acks an act twice is noted once', () => {
    const ada = member(1)
    act(ada)
    const [event] = ada.bySlot.get(ada.slot)!.events.values()
    for (const seq of [1, 2]) {
      ada.peers.get(2)!.flights.set(seq, [event!])
      part.acked!(ada, 2, seq)
    }
    expect(event!.held).toEqual([2])
  })

  test('M26: who has an act already is not told it by others (PR-2)', () => {
    const ada = member(1)
    act(ada)
    const [event] = ada.bySlot.get(ada.slot)!.events.values()
    for (const inc of [2, 3]) ada.peers.get(inc)!.unacked.clear()
    event!.held.push(2)
    for (const inc of [2, 3]) queueEvent(ada, inc, event!, NOW)
    expect(ada.peers.get(2)!.unacked.size).toBe(0)
    expect([...ada.peers.get(3)!.unacked.keys()]).toEqual([event])
  })

  test('M26: what is acked is not told again, what is lost at once', () => {
    const [ada, bea] = [member(1), member(2)]
    act(ada)
    frameOf(ada, 2)
    expect(part.waits!(ada, NOW + 1, 2)).toBe(false)
    part.lost!(ada, 2, 1)
    expect(part.waits!(ada, NOW + 1, 2)).toBe(true)
    tell(ada, bea, NOW + 1)
    expect(bodies(bea)).toEqual([1])
    acked(ada, bea)
    expect(ada.peers.get(2)!.unacked.size).toBe(0)
  })

  test.each([2, 3, 8, 9])('M36: an act of %i slots ago is owed to whose digest lacks it', (age) => {
    const [ada, bea] = [member(1), member(2)]
    act(ada)
    ada.peers.get(2)!.unacked.clear()
    const now = later(ada, age, [2, 3])
    later(bea, age, [1, 3])
    tell(bea, ada, now)
    expect(ada.peers.get(2)!.unacked.size).toBe(1)
    tell(ada, bea, now)
    expect(bodies(bea)).toEqual([1])
    acked(ada, bea)
    tell(bea, ada, now)
    expect(ada.peers.get(2)!.unacked.size).toBe(0)
  })

  test('M36: and so it is where clocks are a slot apart', () => {
    for (const [mine, theirs] of [
      [9, 8],
      [10, 9],
      [8, 9],
    ] as const) {
      const [ada, bea] = [member(1), member(2)]
      act(ada)
      ada.peers.get(2)!.unacked.clear()
      const now = later(ada, mine, [2, 3])
      later(bea, theirs, [1, 3])
      tell(bea, ada, now)
      expect(ada.peers.get(2)!.unacked.size).toBe(1)
    }
  })

  test('an act that its owner has put right counts in digests as if it had never been wrong', () => {
    const [ada, bea, cy] = [member(1), member(2), member(3)]
    act(ada, 1)
    const lie = { ...eventOf(ada), body: new Uint8Array([9]), direct: false, held: [] }
    cy.peers.get(2)!.unacked.set(lie, 0)
    tell(cy, bea)
    const { slot } = ada
    expect(digestOf(bea, slot, slot)).not.toBe(digestOf(ada, slot, slot))
    tell(ada, bea)
    expect(digestOf(bea, slot, slot)).toBe(digestOf(ada, slot, slot))
  })

  test('M36: what a member did who is not here any more comes by way of others', () => {
    const [ada, bea, cy] = [member(1), member(2), member(3)]
    act(ada)
    tell(ada, cy)
    cy.peers.get(2)!.unacked.set(eventOf(cy), 0)
    bea.here.delete(1)
    tell(cy, bea)
    expect(bodies(bea)).toEqual([1])
  })
})

describe('when', () => {
  test('M30: an act may be as late as the horizon, and no later', () => {
    const ada = member(1)
    act(ada)
    for (const by of [ada.horizon, ada.horizon + 1]) {
      const bea = member(2)
      const now = later(bea, by, [1, 3])
      // As it left, so long ago.
      const bytes = frameOf(ada, 2)!
      part.read!(bea, now, 1, bytes, out)
      expect([bodies(bea).length, bea.counters.late]).toEqual(by === ada.horizon ? [1, 0] : [0, 1])
    }
  })

  test('M31: an act of another shows ahead as soon as it is heard', () => {
    const [ada, bea] = [member(1), member(2)]
    expect(ahead(bea, game)).toEqual({})
    act(ada)
    tell(ada, bea)
    expect(ahead(bea, game)).toEqual({ 10: 1 })
    expect(shown(bea, game)).toEqual({})
  })

  test('M31: a late act is folded in its own slot, as at whoever had it in time', () => {
    const [ada, bea] = [member(1), member(2)]
    const slots: Game = {
      ...game,
      start: [],
      rule: (world, acts, { slot }) => (acts.length > 0 ? [...(world as number[]), slot] : world),
    }
    for (const one of [ada, bea]) one.worlds = [seal(slots.start)]
    act(ada)
    const want = [ada.slot]
    for (const one of [ada, bea]) tick(one, slots, NOW + 3 * game.ms, out)
    expect(shown(ada, slots)).toEqual(want)
    expect(shown(bea, slots)).toEqual([])
    tell(ada, bea, NOW + 3 * game.ms)
    expect(shown(bea, slots)).toEqual(want)
  })

  test('M32: acts of one player fold as they were made, over incarnations too (SL-2)', () => {
    const orders: Game = {
      ...game,
      start: [],
      rule: (world, acts) => [...(world as number[]), ...acts.map(({ act: body }) => body)],
    }
    const bea = member(2)
    bea.worlds = [seal(orders.start)]
    // Members 1 and 4 are one player, who came back as 4.
    bea.players.set(4, 10)
    for (const [inc, id] of [
      [1, 2],
      [4, 2],
      [1, 1],
      [4, 1],
    ] as const) {
      const cy = member(3)
      act(cy, inc * 10 + id)
      const event = { ...eventOf(cy), inc, id, player: 10 }
      cy.peers.get(2)!.unacked.clear()
      cy.peers.get(2)!.unacked.set(event, 0)
      tell(cy, bea)
    }
    tick(bea, orders, NOW + game.ms, out)
    expect(shown(bea, orders)).toEqual([11, 12, 41, 42])
  })
})

describe('whose world holds', () => {
  test('M37: who hears fewer than half of all says so and does not lead; it leads again', () => {
    const ada = member(1, 5)
    const now = later(ada, 6, [2])
    expect(ada.apart).toBe(true)
    expect(referenceOf(ada, now)).toEqual({ reference: 2, near: true })
    const bea = member(2, 5)
    later(bea, 6, [3, 4, 5])
    tell(ada, bea, now)
    expect(bea.peers.get(1)!.apart).toBe(true)
    expect(referenceOf(bea, now).reference).toBe(2)
    // Its world is that of who leads: it may be followed.
    tell(bea, ada, now)
    expect(ada.apart).toBe(false)
  })

  test('M34: of two halves the one with the oldest leads', () => {
    for (const [me, other, apart] of [
      [1, 2, false],
      [3, 4, true],
    ] as const) {
      const one = member(me, 4)
      later(one, 6, [other])
      expect(one.apart).toBe(apart)
    }
  })

  test('all were apart and hear each other again: the oldest leads', () => {
    const all = [1, 2, 3].map((me) => member(me))
    for (const one of all) later(one, 6)
    expect(all.map(({ apart }) => apart)).toEqual([true, true, true])
    const now = NOW + 7 * game.ms
    for (const one of all) {
      for (const peer of one.peers.values()) [peer.receivedAt, peer.apart] = [now, true]
      part.wake!(one, now, out)
    }
    expect(all.map(({ apart }) => apart)).toEqual([false, true, true])
  })

  test('M36: who does not hear the root asks somebody who does', () => {
    const [bea, cy] = [member(2), member(3)]
    // What only Cy has is in its world.
    act(cy)
    later(bea, 12, [3])
    const now = later(cy, 12, [1, 2])
    tell(cy, bea, now)
    expect(referenceOf(bea, now)).toEqual({ reference: 1, near: false })
    expect(out.sent.map(({ to }) => to)).toEqual([3])
  })

  test('whoever has the same settled world asks nobody, though it was another a slot before', () => {
    const [ada, bea] = [member(1), member(2)]
    act(ada)
    tell(ada, bea)
    for (let by = 9; by < 14; by++) {
      const now = later(ada, by, [2, 3])
      later(bea, by, [1, 3])
      tell(ada, bea, now)
      tell(bea, ada, now)
    }
    expect(new Set([...bea.settled.values()].map(({ hash }) => hash)).size).toBe(2)
    expect(out.sent).toEqual([])
  })

  test('M37: one world that differs makes one inquiry, and its acts are void for its player', () => {
    const [ada, bea] = [member(1), member(2)]
    const all = { to: NaN, bytes: new Uint8Array() }
    act(bea, 1)
    act(bea, 2)
    const now = later(ada, 12, [2, 3])
    later(bea, 12, [1, 3])
    expect(out.told).not.toContainEqual(expect.objectContaining({ kind: 'slots-discarded' }))
    tell(ada, bea, now)
    Object.assign(all, out.sent.at(-1))
    expect(all.to).toBe(1)
    part.receive!(ada, now, 2, all.bytes, out)
    part.receive!(bea, now, 1, out.sent.at(-1)!.bytes, out)
    expect(shown(bea, game)).toEqual(shown(ada, game))
    expect(voids()).toEqual([])
    for (const one of [ada, bea]) one.here.delete(3)
    converse([ada, bea], 13, 20)
    expect(voids()).toEqual([{ kind: 'slots-discarded', acts: [1, 2] }])
  })
})

describe('a world that is taken', () => {
  // Bea asks Ada as if she were new.
  function take(ada: Slots, bea: Slots): void {
    bea.standing = 'joining'
    part.wake!(bea, NOW, out)
    const { bytes } = out.sent.at(-1)!
    part.receive!(ada, NOW, 2, bytes, out)
    part.receive!(bea, NOW, 1, out.sent.at(-1)!.bytes, out)
    expect(bea.standing).toBe('live')
  }

  test('M6: brings acts of open slots, and leaves those that came meanwhile', () => {
    const [ada, bea, cy] = [member(1), member(2), member(3)]
    act(ada, 1)
    act(cy, 3)
    tell(cy, bea)
    take(ada, bea)
    expect(bodies(bea).toSorted((a, b) => a - b)).toEqual([1, 3])
    expect(find(bea, NOW / game.ms, 1, 1)).toBeDefined()
  })

  test('M6: brings who is in it, and what counts', () => {
    const [ada, bea] = [member(1), member(2)]
    ada.present.add(30)
    ada.tallies.set(2, { upTo: 5, gaps: [{ from: 2, to: 3 }] })
    take(ada, bea)
    expect([...bea.present]).toContain(30)
    expect(bea.tallies.get(2)).toEqual({ upTo: 5, gaps: [{ from: 2, to: 3 }] })
  })

  test('a session that is lost and found goes on with its world, and its acts are numbered on', () => {
    const ada = member(1)
    act(ada)
    later(ada, 2)
    const [world, { nextId }] = [shown(ada, game), ada]
    part.reset!(ada, out)
    expect(ada.nextId).toBe(nextId)
    expect(ada.standing).toBe('joining')
    const members = [{ inc: 1, player: 10 }]
    part.view!(ada, NOW, { session: 'a', me: 1, mesh: true, primary: 1, members } as never, out)
    part.clock!(ada, 0)
    tick(ada, game, NOW + 3 * game.ms, out)
    expect(ada.standing).toBe('live')
    expect(shown(ada, game)).toEqual(world)
  })
})

describe('what a rule gives', () => {
  const giving = (world: unknown): Game => ({ ...game, rule: () => world })

  test('is frozen to its ground, also if the rule froze the outside of it', () => {
    const ada = member(1)
    act(ada)
    const rule = giving(Object.freeze({ inner: { list: [1] } }))
    const world = ahead(ada, rule) as { inner: { list: number[] } }
    expect(() => world.inner.list.push(2)).toThrow(TypeError)
    expect(ada.ahead!.text).toBe('{"inner":{"list":[1]}}')
  })

  test('is no world if JSON would change it: that slot fails, and its next one holds (SL-5)', () => {
    class Hidden {
      get x(): number {
        return 1
      }
    }
    const own = Object.defineProperty({}, 'x', { get: () => 1, enumerable: true })
    const hidden = Object.defineProperty({}, 'x', { value: 1, enumerable: false })
    const sparse = [1]
    sparse[2] = 3
    const bad = [NaN, Infinity, -Infinity, -0, undefined, 1n, () => 1, Symbol('x')]
    const worlds = [...bad.map((x) => ({ in: [{ x }] })), undefined, NaN, -0]
    for (const world of [...worlds, own, hidden, { [Symbol('x')]: 1 }, sparse, new Hidden()]) {
      const ada = member(1)
      act(ada)
      expect(ahead(ada, giving(world))).toEqual({})
      expect(ada.failures[0]!.error).toBeInstanceOf(Error)
      expect(() => seal(world)).toThrow(/a (?:world|value)/)
    }
    const plain = (): string => seal({ x: [0, null, '', 1.5, {}] }).text
    expect(plain).not.toThrow()
    expect(plain()).toBe('{"x":[0,null,"",1.5,{}]}')
  })

  test('is no world if somebody who takes it would have another', () => {
    for (const world of [new Map([[1, 2]]), { at: new Date(0) }, [new Set([1])]]) {
      const ada = member(1)
      expect(ahead(ada, giving(world))).toEqual({})
      expect(ada.failures[0]!.error).toBeInstanceOf(TypeError)
    }
  })
})

describe('what a long session leaves behind', () => {
  const view = (incs: readonly number[], session = 'a') =>
    ({
      session,
      me: 1,
      mesh: true,
      primary: 1,
      members: incs.map((inc) => ({ inc, player: inc * 10 })),
    }) as never

  test('M32: chance of a slot is the same in one session, and another in another', () => {
    const dice: Game = { ...game, rule: (_world, _acts, turn) => turn.random() }
    const drawn = (session: string): unknown => {
      const ada = member(1, 1)
      part.view!(ada, NOW, view([1], session), out)
      tick(ada, dice, NOW + 3 * game.ms, out)
      return shown(ada, dice)
    }
    expect(drawn('a')).toBe(drawn('a'))
    expect(drawn('b')).not.toBe(drawn('a'))
  })

  test('players of members that went long ago are forgotten, of those here and of late never', () => {
    const ada = member(1, 2)
    for (let inc = 3; inc < 3_000; inc++) part.view!(ada, NOW, view([1, 2, inc]), out)
    expect(ada.players.size).toBe(3 + GONE_MAX)
    for (const inc of [1, 2, 2_999, 2_998, 2_999 - GONE_MAX]) {
      expect(ada.players.get(inc)).toBe(inc * 10)
    }
  })

  test('who remembers a player folds the same as who has forgotten it', () => {
    const [ada, bea, cy] = [member(1), member(2), member(3)]
    // What member 4 did last, Cy tells to one who knew it and to one who came later.
    const gone = { inc: 4, player: 40, id: 3, direct: false, held: [] }
    act(cy)
    const event = { ...eventOf(cy), ...gone }
    ada.players.set(4, 40)
    for (const one of [ada, bea]) {
      cy.peers.get(one.me)!.unacked.clear()
      cy.peers.get(one.me)!.unacked.set(event, 0)
      tell(cy, one)
      tick(one, game, NOW + game.ms, out)
    }
    expect(shown(ada, game)).toEqual({ 40: 1 })
    expect(shown(bea, game)).toEqual(shown(ada, game))
  })

  test('own acts are remembered for 300 slots, however long no root is heard', () => {
    const bea = member(2)
    // She hears too few to lead, and nobody who does.
    for (let by = 0; by < 900; by++) {
      const now = NOW + by * game.ms
      bea.apart = true
      part.wake!(bea, now, out)
      for (let n = 0; n < ACTS_PER_SLOT; n++) act(bea, n, now)
    }
    expect(bea.unsure).toHaveLength(UNSURE_MAX)
    expect(bea.slot - bea.unsure[0]!.slot).toBe(UNSURE_SLOTS - 1)
    expect(bea.bySlot.size).toBeLessThanOrEqual(bea.horizon + 2)
    expect(bea.settled.size).toBeLessThanOrEqual(HISTORY_SLOTS)
  })

  test('acts in the name of ever other members that nobody knows are not all kept (PR-2)', () => {
    const [bea, cy] = [member(2), member(3)]
    const heard: number[] = []
    for (let by = 0; by < 600; by++) {
      const now = NOW + by * game.ms
      part.wake!(bea, now, out)
      cy.slot = bea.slot
      for (let n = 1; n <= 5; n++) {
        const inc = 1_000 + by * 5 + n
        const body = new Uint8Array([1])
        const forged = { inc, player: inc, id: 2 ** 27, slot: cy.slot, gone: 0, body }
        cy.peers.get(2)!.unacked.set({ ...forged, act: 1, mark: 1, direct: false, held: [] }, 0)
      }
      tell(cy, bea, now)
      cy.peers.get(2)!.unacked.clear()
      heard.push(bea.present.size)
    }
    expect(bea.counters.refused).toBe(0)
    // As the standard says: a world with more of them nobody takes.
    expect(bea.tallies.size).toBeLessThanOrEqual(256)
    expect(Math.max(...heard)).toBeLessThanOrEqual(WORLD_PLAYERS_MAX)
    expect(bea.players.size).toBe(3)
  })
})
