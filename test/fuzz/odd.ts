/**
 * A full room whose members and strangers say well-formed things at the wrong time: every message,
 * JOIN, operation and answer that there is, from anybody, in any state, with every list as long as
 * it may be. Three of the 256 are real sessions, of which one serves and others stand by, take
 * over, hand over and recover; a register answers what they ask. All that they say is encoded, so
 * whatever fits no message throws.
 */

import * as persistence from '../../packages/holdfast/src/session/persistence.ts'
import {
  type FromHub,
  type Register,
  type ToHub,
  toHub,
} from '../../packages/holdfast/src/hub-protocol/messages.ts'
import {
  below,
  chance,
  create as chaosOf,
  pick,
  type Prng,
} from '../../packages/holdfast/src/faults/prng.ts'
import {
  MEMBERS_MAX,
  type Millis,
  type PeerId,
  RIGHTS,
} from '../../packages/holdfast/src/machine.ts'
import { KEY_BYTES, SIGNATURE_BYTES } from '../../packages/holdfast/src/ports.ts'
import { NO_PARTS } from '../../proof/models/processes.ts'
import {
  deltaLayout,
  EXPELLED_MAX,
  type Expulsion,
  LINEAGE_MAX,
  type Member,
  PLAYERS_KEPT_MAX,
  type LeaderStart,
  VOTES_MAX,
} from '../../packages/holdfast/src/replication/layouts.ts'
import * as client from '../../packages/holdfast/src/session/client.ts'
import * as membership from '../../packages/holdfast/src/session/membership.ts'
import {
  MODERATION_PART,
  moderationLayout,
  type Join,
  joinedLayout,
  type PeerMessage,
  peerLayout,
  SESSION_VERSION,
  type View,
} from '../../packages/holdfast/src/session/messages.ts'
import { operate, submit } from '../../packages/holdfast/src/session/operations.ts'
import * as roles from '../../packages/holdfast/src/session/roles.ts'
import * as machine from '../../packages/holdfast/src/session/session.ts'
import {
  create,
  is,
  serves,
  type Session,
  type SessionOut,
  type SessionRules,
} from '../../packages/holdfast/src/session/state.ts'
import { fingerprint } from '../../packages/holdfast/src/wire/digest.ts'
import { encode } from '../../packages/holdfast/src/wire/layout.ts'

const ID = 's'
const MOST = 2 ** 53 - 1
const REAL = 3
const NONE = new Uint8Array(16)
const SIGNATURE = new Uint8Array(SIGNATURE_BYTES)
const BODY = Uint8Array.of(1)
const TERMS = 'expellers=vote;watchers=0'

/** See above. */
export interface Crowd {
  now: Millis
  chaos: Prng
  register: Register
  sessions: Map<PeerId, Session>
  outs: Map<PeerId, SessionOut>
  /** What is under way between real sessions, and what the hub has yet to answer. */
  air: { from: PeerId; to: PeerId; message: PeerMessage }[]
  asked: { by: PeerId; message: ToHub }[]
  nextKey: number
  /** Whose numbers are said: mostly those of whoever hears it. */
  about: PeerId
  /** Most rows that were ever in a view that was told. */
  most: number
  /** How often each kind of step was done. */
  steps: Map<string, number>
}

function keyOf(number: number): Uint8Array {
  const key = new Uint8Array(KEY_BYTES)
  new DataView(key.buffer).setUint32(0, number + 1)
  return key
}

/** A room of 256, full, whose primary has a backup. */
export function crowd(seed: number, rules: SessionRules): Crowd {
  const made: Crowd = {
    ...{ now: 0, chaos: chaosOf(seed), register: { epoch: 1, primary: 1, backup: 0 } },
    ...{ sessions: new Map(), outs: new Map(), air: [], asked: [] },
    ...{ nextKey: 5_000, about: 1, most: 0, steps: new Map() },
  }
  for (let inc = 1; inc <= REAL; inc++) begin(made, inc, rules)
  const [first, out] = [made.sessions.get(1)!, made.outs.get(1)!]
  Object.assign(first, { id: ID, me: 1, player: 1 })
  roles.found({ session: first, now: 0, out })
  membership.enter({ session: first, now: 0, out }, rowOf(1), 0)
  for (let inc = 2; inc <= MEMBERS_MAX; inc++)
    membership.join({ session: first, now: 0, out }, inc, wishOf(inc))
  for (let inc = 2; inc <= REAL; inc++) {
    const own = made.sessions.get(inc)!
    Object.assign(own, { id: ID, me: inc, player: inc })
    client.follow(
      { session: own, now: 0, out: made.outs.get(inc)! },
      { ...viewOf(first), epoch: 1 },
      null,
    )
  }
  for (const own of made.sessions.values()) own.hub.up = true
  return made
}

