/**
 * The messages between members and hubs, on the ordered stream between them.
 *
 * The names follow Dueling Teapots where it has one: GET_ALL_SERVERS is `list`, answered by
 * one `entry` a session and `last` (LAST_MESSAGE), GET_THIS_SERVER `get`, ADD_SERVER `add`,
 * CHANGE_SERVER `change`, ARE_YOU_ALIVE `areYouAlive`, YES_I_AM `yes`.
 */

import { INC_MAX, MEMBERS_MAX, type Millis, NAME_MAX } from '../machine.ts'
import { KEY_BYTES, SIGNATURE_BYTES } from '../ports.ts'
import { DIGEST_BYTES } from '../wire/digest.ts'
import { ICE_URL_MAX } from '../wire/text/ice-url.ts'
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

/** Version of all messages in this file. */
export const HUB_VERSION = 5
/** The versions that this build speaks. */
export const HUB_VERSIONS: Versions = only(HUB_VERSION)
/** Epochs stay below this, so that (epoch, count) fits one number elsewhere. */
export const EPOCH_MAX: number = 2 ** 21 - 1
/** Longest id of a session, in bytes. */
export const SESSION_ID_MAX = 32
/** Longest terms of a session, in bytes. */
export const TERMS_MAX = 256
/** Longest reason, in bytes. */
export const REASON_MAX = 200
/** Longest cursor of a list, in bytes. */
export const CURSOR_MAX = 24
/** Largest piece of a segment in one message, in bytes. */
export const SEGMENT_PIECE_MAX: number = 32 * 1024
/** Most pieces of one segment. */
export const SEGMENT_PIECES_MAX = 32
/** Longest ticket, in bytes. */
export const TICKET_MAX = 2_048
/** Most STUN and TURN servers that a hub names. */
export const ICE_URLS_MAX = 4
/** Longest name and longest password of their credentials, in bytes. */
export const ICE_CREDENTIAL_MAX = 64
/** Prefix of the reason with which a hub refuses a process that it does not admit. */
export const NOT_ADMITTED = 'not admitted: '
/** Prefix of the reason with which a hub refuses a game that it does not have. */
export const NO_GAME = 'no game '

/** Prefix of the reason with which a hub refuses to open a room that may still be playing. */
export const LATER = 'its members may still play: '

/** Suffix of a reason why a room is shut for a while. */
export function opensAgain(ms: Millis): string {
  return `it opens again in ${Math.ceil(ms / 1_000)} s`
}

/** When a room opens again, in ms, by the suffix of a reason; null without one. */
export function opensIn(why: string): Millis | null {
  const [, seconds] = /: it opens again in (\d{1,9}) s$/.exec(why) ?? []
  return seconds === undefined ? null : Number(seconds) * 1_000
}

/** The reason if a segment of a stored room is missing or malformed. */
export const UNREADABLE = 'what is kept of this room cannot be read'
/** Largest session time in a segment, in ms: some hundred thousand years. */
export const TIME_MAX: number = 2 ** 52
/** The reason if a stored room has used up its member numbers. */
export const SPENT = `${INC_MAX} members came and went in this room: found another`
/** The reason that makes a primary write a new snapshot. */
export const NOT_NEXT = 'it does not follow on what is kept'

export const hash = fixed(DIGEST_BYTES)
const session = text(SESSION_ID_MAX)
const name = text(NAME_MAX)
const request = varint
const cursor = text(CURSOR_MAX)

const register = record({ epoch: varint, primary: varint, backup: varint })
/** Primary and backup (0: nobody) of a session since that epoch. */
export type Register = ValueOf<typeof register>

const linkKey = fixed(KEY_BYTES)
const leading = record({ link: linkKey, grant: fixed(SIGNATURE_BYTES) })
/** The link key of the registered primary, as it was listed, and the hub's signature to it. */
export type Leader = ValueOf<typeof leading>
/** Null if the key is not listed. */
const leader = maybe(leading)

const admission = record({ rights: u8, signature: fixed(SIGNATURE_BYTES) })
/** The rights of a process in a session, signed by the hub. */
export type Admission = ValueOf<typeof admission>

export const listed = record({ inc: varint, player: varint, hash, link: linkKey, key: linkKey })
/** A member that the primary vouches for: it may attach to the hub, and become backup. */
export type Listed = ValueOf<typeof listed>

const why = word(['add', 'drop', 'takeover', 'handover', 'recover', 'end'])
/** Why the register changes. */
export type ChangeReason = ValueOf<typeof why>

