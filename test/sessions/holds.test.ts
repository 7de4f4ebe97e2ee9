// Goal: who loses the hold of a piece hears it at once, by whom and why; what nobody may see is no
// news; lots that were drawn are drawn; rules that answer nonsense are told so.
// Method: whole sessions in virtual time.
import type { InternalSession as Session } from '../../packages/holdfast/src/join/session-impl.ts'
import { describe, expect, test } from 'vitest'
import {
  action,
  piece,
  type PieceHandle,
  secret,
  u8,
  vec2,
} from '../../packages/holdfast/src/index.ts'
import { type SessionWorld, world } from '../../packages/sim/src/session-world.ts'

const Man = piece('man', { at: vec2(0, 1000, 0.5) }, { hold: 'must' })
const Card = piece('card', {
  hand: u8,
  mark: secret(u8, (card, who) => card.hand === who),
})
const Odd = piece(
  'odd',
  { kind: u8 },
  {
    rules: {
      update: (_odd, { kind }) =>
        [undefined, null, 'a word', 7, [1], { nosuch: 1 }, { kind: 'x' }][kind!] as never,
    },
  },
)
const setUp = action('set up', (table, hand: number) => {
  table.create(Man, {})
  table.create(Card, { hand })
  table.create(Odd, {})
})
const takeBack = action('take back', (table) => table.all(Man)[0]!.hold(0))
const touch = action('touch', (table) => table.all(Man)[0]!.set({ at: [7, 7] }))
const takeSoon = action('take soon', (table) => table.later(200, takeBack))
const sweep = action('sweep', (table) => table.all(Man)[0]!.remove())
/** What the primary drew, which runs in this process. */
let drawn = 0
const throwAfter = action('throw after', (table) => {
  drawn = table.draw(1_000_000)
  throw new Error(`you drew ${drawn}`)
})
const tooMuchAfter = action('too much after', (table) => {
  drawn = table.draw(1_000_000)
  for (let i = 0; i < 300; i++) table.set(`key ${i}`, drawn)
})
const drawOne = action('draw one', (table) => table.draw(1_000_000))
const attack = action('attack', (table) => {
  const thrown = table.draw(20)
  if (thrown < 17) throw new Error(`missed with ${thrown}`)
  return thrown
})
const onTable = [Man, Card, Odd, setUp, takeBack, touch, takeSoon, sweep]
const types = [...onTable, throwAfter, tooMuchAfter, drawOne, attack]
const NAMES = ['Srv', 'Bck', 'Alice', 'Bob']

interface Scene {
  w: SessionWorld
  all: Session[]
  alice: Session
  bob: Session
}

async function done<Value>(w: SessionWorld, promise: Promise<Value>): Promise<Value> {
  let settled = false
  void promise.finally(() => (settled = true)).catch(() => {})
  await w.runUntil(() => settled, 60_000)
  return promise
}

async function scene(): Promise<Scene> {
  const w = world({ seed: 3, conditions: 'rtt=40' })
  const all: Session[] = []
  for (const name of NAMES) all.push(await w.join({ game: 'holds', types, name, keepRoom: false }))
  const [, , alice, bob] = all as [Session, Session, Session, Session]
  await w.runUntil(() => all.every((session) => session.safety === 'backed-up'), 10_000)
  await done(w, alice.act(setUp, alice.me.player))
  await w.runUntil(() => all.every((session) => session.all(Odd).length === 1), 5_000)
  return { w, all, alice, bob }
}

const man = (session: Session): PieceHandle<typeof Man.schema.fields> => session.all(Man)[0]!
const card = (session: Session): PieceHandle<typeof Card.schema.fields> => session.all(Card)[0]!

/** What a handle tells of a hold that ended. */
function losses(session: Session): string[] {
  const heard: string[] = []
  man(session).on('lost', ({ by, why }) => heard.push(`${why} by ${by?.name ?? 'nobody'}`))
  man(session).on('conflict', ({ by }) => heard.push(`conflict with ${by?.name ?? 'nobody'}`))
  man(session).on('refused', ({ reason }) => heard.push(`refused: ${reason}`))
  return heard
}

/** What comes of it reaches Alice together: what was lost on its way to her comes again at once. */
async function atOnce(
  w: SessionWorld,
  all: readonly Session[],
  asks: () => readonly Promise<unknown>[],
): Promise<void> {
  const mend = w.deafen(w.nodeOf(all[0]!), w.nodeOf(all[2]!))
  const asked = Promise.all(asks())
  await w.run(300)
  mend()
  await done(w, asked)
}