function begin(made: Crowd, inc: PeerId, rules: SessionRules): void {
  const secret = new Uint8Array(16).fill(inc)
  const given = { secret, playersMax: MEMBERS_MAX, types: '', recovers: true, rules }
  const own = create(0, given)
  own.terms = TERMS
  made.sessions.set(inc, own)
  made.outs.set(inc, outOf(made, inc))
}

function outOf(made: Crowd, me: PeerId): SessionOut {
  // One message to many is encoded once.
  let last: PeerMessage | null = null
  return {
    send: (to, message) => {
      if (message !== last) encode(peerLayout, message)
      last = message
      if (message.kind === 'view') made.most = Math.max(made.most, message.view.members.length)
      if (made.sessions.has(to)) made.air.push({ from: me, to, message })
    },
    hub: (message) => {
      encode(toHub, message)
      if (message.kind === 'change' || message.kind === 'get') made.asked.push({ by: me, message })
    },
    time: () => made.now,
    seal: (segment) => segment,
    answer: (_asker, joined) => void encode(joinedLayout, joined),
    emit: () => {},
    parts: {
      ...NO_PARTS,
      perform: (part, body) => ({
        ...{ outcome: body, changes: [{ part, bytes: body }] },
        news: [{ part, bytes: body }],
      }),
    },
  }
}

function rowOf(inc: PeerId): Member {
  const { link, registerHash, key, rights, name, kind, addresses } = wishOf(inc)
  return { ...{ inc, player: inc, name, kind, addresses }, ...{ link, registerHash, key, rights } }
}

function wishOf(number: number, more: Partial<Join> = {}): Join {
  return {
    ...{ version: SESSION_VERSION, schema: fingerprint(''), name: 'x'.repeat(64) },
    ...{ kind: 'node', watches: false, addresses: ['x'.repeat(52), 'y'.repeat(52)] },
    ...{ link: keyOf(number), registerHash: NONE, key: keyOf(number), rights: RIGHTS.play },
    ...{ admission: SIGNATURE, resume: null, signature: SIGNATURE },
    ...more,
  }
}

const SETTINGS = { terms: '', topology: 'star', playersMax: 16 } as const
const STORED = { settings: SETTINGS, proof: null, lineage: [] }

function viewOf({ server }: Session): View {
  const members = [...server.durable.members.values()]
  const of = { epoch: server.epoch, mv: server.publishedMv, primary: 1, backup: 0, members }
  return { ...of, grant: null, cv: 0, banned: [], votes: [], ...STORED }
}

// A number that means something here, or one at an edge.
function number({ chaos, sessions, register, about }: Crowd): number {
  const own = sessions.get(about)!
  if (chance(chaos, 0.3)) return own.client.view.epoch
  const { log, epoch, publishedMv, durable } = own.server
  const ends = [log.base + log.entries.length, log.acked, log.base, durable.nextInc]
  const known = [...ends, epoch, epoch + 1, publishedMv, own.client.view.mv + 1]
  const edges = [0, 1, 2, 3, 4, MEMBERS_MAX, 257, 2 ** 20, 2 ** 21, 2 ** 32, 2 ** 53 - 1]
  return Math.min(pick(chaos, [...known, ...edges, register.epoch, register.epoch + 1]), MOST)
}

function many<Item>({ chaos }: Crowd, most: number, make: (at: number) => Item): Item[] {
  const length = pick(chaos, [0, 1, 2, most])
  return Array.from({ length }, (_, at) => make(at))
}

function anyRow(made: Crowd): Member {
  return { ...rowOf(1 + below(made.chaos, 600)), player: number(made) }
}

