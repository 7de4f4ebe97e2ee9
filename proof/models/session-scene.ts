/** The world of the session's model, and what each step does to it. */

import { type PeerId, RIGHTS } from '../../packages/holdfast/src/machine.ts'
import type { Register, ToHub } from '../../packages/holdfast/src/hub-protocol/messages.ts'
import { idleServer, is } from '../../packages/holdfast/src/session/state.ts'
import * as register from '../../packages/hub/src/machine/register.ts'
import type { Registers } from '../../packages/hub/src/machine/register.ts'
import * as cells from '../../packages/sim/src/checker/cells.ts'
import type { Action } from '../../packages/sim/src/checker/checker.ts'
import { clone } from '../../packages/sim/src/checker/clone.ts'
import type { SessionBug } from '../mutants.ts'
import * as processes from './processes.ts'
import { type Effects, type Input, type Process, SESSION_ID, type Told } from './processes.ts'
import * as seen from './session-told.ts'

/** How often each thing may happen that need not happen. */
export interface Budgets {
  operations: number
  /** Operations that reach a process once more. */
  resends: number
  /** Suspicions, true or false. */
  suspicions: number
  /** Candidates asked. */
  offers: number
  crashes: number
  /** Crashed processes that come back: as newcomers, or (mutant) as who they were, but empty. */
  restarts: number
  /** Times that a newcomer asks to be let in. */
  joins: number
  /** Members removed by a primary that heard nothing of them. */
  removals: number
  /** Messages that vanish although later ones arrive, and messages that arrive twice. */
  losses: number
  doubles: number
  /** Links that are lost with all they carried, and opened again. */
  relinks: number
  /** Streams to the hub that break, and are opened again. */
  breaks: number
  /** Takeovers that the hub asks a primary about, which leads and answers. */
  vetoes: number
  /** Changes of the register that the hub refuses: who is to get a role said goodbye. */
  refusals: number
  /** Requests without an answer that are made again. */
  repeats: number
  /** Primaries that begin to give their role to the backup. */
  handovers: number
  /** Members put out, and times that such a one asks to be let in again by its key. */
  kicks: number
  returns: number
  /** Votes of members, in their order; what a member's altered program asks; pardons. */
  votes: number
  lies: number
  pardons: number
}

/** Who is put out, and who asks for it. */
export interface Kick {
  by: PeerId
  who: PeerId
}

/** Who votes against whom, each once; and a member whose program was altered. */
export interface Votes {
  against: PeerId
  by: readonly PeerId[]
  liar?: PeerId
}

/** How much may happen in one model; what is not given does not happen. */
export interface Scope extends Partial<Budgets> {
  /** Processes that are members at the start, the founder first. */
  members: number
  /** Members that have operations: the last ones, in turn. By default one. */
  clients?: number
  /** Who serves at the start, and with whom; by default the founder, alone. */
  start?: { primary: PeerId; backup: PeerId }
  kick?: Kick
  vote?: Votes
  bug?: SessionBug | 'keep-identity' | 'late-add'
  /** Whether requests on a stream that broke may reach the hub behind those on the next one. */
  late?: boolean
}

/** Everything at one instant, as cells. Lists are by process, queues have the oldest first. */
export interface Scene {
  directory: Registers
  /** A bit for each process that runs. */
  up: number
  /** What may still happen. */
  left: Readonly<Budgets>
  seen: seen.Seen
  processes: Process[]
  toHub: (readonly ToHub[])[]
  fromHub: (readonly Input[])[]
  /** From process i to process j at i * members + j. */
  links: (readonly Input[])[]
  /** Requests on a stream that broke. */
  late: (readonly ToHub[])[]
}

/** One step in it. */
export type Step = Action<Scene>

/** What happened at least once on some path; it does not distinguish states. */
export type Passed =
  | 'took over'
  | 'vetoed'
  | 'declined'
  | 'dropped'
  | 'deposed'
  | 'handed over'
  | 'two epochs'
  | 'joined'

/** What a step of one process leads to. */
interface Outcome {
  process: Process
  sent: { to: PeerId; input: Input }[]
  hub: ToHub[]
  told: ({ kind: 'joined'; asker: number; inc: PeerId } | seen.News)[]
  passed: Passed[]
}

