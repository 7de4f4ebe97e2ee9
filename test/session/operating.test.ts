// Goal: what a primary does for who asks, and each bound beyond which it does not.
// Method: the shipped verbs of membership and operations, by hand.
import { describe, expect, test } from 'vitest'
import { INC_MAX } from '../../packages/holdfast/src/machine.ts'
import { KEY_BYTES, SIGNATURE_BYTES } from '../../packages/holdfast/src/ports.ts'
import { NO_PARTS } from '../../proof/models/processes.ts'
import * as client from '../../packages/holdfast/src/session/client.ts'
import * as membership from '../../packages/holdfast/src/session/membership.ts'
import {
  type Join,
  type Joined,
  SESSION_VERSION,
} from '../../packages/holdfast/src/session/messages.ts'
import * as operations from '../../packages/holdfast/src/session/operations.ts'
import { CHANGES_BYTES_MAX } from '../../packages/holdfast/src/session/operations.ts'
import * as machine from '../../packages/holdfast/src/session/session.ts'
import type {
  Performed,
  Effect,
  Session,
  SessionOut,
} from '../../packages/holdfast/src/session/state.ts'
import { fingerprint } from '../../packages/holdfast/src/wire/digest.ts'
import { calmly } from '../calmly.ts'
import { ackOf, backedUpOf, listening, memberOf, primaryOf, registerOf, silent } from './scene.ts'

const AGAIN_MS = 1_000
const HELD_MAX = 32_768

const BODY = Uint8Array.of(7)
const EFFECT: Effect = { kind: 'send', to: 2, message: { kind: 'leave' } }

function keyOf(byte: number): Uint8Array {
  return new Uint8Array(KEY_BYTES).fill(byte)
}

function wishOf(byte: number, other: Partial<Join> = {}): Join {
  const own = { link: keyOf(byte), key: keyOf(byte), registerHash: new Uint8Array(16) }
  const signature = new Uint8Array(SIGNATURE_BYTES)
  const named = { name: 'p', addresses: [], resume: null, schema: fingerprint(''), signature }
  const right = { rights: 1, admission: signature }
  return {
    version: SESSION_VERSION,
    kind: 'node',
    watches: false,
    ...named,
    ...own,
    ...right,
    ...other,
  }
}

/** So many effects are held. */
function holds(own: Session, count: number): void {
  own.server.log.held = Array.from({ length: count }, () => ({ length: 9_999, effect: EFFECT }))
}

