import type { Session } from 'holdfast'
import { world } from 'holdfast/sim'
import { expect, test } from 'vitest'
import { Card, cards, deal, DECK, shuffle } from '../src/cards.ts'

function handOf(session: Session, player: number) {
  return session.all(Card).filter(({ state }) => state.hand === player)
}

test('hands are hidden, and outlive the server', async () => {
  const w = world({ seed: 7, conditions: 'rtt=60,loss=2%' })
  const ada = await w.join({ ...cards, name: 'Ada' })
  const grace = await w.join({ ...cards, name: 'Grace' })
  await w.run(3_000)
  void ada.act(shuffle)
  void ada.act(deal)
  await w.run(2_000)
  expect(grace.all(Card).length).toBe(DECK)
  const mine = handOf(grace, grace.me.player)
  const faces = mine.map(({ state }) => state.face)
  expect(new Set(faces).size).toBe(5)
  expect(faces).not.toContain(null)
  // A third player sees neither hand.
  const linus = await w.join({ ...cards, name: 'Linus' })
  await w.run(1_000)
  expect(linus.all(Card).every(({ state }) => state.face === null)).toBe(true)
  const theft = linus
    .all(Card)
    .find(({ state }) => state.hand !== 0)!
    .update({ hand: 0 })
  await w.run(1_000)
  expect(await theft).toMatchObject({ ok: false, reason: 'That card is in another hand.' })

  w.kill(ada) // who served
  await w.run(5_000)
  expect(handOf(grace, grace.me.player).map(({ state }) => state.face)).toEqual(faces)
  void mine[0]!.update({ up: true })
  await w.run(1_000)
  expect(linus.all(Card).filter(({ state }) => state.face !== null).length).toBe(1)
})