export const acks = word(['free', 'strict', 'relayed'])
/**
 * When the primary of a stored room acknowledges an operation. `free`: without waiting for the hub;
 * `strict`: once the hub has it on disk; `relayed`: once the backup has it, which the primary
 * reaches only through the hub.
 */
export type AckPolicy = ValueOf<typeof acks>

export const topology = word(['star', 'mesh'])
/** The links of a session: each member with primary and backup, or with all others (B8, B9). */
export type Topology = ValueOf<typeof topology>

/** The fields of a session's entry, but for its terms. */
export const place = {
  session,
  game: name,
  room: name,
  register,
  players: varint,
  playersMax: varint,
  standing: word(['open', 'full', 'unreachable']),
  topology,
}
/** The founder's settings for all members: `name=value`, joined by `;`. */
const terms = text(TERMS_MAX)
export const entry = record({ ...place, terms })
/** One session as the lobby lists it. */
export type Entry = ValueOf<typeof entry>

const CERTIFICATE_LABEL = 'holdfast grant'
const leaderCertificate = record({
  label: text(CERTIFICATE_LABEL.length),
  session,
  epoch: varint,
  primary: varint,
  link: linkKey,
})

/** The bytes of a leader certificate: the member with this link key leads since that epoch. */
export function leaderCertificateOf(
  claims: Omit<ValueOf<typeof leaderCertificate>, 'label'>,
): Uint8Array {
  return encode(leaderCertificate, { label: CERTIFICATE_LABEL, ...claims })
}

const ADMISSION_LABEL = 'holdfast admission'
const admissionClaim = record({
  label: text(ADMISSION_LABEL.length),
  session,
  link: linkKey,
  key: linkKey,
  rights: u8,
})

/** The bytes of an admission: the rights of the player with that key, on links of that key. */
export function admissionOf(claims: Omit<ValueOf<typeof admissionClaim>, 'label'>): Uint8Array {
  return encode(admissionClaim, { label: ADMISSION_LABEL, ...claims })
}

/** From a member to the hub. `request` comes back in the answer. */
export const toHub = message({
  /** The versions that the sender speaks, in the form of wire/versions.ts. */
  hello: [1, record({ version: varint })],
  /** `after`: the cursor at which the page before ended, or empty. */
  list: [2, record({ request, game: name, after: cursor })],
  get: [3, record({ request, session })],
  /** Creates the session unless one of this game and room exists and answers. */
  add: [
    4,
    record({
      request,
      game: name,
      room: name,
      playersMax: varint,
      recovers: flag,
      topology,
      terms,
      hash,
      link: linkKey,
      /** The Ed25519 key of the player. */
      key: linkKey,
      /** Only members that were admitted as hosts serve. */
      hosts: flag,
      ticket: text(TICKET_MAX),
      /** Replaces the stored room: it is stored under another name, and a new room founded. */
      fresh: flag,
    }),
  ],
  /** Compare-and-set: done if `expect` is the epoch, which then rises by one. */
  change: [
    5,
    record({
      request,
      session,
      inc: varint,
      proof: hash,
      expect: varint,
      primary: varint,
      backup: varint,
      why,
    }),
  ],
  /** This stream speaks for that member from now on: relay, signals, news. */
  attach: [6, record({ request, session, inc: varint, proof: hash })],
  /** The primary's list of members, after each change of the view; how many players take part. */
  members: [7, record({ session, members: list(listed, MEMBERS_MAX), players: varint })],
  yes: [8, record({ session, epoch: varint, nonce: u32, players: varint })],
  ping: [11, record({ count: varint })],
  /** Invites the bearers of the secret with that digest into this stream's session. */
  invite: [13, record({ request, digest: hash, uses: varint, rights: u8 })],
  /**
   * A piece of a segment to store: a snapshot, or entries of the log from `from` on, which bring
   * the log to `index` entries. No member has the number `next` or a larger one. From now on the
   * primary acknowledges by `acks`, or more strictly.
   */
  keep: [
    14,
    record({
      ...{ session, number: varint, from: maybe(varint), index: varint },
      ...{ time: varint, next: varint, acks },
      ...{ piece: varint, of: varint, bytes: blob(SEGMENT_PIECE_MAX) },
    }),
  ],
  /**
   * The member of this stream is gone for good: it serves no more. `epoch`: that in which it led
   * until now, or 0; the segments before this message then hold its whole log of `index` entries.
   */
  gone: [15, record({ session, epoch: varint, index: varint })],
  /** Asks for credentials that last longer. Only to a hub that sent `ice` on this stream. */
  ice: [16, record({ session })],
  /** The primary of that epoch, at once, in answer to `challenge`. */
  alive: [12, record({ session, epoch: varint, nonce: u32 })],
})
export type ToHub = ValueOf<typeof toHub>

