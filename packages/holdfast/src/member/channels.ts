/**
 * Channels to other members, such as those of WebRTC: who offers one and when, and the signals.
 *
 * A member that takes channels says so by the address TAKES_CHANNELS in its row, which other builds
 * do not use. Of two such members with a link the older, with the lower number, offers a channel;
 * packets stay on the relay until it is open and proven. Signals travel inside the sealed link, so
 * nobody else makes this process share its addresses or open a connection.
 *
 * If a channel fails, or answers no probe, the older member offers another one, and waits
 * longer after each failure.
 *
 * The hub may name STUN and TURN servers once a member is attached. Their credentials end, so a
 * member asks for fresh ones before; channels that are open keep what they have.
 */

import * as bucket from '../bucket.ts'
import { type FromHubOf, toHub } from '../hub-protocol/messages.ts'
import type { Millis, PeerId } from '../machine.ts'
import { find, isByRelay } from '../paths/paths.ts'
import { encode } from '../wire/layout.ts'
import { isTurn, readIceUrl } from '../wire/text/ice-url.ts'
import { peerOf } from '../wire/relay.ts'
import { type Channels, type Pair, type Runtime, SIGNAL_CHANNEL } from './state.ts'

/** The address by which a row says that its member takes channels. */
export const TAKES_CHANNELS = 'rtc:'
/** Longest signal, in bytes. */
export const SIGNAL_MAX = 512
/** Signals to one peer. */
export const SIGNALS: bucket.Rate = { max: 32, perSecond: 32 / 60 }
/** Signals of one peer that are taken: some may arrive at once that left one by one. */
export const SIGNALS_TAKEN: bucket.Rate = { max: 64, perSecond: 64 / 60 }
/** A channel opens within this, or failed. */
export const OPENING_MS: Millis = 10_000
/** The wait after a failed channel before the next offer; it doubles with each failure in a row. */
export const RETRY_MS: Millis = 1_000
export const RETRY_MAX_MS: Millis = 60_000
/** Where both ends have other addresses, these are tried first. */
export const OTHERS_FIRST_MS: Millis = 2_000
/** How often the offerer looks whether packets go by an open channel. */
export const WATCH_MS: Millis = 5_000
/** Fresh credentials are asked for when this part of their time is left, between these bounds. */
export const RENEW_PART = 1 / 4
export const RENEW_MIN_MS: Millis = 60_000
export const RENEW_MAX_MS: Millis = 12 * 60 * 60_000

/** We have a link to that member, whose row has these addresses. */
export function want(run: Runtime, inc: PeerId, theirs: readonly string[]): void {
  const { member, now, ports } = run
  const { channels, session } = member
  const ours = member.options.addresses
  if (!ports.channels || channels.pairs.has(inc)) return
  if (![ours, theirs].every((addresses) => addresses.includes(TAKES_CHANNELS))) return
  const wait = ours.length > 1 && theirs.length > 1 ? OTHERS_FIRST_MS : 0
  const dueAt = session.me < inc ? now + wait : Infinity
  channels.pairs.set(inc, {
    ...{ state: 'closed', dueAt, address: '', failures: 0 },
    ...{ sent: bucket.create(now, SIGNALS), taken: bucket.create(now, SIGNALS_TAKEN) },
  })
  channels.dueAt = Math.min(channels.dueAt, dueAt)
}

/** That member has left. */
export function drop({ member, ports }: Runtime, inc: PeerId): void {
  if (member.channels.pairs.delete(inc)) ports.channels?.drop(inc)
}

/** This process is another member from now on, or none. */
export function dropAll(run: Runtime): void {
  for (const inc of run.member.channels.pairs.keys()) drop(run, inc)
}

/** A signal of a peer: hostile. */
export function receive({ member, now, ports }: Runtime, from: PeerId, bytes: Uint8Array): void {
  const pair = member.channels.pairs.get(from)
  const isTaken = pair && bytes.length <= SIGNAL_MAX
  if (isTaken && bucket.take(pair.taken, SIGNALS_TAKEN, now, 1)) ports.channels?.signal(from, bytes)
  else member.counters.signals++
}

/** Our end of the channel has a signal for its other end. */
export function send(run: Runtime, to: PeerId, bytes: Uint8Array): void {
  const { member, now } = run
  const pair = member.channels.pairs.get(to)
  const isSent = pair && member.peers.get(to)?.link && bytes.length <= SIGNAL_MAX
  if (!isSent || !bucket.take(pair.sent, SIGNALS, now, 1)) return void member.counters.signals++
  const framed = new Uint8Array(bytes.length + 1)
  framed[0] = SIGNAL_CHANNEL
  framed.set(bytes, 1)
  run.deliver(to, framed)
}

