// Goal: of those who went the names are kept that may still be told, and no more.
// Method: a whole session in virtual time, which many enter and leave.
import { world } from 'holdfast/sim'
import { expect, test } from 'vitest'
import { TYPES } from './game.ts'
import { GONE_MAX, Seat } from './seat.ts'

test('names of who went lately are kept, of who went long ago forgotten', async () => {
  const w = world({ seed: 1 })
  const join = (name: string) => w.join({ game: 'mazewar', name, topology: 'mesh', types: TYPES })
  const seat = new Seat(await join('Ada'))
  const players: number[] = []
  for (let guest = 0; guest < GONE_MAX + 3; guest++) {
    const session = await join(`Guest ${guest}`)
    players.push(session.me.player)
    await w.runUntil(() => seat.nameOf(session.me.player) === `Guest ${guest}`, 10_000)
    const left = session.leave()
    await w.runUntil(() => session.status === 'lost', 10_000)
    await left
  }
  const known = players.map((player, guest) => seat.nameOf(player) === `Guest ${guest}`)
  // The last may not be seen to have left yet.
  expect(known.filter(Boolean).length).toBeLessThanOrEqual(GONE_MAX + 1)
  expect(known.slice(-GONE_MAX)).not.toContain(false)
  expect(seat.nameOf(seat.me)).toBe('Ada')
})

test('a rat of the LAN is called in the room what its bridge says, and maps may show all (SL-8)', async () => {
  const w = world({ seed: 2 })
  const join = (name: string) => w.join({ game: 'mazewar', name, topology: 'mesh', types: TYPES })
  const [ada, bridge] = [new Seat(await join('Ada')), new Seat(await join('LAN bridge'))]
  expect([ada.nameOf(480), ada.showsAll]).toEqual(['LAN 480', false])
  bridge.label(480, 'Remy')
  bridge.showAll()
  await w.runUntil(() => ada.nameOf(480) === 'Remy' && ada.showsAll, 10_000)
  expect([ada.nameOf(480), ada.showsAll]).toEqual(['Remy', true])
})
