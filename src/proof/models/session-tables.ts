/**
 * What a global state of the session's model is, and how the numbers in it are looked up.
 */

import type { PeerId } from '../../machine.ts'
import type { Register, ToHub } from '../../directory/messages.ts'
import * as register from '../../directory/register.ts'
import type { Directory } from '../../directory/register.ts'
import type { PeerMessage } from '../../session/messages.ts'
import type { SessionBug } from '../twists.ts'
import * as interned from './interned.ts'
import { type Process, SESSION_ID, type Told } from './processes.ts'

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
  /** Crashed processes that come back: as newcomers, or (planted) as who they were, but empty. */
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
  /** Primaries that begin to give their role to the backup. */
  handovers: number
}

/** How much may happen in one model; what is not given does not happen. */
export interface Scope extends Partial<Budgets> {
  name: string
  /** Processes that are members at the start, the founder first. */
  members: number
  /** Members that have operations: the last ones, in turn. By default one. */
  clients?: number
  variant?: SessionBug | 'keep-identity'
  /** Judge these claims alone; by default all. */
  claims?: readonly string[]
}

/** Everything at one instant; machines and messages by their numbers. */
export interface Scene {
  processes: number[]
  up: boolean[]
  directory: number
  /** From process i to process j at i * members + j, oldest first. */
  links: (readonly number[])[]
  toHub: (readonly number[])[]
  fromHub: (readonly number[])[]
  left: Budgets
  seen: Seen
}

/** What could be seen from outside so far. */
export interface Seen {
  /** Who was registered as primary in each epoch. */
  primaries: PeerId[]
  /** The members as told, by the version of the view. */
  views: string[]
  /** By number of an operation: the place it was acknowledged with, and the epoch. */
  acknowledged: { place: number; epoch: number }[]
  /** A claim that was broken by what was told, and how. */
  broken: string
}

/** What happened at least once on some way; beside the states, which it need not tell apart. */
export interface Passed {
  tookOver: boolean
  vetoed: boolean
  dropped: boolean
  deposed: boolean
  handedOver: boolean
  twoEpochs: boolean
  joined: boolean
}

/** What a step of one process leads to. */
export interface Outcome {
  process: number
  sent: { to: PeerId; message: number }[]
  hub: number[]
  told: Told[]
}

/** The tables of one model. */
export interface Tables {
  scope: Scope
  processes: interned.Interned<Process>
  /** By process, then by input. */
  outcomes: Map<string, Outcome>[]
  directories: interned.Interned<Directory>
  changes: Map<string, { directory: number; done: boolean }>
  messages: interned.Interned<{ from: PeerId; message: PeerMessage }>
  requests: interned.Interned<ToHub>
  registers: interned.Interned<Register>
  /** The register in each directory. */
  registerIn: number[]
  passed: Passed
}

/** Tables with nothing in them. */
export function createTables(scope: Scope): Tables {
  return {
    scope,
    processes: interned.create(),
    outcomes: [],
    directories: interned.create(),
    changes: new Map(),
    messages: interned.create(),
    requests: interned.create(),
    registers: interned.create(),
    registerIn: [],
    passed: nothing(),
  }
}

/** What a scope allows in all. */
export function budgetsOf(scope: Scope): Budgets {
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
    handovers: scope.handovers ?? 0,
    vetoes: scope.vetoes ?? 0,
  }
}

/** Nothing has happened. */
export function nothing(): Passed {
  return {
    tookOver: false,
    vetoed: false,
    dropped: false,
    deposed: false,
    handedOver: false,
    twoEpochs: false,
    joined: false,
  }
}

/** The bug that the shipped machine plants itself, if any. */
export function variantOf({ variant }: Scope): SessionBug | null {
  return variant === undefined || variant === 'keep-identity' ? null : variant
}

/** Process i as it is; not to be changed. */
export function processOf(tables: Tables, scene: Scene, i: number): Process {
  return tables.processes.values[scene.processes[i]!]!
}

/** Which process has that number as a member, or -1. */
export function placeOf(tables: Tables, scene: Scene, inc: PeerId): number {
  for (let i = 0; i < scene.processes.length; i++) {
    if (processOf(tables, scene, i).session.me === inc) return i
  }
  return -1
}

/** The number of the register as it is. */
export function registerNow(tables: Tables, scene: Scene): number {
  const known = tables.registerIn[scene.directory]
  if (known !== undefined) return known
  const row = register.find(interned.valueOf(tables.directories, scene.directory), SESSION_ID)
  const number = interned.numberOf(tables.registers, row!.entry.register)
  tables.registerIn[scene.directory] = number
  return number
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
  const { me } = processOf(tables, scene, i).session
  return me === 0 ? 'a newcomer' : `${me}`
}

/** One line about a state. */
export function show(tables: Tables, scene: Scene): string {
  const { epoch, primary, backup } = interned.valueOf(tables.registers, registerNow(tables, scene))
  const all = scene.processes.map((number, i) => {
    const { session, done } = interned.valueOf(tables.processes, number)
    const { role, epoch: own } = session.server
    return `${session.me} ${scene.up[i] ? `${role}(${own})` : 'dead'} [${done.join(' ')}]`
  })
  return `register (${epoch}, ${primary}, ${backup || 'nobody'}); ${all.join(' | ')}`
}
