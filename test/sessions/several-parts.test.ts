// Goal: a part with `most` has several definitions, each with a state and a face of its own; and a
// face knows when members change and the session ends, and has timers of the session's clock.
// Method: whole sessions in virtual time with small parts.
import { describe, expect, test } from 'vitest'
import { definePart, type PartHost } from '../../packages/holdfast/src/part.ts'
import { type SessionWorld, world } from '../../packages/sim/src/session-world.ts'
import { act } from './acting.ts'

interface Log {
  log: number[]
}

const heard: string[] = []
const journal = definePart({
  channel: 80,
  most: 3,
  text: (options: { step: number }) => `step ${options.step}`,
  keptText: () => 'v1',
  create: (): Log => ({ log: [] }),
  perform: (_, operation) => ({ changes: [operation], answer: operation }),
  apply: (state, change, { step }) => void state.log.push(...change.map((each) => each * step)),
  snapshot: ({ log }) => Uint8Array.from(log),
  restore: (bytes) => ({ log: [...bytes] }),
  face: (host: PartHost<Log>, { step }) => ({ host, step }),
  receive: ({ step }, from, message) => void heard.push(`${step}: ${from.name} ${message[0]}`),
})
const [One, Two, Three] = [1, 2, 3].map((step) => journal(`j${step}`, { step }))
const game = { game: 'journals', types: [Two!, One!] }

async function asked(w: SessionWorld, host: PartHost<Log>, bytes: number[]): Promise<void> {
  expect(await act(w, host.ask(Uint8Array.from(bytes)))).toMatchObject({ ok: true })
}

describe('definitions of one part', () => {
  test('have states, options and messages of their own, and newcomers get all', async () => {
    const w = world({ seed: 1, conditions: 'rtt=40' })
    const ada = await w.join({ ...game, name: 'Ada' })
    const bea = await w.join({ ...game, name: 'Bea' })
    await asked(w, bea.part(One!).host, [1, 2])
    await asked(w, bea.part(Two!).host, [3])
    await w.run(500)
    const cid = await w.join({ ...game, name: 'Cid' })
    for (const one of [ada, bea, cid]) {
      expect([one.part(One!).host.state, one.part(Two!).host.state]).toEqual([
        { log: [1, 2] },
        { log: [6] },
      ])
    }
    heard.length = 0
    bea.part(Two!).host.send('all', Uint8Array.of(7))
    await w.run(500)
    expect(heard).toEqual(['2: Bea 7', '2: Bea 7'])
    expect(ada.part(One!)).toBe(ada.part(One!))
    expect(ada.part(One!)).not.toBe(ada.part(Two!))
    expect(() => ada.part(Three!)).toThrow('the part "j3" was not given to join')
    expect(w.reported).toEqual([])
  })
  test('have as many bytes as others, but for one; other bytes are for none of them', async () => {
    const w = world({ seed: 2, conditions: 'rtt=40' })
    const { host } = (await w.join(game)).part(One!)
    const most = 16 * 1024 - 64
    expect(await act(w, host.ask(new Uint8Array(most - 1)))).toMatchObject({ ok: true })
    expect(await act(w, host.ask(new Uint8Array(most)))).toMatchObject({ code: 'unfit' })
    expect(() => host.send('all', new Uint8Array(8_192))).toThrow('at most 8191 bytes: 8192')
  })
  test('survive the death of their server', async () => {
    const w = world({ seed: 3, conditions: 'rtt=40' })
    const all = [await w.join(game), await w.join(game), await w.join(game)]
    await w.runUntil(() => all.every(({ safety }) => safety === 'backed-up'), 10_000)
    const { host } = all[2]!.part(Two!)
    const asking = host.ask(Uint8Array.of(1))
    w.kill(all[0]!)
    expect(await act(w, asking)).toMatchObject({ ok: true })
    await asked(w, host, [2])
    await w.run(500)
    expect(all[1]!.part(Two!).host.state).toEqual({ log: [2, 4] })
  })
  test('are most by number', async () => {
    const all = [1, 2, 3, 4].map((step) => journal(`k${step}`, { step }))
    const joining = world({ seed: 4 }).join({ ...game, types: all })
    await expect(joining).rejects.toThrow('a game has 3 types of parts at most: 4')
    const plan = { channel: 64, text: () => '', create: () => ({}), face: () => ({}) }
    for (const most of [0, 65, 1.5]) {
      expect(() => definePart({ ...plan, most })).toThrow(`most of a part is 1 to 64: ${most}`)
    }
    expect(() => definePart({ ...plan, keptText: 'v' as never })).toThrow('keptText of a part')
  })
})

