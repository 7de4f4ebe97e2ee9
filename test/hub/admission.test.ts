// Goal: the hub alone decides who comes in and who may serve, by what tickets say and by keys that
// came in before; nobody gets a right by saying so.
// Method: the hub's machine at a desk, whose tickets the test reads.
import { beforeEach, describe, expect, test } from 'vitest'
import type { Claims } from '../../packages/holdfast/src/hub-protocol/tickets.ts'
import * as hub from '../../packages/hub/src/machine/hub.ts'
import {
  admissionOf,
  type FromHub,
  type ToHub,
} from '../../packages/holdfast/src/hub-protocol/messages.ts'
import { RIGHTS } from '../../packages/holdfast/src/machine.ts'
import { toyCurves } from '../../packages/sim/src/toy-ciphers.ts'
import { Desk, HUB_KEY, keyOf, linkOf, listed, OPEN, proof } from './desk.ts'

const BOTH = RIGHTS.play | RIGHTS.host
const PLACE = { game: 'g', room: 'r', playersMax: 8, recovers: true, topology: 'star' } as const

let desk: Desk
beforeEach(() => {
  desk = new Desk()
  desk.hub.tickets = { closed: new Set(['closed']) }
})

function add(id: number, more: Partial<ToHub & { kind: 'add' }> = {}): [number, FromHub[]] {
  const { hash, link, key } = listed(id)
  const stream = desk.open()
  const wish = { ...PLACE, terms: '', hash, link, ...OPEN, key, ...more }
  return [stream, desk.say(stream, { kind: 'add', request: 1, ...wish })]
}

/** Asks with a ticket that says this. @returns what the hub answered */
function show(id: number, said: Partial<Claims> | string, more: object = {}): FromHub {
  const claims: Claims = {
    ...{ game: 'g', room: null, key: null, rights: RIGHTS.play, id: 't', uses: 1 },
    ...(typeof said === 'string' ? {} : said),
  }
  const [stream] = add(id, { ticket: 'a.b.c', ...more })
  const asked = desk.tickets.pop()
  // Who came in before is known by its key.
  if (!asked) return desk.heard.get(stream)!.at(-1)!
  expect(asked).toEqual({ connection: stream, ticket: 'a.b.c' })
  const before = desk.heard.get(stream)!.length
  const told = typeof said === 'string' ? said : claims
  hub.receiveTicket(desk, asked, told)
  desk.write()
  return desk.heard.get(stream)![before]!
}

const why = (answer: FromHub): string => (answer.kind === 'refused' ? answer.why : answer.kind)

