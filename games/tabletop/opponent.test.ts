// Goal: a bot at the table plays whole games by the rules, takes nobody's seat, and says so when
// there is nothing for it to play.
// Method: whole sessions in virtual time; bots are guests, as they are in a page.
import type { ActionType, Session } from 'holdfast'
import { type SessionWorld, world } from 'holdfast/sim'
import { describe, expect, test } from 'vitest'
import { Opponent } from './opponent.ts'
import { positionOf } from './rules/duel.ts'
import * as draughts from './rules/draughts.ts'
import { weigh } from './rules/draughts-brain.ts'
import { choose } from './rules/eights-brain.ts'
import { CARDS, nameOf } from './rules/faces.ts'
import { Man } from './rules/pieces.ts'
import { recordsAfter } from './rules/records.ts'
import { isOn, roundOf } from './rules/round.ts'
import { endOf, type Game, scoreOf, seatsOf } from './rules/seats.ts'
import { ACTS, Hand, TYPES } from './rules/things.ts'

const STEP_MS = 100

interface Table {
  w: SessionWorld
  /** Serves, and is a person who plays or looks on. */
  ada: Session
  bots: Opponent[]
  sessions: Session[]
}

async function table(game: Game | null, count: number, plays: boolean): Promise<Table> {
  const w = world({ seed: 11, conditions: 'rtt=20' })
  const wish = { game: 'tabletop', types: TYPES }
  const ada = await w.join({ ...wish, name: 'Ada' })
  if (plays) ada.create(Hand, { at: [0, 0], speed: [0, 0], there: false })
  const sessions: Session[] = []
  for (let i = 1; i <= count; i++) {
    sessions.push(await w.join({ ...wish, name: `Bot ${i}`, serves: false }, { kind: 'browser' }))
  }
  const bots = sessions.map((session, i) => new Opponent(session, 7919 * (i + 1), 0.6))
  const made = { w, ada, bots, sessions }
  if (game) await did(made, ACTS.setUp, { game })
  return made
}

/** Goes on, all bots with it, until something is so. @returns whether it came to that */
async function until({ w, bots }: Table, is: () => boolean, maxMs: number): Promise<boolean> {
  for (let past = 0; past < maxMs && !is(); past += STEP_MS) {
    await w.run(STEP_MS)
    for (const bot of bots) bot.step(w.now())
  }
  return is()
}

/** The person does that. @returns why not; empty if it was done */
async function did<Args>(at: Table, action: ActionType<Args>, args: Args): Promise<string> {
  let why: string | null = null
  void at.ada.act(action, args).then((told) => (why = told.ok ? '' : told.reason))
  await until(at, () => why !== null, 20_000)
  return why ?? 'no answer'
}

function records({ ada }: Table, player: number): string[] {
  return recordsAfter(ada.table, 0).flatMap((one) => (one.player === player ? [one.text] : []))
}

/** A person who plays at random, but by the rules. */
async function move(at: Table): Promise<void> {
  const all = draughts.moves(positionOf(at.ada.table))
  const { from, to } = all[Math.floor(all.length / 2)]!
  const man = at.ada.all(Man).find(({ state }) => state.square === from)!
  expect(await did(at, ACTS.hop, { man: man.id, to })).toBe('')
}

function face(name: string): number {
  return Array.from({ length: CARDS }, (_, each) => each).find((each) => nameOf(each) === name)!
}

