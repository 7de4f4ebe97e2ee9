// Goal: what a hub of any version kept of a session is read, and nothing else is.
// Method: the layouts of now and of before, and what is none of them.
import { expect, test } from 'vitest'
import { encode } from '../../packages/holdfast/src/wire/layout.ts'
import {
  readRecord,
  stored,
  storedBefore,
  storedWithTerms,
  writeRecord,
} from '../../packages/hub/src/machine/records.ts'

const ENTRY = {
  session: 's',
  game: 'g',
  room: 'r',
  register: { epoch: 3, primary: 2, backup: 1 },
  players: 2,
  playersMax: 4,
  standing: 'open',
  topology: 'star',
} as const
const MEMBER = { inc: 2, player: 1, hash: new Uint8Array(16).fill(5) }
const UNKNOWN = new Uint8Array(32)
/** What older records have not. */
const NEW = { hosts: false, entrants: [], invitations: [] }

test('a record is read as it was written, terms and keys and all (PR-2)', () => {
  const link = new Uint8Array(32).fill(9)
  const key = new Uint8Array(32).fill(8)
  const entrants = [{ id: 't', key, rights: 5 }]
  const members = [{ ...MEMBER, link, key }]
  const invitations = [{ digest: new Uint8Array(16).fill(9), uses: 2, rights: 1 }]
  const kept = { entry: { ...ENTRY, terms: 'a=b' }, members, entrants, invitations }
  for (const [recovers, hosts] of [
    [true, false],
    [false, true],
  ] as const) {
    const whole = { ...kept, recovers, hosts }
    expect(readRecord(writeRecord(whole))).toEqual(whole)
  }
})

test('one of before link keys has its terms, and no keys (PR-2)', () => {
  const entry = { ...ENTRY, terms: 'a=b' }
  const bytes = encode(storedWithTerms, {
    ...{ form: 'terms', entry, members: [MEMBER], recovers: true },
  })
  const members = [{ ...MEMBER, link: UNKNOWN, key: UNKNOWN }]
  expect(readRecord(bytes)).toEqual({ ...NEW, entry, members, recovers: true })
})

test('one of before terms has neither (PR-2)', () => {
  const bytes = encode(storedBefore, { entry: ENTRY, members: [MEMBER], recovers: false })
  const members = [{ ...MEMBER, link: UNKNOWN, key: UNKNOWN }]
  expect(readRecord(bytes)).toEqual({
    ...{ ...NEW, entry: { ...ENTRY, terms: '' }, members, recovers: false },
  })
})

test('what says that it has a form and has another is none, nor is anything else (PR-2)', () => {
  const entry = { ...ENTRY, terms: '' }
  const now = encode(stored, { form: 'terms', entry, members: [], recovers: true, ...NEW })
  const before = encode(storedWithTerms, {
    form: 'links',
    entry,
    members: [MEMBER],
    recovers: true,
  })
  expect([readRecord(before), readRecord(now)]).toEqual([null, null])
  for (const bytes of [[], [0], [1, 2, 3], [...now, 0], [...now.slice(0, -1)]]) {
    expect(readRecord(Uint8Array.from(bytes))).toBe(null)
  }
})