describe('who asks to join', () => {
  /** Whether it was answered, and what with. */
  function joins(own: Session, wish: Join): [boolean, Joined | undefined] {
    const answers: Joined[] = []
    const out = {
      ...listening().out,
      time: () => 0,
      seal: (segment: Uint8Array) => segment,
      answer: (_to: number, said: Joined) => void answers.push(said),
    }
    const isAnswered = calmly(() => membership.join({ session: own, now: 0, out }, 9, wish))
    return [isAnswered, answers[0]]
  }
  const code = ([, said]: [boolean, Joined | undefined]): string => {
    return said?.kind === 'denied' ? said.code : (said?.kind ?? 'nothing')
  }
  test('T14: gets a number, and is in the view that it is answered with (PR-2)', () => {
    const own = primaryOf(2).session
    const [isAnswered, said] = joins(own, wishOf(70))
    expect([isAnswered, said]).toMatchObject([
      true,
      { kind: 'joined', inc: 3, player: 3, lastSeq: 0 },
    ])
    const view = said?.kind === 'joined' ? said.view : null
    expect(view!.members.map(({ inc }) => inc)).toEqual([1, 2, 3])
    // Asked again by the same process it is the same member.
    expect(joins(own, wishOf(70))).toMatchObject([true, { inc: 3 }])
    expect(own.server.durable.members.size).toBe(3)
  })
  test('T14: with a key that is known is that player, whatever number it says (SE-4)', () => {
    const own = primaryOf(2).session
    joins(own, wishOf(70))
    for (const resume of [null, { player: 99, inc: 0, settled: 0 }]) {
      const said = joins(own, wishOf(70, { link: keyOf(resume ? 71 : 72), resume }))
      expect(said).toMatchObject([true, { kind: 'joined', player: 3 }])
    }
    // So it has one place and one vote.
    const { members, players } = own.server.durable
    expect([[...members.keys()], [...players.keys()]]).toEqual([
      [1, 2, 5],
      [1, 2, 3],
    ])
  })
  test('T14: hears nothing while too much is held, and asks again (PR-2)', () => {
    const own = primaryOf(2).session
    holds(own, HELD_MAX - 1)
    expect(joins(own, wishOf(70))[0]).toBe(true)
    holds(own, HELD_MAX)
    expect(joins(own, wishOf(71))).toEqual([false, undefined])
  })
  test('T15: is told who does not serve: a client, one that leaves, one that gives its role away (PR-2)', () => {
    const gives = backedUpOf(2).session
    Object.assign(gives.server, { handoverUntil: 500 })
    const leaves = primaryOf(2).session
    leaves.leaving = true
    for (const own of [memberOf(3).own, gives, leaves]) {
      expect(code(joins(own, wishOf(70)))).toBe('notPrimary')
    }
  })
  test('T15: of another version or with other types is told so, members too (PR-2)', () => {
    const own = primaryOf(2).session
    joins(own, wishOf(70))
    expect(code(joins(own, wishOf(70, { version: SESSION_VERSION + 1 })))).toBe('version')
    expect(code(joins(own, wishOf(70, { schema: 1 })))).toBe('unfit')
  })
  test('T16: finds room up to the number of places, and who comes back always (PR-2)', () => {
    const own = primaryOf(2).session
    own.playersMax = 3
    expect(code(joins(own, wishOf(70)))).toBe('joined')
    expect(code(joins(own, wishOf(71)))).toBe('full')
    expect(code(joins(own, wishOf(70)))).toBe('joined')
    const resume = { player: 3, inc: 3, settled: 0 }
    expect(code(joins(own, wishOf(72, { key: keyOf(70), resume })))).toBe('joined')
    // With another key it is nobody who was here.
    expect(code(joins(own, wishOf(73, { resume })))).toBe('full')
  })
  test('S-5: finds room while the players that are kept are not too many (PR-2)', () => {
    const own = primaryOf(2).session
    const { players } = own.server.durable
    for (let player = 100; players.size < 1_024 - 1; player++) {
      players.set(player, { player, key: keyOf(9), lastSeq: 0, outcomes: [] })
    }
    expect(code(joins(own, wishOf(70)))).toBe('joined')
    expect(players.size).toBe(1_024)
    expect(code(joins(own, wishOf(71)))).toBe('full')
    const resume = { player: 100, inc: 0, settled: 0 }
    expect(code(joins(own, wishOf(72, { key: keyOf(9), resume })))).toBe('joined')
    expect(code(joins(own, wishOf(73, { resume })))).toBe('full')
  })
  test('is sent the room as a file once it is in, and no stranger is', () => {
    const own = primaryOf(2).session
    const asked: number[] = []
    const out: SessionOut = {
      ...silent,
      emit: (event) => void (event.kind === 'askRoom' && asked.push(event.from)),
    }
    for (const from of [2, 9])
      machine.receive({ session: own, now: 0, out }, from, {
        kind: 'askRoom',
        request: 1,
        piece: 0,
      })
    expect(asked).toEqual([2])
    const { own: member } = memberOf(3)
    machine.receive({ session: member, now: 0, out }, 2, { kind: 'askRoom', request: 1, piece: 0 })
    expect(asked).toEqual([2])
  })
  test('finds room while members have numbers by which objects can be named', () => {
    const own = primaryOf(2).session
    own.server.durable.nextInc = INC_MAX - 1
    expect(code(joins(own, wishOf(70)))).toBe('joined')
    expect(code(joins(own, wishOf(71)))).toBe('full')
    expect(code(joins(own, wishOf(70)))).toBe('joined')
  })
  test('S-5: comes back as the player it was, with what it knows to be done (PR-2)', () => {
    const own = primaryOf(2).session
    joins(own, wishOf(70))
    own.server.durable.players.get(3)!.lastSeq = 2
    const resume = { player: 3, inc: 3, settled: 6 }
    const [, said] = joins(own, wishOf(71, { key: keyOf(70), resume }))
    // The answer has what the session knew; the session has what it knows.
    expect(said).toMatchObject({ kind: 'joined', inc: 4, player: 3, lastSeq: 2 })
    expect(own.server.durable.players.get(3)!.lastSeq).toBe(6)
    expect([...own.server.durable.members.keys()]).toEqual([1, 2, 4])
    // Of another player one settles nothing.
    joins(own, wishOf(72, { resume: { player: 3, inc: 3, settled: 99 } }))
    expect(own.server.durable.players.get(3)!.lastSeq).toBe(6)
    expect(own.server.durable.players.get(5)!.lastSeq).toBe(0)
  })
  test('S-5: is the player of the primary, who then gives its role away and leaves (PR-2)', () => {
    for (const [player, yields] of [[1, true] as const, [2, false] as const]) {
      const own = primaryOf(2).session
      const { key } = own.server.durable.players.get(player)!
      joins(own, wishOf(70, { key, resume: { player, inc: 0, settled: 0 } }))
      expect('lead' in own.server && own.server.lead.yields).toBe(yields)
      expect(own.server.durable.members.has(1)).toBe(true)
    }
  })
})

