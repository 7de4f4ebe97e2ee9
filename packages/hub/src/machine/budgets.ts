/**
 * Spending against the limits in limits.ts.
 *
 * Each stream, its address, the room that the request is about, and the hub have token buckets. A
 * request is paid from all of them or from none.
 *
 * The buckets of a room and of the hub are shared. While they have enough, every request is served.
 * When they run out, an address that recently spent less than others is served on credit, and all
 * others are refused. So heavy spenders wait although each stays within its own limit, and a
 * thousand addresses that spend everything do not lock out players. An address's spending is
 * divided by its members: a school at play is no flood, and members cost more than addresses.
 */

import * as bucket from '../../../holdfast/src/bucket.ts'
import type { Bucket, Rate } from '../../../holdfast/src/bucket.ts'
import type { Millis } from '../../../holdfast/src/machine.ts'
import { type LimitRow, inWords, type Limits, rowsOf, type What, type Who } from './limits.ts'

/** Most addresses with an account of their own; all others share one. */
export const ACCOUNTS_MAX = 16_384
/** Old accounts examined when a new one is opened. */
const LOOKS = 4
/** Addresses under the water level that holds this part of all recent spending spent little. */
const LEVEL_SHARE = 3 / 4
/** How long a computed level is valid. */
const LEVEL_MS: Millis = 100
/** The name of the account shared by addresses beyond ACCOUNTS_MAX. */
const OVERFLOW = 'crowd'

export type Buckets = Partial<Record<string, Bucket>>

/** What an address recently spent of a shared resource; it decays. */
interface Recent {
  spent: number
  at: Millis
}

export interface Account {
  readonly place: string
  buckets: Buckets
  /** By shared resource. */
  recent: Partial<Record<string, Recent>>
  /** Its open TCP connections, where they are counted. */
  sockets: number
  streams: Set<number>
  /** How many of these speak for a member. */
  speaking: number
  /** Rooms that it founded and that exist. */
  rooms: number
  /** The number of its streams in each room, by session. */
  seats: Map<string, number>
  at: Millis
}

/** The limits of one hub and all spending against them. */
export interface Budgets {
  readonly limits: Limits
  accounts: Map<string, Account>
  rooms: Map<string, Buckets>
  hub: Buckets
  /** By shared resource: spending below which an address gets credit, and when it was computed. */
  levels: Partial<Record<string, { level: number; at: Millis }>>
  /** After this long without a request all buckets of an account are full again. */
  readonly fullMs: Millis
  refused: Record<string, number>
  /** Precomputed reason for each limit, by `codeOf`: a flood is refused often. */
  readonly reasons: ReadonlyMap<string, string>
}

/** The source of a request that costs something. */
export interface Spender {
  account: Account
  buckets?: Buckets
  /** The session that the request is about. */
  session?: string | undefined
}

export interface Exceeded {
  who: Who
  what: What | 'idle'
}

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
    levels: {},
    fullMs: Math.max(...full),
    refused: { ...refused, 'address.idle': 0, 'hub.idle': 0 },
    reasons: new Map(rows.map((row) => [`${row.who}.${row.what}`, sentence(row)])),
  }
}

function sentence({ who, what, limit, of }: LimitRow): string {
  const most = typeof limit === 'number' ? limit : limit.max
  const rate = typeof limit === 'number' ? '' : ` at once, ${inWords(limit.perSecond)} a second`
  return `${LIMIT}${who}.${what}: at most ${inWords(most)} ${of}${rate}`
}

export function accountOf(budgets: Budgets, now: Millis, place: string): Account {
  const { accounts } = budgets
  const known = accounts.get(place)
  if (known) {
    known.at = now
    return known
  }
  forget(budgets, now)
  if (accounts.size >= ACCOUNTS_MAX && place !== OVERFLOW) return accountOf(budgets, now, OVERFLOW)
  const none = { buckets: {}, recent: {}, sockets: 0, speaking: 0, rooms: 0, at: now }
  const streams = new Set<number>()
  const account = { place, ...none, streams, seats: new Map<string, number>() }
  accounts.set(place, account)
  return account
}

// An idle account without holdings equals a new one, so it is dropped. Each account examined and
// retained moves to the end, so all are examined in turn.
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
 * Spends from all buckets with a limit for it, or from none. @returns the exceeded limit, which is
 * counted; null if the request was paid
 */
