// Goal: whatever strangers send to the hub, its sessions do not notice and it does not grow.
// Method: seeded nonsense and lies into the shipped machine, one millisecond apart.
// Slow: it plays whole sessions in a storm of packets.
import { expect, test } from 'vitest'
import { TABLE } from '../../packages/hub/src/machine/limits.ts'
import * as hub from '../../packages/hub/src/machine/hub.ts'
import { HUB_VERSION } from '../../packages/holdfast/src/hub-protocol/messages.ts'
import { frameKnock } from '../../packages/holdfast/src/wire/relay.ts'
import { complaints, desk, last, open, say, storm } from '../fuzz/hub.ts'

test('T28: strangers send 15,000 hostile messages to the hub: its sessions stand as they stood', () => {
  for (const seed of [1, 2, 3]) {
    const made = desk(seed)
    storm(made, 5_000)
    expect({ seed, complaints: complaints(made) }).toEqual({ seed, complaints: [] })
    const { malformed, astray, conflicts, forged } = made.hub.counters
    expect(Math.min(malformed, astray, conflicts, forged)).toBeGreaterThan(20)
  }
})

test('a stream that says no hello is closed after 5 s, and no other', () => {
  const made = desk(1)
  const mute = open(made)
  const polite = open(made)
  say(made, polite, { kind: 'hello', version: HUB_VERSION })
  made.now = hub.deadline(made.hub) - 1
  hub.wake(made)
  expect(made.hub.connections.has(mute)).toBe(true)
  made.now = TABLE.stream.hello.limit
  hub.wake(made)
  expect(made.hub.connections.has(mute)).toBe(false)
  expect(made.hub.connections.has(polite)).toBe(true)
  expect(made.hub.counters.mute).toBe(1)
})

test('a stranger that says 2,000 things at once is closed, a member that says 500 is not', () => {
  const made = desk(1)
  const stranger = open(made)
  say(made, stranger, { kind: 'hello', version: HUB_VERSION })
  for (let count = 0; count < 2_000; count++) {
    say(made, stranger, { kind: 'ping', count })
    if (count < 500) say(made, 2, { kind: 'ping', count })
  }
  expect(made.hub.connections.has(stranger)).toBe(false)
  expect(made.hub.connections.has(2)).toBe(true)
  expect(made.hub.counters.flooding).toBe(1)
})

test('one stream creates 64 sessions and no more; none without a name or for 0 or 257 players', () => {
  const made = desk(1)
  const stream = open(made)
  made.told.set(stream, [])
  say(made, stream, { kind: 'hello', version: HUB_VERSION })
  const add = (game: string, room: string, playersMax: number): string => {
    const hash = new Uint8Array(16)
    const link = new Uint8Array(32)
    say(made, stream, {
      kind: 'add',
      request: 1,
      game,
      room,
      playersMax,
      recovers: false,
      topology: 'star',
      terms: '',
      ...{ link, hash, key: link, hosts: false, ticket: '', fresh: false },
    })
    return made.told.get(stream)!.at(-1)!.kind
  }
  expect([add('', 'a', 8), add('a', '', 8), add('a', 'a', 0), add('a', 'a', 257)]).toEqual(
    Array.from({ length: 4 }, () => 'refused'),
  )
  for (let room = 0; room < 80; room++) add('a', `${room}`, 8)
  expect(made.hub.registers.rows.size).toBe(1 + TABLE.stream.registrations.limit)
  expect(last(made, stream, 'refused')?.why).toContain('64')
})

test('only the primary that was asked may answer: 1 of 3 replies reaches who asked', () => {
  expect(complaints(desk(1))).toEqual([])
  const made = desk(2)
  const other = open(made)
  made.told.set(other, [])
  say(made, other, { kind: 'hello', version: HUB_VERSION })
  hub.receive(made, 1, frameKnock(other, new Uint8Array(1)))
  expect(made.knocked).toEqual([])
})
