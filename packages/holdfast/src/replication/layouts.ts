/** Encodings of the durable state and of the log, which primary and backup exchange. */

import { MEMBERS_MAX, NAME_MAX } from '../machine.ts'
import { ADDRESS_MAX, KEY_BYTES } from '../ports.ts'
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
/** Largest body of an operation, an outcome or a change of a part, in bytes. */
export const BODY_MAX: number = 16 * 1024
/** Most changes that one operation makes. */
export const CHANGES_MAX = 256
/** Most players that are kept, including those who may come back. */
export const PLAYERS_KEPT_MAX: number = MEMBERS_MAX * 4
/** Outcomes kept for each player, and most operations a client has under way. */
export const OUTCOMES_MAX = 64

/**
 * Largest value of a counter: versions, indexes of the log, numbers of operations. Only an attacker
 * sends a larger one, which could not be incremented.
 */
export const COUNTER_MAX: number = 2 ** 48

const hash = fixed(DIGEST_BYTES)
const inc = varint

/** The kind of a member: where it runs, or `guest` for one that never serves, wherever it runs. */
export const MEMBER_KINDS = ['node', 'browser', 'guest'] as const
export type MemberKind = (typeof MEMBER_KINDS)[number]

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
  /** The rights that the hub grants; see RIGHTS. */
  rights: u8,
})
/** A member as published. `player` is the number of its first incarnation. */
export type Member = ValueOf<typeof memberLayout>

const change = record({ part: u8, bytes: blob(BODY_MAX) })
/** One change of the durable state of a part. */
export type Change = ValueOf<typeof change>

export const leaveReasonLayout = word([
  ...(['left', 'timeout', 'failed', 'returned', 'replaced'] as const),
  ...(['kicked', 'banned'] as const),
])
/** Why a member left. */
export type LeaveReason = ValueOf<typeof leaveReasonLayout>

/** Most expulsions that are remembered. */
export const EXPELLED_MAX = 32
/** Longest reason for an expulsion, in bytes. */
export const EXPULSION_WHY_MAX = 200
/** Most votes of one player; a further vote replaces the oldest. */
export const VOTES_PER_PLAYER = 2
/** Most votes of all. */
export const VOTES_MAX: number = MEMBERS_MAX * VOTES_PER_PLAYER

export const expulsionLayout = record({
  player: varint,
  /** The expelled incarnation; 0 if the player was absent. */
  inc,
  name: text(NAME_MAX),
  key: fixed(KEY_BYTES),
  /** Whether it is a ban, for as long as the session lasts. */
  ban: flag,
  why: text(EXPULSION_WHY_MAX),
})
export type Expulsion = ValueOf<typeof expulsionLayout>

export const voteLayout = record({ by: varint, against: varint })
export type Vote = ValueOf<typeof voteLayout>

export const deltaLayout = message({
  /** `settled`: the last operation of the player of which it and all before have outcomes. */
  add: [1, record({ member: memberLayout, settled: varint })],
  remove: [2, record({ inc, why: leaveReasonLayout })],
  /** The last candidate for backup. */
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
  expel: [6, expulsionLayout],
  pardon: [7, record({ player: varint })],
  /** Adds (`stands`) or withdraws a vote. */
  vote: [8, record({ by: varint, against: varint, stands: flag })],
  /** Only in segments of stored rooms: changes of parts that are in no log (`unlogged`). */
  loose: [9, record({ changes: list(change, CHANGES_MAX) })],
})
/** One entry of the log: the result of a durable change. */
export type Delta = ValueOf<typeof deltaLayout>

/** Most leaders that a lineage names, the last ones. */
export const LINEAGE_MAX = 32
export const startLayout = record({
  epoch: varint,
  /** The length of the log that it continued. */
  index: varint,
  mark: hash,
  /** Segments of its predecessor, if it continued these; else 0. */
  segments: varint,
  /** The operator of the hub imported the room. */
  imported: flag,
})
/** When a member began to lead, and what it continued. */
export type LeaderStart = ValueOf<typeof startLayout>
/** Layout of a lineage: all leaders, oldest first. */
export const lineageLayout = list(startLayout, LINEAGE_MAX)

/** A point of the log that is known to be on the hub's disk. */
export interface PersistedPoint {
  readonly session: string
  /** The mark of its leader, and the first epoch of that leader. */
  readonly mark: Uint8Array
  readonly epoch: number
  /** The length of the log up to its last operation. */
  readonly index: number
  /** The number of segments that its leader had written. */
  readonly segments: number
}

/** The loss of a room, measured by a persisted point. */
export interface Loss {
  /** At least this many entries of the log are missing. */
  readonly entries: number
  /** The operator of the hub imported an older copy. */
  readonly imported: boolean
}

/** The durable state of all parts, in bytes. */
export const partsLayout = list(record({ part: u8, bytes: blob(2 ** 26) }), 255)

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
