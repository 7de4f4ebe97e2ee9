// Goal: a player who asks for more than a player may slows itself alone, at whole sessions too, and
// over the death of the server nothing of it is lost or done twice.
// Method: whole sessions in virtual time.
import { describe, expect, test } from 'vitest'
import {
  action,
  type JoinOptions,
  type Outcome,
  type Session,
} from '../../packages/holdfast/src/index.ts'
import { type SessionWorld, world } from '../../packages/sim/src/session-world.ts'
import { rejection, Rock } from './cluster.ts'

const RATE = 50
/** A link’s round trip, and the time in which a backup has acked: what an action takes at rest. */
const CALM_MS = 120

const count = action('count', (table, _args: null, by) => {
  const key = `of ${by.player}`
  const next = Number(table.get(key) ?? 0) + 1
  table.set(key, next)
  return next
})
const refuse = action('refuse', () => {
  throw new Error('no')
})
const types = [Rock, count, refuse]

/** Ada serves, Grace floods, Linus plays, and Hedy is there in case. */
async function four(
  more: Partial<JoinOptions> = {},
): Promise<{ w: SessionWorld; all: [Session, Session, Session, Session] }> {
  const w = world({ seed: 14, conditions: 'rtt=20' })
  const all: Session[] = []
  for (const name of ['Ada', 'Grace', 'Linus', 'Hedy']) {
    const own = { game: 'garden', name, types, operationsPerSecond: RATE, ...more }
    all.push(await w.join(own))
  }
  await w.run(2_000)
  return { w, all: all as [Session, Session, Session, Session] }
}

/** Asks for as many as it may have under way, again and again. @returns what each was answered */
function flood(of: Session, what: typeof count | typeof refuse, until: () => boolean): string[] {
  const answers: string[] = []
  const next = (): void => {
    if (until()) return
    const asked = of.act(what as typeof count, null) as Promise<Outcome<unknown, never>>
    void asked.then((said) => {
      answers.push(said.ok ? String(said.value) : 'no')
      next()
    })
  }
  for (let at = 0; at < 64; at++) next()
  return answers
}

/** Plays for so long, ten actions a second. @returns how long each took, and their answers */
async function play(w: SessionWorld, of: Session, ms: number): Promise<[number[], unknown[]]> {
  const took: number[] = []
  const answers: unknown[] = []
  for (let at = 0; at < ms; at += 100) {
    const since = w.now()
    void of.act(count, null).then((said) => {
      took.push(w.now() - since)
      answers.push(said.ok ? said.value : said.code)
    })
    await w.run(100)
  }
  await w.run(1_000)
  return [took, answers]
}

function upTo(last: number): number[] {
  return Array.from({ length: last }, (_, at) => at + 1)
}

describe('who floods the server with actions', () => {
  test.each([
    ['that are done', count, RATE],
    ['that are refused', refuse, RATE / 4],
  ])(
    '%s holds nobody else up, and is done as a player may be (SE-10)',
    async (_name, what, rate) => {
      const { w, all } = await four()
      const [ada, grace, linus] = all
      let isOver = false
      const since = w.now()
      const hers = flood(grace, what, () => isOver)
      await w.run(2_000)
      // What she may ask for at once is spent.
      expect(await rejection(grace.act(count, null))).toBe(
        'overloaded: 64 operations wait for the primary already: await some of them first',
      )
      const [took, his] = await play(w, linus, 5_000)
      expect(his).toEqual(upTo(50))
      expect(Math.max(...took)).toBeLessThanOrEqual(CALM_MS)
      const seconds = (w.now() - since) / 1_000
      expect(hers.length).toBeGreaterThan(seconds * rate)
      expect(hers.length).toBeLessThanOrEqual((2 + seconds) * rate + 1)
      expect(ada.debug.figures().pushedBack).toBeGreaterThan(0)
      isOver = true
      await w.run(20_000)
      expect(hers.at(-1)).toBe(what === count ? String(hers.length) : 'no')
    },
  )

  test('T80: over the death of the server each is done once, and in order (SE-10)', async () => {
    const { w, all } = await four()
    const [ada, grace, linus, hedy] = all
    let asked = 0
    const hers = flood(grace, count, () => asked++ >= 400)
    await w.run(2_500)
    // Many of hers wait there as it dies.
    expect(hers.length).toBeLessThan(300)
    w.kill(ada)
    const [, his] = await play(w, linus, 5_000)
    expect(his).toEqual(upTo(50))
    await w.run(10_000)
    expect(hers).toEqual(upTo(400).map(String))
    expect(hedy.table.get(`of ${grace.me.player}`)).toBe(400)
  })
})

test('an honest player notices nothing of it: 60 actions a second, by default (SE-10)', async () => {
  const { w, all } = await four({ operationsPerSecond: undefined as never })
  const took: number[] = []
  for (let at = 0; at < 300; at++) {
    const since = w.now()
    void all[1].act(count, null).then(() => took.push(w.now() - since))
    await w.run(1_000 / 60)
  }
  await w.run(1_000)
  expect([took.length, all[0].debug.figures().pushedBack]).toEqual([300, 0])
  expect(Math.max(...took)).toBeLessThanOrEqual(CALM_MS)
})

test('who asks for too many objects hears so, and others have theirs (SE-10)', async () => {
  const { w, all } = await four({ operationsPerSecond: 1 })
  const [ada, grace, linus] = all
  for (let at = 0; at < 20; at++) ada.create(Rock)
  await w.run(1_000)
  const codes: string[] = []
  for (const rock of grace.all(Rock).slice(1)) {
    void rock.take().then((said) => codes.push(said.ok ? 'ok' : said.code))
  }
  await w.run(100)
  const his = linus.all(Rock)[0]!.take()
  await w.run(100)
  expect(await his).toMatchObject({ ok: true })
  await w.run(10_000)
  // Two at once, one a second, and after five seconds no more.
  const granted = Array.from({ length: 7 }, () => 'ok')
  expect(codes).toEqual([...granted, ...Array.from({ length: 12 }, () => 'overloaded')])
})

test('operationsPerSecond is a number of them, or the join says what it is (SE-10)', async () => {
  const w = world({ seed: 8 })
  for (const wrong of [0, -1, 1.5, 10_001, NaN, '3', null]) {
    await expect(
      w.join({ game: 'garden', operationsPerSecond: wrong as never }),
    ).rejects.toMatchObject({
      code: 'bad-value',
      message: expect.stringMatching(/^operationsPerSecond is 1 to 10000: /),
    })
  }
})
