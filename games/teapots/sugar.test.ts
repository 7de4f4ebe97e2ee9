// Goal: lumps of sugar belong to whoever bumped them last, are laid once, and outlive everybody.
// Method: whole sessions in virtual time, pots that are put where they bump, one clock for all.
import type { Session } from 'holdfast'
import { type SessionWorld, world } from 'holdfast/sim'
import { describe, expect, test } from 'vitest'
import { SessionCourt } from './court.ts'
import { POT_RADIUS } from './rules/arena.ts'
import { HOMES, LUMP_HALF, lumpAt } from './rules/lumps.ts'
import { distance } from './rules/plane.ts'
import { bodyAt, STEP_MS } from './rules/pot.ts'
import { decisions, Lump, Pot, typesOf } from './rules/things.ts'
import { Seat } from './seat.ts'
import { Sugar } from './sugar.ts'
import type { LumpHandle } from './views.ts'
import { lull, playerOf } from './whose.ts'

interface Guest {
  session: Session
  sugar: Sugar
  /** Null for who only watches. */
  seat: Seat | null
}

async function arrive(w: SessionWorld, name: string, sits = true, token?: string): Promise<Guest> {
  const court = new SessionCourt()
  const decided = decisions(court)
  const session = await w.join({ game: 'teapots', name, token, types: typesOf(decided) })
  court.session = session
  session.all(Pot).subscribe(() => lull(session))
  const sugar = new Sugar(session)
  return { session, sugar, seat: sits ? new Seat(session, decided, sugar, 1) : null }
}

async function run(w: SessionWorld, guests: readonly Guest[], ms: number): Promise<void> {
  for (let past = 0; past < ms; past += STEP_MS) {
    await w.run(STEP_MS)
    for (const { seat, sugar } of guests) (seat ?? sugar).advance(w.now())
  }
}

/** Runs until that is so. */
async function until(w: SessionWorld, guests: readonly Guest[], is: () => boolean): Promise<void> {
  for (let i = 0; i < 600 && !is(); i++) await run(w, guests, STEP_MS)
  expect(is()).toBe(true)
}

function lumpOf({ session }: Guest, home: number): LumpHandle {
  return session.all(Lump).find(({ state }) => state.home === home)!
}

/** Puts the pot of a guest where it runs into that lump, from outside. */
function aimAt(guest: Guest, home: number): void {
  const [x, y] = lumpOf(guest, home).state.pos
  const far = POT_RADIUS + LUMP_HALF + 0.5
  const out = Math.sign(x) || 1
  guest.seat!.body = { ...bodyAt([x + out * far, y]), vel: [-out * 6, 0] }
}

function ownersOf({ session }: Guest): string {
  const all = session.all(Lump).map(({ state, owner, away, version }) => {
    return `${state.home} ${away ? 'away' : owner?.player} ${version.epoch}.${version.count}`
  })
  return all.sort().join(', ')
}

function placesOf({ session }: Guest): string {
  const all = session.all(Lump).map(({ state }) => `${state.home} ${state.pos.join('/')}`)
  return all.sort().join(', ')
}

const WEATHER = 'rtt=60,loss=2%,jitter=10'

