// Goal: after a call of `leave()` every verb fails with `left` at once, while the goodbye is under
// way and behind it; what only reads does no harm.
// Method: whole sessions in virtual time with the shipped hub; one leaves, and tries each verb.
import { describe, expect, test } from 'vitest'
import {
  action,
  object,
  type ObjectHandle,
  piece,
  type PieceHandle,
  procedure,
  type Session,
  slots,
  u8,
} from '../../packages/holdfast/src/index.ts'
import { definePart, encode } from '../../packages/holdfast/src/part.ts'
import { world } from '../../packages/sim/src/session-world.ts'
import { act } from './acting.ts'

const Rock = object('rock', { heat: u8 }, { take: 'free', onOwnerLeave: 'keep' })
const Card = piece('card', { at: u8 })
const deal = action('deal', (table) => void table.create(Card, { at: 1 }))
const roll = procedure('roll', { sides: u8 }, ({ sides }) => sides)
const Grid = slots('grid', { start: 0, act: { x: u8 }, rule: (sum) => sum })
const Bell = definePart({
  channel: 64,
  text: () => 'v1',
  create: () => ({}),
  perform: (_state, operation) => ({ changes: [], answer: operation }),
  apply: () => {},
  snapshot: () => new Uint8Array(0),
  restore: () => ({}),
  face: (host) => ({
    ring: () => host.ask(encode(u8, 1)),
    shout: () => host.send('all', encode(u8, 1)),
  }),
})('bell')
const types = [Rock, Card, deal, roll, Grid, Bell]

type Fields<Handle> = Handle extends { schema: { fields: infer F } } ? F : never

/** What there is before somebody leaves. */
interface Had {
  session: Session
  other: Session['me']
  rock: ObjectHandle<Fields<typeof Rock>>
  theirs: ObjectHandle<Fields<typeof Rock>>
  card: PieceHandle<Fields<typeof Card>>
  grid: ReturnType<typeof gridOf>
  bell: ReturnType<typeof bellOf>
}
const gridOf = (session: Session) => session.part(Grid)
const bellOf = (session: Session) => session.part(Bell)

const VERBS: Readonly<Record<string, (had: Had) => unknown>> = {
  create: ({ session }) => session.create(Rock),
  act: ({ session }) => session.act(deal, null),
  call: ({ session }) => session.call('primary', roll, { sides: 6 }),
  note: ({ session }) => session.note('all', roll, { sides: 6 }),
  answer: ({ session }) => session.answer(roll, () => 1),
  kick: ({ session, other }) => session.kick(other),
  ban: ({ session, other }) => session.ban(other),
  pardon: ({ session, other }) => session.pardon(other),
  vote: ({ session, other }) => session.vote(other),
  simulate: ({ session }) => session.simulate(20, () => {}),
  export: ({ session }) => session.export(),
  invite: ({ session }) => session.invite(),
  condition: ({ session }) => session.debug.condition(null),
  handOver: ({ session }) => session.handOver(),
  'object.set': ({ rock }) => rock.set({ heat: 2 }),
  'object.destroy': ({ rock }) => rock.destroy(),
  'object.take': ({ theirs }) => theirs.take(),
  'object.give': ({ rock, other }) => rock.give(other),
  'piece.update': ({ card }) => card.update({ at: 2 }),
  'piece.grab': ({ card }) => card.grab(),
  'piece.release': ({ card }) => card.release(),
  'piece.raise': ({ card }) => card.raise(),
  'piece.lower': ({ card }) => card.lower(),
  'slots.act': ({ grid }) => grid.act({ x: 1 }),
  'part.ask': ({ bell }) => bell.ring(),
  'part.send': ({ bell }) => bell.shout(),
}

