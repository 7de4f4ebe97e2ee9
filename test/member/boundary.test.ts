// Goal: nothing that comes ends a process or leaves it in a state that was changed by half: what
// throws is caught, counted and named, and costs the one message, or the one member.
// Method: whole sessions in virtual time, in which a verb of a part is made to throw.
import { describe, expect, test } from 'vitest'
import { action, type Reported } from '../../packages/holdfast/src/index.ts'
import { ACTIONS_CHANNEL } from '../../packages/holdfast/src/actions/protocol/actions.ts'
import type { Part } from '../../packages/holdfast/src/kind/protocol/part.ts'
import type { InternalSession as Session } from '../../packages/holdfast/src/join/session-impl.ts'
import { type SessionWorld, world } from '../../packages/sim/src/session-world.ts'
import * as dispatch from '../../packages/holdfast/src/member/dispatch.ts'
import * as member from '../../packages/holdfast/src/member/member.ts'
import { mountOf } from '../../packages/holdfast/src/member/state.ts'
import { Bare } from './bare.ts'

const add = action('add', (table, { by }: { by: number }) => {
  const sum = ((table.get('sum') as number | undefined) ?? 0) + by
  table.set('sum', sum)
  return sum
})
const duel = { game: 'duel', types: [add] }

interface Cluster {
  w: SessionWorld
  all: Session[]
  /** What each named, by its number in `all`. */
  named: string[][]
}

async function cluster(seed: number): Promise<Cluster> {
  const w = world({ seed, conditions: 'rtt=20' })
  const all: Session[] = []
  const named: string[][] = []
  for (const name of ['Ada', 'Grace', 'Linus']) {
    const session = await w.join({ ...duel, name })
    const words: string[] = []
    session.on(
      'error',
      ({ where, error }: Reported) => void words.push(`${where} ${String(error)}`),
    )
    all.push(session)
    named.push(words)
  }
  await w.runUntil(() => all.every(({ safety }) => safety === 'backed-up'), 10_000)
  return { w, all, named }
}

/** From now on that verb throws, so many times. The part is this member's own. */
function sabotage(session: Session, verb: keyof Part<never>, times = 1): void {
  const slot = mountOf(session.member!, ACTIONS_CHANNEL)!
  const { part } = slot
  const run = part[verb] as (...given: unknown[]) => unknown
  const spoilt = (...given: unknown[]): unknown => {
    if (times-- > 0) throw new RangeError('planted')
    return Reflect.apply(run, part, given)
  }
  Object.assign(slot, { part: { ...part, [verb]: spoilt } })
}

async function done(w: SessionWorld, session: Session, by: number): Promise<string> {
  let said = 'nothing'
  void session.act(add, { by }).then((outcome) => {
    said = outcome.ok ? `${String(outcome.value)}` : outcome.code
  })
  await w.runUntil(() => said !== 'nothing', 15_000)
  return said
}

const threw = ({ all }: Cluster): number[] => all.map((session) => session.debug.figures().threw)
const BY_ROLE = ['backedup', 'backup', 'idle'] as const
const inRole = ({ all }: Cluster, role: (typeof BY_ROLE)[number]): Session => {
  return all.find((session) => session.debug.figures().role === role)!
}

