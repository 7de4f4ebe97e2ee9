/**
 * A takeover that is asked for, in every interleaving of a small scope: the shipped register with
 * its challenge, a shipped primary and a shipped backup.
 *
 * Words travel on two streams, in order, for as long as they like; a change waits for the disk of
 * the hub as long. Time passes in steps of the longest bound, after which the hub does what is
 * due. The claims are judged by notes that are kept beside the machines, of what the hub was
 * asked and told, and when.
 */

import { assert, type Millis } from '../../packages/holdfast/src/machine.ts'
import * as challenge from '../../packages/hub/src/machine/challenge.ts'
import type { FromHub, Register, ToHub } from '../../packages/holdfast/src/hub-protocol/messages.ts'
import * as register from '../../packages/hub/src/machine/register.ts'
import type { Registers } from '../../packages/hub/src/machine/register.ts'
import { retry } from '../../packages/holdfast/src/session/output.ts'
import { LEASE_MS } from '../../packages/holdfast/src/session/lease.ts'
import * as roles from '../../packages/holdfast/src/session/roles.ts'
import * as machine from '../../packages/holdfast/src/session/session.ts'
import {
  leadOf,
  serves,
  type Session,
  type SessionOut,
} from '../../packages/holdfast/src/session/state.ts'
import type { Action, Model } from '../../packages/sim/src/checker/checker.ts'
import { directoryOf, lonely, standBy } from './lease.ts'
import { founder, NO_PARTS, SESSION_ID, step } from './processes.ts'
import type { Rows } from './rows.ts'

/** The longest bound, and a fourth of what a veto is worth. */
export const STEP_MS: Millis = challenge.CHALLENGE_MAX_MS
const PRIMARY = 1
const BACKUP = 2

type Change = ToHub & { kind: 'change' }

/** What the hub was asked and told, as who looks on has it. */
interface Notes {
  /** When the takeover that the hub decides upon was asked for; Infinity if there is none. */
  askedAt: Millis
  /** Since when a veto stands that no datagram followed; Infinity if none does. */
  vetoedAt: Millis
  /** When the backup sent the first request of its attempt. */
  sentAt: Millis
  broken: string
  /** What has happened on some way. */
  vetoed: boolean
  granted: '' | 'bound' | 'lapsed' | 'closed'
}

/** Everything at one instant. */
export interface TakeoverScene {
  now: Millis
  directory: Registers
  /** The primary and its backup. */
  sessions: [Session, Session]
  up: [ToHub[], ToHub[]]
  down: [FromHub[], FromHub[]]
  stands: boolean
  frozen: boolean
  /** Whose change waits for the disk. */
  asked: { at: number; request: number } | null
  notes: Notes
  left: Required<Omit<TakeoverScope, 'name' | 'bug'>>
}

/** The model of that scope. */
export function takeoverModel(name: string, scope: TakeoverScope): Model<TakeoverScene> {
  const broken = (property: string) => (scene: TakeoverScene) => {
    return scene.notes.broken.startsWith(`${property}:`) ? scene.notes.broken : true
  }
  const granted = (how: Notes['granted']) => (scene: TakeoverScene) => scene.notes.granted === how
  return {
    name,
    init: () => begin(scope),
    actions: (scene) => actions(scope, scene),
    always: {
      'takeover.asked': broken('takeover.asked'),
      'takeover.ends': (scene) => ends(scene),
      'takeover.register': registered,
      'takeover.lease': leased,
    },
    sometimes: {
      vetoed: ({ notes }) => notes.vetoed,
      'taken over': ({ sessions }) => serves(sessions[1]),
      'granted after the bound': granted('bound'),
      ...(scope.relays === 0 && { 'granted as the veto lapsed': granted('lapsed') }),
      ...(scope.closes && { 'granted as the stream closed': granted('closed') }),
      ...(scope.drops && { dropped: ({ sessions }) => sessions[0].server.role === 'alone' }),
    },
    canonical: essence,
    show,
  }
}

