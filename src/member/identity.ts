/**
 * Who a player is: an Ed25519 key, which signs each JOIN. The primary lets in nobody whose
 * signature is wrong, so no one becomes a player whose key they do not have, neither by what they
 * saw of it nor by carrying its messages.
 */

import { toHub } from '../directory/messages.ts'
import { otherVersion } from '../session/membership.ts'
import { claimOf, type Join, joinLayout, type Joined, joinedLayout } from '../session/messages.ts'
import { SESSION_VERSION } from '../session/messages.ts'
import * as session from '../session/session.ts'
import { createReader, readVarint } from '../wire/bytes.ts'
import { decode, encode } from '../wire/layout.ts'
import { compute } from './curves.ts'
import type { CurveJob, CurveQuestion, Runtime } from './state.ts'

/** JOINs whose signatures are being checked; one more is dropped, and its process asks again. */
export const CHECKS_MAX = 64

/** Has our JOIN signed, and then sends it. */
export function sign(run: Runtime, to: string, join: Omit<Join, 'signature'>): void {
  const { seed } = run.member.wish.identity
  const message = claimOf(to, join)
  compute(run, { kind: 'sign', session: to, join }, { kind: 'sign', seed, message })
}

/** A process asks for membership: its signature is checked, and then the session hears of it. */
export function check(
  run: Runtime,
  { session: to, from, blob }: { session: string; from: number; blob: Uint8Array },
): void {
  const { counters, curves } = run.member
  const version = versionOf(blob)
  if (version !== SESSION_VERSION) return refuse(run, to, from, otherVersion(version))
  const join = decode(joinLayout, blob)
  if (!join) return void counters.malformed++
  if (curves.jobs.size >= CHECKS_MAX) return void counters.unchecked++
  const { key, signature } = join
  const question: CurveQuestion = { kind: 'verify', key, signature, message: claimOf(to, join) }
  compute(run, { kind: 'verify', session: to, from, blob: blob.slice() }, question)
}

// All versions begin so; 0 if it is none.
function versionOf(blob: Uint8Array): number {
  const reader = createReader(blob)
  const version = readVarint(reader)
  return reader.failed ? 0 : version
}

function refuse(run: Runtime, of: string, to: number, answer: Joined): void {
  const blob = encode(joinedLayout, answer)
  run.ports.hub(encode(toHub, { kind: 'reply', session: of, to, blob }))
}

/** Our JOIN is signed, and leaves if it is still wanted. */
export function signed(
  run: Runtime,
  job: CurveJob & { kind: 'sign' },
  signature: Uint8Array,
): void {
  const { phase, found } = run.member
  if ((phase !== 'asking' && phase !== 'in') || found !== job.session) return
  const blob = encode(joinLayout, { ...job.join, signature })
  run.ports.hub(encode(toHub, { kind: 'signal', session: found, blob }))
}

/** The signature of a JOIN is checked. */
export function checked(run: Runtime, job: CurveJob & { kind: 'verify' }, isRight: boolean): void {
  const { member, now, out } = run
  if (!isRight) return void member.counters.forged++
  const { session: to, from, blob } = job
  if (to !== member.session.id) return
  session.hubSaid(member.session, now, { kind: 'signal', session: to, from, blob }, out)
}
