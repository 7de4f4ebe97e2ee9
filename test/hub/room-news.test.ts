// Goal: who owns a hub hears once of each room that begins and ends, of each player that comes and
// goes, and of who serves.
// Method: a hub by hand, and what it says happened.
import { expect, test } from 'vitest'
import { Desk, listed } from './desk.ts'

function heardOf(desk: Desk): string[] {
  return desk.news.splice(0).map(({ kind, room, player }) => `${kind} ${room} ${player}`)
}

function lists(desk: Desk, stream: number, session: string, ...incs: number[]): void {
  const members = incs.map((inc) => listed(inc))
  desk.say(stream, { kind: 'members', session, members, players: members.length })
}

test('players that come and go are told, each once, and who is there already is not', () => {
  const desk = new Desk()
  const { id, streams } = desk.session(1)
  expect(heardOf(desk)[0]).toBe('founded main 1')
  const [founder] = streams
  lists(desk, founder!, id, 1, 2, 3)
  expect(heardOf(desk)).toEqual(['joined main 2', 'joined main 3'])
  lists(desk, founder!, id, 1, 2, 3)
  expect(heardOf(desk)).toEqual([])
  lists(desk, founder!, id, 1, 3, 4)
  expect(heardOf(desk)).toEqual(['joined main 4', 'left main 2'])
})
