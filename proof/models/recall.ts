/**
 * Who is put out, once primary and backup are gone, in every order of events: the shipped register,
 * a shipped primary that is alone, and three members, of whom the last is banned, and maybe
 * pardoned, as the primary dies.
 *
 * Each link and each stream to the hub carries its messages in order, and as slowly as it likes: so
 * of those who are left each has heard more or less. The two honest ones ask for the session once
 * its lease is over; what a lease is worth is the model of leases. The third, whose program lies,
 * asks for it too, in its own name and in another's, and says what it likes of who is out; what it
 * is sent it needs not.
 */

import type { Register, ToHub } from '../../packages/holdfast/src/hub-protocol/messages.ts'
import { type Millis, type PeerId, RIGHTS } from '../../packages/holdfast/src/machine.ts'
import type { Expulsion } from '../../packages/holdfast/src/replication/layouts.ts'
import * as membership from '../../packages/holdfast/src/session/membership.ts'
import {
  MODERATION_PART,
  moderationLayout,
  type PeerMessage,
} from '../../packages/holdfast/src/session/messages.ts'
import { operate } from '../../packages/holdfast/src/session/operations.ts'
import * as recovery from '../../packages/holdfast/src/session/recovery.ts'
import * as machine from '../../packages/holdfast/src/session/session.ts'
import type { Session, SessionOut } from '../../packages/holdfast/src/session/state.ts'
import { encode } from '../../packages/holdfast/src/wire/layout.ts'
import * as register from '../../packages/hub/src/machine/register.ts'
import { find, type Registers } from '../../packages/hub/src/machine/register.ts'
import type { Action, Model } from '../../packages/sim/src/checker/checker.ts'
import { clone } from '../../packages/sim/src/checker/clone.ts'
import type { SessionBug } from '../mutants.ts'
import { directoryOf, lonely } from './lease.ts'
import { founder, keyOf, NO_PARTS, type Process, SESSION_ID, step, wishOf } from './processes.ts'
import type { Rows } from './rows.ts'

/**
 * Everything at one instant, up to the one in which somebody goes on. What a step changes of it is
 * a copy.
 */
export interface RecallScene {
  now: Millis
  directory: Registers
  sessions: Session[]
  /** From the one at i to the one at j, at i * MEMBERS + j. */
  links: PeerMessage[][]
  up: ToHub[][]
  down: Register[][]
  /** The newest that each has heard of the primary, and what that was as it was asked. */
  heard: number[]
  asked: number[]
  notes: Notes
  left: { words: number; seeks: number[]; lies: number; ticks: number; joins: number }
}

interface Notes {
  dead: boolean
  /** The hub has the list without the one who is out. */
  listed: boolean
  /** Whoever recovered has looked its members over; and let in the one who is out. */
  looked: boolean
  entered: boolean
  /** The newest that one of those who go on has heard of the primary. */
  known: number
  wrong: string
}

/** All that a later step could read. */
export function essence(scene: RecallScene): unknown {
  const { now, directory, sessions, links, up, down, heard, asked, notes, left } = scene
  const row = find(directory, SESSION_ID)!
  const hub = [row.entry.register.epoch, row.entry.register.primary, row.members.length]
  const words = links.map((queue) => queue.map(ofMessage).join(' '))
  const asks = up.map((queue) => queue.map((said) => ofRequest(said)).join(' '))
  const news = down.map((queue) => queue.map(({ epoch }) => epoch).join(' '))
  const counts = [Object.values(notes), left.words, left.seeks, left.lies, left.ticks, left.joins]
  return [now, hub, sessions.map(ofSession), words, asks, news, heard, asked, counts]
}

// No session changes any more that a step has left: what tells it apart is found once.
const KNOWN = new WeakMap<Session, string>()

function ofSession(session: Session): string {
  const known = KNOWN.get(session) ?? JSON.stringify(partsOf(session))
  KNOWN.set(session, known)
  return known
}

