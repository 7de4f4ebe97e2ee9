import { describe, expect, test } from 'vitest'
import * as news from './news.ts'

const ada: news.Somebody = { name: 'Ada', kind: 'browser', player: 1 }
const bots: news.Somebody = { name: 'Bots', kind: 'node', player: 2 }

describe('a new server is announced', () => {
  test('with who is gone and who serves', () => {
    expect(news.succession(ada, bots, false, false)).toBe(
      'Ada’s window was the server and is gone. Bots is the server now; nothing was lost.',
    )
    expect(news.succession(bots, ada, false, true)).toBe(
      'Bots’ process was the server and is gone. You are the server now; nothing was lost.',
    )
  })
  test('without saying that somebody is gone who is not', () => {
    expect(news.succession(ada, bots, true, false)).not.toContain('gone')
    expect(news.succession(null, ada, false, true)).toBe('You are the server now.')
  })
})

test('the connection is spoken of when it breaks, comes back and is lost', () => {
  expect(news.connection('reconnecting', '')).toBe('Connection lost: reconnecting…')
  expect(news.connection('live', '')).toBe('')
  expect(news.connection('lost', 'the room is gone')).toContain('the room is gone')
  const healed = { awayMs: 12_400, same: true, resent: 1, lost: 0 }
  expect(news.healing(healed, 'same')).toBe(
    'Back again after 12 seconds. You are the same player as before. ' +
      'One of your moves was asked for again.',
  )
  const other = { ...healed, same: false, awayMs: 500 }
  for (const kin of ['same', 'other', 'unknown'] as const) {
    expect(news.healing(other, kin)).toContain('you are a new player now')
  }
  // That a room ended is no matter of how long one was away.
  expect(news.healing(other, 'other')).not.toContain('too long')
  expect(news.healing({ ...healed, lost: 3 }, 'same')).toContain('3 of your moves were lost')
})

test('a disaster is told with who is gone, whose copy it is, and what is lost', () => {
  const witness = { ...ada, inc: 7, watches: false }
  const gone = [{ player: 2, name: 'Grace' }, bots]
  expect(news.recovery({ epoch: 9, witness, gone, silent: 0 })).toBe(
    'Grace and Bots went at once. The game goes on with Ada’s copy, the newest of those left; ' +
      'what nobody else had seen is lost.',
  )
  expect(news.recovery({ epoch: 9, witness: null, gone: [], silent: 2 })).toContain('2 did not')
})

test('who waits for the others is told so, and who comes back who they are', () => {
  expect(news.waiting(true)).toMatch(/^The server and its backup do not answer/)
  expect(news.waiting(false)).toMatch(/^The server does not answer/)
  expect(news.welcome('back')).toContain('same player')
  for (const way of ['ended', 'forgotten', 'unknown'] as const) {
    expect(news.welcome(way)).toContain('you are a new player')
  }
  // Who reloads the last window of a room was not away for long (AP-1).
  expect(news.welcome('ended')).toMatch(/room that you were in has ended/)
  expect(news.welcome('ended')).not.toMatch(/away|too long/)
})

test('no advice names a command, for none is right in a checkout and where it is installed (AP-24)', () => {
  const codes = [
    'full',
    'unreachable',
    'forbidden',
    'timeout',
    'schema',
    'version',
    'bad-value',
    'unknown',
  ] as const
  for (const code of codes) expect(news.advice(code)).not.toMatch(/npm|npx|“/)
})

test('every chance gives a name and a room', () => {
  for (let i = 0; i < 1000; i++) {
    expect(news.pickName(i / 1000)).toMatch(/^[A-Z][a-z]+$/)
    expect(news.pickRoom(i / 1000)).toMatch(/^[a-z]+-[1-9]\d$/)
  }
})
