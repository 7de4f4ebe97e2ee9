/**
 * What every store of a mailbox keeps to, as claims that also a page can run: each throws if it
 * does not hold.
 */

import {
  LETTER_OVERHEAD,
  type MailChange,
  type MailStore,
  type Span,
} from '../../packages/holdfast/src/ports.ts'

/** Opens the store at one place; a second call opens the same place again. */
export type OpenMail = () => Promise<MailStore>

/** Commits, and waits for it. */
export function commit(store: MailStore, changes: readonly MailChange[]): Promise<void> {
  return new Promise((resolve, reject) => {
    store.commit(changes, (error) => (error ? reject(error) : resolve()))
  })
}

/** A body. */
export function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

/** A letter posted to a peer. */
export function posted(peer: string, n: number, text = `letter ${n}`): MailChange {
  return { kind: 'posted', peer, n, body: bytes(text), ...history(n) }
}

/** A letter of a peer that took effect. */
export function heard(peer: string, n: number): MailChange {
  return { kind: 'heard', peer, n, ...history(n) }
}

/** A peer's key, and the first of those that led to it. */
export function bound(peer: string, key: number, root = key): MailChange {
  const of = (byte: number): Uint8Array => new Uint8Array(32).fill(byte)
  return { kind: 'bound', peer, key: of(key), root: of(root) }
}

/** Letters that a peer has. */
export function acked(peer: string, n: number, weight: number): MailChange {
  return { kind: 'acked', peer, n, bytes: weight, digest: history(n).digest }
}

/** Another life for every ten letters; what stores reckon themselves is tried with real ones. */
function history(n: number): { life: Uint8Array; digest: Uint8Array } {
  return { life: new Uint8Array(8).fill(1 + n / 10), digest: new Uint8Array(16).fill(n) }
}

function equal(found: unknown, expected: unknown): void {
  const [left, right] = [JSON.stringify(found), JSON.stringify(expected)]
  if (left !== right) throw new Error(`found ${left}, not ${right}`)
}

const numbers = ({ letters }: Span): number[] => letters.map(({ n }) => n)
const size = (text: string): number => text.length + LETTER_OVERHEAD

/** All that is in a store, to be compared. */
export function contentOf(store: MailStore): string {
  const heads = store.heads().toSorted((a, b) => (a.peer < b.peer ? -1 : 1))
  const letters = heads.map(({ peer }) => {
    const found: string[] = []
    for (let after = 0; ;) {
      const { letters: some } = store.letters(peer, after, 100_000)
      if (some.length === 0) break
      for (const { n, body } of some) found.push(`${n} ${body.length} ${sum(body)}`)
      after = some.at(-1)!.n
    }
    return found
  })
  const values = store.keys('').map((key) => [key, sum(store.get(key)!)])
  const dead = store.dead().map(({ peer, n, body, why }) => [peer, n, sum(body), why])
  return JSON.stringify([heads, letters, values, dead])
}

function sum(body: Uint8Array): number {
  return body.reduce((total, byte) => (Math.imul(total, 31) + byte) >>> 0, 7)
}

