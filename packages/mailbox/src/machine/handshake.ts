/**
 * The handshake: two mailboxes prove their keys before they exchange letters.
 *
 *     alice calls                          bob is called
 *       OPEN{version, ids, nonce}    ->
 *       KNOWN{the key of bob}        ->
 *                                    <-    OPEN{version, ids, nonce}
 *                                    <-    KNOWN{the key of alice}, KEY
 *       KEY, PROOF                   ->      checks it
 *         checks it                  <-    PROOF
 *
 * A proof signs the whole transcript and the direction of the call, so it is worthless on another
 * connection, in the other direction, or under another name. The caller proves first: a stranger
 * who calls learns only keys, which are public. Each side names the key by which it knows the
 * other, and a mailbox that replaced its key proves the named one (keys.ts).
 *
 * A relay cannot impersonate either side, but later messages are neither encrypted nor signed, so
 * it can read and change them: use `wss`.
 *
 * A machine: the layer above makes and checks signatures and answers with `completeJob`.
 */

import { KEY_BYTES } from '../../../holdfast/src/ports.ts'
import { createReader, readU8, readVarint } from '../../../holdfast/src/wire/bytes.ts'
import { isSame } from '../../../holdfast/src/wire/history.ts'
import { decode, encode } from '../../../holdfast/src/wire/layout.ts'
import { clipped, plain } from '../../../holdfast/src/wire/text/plain.ts'
import { negotiate, encodeVersions, formatVersions } from '../../../holdfast/src/wire/versions.ts'
import type { Check, OwnKey, OwnProof } from './keys.ts'
import {
  type HandshakeMessage,
  handshakeLayout,
  isMailId,
  MAIL_VERSIONS,
  proofText,
} from './messages.ts'
import { REFUSAL_MAX } from './messages.ts'
import type { Counters } from './state.ts'

/** Most bytes of messages queued while a proof is being checked. */
export const EARLY_BYTES_MAX: number = 2 * 1024 * 1024

/** This side of a handshake. */
export interface Self {
  id: string
  /** Its recent keys, newest first; at least one. */
  keys: readonly OwnKey[]
}

/** Which peers a mailbox admits. */
export interface PeerPolicy {
  /** Why that id is refused; null if it is admitted. */
  refuses(id: string): string | null
  /** The key pinned for that id; null for none. */
  keyOf(id: string): Uint8Array | null
  /** Our own key from before those of `Self`; null for none. */
  formerKey(key: Uint8Array): OwnKey | null
  /** Why a peer with another key is refused, for the owner. */
  strange(id: string, key: Uint8Array): string
}

interface Other {
  id: string
  nonce: Uint8Array
  /** The key by which it knows us; all zero for none. */
  knows: Uint8Array
  key: Uint8Array
}

export interface Handshake {
  id: string
  keys: readonly OwnKey[]
  nonce: Uint8Array
  /** The versions that the caller offers. */
  offer: number
  /** The mailbox we called; null if we were called. */
  whom: string | null
  other: Other | null
  /** The key by which we know the other; all zero for none. */
  knows: Uint8Array
  /** The key we prove; null until the other side named the one it knows. */
  own: OwnKey | null
  /** The expected message, or the pending job. */
  stage: 'open' | 'known' | 'key' | 'proof' | 'sign' | 'check' | 'done' | 'over'
  /** Messages received while the proof is being checked. */
  early: Uint8Array[]
}

/** A signature to make or check. */
export type HandshakeJob =
  | { kind: 'sign'; seed: Uint8Array; message: Uint8Array }
  | ({ kind: 'check' } & Check)

export interface Authenticated {
  id: string
  key: Uint8Array
  /** The key we proved. */
  proof: OwnProof
  /** Messages received since. */
  early: Uint8Array[]
}

export interface HandshakeStep {
  answers: Uint8Array[]
  /** A job to run, whose answer goes to `completeJob`. */
  job: HandshakeJob | null
  /** The other side, once it has proved itself. */
  known: Authenticated | null
  /** Why either side refused the handshake: a sentence for the owner. */
  refused: string | null
  /** The counter of the refusal; null if the other side refused. */
  counts: keyof Counters | null
}

const NOTHING: HandshakeStep = { answers: [], job: null, known: null, refused: null, counts: null }
const NO_KEY = new Uint8Array(KEY_BYTES)

