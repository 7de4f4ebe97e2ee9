// Goal: an answer of the hub to what a member did not ask changes nothing.
// Method: one member by hand, in a session; the hub says what it was not asked.
import { expect, test } from 'vitest'
import { framePart } from '../../packages/holdfast/src/member/dispatch.ts'
import { JOIN_CHANNEL } from '../../packages/holdfast/src/member/state.ts'
import { joinedLayout } from '../../packages/holdfast/src/session/messages.ts'
import { encode } from '../../packages/holdfast/src/wire/layout.ts'
import { Hand } from './hand.ts'

const REGISTER = { epoch: 9, primary: 2, backup: 3 }

/** Whatever an answer on the way in could change. */
function stands({ run }: Hand) {
  const { phase, found, hub, session } = run.member
  const { id, me, player, client, topology } = session
  return { phase, found, hub, id, me, player, topology, ...client.register, mv: client.view.mv }
}

test('T13: who is in a session founds none, and comes into no other, unasked (AP-19)', () => {
  const hand = new Hand(2, 3, 'star')
  const before = stands(hand)
  const entry = {
    ...{ session: 'other', game: 'g', room: 'r', register: REGISTER, players: 1, playersMax: 8 },
    ...({ standing: 'open', topology: 'mesh', terms: '' } as const),
  }
  const leader = hand.leaderAs(3, 9)
  const admission = { rights: 1, signature: new Uint8Array(64) }
  for (const created of [true, false])
    hand.hears({ kind: 'added', request: 1, created, entry, leader, admission, opened: null })
  hand.pass(50)
  hand.link(1, 'relay:1')
  const { view } = hand.run.member.session.client
  const joined = { kind: 'joined', inc: 7, player: 7, lastSeq: 9, view } as const
  hand.tells(1, 'relay:1', framePart(JOIN_CHANNEL, encode(joinedLayout, joined)))
  expect([stands(hand), hand.run.member.counters.malformed]).toEqual([before, 1])
})

test('T23: what is told of another session names nobody in ours (AP-19)', () => {
  const hand = new Hand(2, 3, 'star')
  const before = stands(hand)
  const leader = hand.leaderAs(3, 9)
  const other = { request: 2, session: 'other', register: REGISTER, leader } as const
  hand.hears({ kind: 'register', ok: true, ...other })
  hand.hears({ kind: 'attached', present: [2, 3], ...other })
  expect(stands(hand)).toEqual(before)
  expect(hand.run.member.named?.inc).toBe(1)
})
