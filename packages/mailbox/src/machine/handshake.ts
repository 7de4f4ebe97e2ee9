/**
 * The handshake: two mailboxes prove their keys to each other before letters go.
 *
 *     alice calls                          bob is called
 *       OPEN{version, ids, nonce}    ->
 *       KNOWN{the key of bob}        ->
 *                                    <-    OPEN{version, ids, nonce}
 *                                    <-    KNOWN{the key of alice}, KEY
 *       KEY, PROOF                   ->      checks it
 *         checks it                  <-    PROOF
 *
 * A proof signs all that was said before, by both, and who calls: it is worth nothing on another
 * connection, in the other direction, or under another name. The caller proves first, so a stranger
 * that calls learns keys, which are public, and nothing else. Each side names the key by which it
 * knows the other, and a mailbox that has replaced its key proves that one (keys.ts).
 *
 * A relay in the middle cannot pass for either side, but it can read and change later messages,
 * which are neither encrypted nor signed: use `wss`.
 *
 * A machine: signatures are made and checked by others, who answer (`completeJob`).
 */

import { KEY_BYTES } from '../../../holdfast/src/ports.ts'
import { createReader, readU8, readVarint } from '../../../holdfast/src/wire/bytes.ts'
import { isSame } from '../../../holdfast/src/wire/history.ts'
import { decode, encode } from '../../../holdfast/src/wire/layout.ts'
import { plain } from '../../../holdfast/src/wire/text/plain.ts'
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

/** Most bytes of messages that wait behind a proof which is being checked. */
export const EARLY_BYTES_MAX: number = 2 * 1024 * 1024

/** This side of a handshake. */
export interface Self {
  id: string
  /** Its newest keys, the newest of all first; one at least. */
  keys: readonly OwnKey[]
}

/** Whom a mailbox lets in. */
export interface PeerPolicy {
  /** Why a mailbox with that id is refused, or null. */
  refuses(id: string): string | null
  /** The key by which it is known; null for none. */
  keyOf(id: string): Uint8Array | null
  /** A key of our own from before those of `Self`; null for none. */
  formerKey(key: Uint8Array): OwnKey | null
  /** Why one that comes with another key than that is refused, for the owner. */
  strange(id: string, key: Uint8Array): string
}

/** What the other side said of itself. */
interface Other {
  id: string
  nonce: Uint8Array
  /** The key by which it knows us; all zero for none. */
  knows: Uint8Array
  key: Uint8Array
}

/** A greeting under way. Plain data. */
export interface Handshake {
  id: string
  keys: readonly OwnKey[]
  nonce: Uint8Array
  /** Which versions whoever calls has said. */
  offer: number
  /** The mailbox that we called; null if we were called. */
  whom: string | null
  other: Other | null
  /** The key by which we know the other; all zero for none. */
  knows: Uint8Array
  /** The key that we prove; null until the other side said by which it knows us. */
  own: OwnKey | null
  /** The message that comes next, or the job that is to be answered. */
  stage: 'open' | 'known' | 'key' | 'proof' | 'sign' | 'check' | 'done' | 'over'
  /** Messages that came behind the proof which is being checked. */
  early: Uint8Array[]
}

/** Work for whoever has curves. */
export type HandshakeJob =
  | { kind: 'sign'; seed: Uint8Array; message: Uint8Array }
  | ({ kind: 'check' } & Check)

/** Both sides have proved themselves. */
export interface Authenticated {
  id: string
  key: Uint8Array
  /** What we proved. */
  proof: OwnProof
  /** What the other side has said since. */
  early: Uint8Array[]
}

/** The result of a message or an answer. */
export interface HandshakeStep {
  answers: Uint8Array[]
  /** To be done, and answered. */
  job: HandshakeJob | null
  /** The other side, once it has proved itself. */
  known: Authenticated | null
  /** Why the greeting was refused, by either side: a sentence for the owner. */
  refused: string | null
  /** What to count it as; null if the other side refused. */
  counts: keyof Counters | null
}

const NOTHING: HandshakeStep = { answers: [], job: null, known: null, refused: null, counts: null }
const NO_KEY = new Uint8Array(KEY_BYTES)

/** Begins a greeting. @returns with the first messages; the side that was called has none yet */
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

/** Takes a message of the greeting, which is hostile. */
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
  if (!message) return refuse(handshake, 'what came is no greeting of a mailbox')
  if (message.kind === 'refused') {
    handshake.stage = 'over'
    return { ...NOTHING, refused: plain(message.why) }
  }
  if (message.kind === 'alive' || message.kind !== handshake.stage) {
    return refuse(handshake, 'a greeting came out of turn')
  }
  switch (message.kind) {
    case 'open':
      return opened(handshake, message, gate)
    case 'known':
      return toldKey(handshake, message.key, gate)
    case 'key':
      return claimed(handshake, message.key, gate)
    case 'proof':
      handshake.stage = 'check'
      return { ...NOTHING, job: checking(handshake, message.signature) }
  }
}

/** A job is done. @param answer  the signature; whether it was right; null if curves failed */
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
  else if (!(answer instanceof Uint8Array)) return refuse(handshake, 'nothing can be signed here')
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
    ? refuse(handshake, 'too much came before its greeting')
    : NOTHING
}

/** The version that an opening message names; null if it is another message. */
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

/** @param told  what the other side is told, if it is not what the owner is told */
function refuse(
  handshake: Handshake,
  why: string,
  counts: keyof Counters = 'greetings',
  told = why,
): HandshakeStep {
  handshake.stage = 'over'
  const answers = [encode(handshakeLayout, { kind: 'refused', why: clipped(told) })]
  return { ...NOTHING, answers, refused: why, counts }
}

function clipped(why: string): string {
  const bytes = new TextEncoder().encode(why)
  if (bytes.length <= REFUSAL_MAX) return why
  // Half a character at the end becomes one of three bytes.
  return new TextDecoder().decode(bytes.subarray(0, REFUSAL_MAX - 3))
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
    return 'no mailbox can be called like this'
  }
  if (to !== id) return `this is the mailbox of ${plain(id)}, not of ${plain(to)}`
  if (whom !== null && from !== whom) return `${plain(whom)} was called and ${plain(from)} answered`
  if (from === '') return 'a mailbox cannot be called nothing'
  return from === id ? `a mailbox cannot be called ${plain(from)} like this one` : null
}

/** The other side said by which key it knows us: we prove that one, if we have it. */
function toldKey(handshake: Handshake, key: Uint8Array, gate: PeerPolicy): HandshakeStep {
  const recent = handshake.keys.find((one) => isSame(one.key, key))
  const own = recent ?? (isSame(key, NO_KEY) ? null : gate.formerKey(key)) ?? handshake.keys[0]!
  handshake.other!.knows = key
  handshake.own = own
  handshake.stage = 'key'
  const answers =
    handshake.whom === null ? [encode(handshakeLayout, { kind: 'key', key: own.key })] : []
  return { ...NOTHING, answers }
}

function claimed(handshake: Handshake, key: Uint8Array, gate: PeerPolicy): HandshakeStep {
  const other = handshake.other!
  const known = gate.keyOf(other.id)
  if (known && !isSame(known, key)) {
    const told =
      `${plain(handshake.id)} knows ${plain(other.id)} by another key than this: it has to trust ` +
      'the new one, or the old one has to come back'
    return refuse(handshake, gate.strange(other.id, key), 'otherKey', told)
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

/** What is signed. @param calls  whether by the side that calls */
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
