/** What every store keeps to. Each passes in how to open it, and says what it cannot do. */

import { afterEach, describe, expect, test } from 'vitest'
import { HoldfastError } from '../../packages/holdfast/src/machine.ts'
import type { Store, StoreChange, StoredRecord } from '../../packages/holdfast/src/ports.ts'
import { type Outcome, playHistories } from './store-histories.ts'
import { turn } from './until.ts'

/** Opens the store at one place; a second call opens the same place again. */
export type OpenStore = () => Store | Promise<Store>

/** What a store cannot do, each with the reason; the suite then checks that it does not pretend. */
export interface CannotStore {
  /** Does not keep anything over a close. */
  keep?: string
}

/** Makes a change, and waits until it is answered. Rejects with the store's error. */
export function cas(
  store: Store,
  key: string,
  rev: number,
  value: Uint8Array | null,
  blobs: StoreChange['blobs'] = [],
): Promise<Exclude<Outcome, HoldfastError>> {
  return new Promise((resolve, reject) => {
    store.cas({ key, rev, value, blobs }, (outcome) => {
      if (outcome instanceof HoldfastError) reject(outcome)
      else resolve(outcome)
    })
  })
}

/** Makes a change of whatever record there is. @returns its revision */
export async function put(
  store: Store,
  key: string,
  value: Uint8Array | null,
  blobs: StoreChange['blobs'] = [],
): Promise<number> {
  const found = await got(store, key)
  if (found instanceof HoldfastError) throw found
  const outcome = await cas(store, key, found?.rev ?? 0, value, blobs)
  if (typeof outcome === 'string') throw new Error(`a change of ${key} ended in ${outcome}`)
  return outcome.rev
}

/** The record as `get` answers it. */
export function got(store: Store, key: string): Promise<StoredRecord | HoldfastError | null> {
  return new Promise((resolve) => store.get(key, resolve))
}

/** The record of that key, as a start would find it. */
export function recordOf(store: Store, key: string): StoredRecord | null {
  return new Map(store.entries()).get(key) ?? null
}

/** All records, once every change is known that was answered. */
export async function entriesOf(store: Store): Promise<(readonly [string, StoredRecord])[]> {
  await new Promise((resolve) => store.check(resolve))
  return [...store.entries()]
}