/** The claims, by what they say. */
export const CLAIMS: Readonly<Record<string, (open: OpenMail) => Promise<void>>> = {
  'a fresh store is empty': async (open) => {
    const store = await open()
    equal(contentOf(store), '[[],[],[],[]]')
    equal([store.repaired, store.get('nothing')], [null, null])
    store.close()
  },
  'one commit holds letters, numbers and values': async (open) => {
    const store = await open()
    await commit(store, [
      posted('bob', 1),
      posted('bob', 2),
      heard('bob', 7),
      posted('eve', 1),
      { kind: 'set', key: 'hats', value: bytes('3') },
      { kind: 'set', key: 'hats', value: bytes('4') },
    ])
    const [bob] = store.heads().filter(({ peer }) => peer === 'bob')
    const waits = { posted: 2, acked: 0, bytes: 2 * size('letter 1') }
    equal({ ...bob, heard: 7, ...waits }, bob)
    equal([bob!.tries, bob!.ourLives.length, bob!.theirLives.length], [0, 1, 1])
    equal([...bob!.postedDigest, ...bob!.heardDigest], [...Array(16).fill(2), ...Array(16).fill(7)])
    equal(numbers(store.letters('bob', 0, 1_000)), [1, 2])
    equal([...store.get('hats')!], [...bytes('4')])
    store.close()
  },
  'letters come in order, as many as fit, one at least': async (open) => {
    const store = await open()
    for (let n = 1; n <= 5; n++) await commit(store, [posted('bob', n)])
    const three = 3 * size('letter 1')
    equal(numbers(store.letters('bob', 0, three)), [1, 2, 3])
    equal(numbers(store.letters('bob', 0, three + 1)), [1, 2, 3])
    equal(numbers(store.letters('bob', 3, 1)), [4])
    equal(numbers(store.letters('bob', 5, 1_000)), [])
    equal(numbers(store.letters('nobody', 0, 1_000)), [])
    store.close()
  },
  'an ack takes letters out, also in the middle of a commit': async (open) => {
    const store = await open()
    await commit(
      store,
      [1, 2, 3, 4].map((n) => posted('bob', n)),
    )
    await commit(store, [posted('bob', 5)])
    equal(store.weigh('bob', 0, 3), 3 * size('letter 1'))
    equal(store.weigh('bob', 1, 5), 4 * size('letter 1'))
    equal(store.weigh('bob', 1, 3), 2 * size('letter 1'))
    for (const n of [2, 4]) {
      const weight = store.weigh('bob', n - 2, n)
      await commit(store, [acked('bob', n, weight)])
      equal(numbers(store.letters('bob', n, 1_000))[0], n + 1)
    }
    const [bob] = store.heads()
    equal([bob!.acked, bob!.bytes], [4, size('letter 5')])
    store.close()
  },
  'letters of any length are weighed, where they were just written and read again': async (
    open,
  ) => {
    const store = await open()
    const texts = ['a', 'ab'.repeat(50), '', 'abc', 'abcd']
    for (const some of [
      [1, 2, 3],
      [4, 5],
    ]) {
      await commit(
        store,
        some.map((n) => posted('bob', n, texts[n - 1])),
      )
    }
    const weights = (of: MailStore): number[] =>
      [0, 1, 2, 3, 4].flatMap((after) =>
        [1, 2, 3, 4, 5].map((upTo) => of.weigh('bob', after, Math.max(after, upTo))),
      )
    const expected = [0, 1, 2, 3, 4].flatMap((after) =>
      [1, 2, 3, 4, 5].map((upTo) =>
        texts.slice(after, upTo).reduce((total, text) => total + size(text), 0),
      ),
    )
    equal(weights(store), expected)
    store.close()
    const again = await open()
    equal(weights(again), again.heads().length === 0 ? expected.map(() => 0) : expected)
    again.close()
  },
  'dead letters are kept until they are buried, values until they are null': async (open) => {
    const store = await open()
    const body = bytes('bad')
    await commit(store, [
      { kind: 'dead', peer: 'bob', n: 3, body, why: 'no' },
      heard('bob', 3),
      { kind: 'set', key: 'a', value: body },
      { kind: 'set', key: 'ab', value: body },
      { kind: 'set', key: 'b', value: body },
    ])
    equal(
      store.dead().map(({ peer, n, why }) => [peer, n, why]),
      [['bob', 3, 'no']],
    )
    equal(store.keys('a'), ['a', 'ab'])
    await commit(store, [
      { kind: 'buried', peer: 'bob', n: 3 },
      { kind: 'set', key: 'a', value: null },
    ])
    equal([store.dead(), store.keys('')], [[], ['ab', 'b']])
    store.close()
  },
  'keys are told whole, also those of the mailbox itself': async (open) => {
    const store = await open()
    const keys = ['\0life', '\0life of another', 'life']
    await commit(
      store,
      keys.map((key) => ({ kind: 'set', key, value: bytes(key) })),
    )
    equal(store.keys(''), keys)
    store.close()
  },
  'how often a letter failed is kept until it is through': async (open) => {
    const store = await open()
    await commit(store, [{ kind: 'tried', peer: 'bob', n: 1 }])
    await commit(store, [{ kind: 'tried', peer: 'bob', n: 1 }, posted('bob', 1)])
    equal(store.heads()[0]!.tries, 2)
    await commit(store, [heard('bob', 1)])
    equal(store.heads()[0]!.tries, 0)
    store.close()
  },
  'a key is kept beside the numbers, and goes with them': async (open) => {
    const store = await open()
    await commit(store, [posted('bob', 1), heard('eve', 1), bound('eve', 8)])
    await commit(store, [bound('eve', 9, 8), heard('eve', 2), bound('amy', 7)])
    const keys = (): unknown =>
      store.heads().map(({ peer, heard: n, key, root }) => [peer, n, key?.[31], root?.[0]])
    const bob = ['bob', 0, undefined, undefined]
    equal(keys(), [['amy', 0, 7, 7], bob, ['eve', 2, 9, 8]])
    const eve = store.head('eve')!
    await commit(store, [
      { kind: 'begun', peer: 'eve', head: { ...eve, heard: 0 } },
      { kind: 'begun', peer: 'amy', head: null },
    ])
    equal(keys(), [bob, ['eve', 0, 9, 8]])
    store.close()
  },
  'a letter may be empty or as large as they get': async (open) => {
    const store = await open()
    const large = new Uint8Array(64 * 1024).fill(7)
    await commit(store, [
      { kind: 'posted', peer: 'bob', n: 1, body: new Uint8Array(0), ...history(1) },
      { kind: 'posted', peer: 'bob', n: 2, body: large, ...history(2) },
      { kind: 'posted', peer: 'bob', n: 3, body: large, ...history(3) },
    ])
    equal(
      store.letters('bob', 0, 1_000_000).letters.map(({ body }) => body.length),
      [0, 65_536, 65_536],
    )
    store.close()
  },
  'a closed store says so': async (open) => {
    const store = await open()
    store.close()
    store.close()
    const said = await commit(store, [posted('bob', 1)]).then(
      () => 'nothing',
      (error: { code?: string }) => error.code,
    )
    equal(said, 'store')
  },
}

/** And what all do but the one in memory. */
export const KEEPS: Readonly<Record<string, (open: OpenMail) => Promise<void>>> = {
  'what was committed is there when it is opened again': async (open) => {
    let store = await open()
    const said: string[] = []
    for (let n = 1; n <= 20; n++) {
      await commit(store, [
        posted('bob', n),
        heard('eve', n),
        bound('eve', n, 1),
        { kind: 'set', key: `k${n % 3}`, value: bytes(`${n}`) },
      ])
      said.push(contentOf(store))
      store.close()
      store = await open()
      equal(contentOf(store), said.at(-1))
    }
    store.close()
  },
}
