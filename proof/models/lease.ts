/**
 * The lease of a primary that is cut off, in every interleaving of a small scope: the shipped
 * register, a shipped primary and two shipped members that have lost it.
 *
 * Words to and from the hub, questions for promises and the promises themselves are under way
 * for as long as they like and arrive in any order, or never. So long does a change wait for the
 * disk of the hub. Time passes in steps that all clocks share. The claim is the one that recovery
 * rests on: once the register names somebody else, who served before, and has heard nothing of
 * that, tells nobody what it commits by itself.
 */

import { assert, type Millis, type PeerId } from '../../packages/holdfast/src/machine.ts'
import type { FromHub, ToHub } from '../../packages/holdfast/src/hub-protocol/messages.ts'
import * as register from '../../packages/hub/src/machine/register.ts'
import type { Registers } from '../../packages/hub/src/machine/register.ts'
import * as client from '../../packages/holdfast/src/session/client.ts'
import { type Lease, LEASE_MS } from '../../packages/holdfast/src/session/lease.ts'
import type { PeerMessage } from '../../packages/holdfast/src/session/messages.ts'
import { mayPublish } from '../../packages/holdfast/src/session/output.ts'
import { remove } from '../../packages/holdfast/src/session/membership.ts'
import * as recovery from '../../packages/holdfast/src/session/recovery.ts'
import * as roles from '../../packages/holdfast/src/session/roles.ts'
import * as server from '../../packages/holdfast/src/session/server.ts'
import * as machine from '../../packages/holdfast/src/session/session.ts'
import {
  idleServer,
  leadOf,
  NO_VIEW,
  serves,
  type Session,
  type SessionOut,
} from '../../packages/holdfast/src/session/state.ts'
import type { SessionBug } from '../mutants.ts'
import type { Action, Model } from '../../packages/sim/src/checker/checker.ts'
import { clone } from '../../packages/sim/src/checker/clone.ts'
import { founder, fresh, NO_PARTS, type Process, SESSION_ID, step } from './processes.ts'
import type { Rows } from './rows.ts'

/** All spans of the lease are whole numbers of it. */
export const SPAN_MS: Millis = 5_000

/** What is under way. */
type Word =
  | { to: 'hub'; from: PeerId; said: ToHub }
  | { to: PeerId; from: 'hub'; said: FromHub }
  | { to: PeerId; from: PeerId; told: PeerMessage }

/**
 * Everything at one instant. Copies share the sessions, the directory and what is under way: a
 * step takes what it changes through `sessionOf` and `hubOf`.
 */
export interface LeaseScene {
  now: Millis
  directory: Registers
  /** The primary, then the members. */
  sessions: Session[]
  air: Word[]
  /** Whose change waits for the disk. */
  asked: { from: PeerId; request: number } | null
  left: { ticks: number; asks: number; rounds: number; removals: number; seeks: number[] }
}

/** The model of that scope. */
export function leaseModel(name: string, scope: LeaseScope): Model<LeaseScene> {
  return {
    name,
    init: () => begin(scope),
    actions: (scene) => actions(scope, scene),
    always: { 'lease.safe': safe },
    sometimes: {
      'the session recovered': (scene) => registerOf(scene).primary !== 1,
      'silent although nobody recovered': (scene) => !told(scene) && registerOf(scene).epoch === 1,
      ...(scope.heir && {
        'the heir took over': ({ sessions }: LeaseScene) => sessions[1]!.server.role === 'alone',
        'recovered after a takeover': (scene: LeaseScene) => registerOf(scene).epoch > 2,
      }),
      ...(scope.removals && {
        'silent although all that are left have promised': (scene: LeaseScene) => {
          const [primary] = scene.sessions
          const lease = leaseOf(primary!)
          const members = primary!.server.published
          const left = [...members.keys()].filter((inc) => inc !== 1)
          const promised = left.every((inc) => (lease.promises.get(inc) ?? 0) > scene.now)
          return lease.removed.size > 0 && promised && !told(scene)
        },
      }),
      ...(scope.rounds > 0 && {
        'told by promises alone': (scene: LeaseScene) =>
          told(scene) && scene.now >= leaseOf(scene.sessions[0]!).until,
      }),
      ...(scope.asks > 1 && {
        'the lease renewed': ({ sessions }: LeaseScene) => leaseOf(sessions[0]!).until > LEASE_MS,
      }),
    },
    canonical: essence,
    copy: copyOf,
    show,
  }
}

