/**
 * Processes of the session's model: the shipped session machine with a list of what was done
 * in place of parts, and time that stands still.
 *
 * What a client is told leaves the model at once and is judged there: the claims are about
 * all that could be seen, so nobody needs to see it. Left out are therefore the client's face,
 * and with it the watches: suspicion comes from outside, at any time.
 */

import { KEY_BYTES, SIGNATURE_BYTES } from '../../packages/holdfast/src/ports.ts'
import { digest, fingerprint, proofOf } from '../../packages/holdfast/src/wire/digest.ts'
import { type PeerId, RIGHTS, rulesOf } from '../../packages/holdfast/src/machine.ts'
import type { FromHub, Register, ToHub } from '../../packages/holdfast/src/hub-protocol/messages.ts'
import { clone } from '../../packages/sim/src/checker/clone.ts'
import * as membership from '../../packages/holdfast/src/session/membership.ts'
import {
  type Join,
  type PeerMessage,
  MODERATION_PART,
  moderationLayout,
  type ModerationRequest,
  SESSION_VERSION,
} from '../../packages/holdfast/src/session/messages.ts'
import type { Member } from '../../packages/holdfast/src/replication/layouts.ts'
import { operate } from '../../packages/holdfast/src/session/operations.ts'
import { ATTEMPT_MS, retry } from '../../packages/holdfast/src/session/output.ts'
import { encode } from '../../packages/holdfast/src/wire/layout.ts'
import * as roles from '../../packages/holdfast/src/session/roles.ts'
import { handOver, HANDOVER_MS, proceed } from '../../packages/holdfast/src/session/roles.ts'
import { seeOff } from '../../packages/holdfast/src/session/server.ts'
import * as machine from '../../packages/holdfast/src/session/session.ts'
import * as session from '../../packages/holdfast/src/session/state.ts'
import type { Parts, Session, SessionOut, Turn } from '../../packages/holdfast/src/session/state.ts'
import { type SessionBug, sessionRules } from '../mutants.ts'

/** One process: its session, and the operations that were done there, in order. */
export interface Process {
  session: Session
  done: number[]
}

/** What happens to a process. */
export type Input =
  | { kind: 'receive'; from: PeerId; message: PeerMessage }
  | { kind: 'register'; register: Register }
  /** The hub refuses that request. */
  | { kind: 'refused'; request: number; register: Register }
  /** A request that has no answer is made again. */
  | { kind: 'repeat' }
  /** `id` is unique among all clients. */
  | { kind: 'operation'; from: PeerId; seq: number; id: number }
  | { kind: 'suspect'; peer: PeerId }
  | { kind: 'heard' }
  /** The hub says that the primary lives. */
  | { kind: 'vetoed' }
  | { kind: 'offer'; peer: PeerId }
  | { kind: 'remove'; peer: PeerId }
  | { kind: 'relinked'; peer: PeerId }
  | { kind: 'hub'; up: boolean }
  /** `key`: it asks by the key of the process with that number, if not by its own. */
  | { kind: 'join'; asker: number; key?: number }
  /** A member asks about others: to put one out, to let one in again, or its vote. */
  | { kind: 'conduct'; by: PeerId; seq: number; wish: ModerationRequest }
  /** The members are looked over. */
  | { kind: 'round' }
  | { kind: 'hand-over' }
  /** It took too long, and the primary keeps its role. */
  | { kind: 'keep-role' }

/** What members were told, of which nothing may ever be taken back. */
export type Told =
  | { kind: 'done'; to: PeerId; seq: number; outcome: number }
  | { kind: 'view'; mv: number; members: PeerId[] }
  | { kind: 'joined'; asker: number; inc: PeerId }

/** What a process did outside of itself, in order. */
export interface Effects {
  sent: { to: PeerId; message: PeerMessage }[]
  hub: ToHub[]
  told: Told[]
}

/** The one session of a model. */
export const SESSION_ID = 's'
const PART = 5
const LIMITS = { playersMax: 8, types: '' }

