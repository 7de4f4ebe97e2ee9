/** Asks the hub's application about each player who may join. */

import { NOT_ADMITTED, REASON_MAX } from '../../holdfast/src/hub-protocol/messages.ts'
import { badValue, type Millis, RIGHTS } from '../../holdfast/src/machine.ts'
import type { Loop } from '../../holdfast/src/ports.ts'
import type { Consult } from './server/hub-options.ts'
import { checkFunction } from '../../holdfast/src/api/options.ts'
import { shown } from '../../holdfast/src/wire/fields/fields.ts'
import { clipped, plain } from '../../holdfast/src/wire/text/plain.ts'

/** A player who wants to join. */
export interface JoinRequest {
  /** The game they ask for. */
  readonly game: string
  /** The room of that game. */
  readonly room: string
  /** The player's public key, in hexadecimal: the same each time they join. */
  readonly key: string
  /** What they may do, by their ticket or in an open room. */
  readonly rights: readonly ('play' | 'watch' | 'host')[]
  /** The id (`jti`) of their ticket; empty for none. */
  readonly ticket: string
  /**
   * What their identity provider says of them (`sub`, `email` …), if they joined with an ID token.
   * Null for others, and for players who come back by their key.
   */
  readonly login: Readonly<Record<string, unknown>> | null
  /** The address of their stream: IPv4, or the first half of IPv6. */
  readonly address: string
  /** Whether they would found the room. */
  readonly founding: boolean
}

/** Nothing or true admits the player. A string refuses with that reason, false without one. */
export type JoinVerdict = string | boolean | undefined | void

/** See `onJoin` of HubOptions. */
export type OnJoin = (request: JoinRequest) => JoinVerdict | Promise<JoinVerdict>

/** How long the hub waits for an answer. */
export const VERDICT_MS: Millis = 5_000

/**
 * How the hub asks; null without `onJoin`. An invalid answer, a throw, and silence reject, and the
 * player is refused. @throws HoldfastError code `bad-value` if it is no function
 */
export function consultWith(onJoin: OnJoin | undefined, loop: Loop): Consult | null {
  if (onJoin === undefined) return null
  checkFunction('onJoin', onJoin)
  return async ({ rights, ...rest }) => {
    const request = { ...rest, rights: wordsOf(rights) }
    return verdictOf(await inTime(loop, () => onJoin(request)))
  }
}

function inTime(loop: Loop, ask: () => JoinVerdict | Promise<JoinVerdict>): Promise<JoinVerdict> {
  return new Promise((resolve, reject) => {
    const alarm = loop.alarm(() => {
      reject(new Error(`onJoin did not answer within ${VERDICT_MS / 1_000} s`))
    })
    alarm.set(loop.now() + VERDICT_MS)
    new Promise<JoinVerdict>((answer) => answer(ask()))
      .finally(() => alarm.cancel())
      .then(resolve, reject)
  })
}

function verdictOf(verdict: unknown): string | null {
  if (verdict === undefined || verdict === true) return null
  if (verdict === false) return 'you may not join this room'
  if (typeof verdict !== 'string') {
    throw badValue(`onJoin returns a string, true, false or nothing: ${shown(verdict)}`)
  }
  return clipped(plain(verdict), REASON_MAX - NOT_ADMITTED.length)
}

function wordsOf(rights: number): JoinRequest['rights'] {
  return (['play', 'watch', 'host'] as const).filter((word) => (rights & RIGHTS[word]) !== 0)
}
