// Goal: what grows with the members of a room is charged by its rows, so that nobody costs a hub
// more than the table of limits says; and honest rooms of 256 meet no limit.
// Method: the machine of the hub, by hand.
import { describe, expect, test } from 'vitest'
import type { FromHub, ToHub } from '../../packages/holdfast/src/hub-protocol/messages.ts'
import { Desk, listed, proof } from './desk.ts'

const MOST = 256

function rowsOf(count: number) {
  return Array.from({ length: count }, (_, at) => listed(at + 1))
}

function list(session: string, count: number): ToHub {
  return { kind: 'members', session, members: rowsOf(count), players: count }
}

/** How many of those it says until its stream is closed. */
function says(desk: Desk, stream: number, message: ToHub, most: number): number {
  for (let count = 0; count < most; count++) {
    desk.say(stream, message)
    if (desk.closed.has(stream)) return count
  }
  return most
}

describe('rows of members (N-24)', () => {
  test('a list is charged by its rows: 256 long ones at once, or 1,000 short ones (N-24)', () => {
    const desk = new Desk({ stream: { messages: { max: 2_000, perSecond: 1 } } })
    const one = desk.session(1, 'one')
    expect(says(desk, one.streams[0]!, list(one.id, MOST), 1_000)).toBe(255)
    expect(desk.closed.get(one.streams[0]!)).toBe(
      'limit stream.rows: at most 65,536 rows of members at once, 4,096 a second',
    )
    const two = desk.session(1, 'two')
    expect(says(desk, two.streams[0]!, list(two.id, 1), 1_000)).toBe(1_000)
  })

  test('also from who may not send one: it is read before it is refused (N-24)', () => {
    const desk = new Desk()
    const { id, streams } = desk.session(2)
    expect(says(desk, streams[1]!, list(id, MOST), 1_000)).toBeLessThan(MOST)
    expect(desk.closed.get(streams[1]!)).toMatch(/^limit stream\.rows/)
    expect(desk.closed.has(streams[0]!)).toBe(false)
  })

  test('a room of 256 that fills at once meets no limit, nor where all come back at once (N-24)', () => {
    const desk = new Desk()
    const { id, streams } = desk.session(1)
    for (let count = 2; count <= MOST; count++) {
      desk.say(streams[0]!, list(id, count))
      streams.push(desk.open())
      desk.attach(streams.at(-1)!, id, count)
    }
    expect([desk.closed.size, desk.hub.attached.get(id)?.size]).toEqual([0, MOST])
    desk.restart()
    for (let inc = 1; inc <= MOST; inc++) desk.attach(desk.open(), id, inc)
    expect([desk.closed.size, desk.hub.attached.get(id)?.size]).toEqual([0, MOST])
  })

  test('who attaches again and again costs all who are told of it, and hears when it is too much (N-24)', () => {
    const desk = new Desk({ stream: { rows: { max: 100, perSecond: 1 } } })
    const { id, streams } = desk.session(8)
    const told = (): FromHub[] => desk.attach(streams[7]!, id, 8)
    const kinds = Array.from({ length: 20 }, () => told()[0]!)
    expect(kinds.filter(({ kind }) => kind === 'attached')).toHaveLength(11)
    expect(kinds.at(-1)).toMatchObject({
      kind: 'refused',
      why: expect.stringMatching(/^limit stream\.rows/),
    })
    desk.now += 60_000
    expect(told()[0]).toMatchObject({ kind: 'attached' })
  })

  test('so does who asks for changes of the register (N-24)', () => {
    const desk = new Desk({ stream: { rows: { max: 30, perSecond: 1 } } })
    const { id, streams } = desk.session(4)
    const wish = { kind: 'change', session: id, inc: 2, proof: proof(2), expect: 77 } as const
    const ask = (): FromHub['kind'] | undefined => {
      const more = { request: 1, primary: 2, backup: 0, why: 'takeover' } as const
      return desk.say(streams[1]!, { ...wish, ...more })[0]?.kind
    }
    expect(Array.from({ length: 9 }, ask)).toContain('refused')
  })

  test('what all hear is encoded once (N-24)', () => {
    const desk = new Desk()
    const { id, streams } = desk.session(8)
    const sent = new Set<Uint8Array>()
    const send = desk.out.send.bind(desk.out)
    desk.out.send = (connection, bytes) => {
      if (connection !== streams[7]) sent.add(bytes)
      send(connection, bytes)
    }
    desk.close(streams[7]!)
    expect([desk.hub.attached.get(id)?.size, sent.size]).toEqual([7, 1])
  })
})
