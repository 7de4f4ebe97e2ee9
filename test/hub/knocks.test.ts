// Goal: who is no member yet and the primary that it found reach each other through the hub, and
// nobody else is reached so.
// Method: the hub's machine with streams by hand.
import { expect, test } from 'vitest'
import { frameKnock } from '../../packages/holdfast/src/wire/relay.ts'
import { Desk, leaderOf } from './desk.ts'

test('T14: who is no member yet reaches the primary, and the primary answers', () => {
  const desk = new Desk()
  const { id, streams } = desk.session(2)
  const [primary] = streams as [number]
  const stranger = desk.open()
  const found = desk.add(stranger, 'main', 9)
  expect(found).toMatchObject([{ kind: 'added', created: false, leader: leaderOf(id, 1, 1) }])
  desk.knock(stranger, Uint8Array.of(1))
  desk.bytes(primary, frameKnock(stranger, Uint8Array.of(2)))
  expect(desk.knocked).toEqual([
    { to: primary, caller: stranger, bytes: Uint8Array.of(1) },
    { to: stranger, caller: 0, bytes: Uint8Array.of(2) },
  ])
})

test('T14: whose primary is not attached is told, and may look again', () => {
  const desk = new Desk()
  const { id, streams } = desk.session(1)
  const stranger = desk.open()
  desk.add(stranger, 'main', 9)
  desk.close(streams[0]!)
  const why = `the primary of session ${id} is not attached`
  expect(desk.knock(stranger, Uint8Array.of(1))).toEqual([{ kind: 'refused', request: 0, why }])
})

test('knocks of who found no session, on others than a primary, and too long ones go nowhere', () => {
  const desk = new Desk()
  const { streams } = desk.session(2)
  const [primary, other] = streams as [number, number]
  const stranger = desk.open()
  expect(desk.knock(stranger, Uint8Array.of(1))).toMatchObject([{ kind: 'refused' }])
  desk.add(stranger, 'main', 9)
  desk.bytes(stranger, frameKnock(primary, Uint8Array.of(1)))
  desk.bytes(other, frameKnock(stranger, Uint8Array.of(1)))
  desk.bytes(primary, frameKnock(other, Uint8Array.of(1)))
  for (const bytes of [new Uint8Array(1_233), new Uint8Array(1_232)]) {
    desk.knock(stranger, bytes)
    desk.bytes(primary, frameKnock(stranger, bytes))
  }
  expect(desk.knocked.map(({ to, bytes }) => [to, bytes.length])).toEqual([
    [primary, 1_232],
    [stranger, 1_232],
  ])
  expect([desk.hub.counters.astray, desk.closed.size]).toEqual([5, 0])
})

test('T14: who asked one session hears no answer of the primary of another (PR-2)', () => {
  const desk = new Desk()
  desk.session(1, 'one')
  const other = desk.session(1, 'two')
  const stranger = desk.open()
  desk.add(stranger, 'one', 9)
  desk.bytes(other.streams[0]!, frameKnock(stranger, Uint8Array.of(2)))
  expect([desk.knocked, desk.hub.counters.astray]).toEqual([[], 1])
})