/** One model: its scope, and functions that run once for each list of arguments. */
export interface Tables {
  scope: Scope
  members: number
  /** Whether somebody is put out. */
  moderates: boolean
  all: cells.Cells
  passed: Set<Passed>
  step(process: Process, input: Input): Outcome
  /** A process becomes a member. */
  enter(process: Process, inc: PeerId): Process
  ask(
    directory: Registers,
    from: PeerId,
    request: ToHub,
  ): { directory: Registers; changed: boolean }
  /** The register as the input that tells of it. */
  tidings(directory: Registers): Input
  spend(left: Scene['left'], name: keyof Budgets): Scene['left']
  see(seen: seen.Seen, news: seen.News): seen.Seen
}

/** Tables with nothing in them. */
export function createTables(scope: Scope): Tables {
  const all = cells.create()
  const tables: Tables = {
    scope,
    members: scope.members,
    moderates: scope.kick !== undefined || scope.vote !== undefined,
    all,
    passed: new Set(),
    step: cells.remember(all, (before: Process, input: Input) => {
      const { process, effects } = processes.step(before, input)
      return outcomeOf(tables, process, effects, passedFrom(before, process))
    }),
    enter: cells.remember(all, (process: Process, inc: PeerId) => {
      const newcomer = clone(process)
      newcomer.session.me = inc
      newcomer.session.player = inc
      return newcomer
    }),
    ask: cells.remember(all, (before: Registers, from: PeerId, request: ToHub) => {
      const directory = clone(before)
      const changed = askHub(directory, from, request)
      return { directory: cells.same(all, directory), changed }
    }),
    tidings: cells.remember(all, (directory: Registers) =>
      cells.same(all, { kind: 'register', register: registerIn(directory) } as const),
    ),
    spend: cells.remember(all, (left: Scene['left'], name: keyof Budgets) => {
      return { ...left, [name]: left[name] - 1 }
    }),
    see: cells.remember(all, seen.see),
  }
  return tables
}

/** Whether process i runs. */
export function isUp({ up }: Scene, i: number): boolean {
  return ((up >> i) & 1) === 1
}

/** Which process has that number as a member, or -1. */
export function placeOf({ processes: all }: Scene, inc: PeerId): number {
  for (let i = 0; i < all.length; i++) if (all[i]!.session.me === inc) return i
  return -1
}

/** The register as it is. */
export function registered({ directory }: Scene): Register {
  return registerIn(directory)
}

function registerIn(directory: Registers): Register {
  return register.find(directory, SESSION_ID)!.entry.register
}

/** Whose operation it is, and its number there. Operations are counted from 1. */
export function clientOf(
  { members, clients = 1 }: Scope,
  id: number,
): { from: PeerId; seq: number } {
  return { from: members - ((id - 1) % clients), seq: Math.ceil(id / clients) }
}

// The operation that has this number at its client.
function operationOf({ members, clients = 1 }: Scope, client: PeerId, seq: number): number {
  return (seq - 1) * clients + (members - client) + 1
}

/** How a trace names process i. */
export function nameOf({ processes: all }: Scene, i: number): string {
  const { me } = all[i]!.session
  return me === 0 ? 'a newcomer' : `${me}`
}

/** The founder lets the others in, one after the other; all of it is done before we begin. */
export function begin(tables: Tables): Scene {
  const { members, scope, all } = tables
  const { process, effects } = processes.founder(bugOf(scope), lawsOf(scope))
  const each = <Value>(value: Value, length = members): Value[] =>
    Array.from({ length }, () => value)
  const scene: Scene = {
    directory: foundDirectory(process),
    up: (1 << members) - 1,
    left: budgetsOf(scope),
    seen: seen.NOTHING_SEEN,
    processes: Array.from({ length: members }, (_, i) => freshIn(tables, i)),
    toHub: each([]),
    fromHub: each([]),
    links: each([], members * members),
    late: each([], scope.late ? members : 0),
  }
  scene.processes[0] = cells.same(all, process)
  carryOut(tables, scene, 0, outcomeOf(tables, process, effects, []))
  for (let i = 1; i < members; i++) act(tables, scene, 0, { kind: 'join', asker: i })
  drain(tables, scene)
  if (scope.start) give(tables, scene, scope.start)
  tables.passed.clear()
  return scene
}

function budgetsOf(scope: Scope): Budgets {
  return {
    operations: scope.operations ?? 0,
    resends: scope.resends ?? 0,
    suspicions: scope.suspicions ?? 0,
    offers: scope.offers ?? 0,
    crashes: scope.crashes ?? 0,
    restarts: scope.restarts ?? 0,
    joins: scope.joins ?? 0,
    removals: scope.removals ?? 0,
    losses: scope.losses ?? 0,
    doubles: scope.doubles ?? 0,
    relinks: scope.relinks ?? 0,
    breaks: scope.breaks ?? 0,
    refusals: scope.refusals ?? 0,
    repeats: scope.repeats ?? 0,
    handovers: scope.handovers ?? 0,
    kicks: scope.kicks ?? 0,
    returns: scope.returns ?? 0,
    votes: scope.vote?.by.length ?? 0,
    lies: scope.lies ?? 0,
    pardons: scope.pardons ?? 0,
    vetoes: scope.vetoes ?? 0,
  }
}

