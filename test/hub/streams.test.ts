// Goal: a stream is heard once it said who it is, and speaks for one member of one session.
// Method: the hub's machine with streams by hand, on a clock of the test.
import { describe, expect, test } from 'vitest'
import { deadline, wake } from '../../packages/hub/src/machine/hub.ts'
import {
  HUB_VERSION,
  type ToHub,
  toHub,
} from '../../packages/holdfast/src/hub-protocol/messages.ts'
import * as relayedPairs from '../../packages/hub/src/machine/relayed-pairs.ts'
import type * as register from '../../packages/hub/src/machine/register.ts'
import { encode } from '../../packages/holdfast/src/wire/layout.ts'
import { frameKnock, frameRelay } from '../../packages/holdfast/src/wire/relay.ts'
import { Desk, HUB_KEY, linkOf, listed, proof, OPEN } from './desk.ts'

const ONE = '192.0.2.1'
const TWO = '192.0.2.2'
const DATAGRAM = Uint8Array.of(1, 2, 3)
const HELLO: ToHub = { kind: 'hello', version: HUB_VERSION }
const GONE = { kind: 'present', here: false }

describe('a stream that opens', () => {
  test('says hello, and hears the version and the key of the hub (PR-2)', () => {
    const desk = new Desk()
    expect(desk.say(desk.dial(), HELLO)).toEqual([
      { kind: 'welcome', version: HUB_VERSION, boot: 1 },
      { kind: 'signs', key: HUB_KEY },
    ])
    expect(desk.closed.size).toBe(0)
  })
  test.each([HUB_VERSION - 1, HUB_VERSION + 1])(
    'with version %i hears which the hub has, and is closed (PR-2)',
    (version) => {
      const desk = new Desk()
      const stream = desk.dial()
      const heard = desk.say(stream, { kind: 'hello', version })
      expect(heard).toEqual([{ kind: 'welcome', version: HUB_VERSION, boot: 1 }])
      const why = `speaks version ${version}, this hub version ${HUB_VERSION}`
      expect(desk.closings.get(stream)).toEqual({ kind: 'refused', why })
      expect(desk.say(stream, { kind: 'get', request: 1, session: 'x' })).toEqual([])
    },
  )
  test('has five seconds for its hello, to the millisecond (SE-9)', () => {
    const desk = new Desk()
    const [mute, talks, goes] = [desk.dial(), desk.dial(), desk.dial()]
    desk.go(1_000)
    const late = desk.dial()
    desk.say(talks, HELLO)
    desk.close(goes)
    desk.go(3_999)
    expect(desk.closed.size).toBe(0)
    desk.go(1)
    const why = 'limit stream.hello: at most 5,000 ms without a hello'
    expect([...desk.closings]).toEqual([[mute, { kind: 'refused', why }]])
    desk.go(999)
    expect(desk.closed.has(late)).toBe(false)
    desk.go(1)
    expect([...desk.closed.keys()]).toEqual([mute, late])
    expect(desk.hub.counters.mute).toBe(2)
    expect(desk.hub.budgets.refused['stream.hello']).toBe(2)
  })
  test('is counted as mute once, however long its end takes (PR-2)', () => {
    const desk = new Desk()
    const mute = desk.dial()
    const closings: number[] = []
    const out = { ...desk.out, close: (connection: number) => void closings.push(connection) }
    for (const now of [5_000, 5_000, 9_000]) wake({ hub: desk.hub, now, out })
    expect([closings, desk.hub.counters.mute]).toEqual([[mute], 1])
    expect(deadline(desk.hub)).toBeGreaterThan(9_000)
  })
  test.each<[string, Uint8Array]>([
    ['a request', Uint8Array.of(0, ...encode(toHub, { kind: 'ping', count: 1 }))],
    ['a knock', frameKnock(0, DATAGRAM)],
    ['a datagram for a member', frameRelay(2, DATAGRAM)],
    ['a hello that comes as a datagram', frameRelay(2, encode(toHub, HELLO))],
    ['no frame', Uint8Array.of(99)],
    ['nothing', new Uint8Array(0)],
  ])('says hello first: %s closes it as malformed, and is counted (PR-2)', (_what, bytes) => {
    const desk = new Desk()
    desk.session(1)
    const stream = desk.dial()
    expect(desk.bytes(stream, bytes)).toEqual([])
    const closing = { kind: 'refused', why: 'malformed message' }
    expect(desk.closings.get(stream)).toEqual(closing)
    expect(desk.hub.counters.malformed).toBe(1)
  })
  test('that is closed already may be closed again, or say something, and nothing comes of it (PR-2)', () => {
    const desk = new Desk()
    const stream = desk.open()
    desk.close(stream)
    desk.close(stream)
    expect(desk.say(stream, { kind: 'ping', count: 1 })).toEqual([])
  })
})

