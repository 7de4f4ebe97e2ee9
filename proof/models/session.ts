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

import { watchedPeer } from '../../packages/holdfast/src/session/server.ts'
import type { ServerAs } from '../../packages/holdfast/src/session/state.ts'
import { labelOf, type Model } from '../../packages/sim/src/checker/checker.ts'
import * as interned from './interned.ts'
import * as memo from './memo.ts'
import type { Input } from './processes.ts'
import * as queues from './queues.ts'
import { always, type Claims, sometimes } from './session-claims.ts'
import * as kicks from './session-kicks.ts'
import * as votes from './session-votes.ts'
import {
  arrive,
  askerOf,
  begin,
  breakHub,
  crash,
  doing,
  hasLate,
  hearHub,
  mayRefuse,
  mayVeto,
  push,
  reachHub,
  reachLate,
  refuse,
  relink,
  restart,
  shift,
  spending,
  tidings,
  veto,
} from './session-scene.ts'
import {
  clientOf,
  createTables,
  type Face,
  faceOf,
  isUp,
  leftOf,
  nameOf,
  placeOf,
  registered,
  type Scene,
  type Scope,
  show,
  spend,
  type Step,
  type Tables,
} from './session-tables.ts'

/** A model of that scope. */
export function createModel(scope: Scope): Model<Scene> {
  const tables = createTables(scope)
  const network = networkOf(tables)
  const { claims } = scope
  const judged = (all: Claims): Claims => {
    const named = Object.entries(all).filter(([name]) => !claims || claims.includes(name))
    return Object.fromEntries(named)
  }
  return {
    name: scope.name,
    init: () => begin(tables),
    actions: (scene) => actions(tables, network, scene),
    always: judged({ ...always(tables), ...kicks.always(tables) }),
    settled: judged(kicks.settled(tables)),
    sometimes: { ...sometimes(tables), ...kicks.sometimes(tables) },
    flat: tables.place.size,
    show: (scene) => show(tables, scene),
  }
}

function actions(tables: Tables, network: Network, scene: Scene): Step[] {
  const steps: Step[] = []
  for (let i = 0; i < tables.members; i++) {
    arrivals(tables, network, scene, i, steps)
    if (isUp(tables, scene, i)) {
      for (const step of choices(tables, scene, i)) steps.push(step)
      amongOthers(tables, network, scene, i, steps)
      for (const step of kicks.finding(tables, scene, i)) steps.push(step)
      for (const step of votes.lies(tables, scene, i)) steps.push(step)
    } else if (leftOf(tables, scene).restarts > 0) steps.push(network.restarts[i]!)
  }
  return steps
}

/** The steps that are the same whatever is under way, by process or by link as a scene has them. */
interface Network {
  hub: Step[]
  vetoes: Step[]
  refusals: Step[]
  late: Step[]
  fromHub: Step[]
  links: { arrives: Step; doubled: Step; lost: Step }[]
  restarts: Step[]
  /** By link: the first is asked by the second, which is no member. */
  joins: Step[]
  relinks: Step[]
}

function networkOf(tables: Tables): Network {
  const { members } = tables
  const each = <Made>(make: (i: number) => Made): Made[] =>
    Array.from({ length: members }, (_, i) => make(i))
  const pairs = <Made>(make: (i: number, j: number) => Made): Made[] =>
    each((i) => each((j) => make(i, j))).flat()
  const name = (scene: Scene, i: number): string => nameOf(tables, scene, i)
  return {
    hub: each((i) => ({
      label: (scene) => `the hub hears ${requestOf(tables, scene, i)} of ${name(scene, i)}`,
      next: (scene) => reachHub(tables, scene, i),
    })),
    vetoes: each((i) => ({
      label: (scene) => `the hub asks the primary about ${name(scene, i)}: it lives`,
      environment: true,
      next: (scene) => veto(tables, scene, i),
    })),
    refusals: each((i) => ({
      label: (scene) => `the hub refuses what ${name(scene, i)} asks for`,
      environment: true,
      next: (scene) => refuse(tables, scene, i),
    })),
    late: each((i) => ({
      label: (scene) => `the hub hears ${name(scene, i)} on its old stream`,
      environment: true,
      next: (scene) => reachLate(tables, scene, i),
    })),
    fromHub: each((i) => ({
      label: (scene) => `${name(scene, i)} hears the register`,
      next: (scene) => hearHub(tables, scene, i),
    })),
    links: pairs((from, to) => linkSteps(tables, from, to)),
    restarts: each((i) => ({
      label: (scene) => `${name(scene, i)} starts again`,
      environment: true,
      next: (scene) => restart(tables, scene, i),
    })),
    joins: pairs((primary, i) => ({
      ...spending(tables, primary, 'joins', { kind: 'join', asker: askerOf(tables, i) }),
      label: (scene) => `a newcomer asks ${name(scene, primary)}`,
    })),
    relinks: pairs((i, j) => ({
      label: (scene) => `${name(scene, j)} and ${name(scene, i)} link anew`,
      environment: true,
      next: (scene) => relink(tables, scene, i, j),
    })),
  }
}

