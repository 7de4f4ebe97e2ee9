/**
 * What has been spent of the limits in limits.ts, and by whom.
 *
 * Each spender has a purse: a stream, its address, the room that it is about, and the hub as a
 * whole. What is asked for is paid from all of them or from none. The last half of what the hub
 * has for all is kept for addresses that spent little themselves, so that a thousand addresses
 * that spend all they may leave something for one that comes to play.
 */

import * as bucket from '../bucket.ts'
import type { Bucket, Rate } from '../bucket.ts'
import type { Millis } from '../machine.ts'
import { type Found, inWords, type Limits, rowsOf, type What, type Who } from './limits.ts'

/** Most addresses of which an account is kept; those beyond share one. */
export const ACCOUNTS_MAX = 16_384
/** Old accounts that are looked at when a new one is opened. */
const LOOKS = 4
/** An address has spent little while it has so much of its own limit left. */
const MODEST_SHARE = 7 / 8
/** What of a limit of the hub is for those alone. */
const KEPT_SHARE = 1 / 2
/** Under this name the addresses beyond ACCOUNTS_MAX are counted as one. */
const CROWD = 'crowd'

/** Token buckets by what is spent. */
export type Purse = Partial<Record<string, Bucket>>

/** What is known of one address. */
export interface Account {
  /** The address: see `placeOf`. */
  readonly place: string
  purse: Purse
  /** Its TCP connections that are open, where somebody counts them. */
  sockets: number
  /** Its streams that are open. */
  streams: Set<number>
  /** How many of them speak for a member. */
  speaking: number
  /** Rooms that it opened and that are there. */
  rooms: number
  /** How many of its streams are in a room, by session. */
  seats: Map<string, number>
  /** When it was heard of last. */
  at: Millis
}

/** All that is spent at one hub. */
export interface Budgets {
  readonly limits: Limits
  /** By address, oldest first. */
  accounts: Map<string, Account>
  rooms: Map<string, Purse>
  hub: Purse
  /** After so long without a word all buckets of an account are full again. */
  readonly fullMs: Millis
  /** How often something was refused, by `codeOf`. */
  refused: Record<string, number>
  /** What whoever met a limit hears, by `codeOf`: a flood is answered often. */
  readonly reasons: ReadonlyMap<string, string>
}

/** Somebody who spends. */
export interface Spender {
  account: Account
  /** Of its stream, if it has one. */
  purse?: Purse
  /** The session that it is about. */
  session?: string | undefined
}

/** A limit that was met. */
export interface Exceeded {
  who: Who
  what: What | 'idle'
}

/** Nothing is spent. */
export function create(limits: Limits): Budgets {
  const rows = rowsOf(limits)
  const refused = Object.fromEntries(rows.map(({ who, what }) => [`${who}.${what}`, 0]))
  const full = rows.map(({ limit }) => {
    return typeof limit === 'number' ? 0 : (limit.max / limit.perSecond) * 1_000
  })
  return {
    limits,
    accounts: new Map(),
    rooms: new Map(),
    hub: {},
    fullMs: Math.max(...full),
    refused: { ...refused, 'address.idle': 0, 'hub.idle': 0 },
    reasons: new Map(rows.map((row) => [`${row.who}.${row.what}`, sentence(row)])),
  }
}

function sentence({ who, what, limit, of }: Found): string {
  const most = typeof limit === 'number' ? limit : limit.max
  const rate = typeof limit === 'number' ? '' : ` at once, ${inWords(limit.perSecond)} a second`
  return `${LIMIT}${who}.${what}: at most ${inWords(most)} ${of}${rate}`
}

/** The account of an address, which is opened if there is none. */
export function accountOf(budgets: Budgets, now: Millis, place: string): Account {
  const { accounts } = budgets
  const known = accounts.get(place)
  if (known) {
    known.at = now
    return known
  }
  forget(budgets, now)
  if (accounts.size >= ACCOUNTS_MAX && place !== CROWD) return accountOf(budgets, now, CROWD)
  const none = { purse: {}, sockets: 0, streams: new Set<number>(), speaking: 0, rooms: 0 }
  const account = { place, ...none, seats: new Map<string, number>(), at: now }
  accounts.set(place, account)
  return account
}

