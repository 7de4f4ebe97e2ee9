// Goal: whoever speaks for an object has told its newest version to everybody who may know it, and
// updates it only where that has come.
// Method: a crew whose links and packets the test carries by hand.
import { describe, expect, test } from 'vitest'
import { KIND } from '../../packages/holdfast/src/objects/protocol/messages.ts'
import { bytes } from '../../packages/holdfast/src/wire/fields/schema.ts'
import {
  carry,
  cut,
  destroy,
  die,
  grant,
  heard,
  join,
  kinds,
  land,
  link,
  look,
  looks,
  meet,
  pass,
  pull,
  rules,
  see,
  settle,
  spawn,
  takeOver,
  thing,
  told,
  under,
  verdict,
  write,
} from './crew.ts'

const [HOST, A, B, C] = [1, 2, 3, 4] as const
const mesh = () => meet({ incs: [HOST, A, B, C], mesh: true })
const star = () => meet({ incs: [HOST, A, B, C] })

describe('who tells what to whom', () => {
  test('B13, B19: its owner tells of the creation and of the end, in reliable messages', () => {
    const crew = mesh()
    const key = spawn(crew, A)
    expect([HOST, B, C].map((to) => kinds(crew, A, to))).toEqual([
      [KIND.tell],
      [KIND.tell],
      [KIND.tell],
    ])
    settle(crew)
    destroy(crew, A, key)
    expect([HOST, B, C].map((to) => kinds(crew, A, to))).toEqual([
      [KIND.tell],
      [KIND.tell],
      [KIND.tell],
    ])
    expect(pull(crew, A, B)).toBe(null)
    settle(crew)
    expect(looks(crew, key)).toEqual(['gone v0.0'])
  })

  test('B38, B39: the primary tells of a grant only the grantee, who tells everybody', () => {
    const crew = mesh()
    const key = spawn(crew, A)
    settle(crew)
    grant(crew, key, B)
    expect([A, B, C].map((to) => kinds(crew, HOST, to))).toEqual([[], [KIND.grant], []])
    expect(look(crew, HOST, key)).toBe('2 v0.0 1,1')
    carry(crew, HOST, B)
    expect([HOST, A, C].map((to) => kinds(crew, B, to))).toEqual([
      [KIND.tell],
      [KIND.tell],
      [KIND.tell],
    ])
    settle(crew)
    expect(looks(crew, key)).toEqual(['3 v1.1 1,1'])
  })

  test('B9, B11: in a star an owner tells the primary, and the primary all others', () => {
    const crew = star()
    const key = spawn(crew, A)
    expect(crew.links.has(`${A}>${B}`)).toBe(false)
    carry(crew, A, HOST)
    expect([A, B, C].map((to) => kinds(crew, HOST, to))).toEqual([[], [KIND.tell], [KIND.tell]])
    settle(crew)
    write(crew, A, key, 5)
    land(crew, pull(crew, A, HOST)!)
    expect(pull(crew, HOST, A)).toBe(null)
    for (const to of [B, C]) land(crew, pull(crew, HOST, to)!)
    expect(looks(crew, key)).toEqual(['2 v0.0 5,1'])
  })

  test('T46: the primary hands on what only the game can read, byte for byte', () => {
    const crew = meet({ incs: [HOST, A, B], types: [rules({}, { load: bytes(64) })] })
    const noise = String.fromCharCode(...Array.from({ length: 64 }, (_, i) => (i * 37) % 256))
    const key = spawn(crew, A, [noise])
    settle(crew)
    expect(thing(crew, B, key).fields).toEqual([noise])
  })

  test('B10: what the primary owns it tells itself, to all', () => {
    for (const crew of [star(), mesh()]) {
      const key = spawn(crew, HOST)
      settle(crew)
      write(crew, HOST, key, 4)
      settle(crew)
      expect(looks(crew, key)).toEqual(['1 v0.0 4,1'])
    }
  })
})

