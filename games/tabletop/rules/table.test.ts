// Goal: what the server decides at the table: who sees which face, whose turn it is, who won.
// Method: whole sessions in virtual time, with the actions and the rules as they ship.
import type { PieceHandle, Session } from 'holdfast'
import { describe, expect, test } from 'vitest'
import { positionOf } from './duel.ts'
import { act, type Cluster, done, manOn, table } from './cluster.ts'
import * as draughts from './draughts.ts'
import * as eights from './eights.ts'
import { Card, Die, Man } from './pieces.ts'
import { DECK, DISCARD, squareAt } from './places.ts'
import { recordsAfter } from './records.ts'
import { isOn, roundOf } from './round.ts'
import { endOf, scoreOf, seatsOf } from './seats.ts'
import { ACTS } from './things.ts'

type CardHandle = PieceHandle<typeof Card.schema.fields>

function card(session: Session, id: string): CardHandle {
  return session.all(Card).find((one) => one.id === id)!
}

/** Who sees the face of a card, by their places in the cluster. */
function seers({ all }: Cluster, id: string): number[] {
  return all.flatMap((session, place) => (card(session, id).state.face === null ? [] : [place]))
}

describe('a free table', () => {
  test('has 52 cards that nobody sees, two dice, and a board if one takes it out (PI-13)', async () => {
    const cluster = await table('free')
    const { all } = cluster
    for (const session of all) {
      expect(session.all(Card)).toHaveLength(52)
      expect(session.all(Card).every(({ state }) => state.face === null)).toBe(true)
      expect([session.all(Man).length, session.all(Die).length]).toEqual([0, 2])
    }
    for (const out of [true, true, false, true]) {
      expect(await act(cluster, 3, ACTS.board, { out: out ? 'draughts' : null })).toBe('')
      for (const session of all) expect(session.all(Man)).toHaveLength(out ? 24 : 0)
    }
    expect(await act(cluster, 3, ACTS.setUp, { game: 'eights' })).toBe('')
    expect(await act(cluster, 3, ACTS.board, { out: 'chess' })).toContain('In this game')
  })

  test('a card shows its face when it is let go off the deck, to whom it should', async () => {
    const cluster = await table('free')
    const [top, next, third] = cluster.all[2]!.all(Card).toReversed() as CardHandle[]
    await done(cluster, top!.grab({ raise: true }))
    await done(cluster, top!.update({ at: [300, 300] }))
    expect(seers(cluster, top!.id)).toEqual([])
    const shown = await done(cluster, top!.release({ at: [300, 300], up: true }))
    expect(shown).toEqual({ ok: true, value: { clamped: true } })
    expect(seers(cluster, top!.id)).toEqual([0, 1, 2, 3])

    const { player } = cluster.all[2]!.me
    await done(cluster, next!.grab({ raise: true }))
    await done(cluster, next!.release({ hand: player, up: false }))
    expect(seers(cluster, next!.id)).toEqual([2])
    expect(await done(cluster, card(cluster.all[3]!, next!.id).grab())).toMatchObject({
      reason: expect.stringContaining('somebody else’s hand'),
    })

    await done(cluster, third!.grab())
    await done(cluster, third!.release({ at: [DECK[0] + 20, DECK[1]], up: true }))
    expect(seers(cluster, third!.id)).toEqual([])
    expect(third!.state).toMatchObject({ at: DECK, up: false, deck: true })
    await done(cluster, third!.update({ up: true }))
    expect(seers(cluster, third!.id)).toEqual([])
  })

  test('what is hidden stays so: peeking, reaching into a hand, changing what is printed', async () => {
    const cluster = await table('free')
    const [top] = cluster.all[3]!.all(Card).toReversed() as CardHandle[]
    const { player } = cluster.all[3]!.me
    for (const patch of [{ hand: player }, { up: true }, { face: 3 }, { law: true }]) {
      expect(await done(cluster, top!.update(patch))).toMatchObject({ ok: false, code: 'refused' })
    }
    await done(cluster, top!.grab())
    expect(await done(cluster, top!.update({ at: [9, 9], up: true }))).toMatchObject({ ok: false })
    expect(await done(cluster, top!.release({ hand: player + 1 }))).toMatchObject({ ok: false })
    expect(seers(cluster, top!.id)).toEqual([])
  })

  test('dealt cards are seen by their players alone, and shuffled ones by nobody', async () => {
    const cluster = await table('free')
    const players = cluster.all.slice(0, 3).map(({ me }) => me.player)
    expect(await act(cluster, 3, ACTS.deal, { count: 5, players })).toBe('')
    for (const [place, player] of players.entries()) {
      const hand = cluster.all[3]!.all(Card).filter(({ state }) => state.hand === player)
      expect(hand).toHaveLength(5)
      for (const { id } of hand) expect(seers(cluster, id)).toEqual([place])
    }
    expect(await act(cluster, 3, ACTS.deal, { count: 13, players })).toContain('37 cards')
    expect(await act(cluster, 3, ACTS.deal, { count: 3, players: [] })).toContain('nobody')
    expect(await act(cluster, 1, ACTS.shuffle, { all: true })).toBe('')
    const faces = cluster.all.flatMap((session) => session.all(Card).map(({ state }) => state.face))
    expect(new Set(faces)).toEqual(new Set([null]))
  })

  test('dice are rolled by the server, and by nobody else', async () => {
    const cluster = await table('free')
    const [die] = cluster.all[3]!.all(Die)
    expect(await done(cluster, die!.update({ pips: 6 }))).toMatchObject({
      ok: false,
      code: 'refused',
    })
    const seen = new Set<number>()
    for (let times = 0; times < 40; times++) {
      expect(await act(cluster, 3, ACTS.roll, { die: die!.id })).toBe('')
      seen.add(die!.state.pips)
    }
    expect(seen).toEqual(new Set([1, 2, 3, 4, 5, 6]))
    expect(recordsAfter(cluster.all[0]!.table, 0).at(-1)?.text).toBe(`rolled ${die!.state.pips}`)
  })
})

