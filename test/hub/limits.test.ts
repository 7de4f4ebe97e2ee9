// Goal: each limit is met at its number and not before, is told to who met it, and hurts nobody
// else.
// Method: the hub's machine with streams by hand, whose addresses and limits the test chooses.
import { describe, expect, test } from 'vitest'
import { TABLE } from '../../packages/hub/src/machine/limits.ts'
import type { FromHub } from '../../packages/holdfast/src/hub-protocol/messages.ts'
import { frameKnock, frameRelay } from '../../packages/holdfast/src/wire/relay.ts'
import { Desk, listed } from './desk.ts'

const ONE = '192.0.2.1'
const TWO = '192.0.2.2'
const kinds = (answers: FromHub[]): string[] => answers.map(({ kind }) => kind)

describe('words of a stream', () => {
  test('a stranger that says nothing for half a minute is closed, and not a moment before (SE-9)', () => {
    const { silence } = TABLE.stream
    const desk = new Desk()
    const mute = desk.open()
    desk.go(1_000)
    const pinging = desk.open()
    desk.go(silence.limit - 1_001)
    desk.say(pinging, { kind: 'ping', count: 1 })
    expect(desk.closed.size).toBe(0)
    desk.go(1)
    expect(desk.closings.get(mute)).toEqual({
      kind: 'refused',
      why: 'limit stream.silence: at most 30,000 ms of silence before joining',
    })
    desk.go(silence.limit - 2)
    expect(desk.closed.has(pinging)).toBe(false)
    desk.go(1)
    expect(desk.closed.has(pinging)).toBe(true)
    expect(desk.hub.budgets.refused['stream.silence']).toBe(2)
  })
  test('a member may be silent for ever (SE-9)', () => {
    const desk = new Desk()
    const { id, streams } = desk.session(2)
    desk.go(4 * TABLE.stream.silence.limit)
    expect(desk.closed.has(streams[1]!)).toBe(false)
    // Once it speaks for nobody it has as long as others.
    const { silence } = TABLE.stream
    desk.say(streams[0]!, { kind: 'members', session: id, members: [listed(1)], players: 1 })
    desk.go(silence.limit - 1)
    expect(desk.closed.has(streams[1]!)).toBe(false)
    desk.go(1)
    expect(desk.closed.has(streams[1]!)).toBe(true)
  })
  test('1,024 messages at once are heard, one more closes the stream and says why (SE-10)', () => {
    const desk = new Desk()
    const { streams } = desk.session(1)
    // It has said hello, add, attach, members, two of them as a stranger.
    for (let i = 5; i < 1_024; i++) desk.say(streams[0]!, { kind: 'ping', count: i })
    expect(desk.closed.size).toBe(0)
    desk.say(streams[0]!, { kind: 'ping', count: 0 })
    const why = 'limit stream.messages: at most 1,024 messages at once, 256 a second'
    expect(desk.closings.get(streams[0]!)).toEqual({ kind: 'refused', why })
    expect(desk.hub.counters.flooding).toBe(1)
  })
  test('a stranger’s messages cost one more for each kilobyte, a member’s do not (SE-10)', () => {
    const desk = new Desk({ stream: { messages: { max: 8, perSecond: 1 } } })
    const { id, streams } = desk.session(1)
    const members = Array.from({ length: 24 }, (_none, at) => ({
      ...{ inc: at + 1, player: 1, hash: new Uint8Array(16), link: new Uint8Array(32) },
      key: new Uint8Array(32),
    }))
    const list = { kind: 'members', session: id, members, players: members.length } as const
    // Four of the eight were for hello, add, attach and its own list, with some bytes.
    for (let i = 0; i < 3; i++) desk.say(streams[0]!, list)
    expect(desk.closed.size).toBe(0)
    const stranger = desk.open()
    for (let i = 0; i < 2; i++) desk.say(stranger, list)
    expect(desk.closed.has(stranger)).toBe(false)
    desk.say(stranger, list)
    expect(desk.closed.has(stranger)).toBe(true)
  })
  test('many streams of one address share its messages, and those of another have their own (SE-10)', () => {
    const desk = new Desk({ address: { messages: { max: 21, perSecond: 1 } } })
    const [one, two, other] = [ONE, ONE, TWO].map((at) => desk.open(at))
    for (let i = 0; i < 9; i++) {
      for (const stream of [one, two, other]) desk.say(stream!, { kind: 'ping', count: i })
    }
    expect(desk.closed.size).toBe(0)
    desk.say(one!, { kind: 'ping', count: 9 })
    expect([...desk.closed.keys()]).toEqual([one])
    expect(desk.closed.get(one!)).toMatch(/^limit address\.messages: at most 21 messages at once/)
  })
  test('strangers who say all that the hub hears are closed, and nobody who says little (SE-10)', () => {
    const desk = new Desk({ hub: { messages: { max: 200, perSecond: 10 } } })
    const { streams } = desk.session(2)
    const loud = Array.from({ length: 20 }, (_none, at) => desk.open(`198.51.100.${at}`))
    for (let i = 0; i < 400; i++) {
      for (const stream of loud)
        if (!desk.closed.has(stream)) desk.say(stream, { kind: 'ping', count: i })
    }
    const quiet = desk.open('203.0.113.1')
    for (const stream of [...streams, quiet]) desk.say(stream, { kind: 'ping', count: 0 })
    expect([...desk.closed.keys()].toSorted((a, b) => a - b)).toEqual(
      loud.toSorted((a, b) => a - b),
    )
    expect(desk.closed.get(loud[0]!)).toMatch(/^limit hub\.messages/)
  })
})

