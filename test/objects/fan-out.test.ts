// Goal: whoever speaks for an object has told its newest version to everybody who may know it, and
// updates it only where that has come.
// Method: a cluster whose links and packets the test carries by hand.
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
} from './cluster.ts'

const [HOST, A, B, C] = [1, 2, 3, 4] as const
const mesh = () => meet({ incs: [HOST, A, B, C], mesh: true })
const star = () => meet({ incs: [HOST, A, B, C] })

describe('who tells what to whom', () => {
  test('B13, B19: its owner tells of the creation and of the end, in reliable messages', () => {
    const cluster = mesh()
    const key = spawn(cluster, A)
    expect([HOST, B, C].map((to) => kinds(cluster, A, to))).toEqual([
      [KIND.tell],
      [KIND.tell],
      [KIND.tell],
    ])
    settle(cluster)
    destroy(cluster, A, key)
    expect([HOST, B, C].map((to) => kinds(cluster, A, to))).toEqual([
      [KIND.tell],
      [KIND.tell],
      [KIND.tell],
    ])
    expect(pull(cluster, A, B)).toBe(null)
    settle(cluster)
    expect(looks(cluster, key)).toEqual(['gone v0.0'])
  })

  test('B38, B39: the primary tells of a grant only the grantee, who tells everybody', () => {
    const cluster = mesh()
    const key = spawn(cluster, A)
    settle(cluster)
    grant(cluster, key, B)
    expect([A, B, C].map((to) => kinds(cluster, HOST, to))).toEqual([[], [KIND.grant], []])
    expect(look(cluster, HOST, key)).toBe('2 v0.0 1,1')
    carry(cluster, HOST, B)
    expect([HOST, A, C].map((to) => kinds(cluster, B, to))).toEqual([
      [KIND.tell],
      [KIND.tell],
      [KIND.tell],
    ])
    settle(cluster)
    expect(looks(cluster, key)).toEqual(['3 v1.1 1,1'])
  })

  test('B9, B11: in a star an owner tells the primary, and the primary all others', () => {
    const cluster = star()
    const key = spawn(cluster, A)
    expect(cluster.links.has(`${A}>${B}`)).toBe(false)
    carry(cluster, A, HOST)
    expect([A, B, C].map((to) => kinds(cluster, HOST, to))).toEqual([[], [KIND.tell], [KIND.tell]])
    settle(cluster)
    write(cluster, A, key, 5)
    land(cluster, pull(cluster, A, HOST)!)
    expect(pull(cluster, HOST, A)).toBe(null)
    for (const to of [B, C]) land(cluster, pull(cluster, HOST, to)!)
    expect(looks(cluster, key)).toEqual(['2 v0.0 5,1'])
  })

  test('T46: the primary hands on what only the game can read, byte for byte', () => {
    const cluster = meet({ incs: [HOST, A, B], types: [rules({}, { load: bytes(64) })] })
    const noise = String.fromCharCode(...Array.from({ length: 64 }, (_, i) => (i * 37) % 256))
    const key = spawn(cluster, A, [noise])
    settle(cluster)
    expect(thing(cluster, B, key).fields).toEqual([noise])
  })

  test('B10: what the primary owns it tells itself, to all', () => {
    for (const cluster of [star(), mesh()]) {
      const key = spawn(cluster, HOST)
      settle(cluster)
      write(cluster, HOST, key, 4)
      settle(cluster)
      expect(looks(cluster, key)).toEqual(['1 v0.0 4,1'])
    }
  })
})

