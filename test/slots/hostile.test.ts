// Goal: what members say of a world is hostile: nothing of it throws, what cannot be is counted.
// Method: frames and messages by hand and by chance, to a member of a world of three.
import { beforeEach, describe, expect, test } from 'vitest'
import * as prng from '../../packages/holdfast/src/faults/prng.ts'
import { insert } from '../../packages/holdfast/src/slots/protocol/events.ts'
import { seal, shown } from '../../packages/holdfast/src/slots/protocol/fold.ts'
import { slotsLayout } from '../../packages/holdfast/src/slots/protocol/messages.ts'
import {
  ACTS_PER_SLOT,
  AHEAD_SLOTS,
  create,
  GAPS_MAX,
  open,
  makeEvent,
  type SlotEvent,
  type Slots,
  slotsPart,
  tick,
} from '../../packages/holdfast/src/slots/protocol/slots.ts'
import { takeDiscarded, tally } from '../../packages/holdfast/src/slots/protocol/agreement.ts'
import { decode, encode } from '../../packages/holdfast/src/wire/layout.ts'
import { frameOf, game, hearing, type Heard, member, NOW, part } from './machine.ts'

let out: Heard

beforeEach(() => {
  out = hearing()
})

function frame(from: Slots, to: number): Uint8Array {
  const bytes = frameOf(from, to)
  expect(bytes).not.toBe(null)
  return bytes!
}

const act = (slots: Slots, body = 1): void => makeEvent(slots, NOW, game, new Uint8Array([body]), 0)
const hear = (slots: Slots, from: number, bytes: Uint8Array): void =>
  part.read!(slots, NOW, from, bytes, out)
const count = (slots: Slots): unknown => {
  slots.slot++
  return shown(slots, game)
}