function judged(made: Crowd): Pick<View, 'cv' | 'banned' | 'votes'> {
  const out = (player: number): Expulsion => {
    return { player, inc: player, name: '', key: keyOf(player), ban: true, why: 'x'.repeat(200) }
  }
  return {
    cv: number(made),
    banned: many(made, EXPELLED_MAX, (at) => out(at + 4)),
    votes: many(made, VOTES_MAX, (at) => ({ by: at, against: 4 })),
  }
}

function startOf(made: Crowd): LeaderStart {
  const of = { epoch: number(made), index: number(made), segments: number(made) }
  return { ...of, mark: NONE, imported: chance(made.chaos, 0.5) }
}

function seqs(made: Crowd): { player: number; seq: number }[] {
  return many(made, PLAYERS_KEPT_MAX, (at) => ({
    player: at + 10_000 * below(made.chaos, 9),
    seq: 1,
  }))
}

type Make = (made: Crowd) => PeerMessage
/** One of each kind. */
const MESSAGES: { [Kind in PeerMessage['kind']]: Make } = {
  view: (made) => {
    const members = many(made, MEMBERS_MAX, (at) => rowOf(at + 1))
    const of = { epoch: number(made), mv: number(made), primary: number(made) }
    const view = { ...of, backup: number(made), members, grant: null, ...judged(made) }
    const lineage = many(made, LINEAGE_MAX, () => startOf(made))
    return { kind: 'view', view: { ...view, settings: SETTINGS, proof: null, lineage } }
  },
  change: (made) => {
    const add = chance(made.chaos, 0.8) ? anyRow(made) : null
    const { epoch, mv } = made.sessions.get(made.about)!.client.view
    const of = { epoch, mv: chance(made.chaos, 0.7) ? Math.min(mv + 1, MOST) : number(made) }
    return { kind: 'change', ...of, add, remove: number(made), why: 'left' }
  },
  snapshot: (made) => {
    const of = { epoch: number(made), length: number(made), piece: 0, of: 1 }
    return { kind: 'snapshot', ...of, bytes: new Uint8Array(below(made.chaos, 40)) }
  },
  replicate: (made) => {
    const { log, epoch } = made.sessions.get(made.about)!.server
    const index = log.base + log.entries.length
    const { chaos } = made
    const member = anyRow(made)
    const delta = pick(chaos, [
      encode(deltaLayout, { kind: 'add', member, settled: number(made) }),
      encode(deltaLayout, { kind: 'remove', inc: number(made), why: 'left' }),
      encode(deltaLayout, { kind: 'vote', by: number(made), against: number(made), stands: true }),
      encode(deltaLayout, { kind: 'forget', player: number(made) }),
    ])
    return { kind: 'replicate', epoch, index, delta }
  },
  confirm: (made) => ({ kind: 'confirm', epoch: number(made) }),
  acknowledge: (made) => ({ kind: 'acknowledge', epoch: number(made), length: number(made) }),
  operation: (made) => ({ kind: 'operation', seq: number(made), part: 5, body: BODY }),
  done: (made) => ({ kind: 'done', seq: number(made), outcome: BODY }),
  leave: () => ({ kind: 'leave' }),
  resync: () => ({ kind: 'resync' }),
  stepDown: (made) => ({ kind: 'stepDown', epoch: number(made), grant: null }),
  news: (made) => {
    const of = { index: number(made), player: number(made), seq: number(made) }
    return { kind: 'news', ...of, part: 5, bytes: BODY }
  },
  standing: (made) => ({ kind: 'standing', index: number(made), seqs: seqs(made) }),
  askPromise: (made) => ({ kind: 'askPromise', at: number(made) }),
  promise: (made) => ({ kind: 'promise', at: number(made) }),
  inquire: (made) => ({ kind: 'inquire', epoch: number(made), whole: chance(made.chaos, 0.7) }),
  witness: (made) => {
    const of = { epoch: number(made), index: number(made), settled: number(made) }
    return { kind: 'witness', ...of, ...judged(made) }
  },
  testimony: (made) => {
    const of = { epoch: number(made), piece: 0, of: 1 }
    return { kind: 'testimony', ...of, bytes: new Uint8Array(below(made.chaos, 40)) }
  },
  recovered: (made) => {
    const gone = many(made, MEMBERS_MAX, (at) => ({ player: at, name: 'x' }))
    return { kind: 'recovered', epoch: number(made), witness: 1, gone, silent: number(made) }
  },
  askRoom: (made) => ({ kind: 'askRoom', request: number(made), piece: number(made) }),
  persisted: (made) => {
    return { kind: 'persisted', epoch: number(made), index: number(made), segments: number(made) }
  },
  room: (made) => {
    const of = { request: number(made), piece: 0, of: 1, bytes: BODY }
    return { kind: 'room', ...of, code: 'ok', why: '' }
  },
}
const KINDS = Object.keys(MESSAGES) as PeerMessage['kind'][]

