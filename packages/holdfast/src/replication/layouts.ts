/**
 * The durable state of a session in bytes: members, players with the outcomes of their operations,
 * and the entries of the log. Primary and backup exchange nothing else.
 */

import { MEMBERS_MAX, NAME_MAX } from '../machine.ts'
import { KEY_BYTES } from '../ports.ts'
import { DIGEST_BYTES } from '../wire/digest.ts'
import {
  blob,
  fixed,
  flag,
  list,
  message,
  record,
  text,
  u8,
  type ValueOf,
  varint,
  word,
} from '../wire/layout.ts'

/** Most addresses of one member: a view of 256 members must fit one message of a link. */
export const ADDRESSES_MAX = 2
/** Longest address, in bytes: `udp:`, an IPv6 literal in brackets, a port. */
export const ADDRESS_MAX = 52
/** Largest body of an operation, an outcome or a change of a part, in bytes. */
export const BODY_MAX: number = 16 * 1024
/** Most changes that one operation makes. */
export const CHANGES_MAX = 256
/** Most players that are kept, including those who may come back. */
export const PLAYERS_KEPT_MAX: number = MEMBERS_MAX * 4
/** Outcomes kept for each player, and most operations a client has under way. */
export const OUTCOMES_MAX = 64

/**
 * Numbers that only rise, such as versions, indexes of the log and those of operations, end here.
 * Nobody counts so far: who says more lies, and would leave us a number to which nothing can be
 * added.
 */
export const COUNTER_MAX: number = 2 ** 48

const hash = fixed(DIGEST_BYTES)
const inc = varint

/** The kind of a member: where it runs, or `guest` for one that never serves, wherever it runs. */
export const MEMBER_KINDS = ['node', 'browser', 'guest'] as const
/** See MEMBER_KINDS. */
export type MemberKind = (typeof MEMBER_KINDS)[number]

/** One member in bytes. */
export const memberLayout = record({
  inc,
  player: varint,
  name: text(NAME_MAX),
  kind: word(MEMBER_KINDS),
  addresses: list(text(ADDRESS_MAX), ADDRESSES_MAX),
  /** The X25519 key of its links, of this incarnation alone. */
  link: fixed(KEY_BYTES),
  registerHash: hash,
  /** The Ed25519 key that this player signs by; the same over all incarnations. */
  key: fixed(KEY_BYTES),
  /** What the hub lets it do; see RIGHTS. */
  rights: u8,
})
/** One member as everybody sees it. `player` is the number of its first incarnation. */
export type Member = ValueOf<typeof memberLayout>

const change = record({ part: u8, bytes: blob(BODY_MAX) })
/** One change of the durable state of a part. */
export type Change = ValueOf<typeof change>

/** Why a member left, in bytes. */
export const leaveReasonLayout = word([
  ...(['left', 'timeout', 'failed', 'returned', 'replaced'] as const),
  ...(['kicked', 'banned'] as const),
])
/** Why a member is no longer here. */
export type LeaveReason = ValueOf<typeof leaveReasonLayout>

/** Most players that are remembered as put out. */
export const EXPELLED_MAX = 32
/** Longest reason for putting somebody out, in bytes. */
export const EXPULSION_WHY_MAX = 200
/** Most votes of one player that stand at once; an earlier one is withdrawn for a further. */
export const VOTES_PER_PLAYER = 2
/** Most votes of all. */
export const VOTES_MAX: number = MEMBERS_MAX * VOTES_PER_PLAYER

/** A player who was put out, in bytes. */
export const expulsionLayout = record({
  player: varint,
  /** The incarnation that was put out; 0 if the player was not here. */
  inc,
  name: text(NAME_MAX),
  key: fixed(KEY_BYTES),
  /** Whether the player stays out for as long as the session lasts. */
  ban: flag,
  why: text(EXPULSION_WHY_MAX),
})
/** A player who was put out. */
export type Expulsion = ValueOf<typeof expulsionLayout>

/** One player wants another to be put out, in bytes. */
export const voteLayout = record({ by: varint, against: varint })
/** One player wants another to be put out. */
export type Vote = ValueOf<typeof voteLayout>

/** One entry of the log. */
export const deltaLayout = message({
  /** `settled`: the player knows the outcomes of their operations up to that one. */
  add: [1, record({ member: memberLayout, settled: varint })],
  remove: [2, record({ inc, why: leaveReasonLayout })],
  /** The last candidate for backup: the next is sought behind it. */
  pointer: [3, record({ inc })],
  forget: [4, record({ player: varint })],
  operation: [
    5,
    record({
      player: varint,
      seq: varint,
      outcome: blob(BODY_MAX),
      changes: list(change, CHANGES_MAX),
    }),
  ],
  /** A player was put out; whoever serves removes them. */
  expel: [6, expulsionLayout],
  /** A player who was put out may come in again. */
  pardon: [7, record({ player: varint })],
  /** `stands`: that vote counts from now on, or no more. */
  vote: [8, record({ by: varint, against: varint, stands: flag })],
  /** In a kept room alone, and in no log: what changed of parts besides what the log has. */
  loose: [9, record({ changes: list(change, CHANGES_MAX) })],
})
/** One entry of the log: the result of a durable change. */
export type Delta = ValueOf<typeof deltaLayout>

/** Most leaders that a lineage names, the last ones. */
export const LINEAGE_MAX = 32
/** Since when a member led, and from what it went on, in bytes. */
export const startLayout = record({
  epoch: varint,
  /** The length of the log that it went on from. */
  index: varint,
  /** Drawn by the member for this. */
  mark: hash,
  /** Of its predecessor, if it went on from what that kept; else 0. */
  sheets: varint,
  /** Whoever runs the hub put that there. */
  imported: flag,
})
/** Since when a member led, and from what it went on. */
export type LeaderStart = ValueOf<typeof startLayout>
/** All who led, in bytes, oldest first. */
export const lineageLayout = list(startLayout, LINEAGE_MAX)

/** What is on the disk of the hub, for certain. */
export interface PersistedPoint {
  readonly session: string
  /** Of its leader, and since which epoch that led. */
  readonly mark: Uint8Array
  readonly epoch: number
  /** The length of the log with the last operation. */
  readonly index: number
  /** How many sheets its leader had written. */
  readonly sheets: number
}

/** What a room lacks that was on the disk of the hub. */
export interface Loss {
  /** So many entries of the log at least: of operations, and who came and went. */
  readonly entries: number
  /** An older copy was put there by who runs the hub, and said so. */
  readonly imported: boolean
}

/** The durable state of all parts, in bytes. */
export const partsLayout = list(record({ part: u8, bytes: blob(2 ** 26) }), 255)

/** The outcome of one operation, in bytes. */
export const outcomeLayout = record({ seq: varint, outcome: blob(BODY_MAX) })
const player = record({
  player: varint,
  key: fixed(KEY_BYTES),
  lastSeq: varint,
  outcomes: list(outcomeLayout, OUTCOMES_MAX),
})
/** A player across incarnations: the key that it signs by, and the outcomes of operations. */
export type Player = ValueOf<typeof player>

/** The whole durable state, as a new backup gets it. */
export const snapshotLayout = record({
  mv: varint,
  nextInc: varint,
  pointer: inc,
  members: list(memberLayout, MEMBERS_MAX),
  players: list(player, PLAYERS_KEPT_MAX),
  cv: varint,
  expelled: list(expulsionLayout, EXPELLED_MAX),
  votes: list(voteLayout, VOTES_MAX),
  parts: partsLayout,
})
