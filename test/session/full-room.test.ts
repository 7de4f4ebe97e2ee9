// Goal: a room has as many members as fit, whoever comes back: who returns never stands beside its
// own row, and gets in as soon as that is out.
// Method: the shipped verbs of membership by hand, in a room of 256 and in small ones; whole
// sessions in virtual time.
import { describe, expect, test } from 'vitest'
import { action, type Session } from '../../packages/holdfast/src/index.ts'
import { MEMBERS_MAX } from '../../packages/holdfast/src/machine.ts'
import { KEY_BYTES, SIGNATURE_BYTES } from '../../packages/holdfast/src/ports.ts'
import { world } from '../../packages/sim/src/session-world.ts'
import { sessionRules } from '../../proof/mutants.ts'
import * as membership from '../../packages/holdfast/src/session/membership.ts'
import {
  type Join,
  type Joined,
  type PeerMessage,
  SESSION_VERSION,
} from '../../packages/holdfast/src/session/messages.ts'
import { PLAYERS_KEPT_MAX } from '../../packages/holdfast/src/replication/layouts.ts'
import * as machine from '../../packages/holdfast/src/session/session.ts'
import { viewOf } from '../../packages/holdfast/src/session/output.ts'
import type { Session as Machine, SessionOut } from '../../packages/holdfast/src/session/state.ts'
import { fingerprint } from '../../packages/holdfast/src/wire/digest.ts'
import {
  ackOf,
  backedUpOf,
  listening,
  memberOf,
  type One,
  primaryOf,
  registerOf,
  silent,
} from './scene.ts'

const bytesOf = (count: number, from: number): Uint8Array => {
  return Uint8Array.from({ length: count }, (_, at) => (from >> (8 * (at & 1))) & 0xff)
}

function wishOf(number: number, key: Uint8Array = bytesOf(KEY_BYTES, number)): Join {
  const signature = new Uint8Array(SIGNATURE_BYTES)
  return {
    ...{ version: SESSION_VERSION, schema: fingerprint(''), name: 'p', kind: 'browser' },
    ...{ watches: false, addresses: [], link: bytesOf(KEY_BYTES, number), key, resume: null },
    ...{ registerHash: new Uint8Array(16), rights: 1, admission: signature, signature },
  }
}

/** What the primary answers; null if nothing yet. */
function asks(own: Machine, wish: Join): Joined | null {
  let said: Joined | null = null
  const out: SessionOut = { ...silent, answer: (_to, answer) => void (said = answer) }
  membership.join({ session: own, now: 0, out }, 9, wish)
  return said
}

/** The primary 1 with its backup 2, in a room of so many that is full. */
function full(most: number): One {
  const one = backedUpOf(3)
  const own = one.session
  own.playersMax = most
  for (let number = 4; number <= most; number++) {
    membership.join({ session: own, now: 0, out: silent }, 9, wishOf(1_000 + number))
  }
  one.give(ackOf(2, one.length))
  expect(sizes(one)).toEqual([most, most])
  return one
}

const sizes = ({ session }: One): [number, number] => {
  return [session.server.durable.members.size, viewOf(session).members.length]
}