describe('who comes in', () => {
  test('an open room is open: whoever asks may play, and the hub signs that (SE-18)', () => {
    const [, [first]] = add(1)
    const [, [second]] = add(2)
    expect([first, second]).toMatchObject([{ created: true }, { created: false }])
    const { entry, admission } = second as FromHub & { kind: 'added' }
    const { session } = entry
    const right = { session, link: linkOf(2), key: keyOf(2), rights: RIGHTS.play }
    const holds = (said: object): boolean => {
      const message = admissionOf({ ...right, ...said })
      return toyCurves.verify(HUB_KEY, message, admission.signature) === true
    }
    expect(admission.rights).toBe(RIGHTS.play)
    expect(holds({})).toBe(true)
    const wrong = [{ session: 'x' }, { link: linkOf(3) }, { key: keyOf(3) }, { rights: BOTH }]
    expect(wrong.map(holds)).toEqual([false, false, false, false])
  })

  test('a closed one takes a ticket for it, whoever one is (SE-18)', () => {
    const closed = { game: 'closed' }
    const needs = 'not admitted: rooms of closed take a ticket'
    expect(why(add(1, closed)[1][0]!)).toBe(needs)
    expect(show(1, { game: 'closed' }, closed)).toMatchObject({ created: true })
    expect(why(add(2, closed)[1][0]!)).toBe(needs)
    // Of all games where none is named.
    desk.hub.tickets = { closed: null }
    expect(why(add(2)[1][0]!)).toBe('not admitted: rooms of g take a ticket')
  })

  test.each<[string, Partial<Claims> | string]>([
    ['the ticket is for other', { game: 'other' }],
    ['the ticket is for g/attic', { room: 'attic' }],
    ['the ticket is for another player', { key: keyOf(9) }],
    ['the time of it is over', 'the time of it is over'],
  ])('refused: %s', (sentence, said) => {
    expect(why(show(1, said))).toBe(`not admitted: ${sentence}`)
    expect(desk.hub.registers.rows.size).toBe(0)
  })

  test('a ticket lets in as many keys as it says, and each of them again (SE-18)', () => {
    expect(show(1, { uses: 2 })).toMatchObject({ created: true })
    expect(show(2, { uses: 2 })).toMatchObject({ created: false })
    expect(why(show(3, { uses: 2 }))).toBe('not admitted: the ticket was used 2 times')
    expect(why(show(3, { uses: 1, id: 't' }))).toBe('not admitted: the ticket was used')
    for (const id of [1, 2]) expect(show(id, { uses: 2 })).toMatchObject({ created: false })
    expect(show(3, { id: 'u' })).toMatchObject({ created: false })
    // One for a player of a key is for that player however often.
    expect(show(4, { key: keyOf(4) })).toMatchObject({ created: false })
  })

  test('1,024 players of a room come in by tickets, and no more; who is in comes again (PR-2)', () => {
    show(1, { id: 'first' })
    const [row] = desk.hub.registers.rows.values()
    const others = Array.from({ length: 1_022 }, (_, at) => ({ ...row!.entrants[0]!, id: `${at}` }))
    row!.entrants = [...row!.entrants, ...others]
    expect(show(2, { id: 'last' })).toMatchObject({ created: false })
    expect(row!.entrants).toHaveLength(1_024)
    expect(why(show(3, { id: 'one more' }))).toBe('not admitted: 1024 tickets were used here')
    expect(show(2, { id: 'one more' })).toMatchObject({ created: false })
  })

  test('who came in by a ticket comes back without, over a restart of the hub too (SE-18)', () => {
    const closed = { game: 'closed' }
    show(1, { game: 'closed', rights: BOTH }, closed)
    show(2, { game: 'closed', id: 'u' }, closed)
    for (const isLater of [false, true]) {
      if (isLater) {
        desk.restart()
        desk.hub.tickets = { closed: null }
      }
      const rights = [1, 2].map((id) => {
        const [answer] = add(id, closed)[1]
        return answer?.kind === 'added' ? answer.admission.rights : answer
      })
      expect(rights).toEqual([BOTH, RIGHTS.play])
      // What has become of the ticket is nothing to who is in.
      expect(show(2, 'the time of it is over', closed)).toMatchObject({ created: false })
    }
  })

  test('who comes in by a ticket hears so once the disk has it, or why it has not (SE-18)', () => {
    show(1, {})
    desk.atOnce = false
    const [stream] = add(2, { ticket: 'a.b.c' })
    const claims = { game: 'g', room: null, key: null, rights: BOTH, id: 'u', uses: 1 }
    hub.receiveTicket(desk, desk.tickets.pop()!, claims)
    const heard = (): string[] => desk.heard.get(stream)!.slice(2).map(why)
    expect(heard()).toEqual([])
    desk.write('the disk is full')
    expect(heard()).toEqual(['the disk is full'])
    // It asks again, with another ticket or without: it is who came by that one.
    desk.say(stream, {
      kind: 'add',
      request: 2,
      ...PLACE,
      terms: '',
      ...listed(2),
      ...OPEN,
      key: keyOf(2),
    })
    expect(heard()).toEqual(['the disk is full'])
    desk.write()
    expect(heard()).toEqual(['the disk is full', 'added'])
    desk.restart()
    expect([...desk.hub.registers.rows.values()][0]!.entrants.map(({ id }) => id)).toEqual([
      't',
      'u',
    ])
  })

  test('of a stream that asks anew or is gone no older ticket counts', () => {
    const [stream] = add(1, { ticket: 'a.b.c' })
    const asked = desk.tickets.pop()!
    desk.say(stream, {
      kind: 'add',
      request: 2,
      ...PLACE,
      terms: '',
      ...listed(1),
      ...OPEN,
      ticket: 'd.e.f',
    })
    const claims = { game: 'g', room: null, key: null, rights: BOTH, id: 't', uses: 1 }
    hub.receiveTicket(desk, asked, claims)
    expect(desk.hub.registers.rows.size).toBe(0)
    desk.close(stream)
    hub.receiveTicket(desk, { connection: stream, ticket: 'd.e.f' }, claims)
    expect(desk.hub.registers.rows.size).toBe(0)
  })

  test('a hub that takes no tickets says so, and asks nobody what one says', () => {
    desk.hub.tickets = null
    expect(why(add(1, { ticket: 'a.b.c' })[1][0]!)).toBe('not admitted: this hub takes no tickets')
    expect(desk.tickets).toEqual([])
  })
})

