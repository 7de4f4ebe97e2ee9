// Goal: with several addresses a member stays with the hub of its session, as long as that may come
// back; and with one address it takes what there is, as ever.
// Method: a process by hand; the hub says by which key it signs.
import { expect, test } from 'vitest'
import { KEY_BYTES } from '../../packages/holdfast/src/ports.ts'
import { Bare } from './bare.ts'

const FOREIGN_MS = 60_000

const OWN = new Uint8Array(KEY_BYTES).fill(1)
const OTHER = new Uint8Array(KEY_BYTES).fill(2)

/** A member of a session, at the hub of that. */
function member(hasOthers: boolean): Bare {
  const bare = new Bare()
  bare.hasOthers = hasOthers
  bare.opens()
  bare.hears({ kind: 'signs', key: OWN })
  bare.added(true)
  expect(bare.run.member.phase).toBe('in')
  return bare
}

function meets(bare: Bare, key: Uint8Array, now: number): void {
  bare.closes()
  bare.now = now
  bare.opens()
  bare.hears({ kind: 'signs', key })
}

test('another hub is left for the next address, for a minute; then it is taken', () => {
  const bare = member(true)
  for (const now of [1_000, 2_000, 1_000 + FOREIGN_MS - 1]) meets(bare, OTHER, now)
  expect([bare.left, bare.run.member.hubKey, bare.run.member.counters.foreign]).toEqual([3, OWN, 3])
  meets(bare, OTHER, 1_000 + FOREIGN_MS)
  expect([bare.left, bare.run.member.hubKey]).toEqual([3, OTHER])
})

test('its own hub between two others begins the minute anew', () => {
  const bare = member(true)
  meets(bare, OTHER, 1_000)
  meets(bare, OWN, 2_000)
  meets(bare, OTHER, 3_000)
  meets(bare, OTHER, 2_000 + FOREIGN_MS)
  expect([bare.left, bare.run.member.hubKey]).toEqual([3, OWN])
})

test('with one address a hub that has another key since its start is taken at once', () => {
  const bare = member(false)
  meets(bare, OTHER, 1_000)
  expect([bare.left, bare.run.member.hubKey]).toEqual([0, OTHER])
})

test('whoever is in no session takes the first hub that answers', () => {
  const bare = new Bare()
  bare.hasOthers = true
  for (const key of [OWN, OTHER]) {
    bare.opens()
    bare.hears({ kind: 'signs', key })
    bare.closes()
  }
  expect([bare.left, bare.run.member.hubKey]).toEqual([0, OTHER])
})
