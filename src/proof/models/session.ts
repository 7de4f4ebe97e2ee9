/**
 * The session with its log and its register, in every interleaving of a small scope: the
 * shipped verbs of `session/`, `replication/` and `directory/`, in a network that delays, loses,
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

import { watched } from '../../session/server.ts'
import { type ServerAs, serves } from '../../session/state.ts'
import type { Action, Model } from '../../sim/checker.ts'
import * as interned from './interned.ts'
import type { Input } from './processes.ts'
import { always, sometimes } from './session-claims.ts'
import {
  act,
  arrive,
  askerOf,
  begin,
  crash,
  hearRegister,
  push,
  reachHub,
  relink,
  restart,
  shift,
} from './session-scene.ts'
import {
  type Budgets,
  clientOf,
  createTables,
  nameOf,
  placeOf,
  processOf,
  registerNow,
  type Scene,
  type Scope,
  show,
  type Tables,
} from './session-tables.ts'

/** A model of that scope. */
export function createModel(scope: Scope): Model<Scene> {
  const tables = createTables(scope)
  const { claims } = scope
  const all = Object.entries(always(tables))
  return {
    name: scope.name,
    init: () => begin(tables),
    actions: (scene) => actions(tables, scene),
    always: Object.fromEntries(claims ? all.filter(([name]) => claims.includes(name)) : all),
    sometimes: sometimes(tables),
    canonical: flat,
    copy: copyOf,
    show: (scene) => show(tables, scene),
  }
}

// Queues and what was seen are replaced and never changed, so copies share them.
function copyOf(scene: Scene): Scene {
  const { processes, up, directory, links, toHub, fromHub, left, seen } = scene
  return {
    processes: processes.slice(),
    up: up.slice(),
    directory,
    links: links.slice(),
    toHub: toHub.slice(),
    fromHub: fromHub.slice(),
    left: { ...left },
    seen,
  }
}

// The same as the scene, in a form that costs less to hash.
function flat({ processes, up, directory, links, toHub, fromHub, left, seen }: Scene): unknown[] {
  const queues = [links, toHub, fromHub]
  const { primaries, views, acknowledged, broken } = seen
  const acks = acknowledged.map(({ place, epoch }) => place * 1_000 + epoch)
  return [processes, up, directory, queues, Object.values(left), primaries, views, acks, broken]
}

function* actions(tables: Tables, scene: Scene): Iterable<Action<Scene>> {
  for (let i = 0; i < scene.processes.length; i++) {
    yield* arrivals(tables, scene, i)
    if (scene.up[i]) yield* ofProcess(tables, scene, i)
    else yield* ofDead(tables, scene, i)
  }
}

function* arrivals(tables: Tables, scene: Scene, to: number): Iterable<Action<Scene>> {
  const count = scene.processes.length
  if (scene.toHub[to]!.length > 0) {
    const request = interned.valueOf(tables.requests, scene.toHub[to]![0]!)
    const label = `the hub hears ${request.kind} of ${nameOf(tables, scene, to)}`
    yield { label, next: (copy) => reachHub(tables, copy, to) }
  }
  if (!scene.up[to]) return
  if (scene.fromHub[to]!.length > 0) {
    const label = `${nameOf(tables, scene, to)} hears the register`
    yield { label, next: (copy) => hearRegister(tables, copy, to) }
  }
  for (let from = 0; from < count; from++) {
    const link = scene.links[from * count + to]!
    if (link.length === 0) continue
    const { message } = interned.valueOf(tables.messages, link[0]!)
    const what = `${message.kind} of ${nameOf(tables, scene, from)}`
    const label = `${nameOf(tables, scene, to)} gets ${what}`
    yield { label, next: (copy) => arrive(tables, copy, from, to, true) }
    if (scene.left.doubles > 0) {
      const next = (copy: Scene): void => {
        copy.left.doubles--
        arrive(tables, copy, from, to, false)
      }
      yield { label: `${label}, which will come again`, environment: true, next }
    }
    if (scene.left.losses > 0) {
      const next = (copy: Scene): void => {
        copy.left.losses--
        shift(copy.links, from * count + to)
      }
      yield { label: `the network loses ${what}`, environment: true, next }
    }
  }
}