function registerOf({ directory }: TakeoverScene): Register {
  return register.find(directory, SESSION_ID)!.entry.register
}

// A takeover that is asked for ends, in a veto that may stand or in the compare-and-set.
function ends({ now, notes, directory }: TakeoverScene): true | string {
  if (notes.broken.startsWith('takeover.ends:')) return notes.broken
  const isWaiting = directory.challenges.has(SESSION_ID)
  if (!isWaiting || now - notes.askedAt <= STEP_MS) return true
  return `takeover.ends: asked for at ${notes.askedAt} ms, undecided at ${now} ms`
}

// Nobody leads in an epoch that the register does not have yet, or gave to another.
function registered(scene: TakeoverScene): true | string {
  const { epoch, primary } = registerOf(scene)
  for (const { me, server } of scene.sessions) {
    if (server.role !== 'alone' || server.epoch < epoch) continue
    if (server.epoch > epoch || primary !== me) {
      return `${me} leads in epoch ${server.epoch}; epoch ${epoch} is ${primary}'s`
    }
  }
  return true
}

// The hub counts from the grant; who leads counts from before, whatever the primary was asked.
function leased({ sessions, notes }: TakeoverScene): true | string {
  const [, backup] = sessions
  if (backup.server.role !== 'alone') return true
  const { until } = leadOf(backup).lease
  const since = notes.sentAt
  return until <= since + LEASE_MS || `its lease is until ${until}, and it asked at ${since}`
}

function begin(scope: TakeoverScope): TakeoverScene {
  const first = founder(null).process
  const primary = step(first, { kind: 'join', asker: 1 }).process.session
  primary.recovers = true
  const backup = lonely(BACKUP, primary, null)
  const directory = directoryOf(primary, [PRIMARY, BACKUP])
  standBy(directory, primary, [backup])
  const { freezes = 0, closes = 0, drops = 0, ticks, suspicions, repeats, relays } = scope
  const never = { askedAt: Infinity, vetoedAt: Infinity, sentAt: Infinity }
  return {
    now: 0,
    directory,
    sessions: [primary, backup],
    up: [[], []],
    down: [[], []],
    stands: true,
    frozen: false,
    asked: null,
    notes: { ...never, broken: '', vetoed: false, granted: '' },
    left: { ticks, suspicions, repeats, relays, freezes, closes, drops },
  }
}

function* actions(scope: TakeoverScope, scene: TakeoverScene): Iterable<Action<TakeoverScene>> {
  const { left, sessions, frozen, stands } = scene
  const { role } = sessions[1].server
  if (left.ticks > 0) yield { label: `${STEP_MS} ms pass`, next: (copy) => pass(scope, copy) }
  if (left.suspicions > 0 && role === 'backup')
    yield { label: '2 suspects 1', environment: true, next: suspect }
  if (left.repeats > 0 && role === 'taking')
    yield { label: '2 asks again', environment: true, next: repeat }
  if (left.drops > 0 && !frozen && sessions[0].server.role === 'backedup')
    yield { label: '1 suspects 2', environment: true, next: drop }
  if (left.freezes > 0 && !frozen) {
    const next = (copy: TakeoverScene): void => {
      copy.left.freezes--
      copy.frozen = true
    }
    yield { label: '1 stands still', environment: true, next }
  }
  if (left.closes > 0 && stands) {
    const next = (copy: TakeoverScene): void => close(scope, copy)
    yield { label: 'the stream of 1 closes', environment: true, next }
  }
  if (left.relays > 0 && stands && !frozen) yield { label: 'the relay has one of 1', next: relay }
  yield* words(scope, scene)
}

