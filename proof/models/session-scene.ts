/**
 * The world of the session's model: how it begins, and what each step does to it. What a step makes
 * of a number is looked up; what stands behind the numbers is never changed.
 */

import { type PeerId, RIGHTS } from '../../packages/holdfast/src/machine.ts'
import type { ToHub } from '../../packages/holdfast/src/hub-protocol/messages.ts'
import * as register from '../../packages/hub/src/machine/register.ts'
import type { Registers } from '../../packages/hub/src/machine/register.ts'
import { idleServer, is } from '../../packages/holdfast/src/session/state.ts'
import { clone } from '../../packages/sim/src/checker/clone.ts'
import { WHOLE } from './budgets.ts'
import * as interned from './interned.ts'
import * as memo from './memo.ts'
import * as processes from './processes.ts'
import { type Effects, type Input, type Process, SESSION_ID, type Told } from './processes.ts'
import * as queues from './queues.ts'
import { firstSeen, judgeDone, see } from './session-claims.ts'
import {
  type Budgets,
  faceOf,
  isUp,
  keep,
  type News,
  nothing,
  operationOf,
  type Outcome,
  type Passed,
  placeOf,
  registered,
  registerNow,
  type Scene,
  type Scope,
  spend,
  type Step,
  type Tables,
  bugOf,
} from './session-tables.ts'

/** The founder lets the others in, one after the other; all of it is done before we begin. */
export function begin(tables: Tables): Scene {
  const { members, place } = tables
  const scene = new Int32Array(place.size).fill(queues.EMPTY)
  const bug = bugOf(tables.scope)
  const { process, effects } = processes.founder(bug, lawsOf(tables.scope))
  scene[place.directory] = interned.numberOf(tables.directories, foundDirectory(process))
  scene[place.up] = (1 << members) - 1
  scene[place.left] = WHOLE
  scene[place.seen] = firstSeen(tables)
  for (let i = 0; i < members; i++) {
    scene[place.process + i] = keep(tables, i === 0 ? process : freshIn(tables, i))
  }
  carryOut(tables, scene, 0, outcomeWith(tables, process, effects, []))
  for (let i = 1; i < members; i++) {
    act(tables, scene, 0, inputOf(tables, { kind: 'join', asker: i }))
  }
  drain(tables, scene)
  if (tables.scope.start) give(tables, scene, tables.scope.start)
  tables.passed = nothing()
  return scene
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
    act(tables, scene, i, inputOf(tables, { kind: 'offer', peer }))
    drain(tables, scene)
  }
  if (primary !== 1) {
    offer(0, primary)
    act(tables, scene, 0, inputOf(tables, { kind: 'hand-over' }))
    drain(tables, scene)
  }
  offer(primary - 1, backup)
}