const READS: Readonly<Record<string, (had: Had) => unknown>> = {
  members: ({ session }) => [session.members, session.me, session.primary, session.backup],
  standing: ({ session }) => [session.status, session.safety, session.code, session.reason],
  all: ({ session }) => [...session.all(Rock), ...session.all(Card)],
  table: ({ session }) => session.table.get('x'),
  time: ({ session }) => [session.now(), session.debug.figures(), session.debug.ages()],
  object: ({ rock }) => [rock.state, rock.mine, rock.owner, rock.away, rock.view(), rock.alive],
  piece: ({ card }) => [card.state, card.holder, card.z, card.pending, card.alive],
  slots: ({ grid }) => [grid.state, grid.ahead, grid.slot, grid.status],
  parts: ({ session }) => [session.part(Bell), session.part(Grid)],
  on: ({ session }) => session.on('status', () => {})(),
  'leave, again': ({ session }) => session.leave(),
}

async function left(who: 'the server' | 'its backup') {
  const w = world({ seed: 5, conditions: 'rtt=60' })
  const all: Session[] = []
  for (const name of ['Ada', 'Grace', 'Linus']) {
    all.push(await w.join({ game: 'garden', types, name }))
  }
  await w.run(2_000)
  const [session, other] = who === 'the server' ? all : all.toReversed()
  const grid = gridOf(session!)
  for (const one of all) one.part(Grid)
  const rock = session!.create(Rock)
  other!.create(Rock)
  await act(w, session!.act(deal, null))
  await w.run(2_000)
  const theirs = session!.all(Rock).find((one) => !one.mine)!
  const card = session!.all(Card)[0]!
  const had = {
    session: session!,
    other: other!.me,
    rock,
    theirs,
    card,
    grid,
    bell: bellOf(session!),
  }
  rock.set({ heat: 9 })
  const leaving = session!.leave()
  return { w, had, leaving, other: other! }
}

/** `left`, or what else came of a verb that was called just now. */
function outcome(run: () => unknown): Promise<unknown> {
  return Promise.resolve()
    .then(run)
    .then(
      () => 'done',
      (error: { code: string }) => error.code,
    )
}

/** Calls all of these in one moment; what came of each, `nothing` if that is not known yet. */
async function tried(verbs: typeof VERBS, had: Had): Promise<Record<string, unknown>> {
  const came: Record<string, unknown> = {}
  for (const [name, verb] of Object.entries(verbs)) {
    came[name] = 'nothing'
    void outcome(() => verb(had)).then((what) => (came[name] = what))
  }
  for (let turn = 0; turn < 20; turn++) await Promise.resolve()
  return came
}

const each = (table: object, what: string) =>
  Object.fromEntries(Object.keys(table).map((name) => [name, what]))

describe('after a call of leave()', () => {
  test.each(['the server', 'its backup'] as const)(
    '%s is refused each verb while its goodbye is under way, and behind it (N-19)',
    async (who) => {
      const { w, had, leaving, other } = await left(who)
      expect(await tried(VERBS, had)).toEqual(each(VERBS, 'left'))
      await w.run(10)
      expect(await tried(VERBS, had)).toEqual(each(VERBS, 'left'))
      await act(w, leaving)
      expect(await tried(VERBS, had)).toEqual(each(VERBS, 'left'))
      // What was done before counts, and nothing else.
      await w.run(1_000)
      const heats = other.all(Rock).map(({ state }) => state.heat)
      expect(heats.toSorted((one, two) => one - two)).toEqual([0, 9])
      expect(w.reported).toEqual([])
    },
  )

  test('reading does no harm (N-19)', async () => {
    const { w, had, leaving } = await left('the server')
    const { 'leave, again': again, ...reads } = READS
    expect(await tried(reads, had)).toEqual(each(reads, 'done'))
    const twice = again!(had)
    await act(w, Promise.all([leaving, twice]))
    expect(await tried(READS, had)).toEqual(each(READS, 'done'))
  })

  test('a world that it steps stands still (N-19)', async () => {
    const w = world({ seed: 6, conditions: 'rtt=60' })
    const ada = await w.join({ game: 'garden', types })
    await w.join({ game: 'garden', types })
    await w.run(2_000)
    let steps = 0
    ada.simulate(100, () => {
      steps++
      ada.create(Rock).destroy()
    })
    await w.run(500)
    const leaving = ada.leave()
    const before = steps
    await act(w, leaving)
    expect(steps).toBe(before)
    expect(w.reported).toEqual([])
  })
})
