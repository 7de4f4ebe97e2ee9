// Goal: what a user is promised of procedures, on whole sessions in virtual time.
import { beforeEach, describe, expect, test } from 'vitest'
import {
  type HoldfastError,
  type MemberInfo,
  object,
  procedure,
  type Session,
  u16,
} from '../../packages/holdfast/src/index.ts'
import { type SessionWorld, world } from '../../packages/sim/src/session-world.ts'

let rolled: string[] = []

const roll = procedure('roll', ({ sides }: { sides: number }, by) => {
  rolled.push(by.name)
  if (sides < 2) throw new Error(`a die with ${sides} sides`)
  return sides - 1
})
const slow = procedure('slow', async (ms: number) => {
  await Promise.resolve()
  return ms * 2
})
const ask = procedure<string, string>('ask')
const hang = procedure('hang', () => new Promise<never>(() => {}))
const huge = procedure('huge', () => 'x'.repeat(9_000))
const types = [roll, slow, ask, hang, huge]

beforeEach(() => {
  rolled = []
})

async function three(seed: number, topology: 'star' | 'mesh'): Promise<Scene> {
  const w = world({ seed, conditions: 'rtt=20,loss=2%' })
  const all: Session[] = []
  for (const name of ['Ada', 'Grace', 'Linus', 'Edsger']) {
    all.push(await w.join({ game: 'dice', types, name, topology }, { name }))
  }
  await w.runUntil(() => all.every((session) => session.safety === 'backed-up'), 10_000)
  await w.run(2_000)
  const [ada, grace, linus, edsger] = all as [Session, Session, Session, Session]
  return { w, ada, grace, linus, edsger }
}

interface Scene {
  w: SessionWorld
  ada: Session
  grace: Session
  linus: Session
  edsger: Session
}

/** What comes of a call while time passes: its answer, or why there is none, or its error. */
async function outcome(w: SessionWorld, promise: Promise<unknown>): Promise<unknown> {
  let settled: { value: unknown } | null = null
  promise.then(
    (value) => (settled = { value }),
    (error: unknown) => (settled = { value: error }),
  )
  await w.runUntil(() => settled !== null, 60_000)
  expect(settled).not.toBeNull()
  const { value } = settled!
  return isDone(value) ? value.value : value
}

function isDone(value: unknown): value is { readonly value: unknown } {
  return typeof value === 'object' && value !== null && 'ok' in value && value.ok === true
}

function infoOf(session: Session): MemberInfo {
  return session.me
}