function bugOf({ bug }: Scope): SessionBug | null {
  return bug === undefined || bug === 'keep-identity' || bug === 'late-add' ? null : bug
}

// Where players vote, the founder came in as a host where somebody is put out beside.
function lawsOf({ vote, kick }: Scope): processes.Laws {
  const rights = vote && kick ? RIGHTS.play | RIGHTS.host : RIGHTS.play
  return { terms: vote ? 'expellers=vote' : '', rights }
}

function freshIn({ scope }: Tables, asker: number): Process {
  return processes.fresh(asker, bugOf(scope), lawsOf(scope).terms)
}

// The founder gives its role away, and who has it then takes a backup.
function give(tables: Tables, scene: Scene, { primary, backup }: Required<Scope>['start']): void {
  const offer = (i: number, peer: PeerId): void => {
    act(tables, scene, i, { kind: 'offer', peer })
    drain(tables, scene)
  }
  if (primary !== 1) {
    offer(0, primary)
    act(tables, scene, 0, { kind: 'hand-over' })
    drain(tables, scene)
  }
  offer(primary - 1, backup)
}

// All that is under way arrives.
function drain(tables: Tables, scene: Scene): void {
  const { members } = tables
  const { toHub, fromHub, links } = scene
  while ([...toHub, ...fromHub, ...links].some((queue) => queue.length > 0)) {
    for (let i = 0; i < members; i++) {
      if (toHub[i]!.length > 0) reachHub(tables, scene, i)
      if (fromHub[i]!.length > 0) act(tables, scene, i, shift(fromHub, i))
      for (let from = 0; from < members; from++) {
        const link = from * members + i
        if (links[link]!.length > 0) act(tables, scene, i, shift(links, link))
      }
    }
  }
}

function foundDirectory(founder: Process): Registers {
  const directory = register.create(0)
  const [self] = founder.session.server.durable.members.values()
  const wish = {
    game: 'g',
    room: 'r',
    playersMax: 8,
    recovers: false,
    topology: 'star' as const,
    terms: '',
    hash: self!.registerHash,
    link: self!.link,
    key: self!.key,
  }
  register.add(directory, 0, wish, SESSION_ID, { record() {} })
  settle(directory)
  return directory
}

function settle(directory: Registers): void {
  register.recordOf(directory, SESSION_ID)
  register.confirmWrite(directory, 0, SESSION_ID)
}

/** A queue has one more behind. */
export function push<Item>(queues: (readonly Item[])[], at: number, item: Item): void {
  queues[at] = [...queues[at]!, item]
}

/** A queue has one less in front. @returns that one */
export function shift<Item>(queues: (readonly Item[])[], at: number): Item {
  const queue = queues[at]!
  queues[at] = queue.slice(1)
  return queue[0]!
}

/** Something happens that may happen only so often. */
export function spend(tables: Tables, scene: Scene, name: keyof Budgets): void {
  scene.left = tables.spend(scene.left, name)
}

/** One process takes an input. */
export function act(tables: Tables, scene: Scene, i: number, input: Input): void {
  const outcome = tables.step(scene.processes[i]!, input)
  scene.processes[i] = outcome.process
  for (const mark of outcome.passed) tables.passed.add(mark)
  carryOut(tables, scene, i, outcome)
}

function outcomeOf(
  { scope, all }: Tables,
  process: Process,
  { told, sent, hub }: Effects,
  passed: Passed[],
): Outcome {
  const { me: from, server } = process.session
  return {
    process: cells.same(all, process),
    sent: sent.map(({ to, message }) => {
      return { to, input: cells.same(all, { kind: 'receive', from, message } as const) }
    }),
    hub: hub.map((message) => cells.same(all, message)),
    told: told.map((one) => newsOf(scope, one, server.epoch)),
    passed,
  }
}

function newsOf(scope: Scope, told: Told, epoch: number): Outcome['told'][number] {
  if (told.kind !== 'done') return told
  const news = moderationNews(scope, told)
  if (news) return news
  const id = operationOf(scope, told.to, told.seq)
  return { kind: 'done', id, place: told.outcome, epoch }
}

