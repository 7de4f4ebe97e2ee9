// Goal: a timer of the table runs its action once, in session time, whoever dies or stands still
// meanwhile; what cannot be is refused with a sentence, and harms nobody.
// Method: whole sessions in virtual time.
import type { InternalSession as Session } from '../../packages/holdfast/src/join/session-impl.ts'
import { describe, expect, test } from 'vitest'
import { action, type ActionOutcome, piece, u8 } from '../../packages/holdfast/src/index.ts'
import { type SessionWorld, world } from '../../packages/sim/src/session-world.ts'
import { answered, settled } from './cluster.ts'
import * as actions from '../../packages/holdfast/src/actions/protocol/actions.ts'

const Die = piece('die', { pips: u8 })

interface Ring {
  name: string
  /** Once more after so long; 0 for no more. */
  every: number
}

/** Notes that it rang, how late that was and who is said to have done it. */
const ring = action('ring', (table, { name, every }: Ring, by): void => {
  const rang = Number(table.get(`rang ${name}`) ?? 0) + 1
  table.set(`rang ${name}`, rang)
  table.set(`late ${name}`, table.now - Number(table.get(`due ${name}`)))
  table.set(`by ${name}`, `${by.player}.${by.inc}`)
  if (every > 0) start(table, name, every, every)
})
type Table = Parameters<typeof ring.run>[0]

function start(table: Table, name: string, ms: number, every: number): number {
  table.set(`due ${name}`, table.now + ms)
  return table.later(ms, ring, { name, every })
}

const wind = action('wind', (table, { name, ms, every }: Ring & { ms: number }) =>
  start(table, name, ms, every),
)
const stop = action('stop', (table, timer: number) => table.cancel(timer))
const grumble = action('grumble', (table, sides: number) => {
  table.set('kept', table.draw(sides))
  throw new Error('not today')
})
const roll = action('roll', (table) => table.create(Die, { pips: table.draw(6) }).id)
const curse = action('curse', (table) => table.later(100, grumble, 20))
const promiseRoll = action('promise roll', (table) => table.later(100, roll))
const stranger = action('stranger', () => null)
const odd = action('odd', (table, { ms, what }: { ms: unknown; what: string }) => {
  const types = { ring, stranger }
  return table.later(ms as number, types[what as 'ring'], { name: what.repeat(50), every: 0 })
})
const many = action('many', (table, count: number) => {
  for (let i = 0; i < count; i++) table.later(60_000 + i, ring, { name: `${i}`, every: 0 })
})
const big = action('big', (table, name: string) => table.later(5, ring, { name, every: 0 }))
const forge = action('forge', (table) => table.set('\0later 9', 'mine'))
const list = action('list', (table) => table.keys())
const types = [
  Die,
  ring,
  wind,
  stop,
  grumble,
  roll,
  curse,
  promiseRoll,
  odd,
  many,
  big,
  forge,
  list,
]
const NAMES = ['Ada', 'Grace', 'Linus', 'Mary']

interface Scene {
  w: SessionWorld
  all: Session[]
}

async function scene(count = 4): Promise<Scene> {
  const w = world({ seed: 11, conditions: 'rtt=40' })
  const all: Session[] = []
  for (const name of NAMES.slice(0, count)) {
    all.push(await w.join({ game: 'clocks', types: [...types], name }))
  }
  if (count > 1) {
    await w.runUntil(() => all.every((session) => session.safety === 'backed-up'), 10_000)
  }
  return { w, all }
}

async function refusal(w: SessionWorld, asked: Promise<ActionOutcome<unknown>>): Promise<string> {
  const outcome = await settled(w, asked)
  return outcome.ok ? 'done' : outcome.reason.replace(/^the action "\w+" failed: /, '')
}

const head = ({ all }: Scene): Session => all.find((one) => one.primary?.inc === one.me.inc)!

/** Kills whoever has that role, and leaves the rest. */
function kill(s: Scene, who: 'primary' | 'backup', how = {}): void {
  const { inc } = s.all.at(-1)![who]!
  const victim = s.all.find((one) => one.me.inc === inc)!
  s.w.kill(victim, how)
  s.all.splice(s.all.indexOf(victim), 1)
}

