// Goal: a member whose stream to the hub is gone is told as away, half a second later and no more
// than once; and who says that it ends its process is seen off by whoever serves.
// Method: the shipped session, by hand, at instants that are arguments.
import { describe, expect, test } from 'vitest'
import type { FromHub } from '../../packages/holdfast/src/hub-protocol/messages.ts'
import * as client from '../../packages/holdfast/src/session/client.ts'
import { AWAY_MS } from '../../packages/holdfast/src/session/membership.ts'
import * as machine from '../../packages/holdfast/src/session/session.ts'
import { leadOf, type Session } from '../../packages/holdfast/src/session/state.ts'
import { calmly } from '../calmly.ts'
import { backedUpOf, heardAt, listening, memberOf, primaryOf } from './scene.ts'

const register = { epoch: 2, primary: 1, backup: 2 }

/** Member 3 of three, and who it tells is away. */
function third(): { own: Session; told: number[][]; out: ReturnType<typeof listening>['out'] } {
  const { own } = memberOf(3)
  const { out } = listening()
  const told: number[][] = []
  out.emit = (event) => void (event.kind === 'away' && told.push([...event.members]))
  own.hub = { up: true, since: 0 }
  return { own, told, out }
}

type Third = ReturnType<typeof third>

function says({ own, out }: Third, now: number, message: object): void {
  const whole = { session: 's', ...message } as FromHub
  calmly(() => machine.receiveFromHub({ session: own, now, out }, whole))
}

const gone = (inc: number): object => ({ kind: 'present', inc, here: false })
const here = (inc: number): object => ({ kind: 'present', inc, here: true })

function wake({ own, out }: Third, now: number): void {
  calmly(() => machine.wake({ session: own, now, out }))
}

describe('a member of which the hub has no stream', () => {
  test('is away half a second later, and here again as soon as it has one (N-16)', () => {
    const scene = third()
    says(scene, 100, gone(2))
    expect(machine.deadline(scene.own)).toBe(100 + AWAY_MS)
    wake(scene, 100 + AWAY_MS - 1)
    expect(scene.told).toEqual([])
    wake(scene, 100 + AWAY_MS)
    expect(scene.told).toEqual([[2]])
    says(scene, 700, gone(2))
    wake(scene, 9_000)
    says(scene, 9_001, here(2))
    says(scene, 9_002, here(2))
    expect(scene.told).toEqual([[2], []])
  })

  test('that has a new one at once was never away (N-16)', () => {
    const scene = third()
    says(scene, 100, gone(2))
    says(scene, 100 + AWAY_MS - 1, here(2))
    wake(scene, 1_000)
    expect([scene.told, machine.deadline(scene.own) > 1_000]).toEqual([[], true])
  })

  test('is told with all that are away by then (N-16)', () => {
    const scene = third()
    for (const [inc, at] of [[1, 100] as const, [2, 200] as const]) says(scene, at, gone(inc))
    wake(scene, 650)
    wake(scene, 750)
    says(scene, 800, here(1))
    expect(scene.told).toEqual([[1], [1, 2], [2]])
  })

  test('is not away while it is heard on a path of its own (N-16)', () => {
    const scene = third()
    const seen = heardAt(0)
    scene.own.detectors.set(2, seen)
    says(scene, 100, gone(2))
    seen.lastReceived = 101
    wake(scene, 600)
    expect([scene.told, machine.deadline(scene.own)]).toEqual([[], 600 + AWAY_MS])
    seen.relayed = true
    seen.lastReceived = 601
    wake(scene, 600 + AWAY_MS)
    expect(scene.told).toEqual([[2]])
  })

  test('is no news if it is no member, or ourselves, or is removed meanwhile (N-16)', () => {
    const scene = third()
    for (const inc of [9, 3]) says(scene, 100, gone(inc))
    expect(scene.own.client.absent.size).toBe(0)
    says(scene, 100, gone(2))
    const { view } = scene.own.client
    const members = view.members.filter(({ inc }) => inc !== 2)
    calmly(() =>
      client.follow(
        { session: scene.own, now: 200, out: scene.out },
        { ...view, mv: 9, members },
        null,
      ),
    )
    wake(scene, 1_000)
    expect([scene.told, scene.own.client.absent.size]).toEqual([[], 0])
  })

  test('is here where the hub lists it as we come back, or while we have no stream (N-16)', () => {
    const scene = third()
    for (const inc of [1, 2]) says(scene, 100, gone(inc))
    wake(scene, 700)
    says(scene, 800, { kind: 'attached', request: 0, register, leader: null, present: [3, 1] })
    expect(scene.told).toEqual([[1, 2], [2]])
    calmly(() => machine.onHubDown(scene.own, scene.out))
    calmly(() => machine.onHubDown(scene.own, scene.out))
    expect(scene.told).toEqual([[1, 2], [2], []])
  })
})

describe('a process that says that it ends', () => {
  const closes = (own: Session, peer: number, now = 50): void => {
    calmly(() => machine.onClosed({ session: own, now, out: listening().out }, peer, 'left'))
  }

  test('is one whose player may be back, for all who are told so (N-16)', () => {
    const { own, view } = memberOf(3)
    closes(own, 2)
    expect(client.endedPlayers(own)).toEqual(new Map())
    const members = view.members.filter(({ inc }) => inc !== 2)
    const without = { ...view, mv: 9, members }
    client.follow({ session: own, now: 70, out: listening().out }, without, 'left')
    expect([client.endedPlayers(own), own.client.ended.size]).toEqual([new Map([[2, 70]]), 0])
    client.follow({ session: own, now: 80, out: listening().out }, { ...without, mv: 10 }, null)
    expect(client.endedPlayers(own)).toEqual(new Map([[2, 70]]))
    // It is back, with another number.
    const back = { ...view.members[1]!, inc: 9, player: 2 }
    client.follow(
      { session: own, now: 90, out: listening().out },
      { ...view, mv: 11, members: [...members, back] },
      null,
    )
    expect(client.endedPlayers(own)).toEqual(new Map())
  })

  test('is none if it was killed, is no member, or asked to leave before (N-16)', () => {
    const { own, view } = memberOf(3)
    closes(own, 9)
    expect(own.client.ended.size).toBe(0)
    const members = view.members.filter(({ inc }) => inc !== 2)
    client.follow(
      { session: own, now: 70, out: listening().out },
      { ...view, mv: 9, members },
      'failed',
    )
    expect(client.endedPlayers(own)).toEqual(new Map())
    const server = backedUpOf(4).session
    calmly(() =>
      machine.receive({ session: server, now: 0, out: listening().out }, 3, { kind: 'leave' }),
    )
    closes(server, 3)
    expect([...server.client.ended]).toEqual([])
    closes(server, 4)
    expect([...server.client.ended]).toEqual([4])
  })

  test('is removed by whoever serves then, though it said so to another (N-16)', () => {
    const own = primaryOf(3).session
    for (const inc of [2, 3]) own.detectors.set(inc, heardAt(0))
    own.client.ended.add(3)
    leadOf(own).sweepAt = 0
    calmly(() => machine.wake({ session: own, now: 1, out: listening().out }))
    expect([...own.server.durable.members.keys()]).toEqual([1, 2])
  })

  test('does not ask to leave, for it may be loaded anew (N-16)', () => {
    const { own } = memberOf(3)
    const { out, sent } = listening()
    machine.shutDown({ session: own, now: 0, out })
    expect([sent, own.leaving]).toEqual([[], true])
  })
})
