// Goal: whom one of those who are left knows to be out stays out as the session is recovered, and
// nobody is let in, or kept out, by the word of who must not be believed (SE-4).
// Method: the shipped verbs of a recovery, by hand, at instants that are arguments.
import { describe, expect, test } from 'vitest'
import { keyOf } from '../../proof/models/processes.ts'
import * as client from '../../packages/holdfast/src/session/client.ts'
import type { ModerationView } from '../../packages/holdfast/src/session/messages.ts'
import * as recovery from '../../packages/holdfast/src/session/recovery.ts'
import { CV_MAX } from '../../packages/holdfast/src/session/recovery.ts'
import * as machine from '../../packages/holdfast/src/session/session.ts'
import type { Session } from '../../packages/holdfast/src/session/state.ts'
import { calmly } from '../calmly.ts'
import { listening, memberOf, saidOf } from './scene.ts'

const GATHER_MS = 2_000
const SEEK_MS = 8_000

const AT = SEEK_MS + 100

/** Those players are banned, after so many changes. */
function judged(cv: number, ...players: number[]): ModerationView {
  const banned = players.map((player) => {
    return { player, inc: player, name: 'p', key: keyOf(player - 1), ban: true, why: '' }
  })
  return { cv, banned, votes: [] }
}

/** Member 3 of five recovers a session whose 1 and 2 are gone. */
function gathering(own: ModerationView, make: (session: Session) => void = () => {}): Session {
  const { own: session } = memberOf(3, 5)
  session.recovers = true
  Object.assign(session.client, { lost: true, lostAt: 0 })
  Object.assign(session.client.view, own)
  session.client.register = { epoch: 2, primary: 1, backup: 2 }
  make(session)
  recovery.seek({ session, now: SEEK_MS, out: listening().out })
  machine.receiveFromHub({ session, now: AT, out: listening().out }, saidOf(3, 3, 0, 1))
  return session
}

/** It goes on with those answers. @returns who is banned then, in all that it has and says */
function goesOn(session: Session, ...answers: [from: number, said: ModerationView][]): number[] {
  const { out, messages } = listening()
  for (const [from, said] of answers) {
    const message = { kind: 'witness', epoch: 3, index: 0, settled: 0, ...said } as const
    calmly(() => machine.receive({ session, now: AT, out }, from, message))
  }
  recovery.wake({ session, now: AT + GATHER_MS, out })
  expect(session.server.role).toBe('alone')
  const out1 = session.server.durable.moderation.expelled.map(({ player }) => player)
  const views = messages.filter((message) => message.kind === 'view')
  expect(views.at(-1)!.view.banned.map(({ player }) => player)).toEqual(out1)
  return out1
}

describe('who recovers a session', () => {
  test('goes on with the newest that anybody who is left heard of who is out (SE-4)', () => {
    expect(goesOn(gathering(judged(0)), [4, judged(1, 9)], [5, judged(0)])).toEqual([9])
    expect(goesOn(gathering(judged(2, 8, 9)), [4, judged(1, 9)], [5, judged(0)])).toEqual([8, 9])
    // Who was pardoned since is out no more.
    expect(goesOn(gathering(judged(1, 9)), [4, judged(2)], [5, judged(0)])).toEqual([])
    expect(goesOn(gathering(judged(1, 9)))).toEqual([9])
  })
  test('asks nobody whom the others know to be out whether that is so (SE-4)', () => {
    const [ours, lie] = [judged(0), judged(99)]
    expect(goesOn(gathering(ours), [4, judged(1, 5)], [5, lie])).toEqual([5])
    expect(goesOn(gathering(judged(1, 5)), [4, ours], [5, lie])).toEqual([5])
  })
  test('hears nobody who may not serve, nor what no session comes to (SE-4)', () => {
    const guest = ({ client: { view } }: Session): void => {
      view.members = view.members.map((member) => {
        return member.inc === 4 ? { ...member, kind: 'guest' } : member
      })
    }
    expect(goesOn(gathering(judged(1, 9), guest), [4, judged(99, 5)])).toEqual([9])
    expect(goesOn(gathering(judged(1, 9)), [4, judged(CV_MAX + 1, 5)])).toEqual([9])
    expect(goesOn(gathering(judged(1, 9)), [4, judged(CV_MAX, 8)])).toEqual([8])
  })
  test('removes whom others knew to be out, and hands its role over if that is itself (SE-4)', () => {
    const session = gathering(judged(0))
    goesOn(session, [4, judged(1, 5)], [5, judged(0)])
    session.rules.enforce({ session, now: AT, out: listening().out })
    expect([...session.server.durable.members.keys()]).toEqual([3, 4])
    const own = gathering(judged(0))
    goesOn(own, [4, judged(1, 3)], [5, judged(1, 3)])
    own.rules.enforce({ session: own, now: AT, out: listening().out })
    expect('lead' in own.server && own.server.lead.yields).toBe(true)
  })
})

describe('a member that is asked', () => {
  test('forgets nothing of what it heard by the view of one who knows less (SE-4)', () => {
    const { own, view } = memberOf(4, 5)
    Object.assign(own.client.view, judged(1, 5))
    own.client.register = { epoch: 3, primary: 3, backup: 0 }
    const newer = { ...view, ...judged(0), epoch: 3, primary: 3, backup: 0 }
    client.takeView({ session: own, now: AT, out: listening().out }, 3, newer)
    expect(own.client.view).toMatchObject({ epoch: 3, cv: 1, banned: [{ player: 5 }] })
    const { out, messages } = listening()
    machine.receive({ session: own, now: AT, out }, 3, { kind: 'inquire', epoch: 3, whole: false })
    expect(messages).toMatchObject([{ kind: 'witness', cv: 1, banned: [{ player: 5 }] }])
    client.takeView({ session: own, now: AT, out: listening().out }, 3, { ...newer, ...judged(2) })
    expect(own.client.view).toMatchObject({ cv: 2, banned: [] })
  })
})