describe.each(['star', 'mesh'] as const)('a procedure in a %s', (topology) => {
  test('B4: its answer comes from whoever is called, with who called', async () => {
    const { w, ada, grace, linus } = await three(1, topology)
    expect(await outcome(w, linus.call(infoOf(grace), roll, { sides: 6 }))).toBe(5)
    expect(await outcome(w, linus.call('primary', roll, { sides: 20 }))).toBe(19)
    expect(await outcome(w, ada.call(infoOf(linus), slow, 21))).toBe(42)
    expect(await outcome(w, ada.call('primary', roll, { sides: 4 }))).toBe(3)
    expect(rolled).toEqual(['Linus', 'Linus', 'Ada'])
  })

  test('what it throws is told to who called, and to nobody else', async () => {
    const { w, grace, linus } = await three(2, topology)
    const error = await outcome(w, linus.call(infoOf(grace), roll, { sides: 1 }))
    expect(error).toEqual({ ok: false, code: 'failed', reason: 'a die with 1 sides' })
    expect(grace.status).toBe('live')
  })

  test('each member may say what it does, and stop doing so', async () => {
    const { w, grace, linus, edsger } = await three(3, topology)
    const stop = grace.answer(ask, (question, by) => `${by.name}: ${question}? yes`)
    edsger.answer(ask, () => 'no')
    expect(await outcome(w, linus.call(infoOf(grace), ask, 'war'))).toBe('Linus: war? yes')
    expect(await outcome(w, linus.call(infoOf(edsger), ask, 'war'))).toBe('no')
    stop()
    const error = await outcome(w, linus.call(infoOf(grace), ask, 'war'))
    expect(error).toEqual({ ok: false, code: 'away', reason: 'nothing answers to "ask" there' })
  })

  test('a note runs at all others, and nobody waits for it', async () => {
    const { w, ada, grace, linus, edsger } = await three(4, topology)
    const heard: string[] = []
    for (const session of [ada, grace, linus, edsger]) {
      session.answer(ask, (what, by) => {
        heard.push(`${session.me.name} hears ${what} of ${by.name}`)
        throw new Error('nobody is told')
      })
    }
    linus.note('all', ask, 'bye')
    linus.note(infoOf(ada), ask, 'hi')
    await w.run(1_000)
    expect(heard.sort()).toEqual([
      'Ada hears bye of Linus',
      'Ada hears hi of Linus',
      'Edsger hears bye of Linus',
      'Grace hears bye of Linus',
    ])
  })

  test('no answer in time', async () => {
    const { w, grace, linus } = await three(5, topology)
    const begun = w.now()
    const error = await outcome(w, linus.call(infoOf(grace), hang, null, { timeoutMs: 300 }))
    expect(error).toEqual({ ok: false, code: 'timeout', reason: 'no answer within 300 ms' })
    expect(w.now() - begun).toBeLessThan(310)
  })

  test('who is called dies meanwhile: nobody knows whether it ran', async () => {
    const { w, grace, linus, edsger } = await three(6, topology)
    const error = outcome(w, linus.call(infoOf(edsger), hang, null, { timeoutMs: 60_000 }))
    await w.run(100)
    w.kill(edsger)
    expect(await error).toMatchObject({ code: 'lost' })
    expect(await error).toMatchObject({ reason: expect.stringContaining('it may have run or not') })
    // Known is it as soon as the link is: in a mesh its own, in a star that of the server.
    expect(grace.status).toBe('live')
  })

  test('who calls comes back as the same player: its calls are of unknown fate', async () => {
    const { w, grace, linus } = await three(7, topology)
    const error = outcome(w, linus.call(infoOf(grace), hang, null, { timeoutMs: 60_000 }))
    await w.run(100)
    const before = infoOf(linus)
    const mend = w.partition([['Linus']])
    await w.run(15_000)
    mend()
    expect(await error).toMatchObject({ code: 'lost' })
    await w.runUntil(() => linus.me.inc !== before.inc && linus.status === 'live', 20_000)
    await w.run(2_000)
    // A member is its player: an older picture of it is as good.
    expect(await outcome(w, grace.call(before, slow, 4))).toBe(8)
  })

  test('what does not fit is refused before anything is sent', async () => {
    const { w, grace, linus } = await three(8, topology)
    const stranger = { player: 99, inc: 99, name: 'Nobody', kind: 'node', watches: false } as const
    const other = procedure('other', () => 1)
    const cases: [Promise<unknown>, string, RegExp][] = [
      [linus.call(infoOf(grace), other, 1), 'not-found', /"other" was not given to join/],
      [
        linus.call(infoOf(grace), slow, 1n as never),
        'bad-value',
        /the argument of "slow" .* a bigint/,
      ],
      [linus.call(infoOf(grace), slow, 1, { timeoutMs: -1 }), 'bad-value', /timeoutMs is 1 to/],
    ]
    for (const [promise, code, message] of cases) {
      const error = (await outcome(w, promise)) as HoldfastError
      expect(error).toMatchObject({ code })
      expect(error.message).toMatch(message)
    }
    const reason = 'the arguments of "ask" have 8192 bytes at most: 8202'
    expect(await outcome(w, linus.call(infoOf(grace), ask, 'x'.repeat(8_200)))).toEqual({
      ...{ ok: false, code: 'unfit', reason },
    })
    const gone = { ok: false, code: 'away', reason: '"Nobody" is not here' }
    expect(await outcome(w, linus.call(stranger, slow, 1))).toEqual(gone)
    expect(await outcome(w, linus.call(infoOf(grace), huge, null))).toMatchObject({
      code: 'failed',
      reason: expect.stringContaining('8192 bytes at most: 9002'),
    })
  })

  test('64 calls under way, and one more', async () => {
    const { w, grace, linus } = await three(9, topology)
    const all = Array.from({ length: 64 }, (_none, i) => linus.call(infoOf(grace), slow, i))
    const error = await outcome(w, linus.call(infoOf(grace), slow, 64))
    expect(error).toMatchObject({ code: 'overloaded' })
    const answers = await outcome(w, Promise.all(all))
    const doubled = Array.from({ length: 64 }, (_none, i) => ({ ok: true, value: 2 * i }))
    expect(answers).toEqual(doubled)
  })

  test('a session that was left: what is under way is of unknown fate, and no more is asked', async () => {
    const { w, grace, linus } = await three(10, topology)
    const error = outcome(w, linus.call(infoOf(grace), hang, null))
    linus.end('test')
    expect(await error).toMatchObject({ code: 'lost' })
    const after = await outcome(w, linus.call(infoOf(grace), slow, 1))
    expect(after).toMatchObject({ code: 'left' })
    expect(() => linus.note('all', slow, 1)).toThrow('cannot call slow: the session was left')
  })
})

