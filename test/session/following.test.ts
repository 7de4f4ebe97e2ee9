// Goal: what a member believes of its session, what it asks for again, and when it gives up.
// Method: the shipped client of a session, by hand, at instants that are arguments.
import { describe, expect, test } from 'vitest'
import { EPOCH_MAX } from '../../packages/holdfast/src/hub-protocol/messages.ts'
import { fresh, NO_PARTS } from '../../proof/models/processes.ts'
import { PLAYERS_KEPT_MAX } from '../../packages/holdfast/src/replication/layouts.ts'
import * as client from '../../packages/holdfast/src/session/client.ts'
import type { PeerMessage, View } from '../../packages/holdfast/src/session/messages.ts'
import * as machine from '../../packages/holdfast/src/session/session.ts'
import type { Session } from '../../packages/holdfast/src/session/state.ts'
import { mayBePrimary, needsCertificate } from '../../packages/holdfast/src/session/state.ts'
import * as watch from '../../packages/holdfast/src/session/failure-detector.ts'
import { calmly } from '../calmly.ts'
import { heardAt, listening, memberOf, primaryOf, saidOf } from './scene.ts'

const PROMISE_MS = 5_000
const RESYNC_MS = 200

type Heard = ReturnType<typeof listening>
type Register = Session['client']['register']

const register = (epoch: number, primary: number, backup = 0): Register => {
  return { epoch, primary, backup }
}

function hear(own: Session, message: PeerMessage, from = 1, now = 0, heard = listening()): Heard {
  calmly(() => machine.receive({ session: own, now, out: heard.out }, from, message))
  return heard
}

function wake(own: Session, now: number, heard = listening()): Heard {
  calmly(() => client.wake({ session: own, now, out: heard.out }))
  return heard
}