function server({ sessions }: Crowd): [PeerId, Session] | undefined {
  return [...sessions].find(([, own]) => serves(own))
}

// Somebody says something that can be read, whether it is their turn or not.
function speak(made: Crowd): void {
  const [to, own] = pick(made.chaos, [...made.sessions])
  made.about = to
  const { primary } = own.client.view
  const from = pick(made.chaos, [primary, primary, 1, 2, 3, 4, 200, 256, 257, 999])
  const message = MESSAGES[pick(made.chaos, KINDS)](made)
  if (from !== to)
    machine.receive({ session: own, now: made.now, out: made.outs.get(to)! }, from, message)
}

// Whoever is here, was here or comes new asks to join: at whoever serves, and at who does not.
function join(made: Crowd): void {
  const [at, own] = pick(made.chaos, [...made.sessions])
  const { players } = own.server.durable
  const link = keyOf(made.nextKey++)
  const known = [...players.values()].slice(0, chance(made.chaos, 0.5) ? 3 : undefined)
  const key = chance(made.chaos, 0.7) && known.length > 0 ? pick(made.chaos, known).key : link
  const rights = pick(made.chaos, [RIGHTS.play, RIGHTS.watch, RIGHTS.play | RIGHTS.host])
  const resume = chance(made.chaos, 0.3)
    ? { player: number(made), inc: number(made), settled: number(made) }
    : null
  const wish = wishOf(0, { link, key, rights, resume, watches: chance(made.chaos, 0.1) })
  membership.join({ session: own, now: made.now, out: made.outs.get(at)! }, made.nextKey, wish)
}

// An operation of somebody who is here, about others: the next, or one that is not.
function ask(made: Crowd): void {
  const [at, own] = server(made) ?? pick(made.chaos, [...made.sessions])
  const { members, players } = own.server.durable
  if (members.size === 0) return
  const by = pick(made.chaos, [...members.values()])
  const seq = (players.get(by.player)?.lastSeq ?? 0) + pick(made.chaos, [0, 1, 1, 1, 2])
  const player = pick(made.chaos, [...players.keys(), 0, 99_999])
  const wish = pick(made.chaos, [
    { kind: 'vote', player, stands: chance(made.chaos, 0.9) },
    { kind: 'expel', player, ban: chance(made.chaos, 0.5), why: 'x'.repeat(200) },
    { kind: 'pardon', player },
  ] as const)
  const body = chance(made.chaos, 0.5) ? encode(moderationLayout, wish) : BODY
  const part = pick(made.chaos, [MODERATION_PART, 5])
  operate({ session: own, now: made.now, out: made.outs.get(at)! }, by.inc, {
    kind: 'operation',
    seq,
    part,
    body,
  })
}

// The register answers what was asked; now and then something else.
function decide(made: Crowd): void {
  const one = made.asked.shift()
  const own = one && made.sessions.get(one.by)
  if (!own) return
  const { message } = one
  let ok = true
  if (message.kind === 'change') {
    ok = message.expect === made.register.epoch && chance(made.chaos, 0.95)
    const { primary, backup } = message
    if (ok) made.register = { epoch: message.expect + 1, primary, backup }
  }
  const request = 'request' in message ? message.request : 0
  hear(made, one.by, {
    kind: 'register',
    request,
    session: ID,
    ok,
    register: made.register,
    leader: null,
  })
}

function hear(made: Crowd, who: PeerId, message: FromHub): void {
  machine.receiveFromHub(
    { session: made.sessions.get(who)!, now: made.now, out: made.outs.get(who)! },
    message,
  )
}

