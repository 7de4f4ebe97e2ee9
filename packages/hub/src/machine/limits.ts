/**
 * The limits of a hub: one table, by who spends and on what.
 *
 * The numbers suit players who share one address: 64 pupils of a school, in several rooms, each
 * with a second window and reloading pages, exceed none. A limit with `perSecond` is a token bucket
 * of `max` that refills at that rate; one without is a ceiling.
 */

import type { Rate } from '../../../holdfast/src/bucket.ts'
import { MEMBERS_MAX } from '../../../holdfast/src/machine.ts'
import { SESSIONS_MAX } from './register.ts'

const KILO = 1024
const MEGA = 1024 * KILO

interface Row {
  readonly limit: Rate | number
  /** What it counts, for the reason: `at most 256 streams at once`. */
  readonly of: string
  /** Why it is this number. */
  readonly why: string
}

export const TABLE = {
  stream: {
    hello: {
      limit: 5_000,
      of: 'ms without a hello',
      why: 'a member says hello at once',
    },
    silence: {
      limit: 30_000,
      of: 'ms of silence before joining',
      why: 'a process that looks for a room asks twice a second, and pings every 2 s',
    },
    messages: {
      limit: { max: 1_024, perSecond: 256 },
      of: 'messages',
      why: 'a primary whose room of 256 fills at once needs half',
    },
    rows: {
      limit: { max: 65_536, perSecond: 4_096 },
      of: 'rows of members',
      why: 'a primary whose room of 256 fills at once lists 33,000',
    },
    joins: {
      limit: { max: 32 * KILO, perSecond: 8 * KILO },
      of: 'bytes to a primary before joining',
      why: 'a join is some 400 bytes, or 3 kB with long names on a lossy line',
    },
    credentials: {
      limit: { max: 8, perSecond: 1 },
      of: 'credentials of TURN servers',
      why: 'a member needs one when it attaches, and in each hour',
    },
    registrations: {
      limit: 64,
      of: 'rooms that one stream opens',
      why: 'a player opens one',
    },
    relayedBytes: {
      limit: { max: 16 * MEGA, perSecond: 8 * MEGA },
      of: 'relayed bytes',
      why: 'a primary of 255 members sends 6 MB at 20 full packets a second each',
    },
    relayedPackets: {
      limit: { max: 16_384, perSecond: 16_384 },
      of: 'relayed packets',
      why: 'a primary of 255 members sends 15,300 at 60 packets a second each',
    },
  },
  address: {
    sockets: {
      limit: 1_024,
      of: 'TCP connections at once',
      why: '64 browsers have 7 each while they load a page',
    },
    dials: {
      limit: { max: 1_024, perSecond: 128 },
      of: 'TCP connections',
      why: '64 browsers load a page at once, and another one after 4 s',
    },
    requests: {
      limit: { max: 4_096, perSecond: 512 },
      of: 'requests for pages',
      why: '64 browsers load a page of 60 files at once',
    },
    streams: {
      limit: 256,
      of: 'streams at once',
      why: 'four for each of 64 players: a window, a second one, and both loaded again',
    },
    opens: {
      limit: { max: 256, perSecond: 32 },
      of: 'streams opened',
      why: 'everybody comes back at once after a restart, and again if that failed',
    },
    messages: {
      limit: { max: 4_096, perSecond: 1_024 },
      of: 'messages',
      why: '64 joins at once are 1,000, and 256 members send 256 a second',
    },
    rows: {
      limit: { max: 262_144, perSecond: 16_384 },
      of: 'rows of members',
      why: '7 rooms of 256 fill at once',
    },
    lists: {
      limit: { max: 512, perSecond: 128 },
      of: 'parts of lists',
      why: '64 lobbies ask every 2 s for 200 rooms, which is 1.5 parts each',
    },
    joins: {
      limit: { max: 512 * KILO, perSecond: 128 * KILO },
      of: 'bytes to primaries before joining',
      why: '64 joins at once are 200 kB at worst',
    },
    registrations: {
      limit: { max: 64, perSecond: 1 },
      of: 'rooms opened',
      why: 'each of 64 players opens one',
    },
    rooms: {
      limit: 128,
      of: 'rooms founded',
      why: 'two for each of 64 players',
    },
    seats: {
      limit: 128,
      of: 'streams in one room',
      why: 'all of 64 players in one room, with a second window each',
    },
    relayedBytes: {
      limit: { max: 64 * MEGA, perSecond: 32 * MEGA },
      of: 'relayed bytes',
      why: '64 players in 8 rooms send 5 MB at 60 packets of 300 bytes a second',
    },
    relayedPackets: {
      limit: { max: 65_536, perSecond: 32_768 },
      of: 'relayed packets',
      why: '64 players in 8 rooms send 14,400 at 60 a second to primary and backup',
    },
    keeps: {
      limit: { max: 16 * MEGA, perSecond: MEGA },
      of: 'bytes stored',
      why: '64 rooms that continue after a restart write 100 kB each at once',
    },
    kept: {
      limit: 512,
      of: 'stored rooms',
      why: 'a class of 64, each of whom opens a room on every day of a week',
    },
  },
  key: {},
  room: {
    joins: {
      limit: { max: MEGA, perSecond: 256 * KILO },
      of: 'bytes to its primary before joining',
      why: `${MEMBERS_MAX} joins at once are 800 kB at worst`,
    },
    keeps: {
      limit: { max: 4 * MEGA, perSecond: 256 * KILO },
      of: 'bytes stored',
      why: 'a room of 16 that acts ten times a second each writes 30 kB',
    },
    kept: {
      limit: MEGA,
      of: 'stored bytes of one room',
      why: 'the next opener reads all of it; a table of 10,000 keys is 400 kB',
    },
  },
  hub: {
    sockets: {
      limit: 16_384,
      of: 'TCP connections at once',
      why: 'more than streams, for pages; the system limits the open files of a process',
    },
    dials: {
      limit: { max: 8_192, perSecond: 2_048 },
      of: 'TCP connections',
      why: 'one costs 0.1 ms of the loop, so that is a fifth of it; 300 load a page each second',
    },
    streams: {
      limit: 10_000,
      of: 'streams at once',
      why: 'each takes 20 kB of memory, and so many members fill one core',
    },
    opens: {
      limit: { max: 4_096, perSecond: 1_024 },
      of: 'streams opened',
      why: 'one costs 0.2 ms; 10,000 that come back at once take 6 s',
    },
    messages: {
      limit: { max: 32_768, perSecond: 16_384 },
      of: 'messages',
      why: 'one costs 0.01 ms; 10,000 members that come back at once send 30,000',
    },
    rows: {
      limit: { max: 2_097_152, perSecond: 262_144 },
      of: 'rows of members',
      why: 'one costs 0.7 µs: a fifth of the loop; 10,000 in rooms of 256 come back at once',
    },
    rooms: {
      limit: SESSIONS_MAX,
      of: 'rooms',
      why: 'each takes some kilobytes of memory and of disk',
    },
    keeps: {
      limit: { max: 64 * MEGA, perSecond: 8 * MEGA },
      of: 'bytes stored',
      why: 'a disk takes more; so many cost 0.1 s of the loop a second',
    },
    kept: {
      limit: 10_000,
      of: 'stored rooms',
      why: 'each takes 2 to 4 kB of memory, and its size on disk',
    },
    registrations: {
      limit: { max: 1_024, perSecond: 128 },
      of: 'rooms opened',
      why: 'it takes more than a minute to fill it, and rooms without members end sooner',
    },
    lists: {
      limit: { max: 1_024, perSecond: 512 },
      of: 'parts of lists',
      why: '700 lobbies ask every 2 s for 200 rooms',
    },
  },
} as const satisfies Record<string, Record<string, Row>>

