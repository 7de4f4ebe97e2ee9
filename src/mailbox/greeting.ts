/**
 * The greeting, by which two mailboxes authenticate each other before letters go:
 *
 *     OPEN{who, whom, nonce}  both ways     PROOF{HMAC of both names and nonces}  both ways
 *
 * The key never goes over the wire, and a proof is valid for one connection. Later messages are
 * neither encrypted nor signed: against an attacker who can change what is on the wire, use `wss`.
 */

import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { sameBytes } from '../wire/digest.ts'
import { decode, encode } from '../wire/layout.ts'
import { plain } from '../wire/plain.ts'
import { type Greeting, greetingLayout, isMailId, MAIL_VERSION, NONCE_BYTES } from './messages.ts'

/** The mailbox that greets. */
export interface Self {
  id: string
  key: string
}

/** A greeting under way. Plain data. */
export interface Greeter {
  self: Self
  nonce: Uint8Array
  /** The mailbox that we called; null if we were called. */
  whom: string | null
  other: { id: string; nonce: Uint8Array } | null
  stage: 'open' | 'proof' | 'known' | 'over'
}

/** The result of a message: the answers, and whether the greeting has ended. */
export interface Greeted {
  answers: Uint8Array[]
  /** The id of the other side, once it has proved itself. */
  known: string | null
  /** Why the greeting was refused, by either side. */
  refused: string | null
}

/** Begins a greeting. @returns with the first messages; the side that was called has none yet */
export function greet(
  self: Self,
  nonce: Uint8Array,
  whom: string | null,
): { greeter: Greeter; first: Uint8Array[] } {
  const greeter: Greeter = { self, nonce, whom, other: null, stage: 'open' }
  return { greeter, first: whom === null ? [] : [opening(greeter, whom)] }
}

/** Returns why a mailbox with that id is refused, or null. */
export type Accepts = (id: string) => string | null

/** Takes a message of the greeting, which is hostile. */
export function hearGreeting(greeter: Greeter, bytes: Uint8Array, accepts: Accepts): Greeted {
  const message = decode(greetingLayout, bytes)
  if (!message) return refuse(greeter, 'what came is no greeting of a mailbox')
  if (message.kind === 'refused') {
    greeter.stage = 'over'
    return { answers: [], known: null, refused: plain(message.why) }
  }
  if (message.kind === 'open' && greeter.stage === 'open') return opened(greeter, message, accepts)
  if (message.kind === 'proof' && greeter.stage === 'proof') return proved(greeter, message.proof)
  return refuse(greeter, 'a greeting came out of turn')
}

function refuse(greeter: Greeter, why: string): Greeted {
  greeter.stage = 'over'
  return { answers: [encode(greetingLayout, { kind: 'refused', why })], known: null, refused: why }
}

function opened(greeter: Greeter, message: Greeting & { kind: 'open' }, accepts: Accepts): Greeted {
  const { self, whom } = greeter
  const { version, from, to, nonce } = message
  if (!isMailId(to) || (from !== '' && !isMailId(from))) {
    return refuse(greeter, 'no mailbox can be called like this')
  }
  const why =
    version !== MAIL_VERSION
      ? `${self.id} speaks version ${MAIL_VERSION} of mailboxes, ${from} version ${version}`
      : to !== self.id
        ? `this is the mailbox of ${self.id}, not of ${plain(to)}`
        : whom !== null && from !== whom
          ? `${whom} was called and ${from} answered`
          : from === self.id || from === ''
            ? `a mailbox cannot be called ${from === '' ? 'nothing' : `${from} like this one`}`
            : accepts(from)
  if (why !== null) return refuse(greeter, why)
  greeter.other = { id: from, nonce }
  greeter.stage = 'proof'
  const first = whom === null ? [opening(greeter, from)] : []
  const proof = proofOf(greeter.self.key, self.id, from, greeter.nonce, nonce)
  return {
    answers: [...first, encode(greetingLayout, { kind: 'proof', proof })],
    known: null,
    refused: null,
  }
}

function proved(greeter: Greeter, proof: Uint8Array): Greeted {
  const { self, nonce } = greeter
  const { id, nonce: theirs } = greeter.other!
  if (!sameBytes(proof, proofOf(self.key, id, self.id, theirs, nonce))) {
    return refuse(greeter, `${id} does not have the key of ${self.id}`)
  }
  greeter.stage = 'known'
  return { answers: [], known: id, refused: null }
}

function opening({ self, nonce }: Greeter, to: string): Uint8Array {
  const { id: from } = self
  return encode(greetingLayout, { kind: 'open', version: MAIL_VERSION, from, to, nonce })
}

function proofOf(
  key: string,
  from: string,
  to: string,
  ours: Uint8Array,
  theirs: Uint8Array,
): Uint8Array {
  const text = new TextEncoder()
  const said = ['holdfast mailbox', from, to].map((word) => text.encode(`${word}\0`))
  const parts = [...said, ours, theirs]
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    joined.set(part, at)
    at += part.length
  }
  return hmac(sha256, text.encode(key), joined).slice(0, NONCE_BYTES)
}