function* words(scope: TakeoverScope, scene: TakeoverScene): Iterable<Action<TakeoverScene>> {
  const { asked, up, down, frozen } = scene
  if (asked) yield { label: 'the disk has the change', next: keep }
  for (const at of [0, 1]) {
    const who = at + 1
    // What asks for a change waits for the disk.
    if (up[at]!.length > 0 && (asked === null || up[at]![0]!.kind !== 'change')) {
      const label = `the hub hears ${up[at]![0]!.kind} of ${who}`
      yield { label, next: (copy) => reachHub(scope, copy, at) }
    }
    if (down[at]!.length === 0 || (at === 0 && frozen)) continue
    const label = `${who} hears ${down[at]![0]!.kind}`
    yield { label, next: (copy) => hear(scope, copy, at) }
  }
}

function pass(scope: TakeoverScope, scene: TakeoverScene): void {
  scene.left.ticks--
  scene.now += STEP_MS
  grantDue(scope, scene)
}

function suspect(scene: TakeoverScene): void {
  scene.left.suspicions--
  scene.notes.sentAt = scene.now
  roles.suspect({ session: scene.sessions[1], now: scene.now, out: outOf(scene, 1) }, PRIMARY)
}

function repeat(scene: TakeoverScene): void {
  scene.left.repeats--
  const [, backup] = scene.sessions
  const { server } = backup
  assert(server.role === 'taking', 'who takes over asks again')
  server.attempt.againAt = scene.now
  retry({ session: backup, now: scene.now, out: outOf(scene, 1) })
}

function drop(scene: TakeoverScene): void {
  scene.left.drops--
  roles.suspect({ session: scene.sessions[0], now: scene.now, out: outOf(scene, 0) }, BACKUP)
}

function relay(scene: TakeoverScene): void {
  scene.left.relays--
  scene.notes.vetoedAt = Infinity
  challenge.noteRelayed(scene.directory, SESSION_ID, PRIMARY, BACKUP)
}

function close(scope: TakeoverScope, scene: TakeoverScene): void {
  scene.left.closes--
  scene.stands = false
  scene.up[0] = []
  scene.down[0] = []
  const { directory, now } = scene
  register.setPresent(directory, now, SESSION_ID, PRIMARY, false)
  challenge.setPresent(directory, now, SESSION_ID, PRIMARY, false, toPrimary(scene))
  machine.onHubDown(scene.sessions[0], outOf(scene, 0))
  grantDue(scope, scene)
}

function hear({ bug }: TakeoverScope, scene: TakeoverScene, at: number): void {
  const said = scene.down[at]!.shift()!
  const session = scene.sessions[at]!
  const before: string = session.server.role
  machine.receiveFromHub({ session, now: scene.now, out: outOf(scene, at) }, said)
  const isLed = before === 'taking' && serves(session)
  if (bug === 'lease-from-grant' && isLed) {
    leadOf(session).lease.until = scene.now + LEASE_MS
  }
}

function reachHub(scope: TakeoverScope, scene: TakeoverScene, at: number): void {
  const said = scene.up[at]!.shift()!
  if (said.kind === 'alive') answer(scope, scene, said)
  if (said.kind !== 'change') return
  if (said.why === 'takeover') ask(scope, scene, said)
  else compareAndSet(scene, said)
}

function ask({ bug }: TakeoverScope, scene: TakeoverScene, said: Change): void {
  const { directory, now, notes } = scene
  if (!register.allows(directory, now, said)) return void compareAndSet(scene, said)
  if (!directory.challenges.has(SESSION_ID)) notes.askedAt = now
  const asked = challenge.ask(directory, now, BACKUP, said, toPrimary(scene))
  if (bug === 'no-veto') directory.challenges.delete(SESSION_ID)
  if (asked === 'vetoed') veto(scene, said)
  else if (asked === 'free' || bug === 'no-veto') grant(scene, said)
}

function answer(
  { bug }: TakeoverScope,
  scene: TakeoverScene,
  said: ToHub & { kind: 'alive' },
): void {
  const { directory, now } = scene
  const answered = challenge.answer(directory, now, said, PRIMARY)
  if (!answered) return
  const { demand } = answered.challenge
  if (!answered.isVeto) return grant(scene, demand)
  scene.notes.vetoedAt = Math.min(now, scene.notes.vetoedAt)
  if (bug === 'veto-for-ever') directory.vetoes.get(SESSION_ID)!.unproved = Infinity
  veto(scene, demand)
}

