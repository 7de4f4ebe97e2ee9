// Goal: nothing a failure can take: a player comes back as the same, a role changes hands without
// a pause, and when server and backup die at once what anybody saw goes on.
// Method: whole sessions in virtual time.
import type { InternalSession as Session } from '../../packages/holdfast/src/join/session-impl.ts'
import { describe, expect, test } from 'vitest'
import {
  action,
  type JoinOptions,
  object,
  type SessionEvents,
  text,
  u8,
} from '../../packages/holdfast/src/index.ts'
import { type Place, type SessionWorld, world } from '../../packages/sim/src/session-world.ts'

const add = action('add', (table, { by }: { by: number }) => {
  const sum = ((table.get('sum') as number | undefined) ?? 0) + by
  table.set('sum', sum)
  return sum
})
const duel = { game: 'duel', types: [add] }
const NAMES = ['Ada', 'Grace', 'Linus', 'Edsger']

async function cluster(
  seed: number,
  count: number,
  more: Partial<JoinOptions> = {},
  kind: NonNullable<Place['kind']> = 'node',
): Promise<{ w: SessionWorld; all: Session[] }> {
  const w = world({ seed, conditions: 'rtt=20' })
  const all: Session[] = []
  for (const name of NAMES.slice(0, count)) {
    all.push(await w.join({ ...duel, name, ...more }, { kind }))
  }
  await w.runUntil(() => all.every((session) => session.safety === 'backed-up'), 10_000)
  return { w, all }
}

function inRole(all: Session[], role: string): Session {
  return all.find((session) => session.debug.figures().role === role)!
}

function players(session: Session): number[] {
  return session.members.map(({ player }) => player).sort((one, other) => one - other)
}

function heard<Name extends keyof SessionEvents>(
  session: Session,
  name: Name,
): SessionEvents[Name][] {
  const events: SessionEvents[Name][] = []
  session.on(name, (event) => events.push(event))
  return events
}

async function settled(w: SessionWorld, promises: Promise<unknown>[]): Promise<string[]> {
  const done: string[] = []
  for (const [i, promise] of promises.entries()) {
    promise.then(
      (value) => (done[i] = JSON.stringify(value)),
      (error: unknown) => (done[i] = String(error)),
    )
  }
  await w.runUntil(() => promises.every((_, i) => done[i] !== undefined), 60_000)
  return done
}

