/**
 * Why a process does not get in: what it found at the hub's address, and what the hub answered. A
 * first join fails as soon as the reason is sure; a process that was in before has the right
 * address, and waits.
 */

import type { ErrorCode, Millis } from '../machine.ts'
import type { Met } from '../ports.ts'
import { plain } from '../wire/plain.ts'
import { JOIN_MS, mayFound, type Runtime } from './state.ts'

/**
 * How long a first join tolerates what it found. A hub may be in the middle of a restart: a proxy
 * before it answers for an instant like a wrong address, and for a few seconds nobody listens.
 */
export const BEAR_MS: Readonly<Record<Met['kind'], Millis>> = {
  denied: 0,
  wrong: 1_000,
  passing: 5_000,
}
/** A process that was in before waits so many times longer. */
export const BACK_FACTOR = 4

/** Something else than a hub is at the hub's address, or nobody. */
export function met({ member, now }: Runtime, what: Met): void {
  if (member.greeted) return
  const since = member.met?.kind === what.kind ? member.met.since : now
  member.met = { kind: what.kind, what: plain(what.what), since }
}

/** When to give up; Infinity for never. */
export function deadline({ member }: Runtime): Millis {
  const { phase, met: found } = member
  if (phase === 'in' || phase === 'out') return Infinity
  if (!found) return member.giveUpAt
  return Math.min(member.giveUpAt, found.since + BEAR_MS[found.kind])
}

/** The reason for giving up, as a sentence: what was found, and where. */
export function verdict(run: Runtime): { code: ErrorCode; why: string } {
  const { member } = run
  const { wish, met: found } = member
  if (found?.kind === 'denied') {
    return { code: 'forbidden', why: `the hub at ${wish.hub} refuses us: ${found.what}` }
  }
  if (found) return { code: 'unreachable', why: `no hub at ${wish.hub}: ${found.what}` }
  const within = `within ${(JOIN_MS * (member.home === '' ? 1 : BACK_FACTOR)) / 1_000} s`
  if (member.hub === 'closed') {
    const silent = `no hub at ${wish.hub} answered ${within}: is it running?`
    const gone = `the hub at ${wish.hub} went away, and did not come back ${within}`
    return { code: 'unreachable', why: member.greeted ? gone : silent }
  }
  if (!member.greeted) {
    const why = `no hub at ${wish.hub}: who takes streams there says nothing that a hub says`
    return { code: 'unreachable', why }
  }
  return { code: 'timeout', why: `${outside(run)} ${within}` }
}

// There is a hub, and still we are not in.
function outside({ member }: Runtime): string {
  const { wish, phase, unfound } = member
  const where = `${wish.game}/${wish.room} at ${wish.hub}`
  if (phase === 'asking' || unfound === '') return `nobody let us into ${where}`
  if (mayFound(wish)) return `the hub did not open ${where}: ${unfound}`
  const cause =
    wish.kind === 'guest'
      ? 'serves: false opens none'
      : "primaries: 'hosts' wants one with a ticket of a host"
  return `the hub is there, but nobody that may serve ${where} (${cause}) came`
}