function veto({ now, notes, down }: TakeoverScene, { request }: Change): void {
  notes.vetoed = true
  notes.askedAt = Infinity
  if (now - notes.vetoedAt >= challenge.VETO_MS) {
    const since = notes.vetoedAt
    notes.broken ||= `takeover.ends: a veto at ${now} ms, and nothing was relayed since ${since}`
  }
  down[1].push({ kind: 'alive', request, session: SESSION_ID })
}

function grantDue({ bug }: TakeoverScope, scene: TakeoverScene): void {
  for (const { demand } of challenge.takeDue(scene.directory, scene.now)) {
    if (bug === 'grant-before-cas') {
      const { epoch } = registerOf(scene)
      const next = { epoch: epoch + 1, primary: BACKUP, backup: 0 }
      tell(scene, 1, demand.request, true, next)
    }
    // What waits for the disk is looked at anew when that has answered.
    if (scene.asked) scene.up[1].unshift(demand)
    else grant(scene, demand)
  }
}

// The takeover may be tried now: what allowed it is noted, if the register takes it.
function grant(scene: TakeoverScene, demand: Change): void {
  const { now, notes, stands } = scene
  const how: Notes['granted'] = !stands
    ? 'closed'
    : now - notes.askedAt >= STEP_MS
      ? 'bound'
      : now - notes.vetoedAt >= challenge.VETO_MS
        ? 'lapsed'
        : ''
  const isTaken = compareAndSet(scene, demand)
  notes.askedAt = Infinity
  if (!isTaken) return
  notes.granted = how
  if (how === '') notes.broken ||= `takeover.asked: granted at ${now} ms to who only asked`
}

function compareAndSet(scene: TakeoverScene, said: Change): boolean {
  const { directory, now } = scene
  const at = said.inc - 1
  const out = { send() {}, record() {} }
  const isTaken = register.change(directory, now, said, out)
  if (isTaken) scene.asked = { at, request: said.request }
  else tell(scene, at, said.request, false, registerOf(scene))
  return isTaken
}

function keep(scene: TakeoverScene): void {
  const { at, request } = scene.asked!
  const { directory, now } = scene
  scene.asked = null
  register.recordOf(directory, SESSION_ID)
  register.confirmWrite(directory, now, SESSION_ID)
  challenge.closeChallenge(directory, now, SESSION_ID)
  tell(scene, at, request, true, registerOf(scene))
  tell(scene, 1 - at, 0, true, registerOf(scene))
  for (const { demand } of challenge.takeDue(directory, now)) grant(scene, demand)
}

function tell(
  { down, stands }: TakeoverScene,
  at: number,
  request: number,
  ok: boolean,
  known: Register,
): void {
  if (at === 0 && !stands) return
  const said = { kind: 'register', request, session: SESSION_ID, ok, leader: null } as const
  down[at]!.push({ ...said, register: { ...known } })
}

function toPrimary({ down }: TakeoverScene): Pick<register.RegisterOut, 'send'> {
  return { send: (_to, question) => void down[0].push(question) }
}

function outOf(scene: TakeoverScene, at: number): SessionOut {
  return {
    send: () => {},
    hub: (said) => {
      if (at === 0 && !scene.stands) return
      if (said.kind === 'change' || said.kind === 'alive') scene.up[at]!.push(said)
    },
    time: () => 0,
    seal: (segment) => segment,
    answer: () => {},
    emit: () => {},
    parts: NO_PARTS,
  }
}

