// Goal: who is put out goes, hears why, and stays out as long as that says, whoever dies meanwhile;
// nobody puts out whom they may not (SE-4).
// Method: whole sessions in virtual time; kicks and bans of clients, backups and the primary, with
// deaths in between; requests of members who may not ask for that.
import { describe, expect, test } from 'vitest'
import type { InternalSession as Session } from '../../packages/holdfast/src/join/session-impl.ts'
import { type JoinOptions } from '../../packages/holdfast/src/index.ts'
import { type SessionWorld, world } from '../../packages/sim/src/session-world.ts'

// What one member is answered, the others hear by then.
const ON_ITS_WAY = 200

const NAMES = ['Ada', 'Grace', 'Linus', 'Edsger', 'Barbara']

interface Room {
  w: SessionWorld
  all: Session[]
  options: JoinOptions
}

async function room(count: number, more: Partial<JoinOptions> = {}, seed = 5): Promise<Room> {
  const w = world({ seed, conditions: 'rtt=20' })
  const options = { game: 'table', ...more }
  const all: Session[] = []
  for (const name of NAMES.slice(0, count)) {
    all.push(await w.join({ ...options, name }, { name }))
  }
  await w.runUntil(() => all.every((session) => session.safety === 'backed-up'), 10_000)
  await w.run(2_000)
  return { w, all, options }
}

const names = (session: Session): string[] => session.members.map(({ name }) => name)
/** Asks, and lets time pass until there is an answer. */
async function settled<Answer>({ w }: Room, asked: Promise<Answer>): Promise<Answer> {
  let answer: { value: Answer } | null = null
  void asked.then((value) => (answer = { value }))
  await w.runUntil(() => answer !== null, 20_000)
  return answer!.value
}

const isOut = (session: Session): boolean => session.status === 'lost'

/** Puts a player out, and waits until it is. */
async function ban(here: Room, by: Session, whom: Session, why = ''): Promise<void> {
  expect(await settled(here, by.ban(whom.me, why))).toMatchObject({ ok: true })
  expect(await here.w.runUntil(() => isOut(whom), 20_000)).toBe(true)
}

const back = (here: Room, whom: Session): Promise<Session> =>
  here.w.join({ ...here.options, name: whom.me.name, token: whom.token })

describe.each(['star', 'mesh'] as const)('in a %s', (topology) => {
  test('a client who is kicked goes, hears why, and may join again (SE-4)', async () => {
    const here = await room(3, { topology })
    const [ada, grace, linus] = here.all as [Session, Session, Session]
    expect(await settled(here, ada.kick(linus.me, 'caps lock'))).toMatchObject({ ok: true })
    await here.w.runUntil(() => isOut(linus), 10_000)
    expect([linus.code, linus.reason]).toEqual(['kicked', 'this player was put out: caps lock'])
    expect([names(ada), names(grace)]).toEqual([NAMES.slice(0, 2), NAMES.slice(0, 2)])
    const { player } = linus.me
    expect((await back(here, linus)).me.player).toBe(player)
  })

  test('who is banned is seen as banned by all, and comes in no more, until a pardon (SE-4)', async () => {
    const here = await room(3, { topology })
    const [ada, grace, linus] = here.all as [Session, Session, Session]
    const told: unknown[] = []
    grace.on('banned', (rows) => told.push(rows))
    const { player } = linus.me
    await ban(here, ada, linus, 'caps lock')
    expect([linus.code, linus.reason]).toEqual(['banned', 'this player was banned: caps lock'])
    expect(told).toEqual([[{ player, name: 'Linus', why: 'caps lock' }]])
    await expect(back(here, linus)).rejects.toMatchObject({ code: 'banned' })
    expect(await settled(here, ada.pardon(player))).toMatchObject({ ok: true })
    await here.w.run(ON_ITS_WAY)
    expect(grace.banned).toEqual([])
    expect((await back(here, linus)).me.player).toBe(player)
  })

  test('whom nobody knows any more is pardoned all the same (SE-4, PR-2)', async () => {
    const here = await room(3, { topology })
    const [ada] = here.all as [Session]
    expect(await settled(here, ada.pardon(77))).toMatchObject({ ok: true })
    expect(await settled(here, ada.kick({ ...ada.me, player: 77 }))).toMatchObject({ ok: false })
  })
})