/** Begins a handshake. @returns it with its first messages; the called side has none yet */
export function beginHandshake(
  { id, keys }: Self,
  nonce: Uint8Array,
  whom: string | null,
  gate: PeerPolicy,
): { handshake: Handshake; first: Uint8Array[] } {
  const side = { id, keys, nonce, whom, other: null, knows: NO_KEY, own: null }
  const offer = encodeVersions(MAIL_VERSIONS)
  const handshake: Handshake = { ...side, offer, stage: 'open', early: [] }
  return { handshake, first: whom === null ? [] : opening(handshake, whom, gate) }
}

/** Takes a handshake message, which is untrusted. */
export function receiveHandshake(
  handshake: Handshake,
  bytes: Uint8Array,
  gate: PeerPolicy,
): HandshakeStep {
  if (handshake.stage === 'over' || handshake.stage === 'done') return NOTHING
  if (handshake.stage === 'check' && handshake.whom !== null) return keep(handshake, bytes)
  const version = versionOf(bytes)
  if (
    handshake.stage === 'open' &&
    version !== null &&
    negotiate(MAIL_VERSIONS, version) === null
  ) {
    return refuse(handshake, otherVersion(handshake, version))
  }
  const message = decode(handshakeLayout, bytes)
  if (!message) return refuse(handshake, 'the bytes are no handshake of a mailbox')
  if (message.kind === 'refused') {
    handshake.stage = 'over'
    return { ...NOTHING, refused: plain(message.why) }
  }
  if (message.kind === 'alive' || message.kind !== handshake.stage) {
    return refuse(handshake, 'a handshake message came out of turn')
  }
  switch (message.kind) {
    case 'open':
      return opened(handshake, message, gate)
    case 'known':
      return takeKnown(handshake, message.key, gate)
    case 'key':
      return takeKey(handshake, message.key, gate)
    case 'proof':
      handshake.stage = 'check'
      return { ...NOTHING, job: checking(handshake, message.signature) }
  }
}

/** Completes a job. @param answer  the signature, or whether it was valid; null if curves failed */
export function completeJob(
  handshake: Handshake,
  answer: Uint8Array | boolean | null,
): HandshakeStep {
  const { stage, whom, own } = handshake
  const isCaller = whom !== null
  if (stage === 'check') {
    if (answer !== true) return refuse(handshake, unproved(handshake), 'unproved')
    if (!isCaller) return sign(handshake)
  } else if (stage !== 'sign') return NOTHING
  else if (!(answer instanceof Uint8Array)) return refuse(handshake, 'signing failed')
  const answers: Uint8Array[] = []
  if (answer instanceof Uint8Array) {
    if (isCaller) answers.push(encode(handshakeLayout, { kind: 'key', key: own!.key }))
    answers.push(encode(handshakeLayout, { kind: 'proof', signature: answer }))
  }
  const isKnown = isCaller === (stage === 'check')
  handshake.stage = isKnown ? 'done' : 'proof'
  return { ...NOTHING, answers, known: isKnown ? knownOf(handshake) : null }
}

function knownOf({ other, own, early }: Handshake): Authenticated {
  const { id, key, knows } = other!
  return { id, key, proof: { own: own!.key, isAsked: isSame(knows, own!.key) }, early }
}

function keep(handshake: Handshake, bytes: Uint8Array): HandshakeStep {
  handshake.early.push(bytes)
  const waiting = handshake.early.reduce((sum, { length }) => sum + length, 0)
  return waiting > EARLY_BYTES_MAX
    ? refuse(handshake, 'too many messages came before the handshake was done')
    : NOTHING
}

function versionOf(bytes: Uint8Array): number | null {
  const reader = createReader(bytes)
  const [tag, version] = [readU8(reader), readVarint(reader)]
  return reader.failed || tag !== OPEN ? null : version
}

const OPEN = 16

function otherVersion({ id, whom }: Handshake, version: number): string {
  const other = whom === null ? 'who calls' : plain(whom)
  const [ours, theirs] = [MAIL_VERSIONS, version].map(formatVersions)
  return `${plain(id)} speaks ${ours} of mailboxes, ${other} ${theirs}: update the older one`
}

function unproved({ id, other }: Handshake): string {
  return `${plain(other!.id)} did not prove to ${plain(id)} that the key which it named is its own`
}