describe('frames', () => {
  test('an act is taken once, however often it comes', () => {
    const [ada, bea] = [member(1), member(2)]
    act(ada)
    const bytes = frame(ada, 2)
    for (let i = 0; i < 5; i++) hear(bea, 1, bytes)
    expect(count(bea)).toEqual({ 10: 1 })
  })

  test('of one member so many acts in a slot, and no more', () => {
    const [ada, bea] = [member(1), member(2)]
    for (let i = 0; i < ACTS_PER_SLOT + 3; i++) act(ada)
    hear(bea, 1, frame(ada, 2))
    expect(count(bea)).toEqual({ 10: ACTS_PER_SLOT })
    expect(bea.counters.refused).toBe(3)
  })

  test('an act from too far ahead, one that was settled, and one that cannot be read', () => {
    const [ada, bea] = [member(1), member(2)]
    ada.slot += AHEAD_SLOTS + 1
    act(ada)
    hear(bea, 1, frame(ada, 2))
    expect(bea.counters.refused).toBe(1)
    const old = member(1)
    old.slot -= old.horizon + 1
    old.base -= old.horizon
    act(old)
    hear(bea, 1, frame(old, 2))
    expect(bea.counters.late).toBe(1)
    const strange = member(3)
    const two = { ...game, decode: () => 0 }
    makeEvent(strange, NOW, two, new Uint8Array([1, 2]), 0)
    hear(bea, 3, frame(strange, 2))
    expect(bea.counters.refused).toBe(2)
    expect(count(bea)).toEqual({})
  })

  test('nobody speaks for another player, and nobody for us', () => {
    const [ada, bea, cy] = [member(1), member(2), member(3)]
    // Cy passes on what Ada is said to have done, as somebody else.
    const forged = { inc: 1, player: 30, id: 5, slot: cy.slot, gone: 0, body: new Uint8Array([1]) }
    cy.peers.get(2)!.unacked.set({ ...forged, act: 1, mark: 0, direct: false, held: [] }, 0)
    hear(bea, 3, frame(cy, 2))
    const own = { ...forged, inc: 2, player: 20 }
    cy.peers.get(2)!.unacked.clear()
    cy.peers.get(2)!.unacked.set({ ...own, act: 1, mark: 0, direct: false, held: [] }, 0)
    hear(bea, 3, frame(cy, 2))
    expect(bea.counters.refused).toBe(2)
    expect(count(bea)).toEqual({})
    expect(ada.counters.refused).toBe(0)
  })

  test('whose act it is knows best what it was', () => {
    const [ada, bea, cy] = [member(1), member(2), member(3)]
    act(ada, 1)
    const told = [...ada.bySlot.get(ada.slot)!.events.values()][0]!
    const lie = { ...told, body: new Uint8Array([9]), direct: false, held: [] }
    cy.peers.get(2)!.unacked.set(lie, 0)
    hear(bea, 3, frame(cy, 2))
    hear(bea, 1, frame(ada, 2))
    const [kept] = [...bea.bySlot.get(bea.slot)!.events.values()]
    expect(kept!.body).toEqual(new Uint8Array([1]))
  })

  test('nobody whom we hear is said to be gone', () => {
    const [bea, cy] = [member(2), member(3)]
    makeEvent(cy, NOW, game, new Uint8Array(0), 10)
    hear(bea, 3, frame(cy, 2))
    expect(bea.counters.refused).toBe(1)
    bea.peers.get(1)!.receivedAt = -Infinity
    const other = member(3)
    other.nextId = 9
    makeEvent(other, NOW, game, new Uint8Array(0), 10)
    hear(bea, 3, frame(other, 2))
    expect(bea.counters.refused).toBe(1)
  })

  test('100,000 frames by chance, half of them spoilt good ones', () => {
    const chance = prng.create(8)
    const [ada, bea] = [member(1), member(2)]
    for (let i = 0; i < 6; i++) act(ada, i)
    const good = frame(ada, 2)
    for (let i = 0; i < 100_000; i++) {
      const bytes = i % 2 ? good.slice() : new Uint8Array(prng.below(chance, 60))
      if (i % 2) bytes[prng.below(chance, bytes.length)] = prng.below(chance, 256)
      else prng.fill(chance, bytes)
      hear(bea, 1, bytes)
    }
    expect(bea.counters.malformed).toBeGreaterThan(10_000)
    for (const { events } of bea.bySlot.values()) {
      expect(events.size).toBeLessThanOrEqual(ACTS_PER_SLOT * (3 + 4))
    }
    expect(bea.bySlot.size).toBeLessThanOrEqual(bea.horizon + 1 + AHEAD_SLOTS)
  })
})

const NOBODY: SlotEvent = {
  inc: 9,
  player: 90,
  id: 1,
  slot: NOW / game.ms,
  body: new Uint8Array([1]),
  act: 1,
  gone: 0,
  mark: 1,
  direct: false,
  held: [],
}

