/**
 * The key of a room: what is kept of the room is sealed with it, so that the hub reads nothing and
 * changes nothing. Whoever has the link to the room has the key, and the hub never does.
 *
 * Who has the key believes the hub nothing of the room: neither that it is not sealed, nor what its
 * founder set. A founder knows what it set; a stored room has it in its first sheet; and a primary
 * shows its members, with each view, that it has the key. Behind one that does not, a member keeps
 * nothing, for that may be somebody whom the hub made up.
 *
 * The nonce is an HMAC of what is sealed, so no two texts are sealed with the same one (RFC 5297
 * has the idea), and nobody needs chance for it. Each sheet names the length of the log with it,
 * which is sealed along, as is the digest of the sheet before it: what is behind one that was left
 * out, or put elsewhere, does not open.
 */

import { termsSay } from '../machine.ts'
import { CIPHER_NONCE_BYTES, type Ciphers, KEY_BYTES, TAG_BYTES } from '../ports.ts'
import { settingsLayout } from '../session/messages.ts'
import { SHEET_BYTES_MAX } from '../session/segments.ts'
import { SESSION_ID_MAX } from '../hub-protocol/messages.ts'
import { blob, decode, encode, fixed, record, text, type ValueOf, varint } from '../wire/layout.ts'
import { DIGEST_BYTES, sameBytes } from '../wire/digest.ts'
import { toHex } from '../wire/bytes.ts'
import type { FromHub } from '../hub-protocol/messages.ts'
import type { View } from '../session/messages.ts'
import { nameOf } from '../seal/seal.ts'
import { settingsOf } from '../session/output.ts'
import type { Runtime } from './state.ts'

const MARK_BYTES = 6
const LABEL = 'holdfast sheet'
/** What is sealed along with a sheet. */
export const sheetNameLayout = record({
  label: text(LABEL.length),
  session: text(SESSION_ID_MAX),
  index: varint,
  before: fixed(DIGEST_BYTES),
})

/** Where a sheet stands: as the log had so many entries, behind the sheet of that digest. */
export interface SheetPlace {
  readonly session: string
  readonly index: number
  readonly before: Uint8Array
}

/** Before the whole state there is nothing. */
export const NOTHING_BEFORE: Uint8Array = new Uint8Array(DIGEST_BYTES)

/** A sheet as the hub has it, where the room has a key. */
export const sealedLayout = record({
  /** The length of the log with this sheet. */
  index: varint,
  nonce: fixed(CIPHER_NONCE_BYTES),
  sealed: blob(SHEET_BYTES_MAX),
})

const ascii = (word: string): Uint8Array => new TextEncoder().encode(word)

const PROOF_LABEL = 'holdfast room'
/** What a primary shows that it has the key for. */
export const roomProofLayout = record({
  label: text(PROOF_LABEL.length),
  session: text(SESSION_ID_MAX),
  /** The link key of who shows it: nobody else's is of use. */
  link: fixed(KEY_BYTES),
  settings: settingsLayout,
})

/** By which a member shows that it has the key, and what the founder set. */
export function proofOf(
  ciphers: Ciphers,
  key: Uint8Array,
  of: Omit<ValueOf<typeof roomProofLayout>, 'label'>,
): Uint8Array {
  const said = encode(roomProofLayout, { ...of, label: PROOF_LABEL })
  return ciphers.hmac(ciphers.hmac(key, ascii('proof')), said).slice(0, DIGEST_BYTES)
}

/** By which members know whether they have the same key: it stands in the terms of the session. */
export function markOf(ciphers: Ciphers, key: Uint8Array): string {
  return toHex(ciphers.hmac(key, ascii('mark')).subarray(0, MARK_BYTES))
}

/** Whether a session is kept in a form that whoever has this key can read, by its terms. */
export function fits(ciphers: Ciphers, key: Uint8Array | null, terms: string): boolean {
  if (!isSealed(terms)) return true
  return key !== null && termsSay(terms, 'sealed', markOf(ciphers, key))
}

/** Whether what is kept of a session is sealed, by its terms. */
export function isSealed(terms: string): boolean {
  return terms.split(';').some((term) => term.startsWith('sealed='))
}