function requestOf({ requests, queues: all, place }: Tables, scene: Scene, i: number): string {
  return interned.valueOf(requests, queues.first(all, scene[place.toHub + i]!)).kind
}

function linkSteps(tables: Tables, from: number, to: number): Network['links'][number] {
  const link = tables.place.link + from * tables.members + to
  const what = (scene: Scene): string => {
    const input = interned.valueOf(tables.inputs, queues.first(tables.queues, scene[link]!))
    const { message } = input as Extract<Input, { kind: 'receive' }>
    return `${message.kind} of ${nameOf(tables, scene, from)}`
  }
  const arrives: Step = {
    label: (scene) => `${nameOf(tables, scene, to)} gets ${what(scene)}`,
    next: (scene) => arrive(tables, scene, from, to, true),
  }
  const doubled: Step = {
    label: (scene) => `${labelOf(arrives, scene)}, which will come again`,
    environment: true,
    next: (scene) => {
      spend(tables, scene, 'doubles')
      arrive(tables, scene, from, to, false)
    },
  }
  const lost: Step = {
    label: (scene) => `the network loses ${what(scene)}`,
    environment: true,
    next: (scene) => {
      spend(tables, scene, 'losses')
      shift(tables, scene, link)
    },
  }
  return { arrives, doubled, lost }
}

function arrivals(tables: Tables, network: Network, scene: Scene, to: number, steps: Step[]): void {
  const { place, members } = tables
  const { vetoes, refusals, doubles, losses } = leftOf(tables, scene)
  if (scene[place.toHub + to] !== queues.EMPTY) {
    steps.push(network.hub[to]!)
    if (vetoes > 0 && mayVeto(tables, scene, to)) steps.push(network.vetoes[to]!)
    if (refusals > 0 && mayRefuse(tables, scene, to)) steps.push(network.refusals[to]!)
  }
  if (hasLate(tables, scene, to)) steps.push(network.late[to]!)
  if (!isUp(tables, scene, to)) return
  if (scene[place.fromHub + to] !== queues.EMPTY) steps.push(network.fromHub[to]!)
  for (let from = 0; from < members; from++) {
    const link = from * members + to
    if (scene[place.link + link] === queues.EMPTY) continue
    const { arrives, doubled, lost } = network.links[link]!
    steps.push(arrives)
    if (doubles > 0) steps.push(doubled)
    if (losses > 0) steps.push(lost)
  }
}

// What a process may do of itself follows from what it is and what is left.
function choices(tables: Tables, scene: Scene, i: number): readonly Step[] {
  const { place } = tables
  const [process, left] = [scene[place.process + i]!, scene[place.left]!]
  const known = memo.find(tables.choices[i]!, process, left)
  return known ?? memo.keep(tables.choices[i]!, process, left, [...ofProcess(tables, scene, i)])
}