describe('a view', () => {
  const mvOf = (other: Partial<View>, from = 1, known?: Register): [number, number] => {
    const { own, view } = memberOf(3)
    if (known) own.client.register = known
    const { out } = listening()
    calmly(() => client.takeView({ session: own, now: 0, out }, from, { ...view, ...other }))
    return [own.client.view.epoch, own.client.view.mv]
  }
  test('S-2: of a later epoch or number is taken, an older one is not (PR-2)', () => {
    expect(mvOf({ mv: 3 })).toEqual([2, 3])
    expect(mvOf({ mv: 2 })).toEqual([2, 3])
    expect(mvOf({ epoch: 3, mv: 1 })).toEqual([3, 1])
    expect(mvOf({ epoch: 1, mv: 99 })).toEqual([2, 3])
  })
  test('T42: is taken from the primary that it names, up to the last epoch there is (PR-2)', () => {
    expect(mvOf({ mv: 9 }, 2)).toEqual([2, 3])
    expect(mvOf({ mv: 9, primary: 2 }, 1)).toEqual([2, 3])
    expect(mvOf({ epoch: 3, primary: 2 }, 2)).toEqual([2, 3])
    expect(mvOf({ epoch: 3, primary: 2 }, 2, register(3, 2))).toEqual([3, 3])
    expect(mvOf({ epoch: EPOCH_MAX })).toEqual([EPOCH_MAX, 3])
    expect(mvOf({ epoch: EPOCH_MAX + 1 })).toEqual([2, 3])
  })
  test('tells what it was before, unless it is the first (PR-2)', () => {
    const { own, view } = memberOf(3)
    const first = fresh(2, null).session
    first.me = 3
    const { out, events } = listening()
    client.follow({ session: first, now: 0, out }, view, null)
    client.follow({ session: own, now: 0, out }, { ...view, mv: 4 }, 'left')
    expect(events).toEqual([
      { kind: 'view', view, before: null, why: null },
      { kind: 'view', view: { ...view, mv: 4 }, before: view, why: 'left' },
    ])
  })
  test('forgets how those were heard who are not in it, and nobody else (PR-2)', () => {
    const { own, view } = memberOf(3)
    for (const inc of [1, 2]) own.detectors.set(inc, heardAt(0))
    const members = view.members.filter(({ inc }) => inc !== 2)
    client.follow({ session: own, now: 0, out: listening().out }, { ...view, mv: 4, members }, null)
    expect([...own.detectors.keys()]).toEqual([1])
  })
  test('S-5: keeps so many players known who went, and not one more (PR-2)', () => {
    const { own, view } = memberOf(3)
    const key = new Uint8Array(32)
    for (let player = 100; player < 100 + PLAYERS_KEPT_MAX; player++) {
      own.client.former.set(player, { key, since: 0, ended: false })
    }
    client.follow({ session: own, now: 0, out: listening().out }, { ...view, mv: 4 }, null)
    expect(own.client.former.size).toBe(PLAYERS_KEPT_MAX)
    const members = view.members.filter(({ inc }) => inc !== 2)
    client.follow({ session: own, now: 0, out: listening().out }, { ...view, mv: 5, members }, null)
    expect(own.client.former.size).toBe(PLAYERS_KEPT_MAX)
    expect([own.client.former.has(100), own.client.former.has(2)]).toEqual([false, true])
  })
  test('T44: of another primary makes us wait for a snapshot, and say again what waits (PR-2)', () => {
    const { own, view } = memberOf(3)
    const { client: mine } = own
    mine.register = register(3, 2)
    mine.resyncAt = 7
    mine.handedAt = 5
    mine.published.coming = [{ part: 5, bytes: new Uint8Array(1) }]
    mine.pending.push({ seq: 1, part: 5, body: new Uint8Array(1), since: 0 })
    own.leaving = true
    own.detectors.set(2, { ...heardAt(0), samples: 40 })
    const { out, sent } = listening()
    client.takeView({ session: own, now: 100, out }, 2, {
      ...view,
      epoch: 3,
      primary: 2,
      backup: 0,
    })
    expect(sent).toEqual([
      [2, 'leave'],
      [2, 'operation'],
    ])
    const askAt = 100 + client.ASK_SNAPSHOT_AGAIN_MS
    expect(mine.published).toMatchObject({ waiting: true, coming: [], askAt })
    expect([mine.resyncAt, mine.handedAt]).toEqual([Infinity, -Infinity])
    expect(own.detectors.get(2)).toEqual(watch.create(100, 'udp'))
  })
  test('of the same primary changes none of that, nor does the first that there is (PR-2)', () => {
    const { own, view } = memberOf(3)
    own.leaving = true
    own.client.handedAt = 5
    const { out, sent } = listening()
    client.follow({ session: own, now: 100, out }, { ...view, mv: 4 }, null)
    expect([sent, own.client.handedAt, own.client.published.waiting]).toEqual([[], 5, false])
    const first = fresh(2, null).session
    first.me = 3
    first.client.published.coming = [{ part: 5, bytes: new Uint8Array(1) }]
    client.follow({ session: first, now: 0, out }, view, null)
    expect(first.client.published).toMatchObject({ askAt: Infinity })
    expect(first.client.published.coming).toHaveLength(1)
  })
  test('T42: that is older than the register leaves us asking for the newest (PR-2)', () => {
    const { own, view } = memberOf(3)
    own.client.register = register(4, 2)
    own.client.resyncAt = 7
    client.follow({ session: own, now: 0, out: listening().out }, { ...view, epoch: 3 }, null)
    expect(own.client.resyncAt).toBe(7)
    client.follow({ session: own, now: 0, out: listening().out }, { ...view, epoch: 4 }, null)
    expect(own.client.resyncAt).toBe(Infinity)
  })
})

describe('a change of the view', () => {
  const change = { kind: 'change', epoch: 2, mv: 4, add: null, remove: 2, why: 'left' } as const
  function after(other: Partial<PeerMessage & { kind: 'change' }>, from = 1): unknown[] {
    const { own } = memberOf(3)
    const { sent } = hear(own, { ...change, ...other }, from)
    return [own.client.view.mv, own.client.view.members.map(({ inc }) => inc), sent]
  }
  test('S-2: that is the next of our primary is made (PR-2)', () => {
    expect(after({})).toEqual([4, [1, 3], []])
    const [, , third] = primaryOf(3).session.server.published.values()
    const add = { ...third!, inc: 9 }
    expect(after({ add, remove: 0 })).toEqual([4, [1, 2, 3, 9], []])
  })
  test.each<[string, Partial<PeerMessage & { kind: 'change' }>, number, unknown[]]>([
    ['of another member', {}, 2, []],
    ['of an older epoch', { epoch: 1 }, 1, []],
    ['that we have', { mv: 3 }, 1, []],
    ['behind a gap', { mv: 5 }, 1, [[1, 'resync']]],
    ['of a later epoch', { epoch: 3 }, 1, [[1, 'resync']]],
    ['of a later epoch, with a lower number', { epoch: 3, mv: 1 }, 1, [[1, 'resync']]],
  ])('S-2: %s changes nothing (PR-2)', (_what, other, from, sent) => {
    expect(after(other, from)).toEqual([3, [1, 2, 3], sent])
  })
})