/** Seals a sheet. */
export function seal(
  ciphers: Ciphers,
  key: Uint8Array,
  place: SheetPlace,
  sheet: Uint8Array,
): Uint8Array {
  const data = encode(sheetNameLayout, { label: LABEL, ...place })
  const whole = new Uint8Array(data.length + sheet.length)
  whole.set(data)
  whole.set(sheet, data.length)
  const by = ciphers.hmac(key, ascii('nonce'))
  const nonce = ciphers.hmac(by, whole).slice(0, CIPHER_NONCE_BYTES)
  const into = new Uint8Array(sheet.length + TAG_BYTES)
  ciphers.seal(ciphers.hmac(key, ascii('seal')), nonce, data, sheet, into)
  return encode(sealedLayout, { index: place.index, nonce, sealed: into })
}

/** Opens a sheet; null if it was not sealed so, in this session, behind that sheet. */
export function open(
  ciphers: Ciphers,
  key: Uint8Array,
  { session, before }: Pick<SheetPlace, 'session' | 'before'>,
  bytes: Uint8Array,
): { index: number; bytes: Uint8Array } | null {
  const read = decode(sealedLayout, bytes)
  if (!read || read.sealed.length < TAG_BYTES) return null
  const { index, nonce, sealed } = read
  const data = encode(sheetNameLayout, { label: LABEL, session, index, before })
  const sheet = new Uint8Array(sealed.length - TAG_BYTES)
  const by = ciphers.hmac(key, ascii('seal'))
  return ciphers.open(by, nonce, data, sealed, sheet) ? { index, bytes: sheet } : null
}

// What the founder of a session set for all, and whom a member believes of it: its primary, and not
// the hub. Where the room has a key, the primary must show that it has it (room-key.ts).

/** The hub says in what session we are. */
export function adoptTerms(
  { member: { session, options } }: Runtime,
  { created, opened, entry }: Pick<FromHub & { kind: 'added' }, 'created' | 'opened' | 'entry'>,
): void {
  // Who founds a room with a key knows what it set.
  const isOwn = options.roomKey !== null && created && !opened
  const { terms, topology, playersMax } = isOwn ? options : entry
  Object.assign(session, { terms, topology, playersMax })
}

/** We found or open the session. */
export function foundRoom(run: Runtime): void {
  const { session, options } = run.member
  session.keeps = mayKeep(run)
  if (options.roomKey) session.proof = proofBy(run, options.roomKey, run.member.linkKey.point!)
}

/** Somebody else leads, as the first that we hear of or the next. */
export function follow(run: Runtime, view: View, before: View | null): void {
  const { session, options, linkKey } = run.member
  if (view.primary === session.me || view.primary === before?.primary) return
  // Also of one that does not show the key: the hub's word would go on to whoever follows us.
  if (before === null) Object.assign(session, view.settings)
  const { roomKey } = options
  session.keeps &&= mayKeep(run) && (!roomKey || isShown(run, roomKey, view))
  if (roomKey && session.keeps) session.proof = proofBy(run, roomKey, linkKey.point!)
}

// Who has a key keeps nothing that is not sealed with it.
function mayKeep(run: Runtime): boolean {
  const { ports, member } = run
  const { terms } = member.session
  const { roomKey } = member.options
  return fits(ports.ciphers, roomKey, terms) && (!roomKey || isSealed(terms))
}

function proofBy({ member, ports }: Runtime, key: Uint8Array, link: Uint8Array): Uint8Array {
  const { session } = member
  return proofOf(ports.ciphers, key, { session: session.id, link, settings: settingsOf(session) })
}

// By the key of the link that it speaks on: what the view says of it may be another's.
function isShown({ member, ports }: Runtime, key: Uint8Array, view: View): boolean {
  const { joinPeer, peers, session } = member
  const peer = joinPeer ?? peers.get(view.primary)
  const link = view.members.find(({ inc }) => inc === view.primary)?.link
  if (!view.proof || !link || peer?.key !== nameOf(link)) return false
  const of = { session: session.id, link, settings: view.settings }
  return sameBytes(view.proof, proofOf(ports.ciphers, key, of))
}