// What was answered about who is put out; null of an operation of a part.
function moderationNews(
  { kick, vote }: Scope,
  { to, seq, outcome }: Told & { kind: 'done' },
): seen.News | null {
  const done = outcome === 1
  if (kick?.by === to) return seq === 1 ? { kind: 'expelled', done } : { kind: 'pardoned' }
  if (vote?.by.includes(to) && done) return { kind: 'voted', by: to }
  return vote ? { kind: 'nothing' } : null
}

function passedFrom(before: Process, after: Process): Passed[] {
  const { role: was } = before.session.server
  const { role } = after.session.server
  const passed: Passed[] = []
  if (was === 'taking' && role === 'alone') passed.push('took over')
  if (was === 'taking' && role === 'backup') passed.push('vetoed')
  if (was === 'dropping' && role === 'alone') passed.push('dropped')
  if (was === 'adding' && role === 'alone') passed.push('declined')
  if (was === 'backup' && role === 'alone') passed.push('handed over')
  if (was !== 'idle' && was !== 'sync' && was !== 'backup' && role === 'idle') {
    passed.push('deposed')
  }
  return passed
}

function carryOut(tables: Tables, scene: Scene, i: number, outcome: Outcome): void {
  for (const { to, input } of outcome.sent) {
    const at = placeOf(scene, to)
    if (at >= 0 && isUp(scene, at)) push(scene.links, i * tables.members + at, input)
  }
  if (scene.processes[i]!.session.hub.up) {
    for (const request of outcome.hub) push(scene.toHub, i, request)
  }
  for (const told of outcome.told) {
    if (told.kind === 'joined') enter(tables, scene, told.asker, told.inc)
    else {
      scene.seen = tables.see(scene.seen, told)
      if (told.kind === 'done') judgeDone(tables, scene, told)
    }
  }
}

// An operation that was acknowledged is with both that may serve.
function judgeDone(
  tables: Tables,
  scene: Scene,
  { id, place, epoch }: seen.News & { kind: 'done' },
): void {
  // If it was acknowledged before, `seen` has the first time.
  if (scene.seen.acknowledged[id]!.epoch !== epoch) tables.passed.add('two epochs')
  const { primary, backup } = registered(scene)
  for (const inc of [primary, backup]) {
    const at = inc === 0 ? -1 : placeOf(scene, inc)
    if (at < 0 || scene.processes[at]!.done[place - 1] === id) continue
    const why = `commit.hidden: operation ${id} was told, and ${inc}, who may serve, lacks it`
    scene.seen = tables.see(scene.seen, { kind: 'broken', why })
  }
}

function enter(tables: Tables, scene: Scene, asker: number, inc: PeerId): void {
  const at = asker % tables.members
  if (scene.processes[at]!.session.me !== 0) return
  tables.passed.add('joined')
  scene.processes[at] = tables.enter(scene.processes[at]!, inc)
}

/** The oldest request of a process reaches the hub. */
export function reachHub(tables: Tables, scene: Scene, from: number): void {
  const request = shift(scene.toHub, from)
  const changed = applyRequest(tables, scene, from, request)
  if (request.kind === 'change' && !changed) tellRegister(tables, scene, from)
}

/** On a stream that broke the hub answers nobody, and takes only a drop. */
export function reachLate(tables: Tables, scene: Scene, from: number): void {
  const request = shift(scene.late, from)
  if (request.kind !== 'change') return
  if (request.why !== 'drop' && tables.scope.bug !== 'late-add') return
  applyRequest(tables, scene, from, request)
}

// @returns whether it changed the register, which all members hear then
function applyRequest(tables: Tables, scene: Scene, from: number, request: ToHub): boolean {
  const { me } = scene.processes[from]!.session
  const { directory, changed } = tables.ask(scene.directory, me, request)
  scene.directory = directory
  if (request.kind !== 'change' || !changed) return false
  const { primary } = registered(scene)
  scene.seen = tables.see(scene.seen, { kind: 'primary', primary })
  for (let i = 0; i < tables.members; i++) tellRegister(tables, scene, i)
  return true
}

function askHub(directory: Registers, from: PeerId, request: ToHub): boolean {
  const out = { send() {}, record() {} }
  if (request.kind === 'members') {
    return register.setMembers(directory, SESSION_ID, from, request, out)
  }
  if (request.kind !== 'change') return false
  if (!register.change(directory, 0, request, out)) return false
  // Here the disk takes what it is given at once; lease.ts has it take its time.
  settle(directory)
  return true
}

