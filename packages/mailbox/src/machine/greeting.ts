/**
 * The greeting, by which two mailboxes prove to each other whose keys they have, before letters go.
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
 * connection, in the other direction, or under another name. Who calls proves first, so a stranger
 * that calls is given keys, which are public, and nothing else. Each says by which key it knows the
 * other, for who has changed keys has to prove that one (keys.ts).
 *
 * Somebody in the middle who passes all of this on has greeted nobody, but is in the middle still:
 * later messages are neither encrypted nor signed, so against him use `wss`.
 *
 * A machine: signatures are made and checked by others, who answer (`answerGreeting`).
 */

import { KEY_BYTES } from '../../../holdfast/src/ports.ts'
import { createReader, readU8, readVarint } from '../../../holdfast/src/wire/bytes.ts'
import { isSame } from '../../../holdfast/src/wire/history.ts'
import { decode, encode } from '../../../holdfast/src/wire/layout.ts'
import { plain } from '../../../holdfast/src/wire/text/plain.ts'
import { negotiate, encodeVersions, formatVersions } from '../../../holdfast/src/wire/versions.ts'
import type { Check, OwnKey, OwnProof } from './keys.ts'
import { type Greeting, greetingLayout, isMailId, MAIL_VERSIONS, proofText } from './messages.ts'
import { REFUSAL_MAX } from './messages.ts'
import type { Counters } from './state.ts'

/** Most bytes of messages that wait behind a proof which is being checked. */
export const EARLY_BYTES_MAX: number = 2 * 1024 * 1024

/** The mailbox that greets. */
export interface Self {
  id: string
  /** Its newest keys, the newest of all first; one at least. */
  keys: readonly OwnKey[]
}

