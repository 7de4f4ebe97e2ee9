// Goal: whatever a member sends, the server never throws, all copies are equal, and a snapshot
// gives the same document again, within its limit and in bounded time.
// Method: updates by hand and mutated real ones, through the log of a server to two copies, one of
// which begins again from a snapshot now and then.
// Slow: hundreds of updates, and documents of two megabytes.
import * as Y from 'yjs'
import { describe, expect, test } from 'vitest'
import { CUSTOM_SNAPSHOT_MAX } from '../../holdfast/src/custom/protocol/custom.ts'
import * as prng from '../../holdfast/src/faults/prng.ts'
import * as chunks from '../../holdfast/src/wire/chunks.ts'
import { encode } from '../../holdfast/src/wire/layout.ts'
import { CLIENT_MAX, inspect, ROOTS_MAX } from './inspect.ts'
import { STEPS_MAX } from './places.ts'
import { apply, create, operationLayout, perform, PIECE_MAX, restore, snapshot } from './state.ts'

const CLOSED = 'the bytes are no snapshot'

/** A server and two copies, one of them restored before every so many changes. */
class Log {
  readonly limits: { name: string; bytes: number }
  readonly primary = create()
  readonly steady = create()
  moved = create()
  #changes = 0

  constructor(bytes = 500_000) {
    this.limits = { name: 'notes', bytes }
  }

  /** Sends an update, or so many of its pieces. @returns `ok`, or why it was refused */
  edit(player: number, update: Uint8Array, most = Infinity): string {
    const by = { player, inc: player, now: 0, isHere: () => true }
    for (const piece of [...chunks.cut(update, PIECE_MAX)].slice(0, most)) {
      let changes: readonly Uint8Array[]
      try {
        ;({ changes = [] } = perform(this.primary, encode(operationLayout, piece), by, this.limits))
      } catch (error) {
        if ((error as Error).constructor.name !== 'Refusal') throw error
        return (error as Error).message
      }
      for (const change of changes) this.#take(change)
    }
    return 'ok'
  }

  #take(change: Uint8Array): void {
    if (this.#changes++ % 3 === 0) this.restart()
    for (const each of [this.primary, this.steady, this.moved]) apply(each, change, this.limits)
  }

  restart(): void {
    const next = restore(snapshot(this.moved))
    if (!next) throw new Error(CLOSED)
    this.moved = next
  }

  /** Whether all are equal, and have taken all. */
  isSound(): boolean {
    this.restart()
    const copies = [this.primary, this.steady, this.moved]
    const [bytes, ...others] = copies.map((each) => Buffer.from(snapshot(each)))
    const isTaken = copies.every(({ malformed }) => malformed === 0)
    return isTaken && others.every((other) => other.equals(bytes!))
  }

  text(name = 't'): string {
    const copy = new Y.Doc()
    Y.applyUpdate(copy, Y.encodeStateAsUpdate(this.primary.doc))
    return copy.getText(name).toJSON()
  }
}

const number = (value: number): number[] => {
  const bytes: number[] = []
  for (; value > 127; value = Math.floor(value / 128)) bytes.push((value & 127) | 128)
  return [...bytes, value]
}
const string = (text: string): number[] => {
  const bytes = [...new TextEncoder().encode(text)]
  return [...number(bytes.length), ...bytes]
}
const of = (...bytes: (number | readonly number[])[]): Uint8Array => Uint8Array.from(bytes.flat())
const textOf = (client: number, text: string): Uint8Array => {
  const doc = new Y.Doc()
  doc.clientID = client
  doc.getText('t').insert(0, text)
  return Y.encodeStateAsUpdate(doc)
}
/** A letter at the begin of the root `t`. */
const letter = [4, 1, ...string('t'), ...string('a')]
const INFINITE = [...Array<number>(146).fill(128), 127]
/** Read as NaN: zero times infinity. */
const NONE = [...Array<number>(160).fill(128), 1]

