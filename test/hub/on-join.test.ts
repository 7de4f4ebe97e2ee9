// Goal: whom the application does not want does not come in, whatever the order of questions,
// answers and repeats; and its answer counts for who was asked about alone (SE-4).
// Method: the hub's machine at a desk; the test is the application.
import { beforeEach, describe, expect, test } from 'vitest'
import * as hub from '../../packages/hub/src/machine/hub.ts'
import type { FromHub } from '../../packages/holdfast/src/hub-protocol/messages.ts'
import { RIGHTS } from '../../packages/holdfast/src/machine.ts'
import { toHex } from '../../packages/holdfast/src/wire/bytes.ts'
import { Desk, keyOf, listed, OPEN } from './desk.ts'

const PLACE = { game: 'g', room: 'r', playersMax: 8, recovers: true, topology: 'star' } as const

let desk: Desk
beforeEach(() => {
  desk = new Desk()
  desk.hub.consults = true
})

function ask(stream: number, id: number, request = 1, more: object = {}): void {
  const { hash, link, key } = listed(id)
  const wish = { ...PLACE, terms: '', hash, link, ...OPEN, key, ...more }
  desk.say(stream, { kind: 'add', request, ...wish })
}

/** The application answers the oldest question. */
function answer(why: string | null): void {
  const asked = desk.consulted.shift()!
  hub.receiveVerdict(desk, asked, why)
  desk.write()
}

const heard = (stream: number): FromHub[] => desk.heard.get(stream)!
const last = (stream: number): FromHub | undefined => heard(stream).at(-1)

/** Opens the room by process 1. */
function founded(): number {
  const stream = desk.open()
  ask(stream, 1)
  answer(null)
  return stream
}

describe('the application', () => {
  test('is told who wants in, and lets in or refuses with a sentence (SE-4)', () => {
    const stream = desk.open()
    ask(stream, 1)
    expect(last(stream)?.kind).not.toBe('added')
    expect(desk.consulted[0]!.applicant).toMatchObject({
      ...{ game: 'g', room: 'r', key: toHex(keyOf(1)), rights: RIGHTS.play },
      ...{ ticket: '', founding: true },
    })
    expect(desk.hub.registers.rows.size).toBe(0)
    answer(null)
    expect(last(stream)).toMatchObject({ kind: 'added', created: true })
    const other = desk.open()
    ask(other, 2, 7)
    expect(desk.consulted[0]!.applicant).toMatchObject({ founding: false })
    answer('come back on Friday')
    expect(last(other)).toMatchObject({ request: 7, why: 'not admitted: come back on Friday' })
  })

  test('is asked once, however often the same is asked, and the newest request is answered (SE-4)', () => {
    founded()
    const stream = desk.open()
    for (const request of [3, 4, 5]) ask(stream, 2, request)
    expect(desk.consulted).toHaveLength(1)
    answer(null)
    expect(heard(stream).filter(({ kind }) => kind === 'added')).toMatchObject([{ request: 5 }])
    // Whoever was let in on this stream looks again without a question.
    ask(stream, 2, 6)
    expect(desk.consulted).toHaveLength(0)
    expect(last(stream)).toMatchObject({ kind: 'added', request: 6 })
  })

  test('answers for who was asked about, and for nobody who took the stream since (SE-4)', () => {
    founded()
    const stream = desk.open()
    ask(stream, 2)
    ask(stream, 3)
    const [two, three] = desk.consulted.splice(0)
    hub.receiveVerdict(desk, two!, null)
    expect(heard(stream).some(({ kind }) => kind === 'added')).toBe(false)
    hub.receiveVerdict(desk, three!, 'no')
    hub.receiveVerdict(desk, three!, null)
    expect(heard(stream).some(({ kind }) => kind === 'added')).toBe(false)
    ask(stream, 2)
    expect(desk.consulted).toHaveLength(1)
  })

  test('is not asked about who may not come in, nor about who opens nothing (SE-4)', () => {
    const stream = desk.open()
    ask(stream, 1, 1, { playersMax: 0 })
    expect(last(stream)).toMatchObject({ why: 'nobody serves it' })
    desk.hub.tickets = { closed: null }
    ask(stream, 1)
    expect(last(stream)).toMatchObject({ why: 'not admitted: rooms of g take a ticket' })
    expect(desk.consulted).toHaveLength(0)
  })

  test('that answers a stream that is gone lets nobody in (SE-4)', () => {
    const stream = desk.open()
    ask(stream, 1)
    const [asked] = desk.consulted.splice(0)
    hub.removeStream(desk, stream)
    hub.receiveVerdict(desk, asked!, null)
    expect(desk.hub.registers.rows.size).toBe(0)
  })
})
