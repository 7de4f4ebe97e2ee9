// Goal: chess on the table: the men follow the rules, it ends as it should, and nothing else moves.
// Method: whole sessions in virtual time, with the actions and the rules as they ship.
import { expect, test } from 'vitest'
import { leftOf } from './clock.ts'
import { act, type Cluster, done, manOn, table } from './cluster.ts'
import { chessOf } from './duel.ts'
import { KINDS } from './men.ts'
import { Man } from './pieces.ts'
import { chessAt } from './places.ts'
import { recordsAfter } from './records.ts'
import { endOf, seatsOf } from './seats.ts'
import { ACTS } from './things.ts'

/** The number of a square such as `e4`. */
const square = (name: string): number =>
  (8 - Number(name[1])) * 8 + 'abcdefgh'.indexOf(name[0]!) + 1

/** Black is the third player, white the fourth. */
async function chess(clock = 0): Promise<Cluster> {
  const cluster = await table('chess', 1, clock)
  expect(await act(cluster, 2, ACTS.sit, { seat: 0 })).toBe('')
  expect(await act(cluster, 3, ACTS.sit, { seat: 1 })).toBe('')
  return cluster
}

const go = (cluster: Cluster, who: number, text: string): Promise<string> => {
  const man = manOn(cluster.all[who]!, square(text.slice(0, 2))).id
  const [to, promotion] = [square(text.slice(2, 4)), text[4]]
  return act(cluster, who, ACTS.moveChessman, { man, to, ...(promotion && { promotion }) })
}

/** Plays moves such as `e2e4`, white's first. */
async function line(cluster: Cluster, text: string): Promise<void> {
  for (const [at, move] of text.split(' ').entries()) {
    expect([move, await go(cluster, at % 2 === 0 ? 3 : 2, move)]).toEqual([move, ''])
  }
}

const said = ({ all }: Cluster): string => recordsAfter(all[0]!.table, 0).at(-1)!.text

/** All men that are not captured stand where the rules have them. */
function agree({ all }: Cluster): void {
  const { cells } = chessOf(all[1]!.table)
  const men = all[1]!.all(Man).filter(({ state }) => state.square !== 0)
  expect(men).toHaveLength(cells.replaceAll('.', '').length)
  for (const { state } of men) {
    const letter = KINDS[state.kind]!
    expect(cells[state.square - 1]).toBe(state.white ? letter.toUpperCase() : letter)
    expect(state.at).toEqual(chessAt(state.square))
  }
}

test('only who sits at a colour moves it, in turn, as the rules say, and with words that help', async () => {
  const cluster = await table('chess')
  expect(await go(cluster, 3, 'e2e4')).toContain('Only who sits at white')
  await act(cluster, 3, ACTS.sit, { seat: 1 })
  expect(await go(cluster, 3, 'e2e4')).toContain('Nobody sits at black')
  await act(cluster, 2, ACTS.sit, { seat: 0 })
  expect(await go(cluster, 2, 'e7e5')).toContain('not your turn')
  expect(await go(cluster, 3, 'e2e5')).toBe('The pawn cannot go from e2 to e5.')
  const man = manOn(cluster.all[3]!, square('e2'))
  const move = (args: object): Promise<string> => act(cluster, 3, ACTS.moveChessman, args as never)
  expect(await move({ man: 987_654, to: 3 })).toBe('There is no man 987654 on this board.')
  for (const to of [0, 65, -1, 1.5, '37.2', null, undefined]) {
    expect(await move({ man: man.id, to })).toMatch(/no such square|cannot go/)
  }
  expect(await act(cluster, 3, ACTS.hop, { man: man.id, to: 5 })).toContain('not on the table')
  // By hand it is carried, and goes back.
  await done(cluster, man.grab())
  await done(cluster, man.release({ at: [500, 20] }))
  expect(man.state.at).toEqual(chessAt(square('e2')))
  expect(await done(cluster, man.update({ kind: 5 }))).toMatchObject({ code: 'refused' })
  expect(await done(cluster, manOn(cluster.all[2]!, square('e2')).grab())).toMatchObject({
    ok: false,
  })
  agree(cluster)
})