function essence(scene: TakeoverScene): unknown {
  const { now, directory, sessions, up, down, stands, frozen, asked, notes, left } = scene
  const { epoch, primary, backup } = registerOf(scene)
  const pending = register.find(directory, SESSION_ID)!.pending?.register ?? null
  const waiting = directory.challenges.get(SESSION_ID)
  const challenged = waiting && [waiting.until, waiting.nonce, waiting.demand.request]
  const vetoed = Object.values(directory.vetoes.get(SESSION_ID) ?? {})
  const roles = sessions.map(({ server, requests }) => {
    const request = 'attempt' in server ? [server.attempt.request, server.attempt.sentAt] : []
    const until = 'lead' in server ? server.lead.lease.until : 0
    return [server.role, server.epoch, requests, request, until]
  })
  const streams = [up, down].map((ways) => ways.map((queue) => queue.map(brief)))
  const hub = [epoch, primary, backup, pending, directory.nonce, challenged ?? [], vetoed]
  return [
    now,
    hub,
    roles,
    streams,
    stands,
    frozen,
    asked,
    Object.values(notes),
    Object.values(left),
  ]
}

function brief(said: ToHub | FromHub): string {
  const more = Object.entries(said).filter(([name]) => !['proof', 'session'].includes(name))
  return JSON.stringify(more)
}

function show(scene: TakeoverScene): string {
  const { epoch, primary, backup } = registerOf(scene)
  const who = scene.sessions.map(({ me, server }) => `${me} ${server.role}(${server.epoch})`)
  const state = [scene.frozen && '1 stands still', !scene.stands && 'its stream is closed']
  const more = state.filter((text) => text !== false).join(', ')
  return `${scene.now} ms, register (${epoch}, ${primary}, ${backup}); ${who.join(', ')} ${more}`
}

/** How much may happen. */
export interface TakeoverScope {
  /** Steps of 250 ms, the longest bound. */
  ticks: number
  /** Times that the backup suspects its primary, and that it asks again. */
  suspicions: number
  repeats: number
  /** Datagrams of the primary that pass the relay; with none its veto lapses. */
  relays: number
  /** The primary may stand still, lose its stream, or drop its backup. */
  freezes?: number
  closes?: number
  drops?: number
  /** A bug around the machines. */
  bug?: 'no-veto' | 'veto-for-ever' | 'grant-before-cas' | 'lease-from-grant'
}

/** Scopes that hold, and how many states they have. */
export const SCOPES = {
  takeover: {
    says: 'a backup that suspects its primary, which answers, or stands still',
    scope: { ticks: 5, suspicions: 2, repeats: 1, relays: 1, freezes: 1 },
    states: 33_000,
  },
  'takeover-mute': {
    says: 'a primary that answers the hub, and whose datagrams do not come to its backup',
    scope: { ticks: 6, suspicions: 2, repeats: 1, relays: 0 },
    states: 9_300,
  },
  'takeover-race': {
    says: 'a primary that drops its backup meanwhile, or whose stream closes; a late disk',
    scope: { ticks: 2, suspicions: 1, repeats: 1, relays: 1, closes: 1, drops: 1 },
    states: 18_900,
  },
} satisfies Rows<TakeoverScope>

/** Mutants, and after how many steps which claim breaks. */
export const MUTANTS = {
  'no-veto': {
    says: 'the compare-and-set is made without asking the primary',
    scope: { ...SCOPES['takeover'].scope, bug: 'no-veto' },
    violates: [['takeover.asked', 2]],
  },
  'veto-for-ever': {
    says: 'a veto counts although no datagram of the primary comes to its backup',
    scope: { ...SCOPES['takeover-mute'].scope, bug: 'veto-for-ever' },
    violates: [['takeover.ends', 12]],
  },
  'grant-before-cas': {
    says: 'who waits for the primary is told yes before the register holds it',
    scope: { ...SCOPES['takeover-race'].scope, bug: 'grant-before-cas' },
    violates: [['takeover.register', 4]],
  },
  'lease-from-grant': {
    says: 'who took over counts its lease from the answer',
    scope: { ...SCOPES['takeover'].scope, bug: 'lease-from-grant' },
    violates: [['takeover.lease', 5]],
  },
} satisfies Rows<TakeoverScope>