export function spend(
  budgets: Budgets,
  now: Millis,
  { account, buckets, session }: Spender,
  what: What,
  cost: number,
): Exceeded | null {
  account.at = now
  const ofStream = buckets && cellOf(buckets, rateOf(budgets, 'stream', what), what, now)
  const ofAddress = cellOf(account.buckets, rateOf(budgets, 'address', what), what, now)
  const ofRoom = session === undefined ? null : roomCell(budgets, now, session, what)
  const ofHub = cellOf(budgets.hub, rateOf(budgets, 'hub', what), what, now)
  const shared = (ofRoom ?? ofHub)?.rate
  const recent = shared && recentOf(account, now, what, shared)
  if (ofStream && !pays(ofStream, now, cost)) return refuse(budgets, 'stream', what)
  if (ofAddress && !pays(ofAddress, now, cost)) return refuse(budgets, 'address', what)
  const each = recent ? eachOf(account, recent) : 0
  const isServed = (cell: Cell): boolean => {
    if (pays(cell, now, cost)) return true
    return cell.bucket.left > -cell.rate.max && each < levelOf(budgets, now, what, cell.rate)
  }
  if (ofRoom && !isServed(ofRoom)) return refuse(budgets, 'room', what)
  if (ofHub && !isServed(ofHub)) return refuse(budgets, 'hub', what)
  for (const cell of [ofStream, ofAddress, ofRoom, ofHub]) if (cell) cell.bucket.left -= cost
  if (recent) recent.spent += cost
  return null
}

// Recent spending halves in the time in which a shared bucket refills.
function recentOf({ recent }: Account, now: Millis, what: string, rate: Rate): Recent {
  const known = (recent[what] ??= { spent: 0, at: now })
  const passed = Math.max(0, now - known.at) / ((rate.max / rate.perSecond) * 1_000)
  known.spent *= 0.5 ** passed
  known.at = now
  return known
}

function eachOf({ speaking }: Account, { spent }: Recent): number {
  return spent / (1 + speaking)
}

function levelOf(budgets: Budgets, now: Millis, what: string, rate: Rate): number {
  const known = budgets.levels[what]
  if (known && now - known.at < LEVEL_MS) return known.level
  const all = [...budgets.accounts.values()].filter(({ recent }) => recent[what])
  const each = all.map((one) => eachOf(one, recentOf(one, now, what, rate)))
  const level = fill(each.toSorted((a, b) => a - b))
  budgets.levels[what] = { level, at: now }
  return level
}

// The water level: amounts (ascending), each capped at it, sum to LEVEL_SHARE of all.
function fill(each: readonly number[]): number {
  let left = LEVEL_SHARE * each.reduce((sum, one) => sum + one, 0)
  for (const [at, one] of each.entries()) {
    const rest = each.length - at
    if (one * rest >= left) return left / rest
    left -= one
  }
  return 0
}

interface Cell {
  bucket: Bucket
  rate: Rate
}

function rateOf({ limits }: Budgets, who: Who, what: string): Rate | null {
  const limit = (limits[who] as Record<string, Rate | number>)[what]
  return typeof limit === 'object' ? limit : null
}

function cellOf(buckets: Buckets, rate: Rate | null, what: string, now: Millis): Cell | null {
  return rate && { bucket: (buckets[what] ??= bucket.create(now, rate)), rate }
}

function roomCell(budgets: Budgets, now: Millis, session: string, what: What): Cell | null {
  const rate = rateOf(budgets, 'room', what)
  if (!rate) return null
  const buckets = budgets.rooms.get(session) ?? {}
  budgets.rooms.set(session, buckets)
  return cellOf(buckets, rate, what, now)
}

function pays({ bucket: own, rate }: Cell, now: Millis, cost: number): boolean {
  return bucket.has(own, rate, now, cost)
}

/** Refunds an address and the hub for a request that came to nothing. */
export function giveBack(budgets: Budgets, account: Account, what: What, cost: number): void {
  for (const buckets of [account.buckets, budgets.hub]) {
    const own = buckets[what]
    if (own) own.left += cost
  }
  const recent = account.recent[what]
  if (recent) recent.spent = Math.max(0, recent.spent - cost)
}

/** Counts a refusal. @returns the limit that was exceeded */
export function refuse({ refused }: Budgets, who: Who, what: Exceeded['what']): Exceeded {
  refused[codeOf({ who, what })]!++
  return { who, what }
}

/** The code of a limit: `address.streams`. */
export function codeOf({ who, what }: Exceeded): string {
  return `${who}.${what}`
}

/** Beginning of each reason with which a hub refuses a request over a limit. */
export const LIMIT = 'limit '

/** The reason sent to the client: `limit address.streams: at most 256 streams at once`. */
export function reasonOf({ reasons }: Budgets, met: Exceeded): string {
  const code = codeOf(met)
  if (met.what === 'idle') return `${LIMIT}${code}: this stream was idle and others are waiting`
  return reasons.get(code)!
}