describe('what is counted', () => {
  test('a number out of all order costs nothing, and takes nothing back', () => {
    const [bea, cy] = [member(2), member(3)]
    for (const id of [2 ** 28 - 1, 1]) {
      cy.peers.get(2)!.unacked.set({ ...NOBODY, id, slot: cy.slot }, 0)
      hear(bea, 3, frame(cy, 2))
      for (const slots of [bea, cy]) slots.slot++
    }
    tick(bea, game, NOW + 20 * game.ms, out)
    const known = bea.tallies.get(9)!
    expect(known.upTo).toBe(2 ** 28 - 1)
    expect(known.gaps).toEqual([{ from: 2, to: 2 ** 28 - 2 }])
  })

  test('of hundreds of acts that came too late each is void, and no other', () => {
    const ada = member(1)
    for (let id = 1; id <= 300; id++) {
      act(ada)
      if (id % 5 === 0) ada.slot++
    }
    const events = [...ada.unsure]
    for (const event of events) if (event.id <= 20 || event.id > 280) tally(ada, event)
    ada.base = ada.slot
    const ids = takeDiscarded(ada, ada.base).map(({ id }) => id)
    expect(ids).toEqual(events.map(({ id }) => id).filter((id) => id > 20 && id <= 280))
  })

  test('an act that counts after all leaves those round it void (PR-2)', () => {
    const ada = member(1)
    for (let id = 1; id <= 5; id++) act(ada)
    const events = [...ada.unsure]
    for (const id of [1, 5, 3]) tally(ada, events[id - 1]!)
    ada.base = ada.slot
    expect(takeDiscarded(ada, ada.base).map(({ id }) => id)).toEqual([2, 4])
  })

  test('an act that counts after all changes nothing of other gaps (PR-2)', () => {
    const ada = member(1)
    for (let id = 1; id <= 9; id++) act(ada)
    const events = [...ada.unsure]
    for (const id of [1, 4, 7, 9, 6]) tally(ada, events[id - 1]!)
    ada.base = ada.slot
    expect(takeDiscarded(ada, ada.base).map(({ id }) => id)).toEqual([2, 3, 5, 8])
  })

  test('the acts of 256 members are counted, and those of who went are forgotten first (PR-2)', () => {
    const bea = member(2)
    for (const inc of [1, 3]) tally(bea, { ...NOBODY, inc })
    for (let inc = 10; inc < 10 + 254; inc++) tally(bea, { ...NOBODY, inc })
    expect(bea.tallies.size).toBe(256)
    tally(bea, { ...NOBODY, inc: 1_000 })
    expect(bea.tallies.size).toBe(256)
    expect([1, 3, 10, 11, 1_000].filter((inc) => !bea.tallies.has(inc))).toEqual([10])
  })

  test('an act before the machine slept counts and is not void', () => {
    const ada = member(1)
    ada.peers.clear()
    act(ada)
    tick(ada, game, NOW + 400, out)
    makeEvent(ada, NOW + 400, game, new Uint8Array([1]), 0)
    tick(ada, game, NOW + 60_000, out)
    expect(shown(ada, game)).toEqual({ 10: 2 })
    expect(out.told).toEqual([])
  })

  test('a player who is back stays, though the word that it went comes later', () => {
    const bea = member(2)
    insert(bea, { ...NOBODY, player: 30 })
    insert(bea, { ...NOBODY, id: 2, slot: NOBODY.slot - 1, gone: 30 })
    expect([...bea.present]).toEqual([30])
    insert(bea, { ...NOBODY, id: 3, slot: NOBODY.slot + 1, gone: 30 })
    expect([...bea.present]).toEqual([])
  })
})

describe('settled worlds', () => {
  test('one of a clock ahead of ours is compared when that slot is settled here', () => {
    const [ada, bea] = [member(1), member(2)]
    // What only Ada ever knew of is in her world by now.
    act(ada)
    const later = NOW + (ada.horizon + 3) * game.ms
    for (const peer of [...ada.peers.values(), ...bea.peers.values()]) peer.receivedAt = later
    part.wake!(ada, later, out)
    part.wake!(bea, later - game.ms, out)
    out = hearing()
    const hearAda = (): void => {
      ada.peers.get(2)!.sentIn = -1
      part.read!(bea, later, 1, frame(ada, 2), out)
    }
    hearAda()
    expect(out.sent).toEqual([])
    part.wake!(bea, later, out)
    // A frame that says nothing of worlds will do.
    ada.settled.clear()
    out = hearing()
    hearAda()
    expect(out.sent.map(({ to }) => to)).toEqual([1])
    // Once: what comes next is compared by itself.
    expect(bea.peers.get(1)!.earlyReport).toBe(null)
  })

  test('one that is said to differ is kept for its slot, if that is settled here soon (PR-2)', () => {
    const bea = member(2)
    const soon = bea.base + bea.horizon
    const kept = (slot: number): number | undefined => {
      const message = { kind: 'differs', slot, hash: 1, acts: 0 } as const
      part.receive!(bea, NOW, 1, encode(slotsLayout, message), out)
      return bea.peers.get(1)!.earlyReport?.slot
    }
    // Of the slot that is settled already it tells at once.
    expect([kept(bea.base), out.told.length]).toEqual([undefined, 1])
    expect([soon + 1, soon, bea.base + 1].map(kept)).toEqual([undefined, soon, bea.base + 1])
  })
})

