// Goal: the longest messages of a session fit the messages of a link.
import { calmly } from '../calmly.ts'
import { expect, test } from 'vitest'
import { MESSAGE_MAX } from '../../packages/holdfast/src/link/limits.ts'
import { MEMBERS_MAX, NAME_MAX } from '../../packages/holdfast/src/machine.ts'
import {
  joinedLayout,
  peerLayout,
  type View,
} from '../../packages/holdfast/src/session/messages.ts'
import {
  type Expulsion,
  type Member,
  VOTES_MAX,
} from '../../packages/holdfast/src/replication/layouts.ts'
import { encode } from '../../packages/holdfast/src/wire/layout.ts'

const ADDRESS_MAX = 52
const ADDRESSES_MAX = 2
const EXPELLED_MAX = 32
const EXPULSION_WHY_MAX = 200
const TERMS_MAX = 256
const LINEAGE_MAX = 32

const longest = (inc: number): Member => ({
  inc,
  player: inc,
  name: 'n'.repeat(NAME_MAX),
  kind: 'browser',
  addresses: Array.from({ length: ADDRESSES_MAX }, () => 'a'.repeat(ADDRESS_MAX)),
  link: new Uint8Array(32),
  registerHash: new Uint8Array(16),
  key: new Uint8Array(32),
  rights: 255,
})

const expulsion = (player: number): Expulsion => ({
  ...{ player, inc: player, name: 'n'.repeat(NAME_MAX), key: new Uint8Array(32) },
  ...{ ban: true, why: 'w'.repeat(EXPULSION_WHY_MAX) },
})

const far = { epoch: 2 ** 40, index: 2 ** 40, segments: 2 ** 40 }
const start = { ...far, mark: new Uint8Array(16), imported: true }

test('the view of a full session with the longest names and addresses fits one message', () => {
  const incs = Array.from({ length: MEMBERS_MAX }, (_, i) => 2_000_000 + i)
  const members = incs.map(longest)
  const view: View = {
    epoch: 2 ** 21 - 1,
    mv: 2 ** 40,
    primary: 1,
    backup: 2,
    members,
    grant: new Uint8Array(64),
    cv: Number.MAX_SAFE_INTEGER,
    banned: Array.from({ length: EXPELLED_MAX }, (_, i) => expulsion(2_000_000 + i)),
    votes: Array.from({ length: VOTES_MAX }, () => ({ by: 2_000_000, against: 2_000_001 })),
    settings: { terms: 't'.repeat(TERMS_MAX), topology: 'mesh', playersMax: 256 },
    proof: new Uint8Array(16),
    lineage: Array.from({ length: LINEAGE_MAX }, () => start),
  }
  expect(calmly(() => encode(peerLayout, { kind: 'view', view })).length + 1).toBeLessThan(
    MESSAGE_MAX,
  )
  const joined = { kind: 'joined', inc: 1, player: 1, lastSeq: 2 ** 40, view } as const
  expect(calmly(() => encode(joinedLayout, joined)).length + 1).toBeLessThan(MESSAGE_MAX)
})
