/** Greetings by hand: mailboxes that greet, what is in between, curves that answer at once. */

import {
  completeJob,
  beginHandshake,
  receiveHandshake,
} from '../../packages/mailbox/src/machine/handshake.ts'
import type {
  PeerPolicy,
  HandshakeStep,
  Handshake,
  HandshakeJob,
  Self,
} from '../../packages/mailbox/src/machine/handshake.ts'
import type { OwnKey } from '../../packages/mailbox/src/machine/keys.ts'
import { handshakeLayout } from '../../packages/mailbox/src/machine/messages.ts'
import type { Curves } from '../../packages/holdfast/src/ports.ts'
import { toyCurves } from '../../packages/sim/src/toy-ciphers.ts'
import { decode } from '../../packages/holdfast/src/wire/layout.ts'
import { calmly } from '../calmly.ts'

/** A key that a byte names. */
export function ownKey(byte: number, curves: Curves = toyCurves): OwnKey {
  const seed = new Uint8Array(32).fill(byte)
  return { seed, key: curves.signer(seed) as Uint8Array }
}

/** Lets all in, and knows none. */
export const OPEN_GATE: PeerPolicy = {
  refuses: () => null,
  keyOf: () => null,
  formerKey: () => null,
  strange: (id) => `${id} is known by another key`,
}

/** What curves say to a job, those that answer at once. */
export function answerOf(job: HandshakeJob, curves: Curves = toyCurves): Uint8Array | boolean {
  const answer =
    job.kind === 'sign'
      ? curves.sign(job.seed, job.message)
      : curves.verify(job.key, job.message, job.signature)
  return answer as Uint8Array | boolean
}

/** One side of a greeting; its jobs are done at once. */
export class Side {
  readonly handshake: Handshake
  /** What it said and nobody has taken. */
  said: Uint8Array[]
  known: HandshakeStep['known'] = null
  refused: string | null = null
  counts: HandshakeStep['counts'] = null
  readonly #gate: PeerPolicy
  readonly #curves: Curves

  /** @param whom  is called by it; null where it is called */
  constructor(
    self: Self,
    whom: string | null,
    { gate = OPEN_GATE, curves = toyCurves, nonce = chance(16) }: SideOptions = {},
  ) {
    this.#gate = gate
    this.#curves = curves
    const { handshake, first } = beginHandshake(self, nonce, whom, gate)
    this.handshake = handshake
    this.said = first
  }

  hear(bytes: Uint8Array): void {
    let greeted = calmly(() => receiveHandshake(this.handshake, bytes, this.#gate))
    for (;;) {
      this.said.push(...greeted.answers)
      this.known ??= greeted.known
      this.refused ??= greeted.refused
      this.counts ??= greeted.counts
      if (!greeted.job) return
      greeted = completeJob(this.handshake, answerOf(greeted.job, this.#curves))
    }
  }
}

/** What a side may have besides. */
export interface SideOptions {
  gate?: PeerPolicy
  curves?: Curves
  nonce?: Uint8Array
}

/** Bytes that nobody can know. */
export function chance(count: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(count))
}

/** The kinds of messages. */
export function kindsOf(said: readonly Uint8Array[]): (string | undefined)[] {
  return said.map((bytes) => decode(handshakeLayout, bytes)?.kind)
}

/**
 * All goes to and fro until nobody says anything more.
 *
 * @param change  what becomes of the n-th message
 * @returns the messages as they were said
 */
export function exchange(
  caller: Side,
  called: Side,
  change: (bytes: Uint8Array, n: number, isCallers: boolean) => Uint8Array = (bytes) => bytes,
): Uint8Array[] {
  const all: Uint8Array[] = []
  while (caller.said.length + called.said.length > 0) {
    for (const [from, to] of [
      [caller, called],
      [called, caller],
    ] as const) {
      for (const bytes of from.said.splice(0)) {
        to.hear(change(bytes, all.push(bytes) - 1, from === caller))
      }
    }
  }
  return all
}