describe('who serves', () => {
  const hosts = { hosts: true }

  /** A room of hosts: 1 is one and leads, 2 is one, 3 and 4 play. @returns their streams */
  function inn(): { session: string; streams: number[] } {
    const first = show(1, { rights: BOTH, id: 'h1' }, hosts) as FromHub & { kind: 'added' }
    const { session } = first.entry
    show(2, { rights: BOTH, id: 'h2' }, hosts)
    const streams = [1, 2, 3, 4].map((inc) => {
      const stream = desk.open()
      const attach = { kind: 'attach', request: 2, session, inc, proof: proof(inc) } as const
      desk.say(stream, attach)
      if (inc > 1) return stream
      const members = [1, 2, 3, 4].map((id) => listed(id))
      desk.say(stream, { kind: 'members', session, members, players: members.length })
      return stream
    })
    return { session, streams }
  }

  function change(
    { session, streams }: { session: string; streams: number[] },
    demand: {
      inc: number
      primary: number
      backup: number
      why: (ToHub & { kind: 'change' })['why']
    },
  ): string {
    const { epoch } = desk.hub.registers.rows.get(session)!.entry.register
    const said = { kind: 'change', request: 3, session, expect: epoch, ...demand } as const
    const answers = desk.say(streams[demand.inc - 1]!, { ...said, proof: proof(demand.inc) })
    const mine = answers.find((one) => one.kind === 'register' && one.request === 3)
    return mine?.kind === 'register' && mine.ok ? 'done' : 'refused'
  }

  test('founds a room of hosts: a host, and nobody else (SE-4)', () => {
    for (const said of [hosts, { ...hosts, playersMax: 0 }]) {
      expect(why(add(1, said)[1][0]!)).toBe('nobody serves it')
    }
    expect(why(show(1, { rights: RIGHTS.play }, hosts))).toBe('nobody serves it')
    expect(show(1, { rights: BOTH, id: 'h' }, hosts)).toMatchObject({ created: true })
    // Who comes later has no say in it.
    expect(add(5)[1][0]).toMatchObject({ created: false })
    expect([...desk.hub.registers.rows.values()][0]!.hosts).toBe(true)
  })

  test('a primary makes a host its backup, and hands over to it, and to nobody else (SE-4)', () => {
    const room = inn()
    for (const backup of [3, 4]) {
      expect(change(room, { inc: 1, primary: 1, backup, why: 'add' })).toBe('refused')
    }
    expect(change(room, { inc: 1, primary: 1, backup: 2, why: 'add' })).toBe('done')
    expect(change(room, { inc: 1, primary: 2, backup: 0, why: 'handover' })).toBe('done')
  })

  test('a list that names another key for a player gives no right to who is none (SE-4)', () => {
    const room = inn()
    const members = [1, 2, 3].map((id) => listed(id))
    // What a member that does not lead says of members counts for nothing.
    desk.say(room.streams[2]!, {
      kind: 'members',
      session: room.session,
      members: [members[0]!, { ...members[2]!, key: keyOf(2) }],
      players: [members[0]!, { ...members[2]!, key: keyOf(2) }].length,
    })
    expect(change(room, { inc: 1, primary: 1, backup: 3, why: 'add' })).toBe('refused')
  })

  test('of those who are left, a host recovers the session (SE-4)', () => {
    const room = inn()
    desk.close(room.streams[0]!)
    desk.pass(20_000)
    expect(change(room, { inc: 3, primary: 3, backup: 0, why: 'recover' })).toBe('refused')
    expect(change(room, { inc: 2, primary: 2, backup: 0, why: 'recover' })).toBe('done')
  })
})