describe('coming back', () => {
  test('T34: a new process with the token is the same player, and goes on counting', async () => {
    const { w, all } = await cluster(31, 3)
    const linus = all[2]!
    await settled(w, [linus.act(add, { by: 1 }), linus.act(add, { by: 1 })])
    const { token, me } = linus
    w.kill(linus)
    const again = await w.join({ ...duel, name: 'Linus', token })
    expect(again.me).toMatchObject({ player: me.player, name: 'Linus' })
    expect(again.me.inc).toBeGreaterThan(me.inc)
    expect(again.members.map(({ player }) => player)).toEqual([1, 2, 3])
    expect(await settled(w, [again.act(add, { by: 1 })])).toEqual(['{"ok":true,"value":3}'])
    // What it says of the room beside the player is newer.
    const playerIn = (text: string): string[] => text.split('.').slice(0, 3)
    expect(playerIn(again.token)).toEqual(playerIn(token))
  })

  test('T34: the same player opened twice: the newest plays on, the older is told', async () => {
    const { w, all } = await cluster(32, 3)
    const linus = all[2]!
    const again = await w.join({ ...duel, name: 'Linus', token: linus.token })
    await w.runUntil(() => linus.status === 'lost', 5_000)
    expect([linus.status, linus.code]).toEqual(['lost', 'elsewhere'])
    expect(linus.reason).toMatch(/plays elsewhere/)
    await w.run(15_000)
    expect(again.status).toBe('live')
    expect(players(again)).toEqual([1, 2, 3])
  })

  test('T34: an older process of the same player is told though other messages fill its link', async () => {
    const w = world({ seed: 35, conditions: 'rtt=40', linesMax: 0 })
    const Page = object('page', { words: text(900, 900) })
    const book = { game: 'book', types: [Page] }
    const ada = await w.join({ ...book, name: 'Ada' }, { name: 'ada' })
    const linus = await w.join({ ...book, name: 'Linus' }, { name: 'linus' })
    await w.run(1_000)
    const { inc } = linus.me
    let [removedAt, toldAt] = [Infinity, Infinity]
    linus.on('status', (status) => status === 'lost' && (toldAt = w.now()))
    ada.on('members', (all) => {
      if (all.every((one) => one.inc !== inc)) removedAt = Math.min(removedAt, w.now())
    })
    const fill = (): void => {
      for (let n = 0; n < 600; n++) ada.create(Page, { words: `${n} ${'x'.repeat(800)}` })
    }
    // The server lets the new process in 240 ms later, and the link is full by then.
    w.at(w.now() + 150, fill)
    const again = await w.join({ ...book, name: 'Linus', token: linus.token })
    expect([linus.code, again.status, ada.members.some((one) => one.inc === inc)]).toEqual([
      ...['elsewhere', 'live', false],
    ])
    expect(toldAt - removedAt).toBeLessThan(100)
  })

  test('T34: of two removed at once only the process whose player returned is told so', async () => {
    const w = world({ seed: 36, conditions: 'rtt=40', linesMax: 0 })
    const Page = object('page', { words: text(900, 900) })
    const book = { game: 'book', types: [Page] }
    const all: Session[] = []
    for (const name of ['ada', 'grace', 'linus', 'zed']) {
      all.push(await w.join({ ...book, name }, { name }))
    }
    const [ada, , linus, zed] = all as [Session, Session, Session, Session]
    await w.runUntil(() => all.every((session) => session.safety === 'backed-up'), 10_000)
    await w.run(1_000)
    // The backup confirms both changes at once, and the link to Zed is full by then.
    const at = w.now()
    w.at(at + 100, () => w.conditions('grace', 'ada', 'loss=100%'))
    w.at(at + 110, () => void ada.kick(ada.members.find(({ name }) => name === 'zed')!))
    w.at(at + 440, () => {
      for (let n = 0; n < 600; n++) ada.create(Page, { words: `${n} ${'x'.repeat(800)}` })
    })
    w.at(at + 500, () => w.conditions('grace', 'ada', 'rtt=40'))
    await w.join({ ...book, name: 'linus', token: linus.token })
    await w.runUntil(() => zed.status === 'lost', 5_000)
    expect([linus.code, zed.code]).toEqual(['elsewhere', 'kicked'])
  })

  test('T34: the server itself opened twice gives its role away and goes', async () => {
    const { w, all } = await cluster(33, 3)
    const server = inRole(all, 'backedup')
    const again = await w.join({ ...duel, name: 'Ada', token: server.token })
    await w.runUntil(() => server.status === 'lost', 10_000)
    expect(server.code).toBe('elsewhere')
    await w.run(5_000)
    expect(players(again)).toEqual([1, 2, 3])
    expect([again.status, again.me.player]).toEqual(['live', server.me.player])
  })

  test.each([0, 1])(
    'player %i opened twice: join gives what is theirs, and one row (N-6)',
    async (at) => {
      const w = world({ seed: 24, conditions: 'rtt=20', linesMax: 0 })
      const types = [object('dot', { n: u8 })]
      const all: Session[] = []
      for (const name of ['Ada', 'Grace']) {
        all.push(await w.join({ game: 'dots', types, name }, { kind: 'browser' }))
      }
      await w.run(2_000)
      for (const [n, one] of all.entries()) one.create(types[0]!, { n })
      await w.run(1_000)
      const { token } = all[at]!
      const again = await w.join({ game: 'dots', types, name: 'again', token }, { kind: 'browser' })
      const mine = again.all(types[0]!).filter((dot) => dot.mine)
      expect(mine.map(({ state }) => state.n)).toEqual([at])
      expect(players(again)).toEqual([1, 2])
    },
  )

  test('S-5: after a minute away one is somebody new, and is told', async () => {
    const { w, all } = await cluster(34, 3, { keepRoom: false })
    const linus = all[2]!
    const healed = heard(linus, 'healed')
    w.partition([[w.nodeOf(linus)], [w.nodeOf(all[0]!), w.nodeOf(all[1]!), 'hub']])
    await w.run(80_000)
    w.heal()
    await w.runUntil(() => healed.length > 0, 10_000)
    expect(healed[0]).toMatchObject({ same: false, lost: 0 })
    expect(linus.me.player).toBeGreaterThan(3)
  })

  test('T33: a cut of 30 seconds is healed with what was asked meanwhile', async () => {
    const { w, all } = await cluster(35, 3)
    const linus = all[2]!
    const healed = heard(linus, 'healed')
    w.partition([[w.nodeOf(linus)], [w.nodeOf(all[0]!), w.nodeOf(all[1]!), 'hub']])
    await w.run(4_000)
    const asked = [linus.act(add, { by: 1 }), linus.act(add, { by: 1 })]
    await w.run(26_000)
    w.heal()
    expect(await settled(w, asked)).toEqual(['{"ok":true,"value":1}', '{"ok":true,"value":2}'])
    expect(healed).toMatchObject([{ same: true, resent: 2, lost: 0 }])
    expect(linus.me.player).toBe(3)
  })

  test('T33: who stood still was away for all of that time', async () => {
    const { w, all } = await cluster(37, 3)
    const linus = all[2]!
    const healed = heard(linus, 'healed')
    w.stall(w.nodeOf(linus), 15_000)
    await w.runUntil(() => healed.length > 0, 30_000)
    expect(healed[0]).toMatchObject({ same: true, lost: 0 })
    expect(healed[0]!.awayMs).toBeGreaterThanOrEqual(15_000)
  })

  test('a token that is none is refused by its text', async () => {
    const w = world({ seed: 36, conditions: '' })
    await expect(w.join({ ...duel, token: 'rubbish' })).rejects.toMatchObject({ code: 'bad-value' })
  })
})

