/**
 * The session with its log and its register, in every interleaving of a small scope: the
 * shipped verbs of `session/`, `replication/` and `hub/`, in a network that delays, loses,
 * doubles and relinks, with processes that are suspected falsely, die and start again.
 *
 * Messages between two processes come in order, as links carry them, and in any order between
 * pairs. A message that is never delivered is among the interleavings; `losses` and `doubles`
 * do more than a link can do. The hub's stream carries requests one way and the register the
 * other; when it breaks, what was under way on it is lost, and the member asks again.
 *
 * An operation may reach any process that serves, at any time, again and again: the client
 * that would send it there is one of those that must not be able to do harm.
 */

import type { PeerId } from '../../packages/holdfast/src/machine.ts'
import { watchedPeer } from '../../packages/holdfast/src/session/server.ts'
import { serves, type ServerAs } from '../../packages/holdfast/src/session/state.ts'
import * as cells from '../../packages/sim/src/checker/cells.ts'
import type { CellModel } from '../../packages/sim/src/checker/checker.ts'
import type { Input, Process } from './processes.ts'
import * as moderation from './session-moderation.ts'
import {
  act,
  askerOf,
  begin,
  breakHub,
  type Budgets,
  clientOf,
  crash,
  createTables,
  doing,
  isUp,
  mayRefuse,
  mayVeto,
  nameOf,
  type Passed,
  placeOf,
  push,
  reachHub,
  reachLate,
  refuse,
  registered,
  relink,
  restart,
  type Scene,
  type Scope,
  shift,
  spend,
  spending,
  type Step,
  type Tables,
  veto,
} from './session-scene.ts'

/** The model of one scope. */
export function sessionModel(name: string, scope: Scope): CellModel<Scene> {
  const tables = createTables(scope)
  // What a process may do by itself.
  const choices: Choices = cells.remember(tables.all, (i, process, left) => [
    ...ofProcess(tables, i, process, left),
  ])
  return {
    name,
    cells: tables.all,
    arrays: ['processes', 'toHub', 'fromHub', 'links', 'late'],
    init: () => begin(tables),
    actions: (scene) => actions(tables, choices, scene),
    always: { ...always(), ...moderation.always(tables) },
    settled: moderation.settled(tables),
    sometimes: { ...sometimes(tables), ...moderation.sometimes(tables) },
    show,
  }
}

function show(scene: Scene): string {
  const { epoch, primary, backup } = registered(scene)
  const all = scene.processes.map(({ session: { me, server }, done }, i) => {
    const role = isUp(scene, i) ? `${server.role}(${server.epoch})` : 'dead'
    return `${me} ${role} [${done.join(' ')}]`
  })
  return `register (${epoch}, ${primary}, ${backup || 'nobody'}); ${all.join(' | ')}`
}

// Something happens to process i that may happen only so often, and need not.
function happening(label: Step['label'], next: Step['next']): Step {
  return { label, environment: true, next }
}

type Choices = (i: number, process: Process, left: Scene['left']) => readonly Step[]

function actions(tables: Tables, choices: Choices, scene: Scene): Step[] {
  const steps: Step[] = []
  for (let i = 0; i < tables.members; i++) {
    const process = scene.processes[i]!
    if (scene.toHub[i]!.length > 0) requests(tables, scene, i, steps)
    if (tables.scope.late && scene.late[i]!.length > 0) {
      const label: Step['label'] = (at) => `the hub hears ${nameOf(at, i)} on its old stream`
      steps.push(happening(label, (to) => reachLate(tables, to, i)))
    }
    if (isUp(scene, i)) {
      arrivals(tables, scene, i, steps)
      for (const step of choices(i, process, scene.left)) steps.push(step)
      if (process.session.me === 0) joining(tables, scene, i, steps)
      else if (scene.left.relinks > 0) relinking(tables, scene, i, steps)
      if (tables.moderates) steps.push(...moderation.actions(tables, scene, i))
    } else if (scene.left.restarts > 0) {
      const restarts = (to: Scene): void => restart(tables, to, i)
      steps.push(happening((at) => `${nameOf(at, i)} starts again`, restarts))
    }
  }
  return steps
}

function requests(tables: Tables, scene: Scene, i: number, steps: Step[]): void {
  const { left } = scene
  steps.push({
    label: (at) => `the hub hears ${at.toHub[i]![0]!.kind} of ${nameOf(at, i)}`,
    next: (to) => reachHub(tables, to, i),
  })
  if (left.vetoes > 0 && mayVeto(scene, i)) {
    const label: Step['label'] = (at) => `the hub asks the primary about ${nameOf(at, i)}: it lives`
    steps.push(happening(label, (to) => veto(tables, to, i)))
  }
  if (left.refusals > 0 && mayRefuse(scene, i)) {
    const label: Step['label'] = (at) => `the hub refuses what ${nameOf(at, i)} asks for`
    steps.push(happening(label, (to) => refuse(tables, to, i)))
  }
}