describe('draughts', () => {
  test('only who sits at a colour moves it, in turn, as the rules say', async () => {
    const cluster = await table('draughts')
    const hop = (who: number, from: number, to: number): Promise<string> =>
      act(cluster, who, ACTS.hop, { man: manOn(cluster.all[who]!, from).id, to })
    expect(await hop(2, 9, 13)).toContain('Only who sits at black')
    expect(await act(cluster, 2, ACTS.sit, { seat: 0 })).toBe('')
    expect(await hop(2, 9, 13)).toContain('Nobody sits at white')
    expect(await act(cluster, 3, ACTS.sit, { seat: 0 })).toContain('Somebody sits there')
    expect(await act(cluster, 3, ACTS.sit, { seat: 1 })).toBe('')
    expect(await hop(3, 22, 18)).toContain('not your turn')
    expect(await hop(2, 9, 17)).toContain('one square')
    expect(await hop(2, 9, 14)).toBe('')
    expect(await hop(3, 21, 17)).toBe('')
    expect(await hop(2, 10, 15)).toContain('you must')
    const victim = manOn(cluster.all[0]!, 17).id
    expect(await hop(2, 14, 21)).toBe('')
    const gone = cluster.all[3]!.all(Man).find(({ id }) => id === victim)!
    expect(gone.state.square).toBe(0)
    expect(manOn(cluster.all[0]!, 21).state.at).toEqual(squareAt(21))
    expect(await done(cluster, gone.grab())).toMatchObject({ reason: 'That man is captured.' })
  })

  test('a man that is carried goes back to its square unless the rules move it', async () => {
    const cluster = await table('draughts')
    await act(cluster, 2, ACTS.sit, { seat: 0 })
    const man = manOn(cluster.all[2]!, 9)
    expect(await done(cluster, manOn(cluster.all[3]!, 9).grab())).toMatchObject({ code: 'refused' })
    await done(cluster, man.grab())
    await done(cluster, man.update({ at: [500, 20] }))
    expect(await done(cluster, man.update({ king: true }))).toMatchObject({ code: 'refused' })
    await done(cluster, man.release({ at: [500, 20] }))
    expect(man.state.at).toEqual(squareAt(9))
  })

  test('is played to the end, told, and begun again with the sides changed', async () => {
    const cluster = await table('draughts', 5)
    await act(cluster, 2, ACTS.sit, { seat: 0 })
    await act(cluster, 3, ACTS.sit, { seat: 1 })
    for (let step = 0; step < 400 && !endOf(cluster.all[0]!.table); step++) {
      const now = positionOf(cluster.all[0]!.table)
      const all = draughts.moves(now)
      const { from, to } = all[(step * 7) % all.length]!
      const who = now.turn === 'b' ? 2 : 3
      const man = manOn(cluster.all[who]!, from).id
      expect(await act(cluster, who, ACTS.hop, { man, to })).toBe('')
    }
    expect(endOf(cluster.all[1]!.table)?.text).toMatch(/wins with|draw/)
    expect(await act(cluster, 2, ACTS.again, null)).toBe('')
    expect(endOf(cluster.all[1]!.table)).toBe(null)
    const [ada, grace] = [cluster.all[3]!.me.player, cluster.all[2]!.me.player]
    expect(seatsOf(cluster.all[1]!.table)).toEqual([ada, grace])
    expect(positionOf(cluster.all[1]!.table)).toEqual(draughts.START)
  })

  test('a draw takes two, and one may resign', async () => {
    const cluster = await table('draughts')
    await act(cluster, 2, ACTS.sit, { seat: 0 })
    await act(cluster, 3, ACTS.sit, { seat: 1 })
    for (const times of [1, 2]) {
      expect(await act(cluster, 2, ACTS.offer, null), `offer ${times}`).toBe('')
      expect(endOf(cluster.all[1]!.table)).toBe(null)
    }
    expect(await act(cluster, 3, ACTS.offer, null)).toBe('')
    expect(endOf(cluster.all[1]!.table)).toEqual({ winner: 0, text: 'A draw, by agreement.' })
    await act(cluster, 2, ACTS.again, null)
    expect(await act(cluster, 3, ACTS.resign, null)).toBe('')
    expect(endOf(cluster.all[1]!.table)?.winner).toBe(cluster.all[2]!.me.player)
  })
})