describe('who links', () => {
  test('T15: is a member by its key, or may be one in a view to come (PR-2)', () => {
    const own = primaryOf(2).session
    const { publishedMv } = own.server
    const { link } = own.server.published.get(2)!
    expect(membership.admits(own, 2, link, 0)).toBe('yes')
    expect(membership.admits(own, 2, keyOf(99), 99)).toBe('no')
    expect(calmly(() => membership.admits(own, 3, link, publishedMv))).toBe('no')
    expect(membership.admits(own, 3, link, publishedMv + 1)).toBe('wait')
  })
  test('T15: to a member is judged by its view, not by what it once published (PR-2)', () => {
    const { own, view } = memberOf(3)
    own.server.publishedMv = 99
    const { link } = view.members[1]!
    expect(membership.admits(own, 2, link, 0)).toBe('yes')
    expect(membership.admits(own, 1, link, 0)).toBe('no')
    expect(membership.admits(own, 9, link, view.mv)).toBe('no')
    expect(membership.admits(own, 9, link, view.mv + 1)).toBe('wait')
  })
})

describe('who is removed', () => {
  const removed = (own: Session, inc: number): [number[], string[]] => {
    const { out, sent } = listening()
    calmly(() => membership.remove({ session: own, now: 0, out }, inc, 'left'))
    return [[...own.server.durable.members.keys()], sent.map(([, kind]) => kind)]
  }
  test('T31: is another member, and all hear of it; the primary itself is not (PR-2)', () => {
    const told = ['change', 'change', 'change']
    expect(removed(primaryOf(3).session, 3)).toEqual([[1, 2], told])
    for (const inc of [1, 9]) expect(removed(primaryOf(3).session, inc)).toEqual([[1, 2, 3], []])
    const gives = backedUpOf(3).session
    Object.assign(gives.server, { handoverUntil: 500 })
    expect(removed(gives, 3)).toEqual([[1, 2, 3], []])
    expect(removed(memberOf(3).own, 2)).toEqual([[], []])
  })
  test('T37: is the candidate, which is asked for nothing more; another changes nothing of it (PR-2)', () => {
    for (const [inc, left] of [[2, 0] as const, [3, 2] as const]) {
      const one = primaryOf(3)
      one.give({ kind: 'offer', peer: 2 })
      removed(one.session, inc)
      expect(one.session.server).toMatchObject({ role: 'alone', candidate: left })
    }
  })
})

