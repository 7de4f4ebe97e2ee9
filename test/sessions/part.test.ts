// Goal: a part that somebody brought can do what ours can, and its mistakes cost one call each.
// Method: whole sessions in virtual time with small parts that count, say and fail.
import { calmly } from '../calmly.ts'
import { describe, expect, test } from 'vitest'
import {
  create,
  customMessage,
  customPart,
  type CustomEvent,
} from '../../packages/holdfast/src/custom/protocol/custom.ts'
import type { PartOut } from '../../packages/holdfast/src/kind/protocol/part.ts'
import { object, u8 } from '../../packages/holdfast/src/index.ts'
import {
  decode,
  definePart,
  encode,
  type PartHost,
  type PartPlan,
  refuse,
} from '../../packages/holdfast/src/part.ts'
import { type SessionWorld, world } from '../../packages/sim/src/session-world.ts'
import {
  decode as decodeLayout,
  encode as encodeLayout,
} from '../../packages/holdfast/src/wire/layout.ts'

interface Sum {
  sum: number
}

const heard: string[] = []
const counting = {
  channel: 70,
  text: (options: { step: number }) => `step ${options.step}`,
  create: (): Sum => ({ sum: 0 }),
  perform: (state, [what = 0], by, { step }) => {
    if (what === 1) refuse('not one')
    if (what === 2) throw new TypeError('a mistake')
    if (what === 4) return { changes: Array.from({ length: 257 }, () => new Uint8Array(1)) }
    if (what === 5) return { changes: ['text' as unknown as Uint8Array] }
    if (what === 6) return null as unknown as { changes: [] }
    return { changes: [Uint8Array.of(what)], answer: Uint8Array.of(state.sum + step, by.player) }
  },
  apply: (state, [what = 0], { step }) => {
    if (what === 3) throw new Error('cannot apply three')
    state.sum += step
  },
  snapshot: ({ sum }) => encode(u8, sum),
  restore: (bytes) => {
    const sum = decode(u8, bytes)
    return sum === null ? null : { sum }
  },
  face: (host: PartHost<Sum>) => ({ host, heard: [] as string[] }),
  receive: (face, from, message) => {
    if (message[0] === 9) throw new Error('cannot hear nine')
    heard.push(`${face.host.me.name} < ${from.name}: ${message.join(' ')}`)
  },
} satisfies PartPlan<{ step: number }, Sum, { host: PartHost<Sum>; heard: string[] }>
const counter = definePart(counting)
const Count = counter('count', { step: 2 })
const game = { game: 'counts', types: [Count] }

async function three(seed: number, topology: 'star' | 'mesh' = 'star') {
  const w = world({ seed, conditions: 'rtt=40' })
  const all = []
  for (const name of ['Ada', 'Bea', 'Cid']) all.push(await w.join({ ...game, name, topology }))
  await w.run(3_000)
  heard.length = 0
  return { w, all, hosts: all.map((session) => session.part(Count).host) }
}

async function settled<Value>(w: SessionWorld, promise: Promise<Value>): Promise<Value> {
  let isOver = false
  const watched = promise.finally(() => (isOver = true))
  watched.catch(() => {})
  await w.runUntil(() => isOver, 60_000)
  return watched
}

