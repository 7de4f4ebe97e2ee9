// Goal: how members are found, kept and given up, as the source has it, on whole sessions.
// Method: whole sessions in virtual time; processes die without a word, and paths are cut.
import type { InternalSession as Session } from '../../packages/holdfast/src/join/session-impl.ts'
import { describe, expect, test } from 'vitest'
import { action, object, u8 } from '../../packages/holdfast/src/index.ts'
import {
  type FromHub,
  fromHub,
  HUB_VERSION,
  type ToHub,
  toHub,
} from '../../packages/holdfast/src/hub-protocol/messages.ts'
import { leadOf } from '../../packages/holdfast/src/session/state.ts'
import { HUB_URL, type SessionWorld, world } from '../../packages/sim/src/session-world.ts'
import { decode, encode } from '../../packages/holdfast/src/wire/layout.ts'
import { frameMessage, readFrame } from '../../packages/holdfast/src/wire/relay.ts'

const GRACE_MS = 60_000
const PASS_OVER_MS = 10_000
const REMOVE_MS = 10_000

const Dot = object('dot', { hue: u8 })
const add = action('add', (table) => {
  const sum = ((table.get('sum') as number | undefined) ?? 0) + 1
  table.set('sum', sum)
  return sum
})
const duel = { game: 'duel', types: [Dot, add] }
const NAMES = ['Ada', 'Grace', 'Linus', 'Edsger']

interface Cluster {
  w: SessionWorld
  all: Session[]
}

async function cluster(
  seed: number,
  count: number,
  tabs: readonly string[] = [],
): Promise<Cluster> {
  const w = world({ seed, conditions: 'rtt=20' })
  const all: Session[] = []
  for (const name of NAMES.slice(0, count)) {
    const kind = tabs.includes(name) ? 'browser' : 'node'
    all.push(await w.join({ ...duel, name }, { name, kind }))
  }
  await w.runUntil(() => all.every((session) => session.safety === 'backed-up'), 10_000)
  await w.run(2_000)
  return { w, all }
}

const linkOf = (session: Session, to: Session): object =>
  session.member!.peers.get(to.me.inc)!.link!

const names = (session: Session): string[] => session.members.map(({ name }) => name)

describe('the directory', () => {
  test('T6, T19: by its address alone one lists the games that are on, and joins them', async () => {
    const { w, all } = await cluster(1, 2)
    const came: FromHub[] = []
    const say = (message: ToHub): void => void stream.send(frameMessage(encode(toHub, message)))
    const stream = w.sim.node('stranger').connect(HUB_URL, {
      opened: () => {
        say({ kind: 'hello', version: HUB_VERSION })
        say({ kind: 'list', request: 1, game: 'duel', after: '' })
      },
      message: (bytes) => {
        const frame = readFrame(bytes)
        if (frame?.kind === 'message') came.push(decode(fromHub, frame.bytes)!)
      },
      closed: () => {},
    })
    await w.runUntil(() => came.at(-1)?.kind === 'last', 2_000)
    const id = all[0]!.member!.session.id
    expect(came.slice(2)).toMatchObject([
      { kind: 'entry', entry: { session: id, players: 2, game: 'duel', room: 'main' } },
      { kind: 'last' },
    ])
    // `join` of a world gives a newcomer that address and none of a member.
    const late = await w.join({ ...duel, name: 'Late' })
    expect(names(late)).toEqual(['Ada', 'Grace', 'Late'])
  })

  test('T40: every member knows where each can be reached: its own addresses, a tab by the hub (PR-3)', async () => {
    const { all } = await cluster(2, 4, ['Linus'])
    const own = all.map(({ member }) => member!.options.addresses)
    expect(own.map((list) => list.length > 0)).toEqual([true, true, false, true])
    expect(new Set(own.flat()).size).toBe(3)
    for (const { member } of all) {
      const { members } = member!.session.client.view
      expect(members.map(({ addresses }) => addresses)).toEqual(own)
    }
  })
})

