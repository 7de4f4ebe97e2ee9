// Goal: lines of the session that stand between two rules, and that nobody would miss at first.
// Method: the shipped verbs, by hand; each test was seen to fail without its line.
import { describe, expect, test } from 'vitest'
import { founder, fresh } from '../../proof/models/processes.ts'
import * as client from '../../packages/holdfast/src/session/client.ts'
import * as durable from '../../packages/holdfast/src/replication/durable.ts'
import { type PeerMessage, testimonyLayout } from '../../packages/holdfast/src/session/messages.ts'
import * as operations from '../../packages/holdfast/src/session/operations.ts'
import { onTestimony } from '../../packages/holdfast/src/session/recovery.ts'
import { takeSnapshot } from '../../packages/holdfast/src/session/replicate.ts'
import * as roles from '../../packages/holdfast/src/session/roles.ts'
import * as machine from '../../packages/holdfast/src/session/session.ts'
import { leadOf, type Session, NO_VIEW } from '../../packages/holdfast/src/session/state.ts'
import { mayBePrimary } from '../../packages/holdfast/src/session/state.ts'
import type { PartState } from '../../packages/holdfast/src/replication/durable.ts'
import { encode } from '../../packages/holdfast/src/wire/layout.ts'
import { ackOf, listening, One, operation, registerOf } from './scene.ts'

const LEASE_MS = 10_000

/** The primary, 1, of three; 2 is asked to stand by. */
function primary(): One {
  const one = new One(founder(null).process)
  for (const asker of [1, 2]) one.give({ kind: 'join', asker })
  one.give({ kind: 'offer', peer: 2 })
  return one
}

/** The same with 2 as its registered backup, at epoch 2. */
function backedUp(): One {
  const one = primary()
  one.give(ackOf(1, one.length))
  one.give(registerOf(2, 1, 2))
  one.told.length = 0
  return one
}

/** Who stands by that primary, and has its snapshot, offered in such an epoch. */
function candidate(epoch: number): { one: One; snapshot: PeerMessage & { kind: 'snapshot' } } {
  const [found] = primary().sent.filter((message) => message.kind === 'snapshot')
  const snapshot = { ...found!, epoch }
  const one = new One(fresh(1, null))
  one.session.me = 2
  one.give({ kind: 'receive', from: 1, message: snapshot })
  return { one, snapshot }
}

describe('the log and who stands by', () => {
  test('T38: who lacks an entry of the log is not registered as backup (PR-2)', () => {
    const one = primary()
    one.give(operation(1))
    one.give(ackOf(1, one.length - 1))
    expect(one.session.server.role).toBe('alone')
    one.give(ackOf(1, one.length))
    expect(one.session.server.role).toBe('adding')
  })
  test('T35: a backup takes no entry behind a gap, and says how far it is (PR-2)', () => {
    const { one } = candidate(1)
    const { length } = one
    const source = backedUp()
    source.give(operation(1))
    const entry = source.sent.findLast((message) => message.kind === 'replicate')!
    const give = (index: number): PeerMessage => {
      one.give({ kind: 'receive', from: 1, message: { ...entry, epoch: 1, index } })
      return one.sent.at(-1)!
    }
    expect(give(length + 1)).toMatchObject({ kind: 'acknowledge', length })
    expect(one.process.done).toEqual([])
    expect(give(length)).toMatchObject({ kind: 'acknowledge', length: length + 1 })
    expect(one.process.done).toEqual([1])
  })
  test('T38: a snapshot that a part does not take is not acked, and none is held any more', () => {
    const { one, snapshot } = candidate(2)
    const { session } = one
    expect(session.server.role).toBe('sync')
    const { out, sent } = listening()
    const deaf = { ...out, parts: { ...out.parts, restore: () => false } }
    takeSnapshot({ session, now: 0, out: deaf }, 1, { ...snapshot, epoch: 3 })
    expect(session.server.role).toBe('idle')
    expect(sent).toEqual([])
  })
  test('C-3: a snapshot of an older epoch is not taken (PR-2)', () => {
    const { one, snapshot } = candidate(2)
    expect(one.session.server).toMatchObject({ role: 'sync', epoch: 2 })
    one.give({ kind: 'receive', from: 1, message: { ...snapshot, epoch: 1 } })
    expect(one.session.server).toMatchObject({ role: 'sync', epoch: 2 })
    one.give({ kind: 'receive', from: 1, message: { ...snapshot, epoch: 3 } })
    expect(one.session.server).toMatchObject({ role: 'sync', epoch: 3 })
  })
})

describe('a role that is handed over', () => {
  test('T4: only when the backup has the last entry (PR-2)', () => {
    const one = backedUp()
    one.give({ kind: 'hand-over' })
    expect(one.session.server.role).toBe('backedup')
    one.give(ackOf(2, one.length - 1))
    expect(one.session.server.role).toBe('backedup')
    one.give(ackOf(2, one.length))
    expect(one.session.server.role).toBe('handing')
  })
  test('T4: what was held for want of a lease is told when the next primary has it (PR-2)', () => {
    const one = backedUp()
    Object.assign(leadOf(one.session).lease, { counts: true, until: -1 })
    one.give(operation(1))
    one.give(ackOf(2, one.length))
    one.give({ kind: 'hand-over' })
    one.give(ackOf(2, one.length))
    expect([one.session.server.role, one.told]).toEqual(['handing', []])
    one.give(registerOf(3, 2, 0))
    expect([one.session.server.role, one.told]).toEqual(['idle', ['done']])
  })
  test('T43: a new primary counts its lease from its request, not from the answer (PR-2)', () => {
    const { one } = candidate(1)
    const own = one.session
    const { out } = listening()
    own.recovers = true
    machine.receive({ session: own, now: 500, out }, 1, { kind: 'confirm', epoch: 2 })
    roles.suspect({ session: own, now: 1_000, out }, 1)
    const register = { epoch: 3, primary: 2, backup: 0 }
    const more = { ok: true, register, leader: null }
    const said = { kind: 'register', request: 0, session: 's', ...more } as const
    machine.receiveFromHub({ session: own, now: 4_000, out }, said)
    expect(own.server.role).toBe('alone')
    expect(leadOf(own).lease.until).toBe(1_000 + LEASE_MS)
  })
})