describe('a stream that attaches', () => {
  test('is told whether the session or its place in it is missing (PR-2)', () => {
    const desk = new Desk()
    const { id } = desk.session(1)
    const stream = desk.open()
    expect(desk.attach(stream, 'none', 2)).toMatchObject([{ why: 'no session none' }])
    const why = `member 2 is not in session ${id}`
    expect(desk.attach(stream, id, 2)).toMatchObject([{ kind: 'refused', request: 2, why }])
  })
  test('hears who else is here, and the others hear of it, but not it itself (PR-2)', () => {
    const desk = new Desk()
    const { id, streams } = desk.session(2)
    const again = desk.attach(streams[1]!, id, 2)
    expect(again).toMatchObject([{ kind: 'attached', request: 2, session: id, present: [1, 2] }])
    const news = desk.heard.get(streams[0]!)!
    expect(news.filter(({ kind }) => kind === 'present')).toEqual([
      { kind: 'present', session: id, inc: 2, here: true },
      { kind: 'present', session: id, inc: 2, here: true },
    ])
  })
  test('as a member of the same number in another session is gone from the first (PR-2)', () => {
    const desk = new Desk()
    const one = desk.session(2, 'one')
    const two = desk.session(2, 'two')
    desk.attach(one.streams[1]!, two.id, 2)
    const news = desk.heard.get(one.streams[0]!)!
    expect(news.at(-1)).toMatchObject({ ...GONE, session: one.id, inc: 2 })
    // The stream that spoke for 2 there before speaks for nobody.
    desk.bytes(two.streams[1]!, frameRelay(1, DATAGRAM))
    expect(desk.relayed).toEqual([])
  })
  test('and detaches is counted once among those of its address that speak (SE-9)', () => {
    const desk = new Desk()
    const { id, streams } = desk.session(2, 'main', ONE)
    const { speaking } = { speaking: () => desk.hub.budgets.accounts.get(ONE)!.speaking }
    expect(speaking()).toBe(2)
    desk.attach(streams[1]!, id, 2)
    expect(speaking()).toBe(2)
    const newer = desk.open(ONE)
    desk.attach(newer, id, 2)
    expect(speaking()).toBe(2)
    desk.close(streams[1]!)
    desk.say(newer, { kind: 'list', request: 1, game: '', after: '' })
    expect(speaking()).toBe(2)
    desk.add(newer, 'elsewhere')
    expect(speaking()).toBe(1)
    desk.close(streams[0]!)
    expect(speaking()).toBe(0)
  })
  test('T23: while a change is on its way to the disk gets the register that comes of it (SE-5)', () => {
    const desk = new Desk()
    const { id, streams } = desk.session(2)
    const change = { kind: 'change', request: 9, session: id, inc: 1, proof: proof(1) } as const
    for (const [trouble, epoch] of [['full', 1] as const, [null, 2] as const]) {
      desk.atOnce = false
      desk.say(streams[0]!, { ...change, expect: 1, primary: 1, backup: 2, why: 'add' })
      const [stream, asker, gone] = [desk.open(), desk.open(), desk.open()]
      for (const one of [stream, gone]) expect(desk.attach(one, id, 2)).toEqual([])
      // One that waits for two things gets both, and each stream its own.
      for (const one of [stream, asker]) {
        expect(desk.say(one, { kind: 'get', request: 7, session: id })).toEqual([])
      }
      desk.close(gone)
      desk.write(trouble)
      expect(desk.heard.get(stream)!.slice(2)).toMatchObject([
        { kind: 'attached', register: { epoch } },
        { kind: 'register', request: 7, register: { epoch } },
      ])
      expect(desk.heard.get(asker)!.at(-1)).toMatchObject({ kind: 'register', request: 7 })
      expect([desk.hub.pendingRequests.size, desk.hub.waiting.size]).toEqual([0, 0])
    }
  })
})

