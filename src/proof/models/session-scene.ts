/**
 * The world of the session's model: how it begins, and what each step does to it.
 */

import type { PeerId } from '../../machine.ts'
import type { ToHub } from '../../directory/messages.ts'
import * as register from '../../directory/register.ts'
import type { Directory } from '../../directory/register.ts'
import { idleServer, is } from '../../session/state.ts'
import { clone } from '../../sim/clone.ts'
import * as interned from './interned.ts'
import * as processes from './processes.ts'
import { type Effects, type Input, type Process, SESSION_ID } from './processes.ts'
import { seeDone, seeView } from './session-claims.ts'
import {
  budgetsOf,
  nothing,
  operationOf,
  type Outcome,
  placeOf,
  processOf,
  registerNow,
  type Scene,
  type Tables,
  variantOf,
} from './session-tables.ts'

// What the hub tells beside registers, which are numbers from 0.
const ALIVE = -1

/** The founder lets the others in, one after the other; all of it is done before we begin. */
export function begin(tables: Tables): Scene {
  const { members } = tables.scope
  const scene: Scene = {
    processes: [],
    up: [],
    directory: 0,
    links: Array.from({ length: members * members }, () => []),
    toHub: Array.from({ length: members }, () => []),
    fromHub: Array.from({ length: members }, () => []),
    left: budgetsOf(tables.scope),
    seen: { primaries: [0, 1], views: [], acknowledged: [], broken: '' },
  }
  const variant = variantOf(tables.scope)
  const { process, effects } = processes.founder(variant)
  scene.directory = interned.numberOf(tables.directories, foundDirectory(process))
  for (let i = 0; i < members; i++) {
    const made = i === 0 ? process : processes.fresh(i, variant)
    scene.processes.push(interned.numberOf(tables.processes, made))
    scene.up.push(true)
  }
  carryOut(tables, scene, 0, outcomeWith(tables, process, effects))
  for (let i = 1; i < members; i++) act(tables, scene, 0, { kind: 'join', asker: i })
  while (scene.toHub[0]!.length > 0) reachHub(tables, scene, 0)
  tables.passed = nothing()
  return scene
}

function foundDirectory(founder: Process): Directory {
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
  }
  register.add(directory, 0, wish, SESSION_ID, { send() {}, record() {}, emit() {} })
  settle(directory)
  return directory
}

function settle(directory: Directory): void {
  register.recordOf(directory, SESSION_ID)
  register.kept(directory, 0, SESSION_ID, { emit() {} })
}

/** A queue has one more behind. */
export function push(queues: Scene['links'], at: number, number: number): void {
  queues[at] = [...queues[at]!, number]
}

/** A queue has one less in front. @returns that one */
export function shift(queues: Scene['links'], at: number): number {
  const [first, ...behind] = queues[at]!
  queues[at] = behind
  return first!
}

/** One process takes an input. @param key tells inputs apart */
export function act(tables: Tables, scene: Scene, i: number, input: Input, key?: string): void {
  const before = scene.processes[i]!
  const outcome = outcomeOf(tables, before, input, key ?? interned.textOf(input))
  scene.processes[i] = outcome.process
  note(tables, before, outcome.process)
  carryOut(tables, scene, i, outcome)
}

function outcomeOf(tables: Tables, before: number, input: Input, key: string): Outcome {
  const outcomes = (tables.outcomes[before] ??= new Map<string, Outcome>())
  const known = outcomes.get(key)
  if (known) return known
  const { process, effects } = processes.step(interned.valueOf(tables.processes, before), input)
  const outcome = outcomeWith(tables, process, effects)
  outcomes.set(key, outcome)
  return outcome
}

function outcomeWith(tables: Tables, process: Process, effects: Effects): Outcome {
  const { me: from } = process.session
  const { told, sent, hub } = effects
  return {
    process: interned.numberOf(tables.processes, process),
    sent: sent.map(({ to, message }) => {
      return { to, message: interned.numberOf(tables.messages, { from, message }) }
    }),
    hub: hub.map((message) => interned.numberOf(tables.requests, message)),
    told,
  }
}

function note(tables: Tables, before: number, after: number): void {
  if (before === after) return
  const was = interned.valueOf(tables.processes, before).session.server.role
  const { session } = interned.valueOf(tables.processes, after)
  const { role } = session.server
  const { passed } = tables
  if (was === 'taking' && role === 'alone') passed.tookOver = true
  if (was === 'taking' && role === 'backup') passed.vetoed = true
  if (was === 'dropping' && role === 'alone') passed.dropped = true
  if (was === 'backup' && role === 'alone') passed.handedOver = true
  if (was !== 'idle' && was !== 'sync' && was !== 'backup' && role === 'idle') passed.deposed = true
}

function carryOut(tables: Tables, scene: Scene, i: number, outcome: Outcome): void {
  const count = scene.processes.length
  const { server, hub } = processOf(tables, scene, i).session
  for (const { to, message } of outcome.sent) {
    const at = placeOf(tables, scene, to)
    if (at >= 0 && scene.up[at]) push(scene.links, i * count + at, message)
  }
  if (hub.up) for (const request of outcome.hub) push(scene.toHub, i, request)
  for (const told of outcome.told) {
    if (told.kind === 'view') seeView(scene, told.mv, told.members)
    else if (told.kind === 'done') {
      const id = operationOf(tables.scope, told.to, told.seq)
      seeDone(tables, scene, { id, place: told.outcome, epoch: server.epoch })
    } else enter(tables, scene, told.asker, told.inc)
  }
}