describe('the server dies with a call under way', () => {
  test('in a star the call is of unknown fate, and the next one is answered', async () => {
    const { w, ada, grace, linus, edsger } = await three(11, 'star')
    const asked = [
      linus.call(infoOf(edsger), hang, null, { timeoutMs: 60_000 }),
      linus.call('primary', hang, null, { timeoutMs: 60_000 }),
    ]
    const errors = asked.map((one) => outcome(w, one))
    await w.run(100)
    w.kill(ada)
    for (const error of errors) expect(await error).toMatchObject({ code: 'lost' })
    await w.runUntil(() => linus.primary?.name === grace.me.name, 10_000)
    await w.run(1_000)
    expect(await outcome(w, linus.call('primary', roll, { sides: 6 }))).toBe(5)
    expect(await outcome(w, linus.call(infoOf(edsger), slow, 3))).toBe(6)
  })

  test('in a mesh a call between two others does not notice', async () => {
    const { w, ada, grace, linus, edsger } = await three(12, 'mesh')
    let release = (_answer: string): void => {}
    edsger.answer(ask, () => new Promise((resolve) => (release = resolve)))
    const answer = outcome(w, linus.call(infoOf(edsger), ask, 'still there', { timeoutMs: 60_000 }))
    await w.run(100)
    w.kill(ada)
    await w.runUntil(() => linus.primary?.name === grace.me.name, 10_000)
    release('yes')
    expect(await answer).toBe('yes')
  })
})

test('two builds with different procedures do not fit', async () => {
  const w = world({ seed: 13 })
  await w.join({ game: 'dice', types: [roll] })
  const other = w.join({ game: 'dice', types: [slow] })
  await expect(other).rejects.toMatchObject({
    code: 'schema',
    message: expect.stringContaining('procedure "slow" is here and not there') as string,
  })
})

test('B7: what changes costs less as a field of an object than as calls that tell it (PR-5)', async () => {
  const Dial = object('dial', { at: u16 })
  const turned = procedure('turned', () => {})
  const bytesOf = async (turn: (session: Session, at: number) => void): Promise<number> => {
    const w = world({ seed: 7, conditions: 'rtt=20,loss=2%' })
    const all: Session[] = []
    for (const name of ['Ada', 'Grace', 'Linus']) {
      all.push(await w.join({ game: 'dials', types: [Dial, turned], name, topology: 'star' }))
    }
    await w.run(3_000)
    all[1]!.create(Dial)
    await w.run(2_000)
    const rates: number[] = []
    for (let at = 0; at < 200; at++) {
      turn(all[1]!, at)
      await w.run(50)
      rates.push(all.reduce((sum, session) => sum + session.debug.figures().bytesPerSecond.out, 0))
    }
    return rates.slice(100).reduce((sum, rate) => sum + rate, 0) / 100
  }
  const asField = await bytesOf((session, at) => session.all(Dial)[0]!.set({ at }))
  const asCalls = await bytesOf((session, at) => session.note('all', turned, { at }))
  expect(asCalls).toBeGreaterThan(asField)
})