describe('a member that is listed', () => {
  test('SE-8: as number 0 is none: that list is not taken, and nobody attaches as 0 (PR-2)', () => {
    const desk = new Desk()
    const { id, streams } = desk.session(1)
    desk.say(streams[0]!, {
      kind: 'members',
      session: id,
      members: [listed(0, 1), listed(1)],
      players: 2,
    })
    expect(desk.hub.counters.forged).toBe(1)
    expect(desk.attach(desk.open(), id, 0, 1)).toMatchObject([{ kind: 'refused' }])
    expect([...desk.hub.attached.get(id)!.keys()]).toEqual([1])
  })
  test('T20: of a primary that does not list itself nobody knows the key (PR-2)', () => {
    const desk = new Desk()
    const { id, streams } = desk.session(2)
    desk.hub.registers.rows.get(id)!.certificate = null
    desk.say(streams[0]!, { kind: 'members', session: id, members: [listed(2)], players: 1 })
    const [answer] = desk.say(desk.open(), { kind: 'get', request: 3, session: id })
    expect(answer).toMatchObject({ kind: 'register', leader: null })
  })
  test('who leads is signed once an epoch, however many ask (PR-2)', () => {
    const desk = new Desk()
    const { id, streams } = desk.session(2)
    const ask = (): unknown => desk.say(desk.open(), { kind: 'get', request: 3, session: id })[0]
    const first = ask()
    // The key that was signed holds until the next epoch.
    desk.say(streams[0]!, {
      ...{ kind: 'members', session: id, players: 2 },
      members: [{ ...listed(1), link: linkOf(7) }, listed(2)],
    })
    expect(ask()).toEqual(first)
    const change = { kind: 'change', request: 9, session: id, inc: 1, proof: proof(1) } as const
    desk.say(streams[0]!, { ...change, expect: 1, primary: 1, backup: 2, why: 'add' })
    expect(ask()).toMatchObject({ register: { epoch: 2 }, leader: { link: linkOf(7) } })
  })
  test.each(['members', 'yes', 'alive'] as const)(
    'T28: %s of the primary of another session count for nothing here (PR-2)',
    (kind) => {
      const desk = new Desk()
      const [one, two] = [desk.session(1, 'one'), desk.session(1, 'two')]
      const row = desk.hub.registers.rows.get(two.id)!
      const before = [row.members, row.heard]
      const said: Record<typeof kind, ToHub> = {
        members: { kind: 'members', session: two.id, members: [listed(1), listed(3)], players: 2 },
        yes: { kind: 'yes', session: two.id, epoch: 1, nonce: 7, players: 1 },
        alive: { kind: 'alive', session: two.id, epoch: 1, nonce: 7 },
      }
      desk.say(one.streams[0]!, said[kind])
      expect([row.members, row.heard]).toEqual(before)
      // An answer to a question is no more than late.
      expect(desk.hub.counters.forged).toBe(kind === 'yes' ? 0 : 1)
    },
  )
})

describe('a pair of members counts as relayed', () => {
  /** How many pairs do, of three members, after so many datagrams of the first and the second. */
  function pairs(counts: readonly [number, number], waitMs: number, end?: (desk: Desk) => void) {
    const desk = new Desk()
    const { streams } = desk.session(3)
    for (const [at, count] of counts.entries()) {
      for (let n = 0; n < count; n++) desk.bytes(streams[at]!, frameRelay(2 - at, DATAGRAM))
    }
    desk.now += waitMs
    end?.(desk)
    return relayedPairs.count(desk.hub, desk.now)
  }
  test('where more than a spare path needs went one way in the last whole ten seconds', () => {
    expect([pairs([16, 16], 10_000), pairs([17, 0], 10_000), pairs([0, 17], 10_000)]).toEqual([
      0, 1, 1,
    ])
    expect([9_999, 10_000, 19_999, 20_000].map((ms) => pairs([17, 17], ms))).toEqual([0, 1, 1, 0])
  })
  test('no more once one of them is gone', () => {
    expect(pairs([17, 17], 10_000, (desk) => desk.close(2))).toBe(0)
  })
})