function copyOf({ left, sessions, air, ...rest }: LeaseScene): LeaseScene {
  const { seeks, ...others } = left
  return {
    ...rest,
    sessions: sessions.slice(),
    air: air.slice(),
    left: { ...others, seeks: seeks.slice() },
  }
}

// Those that this scene shares with no other.
function sessionOf(scene: LeaseScene, at: number): Session {
  const session = clone(scene.sessions[at]!)
  scene.sessions[at] = session
  return session
}

function hubOf(scene: LeaseScene): Registers {
  scene.directory = clone(scene.directory)
  return scene.directory
}

function registerOf(scene: LeaseScene): register.Row['entry']['register'] {
  return register.find(scene.directory, SESSION_ID)!.entry.register
}

function told({ sessions, now }: LeaseScene): boolean {
  return mayPublish(sessions[0]!, now)
}

// The first of the sessions leads from beginning to end: it hears of nobody who recovers.
function leaseOf(session: Session): Lease {
  return leadOf(session).lease
}

// One with a backup commits nothing by itself: it waits for the backup, which has turned away.
function safe(scene: LeaseScene): true | string {
  const { primary, epoch } = registerOf(scene)
  for (const session of scene.sessions) {
    const { me, server: own } = session
    if (me === primary || own.role !== 'alone' || !mayPublish(session, scene.now)) continue
    return `epoch ${epoch} is ${primary}'s, and ${me} tells what it commits at ${scene.now} ms`
  }
  return true
}

function begin(scope: LeaseScope): LeaseScene {
  const { members: count, ticks, asks, rounds, seeks, removals = 0, heir = false } = scope
  const bug = scope.ruleBug ?? null
  const incs = Array.from({ length: count }, (_none, i) => i + 2)
  let process: Process = founder(bug).process
  for (const inc of incs) process = step(process, { kind: 'join', asker: inc - 1 }).process
  const primary = process.session
  primary.recovers = true
  // The hub has heard of all of them.
  Object.assign(leaseOf(primary), { counts: true, until: LEASE_MS, known: true })
  const members = incs.map((inc) => lonely(inc, primary, bug))
  const directory = directoryOf(primary, incs)
  if (heir) standBy(directory, primary, members)
  return {
    now: 0,
    directory,
    sessions: [primary, ...members],
    air: [],
    asked: null,
    left: {
      ticks,
      asks,
      rounds,
      removals,
      seeks: incs.map((inc) => (heir && inc === 2 ? 0 : seeks)),
    },
  }
}

/** The first of the members is the backup, and has all. */
export function standBy(directory: Registers, primary: Session, members: readonly Session[]): void {
  const [heir] = members
  const named = { epoch: 1, primary: 1, backup: 2 }
  register.find(directory, SESSION_ID)!.entry.register = { ...named }
  for (const { client: own } of members) {
    own.view.backup = 2
    own.register = { ...named }
  }
  const { server: own } = primary
  assert(own.role === 'alone', 'who founds a session is alone')
  const { candidate: _nobody, candidateSince: _never, ...kept } = own
  const beside = { backup: 2, slowSince: Infinity, handoverUntil: null }
  primary.server = { ...kept, role: 'backedup', ...beside }
  const durable = clone(own.durable)
  const { incoming: _nothing, ...idle } = idleServer()
  const follows = { epoch: 1, primary: 1, ackedAt: -Infinity, durable }
  heir!.server = { ...idle, role: 'backup', ...follows }
}