function partsOf({ server, client, requests }: Session): unknown {
  const { epoch, mv, cv, primary, members, banned } = client.view
  const view = [epoch, mv, cv, primary, members.map(({ inc }) => inc).join(), banned.length]
  const { durable } = server
  const here = [...durable.members.keys()].join()
  const out = durable.moderation.expelled.map(({ player }) => player).join()
  const own = [server.role, server.epoch, here, durable.moderation.cv, out, requests]
  if (server.role !== 'gathering') return [view, client.register.epoch, own]
  const answers = [...server.answers].map(([inc, { moderation }]) => {
    return `${inc} ${moderation.cv} ${moderation.expelled.map(({ player }) => player).join()}`
  })
  return [view, client.register.epoch, own, answers.toSorted().join(';'), server.witness]
}

function ofMessage(message: PeerMessage): string {
  switch (message.kind) {
    case 'view': {
      const { epoch, mv, cv, banned, members } = message.view
      return `view ${epoch} ${mv} ${cv} ${banned.length} ${members.length}`
    }
    case 'witness':
      return `witness ${message.cv} ${message.banned.map(({ player }) => player).join()}`
    case 'inquire':
      return `inquire ${message.epoch} ${message.whole}`
    case 'change':
      return `change ${message.epoch} ${message.mv} ${message.remove}`
    default:
      return message.kind
  }
}

function ofRequest(said: RecallScene['up'][number][number]): string {
  if (said.kind === 'members') return `members ${said.members.length}`
  return said.kind === 'change' ? `${said.why} ${said.expect} ${said.primary} ${said.request}` : ''
}

const [PRIMARY, ONE, OTHER, OUT] = [1, 2, 3, 4] as const
const MEMBERS = 4
/** Nobody has heard the primary, and its lease is over. */
const OVER_MS: Millis = register.RECOVER_MS + 1
/** What the primary says of who is out, by how often it changed its mind. */
const [NOTHING, BANNED, PARDONED] = [0, 1, 2] as const
// More than any honest member has heard.
const MUCH = 99

/** The model of that scope. */
export function recallModel(name: string, scope: RecallScope): Model<RecallScene> {
  return {
    name,
    init: () => begin(scope),
    actions: (scene) => actions(scope, scene),
    always: {
      'recall.kept': kept,
      ...(scope.hosts && { 'recall.true': isTrue }),
      'recover.right': ({ notes }) => notes.wrong === '' || notes.wrong,
    },
    sometimes: sometimes(scope),
    copy: (scene) => ({
      ...scene,
      sessions: [...scene.sessions],
      links: [...scene.links],
      up: [...scene.up],
      down: [...scene.down],
      heard: [...scene.heard],
      asked: [...scene.asked],
      notes: { ...scene.notes },
      left: { ...scene.left, seeks: [...scene.left.seeks] },
    }),
    canonical: essence,
    show,
  }
}

// What happens on some way, or the scope is too small.
function sometimes(scope: RecallScope): Record<string, (scene: RecallScene) => boolean> {
  return {
    recovered: (scene) => leading(scene) !== null,
    ...(scope.ticks > 0 && {
      'by one who had not heard of it': (scene) => {
        const leader = leading(scene)
        return leader !== null && scene.heard[leader.me - 1] === NOTHING && isOut(leader)
      },
    }),
    'removed then': (scene) =>
      scene.notes.looked && !leading(scene)!.server.durable.members.has(OUT),
    ...(scope.words > 1 && {
      pardoned: (scene) => scene.notes.entered && scene.notes.known === PARDONED,
    }),
    ...(scope.lies + scope.seeks[2] > 0 && {
      'the liar asked': ({ left }) => left.lies < scope.lies || left.seeks[OUT - 1] === 0,
    }),
  }
}

// The honest member that has recovered the session.
function leading({ sessions }: RecallScene): Session | null {
  return (
    sessions.find(({ me, server }) => {
      return (me === ONE || me === OTHER) && server.role === 'alone'
    }) ?? null
  )
}

function isOut({ server }: Session): boolean {
  return server.durable.moderation.expelled.some(({ player }) => player === OUT)
}

// As somebody goes on: what the honest ones who go on had heard as they were asked.
function note(scene: RecallScene): void {
  const leader = leading(scene)
  if (!leader) return
  const here = [ONE, OTHER].filter((inc) => leader.server.durable.members.has(inc))
  scene.notes.known = Math.max(...here.map((inc) => scene.asked[inc - 1]!))
}