describe('a timer', () => {
  test('it runs its action once, on time, as nobody', async () => {
    const { w, all } = await scene()
    const [, , linus] = all as [Session, Session, Session]
    await answered(w, linus.act(wind, { name: 'egg', ms: 3_000, every: 0 }))
    const since = linus.now()
    await w.runUntil(() => linus.table.get('rang egg') !== undefined, 10_000)
    expect(linus.now() - since).toBeGreaterThan(2_900)
    await w.run(5_000)
    for (const session of all) {
      expect(session.table.get('rang egg')).toBe(1)
      expect(session.table.get('by egg')).toBe('0.0')
    }
    expect(Number(linus.table.get('late egg'))).toBeGreaterThanOrEqual(0)
    expect(Number(linus.table.get('late egg'))).toBeLessThan(50)
  })

  test('runs for somebody who is alone, from the first moment', async () => {
    const { w, all } = await scene(1)
    const [ada] = all as [Session]
    await answered(w, ada.act(wind, { name: 'egg', ms: 0, every: 0 }))
    await w.run(200)
    expect(ada.table.get('rang egg')).toBe(1)
  })

  test('that is taken back does not run, and says whether it was in time', async () => {
    const { w, all } = await scene()
    const [ada, , linus] = all as [Session, Session, Session]
    const egg = await answered(w, linus.act(wind, { name: 'egg', ms: 2_000, every: 0 }))
    const tea = await answered(w, linus.act(wind, { name: 'tea', ms: 500, every: 0 }))
    expect(await answered(w, ada.act(stop, egg))).toBe(true)
    expect(await answered(w, ada.act(stop, egg))).toBe(false)
    await w.run(4_000)
    expect([linus.table.get('rang egg'), linus.table.get('rang tea')]).toEqual([undefined, 1])
    expect(await answered(w, ada.act(stop, tea))).toBe(false)
    expect(await answered(w, ada.act(stop, 99))).toBe(false)
  })

  test('that sets the next makes a clock, which goes on over a death and a hand-over', async () => {
    const s = await scene()
    const [, , linus] = s.all as [Session, Session, Session]
    await s.w.runUntil(() => linus.now() > 0, 2_000)
    const since = linus.now()
    await answered(s.w, linus.act(wind, { name: 'tick', ms: 500, every: 500 }))
    await s.w.run(2_000)
    kill(s, 'primary')
    await s.w.run(4_000)
    head(s).handOver()
    await s.w.run(4_000)
    const passed = s.all.at(-1)!.now() - since
    const rang = Number(s.all.at(-1)!.table.get('rang tick'))
    // It is late by as long as nobody served, and never early.
    expect(rang).toBeLessThanOrEqual(Math.floor(passed / 500))
    expect(rang).toBeGreaterThan(passed / 500 - 5)
  })

  test.each(['crash', 'silence'])(
    'runs once when the server dies just then, by %s',
    async (how) => {
      for (const early of [0, 10, 20, 30, 40, 60]) {
        const s = await scene()
        const linus = s.all[2]!
        await answered(s.w, linus.act(wind, { name: 'egg', ms: 2_000, every: 0 }))
        await s.w.runUntil(
          () => linus.now() >= Number(linus.table.get('due egg')) - 30 + early,
          10_000,
        )
        kill(s, 'primary', { silent: how === 'silence' })
        await s.w.run(20_000)
        expect(s.all.map((session) => session.table.get('rang egg'))).toEqual([1, 1, 1])
      }
    },
    30_000,
  )

  test('runs when server and backup are gone at once, if anybody was told of it', async () => {
    const s = await scene()
    const linus = s.all[2]!
    await answered(s.w, linus.act(wind, { name: 'egg', ms: 20_000, every: 0 }))
    kill(s, 'primary', { silent: true })
    kill(s, 'backup', { silent: true })
    await s.w.run(40_000)
    expect(s.all.map((session) => session.table.get('rang egg'))).toEqual([1, 1])
    expect(Number(s.all[0]!.table.get('late egg'))).toBeLessThan(20_000)
  })

  test('whose server stood still runs late, once, and as another by then', async () => {
    const s = await scene()
    const [ada, , linus] = s.all as [Session, Session, Session]
    await answered(s.w, linus.act(wind, { name: 'egg', ms: 1_000, every: 0 }))
    await s.w.run(900)
    s.w.stall(s.w.nodeOf(ada), 15_000)
    await s.w.run(30_000)
    expect(s.all.map((session) => session.table.get('rang egg'))).toEqual([1, 1, 1, 1])
    expect(linus.primary!.name).not.toBe('Ada')
  })

  test('runs although all but one are gone for good', async () => {
    const s = await scene()
    const mary = s.all[3]!
    await answered(s.w, mary.act(wind, { name: 'egg', ms: 30_000, every: 0 }))
    kill(s, 'primary')
    await s.w.run(8_000)
    kill(s, 'primary')
    await s.w.run(8_000)
    const [first] = s.all as [Session, Session]
    if (first !== mary) await s.w.run(100)
    kill(s, s.all[1]!.primary?.inc === mary.me.inc ? 'backup' : 'primary')
    await s.w.run(40_000)
    expect(mary.table.get('rang egg')).toBe(1)
  })
})

