/**
 * The shipped objects in a small world: one object, a few members, every order of messages and of
 * what may happen to owners, primaries and members (G1-G15, R1, U1 of the scopes).
 *
 * The claims are those of docs/protocols/objects.md: one owner of each version, no version goes
 * back, what an owner believes to have told is there, and when all is told all agree.
 */

import type { Model } from '../../packages/sim/src/checker/checker.ts'
import { type Input, typesOf } from './objects-peer.ts'
import { KIND } from '../../packages/holdfast/src/objects/protocol/messages.ts'
import type { TypeRules } from '../../packages/holdfast/src/objects/protocol/objects.ts'
import { hear } from '../../packages/sim/src/enact.ts'
import * as budgets from './budgets.ts'
import * as interned from './interned.ts'
import * as memo from './memo.ts'
import { doing, spending } from './objects-acts.ts'
import { always, settled, sometimes } from './objects-claims.ts'
import { is, isIt } from './objects-faces.ts'
import * as links from './objects-links.ts'
import { losing } from './objects-losses.ts'
import { requesting } from './objects-requests.ts'
import * as scenes from './objects-scene.ts'
import {
  CREATOR,
  createTables,
  HEIR,
  type Link,
  type Scene,
  type Scope,
  show,
  type Step,
  type Tables,
  worldIn,
} from './objects-tables.ts'
import * as queues from './queues.ts'
import * as worlds from './objects-worlds.ts'

/** The model of one scope. */
export function objectsModel(name: string, scope: Scope): Model<Scene> {
  const tables = createTables(scope)
  const steps = stepsOf(tables)
  return {
    name,
    init: () => scenes.begin(tables),
    actions: (scene) => actions(tables, steps, scene),
    always: always(tables),
    settled: settled(tables),
    sometimes: sometimes(tables),
    flat: tables.place.high,
    show: (scene) => show(tables, scene),
  }
}

/** All steps, each made once; those that follow from two numbers are remembered by these. */
interface Steps {
  /** By link. */
  arrive: Step[]
  lose: Step[]
  ack: Step[]
  create: Step
  losses(scene: Scene, steps: Step[]): void
  /** Of a member by itself, and as primary; by peer and what is left. */
  owning: Remembered
  granting: Remembered
  /** By world and what is left. */
  membership: Remembered
  requests(scene: Scene, steps: Step[]): void
}

type Remembered = (one: number, left: number) => readonly Step[]

function stepsOf(tables: Tables): Steps {
  return {
    arrive: tables.links.map((link) => ({
      label: (scene) => `${link.from} to ${link.to}: ${wordOn(tables, scene, link)}`,
      next: (scene) => scenes.arrive(tables, scene, link),
    })),
    lose: tables.links.map(({ from, to, at }) => ({
      label: `the rest of ${from}>${to} is lost`,
      next: (scene) => void (scene[at] = links.cut(scene[at]!)),
    })),
    ack: tables.links.map(({ from, to }) => ({
      label: `${from}>${to} is acked`,
      next: (scene) => scenes.deliver(tables, scene, from, to),
    })),
    create: { label: `${CREATOR} creates`, next: (scene) => scenes.create(tables, scene) },
    losses: losing(tables),
    owning: memo.remembering((peer, left) => owning(tables, peer, left)),
    granting: memo.remembering((peer, left) => granting(tables, peer, left)),
    membership: memo.remembering((world, left) => membership(tables, world, left)),
    requests: requesting(tables),
  }
}

function wordOn(tables: Tables, scene: Scene, { at }: Link): string {
  const input = queues.first(tables.queues, links.queueOf(scene[at]!))
  const word = interned.valueOf(tables.inputs, input)
  if (word.kind === 'members') {
    return word.gone === 0 ? `VIEW of epoch ${word.epoch}` : `${word.gone} is gone`
  }
  const { bytes } = word as Extract<Input, { kind: 'message' }>
  return phrase(bytes, typesOf(tables.scope.hides ?? 0))
}

function actions(tables: Tables, all: Steps, scene: Scene): Step[] {
  const { place, members, faces } = tables
  const steps: Step[] = []
  const world = worldIn(tables, scene)
  const left = scene[place.left]!
  underWay(tables, all, scene, world.up, steps)
  all.losses(scene, steps)
  for (let inc = 1; inc <= members; inc++) {
    if (!worlds.has(world.up, inc)) continue
    if (inc === CREATOR && !world.created) steps.push(all.create)
    const peer = scene[place.peer + inc - 1]!
    if (isIt(faces, peer, is.owns)) add(steps, all.owning(peer, left))
  }
  for (const { primary } of world.terms) {
    const peer = scene[place.peer + primary - 1]!
    if (!worlds.has(world.up, primary) || !isIt(faces, peer, is.leads)) continue
    if (isIt(faces, peer, is.alive)) add(steps, all.granting(peer, left))
  }
  if (tables.changes) add(steps, all.membership(scene[place.world]!, left))
  if (tables.scope.takes) all.requests(scene, steps)
  return steps
}

