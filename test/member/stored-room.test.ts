// Goal: who opens a kept room goes on with its time, whatever session it was in before.
import { expect, test } from 'vitest'
import { createClock, timeAt } from '../../packages/holdfast/src/link/timing/clock.ts'
import { resumeClock, read, restore } from '../../packages/holdfast/src/member/stored-room.ts'
import type { IncomingRoom, Runtime } from '../../packages/holdfast/src/member/state.ts'
import * as durable from '../../packages/holdfast/src/replication/durable.ts'
import { PLAYERS_KEPT_MAX } from '../../packages/holdfast/src/replication/layouts.ts'
import type { StoredState } from '../../packages/holdfast/src/session/segments.ts'

test.each([
  ['of that session, whose clock is ahead, does not go back', 's', 90_000],
  ['of another session takes the time of the room', 'other', 5_000],
  ['that was in none takes it as well', '', 5_000],
])('a process %s', (_who, home, time) => {
  const clock = { ...createClock(100), time: 90_000, set: home !== '' }
  const run = { member: { home, clock }, now: 100 } as unknown as Runtime
  resumeClock(run, 's', 5_000)
  expect([timeAt(run.member.clock, 100), run.member.clock.set]).toEqual([time, true])
})

test.each([
  ['somebody new', PLAYERS_KEPT_MAX + 9, PLAYERS_KEPT_MAX - 1],
  ['one of them', 1, PLAYERS_KEPT_MAX - 1],
])('a room that was left full of players takes %s who opens it (N-3)', (_who, us, left) => {
  const state = durable.create()
  for (let player = 1; player <= PLAYERS_KEPT_MAX; player++) {
    state.players.set(player, { player, key: new Uint8Array(32), lastSeq: 0, outcomes: [] })
  }
  const out = { parts: { reopen: () => true } }
  const run = { member: { session: { player: us } }, out } as unknown as Runtime
  restore(run, { state, parts: [], changes: [] } as unknown as StoredState)
  expect([state.players.size, state.players.has(1)]).toEqual([left, us === 1])
  const key = new Uint8Array(32)
  const named = { inc: us, player: us, name: '', kind: 'node' as const, addresses: [] }
  const member = { ...named, link: key, key }
  const registerHash = new Uint8Array(16)
  durable.apply(state, { kind: 'add', member: { ...member, rights: 1, registerHash }, settled: 0 })
  expect(() => durable.snapshot(state, [])).not.toThrow()
})

test('a room that a host of 0.2 kept in a file of its own is not opened, and says where it is', () => {
  const coming = { session: 's', terms: 'keep=60;kept=hosts', segments: [Uint8Array.of(1)] }
  const why = 'a host of Holdfast 0.2 has this room in a file of its own: export it there'
  expect(read({} as Runtime, coming as unknown as IncomingRoom)).toEqual({ code: 'store', why })
})
