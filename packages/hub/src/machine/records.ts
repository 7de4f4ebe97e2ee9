/**
 * The session record on disk, in its current and earlier forms. No member of a session stored
 * before link keys existed speaks this version, so missing keys do no harm: the session is listed
 * until it is forgotten.
 */

import { MEMBERS_MAX, mayLead, type PeerId, RIGHTS } from '../../../holdfast/src/machine.ts'
import { KEY_BYTES } from '../../../holdfast/src/ports.ts'
import {
  decode,
  encode,
  flag,
  list,
  record,
  u8,
  type ValueOf,
  varint,
  word,
} from '../../../holdfast/src/wire/layout.ts'
import { entrant, type Entrant, ENTRANTS_MAX } from '../../../holdfast/src/hub-protocol/tickets.ts'
import {
  type Entry,
  entry,
  hash,
  type Listed,
  listed,
  place,
  type ToHub,
} from '../../../holdfast/src/hub-protocol/messages.ts'
import { sameBytes } from '../../../holdfast/src/wire/digest.ts'

/** Most open invitations of a session. */
export const INVITATIONS_MAX = 64

export interface SessionRecord {
  entry: Entry
  members: Listed[]
  /** Whether its members may recover it. */
  recovers: boolean
  /** Whether only members admitted as hosts serve. */
  hosts: boolean
  /** Players admitted by ticket or invitation. */
  entrants: Entrant[]
  /** The invitations, in a room by invitation. */
  invitations: Invitation[]
}

const invitation = record({ digest: hash, uses: varint, rights: u8 })
/** An invitation: the digest of its secret, and how many players it admits. */
export type Invitation = ValueOf<typeof invitation>

const form = word(['terms', 'links'])
/** The record's current form; `form` is `links`. */
export const stored = record({
  form,
  entry,
  members: list(listed, MEMBERS_MAX),
  recovers: flag,
  hosts: flag,
  entrants: list(entrant, ENTRANTS_MAX),
  invitations: list(invitation, INVITATIONS_MAX),
})

const listedBefore = record({ inc: varint, player: varint, hash })
const storedFields = { members: list(listedBefore, MEMBERS_MAX), recovers: flag }
/** The form before link keys were added; `form` is `terms`. */
export const storedWithTerms = record({ form, entry, ...storedFields })
/** The form before terms were added. */
export const storedBefore = record({ entry: record(place), ...storedFields })

export function writeRecord(session: SessionRecord): Uint8Array {
  return encode(stored, { form: 'links', ...session })
}

/** Decodes a record of any form; null if it is none. */
export function readRecord(bytes: Uint8Array): SessionRecord | null {
  const read = decode(stored, bytes)
  if (read?.form !== 'links') return upgrade(bytes)
  const { form: _, ...session } = read
  return session
}

const NOBODY = { hosts: false, entrants: [], invitations: [] }

function upgrade(bytes: Uint8Array): SessionRecord | null {
  const read = decode(storedWithTerms, bytes)
  const before = read?.form === 'terms' ? read : decode(storedBefore, bytes)
  if (!before) return null
  const unknown = { link: new Uint8Array(KEY_BYTES), key: new Uint8Array(KEY_BYTES) }
  const members = before.members.map((one) => ({ ...one, ...unknown }))
  const { recovers } = before
  return { entry: { terms: '', ...before.entry }, members, recovers, ...NOBODY }
}

// Players' rights, as the hub stores them by key, whatever members claim.

/** The player's entry by ticket or invitation; undefined if it has none. */
export function entrantOf(entrants: readonly Entrant[], key: Uint8Array): Entrant | undefined {
  return entrants.find((entrant) => sameBytes(entrant.key, key))
}

/** The rights of the player with that key; without a ticket, to play. */
export function rightsOf({ entrants }: Pick<SessionRecord, 'entrants'>, key: Uint8Array): number {
  return entrantOf(entrants, key)?.rights ?? RIGHTS.play
}

/** Whether every member that a change gives a role may serve. */
export function allowsRoles(
  session: SessionRecord,
  { why, primary, backup }: Pick<ToHub & { kind: 'change' }, 'why' | 'primary' | 'backup'>,
): boolean {
  switch (why) {
    case 'add':
      return mayServe(session, backup)
    case 'takeover':
    case 'handover':
    case 'recover':
      return mayServe(session, primary)
    default:
      return true
  }
}

function mayServe(session: SessionRecord, inc: PeerId): boolean {
  const member = session.members.find((listed) => listed.inc === inc)
  return member !== undefined && mayLead(rightsOf(session, member.key), session.hosts)
}
