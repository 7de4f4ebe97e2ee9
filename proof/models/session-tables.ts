/**
 * What a global state of the session's model is: a row of numbers, each of something that is kept
 * once; and how they are looked up.
 */

import type { PeerId } from '../../packages/holdfast/src/machine.ts'
import type { Register, ToHub } from '../../packages/holdfast/src/hub-protocol/messages.ts'
import * as register from '../../packages/hub/src/machine/register.ts'
import type { Registers } from '../../packages/hub/src/machine/register.ts'
import { serves } from '../../packages/holdfast/src/session/state.ts'
import type { Session } from '../../packages/holdfast/src/session/state.ts'
import type { Action } from '../../packages/sim/src/checker/checker.ts'
import type { SessionBug } from '../mutants.ts'
import * as budgets from './budgets.ts'
import * as interned from './interned.ts'
import * as memo from './memo.ts'
import { type Places, placesOf } from './places.ts'
import { type Input, type Process, SESSION_ID } from './processes.ts'
import * as queues from './queues.ts'

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
  name: string
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
  /** Judge these claims alone; by default all. */
  claims?: readonly string[]
}

/**
 * Everything at one instant, by the places of its tables:
 *
 *   directory  the hub's directory
 *   up         a bit for each process that runs
 *   left       what may still happen
 *   seen       what could be seen from outside so far
 *   process    each process
 *   toHub      for each process the queue of its requests to the hub
 *   fromHub    for each process the queue of what it is told by the hub
 *   link       from process i to process j at i * members + j, the queue of what it is sent
 *
 * Each is the number of what is kept once; a queue holds numbers of inputs, or of requests.
 */
export type Scene = Int32Array

/** One step in it. */
export type Step = Action<Scene>

/** What could be seen from outside so far. */
export interface Seen {
  /** Who was registered as primary in each epoch. */
  primaries: PeerId[]
  /** The members as told, by the version of the view. */
  views: string[]
  /** By number of an operation: the place it was acknowledged with, and the epoch. */
  acknowledged: { place: number; epoch: number }[]
  /** Who asked for it was told that somebody is put out. */
  expelled: boolean
  /** So was who asked for the pardon; and whose votes were answered. */
  pardoned: boolean
  voted: readonly PeerId[]
  /** A claim that was broken by what was told, and how. */
  broken: string
}

/** Something that is seen from outside, and what it says. */
export type News =
  | { kind: 'primary'; primary: PeerId }
  | { kind: 'view'; mv: number; members: PeerId[] }
  | { kind: 'done'; id: number; place: number; epoch: number }
  | { kind: 'expelled'; done: boolean }
  | { kind: 'pardoned' }
  | { kind: 'voted'; by: PeerId }
  | { kind: 'nothing' }
  | { kind: 'broken'; why: string }

/** What happened at least once on some way; beside the states, which it need not tell apart. */
export interface Passed {
  tookOver: boolean
  vetoed: boolean
  declined: boolean
  dropped: boolean
  deposed: boolean
  handedOver: boolean
  twoEpochs: boolean
  joined: boolean
}

/** What a step of one process leads to. */
export interface Outcome {
  process: number
  /** Inputs of others, by number. */
  sent: { to: PeerId; input: number }[]
  /** Requests, by number. */
  hub: number[]
  told: ({ kind: 'joined'; asker: number; inc: PeerId } | { kind: 'news'; number: number })[]
  passed: (keyof Passed)[]
}

/** What claims and steps ask of a process, read once. */
export interface Face {
  session: Session
  me: PeerId
  role: Session['server']['role']
  epoch: number
  serves: boolean
  hasHub: boolean
  done: readonly number[]
  /** An operation that was done twice, or 0. */
  doneTwice: number
}

/** The tables of one model. */
export interface Tables {
  scope: Scope
  members: number
  place: Places<
    'directory' | 'up' | 'left' | 'seen' | 'process' | 'toHub' | 'fromHub' | 'link' | 'late'
  >
  processes: interned.Interned<Process>
  /** By process. */
  faces: Face[]
  inputs: interned.Interned<Input>
  requests: interned.Interned<ToHub>
  queues: queues.Queues
  /** By process and input. */
  outcomes: memo.Memo<Outcome>
  /** By process and the number that it is let in under. */
  entered: memo.Memo<number>
  directories: interned.Interned<Registers>
  /** By directory, and request with who asks. */
  changes: memo.Memo<{ directory: number; done: boolean }>
  registers: interned.Interned<Register>
  /** The register in each directory. */
  registerIn: number[]
  /** By register: the input that tells of it. */
  registerInputs: number[]
  budgets: budgets.Budgets<keyof Budgets>
  seen: interned.Interned<Seen>
  news: interned.Interned<News>
  /** By what was seen and the news. */
  seenAfter: memo.Memo<number>
  /** What a process may do of itself, by process and what is left; for each place of a process. */
  choices: memo.Memo<readonly Step[]>[]
  passed: Passed
}