function arrivals(tables: Tables, scene: Scene, to: number, steps: Step[]): void {
  const { members } = tables
  if (scene.fromHub[to]!.length > 0) {
    steps.push({
      label: (at) => `${nameOf(at, to)} hears the register`,
      next: (copy) => act(tables, copy, to, shift(copy.fromHub, to)),
    })
  }
  for (let from = 0; from < members; from++) {
    const link = from * members + to
    if (scene.links[link]!.length === 0) continue
    const what = (at: Scene): string => {
      const { message } = at.links[link]![0] as Input & { kind: 'receive' }
      return `${message.kind} of ${nameOf(at, from)}`
    }
    const arrives = (at: Scene): string => `${nameOf(at, to)} gets ${what(at)}`
    steps.push({
      label: arrives,
      next: (copy) => act(tables, copy, to, shift(copy.links, link)),
    })
    if (scene.left.doubles > 0) {
      const twice = (copy: Scene): void => {
        spend(tables, copy, 'doubles')
        act(tables, copy, to, copy.links[link]![0]!)
      }
      steps.push(happening((at) => `${arrives(at)}, which will come again`, twice))
    }
    if (scene.left.losses > 0) {
      const lose = (copy: Scene): void => {
        spend(tables, copy, 'losses')
        shift(copy.links, link)
      }
      steps.push(happening((at) => `the network loses ${what(at)}`, lose))
    }
  }
}

function* ofProcess(
  tables: Tables,
  i: number,
  { session }: Process,
  left: Scene['left'],
): Iterable<Step> {
  const { server, me } = session
  const who = me === 0 ? 'a newcomer' : `${me}`
  const spends = (budget: keyof Budgets, input: Input, label: string): Step =>
    spending(tables, i, budget, input, label)
  if (serves(session)) {
    yield* ofPrimary(tables, i, session, left)
    yield* moderation.ofPrimary(tables, i, session, left)
  }
  const peer = watchedPeer(session)
  if (left.suspicions > 0 && peer !== 0) {
    yield spends('suspicions', { kind: 'suspect', peer }, `${who} suspects ${peer}`)
  }
  if (server.role === 'taking' && !server.attempt.sent) {
    yield doing(tables, i, { kind: 'heard' }, `${who} hears ${server.primary} again`)
  }
  if (left.repeats > 0 && 'attempt' in server && server.attempt.sent && session.hub.up) {
    yield spends('repeats', { kind: 'repeat' }, `${who} asks the hub again`)
  }
  if (left.crashes > 0) yield happening(`${who} crashes`, (scene) => crash(tables, scene, i))
  if (server.role === 'backedup') yield* handOver(tables, i, who, left, server)
  if (me === 0) return
  if (!session.hub.up) {
    const opens = (scene: Scene): void => {
      act(tables, scene, i, { kind: 'hub', up: true })
      push(scene.fromHub, i, tables.tidings(scene.directory))
    }
    yield { label: `${who} reaches the hub again`, next: opens }
  } else if (left.breaks > 0) {
    const breaks = (scene: Scene): void => breakHub(tables, scene, i)
    yield happening(`the hub's stream to ${who} breaks`, breaks)
  }
}

function* ofPrimary(
  tables: Tables,
  i: number,
  { server, me }: Process['session'],
  left: Scene['left'],
): Iterable<Step> {
  const issued = (tables.scope.operations ?? 0) - left.operations
  for (let id = 1; id <= issued + 1; id++) {
    const isFresh = id > issued
    const budget = isFresh ? 'operations' : 'resends'
    if (left[budget] === 0) continue
    const label = `operation ${id} reaches ${me}${isFresh ? '' : ' again'}`
    const input = { kind: 'operation', ...clientOf(tables.scope, id), id } as const
    yield spending(tables, i, budget, input, label)
  }
  for (const peer of server.published.keys()) {
    if (peer === me) continue
    if (left.offers > 0 && server.role === 'alone') {
      const label = `${me} asks ${peer} to be backup`
      yield spending(tables, i, 'offers', { kind: 'offer', peer }, label)
    }
    if (left.removals > 0) {
      yield spending(tables, i, 'removals', { kind: 'remove', peer }, `${me} removes ${peer}`)
    }
  }
}