function add(steps: Step[], more: readonly Step[]): void {
  for (let i = 0; i < more.length; i++) steps.push(more[i]!)
}

// What is under way on links, first what comes, then that it has come.
function underWay(tables: Tables, all: Steps, scene: Scene, up: number, steps: Step[]): void {
  const { links: between, place } = tables
  let acks = 0
  for (let i = 0; i < between.length; i++) {
    const link = scene[place.link + i]!
    acks |= links.acksOf(link)
    const { from, to } = between[i]!
    if (!links.isBusy(link) || !worlds.has(up, to)) continue
    steps.push(all.arrive[i]!)
    if (!worlds.has(up, from)) steps.push(all.lose[i]!)
  }
  for (let i = 0; i < between.length && acks !== 0; i++) {
    if (links.acksOf(scene[place.link + i]!) !== 0) steps.push(all.ack[i]!)
  }
}

// An owner writes, and destroys what is its own.
function owning(tables: Tables, peer: number, number: number): Step[] {
  const { scope, faces } = tables
  const { me } = faces.all[peer]!
  const left = budgets.leftOf(tables.budgets, number)
  const steps: Step[] = []
  for (let field = 0; field < (scope.fields ?? 1); field++) {
    if (left.writes === 0 || left.packets <= 0) break
    const label = `${me} writes field ${field}`
    steps.push(doing(tables, me, 'writes', label, { kind: 'write', field }))
  }
  if (left.destroys > 0 && (scope.destroyers?.includes(me) ?? true)) {
    steps.push(doing(tables, me, 'destroys', `${me} destroys`, { kind: 'destroy' }))
  }
  return steps
}

function granting(tables: Tables, peer: number, number: number): Step[] {
  const { grantees } = tables.scope
  const { me, own, state } = tables.faces.all[peer]!
  const left = budgets.leftOf(tables.budgets, number)
  if (left.grants === 0 || !own || own.dead) return []
  return [...state.here.keys()]
    .filter((to) => to !== own.owner && (grantees?.includes(to) ?? true))
    .map((to) => doing(tables, me, 'grants', `${me} grants it to ${to}`, { kind: 'grant', to }))
}

function membership(tables: Tables, number: number, leftNumber: number): Step[] {
  const { removed } = tables.scope
  const left = budgets.leftOf(tables.budgets, leftNumber)
  const { up, term } = worlds.worldOf(tables.worlds, number)
  const { primary, members } = term
  const steps: Step[] = []
  for (const inc of worlds.incsOf(members)) {
    if (left.removals === 0 || !worlds.has(up, primary)) break
    if (inc === primary || !(removed?.includes(inc) ?? true)) continue
    const next = (scene: Scene): void => scenes.remove(tables, scene, inc)
    steps.push(spending(tables, 'removals', `${primary} removes ${inc}`, next))
  }
  if (left.joins > 0) {
    const next = (scene: Scene): void => scenes.join(tables, scene)
    steps.push(spending(tables, 'joins', `${tables.members} is let in`, next))
  }
  if (left.takeovers > 0 && worlds.has(members, HEIR) && primary !== HEIR) {
    const next = (scene: Scene): void => scenes.takeOver(tables, scene)
    steps.push(spending(tables, 'takeovers', `${HEIR} takes over`, next))
  }
  return steps
}

const NAMES: Readonly<Record<number, string>> = Object.fromEntries(
  Object.entries(KIND).map(([name, kind]) => [kind, name.toUpperCase()]),
)

/** A message in one phrase, such as `MIGRATE 1.1 to 3`: with epoch and count of its version. */
function phrase(bytes: Uint8Array, types: readonly TypeRules[]): string {
  const heard = hear(bytes, types)
  if (!heard) return NAMES[bytes[0]!] ?? 'something'
  const { word, version, owner } = heard
  const number = `${version.epoch}.${version.count}`
  const left = bytes[0] === KIND.unowned ? ', left behind' : ''
  switch (word) {
    case 'CREATE':
      return `CREATE ${number} of ${owner}${left}`
    case 'MIGRATE':
      return `MIGRATE ${number} to ${owner}${left}`
    case 'DESTROY':
      return `DESTROY ${number} by ${owner}${left}`
    case 'GRANT':
      return `GRANT ${number}, it was of ${owner}`
  }
}
