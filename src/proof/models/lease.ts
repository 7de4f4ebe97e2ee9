/**
 * The lease of a primary that is cut off, in every interleaving of a small scope: the shipped
 * register, a shipped primary and two shipped members that have lost it.
 *
 * Words to and from the hub, questions for promises and the promises themselves are under way
 * for as long as they like and arrive in any order, or never. So long does a change wait for the
 * disk of the hub. Time passes in steps that all
 * clocks share. The claim is the one that recovery rests on: once the register names somebody
 * else, the old primary, which has heard nothing of that, tells nobody what it commits.
 */

import type { Millis, PeerId } from '../../machine.ts'
import type { FromHub, ToHub } from '../../register/messages.ts'
import * as register from '../../register/register.ts'
import type { Directory } from '../../register/register.ts'
import * as client from '../../session/client.ts'
import { LEASE_MS } from '../../session/lease.ts'
import type { PeerMessage } from '../../session/messages.ts'
import { mayTell } from '../../session/output.ts'
import * as recovery from '../../session/recovery.ts'
import * as server from '../../session/server.ts'
import * as machine from '../../session/session.ts'
import type { Session, SessionOut, Variant } from '../../session/state.ts'
import type { Action, Model } from '../../sim/checker.ts'
import { founder, fresh, type Process, SESSION_ID, step } from './processes.ts'

/** How much may happen. */
export interface LeaseScope {
  name: string
  /** Besides the primary. */
  members: number
  /** Steps of time. */
  ticks: number
  /** Rounds in which the hub asks whether the primary lives. */
  asks: number
  /** Rounds in which the primary asks for promises. */
  rounds: number
  /** Requests of each member to recover the session. */
  seeks: number
  variant?: Variant
  /** The hub asks, and so tells what it heard, while a change waits for its disk. */
  asksWhilePending?: true
}

/** Scopes that hold, and how many states they have. */
export const GOOD: readonly {
  scope: LeaseScope
  says: string
  states: number
  deep: boolean
}[] = [
  {
    scope: { name: 'lease-promises', members: 2, ticks: 5, asks: 0, rounds: 1, seeks: 1 },
    says: 'a primary without its hub, members that promise and members that recover',
    states: 10_000,
    deep: false,
  },
  {
    scope: { name: 'lease-words', members: 1, ticks: 5, asks: 2, rounds: 0, seeks: 2 },
    says: 'words between a primary and its hub that come late, and a member that recovers',
    states: 15_000,
    deep: false,
  },
  {
    scope: { name: 'lease-both', members: 1, ticks: 5, asks: 2, rounds: 1, seeks: 1 },
    says: 'words to the hub and promises, late or never',
    states: 161_000,
    deep: true,
  },
]

const PROMISES = GOOD[0]!.scope

/** Planted bugs, and after how many steps the claim breaks. */
export const PLANTED: readonly { scope: LeaseScope; says: string; steps: number }[] = [
  {
    scope: { ...PROMISES, name: 'no-lease', variant: 'no-lease' },
    says: 'a primary tells whatever it likes',
    steps: 7,
  },
  {
    scope: { ...PROMISES, name: 'promise-for-ever', variant: 'promise-for-ever' },
    says: 'to the primary a promise never ends',
    steps: 12,
  },
  {
    scope: { ...PROMISES, name: 'promise-while-asking', variant: 'promise-while-asking' },
    says: 'a member promises although the register has its request',
    steps: 12,
  },
  {
    scope: {
      name: 'asks-while-pending',
      members: 1,
      ticks: 5,
      asks: 2,
      rounds: 0,
      seeks: 2,
      asksWhilePending: true,
    },
    says: 'the hub tells what it heard although the disk is about to have the next primary',
    steps: 12,
  },
]

/** One step of time: the spans of the lease are whole numbers of it. */
const TICK_MS: Millis = 5_000

/** What is under way. */
type Word =
  | { to: 'hub'; from: PeerId; said: ToHub }
  | { to: PeerId; from: 'hub'; said: FromHub }
  | { to: PeerId; from: PeerId; told: PeerMessage }

/** Everything at one instant. */
export interface LeaseScene {
  now: Millis
  directory: Directory
  /** The primary, then the members. */
  sessions: Session[]
  air: Word[]
  /** Whose change waits for the disk. */
  asked: { from: PeerId; request: number } | null
  left: { ticks: number; asks: number; rounds: number; seeks: number[] }
}

