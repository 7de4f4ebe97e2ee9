// Goal: no update makes Yjs wait for what never comes, overflow the stack, or throw; and sound ones
// are all let through.
// Method: updates by hand, cut and flipped ones by chance; after each that passes, the document
// waits for nothing and has what the update says.
import * as Y from 'yjs'
import { describe, expect, test } from 'vitest'
import * as prng from '../../holdfast/src/faults/prng.ts'
import { type Facts, inspect } from './inspect.ts'
import { DEPTH_MAX } from './order.ts'

/** A client that notes each update. */
function client(id: number): { doc: Y.Doc; updates: Uint8Array[] } {
  const doc = new Y.Doc()
  doc.clientID = id
  const updates: Uint8Array[] = []
  doc.on('update', (update) => updates.push(update))
  return { doc, updates }
}

/** An update by hand: structs of clients from clocks, and what is deleted. */
function made(
  clients: [client: number, clock: number, structs: ((encoder: Y.UpdateEncoderV1) => void)[]][],
  deletes: [client: number, ranges: [clock: number, length: number][]][] = [],
): Uint8Array {
  const encoder = new Y.UpdateEncoderV1()
  encoder.writeLen(clients.length)
  for (const [of, clock, structs] of clients) {
    encoder.writeLen(structs.length)
    encoder.writeClient(of)
    encoder.writeLen(clock)
    for (const write of structs) write(encoder)
  }
  encoder.writeLen(deletes.length)
  for (const [of, ranges] of deletes) {
    encoder.writeLen(of)
    encoder.writeLen(ranges.length)
    for (const [clock, length] of ranges) {
      encoder.writeLen(clock)
      encoder.writeLen(length)
    }
  }
  return encoder.toUint8Array()
}

const gc = (length: number) => (encoder: Y.UpdateEncoderV1) => {
  encoder.writeInfo(0)
  encoder.writeLen(length)
}
/** A text after another item, or at the begin of the root `t`. */
const letters = (text: string, origin?: Y.ID) => (encoder: Y.UpdateEncoderV1) => {
  encoder.writeInfo(4 | (origin ? 128 : 0))
  if (origin) encoder.writeLeftID(origin)
  else {
    encoder.writeParentInfo(true)
    encoder.writeString('t')
  }
  encoder.writeString(text)
}

const GAPS = 'it builds on changes that are not in the document'

describe('an update', () => {
  test('of two clients who know each other is new, and then not', () => {
    const [one, two] = [client(1), client(2)]
    one.doc.getText('t').insert(0, 'one')
    Y.applyUpdate(two.doc, one.updates[0]!)
    two.doc.getText('t').insert(1, 'two')
    Y.applyUpdate(one.doc, two.updates.at(-1)!)
    one.doc.getText('t').delete(0, 4)
    const all = Y.encodeStateAsUpdate(one.doc)
    const doc = new Y.Doc()
    const facts = inspect(doc, all) as Facts
    expect([new Set(facts.clients), facts.isNew]).toEqual([new Set([1, 2]), true])
    Y.applyUpdate(doc, all)
    expect(inspect(doc, all)).toMatchObject({ clients: [], isNew: false })
  })

  test('that only deletes is new while it deletes something', () => {
    const one = client(1)
    one.doc.getText('t').insert(0, 'abc')
    one.doc.getText('t').delete(1, 1)
    const doc = new Y.Doc()
    Y.applyUpdate(doc, one.updates[0]!)
    expect(inspect(doc, one.updates[1]!)).toMatchObject({ clients: [], isNew: true })
    Y.applyUpdate(doc, one.updates[1]!)
    expect(inspect(doc, one.updates[1]!)).toMatchObject({ clients: [], isNew: false })
    expect(inspect(doc, made([], [[1, [[0, 3]]]]))).toMatchObject({ clients: [], isNew: true })
  })

  test.each<[what: string, update: Uint8Array, why: RegExp | string]>([
    ['no bytes', new Uint8Array(0), 'it is no update of Yjs'],
    ['nonsense', Uint8Array.of(255, 254, 1, 2, 3), 'it is no update of Yjs'],
    ['an unknown content', Uint8Array.of(1, 1, 1, 0, 31, 1, 1, 116, 0), 'it is no update of Yjs'],
    ['a clock too far on', made([[1, 5, [gc(1)]]]), GAPS],
    ['a gap within', made([[1, 0, [gc(1), (e) => (e.writeInfo(10), e.writeLen(4)), gc(1)]]]), GAPS],
    ['an unknown origin', made([[1, 0, [letters('a', Y.createID(7, 0))]]]), GAPS],
    ['itself as its origin', made([[1, 0, [letters('a', Y.createID(1, 0))]]]), GAPS],
    [
      'a circle of origins',
      made([
        [2, 0, [letters('a', Y.createID(1, 0))]],
        [1, 0, [letters('a', Y.createID(2, 0))]],
      ]),
      GAPS,
    ],
    ['a text of no length', made([[1, 0, [letters('')]]]), /no length/],
    ['a deletion of no length', made([[1, 0, [gc(1)]]], [[1, [[0, 0]]]]), GAPS],
    ['a deletion of what is not there', made([[1, 0, [gc(1)]]], [[1, [[0, 2]]]]), GAPS],
    ['a length beyond all', made([[1, 0, [gc(2 ** 50)]]]), /above the limit/],
  ])('with %s is refused', (_what, update, why) => {
    const doc = new Y.Doc()
    expect(inspect(doc, update)).toMatch(why)
  })

  test('may have its clients in any order, each once or more', () => {
    const update = made([
      [3, 0, [letters('c', Y.createID(2, 0))]],
      [2, 0, [letters('b', Y.createID(1, 1)), gc(4)]],
      [1, 0, [letters('aa')]],
    ])
    expect(inspect(new Y.Doc(), update)).toMatchObject({ isNew: true })
  })

  test('nests types and values so deep and no deeper, over several updates too', () => {
    const one = client(1)
    let inner = one.doc.getMap<unknown>('m')
    for (let i = 0; i <= DEPTH_MAX; i++) {
      const next = new Y.Map<unknown>()
      inner.set('in', next)
      inner = next
    }
    const doc = new Y.Doc()
    for (const update of one.updates.slice(0, -1)) {
      expect(inspect(doc, update)).toMatchObject({ isNew: true })
      Y.applyUpdate(doc, update)
    }
    inner.set('more', new Y.Map())
    expect(inspect(doc, Y.mergeUpdates(one.updates.slice(-2)))).toMatch('nests types more than 64')
    expect(inspect(new Y.Doc(), Y.encodeStateAsUpdate(one.doc))).toMatch('nests types')
    const deep = (levels: number): unknown => (levels === 0 ? 1 : { a: deep(levels - 1) })
    const two = client(2)
    two.doc.getArray('a').push([deep(60)])
    two.doc.getArray('a').push([deep(70)])
    expect(inspect(new Y.Doc(), two.updates[0]!)).toMatchObject({ isNew: true })
    expect(inspect(new Y.Doc(), Y.mergeUpdates(two.updates))).toMatch('value that is nested')
  })
})