describe('in a full room', () => {
  test.each([3, 17, MEMBERS_MAX])(
    'of %i a backup that comes back waits for its old row, and is never one too many (N-3)',
    (most) => {
      const one = full(most)
      const { key } = one.session.server.durable.members.get(2)!
      const back = wishOf(2_000, key)
      expect(asks(one.session, back)).toBe(null)
      expect(membership.isReturning(one.session, back)).toBe(true)
      expect([one.session.server.role, ...sizes(one)]).toEqual(['dropping', most, most])
      one.give(registerOf(3, 1, 0))
      const [rows] = sizes(one)
      expect([one.session.server.role, rows]).toEqual(['alone', most - 1])
      expect(membership.isReturning(one.session, back)).toBe(false)
      expect(asks(one.session, back)).toMatchObject({ kind: 'joined', player: 2 })
      expect(sizes(one)).toEqual([most, most])
    },
  )

  test('who takes the place meanwhile is somebody else: the place is kept (N-3)', () => {
    const one = full(MEMBERS_MAX)
    const { key } = one.session.server.durable.members.get(2)!
    expect(asks(one.session, wishOf(2_000, key))).toBe(null)
    expect(asks(one.session, wishOf(3_000))).toMatchObject({ kind: 'denied', code: 'full' })
  })

  test('of 256 the player of the primary itself waits until that has handed over (N-3)', () => {
    const one = full(MEMBERS_MAX)
    const { key } = one.session.server.durable.members.get(1)!
    expect(asks(one.session, wishOf(2_000, key))).toBe(null)
    expect(sizes(one)).toEqual([MEMBERS_MAX, MEMBERS_MAX])
    expect(one.session.server).toMatchObject({ lead: { yields: true } })
  })

  test('of 256 who comes back after its place was taken is told that it is full (N-3)', () => {
    const one = full(MEMBERS_MAX)
    const { key } = one.session.server.durable.members.get(9)!
    membership.remove({ session: one.session, now: 0, out: silent }, 9, 'timeout')
    membership.join({ session: one.session, now: 0, out: silent }, 9, wishOf(3_000))
    expect(sizes(one)[0]).toBe(MEMBERS_MAX)
    expect(asks(one.session, wishOf(2_000, key))).toMatchObject({ kind: 'denied', code: 'full' })
    expect(sizes(one)[0]).toBe(MEMBERS_MAX)
  })

  test('alone, it gets in beside: nobody else could take the role (N-3)', () => {
    const own = primaryOf(1).session
    const { key } = own.server.durable.members.get(1)!
    expect(asks(own, wishOf(2_000, key))).toMatchObject({ kind: 'joined', player: 1 })
  })

  test('a primary that lets in whoever returns at once has 257 rows, which no view takes (N-3)', () => {
    const one = full(MEMBERS_MAX)
    Object.assign(one.session, { rules: sessionRules('beside-its-row') })
    const { key } = one.session.server.durable.members.get(2)!
    asks(one.session, wishOf(2_000, key))
    expect(one.session.server.durable.members.size).toBe(MEMBERS_MAX + 1)
  })
})

describe('what a member was told of those who came and went', () => {
  const ask = (own: Machine, whole: boolean): PeerMessage[] => {
    const { out, messages } = listening()
    machine.receive({ session: own, now: 0, out }, 1, { kind: 'inquire', epoch: 9, whole })
    return messages
  }
  const news = (own: Machine, player: number, index = player): void => {
    const said = { kind: 'news', index, player, seq: 1, part: 5, bytes: new Uint8Array(1) } as const
    machine.receive({ session: own, now: 0, out: silent }, 1, said)
  }
  test('fits what it says to who recovers the session, however many they were (N-3)', () => {
    const { own } = memberOf(3)
    for (let player = 1; player <= PLAYERS_KEPT_MAX + 300; player++) news(own, player)
    expect(ask(own, true).map(({ kind }) => kind)).toContain('testimony')
    expect(own.client.published.seqs.size).toBe(PLAYERS_KEPT_MAX)
    // Those who are here are not forgotten.
    expect([1, 2, 3].map((player) => own.client.published.seqs.has(player))).toEqual([
      true,
      true,
      true,
    ])
  })
  test('has no number to which nothing can be added (N-3)', () => {
    const { own } = memberOf(3)
    news(own, 2, 7)
    news(own, 2, 2 ** 53 - 1)
    expect(ask(own, false)).toMatchObject([{ kind: 'witness', index: 7 }])
  })
})

describe('a tab that serves as backup and is loaded again', () => {
  const add = action('add', (table, { by }: { by: number }) => table.set('sum', by))
  test.each([2, 3])(
    'in a room of %i is back within a second, and nobody ever sees it twice (N-3)',
    async (most) => {
      const w = world({ seed: 41 + most, conditions: 'rtt=40' })
      const duel = { game: 'duel', types: [add], playersMax: most }
      const all: Session[] = []
      for (let at = 0; at < most; at++) all.push(await w.join({ ...duel, name: `p${at}` }))
      await w.runUntil(() => all.every(({ safety }) => safety === 'backed-up'), 10_000)
      const [ada, backup] = [all[0]!, all.find((one) => one.debug.figures().role === 'backup')!]
      const seen: number[] = []
      ada.on('members', (rows) => void seen.push(rows.length))
      const { token, me } = backup
      w.kill(backup)
      const from = w.now()
      const again = await w.join({ ...duel, name: 'again', token })
      expect(w.now() - from).toBeLessThan(1_000)
      expect(again.me.player).toBe(me.player)
      expect(Math.max(...seen)).toBe(most)
      await w.runUntil(() => ada.safety === 'backed-up', 10_000)
      expect([ada.safety, ada.members.length]).toEqual(['backed-up', most])
    },
  )
})
