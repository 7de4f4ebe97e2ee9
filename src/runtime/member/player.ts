/** The player that a process is: the seed of a token or a new one, and the curves it signs with. */

import type { CurveQuestion, Identity } from '../../member/state.ts'
import { type Curves, type Environment, KEY_BYTES, type Later } from '../../ports.ts'

/** A player, and what it computes with. */
export interface Player {
  curves: Curves
  identity: Identity
}

/** The player of a token, or without one somebody new. */
export async function openPlayer(
  environment: Environment,
  token: { seed: Uint8Array } | null,
): Promise<Player> {
  const curves = await environment.curves()
  const seed = token?.seed ?? environment.loop.random(KEY_BYTES)
  return { curves, identity: { seed, key: await curves.signer(seed) } }
}

/** What curves say to a question of the member. */
export function answerOf(curves: Curves, question: CurveQuestion): Later<Uint8Array | boolean> {
  const { message } = question
  if (question.kind === 'sign') return curves.sign(question.seed, message)
  return curves.verify(question.key, message, question.signature)
}