/** A directory that has the session, its members and those streams. */
export function directoryOf(primary: Session, incs: readonly PeerId[]): Registers {
  const directory = register.create(0)
  const listed = [...primary.server.durable.members.values()].map((member) => {
    const { inc, player, registerHash: hash, link, key } = member
    return { inc, player, hash, link, key }
  })
  const out = { send() {}, record() {} }
  const wish = {
    game: 'g',
    room: 'r',
    playersMax: 8,
    recovers: true,
    topology: 'star' as const,
    terms: '',
    hash: listed[0]!.hash,
    link: listed[0]!.link,
    key: listed[0]!.key,
  }
  register.add(directory, 0, wish, SESSION_ID, out)
  register.setMembers(directory, SESSION_ID, 1, { members: listed, players: listed.length }, out)
  settle(directory, 0)
  for (const inc of incs) register.setPresent(directory, 0, SESSION_ID, inc, true)
  return directory
}

/**
 * A member that lost its primary long ago: whether it hears the primary now and then or not, it
 * asks for the session as soon as the rules let it.
 */
export function lonely(inc: PeerId, primary: Session, bug: SessionBug | null): Session {
  const { session } = fresh(inc - 1, bug)
  const members = [...primary.server.durable.members.values()]
  session.me = inc
  session.recovers = true
  session.client.view = {
    epoch: 1,
    mv: members.length,
    primary: 1,
    backup: 0,
    members,
    ...{ grant: null, cv: 0, banned: [], votes: [], proof: null, lineage: [] },
    settings: NO_VIEW.settings,
  }
  session.client.register = { epoch: 1, primary: 1, backup: 0 }
  session.client.lost = true
  session.client.lostAt = -Infinity
  return session
}

function* actions(scope: LeaseScope, scene: LeaseScene): Iterable<Action<LeaseScene>> {
  const { left, air, sessions } = scene
  const { tickMs = SPAN_MS } = scope
  if (left.ticks > 0) {
    yield { label: `${tickMs} ms pass`, environment: true, next: (copy) => pass(copy, tickMs) }
  }
  if (left.asks > 0)
    yield { label: 'the hub asks whether 1 lives', next: (copy) => askAlive(scope, copy) }
  if (left.rounds > 0) yield { label: '1 asks for promises', next: askPromises }
  if (left.removals > 0 && sessions[0]!.server.role === 'alone') {
    const label = `1 removes ${sessions.at(-1)!.me}`
    yield { label, environment: true, next: (copy) => removeLast(scope, copy) }
  }
  if (sessions[1]!.server.role === 'backup') yield { label: '2 takes over', next: takeOver }
  for (const [at, count] of left.seeks.entries()) {
    const session = sessions[at + 1]!
    if (count === 0 || session.server.role !== 'idle') continue
    yield { label: `${session.me} asks to recover`, next: (copy) => seek(copy, at) }
  }
  if (scene.asked) {
    const label = 'the disk of the hub has the change'
    yield { label, next: (copy) => keep(scope, copy) }
  }
  for (const [at, word] of air.entries()) {
    yield { label: labelOf(word), next: (copy) => arrive(scope, copy, at) }
  }
}

function pass(scene: LeaseScene, ms: Millis): void {
  scene.left.ticks--
  scene.now += ms
}

function takeOver(scene: LeaseScene): void {
  roles.suspect({ session: sessionOf(scene, 1), now: scene.now, out: outOf(scene, 2) }, 1)
}

// The last of the members. Its removal is told to the hub, and it does not hear of it.
function removeLast(scope: LeaseScope, scene: LeaseScene): void {
  scene.left.removals--
  const primary = sessionOf(scene, 0)
  remove(
    { session: primary, now: scene.now, out: outOf(scene, 1) },
    scene.sessions.at(-1)!.me,
    'timeout',
  )
  if (scope.bug === 'removed-forgotten') leaseOf(primary).removed.clear()
}