describe('the gate', () => {
  test('B14: nobody is sent an update before the creation is known to have come', () => {
    const cluster = mesh()
    const key = spawn(cluster, A)
    write(cluster, A, key, 5)
    carry(cluster, A, B, 1, true)
    expect([HOST, B].map((to) => pull(cluster, A, to))).toEqual([null, null])
    heard(cluster, A, B, 1)
    land(cluster, pull(cluster, A, B)!)
    expect(look(cluster, B, key)).toBe('2 v0.0 5,1')
    expect(pull(cluster, A, HOST)).toBe(null)
  })

  test('B40: nor by a new owner before its migration is known to have come', () => {
    const cluster = mesh()
    const key = spawn(cluster, A)
    settle(cluster)
    grant(cluster, key, B)
    carry(cluster, HOST, B)
    write(cluster, B, key, 6)
    carry(cluster, B, C, 1, true)
    expect([A, C].map((to) => pull(cluster, B, to))).toEqual([null, null])
    heard(cluster, B, C, 1)
    land(cluster, pull(cluster, B, C)!)
    expect(look(cluster, C, key)).toBe('3 v1.1 6,1')
  })

  test('B55: the gate opens by the number of the message, not by one before it', () => {
    const cluster = mesh()
    const first = spawn(cluster, A)
    const second = spawn(cluster, A)
    for (const key of [first, second]) write(cluster, A, key, 5)
    const [one, two] = under(cluster, A, B)
    expect(two!.number).toBeGreaterThan(one!.number)
    carry(cluster, A, B, 2, true)
    heard(cluster, A, B, one!.number)
    land(cluster, pull(cluster, A, B)!)
    expect([first, second].map((key) => look(cluster, B, key))).toEqual([
      '2 v0.0 5,1',
      '2 v0.0 1,1',
    ])
    heard(cluster, A, B, two!.number)
    land(cluster, pull(cluster, A, B)!)
    expect(look(cluster, B, second)).toBe('2 v0.0 5,1')
  })

  test('a gate that opens for an older version lets nothing of the newer one pass', () => {
    const cluster = mesh()
    const key = spawn(cluster, A)
    for (const to of [HOST, C]) carry(cluster, A, to)
    grant(cluster, key, C)
    carry(cluster, HOST, C)
    grant(cluster, key, A)
    carry(cluster, C, HOST)
    carry(cluster, HOST, A)
    write(cluster, A, key, 5)
    // That the creation came says nothing of the migration behind it.
    heard(cluster, A, B, 1)
    expect(pull(cluster, A, B)).toBe(null)
    settle(cluster)
    expect(looks(cluster, key)).toEqual(['2 v1.2 5,1'])
  })

  test('what changed while the gate was shut leaves as one update when it opens', () => {
    const cluster = mesh()
    const key = spawn(cluster, A)
    for (let value = 2; value < 40; value++) write(cluster, A, key, value)
    carry(cluster, A, B)
    const packet = pull(cluster, A, B)!
    expect(pull(cluster, A, B)).toBe(null)
    land(cluster, packet)
    expect(look(cluster, B, key)).toBe('2 v0.0 39,1')
    expect(packet.bytes.length).toBeLessThan(16)
  })
})