function* ofProcess(tables: Tables, scene: Scene, i: number): Iterable<Action<Scene>> {
  const { session } = processOf(tables, scene, i)
  const { server } = session
  const who = nameOf(tables, scene, i)
  const { left } = scene
  if (serves(session)) yield* ofPrimary(tables, scene, i)
  const peer = watched(session)
  if (left.suspicions > 0 && peer !== 0) {
    yield spend(tables, i, 'suspicions', `${who} suspects ${peer}`, {
      kind: 'suspect',
      peer,
    })
  }
  if (server.role === 'taking' && !server.attempt.sent) {
    const next = (copy: Scene): void => act(tables, copy, i, { kind: 'heard' })
    yield { label: `${who} hears ${server.primary} again`, next }
  }
  if (left.crashes > 0) {
    yield { label: `${who} crashes`, environment: true, next: (copy) => crash(copy, i) }
  }
  if (server.role === 'backedup') yield* handOver(tables, scene, i, server)
  if (session.me === 0) yield* newcomer(tables, scene, i)
  else yield* connections(tables, scene, i)
}

function* ofPrimary(tables: Tables, scene: Scene, i: number): Iterable<Action<Scene>> {
  const { session } = processOf(tables, scene, i)
  const { server } = session
  const who = nameOf(tables, scene, i)
  const { left } = scene
  const issued = (tables.scope.operations ?? 0) - left.operations
  for (let id = 1; id <= issued + 1; id++) {
    const isFresh = id > issued
    const budget = isFresh ? 'operations' : 'resends'
    if (left[budget] === 0) continue
    const label = `operation ${id} reaches ${who}${isFresh ? '' : ' again'}`
    yield spend(tables, i, budget, label, { kind: 'operation', ...clientOf(tables.scope, id), id })
  }
  for (const peer of server.published.keys()) {
    if (peer === session.me) continue
    if (left.offers > 0 && server.role === 'alone') {
      yield spend(tables, i, 'offers', `${who} asks ${peer} to be backup`, { kind: 'offer', peer })
    }
    if (left.removals > 0) {
      yield spend(tables, i, 'removals', `${who} removes ${peer}`, { kind: 'remove', peer })
    }
  }
}

function* handOver(
  tables: Tables,
  scene: Scene,
  i: number,
  { handoverUntil }: ServerAs<'backedup'>,
): Iterable<Action<Scene>> {
  const who = nameOf(tables, scene, i)
  if (handoverUntil !== null) {
    const next = (copy: Scene): void => act(tables, copy, i, { kind: 'keep-role' })
    yield { label: `${who} keeps its role after all`, next }
  } else if (scene.left.handovers > 0) {
    yield spend(tables, i, 'handovers', `${who} hands over`, { kind: 'hand-over' })
  }
}

// A link or the stream to the hub is lost, and there again.
function* connections(tables: Tables, scene: Scene, i: number): Iterable<Action<Scene>> {
  const { session } = processOf(tables, scene, i)
  const who = nameOf(tables, scene, i)
  if (!session.hub.up) {
    const next = (copy: Scene): void => {
      act(tables, copy, i, { kind: 'hub', up: true })
      push(copy.fromHub, i, registerNow(tables, copy))
    }
    yield { label: `${who} reaches the hub again`, next }
  } else if (scene.left.breaks > 0) {
    const next = (copy: Scene): void => {
      copy.left.breaks--
      copy.toHub[i] = []
      copy.fromHub[i] = []
      act(tables, copy, i, { kind: 'hub', up: false })
    }
    yield { label: `the hub's stream to ${who} breaks`, environment: true, next }
  }
  if (scene.left.relinks === 0) return
  for (let j = 0; j < i; j++) {
    if (!scene.up[j]) continue
    const label = `${nameOf(tables, scene, j)} and ${who} link anew`
    yield { label, environment: true, next: (copy) => relink(tables, copy, i, j) }
  }
}

function* newcomer(tables: Tables, scene: Scene, i: number): Iterable<Action<Scene>> {
  const { primary } = interned.valueOf(tables.registers, registerNow(tables, scene))
  const at = placeOf(tables, scene, primary)
  if (at < 0 || !scene.up[at] || scene.left.joins === 0) return
  const asker = askerOf(scene, i)
  yield spend(tables, at, 'joins', `a newcomer asks ${primary}`, { kind: 'join', asker })
}

function* ofDead(tables: Tables, scene: Scene, i: number): Iterable<Action<Scene>> {
  if (scene.left.restarts === 0) return
  const label = `${nameOf(tables, scene, i)} starts again`
  yield { label, environment: true, next: (copy) => restart(tables, copy, i) }
}

function spend(
  tables: Tables,
  i: number,
  budget: keyof Budgets,
  label: string,
  input: Input,
): Action<Scene> {
  const environment = budget !== 'operations' && budget !== 'offers' && budget !== 'joins'
  const next = (copy: Scene): void => {
    copy.left[budget]--
    act(tables, copy, i, input)
  }
  return { label, environment, next }
}