describe('messages', () => {
  const said = { slot: 490, acts: 0, present: [], tallies: [], events: [] }
  const worldOf = (text: string, slot = said.slot): Uint8Array =>
    encode(slotsLayout, { kind: 'world', text, ...said, slot })

  test('a world of long ago, of a time to come, or nested too deep is none', () => {
    const bea = member(2)
    const deep = '['.repeat(24_000) + ']'.repeat(24_000)
    for (const bytes of [worldOf('{}', 0), worldOf('{}', 2 ** 40), worldOf(deep)]) {
      bea.asked = 1
      part.receive!(bea, NOW, 1, bytes, out)
    }
    expect(bea.counters.malformed).toBe(3)
    expect(count(bea)).toEqual({})
  })

  test('a world is 30 s and the horizon old, and no slot more (PR-2)', () => {
    const bea = member(2)
    const oldest = bea.slot - 30_000 / game.ms - bea.horizon
    for (const slot of [oldest - 1, oldest]) {
      bea.asked = 1
      part.receive!(bea, NOW, 1, worldOf('{"10":3}', slot), out)
    }
    expect(bea.counters).toMatchObject({ malformed: 1, adopted: 1 })
    expect(count(bea)).toEqual({ 10: 3 })
  })

  test('the answer fits into a message, however many players there are said to be', () => {
    const bea = member(2)
    bea.worlds = [seal('x'.repeat(49_000))]
    const gaps = Array.from({ length: GAPS_MAX }, (_, i) => ({ from: 2 ** 27 + i, to: 2 ** 28 }))
    for (let i = 0; i < 300; i++) {
      bea.tallies.set(i + 10, { upTo: 2 ** 28 - 1, gaps })
      insert(bea, { ...NOBODY, inc: 2 ** 23 + i, player: i + 10, body: new Uint8Array(64) })
    }
    part.receive!(bea, NOW, 1, encode(slotsLayout, { kind: 'inquiry' }), out)
    expect(out.sent[0]!.bytes.length).toBeLessThan(64 * 1024)
    expect(decode(slotsLayout, out.sent[0]!.bytes)).toMatchObject({ kind: 'world' })
  })

  test('a world that begins with session time can be told', () => {
    const bea = member(2)
    bea.standing = 'joining'
    bea.slot = NaN
    bea.here = new Set([2])
    tick(bea, game, 50, out)
    expect(bea.standing).toBe('joining')
    tick(bea, game, game.ms, out)
    expect(bea.standing).toBe('live')
    part.receive!(bea, game.ms, 1, encode(slotsLayout, { kind: 'inquiry' }), out)
    expect(decode(slotsLayout, out.sent[0]!.bytes)).toMatchObject({ slot: 0 })
  })

  test('who told of another game before we had ours is not asked for its world (SL-4)', () => {
    const bea = { ...member(2), standing: 'closed' as const, print: 0 }
    const hear = (inc: number, print: number, says: string): void => {
      const standing = print === 0 ? 'closed' : 'live'
      const message = { kind: 'standing', standing, print, says } as const
      part.receive!(bea, NOW, inc, encode(slotsLayout, message), out)
    }
    hear(1, 8, '100 fair \u001b[2J')
    expect(() => open(bea, game)).toThrow(
      'here ms 200, order highest, act u8, at player 10 ms 100, order fair, act \\u001b[2J',
    )
    expect(bea.standing).toBe('closed')
    hear(1, 0, '')
    hear(3, 7, '200 highest u8')
    open(bea, game)
    tick(bea, game, NOW, out)
    expect(out.sent.map(({ to }) => to)).toEqual([3])
  })

  test('who plays the same game is no reason not to, whoever was first (SL-4, PR-2)', () => {
    const bea = { ...member(2), standing: 'closed' as const, print: 0 }
    const { print, says } = game
    const message = { kind: 'standing', standing: 'live', print, says } as const
    for (const inc of [1, 3]) part.receive!(bea, NOW, inc, encode(slotsLayout, message), out)
    expect(() => open(bea, game)).not.toThrow()
    expect([...bea.peers.values()].map(({ standing }) => standing)).toEqual(['live', 'live'])
    expect([bea.standing, out.told]).toEqual(['joining', []])
  })

  test('of two who want other games the younger does not open its own (SL-4, PR-2)', () => {
    const message = {
      kind: 'standing',
      standing: 'joining',
      print: 8,
      says: '100 fair u8',
    } as const
    for (const [inc, fits] of [
      [1, false],
      [3, true],
    ] as const) {
      const bea = { ...member(2), standing: 'closed' as const, print: 0 }
      part.receive!(bea, NOW, inc, encode(slotsLayout, message), out)
      if (fits) expect(() => open(bea, game)).not.toThrow()
      else expect(() => open(bea, game)).toThrow('at player 10 ms 100, order fair')
      expect(bea.standing).toBe(fits ? 'joining' : 'closed')
    }
  })

  test('a world that was not asked for is refused, and one that is no JSON', () => {
    const bea = member(2)
    const said = { slot: 400, acts: 0, present: [], tallies: [], events: [] }
    const world = encode(slotsLayout, { kind: 'world', text: '{"10":99}', ...said })
    part.receive!(bea, NOW, 1, world, out)
    expect(bea.counters.refused).toBe(1)
    bea.asked = 1
    part.receive!(bea, NOW, 1, encode(slotsLayout, { kind: 'world', text: '{', ...said }), out)
    expect(bea.counters.malformed).toBe(1)
    part.receive!(bea, NOW, 1, new Uint8Array([9, 9]), out)
    expect(bea.counters.malformed).toBe(2)
    expect(count(bea)).toEqual({})
  })

  test('who asks again and again is answered now and then', () => {
    const bea = member(2)
    const inquiry = encode(slotsLayout, { kind: 'inquiry' })
    for (let i = 0; i < 20; i++) part.receive!(bea, NOW + i, 1, inquiry, out)
    expect(out.sent).toHaveLength(1)
  })

  test('of two with other games the younger closes its world, in words of both (SL-4)', () => {
    const bea = member(2)
    const says = `100 fair ${'x'.repeat(900)}`
    const strange = encode(slotsLayout, { kind: 'standing', standing: 'live', print: 8, says })
    part.receive!(bea, NOW, 3, strange, out)
    expect(bea.peers.get(3)!.standing).toBe('closed')
    expect([bea.counters.refused, bea.standing, out.told]).toEqual([1, 'live', []])
    part.receive!(bea, NOW, 1, strange, out)
    expect(bea.standing).toBe('closed')
    expect(out.told).toEqual([{ kind: 'slots-refused', why: expect.stringContaining('ms 100') }])
    expect(JSON.stringify(out.told).length).toBeLessThan(500)
    // It plays nothing now, so whoever plays something else is no stranger.
    part.receive!(bea, NOW, 3, strange, out)
    expect([bea.peers.get(3)!.standing, bea.counters.refused]).toEqual(['live', 2])
  })

  test('a game says 2,048 bytes of itself, and no byte more (PR-2)', () => {
    const bea = { ...member(2), standing: 'closed' as const, print: 0 }
    const hear = (length: number): void => {
      // STANDING, live, the print, and the text with its length.
      const text = new Uint8Array(length).fill(120)
      const head = [1, 2, 0, 0, 0, 8, (length % 128) + 128, length >> 7]
      part.receive!(bea, NOW, 1, Uint8Array.of(...head, ...text), out)
    }
    hear(2_049)
    expect([bea.peers.get(1)!.says.length, bea.counters.malformed]).toEqual([0, 1])
    hear(2_048)
    expect([bea.peers.get(1)!.says.length, bea.counters.malformed]).toEqual([2_048, 1])
  })

  test('who has no game yet stays as it is, however late it is (PR-2)', () => {
    const none = slotsPart({ game: null })
    const bea = create()
    none.clock!(bea, 0)
    expect(() => none.wake!(bea, NOW, out)).not.toThrow()
    expect([bea.slot, none.deadline!(bea)]).toEqual([NaN, Infinity])
  })
})
