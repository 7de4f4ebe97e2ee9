// Goal: who gets no session is told why.
// Method: the hub's machine with streams by hand.
import { expect, test } from 'vitest'
import * as hub from '../../packages/hub/src/machine/hub.ts'
import type { FromHub } from '../../packages/holdfast/src/hub-protocol/messages.ts'
import * as register from '../../packages/hub/src/machine/register.ts'
import { Desk, HUB_KEY, listed, OPEN } from './desk.ts'

const WISH: register.SessionOptions = {
  game: 'g',
  room: 'main',
  playersMax: 4,
  recovers: false,
  topology: 'star',
  terms: '',
  hash: listed(1).hash,
  link: listed(1).link,
  key: listed(1).key,
}

function ask(desk: Desk, wish: Partial<register.SessionOptions>): FromHub[] {
  return desk.say(desk.open(), { kind: 'add', request: 3, ...OPEN, ...WISH, ...wish })
}

test('who wants a game that this hub has not is told which it has (PR-2)', () => {
  const desk = new Desk()
  desk.hub = hub.create(0, 1, HUB_KEY, new Set(['chess', 'go']))
  const why = 'no game "g" on this hub: it has chess, go'
  expect(ask(desk, {})).toEqual([{ kind: 'refused', request: 3, why }])
  expect(ask(desk, { game: 'go' })).toMatchObject([{ kind: 'added', created: true }])
})

test('a room or a game whose name a terminal would obey is refused (SE-19)', () => {
  const desk = new Desk()
  const why = 'a name of a game or a room has no control characters'
  for (const wish of [{ room: 'a\n' }, { game: '\u001B[2J' }, { room: 'a\u202Eb' }]) {
    expect(ask(desk, wish)).toEqual([{ kind: 'refused', request: 3, why }])
  }
  expect(desk.hub.registers.rows.size).toBe(0)
})

test('T20: who may not serve hears that nobody does, who may that the hub is full (PR-2)', () => {
  const desk = new Desk()
  const nobody = [{ kind: 'refused', request: 3, why: 'nobody serves it' }]
  expect(ask(desk, { playersMax: 0 })).toEqual(nobody)
  const out = { send: () => {}, record: () => {} }
  for (let i = 0; i < register.SESSIONS_MAX; i++) {
    register.add(desk.hub.registers, 0, { ...WISH, room: `${i}` }, `${i}`, out)
  }
  const why = 'limit hub.rooms: at most 10,000 rooms'
  expect(ask(desk, {})).toEqual([{ kind: 'refused', request: 3, why }])
  expect(ask(desk, { playersMax: 0 })).toEqual(nobody)
})
