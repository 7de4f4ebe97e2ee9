// Goal: who is not known to lead is followed by the hub's signature to it alone, in that epoch.
// Method: one member by hand, to which a backup says that it leads now.
import { expect, test } from 'vitest'
import { frameSession } from '../../packages/holdfast/src/member/dispatch.ts'
import type { View } from '../../packages/holdfast/src/session/messages.ts'
import { Hand } from './hand.ts'

const PATH = 'sim:2'

/** A member of four, whose link with the backup stands, and the view in which the backup leads. */
function scene(): { hand: Hand; next: View } {
  const hand = new Hand(3, 4, 'star', 2)
  hand.pass(50)
  hand.link(2, PATH)
  const { view } = hand.run.member.session.client
  const members = view.members.filter(({ inc }) => inc !== 1)
  const { grant } = hand.leaderAs(2, 2)
  return { hand, next: { ...view, epoch: 2, mv: 5, primary: 2, backup: 0, members, grant } }
}

const shows = ({ run }: Hand) => {
  const { epoch, mv, primary } = run.member.session.client.view
  return { epoch, mv, primary, forged: run.member.counters.forged }
}

const left = { kind: 'change', epoch: 2, mv: 6, add: null, remove: 4, why: 'left' } as const

test('SE-2, T41: whom the hub signed for is followed, and so is what it says behind that', () => {
  const { hand, next } = scene()
  hand.tells(2, PATH, frameSession({ kind: 'view', view: next }), frameSession(left))
  expect(shows(hand)).toEqual({ epoch: 2, mv: 6, primary: 2, forged: 0 })
})

test('SE-2: no signature, or one to anything else, makes no primary', () => {
  const others: [string, (hand: Hand, next: View) => View['grant'], number][] = [
    ['none', () => null, 0],
    ['zeros', () => new Uint8Array(64), 1],
    ['of an earlier epoch', (hand) => hand.leaderAs(2, 1).grant, 1],
    ['of a later epoch', (hand) => hand.leaderAs(2, 3).grant, 1],
    ['to another member', (hand) => hand.leaderAs(4, 2).grant, 1],
    ['to the primary of before', (hand) => hand.leaderAs(1, 1).grant, 1],
  ]
  for (const [what, grantOf, forged] of others) {
    const { hand, next } = scene()
    const view = { ...next, grant: grantOf(hand, next) }
    hand.tells(2, PATH, frameSession({ kind: 'view', view }), frameSession(left))
    expect([what, shows(hand)]).toEqual([what, { epoch: 1, mv: 4, primary: 1, forged }])
  }
})

test('SE-2: a signature to a key that is not that of the link is no signature', () => {
  const { hand, next } = scene()
  // The hub signed for the second member with the key of the fourth.
  const members = next.members.map((one) =>
    one.inc === 2 ? { ...one, link: hand.pointOf(4) } : one,
  )
  const grant = hand.leaderAs(2, 2, 4).grant
  hand.tells(2, PATH, frameSession({ kind: 'view', view: { ...next, members, grant } }))
  expect(shows(hand)).toEqual({ epoch: 1, mv: 4, primary: 1, forged: 1 })
})

test('SE-2: a view that names another than its sender, or not its sender, costs no check', () => {
  const { hand, next } = scene()
  for (const view of [
    { ...next, primary: 4 },
    { ...next, members: next.members.filter(({ inc }) => inc !== 2) },
  ]) {
    hand.tells(2, PATH, frameSession({ kind: 'view', view }))
    expect(shows(hand)).toMatchObject({ epoch: 1, primary: 1 })
  }
})