describe('there is more to tell', () => {
  test('B54: to a newcomer, by whoever owns what: all that lives, all that ended', () => {
    for (const cluster of [star(), mesh()]) {
      const keys = [HOST, A, B].map((inc) => spawn(cluster, inc))
      const gone = spawn(cluster, C)
      settle(cluster)
      for (const key of keys) grant(cluster, key, C)
      grant(cluster, gone, A)
      settle(cluster)
      destroy(cluster, A, gone)
      join(cluster, 5)
      settle(cluster)
      expect(keys.map((key) => look(cluster, 5, key))).toEqual([
        '4 v1.1 1,1',
        '4 v1.1 1,1',
        '4 v1.1 1,1',
      ])
      expect(look(cluster, 5, gone)).toBe('gone v1.1')
      expect(told(cluster, 5, 'object-came')).toHaveLength(3)
    }
  })

  test('B54: a newcomer that is granted an object tells those who know it not yet, in time', () => {
    const cluster = mesh()
    const key = spawn(cluster, A)
    settle(cluster)
    // The primary alone knows of the newcomer, and grants it the object at once.
    cluster.here.set(5, 5)
    cluster.states.set(5, meet({ incs: [5] }).states.get(5)!)
    cluster.events.set(5, [])
    for (const inc of [HOST, 5]) see(cluster, inc)
    link(cluster, HOST, 5)
    grant(cluster, key, 5)
    carry(cluster, HOST, 5)
    for (const inc of [A, B, C]) link(cluster, inc, 5)
    carry(cluster, 5, B)
    expect(look(cluster, B, key)).toBe('5 v1.1 1,1')
    for (const inc of [A, B, C]) see(cluster, inc)
    settle(cluster)
    expect(looks(cluster, key)).toEqual(['5 v1.1 1,1'])
  })

  test('B53: an end that its primary took to the grave is told to the next, though that came later', () => {
    const cluster = star()
    const key = spawn(cluster, A)
    settle(cluster)
    join(cluster, 5)
    settle(cluster)
    destroy(cluster, A, key)
    takeOver(cluster, 5)
    settle(cluster)
    expect(looks(cluster, key)).toEqual(['gone v0.0'])
  })

  test('B53: an end whose owner died having told the primary alone is told by that', () => {
    const cluster = mesh()
    const key = spawn(cluster, A)
    settle(cluster)
    destroy(cluster, A, key)
    carry(cluster, A, HOST)
    die(cluster, A)
    cluster.here.delete(A)
    for (const inc of [B, C, HOST]) see(cluster, inc)
    settle(cluster)
    expect(looks(cluster, key)).toEqual(['gone v0.0'])
  })

  test('an end is told on the next link to who heard of the beginning on the one before', () => {
    const cluster = mesh()
    join(cluster, 5)
    const key = spawn(cluster, A)
    settle(cluster)
    cut(cluster, A, 5)
    destroy(cluster, A, key)
    link(cluster, A, 5)
    settle(cluster)
    expect(looks(cluster, key)).toEqual(['gone v0.0'])
  })

  test('on a new link: the old one may have lost anything', () => {
    for (const cluster of [star(), mesh()]) {
      const kept = spawn(cluster, A)
      const ended = spawn(cluster, A)
      settle(cluster)
      write(cluster, A, kept, 5)
      cut(cluster, A, HOST)
      destroy(cluster, A, ended)
      const made = spawn(cluster, A)
      if (cluster.mesh) settle(cluster)
      expect(look(cluster, HOST, made)).toBe('unknown')
      link(cluster, HOST, A)
      settle(cluster)
      expect(looks(cluster, kept)).toEqual(['2 v0.0 5,1'])
      expect(looks(cluster, ended)).toEqual(['gone v0.0'])
      expect(looks(cluster, made)).toEqual(['2 v0.0 1,1'])
    }
  })

  test('without a link nothing is lost: it waits for one', () => {
    const cluster = mesh()
    cut(cluster, A, B)
    const key = spawn(cluster, A)
    write(cluster, A, key, 3)
    settle(cluster)
    expect(look(cluster, B, key)).toBe('unknown')
    link(cluster, A, B)
    settle(cluster)
    expect(looks(cluster, key)).toEqual(['2 v0.0 3,1'])
  })

  test('by a new primary in a star, once a member says that it follows', () => {
    const cluster = star()
    const key = spawn(cluster, A)
    settle(cluster)
    die(cluster, HOST)
    cluster.here.delete(HOST)
    Object.assign(cluster, { primary: B, epoch: 2 })
    for (const [one, other] of [
      [A, B],
      [B, C],
    ] as const) {
      link(cluster, one, other)
    }
    see(cluster, B)
    write(cluster, A, key, 5)
    settle(cluster)
    // C has not seen the view: what B says now would be lost on it.
    expect(kinds(cluster, B, C)).toEqual([])
    for (const inc of [A, C]) see(cluster, inc)
    expect(kinds(cluster, C, B)).toEqual([KIND.follow])
    expect(kinds(cluster, A, B)).toEqual([KIND.tell, KIND.follow])
    settle(cluster)
    expect(looks(cluster, key)).toEqual(['2 v0.0 5,1'])
  })

  test('by a new primary that has an older state than the members: nobody goes back', () => {
    const cluster = star()
    const key = spawn(cluster, A)
    settle(cluster)
    write(cluster, A, key, 5)
    land(cluster, pull(cluster, A, HOST)!)
    land(cluster, pull(cluster, HOST, C)!)
    expect([B, C].map((inc) => look(cluster, inc, key))).toEqual(['2 v0.0 1,1', '2 v0.0 5,1'])
    const seen: string[] = []
    takeOver(cluster, B)
    for (let steps = 0; steps < 20; steps++) {
      for (const [from, to] of [
        [B, C],
        [C, B],
        [B, A],
        [A, B],
      ] as const) {
        carry(cluster, from, to, 1)
        seen.push(look(cluster, C, key))
      }
    }
    settle(cluster)
    expect(new Set(seen)).toEqual(new Set(['2 v0.0 5,1']))
    expect(looks(cluster, key)).toEqual(['2 v0.0 5,1'])
  })

  test('a primary that follows another tells its own, and nothing more of the others', () => {
    const cluster = star()
    const [own, other] = [spawn(cluster, HOST), spawn(cluster, A)]
    settle(cluster)
    Object.assign(cluster, { primary: B, epoch: 2 })
    for (const inc of [A, C]) link(cluster, inc, B)
    for (const inc of [HOST, A, B, C]) see(cluster, inc)
    settle(cluster)
    write(cluster, HOST, own, 6)
    write(cluster, A, other, 7)
    expect(pull(cluster, HOST, C)).toBe(null)
    settle(cluster)
    expect(looks(cluster, own)).toEqual(['1 v0.0 6,1'])
    expect(looks(cluster, other)).toEqual(['2 v0.0 7,1'])
  })
})