/** The blobs of a record by these names. Rejects with the store's error. */
export function blobsOf(
  store: Store,
  key: string,
  ...names: string[]
): Promise<(Uint8Array | null)[]> {
  return new Promise((resolve, reject) => {
    store.blobs(key, names, (found) => {
      if (found instanceof HoldfastError) reject(found)
      else resolve(found)
    })
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
    const fresh = async (open: OpenStore = place()): Promise<Store> => {
      const store = await open()
      stores.push(store)
      return store
    }
    const all = async (store: Store): Promise<[string, number[]][]> => {
      return (await entriesOf(store)).map(([key, { value }]) => [key, [...value]])
    }
    const codeOf = (act: () => unknown): string => {
      try {
        act()
        return 'no error'
      } catch (error) {
        return error instanceof HoldfastError ? error.code : String(error)
      }
    }
    const one = Uint8Array.of(1)
    const two = Uint8Array.of(2)

    test('a fresh store is empty', async () => {
      const store = await fresh()
      expect(await all(store)).toEqual([])
      expect([await got(store, 'a'), ...(await blobsOf(store, 'a', 'a', 'b'))]).toEqual([
        null,
        null,
        null,
      ])
      expect(await blobsOf(store, 'a')).toEqual([])
    })

    test('a record is as it was last changed, each time with another revision', async () => {
      const store = await fresh()
      const revs = [await put(store, 'a', one), await put(store, 'b', Uint8Array.of(2, 3))]
      revs.push(await put(store, 'a', Uint8Array.of(4)))
      expect(Math.min(...revs)).toBeGreaterThan(0)
      expect(revs[2]).not.toBe(revs[0])
      const a = { value: Uint8Array.of(4), rev: revs[2] }
      const b = { value: Uint8Array.of(2, 3), rev: revs[1] }
      expect(await entriesOf(store)).toEqual([
        ['a', a],
        ['b', b],
      ])
      const found = await Promise.all(['a', 'b', 'c'].map((key) => got(store, key)))
      expect(found).toEqual([a, b, null])
    })

    test('revision 0 creates a record only where there is none', async () => {
      const store = await fresh()
      await cas(store, 'a', 0, one, [['blob', one]])
      expect(await cas(store, 'a', 0, two, [['blob', two]])).toBe('conflict')
      expect([await all(store), await blobsOf(store, 'a', 'blob')]).toEqual([[['a', [1]]], [one]])
    })

    test('a change with an old revision conflicts, and makes neither record nor blobs', async () => {
      const store = await fresh()
      const old = await put(store, 'a', one, [['blob', one]])
      const rev = await put(store, 'a', two)
      const blobs = [
        ['blob', null],
        ['more', two],
      ] as const
      for (const stale of [old, 0, rev + 1]) {
        expect(await cas(store, 'a', stale, Uint8Array.of(3), blobs)).toBe('conflict')
        expect(await cas(store, 'a', stale, null, blobs)).toBe('conflict')
      }
      expect(await cas(store, 'never', old, one, blobs)).toBe('conflict')
      expect(await cas(store, 'never', old, null, blobs)).toBe('conflict')
      expect(await all(store)).toEqual([['a', [2]]])
      expect(await blobsOf(store, 'a', 'blob', 'more')).toEqual([one, null])
    })

    test('a removal needs the revision, and ends at 0', async () => {
      const store = await fresh()
      const rev = await put(store, 'a', one, [['a', two]])
      expect(await cas(store, 'a', 0, null)).toBe('conflict')
      expect(await cas(store, 'a', rev, null, [['a', null]])).toEqual({ rev: 0 })
      const found = [await all(store), await got(store, 'a'), await blobsOf(store, 'a', 'a')]
      expect(found).toEqual([[], null, [null]])
      expect(await cas(store, 'a', rev, null)).toBe('conflict')
      expect(await cas(store, 'a', 0, null)).toEqual({ rev: 0 })
    })

    test('a removed record is created again, and no old revision is its', async () => {
      const store = await fresh()
      const revs: number[] = []
      for (let round = 0; round < 3; round++) {
        revs.push(await put(store, 'a', one), await put(store, 'a', two))
        for (const old of revs.slice(0, -1)) {
          expect(await cas(store, 'a', old, Uint8Array.of(3))).toBe('conflict')
        }
        await put(store, 'a', null)
        for (const old of revs) expect(await cas(store, 'a', old, one)).toBe('conflict')
      }
      expect(new Set(revs).size).toBe(6)
    })

    test('of two changes that name one revision one wins, and the others of that write too', async () => {
      const store = await fresh()
      const rev = await put(store, 'a', one)
      const outcomes = await Promise.all([
        cas(store, 'b', 0, one),
        cas(store, 'a', rev, two),
        cas(store, 'a', rev, Uint8Array.of(3), [['c', one]]),
        cas(store, 'd', 7, one),
        cas(store, 'e', 0, one, [['e', one]]),
      ])
      const won = { rev: expect.any(Number) as number }
      expect(outcomes).toEqual([won, won, 'conflict', 'conflict', won])
      expect(await all(store)).toEqual([
        ['a', [2]],
        ['b', [1]],
        ['e', [1]],
      ])
      expect([...(await blobsOf(store, 'a', 'c')), ...(await blobsOf(store, 'e', 'e'))]).toEqual([
        null,
        one,
      ])
    })

    test('blobs are no records', async () => {
      const store = await fresh()
      await put(store, 'a', one, [
        ['a', two],
        ['b', two],
      ])
      expect([await all(store), await got(store, 'b')]).toEqual([[['a', [1]]], null])
      await put(store, 'a', one, [
        ['a', null],
        ['never', null],
      ])
      expect(await blobsOf(store, 'a', 'b', 'a', 'b')).toEqual([two, null, two])
    })

    test('a new record may name the blobs of another one, and keeps them without it', async () => {
      const store = await fresh()
      const rev = await put(store, 'a', one, [
        ['x', one],
        ['y', one],
      ])
      const change = { key: 'b', rev: 0, value: two, blobs: [['y', two]], from: 'a' } as const
      await new Promise((resolve) => store.cas(change, resolve))
      await cas(store, 'a', rev, null)
      await put(store, 'b', one)
      expect(await blobsOf(store, 'b', 'x', 'y')).toEqual([one, two])
    })

    test('of two changes to one blob in one change the later holds', async () => {
      const store = await fresh()
      await put(store, 'a', one, [
        ['a', one],
        ['a', null],
        ['a', two],
        ['b', one],
        ['b', null],
      ])
      expect(await blobsOf(store, 'a', 'a', 'b')).toEqual([two, null])
    })

    test('keys come in the order of their code points', async () => {
      const store = await fresh()
      // U+FF5E comes before U+1F600, though not in UTF-16.
      const keys = ['b', 'B', 'a/10', 'a/9', 'é', 'z', '～', '😀', '😀a', 'a', 'a b', '~']
      for (const key of keys) await put(store, key, new Uint8Array(0))
      const order = ['B', 'a', 'a b', 'a/10', 'a/9', 'b', 'z', '~', 'é', '～', '😀', '😀a']
      expect((await entriesOf(store)).map(([key]) => key)).toEqual(order)
    })

    test('values come back as they were: empty, a view, large', async () => {
      const store = await fresh()
      const large = Uint8Array.from({ length: 1024 * 1024 }, (_, i) => (i * 31) & 0xff)
      const view = Uint8Array.of(9, 8, 7, 6).subarray(1, 3)
      const values = { empty: new Uint8Array(0), large, view }
      for (const [key, value] of Object.entries(values)) {
        await put(store, key, value.subarray(0, 512 * 1024), [[key, value]])
        const record = (await got(store, key)) as StoredRecord
        const [blob] = await blobsOf(store, key, key)
        expect(Buffer.compare(record.value, value.subarray(0, 512 * 1024))).toBe(0)
        expect(Buffer.compare(blob!, value)).toBe(0)
        for (const found of [record.value, blob!]) expect(found.constructor).toBe(Uint8Array)
      }
      expect(await entriesOf(store)).toHaveLength(3)
    })

    test('after its answer a store shares no bytes with its callers, neither those it got nor those it gave', async () => {
      const store = await fresh()
      const bytes = Uint8Array.of(1, 2)
      await cas(store, 'a', 0, bytes, [['a', bytes]])
      bytes.fill(9)
      for (const [, { value }] of await entriesOf(store)) value.fill(8)
      const [blob] = await blobsOf(store, 'a', 'a')
      blob!.fill(6)
      const found = await got(store, 'a')
      if (found && 'value' in found) found.value.fill(5)
      expect([await all(store), await blobsOf(store, 'a', 'a')]).toEqual([
        [['a', [1, 2]]],
        [Uint8Array.of(1, 2)],
      ])
    })

    test('entries may be walked while records change', async () => {
      const store = await fresh()
      const keys = Array.from({ length: 100 }, (_, i) => `k${String(i).padStart(3, '0')}`)
      await Promise.all(keys.map((key) => put(store, key, one)))
      const seen: string[] = []
      await entriesOf(store)
      for (const [key, { rev }] of store.entries()) {
        seen.push(key)
        await Promise.all([cas(store, key, rev, null), cas(store, `new ${key}`, 0, two)])
      }
      expect(seen).toEqual(keys)
      expect(await all(store)).toEqual(keys.map((key) => [`new ${key}`, [2]]))
    })

    test('a change that is refused leaves nothing behind, and the store goes on', async () => {
      const store = await fresh()
      const rev = await put(store, 'a', one)
      const wrong: [string, Uint8Array][] = [
        ['', one],
        ['x'.repeat(513), one],
        ['nul\0', one],
        ['half \ud83d', one],
        ['large', new Uint8Array(1024 * 1024 + 1)],
      ]
      const largest = new Uint8Array(512 * 1024 + 1)
      const refused = (key: string, at: number, value: Uint8Array, blobs: StoreChange['blobs']) =>
        codeOf(() => store.cas({ key, rev: at, value, blobs }, () => expect.fail('it is answered')))
      expect(refused('largest', 0, largest, [['b', two]])).toBe('bad-value')
      for (const [key, value] of wrong) {
        expect(refused(key, 0, value, [['b', two]])).toBe('bad-value')
        expect(
          refused('a', rev, two, [
            ['b', two],
            [key, value],
          ]),
        ).toBe('bad-value')
      }
      await put(store, 'b', two)
      expect(await all(store)).toEqual([
        ['a', [1]],
        ['b', [2]],
      ])
      expect(await blobsOf(store, 'a', 'b')).toEqual([null])
    })

    test('answers come later, each once, and a check finds that it can be written', async () => {
      const store = await fresh()
      const heard = { cas: 0, get: 0, blobs: 0, check: 0 }
      const answers: unknown[] = []
      const hear = (what: keyof typeof heard, answer: unknown): void => {
        heard[what]++
        answers.push(answer)
      }
      store.cas({ key: 'a', rev: 7, value: one, blobs: [] }, (outcome) => hear('cas', outcome))
      store.get('b', (found) => hear('get', found))
      store.blobs('a', [], (found) => hear('blobs', found))
      store.check((error) => hear('check', error))
      expect(heard).toEqual({ cas: 0, get: 0, blobs: 0, check: 0 })
      await put(store, 'c', one)
      await new Promise((resolve) => store.check(resolve))
      expect(heard).toEqual({ cas: 1, get: 1, blobs: 1, check: 1 })
      expect(new Set(answers)).toEqual(new Set(['conflict', null, []]))
    })

    test('a closed store says so, and may be closed again', async () => {
      const store = await fresh()
      store.close()
      store.close()
      const change = { key: 'a', rev: 0, value: one, blobs: [] }
      const acts = [
        () => store.cas(change, () => {}),
        () => store.get('a', () => {}),
        () => store.check(() => {}),
        () => store.entries(),
        () => store.blobs('a', ['a'], () => {}),
      ]
      expect(acts.map(codeOf)).toEqual(acts.map(() => 'store'))
    })

    const keeps = cannot.keep === undefined
    const but = keeps ? 'is there again' : `is gone, because ${cannot.keep}`
    test(`what was changed before a close ${but}`, async () => {
      const open = place()
      const first = await fresh(open)
      await put(first, 'a', one, [['a', two]])
      await put(first, 'b', two)
      await put(first, 'b', null)
      const a = await got(first, 'a')
      first.close()
      const second = await fresh(open)
      expect(await entriesOf(second)).toEqual(keeps ? [['a', a]] : [])
      expect(await blobsOf(second, 'a', 'a')).toEqual([keeps ? two : null])
    })

    test('10,000 random histories are linearizable, key by key', async () => {
      expect(await playHistories(await fresh(), { seed: 1, count: 10_000, turn })).toEqual([])
    })
  })
}