describe('a bot', { timeout: 60_000 }, () => {
  test('plays a whole game of draughts against a person, and wins against one who does not think (AP-24)', async () => {
    const at = await table('draughts', 1, true)
    expect(await did(at, ACTS.sit, { seat: 1 })).toBe('')
    expect(await until(at, () => seatsOf(at.ada.table).join() === '2,1', 5_000)).toBe(true)
    const isMine = (): boolean =>
      positionOf(at.ada.table).turn === 'w' || endOf(at.ada.table) !== null
    while (!endOf(at.ada.table)) {
      expect(await until(at, isMine, 10_000)).toBe(true)
      if (!endOf(at.ada.table)) await move(at)
    }
    expect(endOf(at.ada.table)?.winner).toBe(2)
    // Whether there is another game the person says.
    expect(await until(at, () => endOf(at.ada.table) === null, 20_000)).toBe(false)
  })

  test('plays Crazy Eights, round after round, if nobody but bots sits there (AP-24)', async () => {
    const at = await table('eights', 3, false)
    const scores = (): number =>
      [2, 3, 4].reduce((sum, player) => sum + scoreOf(at.ada.table, player), 0)
    const isWon = (): boolean => scores() > 0 && endOf(at.ada.table) !== null
    expect(await until(at, isWon, 400_000)).toBe(true)
    expect(await until(at, () => isOn(at.ada.table), 20_000)).toBe(true)
  })

  test('leaves a seat to a person, the first choice too, and gets up when it is sent away', async () => {
    const at = await table('draughts', 2, true)
    expect(await until(at, () => seatsOf(at.ada.table).some((player) => player !== 0), 3_000)).toBe(
      false,
    )
    expect(await until(at, () => seatsOf(at.ada.table).some((player) => player !== 0), 9_000)).toBe(
      true,
    )
    expect(await until(at, () => !seatsOf(at.ada.table).includes(0), 9_000)).toBe(false)
    const seat = seatsOf(at.ada.table).indexOf(0)
    expect(await did(at, ACTS.sit, { seat })).toBe('')
    expect(at.bots.map(({ idle }) => idle).toSorted()).toEqual([
      '',
      expect.stringMatching(/no seat/),
    ])
    const sat = at.bots.find(({ idle }) => idle === '')!
    void sat.rise()
    at.bots = []
    expect(await until(at, () => seatsOf(at.ada.table).includes(0), 5_000)).toBe(true)
  })

  test('breaks a round off that could not go on without it', async () => {
    const at = await table('eights', 1, true)
    expect(await did(at, ACTS.sit, { seat: 0 })).toBe('')
    const isSat = (): boolean => seatsOf(at.ada.table).filter((player) => player !== 0).length === 2
    expect(await until(at, isSat, 9_000)).toBe(true)
    expect(await did(at, ACTS.dealRound, null)).toBe('')
    expect(roundOf(at.ada.table)?.players).toHaveLength(2)
    const [bot] = at.bots
    void bot!.rise()
    at.bots = []
    expect(await until(at, () => !isSat(), 5_000)).toBe(true)
    expect(records(at, 2)).toContain('broke the round off')
  })

  test('agrees to a draw that is no worse for it', async () => {
    const at = await table('draughts', 1, true)
    expect(await did(at, ACTS.sit, { seat: 0 })).toBe('')
    expect(await until(at, () => !seatsOf(at.ada.table).includes(0), 9_000)).toBe(true)
    expect(await did(at, ACTS.offer, null)).toBe('')
    expect(await until(at, () => endOf(at.ada.table) !== null, 5_000)).toBe(true)
    expect(endOf(at.ada.table)?.text).toMatch(/draw, by agreement/)
  })

  test('says what it waits for where no game, or none of its own, is on the table (AP-24)', async () => {
    const at = await table(null, 1, true)
    const [bot] = at.bots
    expect(bot!.idle).toMatch(/choose draughts or Crazy Eights/)
    await did(at, ACTS.setUp, { game: 'free' })
    expect(bot!.idle).toMatch(/only look on/)
    // No card is dealt to who cannot play it.
    expect(at.ada.all(Hand).map(({ owner }) => owner?.player)).toEqual([1])
  })
})

test('draughts: a step that costs a man is worth less than one that does not, to the best', () => {
  const cells = '...b.........b........w........w'
  const position: draughts.Position = { cells, turn: 'w', mid: 0, quiet: 0 }
  const worthOf = (to: number): number => {
    const move = draughts.moves(position).find((each) => each.from === 23 && each.to === to)!
    return weigh(position, move, { state: 1 }, 1)
  }
  expect(worthOf(19) - worthOf(18)).toBeGreaterThan(60)
})

test('Crazy Eights: what fits is played, an eight last, and then one draws or passes', () => {
  const round = { players: [1, 2], turn: 0, suit: 2, drawn: 0, passes: 0 }
  const hand = ['8 of clubs', '4 of hearts', 'king of hearts', '9 of spades'].map((name, id) => {
    return { id, face: face(name) }
  })
  const view = { round, hand, top: face('9 of hearts'), fewest: 5, canDraw: true }
  expect(choose(view)).toMatchObject({ kind: 'play', card: 2 })
  const eight = choose({ ...view, hand: [hand[0]!, { id: 7, face: face('ace of diamonds') }] })
  expect(eight).toEqual({ kind: 'play', card: 0, suit: 1 })
  const none = [{ id: 7, face: face('ace of diamonds') }]
  expect(choose({ ...view, hand: none })).toEqual({ kind: 'draw' })
  expect(choose({ ...view, hand: none, canDraw: false })).toEqual({ kind: 'pass' })
  const drawn = { ...round, drawn: 3 }
  expect(choose({ ...view, hand: none, round: drawn })).toEqual({ kind: 'pass' })
})