describe('many objects', () => {
  test('are told in batches, and never more than can wait on a link', () => {
    const cluster = star()
    const keys = Array.from({ length: 3_000 }, (_, i) => spawn(cluster, HOST, [i % 256, 0]))
    settle(cluster)
    join(cluster, 5)
    carry(cluster, 5, HOST)
    const batches = kinds(cluster, HOST, 5).filter((kind) => kind === KIND.tell)
    expect(batches).toHaveLength(32)
    settle(cluster)
    expect(keys.filter((key) => look(cluster, 5, key) === 'unknown')).toEqual([])
    expect(told(cluster, 5, 'object-came')).toHaveLength(3_000)
  })

  test('that come, change and go before a batch leaves it are told as they are then', () => {
    const cluster = star()
    join(cluster, 5)
    settle(cluster)
    const keys = Array.from({ length: 3_000 }, () => spawn(cluster, HOST))
    destroy(cluster, HOST, keys.at(-1)!)
    write(cluster, HOST, keys.at(-2)!, 9)
    settle(cluster)
    expect(look(cluster, 5, keys.at(-1)!)).toBe('gone v0.0')
    expect(look(cluster, 5, keys.at(-2)!)).toBe('1 v0.0 9,1')
    expect(told(cluster, 5, 'object-came')).toHaveLength(2_999)
  })

  test('a slot of what was forgotten is used again, and no late ack counts for what is there now', () => {
    const cluster = mesh()
    const first = spawn(cluster, A)
    settle(cluster)
    write(cluster, A, first, 5)
    const late = pull(cluster, A, B)!
    destroy(cluster, A, first)
    settle(cluster)
    pass(cluster, 62_000)
    const second = spawn(cluster, A)
    settle(cluster)
    expect(thing(cluster, A, second).index).toBe(0)
    write(cluster, A, second, 6)
    verdict(cluster, late, true)
    land(cluster, pull(cluster, A, B)!)
    expect(look(cluster, B, second)).toBe('2 v0.0 6,1')
  })
})
