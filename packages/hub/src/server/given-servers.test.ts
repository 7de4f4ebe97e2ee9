// Goal: credentials are those that coturn computes from the same secret, and a wrong option is
// refused by a sentence that names it. The first was computed by openssl.
import { expect, test } from 'vitest'
import { readServers, type TurnOptions } from './given-servers.ts'

const TURN = { urls: ['turn:turn.example.org'], secret: '0123456789abcdef' }
const STUN = ['stun:stun.example.org:19302']

test('credentials end in an hour, and name a member by what nobody else can compute', () => {
  const servers = readServers(STUN, TURN)!
  expect(servers('s1 ff', 1_700_000_000_999)).toEqual({
    urls: ['stun:stun.example.org:19302', 'turn:turn.example.org'],
    username: '1700003600:cc888175e2cf81cd',
    credential: 'Ujw9Q3htHFpvwHeuWGdd/moaEHo=',
    lasts: 3_600_000,
  })
  const [one, other] = ['s1 ff', 's2 ff'].map((member) => servers(member, 0).username)
  expect(one).not.toBe(other)
})

test('STUN needs no credentials, and without servers nobody gets any', () => {
  expect(readServers(STUN)!('s1 ff', 0)).toMatchObject({ urls: STUN, username: '', credential: '' })
  expect([readServers(), readServers([])]).toEqual([null, null])
})

test.each<[readonly string[], unknown, RegExp]>([
  [['turn:example.org'], undefined, /^a server of stun is such as stun:example\.org:3478: "turn:/],
  [['stun:a b'], undefined, /^a server of stun is such as/],
  [[], { ...TURN, urls: STUN }, /^a server of turn is such as turn:example\.org:3478: "stun:/],
  [[], { ...TURN, urls: [] }, /^turn\.urls is empty/],
  [[], { ...TURN, urls: 'turn:example.org' }, /^turn is a list of texts/],
  [[], { ...TURN, secret: '0123456789abcde' }, /^turn\.secret has at least 16 characters: 15$/],
  [[], { urls: TURN.urls }, /^turn\.secret has at least 16 characters: 0$/],
  [[], { ...TURN, user: 'me' }, /^turn takes no option "user"/],
  [[], 'turn:example.org', /^turn takes its options as an object/],
  [[...STUN, ...STUN, ...STUN, ...STUN], TURN, /^stun and turn are at most 4 servers: 5$/],
])('stun %j and turn %j are refused', (stun, turn, sentence) => {
  expect(() => readServers(stun, turn as TurnOptions)).toThrow(sentence)
})