describe('a number', () => {
  const large = number(2 ** 32)
  const far = number(2 ** 50)
  test.each<[what: string, update: Uint8Array]>([
    ['a client of 33 bits', of(1, 1, large, 0, letter, 0)],
    ['a client of 57 bits', of(1, 1, Array<number>(8).fill(128), 1, 0, letter, 0)],
    ['an infinite client', of(1, 1, INFINITE, 0, letter, 0)],
    ['a client that is none', of(1, 1, NONE, 0, letter, 0)],
    ['a clock that is none', of(1, 1, 5, NONE, letter, 0)],
    ['a deletion of a length that is none', of(0, 1, 5, 1, 0, NONE)],
    ['an infinite clock', of(1, 1, 5, INFINITE, letter, 0)],
    ['an infinite length', of(1, 1, 5, 0, 0, INFINITE, 0)],
    ['a deleted content of infinite length', of(1, 1, 5, 0, 1, 1, string('t'), INFINITE, 0)],
    ['an origin of a large client', of(1, 1, 5, 0, 0x84, large, 0, string('a'), 0)],
    ['an origin of an infinite clock', of(1, 1, 5, 0, 0x84, 5, INFINITE, string('a'), 0)],
    ['a right origin of an infinite client', of(1, 1, 5, 0, 0x44, INFINITE, 0, string('a'), 0)],
    ['an infinite parent', of(1, 1, 5, 0, 4, 0, INFINITE, 0, string('a'), 0)],
    ['a deletion of a large client', of(0, 1, large, 1, 0, 1)],
    ['a deletion of an infinite client', of(0, 1, INFINITE, 1, 0, 1)],
    ['a deletion of an infinite clock', of(0, 1, 5, 1, INFINITE, 1)],
    ['a deletion of an infinite length', of(0, 1, 5, 1, 0, INFINITE)],
    ['a clock of 51 bits', of(1, 1, 5, far, letter, 0)],
    ['infinitely many structs', of(1, INFINITE, 5, 0, letter, 0)],
    ['infinitely many clients', of(INFINITE, 1, 5, 0, letter, 0)],
  ])('that is too large is refused: %s', (_what, update) => {
    const log = new Log()
    expect(log.edit(1, update)).toContain('is refused: it ')
    expect([log.primary.doc.store.clients.size, log.isSound()]).toEqual([0, true])
    // A hostile server that publishes it all the same changes nothing.
    const change = of(1, 0, 0, 1, 0, number(update.length), [...update])
    apply(log.primary, change, log.limits)
    expect(log.primary.doc.store.clients.size).toBe(0)
  })

  test('of 32 bits is a client', () => {
    const log = new Log()
    expect([log.edit(1, textOf(CLIENT_MAX, 'last')), log.text()]).toEqual(['ok', 'last'])
    expect(log.isSound()).toBe(true)
  })
})

describe('what is known in part', () => {
  test('with other content than the document has is taken from where it is new', () => {
    const log = new Log()
    expect(log.edit(1, of(1, 1, 77, 0, 0, 1, 0))).toBe('ok')
    log.restart()
    const item = [4, 1, ...string('t')]
    const update = of(2, 1, 78, 0, item, string('Z'), 1, 77, 0, item, string('ab'), 0)
    expect([log.edit(1, update), log.text()]).toEqual(['ok', 'Z'])
    expect(log.edit(1, of(1, 1, 78, 1, 0x84, 78, 0, string('Y'), 0))).toBe('ok')
    expect([log.text(), log.isSound()]).toEqual(['ZY', true])
  })

  test('reaches no name that the document lacks, and names are so many', () => {
    const log = new Log()
    log.edit(1, of(1, 1, 77, 0, 0, 1, 0))
    for (let i = 0; i < 50; i++) {
      log.edit(1, of(1, 1, 77, 0, 4, 1, string(`made up ${i}`), string('a'), 0))
    }
    expect(log.primary.doc.share.size).toBe(0)
    const structs = Array.from({ length: ROOTS_MAX + 1 }, (_, i) => {
      return [4, 1, ...string(`root ${i}`), ...string('a')]
    })
    const named = (count: number): Uint8Array => {
      return of(1, number(count), 5, 0, structs.slice(0, count).flat(), 0)
    }
    expect(log.edit(2, named(ROOTS_MAX + 1))).toContain(`more than ${ROOTS_MAX} names`)
    expect([log.edit(2, named(ROOTS_MAX)), log.isSound()]).toEqual(['ok', true])
    expect(log.edit(2, of(1, 1, 6, 0, 4, 1, string('more'), string('a'), 0))).toContain('names')
  })

  test('comes once to a client: a second run of it would replace the first', () => {
    const log = new Log()
    const more = [0x84, 5, 0, ...string('b')]
    const update = of(3, 1, 5, 0, letter, 1, 4, 0, letter, 1, 5, 1, more, 0)
    expect(log.edit(1, update)).toContain('it has a client twice')
  })
})