describe('lumps', { timeout: 60_000 }, () => {
  test('B28: who bumps a lump owns it, and all see it slide, lie still and be the same', async () => {
    const w = world({ seed: 4, conditions: WEATHER })
    const ada = await arrive(w, 'Ada', false)
    await run(w, [ada], 1_500)
    const grace = await arrive(w, 'Grace')
    const linus = await arrive(w, 'Linus')
    const all = [ada, grace, linus]
    await until(w, all, () => all.every(({ session }) => session.all(Lump).length === HOMES.length))
    expect(all.map((guest) => lumpOf(guest, 4).owner!.name)).toEqual(['Ada', 'Ada', 'Ada'])
    const before = lumpOf(grace, 4).state.pos

    aimAt(grace, 4)
    // Who pushes sees it move at once, before anybody has said that it is theirs.
    const lump = lumpOf(grace, 4)
    const seen = (): number =>
      grace.sugar.sights.find(({ handle }) => handle === lump)?.lump.pos[0] ?? Infinity
    await until(w, all, () => seen() < before[0] - 0.1)
    expect(lump.mine).toBe(false)
    await until(w, all, () => all.every((guest) => lumpOf(guest, 4).owner?.name === 'Grace'))
    await run(w, all, 3_000)
    expect(new Set(all.map(placesOf)).size).toBe(1)
    expect(new Set(all.map(ownersOf)).size).toBe(1)
    expect(lumpOf(linus, 4).state.pos[0]).toBeLessThan(before[0] - 0.3)
    expect(lumpOf(linus, 4).version.count).toBe(1)
    expect(grace.sugar.touched).toBe(lumpOf(grace, 4))
  })

  test('B17: of lumps that lie still nothing is said', async () => {
    const w = world({ seed: 5, conditions: WEATHER })
    const ada = await arrive(w, 'Ada', false)
    const grace = await arrive(w, 'Grace', false)
    await run(w, [ada, grace], 3_000)
    let changes = 0
    grace.session.all(Lump).subscribe(() => changes++)
    await run(w, [ada, grace], 3_000)
    expect(changes).toBe(0)
    expect(grace.session.all(Lump)).toHaveLength(HOMES.length)
  })

  test('B30: two that bump one lump at once do not both get it', async () => {
    const w = world({ seed: 6, conditions: WEATHER })
    const ada = await arrive(w, 'Ada', false)
    const grace = await arrive(w, 'Grace')
    const linus = await arrive(w, 'Linus')
    const all = [ada, grace, linus]
    await until(w, all, () => all.every(({ session }) => session.all(Lump).length === HOMES.length))
    const [x, y] = lumpOf(ada, 4).state.pos
    const far = POT_RADIUS + LUMP_HALF + 0.3
    grace.seat!.body = { ...bodyAt([x, y + far]), vel: [0, -6] }
    linus.seat!.body = { ...bodyAt([x, y - far]), vel: [0, 6] }
    await run(w, all, 400)
    for (let i = 0; i < 60; i++) {
      await run(w, all, STEP_MS)
      // Who lost it hears of that a little later; each version of it is one member's alone.
      const owned = all.map((guest) => lumpOf(guest, 4)).filter(({ mine }) => mine)
      const versions = owned.map(({ version: { epoch, count } }) => `${epoch}.${count}`)
      expect(new Set(versions).size).toBe(versions.length)
    }
    await run(w, all, 3_000)
    expect(new Set(all.map(ownersOf)).size).toBe(1)
    expect(new Set(all.map(placesOf)).size).toBe(1)
  })

  test('B26: the server is killed: its lumps stay, none is laid twice, and its pot sleeps', async () => {
    const w = world({ seed: 7, conditions: WEATHER })
    const ada = await arrive(w, 'Ada')
    const grace = await arrive(w, 'Grace')
    const linus = await arrive(w, 'Linus', false)
    const all = [ada, grace, linus]
    await until(w, all, () => all.every(({ session }) => session.all(Lump).length === HOMES.length))
    await until(w, all, () => all.every(({ session }) => session.safety === 'backed-up'))
    ada.seat!.body = { ...ada.seat!.body, vel: [3, 3] }
    await run(w, all, 100)
    const ids = linus.session.all(Lump).map(({ id }) => id)
    w.kill(ada.session)
    const left = [grace, linus]
    const waits = ({ session }: Guest): boolean => session.all(Pot).some(({ away }) => away)
    await until(w, left, () => left.every(waits))
    await run(w, left, 4_000)
    for (const guest of left) {
      expect(guest.session.all(Lump).map(({ id }) => id)).toEqual(ids)
      const asleep = guest.session.all(Pot).filter(({ away }) => away)
      expect(asleep.map(playerOf)).toEqual([1])
      expect(asleep[0]!.state.vel).toEqual([0, 0])
      expect(lumpOf(guest, 0).away).toBe(true)
    }
    // Whoever bumps one of those owns it, and it waits for nobody.
    aimAt(grace, 5)
    expect(grace.session.primary).toBe(grace.session.me)
    await until(w, left, () => left.every((guest) => !lumpOf(guest, 5).away))
    expect(lumpOf(linus, 5).owner!.name).toBe('Grace')
    expect(new Set(left.map(ownersOf)).size).toBe(1)
  })

  test('of two that were laid in one place the younger goes', async () => {
    const w = world({ seed: 9, conditions: WEATHER })
    const ada = await arrive(w, 'Ada', false)
    const grace = await arrive(w, 'Grace', false)
    const both = [ada, grace]
    await until(w, both, () => both.every(({ session }) => session.all(Lump).length > 0))
    const id = lumpOf(ada, 3).id
    const double = grace.session.create(Lump, { ...lumpAt(3), home: 3 })
    await until(w, both, () => !double.alive)
    await run(w, both, 2_000)
    for (const guest of both) {
      expect(guest.session.all(Lump)).toHaveLength(HOMES.length)
      expect(lumpOf(guest, 3).id).toBe(id)
    }
  })

  test('a player who comes back in another process has one pot, and the lumps of before', async () => {
    const w = world({ seed: 8, conditions: WEATHER })
    const ada = await arrive(w, 'Ada', false)
    const grace = await arrive(w, 'Grace')
    const both = [ada, grace]
    await until(w, both, () => both.every(({ session }) => session.all(Lump).length > 0))
    aimAt(grace, 4)
    await until(w, both, () => both.every((guest) => lumpOf(guest, 4).owner?.name === 'Grace'))
    const { token } = grace.session
    const { id, state } = grace.seat!.pot
    w.kill(grace.session)
    await until(w, [ada], () => lumpOf(ada, 4).away)
    const again = await arrive(w, 'Grace', true, token)
    const now = [ada, again]
    await until(w, now, () => lumpOf(ada, 4).owner?.name === 'Grace' && !lumpOf(ada, 4).away)
    await run(w, now, 1_000)
    for (const guest of now) {
      const [pot, ...more] = guest.session.all(Pot)
      expect(more).toEqual([])
      expect([pot!.id, pot!.away]).toEqual([id, false])
      expect(distance(pot!.state.pos, state.pos)).toBeLessThan(0.5)
      expect(guest.session.all(Lump)).toHaveLength(HOMES.length)
    }
    expect(again.session.me.player).toBe(2)
  })
})