/** The model of that scope. */
export function leaseModel(scope: LeaseScope): Model<LeaseScene> {
  return {
    name: scope.name,
    init: () => begin(scope),
    actions: (scene) => actions(scope, scene),
    always: { 'lease.safe': safe },
    sometimes: {
      'the session recovered': (scene) => registerOf(scene).primary !== 1,
      'silent although nobody recovered': (scene) => !told(scene) && registerOf(scene).epoch === 1,
      ...(scope.rounds > 0 && {
        'told by promises alone': (scene: LeaseScene) =>
          told(scene) && scene.now >= scene.sessions[0]!.server.lease.until,
      }),
      ...(scope.asks > 1 && {
        'the lease renewed': ({ sessions }: LeaseScene) =>
          sessions[0]!.server.lease.until > LEASE_MS,
      }),
    },
    canonical: essence,
    show,
  }
}

function registerOf(scene: LeaseScene): register.Row['entry']['register'] {
  return register.find(scene.directory, SESSION_ID)!.entry.register
}

function told({ sessions, now }: LeaseScene): boolean {
  return mayTell(sessions[0]!, now)
}

function safe(scene: LeaseScene): true | string {
  const { primary } = registerOf(scene)
  if (primary === 1 || !told(scene)) return true
  return `${primary} recovered the session, and 1 still tells what it commits at ${scene.now} ms`
}

function begin({ members: count, ticks, asks, rounds, seeks, variant }: LeaseScope): LeaseScene {
  const incs = Array.from({ length: count }, (_none, i) => i + 2)
  let process: Process = founder(variant ?? null).process
  for (const inc of incs) process = step(process, { kind: 'join', asker: inc - 1 }).process
  const primary = process.session
  primary.recovers = true
  primary.server.lease.counts = true
  primary.server.lease.until = LEASE_MS
  // The hub has heard of all of them.
  primary.server.lease.known = true
  const members = incs.map((inc) => lonely(inc, primary, variant ?? null))
  return {
    now: 0,
    directory: directoryOf(primary, incs),
    sessions: [primary, ...members],
    air: [],
    asked: null,
    left: { ticks, asks, rounds, seeks: incs.map(() => seeks) },
  }
}

function directoryOf(primary: Session, incs: readonly PeerId[]): Directory {
  const directory = register.create(0)
  const listed = [...primary.server.durable.members.values()].map((member) => {
    return { inc: member.inc, player: member.player, hash: member.registerHash }
  })
  const out = { send() {}, record() {}, emit() {} }
  const wish = {
    game: 'g',
    room: 'r',
    playersMax: 8,
    recovers: true,
    topology: 'star' as const,
    terms: '',
    hash: listed[0]!.hash,
  }
  register.add(directory, 0, wish, SESSION_ID, out)
  register.setMembers(directory, SESSION_ID, 1, listed, out)
  settle(directory, 0)
  for (const inc of incs) register.present(directory, 0, SESSION_ID, inc, true)
  return directory
}

// A member that lost its primary long ago: whether it hears the primary now and then or not, it
// asks for the session as soon as the rules let it.
function lonely(inc: PeerId, primary: Session, variant: Variant | null): Session {
  const { session } = fresh(inc - 1, variant)
  const members = [...primary.server.durable.members.values()]
  session.me = inc
  session.recovers = true
  session.client.view = { epoch: 1, mv: members.length, primary: 1, backup: 0, members }
  session.client.register = { epoch: 1, primary: 1, backup: 0 }
  session.client.lost = true
  session.client.lostAt = -Infinity
  return session
}

function* actions(scope: LeaseScope, scene: LeaseScene): Iterable<Action<LeaseScene>> {
  const { left, air, sessions } = scene
  if (left.ticks > 0) yield { label: `${TICK_MS} ms pass`, environment: true, next: pass }
  if (left.asks > 0)
    yield { label: 'the hub asks whether 1 lives', next: (copy) => askAlive(scope, copy) }
  if (left.rounds > 0) yield { label: '1 asks for promises', next: askPromises }
  for (const [at, count] of left.seeks.entries()) {
    const session = sessions[at + 1]!
    if (count === 0 || session.server.role !== 'idle') continue
    yield { label: `${session.me} asks to recover`, next: (copy) => seek(copy, at) }
  }
  if (scene.asked) yield { label: 'the disk of the hub has the change', next: keep }
  for (const [at, word] of air.entries()) {
    yield { label: labelOf(word), next: (copy) => arrive(copy, at) }
  }
}

function pass(scene: LeaseScene): void {
  scene.left.ticks--
  scene.now += TICK_MS
}

