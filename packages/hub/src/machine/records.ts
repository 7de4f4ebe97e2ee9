/**
 * What a hub keeps of a session on disk, in the form of now and in those of before. Nobody of a
 * session that was kept before link keys were speaks this version, so it does no harm that its keys
 * are not known: the session is listed until it is forgotten.
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

/** Most invitations of a session that are not spent. */
export const INVITATIONS_MAX = 64

/** What is kept of one session. */
export interface SessionRecord {
  entry: Entry
  members: Listed[]
  /** The session's members may recover it. */
  recovers: boolean
  /** Only members that were admitted as hosts serve. */
  hosts: boolean
  /** Who came in by a ticket. */
  entrants: Entrant[]
  /** What lets others in, in a room by invitation. */
  invitations: Invitation[]
}

const invitation = record({ digest: hash, uses: varint, rights: u8 })
/** What lets players into a room by invitation: the digest of its secret, and for how many. */
export type Invitation = ValueOf<typeof invitation>

const form = word(['terms', 'links'])
/** One session as the hub keeps it on disk; `form` is `links`. */
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
const keptBefore = { members: list(listedBefore, MEMBERS_MAX), recovers: flag }
/** The form before link keys were added; `form` is `terms`. */
export const storedWithTerms = record({ form, entry, ...keptBefore })
/** The form before terms were added. */
export const storedBefore = record({ entry: record(place), ...keptBefore })

/** The record of a session. */
export function writeRecord(kept: SessionRecord): Uint8Array {
  return encode(stored, { form: 'links', ...kept })
}

/** Reads a record; null if it is none of ours. */
export function readRecord(bytes: Uint8Array): SessionRecord | null {
  const read = decode(stored, bytes)
  if (read?.form !== 'links') return upgrade(bytes)
  const { form: _, ...kept } = read
  return kept
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

// What players may do in a session, as the hub keeps it: by their keys, whatever members say.

/** How the player of that key came in by a ticket; undefined if it did not. */
export function entrantOf(entrants: readonly Entrant[], key: Uint8Array): Entrant | undefined {
  return entrants.find((entrant) => sameBytes(entrant.key, key))
}

/** What the player of that key may do: to play, if it came in by no ticket. */
export function rightsOf({ entrants }: Pick<SessionRecord, 'entrants'>, key: Uint8Array): number {
  return entrantOf(entrants, key)?.rights ?? RIGHTS.play
}

/** Whether by a change nobody comes to serve who may not. */
export function allowsRoles(
  kept: SessionRecord,
  { why, primary, backup }: Pick<ToHub & { kind: 'change' }, 'why' | 'primary' | 'backup'>,
): boolean {
  switch (why) {
    case 'add':
      return mayServe(kept, backup)
    case 'takeover':
    case 'handover':
    case 'recover':
      return mayServe(kept, primary)
    default:
      return true
  }
}

function mayServe(kept: SessionRecord, inc: PeerId): boolean {
  const member = kept.members.find((listed) => listed.inc === inc)
  return member !== undefined && mayLead(rightsOf(kept, member.key), kept.hosts)
}