describe('news', () => {
  const BYTES = Uint8Array.of(7)
  const news = { kind: 'news', index: 4, player: 2, seq: 3, part: 5, bytes: BYTES } as const

  /** A member, and what its parts were told. */
  function member(): { own: Session; heard: Heard; told: unknown[]; give: Give } {
    const { own } = memberOf(3)
    const heard = listening()
    const told: unknown[] = []
    const parts = { ...NO_PARTS, news: (...args: unknown[]) => void told.push(args) }
    const out = { ...heard.out, parts }
    const give: Give = (message, from = 1) => {
      calmly(() => machine.receive({ session: own, now: 0, out }, from, message))
    }
    return { own, heard, told, give }
  }
  type Give = (message: PeerMessage, from?: number) => void

  test('T44: of the primary go to their part, and count; of others they are nothing (PR-2)', () => {
    const { own, told, give } = member()
    give(news, 2)
    expect([told, own.client.published.index]).toEqual([[], 0])
    give(news)
    give({ ...news, index: 5, seq: 2 })
    expect(told).toEqual([
      [5, 1, BYTES],
      [5, 1, BYTES],
    ])
    expect([own.client.published.index, [...own.client.published.seqs]]).toEqual([5, [[2, 3]]])
    give({ ...news, index: 6, seq: 9 })
    expect([...own.client.published.seqs]).toEqual([[2, 9]])
  })
  test('T44: behind a new link wait for the snapshot, which comes as a whole (PR-2)', () => {
    const { own, heard, told, give } = member()
    client.awaitSnapshot(own, 10)
    expect(own.client.published.askAt).toBe(10 + client.ASK_SNAPSHOT_AGAIN_MS)
    give(news)
    give({ ...news, index: 0, part: 6 })
    give({ ...news, index: 0, part: 7 })
    expect([told, own.client.published.index]).toEqual([[], 0])
    give({ kind: 'standing', index: 9, seqs: [{ player: 2, seq: 8 }] }, 2)
    expect([told, heard.events]).toEqual([[], []])
    give({ kind: 'standing', index: 9, seqs: [{ player: 2, seq: 8 }] })
    expect(told.map((args) => (args as number[])[0])).toEqual([6, 7])
    expect(heard.events).toEqual([{ kind: 'caught-up' }])
    const seqs = new Map([[2, 8]])
    const now = { index: 9, seqs, coming: [], waiting: false, askAt: Infinity }
    expect(own.client.published).toEqual(now)
    // What is asked for anew begins anew.
    give({ ...news, index: 0 })
    client.awaitSnapshot(own, 20)
    expect(own.client.published.coming).toEqual([])
  })
  test('of a snapshot that has no end so many messages are kept, and not one more (PR-2)', () => {
    const { own, give } = member()
    for (let at = 0; at < 2_050; at++) give({ ...news, index: 0 })
    expect(own.client.published.coming).toHaveLength(2_048)
  })
})

describe('a promise', () => {
  function asked(make: (own: Session) => void, from = 1): unknown[] {
    const { own } = memberOf(3)
    make(own)
    const { messages } = hear(own, { kind: 'askPromise', at: 77 }, from, 500)
    return [messages, own.client.promisedUntil]
  }
  const given = [[{ kind: 'promise', at: 77 }], 500 + PROMISE_MS]
  const none = [[], -Infinity]
  test('T43: not to recover is given to our primary, while the register has no other (PR-2)', () => {
    expect(asked(() => {})).toEqual(given)
    expect(asked((own) => void (own.client.register = register(2, 1)))).toEqual(given)
    expect(asked(() => {}, 2)).toEqual(none)
    expect(asked((own) => void (own.client.register = register(3, 3)))).toEqual(none)
  })
  test('T43: is not given by who has asked for the session already (PR-2)', () => {
    expect(asked((own) => void Object.assign(own.server, { role: 'recovering' }))).toEqual(none)
  })
})