function askAlive(scope: LeaseScope, scene: LeaseScene): void {
  scene.left.asks--
  const directory = hubOf(scene)
  directory.asking.dueAt = scene.now
  const send = (to: PeerId, said: register.Question): void => put(scene, { to, from: 'hub', said })
  const row = register.find(directory, SESSION_ID)!
  const { pending } = row
  if (scope.asksWhilePending) row.pending = null
  register.wake(directory, scene.now, { send, record() {} })
  row.pending = pending
}

function askPromises(scene: LeaseScene): void {
  scene.left.rounds--
  const primary = sessionOf(scene, 0)
  leaseOf(primary).askAt = scene.now
  server.checkLease({ session: primary, now: scene.now, out: outOf(scene, 1) })
}

function seek(scene: LeaseScene, at: number): void {
  scene.left.seeks[at]!--
  const session = sessionOf(scene, at + 1)
  recovery.seek({ session, now: scene.now, out: outOf(scene, session.me) })
}

function arrive(scope: LeaseScope, scene: LeaseScene, at: number): void {
  const [word] = scene.air.splice(at, 1)
  if (word!.to === 'hub') return reachHub(scope, scene, word!)
  const session = sessionOf(scene, word!.to - 1)
  const out = outOf(scene, session.me)
  if (word!.from === 'hub') return hear(scope, scene, session, word!.said)
  // Of a member only what it has promised is looked at: its connection stays lost.
  const { told: message } = word as Word & { told: PeerMessage }
  if (message.kind === 'askPromise') client.promise({ session, now: scene.now, out }, 1, message.at)
  if (message.kind === 'promise')
    machine.receive({ session, now: scene.now, out }, word!.from, message)
}

function hear(
  { bug: plant }: LeaseScope,
  scene: LeaseScene,
  session: Session,
  said: FromHub,
): void {
  const { now } = scene
  const before: string = session.server.role
  machine.receiveFromHub({ session, now, out: outOf(scene, session.me) }, said)
  if (plant === 'leads-from-now' && before === 'taking' && serves(session)) {
    leaseOf(session).until = now + LEASE_MS
  }
}

function reachHub(scope: LeaseScope, scene: LeaseScene, word: Word & { to: 'hub' }): void {
  const { from, said } = word
  const { now } = scene
  const directory = hubOf(scene)
  if (said.kind === 'yes') register.receiveYes(directory, now, said, from)
  if (said.kind === 'members') {
    const out = { send() {}, record() {} }
    register.setMembers(directory, SESSION_ID, from, said, out)
  }
  if (said.kind !== 'change') return
  const { request } = said
  if (change(scope, scene, said)) scene.asked = { from, request }
  else answer(scene, from, request, false)
}

function change(
  { bug: plant }: LeaseScope,
  scene: LeaseScene,
  said: ToHub & { kind: 'change' },
): boolean {
  const { directory, now } = scene
  const row = register.find(directory, SESSION_ID)!
  const { lastYes } = row
  // As if the hub waited less long before it lets a member recover.
  if (plant === 'recovers-early') row.lastYes -= register.RECOVER_MS - SPAN_MS
  const isTaken = register.change(directory, now, said, { record() {} })
  row.lastYes = lastYes
  return isTaken
}

// Who asks while a change waits is refused here; in the shipped hub it waits as well.
function keep({ bug: plant }: LeaseScope, scene: LeaseScene): void {
  const { from, request } = scene.asked!
  const directory = hubOf(scene)
  const row = register.find(directory, SESSION_ID)!
  const { lastYes } = row
  scene.asked = null
  settle(directory, scene.now)
  if (plant === 'change-is-no-word') row.lastYes = lastYes
  answer(scene, from, request, true)
}

function settle(directory: Registers, now: Millis): void {
  register.recordOf(directory, SESSION_ID)
  register.confirmWrite(directory, now, SESSION_ID)
}

function answer(scene: LeaseScene, to: PeerId, request: number, ok: boolean): void {
  const known = { ...registerOf(scene) }
  const more = { ok, register: known, leader: null }
  const said = { kind: 'register', request, session: SESSION_ID, ...more } as const
  put(scene, { to, from: 'hub', said })
}