test('an update does only what it says: Yjs deletes no formats that it finds superfluous', () => {
  const log = new Log()
  const bold = [...string('bold'), ...string('true')]
  const inner = [7, 1, ...string('t'), 2, 6, 0, 5, 0, ...bold, 0x86, 5, 1, ...bold]
  expect(log.edit(1, of(1, 4, 5, 0, inner, 0x84, 5, 2, string('x'), 0))).toBe('ok')
  const { ds } = Y.decodeUpdate(Y.encodeStateAsUpdate(log.primary.doc))
  expect([ds.clients.size, log.isSound()]).toEqual([0, true])
})

describe('deletions', () => {
  const CLIENT = 4_000_000_000
  const length = 480_000
  const holes = (from: number, to: number): Uint8Array => {
    const ranges: number[] = []
    for (let at = from; at < to; at += 2) ranges.push(...number(at), 1)
    return of(0, 1, number(CLIENT), number((to - from) / 2), ranges)
  }

  test('that split a document beyond its limit are refused; it can be emptied', () => {
    const log = new Log()
    expect(log.edit(1, textOf(CLIENT, 'a'.repeat(length)))).toBe('ok')
    let refused = 0
    for (let at = 0; at < length; at += 40_000) {
      const said = log.edit(1, holes(at, at + 40_000))
      if (said !== 'ok') refused++
      if (said !== 'ok') expect(said).toContain('has at most 500000 bytes: it would have')
      const { length: bytes } = Y.encodeStateAsUpdate(log.primary.doc)
      expect(bytes).toBeLessThanOrEqual(505_000)
    }
    expect(refused).toBeGreaterThan(0)
    expect(log.edit(1, of(0, 1, number(CLIENT), 1, 0, number(length)))).toBe('ok')
    expect([log.text(), log.isSound()]).toEqual(['', true])
  })

  test('leave room in a snapshot for the largest document and what is unfinished', () => {
    const log = new Log(2_000_000)
    expect(log.edit(1, textOf(CLIENT, 'a'.repeat(1_999_900)))).toBe('ok')
    for (let id = 0; id < 16_383; id++) log.primary.owners.set(CLIENT + 1 + id, 2 ** 32)
    log.edit(2, new Uint8Array(1_999_999), 122)
    let edits = 0
    while (log.edit(1, holes(edits * 100, edits * 100 + 100)) === 'ok') edits++
    expect(edits).toBeGreaterThan(5)
    expect(snapshot(log.primary).length).toBeLessThan(CUSTOM_SNAPSHOT_MAX)
  })

  test('in no order are refused', () => {
    const log = new Log()
    log.edit(1, textOf(5, 'abc'))
    expect(log.edit(1, of(0, 1, 5, 2, 0, 2, 1, 2))).toContain('deletions are not in order')
    expect(log.edit(1, of(0, 1, 5, 2, 0, 1, 1, 2))).toBe('ok')
  })
})

test('a large update that goes on is not dropped for the pieces of another', () => {
  const log = new Log()
  const large = textOf(9, 'a'.repeat(200_000))
  const pieces = [...chunks.cut(large, PIECE_MAX)]
  const by = { player: 1, inc: 1, now: 0, isHere: () => true }
  for (const piece of pieces) {
    const { changes = [] } = perform(log.primary, encode(operationLayout, piece), by, log.limits)
    for (const change of changes) apply(log.primary, change, log.limits)
    if (piece.piece === 5) log.edit(2, new Uint8Array(499_000), 30)
  }
  expect(log.text()).toHaveLength(200_000)
})

describe('a value', () => {
  const any = (...value: number[]): Uint8Array => of(1, 1, 5, 0, 8, 1, string('t'), 1, value, 0)
  const deep = (levels: number): number[] => {
    return [...Array.from({ length: levels }, () => [118, 1, 1, 120]).flat(), 126]
  }
  test.each<[what: string, update: Uint8Array]>([
    ['in the options of a document', of(1, 1, 5, 0, 9, 1, string('t'), string('g'), deep(99), 0)],
    ['below __proto__', any(118, 1, ...string('__proto__'), ...deep(99))],
    ['below some plain ones', any(...deep(99))],
    ['below very many', any(...deep(100_000))],
  ])('that is deep is refused: %s', (_what, update) => {
    const log = new Log()
    expect(log.edit(1, update)).toContain('is refused: it ')
    expect(log.edit(1, any(...deep(10)))).toBe('ok')
    expect(log.isSound()).toBe(true)
  })
})

