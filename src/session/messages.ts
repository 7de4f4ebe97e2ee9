/**
 * What members of one session say to each other; what the log between primary and backup holds
 * is in replication/layouts.ts. TAKE_OVER is a `view` with a larger epoch; BECOME_BACKUP is the
 * first `snapshot`.
 */

import { REASON_MAX } from '../directory/messages.ts'
import { MEMBERS_MAX, NAME_MAX } from '../machine.ts'
import {
  ADDRESS_MAX,
  ADDRESSES_MAX,
  BODY_MAX,
  goneLayout,
  MEMBER_KINDS,
  memberLayout,
  outcomeLayout,
  partsLayout,
  PLAYERS_KEPT_MAX,
} from '../replication/layouts.ts'
import { TYPES_MAX } from '../wire/difference.ts'
import { DIGEST_BYTES } from '../wire/digest.ts'
import {
  blob,
  fixed,
  flag,
  list,
  maybe,
  message,
  record,
  text,
  u32,
  u8,
  type ValueOf,
  varint,
  word,
} from '../wire/layout.ts'

/** Version of all that members say to each other. */
export const SESSION_VERSION = 2
/** Largest news of an operation, in bytes. */
export const NEWS_MAX: number = 60 * 1024
/** Largest piece of a snapshot in one message, in bytes. */
export const SNAPSHOT_PIECE_MAX: number = 32 * 1024
/** Most pieces of one snapshot. */
export const SNAPSHOT_PIECES_MAX = 2048

const hash = fixed(DIGEST_BYTES)
const epoch = varint
const inc = varint

const view = record({
  epoch,
  /** Rises by one with each change of the members. */
  mv: varint,
  primary: inc,
  backup: inc,
  members: list(memberLayout, MEMBERS_MAX),
})
/** Who is here and who serves. */
export type View = ValueOf<typeof view>

/** Up to which operation of each player one is. */
const seqs = list(record({ player: varint, seq: varint }), PLAYERS_KEPT_MAX)
/** From member to member, on the reliable stream of their link. */
export const peerLayout = message({
  view: [1, record({ view })],
  change: [
    2,
    record({ epoch, mv: varint, add: maybe(memberLayout), remove: inc, why: goneLayout }),
  ],
  snapshot: [
    3,
    record({
      epoch,
      length: varint,
      piece: varint,
      of: varint,
      bytes: blob(SNAPSHOT_PIECE_MAX),
    }),
  ],
  replicate: [4, record({ epoch, index: varint, delta: blob(2 ** 20) })],
  /** The register names you since this epoch: say how long your log is. */
  confirm: [5, record({ epoch })],
  /** I hold so many entries of that epoch's log (also the answer to snapshot). */
  acknowledge: [6, record({ epoch, length: varint })],
  operation: [7, record({ seq: varint, part: u8, body: blob(BODY_MAX) })],
  done: [8, outcomeLayout],
  leave: [9, record({})],
  resync: [10, record({})],
  /** The register names you the primary since this epoch: I handed over. */
  stepDown: [11, record({ epoch })],
  /** An operation changed a part: entry `index` of the log, by that operation of that player. */
  news: [
    12,
    record({ index: varint, player: varint, seq: varint, part: u8, bytes: blob(NEWS_MAX) }),
  ],
  /** You were brought up to date as far as this. */
  standing: [13, record({ index: varint, seqs })],
  /** Do you promise not to recover the session for a while? `at` is ours and comes back. */
  askPromise: [14, record({ at: varint })],
  promise: [15, record({ at: varint })],
  /** I recover the session: how much were you told (or all of it)? */
  inquire: [16, record({ epoch, whole: flag })],
  /** So far in the log, and of our own operations we know the outcome up to this one. */
  witness: [17, record({ epoch, index: varint, settled: varint })],
  /** A piece of all that we were told. */
  testimony: [18, record({ epoch, piece: varint, of: varint, bytes: blob(SNAPSHOT_PIECE_MAX) })],
  /** The session goes on with the copy of `witness`; so many did not answer. */
  recovered: [
    19,
    record({
      epoch,
      witness: inc,
      gone: list(record({ player: varint, name: text(NAME_MAX) }), MEMBERS_MAX),
      silent: varint,
    }),
  ],
})
/** What all hear after a recovery. */
export type Recovered = PeerMessage & { kind: 'recovered' }

/** All that a member was told of the durable state. */
export const testimonyLayout = record({
  index: varint,
  seqs,
  parts: partsLayout,
  /** Players who are not here and may come back. */
  former: list(record({ player: varint, resumeHash: hash }), PLAYERS_KEPT_MAX),
})

/** From member to member. */
export type PeerMessage = ValueOf<typeof peerLayout>

/** From somebody who wants to be a member to the primary, through the hub. */
export const joinLayout = record({
  version: varint,
  /** Fingerprint of the game's types; two builds that differ do not fit. */
  schema: u32,
  name: text(NAME_MAX),
  kind: word(MEMBER_KINDS),
  addresses: list(text(ADDRESS_MAX), ADDRESSES_MAX),
  linkHash: hash,
  registerHash: hash,
  resumeHash: hash,
  /**
   * `inc` is who comes back, 0 for a new process that holds the player's token; `settled` the
   * last of its operations whose outcome it knows, all before included.
   */
  resume: maybe(record({ player: varint, proof: hash, inc, settled: varint })),
})
/** A wish to become a member. */
export type Join = ValueOf<typeof joinLayout>

/** The primary's answer to a join, through the hub. */
export const joinedLayout = message({
  joined: [1, record({ inc, player: varint, lastSeq: varint, view })],
  denied: [
    2,
    record({
      code: word(['version', 'schema', 'full', 'notPrimary', 'elsewhere']),
      why: text(REASON_MAX),
    }),
  ],
  /** Its types, for who has others: they say which differ. */
  unfit: [3, record({ types: text(TYPES_MAX) })],
})
/** The primary's answer to a join. */
export type Joined = ValueOf<typeof joinedLayout>