function put(scene: LeaseScene, word: Word): void {
  scene.air.push(word)
}

function outOf(scene: LeaseScene, from: PeerId): SessionOut {
  return {
    send: (to, message) => {
      const counts = message.kind === 'askPromise' || message.kind === 'promise'
      if (counts) put(scene, { to, from, told: message })
    },
    hub: (said) => {
      const counts = said.kind === 'yes' || said.kind === 'change' || tellsMembers(scene, said)
      if (counts) put(scene, { to: 'hub', from, said })
    },
    time: () => 0,
    seal: (segment) => segment,
    answer: () => {},
    emit: () => {},
    parts: NO_PARTS,
  }
}

// Where nobody is removed the hub has the list that counts.
function tellsMembers({ sessions }: LeaseScene, said: ToHub): boolean {
  const [primary] = sessions
  const alone = primary!.server.role === 'alone'
  return said.kind === 'members' && alone && leaseOf(primary!).removed.size > 0
}

function labelOf(word: Word): string {
  if (word.to === 'hub') return `the hub hears ${word.said.kind} of ${word.from}`
  if (word.from === 'hub') return `${word.to} hears ${word.said.kind} of the hub`
  const { told: message } = word as Word & { told: PeerMessage }
  return `${word.to} gets ${message.kind} of ${word.from}`
}

function essence(scene: LeaseScene): unknown {
  const { now, directory, sessions, air, left } = scene
  const row = register.find(directory, SESSION_ID)!
  const hub = [row.entry.register.epoch, row.entry.register.primary, now - row.lastYes, row.heard]
  const all = sessions.map((session) => {
    const { me, server: its, client: own } = session
    const request = 'attempt' in its ? its.attempt.request : 0
    const mine = [its.role, request, Math.max(own.promisedUntil, now) - now]
    // Of who does not serve the lease is none.
    if (me !== 1 && its.role !== 'alone') return mine
    const lease = leaseOf(session)
    const promises = [...lease.promises].sort(([one], [other]) => one - other)
    const rights = [lease.until, lease.known, promises, [...lease.sent], [...lease.removed]]
    return [...mine, rights]
  })
  const waits = [scene.asked, row.pending?.register ?? null]
  const words = air.map(essenceOf).sort()
  return [now, hub, row.members.length, directory.nonce, all, words, waits, Object.values(left)]
}

function essenceOf(word: Word): string {
  if ('told' in word) return `${word.from} ${word.to} ${JSON.stringify(word.told)}`
  const { said } = word
  const about = 'nonce' in said ? [said.nonce, 'heard' in said ? said.heard : 0] : []
  const ok = said.kind === 'register' ? said.ok : ''
  return `${word.from} ${word.to} ${said.kind} ${about.join(' ')} ${ok}`
}

function show(scene: LeaseScene): string {
  const { epoch, primary } = registerOf(scene)
  const lease = leaseOf(scene.sessions[0]!)
  const given = [...lease.promises].map(([inc, until]) => `${inc} until ${until}`)
  const members = scene.sessions.slice(1).map(({ me, server: own }) => {
    return own.role === 'alone' ? `${me} alone until ${own.lead.lease.until}` : `${me} ${own.role}`
  })
  const may = told(scene) ? 'may tell' : 'is silent'
  const words = `lease until ${lease.until}, promises [${given.join(', ')}]`
  const who = `register (${epoch}, ${primary}); 1 ${may}`
  return `${scene.now} ms, ${who}, ${words}; ${members.join(', ')}`
}

/** How much may happen. */
export interface LeaseScope {
  /** Besides the primary. */
  members: number
  /** Steps of time, and how long each is; 5 s if not given. */
  ticks: number
  tickMs?: Millis
  /** Rounds in which the hub asks whether the primary lives. */
  asks: number
  /** Rounds in which the primary asks for promises. */
  rounds: number
  /** Requests of each member to recover the session. */
  seeks: number
  /** The first member is the backup, and may take over at any time. */
  heir?: true
  /** Times that the primary removes the last of the members, which lives. */
  removals?: number
  ruleBug?: SessionBug
  /** The hub asks, and so tells what it heard, while a change waits for its disk. */
  asksWhilePending?: true
  /** A bug around the machines. */
  bug?: 'recovers-early' | 'change-is-no-word' | 'leads-from-now' | 'removed-forgotten'
}