describe('lists', () => {
  const ask = { kind: 'list', game: '', after: '' } as const

  test('T29: cost by their length: 10 pages of 200 rooms at once, then a refusal, and no close (SE-10)', () => {
    const desk = new Desk()
    for (let room = 0; room < 220; room++) desk.session(1, `${room}`)
    const [stream, again] = [desk.open(ONE), desk.open(ONE)]
    const heard = (by: number, request: number): string => {
      return kinds(desk.say(by, { ...ask, request })).at(-1)!
    }
    let pages = 0
    while (heard(stream, pages) === 'last') pages++
    expect(pages).toBe(Math.floor(512 / 51))
    expect(heard(again, 1)).toBe('refused')
    expect(desk.closed.size).toBe(0)
    const why = 'limit address.lists: at most 512 parts of lists at once, 128 a second'
    expect(desk.say(stream, { ...ask, request: 7 })).toEqual([{ kind: 'refused', request: 7, why }])
    expect(heard(desk.open(TWO), 1)).toBe('last')
    desk.now += 1_000
    expect(heard(stream, 1)).toBe('last')
  })
})

describe('rooms', () => {
  const open = (desk: Desk, count: number, address = ONE): FromHub[] => {
    const stream = desk.open(address)
    const answers = Array.from({ length: count }, (_none, at) =>
      desk.add(stream, `${stream} ${at}`),
    )
    return answers.flat()
  }
  const why = (answers: FromHub[]): string => {
    const last = answers.at(-1)!
    return last.kind === 'refused' ? last.why.split(':')[0]! : last.kind
  }

  test('one stream opens 64 in its life, and not one more (SE-8)', () => {
    const desk = new Desk({ address: { registrations: { max: 999, perSecond: 1 } } })
    expect(why(open(desk, 64))).toBe('added')
    expect(why(open(desk, 65))).toBe('limit stream.registrations')
    expect(desk.hub.budgets.refused['stream.registrations']).toBe(1)
  })
  test('one address opens 64 at once on as many streams as it likes, then one a second (SE-8)', () => {
    const desk = new Desk()
    for (let stream = 0; stream < 4; stream++) expect(why(open(desk, 16))).toBe('added')
    expect(why(open(desk, 1))).toBe('limit address.registrations')
    expect(why(open(desk, 1, TWO))).toBe('added')
    desk.now += 1_000
    expect(why(open(desk, 1))).toBe('added')
    expect(why(open(desk, 1))).toBe('limit address.registrations')
  })
  test('one address has so many at a time: one that ends makes room for another (SE-8)', () => {
    const desk = new Desk({ address: { rooms: 3 } })
    const stream = desk.open(ONE)
    for (const room of ['a', 'b', 'c']) expect(kinds(desk.add(stream, room))).toEqual(['added'])
    expect(desk.add(stream, 'd')).toMatchObject([
      { why: 'limit address.rooms: at most 3 rooms founded' },
    ])
    // To find what is there costs nothing.
    expect(kinds(desk.add(stream, 'a', 9))).toEqual(['added'])
    desk.close(stream)
    expect(desk.hub.registers.rows.size).toBe(0)
    expect(why(open(desk, 3))).toBe('added')
  })
  test('a full hub gives the place of the room whose members are away for longest (SE-8)', () => {
    const desk = new Desk({ hub: { rooms: 3 } })
    const [one, two] = ['a', 'b'].map((room) => desk.session(1, room))
    desk.session(1, 'c')
    const stream = desk.open()
    expect(why(desk.add(stream, 'd'))).toBe('limit hub.rooms')
    desk.go(60_000)
    desk.close(two!.streams[0]!)
    desk.go(1_000)
    desk.close(one!.streams[0]!)
    desk.go(5_000)
    const again = desk.open()
    // Members that went a moment ago may be on their way back.
    expect(why(desk.add(again, 'd'))).toBe('limit hub.rooms')
    desk.go(6_000)
    expect(why(desk.add(again, 'd'))).toBe('limit hub.rooms')
    expect(desk.hub.registers.rows.has(two!.id)).toBe(false)
    expect(why(desk.add(again, 'd'))).toBe('added')
    expect(desk.hub.registers.rows.has(one!.id)).toBe(true)
  })
  test('the disk that takes nothing costs an address nothing (SE-5)', () => {
    const desk = new Desk()
    desk.atOnce = false
    const stream = desk.open(ONE)
    for (let i = 0; i < 100; i++) {
      desk.add(stream, 'main')
      desk.write('the disk is full')
    }
    desk.atOnce = true
    expect(kinds(desk.add(stream, 'main'))).toEqual(['added'])
    expect(desk.hub.budgets.accounts.get(ONE)!.rooms).toBe(1)
  })
})