/** Whom a mailbox lets in. */
export interface Gate {
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
export interface Greeter {
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
export type GreetingJob =
  | { kind: 'sign'; seed: Uint8Array; message: Uint8Array }
  | ({ kind: 'check' } & Check)

/** Both sides have proved themselves. */
export interface Known {
  id: string
  key: Uint8Array
  /** What we proved. */
  proof: OwnProof
  /** What the other side has said since. */
  early: Uint8Array[]
}

/** The result of a message or an answer. */
export interface Greeted {
  answers: Uint8Array[]
  /** To be done, and answered. */
  job: GreetingJob | null
  /** The other side, once it has proved itself. */
  known: Known | null
  /** Why the greeting was refused, by either side: a sentence for the owner. */
  refused: string | null
  /** What to count it as; null if the other side refused. */
  counts: keyof Counters | null
}

const NOTHING: Greeted = { answers: [], job: null, known: null, refused: null, counts: null }
const NO_KEY = new Uint8Array(KEY_BYTES)

/** Begins a greeting. @returns with the first messages; the side that was called has none yet */
export function greet(
  { id, keys }: Self,
  nonce: Uint8Array,
  whom: string | null,
  gate: Gate,
): { greeter: Greeter; first: Uint8Array[] } {
  const side = { id, keys, nonce, whom, other: null, knows: NO_KEY, own: null }
  const offer = encodeVersions(MAIL_VERSIONS)
  const greeter: Greeter = { ...side, offer, stage: 'open', early: [] }
  return { greeter, first: whom === null ? [] : opening(greeter, whom, gate) }
}

/** Takes a message of the greeting, which is hostile. */
export function hearGreeting(greeter: Greeter, bytes: Uint8Array, gate: Gate): Greeted {
  if (greeter.stage === 'over' || greeter.stage === 'done') return NOTHING
  if (greeter.stage === 'check' && greeter.whom !== null) return keep(greeter, bytes)
  const version = versionOf(bytes)
  if (greeter.stage === 'open' && version !== null && negotiate(MAIL_VERSIONS, version) === null) {
    return refuse(greeter, otherVersion(greeter, version))
  }
  const message = decode(greetingLayout, bytes)
  if (!message) return refuse(greeter, 'what came is no greeting of a mailbox')
  if (message.kind === 'refused') {
    greeter.stage = 'over'
    return { ...NOTHING, refused: plain(message.why) }
  }
  if (message.kind === 'alive' || message.kind !== greeter.stage) {
    return refuse(greeter, 'a greeting came out of turn')
  }
  switch (message.kind) {
    case 'open':
      return opened(greeter, message, gate)
    case 'known':
      return toldKey(greeter, message.key, gate)
    case 'key':
      return claimed(greeter, message.key, gate)
    case 'proof':
      greeter.stage = 'check'
      return { ...NOTHING, job: checking(greeter, message.signature) }
  }
}

/** A job is done. @param answer  the signature; whether it was right; null if curves failed */
export function answerGreeting(greeter: Greeter, answer: Uint8Array | boolean | null): Greeted {
  const { stage, whom, own } = greeter
  const isCaller = whom !== null
  if (stage === 'check') {
    if (answer !== true) return refuse(greeter, unproved(greeter), 'unproved')
    if (!isCaller) return sign(greeter)
  } else if (stage !== 'sign') return NOTHING
  else if (!(answer instanceof Uint8Array)) return refuse(greeter, 'nothing can be signed here')
  const answers: Uint8Array[] = []
  if (answer instanceof Uint8Array) {
    if (isCaller) answers.push(encode(greetingLayout, { kind: 'key', key: own!.key }))
    answers.push(encode(greetingLayout, { kind: 'proof', signature: answer }))
  }
  const isKnown = isCaller === (stage === 'check')
  greeter.stage = isKnown ? 'done' : 'proof'
  return { ...NOTHING, answers, known: isKnown ? knownOf(greeter) : null }
}

function knownOf({ other, own, early }: Greeter): Known {
  const { id, key, knows } = other!
  return { id, key, proof: { own: own!.key, isAsked: isSame(knows, own!.key) }, early }
}

function keep(greeter: Greeter, bytes: Uint8Array): Greeted {
  greeter.early.push(bytes)
  const waiting = greeter.early.reduce((sum, { length }) => sum + length, 0)
  return waiting > EARLY_BYTES_MAX ? refuse(greeter, 'too much came before its greeting') : NOTHING
}

/** The version that an opening message names; null if it is another message. */
function versionOf(bytes: Uint8Array): number | null {
  const reader = createReader(bytes)
  const [tag, version] = [readU8(reader), readVarint(reader)]
  return reader.failed || tag !== OPEN ? null : version
}

const OPEN = 16

function otherVersion({ id, whom }: Greeter, version: number): string {
  const other = whom === null ? 'who calls' : plain(whom)
  const [ours, theirs] = [MAIL_VERSIONS, version].map(formatVersions)
  return `${plain(id)} speaks ${ours} of mailboxes, ${other} ${theirs}: update the older one`
}

function unproved({ id, other }: Greeter): string {
  return `${plain(other!.id)} did not prove to ${plain(id)} that the key which it named is its own`
}

/** @param told  what the other side is told, if it is not what the owner is told */
function refuse(
  greeter: Greeter,
  why: string,
  counts: keyof Counters = 'greetings',
  told = why,
): Greeted {
  greeter.stage = 'over'
  const answers = [encode(greetingLayout, { kind: 'refused', why: clipped(told) })]
  return { ...NOTHING, answers, refused: why, counts }
}

function clipped(why: string): string {
  const bytes = new TextEncoder().encode(why)
  if (bytes.length <= REFUSAL_MAX) return why
  // Half a character at the end becomes one of three bytes.
  return new TextDecoder().decode(bytes.subarray(0, REFUSAL_MAX - 3))
}

function opened(greeter: Greeter, message: Greeting & { kind: 'open' }, gate: Gate): Greeted {
  const { whom } = greeter
  const { from, nonce } = message
  const why = misnamed(greeter, message) ?? gate.refuses(from)
  if (why !== null) return refuse(greeter, why)
  if (whom === null) greeter.offer = message.version
  greeter.other = { id: from, nonce, knows: NO_KEY, key: NO_KEY }
  greeter.stage = 'known'
  return { ...NOTHING, answers: whom === null ? opening(greeter, from, gate) : [] }
}

function misnamed({ id, whom }: Greeter, { from, to }: Greeting & { kind: 'open' }): string | null {
  if (!isMailId(to) || (from !== '' && !isMailId(from))) {
    return 'no mailbox can be called like this'
  }
  if (to !== id) return `this is the mailbox of ${plain(id)}, not of ${plain(to)}`
  if (whom !== null && from !== whom) return `${plain(whom)} was called and ${plain(from)} answered`
  if (from === '') return 'a mailbox cannot be called nothing'
  return from === id ? `a mailbox cannot be called ${plain(from)} like this one` : null
}

/** The other side said by which key it knows us: we prove that one, if we have it. */
function toldKey(greeter: Greeter, key: Uint8Array, gate: Gate): Greeted {
  const recent = greeter.keys.find((one) => isSame(one.key, key))
  const own = recent ?? (isSame(key, NO_KEY) ? null : gate.formerKey(key)) ?? greeter.keys[0]!
  greeter.other!.knows = key
  greeter.own = own
  greeter.stage = 'key'
  const answers =
    greeter.whom === null ? [encode(greetingLayout, { kind: 'key', key: own.key })] : []
  return { ...NOTHING, answers }
}

function claimed(greeter: Greeter, key: Uint8Array, gate: Gate): Greeted {
  const other = greeter.other!
  const known = gate.keyOf(other.id)
  if (known && !isSame(known, key)) {
    const told =
      `${plain(greeter.id)} knows ${plain(other.id)} by another key than this: it has to trust ` +
      'the new one, or the old one has to come back'
    return refuse(greeter, gate.strange(other.id, key), 'otherKey', told)
  }
  other.key = key
  if (greeter.whom !== null) return sign(greeter)
  greeter.stage = 'proof'
  return NOTHING
}

function sign(greeter: Greeter): Greeted {
  const { whom, own } = greeter
  greeter.stage = 'sign'
  const message = textFor(greeter, whom !== null)
  return { ...NOTHING, job: { kind: 'sign', seed: own!.seed, message } }
}

function checking(greeter: Greeter, signature: Uint8Array): GreetingJob {
  const message = textFor(greeter, greeter.whom === null)
  return { kind: 'check', key: greeter.other!.key, message, signature }
}

/** What is signed. @param calls  whether by the side that calls */
function textFor(greeter: Greeter, calls: boolean): Uint8Array {
  const { id, nonce, knows, offer, whom, other, own } = greeter
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

function opening(greeter: Greeter, to: string, gate: Gate): Uint8Array[] {
  const { id: from, nonce } = greeter
  const open = { kind: 'open', version: encodeVersions(MAIL_VERSIONS), from, to, nonce } as const
  const key = gate.keyOf(to) ?? NO_KEY
  greeter.knows = key
  return [encode(greetingLayout, open), encode(greetingLayout, { kind: 'known', key })]
}
