// Goal: who does not get in is told the address and what was met there, as soon as it is sure; who
// is in already waits for the hub, whatever stands in its place meanwhile.
// Method: sessions in virtual time; real addresses are in test/conformance/arrival.test.ts.
import { describe, expect, test } from 'vitest'
import { hubUrl, joinIn, type JoinOptions } from '../../packages/holdfast/src/join/join.ts'
import type { HoldfastError, Session } from '../../packages/holdfast/src/index.ts'
import type { Met, StreamEvents } from '../../packages/holdfast/src/ports.ts'
import {
  environmentOf,
  HUB_URL,
  type SessionWorld,
  world,
} from '../../packages/sim/src/session-world.ts'
import { types } from './cluster.ts'

const garden = { game: 'garden', types }

interface Failure {
  code: string
  message: string
  /** How long it took, in seconds of the world. */
  after: number
}

/** How joining fails. */
async function failure(w: SessionWorld, joining: Promise<Session>): Promise<Failure> {
  const began = w.now()
  let failed: Failure | null = null
  joining.catch(({ code, message }: HoldfastError) => {
    failed = { code, message, after: Math.round((w.now() - began) / 1_000) }
  })
  await w.runUntil(() => failed !== null, 30_000)
  return failed!
}

/** A page joins; a second is another process. */
function enter(w: SessionWorld, more: Partial<JoinOptions> = {}): Promise<Session> {
  const name = w.names().includes('Ada') ? 'Grace' : 'Ada'
  return joinIn(environmentOf(w.sim.node(name), 'browser'), { ...garden, ...more })
}

/** Joins where every stream is closed at once, and this is what is met. */
function joinMeeting(
  w: SessionWorld,
  met: readonly (Met | undefined)[],
  look?: Met,
): Promise<Session> {
  let tries = 0
  return joinIn(
    {
      ...environmentOf(w.sim.node('Ada'), 'browser'),
      connect: (url, events) => {
        const own = met[Math.min(tries++, met.length - 1)]
        queueMicrotask(() => events.closed(`${url} did not open`, own))
        return { send: () => false, backlog: () => 0, close: () => {} }
      },
      ...(look && { look: () => Promise.resolve(look) }),
    },
    garden,
  )
}

const page: Met = { kind: 'wrong', what: 'a web server is there' }
const nobody: Met = { kind: 'passing', what: 'nobody listens there' }

describe('a first join that fails', () => {
  test('where nobody listens says so after five seconds, with the address (AP-4)', async () => {
    const w = world({ seed: 9 })
    w.killHub()
    expect(await failure(w, enter(w))).toEqual({
      code: 'unreachable',
      message: 'no hub at ws://hub/hub: nobody listens there',
      after: 5,
    })
  })

  test('where something else is says what after a second, and is refused by a hub at once (AP-4)', async () => {
    const w = world({ seed: 9 })
    expect(await failure(w, joinMeeting(w, [nobody, page]))).toEqual({
      code: 'unreachable',
      message: 'no hub at ws://hub/hub: a web server is there',
      after: 1,
    })
    const denied: Met = { kind: 'denied', what: 'not from http://evil.example' }
    expect(await failure(w, joinMeeting(w, [denied]))).toEqual({
      code: 'forbidden',
      message: 'the hub at ws://hub/hub refuses us: not from http://evil.example',
      after: 0,
    })
  })

  test('and whose stream does not say why has somebody look (AP-4)', async () => {
    const w = world({ seed: 9 })
    const told = await failure(w, joinMeeting(w, [undefined], page))
    expect([told.message, told.after]).toEqual(['no hub at ws://hub/hub: a web server is there', 1])
    const blind = await failure(w, joinMeeting(w, [undefined]))
    const sentence = 'no hub at ws://hub/hub answered within 15 s: is it running?'
    expect([blind.message, blind.after]).toEqual([sentence, 15])
  })

  test('by silence says how long it was waited (AP-4)', async () => {
    const w = world({ seed: 9 })
    const ada = enter(w)
    w.partition([['hub'], ['Ada']])
    expect(await failure(w, ada)).toEqual({
      code: 'unreachable',
      message: 'no hub at ws://hub/hub: it did not answer within 7 s',
      after: 12,
    })
  })

  test('at somebody who takes streams and says nothing is told that (AP-4)', async () => {
    const w = world({ seed: 9 })
    w.killHub()
    w.sim.node('echo', (node) =>
      node.listen('ws://echo/hub', () => ({ opened() {}, message() {}, closed() {} })),
    )
    const { connect, ...place } = environmentOf(w.sim.node('Ada'), 'browser')
    const mute = {
      ...place,
      connect: (_: string, to: StreamEvents) => connect('ws://echo/hub', to),
    }
    expect(await failure(w, joinIn(mute, garden))).toMatchObject({
      code: 'unreachable',
      message: 'no hub at ws://hub/hub: who takes streams there says nothing that a hub says',
      after: 15,
    })
  })

  test('for want of somebody who may serve says so (AP-13)', async () => {
    const w = world({ seed: 9 })
    const there = 'the hub is there, but nobody that may serve garden/main at ws://hub/hub'
    expect(await failure(w, enter(w, { primaries: 'hosts' }))).toEqual({
      code: 'timeout',
      message: `${there} (primaries: 'hosts' wants one with a ticket of a host) came within 15 s`,
      after: 15,
    })
    expect(await failure(w, enter(w, { serves: false }))).toMatchObject({
      message: `${there} (serves: false opens none) came within 15 s`,
    })
  })
})