describe('hand-over', () => {
  test('T4, T5: the server gives its role to the backup; nobody waits and nobody goes', async () => {
    const { w, all } = await cluster(41, 3)
    const server = inRole(all, 'backedup')
    const backup = inRole(all, 'backup')
    const statuses = all.map((session) => heard(session, 'status'))
    const asked = all.flatMap((session) => [1, 2, 3].map(() => session.act(add, { by: 1 })))
    expect(server.handOver()).toBe(true)
    expect(await settled(w, asked)).toHaveLength(9)
    await w.run(1_000)
    expect(all.map((session) => session.primary!.inc)).toEqual(all.map(() => backup.me.inc))
    expect(all.map((session) => session.table.get('sum'))).toEqual([9, 9, 9])
    expect(statuses).toEqual([[], [], []])
    expect(all.map((session) => session.members.length)).toEqual([3, 3, 3])
  })

  test('T5: a server that is about to freeze hands over at once, and is a member when it thaws', async () => {
    const { w, all } = await cluster(45, 3)
    await w.run(1_000)
    const server = inRole(all, 'backedup')
    const backup = inRole(all, 'backup')
    server.freeze()
    expect(server.debug.figures().role).toBe('handing')
    w.stall(w.nodeOf(server), 6_000)
    await w.runUntil(() => backup.primary!.inc === backup.me.inc, 500)
    expect(backup.primary!.inc).toBe(backup.me.inc)
    await w.run(8_000)
    expect([server.status, server.me.inc, server.primary!.inc]).toEqual(['live', 1, backup.me.inc])
  })

  test('T3: a server that leaves hands over first', async () => {
    const { w, all } = await cluster(42, 3)
    const server = inRole(all, 'backedup')
    const backup = inRole(all, 'backup').me.inc
    const others = all.filter((session) => session !== server)
    const statuses = others.map((session) => heard(session, 'status'))
    let left = false
    void server.leave().then(() => (left = true))
    await w.runUntil(() => left, 5_000)
    await w.runUntil(() => others.every(({ members }) => members.length === 2), 5_000)
    expect(others.map((session) => session.primary!.inc)).toEqual([backup, backup])
    expect(statuses).toEqual([[], []])
  })

  test('without a backup there is nobody to hand over to', async () => {
    const { all } = await cluster(43, 1)
    expect(all[0]!.handOver()).toBe(false)
  })

  test('T5: a server whose loop stands still again and again hands over', async () => {
    const { w, all } = await cluster(44, 3, {}, 'browser')
    const server = inRole(all, 'backedup')
    await w.run(31_000)
    for (let i = 0; i < 10; i++) {
      w.stall(w.nodeOf(server), 300)
      await w.run(350)
    }
    await w.run(2_000)
    const { primary } = all.find((session) => session !== server)!
    expect(primary!.inc).not.toBe(server.me.inc)
    expect(server.status).toBe('live')
    expect(server.me.inc).toBe(1)
  })
})