describe('the gate', () => {
  test('B14: nobody is sent an update before the creation is known to have come', () => {
    const crew = mesh()
    const key = spawn(crew, A)
    write(crew, A, key, 5)
    carry(crew, A, B, 1, true)
    expect([HOST, B].map((to) => pull(crew, A, to))).toEqual([null, null])
    heard(crew, A, B, 1)
    land(crew, pull(crew, A, B)!)
    expect(look(crew, B, key)).toBe('2 v0.0 5,1')
    expect(pull(crew, A, HOST)).toBe(null)
  })

  test('B40: nor by a new owner before its migration is known to have come', () => {
    const crew = mesh()
    const key = spawn(crew, A)
    settle(crew)
    grant(crew, key, B)
    carry(crew, HOST, B)
    write(crew, B, key, 6)
    carry(crew, B, C, 1, true)
    expect([A, C].map((to) => pull(crew, B, to))).toEqual([null, null])
    heard(crew, B, C, 1)
    land(crew, pull(crew, B, C)!)
    expect(look(crew, C, key)).toBe('3 v1.1 6,1')
  })

  test('B55: the gate opens by the number of the message, not by one before it', () => {
    const crew = mesh()
    const first = spawn(crew, A)
    const second = spawn(crew, A)
    for (const key of [first, second]) write(crew, A, key, 5)
    const [one, two] = under(crew, A, B)
    expect(two!.number).toBeGreaterThan(one!.number)
    carry(crew, A, B, 2, true)
    heard(crew, A, B, one!.number)
    land(crew, pull(crew, A, B)!)
    expect([first, second].map((key) => look(crew, B, key))).toEqual(['2 v0.0 5,1', '2 v0.0 1,1'])
    heard(crew, A, B, two!.number)
    land(crew, pull(crew, A, B)!)
    expect(look(crew, B, second)).toBe('2 v0.0 5,1')
  })

  test('a gate that opens for an older version lets nothing of the newer one pass', () => {
    const crew = mesh()
    const key = spawn(crew, A)
    for (const to of [HOST, C]) carry(crew, A, to)
    grant(crew, key, C)
    carry(crew, HOST, C)
    grant(crew, key, A)
    carry(crew, C, HOST)
    carry(crew, HOST, A)
    write(crew, A, key, 5)
    // That the creation came says nothing of the migration behind it.
    heard(crew, A, B, 1)
    expect(pull(crew, A, B)).toBe(null)
    settle(crew)
    expect(looks(crew, key)).toEqual(['2 v1.2 5,1'])
  })

  test('what changed while the gate was shut leaves as one update when it opens', () => {
    const crew = mesh()
    const key = spawn(crew, A)
    for (let value = 2; value < 40; value++) write(crew, A, key, value)
    carry(crew, A, B)
    const packet = pull(crew, A, B)!
    expect(pull(crew, A, B)).toBe(null)
    land(crew, packet)
    expect(look(crew, B, key)).toBe('2 v0.0 39,1')
    expect(packet.bytes.length).toBeLessThan(16)
  })
})

