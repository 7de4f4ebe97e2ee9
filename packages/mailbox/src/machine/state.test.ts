// Goal: what a mailbox keeps of a peer is what its disk has, and who is kept hears of a new key.
// Method: numbers of peers by hand.
import { expect, test } from 'vitest'
import { announce } from './keys.ts'
import { create, type Mailbox, type Peer, peerOf, rewind, weighInbox } from './state.ts'

const NO_OUT = { record: () => {}, send: () => {}, emit: () => {} }

/** Letter 1 is durable; those of these numbers wait, or took effect in a turn that fails. */
function failing(...inbox: number[]): { box: Mailbox; peer: Peer } {
  const box = create([])
  const peer = peerOf(box, 'bob')
  Object.assign(peer, { heard: 3, gone: 1, came: inbox.at(-1)! })
  const letter = { life: Uint8Array.of(1), digest: Uint8Array.of(1), key: null }
  for (const n of inbox) {
    peer.inbox.set(n, { body: Uint8Array.of(n), ...letter })
    weighInbox(box, peer, 10)
  }
  const { inbox: _all, ...durable } = structuredClone(peer)
  rewind(box, 'bob', { ...durable, peer: 'bob', heard: 1 })
  return { box, peer }
}

test('after a turn that failed its letters wait once more, in order (PR-2)', () => {
  const { box, peer } = failing(2, 3, 4)
  expect([peer.heard, [...peer.inbox.keys()], box.inboxBytes]).toEqual([1, [2, 3, 4], 30])
})

test('and where the next one is not there any more, all are sent again (PR-2)', () => {
  const { box, peer } = failing(3, 4)
  expect([peer.heard, [...peer.inbox.keys()], peer.came]).toEqual([1, [], 0])
  expect([peer.inboxBytes, box.inboxBytes]).toEqual([0, 0])
})

test('of a new key hears who is posted to, who was heard, and whose key is known (PR-2)', () => {
  const box = create([])
  const known = { posted: { posted: 1 }, heard: { heard: 1 }, keyed: { key: Uint8Array.of(1) } }
  for (const [id, some] of Object.entries(known)) Object.assign(peerOf(box, id), some)
  peerOf(box, 'stranger')
  const told = announce(box, Uint8Array.of(0), NO_OUT)
  expect([...told]).toEqual([
    ['posted', 2],
    ['heard', 1],
    ['keyed', 1],
  ])
})