describe('definePart', () => {
  const plan = { channel: 64, text: () => '', create: () => ({}), face: () => ({}) }
  const no = (given: object) => () => definePart({ ...plan, ...given })

  test.each([63, 256, 64.5, NaN, '64', undefined])('refuses the channel %s', (channel) => {
    expect(no({ channel })).toThrow('the channel of a part is 64 to 255')
    expect(no({ channel })).toThrow(expect.objectContaining({ code: 'bad-value' }))
  })
  test('refuses verbs that are no functions, or answer later, and some of four', () => {
    expect(no({ text: 'v1' })).toThrow('text of a part is a function: "v1"')
    expect(no({ face: undefined })).toThrow('face of a part is a function')
    expect(no({ receive: 1 })).toThrow('receive of a part is a function: 1')
    expect(no({ create: async () => ({}) })).toThrow('create of a part answers at once')
    expect(no({ perform: () => ({}) })).toThrow('a part with perform has apply too')
    expect(no({ performs: () => ({}) })).toThrow('did you mean "perform"?')
  })
  test('refuses names, texts and states that are none', async () => {
    expect(() => definePart(plan)('')).toThrow('1 to 32 characters')
    expect(() => definePart({ ...plan, text: () => 1 as never })('x')).toThrow('gives a text: 1')
    const none = definePart({ ...plan, create: () => 1 as never })('none')
    const joining = world({ seed: 1 }).join({ game: 'x', types: [none] })
    await expect(joining).rejects.toThrow('create of the part "none" gives an object: 1')
  })
  test('two parts of one channel are refused, and a part that was not given', async () => {
    const [one, other] = [definePart(plan)('one'), definePart(plan)('other')]
    const w = world({ seed: 1 })
    const joining = w.join({ game: 'x', types: [one, other] })
    await expect(joining).rejects.toThrow('two kinds of parts have the channel 64')
    const session = await w.join({ game: 'x', types: [one] })
    expect(session.part(one)).toBe(session.part(one))
    expect(() => session.part(other)).toThrow('the part "other" was not given to join')
    const Dot = object('dot', { hue: u8 })
    expect(() => session.part(Dot as never)).toThrow('made by slots() or definePart()')
    session.end('over')
    expect(session.part(one)).toBeTypeOf('object')
  })
  test('options are what two builds must agree on', async () => {
    const w = world({ seed: 1 })
    await w.join(game)
    const joining = w.join({ ...game, types: [counter('count', { step: 3 })] })
    await expect(joining).rejects.toMatchObject({ code: 'schema' })
  })
})

describe('an operation', () => {
  test('answers, is refused or fails; its mistakes are reported once', async () => {
    const { w, hosts } = await three(1)
    const ask = (what: number) => settled(w, hosts[2]!.ask(Uint8Array.of(what)))
    expect(await ask(0)).toEqual({ ok: true, value: Uint8Array.of(2, 3) })
    expect(await ask(0)).toEqual({ ok: true, value: Uint8Array.of(4, 3) })
    expect(await ask(1)).toEqual({ ok: false, code: 'refused', reason: 'not one' })
    expect(w.reported).toEqual([])
    expect(await ask(2)).toEqual({ ok: false, code: 'failed', reason: 'a mistake' })
    expect(await ask(2)).toMatchObject({ code: 'failed' })
    expect(await ask(4)).toMatchObject({ reason: expect.stringContaining('256 changes at most') })
    expect(await ask(5)).toMatchObject({ reason: expect.stringContaining('is a Uint8Array') })
    expect(await ask(6)).toMatchObject({ reason: expect.stringContaining('gives an object') })
    expect(w.reported.filter((one) => one.includes('a mistake'))).toHaveLength(1)
    expect(hosts.map(({ state }) => state.sum)).toEqual([4, 4, 4])
  })
  test('an apply that throws costs that change, at all alike', async () => {
    const { w, hosts } = await three(2)
    for (const what of [0, 3, 0]) {
      expect(await settled(w, hosts[1]!.ask(Uint8Array.of(what)))).toMatchObject({ ok: true })
    }
    await w.run(1_000)
    expect(hosts.map(({ state }) => state.sum)).toEqual([4, 4, 4])
    expect(w.reported.join()).toContain('apply of the part "count": Error: cannot apply three')
    const late = (await w.join(game)).part(Count)
    expect(late.host.state.sum).toBe(4)
  })
  test('what cannot be asked rejects, what nobody can tell is lost', async () => {
    const { w, all, hosts } = await three(3)
    const long = hosts[1]!.ask(new Uint8Array(16_321))
    const reason = 'an operation has at most 16320 bytes: 16321'
    expect(await long).toEqual({ ok: false, code: 'unfit', reason })
    await expect(hosts[1]!.ask('x' as never)).rejects.toMatchObject({ code: 'bad-value' })
    const asking = hosts[2]!.ask(Uint8Array.of(0))
    all[2]!.end('over')
    expect(await settled(w, asking)).toMatchObject({ ok: false, code: 'lost' })
    await expect(hosts[2]!.ask(Uint8Array.of(0))).rejects.toMatchObject({ code: 'left' })
    expect(() => hosts[2]!.send('all', Uint8Array.of(1))).toThrow('the session was left')
  })
})