/** The hub's STUN and TURN servers: those that no library takes are dropped, and counted. */
export function receiveServers(
  { member, now, ports }: Runtime,
  { session, urls, username, credential, lasts }: FromHubOf<'ice'>,
): void {
  const { channels, counters } = member
  const isOurs = session === member.found || session === member.session.id
  if (!isOurs || !ports.servers) return
  const fit = urls.filter((url) => {
    const read = readIceUrl(url)
    // A page's connection throws for TURN without credentials.
    return read !== null && (!isTurn(read) || (username !== '' && credential !== ''))
  })
  counters.servers += urls.length - fit.length
  ports.servers({ urls: fit, username, credential })
  const wait = Math.min(RENEW_MAX_MS, Math.max(RENEW_MIN_MS, lasts * (1 - RENEW_PART)))
  channels.askAt = now + wait
  channels.dueAt = Math.min(channels.dueAt, channels.askAt)
}

// Without an answer it asks again, as seldom as it would with answers.
function renew({ member, now, ports }: Runtime): void {
  member.channels.askAt = now + RENEW_MIN_MS
  ports.hub(encode(toHub, { kind: 'ice', session: member.session.id }))
}

/** A channel is open. @returns false if it is wanted no more */
export function opened({ member, now }: Runtime, inc: PeerId, address: string): boolean {
  const { channels } = member
  const pair = channels.pairs.get(inc)
  if (!pair) return false
  pair.state = 'open'
  pair.address = address
  watch(channels, pair, now)
  return true
}

function watch(channels: Channels, pair: Pair, now: Millis): void {
  if (pair.dueAt < Infinity) pair.dueAt = now + WATCH_MS
  channels.dueAt = Math.min(channels.dueAt, pair.dueAt)
}

/** A channel ended, or did not open. @returns the member it led to; null if it was given up */
export function closed({ member, now }: Runtime, address: string): PeerId | null {
  const inc = peerOf(address)
  const pair = inc === null ? undefined : member.channels.pairs.get(inc)
  if (!pair || (pair.address !== address && pair.state === 'open')) return null
  fail(member.channels, pair, now)
  return inc
}

function fail(channels: Channels, pair: Pair, now: Millis): void {
  pair.state = 'closed'
  pair.address = ''
  if (pair.dueAt < Infinity) {
    pair.dueAt = now + Math.min(RETRY_MAX_MS, RETRY_MS * 2 ** pair.failures)
    pair.failures = Math.min(pair.failures + 1, 16)
  }
  channels.dueAt = Math.min(channels.dueAt, pair.dueAt)
}

/**
 * Offers the channels that are due, gives up those that failed, and asks for fresh credentials.
 *
 * @param withdraw  an address leads to that member no more
 */
export function wake(run: Runtime, withdraw: (inc: PeerId, address: string) => void): void {
  const { member, now } = run
  const { channels } = member
  if (now < channels.dueAt) return
  if (now >= channels.askAt) renew(run)
  channels.dueAt = channels.askAt
  for (const [inc, pair] of channels.pairs) {
    if (now >= pair.dueAt) step(run, inc, pair, withdraw)
    channels.dueAt = Math.min(channels.dueAt, pair.dueAt)
  }
}

function step(
  { member, now, ports }: Runtime,
  inc: PeerId,
  pair: Pair,
  withdraw: (inc: PeerId, address: string) => void,
): void {
  const peer = member.peers.get(inc)
  const isNeeded = peer?.link !== null && peer !== undefined && isByRelay(peer.paths)
  // One that failed before is proven for a while before packets go by it.
  const isGood = peer !== undefined && find(peer.paths, pair.address)?.state === 'good'
  if (pair.state === 'closed') {
    // Without a link no signal arrives, and a better path needs no channel: looked at again later.
    pair.dueAt = now + (isNeeded ? OPENING_MS : WATCH_MS)
    if (!isNeeded) return
    pair.state = 'opening'
    ports.channels!.offer(inc)
  } else if (pair.state === 'open' && (isGood || !isNeeded)) {
    if (!isNeeded) pair.failures = 0
    pair.dueAt = now + WATCH_MS
  } else {
    const { address } = pair
    ports.channels!.drop(inc)
    fail(member.channels, pair, now)
    if (address !== '') withdraw(inc, address)
  }
}
