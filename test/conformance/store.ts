/** What every store keeps to. Each passes in how to open it, and says what it cannot do. */

import { afterEach, describe, expect, test } from 'vitest'
import { HoldfastError } from '../../packages/holdfast/src/machine.ts'
import type { Store } from '../../packages/holdfast/src/ports.ts'

/** Opens the store at one place; a second call opens the same place again. */
export type OpenStore = () => Store

/** What a store cannot do, each with the reason; the suite then checks that it does not pretend. */
export interface CannotStore {
  /** Does not keep anything over a close. */
  keep?: string
}

/** Writes, and waits until it is durable. Rejects with the store's error. */
export function written(store: Store, changes: Parameters<Store['write']>[0]): Promise<void> {
  return new Promise((resolve, reject) => {
    store.write(changes, (error) => (error ? reject(error) : resolve()))
  })
}

/** Runs the suite against one store. `place` gives a fresh place for each test. */
export function storeConformance(
  name: string,
  place: () => OpenStore,
  cannot: CannotStore = {},
): void {
  describe(`${name} as Store`, async () => {
    const stores: Store[] = []
    afterEach(() => {
      for (const store of stores.splice(0)) store.close()
    })
    const fresh = (open: OpenStore = place()): Store => {
      const store = open()
      stores.push(store)
      return store
    }
    const read = (store: Store): [string, number[]][] =>
      [...store.entries()].map(([key, value]) => [key, [...value]])
    const codeOf = (act: () => unknown): string => {
      try {
        act()
        return 'no error'
      } catch (error) {
        return error instanceof HoldfastError ? error.code : String(error)
      }
    }

    test('a fresh store is empty', () => {
      expect(read(fresh())).toEqual([])
    })

    test('what was written is there, replaced by what came later', async () => {
      const store = fresh()
      await written(store, [
        ['a', Uint8Array.of(1)],
        ['b', Uint8Array.of(2, 3)],
      ])
      await written(store, [['a', Uint8Array.of(4)]])
      expect(read(store)).toEqual([
        ['a', [4]],
        ['b', [2, 3]],
      ])
    })

    test('null removes, also what is not there', async () => {
      const store = fresh()
      await written(store, [['a', Uint8Array.of(1)]])
      await written(store, [
        ['a', null],
        ['never', null],
      ])
      expect(read(store)).toEqual([])
    })

    test('of two changes to one key in one write the later holds', async () => {
      const store = fresh()
      await written(store, [
        ['a', Uint8Array.of(1)],
        ['a', null],
        ['a', Uint8Array.of(2)],
        ['b', Uint8Array.of(3)],
        ['b', null],
      ])
      expect(read(store)).toEqual([['a', [2]]])
    })

    test('keys come in the order of their code points', async () => {
      const store = fresh()
      // U+FF5E comes before U+1F600, though not in UTF-16.
      const keys = ['b', 'B', 'a/10', 'a/9', 'é', 'z', '～', '😀', '😀a', 'a', 'a b', '~']
      await written(
        store,
        keys.map((key) => [key, new Uint8Array(0)]),
      )
      const order = ['B', 'a', 'a b', 'a/10', 'a/9', 'b', 'z', '~', 'é', '～', '😀', '😀a']
      expect([...store.entries()].map(([key]) => key)).toEqual(order)
    })

    test('one record is read by its key, and those before a key without the others', async () => {
      const store = fresh()
      const keys = ['a', 'b', 'b 1', '~a 0', '～']
      await written(
        store,
        keys.map((key, at) => [key, Uint8Array.of(at)]),
      )
      expect([store.read('b 1'), store.read('~a 0')]).toEqual([Uint8Array.of(2), Uint8Array.of(3)])
      expect([store.read('b 2'), store.read('')]).toEqual([null, null])
      store.read('a')!.fill(9)
      expect(store.read('a')).toEqual(Uint8Array.of(0))
      const before = (key: string): string[] => [...store.entries(key)].map(([own]) => own)
      expect(before('~')).toEqual(['a', 'b', 'b 1'])
      expect([before('a'), before('\u{10ffff}')]).toEqual([[], keys])
      await written(store, [['b', null]])
      expect([store.read('b'), before('~')]).toEqual([null, ['a', 'b 1']])
    })

    test('values come back as they were: empty, a view, large', async () => {
      const store = fresh()
      const large = Uint8Array.from({ length: 1024 * 1024 }, (_, i) => (i * 31) & 0xff)
      const view = Uint8Array.of(9, 8, 7, 6).subarray(1, 3)
      await written(store, [
        ['empty', new Uint8Array(0)],
        ['large', large],
        ['view', view],
      ])
      const found = new Map(store.entries())
      expect(found.get('empty')).toEqual(new Uint8Array(0))
      expect(found.get('view')).toEqual(Uint8Array.of(8, 7))
      expect(Buffer.compare(found.get('large')!, large)).toBe(0)
    })

    test('neither the written bytes nor the read ones are shared with the store', async () => {
      const store = fresh()
      const bytes = Uint8Array.of(1, 2)
      await written(store, [['a', bytes]])
      bytes.fill(9)
      for (const [, value] of store.entries()) value.fill(8)
      expect(read(store)).toEqual([['a', [1, 2]]])
      expect([...store.entries()][0]![1].constructor).toBe(Uint8Array)
    })

    test('entries may be walked while the store is written', async () => {
      const store = fresh()
      const keys = Array.from({ length: 300 }, (_, i) => `k${String(i).padStart(3, '0')}`)
      await written(
        store,
        keys.map((key) => [key, Uint8Array.of(1)]),
      )
      const seen: string[] = []
      for (const [key] of store.entries()) {
        seen.push(key)
        await written(store, [
          [key, null],
          [`new ${key}`, Uint8Array.of(2)],
        ])
      }
      expect(seen).toEqual(keys)
      expect(read(store)).toHaveLength(300)
    })

    test('a write that is refused leaves nothing behind, and the store goes on', async () => {
      const store = fresh()
      await written(store, [['a', Uint8Array.of(1)]])
      const wrong: [string, Uint8Array][] = [
        ['', new Uint8Array(1)],
        ['x'.repeat(513), new Uint8Array(1)],
        ['nul\0', new Uint8Array(1)],
        ['half \ud83d', new Uint8Array(1)],
        ['large', new Uint8Array(1024 * 1024 + 1)],
      ]
      for (const change of wrong) {
        const write = (): void =>
          store.write([['a', null], ['b', Uint8Array.of(2)], change], () => {})
        expect(codeOf(write)).toBe('bad-value')
      }
      expect(read(store)).toEqual([['a', [1]]])
      await written(store, [])
      await written(store, [['b', Uint8Array.of(2)]])
      expect(read(store)).toHaveLength(2)
    })

    test('a closed store says so, and may be closed again', () => {
      const store = fresh()
      store.close()
      store.close()
      expect(codeOf(() => store.write([['a', Uint8Array.of(1)]], () => {}))).toBe('store')
      expect(codeOf(() => store.entries())).toBe('store')
      expect(codeOf(() => store.read('a'))).toBe('store')
    })

    const keeps = cannot.keep === undefined
    const but = keeps ? 'is there again' : `is gone, because ${cannot.keep}`
    test(`what was written before a close ${but}`, async () => {
      const open = place()
      const first = fresh(open)
      await written(first, [
        ['a', Uint8Array.of(1)],
        ['b', Uint8Array.of(2)],
      ])
      await written(first, [['b', null]])
      first.close()
      expect(read(fresh(open))).toEqual(keeps ? [['a', [1]]] : [])
    })
  })
}