test('T38: whose part does not take the snapshot does not stand by, and loses nothing', async () => {
  const Broken = definePart({ ...counting, restore: () => null })('count', { step: 2 })
  const w = world({ seed: 9, conditions: 'rtt=40' })
  const ada = await w.join({ ...game, name: 'Ada' })
  const bea = await w.join({ ...game, name: 'Bea', types: [Broken] })
  await settled(w, ada.part(Count).host.ask(Uint8Array.of(0)))
  await w.run(5_000)
  expect(ada.safety).not.toBe('backed-up')
  expect(bea.member!.counters.unrestored).toBeGreaterThan(0)
  const cid = await w.join({ ...game, name: 'Cid' })
  expect(await w.runUntil(() => ada.safety === 'backed-up', 60_000)).toBe(true)
  w.kill(ada)
  expect(await w.runUntil(() => cid.primary?.player === cid.me.player, 20_000)).toBe(true)
  expect(cid.part(Count).host.state.sum).toBe(2)
})

describe.each(['star', 'mesh'] as const)('a message in a %s', (topology) => {
  test('goes to one or to all others, in order, and says of whom', async () => {
    const { w, hosts } = await three(4, topology)
    const [ada, bea, cid] = hosts
    cid!.send('all', Uint8Array.of(1))
    cid!.send(bea!.me, Uint8Array.of(2))
    await w.run(500)
    expect(heard.filter((one) => one.startsWith('Ada'))).toEqual(['Ada < Cid: 1'])
    expect(heard.filter((one) => one.startsWith('Bea'))).toEqual(['Bea < Cid: 1', 'Bea < Cid: 2'])
    heard.length = 0
    ada!.send('all', Uint8Array.of(3))
    await w.run(500)
    expect(heard.toSorted()).toEqual(['Bea < Ada: 3', 'Cid < Ada: 3'])
  })
  test('that a receiver throws at is reported, and the next one comes', async () => {
    const { w, hosts } = await three(5, topology)
    hosts[1]!.send('all', Uint8Array.of(9))
    hosts[1]!.send('all', Uint8Array.of(8))
    await w.run(500)
    expect(heard.toSorted()).toEqual(['Ada < Bea: 8', 'Cid < Bea: 8'])
    expect(w.reported.join()).toContain('receive of the part "count": Error: cannot hear nine')
  })
  test('too many, too long or to nobody are refused', async () => {
    const { w, hosts } = await three(6, topology)
    const [ada, bea] = hosts
    expect(() => bea!.send('all', new Uint8Array(8_193))).toThrow('at most 8192 bytes: 8193')
    expect(() => bea!.send({ ...ada!.me, player: 9 }, Uint8Array.of(1))).toThrow('no member')
    const many = (): void => {
      for (let i = 0; i < 401; i++) bea!.send(ada!.me, Uint8Array.of(1))
    }
    expect(many).toThrow(expect.objectContaining({ code: 'overloaded' }))
    await w.run(5_000)
    expect(heard).toHaveLength(400)
  })
})

