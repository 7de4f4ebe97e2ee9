// Goal: a stream costs the hub what its allowance holds, and what is beyond costs the stream.
// Method: the hub's machine with streams by hand; nothing fills up while time stands still.
import { describe, expect, test } from 'vitest'
import { RELAY_COST_MIN } from '../../src/directory/allowance.ts'
import * as hub from '../../src/directory/hub.ts'
import { frameKnock } from '../../src/wire/relay.ts'
import { Desk } from './desk.ts'

describe('what a stream may cost', () => {
  test('T29: long lists cost more than short ones: 5 a second of 200 entries, else the door (SE-10)', () => {
    const desk = new Desk()
    for (let room = 0; room < 220; room++) desk.session(1, `${room}`)
    const stream = desk.open()
    let lists = 0
    while (!desk.closed.has(stream)) {
      lists++
      desk.say(stream, { kind: 'list', request: lists, game: '' })
    }
    expect(lists).toBeGreaterThan(15)
    expect(lists).toBeLessThan(25)
    expect(desk.closed.get(stream)).toBe('too many messages')
  })

  test('a member relays 16 MB at once and loses what is beyond, not its stream (SE-14)', () => {
    const desk = new Desk()
    const { streams } = desk.session(2)
    const datagram = new Uint8Array(1_202).fill(1)
    datagram[1] = 2
    for (let i = 0; i < 20_000; i++) desk.bytes(streams[0]!, datagram)
    expect(desk.relayed).toHaveLength(Math.floor((16 * 1024 * 1024) / 1_200))
    expect(desk.hub.counters.congested).toBe(20_000 - desk.relayed.length)
    expect(desk.closed.size).toBe(0)
  })

  test('a datagram of no bytes is paid for like one of 64 (SE-14)', () => {
    const desk = new Desk()
    const { streams } = desk.session(2)
    const most = (16 * 1024 * 1024) / RELAY_COST_MIN
    for (let i = 0; i < most + 10; i++) desk.bytes(streams[0]!, Uint8Array.of(1, 2))
    expect(desk.relayed).toHaveLength(most)
  })

  test('of a stranger each kilobyte counts as one more, of a member it does not (SE-10)', () => {
    const desk = new Desk()
    const { streams } = desk.session(1)
    const stranger = desk.open()
    desk.add(stranger, 'main', 9)
    const datagram = new Uint8Array(1_200)
    let count = 0
    for (; count < 1_000 && !desk.closed.has(stranger); count++) desk.knock(stranger, datagram)
    expect(count).toBeLessThan(500)
    for (let i = 0; i < count; i++) {
      desk.bytes(streams[0]!, frameKnock(stranger, datagram))
      desk.knock(streams[0]!, datagram)
    }
    expect(desk.closed.has(streams[0]!)).toBe(false)
  })

  test('relayed frames before the hello close the stream, those of nobody are spent for (SE-14)', () => {
    const desk = new Desk()
    const mute = 1_000
    desk.heard.set(mute, [])
    hub.opened(desk.hub, 0, mute)
    desk.bytes(mute, Uint8Array.of(1, 2, 42))
    expect(desk.closed.get(mute)).toBe('malformed message')
    const nobody = desk.open()
    for (let i = 0; i < 2_000 && !desk.closed.has(nobody); i++) {
      desk.bytes(nobody, Uint8Array.of(1, 2, 42))
    }
    expect(desk.closed.get(nobody)).toBe('too many messages')
  })
})