// Whom one of those who go on knew to be out stays out, whatever it says itself; or is pardoned.
function kept(scene: RecallScene): true | string {
  const leader = leading(scene)
  if (!leader) return true
  const known = scene.notes.known
  if (known === NOTHING) return true
  const { notes } = scene
  if (isOut(leader) !== (known === BANNED)) {
    return `recall.kept: of what was heard ${known} is newest, and ${OUT} is out: ${isOut(leader)}`
  }
  const isHere = notes.looked && leader.server.durable.members.has(OUT)
  if (known === PARDONED || !(isHere || notes.entered)) return true
  return `recall.kept: ${OUT} is out, and a member`
}

// Where hosts serve, they alone are believed.
function isTrue(scene: RecallScene): true | string {
  const leader = leading(scene)
  if (!leader) return true
  const { cv, expelled } = leader.server.durable.moderation
  const known = scene.notes.known
  if (cv === known && expelled.length === (known === BANNED ? 1 : 0)) return true
  return `recall.true: ${known} was heard, and ${cv} is gone on with, ${expelled.length} out`
}

function begin(scope: RecallScope): RecallScene {
  const rights = RIGHTS.play | (scope.hosts ? RIGHTS.host : 0)
  const { ruleBug = null } = scope
  let process: Process = founder(ruleBug, { terms: '', rights }).process
  for (let asker = 1; asker < MEMBERS; asker++) {
    process = step(process, { kind: 'join', asker }).process
  }
  const primary = process.session
  for (const members of [primary.server.durable.members, primary.server.published]) {
    for (const inc of [ONE, OTHER]) members.set(inc, { ...members.get(inc)!, rights })
  }
  const incs = [ONE, OTHER, OUT]
  const directory = directoryOf(primary, incs)
  const row = register.find(directory, SESSION_ID)!
  row.hosts = scope.hosts
  row.entrants = [PRIMARY, ONE, OTHER].map((inc) => ({ key: keyOf(inc - 1), rights, id: '' }))
  const lists = <Item>(count: number): Item[][] => Array.from({ length: count }, () => [])
  return {
    now: 0,
    directory,
    sessions: [primary, ...incs.map((inc) => memberOf(inc, primary, scope))],
    links: lists(MEMBERS * MEMBERS),
    up: lists(MEMBERS),
    down: lists(MEMBERS),
    heard: Array.from({ length: MEMBERS }, () => NOTHING),
    asked: Array.from({ length: MEMBERS }, () => NOTHING),
    notes: { dead: false, listed: false, looked: false, entered: false, known: NOTHING, wrong: '' },
    left: {
      ...{ words: scope.words, lies: scope.lies, ticks: scope.ticks, joins: 1 },
      seeks: [0, ...scope.seeks],
    },
  }
}

function memberOf(inc: PeerId, primary: Session, { hosts, ruleBug }: RecallScope): Session {
  const session = lonely(inc, primary, ruleBug ?? null)
  Object.assign(session, { player: inc, hosts })
  session.client.published.waiting = false
  return session
}

function* actions(scope: RecallScope, scene: RecallScene): Iterable<Action<RecallScene>> {
  const { notes, left, links, up, down, sessions } = scene
  // All that is judged is decided then.
  const leader = leading(scene)
  if (leader) {
    yield* after(scene, leader)
    return
  }
  if (!notes.dead) {
    const what = left.words === scope.words ? 'bans' : 'pardons'
    if (left.words > 0) yield { label: `1 ${what} ${OUT}`, next: (copy) => decide(scope, copy) }
    yield { label: '1 dies, and its lease is over', environment: true, next: die }
  }
  for (const [at, queue] of links.entries()) {
    const [from, to] = [Math.floor(at / MEMBERS), at % MEMBERS]
    if (queue.length === 0) continue
    const label = `${to + 1} gets ${queue[0]!.kind} of ${from + 1}`
    yield { label, next: (copy) => arrive(scope, copy, from, to) }
  }
  for (const { me } of sessions) {
    const [said] = up[me - 1]!
    if (said) {
      yield { label: `the hub hears ${said.kind} of ${me}`, next: (copy) => hear(scope, copy, me) }
    }
    if (down[me - 1]!.length > 0)
      yield { label: `${me} hears the hub`, next: (copy) => told(copy, me) }
    if (notes.dead && left.seeks[me - 1]! > 0) {
      yield { label: `${me} asks for the session`, next: (copy) => seek(copy, me) }
    }
  }
  const gathers = sessions.find(({ server }) => server.role === 'gathering')
  if (gathers) yield* gathering(scene, gathers)
}