/** No parts at all. */
export const NO_PARTS: Parts = {
  perform: () => null,
  change: () => {},
  collect: () => [],
  published: () => [],
  restore: () => true,
  reopen: () => true,
  unlogged: () => [],
  unloggedChanges: () => [],
  keeps: () => false,
  show: (_part, news) => news,
  news: () => {},
}

/** The secret of the process with that number, in its life with that number. */
export function secretOf(asker: number): Uint8Array {
  return new Uint8Array(16).fill(asker + 1)
}

/** The key of the player of the process with that number. */
export function keyOf(asker: number): Uint8Array {
  return new Uint8Array(KEY_BYTES).fill(asker + 1)
}

/** The terms of the session, and what its founder may do. */
export interface Laws {
  terms: string
  rights: number
}

const PLAIN: Laws = { terms: '', rights: RIGHTS.play }

/** A process that is no member. */
export function fresh(asker: number, bug: SessionBug | null, terms: string = ''): Process {
  // Time stands still, so no token would ever come back.
  const rules = rulesOf({ ...sessionRules(bug), cost: () => 0 })
  const options = { secret: secretOf(asker), ...LIMITS, rules }
  const made = session.create(0, options)
  made.id = SESSION_ID
  made.terms = terms
  made.hub = { up: true, since: 0 }
  return { session: made, done: [] }
}

/** The founder with himself as the only member. */
export function founder(
  bug: SessionBug | null,
  { terms, rights }: Laws = PLAIN,
): { process: Process; effects: Effects } {
  const process = fresh(0, bug, terms)
  const { session: own } = process
  own.me = 1
  own.player = 1
  const { effects, out } = sink(process)
  roles.found({ session: own, now: 0, out })
  const self: Member = { inc: 1, player: 1, ...describe(0), rights }
  membership.enter({ session: own, now: 0, out }, self, 0)
  normalise(process)
  return { process, effects }
}

/** What becomes of a process; the one that is given stays as it is. */
export function step(before: Process, input: Input): { process: Process; effects: Effects } {
  const process = clone(before)
  const { effects, out } = sink(process)
  take(process.session, input, out)
  normalise(process)
  return { process, effects }
}

function take(own: Session, input: Input, out: SessionOut): void {
  switch (input.kind) {
    case 'receive':
      return machine.receive({ session: own, now: 0, out }, input.from, input.message)
    case 'register':
      return machine.receiveFromHub({ session: own, now: 0, out }, said(input.register))
    case 'refused':
      return machine.receiveFromHub({ session: own, now: 0, out }, said(input.register, input))
    case 'repeat':
      return repeat({ session: own, now: 0, out })
    case 'operation': {
      const body = Uint8Array.of(input.id)
      const message = { kind: 'operation', seq: input.seq, part: PART, body } as const
      return operate({ session: own, now: 0, out }, input.from, message)
    }
    case 'suspect':
      return roles.suspect({ session: own, now: 0, out }, input.peer)
    case 'heard':
      return roles.withdrawSuspicion({ session: own, now: 0, out })
    case 'vetoed':
      return machine.receiveFromHub({ session: own, now: 0, out }, alive(own))
    case 'offer':
      return roles.offer({ session: own, now: 0, out }, input.peer)
    case 'remove':
      return membership.remove({ session: own, now: 0, out }, input.peer, 'timeout')
    case 'relinked':
      return machine.onLinked({ session: own, now: 0, out }, input.peer, 'udp')
    case 'hub':
      return input.up ? machine.onHubUp({ session: own, now: 0, out }) : machine.onHubDown(own, out)
    case 'join':
      return void membership.join({ session: own, now: 0, out }, input.asker, wishOf(input))
    case 'conduct':
      return operate({ session: own, now: 0, out }, input.by, conductOf(input))
    case 'round':
      return void seeOff({ session: own, now: 0, out })
    case 'hand-over':
      return void handOver({ session: own, now: 0, out })
    case 'keep-role':
      return proceed({ session: own, now: HANDOVER_MS, out })
    default:
      input satisfies never
  }
}