describe('places in a room', () => {
  test('one address has so many streams in it, those that ask and those that play (SE-13)', () => {
    const desk = new Desk({ address: { seats: 3 } })
    const { id, streams } = desk.session(2, 'main', ONE)
    const asker = desk.open(ONE)
    expect(kinds(desk.add(asker, 'main', 9))).toEqual(['added'])
    // To ask again takes no more of them.
    expect(kinds(desk.add(asker, 'main', 9))).toEqual(['added'])
    const late = desk.open(ONE)
    const why = 'limit address.seats: at most 3 streams in one room'
    expect(desk.add(late, 'main', 9)).toEqual([{ kind: 'refused', request: 1, why }])
    expect(desk.attach(late, id, 2)).toEqual([{ kind: 'refused', request: 2, why }])
    expect(kinds(desk.add(desk.open(TWO), 'main', 9))).toEqual(['added'])
    desk.close(asker)
    expect(kinds(desk.add(late, 'main', 9))).toEqual(['added'])
    // In another room it has others.
    expect(kinds(desk.add(desk.open(ONE), 'other'))).toEqual(['added'])
    expect(desk.hub.attached.get(id)!.size).toBe(streams.length)
  })
  test('a member that comes back on a new stream has its place, as long as the old one is there too (SE-13)', () => {
    const desk = new Desk({ address: { seats: 3 } })
    const { id, streams } = desk.session(2, 'main', ONE)
    expect(kinds(desk.attach(desk.open(ONE), id, 2))).toEqual(['attached'])
    desk.close(streams[1]!)
    expect(kinds(desk.attach(desk.open(ONE), id, 2))).toEqual(['attached'])
  })
})