function* after(scene: RecallScene, { me }: Session): Iterable<Action<RecallScene>> {
  const { left, notes } = scene
  if (!notes.looked) {
    yield { label: `${me} looks its members over`, next: (copy) => look(copy, me) }
  } else if (left.joins > 0) {
    yield { label: `${OUT} asks to come in`, next: (copy) => join(copy, me) }
  }
}

// What the liar says is well formed, and comes on its own link.
function* gathering(scene: RecallScene, { me, server }: Session): Iterable<Action<RecallScene>> {
  const { left, links } = scene
  const { epoch, published } = server
  if (left.ticks > 0) {
    yield { label: `${me} waits no longer`, environment: true, next: (copy) => give(copy, me) }
  }
  const isMember = published.has(OUT) && me !== OUT
  if (left.lies === 0 || !isMember || links[(OUT - 1) * MEMBERS + me - 1]!.length > 0) return
  for (const [cv, banned] of LIES) {
    const said = { epoch, index: 0, settled: 0, cv, banned, votes: [] }
    yield {
      label: `${OUT} says to ${me} that after ${cv} changes ${banned.length} are out`,
      environment: true,
      next: (copy) => {
        copy.left.lies--
        put(copy, OUT, me, { kind: 'witness', ...said })
      },
    }
  }
}

const FRAMED = { player: ONE, inc: ONE, name: 'p', key: keyOf(ONE - 1), ban: true, why: '' }
// The first is also what an honest one says that has heard nothing.
const LIES: readonly [cv: number, banned: Expulsion[]][] = [
  [NOTHING, []],
  [MUCH, []],
  [MUCH, [FRAMED]],
]

// A step works on a copy of the one that it is about.
function working(scene: RecallScene, inc: PeerId): Session {
  const copy = clone(scene.sessions[inc - 1]!)
  scene.sessions[inc - 1] = copy
  return copy
}

function put(scene: RecallScene, from: PeerId, to: PeerId, message: PeerMessage): void {
  const at = (from - 1) * MEMBERS + to - 1
  scene.links[at] = [...scene.links[at]!, message]
}

function outOf(scene: RecallScene, from: PeerId): SessionOut {
  return {
    send: (to, message) => {
      const isDone = scene.notes.dead && to === PRIMARY
      if (to !== from && to < OUT && !isDone) put(scene, from, to, message)
    },
    hub: (said) => {
      const counts = said.kind === 'change' || (said.kind === 'members' && from === PRIMARY)
      if (!counts) return
      scene.up[from - 1] = [...scene.up[from - 1]!, said]
    },
    time: () => 0,
    seal: (segment) => segment,
    answer: (_asker, joined) => {
      if (joined.kind === 'joined') scene.notes.entered = true
    },
    emit: () => {},
    parts: NO_PARTS,
  }
}

function decide({ words }: RecallScope, scene: RecallScene): void {
  const seq = words - scene.left.words + 1
  scene.left.words--
  const ban = { kind: 'expel', player: OUT, ban: true, why: '' } as const
  const wish = seq === 1 ? ban : ({ kind: 'pardon', player: OUT } as const)
  const body = encode(moderationLayout, wish)
  const asked = { kind: 'operation', seq, part: MODERATION_PART, body } as const
  operate({ session: working(scene, PRIMARY), now: 0, out: outOf(scene, PRIMARY) }, PRIMARY, asked)
}

function die(scene: RecallScene): void {
  scene.notes.dead = true
  scene.now = OVER_MS
}