describe('the steps of Yjs', () => {
  test('are so many: each of many clients may pass all the others at one place', () => {
    const log = new Log()
    const many = (from: number, count: number): Uint8Array => {
      const structs = Array.from({ length: count }, (_, i) => [
        1,
        ...number(from + i),
        0,
        ...letter,
      ])
      return of(number(count), structs.flat(), 0)
    }
    expect(log.edit(1, many(1_000, 2_000))).toBe('ok')
    expect(log.edit(2, many(10_000, 1_000))).toContain('too much at one place at once')
    expect(log.edit(2, many(10_000, 400))).toBe('ok')
    expect(log.isSound()).toBe(true)
  })

  test('do not go to an end that is far away', () => {
    const log = new Log()
    expect(log.edit(1, textOf(5, 'abc'))).toBe('ok')
    const between = (left: number, right: number): Uint8Array => {
      return of(1, 1, 6, 0, 0xc4, 5, left, 5, right, string('x'), 0)
    }
    for (const [left, right] of [
      [0, 0],
      [1, 0],
      [0, 2],
    ] as const) {
      expect(log.edit(1, between(left, right))).toContain('never beside each other')
    }
    expect([log.edit(1, between(0, 1)), log.text()]).toEqual(['ok', 'axbc'])
  })

  test('do not go through a list for an end that is in another', () => {
    const log = new Log()
    const other = [4, 1, ...string('u'), ...string('e')]
    expect(log.edit(1, of(1, 2, 5, 0, letter, other, 0))).toBe('ok')
    const crossed = of(1, 1, 6, 0, 0xc4, 5, 0, 5, 1, string('x'), 0)
    expect(log.edit(1, crossed)).toContain('it has an item in two lists')
  })

  test('are few where people write at one place, and for many clients that wait', () => {
    const authors = Array.from({ length: 4 }, (_, i) => {
      const doc = new Y.Doc()
      doc.clientID = i + 1
      // Backwards, so that each letter is a struct.
      for (let at = 0; at < 2_000; at++) doc.getText('t').insert(0, 'abcdefg'[at % 7]!)
      for (let at = 0; at < 500; at++) doc.getText('t').insert(at * 2, 'x')
      return Y.encodeStateAsUpdate(doc)
    })
    const log = new Log()
    expect(log.edit(1, Y.mergeUpdates(authors))).toBe('ok')
    expect([log.text().length, log.isSound()]).toEqual([10_000, true])
    const count = 4_000
    const chain = Array.from({ length: count }, (_, i) => [
      ...[1, ...number(20_000 + i), 0, 0x84],
      ...[...number(30_000), ...number(count - 1), ...string('a')],
    ])
    const last = Array.from({ length: count }, () => letter)
    const update = of(
      number(count + 1),
      chain.flat(),
      number(count),
      number(30_000),
      0,
      last.flat(),
      0,
    )
    const began = process.cpuUsage().user
    inspect(new Y.Doc(), update)
    expect(process.cpuUsage().user - began).toBeLessThan(5_000_000)
    expect(STEPS_MAX).toBe(1_000_000)
  })
})

/** Random work on all kinds of types, also nested texts with formats. */
function work(doc: Y.Doc, draw: (below: number) => number): void {
  const text = doc.getText('t')
  const map = doc.getMap<unknown>('m')
  const list = doc.getArray<unknown>('a')
  const inner = map.get('inner')
  const deeds = [
    () => text.insert(draw(text.length + 1), 'ab😀cdefg'.slice(draw(6))),
    () => text.length > 0 && text.delete(draw(text.length), 1),
    () => text.length > 3 && text.format(draw(text.length - 2), 2, { bold: draw(2) === 0 || null }),
    () => map.set(`k${draw(4)}`, draw(2) === 0 ? { x: draw(9) } : [draw(300), 'text', null]),
    () => map.set('inner', new Y.Text('inner text')),
    () => inner instanceof Y.Text && inner.format(draw(5), 3, { bold: draw(2) === 0 || null }),
    () => inner instanceof Y.Text && inner.insert(draw(5), 'xy', { bold: draw(2) === 0 || null }),
    () => inner instanceof Y.Text && inner.delete(draw(5), 2),
    () => map.delete(`k${draw(4)}`),
    () => list.insert(draw(list.length + 1), [draw(9), new Y.Map([['n', draw(5)]])]),
    () => list.length > 0 && list.delete(draw(list.length), 1),
  ]
  doc.transact(() => {
    for (let i = 0; i <= draw(3); i++) deeds[draw(deeds.length)]!()
  })
}

