// Goal: own acts on which nobody had agreed when a session was lost count in the world that the
// next one has, or are told to be void; never both.
// Method: members by hand, who come to another session; and whole sessions in virtual time.
import { beforeEach, describe, expect, test } from 'vitest'
import { slots } from '../../packages/holdfast/src/index.ts'
import { world } from '../../packages/sim/src/session-world.ts'
import { shown } from '../../packages/holdfast/src/slots/protocol/fold.ts'
import { carryOver } from '../../packages/holdfast/src/slots/protocol/agreement.ts'
import { createPeer, type Slots, tick } from '../../packages/holdfast/src/slots/protocol/slots.ts'
import { game, hands, hearing, type Heard, member, NOW, part } from './machine.ts'

let out: Heard

beforeEach(() => {
  out = hearing()
})

const { act, tell, later, converse, voids } = hands(() => out)

/** They are in another session, with these numbers; a few slots later. */
function move(by: number, ...all: readonly (readonly [slots: Slots, me: number])[]): void {
  const members = all.map(([, me]) => ({ inc: me, player: me + 100 }))
  const session = 'another'
  for (const [slots, me] of all) {
    part.reset!(slots, out)
    part.view!(slots, NOW, { session, me, mesh: true, primary: 1, members } as never, out)
    part.clock!(slots, 0)
    slots.slot = NOW / game.ms + by
    for (const { inc } of members) {
      const receivedAt = NOW + by * game.ms
      if (inc !== me) slots.peers.set(inc, { ...createPeer(), standing: 'joining', receivedAt })
    }
  }
}

/** Who wants a world has it of somebody who has one. */
function take(from: Slots, to: Slots, now: number): void {
  to.peers.get(from.me)!.standing = 'live'
  to.askAt = -Infinity
  tick(to, game, now, out)
  part.receive!(from, now, to.me, out.sent.at(-1)!.bytes, out)
  part.receive!(to, now, from.me, out.sent.at(-1)!.bytes, out)
  from.peers.get(to.me)!.standing = 'live'
  expect(to.standing).toBe('live')
}

describe('a session is lost, and another found', () => {
  test('M37: whose world goes on has its acts in it; that of the slot under way is void', () => {
    const ada = member(1)
    act(ada, 1)
    later(ada, 2)
    act(ada, 2)
    move(5, [ada, 1])
    tick(ada, game, NOW + 5 * game.ms, out)
    expect(shown(ada, game)).toEqual({ 10: 1 })
    for (let by = 6; by < 20; by++) later(ada, by)
    expect(voids()).toEqual([{ kind: 'slots-discarded', acts: [2] }])
  })

  test('M37: who takes the world of somebody there is told that all of theirs is void', () => {
    const [ada, cy] = [member(1), member(3)]
    act(ada, 1)
    later(ada, 2)
    act(ada, 2)
    move(5, [cy, 1], [ada, 2])
    cy.worlds = []
    cy.validWorlds = 0
    // Nobody was known to have one, so the first begins.
    const now = NOW + 5 * game.ms
    tick(cy, game, now, out)
    expect(cy.standing).toBe('live')
    take(cy, ada, now)
    converse([ada, cy], 6, 40)
    expect(shown(ada, game)).toEqual({})
    expect(voids()).toEqual([{ kind: 'slots-discarded', acts: [1, 2] }])
  })

  test('M37: what another survivor has of us counts in theirs, and is not told to be void', () => {
    const [ada, bea] = [member(1), member(2)]
    act(ada, 1)
    tell(ada, bea)
    later(ada, 2)
    later(bea, 2)
    act(ada, 2)
    move(5, [bea, 1], [ada, 2])
    const now = NOW + 5 * game.ms
    tick(bea, game, now, out)
    expect(bea.standing).toBe('live')
    take(bea, ada, now)
    // The number of Ada is that of Bea now: their acts are not taken for one another's.
    act(bea, 7, now)
    act(bea, 8, now)
    converse([ada, bea], 6, 40)
    expect(shown(ada, game)).toEqual({ 10: 1, 101: 2 })
    expect(voids()).toEqual([{ kind: 'slots-discarded', acts: [2] }])
  })
})

test('M37: who comes back where nobody is left goes on with its world, and what is in it counts (PR-2)', () => {
  const ada = member(1, 1)
  act(ada, 1)
  later(ada, 2)
  act(ada, 2)
  const view = { session: 'a', me: 4, mesh: true, primary: 4, members: [{ inc: 4, player: 10 }] }
  part.view!(ada, NOW, view as never, out)
  expect(ada.standing).toBe('joining')
  for (let by = 5; by < 80; by++) later(ada, by)
  expect([ada.standing, shown(ada, game)]).toEqual(['live', { 10: 1 }])
  expect(voids()).toEqual([{ kind: 'slots-discarded', acts: [2] }])
})

test('M37: who comes to another session has the world there, and is told what is void', async () => {
  const w = world({ seed: 4, conditions: 'rtt=40' })
  const rule = (before: number[], acts: readonly { act: number }[]): number[] =>
    acts.length === 0 ? before : [...before, ...acts.map((one) => one.act)]
  const List = slots('list', { ms: 200, start: [] as number[], rule })
  const join = async (name: string) => {
    const session = await w.join({ game: 'maze', name, types: [List] })
    const maze = session.part(List)
    const left: number[] = []
    maze.on('void', (acts) => void left.push(...(acts as number[])))
    await w.runUntil(() => maze.status === 'live', 10_000)
    return { session, maze, left }
  }
  const [ada, grace, alice] = [await join('Ada'), await join('Grace'), await join('Alice')]
  await w.run(3_000)
  const mend = w.partition([[w.nodeOf(alice.session)]])
  await w.run(500)
  alice.maze.act(7)
  await w.run(20_000)
  for (const { session } of [ada, grace]) w.kill(session)
  await w.run(30_000)
  const bob = await join('Bob')
  bob.maze.act(1)
  await w.run(1_000)
  mend()
  await w.runUntil(() => alice.maze.status === 'live' && alice.maze.state.includes(1), 60_000)
  await w.run(10_000)
  expect([bob.maze.state, alice.maze.state, alice.left]).toEqual([[1], [1], [7]])
})

test('M37: a number of any member takes another name into the next session, once (PR-2)', () => {
  const ada = member(1)
  const [least, last] = [1, 2 ** 32 - 1]
  Object.assign(ada, { seed: 5 })
  act(ada)
  for (const inc of [least, last]) ada.tallies.set(inc, { upTo: 1, gaps: [] })
  const { tallies, unsure } = carryOver(ada)
  expect([...tallies.keys()]).toEqual([least, last].map((inc) => 6 * 2 ** 32 + inc))
  expect(unsure.map(({ inc }) => inc)).toEqual([6 * 2 ** 32 + least])
  // What was owed before is owed under the name that it has.
  const again = carryOver({ ...ada, seed: 9, tallies, unsure })
  expect([...again.tallies.keys()]).toEqual([6 * 2 ** 32 + least])
})