describe('a stored room', () => {
  async function stored(types: typeof game.types): Promise<SessionWorld> {
    const w = world({ seed: 5, conditions: 'rtt=20' })
    const ada = await w.join({ ...game, types })
    await asked(w, ada.part(Two!).host, [1])
    await w.run(1_000)
    await asked(w, ada.part(Two!).host, [2])
    await w.run(200)
    w.kill(ada)
    return w
  }

  test('is opened by a build with more definitions, in whatever order, and other options', async () => {
    const w = await stored([Two!])
    const other = journal('j2', { step: 5 })
    const ada = await w.join({ ...game, types: [Three!, other, One!] })
    expect(ada.part(other).host.state).toEqual({ log: [2, 10] })
    expect(ada.part(One!).host.state).toEqual({ log: [] })
    await asked(w, ada.part(Three!).host, [1])
    await asked(w, ada.part(other).host, [1])
    expect([ada.part(Three!).host.state, ada.part(other).host.state]).toEqual([
      { log: [3] },
      { log: [2, 10, 5] },
    ])
  })
  test('stays shut to a build that lacks one, which is named', async () => {
    const w = await stored([Two!, One!])
    const joining = w.join({ ...game, types: [Two!] })
    await expect(joining).rejects.toMatchObject({
      code: 'schema',
      message: expect.stringContaining('this build has no j1 part 80 "v1"') as string,
    })
  })
})

describe('a face', () => {
  test('has timers by the session’s clock, which end with it', async () => {
    const w = world({ seed: 6, conditions: 'rtt=40' })
    const [ada, bea] = [await w.join(game), await w.join(game)]
    const { host } = bea.part(One!)
    const { host: other } = bea.part(Two!)
    await w.run(1_000)
    const fired: string[] = []
    const from = w.now()
    const note = (name: string) => () => void fired.push(`${name} ${w.now() - from}`)
    host.after(300, note('c'))
    other.after(100, note('a'))
    host.after(200, () => {
      note('b')()
      host.after(0, note('b2'))
    })
    const stop = host.after(150, note('stopped'))
    host.after(120, () => stop())
    await w.run(1_000)
    expect(fired).toEqual(['a 100', 'b 200', 'b2 200', 'c 300'])
    expect(() => host.after(-1, note('x'))).toThrow('after of the part "j1" takes milliseconds')
    expect(() => host.after(1, 5 as never)).toThrow('is a function: 5')
    host.after(50, note('late'))
    bea.end('over')
    host.after(50, note('later'))
    await w.run(1_000)
    expect(fired).toHaveLength(4)
    expect(ada.status).toBe('live')
  })
  test('knows who serves and who is here, and when the session ends', async () => {
    const w = world({ seed: 7, conditions: 'rtt=40' })
    const all = []
    for (const name of ['Ada', 'Bea', 'Cid']) all.push(await w.join({ ...game, name }))
    await w.run(2_000)
    const { host } = all[2]!.part(One!)
    const seen: string[] = []
    host.on('members', () => seen.push(`${host.members.length} ${host.primary?.name}`))
    host.on('end', ({ code, reason }) => seen.push(`${code}: ${reason}`))
    w.kill(all[0]!)
    await w.run(10_000)
    expect(seen.at(-1)).toBe('2 Bea')
    all[2]!.end('the window closed')
    expect(seen.at(-1)).toBe('left: the window closed')
  })
})