function* handOver(
  tables: Tables,
  i: number,
  who: string,
  left: Scene['left'],
  { handoverUntil }: ServerAs<'backedup'>,
): Iterable<Step> {
  if (handoverUntil !== null) {
    yield doing(tables, i, { kind: 'keep-role' }, `${who} keeps its role after all`)
  } else if (left.handovers > 0) {
    yield spending(tables, i, 'handovers', { kind: 'hand-over' }, `${who} hands over`)
  }
}

function joining(tables: Tables, scene: Scene, i: number, steps: Step[]): void {
  const at = placeOf(scene, registered(scene).primary)
  if (at < 0 || !isUp(scene, at) || scene.left.joins === 0) return
  const input = { kind: 'join', asker: askerOf(tables, i) } as const
  steps.push(spending(tables, at, 'joins', input, `a newcomer asks ${nameOf(scene, at)}`))
}

function relinking(tables: Tables, scene: Scene, i: number, steps: Step[]): void {
  for (let j = 0; j < i; j++) {
    if (!isUp(scene, j)) continue
    const label = `${nameOf(scene, j)} and ${nameOf(scene, i)} link anew`
    steps.push(happening(label, (to) => relink(tables, to, i, j)))
  }
}

// What happens in some state, or the scope is too small.
function sometimes({ scope, passed }: Tables): Record<string, (scene: Scene) => boolean> {
  const hasPassed = (mark: Passed) => (): boolean => passed.has(mark)
  return {
    'backed up': ({ processes: all }) =>
      all.some(({ session }) => session.server.role === 'backedup'),
    'taken over': hasPassed('took over'),
    'backup dropped': hasPassed('dropped'),
    'a primary deposed': hasPassed('deposed'),
    'all operations acknowledged': ({ seen }) =>
      seen.acknowledged.filter(({ place }) => place !== 0).length === (scope.operations ?? 0),
    ...(scope.resends &&
      scope.operations && { 'an operation acknowledged in two epochs': hasPassed('two epochs') }),
    ...(scope.refusals && { 'a backup that is not taken': hasPassed('declined') }),
    ...(scope.vetoes && { 'a takeover taken back': hasPassed('vetoed') }),
    ...(scope.handovers && { 'handed over': hasPassed('handed over') }),
    ...(scope.restarts && { 'a newcomer let in': hasPassed('joined') }),
  }
}

// What holds in every state.
function always(): Record<string, (scene: Scene) => true | string> {
  const told =
    (claim: string) =>
    ({ seen: { broken } }: Scene) =>
      !broken.startsWith(`${claim}:`) || broken
  return {
    'role.unique': uniqueRole,
    'role.register': inRegister,
    'commit.kept': kept,
    'commit.fork': told('commit.fork'),
    'commit.hidden': told('commit.hidden'),
    once: (scene) => {
      const again = doneTwice(scene)
      return again === true ? told('once')(scene) : again
    },
    'view.linear': told('view.linear'),
  }
}

// Those that run and serve.
function serving(scene: Scene): Process[] {
  return scene.processes.filter(({ session }, i) => serves(session) && isUp(scene, i))
}

function uniqueRole(scene: Scene): true | string {
  const primaries = new Map<number, PeerId>()
  for (const { session } of serving(scene)) {
    const { me, server } = session
    const other = primaries.get(server.epoch)
    if (other !== undefined) return `${other} and ${me} both serve in epoch ${server.epoch}`
    primaries.set(server.epoch, me)
  }
  return true
}

function inRegister(scene: Scene): true | string {
  for (const { session } of serving(scene)) {
    const { me, server } = session
    const primary = scene.seen.primaries[server.epoch]
    if (primary !== me) return `${me} serves in epoch ${server.epoch}, whose primary is ${primary}`
  }
  return true
}

function kept(scene: Scene): true | string {
  const { acknowledged } = scene.seen
  if (acknowledged.length === 0) return true
  for (const { session, done } of serving(scene)) {
    const { me, server } = session
    for (const [seq, told] of acknowledged.entries()) {
      if (told.place === 0 || server.epoch < told.epoch || done[told.place - 1] === seq) continue
      return `operation ${seq} was acknowledged; ${me} serves in epoch ${server.epoch} without it`
    }
  }
  return true
}

function doneTwice(scene: Scene): true | string {
  for (const [i, { session, done }] of scene.processes.entries()) {
    const again = done.find((seq, at) => done.indexOf(seq) !== at) ?? 0
    if (again !== 0 && isUp(scene, i)) return `${session.me} has done operation ${again} twice`
  }
  return true
}
