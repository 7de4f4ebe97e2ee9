/** The requests of a join, to the hub and to the primary, and the reasons why it fails. */

import { HUB_VERSIONS, type ToHub, toHub, LATER } from '../hub-protocol/messages.ts'
import { SESSION_VERSIONS } from '../session/messages.ts'
import { encodeVersions } from '../wire/versions.ts'
import { nextRequest } from '../session/state.ts'
import { digest, proofOf } from '../wire/digest.ts'
import { encode } from '../wire/layout.ts'
import * as joinLink from './join-link.ts'
import { mayFound, type Runtime, JOIN_MS } from './state.ts'
import type { Millis, ErrorCode } from '../machine.ts'
import type { Met } from '../ports.ts'
import { plain } from '../wire/text/plain.ts'

// A first join fails as soon as the reason is sure. A process that was a member before has the
// right address, and waits longer.

/**
 * How long a first join tolerates what it found at the hub's address. While a hub restarts, a proxy
 * before it answers for an instant like a wrong address, and no socket listens for a few seconds.
 */
export const TOLERANCE_MS: Readonly<Record<Met['kind'], Millis>> = {
  denied: 0,
  wrong: 1_000,
  passing: 5_000,
}
/** A process that was a member before waits so many times longer. */
export const BACK_FACTOR = 4

/** The hub's address has no server, or one that is no hub. */
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
  return Math.min(member.giveUpAt, found.since + TOLERANCE_MS[found.kind])
}

/** The reason for giving up, as a sentence: what was found, and where. */
export function failureOf(run: Runtime): { code: ErrorCode; why: string } {
  const { member } = run
  const { options, met: found } = member
  if (found?.kind === 'denied') {
    return { code: 'forbidden', why: `the hub at ${options.hub} refuses us: ${found.what}` }
  }
  if (found) return { code: 'unreachable', why: `no hub at ${options.hub}: ${found.what}` }
  const within = `within ${(JOIN_MS * (member.home === '' ? 1 : BACK_FACTOR)) / 1_000} s`
  if (member.hub === 'closed') {
    const silent = `no hub at ${options.hub} answered ${within}: is it running?`
    const gone = `the hub at ${options.hub} went away, and did not come back ${within}`
    return { code: 'unreachable', why: member.greeted ? gone : silent }
  }
  if (!member.greeted) {
    const why = `no hub at ${options.hub}: who takes streams there says nothing that a hub says`
    return { code: 'unreachable', why }
  }
  return { code: 'timeout', why: `${whyOutside(run)} ${within}` }
}

// Why we are not in although there is a hub.
function whyOutside({ member }: Runtime): string {
  const { options, phase, unfound } = member
  const where = `${options.game}/${options.room} at ${options.hub}`
  if (phase === 'asking' || unfound === '') return `nobody let us into ${where}`
  if (mayFound(options)) return `the hub did not open ${where}: ${unfound}`
  const cause =
    options.kind === 'guest'
      ? 'serves: false opens none'
      : "primaries: 'hosts' wants one with a ticket of a host"
  return `the hub is there, but nobody that may serve ${where} (${cause}) came`
}

/** Sends a message to the hub. */
export function sendToHub(run: Runtime, message: ToHub): void {
  run.ports.hub(encode(toHub, message))
}

/** The first message on a stream. */
export function helloMessage(): ToHub {
  return { kind: 'hello', version: encodeVersions(HUB_VERSIONS) }
}

/** Attaches a stream to our member. */
export function attachMessage({ member: { session: own } }: Runtime): ToHub {
  return {
    kind: 'attach',
    request: nextRequest(own),
    session: own.id,
    inc: own.me,
    proof: proofOf(own.secret, 'register'),
  }
}

/** Asks the hub for the game and room: it finds the session, or creates one with us as founder. */
export function find(run: Runtime): void {
  const { member } = run
  const { options, session: own } = member
  sendToHub(run, {
    kind: 'add',
    request: nextRequest(own),
    game: options.game,
    room: options.room,
    // A process that may not serve opens no session: 0 asks for one that exists.
    playersMax: mayFound(options) ? options.playersMax : 0,
    recovers: options.recovers,
    topology: options.topology,
    terms: options.terms,
    hash: hashOf(own.secret),
    link: member.linkKey.point!,
    key: options.identity.key,
    hosts: options.hosts,
    ticket: options.ticket,
    fresh: member.replacedRoom !== null,
  })
}

/** Asks the primary to let us in. */
export function join(run: Runtime): void {
  const { member } = run
  const { options, session: own } = member
  const asked = {
    version: encodeVersions(SESSION_VERSIONS),
    schema: own.schema,
    name: options.name,
    kind: options.kind,
    watches: options.watches,
    addresses: options.addresses,
    registerHash: hashOf(own.secret),
    link: member.linkKey.point!,
    key: options.identity.key,
    rights: member.admission.rights,
    admission: member.admission.signature,
    resume: member.resume?.session === member.found ? member.resume : null,
  }
  joinLink.sendJoin(run, member.found, asked)
}

/** The hash by which the hub knows an incarnation, from its secret. */
export function hashOf(secret: Uint8Array): Uint8Array {
  return digest(proofOf(secret, 'register'))
}

/** The hub, a room to be opened or found, its server, or the state of the room. */
export type WaitingFor = 'hub' | 'room' | 'server' | 'state'

/** What a join waits for. */
export interface Waiting {
  readonly waitingFor: WaitingFor
  /** Why that takes long, as a sentence; empty if unknown. */
  readonly reason: string
  /** Until when at most, on our clock; Infinity if unknown. */
  readonly until: Millis
}

/** What the join waits for now. */
export function waitingOf(run: Runtime): Waiting {
  const { hub, greeted, phase, met, unfound, giveUpAt } = run.member
  const until = deadline(run)
  if (phase === 'in' || phase === 'out') return { waitingFor: 'state', reason: '', until }
  if (hub === 'closed' || !greeted) return { waitingFor: 'hub', reason: met?.what ?? '', until }
  if (phase === 'asking') return { waitingFor: 'server', reason: '', until }
  const opens = unfound.startsWith(LATER) ? giveUpAt - JOIN_MS : until
  return { waitingFor: 'room', reason: unfound, until: opens }
}