describe('a datagram', () => {
  test('of a member counts by its length, and one of a stranger costs as a message (SE-14)', () => {
    const desk = new Desk()
    const { streams } = desk.session(2)
    desk.bytes(streams[0]!, frameRelay(2, DATAGRAM))
    expect(desk.hub.counters).toMatchObject({ relayed: 1, relayedBytes: 3 })
    const stranger = desk.open()
    const { buckets } = desk.hub.connections.get(stranger)!
    const left = (): number => buckets['messages']!.left
    const before = left()
    // A knock costs one however long it is, for its bytes are paid for besides; to a member, too.
    for (const peer of [0, 2]) desk.bytes(stranger, frameKnock(peer, new Uint8Array(1_000)))
    expect(before - left()).toBe(2)
    expect(buckets).not.toHaveProperty('relayedPackets')
    const long = encode(toHub, { kind: 'list', request: 1, game: 'g', after: '' })
    desk.bytes(stranger, Uint8Array.of(0, ...long))
    expect(before - left()).toBeCloseTo(3 + (1 + long.length) / 1_024, 6)
  })
  test('T14: of a member to the primary that it found goes there, though it is attached (PR-2)', () => {
    const desk = new Desk()
    const { id, streams } = desk.session(2)
    const stream = desk.open()
    desk.add(stream, 'main', 9)
    desk.attach(stream, id, 2)
    desk.knock(stream, DATAGRAM)
    expect(desk.knocked).toEqual([{ to: streams[0], caller: stream, bytes: DATAGRAM }])
    expect(desk.hub.counters.astray).toBe(0)
  })
  test('T14: to the primary of a session that has ended is answered so (PR-2)', () => {
    const desk = new Desk()
    const { id, streams } = desk.session(1)
    const caller = desk.open()
    const never = [{ kind: 'refused', request: 0, why: 'no such session' }]
    expect(desk.knock(caller, DATAGRAM)).toEqual(never)
    desk.add(caller, 'main', 9)
    const end = { kind: 'change', request: 9, session: id, inc: 1, proof: proof(1) } as const
    desk.say(streams[0]!, { ...end, expect: 1, primary: 1, backup: 0, why: 'end' })
    expect(desk.knock(caller, DATAGRAM)).toEqual(never)
    // Those who were attached go as ever, and what they ask about it is answered.
    const why = `no session ${id}`
    const ended = { ...end, expect: 2, primary: 1, backup: 0, why: 'drop' } as const
    expect(desk.say(streams[0]!, ended)).toEqual([{ kind: 'refused', request: 9, why }])
    desk.close(streams[0]!)
    expect(desk.hub.attached.size).toBe(0)
  })
})

describe('the reason of a refusal', () => {
  const whys = (length: number, letter: string): { whole: string; heard: string } => {
    const desk = new Desk()
    desk.atOnce = false
    const stream = desk.open()
    desk.add(stream)
    const whole = letter.repeat(length)
    desk.write(whole)
    const last = desk.heard.get(stream)!.at(-1)!
    return { whole, heard: last.kind === 'refused' ? last.why : '' }
  }
  test.each([
    [200, 'x', 200],
    [201, 'x', 200],
    [66, '\u20ac', 66],
    [67, '\u20ac', 66],
  ])('of %i times %s has %i characters, and is never too long (PR-2)', (length, letter, kept) => {
    const { whole, heard } = whys(length, letter)
    expect(heard).toBe(whole.slice(0, kept))
    expect(new TextEncoder().encode(heard).length).toBeLessThanOrEqual(200)
  })
})

describe('who asks for a session', () => {
  const ask = (desk: Desk, other: Partial<register.SessionOptions>): unknown => {
    const { hash, link } = listed(1)
    const wish = { game: 'g', room: 'main', playersMax: 4, recovers: false, terms: '', hash, link }
    const said = { ...OPEN, ...wish, ...other }
    const message = { kind: 'add', request: 1, topology: 'star', ...said } as const
    return desk.say(desk.open(TWO), message)[0]
  }
  test.each<[Partial<register.SessionOptions>, string]>([
    [{ game: '' }, 'a session needs a game and a room'],
    [{ room: '' }, 'a session needs a game and a room'],
    [{ playersMax: 257 }, 'a session takes 1 to 256 players: 257'],
  ])('%j is refused, for %s (PR-2)', (wish, why) => {
    expect(ask(new Desk(), wish)).toEqual({ kind: 'refused', request: 1, why })
  })
  test('may have 256 players in it (PR-2)', () => {
    expect(ask(new Desk(), { playersMax: 256 })).toMatchObject({ kind: 'added', created: true })
  })
})