describe('datagrams', () => {
  const BYTES = new Uint8Array(1_000)

  test('one stream knocks with so many bytes; what is beyond is dropped, and told once a second (SE-13)', () => {
    const desk = new Desk({ stream: { joins: { max: 3_000, perSecond: 1_000 } } })
    desk.session(1)
    const caller = desk.open(ONE)
    desk.add(caller, 'main', 9)
    const heard = Array.from({ length: 6 }, () => desk.knock(caller, BYTES)).flat()
    expect(desk.knocked).toHaveLength(3)
    const why =
      'limit stream.joins: at most 3,000 bytes to a primary before joining at once, 1,000 a second'
    expect(heard).toEqual([{ kind: 'refused', request: 0, why }])
    desk.now += 1_000
    expect(desk.knock(caller, BYTES)).toEqual([])
    expect(desk.knocked).toHaveLength(4)
    expect(desk.knock(caller, BYTES)).toMatchObject([{ why }])
    expect(desk.hub.budgets.refused['stream.joins']).toBe(4)
  })
  test('so does one address on many streams, and the room as a whole (SE-13)', () => {
    const desk = new Desk({
      address: { joins: { max: 3_000, perSecond: 1 } },
      room: { joins: { max: 4_000, perSecond: 1 } },
    })
    desk.session(1)
    const callers = [ONE, ONE, TWO, TWO].map((at) => desk.open(at))
    for (const caller of callers) desk.add(caller, 'main', 9)
    // The second address spent little so far, and knocks once on credit.
    const codes = [0, 1, 1, 0, 2, 3, 3].map((at) => {
      const [answer] = desk.knock(callers[at]!, BYTES)
      return answer?.kind === 'refused' ? answer.why.split(':')[0] : 'passed'
    })
    const [passed, address, room] = ['passed', 'limit address.joins', 'limit room.joins']
    expect(codes).toEqual([passed, passed, passed, address, passed, passed, room])
  })
  test('a member relays 16 MB at once, and loses what is beyond, not its stream (SE-14)', () => {
    const desk = new Desk({ stream: { relayedPackets: { max: 99_999, perSecond: 1 } } })
    const { streams } = desk.session(2)
    const datagram = frameRelay(2, new Uint8Array(1_200))
    for (let i = 0; i < 20_000; i++) desk.bytes(streams[0]!, datagram)
    expect(desk.relayed).toHaveLength(Math.floor((16 * 1024 * 1024) / 1_200))
    expect(desk.hub.counters.congested).toBe(20_000 - desk.relayed.length)
    expect(desk.closed.size).toBe(0)
  })
  test('and 16,384 packets, however small, for whomever they are (SE-14)', () => {
    const desk = new Desk()
    const { streams } = desk.session(2)
    for (let i = 0; i < 16_384; i++)
      desk.bytes(streams[0]!, frameRelay(i % 2 ? 2 : 99, BYTES.subarray(0, 1)))
    expect(desk.hub.counters).toMatchObject({ relayed: 8_192, astray: 8_192, congested: 0 })
    desk.bytes(streams[0]!, frameRelay(2, BYTES))
    expect(desk.hub.counters).toMatchObject({ relayed: 8_192, congested: 1 })
  })
  test('an address shares them among its members, who are told, and others have theirs (SE-16)', () => {
    const desk = new Desk({ address: { relayedPackets: { max: 5, perSecond: 1 } } })
    const one = desk.session(3, 'one', ONE)
    const two = desk.session(2, 'two', TWO)
    const relay = (stream: number): FromHub[] => desk.bytes(stream, frameRelay(2, BYTES))
    for (let i = 0; i < 5; i++) expect(relay(one.streams[i % 2]!)).toEqual([])
    const why = 'limit address.relayedPackets: at most 5 relayed packets at once, 1 a second'
    expect(relay(one.streams[2]!)).toEqual([{ kind: 'refused', request: 0, why }])
    expect(relay(one.streams[2]!)).toEqual([])
    for (let i = 0; i < 5; i++) expect(relay(two.streams[0]!)).toEqual([])
    expect(desk.relayed).toHaveLength(10)
  })
  test('who goes on shouting beyond them is closed: 16 in vain cost a message (SE-14)', () => {
    const desk = new Desk({ stream: { relayedPackets: { max: 5, perSecond: 1 } } })
    const { streams } = desk.session(2)
    const shout = (count: number): void => {
      for (let i = 0; i < count; i++) desk.bytes(streams[0]!, frameRelay(2, BYTES))
    }
    const left = 1_024 - 5
    shout(5 + left * 16)
    expect(desk.closed.size).toBe(0)
    // The rest of the one that the first words cost in part.
    shout(16)
    expect(desk.closed.get(streams[0]!)).toMatch(/^limit stream\.messages: /)
  })
  test('a primary’s answers to callers are paid for in the same way (SE-14)', () => {
    const desk = new Desk({ stream: { relayedBytes: { max: 2_000, perSecond: 1 } } })
    const { streams } = desk.session(1)
    const caller = desk.open()
    desk.add(caller, 'main', 9)
    for (let i = 0; i < 3; i++) desk.bytes(streams[0]!, frameKnock(caller, BYTES))
    expect(desk.knocked).toHaveLength(2)
    expect(desk.hub.budgets.refused['stream.relayedBytes']).toBe(1)
  })
  test('relayed frames before the hello close the stream, those of nobody are spent for (SE-14)', () => {
    const desk = new Desk()
    const mute = desk.dial()
    desk.bytes(mute, frameRelay(2, BYTES))
    expect(desk.closed.get(mute)).toBe('malformed message')
    const nobody = desk.open()
    for (let i = 0; i < 2_000 && !desk.closed.has(nobody); i++) {
      desk.bytes(nobody, frameRelay(2, BYTES.subarray(0, 1)))
    }
    expect(desk.closed.get(nobody)).toMatch(/^limit stream\.messages/)
  })
})

describe('a place in a room', () => {
  const taken = (desk: Desk): [string, number][] => {
    return [...desk.hub.budgets.accounts.get(ONE)!.seats]
  }
  test('is taken by a stream in the room that it found last, and is free as it goes (SE-13, PR-2)', () => {
    const desk = new Desk()
    const one = desk.session(2, 'one', ONE)
    expect(taken(desk)).toEqual([[one.id, 2]])
    const two = desk.session(1, 'two', TWO)
    desk.add(one.streams[1]!, 'two', 9)
    expect(taken(desk)).toEqual([
      [one.id, 1],
      [two.id, 1],
    ])
    desk.add(one.streams[1]!, 'one', 9)
    expect(taken(desk)).toEqual([[one.id, 2]])
    for (const stream of one.streams) desk.close(stream)
    expect(taken(desk)).toEqual([])
    // To be closed twice, or without a place, frees nobody else's.
    desk.close(one.streams[0]!)
    desk.close(desk.open(ONE))
    expect(taken(desk)).toEqual([])
  })
})