describe('an operation of a member', () => {
  /** What its primary performs, and what came of it: how much the log grew, and what left. */
  function performs(
    performed: Performed | null,
    make: (own: Session) => void = () => {},
    seq = 1,
    from = 2,
  ) {
    const own = primaryOf(3).session
    make(own)
    const heard = listening()
    const bodies: unknown[] = []
    const parts = {
      ...NO_PARTS,
      perform: (part: number, body: Uint8Array) => (bodies.push([part, body]), performed),
    }
    const before = own.server.log.base + own.server.log.entries.length
    const message = { kind: 'operation', seq, part: 5, body: BODY } as const
    calmly(() =>
      machine.receive({ session: own, now: 0, out: { ...heard.out, parts } }, from, message),
    )
    const grown = own.server.log.base + own.server.log.entries.length - before
    return { own, bodies, grown, ...heard }
  }
  const outcome = Uint8Array.of(1)
  const bytesOf = (length: number): Uint8Array => new Uint8Array(length)
  const outcomeOf = (performed: Performed | null): Uint8Array | null => {
    const done = performs(performed).messages.find(({ kind }) => kind === 'done')
    return done?.kind === 'done' ? done.outcome : null
  }
  test('T44: is done, told to all who may see it, and then answered (PR-2)', () => {
    const news = [{ part: 6, bytes: BODY }]
    const { messages, sent, grown, bodies } = performs({ outcome, changes: [], news })
    expect([grown, bodies]).toEqual([1, [[5, BODY]]])
    expect(sent).toEqual([
      [1, 'news'],
      [2, 'news'],
      [3, 'news'],
      [2, 'done'],
    ])
    expect(messages[0]).toMatchObject({ player: 2, seq: 1, part: 6, bytes: BODY })
    expect(messages.at(-1)).toEqual({ kind: 'done', seq: 1, outcome })
  })
  test('that no part takes has the outcome of nobody (PR-2)', () => {
    expect(outcomeOf(null)).toEqual(Uint8Array.of(0))
  })
  const changesOf = (count: number, bytes: Uint8Array): Performed => {
    const changes = Array.from({ length: count }, () => ({ part: 1, bytes }))
    return { outcome, changes, news: [] }
  }
  const quarter = bytesOf(CHANGES_BYTES_MAX / 4)
  const more = changesOf(4, quarter)
  more.changes.push({ part: 1, bytes: BODY })
  test.each<[string, Performed, boolean]>([
    ['changes of 40 KB', changesOf(4, quarter), true],
    ['a byte more', more, false],
    ['256 changes', changesOf(256, BODY), true],
    ['one more', changesOf(256 + 1, BODY), false],
    ['the longest outcome', { outcome: bytesOf(16_384), changes: [], news: [] }, true],
    ['a longer one', { outcome: bytesOf(16_384 + 1), changes: [], news: [] }, false],
  ])('with %s counts or not, for it is one entry of the log (PR-2)', (_what, performed, fits) => {
    expect(outcomeOf(performed)).toEqual(fits ? performed.outcome : Uint8Array.of(0))
  })
  test.each<[string, (own: Session) => void, number]>([
    ['so much is held', (own) => holds(own, HELD_MAX - 1), 1],
    ['more is held', (own) => holds(own, HELD_MAX), 0],
    ['the backup lacks four megabytes', (own) => void (own.server.log.bytes = 2 ** 22), 1],
    ['it lacks more', (own) => void (own.server.log.bytes = 2 ** 22 + 1), 0],
    ['its player is not known', (own) => void own.server.durable.players.delete(2), 0],
    ['it is no member', (own) => void own.server.durable.members.delete(2), 0],
  ])('C-5: where %s, is done or waits (PR-2)', (_what, make, grown) => {
    expect(performs({ outcome, changes: [], news: [] }, make).grown).toBe(grown)
  })
  test('T80: that was done is answered as it was, and done no more (PR-2)', () => {
    const make = (own: Session): void => {
      const row = own.server.durable.players.get(2)!
      row.lastSeq = 4
      row.outcomes = [{ seq: 4, outcome: BODY }]
    }
    for (const [seq, was] of [[4, BODY] as const, [3, bytesOf(0)] as const]) {
      const { messages, grown } = performs({ outcome, changes: [], news: [] }, make, seq)
      expect([grown, messages]).toEqual([0, [{ kind: 'done', seq, outcome: was }]])
    }
    expect(performs({ outcome, changes: [], news: [] }, make, 6).grown).toBe(0)
    expect(performs({ outcome, changes: [], news: [] }, make, 5).grown).toBe(1)
  })
  test('is nothing to who does not serve, nor while the role is on its way (PR-2)', () => {
    const message = { kind: 'operation', seq: 1, part: 5, body: BODY } as const
    for (const own of [memberOf(3).own, backedUpOf(3).session]) {
      if (own.server.role === 'backedup') Object.assign(own.server, { handoverUntil: 500 })
      const { out, sent } = listening()
      calmly(() => machine.receive({ session: own, now: 0, out }, 2, message))
      expect(sent).toEqual([])
    }
  })
})