describe('a hold that ends', () => {
  test('O33: who holds still and is wrested from hears by whom (PI-4)', async () => {
    const { w, alice, bob } = await scene()
    const heard = losses(alice)
    await done(w, man(alice).grab())
    await w.run(500)
    await done(w, man(bob).grab({ wrest: true }))
    await w.run(200)
    expect(heard).toEqual(['taken by Bob'])
  })

  test('who holds still hears of an action that takes it, and of one that removes it (PI-4)', async () => {
    const { w, alice, bob } = await scene()
    const heard = losses(alice)
    await done(w, man(alice).grab())
    await done(w, bob.act(takeBack, null))
    await w.run(200)
    expect(heard).toEqual(['taken by Bob'])
    await done(w, man(alice).grab())
    await done(w, bob.act(sweep, null))
    await w.run(200)
    expect(heard).toEqual(['taken by Bob', 'gone by nobody'])
  })

  test('who let go, or took it out of their own hand, lost nothing (PI-4)', async () => {
    const { w, alice, bob } = await scene()
    const heard = losses(alice)
    await done(w, man(alice).grab())
    await done(w, man(alice).release())
    await done(w, man(bob).grab())
    await done(w, man(bob).release())
    await done(w, man(alice).grab())
    await done(w, alice.act(takeBack, null))
    await w.run(200)
    expect(heard).toEqual([])
  })

  test('a hold that began and ended in what came at once is told to be lost (PI-4)', async () => {
    const { w, all, alice, bob } = await scene()
    const heard = losses(alice)
    await atOnce(w, all, () => [man(alice).grab(), bob.act(takeBack, null)])
    await w.run(200)
    expect(heard).toEqual(['taken by Bob'])
    await atOnce(w, all, () => [man(alice).grab(), bob.act(sweep, null)])
    await w.run(200)
    expect(heard).toEqual(['taken by Bob', 'gone by nobody'])
  })

  test('who changed it by an action since it was wrested hears of that all the same (PI-4)', async () => {
    const { w, all, alice, bob } = await scene()
    const heard = losses(alice)
    await done(w, man(alice).grab())
    await w.run(500)
    await atOnce(w, all, () => [man(bob).grab({ wrest: true }), alice.act(touch, null)])
    await w.run(200)
    expect([man(alice).holder?.name, heard]).toEqual(['Bob', ['taken by Bob']])
  })

  test('a timer that takes it does so in nobody’s name, and nobody was away (PI-4)', async () => {
    const { w, alice, bob } = await scene()
    const heard = losses(alice)
    await done(w, man(alice).grab())
    await done(w, bob.act(takeSoon, null))
    await w.run(1_000)
    expect([man(alice).holder, heard]).toEqual([null, ['taken by nobody']])
  })

  test('who was forgotten meanwhile holds nothing any more, and is told (PI-4, PI-7)', async () => {
    const { w, alice } = await scene()
    const heard = losses(alice)
    const { player } = alice.me
    await done(w, man(alice).grab())
    const mend = w.partition([[w.nodeOf(alice)]])
    await w.run(90_000)
    mend()
    await w.runUntil(() => alice.status === 'live' && alice.me.player !== player, 60_000)
    await w.run(1_000)
    expect(heard).toEqual(['away by nobody'])
  })

  test('who finds another session in the place of theirs is told that it is gone (PI-4)', async () => {
    const { w, all, alice } = await scene()
    const heard = losses(alice)
    await done(w, man(alice).grab())
    const id = alice.member!.session.id
    const mend = w.partition([[w.nodeOf(alice)]])
    await w.run(20_000)
    for (const other of all) if (other !== alice) w.kill(other)
    await w.run(30_000)
    mend()
    await w.runUntil(() => alice.status === 'live' && alice.member!.session.id !== id, 60_000)
    expect(heard).toEqual(['gone by nobody'])
  })

  test('O18, O41: who was away for 15 s is told that, and blames nobody (PI-5)', async () => {
    const { w, alice } = await scene()
    const heard = losses(alice)
    await done(w, man(alice).grab())
    alice.debug.condition('loss=100%')
    await w.run(500)
    const moved = man(alice).update({ at: [5, 5] })
    await w.run(15_000)
    alice.debug.condition(null)
    expect(await done(w, moved)).toEqual({
      ok: false,
      code: 'refused',
      reason: 'you were out of touch, and it was let go',
    })
    await w.run(500)
    expect(heard).toContain('away by nobody')
    expect(heard.filter((said) => said.startsWith('conflict'))).toEqual([])
  })
})

describe('what others may not see', () => {
  test('a move within a hidden hand is no news to them (PI-10)', async () => {
    const { w, alice, bob } = await scene()
    const [toAlice, toBob]: [string[], string[]] = [[], []]
    card(alice).on('changed', () => toAlice.push('card'))
    card(bob).on('changed', () => toBob.push('card'))
    bob.all(Card).subscribe(() => toBob.push('cards'))
    await done(w, card(alice).update({ mark: 9 }))
    await w.run(500)
    expect(toAlice.length).toBeGreaterThan(0)
    expect(toBob).toEqual([])
    expect([card(alice).state.mark, card(bob).state.mark]).toEqual([9, null])
    await done(w, card(alice).update({ hand: 200 }))
    await w.run(500)
    expect(toBob).toContain('card')
  })
})

describe('lots', () => {
  for (const [what, first] of [
    ['throws', throwAfter],
    ['changes too much', tooMuchAfter],
  ] as const) {
    test(`what an action drew that ${what} is not drawn again (PI-1)`, async () => {
      const { w, alice, bob } = await scene()
      for (let i = 0; i < 5; i++) {
        const refused = await done(w, alice.act(first, null))
        expect(refused.ok).toBe(false)
        const got = await done(w, bob.act(drawOne, null))
        expect(got).toMatchObject({ ok: true })
        expect(got.ok && got.value).not.toBe(drawn)
      }
    })
  }

  test('a throw that misses is thrown anew, also over a takeover (PI-1)', async () => {
    const { w, all, alice } = await scene()
    const seen = new Set<string>()
    for (let i = 0; i < 30; i++) {
      const outcome = await done(w, alice.act(attack, null))
      seen.add(outcome.ok ? String(outcome.value) : outcome.reason)
      if (i === 15) w.kill(all[0]!)
    }
    expect(seen.size).toBeGreaterThan(8)
  })
})

test('O44: a rule that answers nonsense is told what a rule gives (PI-8)', async () => {
  const { w, alice } = await scene()
  const odd = alice.all(Odd)[0]!
  const said: string[] = []
  for (let kind = 0; kind < 7; kind++) {
    const outcome = await done(w, odd.update({ kind }))
    said.push(!outcome.ok && outcome.code === 'failed' ? outcome.reason : 'taken')
  }
  for (const reason of said.slice(0, 5)) expect(reason).toContain('gives a change or')
  expect(said[5]).toContain('gives "nosuch"')
  expect(said[6]).not.toBe('taken')
})