// Finer than any difference of spans that matters.
const FINE = { members: 1, ticks: 17, tickMs: 1_000 } as const

/** Scopes that hold, and how many states they have. */
export const SCOPES = {
  'lease-promises': {
    says: 'a primary without its hub, members that promise and members that recover',
    scope: { members: 2, ticks: 5, asks: 0, rounds: 1, seeks: 1 },
    states: 10_000,
  },
  'lease-words': {
    says: 'words between a primary and its hub that come late, and a member that recovers',
    scope: { members: 1, ticks: 5, asks: 2, rounds: 0, seeks: 2 },
    states: 15_000,
  },
  'lease-fine-words': {
    says: 'a word that comes late, by steps of a second',
    scope: { ...FINE, asks: 1, rounds: 0, seeks: 1 },
    states: 5_800,
  },
  'lease-fine-promises': {
    says: 'promises that come late, by steps of a second',
    scope: { ...FINE, asks: 0, rounds: 1, seeks: 1 },
    states: 4_600,
  },
  'lease-heir': {
    says: 'a backup that takes over, and a member that recovers after that',
    scope: { members: 2, ticks: 6, asks: 1, rounds: 0, seeks: 2, heir: true },
    states: 16_000,
  },
  'lease-cluster': {
    says: 'a member that is removed, and recovers before the hub hears of that',
    scope: { members: 2, ticks: 4, asks: 0, rounds: 1, seeks: 1, removals: 1 },
    states: 25_000,
  },
  'lease-both': {
    says: 'words to the hub and promises, late or never',
    scope: { members: 1, ticks: 5, asks: 2, rounds: 1, seeks: 1 },
    states: 161_000,
    size: 'deep',
  },
} satisfies Rows<LeaseScope>

/** Mutants, and after how many steps the claim breaks. */
export const MUTANTS = {
  'no-lease': {
    says: 'a primary tells whatever it likes',
    scope: { ...SCOPES['lease-promises'].scope, ruleBug: 'no-lease' },
    violates: [['lease.safe', 7]],
  },
  'promise-for-ever': {
    says: 'to the primary a promise never ends',
    scope: { ...SCOPES['lease-promises'].scope, ruleBug: 'promise-for-ever' },
    violates: [['lease.safe', 12]],
  },
  'promise-while-asking': {
    says: 'a member promises although the register has its request',
    scope: { ...SCOPES['lease-promises'].scope, ruleBug: 'promise-while-asking' },
    violates: [['lease.safe', 12]],
  },
  'asks-while-pending': {
    says: 'the hub tells what it heard although the disk is about to have the next primary',
    scope: { ...SCOPES['lease-words'].scope, asksWhilePending: true },
    violates: [['lease.safe', 12]],
  },
  'recovers-early': {
    says: 'the hub lets a member recover before the lease is over',
    scope: { ...SCOPES['lease-fine-words'].scope, bug: 'recovers-early' },
    violates: [['lease.safe', 9]],
  },
  'change-is-no-word': {
    says: 'a takeover is no word of who took over, and a member recovers too soon',
    scope: { ...SCOPES['lease-heir'].scope, bug: 'change-is-no-word' },
    violates: [['lease.safe', 14]],
  },
  'leads-from-now': {
    says: 'who took over counts its lease from the answer of the hub',
    scope: { ...SCOPES['lease-heir'].scope, bug: 'leads-from-now' },
    violates: [['lease.safe', 14]],
  },
  'removed-forgotten': {
    says: 'who was removed does not count, though the hub has not heard of it',
    scope: { ...SCOPES['lease-cluster'].scope, bug: 'removed-forgotten' },
    violates: [['lease.safe', 11]],
  },
} satisfies Rows<LeaseScope>