describe('a member that lost its primary', () => {
  const lost = (own: Session): void => {
    own.detectors.set(1, heardAt(0))
    own.client.register = register(2, 1, 2)
    own.client.askAt = 0
  }
  const kinds = ({ events }: Heard): string[] => events.map(({ kind }) => kind)

  test('S-4: is told so after three seconds, once, and asks the hub each second (PR-2)', () => {
    const { own } = memberOf(3)
    lost(own)
    const heard = listening()
    expect(client.deadline(own)).toBe(client.LOST_MS)
    wake(own, client.LOST_MS - 1, heard)
    expect([heard.events, heard.asked]).toEqual([[], []])
    wake(own, client.LOST_MS, heard)
    const get = { kind: 'get', request: 0, session: 's' }
    expect([heard.events, heard.asked]).toEqual([[{ kind: 'lost', lost: true }], [get]])
    expect(own.client.lostAt).toBe(client.LOST_MS)
    expect(client.deadline(own)).toBe(client.LOST_MS + client.ASK_MS)
    wake(own, client.LOST_MS + client.ASK_MS - 1, heard)
    expect(heard.asked).toHaveLength(1)
    wake(own, client.LOST_MS + client.ASK_MS, heard)
    expect([heard.asked.length, kinds(heard)]).toEqual([2, ['lost']])
    own.hub.up = false
    expect(client.deadline(own)).toBe(Infinity)
    wake(own, 9_000, heard)
    expect(heard.asked).toHaveLength(2)
  })
  test('S-4: that is reached through the hub alone is lost with the hub (PR-2)', () => {
    for (const [relayed, up] of [
      [true, false],
      [true, true],
      [false, false],
    ] as const) {
      const { own } = memberOf(3)
      // By which path we heard it last does not matter.
      own.detectors.set(1, { ...heardAt(100), path: relayed ? 'udp' : 'relay', relayed })
      own.hub.up = up
      wake(own, 101)
      expect(own.client.lost).toBe(relayed && !up)
    }
  })
  test('has lost nobody where it follows nobody, or watches nobody, or serves (PR-2)', () => {
    const nobody = fresh(2, null).session
    nobody.me = 3
    nobody.detectors.set(0, heardAt(0))
    const unwatched = memberOf(3).own
    unwatched.detectors.clear()
    const serves = primaryOf(2).session
    serves.client.view = { ...serves.client.view, primary: 1 }
    for (const own of [nobody, unwatched, serves]) {
      wake(own, 60_000)
      expect(own.client.lost).toBe(false)
    }
    expect(calmly(() => client.deadline(unwatched))).toBe(Infinity)
    expect(client.deadline(nobody)).toBe(Infinity)
    expect(client.deadline(serves)).toBe(Infinity)
  })
  test('T4: and gave its own role away waits three seconds for whom it gave it to (PR-2)', () => {
    const { own, view } = memberOf(1)
    own.client.view = { ...view, primary: 1 }
    own.client.handedAt = 500
    const at = 500 + client.LOST_MS
    expect(client.deadline(own)).toBe(at)
    wake(own, at - 1)
    expect(own.client.lost).toBe(false)
    wake(own, at)
    expect(own.client.lost).toBe(true)
    expect(client.deadline(own)).toBe(Infinity)
    own.client.lost = false
    Object.assign(own.server, { role: 'handing' })
    wake(own, 99_999)
    expect([own.client.lost, client.deadline(own)]).toEqual([false, Infinity])
    own.client.againAt = 90
    expect(client.deadline(own)).toBe(90)
    own.client.againAt = Infinity
    // Whoever was deposed has lost it at once.
    Object.assign(own.server, { role: 'idle' })
    own.client.handedAt = -Infinity
    expect(client.deadline(own)).toBe(0)
  })
  test('T30: gives up when both who served are gone for half a minute, by the hub (PR-2)', () => {
    const abandoned = (make: (own: Session) => void, ms = client.GIVE_UP_MS): boolean => {
      const { own } = memberOf(3)
      lost(own)
      for (const inc of [1, 2]) own.detectors.set(inc, { ...heardAt(0), gone: true })
      own.client.lost = true
      own.client.lostAt = 1_000
      make(own)
      return kinds(wake(own, 1_000 + ms)).includes('abandoned')
    }
    const gone = (inc: number, is: boolean) => (own: Session) => {
      own.detectors.get(inc)!.gone = is
    }
    expect(abandoned(() => {})).toBe(true)
    expect(abandoned(() => {}, client.GIVE_UP_MS - 1)).toBe(false)
    expect(abandoned((own) => void (own.hub.since = 1_001))).toBe(false)
    expect(abandoned((own) => void (own.hub.since = 999))).toBe(true)
    expect(abandoned(gone(1, false))).toBe(false)
    expect(abandoned(gone(2, false))).toBe(false)
    expect(abandoned((own) => void (own.client.register = register(2, 1)))).toBe(true)
    expect(abandoned((own) => void own.detectors.delete(2))).toBe(true)
    expect(abandoned((own) => void (own.client.register = register(2, 3, 2)))).toBe(false)
    const alone = (own: Session): void => {
      own.client.register = register(2, 1)
      own.detectors.get(2)!.gone = false
    }
    expect(abandoned(alone)).toBe(true)
  })
})

