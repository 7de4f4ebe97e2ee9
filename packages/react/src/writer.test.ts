// Goal: of two who type into one field neither loses a key, however near to the server one is.
// Method: whole sessions in virtual time; each user types a key every 150 ms.
import { expect, test } from 'vitest'
import { action, piece, type Session, text } from '../../holdfast/src/index.ts'
import { world } from '../../sim/src/session-world.ts'
import { Writer } from './writer.ts'

const Card = piece('card', { title: text(300) })
const make = action('make', (table) => void table.create(Card, { title: '' }))
const game = { game: 'cards', types: [Card, make] }

test.each([20, 100, 200, 400])('two who type at a round trip of %i ms', async (rtt) => {
  const w = world({ seed: 5, conditions: `rtt=${rtt}` })
  const [ada, bob] = [await w.join(game), await w.join(game)]
  await w.runUntil(() => ada.safety === 'backed-up', 10_000)
  void ada.act(make)
  await w.run(2_000)

  let [now, seen] = [0, 0]
  const alarms = new Map<() => void, number>()
  const after = (ms: number, run: () => void): (() => void) => {
    alarms.set(run, now + ms)
    return () => void alarms.delete(run)
  }
  const user = (session: Session) => {
    const card = session.all(Card)[0]!
    const writer = new Writer(card as never, 'title', after)
    let shown: string | null = null
    let refusals = 0
    const outcomes = {
      merged: (all: string) => void (shown = all),
      refused: () => void refusals++,
    }
    const press = (key: string): void => {
      const before = shown ?? card.state.title
      shown = writer.type(before, before + key)
      writer.write(outcomes)
    }
    return { card, press, refusals: () => refusals }
  }
  const [one, two] = [user(ada), user(bob)]
  for (; now < 12_000; now += 10) {
    if (now < 6_000 && now % 150 === 0) one.press('a')
    if (now < 6_000 && now % 150 === 70) two.press('b')
    for (const [run, at] of alarms) if (at <= now && alarms.delete(run)) run()
    await w.run(10)
    if (now === 5_500) seen = one.card.state.title.split('b').length - 1
  }
  // Bob is not held up until Ada, who serves, takes a rest.
  if (rtt < 250) expect(seen).toBeGreaterThan(25)
  const { title } = one.card.state
  expect(two.card.state.title).toBe(title)
  expect([title.split('a').length - 1, title.split('b').length - 1]).toEqual([40, 40])
  expect([one.refusals(), two.refusals()]).toEqual([0, 0])
})