function conductOf({
  seq,
  wish,
}: Input & { kind: 'conduct' }): PeerMessage & { kind: 'operation' } {
  return { kind: 'operation', seq, part: MODERATION_PART, body: encode(moderationLayout, wish) }
}

function repeat(turn: Turn): void {
  const { session: own } = turn
  if (!('attempt' in own.server)) return
  own.requests = own.server.attempt.request
  own.server.attempt.againAt = 0
  retry(turn)
}

function alive({ server }: Session): FromHub {
  const request = 'attempt' in server ? server.attempt.request : 0
  return { kind: 'alive', request, session: SESSION_ID }
}

function said(register: Register, no: { request: number } | null = null): FromHub {
  const answer = { request: no?.request ?? 0, ok: no === null }
  return { kind: 'register', ...answer, session: SESSION_ID, register, leader: null }
}

/** What a process asks as it joins. */
export function wishOf({ asker, key = asker }: Input & { kind: 'join' }): Join {
  return {
    version: SESSION_VERSION,
    schema: fingerprint(LIMITS.types),
    ...describe(asker),
    key: keyOf(key),
    watches: false,
    resume: null,
    admission: new Uint8Array(SIGNATURE_BYTES),
    signature: new Uint8Array(SIGNATURE_BYTES),
  }
}

function describe(asker: number): Omit<Member, 'inc' | 'player'> {
  const secret = secretOf(asker)
  return {
    name: 'p',
    kind: 'node',
    addresses: [],
    link: keyOf(asker),
    registerHash: digest(proofOf(secret, 'register')),
    key: keyOf(asker),
    rights: RIGHTS.play,
  }
}

function sink(process: Process): { effects: Effects; out: SessionOut } {
  const effects: Effects = { sent: [], hub: [], told: [] }
  const out: SessionOut = {
    send: (to, message) => sent(process, effects, to, message),
    hub: (message) => {
      if (message.kind === 'change' || message.kind === 'members') {
        effects.hub.push(message)
      }
    },
    time: () => 0,
    seal: (segment) => segment,
    answer: (asker, joined) => {
      if (joined.kind === 'joined') effects.told.push({ kind: 'joined', asker, inc: joined.inc })
    },
    emit: () => {},
    parts: {
      ...NO_PARTS,
      perform: (part, body) => {
        const outcome = Uint8Array.of(process.done.length + 1)
        return { outcome, changes: [{ part, bytes: body }], news: [] }
      },
      change: ({ bytes }) => void process.done.push(bytes[0]!),
      collect: () => [{ part: PART, bytes: Uint8Array.from(process.done) }],
      restore: (parts) => {
        process.done = [...parts[0]!.bytes]
        return true
      },
    },
  }
  return { effects, out }
}

function sent(process: Process, effects: Effects, to: PeerId, message: PeerMessage): void {
  const { server, me } = process.session
  switch (message.kind) {
    case 'done':
      effects.told.push({ kind: 'done', to, seq: message.seq, outcome: message.outcome[0]! })
      return
    case 'view':
    case 'change': {
      const last = effects.told.at(-1)
      if (last?.kind === 'view' && last.mv === server.publishedMv) return
      effects.told.push({
        kind: 'view',
        mv: server.publishedMv,
        members: [...server.published.keys()],
      })
      return
    }
    case 'resync':
    case 'leave':
    case 'operation':
      return
    default:
      if (to !== me) effects.sent.push({ to, message })
  }
}

// What no verb of the model reads, or what only the clock and the client would change.
function normalise(process: Process): void {
  const own = process.session
  const { server, client } = own
  own.requests = 0
  own.detectors.clear()
  client.register = { epoch: 0, primary: 0, backup: 0 }
  client.againAt = Infinity
  client.askAt = 0
  client.resyncAt = Infinity
  client.handedAt = -Infinity
  server.log.unackedSince = Infinity
  if ('lead' in server) server.lead.refreshed.clear()
  if ('attempt' in server) server.attempt.againAt = ATTEMPT_MS
}