describe('there is more to tell', () => {
  test('B54: to a newcomer, by whoever owns what: all that lives, all that ended', () => {
    for (const crew of [star(), mesh()]) {
      const keys = [HOST, A, B].map((inc) => spawn(crew, inc))
      const gone = spawn(crew, C)
      settle(crew)
      for (const key of keys) grant(crew, key, C)
      grant(crew, gone, A)
      settle(crew)
      destroy(crew, A, gone)
      join(crew, 5)
      settle(crew)
      expect(keys.map((key) => look(crew, 5, key))).toEqual([
        '4 v1.1 1,1',
        '4 v1.1 1,1',
        '4 v1.1 1,1',
      ])
      expect(look(crew, 5, gone)).toBe('gone v1.1')
      expect(told(crew, 5, 'object-came')).toHaveLength(3)
    }
  })

  test('B54: a newcomer that is granted an object tells those who know it not yet, in time', () => {
    const crew = mesh()
    const key = spawn(crew, A)
    settle(crew)
    // The primary alone knows of the newcomer, and grants it the object at once.
    crew.here.set(5, 5)
    crew.states.set(5, meet({ incs: [5] }).states.get(5)!)
    crew.events.set(5, [])
    for (const inc of [HOST, 5]) see(crew, inc)
    link(crew, HOST, 5)
    grant(crew, key, 5)
    carry(crew, HOST, 5)
    for (const inc of [A, B, C]) link(crew, inc, 5)
    carry(crew, 5, B)
    expect(look(crew, B, key)).toBe('5 v1.1 1,1')
    for (const inc of [A, B, C]) see(crew, inc)
    settle(crew)
    expect(looks(crew, key)).toEqual(['5 v1.1 1,1'])
  })

  test('B53: an end that its primary took to the grave is told to the next, though that came later', () => {
    const crew = star()
    const key = spawn(crew, A)
    settle(crew)
    join(crew, 5)
    settle(crew)
    destroy(crew, A, key)
    takeOver(crew, 5)
    settle(crew)
    expect(looks(crew, key)).toEqual(['gone v0.0'])
  })

  test('B53: an end whose owner died having told the primary alone is told by that', () => {
    const crew = mesh()
    const key = spawn(crew, A)
    settle(crew)
    destroy(crew, A, key)
    carry(crew, A, HOST)
    die(crew, A)
    crew.here.delete(A)
    for (const inc of [B, C, HOST]) see(crew, inc)
    settle(crew)
    expect(looks(crew, key)).toEqual(['gone v0.0'])
  })

  test('an end is told on the next link to who heard of the beginning on the one before', () => {
    const crew = mesh()
    join(crew, 5)
    const key = spawn(crew, A)
    settle(crew)
    cut(crew, A, 5)
    destroy(crew, A, key)
    link(crew, A, 5)
    settle(crew)
    expect(looks(crew, key)).toEqual(['gone v0.0'])
  })

  test('on a new link: the old one may have lost anything', () => {
    for (const crew of [star(), mesh()]) {
      const kept = spawn(crew, A)
      const ended = spawn(crew, A)
      settle(crew)
      write(crew, A, kept, 5)
      cut(crew, A, HOST)
      destroy(crew, A, ended)
      const made = spawn(crew, A)
      if (crew.mesh) settle(crew)
      expect(look(crew, HOST, made)).toBe('unknown')
      link(crew, HOST, A)
      settle(crew)
      expect(looks(crew, kept)).toEqual(['2 v0.0 5,1'])
      expect(looks(crew, ended)).toEqual(['gone v0.0'])
      expect(looks(crew, made)).toEqual(['2 v0.0 1,1'])
    }
  })

  test('without a link nothing is lost: it waits for one', () => {
    const crew = mesh()
    cut(crew, A, B)
    const key = spawn(crew, A)
    write(crew, A, key, 3)
    settle(crew)
    expect(look(crew, B, key)).toBe('unknown')
    link(crew, A, B)
    settle(crew)
    expect(looks(crew, key)).toEqual(['2 v0.0 3,1'])
  })

  test('by a new primary in a star, once a member says that it follows', () => {
    const crew = star()
    const key = spawn(crew, A)
    settle(crew)
    die(crew, HOST)
    crew.here.delete(HOST)
    Object.assign(crew, { primary: B, epoch: 2 })
    for (const [one, other] of [
      [A, B],
      [B, C],
    ] as const) {
      link(crew, one, other)
    }
    see(crew, B)
    write(crew, A, key, 5)
    settle(crew)
    // C has not seen the view: what B says now would be lost on it.
    expect(kinds(crew, B, C)).toEqual([])
    for (const inc of [A, C]) see(crew, inc)
    expect(kinds(crew, C, B)).toEqual([KIND.follow])
    expect(kinds(crew, A, B)).toEqual([KIND.tell, KIND.follow])
    settle(crew)
    expect(looks(crew, key)).toEqual(['2 v0.0 5,1'])
  })

  test('by a new primary that has an older state than the members: nobody goes back', () => {
    const crew = star()
    const key = spawn(crew, A)
    settle(crew)
    write(crew, A, key, 5)
    land(crew, pull(crew, A, HOST)!)
    land(crew, pull(crew, HOST, C)!)
    expect([B, C].map((inc) => look(crew, inc, key))).toEqual(['2 v0.0 1,1', '2 v0.0 5,1'])
    const seen: string[] = []
    takeOver(crew, B)
    for (let steps = 0; steps < 20; steps++) {
      for (const [from, to] of [
        [B, C],
        [C, B],
        [B, A],
        [A, B],
      ] as const) {
        carry(crew, from, to, 1)
        seen.push(look(crew, C, key))
      }
    }
    settle(crew)
    expect(new Set(seen)).toEqual(new Set(['2 v0.0 5,1']))
    expect(looks(crew, key)).toEqual(['2 v0.0 5,1'])
  })

  test('a primary that follows another tells its own, and nothing more of the others', () => {
    const crew = star()
    const [own, other] = [spawn(crew, HOST), spawn(crew, A)]
    settle(crew)
    Object.assign(crew, { primary: B, epoch: 2 })
    for (const inc of [A, C]) link(crew, inc, B)
    for (const inc of [HOST, A, B, C]) see(crew, inc)
    settle(crew)
    write(crew, HOST, own, 6)
    write(crew, A, other, 7)
    expect(pull(crew, HOST, C)).toBe(null)
    settle(crew)
    expect(looks(crew, own)).toEqual(['1 v0.0 6,1'])
    expect(looks(crew, other)).toEqual(['2 v0.0 7,1'])
  })
})