/** Tables with nothing in them. */
export function createTables(scope: Scope): Tables {
  const { members } = scope
  const single = { directory: 1, up: 1, left: 1, seen: 1 }
  const each = { process: members, toHub: members, fromHub: members, link: members * members }
  const late = scope.late ? members : 0
  return {
    scope,
    members,
    place: placesOf({ ...single, ...each, late }),
    processes: interned.create(),
    faces: [],
    inputs: interned.create(),
    requests: interned.create(),
    queues: queues.create(),
    outcomes: memo.create(),
    entered: memo.create(),
    directories: interned.create(),
    changes: memo.create(),
    registers: interned.create(),
    registerIn: [],
    registerInputs: [],
    budgets: budgets.create(budgetsOf(scope)),
    seen: interned.create(),
    news: interned.create(),
    seenAfter: memo.create(),
    choices: Array.from({ length: members }, () => memo.create()),
    passed: nothing(),
  }
}

// What a scope allows in all.
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

/** Nothing has happened. */
export function nothing(): Passed {
  return {
    tookOver: false,
    vetoed: false,
    declined: false,
    dropped: false,
    deposed: false,
    handedOver: false,
    twoEpochs: false,
    joined: false,
  }
}

/** The bug in the rules of the shipped machine, if any. */
export function bugOf({ bug }: Scope): SessionBug | null {
  return bug === undefined || bug === 'keep-identity' || bug === 'late-add' ? null : bug
}

/** Keeps a process, which is not changed from now on. */
export function keep(tables: Tables, process: Process): number {
  const number = interned.numberOf(tables.processes, process)
  tables.faces[number] ??= faceWith(process)
  return number
}

function faceWith({ session, done }: Process): Face {
  const { me, server, hub } = session
  const { role, epoch } = server
  const doneTwice = done.find((seq, at) => done.indexOf(seq) !== at) ?? 0
  return { session, me, role, epoch, serves: serves(session), hasHub: hub.up, done, doneTwice }
}

/** Process i as it is; not to be changed. */
export function faceOf({ faces, place }: Tables, scene: Scene, i: number): Face {
  return faces[scene[place.process + i]!]!
}

/** Whether process i runs. */
export function isUp({ place }: Tables, scene: Scene, i: number): boolean {
  return ((scene[place.up]! >> i) & 1) === 1
}

/** Which process has that number as a member, or -1. */
export function placeOf(tables: Tables, scene: Scene, inc: PeerId): number {
  for (let i = 0; i < tables.members; i++) if (faceOf(tables, scene, i).me === inc) return i
  return -1
}

/** What may still happen. */
export function leftOf({ budgets: all, place }: Tables, scene: Scene): budgets.Left<keyof Budgets> {
  return budgets.leftOf(all, scene[place.left]!)
}

/** Something happens that may not happen for ever. */
export function spend({ budgets: all, place }: Tables, scene: Scene, name: keyof Budgets): void {
  scene[place.left] = budgets.spend(all, scene[place.left]!, name)
}

/** What was seen so far. */
export function seenOf({ seen, place }: Tables, scene: Scene): Seen {
  return seen.values[scene[place.seen]!]!
}

/** The number of the register as it is. */
export function registerNow(tables: Tables, scene: Scene): number {
  const directory = scene[tables.place.directory]!
  const known = tables.registerIn[directory]
  if (known !== undefined) return known
  const row = register.find(interned.valueOf(tables.directories, directory), SESSION_ID)
  const number = interned.numberOf(tables.registers, row!.entry.register)
  tables.registerIn[directory] = number
  return number
}

/** The register as it is. */
export function registered(tables: Tables, scene: Scene): Register {
  return tables.registers.values[registerNow(tables, scene)]!
}

/** Whose operation it is, and its number there. Operations are counted from 1. */
export function clientOf(scope: Scope, id: number): { from: PeerId; seq: number } {
  const { members, clients = 1 } = scope
  return { from: members - ((id - 1) % clients), seq: Math.ceil(id / clients) }
}

/** The operation that has this number at its client. */
export function operationOf(scope: Scope, client: PeerId, seq: number): number {
  const { members, clients = 1 } = scope
  return (seq - 1) * clients + (members - client) + 1
}

/** How a trace names process i. */
export function nameOf(tables: Tables, scene: Scene, i: number): string {
  const { me } = faceOf(tables, scene, i)
  return me === 0 ? 'a newcomer' : `${me}`
}

/** One line about a state. */
export function show(tables: Tables, scene: Scene): string {
  const { epoch, primary, backup } = registered(tables, scene)
  const all = Array.from({ length: tables.members }, (_, i) => {
    const { me, role, epoch: own, done } = faceOf(tables, scene, i)
    return `${me} ${isUp(tables, scene, i) ? `${role}(${own})` : 'dead'} [${done.join(' ')}]`
  })
  return `register (${epoch}, ${primary}, ${backup || 'nobody'}); ${all.join(' | ')}`
}
