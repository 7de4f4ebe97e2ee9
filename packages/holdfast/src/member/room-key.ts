/**
 * The key of a room seals the stored room, so that the hub can neither read nor change it. The key
 * is in the link to the room; the hub never has it.
 *
 * A member with the key does not trust the hub about the room's settings, nor that it is unsealed.
 * A founder knows the settings, a stored room has them in its first segment, and a primary proves
 * with each view that it has the key. Under a primary that does not, a member stores nothing.
 *
 * The nonce is an HMAC of the sealed text, so no two texts share one (as in RFC 5297). The
 * additional data has the index of the log and the digest of the segment before, so a segment
 * behind one that was left out or moved does not open.
 */

import { termsSay } from '../machine.ts'
import { CIPHER_NONCE_BYTES, type Ciphers, KEY_BYTES, TAG_BYTES } from '../ports.ts'
import { settingsLayout, type View } from '../session/messages.ts'
import { SEGMENT_BYTES_MAX } from '../session/segments.ts'
import { SESSION_ID_MAX, type FromHubOf } from '../hub-protocol/messages.ts'
import { blob, decode, encode, fixed, record, text, type ValueOf, varint } from '../wire/layout.ts'
import { DIGEST_BYTES, sameBytes } from '../wire/digest.ts'
import { toHex } from '../wire/bytes.ts'
import { nameOf } from '../seal/seal.ts'
import { settingsOf } from '../session/output.ts'
import type { Runtime } from './state.ts'

const MARK_BYTES = 6
const LABEL = 'holdfast sheet'
/** The additional data of a sealed segment. */
export const segmentNameLayout = record({
  label: text(LABEL.length),
  session: text(SESSION_ID_MAX),
  index: varint,
  before: fixed(DIGEST_BYTES),
})

/** The place of a segment: the length of the log with it, and the digest of the one before. */
export interface SegmentPlace {
  readonly session: string
  readonly index: number
  readonly before: Uint8Array
}

/** The digest before the first segment. */
export const NOTHING_BEFORE: Uint8Array = new Uint8Array(DIGEST_BYTES)

/** A sealed segment as the hub stores it. */
export const sealedLayout = record({
  /** The length of the log with this segment. */
  index: varint,
  nonce: fixed(CIPHER_NONCE_BYTES),
  sealed: blob(SEGMENT_BYTES_MAX),
})

const ascii = (word: string): Uint8Array => new TextEncoder().encode(word)

const PROOF_LABEL = 'holdfast room'
/** The text of a primary's proof that it has the key. */
export const roomProofLayout = record({
  label: text(PROOF_LABEL.length),
  session: text(SESSION_ID_MAX),
  /** The link key of the prover: a copied proof is useless. */
  link: fixed(KEY_BYTES),
  settings: settingsLayout,
})

/** A proof that a member has the key and these settings. */
export function proofOf(
  ciphers: Ciphers,
  key: Uint8Array,
  of: Omit<ValueOf<typeof roomProofLayout>, 'label'>,
): Uint8Array {
  const claim = encode(roomProofLayout, { ...of, label: PROOF_LABEL })
  return ciphers.hmac(ciphers.hmac(key, ascii('proof')), claim).slice(0, DIGEST_BYTES)
}

/** The fingerprint of a key, which is in the terms of the session. */
export function markOf(ciphers: Ciphers, key: Uint8Array): string {
  return toHex(ciphers.hmac(key, ascii('mark')).subarray(0, MARK_BYTES))
}

/** Whether this key opens the stored room of a session, by its terms. */
export function fits(ciphers: Ciphers, key: Uint8Array | null, terms: string): boolean {
  if (!isSealed(terms)) return true
  return key !== null && termsSay(terms, 'sealed', markOf(ciphers, key))
}

/** Whether the stored room of a session is sealed, by its terms. */
export function isSealed(terms: string): boolean {
  return terms.split(';').some((term) => term.startsWith('sealed='))
}

export function seal(
  ciphers: Ciphers,
  key: Uint8Array,
  place: SegmentPlace,
  segment: Uint8Array,
): Uint8Array {
  const data = encode(segmentNameLayout, { label: LABEL, ...place })
  const whole = new Uint8Array(data.length + segment.length)
  whole.set(data)
  whole.set(segment, data.length)
  const by = ciphers.hmac(key, ascii('nonce'))
  const nonce = ciphers.hmac(by, whole).slice(0, CIPHER_NONCE_BYTES)
  const into = new Uint8Array(segment.length + TAG_BYTES)
  ciphers.seal(ciphers.hmac(key, ascii('seal')), nonce, data, segment, into)
  return encode(sealedLayout, { index: place.index, nonce, sealed: into })
}

/** Opens a segment; null if it was not sealed with this key, in this session, at this place. */
export function open(
  ciphers: Ciphers,
  key: Uint8Array,
  { session, before }: Pick<SegmentPlace, 'session' | 'before'>,
  bytes: Uint8Array,
): { index: number; bytes: Uint8Array } | null {
  const read = decode(sealedLayout, bytes)
  if (!read || read.sealed.length < TAG_BYTES) return null
  const { index, nonce, sealed } = read
  const data = encode(segmentNameLayout, { label: LABEL, session, index, before })
  const segment = new Uint8Array(sealed.length - TAG_BYTES)
  const by = ciphers.hmac(key, ascii('seal'))
  return ciphers.open(by, nonce, data, sealed, segment) ? { index, bytes: segment } : null
}

// Settings of the founder: a member takes them from its primary. In a room with a key the primary
// must prove that it has it.

/** Takes the settings of the session from the hub's answer. */
export function adoptTerms(
  { member: { session, options } }: Runtime,
  { created, opened, entry }: Pick<FromHubOf<'added'>, 'created' | 'opened' | 'entry'>,
): void {
  // A founder with a key trusts its own settings.
  const isOwn = options.roomKey !== null && created && !opened
  const { terms, topology, playersMax } = isOwn ? options : entry
  Object.assign(session, { terms, topology, playersMax })
}

export function foundRoom(run: Runtime): void {
  const { session, options } = run.member
  session.keeps = mayKeep(run)
  if (options.roomKey) session.proof = proofBy(run, options.roomKey, run.member.linkKey.point!)
}

export function follow(run: Runtime, view: View, before: View | null): void {
  const { session, options, linkKey } = run.member
  if (view.primary === session.me || view.primary === before?.primary) return
  // Also without a proof: else the hub's settings would spread to members that follow us.
  if (before === null) Object.assign(session, view.settings)
  const { roomKey } = options
  session.keeps &&= mayKeep(run) && (!roomKey || isShown(run, roomKey, view))
  if (roomKey && session.keeps) session.proof = proofBy(run, roomKey, linkKey.point!)
}

// A member with a key stores only what is sealed with it.
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

// Checked against the key of the primary's link: the view may claim another's.
function isShown({ member, ports }: Runtime, key: Uint8Array, view: View): boolean {
  const { joinPeer, peers, session } = member
  const peer = joinPeer ?? peers.get(view.primary)
  const link = view.members.find(({ inc }) => inc === view.primary)?.link
  if (!view.proof || !link || peer?.key !== nameOf(link)) return false
  const of = { session: session.id, link, settings: view.settings }
  return sameBytes(view.proof, proofOf(ports.ciphers, key, of))
}
