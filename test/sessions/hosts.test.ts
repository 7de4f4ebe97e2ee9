// Goal: in a room of hosts nobody serves whom the hub did not admit as one, whatever it says of
// itself; and into a closed room nobody comes without a ticket.
// Method: whole sessions in virtual time; tickets of the simulator, which nobody signs.
import { describe, expect, test } from 'vitest'
import { RIGHTS } from '../../packages/holdfast/src/machine.ts'
import type { JoinOptions, Session } from '../../packages/holdfast/src/index.ts'
import { type SessionWorld, world, toyTicket } from '../../packages/sim/src/session-world.ts'

const hosted = { game: 'inn', primaries: 'hosts' } as const
let tickets = 0

/** A ticket of its own. */
function ticket(rights: readonly ('play' | 'host')[], more: { uses?: number; room?: string } = {}) {
  const bits = rights.reduce<number>((sum, one) => sum | RIGHTS[one], RIGHTS.play)
  const { uses = 1, room = null } = more
  return toyTicket({ game: 'inn', room, rights: bits, id: `t${++tickets}`, uses })
}

const host = (): JoinOptions => ({ ...hosted, ticket: ticket(['host']) })

/** What came of joining: the session, or code and sentence. */
async function met(w: SessionWorld, options: JoinOptions): Promise<string> {
  return w.join(options).then(
    () => 'in',
    ({ code, message }: { code: string; message: string }) => `${code}: ${message}`,
  )
}

async function entered(w: SessionWorld, session: Promise<Session>): Promise<Session> {
  let isIn = false
  void session.then(() => (isIn = true))
  await w.runUntil(() => isIn, 20_000)
  return session
}

describe('a room of hosts', () => {
  test('is served by who was admitted as host alone, and others wait for one (SE-4)', async () => {
    const w = world({ seed: 3, conditions: 'rtt=20' })
    let isIn = false
    // On Node, and says so; but nobody signed that it is a host.
    const player = w.join({ ...hosted, name: 'Player' }, { kind: 'node' })
    void player.then(() => (isIn = true))
    await w.run(3_000)
    expect(isIn).toBe(false)
    const first = await w.join({ ...host(), name: 'Host' }, { kind: 'browser' })
    const guest = await entered(w, player)
    await w.run(3_000)
    expect(guest.primary?.name).toBe('Host')
    expect([guest.backup, guest.safety]).toEqual([null, 'alone'])
    const second = await w.join({ ...host(), name: 'Second' })
    await w.runUntil(() => guest.backup?.name === 'Second', 20_000)
    w.kill(first)
    await w.runUntil(() => guest.primary?.name === 'Second', 20_000)
    await w.run(3_000)
    expect(second.backup).toBe(null)
    // With the last host nobody of the players takes its place, nor recovers the session.
    w.kill(second)
    await w.run(60_000)
    expect(guest.status).not.toBe('live')
  })

  test('a ticket to play makes nobody a host, and another game’s none at all (SE-4)', async () => {
    const w = world({ seed: 4 })
    const there = 'the hub did not open inn/main at ws://hub/hub: nobody serves it within 15 s'
    expect(await met(w, { ...hosted, ticket: ticket(['play']) })).toBe(`timeout: ${there}`)
    const elsewhere = { ...hosted, game: 'other', ticket: ticket(['host']) }
    expect(await met(w, elsewhere)).toBe('forbidden: the ticket is for inn')
    const room = { ...hosted, ticket: ticket(['host'], { room: 'attic' }) }
    expect(await met(w, room)).toBe('forbidden: the ticket is for inn/attic')
    expect(await met(w, { ...hosted, ticket: 'a.b.c' })).toBe('forbidden: the ticket is no toy')
  })

  test('a host that comes back is one without a new ticket, also to a hub that began anew (SE-4)', async () => {
    const w = world({ seed: 5, conditions: 'rtt=20' })
    const one = await w.join({ ...host(), name: 'One' })
    const two = await w.join({ ...host(), name: 'Two' })
    await w.runUntil(() => one.safety === 'backed-up', 20_000)
    w.killHub()
    await w.run(500)
    w.restartHub()
    await w.run(5_000)
    const { token } = two
    w.kill(two)
    await w.runUntil(() => one.backup === null, 20_000)
    const again = await w.join({ ...hosted, token, name: 'Two' })
    await w.runUntil(() => one.backup?.name === 'Two', 20_000)
    expect(again.me.player).toBe(two.me.player)
  })

  test('who names other primaries does not fit', async () => {
    const w = world({ seed: 6 })
    await w.join({ ...host(), name: 'Host' })
    await expect(w.join({ game: 'inn', name: 'Guest' })).rejects.toMatchObject({ code: 'schema' })
    const odd = w.join({ game: 'inn', primaries: 'some' as never })
    await expect(odd).rejects.toMatchObject({ code: 'bad-value' })
  })
})

describe('a closed room', () => {
  const closed = ['inn']
  const inn = { game: 'inn' } as const

  test('is entered by ticket, once for each player that it is for (SE-18)', async () => {
    const w = world({ seed: 7, closed })
    expect(await met(w, inn)).toBe('forbidden: rooms of inn take a ticket')
    const ada = await w.join({ ...inn, name: 'Ada', ticket: ticket(['play']) })
    const two = { ...inn, ticket: ticket(['play'], { uses: 2 }) }
    expect([await met(w, two), await met(w, two)]).toEqual(['in', 'in'])
    expect(await met(w, two)).toBe('forbidden: the ticket was used 2 times')
    expect(ada.members).toHaveLength(3)
    expect(await met(w, { game: 'garden' })).toBe('in')
  })

  test('a player that came in comes back by its token, though its ticket is used (SE-18)', async () => {
    const w = world({ seed: 8, closed, conditions: 'rtt=20' })
    const ada = await w.join({ ...inn, name: 'Ada', ticket: ticket(['play']) })
    const once = ticket(['play'])
    const bob = await w.join({ ...inn, name: 'Bob', ticket: once })
    const { token, me } = bob
    w.kill(bob)
    await w.runUntil(() => ada.members.length === 1, 20_000)
    expect(await met(w, { ...inn, name: 'Eve', ticket: once })).toBe(
      'forbidden: the ticket was used',
    )
    for (const again of [{ token }, { token, ticket: once }]) {
      const back = await w.join({ ...inn, name: 'Bob', ...again })
      expect(back.me.player).toBe(me.player)
    }
  })

  test('what is no ticket is refused before anybody is asked', async () => {
    const w = world({ seed: 9, closed })
    for (const odd of ['a', 'a.b', 'a.b.c!', 'x'.repeat(2_049), 7 as never]) {
      expect(await met(w, { ...inn, ticket: odd })).toMatch(
        /^bad-value: ticket is what mintTicket, /,
      )
    }
  })
})
