// Goal: an invitation counts once the disk has it, within its bounds, for who may make one (SE-18).
// Method: the hub's machine at a desk whose disk the test writes.
import { beforeEach, describe, expect, test } from 'vitest'
import type { FromHub } from '../../packages/holdfast/src/hub-protocol/messages.ts'
import { RIGHTS } from '../../packages/holdfast/src/machine.ts'
import { digest } from '../../packages/holdfast/src/wire/digest.ts'
import { toHex } from '../../packages/holdfast/src/wire/bytes.ts'
import { Desk, listed, OPEN } from './desk.ts'

const INVITATIONS_MAX = 64

const PLACE = { game: 'g', room: 'r', playersMax: 8, recovers: true, topology: 'star' } as const

let desk: Desk
beforeEach(() => {
  desk = new Desk()
})

function add(id: number, ticket = '', terms = 'entry=invite'): [number, FromHub | undefined] {
  const { hash, link, key } = listed(id)
  const stream = desk.open()
  const wish = { ...PLACE, terms, hash, link, ...OPEN, key, ticket }
  desk.say(stream, { kind: 'add', request: 1, ...wish })
  return [stream, desk.heard.get(stream)!.at(-1)]
}

/** A room of process 1, attached. @returns its stream */
function room(terms?: string): number {
  const [stream, added] = add(1, '', terms)
  const id = added?.kind === 'added' ? added.entry.session : ''
  desk.attach(stream, id, 1)
  return stream
}

const secretOf = (byte: number): Uint8Array => new Uint8Array(32).fill(byte)
const ticketOf = (byte: number): string => `invite.${toHex(secretOf(byte))}`

function invite(stream: number, byte: number, more: object = {}): FromHub | undefined {
  const wish = { digest: digest(secretOf(byte)), uses: 1, rights: RIGHTS.play, ...more }
  const before = desk.heard.get(stream)!.length
  desk.say(stream, { kind: 'invite', request: byte, ...wish })
  return desk.heard.get(stream)![before]
}

const why = (answer: FromHub | undefined): string =>
  answer && 'why' in answer ? answer.why : (answer?.kind ?? 'nothing')

test('who opened a room by invitation comes back to it by its key, and nobody else does (SE-18, PR-2)', () => {
  room()
  expect(add(1)[1]).toMatchObject({ kind: 'added' })
  expect(why(add(2)[1])).toBe('not admitted: this room is by invitation')
})

describe('an invitation', () => {
  test('is told of once the disk has it, and why not if the disk refuses (SE-18)', () => {
    const stream = room()
    desk.atOnce = false
    expect(invite(stream, 7)).toBeUndefined()
    desk.write('the disk is full')
    const answers = (): string[] =>
      desk.heard.get(stream)!.flatMap((one) => (one.kind === 'invited' ? [one.why] : []))
    expect(answers()).toEqual(['the disk is full'])
    invite(stream, 7)
    expect(answers()).toHaveLength(1)
    desk.write()
    expect(answers()).toEqual(['the disk is full', ''])
    expect(why(add(2, ticketOf(7))[1])).not.toMatch(/no such/)
  })

  test('asked for again is the same one (SE-18)', () => {
    const stream = room()
    expect([invite(stream, 7), invite(stream, 7)].map(why)).toEqual(['', ''])
    const [row] = desk.hub.registers.rows.values()
    expect(row!.invitations).toHaveLength(1)
  })

  test('beyond 64 that are open is refused, until one is used up (SE-18)', () => {
    const stream = room()
    for (let byte = 1; byte <= INVITATIONS_MAX; byte++) expect(why(invite(stream, byte))).toBe('')
    expect(why(invite(stream, 99))).toBe('64 invitations of this room are open')
    expect(add(2, ticketOf(3))[1]?.kind).toBe('added')
    expect(why(invite(stream, 99))).toBe('')
    expect(why(add(3, ticketOf(3))[1])).toBe('not admitted: no such invitation')
  })

  test('is not made by who is in no room, with other rights, or in another kind of room (SE-18)', () => {
    const stream = room()
    expect(why(invite(desk.open(), 1))).toBe('you are in no room')
    for (const uses of [0, 257]) {
      expect(why(invite(stream, 1, { uses }))).toBe(`an invitation is for 1 to 256: ${uses}`)
    }
    for (const rights of [0, RIGHTS.host, RIGHTS.play | RIGHTS.host]) {
      expect(why(invite(stream, 1, { rights }))).toBe('an invitation is to play or to watch')
    }
    desk = new Desk()
    expect(why(invite(room(''), 1))).toBe('anyone may join this room: it takes no invitations')
    desk = new Desk()
    const closed = room()
    desk.hub.tickets = { closed: new Set(['g']) }
    expect(why(invite(closed, 1))).toBe('rooms of g admit by ticket only')
  })

  test('of a room that is over opens none (SE-18)', () => {
    expect(why(add(2, ticketOf(7))[1])).toMatch(/the room that this invitation is for is over/)
    expect(desk.hub.registers.rows.size).toBe(0)
  })
})