test('capture, castling, in passing and promotion move all men that they should', async () => {
  const cluster = await chess()
  await line(cluster, 'e2e4 g8f6 e4e5 d7d5 e5d6')
  expect(said(cluster)).toBe('moved e5×d6')
  agree(cluster)
  for (const [who, text] of [
    [2, 'g7g6'],
    [3, 'd6c7'],
    [2, 'f8g7'],
    [3, 'a2a3'],
    [2, 'e8g8'],
  ] as const) {
    expect([text, await go(cluster, who, text)]).toEqual([text, ''])
  }
  expect(said(cluster)).toBe('castled short')
  agree(cluster)
  expect(await go(cluster, 3, 'c7b8')).toContain('what the pawn becomes')
  expect(await go(cluster, 3, 'c7b8k')).toContain('what the pawn becomes')
  expect(await go(cluster, 3, 'c7b8n')).toBe('')
  expect(said(cluster)).toBe('moved c7×b8 and promoted to a knight')
  agree(cluster)
  const gone = cluster.all[1]!.all(Man).filter(({ state }) => state.square === 0)
  expect(new Set(gone.map(({ state }) => String(state.at))).size).toBe(gone.length)
  const off = gone[0]!.id
  const back = { man: off, to: square('a5') }
  expect(await act(cluster, 2, ACTS.moveChessman, back)).toContain(`no man ${off} on this board`)
})

test('mate ends it, and another begins with the sides changed and all men', async () => {
  const cluster = await chess()
  await line(cluster, 'f2f3 e7e5 g2g4')
  expect(await act(cluster, 2, ACTS.again, null)).toContain('not over')
  expect(await go(cluster, 2, 'd8h4')).toBe('')
  const { player } = cluster.all[2]!.me
  const loser = cluster.all[3]!.me.player
  expect(endOf(cluster.all[1]!.table)).toEqual({
    winner: player,
    text: `{${player}} wins with black: {${loser}} is checkmate.`,
  })
  expect(await go(cluster, 3, 'a2a3')).toContain('over')
  expect(await act(cluster, 2, ACTS.again, null)).toBe('')
  expect(seatsOf(cluster.all[1]!.table)).toEqual([loser, player])
  expect(cluster.all[1]!.all(Man)).toHaveLength(32)
  agree(cluster)
  expect(await go(cluster, 2, 'e2e4')).toBe('')
})

test('the third time that the men stand alike it is a draw, over the death of the server', async () => {
  const cluster = await chess()
  await line(cluster, 'g1f3 g8f6 f3g1 f6g8 g1f3 g8f6')
  cluster.w.kill(cluster.all[0]!)
  await cluster.w.run(20_000)
  const left = { ...cluster, all: [cluster.all[1]!, ...cluster.all.slice(1)] }
  await line(left, 'f3g1 f6g8')
  expect(endOf(cluster.all[1]!.table)).toEqual({
    winner: 0,
    text: 'A draw: the men stood like this 3 times.',
  })
})

test('with a clock time runs from the first move on, and who has none left loses', async () => {
  const cluster = await chess(20_000)
  await cluster.w.run(30_000)
  await line(cluster, 'e2e4')
  await cluster.w.run(12_000)
  const seen = cluster.all[1]!
  expect(Math.round(leftOf(seen.table, 'b', seen.now())! / 1000)).toBe(8)
  await cluster.w.run(12_000)
  expect(endOf(seen.table)!.text).toContain('ran out of time: white wins')
})

test('at a free table the men move freely, and a pawn becomes what one chooses', async () => {
  const cluster = await table('free')
  expect(await act(cluster, 3, ACTS.board, { out: 'go' as never })).toContain('not for "go"')
  expect(await act(cluster, 3, ACTS.board, { out: 'chess' })).toBe('')
  agree({ ...cluster })
  const pawn = manOn(cluster.all[2]!, square('e2'))
  await done(cluster, pawn.grab())
  await done(cluster, pawn.release({ at: chessAt(square('e8')) }))
  expect(pawn.state.at).toEqual(chessAt(square('e8')))
  expect(await done(cluster, pawn.update({ kind: 5 }))).toMatchObject({ ok: true })
  expect(await done(cluster, pawn.update({ kind: 7 }))).toMatchObject({
    reason: 'Chessmen are of kinds 1 to 6, and not 7.',
  })
  expect(await done(cluster, pawn.update({ kind: 0 }))).toMatchObject({ ok: false })
  expect(await act(cluster, 2, ACTS.board, { out: 'draughts' })).toBe('')
  expect(cluster.all[1]!.all(Man)).toHaveLength(24)
  expect(await done(cluster, cluster.all[2]!.all(Man)[0]!.update({ kind: 5 }))).toMatchObject({
    reason: 'A man of draughts is none of chess.',
  })
})