/** The oldest message of a link arrives. @param last false: it will arrive again */
export function arrive(
  tables: Tables,
  scene: Scene,
  from: number,
  to: number,
  last: boolean,
): void {
  const link = from * scene.processes.length + to
  const number = scene.links[link]![0]!
  if (last) shift(scene.links, link)
  const { from: peer, message } = interned.valueOf(tables.messages, number)
  act(tables, scene, to, { kind: 'receive', from: peer, message }, `m${number}`)
}

/** The oldest request of a process reaches the hub. */
export function reachHub(tables: Tables, scene: Scene, from: number): void {
  const number = shift(scene.toHub, from)
  const key = `${scene.directory} ${number} ${processOf(tables, scene, from).session.me}`
  let known = tables.changes.get(key)
  if (!known) {
    const directory = clone(interned.valueOf(tables.directories, scene.directory))
    const { me } = processOf(tables, scene, from).session
    const done = ask(directory, me, interned.valueOf(tables.requests, number))
    known = { directory: interned.numberOf(tables.directories, directory), done }
    tables.changes.set(key, known)
  }
  scene.directory = known.directory
  if (interned.valueOf(tables.requests, number).kind !== 'change') return
  const now = registerNow(tables, scene)
  if (known.done) {
    const { primary } = interned.valueOf(tables.registers, now)
    scene.seen = { ...scene.seen, primaries: [...scene.seen.primaries, primary] }
    for (let i = 0; i < scene.processes.length; i++) tellRegister(tables, scene, i, now)
  } else tellRegister(tables, scene, from, now)
}

function ask(directory: Directory, from: PeerId, request: ToHub): boolean {
  const out = { send() {}, record() {}, emit() {} }
  if (request.kind === 'members') {
    return register.setMembers(directory, SESSION_ID, from, request.members, out)
  }
  if (request.kind !== 'change') return false
  if (!register.change(directory, 0, request, out)) return false
  // Here the disk takes what it is given at once; models/lease has it take its time.
  settle(directory)
  return true
}

// To the one that asked twice, as answer and as news: it takes the second for nothing new.
function tellRegister(tables: Tables, scene: Scene, i: number, now: number): void {
  const { session } = processOf(tables, scene, i)
  if (!scene.up[i] || !session.hub.up || session.me === 0) return
  if (scene.fromHub[i]!.at(-1) !== now) push(scene.fromHub, i, now)
}

/** Whether that is a takeover whose primary answers the hub. */
export function mayVeto(tables: Tables, scene: Scene, from: number): boolean {
  const request = interned.valueOf(tables.requests, scene.toHub[from]![0]!)
  const { primary, epoch } = interned.valueOf(tables.registers, registerNow(tables, scene))
  if (request.kind !== 'change' || request.why !== 'takeover') return false
  const at = placeOf(tables, scene, primary)
  if (request.expect !== epoch || at < 0 || !scene.up[at]) return false
  const { session } = processOf(tables, scene, at)
  return session.hub.up && is(session, 'leads') && session.server.epoch === epoch
}

/** The primary answers the hub, which tells who asked for the takeover. */
export function veto(scene: Scene, from: number): void {
  scene.left.vetoes--
  shift(scene.toHub, from)
  push(scene.fromHub, from, ALIVE)
}

/** The oldest word of the hub reaches a process. */
export function hearRegister(tables: Tables, scene: Scene, i: number): void {
  const number = shift(scene.fromHub, i)
  if (number === ALIVE) return act(tables, scene, i, { kind: 'vetoed' })
  const register = interned.valueOf(tables.registers, number)
  act(tables, scene, i, { kind: 'register', register }, `r${number}`)
}

/** A process dies. What it sent is still under way. */
export function crash(scene: Scene, i: number): void {
  const count = scene.processes.length
  scene.left.crashes--
  scene.up[i] = false
  scene.fromHub[i] = []
  for (let from = 0; from < count; from++) scene.links[from * count + i] = []
}

/** A dead process starts again. */
export function restart(tables: Tables, scene: Scene, i: number): void {
  const count = scene.processes.length
  const { session: old } = processOf(tables, scene, i)
  scene.left.restarts--
  scene.up[i] = true
  scene.toHub[i] = []
  for (let to = 0; to < count; to++) scene.links[i * count + to] = []
  const keeps = tables.scope.variant === 'keep-identity'
  const process = processes.fresh(keeps ? i : askerOf(scene, i), variantOf(tables.scope))
  if (keeps) {
    process.session.me = old.me
    process.session.player = old.player
    const asked = { primary: 0, ackedAt: -Infinity, incoming: null }
    process.session.server = { ...idleServer(), role: 'sync', ...asked }
    push(scene.fromHub, i, registerNow(tables, scene))
  }
  scene.processes[i] = interned.numberOf(tables.processes, process)
}

/** Under which number a process asks to be let in: a new life has a new secret. */
export function askerOf(scene: Scene, i: number): number {
  return i + scene.processes.length
}

function enter(tables: Tables, scene: Scene, asker: number, inc: PeerId): void {
  const i = asker % scene.processes.length
  const newcomer = clone(processOf(tables, scene, i))
  if (newcomer.session.me !== 0) return
  newcomer.session.me = inc
  newcomer.session.player = inc
  scene.processes[i] = interned.numberOf(tables.processes, newcomer)
  tables.passed.joined = true
}

/** A link is lost with what it carried, and opened again. */
export function relink(tables: Tables, scene: Scene, i: number, j: number): void {
  const count = scene.processes.length
  scene.left.relinks--
  scene.links[i * count + j] = []
  scene.links[j * count + i] = []
  const [one, other] = [
    processOf(tables, scene, i).session.me,
    processOf(tables, scene, j).session.me,
  ]
  act(tables, scene, i, { kind: 'relinked', peer: other })
  act(tables, scene, j, { kind: 'relinked', peer: one })
}