// The hub says something that can be read.
function hub(made: Crowd): void {
  const who = pick(made.chaos, [...made.sessions.keys()])
  const n = (): number => number(made)
  const { register } = made
  const present = many(made, MEMBERS_MAX, (at) => at + 1)
  const all: FromHub[] = [
    { kind: 'register', request: n(), session: ID, ok: false, register, leader: null },
    { kind: 'register', request: 0, session: ID, ok: true, register, leader: null },
    { kind: 'attached', request: 1, session: ID, register, leader: null, present },
    { kind: 'present', session: ID, inc: n(), here: chance(made.chaos, 0.5) },
    { kind: 'areYouAlive', session: ID, nonce: 1, heard: 1 },
    { kind: 'challenge', session: ID, epoch: n(), nonce: 1 },
    { kind: 'alive', request: n(), session: ID },
    {
      kind: 'kept',
      session: ID,
      number: n(),
      index: n(),
      acks: pick(made.chaos, ['free', 'strict', 'relayed']),
      why: '',
    },
  ]
  hear(made, who, pick(made.chaos, all))
}

// Links, time and the hub come and go.
function befall(made: Crowd): void {
  const [who, own] = pick(made.chaos, [...made.sessions])
  const out = made.outs.get(who)!
  const { chaos, now } = made
  const peer = pick(chaos, [1, 2, 3, 4, 256])
  const acts: (() => void)[] = [
    () => machine.onLinked({ session: own, now, out }, peer, 'udp'),
    () => machine.onEntered({ session: own, now, out }, peer, 'udp'),
    () => machine.markAlive({ session: own, now, out }, peer),
    () =>
      machine.onClosed({ session: own, now, out }, peer, pick(chaos, ['left', 'failed'] as const)),
    () => machine.onStalled({ session: own, now, out }, 900),
    () => void machine.handOver({ session: own, now, out }, chance(chaos, 0.5)),
    () => machine.onHubDown(own, out),
    () => machine.onHubUp({ session: own, now, out }),
    () => {
      if (own.client.pending.length < 60) submit({ session: own, now, out }, 5, BODY)
    },
    () => {
      if (serves(own)) roles.offer({ session: own, now, out }, pick(chaos, [2, 3, 4]))
    },
  ]
  pick(chaos, acts)()
}

function pass(made: Crowd): void {
  made.now += pick(made.chaos, [0, 1, 20, 250, 1_000])
  for (const [inc, own] of made.sessions) {
    machine.wake({ session: own, now: made.now, out: made.outs.get(inc)! })
    const turn = { session: own, now: made.now, out: made.outs.get(inc)! }
    machine.endIfLast(turn)
    persistence.flush(turn)
  }
}

function deliver(made: Crowd): void {
  for (let count = below(made.chaos, 40); count > 0 && made.air.length > 0; count--) {
    const { from, to, message } = made.air.shift()!
    const own = made.sessions.get(to)!
    machine.receive({ session: own, now: made.now, out: made.outs.get(to)! }, from, message)
  }
}

// Where all lost their roles the hub names one of them anew: else nothing is left.
function again(made: Crowd): void {
  if (server(made) || made.asked.length > 0 || !chance(made.chaos, 0.05)) return
  const who = pick(made.chaos, [...made.sessions.keys()])
  const own = made.sessions.get(who)!
  if (!is(own, 'free')) return
  const { epoch, primary } = made.register
  made.register = { epoch: epoch + 1, primary, backup: who }
  hear(made, who, {
    kind: 'register',
    request: 0,
    session: ID,
    ok: true,
    register: made.register,
    leader: null,
  })
}

const STEPS = { speak, join, ask, decide, hub, befall, pass, deliver, again }
const OFTEN = [
  ...(['speak', 'speak', 'speak', 'join', 'ask', 'decide', 'decide'] as const),
  ...(['deliver', 'deliver', 'deliver', 'pass'] as const),
] as const
const NAMES = [...OFTEN, ...(Object.keys(STEPS) as (keyof typeof STEPS)[])]

/** So many steps. What a step throws is thrown, with the number of the step and its kind. */
export function riot(made: Crowd, steps: number): void {
  for (let at = 0; at < steps; at++) {
    const name = pick(made.chaos, NAMES)
    made.steps.set(name, (made.steps.get(name) ?? 0) + 1)
    try {
      STEPS[name](made)
    } catch (error) {
      throw new Error(`step ${at}, ${name}: ${String(error)}`, { cause: error })
    }
  }
}