describe('many objects', () => {
  test('are told in batches, and never more than can wait on a link', () => {
    const crew = star()
    const keys = Array.from({ length: 3_000 }, (_, i) => spawn(crew, HOST, [i % 256, 0]))
    settle(crew)
    join(crew, 5)
    carry(crew, 5, HOST)
    const batches = kinds(crew, HOST, 5).filter((kind) => kind === KIND.tell)
    expect(batches).toHaveLength(32)
    settle(crew)
    expect(keys.filter((key) => look(crew, 5, key) === 'unknown')).toEqual([])
    expect(told(crew, 5, 'object-came')).toHaveLength(3_000)
  })

  test('that come, change and go before a batch leaves it are told as they are then', () => {
    const crew = star()
    join(crew, 5)
    settle(crew)
    const keys = Array.from({ length: 3_000 }, () => spawn(crew, HOST))
    destroy(crew, HOST, keys.at(-1)!)
    write(crew, HOST, keys.at(-2)!, 9)
    settle(crew)
    expect(look(crew, 5, keys.at(-1)!)).toBe('gone v0.0')
    expect(look(crew, 5, keys.at(-2)!)).toBe('1 v0.0 9,1')
    expect(told(crew, 5, 'object-came')).toHaveLength(2_999)
  })

  test('a slot of what was forgotten is used again, and no late ack counts for what is there now', () => {
    const crew = mesh()
    const first = spawn(crew, A)
    settle(crew)
    write(crew, A, first, 5)
    const late = pull(crew, A, B)!
    destroy(crew, A, first)
    settle(crew)
    pass(crew, 62_000)
    const second = spawn(crew, A)
    settle(crew)
    expect(thing(crew, A, second).index).toBe(0)
    write(crew, A, second, 6)
    verdict(crew, late, true)
    land(crew, pull(crew, A, B)!)
    expect(look(crew, B, second)).toBe('2 v0.0 6,1')
  })
})
