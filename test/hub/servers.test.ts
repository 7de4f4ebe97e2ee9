// Goal: who was admitted hears of the hub's STUN and TURN servers, nobody else does, and nobody has
// many credentials made.
// Method: the hub's machine at a desk, whose servers number what they give.
import { beforeEach, expect, test } from 'vitest'
import { Desk } from './desk.ts'

let desk: Desk
let given: string[]
beforeEach(() => {
  desk = new Desk()
  given = []
  desk.out.servers = (player) => {
    const username = String(given.push(player))
    return { urls: ['turn:example.org'], username, credential: 'c', lasts: 1 }
  }
})

/** The numbers of those that a stream got. */
function got(connection: number): string[] {
  return desk.heard.get(connection)!.flatMap((one) => (one.kind === 'ice' ? one.username : []))
}

test('a player gets them behind its admission, and again on each new stream', () => {
  const [one, next] = [desk.open(), desk.open()]
  const [added, ice] = desk.add(one)
  const session = added?.kind === 'added' ? added.entry.session : ''
  const names = { urls: ['turn:example.org'], username: '1', credential: 'c', lasts: 1 }
  expect(ice).toEqual({ kind: 'ice', session, ...names })
  desk.attach(one, session, 1)
  desk.add(one)
  expect(got(one)).toEqual(['1'])
  desk.attach(next, session, 1)
  expect(got(next)).toEqual(['2'])
  expect(given[1]).toBe(given[0])
  // Before it is attached: an offer of a channel may come sooner.
  const bea = desk.open()
  expect(desk.add(bea, 'main', 2).map(({ kind }) => kind)).toEqual(['added', 'ice'])
  expect(given[2]).not.toBe(given[0])
})

test('a process that is not admitted, or does not speak for its member, gets none', () => {
  const { id, streams } = desk.session(2)
  const [, bea] = streams
  const before = given.length
  const stranger = desk.open()
  desk.say(stranger, { kind: 'ice', session: id })
  desk.say(stranger, { kind: 'list', request: 1, game: 'g', after: '' })
  desk.hub.tickets = { closed: null }
  expect(desk.add(stranger, 'other', 9)).toMatchObject([{ kind: 'refused' }])
  desk.attach(stranger, id, 2, 9)
  desk.say(bea!, { kind: 'ice', session: 'another' })
  desk.say(streams[0]!, { kind: 'members', session: id, members: [], players: 0 })
  desk.say(bea!, { kind: 'ice', session: id })
  expect([given.length, desk.hub.counters.forged]).toEqual([before, 3])
})

test('a member gets fresh ones when it asks, so many at once and a second', () => {
  const { id, streams } = desk.session(1)
  const [ada] = streams
  const ask = (times: number): number => {
    const before = got(ada!).length
    for (let n = 0; n < times; n++) desk.say(ada!, { kind: 'ice', session: id })
    return got(ada!).length - before
  }
  expect([ask(1), ask(20), desk.hub.budgets.refused['stream.credentials']]).toEqual([1, 6, 14])
  desk.now += 2_000
  expect(ask(20)).toBe(2)
  expect(desk.closed.has(ada!)).toBe(false)
})

test('a hub without servers names none', () => {
  delete desk.out.servers
  const { streams, id } = desk.session(2)
  desk.say(streams[0]!, { kind: 'ice', session: id })
  expect(streams.flatMap(got)).toEqual([])
})