describe('by chance', () => {
  test.each(Array.from({ length: 12 }, (_, i) => i))(
    'what people write at once, undo and redo is never refused: seed %i',
    (seed) => {
      const random = prng.create(seed)
      const draw = (below: number): number => prng.below(random, below)
      const log = new Log()
      const authors = Array.from({ length: 3 }, (_, i) => {
        const doc = new Y.Doc()
        doc.clientID = i + 1
        const roots = [doc.getText('t'), doc.getMap('m'), doc.getArray('a')]
        return { doc, undo: new Y.UndoManager(roots, { captureTimeout: 0 }) }
      })
      for (let round = 0; round < 300; round++) {
        const { doc, undo } = authors[draw(3)]!
        const deed = draw(6)
        if (deed === 0) undo.undo()
        else if (deed === 1) undo.redo()
        else work(doc, draw)
        if (draw(4) > 0) continue
        const lacking = Y.encodeStateAsUpdate(doc, Y.encodeStateVector(log.primary.doc))
        expect(log.edit(1, lacking)).toBe('ok')
        Y.applyUpdate(doc, Y.encodeStateAsUpdate(log.primary.doc))
      }
      for (const { undo } of authors) undo.destroy()
      expect(log.isSound()).toBe(true)
    },
  )

  test.each(Array.from({ length: 12 }, (_, i) => i))(
    'items between any two others have one place in all copies: seed %i',
    (seed) => {
      const random = prng.create(seed)
      const draw = (below: number): number => prng.below(random, below)
      const log = new Log()
      const ends = [0, 0, 0, 0, 0]
      let taken = 0
      const id = (): number[] => {
        const client = draw(5)
        return [client + 1, draw(ends[client]! + 1)]
      }
      for (let round = 0; round < 150; round++) {
        const client = draw(5)
        const kind = draw(8)
        const place = kind === 0 ? [4, 1, ...string('t')] : kind === 1 ? [0x84, ...id()] : null
        const between = place ?? (kind === 2 ? [0x44, ...id()] : [0xc4, ...id(), ...id()])
        const item = [...between, ...string('abc'.slice(draw(3)))]
        const update = of(1, 1, client + 1, ends[client]!, item, 0)
        if (log.edit(1, update) !== 'ok') continue
        taken++
        ends[client] = Y.getState(log.primary.doc.store, client + 1)
        if (!log.isSound()) expect.fail(`copies differ in round ${round}`)
      }
      expect(taken).toBeGreaterThan(20)
    },
  )

  // Flipped bytes, numbers in place of bytes, parts of two updates joined, and what is cut off.
  function mutated(update: Uint8Array, other: Uint8Array, draw: (below: number) => number) {
    const bytes = [...update]
    const at = draw(bytes.length)
    const odd = [INFINITE, number(2 ** 40), number(draw(2 ** 31)), [0x84], [draw(12)], [255, 0]]
    const deeds = [
      () => (bytes[at] = draw(256)),
      () => (bytes[at] = draw(12)),
      () => bytes.splice(at, 1, ...odd[draw(odd.length)]!),
      () => bytes.splice(at, draw(4), ...[...other].slice(draw(other.length))),
      () => bytes.splice(at, 1 + draw(3)),
    ]
    for (let i = 0; i <= draw(2); i++) deeds[draw(deeds.length)]!()
    return Uint8Array.from(bytes)
  }

  test.each(Array.from({ length: 12 }, (_, i) => i))(
    'mutated updates leave all copies equal: seed %i',
    (seed) => {
      const random = prng.create(seed)
      const draw = (below: number): number => prng.below(random, below)
      const log = new Log()
      const docs = Array.from({ length: 3 }, () => new Y.Doc())
      let [before, taken]: [Uint8Array, number] = [new Uint8Array([0, 0]), 0]
      for (let round = 0; round < 60; round++) {
        // As a client that nobody forged yet.
        const doc = docs[draw(3)]!
        doc.clientID = 100 + round
        const { primary } = log
        Y.applyUpdate(doc, Y.encodeStateAsUpdate(primary.doc))
        work(doc, draw)
        const update = Y.encodeStateAsUpdate(doc, Y.encodeStateVector(primary.doc))
        for (let i = 0; i < 8; i++) {
          const bytes = mutated(update, before, draw)
          if (log.edit(1, bytes) === 'ok') taken++
        }
        log.edit(1, update)
        before = update
        if (!log.isSound()) expect.fail(`copies differ in round ${round}`)
      }
      expect(taken).toBeGreaterThan(20)
    },
  )
})