function askAlive(scope: LeaseScope, scene: LeaseScene): void {
  scene.left.asks--
  scene.directory.askAt = scene.now
  const send = (to: PeerId, said: register.Question): void => put(scene, { to, from: 'hub', said })
  const row = register.find(scene.directory, SESSION_ID)!
  const { pending } = row
  if (scope.asksWhilePending) row.pending = null
  register.wake(scene.directory, scene.now, { send, record() {}, emit() {} })
  row.pending = pending
}

function askPromises(scene: LeaseScene): void {
  scene.left.rounds--
  const [primary] = scene.sessions
  primary!.server.lease.askAt = scene.now
  server.lookAtLease(primary!, scene.now, outOf(scene, 1))
}

function seek(scene: LeaseScene, at: number): void {
  scene.left.seeks[at]!--
  const session = scene.sessions[at + 1]!
  recovery.seek(session, scene.now, outOf(scene, session.me))
}

function arrive(scene: LeaseScene, at: number): void {
  const [word] = scene.air.splice(at, 1)
  if (word!.to === 'hub') return reachHub(scene, word!)
  const session = scene.sessions[word!.to - 1]!
  const out = outOf(scene, session.me)
  if (word!.from === 'hub') return machine.hubSaid(session, scene.now, word!.said, out)
  // Of a member only what it has promised is looked at: its connection stays lost.
  const { told: message } = word as Word & { told: PeerMessage }
  if (message.kind === 'askPromise') client.promise(session, scene.now, 1, message.at, out)
  if (message.kind === 'promise') machine.receive(session, scene.now, word!.from, message, out)
}

function reachHub(scene: LeaseScene, { from, said }: Word & { to: 'hub' }): void {
  const { directory, now } = scene
  if (said.kind === 'yes') register.yes(directory, now, said, from)
  if (said.kind !== 'change') return
  const { request } = said
  if (register.change(directory, now, said, { send() {}, record() {}, emit() {} })) {
    scene.asked = { from, request }
  } else answer(scene, from, request, false)
}

// Who asks while a change waits is refused here; in the shipped hub it waits as well.
function keep(scene: LeaseScene): void {
  const { from, request } = scene.asked!
  scene.asked = null
  settle(scene.directory, scene.now)
  answer(scene, from, request, true)
}

function settle(directory: Directory, now: Millis): void {
  register.recordOf(directory, SESSION_ID)
  register.kept(directory, now, SESSION_ID, { emit() {} })
}

function answer(scene: LeaseScene, to: PeerId, request: number, ok: boolean): void {
  const known = { ...registerOf(scene) }
  const said = { kind: 'register', request, session: SESSION_ID, ok, register: known } as const
  put(scene, { to, from: 'hub', said })
}

function put(scene: LeaseScene, word: Word): void {
  scene.air.push(word)
}

function outOf(scene: LeaseScene, from: PeerId): SessionOut {
  const nothing = (): void => {}
  return {
    send: (to, message) => {
      const counts = message.kind === 'askPromise' || message.kind === 'promise'
      if (counts) put(scene, { to, from, told: message })
    },
    hub: (said) => {
      if (said.kind === 'yes' || said.kind === 'change') put(scene, { to: 'hub', from, said })
    },
    emit: nothing,
    news: nothing,
    show: (_part, news) => news,
    part: () => 0,
    told: () => [],
    perform: () => null,
    change: nothing,
    keeps: () => false,
    collect: () => [],
    restore: nothing,
  }
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
  const { lease } = sessions[0]!.server
  const promises = [...lease.promises].sort(([one], [other]) => one - other)
  const own = [lease.until, lease.known, promises, [...lease.sent]]
  const others = sessions
    .slice(1)
    .map(({ server: { role, attempt }, client: { promisedUntil } }) => {
      return [role, attempt?.request ?? 0, Math.max(promisedUntil, now) - now]
    })
  const waits = [scene.asked, row.pending?.register ?? null]
  const words = air.map(essenceOf).sort()
  return [now, hub, directory.nonce, own, others, words, waits, Object.values(left)]
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
  const { lease } = scene.sessions[0]!.server
  const given = [...lease.promises].map(([inc, until]) => `${inc} until ${until}`)
  const members = scene.sessions.slice(1).map(({ me, server: own }) => `${me} ${own.role}`)
  const may = told(scene) ? 'may tell' : 'is silent'
  const words = `lease until ${lease.until}, promises [${given.join(', ')}]`
  const who = `register (${epoch}, ${primary}); 1 ${may}`
  return `${scene.now} ms, ${who}, ${words}; ${members.join(', ')}`
}