describe('a change of role', () => {
  test('T12: the standby has links to all, and serves over the same ones', async () => {
    const { w, all } = await cluster(3, 4)
    const [ada, grace, linus, edsger] = all as [Session, Session, Session, Session]
    expect(ada.backup!.name).toBe('Grace')
    const stood = [linkOf(grace, linus), linkOf(grace, edsger)]
    w.kill(ada)
    expect(await w.runUntil(() => linus.primary!.name === 'Grace', 5_000)).toBe(true)
    const outcome = linus.act(add, {})
    await w.run(1_000)
    expect(await outcome).toEqual({ ok: true, value: 1 })
    expect(linkOf(grace, linus)).toBe(stood[0])
    expect(linkOf(grace, edsger)).toBe(stood[1])
  })

  test('T7: at rest the backup has all that the primary has, row for row', async () => {
    const { w, all } = await cluster(4, 3)
    for (let i = 0; i < 20; i++) void all[i % 3]!.act(add, {})
    await w.run(1_000)
    const [ada, grace] = all.map(({ member }) => member!.session.server) as [Server, Server]
    expect(grace.role).toBe('backup')
    expect([...ada.durable.players.values()].map(({ lastSeq }) => lastSeq)).toEqual([7, 7, 6])
    expect(grace.durable).toEqual(ada.durable)
    expect(all[1]!.table.get('sum')).toBe(20)
  })

  test('T37: who is asked to be backup and does not answer is passed over (PR-4)', async () => {
    const w = world({ seed: 5, conditions: 'rtt=20' })
    const ada = await w.join({ ...duel, name: 'Ada' })
    const grace = await w.join({ ...duel, name: 'Grace' })
    const { session } = ada.member!
    // The hub knows of its stream, so it may be asked.
    await w.runUntil(() => grace.member!.hub === 'attached', 1_000)
    w.kill(grace, { silent: true })
    expect(session.server.role).toBe('alone')
    await w.join({ ...duel, name: 'Linus' })
    expect(await w.runUntil(() => ada.safety === 'backed-up', PASS_OVER_MS)).toBe(true)
    expect([ada.backup!.name, names(ada)]).toEqual(['Linus', ['Ada', 'Grace', 'Linus']])
    expect([...leadOf(session).passedOver.keys()]).toEqual([grace.me.inc])
  })
})

describe('who is not heard any more', () => {
  test('T31: is removed, told nothing more, and the others no longer show what was theirs', async () => {
    const { w, all } = await cluster(6, 3)
    const [ada, grace, linus] = all as [Session, Session, Session]
    linus.create(Dot, { hue: 3 })
    await w.run(1_000)
    expect([ada, grace].map((one) => one.all(Dot).length)).toEqual([1, 1])
    const { inc } = linus.me
    w.kill(linus, { silent: true })
    await w.run(REMOVE_MS - 1_000)
    expect([ada, grace].map((one) => one.members.length)).toEqual([3, 3])
    await w.run(2_000)
    expect([ada, grace].map(names)).toEqual([NAMES.slice(0, 2), NAMES.slice(0, 2)])
    expect(ada.member!.peers.get(inc)?.link ?? null).toBe(null)
    // What was theirs waits for them, as long as they may come back as the same player.
    expect([ada, grace].map((one) => one.all(Dot)[0]!.away)).toEqual([true, true])
    await w.run(GRACE_MS)
    expect([ada, grace].map((one) => one.all(Dot).length)).toEqual([0, 0])
  })

  test('T67: both ends time out: it is removed there, and knows here that it is cut off', async () => {
    const { w, all } = await cluster(7, 3)
    const linus = all[2]!
    w.partition([['Linus']])
    expect(await w.runUntil(() => linus.status === 'reconnecting', REMOVE_MS)).toBe(true)
    expect(names(all[0]!)).toEqual(NAMES.slice(0, 3))
    expect(await w.runUntil(() => all[0]!.members.length === 2, REMOVE_MS + 1_000)).toBe(true)
  })

  test('T32: a member whose process is gone is removed long before its time', async () => {
    const { w, all } = await cluster(8, 4)
    w.kill(all[3]!)
    expect(await w.runUntil(() => all[0]!.members.length === 3, 1_000)).toBe(true)
  })
})

test('T45: of each member the server has identity, numbers, when it was heard, and its link', async () => {
  const { w, all } = await cluster(9, 3)
  const [ada, , linus] = all as [Session, Session, Session]
  await w.run(1_000)
  const { server, detectors: watches } = ada.member!.session
  const { inc, player } = linus.me
  expect(server.durable.members.get(inc)).toMatchObject({ inc, player, name: 'Linus' })
  expect(server.durable.players.has(player)).toBe(true)
  const heard = watches.get(inc)!.lastReceived
  expect(linkOf(ada, linus)).toBeTruthy()
  await w.run(1_000)
  expect(watches.get(inc)!.lastReceived).toBeGreaterThan(heard + 500)
})

test('T44: who cannot reach the server, which nobody may replace, goes on trying until it can', async () => {
  const { w, all } = await cluster(10, 3)
  const linus = all[2]!
  w.killHub()
  await w.run(100)
  const mend = w.partition([['Linus']])
  let outcome: unknown = null
  void linus.act(add, {}).then((told) => (outcome = told))
  await w.run(5_000)
  expect([outcome, linus.primary!.name]).toEqual([null, 'Ada'])
  mend()
  expect(await w.runUntil(() => outcome !== null, 2_000)).toBe(true)
  expect([outcome, all[0]!.table.get('sum')]).toEqual([{ ok: true, value: 1 }, 1])
})

type Server = NonNullable<Session['member']>['session']['server']