function arrive({ bug }: RecallScope, scene: RecallScene, from: number, to: number): void {
  const at = from * MEMBERS + to
  const [message, ...rest] = scene.links[at]!
  scene.links[at] = rest
  const session = working(scene, to + 1)
  if (message!.kind === 'inquire' && !message!.whole) scene.asked[to] = scene.heard[to]!
  if (message!.kind === 'view' && from === 0) scene.heard[to] = message!.view.cv
  machine.receive({ session, now: scene.now, out: outOf(scene, to + 1) }, from + 1, message!)
  // Of the dead one nothing counts any more.
  if (session.client.view.epoch > 1) scene.links[to] = []
  note(scene)
  if (bug !== 'forgets-by-a-view' || message!.kind !== 'view') return
  const { cv, banned, votes, epoch } = message!.view
  if (session.client.view.epoch === epoch) Object.assign(session.client.view, { cv, banned, votes })
}

function seek(scene: RecallScene, inc: PeerId): void {
  scene.left.seeks[inc - 1]!--
  recovery.seek({ session: working(scene, inc), now: scene.now, out: outOf(scene, inc) })
  // Whoever lies asks in another's name as well.
  if (inc !== OUT) return
  const [said] = scene.up[inc - 1]!.filter(({ kind }) => kind === 'change')
  if (said) scene.up[inc - 1]!.push({ ...said, inc: ONE, primary: ONE } as typeof said)
}

function hear({ bug, hosts }: RecallScope, scene: RecallScene, inc: PeerId): void {
  const [said, ...rest] = scene.up[inc - 1]!
  scene.up[inc - 1] = rest
  scene.directory = clone(scene.directory)
  const { directory, now, notes } = scene
  const out = { send() {}, record() {} }
  if (said!.kind === 'members') {
    const counts = register.find(directory, SESSION_ID)!.entry.register.primary === inc
    notes.listed ||= counts && !said!.members.some((member) => member.inc === OUT)
    if (bug !== 'list-ignored') register.setMembers(directory, SESSION_ID, inc, said!, out)
  }
  if (said!.kind !== 'change') return
  const row = register.find(directory, SESSION_ID)!
  if (bug === 'right-ignored') row.hosts = false
  const isTaken = register.change(directory, now, said!, out)
  row.hosts = hosts
  if (isTaken) granted(scene, inc, said!.primary, hosts)
  // What becomes of who lies is not looked at.
  else if (inc !== OUT) tell(scene, inc)
}

function granted(scene: RecallScene, by: PeerId, primary: PeerId, hosts: boolean): void {
  const { directory, now, notes } = scene
  register.recordOf(directory, SESSION_ID)
  register.confirmWrite(directory, now, SESSION_ID)
  const isProved = by === primary
  if (!isProved || (by === OUT && (hosts || notes.listed))) {
    notes.wrong = `recover.right: ${by} asked, and ${primary} has the session`
  }
  for (const inc of [ONE, OTHER]) tell(scene, inc)
}

function tell(scene: RecallScene, inc: PeerId): void {
  const { register: known } = register.find(scene.directory, SESSION_ID)!.entry
  scene.down[inc - 1] = [...scene.down[inc - 1]!, { ...known }]
}

function told(scene: RecallScene, inc: PeerId): void {
  const [known, ...rest] = scene.down[inc - 1]!
  scene.down[inc - 1] = rest
  const session = working(scene, inc)
  const { role: before } = session.server
  const said = {
    kind: 'register',
    request: 0,
    session: SESSION_ID,
    ok: true,
    leader: null,
  } as const
  machine.receiveFromHub(
    { session, now: scene.now, out: outOf(scene, inc) },
    { ...said, register: known! },
  )
  if (before === session.server.role || session.server.role === 'idle') return
  scene.asked[inc - 1] = scene.heard[inc - 1]!
  scene.links[inc - 1] = []
}

function give(scene: RecallScene, inc: PeerId): void {
  scene.left.ticks--
  scene.now += recovery.GATHER_MS
  recovery.wake({ session: working(scene, inc), now: scene.now, out: outOf(scene, inc) })
  note(scene)
}

function look(scene: RecallScene, inc: PeerId): void {
  scene.notes.looked = true
  const session = working(scene, inc)
  session.rules.enforce({ session, now: scene.now, out: outOf(scene, inc) })
}

