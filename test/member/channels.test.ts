// Goal: one end offers a channel, only where both take one, and no peer makes us signal much.
// Method: a member of plain data, whose carrier of channels notes what it is asked.
import { expect, test } from 'vitest'
import * as channels from '../../packages/holdfast/src/member/channels.ts'
import {
  OPENING_MS,
  RENEW_MAX_MS,
  RENEW_MIN_MS,
  RENEW_PART,
  RETRY_MAX_MS,
  RETRY_MS,
  SIGNAL_MAX,
  SIGNALS,
  SIGNALS_TAKEN,
  WATCH_MS,
} from '../../packages/holdfast/src/member/channels.ts'
import { toHub } from '../../packages/holdfast/src/hub-protocol/messages.ts'
import { receiveHub } from '../../packages/holdfast/src/member/join-client.ts'
import { hubClosed } from '../../packages/holdfast/src/member/member.ts'
import * as paths from '../../packages/holdfast/src/paths/paths.ts'
import * as peers from '../../packages/holdfast/src/member/peers.ts'
import { SIGNAL_CHANNEL } from '../../packages/holdfast/src/member/state.ts'
import {
  decode,
  encode,
  list,
  record,
  text,
  varint,
} from '../../packages/holdfast/src/wire/layout.ts'
import { Hand } from './hand.ts'

const BOTH = ['rtc:']

function handOf(ours: readonly string[] = BOTH) {
  const hand = new Hand(2, 3, 'star')
  const did: string[] = []
  const { run } = hand
  run.member.options.addresses = [...ours]
  run.ports.channels = {
    offer: (peer) => void did.push(`offer ${peer}`),
    signal: (peer, bytes) => void did.push(`signal ${peer} ${bytes.length}`),
    drop: (peer) => void did.push(`drop ${peer}`),
  }
  const delivered: Uint8Array[] = []
  run.deliver = (_, bytes) => delivered.push(bytes)
  const link = (inc: number): void => {
    const peer = peers.create(run, inc, true)
    peers.open(run, peer, `relay:${inc}`)
  }
  /** Packets go by that path from now on, or it only answers. */
  const goBy = (inc: number, address: string): void => {
    const own = run.member.peers.get(inc)!.paths
    paths.answered(own, run.now, address)
    own.chosen = paths.find(own, address)!
  }
  const withdrawn: string[] = []
  const wakeAt = (now: number): string[] => {
    run.now = now
    channels.wake(run, (_, address) => void withdrawn.push(address))
    return did.splice(0)
  }
  return { run, did, delivered, link, goBy, wakeAt, withdrawn }
}

test('the older of two that take channels offers one, the other waits to be offered one', () => {
  const { run, link, wakeAt } = handOf()
  link(1)
  link(3)
  channels.want(run, 1, BOTH)
  channels.want(run, 3, BOTH)
  expect(wakeAt(0)).toEqual(['offer 3'])
  expect(wakeAt(0)).toEqual([])
})

test.each([
  ['we', [], BOTH],
  ['they', BOTH, ['udp:127.0.0.1:1']],
])('where %s take none, none is offered, and no signal is sent or taken', (_, ours, theirs) => {
  const { run, did, delivered, link, wakeAt } = handOf(ours)
  link(3)
  channels.want(run, 3, theirs)
  expect(wakeAt(0)).toEqual([])
  channels.receive(run, 3, Uint8Array.of(1))
  channels.send(run, 3, Uint8Array.of(1))
  expect([did, delivered, run.member.counters.signals]).toEqual([[], [], 2])
})

test('a channel that does not open is given up, and the wait for the next doubles', () => {
  const { run, link, wakeAt } = handOf()
  link(3)
  channels.want(run, 3, BOTH)
  const waits: number[] = []
  let at = 0
  for (let n = 0; n < 9; n++) {
    expect(wakeAt(at)).toEqual(['offer 3'])
    expect(wakeAt(at + OPENING_MS)).toEqual(['drop 3'])
    waits.push(run.member.channels.dueAt - at - OPENING_MS)
    at = run.member.channels.dueAt
  }
  expect(waits.slice(0, 3)).toEqual([RETRY_MS, 2 * RETRY_MS, 4 * RETRY_MS])
  expect(waits.at(-1)).toBe(RETRY_MAX_MS)
})

test('after a channel that ended, or that packets left for the relay, another is offered', () => {
  const { run, link, goBy, wakeAt, withdrawn } = handOf()
  link(3)
  channels.want(run, 3, BOTH)
  wakeAt(0)
  expect(channels.opened(run, 3, 'rtc:3.1')).toBe(true)
  goBy(3, 'rtc:3.1')
  expect(wakeAt(WATCH_MS)).toEqual([])
  // An older generation, and a member without a channel, end nothing.
  expect(channels.closed(run, 'rtc:3.9')).toBeNull()
  expect(channels.closed(run, 'rtc:4.1')).toBeNull()
  goBy(3, 'relay:3')
  // It answers, and is used once it has done so for a while.
  expect(wakeAt(2 * WATCH_MS)).toEqual([])
  paths.find(run.member.peers.get(3)!.paths, 'rtc:3.1')!.state = 'bad'
  expect(wakeAt(3 * WATCH_MS)).toEqual(['drop 3'])
  expect(withdrawn).toEqual(['rtc:3.1'])
  expect(wakeAt(3 * WATCH_MS + RETRY_MS)).toEqual(['offer 3'])
  channels.opened(run, 3, 'rtc:3.2')
  expect(channels.closed(run, 'rtc:3.2')).toBe(3)
  expect(wakeAt(3 * WATCH_MS + 3 * RETRY_MS)).toEqual(['offer 3'])
})