// An account that has nothing and spent nothing for long is as a new one would be. Each that is
// looked at and stays goes to the end, so all are looked at in turn.
function forget({ accounts, fullMs }: Budgets, now: Millis): void {
  let looks = LOOKS
  for (const [place, account] of accounts) {
    if (looks-- === 0) return
    accounts.delete(place)
    const isInUse = account.sockets + account.streams.size + account.rooms > 0
    if (isInUse || now - account.at < fullMs) accounts.set(place, account)
  }
}

/**
 * Spends from all purses that have a limit for it, or from none.
 *
 * @returns the limit that was met, which is counted; null if it was paid
 */
export function spend(
  budgets: Budgets,
  now: Millis,
  { account, purse, session }: Spender,
  what: What,
  cost: number,
): Exceeded | null {
  account.at = now
  const ofStream = purse && cellOf(purse, rateOf(budgets, 'stream', what), what, now)
  const ofAddress = cellOf(account.purse, rateOf(budgets, 'address', what), what, now)
  const ofRoom = session === undefined ? null : roomCell(budgets, now, session, what)
  const ofHub = cellOf(budgets.hub, rateOf(budgets, 'hub', what), what, now)
  if (ofStream && !pays(ofStream, now, cost)) return refuse(budgets, 'stream', what)
  if (ofAddress && !pays(ofAddress, now, cost)) return refuse(budgets, 'address', what)
  if (ofRoom && !pays(ofRoom, now, cost)) return refuse(budgets, 'room', what)
  if (ofHub && !hubPays(ofHub, now, cost, ofAddress)) return refuse(budgets, 'hub', what)
  for (const cell of [ofStream, ofAddress, ofRoom, ofHub]) if (cell) cell.bucket.left -= cost
  return null
}

interface Cell {
  bucket: Bucket
  rate: Rate
}

function rateOf({ limits }: Budgets, who: Who, what: string): Rate | null {
  const limit = (limits[who] as Record<string, Rate | number>)[what]
  return typeof limit === 'object' ? limit : null
}

function cellOf(purse: Purse, rate: Rate | null, what: string, now: Millis): Cell | null {
  return rate && { bucket: (purse[what] ??= bucket.create(now, rate)), rate }
}

function roomCell(budgets: Budgets, now: Millis, session: string, what: What): Cell | null {
  const rate = rateOf(budgets, 'room', what)
  if (!rate) return null
  const purse = budgets.rooms.get(session) ?? {}
  budgets.rooms.set(session, purse)
  return cellOf(purse, rate, what, now)
}

function pays({ bucket: own, rate }: Cell, now: Millis, cost: number): boolean {
  return bucket.has(own, rate, now, cost)
}

function hubPays(cell: Cell, now: Millis, cost: number, ofAddress: Cell | null): boolean {
  if (!pays(cell, now, cost)) return false
  if (cell.bucket.left - cost >= cell.rate.max * KEPT_SHARE || !ofAddress) return true
  return ofAddress.bucket.left >= ofAddress.rate.max * MODEST_SHARE
}

/** Gives back what was spent for nothing, to an address and the hub. */
export function giveBack(budgets: Budgets, account: Account, what: What, cost: number): void {
  for (const purse of [account.purse, budgets.hub]) {
    const own = purse[what]
    if (own) own.left += cost
  }
}

/** Counts what was refused. @returns the limit that was met */
export function refuse({ refused }: Budgets, who: Who, what: Exceeded['what']): Exceeded {
  refused[codeOf({ who, what })]!++
  return { who, what }
}

/** The code of a limit: `address.streams`. */
export function codeOf({ who, what }: Exceeded): string {
  return `${who}.${what}`
}

/** Beginning of the reason with which a hub refuses what would be too much. */
export const LIMIT = 'limit '

/**
 * Which limit was met, for whoever met it: `limit address.streams: at most 256 streams at once`.
 */
export function reasonOf({ reasons }: Budgets, met: Exceeded): string {
  const code = codeOf(met)
  if (met.what === 'idle') return `${LIMIT}${code}: this stream did nothing, others want in`
  return reasons.get(code)!
}

/** A room is there no more. */
export function roomEnded(budgets: Budgets, session: string): void {
  budgets.rooms.delete(session)
}
