// Goal: what was acknowledged to a player who is alone in a kept room is there for whoever opens
// it next, whichever processes are killed, and when; and what shows that would show a bug.
// Method: SIGKILL at random moments to players, hubs and both; real files; mutants.
// Slow: each kill starts processes anew, and a hub waits some seconds for who was killed.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { bundle, type Plant } from './bundle.ts'
import { type Killed, killKept, KeptLife } from './kept-kill.ts'
import { Spares } from './lives.ts'

const KILLS = 8

/**
 * Rooms, each with a hub, at a time; every other player keeps the room itself.
 *
 * @param judge  what becomes of them
 */
async function inLanes<Value>(
  lanes: number,
  kills: number,
  plant: Plant | null,
  judge: (all: Promise<Killed>[]) => Promise<Value>,
): Promise<Value> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-kept-'))
  const script = await bundle(
    'test/conformance/kept-life.ts',
    join(folder, 'life'),
    ...(plant ? [plant] : []),
  )
  const spares = new Spares(script, lanes, (child) => new KeptLife(child))
  const all = Array.from({ length: lanes }, (_none, seed) => {
    const own = mkdtempSync(join(folder, 'hub-'))
    return killKept({ spares, folder: own, kills, seed: seed + 1 })
  })
  try {
    return await judge(all)
  } finally {
    await spares.end()
    await Promise.all(all)
    rmSync(folder, { recursive: true })
  }
}

test('AP-1: a lone player and its hub are killed again and again: what was acknowledged is there', async () => {
  const all = await inLanes(4, KILLS, null, (rooms) => Promise.all(rooms))
  expect(all.flatMap(({ wrong }) => wrong)).toEqual([])
  for (const { kills, acks } of all) {
    expect(kills).toBeGreaterThanOrEqual(KILLS)
    expect(acks).toBeGreaterThanOrEqual(KILLS)
  }
})

const PLANTS: readonly (readonly [what: string, plant: Plant])[] = [
  [
    'a player who acknowledges before the hub has it',
    {
      module: 'packages/holdfast/src/session/persistence.ts',
      from: 'return isStrict(session, persistence)',
      to: 'return false',
    },
  ],
  [
    'a hub that says so before its disk has it',
    {
      module: 'packages/hub/src/machine/persistence.ts',
      from: '  room.founder ||= from.account.place\n',
      to: "  answerWaiters(session, [waiter], '', out)\n",
    },
  ],
]

for (const [what, plant] of PLANTS) {
  test(`AP-1: ${what} is found by what was acknowledged`, async () => {
    const first = await inLanes(8, 40, plant, (rooms) => Promise.any(rooms.map(lostOf)))
    expect(first).not.toEqual([])
  })
}

// A kill at a bad moment may show otherwise, too.
async function lostOf(room: Promise<Killed>): Promise<string[]> {
  const { wrong } = await room
  const lost = wrong.filter((why) => why.startsWith('acknowledged is kept: '))
  if (lost.length === 0) throw new Error(`nothing was found that is lost: ${wrong.join('; ')}`)
  return lost
}