// All that is under way arrives.
function drain(tables: Tables, scene: Scene): void {
  const { members, place } = tables
  const isDue = (at: number): boolean => scene[at] !== queues.EMPTY
  // Queues are the last of what a scene has.
  while (scene.subarray(place.toHub).some((queue) => queue !== queues.EMPTY)) {
    for (let i = 0; i < members; i++) {
      if (isDue(place.toHub + i)) reachHub(tables, scene, i)
      if (isDue(place.fromHub + i)) hearHub(tables, scene, i)
      for (let from = 0; from < members; from++) {
        if (isDue(place.link + from * members + i)) arrive(tables, scene, from, i, true)
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

/** A queue has one more behind. @param at its place in the scene */
export function push(tables: Tables, scene: Scene, at: number, number: number): void {
  scene[at] = queues.push(tables.queues, scene[at]!, number)
}

/** A queue has one less in front. @returns that one */
export function shift(tables: Tables, scene: Scene, at: number): number {
  const queue = scene[at]!
  scene[at] = queues.rest(tables.queues, queue)
  return queues.first(tables.queues, queue)
}

/** The number of an input. */
export function inputOf(tables: Tables, input: Input): number {
  return interned.numberOf(tables.inputs, input)
}

/** One process takes an input. */
export function act(tables: Tables, scene: Scene, i: number, input: number): void {
  const at = tables.place.process + i
  const before = scene[at]!
  const outcome = memo.find(tables.outcomes, before, input) ?? outcomeOf(tables, before, input)
  scene[at] = outcome.process
  for (const mark of outcome.passed) tables.passed[mark] = true
  carryOut(tables, scene, i, outcome)
}

function outcomeOf(tables: Tables, before: number, number: number): Outcome {
  const was = interned.valueOf(tables.processes, before)
  const { process, effects } = processes.step(was, interned.valueOf(tables.inputs, number))
  const outcome = outcomeWith(tables, process, effects, passedFrom(was, process))
  return memo.keep(tables.outcomes, before, number, outcome)
}

function outcomeWith(
  tables: Tables,
  process: Process,
  { told, sent, hub }: Effects,
  passed: (keyof Passed)[],
): Outcome {
  const { me: from, server } = process.session
  return {
    process: keep(tables, process),
    sent: sent.map(({ to, message }) => {
      return { to, input: inputOf(tables, { kind: 'receive', from, message }) }
    }),
    hub: hub.map((message) => interned.numberOf(tables.requests, message)),
    told: told.map((one) => heard(tables, one, server.epoch)),
    passed,
  }
}

function heard(tables: Tables, told: Told, epoch: number): Outcome['told'][number] {
  const { news, scope } = tables
  switch (told.kind) {
    case 'joined':
      return told
    case 'view':
      return { kind: 'news', number: interned.numberOf(news, told) }
    case 'done': {
      const moderation = moderationNews(scope, told)
      if (moderation) return { kind: 'news', number: interned.numberOf(news, moderation) }
      const id = operationOf(scope, told.to, told.seq)
      const done = { kind: 'done', id, place: told.outcome, epoch } as const
      return { kind: 'news', number: interned.numberOf(news, done) }
    }
  }
}

// What was answered about who is put out; null of an operation of a part.
function moderationNews(
  { kick, vote }: Scope,
  { to, seq, outcome }: Told & { kind: 'done' },
): News | null {
  const done = outcome === 1
  if (kick?.by === to) return seq === 1 ? { kind: 'expelled', done } : { kind: 'pardoned' }
  if (vote?.by.includes(to) && done) return { kind: 'voted', by: to }
  return vote ? { kind: 'nothing' } : null
}

function passedFrom(before: Process, after: Process): (keyof Passed)[] {
  const { role: was } = before.session.server
  const { role } = after.session.server
  const passed: (keyof Passed)[] = []
  if (was === 'taking' && role === 'alone') passed.push('tookOver')
  if (was === 'taking' && role === 'backup') passed.push('vetoed')
  if (was === 'dropping' && role === 'alone') passed.push('dropped')
  if (was === 'adding' && role === 'alone') passed.push('declined')
  if (was === 'backup' && role === 'alone') passed.push('handedOver')
  if (was !== 'idle' && was !== 'sync' && was !== 'backup' && role === 'idle') {
    passed.push('deposed')
  }
  return passed
}

function carryOut(tables: Tables, scene: Scene, i: number, outcome: Outcome): void {
  const { place, members } = tables
  for (const { to, input } of outcome.sent) {
    const at = placeOf(tables, scene, to)
    if (at >= 0 && isUp(tables, scene, at)) {
      push(tables, scene, place.link + i * members + at, input)
    }
  }
  if (outcome.hub.length > 0 && faceOf(tables, scene, i).hasHub) {
    for (const request of outcome.hub) push(tables, scene, place.toHub + i, request)
  }
  for (const told of outcome.told) {
    if (told.kind === 'joined') enter(tables, scene, told.asker, told.inc)
    else {
      see(tables, scene, told.number)
      judgeDone(tables, scene, told.number)
    }
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
  const link = tables.place.link + from * tables.members + to
  const input = last ? shift(tables, scene, link) : queues.first(tables.queues, scene[link]!)
  act(tables, scene, to, input)
}

/** The oldest request of a process reaches the hub. */
export function reachHub(tables: Tables, scene: Scene, from: number): void {
  const { place } = tables
  const number = shift(tables, scene, place.toHub + from)
  const done = applyRequest(tables, scene, from, number)
  if (interned.valueOf(tables.requests, number).kind === 'change' && !done) {
    tellRegister(tables, scene, from)
  }
}

/** Whether a request on a stream that broke is still under way. */
export function hasLate({ place, scope }: Tables, scene: Scene, from: number): boolean {
  return scope.late === true && scene[place.late + from] !== queues.EMPTY
}

/**
 * The oldest request on a stream that broke reaches the hub, which answers nobody, and takes only a
 * drop from such a stream.
 */
export function reachLate(tables: Tables, scene: Scene, from: number): void {
  const number = shift(tables, scene, tables.place.late + from)
  const request = interned.valueOf(tables.requests, number)
  if (request.kind !== 'change') return
  if (request.why !== 'drop' && tables.scope.bug !== 'late-add') return
  applyRequest(tables, scene, from, number)
}

// The hub takes a request. @returns whether it changed the register, which all members hear then
function applyRequest(tables: Tables, scene: Scene, from: number, number: number): boolean {
  const { place, members, directories } = tables
  const request = interned.valueOf(tables.requests, number)
  const { me } = faceOf(tables, scene, from)
  const before = scene[place.directory]!
  const key = number * INCS_MAX + me
  let known = memo.find(tables.changes, before, key)
  if (!known) {
    const directory = clone(interned.valueOf(directories, before))
    const done = ask(directory, me, request)
    const after = { directory: interned.numberOf(directories, directory), done }
    known = memo.keep(tables.changes, before, key, after)
  }
  scene[place.directory] = known.directory
  if (request.kind !== 'change' || !known.done) return false
  const { primary } = registered(tables, scene)
  see(tables, scene, interned.numberOf(tables.news, { kind: 'primary', primary }))
  for (let i = 0; i < members; i++) tellRegister(tables, scene, i)
  return true
}

// More than members have numbers in a scope.
const INCS_MAX = 64

function ask(directory: Registers, from: PeerId, request: ToHub): boolean {
  const out = { send() {}, record() {} }
  if (request.kind === 'members') {
    return register.setMembers(directory, SESSION_ID, from, request, out)
  }
  if (request.kind !== 'change') return false
  if (!register.change(directory, 0, request, out)) return false
  // Here the disk takes what it is given at once; models/lease has it take its time.
  settle(directory)
  return true
}

// To the one that asked twice, as answer and as news: it takes the second for nothing new.
function tellRegister(tables: Tables, scene: Scene, i: number): void {
  const { me, hasHub } = faceOf(tables, scene, i)
  if (!isUp(tables, scene, i) || !hasHub || me === 0) return
  const at = tables.place.fromHub + i
  const input = tidings(tables, scene)
  if (queues.last(tables.queues, scene[at]!) !== input) push(tables, scene, at, input)
}

/** The register as it is, as an input. */
export function tidings(tables: Tables, scene: Scene): number {
  const number = registerNow(tables, scene)
  tables.registerInputs[number] ??= inputOf(tables, {
    kind: 'register',
    register: interned.valueOf(tables.registers, number),
  })
  return tables.registerInputs[number]
}

/** Whether that is a takeover whose primary answers the hub. */
export function mayVeto(tables: Tables, scene: Scene, from: number): boolean {
  const { place } = tables
  const number = queues.first(tables.queues, scene[place.toHub + from]!)
  const request = interned.valueOf(tables.requests, number)
  const { primary, epoch } = registered(tables, scene)
  if (request.kind !== 'change' || request.why !== 'takeover') return false
  const at = placeOf(tables, scene, primary)
  if (request.expect !== epoch || at < 0 || !isUp(tables, scene, at)) return false
  const { session } = faceOf(tables, scene, at)
  return session.hub.up && is(session, 'leads') && session.server.epoch === epoch
}

/** The primary answers the hub, which tells who asked for the takeover. */
export function veto(tables: Tables, scene: Scene, from: number): void {
  const { place } = tables
  spend(tables, scene, 'vetoes')
  shift(tables, scene, place.toHub + from)
  push(tables, scene, place.fromHub + from, inputOf(tables, { kind: 'vetoed' }))
}

/** Whether that is a change of which the hub may say that who is to get a role said goodbye. */
export function mayRefuse(tables: Tables, scene: Scene, from: number): boolean {
  const number = queues.first(tables.queues, scene[tables.place.toHub + from]!)
  const request = interned.valueOf(tables.requests, number)
  if (request.kind !== 'change' || request.expect !== registered(tables, scene).epoch) return false
  return request.why === 'add' || request.why === 'handover'
}

/** The hub refuses that change. */
export function refuse(tables: Tables, scene: Scene, from: number): void {
  const { place } = tables
  spend(tables, scene, 'refusals')
  const request = interned.valueOf(tables.requests, shift(tables, scene, place.toHub + from))
  if (!('request' in request)) return
  const register = interned.valueOf(tables.registers, registerNow(tables, scene))
  const refused = { kind: 'refused', request: request.request, register } as const
  push(tables, scene, place.fromHub + from, inputOf(tables, refused))
}

/** The oldest word of the hub reaches a process. */
export function hearHub(tables: Tables, scene: Scene, i: number): void {
  act(tables, scene, i, shift(tables, scene, tables.place.fromHub + i))
}

/** The stream between a process and the hub breaks. */
export function breakHub(tables: Tables, scene: Scene, i: number): void {
  const { place } = tables
  spend(tables, scene, 'breaks')
  if (tables.scope.late) scene[place.late + i] = scene[place.toHub + i]!
  scene[place.toHub + i] = queues.EMPTY
  scene[place.fromHub + i] = queues.EMPTY
  act(tables, scene, i, inputOf(tables, { kind: 'hub', up: false }))
}

/** A process dies. What it sent is still under way. */
export function crash(tables: Tables, scene: Scene, i: number): void {
  const { place, members } = tables
  spend(tables, scene, 'crashes')
  scene[place.up]! &= ~(1 << i)
  scene[place.fromHub + i] = queues.EMPTY
  for (let from = 0; from < members; from++) scene[place.link + from * members + i] = queues.EMPTY
}

/** A dead process starts again. */
export function restart(tables: Tables, scene: Scene, i: number): void {
  const { place, members } = tables
  const { session: old } = faceOf(tables, scene, i)
  spend(tables, scene, 'restarts')
  scene[place.up]! |= 1 << i
  scene[place.toHub + i] = queues.EMPTY
  for (let to = 0; to < members; to++) scene[place.link + i * members + to] = queues.EMPTY
  const keeps = tables.scope.bug === 'keep-identity'
  const process = freshIn(tables, keeps ? i : askerOf(tables, i))
  if (keeps) {
    process.session.me = old.me
    process.session.player = old.player
    const asked = { primary: 0, ackedAt: -Infinity, incoming: null }
    process.session.server = { ...idleServer(), role: 'sync', ...asked }
    push(tables, scene, place.fromHub + i, tidings(tables, scene))
  }
  scene[place.process + i] = keep(tables, process)
}

/** Under which number a process asks to be let in: a new life has a new secret. */
export function askerOf({ members }: Tables, i: number): number {
  return i + members
}

function enter(tables: Tables, scene: Scene, asker: number, inc: PeerId): void {
  const at = tables.place.process + (asker % tables.members)
  const before = scene[at]!
  if (tables.faces[before]!.me !== 0) return
  tables.passed.joined = true
  const known = memo.find(tables.entered, before, inc)
  if (known !== null) {
    scene[at] = known
    return
  }
  const newcomer = clone(interned.valueOf(tables.processes, before))
  newcomer.session.me = inc
  newcomer.session.player = inc
  scene[at] = memo.keep(tables.entered, before, inc, keep(tables, newcomer))
}

/** A link is lost with what it carried, and opened again. */
export function relink(tables: Tables, scene: Scene, i: number, j: number): void {
  const { place, members } = tables
  spend(tables, scene, 'relinks')
  scene[place.link + i * members + j] = queues.EMPTY
  scene[place.link + j * members + i] = queues.EMPTY
  const [one, other] = [faceOf(tables, scene, i).me, faceOf(tables, scene, j).me]
  act(tables, scene, i, inputOf(tables, { kind: 'relinked', peer: other }))
  act(tables, scene, j, inputOf(tables, { kind: 'relinked', peer: one }))
}

// What members do of themselves.
const CHOSEN: readonly (keyof Budgets)[] = ['operations', 'offers', 'joins', 'kicks', 'votes']

/** Process i takes an input, which may not happen for ever. */
export function spending(
  tables: Tables,
  i: number,
  budget: keyof Budgets,
  input: Input,
): Pick<Step, 'environment' | 'next'> {
  const environment = !CHOSEN.includes(budget)
  const does = doing(tables, i, input)
  const next = (copy: Scene): void => {
    spend(tables, copy, budget)
    does(copy)
  }
  return { environment, next }
}

/** Process i takes an input. */
export function doing(tables: Tables, i: number, input: Input): Step['next'] {
  const number = inputOf(tables, input)
  return (copy) => act(tables, copy, i, number)
}