function* ofProcess(tables: Tables, scene: Scene, i: number): Iterable<Step> {
  const face = faceOf(tables, scene, i)
  const { session, me } = face
  const { server } = session
  const who = nameOf(tables, scene, i)
  const left = leftOf(tables, scene)
  if (face.serves) {
    yield* ofPrimary(tables, face, left, i)
    yield* kicks.roundOf(tables, face, scene, i)
  }
  const peer = watchedPeer(session)
  if (left.suspicions > 0 && peer !== 0) {
    const suspects = spending(tables, i, 'suspicions', { kind: 'suspect', peer })
    yield { label: `${who} suspects ${peer}`, ...suspects }
  }
  if (server.role === 'taking' && !server.attempt.sent) {
    yield {
      label: `${who} hears ${server.primary} again`,
      next: doing(tables, i, { kind: 'heard' }),
    }
  }
  if (left.repeats > 0 && 'attempt' in server && server.attempt.sent && session.hub.up) {
    yield {
      label: `${who} asks the hub again`,
      ...spending(tables, i, 'repeats', { kind: 'repeat' }),
    }
  }
  if (left.crashes > 0) {
    const next = (copy: Scene): void => crash(tables, copy, i)
    yield { label: `${who} crashes`, environment: true, next }
  }
  if (server.role === 'backedup') yield* handOver(tables, who, left, i, server)
  if (me !== 0) yield* ofStream(tables, who, left, i, session.hub.up)
}

type Left = ReturnType<typeof leftOf>

function* ofPrimary(tables: Tables, { session, me }: Face, left: Left, i: number): Iterable<Step> {
  const { server } = session
  const issued = (tables.scope.operations ?? 0) - left.operations
  for (let id = 1; id <= issued + 1; id++) {
    const isFresh = id > issued
    const budget = isFresh ? 'operations' : 'resends'
    if (left[budget] === 0) continue
    const label = `operation ${id} reaches ${me}${isFresh ? '' : ' again'}`
    const input = { kind: 'operation', ...clientOf(tables.scope, id), id } as const
    yield { label, ...spending(tables, i, budget, input) }
  }
  for (const peer of server.published.keys()) {
    if (peer === me) continue
    if (left.offers > 0 && server.role === 'alone') {
      const offers = spending(tables, i, 'offers', { kind: 'offer', peer })
      yield { label: `${me} asks ${peer} to be backup`, ...offers }
    }
    if (left.removals > 0) {
      const removes = spending(tables, i, 'removals', { kind: 'remove', peer })
      yield { label: `${me} removes ${peer}`, ...removes }
    }
  }
}

function* handOver(
  tables: Tables,
  who: string,
  left: Left,
  i: number,
  { handoverUntil }: ServerAs<'backedup'>,
): Iterable<Step> {
  if (handoverUntil !== null) {
    yield {
      label: `${who} keeps its role after all`,
      next: doing(tables, i, { kind: 'keep-role' }),
    }
  } else if (left.handovers > 0) {
    yield { label: `${who} hands over`, ...spending(tables, i, 'handovers', { kind: 'hand-over' }) }
  }
}

// The stream to the hub is lost, and there again.
function* ofStream(
  tables: Tables,
  who: string,
  left: Left,
  i: number,
  isOpen: boolean,
): Iterable<Step> {
  if (!isOpen) {
    const opens = doing(tables, i, { kind: 'hub', up: true })
    const next = (copy: Scene): void => {
      opens(copy)
      push(tables, copy, tables.place.fromHub + i, tidings(tables, copy))
    }
    yield { label: `${who} reaches the hub again`, next }
  } else if (left.breaks > 0) {
    const next = (copy: Scene): void => breakHub(tables, copy, i)
    yield { label: `the hub's stream to ${who} breaks`, environment: true, next }
  }
}

// What a process may do that others must be there for.
function amongOthers(
  tables: Tables,
  network: Network,
  scene: Scene,
  i: number,
  steps: Step[],
): void {
  const { joins, relinks } = leftOf(tables, scene)
  if (faceOf(tables, scene, i).me === 0) {
    const at = placeOf(tables, scene, registered(tables, scene).primary)
    if (at < 0 || !isUp(tables, scene, at) || joins === 0) return
    steps.push(network.joins[at * tables.members + i]!)
    return
  }
  if (relinks === 0) return
  for (let j = 0; j < i; j++) {
    if (isUp(tables, scene, j)) steps.push(network.relinks[i * tables.members + j]!)
  }
}