// To the one that asked twice, as answer and as news: it takes the second for nothing new.
function tellRegister(tables: Tables, scene: Scene, i: number): void {
  const { me, hub } = scene.processes[i]!.session
  if (!isUp(scene, i) || !hub.up || me === 0) return
  const input = tables.tidings(scene.directory)
  if (scene.fromHub[i]!.at(-1) !== input) push(scene.fromHub, i, input)
}

/** Whether the request in front is a takeover whose primary answers the hub. */
export function mayVeto(scene: Scene, from: number): boolean {
  const [request] = scene.toHub[from]!
  if (request?.kind !== 'change' || request.why !== 'takeover') return false
  const { primary, epoch } = registered(scene)
  const at = placeOf(scene, primary)
  if (request.expect !== epoch || at < 0 || !isUp(scene, at)) return false
  const { session } = scene.processes[at]!
  return session.hub.up && is(session, 'leads') && session.server.epoch === epoch
}

/** The primary answers the hub, which tells who asked for the takeover. */
export function veto(tables: Tables, scene: Scene, from: number): void {
  spend(tables, scene, 'vetoes')
  shift(scene.toHub, from)
  push(scene.fromHub, from, { kind: 'vetoed' })
}

/** Whether the hub may say that who is to get a role said goodbye. */
export function mayRefuse(scene: Scene, from: number): boolean {
  const [request] = scene.toHub[from]!
  if (request?.kind !== 'change' || request.expect !== registered(scene).epoch) return false
  return request.why === 'add' || request.why === 'handover'
}

/** The hub refuses the change in front. */
export function refuse(tables: Tables, scene: Scene, from: number): void {
  spend(tables, scene, 'refusals')
  const asked = shift(scene.toHub, from)
  if (!('request' in asked)) return
  const { request } = asked
  push(scene.fromHub, from, { kind: 'refused', request, register: registered(scene) })
}

/** The stream between a process and the hub breaks. */
export function breakHub(tables: Tables, scene: Scene, i: number): void {
  spend(tables, scene, 'breaks')
  if (tables.scope.late) scene.late[i] = scene.toHub[i]!
  scene.toHub[i] = []
  scene.fromHub[i] = []
  act(tables, scene, i, { kind: 'hub', up: false })
}

/** What a process that dies has sent is still under way. */
export function crash(tables: Tables, scene: Scene, i: number): void {
  const { members } = tables
  spend(tables, scene, 'crashes')
  scene.up &= ~(1 << i)
  scene.fromHub[i] = []
  for (let from = 0; from < members; from++) scene.links[from * members + i] = []
}

/** A dead process starts again. */
export function restart(tables: Tables, scene: Scene, i: number): void {
  const { members } = tables
  const { session: old } = scene.processes[i]!
  spend(tables, scene, 'restarts')
  scene.up |= 1 << i
  scene.toHub[i] = []
  for (let to = 0; to < members; to++) scene.links[i * members + to] = []
  const keeps = tables.scope.bug === 'keep-identity'
  const process = freshIn(tables, keeps ? i : askerOf(tables, i))
  if (keeps) {
    process.session.me = old.me
    process.session.player = old.player
    const asked = { primary: 0, ackedAt: -Infinity, incoming: null }
    process.session.server = { ...idleServer(), role: 'sync', ...asked }
    push(scene.fromHub, i, tables.tidings(scene.directory))
  }
  scene.processes[i] = process
}

/** Under which number a process asks to be let in: a new life has a new secret. */
export function askerOf({ members }: Tables, i: number): number {
  return i + members
}

/** A link is lost with what it carried, and opened again. */
export function relink(tables: Tables, scene: Scene, i: number, j: number): void {
  const { members } = tables
  spend(tables, scene, 'relinks')
  scene.links[i * members + j] = []
  scene.links[j * members + i] = []
  const [one, other] = [scene.processes[i]!.session.me, scene.processes[j]!.session.me]
  act(tables, scene, i, { kind: 'relinked', peer: other })
  act(tables, scene, j, { kind: 'relinked', peer: one })
}

// What members do of themselves.
const CHOSEN: readonly (keyof Budgets)[] = ['operations', 'offers', 'joins', 'kicks', 'votes']

/** Process i takes an input, which may happen only so often. */
export function spending(
  tables: Tables,
  i: number,
  budget: keyof Budgets,
  input: Input,
  label: string,
): Step {
  const next = (scene: Scene): void => {
    spend(tables, scene, budget)
    act(tables, scene, i, input)
  }
  return { label, environment: !CHOSEN.includes(budget), next }
}

/** Process i takes an input. */
export function doing(tables: Tables, i: number, input: Input, label: string): Step {
  return { label, next: (scene) => act(tables, scene, i, input) }
}