describe('whoever serves or stands by', () => {
  test('a backup goes once the register has dropped it, and another stands by (SE-4)', async () => {
    const here = await room(3)
    const [ada, grace, linus] = here.all as [Session, Session, Session]
    expect(ada.backup?.name).toBe('Grace')
    await ban(here, ada, grace)
    await here.w.runUntil(() => linus.safety === 'backed-up', 10_000)
    expect([names(ada), linus.backup?.name]).toEqual([['Ada', 'Linus'], 'Linus'])
  })

  test('a primary hands its role over, and goes (SE-4)', async () => {
    const here = await room(3)
    const [ada, grace, linus] = here.all as [Session, Session, Session]
    ada.handOver()
    await here.w.runUntil(() => linus.primary?.name === 'Grace', 10_000)
    await here.w.runUntil(() => linus.safety === 'backed-up', 10_000)
    await ban(here, ada, grace, 'unfair')
    expect([grace.code, names(ada), names(linus)]).toEqual([
      'banned',
      ['Ada', 'Linus'],
      ['Ada', 'Linus'],
    ])
  })

  test('a backup that was put out, and whose primary dies at once, serves until another can (SE-4)', async () => {
    const here = await room(4)
    const [ada, grace, linus, edsger] = here.all as [Session, Session, Session, Session]
    const asked = ada.ban(grace.me)
    let answered = false
    void asked.then(() => (answered = true))
    await here.w.runUntil(() => answered || linus.banned.length > 0, 10_000)
    here.w.kill(ada)
    await here.w.runUntil(() => isOut(grace), 30_000)
    expect([grace.code, linus.banned.map(({ name }) => name)]).toEqual(['banned', ['Grace']])
    await here.w.runUntil(() => edsger.safety === 'backed-up', 10_000)
    expect(names(edsger)).toEqual(['Linus', 'Edsger'])
    await expect(back(here, grace)).rejects.toMatchObject({ code: 'banned' })
  })

  test('a ban outlives the primary, and primary and backup that die at once (SE-4)', async () => {
    const here = await room(5)
    const [ada, grace, linus, edsger, barbara] = here.all as Session[]
    await ban(here, ada!, barbara!)
    await here.w.run(1_000)
    for (const session of [ada!, grace!]) here.w.kill(session)
    await here.w.runUntil(() => linus!.safety === 'backed-up', 60_000)
    expect([linus!.banned, edsger!.banned].map((rows) => rows.length)).toEqual([1, 1])
    await expect(back(here, barbara!)).rejects.toMatchObject({ code: 'banned' })
  })

  test('who is away is banned by number, and comes back no more (SE-4)', async () => {
    const here = await room(3)
    const [ada, , linus] = here.all as [Session, Session, Session]
    const { player } = linus.me
    here.w.kill(linus)
    await here.w.runUntil(() => ada.members.length === 2, 10_000)
    expect(await settled(here, ada.ban(player))).toMatchObject({ ok: true })
    await expect(back(here, linus)).rejects.toMatchObject({ code: 'banned' })
  })
})

describe('who may not', () => {
  const reasons = async (here: Room, asked: readonly Promise<object>[]): Promise<unknown[]> => {
    const all = await settled(here, Promise.all(asked))
    return all.map((outcome) => (outcome as { reason?: string }).reason)
  }

  test('others than the founder, and the founder itself, put nobody out (SE-4)', async () => {
    const here = await room(3)
    const [ada, grace, linus] = here.all as [Session, Session, Session]
    const may = 'the founder and hosts put players out here'
    const asked = [grace.kick(linus.me), grace.ban(ada.me), grace.pardon(linus.me)]
    expect(await reasons(here, asked)).toEqual([may, may, may])
    expect(await reasons(here, [ada.kick(ada.me), ada.kick(99), ada.vote(grace.me)])).toEqual([
      'nobody puts themselves out: leave instead',
      'no player 99 is here',
      'players of this room do not vote',
    ])
    expect(names(ada)).toHaveLength(3)
  })

  test('in a room that says so, hosts alone (SE-4)', async () => {
    const here = await room(2, { expellers: 'hosts' })
    const [ada, grace] = here.all as [Session, Session]
    expect(await reasons(here, [ada.kick(grace.me)])).toEqual(['hosts put players out here'])
  })

  test('what is no player and no reason is refused where it is said (SE-4)', async () => {
    const here = await room(1)
    const [ada] = here.all as [Session]
    for (const player of [0, -1, 1.5, NaN, null, {}, 'Ada'] as never[]) {
      await expect(ada.kick(player)).rejects.toThrow(/a player is a member, or its number: /)
    }
    const reason = 'a reason has at most 200 bytes of UTF-8: 202'
    expect(await ada.ban(2, 'é'.repeat(101))).toEqual({ ok: false, code: 'unfit', reason })
  })
})

describe('votes', () => {
  test('more than half of the others put a player out, over a change of primary (SE-4)', async () => {
    const here = await room(5, { expellers: 'vote' })
    const [ada, grace, linus, edsger, barbara] = here.all as Session[]
    const votes = (): unknown =>
      linus!.ballots.map(({ against, by, needed }) => [against?.name, by.length, needed])
    for (const by of [ada!, grace!]) await settled(here, by.vote(barbara!.me))
    await here.w.run(ON_ITS_WAY)
    expect(votes()).toEqual([['Barbara', 2, 3]])
    await settled(here, grace!.vote(barbara!.me, false))
    await settled(here, linus!.vote(barbara!.me))
    here.w.kill(ada!)
    await here.w.runUntil(() => names(linus!).length === 4, 10_000)
    // Whoever is away does not count, and is not counted.
    expect(votes()).toEqual([['Barbara', 1, 2]])
    expect(await settled(here, edsger!.vote(barbara!.me))).toMatchObject({ ok: true })
    await here.w.runUntil(() => isOut(barbara!), 10_000)
    expect([barbara!.code, barbara!.reason]).toEqual([
      'banned',
      'this player was banned: most players want it',
    ])
    expect(votes()).toEqual([])
  })

  test('a ballot asks for as many as the server does, who watch not among them (SE-4)', async () => {
    const here = await room(3, { expellers: 'vote' })
    const [ada, grace, linus] = here.all as [Session, Session, Session]
    await here.w.join({ ...here.options, name: 'Eve', watch: true }, { name: 'Eve' })
    await here.w.join({ ...here.options, name: 'Ed', watch: true }, { name: 'Ed' })
    await settled(here, ada.vote(linus.me))
    await here.w.run(ON_ITS_WAY)
    expect(grace.ballots).toMatchObject([{ player: linus.me.player, needed: 2 }])
    await settled(here, grace.vote(linus.me))
    expect(await here.w.runUntil(() => isOut(linus), 10_000)).toBe(true)
  })

  test('one of two puts nobody out, however often it votes (SE-4)', async () => {
    const here = await room(2, { expellers: 'vote' })
    const [ada, grace] = here.all as [Session, Session]
    for (let times = 0; times < 3; times++) await settled(here, ada.vote(grace.me))
    expect(grace.ballots).toMatchObject([{ player: grace.me.player, needed: 2 }])
    expect(names(ada)).toHaveLength(2)
  })
})