describe('what a member asks for again', () => {
  test('T44: is a snapshot that did not come within three seconds (PR-2)', () => {
    const { own } = memberOf(3)
    own.detectors.set(1, heardAt(0))
    client.awaitSnapshot(own, 0)
    expect(client.deadline(own)).toBe(client.ASK_SNAPSHOT_AGAIN_MS)
    own.detectors.get(1)!.since = 9_000
    expect(wake(own, client.ASK_SNAPSHOT_AGAIN_MS - 1).sent).toEqual([])
    expect(wake(own, client.ASK_SNAPSHOT_AGAIN_MS).sent).toEqual([[1, 'resync']])
    expect(own.client.published.askAt).toBe(2 * client.ASK_SNAPSHOT_AGAIN_MS)
  })
  test('T42: is the view of a primary that the register names, each second (PR-2)', () => {
    const { own } = memberOf(3)
    own.detectors.set(1, heardAt(9_000))
    machine.receiveFromHub({ session: own, now: 100, out: listening().out }, saidOf(3, 2))
    const at = 100 + RESYNC_MS
    expect(client.deadline(own)).toBe(at)
    expect(wake(own, at - 1).sent).toEqual([])
    expect(wake(own, at).sent).toEqual([[2, 'resync']])
    expect(own.client.resyncAt).toBe(at + client.ASK_MS)
  })
  test('T42: is no view that it has, or gives itself, or that is older (PR-2)', () => {
    for (const [epoch, primary] of [
      [3, 1],
      [3, 3],
      [2, 2],
      [1, 2],
    ] as const) {
      const { own } = memberOf(3)
      machine.receiveFromHub(
        { session: own, now: 100, out: listening().out },
        saidOf(epoch, primary),
      )
      expect([epoch, primary, own.client.resyncAt]).toEqual([epoch, primary, Infinity])
    }
    // Of what the hub says the newest counts, whatever came last.
    const { own } = memberOf(3)
    for (const epoch of [5, 4, 5]) {
      machine.receiveFromHub(
        { session: own, now: 100, out: listening().out },
        saidOf(epoch, epoch === 4 ? 7 : 2),
      )
      own.client.resyncAt = Math.min(own.client.resyncAt, 350)
    }
    expect(own.client.register).toEqual(register(5, 2))
    machine.receiveFromHub({ session: own, now: 900, out: listening().out }, saidOf(5, 2))
    expect(own.client.resyncAt).toBe(300)
  })
})

describe('who may lead', () => {
  test('T42: is whoever we follow, we, or whom a register of now names (PR-2)', () => {
    const { own } = memberOf(3)
    own.client.register = register(2, 7)
    expect([1, 2, 3, 7].map((peer) => mayBePrimary(own, peer))).toEqual([true, false, true, true])
    const nobody = fresh(2, null).session
    expect(mayBePrimary(nobody, 9)).toBe(true)
  })
  test.each<[string, Partial<View>, number, boolean]>([
    ['news of whom nobody named', {}, 2, true],
    ['a view of somebody else', {}, 4, false],
    ['what is no news', { epoch: 2 }, 2, false],
    ['an epoch beyond the last', { epoch: EPOCH_MAX + 1 }, 2, false],
    ['the last epoch', { epoch: EPOCH_MAX }, 2, true],
    ['no signature', { grant: null }, 2, false],
  ])('T42: by a signature alone: %s (PR-2)', (_what, other, from, wanted) => {
    const { own, view } = memberOf(3)
    const news = { ...view, epoch: 3, primary: 2, grant: new Uint8Array(64) }
    expect(needsCertificate(own, from, { ...news, ...other })).toBe(wanted)
    // Whom the register names needs none.
    own.client.register = register(3, 2)
    expect(needsCertificate(own, from, { ...news, ...other })).toBe(false)
  })
})