describe('an action that a timer runs', () => {
  test('and that throws is told to whoever writes the game, and does not run again', async () => {
    const { w, all } = await scene()
    const heard: string[] = []
    for (const session of all) {
      session.on('error', ({ error, where }) => heard.push(`${where}: ${String(error)}`))
    }
    await answered(w, all[2]!.act(curse))
    await w.run(3_000)
    expect(heard).toEqual(['a timer of "grumble": Error: not today'])
    expect(all.map((session) => session.table.get('kept'))).toEqual(Array(4).fill(undefined))
    const [head] = all as [Session]
    expect(head.member!.mounts.flatMap(({ part, state }) => held(part.channel, state))).toEqual([])
  })

  test('and draws and makes pieces does that for all', async () => {
    const { w, all } = await scene()
    await answered(w, all[2]!.act(promiseRoll))
    await w.run(1_000)
    const dice = all.map((session) => session.all(Die).map(({ state, lastBy }) => [state, lastBy]))
    expect(dice[0]).toHaveLength(1)
    expect(dice[0]![0]![1]).toBe(null)
    for (const each of dice) expect(each).toEqual(dice[0])
  })
})

test('what a timer cannot be is refused, with a sentence', async () => {
  const { w, all } = await scene(2)
  const [ada] = all as [Session]
  const of = (ms: unknown, what = 'ring'): Promise<string> => refusal(w, ada.act(odd, { ms, what }))
  const range = 'a timer takes 0 to 2592000000 ms'
  for (const ms of [-1, 2_592_000_001]) expect(await of(ms)).toBe(`${range}: ${ms}`)
  expect(await of('soon')).toBe(`${range}: "soon"`)
  const known = 'a timer runs an action that was given to join'
  expect(await of(5, 'stranger')).toBe(`${known}: "stranger"`)
  expect(await of(5, 'nothing')).toBe(`${known}: undefined`)
  expect(await refusal(w, ada.act(big, 'x'.repeat(5_000)))).toMatch(
    /^a timer for "ring" has at most 4096 bytes: 50\d\d$/,
  )
  for (let i = 0; i < 4; i++) expect(await refusal(w, ada.act(many, 200))).toBe('done')
  expect(await refusal(w, ada.act(many, 199))).toBe('done')
  // One action may not go beyond either.
  expect(await refusal(w, ada.act(many, 2))).toBe('1000 timers wait at most: 1000')
  expect(await refusal(w, ada.act(many, 1))).toBe('done')
  const name = 'a key of the table does not begin with NUL'
  expect(await refusal(w, ada.act(forge))).toContain(name)
  // Timers are no rows of the game.
  expect(ada.table.keys()).toEqual([])
  expect(await answered(w, ada.act(list))).toEqual([])
  expect(ada.table.get('\0laters')).toBeUndefined()
})

/** Timers that a machine keeps. */
function held(channel: number, state: unknown): string[] {
  if (channel !== actions.ACTIONS_CHANNEL) return []
  return [...(state as actions.Actions).committed.keys()].filter((key) =>
    key.startsWith('\0later '),
  )
}