/** @param sent  the reason for the peer, if it differs from the owner's */
function refuse(
  handshake: Handshake,
  why: string,
  counts: keyof Counters = 'greetings',
  sent = why,
): HandshakeStep {
  handshake.stage = 'over'
  const answers = [encode(handshakeLayout, { kind: 'refused', why: clipped(sent, REFUSAL_MAX) })]
  return { ...NOTHING, answers, refused: why, counts }
}

function opened(
  handshake: Handshake,
  message: HandshakeMessage & { kind: 'open' },
  gate: PeerPolicy,
): HandshakeStep {
  const { whom } = handshake
  const { from, nonce } = message
  const why = misnamed(handshake, message) ?? gate.refuses(from)
  if (why !== null) return refuse(handshake, why)
  if (whom === null) handshake.offer = message.version
  handshake.other = { id: from, nonce, knows: NO_KEY, key: NO_KEY }
  handshake.stage = 'known'
  return { ...NOTHING, answers: whom === null ? opening(handshake, from, gate) : [] }
}

function misnamed(
  { id, whom }: Handshake,
  { from, to }: HandshakeMessage & { kind: 'open' },
): string | null {
  if (!isMailId(to) || (from !== '' && !isMailId(from))) {
    return 'this is no valid name of a mailbox'
  }
  if (to !== id) return `this is the mailbox of ${plain(id)}, not of ${plain(to)}`
  if (whom !== null && from !== whom) return `${plain(whom)} was called and ${plain(from)} answered`
  if (from === '') return 'the name of a mailbox must not be empty'
  return from === id ? `${plain(from)} is the name of this mailbox too` : null
}

/** The other side named the key by which it knows us: prove that one if we have it. */
function takeKnown(handshake: Handshake, key: Uint8Array, gate: PeerPolicy): HandshakeStep {
  const recent = handshake.keys.find((one) => isSame(one.key, key))
  const own = recent ?? (isSame(key, NO_KEY) ? null : gate.formerKey(key)) ?? handshake.keys[0]!
  handshake.other!.knows = key
  handshake.own = own
  handshake.stage = 'key'
  const answers =
    handshake.whom === null ? [encode(handshakeLayout, { kind: 'key', key: own.key })] : []
  return { ...NOTHING, answers }
}

function takeKey(handshake: Handshake, key: Uint8Array, gate: PeerPolicy): HandshakeStep {
  const other = handshake.other!
  const known = gate.keyOf(other.id)
  if (known && !isSame(known, key)) {
    const sent =
      `${plain(handshake.id)} knows ${plain(other.id)} by another key than this: it has to trust ` +
      'the new one, or the old one has to come back'
    return refuse(handshake, gate.strange(other.id, key), 'otherKey', sent)
  }
  other.key = key
  if (handshake.whom !== null) return sign(handshake)
  handshake.stage = 'proof'
  return NOTHING
}

function sign(handshake: Handshake): HandshakeStep {
  const { whom, own } = handshake
  handshake.stage = 'sign'
  const message = textFor(handshake, whom !== null)
  return { ...NOTHING, job: { kind: 'sign', seed: own!.seed, message } }
}

function checking(handshake: Handshake, signature: Uint8Array): HandshakeJob {
  const message = textFor(handshake, handshake.whom === null)
  return { kind: 'check', key: handshake.other!.key, message, signature }
}

/** The signed text. @param calls  whether the caller signs it */
function textFor(handshake: Handshake, calls: boolean): Uint8Array {
  const { id, nonce, knows, offer, whom, other, own } = handshake
  const us = { id, nonce, knows, key: own!.key }
  const [caller, called] = whom === null ? [other!, us] : [us, other!]
  return proofText({
    version: offer,
    calls,
    caller: caller.id,
    called: called.id,
    callerKey: caller.key,
    calledKey: called.key,
    callerKnows: caller.knows,
    calledKnows: called.knows,
    callerNonce: caller.nonce,
    calledNonce: called.nonce,
  })
}

function opening(handshake: Handshake, to: string, gate: PeerPolicy): Uint8Array[] {
  const { id: from, nonce } = handshake
  const open = { kind: 'open', version: encodeVersions(MAIL_VERSIONS), from, to, nonce } as const
  const key = gate.keyOf(to) ?? NO_KEY
  handshake.knows = key
  return [encode(handshakeLayout, open), encode(handshakeLayout, { kind: 'known', key })]
}