/**
 * A stored room that is opened: the member number of its founder, the session time, the number of
 * its segments, and whether the operator of the hub imported them.
 */
const opened = record({ inc: varint, time: varint, segments: varint, imported: flag })

export const fromHub = message({
  /**
   * The hub's versions, whatever the member speaks; `boot` differs after each start of the hub.
   * Builds of all versions read it.
   */
  welcome: [1, record({ version: varint, boot: u32 })],
  entry: [2, record({ request, entry })],
  /** `next` is the cursor of the next page; empty at the end. */
  last: [3, record({ request, next: cursor })],
  /** `opened`: a stored room is opened, and its segments follow. */
  added: [4, record({ request, created: flag, entry, leader, admission, opened: maybe(opened) })],
  /** The answer to get and change (`request` not 0), or a changed register (`request` 0). */
  register: [5, record({ request, session, ok: flag, register, leader })],
  attached: [6, record({ request, session, register, leader, present: list(varint, MEMBERS_MAX) })],
  /** A member's stream came or went: PEER_GONE. */
  present: [7, record({ session, inc: varint, here: flag })],
  /** `heard` is the nonce of the last YES_I_AM that arrived; 0 if none has. */
  areYouAlive: [8, record({ session, nonce: u32, heard: u32 })],
  pong: [11, record({ count: varint })],
  refused: [12, record({ request, why: text(REASON_MAX) })],
  /** To the primary: its backup asks for its role. The leader of that epoch answers `alive`. */
  challenge: [13, record({ session, epoch: varint, nonce: u32 })],
  /** To the member that asked for a takeover: the primary lives, and the register stays. */
  alive: [14, record({ request, session })],
  /** The answer to `invite`, once it is on disk; `why` is empty unless it was refused. */
  invited: [16, record({ request, why: text(REASON_MAX) })],
  /** The disk has the segment `number`, and so the log up to `index`; else the reason in `why`. */
  kept: [17, record({ session, number: varint, index: varint, acks, why: text(REASON_MAX) })],
  /**
   * To a member that recovers a session, after the register that names it: this many segments of
   * the former primary follow; 0 if the disk has none of that primary.
   */
  stored: [19, record({ session, segments: varint })],
  /** A piece of a segment, to a member that opens a room or recovers its session. */
  segment: [18, record({ session, piece: varint, of: varint, bytes: blob(SEGMENT_PIECE_MAX) })],
  /**
   * To a member, behind `attached` and in answer to `ice`, from a hub that has such servers: STUN
   * and TURN, with credentials for the latter that end after `lasts` ms. Builds that do not know
   * this message drop it.
   */
  ice: [
    20,
    record({
      session,
      urls: list(text(ICE_URL_MAX), ICE_URLS_MAX),
      username: text(ICE_CREDENTIAL_MAX),
      credential: text(ICE_CREDENTIAL_MAX),
      lasts: varint,
    }),
  ],
  /**
   * Whether the hub's store answers: while it does not, nobody founds a room, opens a stored one or
   * takes over. Sent at each change, and behind `signs` if it does not. Builds that do not know
   * this message drop it.
   */
  store: [21, record({ answers: flag })],
  /** Behind `welcome`, to members of this version: the key by which the hub signs. */
  signs: [15, record({ key: linkKey })],
})
export type FromHub = ValueOf<typeof fromHub>
/** A message of one kind. */
export type FromHubOf<Kind extends FromHub['kind']> = FromHub & { kind: Kind }

/** Longest time that a room is stored after its last member, in minutes: a year. */
export const KEEP_MINUTES_MAX: number = 365 * 24 * 60
/**
 * The room of a `free` primary may be opened again after this long without its YES_I_AM. With
 * promises its members continue for less (session/persistence.ts).
 */
export const SILENT_MS: Millis = 60_000
/** Most segments of a room; then its primary writes a new snapshot. */
export const SEGMENTS_MAX = 1_024

/** The name under which a replaced room lives on, and may be opened. */
export function asideOf({ room, session }: Pick<Entry, 'room' | 'session'>): string {
  const mark = `~${session}`
  const bytes = new TextEncoder().encode(room).subarray(0, NAME_MAX - mark.length)
  // Drops a character that was cut.
  return new TextDecoder().decode(bytes).replace(/\uFFFD$/, '') + mark
}

/** The session that a name of `asideOf` is for; null if it is no such name. */
export function asideSession(room: string): string | null {
  return /~([0-9a-z-]+)$/.exec(room)?.[1] ?? null
}