describe('what a client asks for', () => {
  test('T44: is sent at once, and again each second until it has its outcome (PR-2)', () => {
    const { own } = memberOf(3)
    const { out, sent, messages } = listening()
    const submit = (now: number): number => operations.submit({ session: own, now, out }, 5, BODY)
    expect([submit(100), submit(300)]).toEqual([1, 2])
    expect(messages).toEqual([1, 2].map((seq) => ({ kind: 'operation', seq, part: 5, body: BODY })))
    expect(own.client.againAt).toBe(100 + AGAIN_MS)
    expect(client.deadline(own)).toBe(100 + AGAIN_MS)
    client.wake({ session: own, now: 99 + AGAIN_MS, out })
    expect(sent).toHaveLength(2)
    client.wake({ session: own, now: 100 + AGAIN_MS, out })
    expect([sent.length, own.client.againAt]).toEqual([4, 100 + 2 * AGAIN_MS])
    const done = (seq: number, from = 1): void => {
      calmly(() =>
        machine.receive({ session: own, now: 0, out }, from, { kind: 'done', seq, outcome: BODY }),
      )
    }
    const waiting = (): number[] => own.client.pending.map(({ seq }) => seq)
    // From who does not lead, and of what nobody asked, an outcome is none.
    done(1, 2)
    done(9)
    expect(waiting()).toEqual([1, 2])
    done(1)
    expect([waiting(), own.client.againAt]).toEqual([[2], 100 + 2 * AGAIN_MS])
    done(2)
    expect([waiting(), own.client.againAt]).toEqual([[], Infinity])
  })
  test('waits where there is no primary yet, and is sent when there is one (PR-2)', () => {
    const { own, view } = memberOf(3)
    own.client.view = { ...view, primary: 0 }
    const { out, sent } = listening()
    operations.submit({ session: own, now: 0, out }, 5, BODY)
    operations.submitAgain({ session: own, now: 500, out })
    expect([sent, own.client.againAt]).toEqual([[], 500 + AGAIN_MS])
    own.client.pending = []
    operations.submitAgain({ session: own, now: 600, out })
    expect(own.client.againAt).toBe(Infinity)
  })
  test('T44: is 64 things at a time, of 16 KB each, and not one more (PR-2)', () => {
    const { own } = memberOf(3)
    const submit = (length: number) => (): number => {
      return operations.submit(
        { session: own, now: 0, out: listening().out },
        5,
        new Uint8Array(length),
      )
    }
    expect(submit(16_384 + 1)).toThrow('an operation takes 16384 bytes: 16385')
    expect(submit(16_384)).not.toThrow()
    for (let at = 1; at < 64; at++) expect(submit(1)).not.toThrow()
    expect(submit(1)).toThrow('64 operations wait for the primary already')
  })
  test('T80: of a player that is forgotten is reported as unknown, once and by its numbers (PR-2)', () => {
    const { own } = memberOf(3)
    const { out, events } = listening()
    for (let at = 0; at < 2; at++) operations.submit({ session: own, now: 0, out }, 5, BODY)
    operations.renumber(own, false, 6, out)
    expect(events).toEqual([{ kind: 'unknown', seqs: [1, 2] }])
    expect(own.client).toMatchObject({ pending: [], nextSeq: 7, againAt: Infinity })
    operations.renumber(own, false, 2, out)
    expect([events.length, own.client.nextSeq]).toEqual([1, 3])
    operations.submit({ session: own, now: 0, out }, 5, BODY)
    operations.renumber(own, true, 9, out)
    expect([events.length, own.client.pending.length, own.client.nextSeq]).toEqual([1, 1, 10])
  })
})

describe('what one member is sent of the state', () => {
  test('T44: is shown as it may be seen by its player, and ends with where it is of (PR-2)', () => {
    const one = backedUpOf(3)
    const own = one.session
    own.server.durable.players.get(3)!.lastSeq = 4
    const shown: unknown[] = []
    const { out, messages } = listening()
    const show = (part: number, bytes: Uint8Array, player: number): Uint8Array => {
      shown.push([part, bytes, player])
      return Uint8Array.of(8)
    }
    const sink = { ...out, parts: { ...NO_PARTS, show } }
    own.server.log.acked = own.server.log.base + own.server.log.entries.length
    operations.sendPartSnapshot({ session: own, now: 0, out: sink }, 5, 3, BODY)
    operations.completeSnapshot({ session: own, now: 0, out: sink }, 3)
    expect(shown).toEqual([[5, BODY, 3]])
    const index = own.server.log.base + own.server.log.entries.length
    const seqs = [0, 0, 4].map((seq, at) => ({ player: at + 1, seq }))
    expect(messages).toEqual([
      { kind: 'news', index: 0, player: 0, seq: 0, part: 5, bytes: Uint8Array.of(8) },
      { kind: 'standing', index, seqs },
    ])
  })
  test('is nothing from who does not serve (PR-2)', () => {
    const { own } = memberOf(3)
    const { out, sent } = listening()
    calmly(() => operations.sendPartSnapshot({ session: own, now: 0, out }, 5, 1, BODY))
    calmly(() => operations.completeSnapshot({ session: own, now: 0, out }, 1))
    expect(sent).toEqual([])
  })
  test('of a session with a backup waits for its ack (PR-2)', () => {
    const one = backedUpOf(3)
    one.give({ kind: 'remove', peer: 3 })
    const { length } = one
    one.give(ackOf(2, length - 1))
    expect(one.told).toEqual([])
    one.give(ackOf(2, length))
    expect(one.told).toEqual(['view'])
    one.give(registerOf(2, 1, 2))
    expect(one.told).toEqual(['view'])
  })
})
