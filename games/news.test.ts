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
  expect(news.connection('live', 'reconnecting', '')).toBe('Connection lost: reconnecting…')
  expect(news.connection('reconnecting', 'live', '')).toContain('Back again')
  expect(news.connection('live', 'live', '')).toBe('')
  expect(news.connection('live', 'lost', 'the room is gone')).toContain('the room is gone')
})

test('every chance gives a name and a room', () => {
  for (let i = 0; i < 1000; i++) {
    expect(news.pickName(i / 1000)).toMatch(/^[A-Z][a-z]+$/)
    expect(news.pickRoom(i / 1000)).toMatch(/^[a-z]+-[1-9]\d$/)
  }
})