test('a peer with a better path is offered none', () => {
  const { run, link, goBy, wakeAt } = handOf()
  link(3)
  goBy(3, 'udp:127.0.0.1:1')
  channels.want(run, 3, BOTH)
  expect(wakeAt(0)).toEqual([])
  goBy(3, 'relay:3')
  expect(wakeAt(WATCH_MS)).toEqual(['offer 3'])
})

test('signals are bounded both ways, in number and length', () => {
  const { run, did, delivered, link } = handOf()
  link(3)
  channels.want(run, 3, BOTH)
  const signal = new Uint8Array(SIGNAL_MAX).fill(9)
  for (let n = 0; n < 100; n++) {
    channels.send(run, 3, signal)
    channels.receive(run, 3, signal)
  }
  expect([delivered.length, did.length]).toEqual([SIGNALS.max, SIGNALS_TAKEN.max])
  expect([delivered[0]![0], delivered[0]!.length]).toEqual([SIGNAL_CHANNEL, SIGNAL_MAX + 1])
  run.now = 60_000
  for (let n = 0; n < 100; n++) channels.send(run, 3, signal)
  expect(delivered).toHaveLength(2 * SIGNALS.max)
  const before = run.member.counters.signals
  channels.receive(run, 3, new Uint8Array(SIGNAL_MAX + 1))
  expect(run.member.counters.signals).toBe(before + 1)
})

test('a member that leaves, and leaving ourselves, end the channels', () => {
  const { run, did, link } = handOf()
  link(1)
  link(3)
  channels.want(run, 1, BOTH)
  channels.want(run, 3, BOTH)
  channels.drop(run, 3)
  expect(did.splice(0)).toEqual(['drop 3'])
  expect(channels.opened(run, 3, 'rtc:3.1')).toBe(false)
  channels.dropAll(run)
  expect(did).toEqual(['drop 1'])
})

const SERVERS = { urls: ['turn:example.org'], username: 'u', credential: 'c', lasts: 3_600_000 }

function servedOf() {
  const one = handOf()
  const { run } = one
  const servers: unknown[] = []
  run.ports.servers = (given) => void servers.push(given)
  const asked: number[] = []
  run.ports.hub = (bytes) => {
    expect(decode(toHub, bytes)).toEqual({ kind: 'ice', session: run.member.session.id })
    asked.push(run.now)
  }
  const receive = (more: object = {}): void => {
    const { id: session } = run.member.session
    channels.receiveServers(run, { kind: 'ice', session, ...SERVERS, ...more })
  }
  return { ...one, servers, asked, receive }
}

test('the hub is asked for fresh credentials before they end, at most once a minute', () => {
  const { run, asked, receive, wakeAt } = servedOf()
  receive()
  const due = SERVERS.lasts * (1 - RENEW_PART)
  expect(run.member.channels.dueAt).toBe(due)
  wakeAt(due - 1)
  expect(asked).toEqual([])
  wakeAt(due)
  // The hub is silent.
  wakeAt(due + RENEW_MIN_MS - 1)
  wakeAt(due + RENEW_MIN_MS)
  expect(asked).toEqual([due, due + RENEW_MIN_MS])
  receive({ lasts: 0 })
  expect(run.member.channels.askAt).toBe(run.now + RENEW_MIN_MS)
  receive({ lasts: 2 ** 52 })
  expect(run.member.channels.askAt).toBe(run.now + RENEW_MAX_MS)
})

test('another hub, which may name no servers and know no such question, is not asked', () => {
  const { run, asked, receive, wakeAt } = servedOf()
  receive()
  hubClosed(run, 0)
  wakeAt(10 * SERVERS.lasts)
  expect(asked).toEqual([])
})

test('servers that no library takes are dropped and counted, as are those of other sessions', () => {
  const { run, servers, receive } = servedOf()
  const urls = ['turn:example.org', 'http://example.org', 'turn:e x', 'stun:example.org']
  receive({ urls })
  receive({ urls: ['turn:example.org', 'stun:example.org'], credential: '' })
  receive({ session: 'another' })
  expect(servers).toEqual([
    { urls: ['turn:example.org', 'stun:example.org'], username: 'u', credential: 'c' },
    { urls: ['stun:example.org'], username: 'u', credential: '' },
  ])
  expect(run.member.counters.servers).toBe(3)
})

test.each([
  ['too many', { urls: Array.from({ length: 5 }, () => 'stun:example.org') }],
  ['too long ones', { urls: ['x'.repeat(201)] }],
  ['too long credentials', { username: 'x'.repeat(65) }],
])('of %s the whole message is malformed', (_, more) => {
  const { run, servers } = servedOf()
  const { id: session } = run.member.session
  // As a hub writes them that keeps no bounds.
  const loose = record({
    ...{ session: text(255), urls: list(text(255), 255) },
    ...{ username: text(255), credential: text(255), lasts: varint },
  })
  const written = encode(loose, { session, ...SERVERS, ...more })
  receiveHub(run, Uint8Array.of(20, ...written))
  expect([servers, run.member.counters.malformed]).toEqual([[], 1])
  receiveHub(run, Uint8Array.of(20, ...encode(loose, { session, ...SERVERS })))
  expect([servers.length, run.member.counters.malformed]).toEqual([1, 1])
})
