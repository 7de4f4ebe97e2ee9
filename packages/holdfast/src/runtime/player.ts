/** The player that a process is: the seed of a token or a new one, and the curves it signs with. */

import type { CurveAnswer, CurveQuestion, Identity } from '../member/state.ts'
import { type Crypto, type Curves, type Environment, KEY_BYTES } from '../ports.ts'
import type { Later } from '../ports.ts'

/** A player, and what it computes with. */
export interface Player {
  crypto: Crypto
  identity: Identity
}

/** The player of a token, or without one somebody new. */
export async function openPlayer(
  environment: Environment,
  token: { seed: Uint8Array } | null,
): Promise<Player> {
  const crypto = await environment.crypto()
  const seed = token?.seed ?? environment.loop.random(KEY_BYTES)
  return { crypto, identity: { seed, key: await crypto.curves.signer(seed) } }
}

/** What curves say to a question of the member. */
export function answerOf(curves: Curves, question: CurveQuestion): Later<CurveAnswer> {
  switch (question.kind) {
    case 'sign':
      return curves.sign(question.seed, question.message)
    case 'verify':
      return curves.verify(question.key, question.message, question.signature)
    case 'agree': {
      const shared = question.pairs.map(([secret, point]) => curves.agree(secret, point))
      const waits = shared.some((one) => one instanceof Promise)
      return waits ? Promise.all(shared.map(async (one) => one)) : (shared as (Uint8Array | null)[])
    }
  }
}