describe('what a message makes the machine throw (N-3)', () => {
  test('outside of a change costs that message: it is counted and named, and all goes on (N-3)', async () => {
    const made = await cluster(51)
    const { w, all, named } = made
    const client = inRole(made, 'idle')
    sabotage(client, 'receive')
    expect(await done(w, all[0]!, 1)).toBe('1')
    expect(await done(w, client, 2)).toBe('3')
    await w.run(2_000)
    expect(threw(made).toSorted((a, b) => a - b)).toEqual([0, 0, 1])
    expect(named.flat()).toEqual(['holdfast, at a message, RangeError: planted'])
    expect(all.map(({ status }) => status)).toEqual(['live', 'live', 'live'])
  })

  test('as it performs an operation costs that operation, which nobody performs (N-3)', async () => {
    const made = await cluster(52)
    const { w, all } = made
    sabotage(inRole(made, 'backedup'), 'perform')
    expect(await done(w, inRole(made, 'idle'), 1)).not.toBe('1')
    expect(await done(w, inRole(made, 'idle'), 2)).toBe('2')
    expect(threw(made).reduce((sum, one) => sum + one)).toBe(1)
    expect(all.map(({ status }) => status)).toEqual(['live', 'live', 'live'])
  })

  test('as the server records an entry ends its service: the backup goes on with all that was told (N-3)', async () => {
    const made = await cluster(53)
    const { w, all } = made
    const [server, backup, client] = BY_ROLE.map((role) => inRole(made, role)) as [
      Session,
      Session,
      Session,
    ]
    expect(await done(w, client, 1)).toBe('1')
    sabotage(server, 'apply')
    expect(await done(w, client, 2)).toBe('3')
    expect([server.status, server.code]).toEqual(['lost', 'broken'])
    expect(server.reason).toMatch(
      /^an error in Holdfast at .*RangeError: planted; this member served, and gave up$/,
    )
    expect(client.primary?.inc).toBe(backup.me.inc)
    expect([client.table.get('sum'), backup.table.get('sum')]).toEqual([3, 3])
    // Its process goes on, and its player may come back.
    const again = await w.join({ ...duel, name: 'again', token: server.token })
    expect([again.me.player, again.table.get('sum')]).toEqual([server.me.player, 3])
    expect(all.length).toBe(3)
  })

  test('as the backup takes an entry makes it come back with a copy of its own (N-3)', async () => {
    const made = await cluster(54)
    const { w, all } = made
    const [server, backup, client] = BY_ROLE.map((role) => inRole(made, role)) as [
      Session,
      Session,
      Session,
    ]
    const { inc, player } = backup.me
    sabotage(backup, 'apply')
    expect(await done(w, client, 2)).toBe('2')
    await w.runUntil(() => backup.status === 'live' && backup.me.inc !== inc, 10_000)
    expect([backup.me.player, backup.me.inc > inc]).toEqual([player, true])
    await w.runUntil(() => server.safety === 'backed-up', 10_000)
    w.kill(server)
    expect(await done(w, client, 3)).toBe('5')
    expect(all.map(({ status }) => status)).toContain('live')
  })

  test('again and again, as it takes views, ends the session of that member, with the reason (N-3)', async () => {
    const made = await cluster(55)
    const { w } = made
    const client = inRole(made, 'idle')
    sabotage(client, 'view', 99)
    await w.join({ ...duel, name: 'newcomer' })
    await w.runUntil(() => client.status === 'lost', 20_000)
    expect(client.code).toBe('broken')
    expect(client.reason).toMatch(/planted; it happened again and again, and gave up$/)
    expect(await done(w, inRole(made, 'backedup'), 1)).toBe('1')
  })

  test('by the clock, for ever, keeps nothing else from its turn, and does not spin (N-3)', async () => {
    const made = await cluster(56)
    const { w } = made
    const client = inRole(made, 'idle')
    sabotage(client, 'wake', Infinity)
    const { events } = w.counters
    await w.run(10_000)
    expect(w.counters.events - events).toBeLessThan(20_000)
    expect(client.debug.figures().threw).toBeLessThan(10_000 / 50 + 1)
    expect(await done(w, client, 1)).toBe('1')
  })

  test('by the clock, is due again only after a moment (N-3)', () => {
    const { run } = new Bare()
    Object.assign(run.ports, { threw: () => {} })
    Object.assign(run.member, { phase: 'in', sweepAt: 0 })
    dispatch.guard(run, 'the clock', () => {
      throw new RangeError('planted')
    })
    expect(member.deadline(run)).toBe(run.now + 50)
  })
})