describe('what a client believes', () => {
  function member(): Session {
    const one = backedUp()
    const own = fresh(2, null).session
    own.me = 3
    const members = [...one.session.server.published.values()]
    const view = { ...NO_VIEW, epoch: 2, mv: 3, primary: 1, backup: 2, members }
    client.follow({ session: own, now: 0, out: listening().out }, view, null)
    return own
  }

  test('S-2: a view of the same number says who stands by now (PR-2)', () => {
    const own = member()
    client.takeView({ session: own, now: 0, out: listening().out }, 1, {
      ...own.client.view,
      backup: 3,
    })
    expect(own.client.view.backup).toBe(3)
    client.takeView({ session: own, now: 0, out: listening().out }, 1, {
      ...own.client.view,
      mv: 2,
      backup: 2,
    })
    expect(own.client.view.backup).toBe(3)
  })
  test('T42: whom an older register names does not lead (PR-2)', () => {
    const own = member()
    own.client.register = { epoch: 1, primary: 7, backup: 0 }
    expect(mayBePrimary(own, 7)).toBe(false)
    own.client.register = { epoch: 2, primary: 7, backup: 0 }
    expect([mayBePrimary(own, 7), mayBePrimary(own, 8)]).toEqual([true, false])
  })
  test('T44: no outcome comes before what it did is seen (PR-2)', () => {
    const own = member()
    const { out, events } = listening()
    own.client.pending.push({ seq: 1, part: 5, body: Uint8Array.of(7), since: 0 })
    const done = { kind: 'done', seq: 1, outcome: Uint8Array.of(1) } as const
    own.client.published.waiting = true
    operations.settle({ session: own, now: 0, out }, done)
    expect([own.client.pending.length, events]).toEqual([1, []])
    own.client.published.waiting = false
    operations.settle({ session: own, now: 0, out }, done)
    expect([own.client.pending.length, events.map(({ kind }) => kind)]).toEqual([0, ['done']])
  })
})

describe('numbers of operations', () => {
  test('T44: an operation whose predecessor is missing is not done (PR-2)', () => {
    const one = primary()
    const { length } = one
    one.give(operation(2))
    expect([one.length, one.process.done]).toEqual([length, []])
    one.give(operation(1))
    one.give(operation(2))
    expect(one.process.done).toEqual([1, 2])
  })
  test('T80: a player that comes back never gives a number twice (PR-2)', () => {
    const own = fresh(2, null).session
    own.client.nextSeq = 5
    operations.renumber(own, true, 2, listening().out)
    expect(own.client.nextSeq).toBe(5)
    operations.renumber(own, true, 7, listening().out)
    expect(own.client.nextSeq).toBe(8)
  })
  test('T80: what a player had settled counts where the session knows less (PR-2)', () => {
    const one = primary()
    const known = one.session.server.durable
    const member = known.members.get(2)!
    durable.apply(known, { kind: 'add', member, settled: 9 })
    expect(known.players.get(member.player)!.lastSeq).toBe(9)
    durable.apply(known, { kind: 'add', member, settled: 4 })
    expect(known.players.get(member.player)!.lastSeq).toBe(9)
  })
  test('T80: a recovery counts what members had settled, beyond the copy that it is made of (PR-2)', () => {
    const one = primary()
    const { server } = one.session
    const { player } = server.durable.members.get(3)!
    gathers(one, 1)
    onTestimony(
      { session: one.session, now: 0, out: listening().out },
      1,
      testimony(one, [{ player, seq: 3 }]),
    )
    expect(one.session.server.role).toBe('alone')
    expect(server.durable.players.get(player)!.lastSeq).toBe(6)
  })
  test('T78: a copy that a part does not take is not gone on with; the next best is', () => {
    const one = primary()
    gathers(one, 3)
    const { out } = listening()
    const copies: PartState[][] = []
    const restore = (parts: PartState[]): boolean => copies.push(parts) > 1
    const picky = { ...out, parts: { ...out.parts, restore } }
    onTestimony({ session: one.session, now: 0, out: picky }, 3, testimony(one, []))
    expect(copies).toHaveLength(2)
    expect(one.session.server.role).toBe('alone')
    expect([...one.session.server.durable.members.keys()]).not.toContain(3)
  })
})

/** The same member gathers what 1 and 3 were told, and has asked one of them for its copy. */
function gathers({ session }: One, witness: number): void {
  const { epoch, durable: kept, log, publishedMv, published, moderation } = session.server
  const answers = new Map([
    [1, { index: 4, settled: 0, moderation }],
    [3, { index: witness === 3 ? 9 : 2, settled: 6, moderation }],
  ])
  const own = { stored: null, awaits: false, copy: null, gone: [] }
  const gathering = { until: 5_000, answers, witness, ...own }
  const common = { epoch, durable: kept, log, publishedMv, published, moderation }
  session.server = { ...common, role: 'gathering', lead: leadOf(session), ...gathering }
}

function testimony(
  { session }: One,
  seqs: { player: number; seq: number }[],
): PeerMessage & { kind: 'testimony' } {
  const bytes = encode(testimonyLayout, { index: 4, seqs, parts: [], former: [] })
  return { kind: 'testimony', epoch: session.server.epoch, piece: 0, of: 1, bytes }
}