describe('a hub that is away for a while', () => {
  test('is waited for by a first join, if it comes within five seconds (AP-4)', async () => {
    const w = world({ seed: 9 })
    w.killHub()
    w.sim.at(w.now() + 4_500, () => w.restartHub())
    expect((await w.join(garden)).status).toBe('live')
  })

  test('ends no session, and no return to one, whatever is met meanwhile (AP-4)', async () => {
    const w = world({ seed: 9 })
    const { connect, ...place } = environmentOf(w.sim.node('Ada'), 'browser')
    let met: Met | null = null
    const own: typeof connect = (url, events) => {
      if (!met) return connect(url, events)
      const kind = met
      queueMicrotask(() => events.closed('no', kind))
      return { send: () => false, backlog: () => 0, close: () => {} }
    }
    const grace = await w.join({ ...garden, name: 'Grace' }, { name: 'Grace' })
    let ada: Session | null = null
    void joinIn({ ...place, connect: own }, { ...garden, name: 'Ada' }).then((it) => (ada = it))
    await w.runUntil(() => ada !== null, 10_000)
    // Grace keeps the hub and removes her; Ada meets somebody else where it was.
    met = page
    w.killHub()
    w.restartHub()
    await w.runUntil(() => grace.members.length === 1, 60_000)
    met = { kind: 'denied', what: 'not from here' }
    await w.run(10_000)
    expect([ada!.status, ada!.code]).toEqual(['reconnecting', null])
    met = null
    await w.runUntil(() => ada!.status === 'live' && grace.members.length === 2, 60_000)
    expect([ada!.me.player, ada!.status, grace.status]).toEqual([2, 'live', 'live'])
  })
})

test('the path of the hub is /hub, or behind a folder that is named, or what is named (AP-4)', () => {
  const paths: [given: string, url: string][] = [
    ['http://127.0.0.1:8700', 'ws://127.0.0.1:8700/hub'],
    ['https://example.org/', 'wss://example.org/hub'],
    ['https://example.org/rt/', 'wss://example.org/rt/hub'],
    ['wss://example.org/rt/?room=1#top', 'wss://example.org/rt/hub?room=1'],
    ['wss://example.org/rt', 'wss://example.org/rt'],
    ['ws://example.org/rt/hub', 'ws://example.org/rt/hub'],
  ]
  for (const [given, url] of paths) expect(hubUrl(given)).toBe(url)
  expect(hubUrl(HUB_URL)).toBe(HUB_URL)
})