function join(scene: RecallScene, inc: PeerId): void {
  scene.left.joins--
  const wish = wishOf({ kind: 'join', asker: OUT - 1 + MEMBERS, key: OUT - 1 })
  membership.join(
    { session: working(scene, inc), now: scene.now, out: outOf(scene, inc) },
    OUT,
    wish,
  )
}

function show({ directory, sessions, heard, notes }: RecallScene): string {
  const { epoch, primary } = register.find(directory, SESSION_ID)!.entry.register
  const all = sessions.map(({ me, server, client }) => {
    const out = server.durable.moderation.expelled.map(({ player }) => player)
    return `${me} ${server.role} heard ${heard[me - 1]} view ${client.view.cv} out [${out.join()}]`
  })
  return `register (${epoch}, ${primary})${notes.dead ? ', 1 dead' : ''}; ${all.join(' | ')}`
}

/** How much may happen. */
export interface RecallScope {
  /** 1 for a ban, 2 for a pardon after it. */
  words: number
  /** Lies of the one who is out, of who is out. */
  lies: number
  /** How often the two others, and that one, ask for the session. */
  seeks: readonly [number, number, number]
  /** Times that whoever gathers waits no longer. */
  ticks: number
  /** The others are hosts, who alone serve. */
  hosts: boolean
  ruleBug?: SessionBug
  /** A bug around the machines. */
  bug?: 'forgets-by-a-view' | 'right-ignored' | 'list-ignored'
}

const PLAIN = { words: 1, lies: 0, seeks: [1, 0, 0], ticks: 1, hosts: false } as const
const LYING = { ...PLAIN, lies: 1 } as const
const SEEKING = { ...PLAIN, seeks: [1, 0, 1], ticks: 0 } as const
const HOSTS = { ...PLAIN, lies: 1, hosts: true } as const

/** Scopes that hold, and how many states they have. */
export const SCOPES = {
  recall: {
    says: 'a player is banned, and pardoned, as the primary dies, and one of two recovers',
    scope: { ...PLAIN, words: 2 },
    states: 4_300,
  },
  'recall-liar': { says: 'whoever is out says that it is not', scope: { ...LYING }, states: 7_100 },
  'recall-hub': {
    says: 'whoever is out asks the hub for the session, by its own proof and as another',
    scope: { ...SEEKING },
    states: 2_600,
  },
  'recall-hosts': {
    says: 'a player in a room of hosts says who is out and who is not',
    scope: { ...HOSTS },
    states: 5_600,
  },
  'recall-deep': {
    says: 'recall and recall-liar at once, and both ask for the session',
    scope: { ...LYING, words: 2, seeks: [1, 1, 0] },
    states: 208_000,
    size: 'deep',
  },
} satisfies Rows<RecallScope>

/** The claim that a mutant breaks, after so many steps. */
export const MUTANTS = {
  'recalls-its-own': {
    says: 'whoever recovers goes on with what it heard itself',
    scope: { ...PLAIN, ruleBug: 'recalls-its-own' },
    violates: [['recall.kept', 11]],
  },
  'recalls-the-newest': {
    says: 'whoever is out is believed that it is not',
    scope: { ...LYING, ruleBug: 'recalls-the-newest' },
    violates: [['recall.kept', 9]],
  },
  'recalls-of-anybody': {
    says: 'who may not serve is believed as well',
    scope: { ...HOSTS, ruleBug: 'recalls-of-anybody' },
    violates: [['recall.true', 7]],
  },
  'forgets-by-a-view': {
    says: 'who is asked has taken over what the one who asks had not heard',
    scope: { ...PLAIN, bug: 'forgets-by-a-view' },
    violates: [['recall.kept', 11]],
  },
  'right-ignored': {
    says: 'the register does not look at rights as a session is recovered',
    scope: { ...SEEKING, hosts: true, bug: 'right-ignored' },
    violates: [['recover.right', 3]],
  },
  'list-ignored': {
    says: 'the register goes by its first list of members',
    scope: { ...SEEKING, bug: 'list-ignored' },
    violates: [['recover.right', 5]],
  },
} satisfies Rows<RecallScope>