describe('the machine', () => {
  const author = {
    create: () => ({ log: [] as number[] }),
    perform: () => ({ kind: 'refused', reason: '' }) as const,
    apply: (state: unknown, [what = 0]: Uint8Array) => {
      ;(state as { log: number[] }).log.push(what)
    },
    snapshot: (state: unknown) => Uint8Array.from((state as { log: number[] }).log),
    restore: (bytes: Uint8Array) => (bytes[0] === 255 ? null : { log: [...bytes] }),
  }
  const part = customPart(64, author)
  const members = [1, 2, 3].map((inc) => ({ inc, player: inc }))
  const seen = { session: 's', epoch: 1, mesh: false, members, left: false }
  const sent: string[] = []
  const events: CustomEvent[] = []
  const out: PartOut = {
    send: (to, bytes) => sent.push(`${to} ${decodeLayout(customMessage, bytes)?.kind}`),
    emit: (event) => void events.push(event as CustomEvent),
  }
  const at = (me: number, primary = 1) => {
    sent.length = 0
    events.length = 0
    const state = create(author)
    part.view!(state, 0, { ...seen, me, primary }, out)
    return state
  }
  const changes = (before: number, ...all: number[]): Uint8Array => {
    const made = all.map((one) => Uint8Array.of(one))
    return encodeLayout(customMessage, { kind: 'changes', before, changes: made })
  }

  test('makes each change once, and none behind a gap', () => {
    const state = at(3)
    for (const news of [changes(0, 1), changes(0, 1), changes(2, 9), changes(1, 2, 3)]) {
      part.receive!(state, 0, 1, news, out)
    }
    expect(state.published).toEqual({ made: 3, state: { log: [1, 2, 3] } })
    expect(state.counters).toMatchObject({ again: 1, gaps: 1 })
  })
  test('brings up to date what missed something, in pieces, and goes on from there', () => {
    const primary = at(1)
    for (let i = 0; i < 70_000; i++) part.apply!(primary, Uint8Array.of(i % 200))
    const pieces = part.welcome!(primary)
    expect(pieces.length).toBe(3)
    const state = at(3)
    events.length = 0
    for (const piece of pieces) part.receive!(state, 0, 1, piece, out)
    expect(events).toEqual([{ kind: 'custom-changed' }])
    part.receive!(state, 0, 1, changes(70_000, 7), out)
    expect(events).toHaveLength(2)
    expect(state.published.made).toBe(70_001)
    expect(part.restore!(primary, part.published!(state))).toBe(true)
    expect(primary.committed).toEqual(state.published)
  })
  test('of a member that begins anew has nothing of what it was before', () => {
    const state = at(3)
    part.receive!(state, 0, 1, changes(0, 1, 2), out)
    part.apply!(state, Uint8Array.of(3))
    events.length = 0
    part.reset!(state, out)
    expect({ ...state, me: 0, primary: 0, here: new Map() }).toEqual(create(author))
    expect(events).toEqual([{ kind: 'custom-changed' }])
  })
  test('takes state and changes of who serves alone, and snapshots that are some', () => {
    const state = at(3)
    part.receive!(state, 0, 2, changes(0, 1), out)
    expect(state.published.made).toBe(0)
    expect(part.restore!(state, Uint8Array.of(0, 1, 1, 255))).toBe(false)
    expect(part.restore!(state, Uint8Array.of(9, 9, 9))).toBe(false)
    expect(state.committed.made).toBe(0)
    expect(state.counters).toMatchObject({ dropped: 1, refused: 2 })
  })
  test('passes on for members alone, within bounds, and as who serves alone', () => {
    const say = (to: number) =>
      calmly(() => encodeLayout(customMessage, { kind: 'say', to, bytes: new Uint8Array(8_192) }))
    const state = at(1)
    for (const to of [3, 0, 7]) part.receive!(state, 0, 2, say(to), out)
    expect(sent).toEqual(['3 said', '3 said'])
    expect(events).toMatchObject([{ kind: 'custom-received', from: 2 }])
    part.receive!(state, 0, 8, say(3), out)
    for (let i = 0; i < 100; i++) part.receive!(state, 0, 2, say(3), out)
    expect(sent.length).toBeLessThan(16)
    // Nor beyond what its player may ask for (SE-10).
    sent.length = 0
    const { dropped } = state.counters
    part.receive!(state, 60_000, 2, say(3), { ...out, charge: () => false })
    expect([sent, state.counters.dropped]).toEqual([[], dropped + 1])
    events.length = 0
    const idle = at(3)
    part.receive!(idle, 0, 2, say(1), out)
    part.receive!(
      idle,
      0,
      1,
      encodeLayout(customMessage, {
        ...{ kind: 'said', from: 9, bytes: Uint8Array.of(1) },
      } as const),
      out,
    )
    expect([sent, events]).toEqual([[], []])
    expect(idle.counters.dropped).toBe(2)
  })
  test('bytes by chance do nothing', () => {
    const state = at(3)
    let seed = 1
    const byte = (): number => (seed = (seed * 48_271) % 2_147_483_647) & 255
    for (let i = 0; i < 3_000; i++) {
      const bytes = Uint8Array.from({ length: byte() % 12 }, byte)
      part.receive!(state, 0, 1, bytes, out)
      part.receive!(state, 0, 2, bytes, out)
      part.restore!(state, bytes)
    }
    expect(state.counters.malformed).toBeGreaterThan(5_000)
  })
})

test('encode and decode: a value as exactly its bytes', () => {
  expect(encode(u8, 7)).toEqual(Uint8Array.of(7))
  expect(decode(u8, Uint8Array.of(7))).toBe(7)
  for (const bytes of [[], [7, 0]]) expect(decode(u8, Uint8Array.from(bytes))).toBe(null)
  expect(() => encode(u8, 'x' as never)).toThrow(expect.objectContaining({ code: 'bad-value' }))
})