describe('recovery', () => {
  test('T30: server and backup die at once: the others go on with all they saw', async () => {
    const { w, all } = await cluster(51, 4)
    const [server, backup] = [inRole(all, 'backedup'), inRole(all, 'backup')]
    const rest = all.filter((session) => session !== server && session !== backup)
    await settled(
      w,
      rest.map((session) => session.act(add, { by: 1 })),
    )
    await w.run(100)
    const reports = rest.map((session) => heard(session, 'recovered'))
    const players = rest.map(({ me }) => me.player)
    w.kill(server)
    w.kill(backup)
    const asked = rest.map((session) => session.act(add, { by: 1 }))
    expect((await settled(w, asked)).sort()).toEqual([
      '{"ok":true,"value":3}',
      '{"ok":true,"value":4}',
    ])
    await w.run(1_000)
    expect(rest.map((session) => session.table.get('sum'))).toEqual([4, 4])
    expect(rest.map(({ me }) => me.player)).toEqual(players)
    expect(rest.map(({ members }) => members.length)).toEqual([2, 2])
    for (const report of reports) {
      expect(report).toHaveLength(1)
      expect(report[0]).toMatchObject({ silent: 0 })
      expect(report[0]!.gone.map(({ name }) => name).sort()).toEqual(
        [server.me.name, backup.me.name].sort(),
      )
    }
    await w.runUntil(() => rest.every(({ safety }) => safety === 'backed-up'), 10_000)
    expect(rest.map(({ safety }) => safety)).toEqual(['backed-up', 'backed-up'])
  })

  test('T30: the copy of whoever saw most is the one that counts', async () => {
    const { w, all } = await cluster(52, 4)
    const [server, backup] = [inRole(all, 'backedup'), inRole(all, 'backup')]
    const [deaf, well] = all.filter((session) => session !== server && session !== backup)
    w.partition([[w.nodeOf(deaf!)], [w.nodeOf(server), w.nodeOf(backup), w.nodeOf(well!)]])
    expect(await settled(w, [well!.act(add, { by: 7 })])).toEqual(['{"ok":true,"value":7}'])
    w.kill(server)
    w.kill(backup)
    w.heal()
    await w.runUntil(() => [deaf!, well!].every(({ members }) => members.length === 2), 30_000)
    await w.run(1_000)
    expect([deaf!.table.get('sum'), well!.table.get('sum')]).toEqual([7, 7])
  })

  test('T30: where it is not wanted the session ends, and says why', async () => {
    const { w, all } = await cluster(53, 3, { recover: false, keepRoom: false })
    const [server, backup] = [inRole(all, 'backedup'), inRole(all, 'backup')]
    const survivor = all.find((session) => session !== server && session !== backup)!
    w.kill(server)
    w.kill(backup)
    const acting = settled(w, [survivor.act(add, { by: 1 })])
    await w.run(10_000)
    expect(survivor.status).toBe('reconnecting')
    await w.run(30_000)
    expect([survivor.status, survivor.code]).toEqual(['lost', 'unreachable'])
    expect(survivor.reason).toMatch(/server and its backup are gone/)
    expect(await acting).toEqual([expect.stringMatching(/not known whether it was done/)])
    const next = await w.join({ ...duel, name: 'Barbara' })
    expect(next.me.player).toBe(1)
  })

  test('T43: a server that is cut off from hub and members tells nothing once they may go on', async () => {
    const { w, all } = await cluster(54, 4)
    const [server, backup] = [inRole(all, 'backedup'), inRole(all, 'backup')]
    const rest = all.filter((session) => session !== server && session !== backup)
    const heads = [w.nodeOf(server), w.nodeOf(backup)]
    w.partition([heads, [...rest.map((session) => w.nodeOf(session)), 'hub']])
    await w.run(12_000)
    expect(server.safety).toBe('waiting')
    let told = false
    void server.act(add, { by: 100 }).then(() => (told = true))
    await w.runUntil(() => rest.every(({ members }) => members.length === 2), 30_000)
    expect(told).toBe(false)
    await settled(
      w,
      rest.map((session) => session.act(add, { by: 1 })),
    )
    w.heal()
    await w.runUntil(() => told && all.every(({ members }) => members.length === 4), 40_000)
    await w.run(2_000)
    expect(all.map((session) => session.table.get('sum'))).toEqual([102, 102, 102, 102])
    expect(players(all[0]!)).toEqual([1, 2, 3, 4])
  })

  test('T29: while the hub is away, a session whose members promise to stay goes on', async () => {
    const { w, all } = await cluster(55, 3)
    await w.run(5_000)
    w.killHub()
    await w.run(40_000)
    const [server] = all.filter((session) => session.debug.figures().role === 'backedup')
    expect(server!.safety).toBe('backed-up')
    expect(
      await settled(
        w,
        all.map((session) => session.act(add, { by: 1 })),
      ),
    ).toHaveLength(3)
    w.restartHub()
    await w.run(20_000)
    expect(all.map((session) => session.debug.figures().epoch)).toEqual([2, 2, 2])
  })
})