/** What whose turn it is does next: the first card that fits, else draw, else pass. */
async function turn(cluster: Cluster): Promise<string> {
  const now = roundOf(cluster.all[0]!.table)!
  const who = cluster.all.findIndex(({ me }) => me.player === eights.playerOf(now))
  const session = cluster.all[who]!
  const cards = session.all(Card)
  const top = cards.filter(({ state }) => state.up).at(-1)!.state.face!
  const hand = cards.filter(({ state }) => state.hand === session.me.player)
  const fit = hand.find(({ state }) => eights.fits(state.face!, top, now.suit))
  if (fit) return act(cluster, who, ACTS.playCard, { card: fit.id, suit: 2 })
  const drew = await act(cluster, who, ACTS.takeCard, null)
  return drew === '' ? '' : act(cluster, who, ACTS.pass, null)
}

describe('crazy eights', () => {
  test.each([1, 2])('seed %i: a round is played to its end, and paid', async (seed) => {
    const cluster = await table('eights', seed)
    expect(await act(cluster, 1, ACTS.dealRound, null)).toContain('Take a seat')
    for (const seat of [1, 2, 3]) await act(cluster, seat, ACTS.sit, { seat })
    expect(await act(cluster, 1, ACTS.dealRound, null)).toBe('')
    for (let step = 0; step < 300 && isOn(cluster.all[0]!.table); step++)
      expect(await turn(cluster)).toBe('')
    const { winner, text } = endOf(cluster.all[0]!.table)!
    expect(text).toMatch(/wins the round|Nobody could/)
    expect(scoreOf(cluster.all[3]!.table, winner)).toBeGreaterThan(0)
    expect(await act(cluster, 2, ACTS.dealRound, null)).toBe('')
  })

  test('nobody plays out of turn, what does not fit, or another’s card', async () => {
    const cluster = await table('eights')
    for (const seat of [2, 3]) await act(cluster, seat, ACTS.sit, { seat })
    await act(cluster, 2, ACTS.dealRound, null)
    const [grace, linus] = [cluster.all[2]!, cluster.all[3]!]
    const hand = ({ me, ...of }: Session, from: Session): CardHandle[] =>
      from.all(Card).filter(({ state }) => state.hand === me.player && of !== null)
    const mine = hand(grace, grace)
    expect(mine).toHaveLength(7)
    expect(mine.every(({ state }) => state.face !== null)).toBe(true)
    expect(hand(linus, grace).every(({ state }) => state.face === null)).toBe(true)
    const [theirs] = hand(linus, grace)
    const play = (who: number, id: string): Promise<string> =>
      act(cluster, who, ACTS.playCard, { card: id, suit: 0 })
    expect(await play(2, theirs!.id)).toContain('not in your hand')
    expect(await play(3, theirs!.id)).toContain('not your turn')
    expect(await act(cluster, 3, ACTS.takeCard, null)).toContain('not your turn')
    expect(await act(cluster, 2, ACTS.pass, null)).toContain('Before you pass')
    const top = grace.all(Card).find(({ state }) => state.up)!
    expect(top.state.at).toEqual(DISCARD)
    for (const id of [mine[0]!.id, top.id]) {
      const handle = card(grace, id)
      await done(cluster, handle.grab())
      expect(await done(cluster, handle.update({ at: DISCARD, hand: 0, up: true }))).toMatchObject({
        ok: false,
      })
    }
    const wrong = mine.find(({ state }) => {
      return !eights.fits(state.face!, top.state.face!, roundOf(grace.table)!.suit)
    })
    if (wrong) expect(await play(2, wrong.id)).toContain('same suit')
    expect(await act(cluster, 2, ACTS.rise, null)).toContain('to its end')
    expect(await act(cluster, 3, ACTS.breakOff, null)).toBe('')
    expect(endOf(grace.table)?.winner).toBe(0)
    expect(await act(cluster, 2, ACTS.rise, null)).toBe('')
  })
})