/** Random work on all kinds of types. */
function work(doc: Y.Doc, draw: (below: number) => number): void {
  const text = doc.getText('t')
  const map = doc.getMap<unknown>('m')
  const list = doc.getArray<unknown>('a')
  const at = (length: number): number => draw(length + 1)
  const deeds = [
    () => text.insert(at(text.length), 'abcdefg'.slice(draw(6))),
    () => text.length > 0 && text.delete(draw(text.length), 1),
    () => text.length > 3 && text.format(draw(text.length - 2), 2, { bold: draw(2) === 0 || null }),
    () => map.set(`k${draw(4)}`, draw(2) === 0 ? { x: draw(9) } : new Y.Text('inner')),
    () => map.delete(`k${draw(4)}`),
    () => list.insert(at(list.length), [draw(9), new Y.Map([['n', draw(5)]])]),
    () => list.length > 0 && list.delete(draw(list.length), 1),
  ]
  doc.transact(() => {
    for (let i = 0; i <= draw(3); i++) deeds[draw(deeds.length)]!()
  })
}

describe('by chance', () => {
  test.each([1, 2, 3, 4])('sound updates pass, damaged ones harm nothing: seed %i', (seed) => {
    const random = prng.create(seed)
    const draw = (count: number): number => prng.below(random, count)
    const committed = new Y.Doc()
    const clients = [client(11), client(22), client(33)]
    let damaged = 0
    for (let round = 0; round < 60; round++) {
      const one = clients[draw(3)]!
      const from = one.updates.length
      work(one.doc, draw)
      const updates = one.updates.slice(from)
      if (updates.length === 0) continue
      const update = Y.mergeUpdates(updates)
      for (let i = 0; i < 12; i++) {
        const bytes = update.slice(0, draw(4) === 0 ? draw(update.length) : undefined)
        if (bytes.length > 0) bytes[draw(bytes.length)] = draw(256)
        const twin = new Y.Doc()
        Y.applyUpdate(twin, Y.encodeStateAsUpdate(committed))
        const facts = inspect(twin, bytes)
        if (typeof facts === 'string') continue
        damaged++
        Y.applyUpdate(twin, facts.update)
        expect([twin.store.pendingStructs, twin.store.pendingDs]).toEqual([null, null])
        const again = new Y.Doc()
        Y.applyUpdate(again, Y.encodeStateAsUpdate(twin))
        expect(again.store.pendingStructs).toBeNull()
      }
      expect(inspect(committed, update)).toMatchObject({ isNew: expect.any(Boolean) as boolean })
      Y.applyUpdate(committed, update)
      expect(committed.store.pendingStructs).toBeNull()
      for (const other of clients) Y.applyUpdate(other.doc, update)
    }
    // Flipped letters of a text are a sound update.
    expect(damaged).toBeGreaterThan(20)
  })

  test.each([7, 8, 9])(
    'the same updates make the same bytes, over a snapshot too: seed %i',
    (seed) => {
      const random = prng.create(seed)
      const draw = (count: number): number => prng.below(random, count)
      const [first, second] = [client(11), client(22)]
      const steady = new Y.Doc()
      let moved = new Y.Doc()
      for (let round = 0; round < 300; round++) {
        const { doc, updates } = draw(2) === 0 ? first : second
        const from = updates.length
        work(doc, draw)
        for (const update of updates.slice(from)) {
          for (const each of [steady, moved, first.doc, second.doc]) Y.applyUpdate(each, update)
        }
        if (draw(10) === 0) {
          const next = new Y.Doc()
          Y.applyUpdate(next, Y.encodeStateAsUpdate(moved))
          moved = next
        }
        const [one, other] = [steady, moved].map((each) => Y.encodeStateAsUpdate(each))
        expect(Buffer.compare(one!, other!)).toBe(0)
      }
    },
  )
})
