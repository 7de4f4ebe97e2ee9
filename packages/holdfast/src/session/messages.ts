/**
 * The messages between members of one session; the entries of the log between primary and backup
 * are in replication/layouts.ts. TAKE_OVER is a `view` with a larger epoch; BECOME_BACKUP is the
 * first `snapshot`.
 */

import { REASON_MAX, SESSION_ID_MAX, TERMS_MAX, topology } from '../hub-protocol/messages.ts'
import { MEMBERS_MAX, NAME_MAX } from '../machine.ts'
import {
  ADDRESSES_MAX,
  BODY_MAX,
  EXPELLED_MAX,
  EXPULSION_WHY_MAX,
  expulsionLayout,
  leaveReasonLayout,
  MEMBER_KINDS,
  lineageLayout,
  memberLayout,
  outcomeLayout,
  partsLayout,
  PLAYERS_KEPT_MAX,
  voteLayout,
  VOTES_MAX,
} from '../replication/layouts.ts'
import { TYPES_MAX } from '../wire/fields/difference.ts'
import { ADDRESS_MAX, KEY_BYTES, SIGNATURE_BYTES } from '../ports.ts'
import { DIGEST_BYTES } from '../wire/digest.ts'
import { only, type Versions } from '../wire/versions.ts'
import {
  blob,
  encode,
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

/** Version of all messages between members. */
export const SESSION_VERSION = 5
export const SESSION_VERSIONS: Versions = only(SESSION_VERSION)
/** Largest news of an operation, in bytes. */
export const NEWS_MAX: number = 60 * 1024
/** Largest piece of a snapshot in one message, in bytes. */
export const SNAPSHOT_PIECE_MAX: number = 32 * 1024
/** Most pieces of one snapshot. */
export const SNAPSHOT_PIECES_MAX = 2048

const hash = fixed(DIGEST_BYTES)
const epoch = varint
const inc = varint

/** Bans and votes; `cv` rises by one with each change of them. */
const moderationFields = {
  cv: varint,
  banned: list(expulsionLayout, EXPELLED_MAX),
  votes: list(voteLayout, VOTES_MAX),
}

/** The founder's settings as the members know them; the hub may report others. */
export const settingsLayout = record({ terms: text(TERMS_MAX), topology, playersMax: varint })
export type Settings = ValueOf<typeof settingsLayout>

const view = record({
  epoch,
  /** Rises by one with each change of the members. */
  mv: varint,
  primary: inc,
  backup: inc,
  members: list(memberLayout, MEMBERS_MAX),
  /** The hub's signature that the primary leads since that epoch; null if it has none. */
  grant: maybe(fixed(SIGNATURE_BYTES)),
  ...moderationFields,
  settings: settingsLayout,
  /** Proof that the primary has the key of the room; null if it has none. */
  proof: maybe(hash),
  lineage: lineageLayout,
})
export type ModerationView = Pick<View, 'cv' | 'banned' | 'votes'>
/** The members of a session, its primary and its backup. */
export type View = ValueOf<typeof view>

/** The last operation of each player whose effects the receiver has. */
const seqs = list(record({ player: varint, seq: varint }), PLAYERS_KEPT_MAX)
/** From member to member, on the reliable stream of their link. */
export const peerLayout = message({
  view: [1, record({ view })],
  change: [
    2,
    record({ epoch, mv: varint, add: maybe(memberLayout), remove: inc, why: leaveReasonLayout }),
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
  /** The register names you as backup since this epoch: acknowledge the length of your log. */
  confirm: [5, record({ epoch })],
  /** I hold so many entries of that epoch's log (also the answer to snapshot). */
  acknowledge: [6, record({ epoch, length: varint })],
  operation: [7, record({ seq: varint, part: u8, body: blob(BODY_MAX) })],
  done: [8, outcomeLayout],
  leave: [9, record({})],
  resync: [10, record({})],
  /** The register names you as primary since this epoch: I handed over. */
  stepDown: [11, record({ epoch, grant: maybe(fixed(SIGNATURE_BYTES)) })],
  /**
   * An operation changed a part: entry `index` of the log, made by operation `seq` of that player.
   */
  news: [
    12,
    record({ index: varint, player: varint, seq: varint, part: u8, bytes: blob(NEWS_MAX) }),
  ],
  /** The snapshot for you is complete: its state is that of this index. */
  standing: [13, record({ index: varint, seqs })],
  /** Asks for a promise not to recover the session. `at` is our clock, which the answer returns. */
  askPromise: [14, record({ at: varint })],
  promise: [15, record({ at: varint })],
  /** I recover the session: how much was published to you? With `whole`: send all of it. */
  inquire: [16, record({ epoch, whole: flag })],
  /** I have the log up to `index`, and know the outcomes of our own operations up to `settled`. */
  witness: [17, record({ epoch, index: varint, settled: varint, ...moderationFields })],
  /** A chunk of the whole state that was published to us. */
  testimony: [18, record({ epoch, piece: varint, of: varint, bytes: blob(SNAPSHOT_PIECE_MAX) })],
  /** The session continues with the copy of `witness`; `silent` members did not answer. */
  recovered: [
    19,
    record({
      epoch,
      witness: inc,
      gone: list(record({ player: varint, name: text(NAME_MAX) }), MEMBERS_MAX),
      silent: varint,
    }),
  ],
  /** Send me the room as a file, from that piece on: so many pieces at a time (room-export.ts). */
  askRoom: [20, record({ request: varint, piece: varint })],
  /** A chunk of that file; or, without any, why not. */
  room: [
    21,
    record({
      request: varint,
      piece: varint,
      of: varint,
      bytes: blob(SNAPSHOT_PIECE_MAX),
      code: word(['ok', 'forbidden', 'not-ready', 'full']),
      why: text(REASON_MAX),
    }),
  ],
  /** The hub has on disk what the primary wrote: see lineage.ts. */
  persisted: [22, record({ epoch, index: varint, segments: varint })],
})
export type Recovered = PeerMessageOf<'recovered'>

/** The durable state that was published to a member. */
export const testimonyLayout = record({
  index: varint,
  seqs,
  parts: partsLayout,
  /** Absent players that may return. */
  former: list(record({ player: varint, key: fixed(KEY_BYTES) }), PLAYERS_KEPT_MAX),
})

export type PeerMessage = ValueOf<typeof peerLayout>
export type PeerMessageOf<Kind extends PeerMessage['kind']> = PeerMessage & { kind: Kind }

const wanted = {
  /** The versions that the sender speaks, in the form of wire/versions.ts. */
  version: varint,
  /** Fingerprint of the game's types; two builds that differ do not fit. */
  schema: u32,
  name: text(NAME_MAX),
  kind: word(MEMBER_KINDS),
  /** It only watches, even if the hub permits more. */
  watches: flag,
  addresses: list(text(ADDRESS_MAX), ADDRESSES_MAX),
  /** The X25519 key of the links to be. */
  link: fixed(KEY_BYTES),
  registerHash: hash,
  /** The Ed25519 key of the player. */
  key: fixed(KEY_BYTES),
  /** The player's rights, from the hub. */
  rights: u8,
  /** The hub's signature of `admissionOf`. */
  admission: fixed(SIGNATURE_BYTES),
  /**
   * `inc` is the incarnation that returns, 0 for a new process with the player's token; `settled`
   * is its last operation of which it and all before have known outcomes.
   */
  resume: maybe(record({ player: varint, inc, settled: varint })),
}
/**
 * From a process that asks to become a member, to the primary, in its handshake. The signature is
 * of `claimOf`.
 */
export const joinLayout = record({ ...wanted, signature: fixed(SIGNATURE_BYTES) })
export type Join = ValueOf<typeof joinLayout>

const CLAIM_LABEL = 'holdfast join'
const claimLayout = record({
  label: text(CLAIM_LABEL.length),
  session: text(SESSION_ID_MAX),
  ...wanted,
})

/** The bytes of a JOIN that its player signs, with the id of the session. */
export function claimOf(session: string, join: Omit<Join, 'signature'>): Uint8Array {
  return encode(claimLayout, { ...join, label: CLAIM_LABEL, session })
}

/** The part number of moderation operations, which the session handles itself. */
export const MODERATION_PART = 0
export const moderationLayout = message({
  /** Expels a player; with `ban` for as long as the session lasts. */
  expel: [1, record({ player: varint, ban: flag, why: text(EXPULSION_WHY_MAX) })],
  pardon: [2, record({ player: varint })],
  /** Votes to expel a player, or withdraws the vote. */
  vote: [3, record({ player: varint, stands: flag })],
})
export type ModerationRequest = ValueOf<typeof moderationLayout>
/** Layout of its outcome: done, or why not. */
export const moderationOutcome = record({ done: flag, why: text(REASON_MAX) })

/** The primary's answer to a join, on the link that the handshake made. */
export const joinedLayout = message({
  joined: [1, record({ inc, player: varint, lastSeq: varint, view })],
  denied: [
    2,
    record({
      code: word([
        ...(['version', 'schema', 'full', 'notPrimary', 'elsewhere'] as const),
        ...(['kicked', 'banned'] as const),
      ]),
      why: text(REASON_MAX),
    }),
  ],
  /** The session's types, for a process with others, which reports which of them differ. */
  unfit: [3, record({ types: text(TYPES_MAX) })],
})
export type Joined = ValueOf<typeof joinedLayout>