/** Who spends. Player keys have no limits: anyone can make another key. */
export type Who = keyof typeof TABLE
/** Every resource with a limit. */
export type What = { [W in Who]: keyof (typeof TABLE)[W] }[Who]

type Limit<R> = R extends { readonly limit: Rate } ? Rate : number
export type Limits = {
  -readonly [W in Who]: { -readonly [K in keyof (typeof TABLE)[W]]: Limit<(typeof TABLE)[W][K]> }
}

export type LimitRow = Row & { who: Who; what: string }

export function defaults(): Limits {
  const each = Object.entries(TABLE).map(([who, rows]) => {
    const own = Object.entries<Row>(rows).map(([what, { limit }]) => [what, structuredClone(limit)])
    return [who, Object.fromEntries(own) as object]
  })
  return Object.fromEntries(each) as unknown as Limits
}

export function rowsOf(limits: Limits): LimitRow[] {
  return (Object.keys(TABLE) as Who[]).flatMap((who) => {
    const own: Record<string, Rate | number> = limits[who]
    return Object.entries<Row>(TABLE[who]).map(([what, row]) => {
      return { ...row, who, what, limit: own[what]! }
    })
  })
}

/** A limit in words: `256`, or `1,024 and 128 a second`. */
export function inWords(limit: Rate | number): string {
  if (typeof limit === 'number') return grouped(limit)
  return `${grouped(limit.max)} and ${grouped(limit.perSecond)} a second`
}

function grouped(number: number): string {
  return String(number).replaceAll(/\B(?=(\d{3})+$)/g, ',')
}
